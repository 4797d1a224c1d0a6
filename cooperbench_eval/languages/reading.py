"""Reads versions of a file for a merge of their trees."""

from collections.abc import Sequence

from cooperbench_eval.languages.files import read_versions
from cooperbench_eval.languages.tree import Construct
from cooperbench_eval.support.memo import Memo


def is_crlf(versions: Sequence[bytes]) -> bool:
    r"""Whether every line of every version ends in CR LF, and there is a line."""
    text = b"".join(versions)
    return text.count(b"\n") == text.count(b"\r\n") > 0


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
    if is_crlf(versions):
        texts = [text.replace(b"\r\n", b"\n") for text in texts]
    return read_versions(path, texts)
