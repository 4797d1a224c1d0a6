"""Results of real pytest sessions."""

import shlex
from pathlib import Path

import pytest

from cooperbench_eval.running.readers.pytest_reader import PYTEST_READER
from cooperbench_eval.running.results import TestCaseStatus, TestStatus

PYTEST = ("python", "-m", "pytest", "-q")

MANY = """
import unittest
import pytest
from base import Inherited

def test_ok(): pass
def test_fail(): assert 1 == 2, "boom"

@pytest.fixture
def broken(): raise ValueError("set-up")
def test_setup(broken): pass

@pytest.fixture
def leaky():
    yield
    raise ValueError("tear-down")
def test_teardown(leaky): pass
def test_fail_and_teardown(leaky): assert 0, "call"

@pytest.mark.skip(reason="not now")
def test_skip(): pass
@pytest.mark.xfail(reason="known")
def test_xfail(): assert 0
@pytest.mark.xfail
def test_xpass(): pass
@pytest.mark.xfail(strict=True)
def test_xpass_strict(): pass

class TestOuter:
    class TestInner:
        def test_in(self): pass
    @pytest.mark.parametrize("n", [1, 2])
    def test_n(self, n): pass

class TestInherits(Inherited): pass

class Case(unittest.TestCase):
    def test_unit(self): pass
    def test_unit_fail(self): self.fail("no")
    def test_sub(self):
        for n in range(3):
            with self.subTest(n=n): self.assertNotEqual(n, 1)
    @unittest.expectedFailure
    def test_expected(self): self.fail()
    def test_unit_skip(self): self.skipTest("later")

def test_subtests(subtests):
    for n in range(3):
        with subtests.test(n=n): assert n != 1
"""

# How pytest spells parameters in ids.
STRANGE = {
    "a/b": "a/b",
    "x::y": "x::y",
    "[": "[",
    "]": "]",
    "a b": "a b",
    "<&\"'": "<&\"'",
    "0 passed": "0 passed",
    "..py": "..py",
    "é": r"\xe9",
    "\x00": r"\x00",
    "\n": r"\n",
    "\\": r"\\",
}


def test_every_outcome_has_its_status(run_suite):
    """Each case is reported once, with its status, under the name that selects it in pytest."""
    files = {
        "tests/test_many.py": MANY,
        "tests/base.py": "class Inherited:\n    def test_inherited(self): pass\n",
        "test_root.py": "def test_root(): pass\n",
    }

    result = run_suite(files)

    passed, failed, error = TestCaseStatus.PASSED, TestCaseStatus.FAILED, TestCaseStatus.ERROR
    skipped, xfailed = TestCaseStatus.SKIPPED, TestCaseStatus.XFAILED
    expected = {
        "test_root.py::test_root": passed,
        "tests/test_many.py::test_ok": passed,
        "tests/test_many.py::test_fail": failed,
        "tests/test_many.py::test_setup": error,
        "tests/test_many.py::test_teardown": error,
        "tests/test_many.py::test_fail_and_teardown": failed,
        "tests/test_many.py::test_skip": skipped,
        "tests/test_many.py::test_xfail": xfailed,
        "tests/test_many.py::test_xpass": passed,
        "tests/test_many.py::test_xpass_strict": failed,
        "tests/test_many.py::TestOuter::TestInner::test_in": passed,
        "tests/test_many.py::TestOuter::test_n[1]": passed,
        "tests/test_many.py::TestOuter::test_n[2]": passed,
        "tests/test_many.py::TestInherits::test_inherited": passed,
        "tests/test_many.py::Case::test_unit": passed,
        "tests/test_many.py::Case::test_unit_fail": failed,
        "tests/test_many.py::Case::test_sub": failed,
        "tests/test_many.py::Case::test_expected": xfailed,
        "tests/test_many.py::Case::test_unit_skip": skipped,
        "tests/test_many.py::test_subtests": failed,
    }
    assert {case.id: case.status for case in result.cases} == expected
    assert len(result.cases) == len(expected)
    assert result.status is TestStatus.FAILED
    counts = (result.passed_tests, result.failed_tests, result.error_tests)
    assert counts == (8, 6, 2) == tuple(map(list(expected.values()).count, (passed, failed, error)))
    assert (result.skipped_tests, result.xfailed_tests) == (2, 2)
    assert (result.total_tests, result.pass_rate) == (16, 0.5)
    messages = {case.id.rpartition("::")[2]: case.message for case in result.cases}
    assert messages["test_fail"].startswith("AssertionError: boom\nassert 1 == 2\n")
    assert 'failed on teardown with "ValueError: tear-down"' in messages["test_teardown"]
    assert messages["test_fail_and_teardown"].startswith("AssertionError: call")
    assert messages["test_skip"].startswith("not now")
    assert messages["test_ok"] == ""


def test_strange_parameters_keep_their_ids(run_suite):
    """Slashes, colons, brackets and counts in an id change neither ids nor counts."""
    values = list(STRANGE)
    text = f"import pytest\n@pytest.mark.parametrize('p', {values!r})\ndef test_p(p): pass\n"

    result = run_suite({"a.dir/test_p.py": text})

    assert result.status is TestStatus.PASSED
    assert result.passed_tests == len(STRANGE)
    expected = [f"a.dir/test_p.py::test_p[{spelled}]" for spelled in STRANGE.values()]
    assert [case.id for case in result.cases] == expected


def test_a_collection_error_is_an_error(run_suite):
    """A file that cannot be imported is one case, named after the file, with the reason."""
    files = {"tests/test_z.py": "import no_such_module\n", "tests/test_a.py": "def test(): pass\n"}

    result = run_suite(files)

    assert result.status is TestStatus.FAILED
    (case,) = result.cases
    assert (case.id, case.status) == ("tests/test_z.py", TestCaseStatus.ERROR)
    assert "No module named 'no_such_module'" in case.message


def test_doctests_and_files_have_ids_too(run_suite):
    """Doctests in modules and in text files are cases."""
    files = {"pkg/mod.py": '"""\n>>> 1\n1\n"""\n', "docs/test_it.txt": ">>> 2\n2\n"}

    result = run_suite(files, (*PYTEST, "--doctest-modules", "--doctest-glob=*.txt"))

    assert sorted(case.id for case in result.cases) == [
        "docs/test_it.txt::test_it.txt",
        "pkg/mod.py::mod",
    ]


def test_ids_are_relative_to_pytests_root_directory(run_suite):
    """If pytest's root is a sub-folder, ids start there, as in its output."""
    files = {"sub/pytest.ini": "[pytest]\n", "sub/t/test_x.py": "def test(): pass\n"}

    result = run_suite(files, (*PYTEST, "sub"))

    assert [case.id for case in result.cases] == ["t/test_x.py::test"]


def test_inherited_tests_find_their_file_in_the_tree(run_suite):
    """An inherited test is named after the file of its class, not the file it is written in."""
    files = {
        "base.py": "class Base:\n    def test_it(self): pass\n",
        "a.b/test_x.py": "from base import Base\nclass TestX(Base): pass\n",
    }

    result = run_suite(files, env={"PYTHONPATH": "."})

    assert [case.id for case in result.cases] == ["a.b/test_x.py::TestX::test_it"]


def test_stopping_early_counts_what_ran(run_suite):
    """With `--maxfail` the cases up to the failure are counted."""
    text = "def test_a(): pass\ndef test_b(): assert 0\ndef test_c(): pass\n"

    result = run_suite({"test_x.py": text}, (*PYTEST, "--maxfail=1"))

    assert result.status is TestStatus.FAILED
    assert (result.passed_tests, result.failed_tests) == (1, 1)


def test_the_suites_own_options_are_kept(run_suite):
    """`PYTEST_ADDOPTS` of the suite still selects."""
    text = "def test_a(): pass\ndef test_b(): assert 0\n"

    result = run_suite({"test_x.py": text}, env={"PYTEST_ADDOPTS": "-k 'test_a or none'"})

    assert result.status is TestStatus.PASSED
    assert [case.id for case in result.cases] == ["test_x.py::test_a"]


def test_a_result_path_with_spaces_is_quoted():
    """The path is still one word after pytest splits the variable."""
    scratch = Path("/it's a place")

    launch = PYTEST_READER.launch(("pytest", "a"), {"PYTEST_ADDOPTS": "-x"}, scratch)

    options = shlex.split(launch.env["PYTEST_ADDOPTS"])
    assert options[:2] == ["-x", f"--junitxml={scratch / 'junit.xml'}"]
    assert launch.command == ("pytest", "a", *options[1:])


def test_options_come_before_positional_arguments():
    """After two hyphens every word is a path."""
    launch = PYTEST_READER.launch(("pytest", "-q", "--", "a"), {}, Path("/s"))

    assert launch.command[:3] == ("pytest", "-q", "--junitxml=/s/junit.xml")
    assert launch.command[-2:] == ("--", "a")


def test_settings_of_the_tree_do_not_hide_the_result(run_suite):
    """The tree's settings may choose another JUnit family and log to the file."""
    files = {
        "sub/pytest.ini": "[pytest]\njunit_family = xunit2\njunit_logging = all\n",
        "sub/t/test_x.py": "class TestA:\n    def test(self): print('x' * (65 << 20))\n",
    }

    result = run_suite(files, (*PYTEST, "sub"))

    assert [case.id for case in result.cases] == ["t/test_x.py::TestA::test"]


TWO = {
    "a/test_a.py": "def test_a(): assert 0\n",
    "b/test_b.py": "def test_b(): pass\n",
}


@pytest.mark.parametrize("separator", [";", "&", "; cd b; unset PYTHONPATH;"])
def test_every_session_of_a_script_counts(run_suite, separator):
    """A failure in the first session is not hidden by the second."""
    script = f"python -m pytest -q a/test_a.py {separator} python -m pytest -q --rootdir=."

    result = run_suite(TWO, ("sh", "-c", f"{script}; wait; true"), env={"PYTHONPATH": "."})

    found = {case.id: case.status.value for case in result.cases}
    assert found["a/test_a.py::test_a"] == "failed"
    assert "passed" in found.values()
    assert result.status is not TestStatus.PASSED


def test_a_session_within_a_test_does_not_count(run_suite):
    """Tests of a pytest plug-in start pytest with the variables of the run."""
    text = (
        "import subprocess, sys\ndef test_outer(tmp_path):\n"
        "    file = tmp_path / 'test_in.py'\n"
        "    file.write_text('def test_in(): assert 0')\n"
        "    assert subprocess.run([sys.executable, '-m', 'pytest', str(file)]).returncode == 1\n"
    )

    for command in (PYTEST, ("sh", "-c", "python -m pytest")):
        result = run_suite({"test_x.py": text}, command)

        assert [case.id for case in result.cases] == ["test_x.py::test_outer"]
        assert result.status is TestStatus.PASSED


def test_the_commands_own_result_file_does_not_replace_ours(run_suite):
    """The last option counts, and ours is the last."""
    result = run_suite({"test_x.py": "def test(): pass\n"}, (*PYTEST, "--junitxml=r.xml"))

    assert result.status is TestStatus.PASSED


@pytest.mark.parametrize("script", ["exit 3", "kill -9 $$", "no_such_program"])
def test_a_script_without_a_session_has_no_result(run_suite, script):
    """The script's own exit status is kept."""
    result = run_suite(TWO, ("sh", "-c", script))

    assert not result.cases
    assert result.exit_code == {"exit 3": 3, "kill -9 $$": -9, "no_such_program": 127}[script]
    assert "no result file was written" in result.reason
