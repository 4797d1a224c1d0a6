"""Which languages can be read, and by what."""

from collections.abc import Callable, Sequence
from pathlib import PurePosixPath

from cooperbench_eval.structure.python import read_python
from cooperbench_eval.structure.tree import Node, StructureError

__all__ = ["read_versions"]

Reader = Callable[[Sequence[bytes]], list[Node]]

_READERS: dict[str, Reader] = {".py": read_python, ".pyi": read_python}


def read_versions(path: str, versions: Sequence[bytes]) -> list[Node]:
    """Read versions of a file in the language that its name tells.

    Raises:
        StructureError: The language is not known, or a version cannot be read.
    """
    suffix = PurePosixPath(path).suffix
    reader = _READERS.get(suffix)
    if reader is None:
        raise StructureError(f"the structure of {suffix or 'such'} files is not known")
    if not all(version.endswith(b"\n") for version in versions):
        raise StructureError("a last line has no newline")
    return reader(versions)
