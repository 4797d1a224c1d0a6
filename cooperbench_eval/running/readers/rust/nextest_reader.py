"""Reads what cargo-nextest did, from the JUnit XML it writes itself."""

import json
import re
from collections.abc import Mapping
from pathlib import Path, PurePosixPath

from attrs import frozen

from cooperbench_eval.models import TestCase, TestCaseStatus
from cooperbench_eval.running.readers.junit import JUnitCase, parse_junit
from cooperbench_eval.running.readers.protocol import (
    FinishedRun,
    Launch,
    NewTests,
    UnreadableResultError,
    read_result_file,
)
from cooperbench_eval.running.readers.results import clean, joined
from cooperbench_eval.running.readers.rust.cargo_output import compile_errors
from cooperbench_eval.running.readers.rust.rust_tests import added_rust_tests

__all__ = ["NextestReader"]

_RESULT = "nextest.xml"
_SETTINGS = "nextest.toml"
_PROFILE = "cooperbench-eval"
_NO_TESTS = 4


@frozen
class NextestReader:
    """Has `cargo nextest run` write JUnit XML, and reads it.

    It is asked in a settings file beside those of the tree, for a profile of ours
    or for the one that the suite names, unless the tree has that write elsewhere.
    Nextest takes such a file by a flag only: of a script, which takes none, nothing
    can be read.

    Case ids are nextest's own, `<program id> <test>`. Ignored tests do not stand
    in the XML. A package that does not compile is one `error`.
    """

    @property
    def no_test_codes(self) -> frozenset[int]:
        """Success, and nextest's own code for a run without tests."""
        return frozenset({0, _NO_TESTS})

    def launch(self, command: tuple[str, ...], env: Mapping[str, str], scratch: Path) -> Launch:
        """Put the settings in place, and name them and the profile to nextest."""
        at = _end_of_options(command)
        if at is None:
            return Launch(command=command, env=env)
        named = _profile(command[:at]) or env.get("NEXTEST_PROFILE")
        asks: tuple[str, ...] = ("--tool-config-file", f"{_PROFILE}:{scratch / _SETTINGS}")
        if not named:
            asks = (*asks, "--profile", _PROFILE)
        lines = (f"[profile.{named or _PROFILE}.junit]", f"path = {_quoted(scratch / _RESULT)}", "")
        (scratch / _SETTINGS).write_text("\n".join(lines), encoding="utf-8")
        return Launch(
            command=(*command[:at], *asks, *command[at:]),
            env={"CARGO_TERM_COLOR": "never", **env},
        )

    def read(self, run: FinishedRun) -> tuple[TestCase, ...]:
        """Return the cases of the run.

        Raises:
            UnreadableResultError: There is no result, or it is not one.
        """
        if failures := compile_errors(run.output, run.exit_code):
            return failures
        try:
            data = read_result_file(run.scratch / _RESULT)
        except UnreadableResultError:
            if run.exit_code == _NO_TESTS and _end_of_options(run.command) is not None:
                return ()
            raise
        return joined(_case(element) for element in parse_junit(data))

    def required(self, new: NewTests) -> tuple[str, ...]:
        """Name the test functions that the patch adds or changes."""
        return added_rust_tests(new, _program)

    def covers(self, case: TestCase, name: str) -> bool:
        """Whether *case* is that function."""
        return case.id == name


def _program(path: str, package: str) -> str:
    """Return nextest's id of the program that a file is built to."""
    if path.startswith("tests/"):
        return f"{package}::{PurePosixPath(path).stem} "
    return f"{package}::bin/{package} " if path == "src/main.rs" else f"{package} "


def _end_of_options(command: tuple[str, ...]) -> int | None:
    """Return where options may be added to a `cargo nextest run`, if it is one."""
    words = list(command)
    for at in range(len(words) - 1):
        if PurePosixPath(words[at]).name in {"nextest", "cargo-nextest"} and "run" in words[at:]:
            return words.index("--") if "--" in words else len(words)
    return None


def _profile(words: tuple[str, ...]) -> str:
    """Return the profile that the words name; empty if none."""
    for at, word in enumerate(words):
        if word in {"-P", "--profile"}:
            return "".join(words[at + 1 : at + 2])
        if found := re.match("--profile=|-P", word):
            return word[found.end() :]
    return ""


def _quoted(path: Path) -> str:
    return json.dumps(str(path))  # a string of JSON is one of TOML


def _case(element: JUnitCase) -> TestCase:
    status, message = TestCaseStatus.PASSED, ""
    for outcome in element.outcomes[:1]:
        status, message = outcome.status, clean(outcome.message)
    return TestCase(
        id=f"{element.classname} {element.name}".strip(),
        status=status,
        duration_seconds=element.duration_seconds,
        message=message,
    )
