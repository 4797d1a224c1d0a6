"""Finds the test functions that a patch brings to a Rust package."""

import re
from collections.abc import Callable, Iterator
from pathlib import PurePosixPath

from cooperbench_eval.models import Entry
from cooperbench_eval.running.readers.added import added_or_changed, behind
from cooperbench_eval.running.readers.masking import mask_rust, open_braces
from cooperbench_eval.running.readers.protocol import NewTests
from cooperbench_eval.snapshot import Snapshot

__all__ = ["added_rust_tests"]

# Other attributes, before or between, may leave a test out.
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

    Named is what is new or changed in the root package's `src/lib.rs`,
    `src/main.rs` and `tests/*.rs`, outside of whatever might leave it out.
    Nothing is named where the manifest lists targets, or where the command is no
    plain `cargo test` or `cargo nextest run`. Of a script, as far as its text shows
    the same, the files are those of which something ran.

    Args:
        new: What the tests patch did.
        program: Returns what stands in an id before the function's path of modules,
            for the file and the package's name.
    """
    package = _plain_package(new.after)
    is_script = _arguments(new.command) is None
    if not package or not _runs_everything(new):
        return ()
    names: list[str] = []
    for path in filter(_SURELY_BUILT.fullmatch, new.paths):
        start = program(path, package)
        if not is_script or any(case.id.startswith(start) for case in new.cases):
            names += [f"{start}{name}" for name in added_or_changed(path, new, _functions)]
    return tuple(names)


def _arguments(command: tuple[str, ...]) -> tuple[str, ...] | None:
    """Return what a `cargo test` is given; `None` of another command."""
    if command and PurePosixPath(command[0]).name == "cargo":
        for verb in (("test",), ("nextest", "run")):
            if command[1 : 1 + len(verb)] == verb:
                return command[1 + len(verb) :]
    return None


def _runs_everything(new: NewTests) -> bool:
    arguments = _arguments(new.command)
    if arguments is not None:
        return all(map(_HARMLESS.fullmatch, arguments))
    script = behind(r"cargo\s+(?:\+\S+\s+)?(?:test|nextest\s+run)", new)
    return all(_HARMLESS.fullmatch(word) for text in script for word in text.split())


def _plain_package(tree: Snapshot) -> str:
    """Return the name of the root's package; empty if it lists targets, or there is none."""
    manifest = tree.get("Cargo.toml")
    if manifest is None or _OWN_TARGETS.search(manifest.data):
        return ""
    found = _PACKAGE_NAME.search(manifest.data)
    return found[1].decode() if found else ""


def _functions(entry: Entry | None) -> Iterator[tuple[str, str]]:
    """Yield each test function with its text, down to the next one."""
    if entry is None or not entry.mode.is_regular:
        return
    text = entry.data.decode(errors="replace")
    masked = mask_rust(text)
    if masked is None or _CONDITION.search(masked):
        return
    found = list(_TEST.finditer(masked))
    ends = [each.start("whole") for each in found[1:]] + [len(text)]
    for each, end in zip(found, ends, strict=True):
        modules = _modules_around(masked, each.start("whole"))
        if modules is not None:
            path = "::".join((*modules, each["name"]))
            yield path, text[each.start("whole") : end].rstrip()


def _modules_around(masked: str, place: int) -> list[str] | None:
    """Return the modules that a place is in; `None` if it is in something else."""
    opened = open_braces(masked, place)
    if opened is None:
        return None
    found = [_MODULE.search(masked, max(0, at - 200), at) for at in opened]
    return None if None in found else [each[1] for each in found if each]
