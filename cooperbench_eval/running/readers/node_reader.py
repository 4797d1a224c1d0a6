"""Reads the events of Node's own test runner.

Our own reporter, added through `NODE_OPTIONS`, writes the events to a file. It needs
Node 18.15 or later. This also works for scripts, unless they name a reporter without
its destination. Every session of a run counts.

Case ids are `<file> > <suite or test> > <test>`, with the file's path in the tree. Tests
with subtests, and suites, do not count unless they fail by themselves. A `todo` that
fails counts as an expected failure. A file that reports no test is one test, as it is in
Node; but if its text contains tests, it is an `error`, because it ended before its tests
did.
"""

import shutil
from collections.abc import Iterator, Mapping
from functools import cache, partial
from pathlib import Path
from typing import Any

from attrs import frozen

from cooperbench_eval.git.trees.snapshot import Snapshot
from cooperbench_eval.running.readers.javascript_reader import with_node_options
from cooperbench_eval.running.readers.javascript_tests import (
    NAME_SEPARATOR,
    added_titles,
    calls_tests,
    covers_with_subtests,
    reader_in_node,
)
from cooperbench_eval.running.readers.protocol import FinishedRun, Launch
from cooperbench_eval.running.readers.result_files import (
    CASE_LIMIT,
    UnreadableResultError,
    as_record,
    clean,
    parse_json,
    read_sessions,
    tree_path,
)
from cooperbench_eval.running.results import TestCase, TestCaseStatus

_REPORTER = Path(__file__).with_name("node_results.mjs")
_DEPTH_LIMIT = 200
_NAME_LIMIT = 1_000
_EVENTS_PER_CASE = 2
# The test's own code failed. Any other type of failure is about its surroundings.
_OWN_FAILURES = frozenset({"testCodeFailure", "testTimeoutFailure", "expectedFailure"})


def _launch(command: tuple[str, ...], env: Mapping[str, str], scratch: Path) -> Launch:
    reporter = scratch / _REPORTER.name
    shutil.copyfile(_REPORTER, reporter)
    options = [f"--test-reporter={reporter.as_uri()}", "--test-reporter-destination=stderr"]
    words = [word.partition("=")[0] for word in command]
    if "--test-reporter" not in words:
        options += ["--test-reporter=spec", "--test-reporter-destination=stdout"]
    elif "--test-reporter-destination" not in words:
        at = words.index("--test-reporter")
        command = (*command[:at], "--test-reporter-destination=stdout", *command[at:])
    return Launch(command=command, env=with_node_options(env, *options))


def _read(run: FinishedRun) -> Iterator[TestCase]:
    files = _Files(run.tree)
    for data in read_sessions(run.scratch, "node-", ".jsonl"):
        yield from _cases(data, files)


NODE_READER = reader_in_node(
    launch=_launch,
    read=_read,
    required=partial(added_titles, suites_are_filtered=True),
    covers=covers_with_subtests,
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


class _Files:
    """What the tree says about the reported files; each is looked up once."""

    def __init__(self, tree: Snapshot) -> None:
        self.path = cache(partial(tree_path, tree=tree))
        self.has_tests = cache(partial(_has_tests, tree=tree))


def _cases(data: bytes, files: _Files) -> Iterator[TestCase]:
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
    for found in (each for level in open_levels for each in level):
        yield _case(found, files)


def _counts(event: _Event, below: list[_Found]) -> bool:
    """Whether a test or suite counts as a case, not only as a parent of cases."""
    if event.passed or event.todo:
        return not event.suite and not below
    blamed = any(not found.event.passed and not found.event.todo for found in below)
    return not blamed


def _case(found: _Found, files: _Files) -> TestCase:
    event = found.event
    file = files.path(event.file)
    status, message = _status(event), event.message
    if event.whole and event.passed and files.has_tests(file):
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


def _has_tests(file: str, tree: Snapshot) -> bool:
    entry = tree.get(file)
    return entry is not None and calls_tests(entry.data)


def _event(line: bytes) -> _Event:
    event = as_record(parse_json(line), _Event)
    if type(event.nesting) is not int or not 0 <= event.nesting < _DEPTH_LIMIT:
        raise UnreadableResultError("the result file is not as our reporter writes it")
    return event
