"""Finds the test functions that a patch brings to a Rust package."""

import re
from collections.abc import Iterator
from pathlib import PurePosixPath

from cooperbench_eval.models import Entry
from cooperbench_eval.running.readers.masking import mask_rust
from cooperbench_eval.running.readers.protocol import NewTests
from cooperbench_eval.snapshot import Snapshot

__all__ = ["added_rust_tests", "is_rust_test"]

# Other attributes, before or between, may leave a test out.
_TEST = re.compile(
    r"(?:^|[;{}])\s*(?P<whole>#\[test\]\s*(?:#\[(?:should_panic|ignore)\b[^\]]*\]\s*)*"
    r"(?:pub\s+)?fn\s+(?P<name>\w+))"
)
_MODULE = re.compile(r"(?:^|[;{}])\s*(?:#\[cfg\(test\)\]\s*)?(?:pub\s+)?mod\s+\w+\s*$")
_SURELY_BUILT = re.compile(r"src/(?:lib|main)\.rs|tests/[^/]+\.rs")
_CONDITION = re.compile(r"#!\[cfg|\bmacro_rules!")
_OWN_TARGETS = re.compile(
    rb"(?m)^\s*(?:\[\[?(?:test|lib|bin)\b|auto(?:tests|bins)\s*=|(?:test|harness)\s*=)"
)
_HARMLESS = re.compile(
    r"--(?:offline|locked|frozen|no-fail-fast|release|workspace|all|all-targets|verbose)|-v+|-r"
    r"|--(?:jobs|color)=\w+"
)


def added_rust_tests(new: NewTests) -> tuple[str, ...]:
    """Name the functions `<file>::<function>`, in the order of the files.

    Named is what is new or changed in the root package's `src/lib.rs`,
    `src/main.rs` and `tests/*.rs`, outside of whatever might leave it out.
    Nothing is named where the manifest lists targets, or where the command is no
    plain `cargo test` or `cargo nextest run`.
    """
    if not _runs_everything(new.command) or not _is_plain_package(new.after):
        return ()
    return tuple(
        f"{path}::{name}"
        for path in new.paths
        if _SURELY_BUILT.fullmatch(path)
        for name in _changed(new.before.get(path), new.after.get(path))
    )


def is_rust_test(test: str, name: str) -> bool:
    """Whether a test, by its path of modules, has the name of a required one."""
    return test.rpartition("::")[2] == name.rpartition("::")[2]


def _runs_everything(command: tuple[str, ...]) -> bool:
    words = list(command)
    if not words or PurePosixPath(words[0]).name != "cargo":
        return False
    for verb in (["test"], ["nextest", "run"]):
        if words[1 : 1 + len(verb)] == verb:
            return all(_HARMLESS.fullmatch(word) for word in words[1 + len(verb) :])
    return False


def _is_plain_package(tree: Snapshot) -> bool:
    manifest = tree.get("Cargo.toml")
    if manifest is None or not re.search(rb"(?m)^\s*\[package\]", manifest.data):
        return False
    return not _OWN_TARGETS.search(manifest.data)


def _changed(before: Entry | None, after: Entry | None) -> Iterator[str]:
    known = dict(_functions(before))
    for name, text in dict(_functions(after)).items():
        if known.get(name) != text:
            yield name


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
        if _is_in_modules_only(masked, each.start("whole")):
            yield each["name"], text[each.start("whole") : end].rstrip()


def _is_in_modules_only(masked: str, place: int) -> bool:
    opened: list[int] = []
    for each in re.finditer(r"[{}]", masked[:place]):
        if each[0] == "{":
            opened.append(each.start())
        elif opened:
            opened.pop()
        else:
            return False
    return all(_MODULE.search(masked, max(0, at - 200), at) for at in opened)
