"""What hazards need to know about each language."""

from collections.abc import Callable, Sequence
from pathlib import PurePosixPath

from attrs import frozen

from cooperbench_eval.hazards.python import read_python
from cooperbench_eval.hazards.records import Source

__all__ = ["Language", "language_of"]


@frozen
class Language:
    """A language whose definitions and uses can be read.

    Attributes:
        read: Reads a version of a file; returns `None` if it does not parse.
        unit: Names the unit of a file, from its path and its versions.
        repeats_imports: Whether the same import may occur twice.
    """

    read: Callable[[bytes], Source | None]
    unit: Callable[[str, Sequence[Source | None]], str]
    repeats_imports: bool = False


def _path(path: str, _: Sequence[Source | None]) -> str:
    return path


_PYTHON = Language(read_python, _path, repeats_imports=True)
_LANGUAGES = {".py": _PYTHON, ".pyi": _PYTHON}


def language_of(path: str) -> Language | None:
    """Return the language of a file by its name; `None` if it is not one of those."""
    return _LANGUAGES.get(PurePosixPath(path).suffix)
