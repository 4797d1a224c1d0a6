"""Finds the tests that a patch adds to Go packages, and those that `go test` selects."""

import re
from collections.abc import Iterator, Sequence
from itertools import pairwise
from pathlib import PurePosixPath

from attrs import frozen

from cooperbench_eval.git.trees.snapshot import Snapshot
from cooperbench_eval.running.readers.masking import GO
from cooperbench_eval.running.readers.protocol import (
    NewTests,
    Part,
    added_tests,
    arguments_of,
    contents_of,
    option_and_value,
    remembered,
    selections,
    tests_by_file,
)

_FLAGS = frozenset({"v", "race", "cover", "json", "failfast", "a", "x", "trimpath", "short"})
_FLAGS_WITH_VALUE = frozenset(
    {
        *("count", "timeout", "p", "parallel", "shuffle", "cpu", "vet", "tags", "mod"),
        *("coverprofile", "covermode", "coverpkg", "ldflags", "gcflags", "run", "skip"),
    }
)
_NONE_RUN = frozenset({("count", "0"), ("p", "0"), ("parallel", "0")})
# Go's expressions have these, and Python's do not or mean something else.
_ONLY_IN_GO = re.compile(r"\[\[|\\[pPQEzC]|\(\?[^:]")


@frozen(kw_only=True)
class GoSelection:
    """What the arguments select.

    Attributes:
        packages: As they are named; none means the current folder.
        run: The expression for tests that run; `None` for all.
        skip: The expression for tests that are left out; `None` for none.
    """

    packages: tuple[str, ...] = ()
    run: str | None = None
    skip: str | None = None

    def keeps(self, function: str) -> bool:
        """Whether a function surely runs; its subtests may be left out."""
        runs = self.run is None or _matches(self.run, function) is True
        return runs and (self.skip is None or _matches(self.skip, function) is False)


def parse_go_arguments(arguments: Sequence[str]) -> GoSelection | None:
    """Parse the arguments; `None` if a flag may leave tests out in another way."""
    packages: list[str] = []
    chosen: dict[str, str] = {}
    rest = iter(arguments)
    for word in rest:
        if not word.startswith("-"):
            packages.append(word)
            continue
        # Go takes one hyphen or two.
        flag = word.removeprefix("-").removeprefix("-")
        name, value = option_and_value(flag, rest, _FLAGS_WITH_VALUE)
        if name in {"run", "skip"}:
            chosen[name] = value
        elif name in _FLAGS and value in {"", "true"}:
            continue
        elif name not in _FLAGS_WITH_VALUE or (name, value) in _NONE_RUN:
            return None
    return GoSelection(
        packages=tuple(packages), run=chosen.get("run"), skip=chosen.get("skip") or None
    )


def _matches(pattern: str, function: str) -> bool | None:
    """Whether a pattern's first parts match a function; `None` if that is unknown.

    Go splits a pattern at slashes, one part for each level of subtests. Since 1.20, it first
    splits it at `|`.
    """
    if _ONLY_IN_GO.search(pattern):
        return None
    older = [next(_split(pattern, "/"))]
    newer = [next(_split(each, "/")) for each in _split(pattern, "|")]
    try:
        found = {any(re.search(part, function) for part in parts) for parts in (older, newer)}
    except (re.error, RecursionError, OverflowError):
        return None
    return found.pop() if len(found) == 1 else None


def _split(pattern: str, sign: str) -> Iterator[str]:
    """Split at a sign that is not escaped, in brackets or in parentheses."""
    depth, start, in_class = 0, 0, False
    for found in re.finditer(r"\\.|.", pattern, re.DOTALL):
        letter = found[0]
        if letter == "[" and not in_class:
            in_class = True
        elif letter == "]":
            in_class = False
        elif not in_class:
            depth += (letter == "(") - (letter == ")")
            if letter == sign and depth == 0:
                yield pattern[start : found.start()]
                start = found.end()
    yield pattern[start:]


METHOD = "*/"
"""Begins the name of a method that a test function may run as a subtest."""

_TOP_LEVEL = re.compile(r"^(func|type|var|const|import|package)\b", re.MULTILINE)
_FUNCTION = re.compile(r"func\s*(?P<receiver>\([^)]*\))?\s*(?P<name>\w+)")
_ANY_TEST = re.compile(r"(?:Test|Example|Fuzz|Benchmark)(?:[^a-z\W]\w*)?")
# The names in a block of declarations come after one tab.
_NAMES = re.compile(r"^(?:var|const|type|\t)[ \t]*(\w+(?:[ \t]*,[ \t]*\w+)*)", re.MULTILINE)
_CONSTRAINT = re.compile(r"^//(?:go:build| ?\+build)\b.*", re.MULTILINE)
# Functions that run around other tests.
_SURROUNDINGS = frozenset(
    {"TestMain", "init", "SetupTest", "SetupSuite", "TearDownTest", "TearDownSuite", "SetUpTest"}
)


@remembered
def _go_parts(data: bytes) -> Sequence[Part]:
    """Split a file; a method of a test suite is named `*/Method`."""
    text = data.decode(errors="replace")
    masked = GO.mask(text) or ""
    starts = [each.start() for each in _TOP_LEVEL.finditer(masked)]
    parts = [
        Part(text=each[0]) for each in _CONSTRAINT.finditer(text[: starts[0] if starts else 0])
    ]
    for start, end in pairwise((*starts, len(text))):
        code = masked[start:end].rstrip()
        if not code.startswith(("import", "package")):
            parts.append(_part(code, text[start : start + len(code)]))
    return parts


def _part(code: str, text: str) -> Part:
    uses = frozenset(re.findall(r"\w+", code))
    function = _FUNCTION.match(code)
    if function is None:
        names = (name for found in _NAMES.findall(code) for name in re.split(r"\W+", found))
        return Part(text=text, binds=frozenset(names), uses=uses)
    name = function["name"]
    if name in _SURROUNDINGS:
        return Part(text=text, uses=uses)
    test = name if _ANY_TEST.fullmatch(name) else ""
    if test and function["receiver"]:
        test = METHOD + name
    return Part(text=text, test=test, binds=frozenset({name}), uses=uses)


_TEST = re.compile(r"func Test(?:[^a-z\W]\w*)?\(\s*\w+ \*testing\.T\s*\)")
_MODULE = re.compile(rb"^module[ \t]+(\S+)[ \t\r]*$", re.MULTILINE)
# A file name can also be a build constraint, such as `_linux`.
_PLAIN_NAME = re.compile(r"[^_.][^_]*(?:_[^_]+)*_test\.go")
_SYSTEM = re.compile(
    "_(?:aix|android|darwin|dragonfly|freebsd|hurd|illumos|ios|js|linux|nacl|netbsd|openbsd|plan9"
    "|solaris|wasip1|windows|zos|unix|386|amd64|amd64p32|arm|armbe|arm64|arm64be|loong64|mips"
    "|mipsle|mips64|mips64le|mips64p32|mips64p32le|ppc|ppc64|ppc64le|riscv|riscv64|s390|s390x"
    "|sparc|sparc64|wasm)_"
)
_TEST_NAME = re.compile(r"(?:Test|Example|Fuzz|Benchmark)\w*(?:/.*)?", re.DOTALL)


def added_go_tests(new: NewTests) -> tuple[str, ...]:
    """Name the functions `<import path>.<function>`, in the order of the files.

    A function is named if it is new or changed, in a file without a build constraint,
    its package surely ran, and `-run` and `-skip` surely select it. A package surely ran if
    the command names it, by `./...` or by its folder, or if the command is a script and a
    case of the package was reported; then each call in the script must select the function.
    Nothing is named if the command, or the text of the script, selects in another way.
    """
    arguments = arguments_of(new.command, "go", "test")
    calls = selections(new, r"go\s+test", arguments, parse_go_arguments)
    if calls is None:
        return ()

    def prefix(path: str) -> str:
        folder = PurePosixPath(path).parent
        package = _import_path(folder, new.after)
        if not package or not _is_surely_built(path, new.after):
            return ""
        has_run = _ran(package, new) if arguments is None else _is_named(folder, calls[0])
        return f"{package}." if has_run else ""

    return added_tests(
        new, _functions, prefix, lambda _, test: all(call.keeps(test) for call in calls)
    )


def changed_go_tests(new: NewTests) -> tuple[str, ...]:
    """Name all functions that the patch adds or changes, whatever the command runs.

    A method of a test suite is named `<import path>.*/<method>`.
    """
    paths = [path for path in new.paths if path.endswith("_test.go")]
    names = []
    for path, tests in tests_by_file(new, _go_parts, paths):
        package = _import_path(PurePosixPath(path).parent, new.after, is_nested=True)
        names += [f"{package}.{test}" for test in tests or () if package]
    return tuple(names)


def _ran(package: str, new: NewTests) -> bool:
    start = f"{package}."
    return any(
        case.id.startswith(start) and _TEST_NAME.fullmatch(case.id, len(start))
        for case in new.cases
    )


def _is_named(folder: PurePosixPath, call: GoSelection) -> bool:
    """Whether a call names a folder or, with a pattern, one above it."""
    for word in call.packages or (".",):
        if word == "." or word.startswith("./"):
            place = PurePosixPath(word.removesuffix("..."))
            if folder == place or (word.endswith("/...") and folder.is_relative_to(place)):
                return True
    return False


def _is_surely_built(path: str, tree: Snapshot) -> bool:
    pure = PurePosixPath(path)
    data = contents_of(tree.get(path))
    hidden = any(part[0] in "._" or part in {"testdata", "vendor"} for part in pure.parts)
    return (
        _PLAIN_NAME.fullmatch(pure.name) is not None
        and not hidden
        and not _SYSTEM.search(pure.name)
        and not _CONSTRAINT.search(data.decode(errors="replace"))
    )


def _import_path(folder: PurePosixPath, tree: Snapshot, *, is_nested: bool = False) -> str:
    """Return a folder's import path in the innermost module; empty if there is none.

    Unless *is_nested*, only the module of the tree's root counts.
    """
    for root in (folder, *folder.parents):
        module = tree.get(str(root / "go.mod"))
        if module is not None:
            counts = is_nested or root == PurePosixPath()
            found = _MODULE.search(module.data) if counts else None
            name = found[1].decode(errors="replace").strip('"') if found else ""
            return name if folder == root or not name else f"{name}/{folder.relative_to(root)}"
    return ""


def _functions(data: bytes) -> Iterator[tuple[str, str]]:
    return ((part.test, part.text) for part in _go_parts(data) if _TEST.match(part.text))
