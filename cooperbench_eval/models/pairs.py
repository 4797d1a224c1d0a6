"""Which pair a record is about."""

from typing import Protocol, Self

from attrs import frozen

__all__ = ["PairId", "PairKey"]

PairKey = tuple[str, int, frozenset[int]]
"""Repository, task and features; the order of the features does not matter."""


class _Numbered(Protocol):
    @property
    def number(self) -> int: ...


class _Pair(Protocol):
    """What a report, its facts, and the pair to evaluate have in common."""

    @property
    def repo_name(self) -> str: ...
    @property
    def task_id(self) -> int: ...
    @property
    def feature1(self) -> _Numbered: ...
    @property
    def feature2(self) -> _Numbered: ...
    @property
    def model(self) -> str | None: ...
    @property
    def setting(self) -> str | None: ...
    @property
    def k(self) -> int: ...


@frozen(kw_only=True)
class PairId:
    """The identity of one try at one pair.

    Attributes:
        repo_name: The repository's name in the benchmark.
        task_id: The task's number.
        features: The numbers of feature 1 and feature 2.
        model: The model that wrote the patches, if known.
        setting: The benchmark's setting, if known.
        k: Which of the model's tries this is, counted from 1.
    """

    repo_name: str
    task_id: int
    features: tuple[int, int]
    model: str | None = None
    setting: str | None = None
    k: int = 1

    @classmethod
    def of(cls, pair: _Pair) -> Self:
        """Return the identity of a report, of facts, or of a pair to evaluate."""
        return cls(
            repo_name=pair.repo_name,
            task_id=pair.task_id,
            features=(pair.feature1.number, pair.feature2.number),
            model=pair.model,
            setting=pair.setting,
            k=pair.k,
        )

    @property
    def key(self) -> PairKey:
        """The pair itself, without model, setting and try."""
        return self.repo_name, self.task_id, frozenset(self.features)

    def __str__(self) -> str:
        first, second = self.features
        return f"features {first} and {second} of {self.repo_name}/{self.task_id}"
