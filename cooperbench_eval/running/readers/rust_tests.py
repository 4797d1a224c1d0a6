"""Finds the test functions that a patch adds to a Rust package, and those that cargo selects."""

import re
from collections.abc import Callable, Iterator, Sequence
from pathlib import PurePosixPath

from attrs import evolve, frozen

from cooperbench_eval.git.trees.entries import Entry
from cooperbench_eval.git.trees.snapshot import Snapshot
from cooperbench_eval.running.readers.masking import RUST, declarations
from cooperbench_eval.running.readers.protocol import (
    NewTests,
    Part,
    added_tests,
    arguments_of,
    contents_of,
    option_and_value,
    remembered,
    remembered_tests,
    selections,
    tests_by_file,
)

_HARMLESS = re.compile(
    r"--(?:offline|locked|frozen|no-fail-fast|release|workspace|all|all-targets|verbose|quiet)|-[vqr]+"
    r"|--(?:jobs|color)=\w+"
)
_HARMLESS_OF_PROGRAM = re.compile(
    r"--(?:nocapture|no-capture|show-output|include-ignored)|--(?:test-threads|color)=\w+"
)
_WITH_VALUE = frozenset({"--test", "--skip", "--test-threads", "--jobs", "-j"})


@frozen(kw_only=True)
class CargoSelection:
    """What the arguments select.

    Attributes:
        files: The files of the programs that run, such as `tests/it.rs`; none means all.
        words: The parts of names, one of which a test must contain; none means all.
        skipped: The parts of names that a test must not contain.
        exact: Whether the parts are whole names.
    """

    files: tuple[str, ...] = ()
    words: tuple[str, ...] = ()
    skipped: tuple[str, ...] = ()
    exact: bool = False

    def keeps(self, file: str, test: str) -> bool:
        """Whether a test of a program's file runs, by the path of its modules and function."""
        if self.files and file not in self.files:
            return False

        def has(word: str) -> bool:
            return word == test if self.exact else word in test

        return (not self.words or any(map(has, self.words))) and not any(map(has, self.skipped))


def parse_cargo_arguments(arguments: Sequence[str]) -> CargoSelection | None:
    """Parse the arguments; `None` if one may leave tests out in another way."""
    files: list[str] = []
    words: list[str] = []
    skipped: list[str] = []
    exact = is_for_program = False
    rest = iter(arguments)
    for word in rest:
        if word == "--" and not is_for_program:
            is_for_program = True
            continue
        option, value = option_and_value(word, rest, _WITH_VALUE)
        harmless = _HARMLESS_OF_PROGRAM if is_for_program else _HARMLESS
        if not word.startswith("-"):
            words.append(word)
        elif option == "--lib" and not is_for_program:
            files.append("src/lib.rs")
        elif option == "--test" and re.fullmatch(r"[\w-]+", value) and not is_for_program:
            files.append(f"tests/{value}.rs")
        elif option == "--skip" and is_for_program:
            skipped.append(value)
        elif option == "--exact" and is_for_program:
            exact = True
        elif not (harmless.fullmatch(word) or harmless.fullmatch(f"{option}={value}")):
            return None
    return CargoSelection(
        files=tuple(files), words=tuple(words), skipped=tuple(skipped), exact=exact
    )


_ANY = "*"
"""Ends a name that stands for all tests below it; a macro may generate several."""

_TOKEN = re.compile(
    r"(?P<attribute>#!?\[)|(?P<closes>\})|(?:\bmod\s+(?P<module>\w+)\s*)?(?P<opens>\{)"
    r"|\b(?P<kind>fn|struct|enum|union|const|static|trait|type|impl|macro_rules!|use)\b"
    r"(?:\s+mut\b)?(?:\s+\$?(?P<name>\w+))?"
)
_IS_TEST = re.compile(r"#\[\s*[\w:]*(?:test|case|check)", re.IGNORECASE)
_PLAIN = re.compile(r"#\[\s*test\s*\]")


@remembered
def _rust_parts(data: bytes) -> Sequence[Part]:
    """Split a file; a test is named by its modules in the file and its function.

    A function with any attribute that seems to be about tests counts. If that is not
    `#[test]`, everything below the function's name counts too.
    """
    text = data.decode(errors="replace")
    masked = RUST.mask(text)
    items = _items(text if masked is None else masked)
    begins = [*(item.begin for item in items), len(text)]
    return tuple(
        part
        for item, end in zip(items, begins[1:], strict=True)
        for part in _parts(item, text[item.begin : item.end or end].rstrip())
    )


@frozen(kw_only=True)
class _Item:
    """A declaration; it ends where the next one begins unless *end* says otherwise."""

    begin: int
    end: int = 0
    kind: str
    name: str
    attributes: str
    modules: tuple[str, ...]


def _items(masked: str) -> list[_Item]:
    items: list[_Item] = []
    blocks: list[str] = []  # the open ones; those of modules by name
    attributes: list[int] = []  # where the attributes before the next item begin
    place = 0
    while token := _TOKEN.search(masked, place):
        place = token.end()
        if token["attribute"]:
            place = _closing(masked, place, "[", "]", 1)
            if not token[0].startswith("#!"):
                attributes.append(token.start())
            continue
        if token["opens"]:
            blocks.append(token["module"] or "")
        elif token["closes"]:
            blocks[-1:] = []
        else:
            begin = attributes[0] if attributes else token.start()
            items.append(
                _Item(
                    begin=begin,
                    kind=token["kind"],
                    name="" if "$" in token[0] else token["name"] or "",
                    attributes=masked[begin : token.start()],
                    modules=tuple(filter(None, blocks)),
                )
            )
            if _is_test(items[-1]):
                place = _closing(masked, place, "{", "}", 0)
                items[-1] = evolve(items[-1], end=place)
        attributes.clear()
    return items


def _is_test(item: _Item) -> bool:
    return item.kind == "fn" and _IS_TEST.search(item.attributes) is not None


def _closing(masked: str, place: int, opens: str, closes: str, depth: int) -> int:
    """Return where the bracket closes that was opened, or that opens next if *depth* is 0."""
    for bracket in re.compile(f"[{re.escape(opens + closes)}]").finditer(masked, place):
        depth += 1 if bracket[0] == opens else -1
        if depth <= 0:
            return bracket.end()
    return len(masked)


def _parts(item: _Item, text: str) -> Iterator[Part]:
    uses = frozenset(re.findall(r"\w+", text))
    binds = frozenset({item.name} if item.name else ())
    if not _is_test(item):
        # Imports and implementations have no name of their own.
        if item.kind != "use":
            yield Part(text=text, binds=binds or uses, uses=uses)
        return
    name = "::".join((*item.modules, item.name or _ANY))
    yield Part(text=text, test=name, binds=binds, uses=uses)
    if item.name and not _PLAIN.search(item.attributes):
        yield Part(text=text, test=f"{name}::{_ANY}", binds=binds, uses=uses)


ANY_PROGRAM = "*::"
"""Stands for the program and modules in a name that may belong to any of them."""

# Any other attribute, before or between these, may leave a test out.
_TEST = re.compile(
    r"(?:^|[;{}])\s*(?P<whole>#\[test\]\s*(?:#\[(?:should_panic|ignore)\b[^\]]*\]\s*)*"
    r"(?:pub\s+)?fn\s+(?P<name>\w+))"
)
_MODULE = re.compile(r"(?:^|[;{}])\s*(?:#\[cfg\(test\)\]\s*)?(?:pub\s+)?mod\s+(\w+)\s*$")
_SURELY_BUILT = re.compile(r"src/(?:lib|main)\.rs|tests/[^/]+\.rs")
_CONDITION = re.compile(r"#!\[cfg|\bmacro_rules!")
_OWN_TARGETS = re.compile(
    rb"(?m)^\s*(?:\[\[?(?:test|lib|bin)\b|auto(?:tests|bins)\s*=|(?:test|harness)\s*=)"
)
_PACKAGE_NAME = re.compile(
    rb"""(?m)^\s*\[package\][^\n]*\n(?:(?!\s*\[)[^\n]*\n)*?\s*name\s*=\s*["']([\w-]+)["']"""
)


def added_rust_tests(new: NewTests, program: Callable[[str, str], str]) -> tuple[str, ...]:
    """Name the functions as they are reported, in the order of the files.

    A function is named if it is new or changed in the root package's `src/lib.rs`,
    `src/main.rs` or `tests/*.rs`, nothing around it might leave it out, and the filters of
    the command select it. Nothing is named if the manifest lists targets, or if the command
    is not a `cargo test` or `cargo nextest run` with arguments that are understood. For a
    script, this holds for each of its calls; functions are then named only in files with
    reported cases.

    For a file and the package's name, *program* returns the part of an id before the function's
    path of modules.
    """
    package = _plain_package(new.after)
    arguments = arguments_of(new.command, "cargo", "test")
    if arguments is None:
        arguments = arguments_of(new.command, "cargo", "nextest", "run")
    cargo = r"cargo\s+(?:\+\S+\s+)?(?:test|nextest\s+run)"
    calls = selections(new, cargo, arguments, parse_cargo_arguments)
    if not package or calls is None:
        return ()

    def prefix(path: str) -> str:
        start = program(path, package) if _SURELY_BUILT.fullmatch(path) else ""
        has_run = arguments is not None or any(case.id.startswith(start) for case in new.cases)
        return start if has_run else ""

    return added_tests(
        new, _functions, prefix, lambda path, test: all(call.keeps(path, test) for call in calls)
    )


def changed_rust_tests(new: NewTests, program: Callable[[str, str], str]) -> tuple[str, ...]:
    """Name all functions that the patch adds or changes, whatever the command runs.

    `*` stands for the program if the file may belong to several, and at the end of a name
    for all tests below it.
    """
    names = []
    paths = [path for path in new.paths if path.endswith(".rs")]
    for path, tests in tests_by_file(new, _rust_parts, paths):
        for start in _starts(path, new.after, program):
            names += [f"{start}{test}" for test in tests or ()]
    return tuple(names)


def _starts(path: str, tree: Snapshot, program: Callable[[str, str], str]) -> list[str]:
    """Return what may be before the names of a file's tests."""
    pure = PurePosixPath(path)
    root = next((each for each in pure.parents if tree.get(str(each / "Cargo.toml"))), None)
    package = "" if root is None else _package_name(tree.get(str(root / "Cargo.toml")))
    if root is None or not package:
        return [ANY_PROGRAM]
    inner = pure.relative_to(root)
    if _SURELY_BUILT.fullmatch(str(inner)):
        return [program(str(inner), package)]
    if inner.parts[0] != "src" or inner.parts[1] == "bin":
        return [ANY_PROGRAM]
    modules = inner.with_suffix("").parts[1:]
    if modules[-1] == "mod":
        modules = modules[:-1]
    below = "".join(f"{each}::" for each in modules)
    mains = [main for main in ("src/lib.rs", "src/main.rs") if tree.get(str(root / main))]
    return [f"{program(main, package)}{below}" for main in mains] or [ANY_PROGRAM]


def is_named(test: str, name: str) -> bool:
    """Whether a test is the one with a name, or below a name that ends with `*`.

    If the name begins with `*::`, the test is given by its modules and function, else by its id.
    """
    test, name = f"::{test}", name if name.startswith(ANY_PROGRAM) else f"::{name}"
    anywhere, name = name.startswith(ANY_PROGRAM), name.removeprefix("*")
    if name.endswith("*"):
        below = name.removesuffix("*")
        return below in test if anywhere else test.startswith(below)
    return test.endswith(name) if anywhere else test == name


def _plain_package(tree: Snapshot) -> str:
    """Return the name of the root's package; empty if there is none or it lists targets."""
    manifest = tree.get("Cargo.toml")
    if manifest is None or _OWN_TARGETS.search(manifest.data):
        return ""
    return _package_name(manifest)


def _package_name(manifest: Entry | None) -> str:
    found = _PACKAGE_NAME.search(contents_of(manifest))
    return found[1].decode() if found else ""


@remembered_tests
def _functions(data: bytes) -> Iterator[tuple[str, str]]:
    """Yield each test function with its text, down to the next one."""
    text = data.decode(errors="replace")
    masked = RUST.mask(text)
    if masked is None or _CONDITION.search(masked):
        return
    found = list(_TEST.finditer(masked))
    for test, modules, piece in declarations(text, masked, found, _MODULE):
        yield "::".join((*(module[1] for module in modules), test["name"])), piece
