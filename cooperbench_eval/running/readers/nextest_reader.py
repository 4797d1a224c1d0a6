"""Reads the JUnit XML that cargo-nextest writes.

Our own settings file asks nextest for the XML, in the profile that the suite names or in
one that we define. If the tree's own settings write that profile's result elsewhere, they
prevail. Nextest takes our file only through a flag, which cannot be added to a script, so
a script's results cannot be read.

Case ids are nextest's own, `<program id> <test>`. The XML does not list ignored tests. A
package that does not compile is one `error`.
"""

import json
from collections.abc import Iterable, Mapping
from functools import partial
from pathlib import Path, PurePosixPath

from cooperbench_eval.running.readers.cargo_reader import compile_errors
from cooperbench_eval.running.readers.protocol import FinishedRun, Launch, Reader, option_and_value
from cooperbench_eval.running.readers.result_files import (
    UnreadableResultError,
    parse_junit,
    read_result_file,
)
from cooperbench_eval.running.readers.rust_tests import (
    ANY_PROGRAM,
    added_rust_tests,
    changed_rust_tests,
    is_named,
)
from cooperbench_eval.running.results import TestCase, TestCaseStatus

_RESULT = "nextest.xml"
_SETTINGS = "nextest.toml"
_PROFILE = "cooperbench-eval"
_PROFILE_OPTIONS = frozenset({"-P", "--profile"})
_NO_TESTS = 4


def _launch(command: tuple[str, ...], env: Mapping[str, str], scratch: Path) -> Launch:
    at = _end_of_options(command)
    if at is None:
        return Launch(command=command, env=env)
    named = _profile(command[:at]) or env.get("NEXTEST_PROFILE")
    asks: tuple[str, ...] = ("--tool-config-file", f"{_PROFILE}:{scratch / _SETTINGS}")
    if not named:
        asks = (*asks, "--profile", _PROFILE)
    # A string of JSON is also a string of TOML.
    path = json.dumps(str(scratch / _RESULT))
    settings = f"[profile.{named or _PROFILE}.junit]\npath = {path}\n"
    (scratch / _SETTINGS).write_text(settings, encoding="utf-8")
    return Launch(
        command=(*command[:at], *asks, *command[at:]),
        env={"CARGO_TERM_COLOR": "never", **env},
    )


def _read(run: FinishedRun) -> Iterable[TestCase]:
    if failures := compile_errors(run.output, run.exit_code):
        return failures
    try:
        data = read_result_file(run.scratch / _RESULT)
    except UnreadableResultError:
        if run.exit_code == _NO_TESTS and _end_of_options(run.command) is not None:
            return ()
        raise
    return (
        case
        for element in parse_junit(data)
        for case in element.cases(f"{element.classname} {element.name}".strip())
    )


def _covers(case: TestCase, name: str) -> bool:
    """Whether *case* is the function *name*; a package that does not compile covers all."""
    if case.status is TestCaseStatus.ERROR and " " not in case.id:
        return True
    is_anywhere = name.startswith(ANY_PROGRAM)
    return is_named(case.id.rpartition(" ")[2] if is_anywhere else case.id, name)


def _program(path: str, package: str) -> str:
    """Return nextest's id of the program that a file is compiled into."""
    if path.startswith("tests/"):
        return f"{package}::{PurePosixPath(path).stem} "
    return f"{package}::bin/{package} " if path == "src/main.rs" else f"{package} "


def _end_of_options(command: tuple[str, ...]) -> int | None:
    """Return where options end in a `cargo nextest run`; `None` if the command is another one."""
    words = list(command)
    for at in range(len(words) - 1):
        if PurePosixPath(words[at]).name in {"nextest", "cargo-nextest"} and "run" in words[at:]:
            return words.index("--") if "--" in words else len(words)
    return None


def _profile(words: tuple[str, ...]) -> str:
    """Return the profile that the words name; empty if they name none."""
    rest = iter(words)
    for word in rest:
        option, value = option_and_value(word, rest, _PROFILE_OPTIONS)
        if option in _PROFILE_OPTIONS:
            return value
    return ""


NEXTEST_READER = Reader(
    launch=_launch,
    read=_read,
    required=partial(added_rust_tests, program=_program),
    added=partial(changed_rust_tests, program=_program),
    covers=_covers,
    no_test_codes=frozenset({0, _NO_TESTS}),
    result="JUnit file",
)
