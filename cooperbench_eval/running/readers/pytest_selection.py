"""Which tests pytest's command line and a tree's settings select."""

import ast
import configparser
import re
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from fnmatch import fnmatchcase
from functools import partial
from pathlib import PurePosixPath

from attrs import frozen

from cooperbench_eval.git.trees.snapshot import Snapshot
from cooperbench_eval.running.readers.protocol import option_and_value, remembered, split_words

_TOKEN = re.compile(r"\s*(\(|\)|[\w:+\-.\[\]/\\\\]+)")
_SIGNS = frozenset({"and", "or", "not", "(", ")"})


def keyword_holds(expression: str, names: Sequence[str], text: str) -> bool | None:
    """Whether an expression selects a test; `None` if the text of the test does not show it.

    A word is true if it is in one of the names of the test, its classes and its file. It is
    false if it is nowhere in the text, which is the file's path and contents. Otherwise it may
    be a mark or a parameter, so its value is unknown.
    """

    def value(word: str) -> bool | None:
        if any(word.lower() in name.lower() for name in names):
            return True
        return None if word.lower() in text.lower() else False

    words = _TOKEN.findall(expression)
    if "".join(words) != "".join(expression.split()):
        return None
    # With a number in place of each word, it is an expression of Python.
    numbered = " ".join(w if w in _SIGNS else f"_{at}" for at, w in enumerate(words))
    values = {f"_{at}": value(word) for at, word in enumerate(words)}
    try:
        return _holds(ast.parse(numbered, mode="eval").body, values)
    except (SyntaxError, RecursionError, MemoryError):
        return None


def _holds(node: ast.expr, values: Mapping[str, bool | None]) -> bool | None:
    match node:
        case ast.Name():
            return values[node.id]
        case ast.UnaryOp():
            found = _holds(node.operand, values)
            return None if found is None else not found
        case ast.BoolOp():
            parts = [_holds(each, values) for each in node.values]
            decides = isinstance(node.op, ast.Or)
            return decides if decides in parts else None if None in parts else not decides
        case _:
            raise SyntaxError


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
        *("--deselect", "--ignore", "--tb", "--maxfail", "--durations", "--durations-min"),
        *("--verbosity", "--basetemp"),
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
    *("addopts", "testpaths", "norecursedirs", "collect_imported_tests"),
    *("python_files", "python_classes", "python_functions"),
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
        """Whether an id is that of a test, or of its class; if *anywhere*, below any folder."""
        return any(
            (file == path or (anywhere and _may_be(file, path)))
            and f"{test}::".startswith(f"{inner}::")
            for file, _, inner in (_bare(node).partition("::") for node in self.nodes)
        )

    def keeps(self, path: str, test: str, text: str) -> bool:
        """Whether a test is certainly neither left out nor rejected by the keywords.

        The test is named `Class::function`; *text* is the contents of its file.
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


_INI_FILES = {
    "pytest.ini": "pytest",
    ".pytest.ini": "pytest",
    "tox.ini": "pytest",
    "setup.cfg": "tool:pytest",
}
_TOML_FILES = {
    "pytest.toml": (("pytest",),),
    ".pytest.toml": (("pytest",),),
    "pyproject.toml": (("tool", "pytest", "ini_options"), ("tool", "pytest")),
}
_DEFAULTS = {
    "python_files": "test_*.py *_test.py",
    "python_classes": "Test",
    "python_functions": "test",
    "norecursedirs": "*.egg .* _darcs build CVS dist node_modules venv {arch}",
}
# A `conftest.py` that contains this may leave out any test.
_HOOKS = re.compile(rb"collect_ignore|pytest_ignore_collect|pytest_deselected|\bitems\[:\]")


@frozen
class Settings:
    """One file's settings, or pytest's defaults.

    Attributes:
        values: The settings by name, as the words of each.
    """

    folder: PurePosixPath
    values: Mapping[str, tuple[str, ...]]

    def selects(self) -> bool:
        """Whether the options in the settings may leave tests out."""
        return parse_selection(self.values.get("addopts", ()), {}) != Selection()

    def has_file(self, path: PurePosixPath, *, anywhere: bool) -> bool:
        """Whether pytest collects a file; if *anywhere*, the command names no place to look in."""
        return (
            any(_matches(path, each) for each in self._words("python_files"))
            and not any(
                _matches(folder, each)
                for folder in path.parents
                if folder.name
                for each in self._words("norecursedirs")
            )
            and (not anywhere or self._is_below_testpaths(path))
        )

    def has_class(self, name: str) -> bool:
        """Whether pytest collects a class of that name."""
        return _begins(name, self._words("python_classes"))

    def has_function(self, name: str) -> bool:
        """Whether pytest collects a function of that name."""
        return _begins(name, self._words("python_functions"))

    def _words(self, name: str) -> tuple[str, ...]:
        return self.values.get(name, tuple(_DEFAULTS[name].split()))

    def _is_below_testpaths(self, path: PurePosixPath) -> bool:
        places = self.values.get("testpaths", ())
        if self.folder.name or not places:
            return True
        names = (str(each) for each in (path, *path.parents))
        wanted = [each.removeprefix("./").rstrip("/") or "." for each in places]
        return any(fnmatchcase(name, each) for name in names for each in wanted)


DEFAULT_SETTINGS = Settings(PurePosixPath(), {})


def settings_above(path: PurePosixPath, tree: Snapshot) -> list[Settings] | None:
    """Return the settings that may apply to a test file; pytest's defaults come last.

    Pytest uses one of the settings files above the test file. All of them are returned: a
    test that is collected with each of them runs in any case. `None` if one of them cannot
    be parsed, or if a `conftest.py` selects tests itself.
    """
    found = [DEFAULT_SETTINGS]
    for folder in path.parents:
        conftest = tree.get(str(folder / "conftest.py"))
        if conftest is not None and _HOOKS.search(conftest.data):
            return None
        for name in (*_INI_FILES, *_TOML_FILES):
            entry = tree.get(str(folder / name))
            values = _READ[name](entry.data) if entry is not None else {}
            if values is None:
                return None
            if values:
                found.insert(0, Settings(folder, values))
    return found


def _read(name: str, data: bytes) -> Mapping[str, tuple[str, ...]] | None:
    """Read the settings in a file of that name; `None` if it cannot be parsed."""
    try:
        return dict(_values(name, data.decode()))
    except (ValueError, RecursionError, configparser.Error):
        return None


_READ = {name: remembered(partial(_read, name)) for name in (*_INI_FILES, *_TOML_FILES)}


def _values(name: str, text: str) -> Iterator[tuple[str, tuple[str, ...]]]:
    if name in _INI_FILES:
        parser = configparser.ConfigParser(interpolation=None, strict=False, allow_no_value=True)
        parser.read_string(text)
        section = parser[_INI_FILES[name]] if parser.has_section(_INI_FILES[name]) else {}
        for key, value in section.items():
            yield key, _words(value or "")
        return
    whole = tomllib.loads(text)
    for keys in _TOML_FILES[name]:
        table: object = whole
        for key in keys:
            table = table.get(key) if isinstance(table, dict) else None
        for key, value in table.items() if isinstance(table, dict) else ():
            if isinstance(value, str | list):
                yield key, _words(value) if isinstance(value, str) else tuple(map(str, value))


def _words(text: str) -> tuple[str, ...]:
    return split_words(text) or tuple(text.split())


def _matches(path: PurePosixPath, pattern: str) -> bool:
    """Whether a pattern matches a file's name or, if it contains a slash, the whole path."""
    if "/" in pattern:
        return fnmatchcase(f"/{path}", f"*/{pattern.strip('/')}")
    return fnmatchcase(path.name, pattern)


def _begins(name: str, patterns: tuple[str, ...]) -> bool:
    return any(
        fnmatchcase(name, each) if re.search(r"[*?\[]", each) else name.startswith(each)
        for each in patterns
    )
