"""How pairs and teams are grouped, and how the groups are ordered."""

import math
from collections.abc import Callable, Hashable, Iterable, Sequence
from enum import Enum
from functools import partial
from typing import Any, Literal, get_args

from cooperbench_eval.analysis.facts import GroupFacts
from cooperbench_eval.errors import AnalysisError, ArgumentError

GroupName = Literal[
    "repo_name", "task", "model", "setting", "language", "k", "merge_status", "severity"
]
"""What pairs and teams can be grouped by, as text, so that editors complete it."""
By = GroupName | Sequence[GroupName] | Callable[[Any], Hashable]
"""A name, several names, or a function that gives the key of the facts of a pair or team."""

OF_A_FUNCTION = ("group",)
"""The column name of a key that is computed by a function."""

_NAMES: tuple[str, ...] = get_args(GroupName)


def group_names(by: By | None) -> tuple[str, ...]:
    """Return a name for each part of a group's key; `("group",)` for a function's."""
    if by is None:
        return ()
    if callable(by):
        return OF_A_FUNCTION
    names = (by,) if isinstance(by, str) else tuple(by)
    for name in names:
        if name not in _NAMES:
            raise AnalysisError(f"pairs cannot be grouped by {name!r}", _NAMES)
        if names.count(name) > 1:
            raise AnalysisError(f"pairs are to be grouped by {name!r} twice")
    if not names:
        raise AnalysisError("the list of names to group by is empty", _NAMES)
    return names


def make_key(by: By) -> Callable[[GroupFacts], Hashable]:
    """Return the function that returns the key of a pair or team: a tuple unless *by* is a name."""
    if callable(by):
        return partial(_checked_key, by)
    if isinstance(by, str):
        return lambda facts: getattr(facts, by, None)
    names = group_names(by)
    return lambda facts: tuple(getattr(facts, name, None) for name in names)


def _checked_key(by: Callable[[Any], Hashable], facts: GroupFacts) -> Hashable:
    key = by(facts)
    try:
        hash(key)
    except TypeError:
        problem = f"must return something hashable, such as a text or a tuple, not {key!r:.80}"
        raise ArgumentError("by", problem) from None
    return key


def sorted_keys(keys: Iterable[Hashable]) -> list[Hashable]:
    """Sort group keys: numbers as numbers, texts as texts, `None` last."""
    return sorted(keys, key=_rank)


def _rank(key: Hashable) -> tuple[object, ...]:
    parts = key if isinstance(key, tuple) else (key,)
    return tuple(_rank_part(part) for part in parts)


def _rank_part(part: object) -> tuple[int, float, str]:
    if part is None:
        return 3, 0, ""
    if isinstance(part, (int, float)):
        return 0, part, ""
    if isinstance(part, str):
        return 1, 0, part
    return 2, 0, repr(part)


def key_text(key: Hashable) -> str:
    """Return a group's key as one text, with a dash for an unknown part."""
    parts = key if isinstance(key, tuple) else (key,)
    return " ".join("-" if part in (None, "") else str(part) for part in parts)


def plain_json(part: object) -> Any:
    """Return a part of a key as a JSON value; what JSON cannot hold becomes text."""
    if isinstance(part, tuple):
        return [plain_json(each) for each in part]
    if isinstance(part, Enum):
        return plain_json(part.value)
    if isinstance(part, float) and not math.isfinite(part):
        return str(part)
    return part if part is None or isinstance(part, (str, int, float)) else str(part)
