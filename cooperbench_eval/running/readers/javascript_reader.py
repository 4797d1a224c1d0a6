"""Reads what jest, vitest and Node's own test runner write, which `NODE_OPTIONS` asks for.

So scripts and `npm test` work too. Every session of a run counts. Case ids are
`<file> > <group> > <title>`, with the file's path in the tree.

Jest and vitest write JSON. Our own script is loaded into each Node process of the run. In the
process of the framework itself, which starts as `jest/bin/jest.js` or `vitest/vitest.mjs`, it
adds the options. Tests of one file with the same id are one case. A file that could not be
run, or that holds no test, is one `error` under its own name. An expected failure counts as
passed, as it does in the frameworks.

Node's runner gets our own reporter, which writes its events to a file. It needs Node 18.15 or
later, and a script must not name a reporter without its destination. Tests with subtests, and
suites, do not count unless they fail by themselves. A `todo` that fails counts as an expected
failure. A file that reports no test is one test, as it is in Node; but if its text contains
tests, it is an `error`, because it ended before its tests did.
"""

import re
import shutil
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from functools import cache, partial
from pathlib import Path
from typing import Any

from attrs import field, frozen

from cooperbench_eval.git.trees.snapshot import Snapshot
from cooperbench_eval.running.readers.javascript_tests import (
    NAME_SEPARATOR,
    added_titles,
    calls_tests,
    covers,
    reader_in_node,
)
from cooperbench_eval.running.readers.protocol import FinishedRun, Launch
from cooperbench_eval.running.readers.result_files import (
    CASE_LIMIT,
    UnreadableResultError,
    as_record,
    bounded,
    clean,
    parse_json,
    read_sessions,
    tree_path,
)
from cooperbench_eval.running.results import TestCase, TestCaseStatus


def _with_node_options(env: Mapping[str, str], *options: str) -> dict[str, str]:
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


def _launch_with_preload(command: tuple[str, ...], env: Mapping[str, str], scratch: Path) -> Launch:
    preload = scratch / _PRELOAD.name
    shutil.copyfile(_PRELOAD, preload)
    return Launch(command=command, env=_with_node_options(env, "--require", str(preload)))


def _read_json(framework: str, run: FinishedRun) -> Iterator[TestCase]:
    sessions = read_sessions(run.scratch, f"{framework}-", ".json")
    found_none = run.exit_code == 1 and _NO_FILES.search(run.output) is not None
    if not all(sessions) and not found_none:
        raise UnreadableResultError(f"a session of {framework} wrote no result")
    for data in filter(None, sessions):
        yield from _json_cases(data, run.tree)


JEST_READER = reader_in_node(launch=_launch_with_preload, read=partial(_read_json, "jest"))
VITEST_READER = reader_in_node(launch=_launch_with_preload, read=partial(_read_json, "vitest"))


@frozen(kw_only=True)
class _JsonTest:
    status: str
    title: str
    groups: tuple[str, ...] = field(alias="ancestorTitles")
    messages: tuple[str, ...] = field(default=(), alias="failureMessages")
    milliseconds: float = field(default=0.0, alias="duration")


@frozen(kw_only=True)
class _TestFile:
    name: str
    status: str
    tests: tuple[_JsonTest, ...] = field(alias="assertionResults")
    message: Any = ""


def _json_cases(data: bytes, tree: Snapshot) -> list[TestCase]:
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
        case = _json_case(path, test)
        has_failed = has_failed or case.status is TestCaseStatus.FAILED
        yield case
    # If a hook of vitest fails, its tests are skipped and only the file failed.
    if file.status == "failed" and not has_failed:
        message = clean(as_record(file.message, str))
        yield TestCase(id=path, status=TestCaseStatus.ERROR, message=message)


def _json_case(path: str, test: _JsonTest) -> TestCase:
    status = _STATUSES.get(test.status)
    if status is None:
        raise UnreadableResultError("the result file holds an unknown status")
    return TestCase(
        id=NAME_SEPARATOR.join((path, *filter(None, test.groups), test.title)),
        status=status,
        duration_seconds=test.milliseconds / 1000,
        message=clean("\n".join(test.messages[:1])),
    )


_REPORTER = Path(__file__).with_name("node_results.mjs")
_DEPTH_LIMIT = 200
_NAME_LIMIT = 1_000
_EVENTS_PER_CASE = 2
# The test's own code failed. Any other type of failure is about its surroundings.
_OWN_FAILURES = frozenset({"testCodeFailure", "testTimeoutFailure", "expectedFailure"})


def _launch_in_node(command: tuple[str, ...], env: Mapping[str, str], scratch: Path) -> Launch:
    reporter = scratch / _REPORTER.name
    shutil.copyfile(_REPORTER, reporter)
    options = [f"--test-reporter={reporter.as_uri()}", "--test-reporter-destination=stderr"]
    words = [word.partition("=")[0] for word in command]
    if "--test-reporter" not in words:
        options += ["--test-reporter=spec", "--test-reporter-destination=stdout"]
    elif "--test-reporter-destination" not in words:
        at = words.index("--test-reporter")
        command = (*command[:at], "--test-reporter-destination=stdout", *command[at:])
    return Launch(command=command, env=_with_node_options(env, *options))


def _read(run: FinishedRun) -> Iterator[TestCase]:
    path_of = cache(partial(tree_path, tree=run.tree))
    for data in read_sessions(run.scratch, "node-", ".jsonl"):
        for found in _found(data):
            yield _case(found, path_of, run.tree)


NODE_READER = reader_in_node(
    launch=_launch_in_node,
    read=_read,
    required=partial(added_titles, suites_are_filtered=True),
    covers=partial(covers, with_subtests=True),
)


@frozen(kw_only=True)
class _Event:
    """A line that `node_results.mjs` writes."""

    passed: bool = False
    name: str
    nesting: Any = None
    file: str
    whole: bool = False
    suite: bool = False
    skip: bool = False
    todo: bool = False
    seconds: float = 0.0
    failure: str
    message: str


@frozen
class _Found:
    """A case, with its own name and the names of the groups around it, the innermost first."""

    names: list[str]
    event: _Event


def _found(data: bytes) -> Iterator[_Found]:
    lines = data.splitlines()
    if not lines or lines[-1] != b'{"end":true}':
        raise UnreadableResultError("a session of node's test runner did not end")
    # Tests with subtests, and suites, are events and not cases.
    if len(lines) > _EVENTS_PER_CASE * CASE_LIMIT:
        raise UnreadableResultError("node's test runner reported too many tests")
    # The cases found below each level that is still open. A parent follows its tests.
    open_levels: list[list[_Found]] = [[]]
    for event in map(_event, lines[:-1]):
        while len(open_levels) <= event.nesting + 1:
            open_levels.append([])
        below = [found for level in open_levels[event.nesting + 1 :] for found in level]
        del open_levels[event.nesting + 1 :]
        name = event.name[:_NAME_LIMIT]  # one text, which all cases below share
        for found in below:
            found.names.append(name)
        open_levels[event.nesting] += below
        if _counts(event, below):
            open_levels[event.nesting].append(_Found([name], event))
    for level in open_levels:
        yield from level


def _counts(event: _Event, below: list[_Found]) -> bool:
    """Whether a test or suite counts as a case, not only as a parent of cases."""
    if event.passed or event.todo:
        return not event.suite and not below
    return all(found.event.passed or found.event.todo for found in below)


def _case(found: _Found, path_of: Callable[[str], str], tree: Snapshot) -> TestCase:
    event = found.event
    file = path_of(event.file)
    status, message = _status(event), event.message
    entry = tree.get(file) if event.whole and event.passed else None
    if entry is not None and calls_tests(entry.data):
        status, message = TestCaseStatus.ERROR, "it ended before its tests did"
    names = () if event.whole else tuple(reversed(found.names))
    return TestCase(
        id=NAME_SEPARATOR.join((file, *names)),
        status=status,
        duration_seconds=event.seconds,
        message=clean("" if status is TestCaseStatus.PASSED else message),
    )


def _status(event: _Event) -> TestCaseStatus:
    if event.skip:
        return TestCaseStatus.SKIPPED
    if event.passed:
        return TestCaseStatus.PASSED
    if event.todo:
        return TestCaseStatus.XFAILED
    own = event.failure in _OWN_FAILURES and not event.whole
    return TestCaseStatus.FAILED if own else TestCaseStatus.ERROR


def _event(line: bytes) -> _Event:
    event = as_record(parse_json(line), _Event)
    if type(event.nesting) is not int or not 0 <= event.nesting < _DEPTH_LIMIT:
        raise UnreadableResultError("the result file is not as our reporter writes it")
    return event
