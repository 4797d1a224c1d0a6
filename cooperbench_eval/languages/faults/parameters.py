"""Finds functions to which both sides add parameters whose arguments would be mixed up."""

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence

from cooperbench_eval.languages.scopes.records import Call, Function, Names

__all__ = ["find_mixed_parameters"]


def find_mixed_parameters(before: Sequence[Names], now: Names) -> str:
    """Find a function to which both sides add a parameter, if calls pass the wrong one.

    Each side passes its own parameter at the place where it added it. In merged, only one
    of them can have that place. So the other side's calls must have been rewritten. If a
    side has no call that passes its parameter, another file has it, unchanged.

    Args:
        before: The names in base, ours and theirs.
        now: The names in the merged file.
    """
    base, ours, theirs = (_sole(each.functions) for each in before)
    for name, function in _sole(now.functions).items():
        if name in base and name in ours and name in theirs:
            versions = base[name], ours[name], theirs[name]
            if _both_add(versions, function) and not _is_rewritten(versions, function, before, now):
                return f"both sides add parameters to {name}, so calls may mix up its arguments"
    return ""


def _sole(functions: Iterable[Function]) -> dict[str, Function]:
    """Return the functions whose names are not repeated."""
    functions = list(functions)
    times = Counter(each.name for each in functions)
    return {each.name: each for each in functions if times[each.name] == 1}


def _both_add(versions: tuple[Function, Function, Function], merged: Function) -> bool:
    base, ours, theirs = (set(each.parameters) for each in versions)
    first, second = ours - base - theirs, theirs - base - ours
    there = set(merged.parameters)
    return bool(first & there) and bool(second & there)


def _is_rewritten(
    versions: tuple[Function, Function, Function],
    merged: Function,
    before: Sequence[Names],
    now: Names,
) -> bool:
    """Whether all calls that can be seen pass what the merged function takes."""
    calls = list(_calls(now, merged))
    if not calls or not all(map(merged.fits, calls)):
        return False
    base = versions[0]
    for side, names in zip(versions[1:], before[1:], strict=True):
        moved = [
            i
            for i, name in enumerate(side.parameters)
            if name not in base.parameters and merged.parameters[i : i + 1] != (name,)
        ]
        if not moved:
            continue
        passing = {each for each in _calls(names, side) if len(each.arguments) > moved[0]}
        if not passing or not passing.isdisjoint(calls):
            return False
    return True


def _calls(names: Names, function: Function) -> Iterator[Call]:
    for call in names.calls:
        if (call.name, call.has_receiver) == function.called:
            yield call
