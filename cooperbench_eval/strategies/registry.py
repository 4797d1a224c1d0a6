"""Finds strategies by name among the installed distributions.

Built-in strategies stand in the same table as anybody's: the entry-point group
`cooperbench_eval.strategies`. Listing reads names only; a strategy is imported
when it is asked for.
"""

from collections.abc import Iterable
from typing import TYPE_CHECKING

from cooperbench_eval.errors import (
    DuplicateStrategyError,
    StrategyLoadError,
    UnknownStrategyError,
)
from cooperbench_eval.strategies.protocol import MergeStrategy

if TYPE_CHECKING:
    from importlib.metadata import EntryPoint

__all__ = ["GROUP", "as_strategy", "available_strategies", "get_strategy"]

GROUP = "cooperbench_eval.strategies"


def available_strategies() -> tuple[str, ...]:
    """Return the names of the registered strategies, sorted; imports none of them."""
    return tuple(sorted({point.name for point in _points()}))


def get_strategy(name: str, /, **options: object) -> MergeStrategy:
    """Build the strategy registered as *name*, with *options* as its arguments.

    Raises:
        UnknownStrategyError: No distribution registers the name.
        DuplicateStrategyError: Several do.
        StrategyLoadError: It cannot be imported, built, or is no strategy.
    """
    point = _find(name)
    origin = f"{_distribution(point)} ({point.value})"
    try:
        factory = point.load()
    # A plug-in may raise anything at import; that is a fact about the plug-in.
    except Exception as exc:
        raise StrategyLoadError(name, origin, f"cannot be imported: {exc!r}") from exc
    try:
        strategy = factory(**options)
    except Exception as exc:
        raise StrategyLoadError(name, origin, f"cannot be built: {exc!r}") from exc
    if not _is_strategy(strategy):
        raise StrategyLoadError(name, origin, "has no name or no merge method")
    checked: MergeStrategy = strategy
    return checked


def as_strategy(strategy: str | MergeStrategy) -> MergeStrategy:
    """Return *strategy* itself, or the one registered under that name.

    Raises:
        StrategyLoadError: The object is no strategy; a class is none either.
    """
    if isinstance(strategy, str):
        return get_strategy(strategy)
    if not _is_strategy(strategy):
        problem = "is no strategy: it needs a name and a merge method; pass an instance"
        raise StrategyLoadError(repr(strategy), type(strategy).__qualname__, problem)
    return strategy


def _points() -> Iterable["EntryPoint"]:
    # Imported here because it is a good part of what importing the library costs.
    from importlib.metadata import entry_points  # noqa: PLC0415

    return entry_points(group=GROUP)


def _find(name: str) -> "EntryPoint":
    points = _points()
    # One distribution may be found twice, by its checkout and as installed.
    found = {(_distribution(p), p.value): p for p in points if p.name == name}
    if not found:
        origins = tuple(sorted({_distribution(p) for p in points}))
        raise UnknownStrategyError(name, available_strategies(), origins)
    if len(found) > 1:
        raise DuplicateStrategyError(name, tuple(sorted(origin for origin, _ in found)))
    return next(iter(found.values()))


def _distribution(point: "EntryPoint") -> str:
    return f"{point.dist.name} {point.dist.version}" if point.dist else "an unknown distribution"


def _is_strategy(candidate: object) -> bool:
    return (
        not isinstance(candidate, type)
        and isinstance(candidate, MergeStrategy)
        and isinstance(candidate.name, str)
        and callable(candidate.merge)
    )
