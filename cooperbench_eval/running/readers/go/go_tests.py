"""Finds the test functions that a patch brings to Go packages."""

import re
from collections.abc import Iterator, Sequence
from pathlib import PurePosixPath

from cooperbench_eval.models import Entry
from cooperbench_eval.running.readers.added import added_or_changed, behind
from cooperbench_eval.running.readers.masking import mask_go
from cooperbench_eval.running.readers.protocol import NewTests
from cooperbench_eval.snapshot import Snapshot

__all__ = ["added_go_tests"]

_TEST = re.compile(r"^func (Test(?:[^a-z\W]\w*)?)\(\s*\w+ \*testing\.T\s*\)", re.MULTILINE)
_DECLARATION = re.compile(r"^(?:func|type|var|const)\b", re.MULTILINE)
_MODULE = re.compile(rb"^module[ \t]+(\S+)[ \t\r]*$", re.MULTILINE)
# A build constraint, or what may be one by the file's name.
_CONSTRAINT = re.compile(r"^//(?:go:build| ?\+build)\b", re.MULTILINE)
_PLAIN_NAME = re.compile(r"[^_.][^_]*(?:_[^_]+)*_test\.go")
_SYSTEM = re.compile(
    "_(?:aix|android|darwin|dragonfly|freebsd|hurd|illumos|ios|js|linux|nacl|netbsd|openbsd|plan9"
    "|solaris|wasip1|windows|zos|unix|386|amd64|amd64p32|arm|armbe|arm64|arm64be|loong64|mips"
    "|mipsle|mips64|mips64le|mips64p32|mips64p32le|ppc|ppc64|ppc64le|riscv|riscv64|s390|s390x"
    "|sparc|sparc64|wasm)_"
)
_FLAGS = frozenset({"v", "race", "cover", "json", "failfast", "a", "x", "trimpath", "short"})
_FLAGS_WITH_VALUE = frozenset(
    {
        *("count", "timeout", "p", "parallel", "shuffle", "cpu", "vet", "tags", "mod"),
        *("coverprofile", "covermode", "coverpkg", "ldflags", "gcflags"),
    }
)
_NONE_RUN = frozenset({("count", "0"), ("p", "0"), ("parallel", "0")})
_TEST_NAME = re.compile(r"(?:Test|Example|Fuzz|Benchmark)\w*(?:/.*)?", re.DOTALL)


def added_go_tests(new: NewTests) -> tuple[str, ...]:
    """Name the functions `<import path>.<function>`, in the order of the files.

    Named is what is new or changed in a file without a build constraint, of a
    package that the command names, by `./...` or by its folder; where the command is
    a script, of a package of which something ran. Nothing is named where the
    command, or a script as far as its text shows, selects among the tests.
    """
    is_script = not _is_go_test(new.command)
    if is_script and any(_names(text.split()) is None for text in behind(r"go\s+test", new)):
        return ()
    names = []
    for path in new.paths:
        folder = PurePosixPath(path).parent
        package = _import_path(folder, new.after)
        if package and _is_surely_built(path, new.after.get(path)):
            has_run = _ran(package, new) if is_script else _is_named(folder, new.command)
            if has_run:
                names += [f"{package}.{name}" for name in added_or_changed(path, new, _functions)]
    return tuple(names)


def _is_go_test(command: tuple[str, ...]) -> bool:
    return command[1:2] == ("test",) and PurePosixPath(command[0]).name == "go"


def _ran(package: str, new: NewTests) -> bool:
    """Whether something of a package was reported."""
    start = f"{package}."
    return any(
        case.id.startswith(start) and _TEST_NAME.fullmatch(case.id, len(start))
        for case in new.cases
    )


def _is_named(folder: PurePosixPath, command: tuple[str, ...]) -> bool:
    """Whether a command runs all tests of a folder, by its name or with all of one above."""
    names = _names(command[2:])
    if names is None:
        return False
    for word in names or ["."]:
        if word == "." or word.startswith("./"):
            place = PurePosixPath(word.removesuffix("..."))
            if folder == place or (word.endswith("/...") and folder.is_relative_to(place)):
                return True
    return False


def _names(words: Sequence[str]) -> list[str] | None:
    """Return the packages that are named; `None` where a flag may leave out tests."""
    names = []
    rest = iter(words)
    for word in rest:
        if not word.startswith("-"):
            names.append(word)
            continue
        flag, equals, value = word.removeprefix("-").removeprefix("-").partition("=")
        if flag in _FLAGS and value in {"", "true"}:
            continue
        if flag not in _FLAGS_WITH_VALUE:
            return None
        if (flag, value if equals else next(rest, "")) in _NONE_RUN:
            return None
    return names


def _is_surely_built(path: str, entry: Entry | None) -> bool:
    pure = PurePosixPath(path)
    if entry is None or not entry.mode.is_regular or not _PLAIN_NAME.fullmatch(pure.name):
        return False
    hidden = any(part[0] in "._" or part in {"testdata", "vendor"} for part in pure.parts)
    return not (hidden or _SYSTEM.search(pure.name) or _CONSTRAINT.search(_text(entry)))


def _import_path(folder: PurePosixPath, tree: Snapshot) -> str:
    """Return a folder's import path; empty where it is of another module than the root."""
    module = tree.get("go.mod")
    found = _MODULE.search(module.data) if module else None
    nested = any(
        tree.get(f"{each}/go.mod") is not None
        for each in (folder, *folder.parents)
        if each != PurePosixPath()
    )
    if found is None or nested:
        return ""
    name = found[1].decode(errors="replace").strip('"')
    return name if folder == PurePosixPath() else f"{name}/{folder}"


def _functions(entry: Entry | None) -> Iterator[tuple[str, str]]:
    """Yield each test function with its text, down to the next declaration."""
    if entry is None or not entry.mode.is_regular:
        return
    text = _text(entry)
    masked = mask_go(text)
    for found in _TEST.finditer(masked):
        following = _DECLARATION.search(masked, found.end())
        yield found[1], text[found.start() : following.start() if following else None].rstrip()


def _text(entry: Entry) -> str:
    return entry.data.decode(errors="replace")
