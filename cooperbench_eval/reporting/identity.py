"""The identity of the pair or team that a record is about."""

import datetime as dt
from collections.abc import Callable, Sequence
from typing import Any, Protocol, Self

from attrs import field, frozen, validators

from cooperbench_eval.support.arguments import named_fields

PairKey = tuple[str, int, frozenset[int]]
"""Repository, task and features; the order of the features does not matter."""


class _Group(Protocol):
    """What a report, its facts, and the pair or team to evaluate have in common."""

    @property
    def repo_name(self) -> str: ...
    @property
    def task_id(self) -> int: ...
    @property
    def numbers(self) -> tuple[int, ...]: ...
    @property
    def model(self) -> str | None: ...
    @property
    def setting(self) -> str | None: ...
    @property
    def k(self) -> int: ...


@frozen(kw_only=True)
class PairId:
    """The identity of one try at one pair or team.

    Attributes:
        repo_name: The repository's name in the benchmark.
        task_id: The task's number.
        features: The numbers of two or more features: feature 1 and feature 2 of a pair, or
            those of a team in its order.
        model: The model that wrote the patches, if known.
        setting: The benchmark's setting, if known.
        k: Which of the model's tries this is, counted from 1.
    """

    repo_name: str
    task_id: int
    features: tuple[int, ...] = field(validator=validators.min_len(2))
    model: str | None = None
    setting: str | None = None
    k: int = 1

    @classmethod
    def of(cls, pair: _Group) -> Self:
        """Return the identity of a report, of facts, or of a pair or team to evaluate."""
        return cls(
            repo_name=pair.repo_name,
            task_id=pair.task_id,
            features=pair.numbers,
            model=pair.model,
            setting=pair.setting,
            k=pair.k,
        )

    @property
    def key(self) -> PairKey:
        """The pair or team itself, without model, setting and try."""
        return self.repo_name, self.task_id, frozenset(self.features)

    def __str__(self) -> str:
        return f"{name_features(self.features)} of {self.repo_name}/{self.task_id}"


def name_features(numbers: Sequence[int]) -> str:
    """Return the numbers of two or more features as text, such as `features 1, 2 and 3`."""
    *first, last = map(str, numbers)
    return f"features {', '.join(first)} and {last}"


def has_time_zone(_: object, __: object, timestamp: dt.datetime) -> None:
    """Reject a time without a time zone or that UTC cannot express; a validator for attrs."""
    if timestamp.utcoffset() is None:
        raise ValueError(f"the timestamp {timestamp} has no time zone")
    try:
        timestamp.astimezone(dt.UTC)
    except OverflowError:
        raise ValueError(f"the timestamp {timestamp} cannot be expressed in UTC") from None


@frozen(kw_only=True)
class PairOrigin:
    """What a report or its facts are about, and when it was evaluated."""

    repo_name: str
    task_id: int
    timestamp: dt.datetime = field(validator=has_time_zone)
    base_tree_id: str = ""
    base_commit: str | None = None
    model: str | None = None
    setting: str | None = None
    k: int = 1


def inherited_after(name: str, first: str = "") -> Callable[[type, list[Any]], list[Any]]:
    """Return an attrs hook that puts inherited fields after the field *name*, and names errors.

    The inherited fields up to *first* stay in front. A record's fields have the same order as the
    keys in its JSON, and that order must not change.
    """

    def order(kind: type, found: list[Any]) -> list[Any]:
        own = [each for each in found if each.name in kind.__annotations__]
        inherited = [each for each in found if each not in own]
        names = [each.name for each in inherited]
        start = 1 + names.index(first) if first else 0
        place = 1 + [each.name for each in own].index(name)
        ordered = [*inherited[:start], *own[:place], *inherited[start:], *own[place:]]
        return named_fields(kind, ordered)

    return order


def beginning_with(*names: str) -> Callable[[type, list[Any]], list[Any]]:
    """Return an attrs hook that puts the fields *names* first, for the reason given above."""

    def order(kind: type, found: list[Any]) -> list[Any]:
        by_name = {each.name: each for each in found}
        ordered = [*(by_name.pop(name) for name in names), *by_name.values()]
        return named_fields(kind, ordered)

    return order
