"""Results of jest and vitest: recorded and, if they are installed, live."""

import json
import os
from pathlib import Path

import pytest
import toys
from needs import lack, need_program

from cooperbench_eval.running.readers.result_files import UnreadableResultError
from cooperbench_eval.running.results import TestStatus

TOOLS = os.environ.get("COOPERBENCH_EVAL_NODE_MODULES", "")
"""A `node_modules` that holds jest and vitest, which no system package does."""

PACKAGE = {
    "package.json": '{"private": true, "scripts": {"jest": "jest", "vitest": "vitest run"}}\n'
}
TREES = {"jest": PACKAGE | toys.JEST, "vitest": PACKAGE | toys.VITEST}
PROGRAMS = {"jest": ("node_modules/.bin/jest",), "vitest": ("node_modules/.bin/vitest", "run")}
CASES = {"jest": toys.JEST_CASES, "vitest": toys.VITEST_CASES}
BOTH = pytest.mark.parametrize("framework", ["jest", "vitest"])

# Stands in for a framework's program: says what it was asked.
PROGRAM = "require('fs').writeFileSync('asked.json', JSON.stringify(process.argv.slice(2)));\n"
PLACES = {
    "jest": "node_modules/jest/bin/jest.js",
    "vitest": "node_modules/vitest/vitest.mjs",
}


def report(*statuses, **counts):
    """Return a result with one file and tests of these statuses."""
    tests = [
        {"ancestorTitles": ["g"], "title": str(n), "status": status, "failureMessages": []}
        for n, status in enumerate(statuses)
    ]
    counted = {f"num{s.title()}Tests": statuses.count(s) for s in ("passed", "failed")}
    status = "failed" if "failed" in statuses else "passed"
    suite = {"name": "/tree/a.test.js", "status": status, "assertionResults": tests}
    return counted | {"testResults": [suite]} | counts


@pytest.fixture
def tools():
    """Require jest, vitest and a node that runs them."""
    need_program("node")
    if not TOOLS:
        lack("jest and vitest", "COOPERBENCH_EVAL_NODE_MODULES is not set")
    for path in PLACES.values():
        if not Path(TOOLS, "..", path).exists():
            lack("jest and vitest", f"{TOOLS} has no {path.removeprefix('node_modules/')}")


@pytest.fixture
def read(tmp_path):
    """Return a function that reads results, each of a session of jest."""

    def read(*reports, **run):
        sessions = {
            f"jest-{n}.json": each if isinstance(each, bytes) else json.dumps(each).encode()
            for n, each in enumerate(reports)
        }
        return toys.read("jest", tmp_path, sessions, files={"a.test.js": ""}, **run)

    return read


# --- live -------------------------------------------------------------------


@pytest.mark.usefixtures("tools")
@BOTH
@pytest.mark.parametrize("start", ["program", pytest.param("npm", marks=pytest.mark.long)])
def test_every_outcome_has_its_status(run_suite, framework, start):
    """The runner may be started directly or by npm; output of the tests is ignored."""
    command = PROGRAMS[framework]
    if start == "npm":
        need_program("npm")
        command = ("npm", "run", framework)
    setup = (("ln", "-s", str(Path(TOOLS).absolute()), "node_modules"),)

    result = run_suite(TREES[framework], command, framework=framework, setup=setup)

    assert toys.statuses(result.cases) == CASES[framework]
    assert result.status is TestStatus.FAILED


@pytest.mark.usefixtures("tools")
@BOTH
def test_an_early_end_is_distinguished_from_an_empty_run(run_suite, framework):
    """Code that exits with 0 is inconclusive; a run without test files has no tests."""
    setup = (("ln", "-s", str(Path(TOOLS).absolute()), "node_modules"),)
    tools = {"framework": framework, "setup": setup}
    quits = PACKAGE | {"a.test.js": "process.exit(0)\n"}

    early = run_suite(quits, PROGRAMS[framework], **tools)
    empty = run_suite(PACKAGE, PROGRAMS[framework], **tools)

    assert early.status in {TestStatus.INCONCLUSIVE, TestStatus.FAILED}
    assert empty.status is TestStatus.NO_TESTS


# --- recorded ---------------------------------------------------------------


@pytest.mark.parametrize("recorded", ["jest-29", "jest-30", "vitest-2", "vitest-3"])
def test_recorded_results_are_read(tmp_path, recorded):
    """Tests are counted, not files; tests of one file with the same id are one case."""
    framework = recorded.partition("-")[0]
    data = (toys.RECORDED / f"{recorded}.json").read_bytes()

    files = TREES[framework]
    cases = toys.read(framework, tmp_path, {f"{framework}-1.json": data}, files=files, exit_code=1)

    assert toys.statuses(cases) == CASES[framework]
    messages = {case.id: case.message for case in cases}
    assert "// Object.is equality" in messages["src/a.test.js > outer > fails"]
    assert messages["src/broken.test.js"]
    assert messages["src/a.test.js > top"] == ""


# --- written ----------------------------------------------------------------


def test_sessions_add_up(read):
    """One script may run two of them, for example."""
    second = report("failed")
    second["testResults"][0]["name"] = "/tree/e2e/b.test.js"

    cases = read(report("passed", "pending", "todo"), second)

    assert toys.statuses(cases) == {
        "a.test.js > g > 0": "passed",
        "a.test.js > g > 1": "skipped",
        "a.test.js > g > 2": "skipped",
        "b.test.js > g > 0": "failed",
    }


def test_a_session_without_a_result_makes_the_run_unreadable(read):
    """This holds even if another session wrote one: an early exit leaves an empty file."""
    with pytest.raises(UnreadableResultError, match="a session of jest wrote no result"):
        read(report("passed"), b"")


def test_a_session_without_test_files_is_not_broken(read):
    """Jest then prints a line of its own and writes nothing."""
    said = b"x\nNo tests found, exiting with code 1\n"

    assert read(b"", exit_code=1, output=said) == ()
    for run in ({"exit_code": 0, "output": said}, {"exit_code": 1, "output": b"said: " + said[2:]}):
        with pytest.raises(UnreadableResultError):
            read(b"", **run)


def test_a_file_that_failed_without_a_test_is_an_error(read):
    """An example is vitest if a hook failed and all tests were skipped."""
    failed = report("skipped")
    failed["testResults"][0] |= {"status": "failed", "message": "\x1b[31mno\x1b[0m \ud800"}

    cases = read(failed)

    assert toys.statuses(cases) == {"a.test.js > g > 0": "skipped", "a.test.js": "error"}
    assert cases[1].message == r"no \ud800"


BAD_TESTS = [{"ancestorTitles": [], "title": "t", "status": each} for each in ("x", 1, None)]


@pytest.mark.parametrize(
    "data",
    [
        b"{}",
        b"[]",
        b"null",
        b"\xff",
        b"{" * 100_000,
        b"[" * 100_000,
        b"9" * 5_000,
        b"[" + b"1," * 4_000_001 + b"1]",
        report("passed") | {"numPassedTests": float("nan")},
        report("passed", numPassedTests=999),
        report("passed", numFailedTests=1),
        report("passed", numPassedTests=True),
        report("passed", numPassedTests=1.0),
        report(testResults={}),
        report(testResults=[1]),
        report(testResults=[{"name": 1, "status": "passed", "assertionResults": []}]),
        *(
            report(testResults=[{"name": "n", "status": "failed", "assertionResults": [test]}])
            for test in BAD_TESTS
        ),
    ],
    ids=range(19),
)
def test_an_invalid_result_is_provisionalable(read, data):
    """Foreign, mistyped, deep, endless and contradictory results raise one kind of error."""
    with pytest.raises(UnreadableResultError):
        read(data)


def test_too_many_sessions_are_unreadable(tmp_path):
    """Hostile code could write them to keep the reader busy."""
    sessions = {f"jest-{n}.json": json.dumps(report()).encode() for n in range(101)}

    with pytest.raises(UnreadableResultError, match="too many result files"):
        toys.read("jest", tmp_path, sessions)


# --- how it is asked --------------------------------------------------------


@pytest.fixture
def asked(run_suite, tmp_path):
    """Return a function that returns the arguments a stand-in for a framework got."""
    need_program("node")

    def ask(framework, *words, env=None):
        files = {
            "run.sh": 'node "$@"; cat asked.json\n',
            PLACES[framework]: PROGRAM if framework == "jest" else "import './asked.cjs';\n",
            "node_modules/vitest/asked.cjs": PROGRAM,
        }
        command = ("sh", "run.sh", PLACES[framework], *words)
        result = run_suite(files, command, framework=framework, env=env)
        assert result.status is TestStatus.INCONCLUSIVE
        assert result.reason.startswith(f"a session of {framework} wrote no result")
        return json.loads(result.output)

    return ask


@BOTH
def test_the_program_is_told_to_write_json(asked, framework):
    """The option comes before positional arguments; each session has its own file."""
    words = asked(framework, "a.test.js", "--", "--json")

    assert words[-2:] == ["--", "--json"]
    (option,) = [word for word in words if word.startswith("--outputFile")]
    assert Path(option.partition("=")[2]).name.startswith(f"{framework}-")
    assert {"jest": "--json", "vitest": "--reporter=json"}[framework] in words[:-2]


@BOTH
@pytest.mark.parametrize("own", [("--outputFile=own.json",), ("--outputFile", "own.json")])
def test_the_suites_own_output_file_is_replaced(asked, framework, own):
    """Neither program accepts two output files."""
    words = asked(framework, "--json", *own, "last")

    assert not any("own.json" in word for word in words)
    assert sum(word.startswith("--outputFile") for word in words) == 1
    assert "last" in words


def test_the_suites_own_reporter_is_kept(asked):
    """The default reporter is added only if ours would disable it."""
    assert "--reporter=default" in asked("vitest")
    assert "--reporter=default" not in asked("vitest", "--reporter=verbose")


def test_the_suites_own_node_options_are_kept(asked, tmp_path):
    """The result's path is still one word after Node splits the variable."""
    env = {"NODE_OPTIONS": "--no-warnings"}

    assert asked("jest", env=env)
    assert (
        toys.FRAMEWORKS["jest"]
        .launch(("x",), env, tmp_path)
        .env["NODE_OPTIONS"]
        .startswith("--no-warnings --require ")
    )
    folder = tmp_path / 'a "b" \\c'
    folder.mkdir()
    launch = toys.FRAMEWORKS["jest"].launch(("x",), {}, folder)
    assert r"a \"b\" \\c" in launch.env["NODE_OPTIONS"]
