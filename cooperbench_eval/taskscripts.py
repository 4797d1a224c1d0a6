"""Reads a task's Dockerfile and scripts: its base commit, test command and framework."""

import re
import shlex
import sys

__all__ = ["checked_out_commit", "framework_of", "plain_pytest_command"]

_CHECKOUT = re.compile(r"git\s+(?:checkout|reset\s+--hard)\s+(?:--detach\s+)?([0-9a-f]{7,40})\b")
_PYTHON = re.compile(r"(?:.*/)?python(?:3(?:\.\d+)?)?")
_NOT_PLAIN = re.compile(r"[$`|&;<>(){}*?]")
# In this order: a script runs the first framework of which it has a command.
_FRAMEWORKS = (
    ("nextest", r"cargo\s+nextest\s"),
    ("cargo", r"cargo\s+test\b"),
    ("go", r"go\s+test\b"),
    ("vitest", r"(?:\S+\s+)?vitest\b"),
    ("jest", r"(?:(?:\S+\s+)?jest|(?:npx\s+)?(?:p?npm|yarn)(?:@\S+)?\s+(?:run\s+)?test)\b"),
    ("node", r"node\s+.*--test\b"),
    ("pytest", r"(?:python\S*\s+-m\s+)?(?:pytest|py\.test)\b"),
    ("unittest", r"python\S*\s+-m\s+unittest\b"),
)
_PREFIX = r"\s*(?:timeout\s+\S+\s+)?(?:\w+=\S+\s+)*"


def checked_out_commit(dockerfile: str) -> str | None:
    """Return the commit that a Dockerfile checks out, if any."""
    found = _CHECKOUT.search(dockerfile)
    return found.group(1) if found else None


def framework_of(script: str) -> str:
    """Return the test framework that a shell script runs; `exit` if none is found."""
    for framework, pattern in _FRAMEWORKS:
        if re.search(rf"^{_PREFIX}{pattern}", script, re.MULTILINE):
            return framework
    return "exit"


def plain_pytest_command(script: str) -> tuple[str, ...] | None:
    """Return the first pytest command of plain words in a shell script, if any.

    A line with variables, pipes or alternatives is skipped, because it cannot be run as it
    is. `python` in the script becomes the interpreter that runs this library.
    """
    for line in script.splitlines():
        if command := _pytest_command(line):
            return command
    return None


def _pytest_command(line: str) -> tuple[str, ...] | None:
    line = re.sub(r"\s+2>&1.*$", "", line.strip())
    try:
        words = shlex.split(line, comments=True)
    except ValueError:
        return None
    if words[:1] == ["timeout"]:
        words = words[2:]
    if not words or _NOT_PLAIN.search(line):
        return None
    if _PYTHON.fullmatch(words[0]) and words[1:3] == ["-m", "pytest"]:
        return (sys.executable, *words[1:])
    if words[0] == "pytest":
        return (sys.executable, "-m", *words)
    return None
