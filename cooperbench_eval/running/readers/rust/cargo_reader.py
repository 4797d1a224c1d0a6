"""Reads the output of `cargo test`: stable Rust writes its results nowhere else.

Only whole lines of cargo and of libtest are read. For each test program, the lines must
agree with the summary, name by name and in number. With `--quiet`, no test is named, so
the results are not believed.

Case ids are `<program> <source>::<test>`, and `<package> doc::<test>` for documentation;
the program is left out if the log does not name it. A program that ended before its tests
did, and a package that does not compile, are one `error` each. Harnesses other than
libtest may end with a line such as `2 passed, 1 failed, 0 skipped`; their cases have
numbers and no names.

Code that prints such lines itself, in a program whose output is not captured, is
believed if its lines agree with each other.
"""

from collections.abc import Iterable, Mapping
from functools import partial
from pathlib import Path, PurePosixPath

from cooperbench_eval.running.readers.protocol import FinishedRun, Launch, Reader
from cooperbench_eval.running.readers.rust.cargo_output import UNNAMED_PROGRAM, read_cargo_output
from cooperbench_eval.running.readers.rust.rust_tests import (
    ANY_PROGRAM,
    added_rust_tests,
    changed_rust_tests,
    is_named,
)
from cooperbench_eval.running.results import TestCase, TestCaseStatus

__all__ = ["CARGO_READER"]


def _launch(command: tuple[str, ...], env: Mapping[str, str], scratch: Path) -> Launch:
    del scratch
    return Launch(command=command, env={"CARGO_TERM_COLOR": "never", **env})


def _read(run: FinishedRun) -> Iterable[TestCase]:
    return read_cargo_output(run.output, run.exit_code)


def _covers(case: TestCase, name: str) -> bool:
    """Whether *case* is the function *name*; its id may name the program in part or not at all.

    A program that broke off is a case of each of its tests, and a package that does not
    compile is a case of every test.
    """
    label, _, test = name.partition("::")
    if case.status is TestCaseStatus.ERROR and "::" not in case.id:
        return case.id in {label, UNNAMED_PROGRAM} or " " not in case.id
    ids: tuple[str, ...] = (name,)
    if not name.startswith(ANY_PROGRAM):
        ids = (name, f"{label.partition(' ')[0]}::{test}", test)
    # A suite that names its required tests may leave out the program.
    return any(is_named(case.id, each) for each in ids) or case.id.endswith(f" {name}")


def _program(path: str, package: str) -> str:
    """Return the part of an id before the tests of a file."""
    name = PurePosixPath(path).stem if path.startswith("tests/") else package
    return f"{name.replace('-', '_')} {path}::"


CARGO_READER = Reader(
    launch=_launch,
    read=_read,
    required=partial(added_rust_tests, program=_program),
    added=partial(changed_rust_tests, program=_program),
    covers=_covers,
)
