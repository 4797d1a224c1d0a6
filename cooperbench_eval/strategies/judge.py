"""Checks a merged file without running it.

Does the file parse? Is a name defined twice, no longer bound or no longer defined? Did it
lose something that both sides kept or that one side added? A merge that fails a check is
not offered at all, because an open conflict is better than a wrong merge.

Most of a file is the same in base, ours, theirs and merged. All checks compare how often
something occurs in each, so a piece that occurs equally often in all four cannot matter.
The checks look at the other pieces first, and at the whole file only if those raise a
suspicion.
"""

import codecs
import re
from collections import Counter
from collections.abc import Hashable, Iterable, Mapping, Sequence
from functools import lru_cache
from typing import TypeVar

from cooperbench_eval.structure.languages import count_definitions, find_syntax_fault, is_code
from cooperbench_eval.structure.pythonfacts import (
    BUILTIN_ATTRIBUTES,
    Attributes,
    Facts,
    UnreadableError,
    cut,
    slips,
)
from cooperbench_eval.structure.tokenmerge import count_tokens

__all__ = ["find_fault", "find_parse_fault"]


def find_fault(
    path: str, versions: tuple[bytes, bytes, bytes], merged: bytes, *, is_whole: bool = True
) -> str:
    """Return what is wrong with a merged file; empty if nothing is.

    Args:
        path: The file; its suffix determines the language.
        versions: Base, ours and theirs.
        merged: The merged file.
        is_whole: Whether all of it is merged. If some conflicts still have ours in their
            place, the checks for missing text are skipped.
    """
    if is_code(path) and max(map(len, versions)) > _MOST_BYTES:
        return f"a version has more than {_MOST_BYTES:,} bytes, too many to check"
    if is_whole and (fault := _lost_token(versions, merged)):
        return fault
    if merged.count(codecs.BOM_UTF8, 1) > max(each.count(codecs.BOM_UTF8, 1) for each in versions):
        return "a byte order mark would be in the middle"
    if fault := find_parse_fault(path, versions, merged):
        return fault
    if path.endswith(_PYTHON):
        return _python_fault(versions, merged, is_whole=is_whole)
    return _syntax_double(path, versions, merged)


_PYTHON = (".py", ".pyi")
_MOST_BYTES = 500_000
"""The largest version of source that is parsed; CPython needs several hundred times its size."""


def find_parse_fault(path: str, versions: tuple[bytes, bytes, bytes], merged: bytes) -> str:
    """Return why a merged file does not parse; empty if it does, or if a version does not."""
    if any(_syntax_fault(path, source) for source in versions):
        return ""
    fault = find_syntax_fault(path, merged)
    return f"it would not parse ({fault.problem})" if fault else ""


# Many pairs share the versions of a file, but not the merged file.
_syntax_fault = lru_cache(maxsize=64)(find_syntax_fault)
_definitions = lru_cache(maxsize=64)(count_definitions)


def _syntax_double(path: str, versions: tuple[bytes, bytes, bytes], merged: bytes) -> str:
    """Find a name that the merged file defines more often than any version does."""
    before = [_definitions(path, source) for source in versions]
    for name, number in count_definitions(path, merged).items():
        if number > max(1, *(each[name] for each in before)):
            return f"{name} would be defined {number} times"
    return ""


_Piece = TypeVar("_Piece", bound=Hashable)


def _differing(files: Sequence[Counter[_Piece]]) -> list[list[_Piece]]:
    """Return the pieces of each file that do not occur equally often in all files."""
    return [
        [piece for piece, count in counts.items() for _ in range(count)]
        for counts in _differing_counts(files)
    ]


def _differing_counts(files: Sequence[Counter[_Piece]]) -> list[dict[_Piece, int]]:
    """Return how often the pieces occur that do not occur equally often in all files."""
    alike = set(files[0].items()).intersection(*(file.items() for file in files[1:]))
    return [
        {piece: count for piece, count in file.items() if (piece, count) not in alike}
        for file in files
    ]


def _lost_token(versions: tuple[bytes, bytes, bytes], merged: bytes) -> str:
    """Find a token that occurs less often than the sides' changes can explain.

    The lowest number that these changes can explain assumes that both sides made the same
    additions and different removals. No token spans lines, and a line that occurs equally
    often in all files adds the same to this number and to the actual one. So only the
    other lines are counted.
    """
    paragraphs = _differing([*map(_paragraphs, versions), Counter(merged.split(b"\n\n"))])
    lines = _differing_counts([Counter(b"\n".join(each).split(b"\n")) for each in paragraphs])
    base, ours, theirs, there = map(_count_tokens, lines)
    for token in dict.fromkeys((*base, *ours, *theirs)):
        least = min(max(ours[token], theirs[token]), ours[token] + theirs[token] - base[token])
        if there[token] < least and token not in _SEPARATORS:
            return f"{token.decode('utf-8', 'replace')!r} is lost"
    return ""


_SEPARATORS = frozenset({b",", b";"})


def _count_tokens(lines: Mapping[bytes, int]) -> Counter[bytes]:
    """Count the tokens of lines of which each occurs a number of times."""
    counts = count_tokens(b"\n".join(line for line, times in lines.items() if times == 1))
    for line, times in lines.items():
        if times > 1:
            for token, count in count_tokens(line).items():
                counts[token] += times * count
    return counts


@lru_cache(maxsize=64)
def _paragraphs(source: bytes) -> Counter[bytes]:
    return Counter(source.split(b"\n\n"))


def _python_fault(versions: tuple[bytes, bytes, bytes], merged: bytes, *, is_whole: bool) -> str:
    try:
        files = [cut(source) for source in (*versions, merged)]
    except UnreadableError:
        return ""  # a file that was not valid Python before cannot be checked
    if fault := _slip(files):
        return fault
    if not _is_suspect(files, is_whole=is_whole):
        return ""
    facts = [Facts.of(chunks) for chunks in files]
    fault = _double(facts)
    if is_whole:
        fault = fault or _unbound(facts) or _undefined(files, facts)
    return fault


def _slip(files: Sequence[Sequence[str]]) -> str:
    """Find a probable mistake that occurs more often than the sides' changes explain."""
    *before, merged = _differing([Counter(chunks) for chunks in files])
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
    return sum(map(slips, chunks), Counter())


def _is_suspect(files: Sequence[Sequence[str]], *, is_whole: bool) -> bool:
    """Return whether the whole files must be read: the three versions, and merged last.

    The chunks that all files share contribute the same to each, so it is enough to look
    at the other chunks. No fault that the whole files show is missed:

    - If merged defines a name more often than any version, its other chunks do as well.
    - If a name is unbound only in merged, there are two cases. Either merged's other
      chunks use it, and each version whose other chunks use it binds it there. Or a
      shared chunk uses it, and the other chunks of each version bind it. A star import
      may bind any name.
    - If a version defines a name that merged does not, its other chunks define it.
    """
    facts = [Facts.of(chunks) for chunks in _differing([Counter(chunks) for chunks in files])]
    *before, now = facts
    if _more_often(facts):
        return True
    if not is_whole:
        return False
    if not now.has_star and (
        any(each.has_star for each in before)
        or _unbound(facts)
        or set.intersection(*(each.bound for each in before)) - now.bound
    ):
        return True
    gone = _gone(facts)
    return bool(gone) and any(gone.intersection(_NAME.findall(chunk)) for chunk in files[-1])


_NAME = re.compile(r"\w+")


def _more_often(facts: Sequence[Facts]) -> list[str]:
    *before, now = facts
    return [
        name
        for name, count in now.definitions.items()
        if count > max(each.definitions[name] for each in before)
    ]


def _double(facts: Sequence[Facts]) -> str:
    for name in _more_often(facts):
        if (count := facts[-1].definitions[name]) > 1:
            return f"{name} would be defined {count} times"
    return ""


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
