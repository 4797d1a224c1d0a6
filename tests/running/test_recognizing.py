"""A command whose framework is not the suite's is recognised, and its result says so."""

import pytest

from cooperbench_eval.running.readers.frameworks import recognize
from cooperbench_eval.running.results import TestStatus

FAILING = ("sh", "-c", "exit 3 # python -m unittest")


@pytest.mark.parametrize(
    ("command", "framework", "words", "is_certain"),
    [
        (("go", "test", "./..."), "go", "go test", True),
        (("/usr/local/go/bin/go", "test"), "go", "go test", True),
        (("sh", "-c", "cd x\ngo  test ./... | tee log"), "go", "go test", True),
        (("timeout", "9", "cargo", "nextest", "run"), "nextest", "cargo nextest", True),
        (("python3", "-m", "pytest"), "pytest", "python3 -m pytest", True),
        ((".venv/bin/pytest", "-q"), "pytest", "pytest", True),
        (("py.test",), "pytest", "py.test", True),
        (("npx", "vitest", "run"), "vitest", "npx vitest", True),
        (("npm", "test"), "jest", "npm test", False),
    ],
)
def test_a_command_is_recognised_by_its_words(command, framework, words, is_certain):
    """The program's folder does not matter."""
    found = recognize(command)

    assert (found.framework, found.words, found.is_certain) == (framework, words, is_certain)


@pytest.mark.parametrize("command", [("make", "test"), ("sh", "-c", ""), FAILING])
def test_another_command_is_not_recognised(command):
    """A guess would send its reader the wrong way."""
    assert recognize(command) is None


@pytest.mark.parametrize(
    ("framework", "reason"),
    [
        ("pytest", "`python -m unittest` wrote no JUnit file; pass framework='unittest'; "),
        ("go", "`python -m unittest` wrote no result; pass framework='unittest'; "),
    ],
)
def test_a_wrong_framework_is_named(run_suite, framework, reason):
    """The advice comes first, before what the run looked like."""
    files = {
        "test_a.py": "import unittest\nclass T(unittest.TestCase):\n    def test_a(self): pass"
    }
    command = ("sh", "-c", "python -m unittest")

    result = run_suite(files, command, framework=framework)
    right = run_suite(files, command, framework="unittest")

    assert result.status is TestStatus.INCONCLUSIVE
    assert result.reason.startswith(reason)
    assert (right.status, right.reason) == (TestStatus.PASSED, "")


def test_a_run_with_a_result_gets_no_advice(run_suite):
    """The command may name a framework that it does not run, and run the suite's."""
    command = ("sh", "-c", "cargo test 2>&1; python -m pytest -q")

    result = run_suite({"test_a.py": "def test_a(): pass"}, command)

    assert (result.status, result.reason) == (TestStatus.PASSED, "")


def test_the_right_framework_gets_no_advice(run_suite):
    """A run of pytest that wrote no result has another cause."""
    result = run_suite({"test_a.py": "import os; os._exit(3)"})

    assert result.status is TestStatus.INCONCLUSIVE
    assert "pass framework" not in result.reason
