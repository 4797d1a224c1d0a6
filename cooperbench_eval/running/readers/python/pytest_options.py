"""Reads which tests pytest's command line selects."""

import shlex
from collections.abc import Iterator, Mapping, Sequence
from pathlib import PurePosixPath

from cooperbench_eval.running.readers.command_line import option_and_value

__all__ = ["parse_places", "pytest_arguments", "split_words"]

_PROGRAMS = frozenset({"pytest", "py.test"})
# Programs that start another program.
_LAUNCHERS = frozenset({"timeout", "env", "nice", "stdbuf", "time", "xvfb-run"})

# Options that leave tests out, name a file that may do so, or run no test.
_SELECTING_LETTERS = frozenset("kmchV")
_SELECTING = frozenset(
    {
        *("--deselect", "--ignore", "--ignore-glob", "--pyargs", "--noconftest"),
        *("--lf", "--last-failed", "--sw", "--stepwise", "--sw-skip", "--stepwise-skip"),
        *("--config-file", "--rootdir", "--confcutdir"),
        *("--co", "--collect-only", "--collectonly", "--setup-only", "--setuponly"),
        *("--setup-plan", "--setupplan", "--fixtures", "--funcargs", "--fixtures-per-test"),
        *("--markers", "--cache-show", "--help", "--version"),
        # Options of plug-ins.
        *("--testmon", "--picked", "--splits", "--group", "--looponfail"),
        *("--shard-id", "--num-shards", "--test-group", "--test-group-count"),
    }
)
_LETTERS_WITH_VALUE = frozenset("rWpon")
_WITH_VALUE = frozenset(
    {
        *("--tb", "--maxfail", "--durations", "--durations-min", "--verbosity", "--basetemp"),
        *("--junitxml", "--junit-xml", "--junit-prefix", "--junitprefix"),
        *("--capture", "--color", "--code-highlight", "--show-capture", "--assert"),
        *("--import-mode", "--override-ini", "--pythonwarnings"),
        *("--log-level", "--log-cli-level", "--log-file", "--log-file-level", "--log-format"),
        # Options of plug-ins.
        *("--cov-report", "--cov-config", "--cov-fail-under", "--cov-context"),
        *("--numprocesses", "--maxprocesses", "--dist", "--reruns", "--reruns-delay"),
        *("--timeout", "--timeout-method", "--asyncio-mode", "--html", "--ds", "--dc"),
    }
)
# The next word is their value, unless it is an option.
_WITH_OPTIONAL_VALUE = frozenset({"--cov"})
_SELECTING_SETTINGS = (
    "addopts",
    "testpaths",
    "norecursedirs",
    "python_files",
    "python_classes",
    "python_functions",
    "collect_imported_tests",
)
_SELECTING_PLUGINS = frozenset({"no:python", "no:unittest"})


def pytest_arguments(command: tuple[str, ...]) -> tuple[str, ...] | None:
    """Return pytest's arguments; `None` if the command does not start pytest itself."""
    for at, word in enumerate(command):
        if PurePosixPath(word).name in _PROGRAMS and _is_started(command, at):
            return command[at + 1 :]
    return None


def _is_started(command: tuple[str, ...], at: int) -> bool:
    return (
        at == 0
        or command[at - 1] in {"-m", "run"}
        or PurePosixPath(command[0]).name in _LAUNCHERS
        or command[0] in {"uv", "poetry", "pdm", "pipenv", "hatch"}
    )


def split_words(text: str) -> tuple[str, ...] | None:
    """Split a line into words as a shell does; `None` if a quote is not closed."""
    try:
        return tuple(shlex.split(text))
    except ValueError:
        return None


def parse_places(arguments: Sequence[str], env: Mapping[str, str]) -> list[str] | None:
    """Return the files and folders in the arguments; an empty list means all.

    `None` if the arguments, or those in `PYTEST_ADDOPTS`, may select among the tests.
    """
    more = split_words(env.get("PYTEST_ADDOPTS", ""))
    if more is None:
        return None
    places = []
    words = iter((*more, *arguments))
    for word in words:
        if not word.startswith("-"):
            if "::" in word or word.startswith("@"):
                return None
            places.append(word.removeprefix("./").rstrip("/") or ".")
        elif any(_selects(option, value) for option, value in _options(word, words)):
            return None
    return places


def _options(word: str, rest: Iterator[str]) -> Iterator[tuple[str, str]]:
    """Yield each option of a word with its value, which may be the next word."""
    if word.startswith("--"):
        name, value = option_and_value(word, rest, _WITH_VALUE | _WITH_OPTIONAL_VALUE)
        yield name, value
        # An option in the place of the optional value is a separate option.
        if word in _WITH_OPTIONAL_VALUE and value.startswith("-"):
            yield from _options(value, rest)
        return
    for at, letter in enumerate(word[1:], 1):
        if letter in _LETTERS_WITH_VALUE:
            yield f"-{letter}", word[at + 1 :] or next(rest, "")
            return
        yield f"-{letter}", ""


def _selects(option: str, value: str) -> bool:
    if option in {"-o", "--override-ini"}:
        return value.partition("=")[0].strip() in _SELECTING_SETTINGS
    if option == "-p":
        return value in _SELECTING_PLUGINS
    return option in _SELECTING or option.removeprefix("-") in _SELECTING_LETTERS
