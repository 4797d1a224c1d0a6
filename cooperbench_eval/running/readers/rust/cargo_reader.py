"""Reads what `cargo test` did, from the lines that it and libtest print."""

from collections.abc import Mapping
from pathlib import Path, PurePosixPath

from attrs import frozen

from cooperbench_eval.models import TestCase
from cooperbench_eval.running.readers.protocol import FinishedRun, Launch, NewTests
from cooperbench_eval.running.readers.rust.cargo_output import read_cargo_output
from cooperbench_eval.running.readers.rust.rust_tests import added_rust_tests

__all__ = ["CargoReader"]


@frozen
class CargoReader:
    """Reads the output of `cargo test`: stable Rust writes no result anywhere else.

    Only whole lines of cargo and of libtest are looked at, and of each test
    program the lines must agree with the summary, name by name and in number.
    `--quiet` names no test, so nothing of it is believed.

    Case ids are `<program> <source>::<test>`, and `<package> doc::<test>` for
    documentation; without the program where the log does not name it. A program
    that ended before its tests, and a package that does not compile, are one
    `error` each. A harness that is not libtest, but ends with a line
    `2 passed, 1 failed, 0 skipped`, gives cases by number only.

    Code that prints those lines itself, in a program whose output is not
    captured, is believed where they agree with each other.
    """

    @property
    def no_test_codes(self) -> frozenset[int]:
        """Success."""
        return frozenset({0})

    def launch(self, command: tuple[str, ...], env: Mapping[str, str], scratch: Path) -> Launch:
        """Ask for nothing but plain text."""
        del scratch
        return Launch(command=command, env={"CARGO_TERM_COLOR": "never", **env})

    def read(self, run: FinishedRun) -> tuple[TestCase, ...]:
        """Return the cases of every test program.

        Raises:
            UnreadableResultError: No program printed a result, a summary
                contradicts its lines, or a part of the output is missing.
        """
        return read_cargo_output(run.output, run.exit_code)

    def required(self, new: NewTests) -> tuple[str, ...]:
        """Name the test functions that the patch adds or changes."""
        return added_rust_tests(new, _program)

    def covers(self, case: TestCase, name: str) -> bool:
        """Whether *case* is that function; older versions do not name all of the program."""
        label, _, test = name.partition("::")
        ids = (name, f"{label.partition(' ')[0]}::{test}", test)
        # Who names tests by hand may leave out the program.
        return case.id in ids or case.id.endswith(f" {name}")


def _program(path: str, package: str) -> str:
    """Return what stands before the tests of a file, as the reader puts it."""
    name = PurePosixPath(path).stem if path.startswith("tests/") else package
    return f"{name.replace('-', '_')} {path}::"
