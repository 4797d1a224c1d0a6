"""A second run leaves out the tests that would only pass again."""

import os
import subprocess
import sys
from pathlib import Path

import pytest
import scheduling

TESTS = """
from hypothesis import given, strategies as st

def test_that_passes(): pass
def test_that_fails(): assert False
@given(st.booleans())
def test_with_examples(_): pass
"""


@pytest.fixture
def run(tmp_path):
    """Return a function that runs tests of two folders, and returns those that ran."""
    for folder in ("tests/git", "tests/hosts"):
        (tmp_path / folder).mkdir(parents=True)
        (tmp_path / folder / f"test_of_{folder[-3:]}.py").write_text(TESTS)

    def run():
        done = subprocess.run(
            [
                *(sys.executable, "-m", "pytest", "-v", "-p", "no:cacheprovider"),
                *("-p", "scheduling", "--rootdir", tmp_path, "-n", "1", "tests"),
            ],
            cwd=tmp_path,
            env={name: each for name, each in os.environ.items() if "XDIST" not in name}
            | {"PYTHONPATH": str(Path(scheduling.__file__).parent)}
            | {"COOPERBENCH_EVAL_PASSED": str(tmp_path / "passed")},
            check=False,
            capture_output=True,
            text=True,
        )
        results = ("PASSED", "FAILED")
        lines = [line for line in done.stdout.splitlines() if any(each in line for each in results)]
        return {word for line in lines for word in line.split() if "::" in word}

    return run


def test_a_second_run_leaves_out_what_passed_and_needs_no_extras(run):
    """A test that failed runs again, and so does one with examples or of another folder."""
    first, second = run(), run()

    assert len(first) == 6
    assert first - second == {"tests/git/test_of_git.py::test_that_passes"}
