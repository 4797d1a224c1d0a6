"""The tests of a feature, and how to run them."""

import math
import os
from collections.abc import Iterable, Mapping
from enum import StrEnum
from pathlib import PurePosixPath
from types import MappingProxyType
from typing import Any, ClassVar

from attrs import Attribute, converters, field, frozen

from cooperbench_eval.errors import ArgumentError
from cooperbench_eval.git.patching.patch import GivenText, Patch, parse_given
from cooperbench_eval.running.readers.frameworks import FRAMEWORKS, Framework
from cooperbench_eval.support.arguments import checked, checked_fields, follows

DEFAULT_TIMEOUT_SECONDS = 600.0
_SEPARATOR = ":"
"""Between the folders of a search path: tests run on Linux, wherever this process does."""


class Delivery(StrEnum):
    """How a suite's command gets the files that it tests."""

    TREE = "tree"
    """The command starts in the finished tree."""
    PATCHES = "patches"
    """The base is in the sandbox already, as in a benchmark's image. The command starts in a
    folder with `feature.patch` and `tests.patch`, and applies both patches itself."""


def _as_command(parts: Iterable[str], argument: str = "command") -> tuple[str, ...]:
    if isinstance(parts, str):
        advice = f"pass shlex.split({parts!r:.200})"
        raise ArgumentError(argument, f"must be a sequence of arguments, not one string; {advice}")
    if not isinstance(parts, Iterable):
        found = type(parts).__qualname__
        raise ArgumentError(argument, f"must be a sequence of arguments, not {found}")
    return tuple(parts)


def _as_patch(given: GivenText | None) -> Patch:
    return parse_given(b"" if given is None else given)


def _as_words(words: Iterable[str]) -> tuple[str, ...]:
    return tuple(words)


def as_commands(commands: Iterable[Iterable[str]] | Iterable[str]) -> tuple[tuple[str, ...], ...]:
    """Return several commands, or one that is given by its words, as a sequence of commands."""
    if isinstance(commands, str):
        return (_as_command(commands, "setup"),)  # raises
    parts = tuple(commands)
    words = tuple(part for part in parts if isinstance(part, str))
    if words and words == parts:
        return (words,)
    return tuple(_as_command(each, "setup") for each in parts)


def _as_pairs(env: Mapping[str, str] | Iterable[tuple[str, str]]) -> tuple[tuple[str, str], ...]:
    return tuple(sorted(dict(env).items()))


@frozen(kw_only=True, field_transformer=checked_fields)
class TestSuite:
    """A feature's tests: the patch that adds them, and the command that runs them.

    The command starts in the root of the tree. The framework is asked for its result
    through the environment or through additional arguments.

    Attributes:
        command: The program and its arguments. No shell is involved.
        patch: The tests patch, applied to the tree before the run: a `Patch`, its text, or a
            `Path` of its file. Empty or `None` if the tree has the tests already.
        framework: The framework that writes the result: `"pytest"`, `"unittest"`, `"go"`,
            `"cargo"`, `"nextest"`, `"jest"`, `"vitest"`, `"node"`, or `"exit"` to judge
            by the command's exit status only.
        timeout_seconds: The time after which the run is killed, including its set-up; 600
            by default.
        setup: Commands, or one command, that prepare the tree. They run first, in the same
            sandbox and within the same deadline; if one fails, the run is `setup_failed`.
        delivery: How the command gets the files.
        required: Ids of the test cases that must be among those that ran, as the
            framework's reader returns them; a parametrised test is named without its
            parameters. With `None`, they are found among the tests that the patch adds.
        env: Variables for the command. If a name ends with `PATH`, each relative part of
            the value is resolved against the root of the tree, and empty parts are
            dropped.

    Raises:
        ArgumentError: An argument has a wrong type or value.
        PatchError: *patch* cannot be read or parsed.

    Example:
        >>> suite = TestSuite(command=("python", "-m", "pytest"), env={"PYTHONPATH": "src"})
        >>> suite.framework, suite.timeout_seconds, suite.environment_at("/tree")
        ('pytest', 600.0, {'PYTHONPATH': '/tree/src'})
    """

    __test__: ClassVar[bool] = False

    command: tuple[str, ...] = field(converter=_as_command, metadata=follows(None))
    patch: Patch = field(factory=lambda: Patch.parse(b""), converter=_as_patch, repr=False)
    framework: Framework = field(default="pytest")
    timeout_seconds: float = field(default=DEFAULT_TIMEOUT_SECONDS, converter=float)
    setup: tuple[tuple[str, ...], ...] = field(default=(), converter=as_commands)
    delivery: Delivery = field(default=Delivery.TREE, converter=Delivery)
    required: tuple[str, ...] | None = field(
        default=None, converter=converters.optional(_as_words), repr=False
    )
    # Kept as pairs, because a suite is hashed and pickled.
    _env: tuple[tuple[str, str], ...] = field(default=(), converter=_as_pairs, repr=False)

    @command.validator
    def _check_command(self, attribute: "Attribute[Any]", command: tuple[str, ...]) -> None:
        if not command:
            raise ArgumentError(attribute.name, "is empty")
        for part in command:
            if not isinstance(part, str):
                found = f"{type(part).__qualname__}: {part!r:.100}"
                raise ArgumentError(attribute.name, f"must be made of str, not {found}")
            if "\0" in part:
                raise ArgumentError(attribute.name, f"has a NUL in {part!r:.200}")

    @setup.validator
    def _check_setup(self, attribute: "Attribute[Any]", setup: tuple[tuple[str, ...], ...]) -> None:
        for command in setup:
            self._check_command(attribute, command)

    @framework.validator
    def _check_framework(self, _: "Attribute[Any]", framework: str) -> None:
        if framework not in FRAMEWORKS:
            known = ", ".join(FRAMEWORKS)
            raise ArgumentError("framework", f"must be one of {known}, not {framework!r:.100}")

    @timeout_seconds.validator
    def _check_timeout(self, _: "Attribute[Any]", seconds: float) -> None:
        if not (seconds > 0 and math.isfinite(seconds)):
            raise ArgumentError("timeout_seconds", f"must be positive and finite, not {seconds}")

    @_env.validator
    def _check_env(self, _: "Attribute[Any]", env: tuple[tuple[str, str], ...]) -> None:
        for name, value in env:
            if not name or "=" in name or "\0" in name + value:
                problem = f"has an invalid name of a variable, {name!r:.100}, or a NUL in its value"
                raise ArgumentError("env", problem)

    @property
    def env(self) -> Mapping[str, str]:
        """The variables as they were given."""
        return MappingProxyType(dict(self._env))

    @property
    def import_roots(self) -> tuple[str, ...]:
        """The folders of the tree that the variables put on a search path."""
        values = [value for name, value in self._env if name.endswith("PATH")]
        parts = (part for value in values for part in value.split(_SEPARATOR))
        return tuple(part for part in parts if part and not PurePosixPath(part).is_absolute())

    @property
    def script_words(self) -> tuple[str, ...]:
        """The words of the commands, some of which name the scripts that run the tests.

        Empty for `"exit"`, whose command may be the tested program itself.
        """
        if self.framework == "exit":
            return ()
        return tuple(word for command in (*self.setup, self.command) for word in command)

    @checked
    def environment_at(self, tree: str | os.PathLike[str]) -> dict[str, str]:
        """Return the variables for a run on the tree at an absolute path."""
        return {
            name: _at(tree, value) if name.endswith("PATH") else value for name, value in self._env
        }


def _at(tree: str | os.PathLike[str], value: str) -> str:
    folder = PurePosixPath(os.fspath(tree))
    # Joining leaves an absolute part unchanged.
    return _SEPARATOR.join(str(folder / part) for part in value.split(_SEPARATOR) if part)
