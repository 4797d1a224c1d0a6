"""Checks a merged text of any kind: byte order marks, line endings, and new files of both."""

import codecs
from collections.abc import Sequence

from cooperbench_eval.languages.data import find_format
from cooperbench_eval.languages.files import is_code
from cooperbench_eval.languages.reading import ending_of, merged_ending


def find_text_fault(
    path: str, versions: Sequence[bytes], merged: bytes, *, may_invent: bool
) -> str:
    """Return what is wrong with a merged text; empty if nothing is.

    Args:
        path: The file.
        versions: Base, ours and theirs.
        merged: The merged file.
        may_invent: Whether a model wrote it.
    """
    if merged.count(codecs.BOM_UTF8, 1) > max(each.count(codecs.BOM_UTF8, 1) for each in versions):
        return "a byte order mark would be in the middle of the file"
    if (ending := merged_ending(versions)) and ending_of(merged) not in {ending, b""}:
        return "the merged file would lose the line endings of the sides"
    if any(b"\r" in each and b"\n" not in each for each in versions):
        return "the lines of a version end with a carriage return alone"
    is_known = is_code(path) or find_format(path, merged) is not None
    if not (is_known or may_invent) and _joins_files(versions, merged):
        return "both sides add the file, and their versions cannot be combined"
    return ""


def _joins_files(versions: Sequence[bytes], merged: bytes) -> bool:
    """Whether merged combines two files that the sides add, but not as a set of words."""
    base, ours, theirs = (version.split() for version in versions)
    if base or merged.split() in (ours, theirs):
        return False
    return any(b" " in line.strip() for line in merged.splitlines() if not line.startswith(b"#"))
