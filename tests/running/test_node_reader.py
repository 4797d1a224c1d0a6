"""Results of Node's own test runner, live and recorded."""

import json

import pytest
import toys
from needs import need_program

from cooperbench_eval.running.readers.javascript_reader import NODE_READER
from cooperbench_eval.running.readers.result_files import UnreadableResultError
from cooperbench_eval.running.results import TestStatus

NODE_TEST = ("node", "--test")
END = b'{"end":true}\n'
GOOD = {"test/a.test.js": "require('node:test').test('good', () => {});\n"}
QUITS = {"test/quit.test.js": toys.NODE["test/quit.test.js"]}


def line(name, nesting=0, **fields):
    """Return a line of a result, by default of a test that passed."""
    flags = dict.fromkeys(("whole", "suite", "skip", "todo"), False)
    rest = {"file": "/tree/a.test.js", "seconds": 0.1, "failure": "", "message": ""}
    entry = {"passed": True, "name": name, "nesting": nesting, **flags, **rest, **fields}
    return json.dumps(entry).encode() + b"\n"


@pytest.fixture
def run_node(run_suite):
    """Return a function that runs a command, `node --test` by default, on a tree."""
    need_program("node")

    def run(files, command=NODE_TEST, **options):
        return run_suite(files, command, framework="node", **options)

    return run


@pytest.fixture
def read(tmp_path):
    """Return a function that reads the bytes of sessions."""

    def read(*sessions, files=()):
        results = {f"node-{n}.jsonl": data for n, data in enumerate(sessions)}
        return toys.read("node", tmp_path, results, files=dict(files) or {"a.test.js": ""})

    return read


# --- live -------------------------------------------------------------------


@pytest.mark.parametrize("command", [NODE_TEST, ("sh", "-c", "node --test")])
def test_every_outcome_has_its_status(run_node, command):
    """Subtests count; suites and parents count only for their own failures."""
    result = run_node(toys.NODE, command)

    assert toys.statuses(result.cases) == toys.NODE_CASES
    assert result.status is TestStatus.FAILED
    assert "✖ fails" in result.output
    messages = {case.id.rpartition(" > ")[2]: case.message for case in result.cases}
    assert "boom" in messages["fails"]
    assert messages["top"] == messages["skipped"] == ""


def test_the_suites_own_reporter_is_kept(run_node):
    """Node requires a destination for each reporter."""
    single = run_node(GOOD, ("node", "--test-reporter", "tap", "--test"))
    flags = ("--test-reporter=tap", "--test-reporter-destination=stdout")
    both = run_node(GOOD, ("node", *flags, "--test"))

    for result in (single, both):
        assert result.status is TestStatus.PASSED
        assert result.output.startswith("TAP version 13")


def test_sessions_add_up(run_node):
    """Each session writes its own file."""
    files = GOOD | {"more/b.test.js": GOOD["test/a.test.js"]}

    result = run_node(
        files, ("sh", "-c", "node --test test/a.test.js && node --test more/b.test.js")
    )

    assert result.status is TestStatus.PASSED
    assert sorted(toys.statuses(result.cases)) == ["more/b.test.js > good", "test/a.test.js > good"]


def test_code_that_ends_the_tests_early_does_not_pass(run_node):
    """A file whose tests did not run is an error, even if it exits with 0."""
    result = run_node(GOOD | QUITS)

    assert result.exit_code == 0
    assert result.status is TestStatus.INCONCLUSIVE


def test_a_run_without_tests_does_not_pass(run_node):
    """Node succeeds if it finds no file."""
    result = run_node({"x.js": ""}, ("node", "--test"))

    assert result.status is TestStatus.NO_TESTS


# --- recorded and written ---------------------------------------------------


@pytest.mark.parametrize("version", [18, 20, 24])
def test_a_recorded_result_is_read(read, version):
    """Newer versions report more about each test, with the same result."""
    cases = read((toys.RECORDED / f"node-{version}.jsonl").read_bytes(), files=toys.NODE)

    assert toys.statuses(cases) == toys.NODE_CASES


def test_newer_versions_mark_tests_as_such(read):
    """All but suites are tests; a parent that fails because of its subtests does not count."""
    failed = {"passed": False, "failure": "subtestsFailed"}
    cases = read(
        line("a", 2)
        + line("b", 2, passed=False, failure="testCodeFailure", message="no")
        + line("inner", 1, **failed)
        + line("outer", 0, suite=True, **failed)
        + line("c", 1)
        + line("parent", 0)
        + line("late", 0, skip=True)
        + END
    )

    assert toys.statuses(cases) == {
        "a.test.js > outer > inner > a": "passed",
        "a.test.js > outer > inner > b": "failed",
        "a.test.js > parent > c": "passed",
        "a.test.js > late": "skipped",
    }


def test_a_failing_hook_is_an_error(read):
    """A suite is a case if it failed and nothing in it did."""
    hook = {"passed": False, "suite": True, "failure": "hookFailed", "message": "hook"}

    cases = read(line("a", 1) + line("s", **hook) + END)

    assert toys.statuses(cases) == {"a.test.js > s > a": "passed", "a.test.js > s": "error"}


def test_a_known_failure_does_not_excuse_its_parent(read):
    """A subtest that failed as expected is not the reason why its parent failed."""
    todo = {"passed": False, "todo": True, "failure": "testCodeFailure"}

    cases = read(line("a", 1, **todo) + line("p", passed=False, failure="testCodeFailure") + END)

    assert toys.statuses(cases) == {"a.test.js > p > a": "xfailed", "a.test.js > p": "failed"}


def test_a_test_named_like_its_file_is_a_test(run_node):
    """Only Node's own report about a file stands for the whole file."""
    files = {"a.test.js": "\nrequire('node:test').test('a.test.js', () => {});\n"}

    result = run_node(files, ("node", "--test"))

    assert toys.statuses(result.cases) == {"a.test.js > a.test.js": "passed"}


def test_tests_of_an_unfinished_suite_count(read):
    """Their suite never reported its end."""
    assert toys.statuses(read(line("a", 3) + END)) == {"a.test.js > a": "passed"}


@pytest.mark.parametrize(
    "data",
    [
        b"",
        line("a"),
        END + line("a"),
        b"ok 1\n" + END,
        b"1\n" + END,
        line("a", -1) + END,
        line("a", 200) + END,
        line("a", True) + END,
        line("a", 0.0) + END,
        line(None) + END,
        line("a", file=1) + END,
        line("a", message=[]) + END,
        b'{"a":' * 100_000 + b"\n" + END,
    ],
    ids=range(13),
)
def test_an_invalid_result_is_provisionalable(read, data):
    """Cut, mistyped and very deep results raise one kind of error."""
    with pytest.raises(UnreadableResultError):
        read(data)


def test_a_session_without_an_end_is_provisionalable(read):
    """This holds even if another session ended."""
    with pytest.raises(UnreadableResultError, match="did not end"):
        read(line("a") + END, line("b"))


def test_added_tests_are_required(tmp_path):
    """They are found by title, in the files that the command names."""
    files = {"a.test.mjs": "import test from 'node:test';\ntest('new', () => {});\n"}

    assert toys.required("node", ("node", "--test", "./a.test.mjs"), files) == ("a.test.mjs > new",)
    assert toys.required("node", ("node", "--test", "--test-only", "a.test.mjs"), files) == ()


def test_a_path_with_spaces_works(run_node, tmp_path):
    """The reporter is passed as a URL."""
    folder = tmp_path / "a b"
    folder.mkdir()

    launch = NODE_READER.launch(NODE_TEST, {"NODE_OPTIONS": "--no-warnings"}, folder)

    assert "/a%20b/node_results.mjs" in launch.env["NODE_OPTIONS"]
    assert launch.env["NODE_OPTIONS"].startswith("--no-warnings ")


@pytest.mark.parametrize(
    ("text", "status"),
    [
        ("const { test } = require('./helper');\ntest('one', () => process.exit(0));\n", "error"),
        ("import { it } from './helper.mjs';\nit.skip('one', () => {});\n", "error"),
        ("describe('group', () => { it('one', () => {}); });\n", "error"),
        ("if (/x/.test('x')) process.exit(0);\n", "passed"),
        ("// test('one')\nconst text = \"it('two')\";\n", "passed"),
        ("function test() {}\ntest();\n", "passed"),
        ("const it = (x) => x;\nit(1);\n", "passed"),
        ("const test = require('./helper');\ntest('one', () => {});\n", "error"),
    ],
    ids=range(8),
)
def test_a_whole_file_passes_only_without_tests(read, text, status):
    """The file may get the function that defines tests in any way."""
    event = line("a.test.js", whole=True) + END

    assert toys.statuses(read(event, files={"a.test.js": text})) == {"a.test.js": status}
