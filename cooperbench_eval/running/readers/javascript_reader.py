"""Reads the JSON that jest and vitest write.

Our own script is loaded through `NODE_OPTIONS` into each Node process of the run. In the
process of the framework itself, it adds the options. So this also works under `npm test`
and scripts, for programs that start as `jest/bin/jest.js` or `vitest/vitest.mjs`. Every
session of a run counts.

Case ids are `<file> > <group> > <title>`, with the file's path in the tree. Tests of one
file with the same id are one case. A file that could not be run, or that holds no test,
is one `error` under its own name. An expected failure counts as passed, as it does in
the frameworks.
"""

import re
import shutil
from collections import Counter
from collections.abc import Iterator, Mapping
from functools import partial
from pathlib import Path
from typing import Any

from attrs import field, frozen

from cooperbench_eval.git.trees.snapshot import Snapshot
from cooperbench_eval.running.readers.javascript_tests import NAME_SEPARATOR, reader_in_node
from cooperbench_eval.running.readers.protocol import FinishedRun, Launch
from cooperbench_eval.running.readers.result_files import (
    UnreadableResultError,
    as_record,
    bounded,
    clean,
    parse_json,
    read_sessions,
    tree_path,
)
from cooperbench_eval.running.results import TestCase, TestCaseStatus


def with_node_options(env: Mapping[str, str], *options: str) -> dict[str, str]:
    """Return the variables with more options for Node, after those of the suite."""
    quoted = (_quoted(each) for each in options)
    value = " ".join(filter(None, (env.get("NODE_OPTIONS"), *quoted)))
    return {**env, "NODE_OPTIONS": value}


def _quoted(option: str) -> str:
    # Node's rules for splitting: only double quotes quote, and a backslash escapes inside them.
    if not set(option) & set(' "\\'):
        return option
    escaped = option.replace("\\", "\\\\").replace('"', '\\"')
    return f'"{escaped}"'


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


@frozen(kw_only=True)
class _Test:
    status: str
    title: str
    groups: tuple[str, ...] = field(alias="ancestorTitles")
    messages: tuple[str, ...] = field(default=(), alias="failureMessages")
    milliseconds: float = field(default=0.0, alias="duration")


@frozen(kw_only=True)
class _TestFile:
    name: str
    status: str
    tests: tuple[_Test, ...] = field(alias="assertionResults")
    message: Any = ""


def _cases(data: bytes, tree: Snapshot) -> list[TestCase]:
    session = as_record(parse_json(data), dict[str, Any])
    files = as_record(session.get("testResults"), tuple[_TestFile, ...])
    cases = list(bounded(case for file in files for case in _of_file(file, tree)))
    counts = Counter(case.status for case in cases)
    expected = (counts[TestCaseStatus.PASSED], counts[TestCaseStatus.FAILED])
    found = (session.get("numPassedTests"), session.get("numFailedTests"))
    if found != expected or not all(type(count) is int for count in found):
        raise UnreadableResultError("the result file's counts contradict its tests")
    return cases


def _of_file(file: _TestFile, tree: Snapshot) -> Iterator[TestCase]:
    path = tree_path(file.name, tree)
    has_failed = False
    for test in file.tests:
        case = _case(path, test)
        has_failed = has_failed or case.status is TestCaseStatus.FAILED
        yield case
    # If a hook of vitest fails, its tests are skipped and only the file failed.
    if file.status == "failed" and not has_failed:
        message = clean(as_record(file.message, str))
        yield TestCase(id=path, status=TestCaseStatus.ERROR, message=message)


def _case(path: str, test: _Test) -> TestCase:
    status = _STATUSES.get(test.status)
    if status is None:
        raise UnreadableResultError("the result file holds an unknown status")
    return TestCase(
        id=NAME_SEPARATOR.join((path, *filter(None, test.groups), test.title)),
        status=status,
        duration_seconds=test.milliseconds / 1000,
        message=clean("\n".join(test.messages[:1])),
    )
