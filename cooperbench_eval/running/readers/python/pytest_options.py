"""Reads which tests pytest's command line selects."""

import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import PurePosixPath

from attrs import frozen

from cooperbench_eval.running.readers.command_line import option_and_value, split_words
from cooperbench_eval.running.readers.python.pytest_keywords import keyword_holds

__all__ = ["Selection", "parse_selection", "pytest_arguments"]

_PROGRAMS = frozenset({"pytest", "py.test"})
# Programs that start another program.
_LAUNCHERS = frozenset({"timeout", "env", "nice", "stdbuf", "time", "xvfb-run"})

# Options that leave tests out, name a file that may do so, or run no test.
_SELECTING_LETTERS = frozenset("mchV")
_SELECTING = frozenset(
    {
        *("--ignore-glob", "--pyargs", "--noconftest"),
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
_LETTERS_WITH_VALUE = frozenset("rWponk")
_WITH_VALUE = frozenset(
    {
        *(
            "--deselect",
            "--ignore",
            "--tb",
            "--maxfail",
            "--durations",
            "--durations-min",
            "--verbosity",
            "--basetemp",
        ),
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


@frozen(kw_only=True)
class Selection:
    """What a command line selects.

    Attributes:
        places: The files and folders; none means all.
        nodes: The ids of classes and functions.
        keyword: The `-k` expression; empty if there is none.
        left_out: The files, folders and ids that are ignored or deselected.
    """

    places: tuple[str, ...] = ()
    nodes: tuple[str, ...] = ()
    keyword: str = ""
    left_out: tuple[str, ...] = ()

    @property
    def is_whole(self) -> bool:
        """Whether every test of the places is selected."""
        return not (self.nodes or self.keyword or self.left_out)

    @property
    def named(self) -> tuple[str, ...]:
        """The files and folders in which tests are selected; none means all."""
        return (*self.places, *(_file(node) for node in self.nodes))

    def is_above(self, path: str) -> bool:
        """Whether a file is surely one of the places or below one."""
        pure = PurePosixPath(path)
        places = self.places if self.places or self.nodes else (".",)
        return any(pure.is_relative_to(each) for each in places)

    def may_name(self, path: str) -> bool:
        """Whether a file may be in a place or hold a node, relative to some folder."""
        return not self.named or any(_may_be(each, path) for each in self.named)

    def has_node(self, path: str, test: str, *, anywhere: bool = False) -> bool:
        """Whether an id is that of a test, or of its class.

        Args:
            path: The file.
            test: The test's name, as `Class::function`.
            anywhere: Whether the ids may begin at any folder.
        """
        return any(
            (file == path or (anywhere and _may_be(file, path)))
            and f"{test}::".startswith(f"{inner}::")
            for file, _, inner in (_bare(node).partition("::") for node in self.nodes)
        )

    def keeps(self, path: str, test: str, text: str) -> bool:
        """Whether a test is certainly neither left out nor rejected by the keywords.

        Args:
            path: The file.
            test: The test's name, as `Class::function`.
            text: The file's contents.
        """
        if any(_may_be(_file(each), path) and _overlap(each, test) for each in self.left_out):
            return False
        if not self.keyword:
            return True
        names = (*test.split("::"), PurePosixPath(path).name)
        return keyword_holds(self.keyword, names, f"{path}\n{text}") is True


def _file(node: str) -> str:
    return node.partition("::")[0]


def _bare(node: str) -> str:
    """Return an id without parameters; a test runs if some of its parameter sets do."""
    return node.partition("[")[0]


def _may_be(place: str, path: str) -> bool:
    """Whether a place may be a file or a folder above it, whatever folder it is relative to."""
    return re.search(r"[$*?{`]", place) is not None or f"/{place}/" in f"/{path}/" or place == "."


def _overlap(node: str, test: str) -> bool:
    inner = _bare(node).partition("::")[2]
    return not inner or test.startswith(inner) or inner.startswith(test)


def parse_selection(arguments: Sequence[str], env: Mapping[str, str]) -> Selection | None:
    """Return what the arguments, and those in `PYTEST_ADDOPTS`, select.

    `None` if an option may select among the tests in another way.
    """
    more = split_words(env.get("PYTEST_ADDOPTS", ""))
    if more is None:
        return None
    places: list[str] = []
    nodes: list[str] = []
    left_out: list[str] = []
    keyword = ""
    words = iter((*more, *arguments))
    for word in words:
        if not word.startswith("-"):
            if word.startswith("@"):
                return None
            (nodes if "::" in word else places).append(_plain_place(word))
            continue
        for option, value in _options(word, words):
            if option == "-k":
                keyword = value
            elif option in {"--ignore", "--deselect"}:
                left_out.append(_plain_place(value))
            elif _selects(option, value):
                return None
    return Selection(
        places=tuple(places), nodes=tuple(nodes), keyword=keyword, left_out=tuple(left_out)
    )


def _plain_place(word: str) -> str:
    return word.removeprefix("./").rstrip("/") or "."


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
