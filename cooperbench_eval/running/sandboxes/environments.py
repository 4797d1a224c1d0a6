"""Finds the Python environments that a command uses, by reading files only.

A virtual environment names the installation that it is based on in `pyvenv.cfg`, and its
interpreter is usually a link to that installation's. A script such as `bin/pytest` names
its interpreter in its first line. No program is started. Paths in the tree are not
followed, because hostile code could have put a link there.
"""

import os
import re
import shutil
import site
import sys
import sysconfig
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from pathlib import Path

_NAMES = ("bin", "include", "lib", "lib32", "lib64", "libexec", "pyvenv.cfg", "share", "ssl")
"""What a Python installation has in its own folder; a project in the same folder has more."""
_NAMES_IN_A_HOME = (
    *("bin/python*", "include/python*", "lib*/libpython*", "lib*/python[23]*"),
    "pyvenv.cfg",
)
"""The same for a folder such as `~/.local`, where other programs keep private data."""
_PACKAGES = ("lib*/py*/site-packages", "lib*/py*/dist-packages")
_SYSTEM = Path("/usr")
"""The system's prefix: its Python also looks for packages in the folder `local` below it."""
_LIBRARY = ("lib*/python3*/os.py", "lib*/pypy3*/os.py", "conda-meta")
_PYTHON = re.compile(r"(?:python|pypy)")
_PROGRAM = re.compile(r"(?<![\w.@:/-])/[^\s'\"`;|&<>()$]*/bin/[^\s'\"`;|&<>()$]+")
_LONG_FIRST_LINE = re.compile(r"'''exec'\s+(?:\"(/[^\"$]+)\"|'(/[^']+)'|(/\S+))\s")
_HEAD_BYTES = 4096
_MOST_WORDS = 1000
_MOST_PROGRAMS = 100
_MOST_LINKS = 40


class EnvironmentFinder:
    """Collects what a command's Python environments consist of.

    Attributes:
        shown: The paths of the environments, except those of the running Python.
        facts: The state of each: its interpreter and its installed packages.
        packages: The folders of their installed packages.
    """

    def __init__(self, path: str, is_trusted: Callable[[str], bool] = lambda _: True) -> None:
        """Find nothing yet; *path* is the command's `PATH`.

        A path in the command's tree, for example, is not trusted, and not followed.
        """
        self.shown: dict[str, None] = {}
        self.facts: list[object] = []
        self.packages: list[str] = []
        self._path = path
        self._is_trusted = is_trusted
        self._seen: set[Path] = set()

    def search(self, words: Sequence[str]) -> None:
        """Search the programs of a command, and the environments on its `PATH`.

        The first word is looked up as `execvp` does. In the other words, each absolute path through
        a folder `bin` may be a program.
        """
        self._visit(Path(shutil.which(words[0], path=self._path) or ""))
        for word in words[:_MOST_WORDS]:
            for program in {word, *_PROGRAM.findall(word)} if "/bin/" in word else ():
                self._visit(Path(program))
        for folder in map(Path, self._path.split(os.pathsep)):
            if folder.is_absolute() and _configuration(folder):
                self._visit(folder / "python")

    def _visit(self, program: Path) -> None:
        """Add the environment of a program, if it is a Python or a script for one."""
        is_new = program not in self._seen and len(self._seen) < _MOST_PROGRAMS
        if not (is_new and program.is_absolute() and self._is_trusted(str(program))):
            return
        self._seen.add(program)
        is_file = os.path.isfile(program)  # noqa: PTH113 - never raises
        if str(program.parent.parent) in _OWN or not is_file:
            return
        names = list(_names_of(program))
        interpreter = _interpreter_of_script(program, self._path)
        is_python = any(_PYTHON.match(each.name) for each in names)
        if not (is_python or interpreter or _configuration(program.parent)):
            return
        self.shown[str(program)] = None
        self.facts.append((str(program), str(names[-1]), state_of(program)))
        for name in names:
            self._add_around(name)
        self._visit(Path(interpreter))

    def _add_around(self, program: Path) -> None:
        """Add the environment whose folder `bin` holds a program, and what it is based on."""
        prefix = program.parent.parent
        file = _configuration(program.parent)
        if str(prefix) in _OWN or not (file or _matches(prefix, _LIBRARY)):
            return
        self.shown.update(dict.fromkeys(_parts(prefix)))
        settings = _read_settings(file)
        packages = _packages(prefix)
        self.packages += packages
        states = [(path, state_of(Path(path))) for path in packages]
        self.facts.append((str(prefix), sorted(settings.items()), states))
        for name in (program.name, "python3", "python"):
            self._visit(Path(settings.get("home", ""), name))
        for name in ("executable", "base-executable"):
            self._visit(Path(settings.get(name, "")))


def installed_modules(words: Sequence[str], path: str) -> frozenset[str]:
    """Return the names of the modules that a command's environments have installed.

    Those of the running Python are included.
    """
    finder = EnvironmentFinder(path)
    finder.search(words)
    found: set[str] = set()
    for folder in (*finder.packages, *running_packages()):
        with suppress(OSError):
            found.update(name.partition(".")[0] for name in os.listdir(folder))  # noqa: PTH208
    return frozenset(name for name in found if name.isidentifier())


def _interpreter_of_script(program: Path, path: str) -> str:
    """Return the Python that runs a script; empty if *program* is not a Python script.

    The interpreter of a script that starts with `/usr/bin/env` is looked up in *path*.
    """
    first, _, rest = _head(program).partition("\n")
    if not first.startswith("#!"):
        return ""
    if found := _LONG_FIRST_LINE.match(rest):  # the kernel would cut such a first line
        return str(next(filter(None, found.groups())))
    words = first[2:].split()
    if words and Path(words[0]).name == "env":
        names = (word for word in words[1:] if not word.startswith("-") and "=" not in word)
        words = [shutil.which(next(names, ""), path=path) or ""]
    return words[0] if words and _PYTHON.match(Path(words[0]).name) else ""


def running_python() -> Iterator[str]:
    """Yield the paths of the running Python."""
    for prefix in _PREFIXES:
        yield from _parts(Path(prefix))


def running_packages() -> list[str]:
    """Return the folders in which the running Python looks for packages.

    A virtual environment with system packages also uses those of its base.
    """
    own = map(sysconfig.get_path, ("purelib", "platlib"))
    return sorted({*own, *site.getsitepackages()})


_OWN = frozenset((sys.prefix, sys.exec_prefix))
"""Where the running Python is, which is always visible and always part of the identity."""
_PREFIXES = _OWN | {sys.base_prefix, sys.base_exec_prefix}
"""The same with what it is based on, which is always visible too."""


def _names_of(program: Path) -> Iterator[Path]:
    """Yield a program's path, and where each link leads; the last one is the file itself."""
    yield program
    for _ in range(_MOST_LINKS):
        try:
            target = program.parent.resolve() / program.readlink()
        except (OSError, RuntimeError):
            break
        program = target.parent.resolve() / target.name
        yield program


def _configuration(folder: Path) -> Path | None:
    """Return the `pyvenv.cfg` of the environment whose programs are in *folder*."""
    files = (place / "pyvenv.cfg" for place in (folder, folder.parent))
    return next(filter(os.path.isfile, files), None)


def _read_settings(file: Path | None) -> Mapping[str, str]:
    lines = _head(file).splitlines() if file else []
    pairs = (line.partition("=") for line in lines)
    return {name.strip().lower(): value.strip() for name, _, value in pairs}


def _head(file: Path) -> str:
    try:
        with file.open("rb") as opened:
            return opened.read(_HEAD_BYTES).decode(errors="surrogateescape")
    except OSError:
        return ""


def _parts(prefix: Path) -> Iterable[str]:
    """Return what belongs to Python in the folder of an installation."""
    home = Path(os.path.expanduser("~"))  # noqa: PTH111 - never raises
    if prefix.name == ".local" or home.is_relative_to(prefix):
        return _matches(prefix, _NAMES_IN_A_HOME)
    return [str(prefix / name) for name in _NAMES if (prefix / name).exists()]


def _packages(prefix: Path) -> list[str]:
    """Return the folders in which the Python of an installation looks for packages."""
    found = _matches(prefix, _PACKAGES)
    # Debian's and Fedora's pip install there. `/bin` may be a link to `/usr/bin`.
    if (prefix / "bin").resolve() == _SYSTEM / "bin":
        found += _matches(_SYSTEM / "local", _PACKAGES)
    return sorted(found)


def _matches(prefix: Path, patterns: Iterable[str]) -> list[str]:
    return [str(path) for pattern in patterns for path in prefix.glob(pattern)]


def state_of(path: Path) -> tuple[int, int, int] | None:
    """Return the last change, the size and the identity of a path; `None` if it is absent."""
    try:
        found = path.stat()
    except OSError:
        return None
    return found.st_mtime_ns, found.st_size, found.st_ino
