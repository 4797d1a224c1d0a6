"""Results of `go test -json`, live and recorded."""

import json
import os
import re
import subprocess

import pytest
import toys
from needs import need_program

from cooperbench_eval.running.readers.go_reader import GO_READER
from cooperbench_eval.running.readers.go_tests import parse_go_arguments
from cooperbench_eval.running.readers.result_files import UnreadableResultError
from cooperbench_eval.running.results import TestCase, TestCaseStatus, TestStatus

GO_TEST = ("go", "test", "./...")
GOOD = {path: text for path, text in toys.GO.items() if path.startswith(("go.mod", "good/"))}
EMPTY = {path: text for path, text in toys.GO.items() if path.startswith(("go.mod", "empty/"))}


def events(*entries):
    """Return events as go writes them: package, action, test."""
    names = ("Package", "Action", "Test")
    lines = (json.dumps(dict(zip(names, entry, strict=False))) for entry in entries)
    return "\n".join(lines).encode()


@pytest.fixture
def read(tmp_path):
    """Return a function that reads a result's bytes."""
    return lambda data, **run: toys.read("go", tmp_path, {"go.jsonl": data}, **run)


# --- live -------------------------------------------------------------------


@pytest.mark.parametrize("command", [GO_TEST, ("sh", "-c", "echo begun; go test ./...")])
def test_every_outcome_has_its_status(run_suite, command):
    """Subtests count and their parents do not; build failures and panics are errors."""
    result = run_suite(toys.GO, command, framework="go", env=toys.go_environment())

    assert toys.statuses(result.cases) == toys.GO_CASES
    assert result.status is TestStatus.FAILED
    messages = {case.id.rpartition("/")[2]: case.message for case in result.cases}
    assert messages["bad"].endswith("why not")
    assert "panic: oh" in messages["bad.TestPanics"]
    assert "broken [build failed]" in messages["broken"]
    assert "b.go:3:12: undefined: undefined" in messages["broken"]
    assert messages["good.TestDouble"] == ""


def test_results_that_go_cached_count(run_suite):
    """A cached package counts like one that ran; its log is ignored."""
    twice = ("sh", "-c", "go test ./... >first && go test ./...")

    result = run_suite(GOOD, twice, framework="go", env=toys.go_environment())

    assert "(cached)" in result.output
    assert "HTTP 500 error as expected" in result.output
    assert result.status is TestStatus.PASSED
    assert (result.passed_tests, result.failed_tests, result.error_tests) == (6, 0, 0)


def test_a_run_without_tests_does_not_pass(run_suite):
    """A package without tests succeeds, but that shows nothing."""
    result = run_suite(EMPTY, GO_TEST, framework="go", env=toys.go_environment())

    assert result.status is TestStatus.NO_TESTS
    assert "no tests to run" in result.output


def test_code_that_ends_the_tests_early_does_not_pass(run_suite):
    """A `TestMain` that exits with 0 keeps a test of the patch from running."""
    files = {path: text for path, text in toys.GO.items() if path.startswith(("go.", "mainexit"))}

    result = run_suite(files, GO_TEST, framework="go", env=toys.go_environment())

    assert result.status is TestStatus.NO_TESTS


# --- recorded ---------------------------------------------------------------


@pytest.mark.parametrize("version", ["1.19", "1.27"])
def test_recorded_results_are_read(read, version):
    """Older versions report a failed build in plain text, newer ones in events."""
    cases = read((toys.RECORDED / f"go-{version}.jsonl").read_bytes())

    assert toys.statuses(cases) == toys.GO_CASES


def test_a_package_that_does_not_build_has_the_compilers_errors(read):
    """Newer versions write them as events; those of another package may be the reason."""
    recorded = read((toys.RECORDED / "go-1.27.jsonl").read_bytes())
    cases = read(b"FAIL\tp [build failed]", output=b"# q [q.test]\n./q.go:3:1: undefined: x\n")

    [broken] = [case.message for case in recorded if case.id.endswith("/broken")]
    assert "broken/b.go:3:12: undefined: undefined" in broken
    assert cases[0].message == "FAIL\tp [build failed]\n./q.go:3:1: undefined: x"


def test_a_test_without_an_end_is_an_error(read):
    """The same holds for a package without an event for its end."""
    cases = read(
        events(("p", "start"), ("p", "run", "TestA"), ("p", "pass", "TestB"), ("q", "start"))
    )

    assert toys.statuses(cases) == {"p.TestA": "error", "p.TestB": "passed", "q": "error"}


def test_a_test_that_ran_twice_is_one_case(read):
    """With `-count=2`, the case failed if either run failed."""
    ends = ["fail", "pass"]
    lines = [("p", action, "TestA") for end in ends for action in ("run", end)]
    cases = read(events(*lines, ("p", "fail")))

    assert toys.statuses(cases) == {"p.TestA": "failed"}


def test_a_second_run_that_did_not_end_is_an_error(read):
    """Even if the first run passed."""
    cases = read(events(("p", "run", "T"), ("p", "pass", "T"), ("p", "run", "T"), ("p", "fail")))

    assert toys.statuses(cases) == {"p.T": "error"}


def test_lines_that_are_not_events_are_ignored(read):
    """A script may print anything around the events, even JSON."""
    noise = b'FAIL\nok  \tp\t0.1s\n{"Path": "p"}\n404 error\nTests: 999 passed\n[1]\n'
    cases = read(noise + events(("p", "pass", "TestA"), ("p", "pass")) + b"\n" + noise)

    assert toys.statuses(cases) == {"p.TestA": "passed"}


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"ok  \tp\t0.1s\n",
        b'{"Action":"pass","Package":"p","Test":"T"',
        b'{"Action":1,"Package":"p"}',
        b'{"Action":"pass","Package":null}',
        b'{"Action":"pass","Package":"p","Test":["T"]}',
        b'{"Action":"pass","Package":"p","Elapsed":NaN}',
        b'{"Action":"pass","Package":"p","Test":"' + b"a/" * 101 + b'"}',
        b'{"Action":"pass","Package":"' + b"p" * 4001 + b'"}',
        b'{"a":' * 100_000,
        b"{\xff}",
    ],
    ids=range(11),
)
def test_an_invalid_result_is_provisionalable(read, data):
    """Cut, mistyped, very long and very deep events raise one kind of error."""
    with pytest.raises(UnreadableResultError):
        read(data)


# --- how it is asked --------------------------------------------------------


@pytest.mark.parametrize(
    ("command", "env", "asked", "flags"),
    [
        (("go", "test", "./..."), {}, ("go", "test", "-json", "./..."), None),
        (("go", "test", "-json", "a"), {}, ("go", "test", "-json", "a"), None),
        (("timeout", "9", "/x/go", "test"), {}, ("timeout", "9", "/x/go", "test", "-json"), None),
        (("./run.sh",), {}, ("./run.sh",), "-json"),
        (("./run.sh", "test"), {"GOFLAGS": "-mod=mod"}, ("./run.sh", "test"), "-mod=mod -json"),
        (("sh", "-c", "go test"), {}, ("sh", "-c", "go test"), "-json"),
    ],
)
def test_events_are_requested_once(tmp_path, command, env, asked, flags):
    """A flag requests them for `go test`, the environment for other commands."""
    launch = GO_READER.launch(command, env, tmp_path)

    assert launch.command[-len(asked) :] == asked
    assert launch.env.get("GOFLAGS") == flags
    assert launch.stdout == tmp_path / "go.jsonl"


# --- what must run ----------------------------------------------------------

TESTS = """\
package p

import "testing"

func TestNew(t *testing.T) {
	s := `
func TestInText(t *testing.T) {}
`
	_ = s
}

/*
func TestCommented(t *testing.T) {}
*/

func TestMain(m *testing.M) {}
func Testing(t *testing.T) {}
func helper(t *testing.T) {}
func BenchmarkX(b *testing.B) {}
func Test_under(tt *testing.T) {}
"""
MODULE = {"go.mod": "module example.com/toy\n\ngo 1.18\n"}


def test_added_tests_are_required():
    """Added tests are functions with a test's name and signature, in any package."""
    files = MODULE | {"a/b/x_test.go": TESTS, "x_test.go": TESTS, "x.go": TESTS}

    names = toys.required("go", GO_TEST, files)

    folders = ("example.com/toy/a/b", "example.com/toy")
    assert names == tuple(f"{each}.{n}" for each in folders for n in ("TestNew", "Test_under"))


def test_only_changed_tests_are_required():
    """A test that was in the file before is not required."""
    before = MODULE | {"x_test.go": TESTS}
    after = MODULE | {"x_test.go": TESTS.replace("tt *testing.T) {}", "tt *testing.T) { }")}

    assert toys.required("go", GO_TEST, after, before) == ("example.com/toy.Test_under",)


@pytest.mark.parametrize(
    "command",
    [
        ("go", "test", "-run", "TestOther", "./..."),
        ("go", "test", "-run", "[", "./..."),
        ("go", "test", "-run", "(?i)testnew", "./..."),
        ("go", "test", "-skip=^Test", "./..."),
        ("go", "test", "-list", ".", "./..."),
        ("go", "test", "-count", "0", "./..."),
        ("go", "test", "./...", "-args", "-test.run", "x"),
        ("go", "test", "example.com/toy/..."),
        ("go", "test", "./b"),
        ("go", "vet", "./..."),
        ("./run.sh",),
        ("go",),
    ],
)
def test_nothing_is_required_of_a_command_that_selects(command):
    """The same holds for a command that is not understood."""
    assert toys.required("go", command, MODULE | {"a/x_test.go": TESTS}) == ()


@pytest.mark.parametrize(
    "command",
    [
        ("go", "test", "-v", "./a"),
        ("go", "test", "-race", "./..."),
        ("go", "test", "-count", "1", "-timeout", "30s", "-p", "1", "./..."),
        ("go", "test", "-tags", "x", "./a", "-v"),
        ("go", "test", "-tags=x", "--count=1", "-short=true", "./a"),
    ],
)
def test_a_folder_that_is_named_is_run(command):
    """It may be named by its own path or included by a pattern."""
    assert toys.required("go", command, MODULE | {"a/x_test.go": TESTS}) != ()


@pytest.mark.parametrize(
    ("script", "case", "found"),
    [
        ("go test -v ./...", "example.com/toy/a.TestOld/sub", True),
        ("make check", "example.com/toy/a.ExampleOld", True),
        ("go test ./...", "example.com/toy/a", False),
        ("go test ./...", "example.com/toy/a.v2.TestOld", False),
        ("go test ./...", "example.com/toy/b.TestOld", False),
        ("cd a && go test -run TestOther", "example.com/toy/a.TestOld", False),
        ("cd a && go test -run TestNew", "example.com/toy/a.TestOld", True),
        ("go test -run '^TestNew$' ./... && go test ./a", "example.com/toy/a.TestOld", True),
        ("go test -run TestNew ./... ; go test -run $1", "example.com/toy/a.TestOld", False),
    ],
)
def test_a_scripts_result_says_which_packages_it_ran(script, case, found):
    """This does not hold if the script's text selects among the tests."""
    files = MODULE | {"a/x_test.go": TESTS, "run.sh": script + "\n"}
    cases = [TestCase(id=case, status=TestCaseStatus.PASSED)]
    commands = [("./run.sh",), ("sh", "-c", script), ("timeout", "9", *script.split())]

    names = [toys.required("go", command, files, cases=cases) for command in commands]

    assert [bool(each) for each in names] == [found] * 3


@pytest.mark.parametrize(
    "files",
    [
        {"a/x_windows_test.go": TESTS},
        {"a/x_amd64_test.go": TESTS},
        {"a/x_test.go": "//go:build e2e\n\n" + TESTS},
        {"a/x_test.go": "// +build e2e\n\n" + TESTS},
        {"a/testdata/x_test.go": TESTS},
        {"_a/x_test.go": TESTS},
        {"a/_x_test.go": TESTS},
        {"vendor/x_test.go": TESTS},
        {"a/x_test.go": TESTS, "a/go.mod": "module other\n"},
    ],
)
def test_nothing_is_required_of_a_file_that_may_be_left_out(files):
    """Such files are for another system, have a build tag, are hidden or in another module."""
    assert toys.required("go", GO_TEST, MODULE | files) == ()


def test_subtests_cover_their_function():
    """A function that has subtests does not count itself."""
    covers = GO_READER.covers
    cases = [TestCase(id=f"p.{n}", status=TestCaseStatus.PASSED) for n in ("T", "T/a", "Ta", "U/T")]

    assert [covers(case, "p.T") for case in cases] == [True, True, False, False]


PATTERNS = [
    *("", ".", "TestA", "^TestA$", "TestA|TestB/x", "Test(A|B/)x?", "A/sub", "[A/]B", "A$|_under"),
    *(
        "^(TestA|TestB)$",
        "a^",
        "Test\\w+b",
        "x|",
        "|",
        "/sub",
        "TestA/",
        "A/x|B",
        "Test[^A]",
        "B\\|",
        "A\\/",
    ),
]


def test_patterns_select_as_in_go(tmp_path):
    """A function that `-run` and `-skip` surely select runs, and any other known one does not."""
    functions = ("TestA", "TestAB", "TestB", "Test_under", "TestAbb")
    bodies = (f"func {name}(t *testing.T) {{}}\n" for name in functions)
    (tmp_path / "go.mod").write_text("module m\n\ngo 1.18\n")
    text = 'package m\n\nimport "testing"\n\n' + "".join(bodies)
    (tmp_path / "m_test.go").write_text(text)
    program = tmp_path / "m.test"
    environment = os.environ | toys.go_environment()
    build = (need_program("go"), "test", "-c", "-o", str(program), ".")
    subprocess.run(build, cwd=tmp_path, env=environment, check=True)

    usage = subprocess.run((program, "-help"), capture_output=True, text=True, check=False)
    flags = [flag for flag in ("run", "skip") if f"-test.{flag}" in usage.stderr]
    for pattern in PATTERNS:
        for flag in flags:
            selection = parse_go_arguments([f"-{flag}", pattern])
            command = (program, "-test.v", f"-test.{flag}={pattern}")
            run = subprocess.run(command, capture_output=True, text=True, check=False)
            ran = set(re.findall(r"=== RUN +(\w+)", run.stdout))
            kept = {name for name in functions if selection.keeps(name)}
            # A pattern for subtests skips parts of a function; Go 1.20 splits at `|` first.
            unsure = "/" in pattern and (flag == "skip" or "|" in pattern)
            assert kept <= ran if unsure else kept == ran, pattern
