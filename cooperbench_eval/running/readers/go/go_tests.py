"""Finds the test functions that a patch brings to Go packages."""

import re
from collections.abc import Iterator
from pathlib import PurePosixPath

from cooperbench_eval.models import Entry
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
_HARMLESS = re.compile(
    r"--?(?:v|race|cover|json|failfast|a|x|trimpath|short|vet=\w+"
    r"|(?:count|timeout|p|parallel|shuffle|cpu)=[1-9]\w*)"
)


def added_go_tests(new: NewTests) -> tuple[str, ...]:
    """Name the functions `<import path>.<function>`, in the order of the files.

    Named is what is new or changed in a file without a build constraint, of a
    package that the command names, by `./...` or by its folder. Nothing is named
    where the command is no plain `go test`, or selects among the tests.
    """
    places = _places(new.command)
    names = []
    for path in new.paths:
        folder = PurePosixPath(path).parent
        if _is_surely_built(path, new.after.get(path)) and any(
            folder == place or (below and folder.is_relative_to(place)) for place, below in places
        ):
            package = _import_path(folder, new.after)
            names += [f"{package}.{name}" for name in _changed(path, new) if package]
    return tuple(names)


def _places(command: tuple[str, ...]) -> list[tuple[PurePosixPath, bool]]:
    """Return the folders that a command names, and whether all below is meant."""
    if len(command) < 2 or PurePosixPath(command[0]).name != "go" or command[1] != "test":  # noqa: PLR2004 - a program and a verb
        return []
    flags = [word for word in command[2:] if word.startswith("-")]
    if not all(_HARMLESS.fullmatch(flag) for flag in flags):
        return []
    words = [word for word in command[2:] if not word.startswith("-")] or ["."]
    return [
        (PurePosixPath(word.removesuffix("...")), word.endswith("/..."))
        for word in words
        if word == "." or word.startswith("./")
    ]


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


def _changed(path: str, new: NewTests) -> Iterator[str]:
    known = dict(_functions(new.before.get(path)))
    for name, text in dict(_functions(new.after.get(path))).items():
        if known.get(name) != text:
            yield name


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
