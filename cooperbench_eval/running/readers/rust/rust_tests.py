"""Finds the test functions that a patch adds to a Rust package."""

import re
from collections.abc import Callable, Iterator

from cooperbench_eval.running.readers.added import added_tests
from cooperbench_eval.running.readers.command_line import arguments_in_script, arguments_of
from cooperbench_eval.running.readers.masking import RUST, declarations
from cooperbench_eval.running.readers.protocol import NewTests
from cooperbench_eval.snapshot import Snapshot

__all__ = ["added_rust_tests"]

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
_HARMLESS = re.compile(
    r"--(?:offline|locked|frozen|no-fail-fast|release|workspace|all|all-targets|verbose)|-v+|-r"
    r"|--(?:jobs|color)=\w+"
)


def added_rust_tests(new: NewTests, program: Callable[[str, str], str]) -> tuple[str, ...]:
    """Name the functions as they are reported, in the order of the files.

    A function is named if it is new or changed in the root package's `src/lib.rs`,
    `src/main.rs` or `tests/*.rs`, and nothing around it might leave it out. Nothing is
    named if the manifest lists targets, or if the command is not a plain `cargo test` or
    `cargo nextest run`. A script must contain only plain calls of these two; functions are
    then named only in files with reported cases.

    Args:
        new: The tree with the tests patch.
        program: Returns the part of an id before the function's path of modules, for
            the file and the package's name.
    """
    package = _plain_package(new.after)
    arguments = arguments_of(new.command, "cargo", "test")
    if arguments is None:
        arguments = arguments_of(new.command, "cargo", "nextest", "run")
    if not package or not _runs_everything(arguments, new):
        return ()

    def prefix(path: str) -> str:
        start = program(path, package) if _SURELY_BUILT.fullmatch(path) else ""
        has_run = arguments is not None or any(case.id.startswith(start) for case in new.cases)
        return start if has_run else ""

    return added_tests(new, _functions, prefix)


def _runs_everything(arguments: tuple[str, ...] | None, new: NewTests) -> bool:
    if arguments is None:
        script = arguments_in_script(r"cargo\s+(?:\+\S+\s+)?(?:test|nextest\s+run)", new)
        arguments = tuple(word for text in script for word in text.split())
    return all(map(_HARMLESS.fullmatch, arguments))


def _plain_package(tree: Snapshot) -> str:
    """Return the name of the root's package; empty if there is none or it lists targets."""
    manifest = tree.get("Cargo.toml")
    if manifest is None or _OWN_TARGETS.search(manifest.data):
        return ""
    found = _PACKAGE_NAME.search(manifest.data)
    return found[1].decode() if found else ""


def _functions(data: bytes) -> Iterator[tuple[str, str]]:
    """Yield each test function with its text, down to the next one."""
    text = data.decode(errors="replace")
    masked = RUST.mask(text)
    if masked is None or _CONDITION.search(masked):
        return
    found = list(_TEST.finditer(masked))
    for test, modules, piece in declarations(text, masked, found, _MODULE):
        yield "::".join((*(module[1] for module in modules), test["name"])), piece
