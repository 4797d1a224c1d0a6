"""Which test framework a command or a shell script runs."""

import re
import shlex
from collections.abc import Iterable
from pathlib import PurePosixPath
from typing import Literal, NamedTuple

__all__ = ["Framework", "Recognized", "framework_of", "recognize"]

Framework = Literal[
    "pytest", "unittest", "go", "cargo", "nextest", "jest", "vitest", "node", "exit"
]
"""A key of `FRAMEWORKS`, so that editors complete it."""

# In this order: a script runs the first framework of which it has a command.
_FRAMEWORKS: tuple[tuple[Framework, str], ...] = (
    ("nextest", r"cargo\s+nextest\b"),
    ("cargo", r"cargo\s+test\b"),
    ("go", r"go\s+test\b"),
    ("vitest", r"(?:\S+\s+)?vitest\b"),
    ("jest", r"(?:(?:\S+\s+)?jest|(?:npx\s+)?(?:p?npm|yarn)(?:@\S+)?\s+(?:run\s+)?test)\b"),
    ("node", r"node\s+.*--test\b"),
    ("pytest", r"(?:python\S*\s+-m\s+)?(?:pytest|py\.test)\b"),
    ("unittest", r"python\S*\s+-m\s+unittest\b"),
)
_NAMED_OTHERWISE = "py.test"
_PREFIX = r"\s*(?:timeout\s+\S+\s+)?(?:\w+=\S+\s+)*"


class Recognized(NamedTuple):
    """A framework, and the words that start it."""

    framework: Framework
    words: str

    @property
    def is_certain(self) -> bool:
        """Whether the words themselves name the framework; `npm test` may run any."""
        return self.framework in self.words or self.words.startswith(_NAMED_OTHERWISE)


def framework_of(script: str) -> Framework:
    """Return the test framework that a shell script runs; `exit` if none is found."""
    found = _find(script)
    return found.framework if found else "exit"


def recognize(command: Iterable[str]) -> Recognized | None:
    """Return the framework that a command runs; `None` if it is not known.

    The command may start the framework itself, or be a shell with a script among its words.
    """
    program, *rest = command
    texts = (shlex.join((PurePosixPath(program).name, *rest)), *rest)
    return next(filter(None, map(_find, texts)), None)


def _find(script: str) -> Recognized | None:
    for framework, pattern in _FRAMEWORKS:
        if found := re.search(rf"^{_PREFIX}({pattern})", script, re.MULTILINE):
            return Recognized(framework, " ".join(found[1].split()))
    return None
