"""Reads versions of a file for a merge of their trees."""

from collections.abc import Sequence

from cooperbench_eval.languages.files import read_versions
from cooperbench_eval.languages.tree import Construct
from cooperbench_eval.support.memo import Memo


def ending_of(text: bytes) -> bytes | None:
    """Return the line ending of a text; empty if it has no line, `None` if endings differ."""
    if b"\r" not in text:
        return b"\n" if b"\n" in text else b""
    lines, long = text.count(b"\n"), text.count(b"\r\n")
    if lines == long:
        return b"\r\n" if lines else b""
    return None if long else b"\n"


def merged_ending(versions: Sequence[bytes]) -> bytes | None:
    """Return the line ending of a merge of base, ours and theirs; a side may change it.

    It is empty if they have no lines, and `None` if the endings in a version differ.
    """
    base, ours, theirs = map(ending_of, versions)
    if None in {base, ours, theirs}:
        return None
    ours, theirs = ours or base or theirs, theirs or base or ours
    return theirs if ours == (base or ours) else ours


def with_ending(text: bytes, versions: Sequence[bytes]) -> bytes:
    """Return a text with the line ending of a merge of base, ours and theirs."""
    return text.replace(b"\n", b"\r\n") if merged_ending(versions) == b"\r\n" else text


def read_trees(path: str, versions: Sequence[bytes]) -> list[Construct]:
    r"""Read versions of a file; each is read as if a newline ended it.

    Trees use "\n" only: the newline before a file's first line is not the file's own, and a
    construct that moves takes the newline before it along.

    Raises:
        StructureError: They cannot be read.
    """
    return _latest.recall((path, *versions), lambda: _read(path, versions))


def remember_trees(path: str, versions: Sequence[bytes], trees: Sequence[Construct]) -> None:
    """Keep *trees* for `read_trees`, because the judge soon asks for the trees of a merge."""
    _latest.recall((path, *versions), lambda: list(trees))


# Trees need about fifty times as much memory as their text.
_latest = Memo[tuple[str | bytes, ...], list[Construct]](size=2)


def _read(path: str, versions: Sequence[bytes]) -> list[Construct]:
    texts = [text if text.endswith(b"\n") else text + b"\n" for text in versions]
    if None not in map(ending_of, versions):
        texts = [text.replace(b"\r\n", b"\n") for text in texts]
    return read_versions(path, texts)
