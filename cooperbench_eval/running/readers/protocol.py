"""The records that the runner and the reader of a test framework exchange."""

from collections.abc import Callable, Iterable, Mapping
from pathlib import Path

from attrs import field, frozen

from cooperbench_eval.git.trees.snapshot import Snapshot
from cooperbench_eval.running.readers.result_files import bounded
from cooperbench_eval.running.results import TestCase, TestCaseStatus

__all__ = ["FinishedRun", "Launch", "NewTests", "Reader"]

_WORST_FIRST = (
    TestCaseStatus.FAILED,
    TestCaseStatus.ERROR,
    TestCaseStatus.PASSED,
    TestCaseStatus.XFAILED,
    TestCaseStatus.SKIPPED,
)


@frozen(kw_only=True)
class Launch:
    """How to start a suite's command so that its framework writes a result.

    Attributes:
        command: The command, with the options that the framework needs.
        env: The variables, with those that the framework needs.
        stdout: The file of the scratch directory to which the command's standard
            output is redirected, if any. The runner shows it with the output.
    """

    command: tuple[str, ...]
    env: Mapping[str, str] = field(factory=dict)
    stdout: Path | None = None


@frozen(kw_only=True)
class FinishedRun:
    """A command that ran to its end, as a reader sees it.

    Attributes:
        command: The suite's command, as its author wrote it.
        exit_code: Its exit status.
        scratch: The directory where the framework was asked to write. It may be empty,
            or hold anything that hostile code wrote there.
        tree: The files that the command ran on.
        output: What the command printed. The middle of a long output may be cut.
    """

    command: tuple[str, ...]
    exit_code: int
    scratch: Path
    tree: Snapshot
    output: bytes = field(default=b"", repr=False)


@frozen(kw_only=True)
class NewTests:
    """A tests patch applied to a tree, in which readers look for the tests it adds.

    Attributes:
        before: The tree without the patch.
        after: The tree with the patch.
        paths: The files that the patch adds or changes, sorted.
        command: The suite's command.
        env: The suite's variables.
        cases: The cases that the run reported. They show which files ran if the command
            does not.
    """

    before: Snapshot = field(repr=False)
    after: Snapshot = field(repr=False)
    paths: tuple[str, ...]
    command: tuple[str, ...]
    env: Mapping[str, str] = field(factory=dict, repr=False)
    cases: tuple[TestCase, ...] = field(default=(), repr=False)


def _launch_as_given(command: tuple[str, ...], env: Mapping[str, str], scratch: Path) -> Launch:
    del scratch
    return Launch(command=command, env=env)


def _require_nothing(new: NewTests) -> tuple[str, ...]:
    del new
    return ()


def _no_file(case: TestCase) -> str:
    del case
    return ""


def _has_id(case: TestCase, name: str) -> bool:
    return case.id == name


@frozen(kw_only=True)
class Reader:
    """What the runner needs to know about one test framework.

    To support another framework, write a module with such a record and add the record
    to `frameworks.py`.

    Attributes:
        launch: Returns how to start a command so that the framework writes its result.
            It takes the suite's command, the suite's variables, and an empty directory
            for the result and for files that help to write it.
        required: Returns the tests that a tests patch adds or changes, found in its text,
            but only tests that the command is certain to run: one name too many makes an
            honest run inconclusive, whereas one too few only lets a forged run pass.
        added: Returns every test that a tests patch adds or changes, found in its text,
            whatever the command runs. It errs on the side of one name too many. With the
            trees swapped, it returns the tests that the patch changes or removes; with an
            empty tree before, all tests of the files. `None` if tests have no names.
        covers: Whether a case belongs to the test with a given name: it is the test, a
            variant of it, or the `error` of the file or program that contains it. A case of
            a file or program with any other status does not count.
        file_of: Returns the path of a case's file, as it is in the id; empty if the id
            does not show it.
        no_test_codes: The exit statuses that agree with a run in which no case counts.
        result: What the framework writes, for messages.
    """

    _read: Callable[[FinishedRun], Iterable[TestCase]]
    launch: Callable[[tuple[str, ...], Mapping[str, str], Path], Launch] = _launch_as_given
    required: Callable[[NewTests], tuple[str, ...]] = _require_nothing
    added: Callable[[NewTests], tuple[str, ...]] | None = None
    covers: Callable[[TestCase, str], bool] = _has_id
    file_of: Callable[[TestCase], str] = _no_file
    no_test_codes: frozenset[int] = frozenset({0})
    result: str = "result"

    def read(self, run: FinishedRun) -> tuple[TestCase, ...]:
        """Return every case of the run once, in the order of first occurrence.

        A case may be reported several times, because it ran again or because two cases
        share a name. Then the worst reported status counts.

        Raises:
            UnreadableResultError: The result is missing, too large or not credible.
        """
        found: dict[str, TestCase] = {}
        for case in bounded(self._read(run)):
            known = found.get(case.id)
            found[case.id] = case if known is None else _worst_of(known, case)
        return tuple(found.values())


def _worst_of(one: TestCase, other: TestCase) -> TestCase:
    worst = min(one, other, key=lambda case: _WORST_FIRST.index(case.status))
    return TestCase(
        id=worst.id,
        status=worst.status,
        duration_seconds=one.duration_seconds + other.duration_seconds,
        message=worst.message,
    )
