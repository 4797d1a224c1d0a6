"""Reads which tests a tree's pytest settings leave out."""

import configparser
import re
import tomllib
from collections.abc import Iterator, Mapping
from fnmatch import fnmatchcase
from functools import partial
from pathlib import PurePosixPath

from attrs import frozen

from cooperbench_eval.git.trees.snapshot import Snapshot
from cooperbench_eval.running.readers.command_line import split_words
from cooperbench_eval.running.readers.parts import remembered
from cooperbench_eval.running.readers.python.pytest_options import Selection, parse_selection

__all__ = ["DEFAULT_SETTINGS", "Settings", "settings_above"]

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
        folder: Where the file is.
        values: The settings by name, as the words of each.
    """

    folder: PurePosixPath
    values: Mapping[str, tuple[str, ...]]

    def selects(self) -> bool:
        """Whether the options in the settings may leave tests out."""
        return parse_selection(self.values.get("addopts", ()), {}) != Selection()

    def has_file(self, path: PurePosixPath, *, anywhere: bool) -> bool:
        """Whether pytest collects a file.

        Args:
            path: The file.
            anywhere: Whether the command names no file or folder, so that `testpaths`
                applies.
        """
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
