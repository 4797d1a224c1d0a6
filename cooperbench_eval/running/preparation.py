"""What a caller adds to every suite of a batch: an interpreter, a set-up, readable paths."""

import filecmp
import os
import re
import shutil
import sys
from collections.abc import Iterable
from pathlib import Path

import attrs
from attrs import field, frozen

from cooperbench_eval.errors import ArgumentError
from cooperbench_eval.running.runner import TestRunner
from cooperbench_eval.running.sandboxes.local import listed
from cooperbench_eval.running.sandboxes.registry import with_readable
from cooperbench_eval.running.suite import TestSuite, as_commands
from cooperbench_eval.support.arguments import named_fields

_PYTHON = re.compile(r"python(?:3(?:\.\d+)?)?")
_IN_ENVIRONMENT = ("bin/python", "bin/python3", "Scripts/python.exe", "python.exe")


def _as_interpreter(python: str | os.PathLike[str] | None) -> str | None:
    """Return the path of an interpreter of this machine; links in it are kept."""
    if python is None:
        return None
    given = Path(os.path.expanduser(python))  # noqa: PTH111 - never raises
    if given.is_dir():
        files = [given / name for name in _IN_ENVIRONMENT]
        found = next((file for file in files if file.is_file()), None)
        if found is None:
            raise _unusable(python, f"the folder has no {_IN_ENVIRONMENT[0]}")
    elif len(given.parts) == 1 and not given.exists():
        found = Path(shutil.which(given) or given)
    else:
        found = given
    if not (found.is_file() and os.access(found, os.X_OK)):
        raise _unusable(python, "there is no such program")
    with found.open("rb") as file:
        if file.read(2) == b"#!":  # for example a shim of pyenv
            problem = f"{found} is a script, not an interpreter"
            raise _unusable(python, f"{problem} (`pyenv which python` finds pyenv's)")
    found = Path(os.path.abspath(found))  # noqa: PTH100 - does not resolve links
    if problem := _path_problem(found):
        raise _unusable(python, problem)
    return str(found)


def _path_problem(python: Path) -> str:
    """Return why a script would not find *python* if its folder were first on `PATH`."""
    if os.pathsep in str(python.parent):
        return f"a folder on PATH cannot have {os.pathsep!r} in its name"
    names = ("python.exe",) if python.suffix == ".exe" else ("python", "python3")
    for name in names:
        if not _is_same(python.with_name(name), python):
            problem = f"{python.parent} has no program {name} that is the same interpreter"
            advice = f"`{python} -m venv --system-site-packages FOLDER` makes one"
            return f"{problem}, so scripts would start another one ({advice})"
    return ""


def _is_same(program: Path, python: Path) -> bool:
    """Whether two programs are the same; in some environments, they are copies."""
    try:
        same = program.samefile(python) or filecmp.cmp(program, python, shallow=False)
    except OSError:
        return False
    return same and os.access(program, os.X_OK)


def _as_paths(given: Iterable[str | os.PathLike[str]]) -> tuple[str, ...]:
    return tuple(os.fspath(path) for path in listed(given))


def _unusable(python: str | os.PathLike[str], problem: str) -> ArgumentError:
    expected = "expected a Python interpreter, or the folder of a virtual environment"
    return ArgumentError("python", f"is {os.fspath(python)!r}, but {problem}; {expected}")


@frozen(kw_only=True, field_transformer=named_fields)
class Preparation:
    """What is added to each suite, and to the sandbox that runs it.

    Attributes:
        python: The interpreter that `python` stands for in the suites' commands, as a
            path or as the folder of its environment. Its folder comes first on `PATH`, so
            `python` and `python3` in it must be the same interpreter.
        setup: Commands, or one command, that run before those of each suite.
        readable: Further paths that the commands may read.

    Raises:
        ArgumentError: *python* is not an interpreter of this machine, or scripts would not
            find it on `PATH`.
    """

    python: str | None = field(default=None, converter=_as_interpreter)
    setup: tuple[tuple[str, ...], ...] = field(default=(), converter=as_commands)
    readable: tuple[str, ...] = field(default=(), converter=_as_paths)

    @property
    def given(self) -> str:
        """The first option that was given; empty if none was."""
        return next((name for name, value in attrs.asdict(self).items() if value), "")

    def of_suite(self, suite: TestSuite) -> TestSuite:
        """Return *suite* with the interpreter and the set-up."""
        if self.setup:
            suite = attrs.evolve(suite, setup=(*self.setup, *suite.setup))
        return suite if self.python is None else _with_python(suite, self.python)

    def of_runner(self, runner: TestRunner) -> TestRunner:
        """Return a runner whose sandbox shows the readable paths."""
        if not self.readable:
            return runner
        return attrs.evolve(runner, sandbox=with_readable(runner.sandbox, self.readable))


def _with_python(suite: TestSuite, python: str) -> TestSuite:
    """Return a suite whose commands, and whatever they start, use another interpreter."""

    def using(command: Iterable[str]) -> tuple[str, ...]:
        program, *rest = command
        is_python = program == sys.executable or _PYTHON.fullmatch(program)
        return (python if is_python else program, *rest)

    # A relative part would be taken from the tree, which hostile code can change.
    inherited = filter(os.path.isabs, os.environ.get("PATH", os.defpath).split(os.pathsep))
    path = suite.env.get("PATH", os.pathsep.join(inherited))
    folder = os.path.dirname(python)  # noqa: PTH120 - a link is kept as it is
    return attrs.evolve(
        suite,
        command=using(suite.command),
        setup=tuple(map(using, suite.setup)),
        env={**suite.env, "PATH": os.pathsep.join((folder, path))},
    )
