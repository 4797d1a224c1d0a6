"""Chooses how a file is read by its name."""

import re
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import PurePosixPath

from attrs import frozen

from cooperbench_eval.languages.languages import GRAMMARS
from cooperbench_eval.languages.model import Source
from cooperbench_eval.languages.python.modules import read_python
from cooperbench_eval.languages.readers.grammars import Grammar
from cooperbench_eval.languages.scopes.syntax import read_syntax

__all__ = ["Language", "language_of"]


@frozen
class Language:
    """A language whose definitions and uses can be read.

    Attributes:
        read: Reads a version of a file; returns `None` if it cannot be read.
        grammar: Its grammar; `None` for Python.
    """

    read: Callable[[bytes], Source | None]
    grammar: Grammar | None = None

    @property
    def repeats_imports(self) -> bool:
        """Whether the same import may occur twice."""
        return self.grammar is None

    def unit(self, path: str, sources: Sequence[Source | None]) -> str:
        """Name the unit of a file: the scope to which its names belong.

        In Go that is its package in its folder, unless the file is only compiled on some
        systems. Otherwise it is the file itself.
        """
        packages = {source.package for source in sources if source}
        if self.grammar is not Grammar.GO or len(packages) != 1 or _SYSTEM.search(path):
            return path
        (package,) = packages
        return f"{PurePosixPath(path).parent}:{package}" if package else path


_SYSTEM = re.compile(
    r"_(?:aix|android|darwin|dragonfly|freebsd|illumos|ios|js|linux|netbsd|openbsd|plan9|solaris"
    r"|wasip1|windows|386|amd64|arm|arm64|loong64|mips|mips64|mips64le|mipsle|ppc64|ppc64le"
    r"|riscv64|s390x|wasm)(?:_test)?\.go$"
)
"""Matches Go files that are only compiled on some systems."""

_PYTHON = Language(read_python)
_LANGUAGES = {
    ".py": _PYTHON,
    ".pyi": _PYTHON,
    **{
        suffix: Language(partial(read_syntax, each), each)
        for suffix, each in GRAMMARS.items()
        if each is not Grammar.JAVA  # its definitions and uses are not read here
    },
}


def language_of(path: str) -> Language | None:
    """Return the language of a file by its name; `None` if it is not supported."""
    return _LANGUAGES.get(PurePosixPath(path).suffix)
