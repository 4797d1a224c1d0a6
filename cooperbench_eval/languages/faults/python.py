"""Finds names that a merged Python file no longer binds or defines, and probable mistakes."""

import re
from collections import Counter
from collections.abc import Iterable, Sequence

from cooperbench_eval.languages.faults.losses import differing
from cooperbench_eval.languages.faults.pythonbinding import find_early_use, find_unordered
from cooperbench_eval.languages.faults.pythonslips import count_slips
from cooperbench_eval.languages.python.calls import find_misfit
from cooperbench_eval.languages.python.facts import (
    BUILTIN_ATTRIBUTES,
    Attributes,
    Facts,
    UnreadableError,
    cut,
)
from cooperbench_eval.languages.python.scopes import find_declared_twice

__all__ = ["find_python_fault"]


def find_python_fault(
    versions: tuple[bytes, bytes, bytes], merged: bytes, *, is_whole: bool
) -> str:
    """Return a fault of a merged Python file; empty if there is none.

    The checks of a file that is not whole leave out those for missing text. A version that
    is not valid Python cannot be checked.
    """
    try:
        files = [cut(source) for source in (*versions, merged)]
    except UnreadableError:
        return ""  # a file that was not valid Python before cannot be checked
    try:
        return _find_fault(files, is_whole=is_whole)
    except RecursionError:
        return "it is nested too deeply to be checked"


def _find_fault(files: Sequence[Sequence[str]], *, is_whole: bool) -> str:
    fault = _slip(files) or find_declared_twice(files)
    if fault or not is_whole:
        return fault
    if _is_suspect(files):
        facts = [Facts.of(chunks) for chunks in files]
        fault = _unbound(facts) or _undefined(files, facts)
    fault = fault or _unset(files)
    if fault or any(len(chunk) > _MOST_FOLLOWED for chunks in files for chunk in chunks):
        return fault
    return find_early_use(files) or find_unordered(files) or find_misfit(files)


_MOST_FOLLOWED = 100_000
"""The longest chunk whose paths and calls are followed, which takes seconds for each megabyte."""


def _slip(files: Sequence[Sequence[str]]) -> str:
    """Find a probable mistake that occurs more often than the sides' changes explain."""
    *before, merged = differing([Counter(chunks) for chunks in files])
    now = _slips(merged)
    if not now:
        return ""
    base, ours, theirs = map(_slips, before)
    for slip, count in now.items():
        if count > max(
            base[slip], ours[slip], theirs[slip], ours[slip] + theirs[slip] - base[slip]
        ):
            return slip
    return ""


def _slips(chunks: Iterable[str]) -> Counter[str]:
    return sum(map(count_slips, chunks), Counter())


def _is_suspect(files: Sequence[Sequence[str]]) -> bool:
    """Return whether the whole files must be read: the three versions, and merged last.

    The chunks that all files share contribute the same to each, so it is enough to look
    at the other chunks. No fault that the whole files show is missed:

    - If a name is unbound only in merged, there are two cases. Either merged's other
      chunks use it, and each version whose other chunks use it binds it there. Or a
      shared chunk uses it, and the other chunks of each version bind it. A star import
      may bind any name.
    - If a version defines a name that merged does not, its other chunks define it.
    """
    facts = [Facts.of(chunks) for chunks in differing([Counter(chunks) for chunks in files])]
    *before, now = facts
    if not now.has_star and (
        any(each.has_star for each in before)
        or _unbound(facts)
        or set.intersection(*(each.bound for each in before)) - now.bound
    ):
        return True
    gone = _gone(facts)
    return bool(gone) and any(gone.intersection(_NAME.findall(chunk)) for chunk in files[-1])


_NAME = re.compile(r"\w+")


def _unbound(facts: Sequence[Facts]) -> str:
    *before, now = facts
    unbound = now.unbound.difference(*(each.unbound for each in before))
    return f"{min(unbound)} would not be bound" if unbound else ""


def _gone(facts: Sequence[Facts]) -> set[str]:
    """Return the names that a version defines and merged does not."""
    *before, now = facts
    return set().union(*(each.defined for each in before)) - now.known - BUILTIN_ATTRIBUTES


def _undefined(files: Sequence[Sequence[str]], facts: Sequence[Facts]) -> str:
    """Find an attribute that merged reads but no longer defines.

    If a side reads the attribute without defining it, another file defines it.
    """
    now = facts[-1]
    gone = _gone(facts)
    if not gone or "__getattr__" in now.known:
        return ""
    sides = [(each, Attributes.of(chunks)) for each, chunks in zip(facts, files, strict=True)][1:]
    read = sides.pop()[1]
    for name in sorted(gone & read.used - read.stored):
        if not any(
            name in there.used for side, there in sides if name not in side.known | there.stored
        ):
            return f"{name} is used, but would no longer be defined"
    return ""


def _unset(files: Sequence[Sequence[str]]) -> str:
    """Find an attribute that merged reads but no longer sets, as after half of a renaming.

    Every version that reads it must set it; otherwise another file may set it.
    """
    parts = [Attributes.of(chunks) for chunks in differing([Counter(each) for each in files])]
    gone = set().union(*(each.stored for each in parts[:-1])) - parts[-1].stored
    if not gone:
        return ""
    *before, now = map(Attributes.of, files)
    for name in sorted(gone & now.used - now.stored - BUILTIN_ATTRIBUTES):
        if all(name in each.stored for each in before if name in each.used):
            return f"{name} is used, but would no longer be set"
    return ""
