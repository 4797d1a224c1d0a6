"""Reads the JSON that jest and vitest write.

Our own script is loaded through `NODE_OPTIONS` into each Node process of the run. It
adds the options in the process that is the framework itself. So this also works under
`npm test` and scripts, for programs that start as `jest/bin/jest.js` or
`vitest/vitest.mjs`. Every session of a run counts.

Case ids are `<file> > <group> > <title>`, with the file's path in the tree. Tests of one
file with the same id are one case. A file that could not be run, or that holds no test,
is one `error` under its own name. A test that fails as it is expected to counts as
passed, as it does in the frameworks.
"""

import re
import shutil
from collections import Counter
from collections.abc import Iterator, Mapping
from functools import partial
from pathlib import Path

from cooperbench_eval.models import TestCase, TestCaseStatus
from cooperbench_eval.running.readers.javascript.javascript_tests import (
    NAME_SEPARATOR,
    reader_in_node,
)
from cooperbench_eval.running.readers.javascript.node_options import with_node_options
from cooperbench_eval.running.readers.protocol import (
    FinishedRun,
    Launch,
    UnreadableResultError,
)
from cooperbench_eval.running.readers.results import (
    clean,
    list_in,
    object_in,
    parse_json,
    read_sessions,
    seconds_in,
    text_in,
    tree_path,
)
from cooperbench_eval.snapshot import Snapshot

__all__ = ["JEST_READER", "VITEST_READER"]

_PRELOAD = Path(__file__).with_name("javascript_results.cjs")
_STATUSES = {
    "passed": TestCaseStatus.PASSED,
    "failed": TestCaseStatus.FAILED,
    "pending": TestCaseStatus.SKIPPED,
    "skipped": TestCaseStatus.SKIPPED,
    "disabled": TestCaseStatus.SKIPPED,
    "todo": TestCaseStatus.SKIPPED,
}
# Both print this before they end without a result.
_NO_FILES = re.compile(rb"(?m)^No test(?:s| files) found, exiting with code 1\r?$")
_SUMMARY = {
    "numPassedTests": TestCaseStatus.PASSED,
    "numFailedTests": TestCaseStatus.FAILED,
}


def _launch(command: tuple[str, ...], env: Mapping[str, str], scratch: Path) -> Launch:
    preload = scratch / _PRELOAD.name
    shutil.copyfile(_PRELOAD, preload)
    return Launch(command=command, env=with_node_options(env, "--require", str(preload)))


def _read(framework: str, run: FinishedRun) -> Iterator[TestCase]:
    sessions = read_sessions(run.scratch, f"{framework}-", ".json")
    found_none = run.exit_code == 1 and _NO_FILES.search(run.output) is not None
    if not all(sessions) and not found_none:
        raise UnreadableResultError(f"a session of {framework} wrote no result")
    for data in filter(None, sessions):
        yield from _cases(data, run.tree)


JEST_READER = reader_in_node(launch=_launch, read=partial(_read, "jest"))
VITEST_READER = reader_in_node(launch=_launch, read=partial(_read, "vitest"))


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
            raise UnreadableResultError("the result file's counts contradict its tests")
    return tests


def _of_file(suite: dict[str, object], tree: Snapshot) -> Iterator[TestCase]:
    file = tree_path(text_in(suite.get("name")), tree)
    assertions = list_in(suite.get("assertionResults"))
    bad = False
    for each in assertions:
        case = _case(file, object_in(each))
        bad = bad or case.status is TestCaseStatus.FAILED
        yield case
    # If a hook of vitest fails, its tests are skipped and only the file failed.
    if text_in(suite.get("status")) == "failed" and not bad:
        message = clean(text_in(suite.get("message", "")))
        yield TestCase(id=file, status=TestCaseStatus.ERROR, message=message)


def _case(file: str, test: dict[str, object]) -> TestCase:
    groups = [text_in(each) for each in list_in(test.get("ancestorTitles"))]
    status = _STATUSES.get(text_in(test.get("status")))
    if status is None:
        raise UnreadableResultError("the result file holds an unknown status")
    messages = [text_in(each) for each in list_in(test.get("failureMessages", []))]
    return TestCase(
        id=NAME_SEPARATOR.join((file, *filter(None, groups), text_in(test.get("title")))),
        status=status,
        duration_seconds=seconds_in(test.get("duration"), scale=1000.0),
        message=clean("\n".join(messages[:1])),
    )
