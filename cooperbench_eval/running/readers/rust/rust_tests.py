"""Finds the test functions that a patch adds to a Rust package."""

import re
from collections.abc import Callable, Iterator
from pathlib import PurePosixPath

from cooperbench_eval.git.trees.entries import Entry
from cooperbench_eval.git.trees.snapshot import Snapshot
from cooperbench_eval.running.readers.added import added_or_changed, contents_of
from cooperbench_eval.running.readers.command_line import (
    arguments_in_script,
    arguments_of,
    split_words,
)
from cooperbench_eval.running.readers.masking import RUST, declarations
from cooperbench_eval.running.readers.parts import remembered, tests_by_file
from cooperbench_eval.running.readers.protocol import NewTests
from cooperbench_eval.running.readers.rust.cargo_arguments import (
    CargoSelection,
    parse_cargo_arguments,
)
from cooperbench_eval.running.readers.rust.rust_parts import rust_parts

__all__ = ["ANY_PROGRAM", "added_rust_tests", "changed_rust_tests", "is_named"]

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

    Args:
        new: The tree with the tests patch.
        program: Returns the part of an id before the function's path of modules, for
            the file and the package's name.
    """
    package = _plain_package(new.after)
    arguments = arguments_of(new.command, "cargo", "test")
    if arguments is None:
        arguments = arguments_of(new.command, "cargo", "nextest", "run")
    calls = _script_calls(new) if arguments is None else [parse_cargo_arguments(arguments)]
    if not package or None in calls:
        return ()
    names: list[str] = []
    for path in new.paths:
        start = program(path, package) if _SURELY_BUILT.fullmatch(path) else ""
        has_run = arguments is not None or any(case.id.startswith(start) for case in new.cases)
        if start and has_run:
            before, after = (_functions(contents_of(t.get(path))) for t in (new.before, new.after))
            names += [
                f"{start}{test}"
                for test in added_or_changed(before, after)
                if all(call and call.keeps(path, test) for call in calls)
            ]
    return tuple(names)


def _script_calls(new: NewTests) -> list[CargoSelection | None]:
    calls = []
    for text in arguments_in_script(r"cargo\s+(?:\+\S+\s+)?(?:test|nextest\s+run)", new):
        words = split_words(text)
        calls.append(None if words is None else parse_cargo_arguments(words))
    return calls


def changed_rust_tests(new: NewTests, program: Callable[[str, str], str]) -> tuple[str, ...]:
    """Name all functions that the patch adds or changes, whatever the command runs.

    `*` stands for the program if the file may belong to several, and at the end of a name
    for all tests below it.

    Args:
        new: The tree with the tests patch.
        program: As for `added_rust_tests`.
    """
    names = []
    paths = [path for path in new.paths if path.endswith(".rs")]
    for path, tests in tests_by_file(new, rust_parts, paths):
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

    Args:
        test: The test's id; or its modules and function, if the name begins with `*::`.
        name: The name.
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


@remembered
def _functions(data: bytes) -> tuple[tuple[str, str], ...]:
    return tuple(_iterate_functions(data))


def _iterate_functions(data: bytes) -> Iterator[tuple[str, str]]:
    """Yield each test function with its text, down to the next one."""
    text = data.decode(errors="replace")
    masked = RUST.mask(text)
    if masked is None or _CONDITION.search(masked):
        return
    found = list(_TEST.finditer(masked))
    for test, modules, piece in declarations(text, masked, found, _MODULE):
        yield "::".join((*(module[1] for module in modules), test["name"])), piece
