"""Results of unittest, written by our script or read from its output."""

import sys
from collections import Counter
from pathlib import Path

import pytest
import toys

from cooperbench_eval.running.readers import unittest_script
from cooperbench_eval.running.readers.result_files import UnreadableResultError
from cooperbench_eval.running.readers.unittest_reader import UNITTEST_READER
from cooperbench_eval.running.results import TestCase, TestCaseStatus, TestStatus

UNITTEST = ("python", "-m", "unittest")
GOOD = {
    "test_x.py": "import unittest\nclass C(unittest.TestCase):\n    def test_good(self): pass\n"
}
HYPHENS = "-" * 70


def closing(ran, verdict):
    """Return a session's last lines."""
    return f"{HYPHENS}\nRan {ran} test{'s' * (ran != 1)} in 0.001s\n\n{verdict}\n"


@pytest.fixture
def run_unittest(run_suite):
    """Return a function that runs a command, `python -m unittest` by default, on a tree."""

    def run(files, command=UNITTEST, **options):
        return run_suite(files, command, framework="unittest", **options)

    return run


@pytest.fixture
def count(tmp_path):
    """Return a function that counts the cases of an output."""

    def count(text):
        cases = toys.read("unittest", tmp_path, output=text.encode(), command=("./run.sh",))
        return dict(Counter(case.status.value for case in cases))

    return count


# --- live -------------------------------------------------------------------


def test_every_outcome_has_its_status(run_unittest):
    """Each test is one case with unittest's own name; failures outside of tests are cases too."""
    result = run_unittest(toys.UNITTEST)

    assert toys.statuses(result.cases) == toys.UNITTEST_CASES
    assert result.status is TestStatus.FAILED
    messages = {case.id.rpartition(".")[2]: case.message for case in result.cases}
    assert "AssertionError: 1 != 2" in messages["test_fail"]
    assert "(n=2)" in messages["test_sub"]
    assert "No module named 'no_such_module'" in messages["test_broken"]
    assert messages["test_ok"] == ""
    assert messages["test_skip"] == "not now"


@pytest.mark.parametrize(
    "command",
    [
        (*UNITTEST, "test_x"),
        (*UNITTEST, "-v", "test_x.C.test_good"),
        (*UNITTEST, "test_x.py"),
        (*UNITTEST, "discover", "-p", "test_*.py"),
        ("python", "-W", "error", "-B", *UNITTEST[1:], "-b"),
        ("env", "A=b", *UNITTEST),
        ("sh", "-c", 'exec "$0" "$@"', *UNITTEST),
    ],
)
def test_arguments_have_the_same_meaning_as_for_unittest(run_unittest, command):
    """Arguments are modules, files, options, and Python's own options."""
    result = run_unittest(GOOD, command)

    assert result.status is TestStatus.PASSED
    assert [case.id for case in result.cases] == ["test_x.C.test_good"]


def test_modules_of_the_tree_are_found_but_do_not_hide_ours(run_unittest):
    """As with `-m`, the tree is searched first, but only after unittest was loaded."""
    files = GOOD | {
        "unittest_script.py": "value = 1\n",
        "xml/__init__.py": "raise ValueError\n",
        "test_y.py": "import unittest_script\n" + GOOD["test_x.py"],
    }

    result = run_unittest(files)

    assert result.status is TestStatus.PASSED
    assert result.passed_tests == 2


@pytest.mark.parametrize("code", ["os._exit(0)", "sys.exit(0)"])
def test_code_that_ends_the_run_early_does_not_pass(run_unittest, code):
    """Either no result is written, or it is that of unittest itself."""
    text = f"    def test_quits(self):\n        import os, sys; {code}\n"

    result = run_unittest({"test_x.py": GOOD["test_x.py"] + text})

    assert result.status is not TestStatus.PASSED
    assert result.status is not TestStatus.NO_TESTS


def test_the_script_does_what_unittest_does(tmp_path, monkeypatch, capsys):
    """In this process: it parses its arguments, exits as unittest does, and writes the file."""
    # Pytest's own stand-in for standard error takes no lone surrogates.
    text = toys.UNITTEST["tests/test_many.py"].replace(r"\ud800", "")
    (tmp_path / "many_of_unittest.py").write_text(text, encoding="utf-8")
    result = tmp_path / "unittest.xml"
    monkeypatch.chdir(tmp_path)
    folder = str(Path(unittest_script.__file__).parent)
    monkeypatch.setattr("sys.path", [folder, *sys.path])
    monkeypatch.setattr("sys.argv", ["script", str(result), "many_of_unittest"])

    with pytest.raises(SystemExit) as ended:
        unittest_script.main()

    assert ended.value.code == 1
    assert "FAILED (failures=4" in capsys.readouterr().err
    cases = toys.read("unittest", tmp_path, command=UNITTEST)
    expected = {
        name.replace("tests.test_many", "many_of_unittest"): status
        for name, status in toys.UNITTEST_CASES.items()
        if "tests.test_many" in name
    }
    assert toys.statuses(cases) == expected


def test_a_run_without_tests_does_not_pass(run_unittest):
    """The exit status for this depends on the version of Python."""
    result = run_unittest({"x.py": ""})

    assert result.status is TestStatus.NO_TESTS


def test_a_script_is_counted_by_its_closing_lines(run_unittest):
    """Several sessions add up; what tests print in between is ignored."""
    text = GOOD["test_x.py"][:-5] + "print('Ran 999 tests in 1.000s\\n\\nOK')\n"
    files = {"run.sh": "python -m unittest test_x\npython -m unittest test_y test_x\n"}

    result = run_unittest(files | {"test_x.py": text, "test_y.py": text}, ("sh", "run.sh"))

    assert result.status is TestStatus.PASSED
    assert [case.id for case in result.cases] == [f"unittest passed #{n}" for n in (1, 2, 3)]


# --- written ----------------------------------------------------------------


def test_closing_lines_are_read(count):
    """They may contain every kind of count."""
    many = "failures=1, errors=2, skipped=3, expected failures=4, unexpected successes=5"

    assert count(closing(1, "OK")) == {"passed": 1}
    assert count(closing(9, "OK (skipped=3, expected failures=1)").replace("\n", "\r\n")) == {
        "passed": 5,
        "skipped": 3,
        "xfailed": 1,
    }
    assert count(closing(20, f"FAILED ({many})")) == {
        "passed": 5,
        "failed": 6,
        "error": 2,
        "skipped": 3,
        "xfailed": 4,
    }
    assert count(closing(0, "NO TESTS RAN")) == {}
    assert count(closing(1, "FAILED (failures=3)")) == {"failed": 3}


def test_sessions_add_up(count):
    """One log may contain several sessions."""
    two = closing(2, "OK") + "x\n" + closing(3, "FAILED (errors=1)")

    assert count(two) == {"passed": 4, "error": 1}
    assert count(closing(1, "FAILED (failures=3)") + closing(5, "OK")) == {"failed": 3, "passed": 5}


@pytest.mark.parametrize(
    "text",
    [
        "",
        "OK\n",
        "Ran 5 tests in 0.1s\n\nOK\n",
        closing(5, "OK").replace("Ran", "  Ran"),
        closing(5, "OK (failures=1)"),
        closing(5, "FAILED"),
        closing(5, "FAILED (skipped=1)"),
        closing(5, "OK (miracles=1)"),
        closing(5, "OK, really"),
        closing(5, "OK") + closing(5, "killed"),
        closing(5, "OK") + "[... 9 bytes cut ...]\n",
        closing(999_999_999, "OK"),
        closing(9_999_999_999, "OK"),
    ],
    ids=range(13),
)
def test_contradictory_output_is_provisionalable(count, text):
    """Unknown, incomplete, impossible or missing counts are refused."""
    with pytest.raises(UnreadableResultError):
        count(text)


def test_output_is_not_trusted_if_a_file_was_requested(tmp_path):
    """A printed summary does not replace the file."""
    output = closing(5, "OK").encode()

    with pytest.raises(UnreadableResultError, match="no result file"):
        toys.read("unittest", tmp_path, output=output, command=UNITTEST)


# --- what must run ----------------------------------------------------------

TESTS = """\
import unittest
from unittest import TestCase

class Plain(TestCase):
    def test_one(self): pass
    @unittest.skipIf(True, "x")
    def test_two(self): pass
    @parameterized.expand([1])
    def test_many(self, n): pass
    def helper(self): pass

class Other(Base):
    def test_other(self): pass

@decorated
class Decorated(TestCase):
    def test_decorated(self): pass

def test_function(): pass
"""


@pytest.mark.parametrize(
    ("command", "path", "module"),
    [
        (UNITTEST, "test_a.py", "test_a"),
        ((*UNITTEST, "discover"), "pkg/test_a.py", "pkg.test_a"),
        ((*UNITTEST, "discover", "-v", "-s", ".", "-b"), "pkg/test_a.py", "pkg.test_a"),
        ((*UNITTEST, "discover", "-s", "./pkg", "-t."), "pkg/test_a.py", "pkg.test_a"),
        ((*UNITTEST, "discover", "-s", "pkg", "-v"), "pkg/test_a.py", "test_a"),
        ((*UNITTEST, "discover", "pkg", "check_*.py"), "pkg/check_a.py", "check_a"),
        ((*UNITTEST, "discover", "--pattern=*.py", "-t", "."), "pkg/a.py", "pkg.a"),
        ((*UNITTEST, "discover", "--start-directory", "x"), "x/test_a.py", "test_a"),
        ((*UNITTEST, "-v", "pkg.test_a"), "pkg/test_a.py", "pkg.test_a"),
        ((*UNITTEST, "pkg/checks.py"), "pkg/checks.py", "pkg.checks"),
    ],
)
def test_added_tests_are_required(command, path, module):
    """Added tests are methods of plain test cases, in modules that are named or discovered."""
    names = toys.required("unittest", command, {path: TESTS, "pkg/__init__.py": ""})

    assert names == (f"{module}.Plain.test_one", f"{module}.Plain.test_two")


def test_only_changed_tests_are_required():
    """A test that was in the file before is not required."""
    after = {"test_a.py": TESTS.replace("test_one(self): pass", "test_one(self): return")}

    names = toys.required("unittest", UNITTEST, after, {"test_a.py": TESTS})

    assert names == ("test_a.Plain.test_one",)


@pytest.mark.parametrize(
    ("words", "methods"),
    [
        (["-k", "one"], {"test_one"}),
        (["-k", "*.Plain.test_t*", "-v"], {"test_two"}),
        (["discover", "-kPlain", "-k", "absent"], {"test_one", "test_two"}),
        (["test_a.Plain"], {"test_one", "test_two"}),
        (["test_a.Plain.test_two", "test_b"], {"test_two"}),
        (["test_a", "-k", "TEST_ONE"], set()),
    ],
)
def test_methods_that_the_command_selects_are_required(run_unittest, words, methods):
    """Unittest runs the same ones."""
    plain = "import unittest\nclass Plain(unittest.TestCase):\n"
    plain += "    def test_one(self): pass\n    def test_two(self): pass\n"

    names = toys.required("unittest", (*UNITTEST, *words), {"test_a.py": plain})
    files = {"test_a.py": plain, "test_b.py": plain.replace("Plain", "Other")}
    result = run_unittest(files, (*UNITTEST, *words))

    assert set(names) == {f"test_a.Plain.{name}" for name in methods}
    assert {case.id for case in result.cases if "Other" not in case.id} == set(names)


@pytest.mark.parametrize(
    ("command", "files"),
    [
        (("./run.sh",), {}),
        ((*UNITTEST, "-k", "absent"), {}),
        ((*UNITTEST, "test_b"), {}),
        ((*UNITTEST, "discover", "-k", "one*"), {}),
        ((*UNITTEST, "discover", "-s", "other"), {}),
        ((*UNITTEST, "discover", "-p", "check_*.py"), {}),
        ((*UNITTEST, "discover", ".", "test*.py", ".", "more"), {}),
        ((*UNITTEST, "discover", "-t", "other"), {}),
        ((*UNITTEST, "discover", "-s", "p.q"), {"test_a.py": "", "p.q/test_a.py": TESTS}),
        ((*UNITTEST, "-v", "discover"), {}),
        ((*UNITTEST, "test_a.Other"), {}),
        ((*UNITTEST, "test_a.Plain.test"), {}),
        ((*UNITTEST, "pkg"), {"test_a.py": "", "pkg/test_a.py": TESTS}),
        (UNITTEST, {"test_a.py": TESTS + "def load_tests(*a): return a[1]\n"}),
        (UNITTEST, {"test_a.py": "(" + TESTS}),
        (UNITTEST, {"test_a.py": "", "checks.py": TESTS}),
        (UNITTEST, {"test_a.py": "", "folder/test_a.py": TESTS}),
        (UNITTEST, {"test_a.py": "", "p/test_a.py": TESTS, "p/__init__.py": "load_tests = f"}),
        (UNITTEST, {"test_a.py": "", "not-a-name/test_a.py": TESTS}),
    ],
    ids=range(19),
)
def test_nothing_is_required_that_may_be_left_out(command, files):
    """The command, the file's location or the module may leave tests out."""
    assert toys.required("unittest", command, {"test_a.py": TESTS} | files) == ()


def test_a_case_covers_only_the_method_of_its_name():
    """Other methods stay uncovered."""
    case = TestCase(id="test_a.C.test", status=TestCaseStatus.PASSED)

    assert UNITTEST_READER.covers(case, "test_a.C.test")
    assert not UNITTEST_READER.covers(case, "test_a.C.test_b")
