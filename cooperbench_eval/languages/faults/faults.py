"""Checks a merged file without running it.

Does the file parse? Is a name defined twice, no longer bound or no longer defined? Did it
lose something that both sides kept or that one side added? Does it have a value that no version
has? A merge that fails a check is not offered at all, because an open conflict is better than a
wrong merge.

Most of a file is the same in base, ours, theirs and merged. All checks compare how often
something occurs in each, so a piece that occurs equally often in all four cannot matter.
The checks look at the other pieces first, and at the whole file only if those raise a
suspicion.
"""

import re
from collections import Counter
from functools import lru_cache
from itertools import repeat

from cooperbench_eval.languages.data import find_format
from cooperbench_eval.languages.faults.data import find_data_fault
from cooperbench_eval.languages.faults.keys import find_repeated_key
from cooperbench_eval.languages.faults.losses import (
    find_lost_token,
    find_new_value,
    more_often,
)
from cooperbench_eval.languages.faults.misplaced_values import find_misplaced_value
from cooperbench_eval.languages.faults.names import find_name_fault
from cooperbench_eval.languages.faults.order import find_misordered
from cooperbench_eval.languages.faults.positions import find_repositioned
from cooperbench_eval.languages.faults.repeated import find_repeated
from cooperbench_eval.languages.faults.texts import find_text_fault
from cooperbench_eval.languages.files import (
    SyntaxFault,
    find_syntax_fault,
    grammar_of,
    is_code,
    opaque_regions,
)
from cooperbench_eval.languages.readers.grammars import why_missing
from cooperbench_eval.languages.tree import StructureError, one_line


def find_fault(
    path: str,
    versions: tuple[bytes, bytes, bytes],
    merged: bytes,
    *,
    is_whole: bool = True,
    may_invent: bool = False,
) -> str:
    """Return what is wrong with a merged file; empty if nothing is.

    Source of which a version does not parse cannot be checked, and that is a fault as well.

    Args:
        path: The file; its suffix determines the language.
        versions: Base, ours and theirs.
        merged: The merged file.
        is_whole: Whether all of it is merged. If some conflicts still have ours in their
            place, the checks for missing text are skipped.
        may_invent: Whether it may have names and values that no version has, because a
            model wrote it.
    """
    fault = why_unchecked(path, versions) or find_data_fault(path, versions, merged)
    # Data is merged by key, which removes what either side removed.
    may_lose = not is_whole or (not may_invent and find_format(path, merged) is not None)
    if fault or (not may_lose and (fault := find_lost_token(versions, merged))):
        return fault
    if fault := find_text_fault(path, versions, merged, may_invent=may_invent):
        return fault
    if fault := find_parse_fault(path, versions, merged):
        # Nobody sees the text, so line numbers say nothing.
        return "both sides' changes together would not parse" if is_code(path) else fault
    if is_code(path) and _count_gaps(merged) > max(map(_count_gaps, versions)):
        return "a list would lack an item between two commas"
    found = find_name_fault(path, versions, merged, is_whole=is_whole)
    found = found or find_repeated(path, versions, merged)
    found = found or find_repeated_key(path, versions, merged)
    found = found or find_misordered(path, versions, merged)
    found = found or find_misplaced_value(path, versions, merged)
    found = found or find_repositioned(path, versions, merged)
    return found or ("" if may_invent else find_new_value(path, versions, merged))


def _count_gaps(source: bytes) -> int:
    """Count missing items between two commas, which some grammars allow in a call."""
    return len(_GAP.findall(source))


_GAP = re.compile(rb",(?=\s*,)")
_MOST_BYTES = 500_000
"""The largest version of source that is parsed; CPython needs several hundred times its size."""


def why_unchecked(path: str, versions: tuple[bytes, bytes, bytes]) -> str:
    """Return why a merge of source cannot be checked; empty if it can."""
    grammar = grammar_of(path)
    if grammar is None:
        return ""
    if grammar and (problem := why_missing(grammar)):
        return problem
    if max(map(len, versions)) > _MOST_BYTES:
        return f"a version has more than {_MOST_BYTES:,} bytes, too many to check"
    for name, source in zip(("the base", "ours", "theirs"), versions, strict=True):
        if fault := _syntax_fault(path, source):
            return (
                f"{name} does not parse ({show_syntax_fault(fault)}), so a merge cannot be checked"
            )
    return ""


def find_parse_fault(path: str, versions: tuple[bytes, bytes, bytes], merged: bytes) -> str:
    """Return why a merged file does not parse; empty if it does, or if a version does not."""
    if any(_syntax_fault(path, source) for source in versions):
        return ""
    fault = find_syntax_fault(path, merged)
    if fault:
        return f"it would not parse ({show_syntax_fault(fault)})"
    return _find_new_region(path, versions, merged)


def _find_new_region(path: str, versions: tuple[bytes, bytes, bytes], merged: bytes) -> str:
    """Find lines that the grammar cannot read, more often than the versions explain."""
    try:
        base, ours, theirs, now = map(_unread, repeat(path), (*versions, merged))
    except StructureError as exc:
        return str(exc)
    lines = next(more_often((base, ours, theirs), now), b"")
    return f"{one_line(lines)!r} would not parse" if lines else ""


def _unread(path: str, source: bytes) -> Counter[bytes]:
    """Count the lines of each region that the grammar does not read, without their layout."""
    found = Counter[bytes]()
    for start, end in opaque_regions(path, source):
        first = source.rfind(b"\n", 0, start) + 1
        last = source.find(b"\n", end)
        lines = source[first : last if last >= 0 else len(source)]
        found[b" ".join(lines.split())] += 1
    return found


def show_syntax_fault(fault: SyntaxFault) -> str:
    """Return the problem with its line."""
    problem = fault.problem
    return problem if fault.line is None or "line" in problem else f"{problem}, line {fault.line}"


# Many pairs share the versions of a file, but not the merged file.
_syntax_fault = lru_cache(maxsize=64)(find_syntax_fault)
