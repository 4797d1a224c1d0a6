"""Understands as much of pytest's command line as tells which tests it runs."""

import shlex
from collections.abc import Iterator, Mapping, Sequence
from pathlib import PurePosixPath

__all__ = ["parse_places", "pytest_arguments", "split_words"]

_PROGRAMS = frozenset({"pytest", "py.test"})
# What starts another program as it is.
_LAUNCHERS = frozenset({"timeout", "env", "nice", "stdbuf", "time", "xvfb-run"})

# What leaves tests out, says so in a file of its own, or runs none.
_SELECTING_LETTERS = frozenset("kmchV")
_SELECTING = frozenset(
    {
        "--deselect",
        "--ignore",
        "--ignore-glob",
        "--lf",
        "--last-failed",
        "--sw",
        "--stepwise",
        "--sw-skip",
        "--stepwise-skip",
        "--co",
        "--collect-only",
        "--collectonly",
        "--config-file",
        "--rootdir",
        "--confcutdir",
        "--noconftest",
        "--pyargs",
        "--setup-only",
        "--setuponly",
        "--setup-plan",
        "--setupplan",
        "--fixtures",
        "--funcargs",
        "--fixtures-per-test",
        "--markers",
        "--cache-show",
        "--help",
        "--version",
        # Of plug-ins.
        "--testmon",
        "--picked",
        "--splits",
        "--group",
        "--shard-id",
        "--num-shards",
        "--test-group",
        "--test-group-count",
        "--looponfail",
    }
)
_LETTERS_WITH_VALUE = frozenset("rWpon")
_WITH_VALUE = frozenset(
    {
        "--tb",
        "--maxfail",
        "--timeout",
        "--timeout-method",
        "--junitxml",
        "--junit-xml",
        "--junit-prefix",
        "--junitprefix",
        "--basetemp",
        "--durations",
        "--durations-min",
        "--verbosity",
        "--capture",
        "--color",
        "--code-highlight",
        "--show-capture",
        "--import-mode",
        "--override-ini",
        "--pythonwarnings",
        "--log-level",
        "--log-cli-level",
        "--log-file",
        "--log-file-level",
        "--log-format",
        "--assert",
        "--cov-report",
        "--cov-config",
        "--cov-fail-under",
        "--cov-context",
        "--asyncio-mode",
        "--numprocesses",
        "--maxprocesses",
        "--dist",
        "--reruns",
        "--reruns-delay",
        "--html",
        "--ds",
        "--dc",
        "--rootdir",
    }
)
# The word behind is their value, unless it is an option.
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
    """Return what a command gives to pytest; `None` if it does not start pytest itself."""
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
    """Return a line's words as a shell has them; `None` where a quote stays open."""
    try:
        return tuple(shlex.split(text))
    except ValueError:
        return None


def parse_places(arguments: Sequence[str], env: Mapping[str, str]) -> list[str] | None:
    """Return the files and folders that are named, none for all.

    `None` where the arguments, or those of `PYTEST_ADDOPTS`, may select among tests.
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
    """Yield each option of a word with its value, which may be the word behind."""
    if word.startswith("--"):
        name, equals, value = word.partition("=")
        if not equals and name in _WITH_VALUE | _WITH_OPTIONAL_VALUE:
            value = next(rest, "")
        yield name, value
        # An option in the value's place is one by itself.
        if name in _WITH_OPTIONAL_VALUE and not equals and value.startswith("-"):
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
