"""Reads what jest and vitest did, from the JSON that they write themselves."""

import re
import shutil
from collections import Counter
from collections.abc import Iterator, Mapping
from pathlib import Path

from attrs import field, frozen, validators

from cooperbench_eval.models import TestCase, TestCaseStatus
from cooperbench_eval.running.readers.javascript.javascript_tests import (
    NAME_SEPARATOR,
    added_javascript_tests,
    covers_title,
)
from cooperbench_eval.running.readers.javascript.node_options import with_node_options
from cooperbench_eval.running.readers.protocol import (
    FinishedRun,
    Launch,
    NewTests,
    UnreadableResultError,
)
from cooperbench_eval.running.readers.results import (
    clean,
    joined,
    list_in,
    object_in,
    parse_json,
    read_sessions,
    seconds_in,
    text_in,
    tree_path,
)
from cooperbench_eval.snapshot import Snapshot

__all__ = ["JavaScriptReader"]

_PRELOAD = Path(__file__).with_name("javascript_results.cjs")
_STATUSES = {
    "passed": TestCaseStatus.PASSED,
    "failed": TestCaseStatus.FAILED,
    "pending": TestCaseStatus.SKIPPED,
    "skipped": TestCaseStatus.SKIPPED,
    "disabled": TestCaseStatus.SKIPPED,
    "todo": TestCaseStatus.SKIPPED,
}
# What both say before they end without a result.
_NO_FILES = re.compile(rb"(?m)^No test(?:s| files) found, exiting with code 1\r?$")
_SUMMARY = {
    "numPassedTests": TestCaseStatus.PASSED,
    "numFailedTests": TestCaseStatus.FAILED,
}


@frozen(kw_only=True)
class JavaScriptReader:
    """Has jest or vitest write its JSON, whoever starts it, and reads that.

    A script of ours, loaded through `NODE_OPTIONS` into each Node process of the
    run, adds the options where the process is the framework's own. So it works
    from `npm test` and from scripts as well, for programs that start as
    `jest/bin/jest.js` or `vitest/vitest.mjs`. Every session of a run counts.

    Case ids are `<file> > <group> > <title>`, the file as it lies in the tree.
    Namesakes in one file are one case. A file that could not be run, or holds no
    test, is one `error` under its own name. Tests that fail as they are expected
    to count as passed, as the frameworks have it.

    Attributes:
        framework: `"jest"` or `"vitest"`.
    """

    framework: str = field(validator=validators.in_(("jest", "vitest")))

    @property
    def no_test_codes(self) -> frozenset[int]:
        """Success, and what both end with where they find no file of tests."""
        return frozenset({0, 1})

    def launch(self, command: tuple[str, ...], env: Mapping[str, str], scratch: Path) -> Launch:
        """Put the script in place and have Node load it."""
        preload = scratch / _PRELOAD.name
        shutil.copyfile(_PRELOAD, preload)
        return Launch(command=command, env=with_node_options(env, "--require", str(preload)))

    def read(self, run: FinishedRun) -> tuple[TestCase, ...]:
        """Return the cases of every session.

        Raises:
            UnreadableResultError: There is no result, it is not one, its counts
                contradict its list, or a session never ended.
        """
        sessions = read_sessions(run.scratch, f"{self.framework}-", ".json")
        found_none = run.exit_code == 1 and _NO_FILES.search(run.output) is not None
        if not all(sessions) and not found_none:
            raise UnreadableResultError(f"a session of {self.framework} wrote no result")
        return joined(case for data in sessions if data for case in _cases(data, run.tree))

    def required(self, new: NewTests) -> tuple[str, ...]:
        """Name the tests with literal titles that the patch adds or changes."""
        return added_javascript_tests(new)

    def covers(self, case: TestCase, name: str) -> bool:
        """Whether *case* is of that file and has that title, in whatever group."""
        return covers_title(case.id, name)


def _cases(data: bytes, tree: Snapshot) -> list[TestCase]:
    report = object_in(parse_json(data))
    tests = [
        case
        for suite in list_in(report.get("testResults"))
        for case in _of_file(object_in(suite), tree)
    ]
    counts = Counter(case.status for case in tests)
    for name, status in _SUMMARY.items():
        if type(report.get(name)) is not int or report[name] != counts[status]:
            raise UnreadableResultError("the result file's counts are not those of its tests")
    return tests


def _of_file(suite: dict[str, object], tree: Snapshot) -> Iterator[TestCase]:
    file = tree_path(text_in(suite.get("name")), tree)
    assertions = list_in(suite.get("assertionResults"))
    bad = False
    for each in assertions:
        case = _case(file, object_in(each))
        bad = bad or case.status is TestCaseStatus.FAILED
        yield case
    # A hook of vitest that failed leaves its tests skipped and the file failed.
    if text_in(suite.get("status")) == "failed" and not bad:
        message = clean(text_in(suite.get("message", "")))
        yield TestCase(id=file, status=TestCaseStatus.ERROR, message=message)


def _case(file: str, test: dict[str, object]) -> TestCase:
    groups = [text_in(each) for each in list_in(test.get("ancestorTitles"))]
    status = _STATUSES.get(text_in(test.get("status")))
    if status is None:
        raise UnreadableResultError("the result file holds a status that nobody knows")
    messages = [text_in(each) for each in list_in(test.get("failureMessages", []))]
    return TestCase(
        id=NAME_SEPARATOR.join((file, *filter(None, groups), text_in(test.get("title")))),
        status=status,
        duration_seconds=seconds_in(test.get("duration"), scale=1000.0),
        message=clean("\n".join(messages[:1])),
    )
