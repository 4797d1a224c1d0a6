"""Judges a run by its exit status and by what its framework wrote."""

import re
import shlex
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable
from pathlib import Path, PurePosixPath

import attrs

from cooperbench_eval.git.trees.snapshot import Snapshot
from cooperbench_eval.running.processes.supervision import describe_exit
from cooperbench_eval.running.readers.frameworks import FRAMEWORKS, other_framework
from cooperbench_eval.running.readers.protocol import NOT_FOUND, FinishedRun, NewTests, Reader
from cooperbench_eval.running.readers.result_files import (
    UnreadableResultError,
    is_unnamed,
    read_result_file,
)
from cooperbench_eval.running.results import TestCase, TestCaseStatus, TestResult, TestStatus
from cooperbench_eval.running.sandboxes.protocol import Execution
from cooperbench_eval.running.suite import TestSuite

SETUP_MARK = "setup-failed"
"""The name of the file that a command of the set-up writes if it fails."""
SOURCES = frozenset(
    {".py", ".go", ".rs", ".js", ".jsx", ".mjs", ".cjs", ".ts", ".tsx", ".mts", ".cts"}
)
"""Suffixes of files that may hold tests."""
_WORD = re.compile(r"\w+")
_PYTHON = re.compile(r"python|pypy")
_MISSING_MODULE = re.compile(r"\bNo module named '?([\w.]{1,100})")
_ERROR_LINE = re.compile(r"error: ?\S", re.IGNORECASE)
"""Such as pytest's and pip's, which print other lines after it."""
# A test may end with this status if its file contains the pattern.
_EXCUSES = {
    TestCaseStatus.SKIPPED: re.compile(rb"skip", re.IGNORECASE),
    TestCaseStatus.XFAILED: re.compile(rb"xfail|expected_?failure|todo", re.IGNORECASE),
}


def judge(execution: Execution, suite: TestSuite, tree: Snapshot, scratch: Path) -> TestResult:
    """Judge how a suite's command ended on a tree, and what its framework wrote to *scratch*."""
    if execution.timed_out:
        is_in_setup = suite.setup and not (scratch / f"{SETUP_MARK}-not").exists()
        what = "the set-up" if is_in_setup else "it"
        reason = f"{what} did not end within {suite.timeout_seconds:g} seconds"
        return TestResult(status=TestStatus.TIMED_OUT, reason=reason)
    if execution.out_of_memory:
        reason = "a process was killed because memory ran out"
        return TestResult(status=TestStatus.OUT_OF_MEMORY, reason=reason)
    if execution.exit_code is None:
        reason = execution.reason or "the command brought down its sandbox"
        return TestResult(status=TestStatus.INCONCLUSIVE, reason=reason)
    if failure := suite.setup and _setup_failure(suite, scratch):
        reason = f"{failure}{_last_words(execution.output)}"
        return TestResult(status=TestStatus.SETUP_FAILED, reason=reason)
    run = FinishedRun(
        command=suite.command,
        exit_code=execution.exit_code,
        scratch=scratch,
        tree=tree,
        output=execution.output,
    )
    result = _judged(run, FRAMEWORKS[suite.framework])
    if not result.cases and (advice := other_framework(suite.command, suite.framework)):
        return attrs.evolve(result, reason=f"{advice}; {result.reason}")
    return result


def _setup_failure(suite: TestSuite, scratch: Path) -> str:
    """Return which command of the set-up failed, and how; empty if none did."""
    try:
        number, status = map(int, read_result_file(scratch / SETUP_MARK).split())
        command = shlex.join(suite.setup[number])
    # The mark is missing, or somebody else wrote it.
    except (UnreadableResultError, ValueError, IndexError):
        return ""
    return f"the set-up's {command} {describe_exit(status)}"


def _judged(run: FinishedRun, reader: Reader) -> TestResult:
    try:
        cases = reader.read(run)
    except UnreadableResultError as exc:
        status = TestStatus.INCONCLUSIVE
        if run.exit_code == NOT_FOUND:
            status = TestStatus.SETUP_FAILED
        ending = _ending(run.exit_code)
        if missing := _missing_module(run):
            return TestResult(status=status, reason=f"{missing}; {exc}; {ending}")
        return TestResult(status=status, reason=f"{exc}; {ending}{_last_words(run.output)}")
    status, reason = _verdict(cases, run.exit_code, reader)
    if status is TestStatus.INCONCLUSIVE and not cases:
        reason += _last_words(run.output)
    return TestResult(status=status, reason=reason, cases=cases)


def require_tests(
    result: TestResult, reader: Reader, new: tuple[NewTests, ...], required: tuple[str, ...] | None
) -> TestResult:
    """Return *result* with the required tests that did not run.

    A result that passed becomes inconclusive if there are any; one that failed stays so. If the
    suite names no required tests, they are those in *new* that its command is certain to run, and
    at least one of all the tests in *new* must run. *new* has the tests that the tests patch adds
    to each tree that it was applied to; the tested tree comes first.
    """
    cases = result.cases
    new = tuple(attrs.evolve(each, cases=cases) for each in new)
    names = _names(reader.required, new) if required is None else required
    ran = _ran(cases, names, reader, new[0])
    missing = tuple(name for name in dict.fromkeys(names) if name not in ran)
    problem = "required tests that did not run"
    if not missing and required is None and reader.added and not any(map(is_unnamed, cases)):
        names = _names(reader.added, new)
        if not _ran(cases, names, reader, new[0]):
            missing, problem = names, "none of the tests that the tests patch adds or changes ran"
    if not missing or result.status is not TestStatus.PASSED:
        return attrs.evolve(result, missing_tests=missing)
    reason = f"{problem}: {len(missing)}, such as {missing[0]}"
    return attrs.evolve(
        result, status=TestStatus.INCONCLUSIVE, reason=reason, missing_tests=missing
    )


def _verdict(cases: tuple[TestCase, ...], exit_code: int, reader: Reader) -> tuple[TestStatus, str]:
    counts = Counter(case.status for case in cases)
    passed = counts[TestCaseStatus.PASSED]
    bad = counts[TestCaseStatus.FAILED] + counts[TestCaseStatus.ERROR]
    ending = _ending(exit_code)
    if bad:
        if exit_code:
            return TestStatus.FAILED, ""
        return TestStatus.INCONCLUSIVE, f"cases that failed: {bad}, but {ending}"
    if not passed and exit_code in reader.no_test_codes:
        found = ", ".join(f"{count} {status}" for status, count in sorted(counts.items()))
        return TestStatus.NO_TESTS, f"no case ran that counts ({found or 'none was found'})"
    if exit_code:
        return TestStatus.INCONCLUSIVE, f"no case failed, but {ending}"
    return TestStatus.PASSED, ""


def _names(
    find: Callable[[NewTests], tuple[str, ...]], new: tuple[NewTests, ...]
) -> tuple[str, ...]:
    return tuple(dict.fromkeys(name for each in new for name in find(each)))


def _ran(
    cases: tuple[TestCase, ...], names: Iterable[str], reader: Reader, new: NewTests
) -> set[str]:
    """Return the names of the tests that ran.

    There may be very many cases, so a case is only compared with the names whose last word
    it contains.
    """
    found: set[str] = set()
    by_word: dict[str, set[str]] = defaultdict(set)
    for name in names:
        by_word[(_WORD.findall(name) or [""])[-1]].add(name)
        by_word[name.partition("::")[0]].add(name)  # a file that skips all its tests
    for case in cases:
        words = {"", case.id, *_WORD.findall(case.id)}
        for name in set().union(*(by_word[word] for word in words & by_word.keys())) - found:
            if _is_of(case, name, reader) and _counts(case, name, new):
                found.add(name)
    return found


def _is_of(case: TestCase, name: str, reader: Reader) -> bool:
    """Whether a case is a required test itself, not the failure of its file or program."""
    if case.status is TestCaseStatus.ERROR:
        case = attrs.evolve(case, status=TestCaseStatus.PASSED)
    return reader.covers(case, name)


def _counts(case: TestCase, name: str, new: NewTests) -> bool:
    """Whether a case that covers a required test shows that the test ran.

    A case that was skipped, or that failed as expected, counts only if the benchmark's own
    files provide for it: the test's file, or a `conftest.py` above it.
    """
    excuse = _EXCUSES.get(case.status)
    if excuse is None:
        return True
    file = name.partition("::")[0]
    sources = (path for path in new.paths if PurePosixPath(path).suffix in SOURCES)
    files = [file] if file in new.paths else list(sources)
    folders = {folder for each in files for folder in PurePosixPath(each).parents}
    conftests = [str(folder / "conftest.py") for folder in folders]
    entries = (new.after.get(path) for path in (*files, *conftests))
    return any(entry is not None and excuse.search(entry.data) for entry in entries)


def _missing_module(run: FinishedRun) -> str:
    """Say which module of Python is missing, and what to do, if the last lines name one."""
    found = _MISSING_MODULE.findall("\n".join(_last_lines(run.output)))
    if not found:
        return ""
    program = run.command[0]
    python = program if _PYTHON.match(PurePosixPath(program).name) else "Python"
    return (
        f"{python} has no module {found[-1]}: install it there, or pass python=..., "
        "an interpreter or a virtual environment that has it"
    )


def _last_lines(output: bytes) -> list[str]:
    return output.decode(errors="backslashreplace").split("\n")[-20:]


def _last_words(output: bytes) -> str:
    """Return a clause with the last line that reports an error, or else the last line."""
    lines = [line.strip() for line in reversed(_last_lines(output))]
    error = next(filter(_ERROR_LINE.match, lines), "")
    if error:
        return f"; its output says: {error[:200]}"
    last = next(filter(None, lines), "")
    return f"; its last line of output was: {last[:200]}" if last else ""


def _ending(exit_code: int) -> str:
    hint = ", which means that a program is missing" if exit_code == NOT_FOUND else ""
    return f"the command {describe_exit(exit_code)}{hint}"
