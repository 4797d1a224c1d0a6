"""Reads a task's Dockerfile and scripts: its base commit and test command."""

import re
import shlex
import sys
from collections.abc import Iterator
from pathlib import Path

from cooperbench_eval.errors import DatasetError

_SCRIPTS = ("runner.sh", "run_tests.sh")

_CHECKOUT = re.compile(r"git\s+(?:checkout|reset\s+--hard)\s+(?:--detach\s+)?([0-9a-f]{7,40})\b")
_PYTHON = re.compile(r"(?:.*/)?python(?:3(?:\.\d+)?)?")
_NOT_PLAIN = re.compile(r"[$`|&;<>(){}*?]")


def checked_out_commit(dockerfile: str) -> str | None:
    """Return the commit that a Dockerfile checks out, if any."""
    found = _CHECKOUT.search(dockerfile)
    return found.group(1) if found else None


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
    if "pytest" not in line:  # nearly every line; the rest is slow
        return None
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


def scripts_in(task: Path) -> Iterator[str]:
    """Yield the text of each script in a task's folder."""
    for name in _SCRIPTS:
        file = task / name
        if file.is_file():
            yield read_text(file)


def read_text(file: Path) -> str:
    """Read one of the dataset's files as UTF-8; other bytes are replaced."""
    try:
        return file.read_bytes().decode("utf-8", "replace")
    except OSError as exc:
        raise DatasetError(f"cannot be read ({exc.strerror})", str(file)) from exc
