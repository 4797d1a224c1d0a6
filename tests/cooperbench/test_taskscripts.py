"""Facts that are read from a task's scripts."""

import sys

import pytest

from cooperbench_eval.cooperbench.taskscripts import checked_out_commit, plain_pytest_command
from cooperbench_eval.running.readers.frameworks import framework_of


@pytest.mark.parametrize(
    ("script", "framework"),
    [
        ("set -e\ntimeout 300 python -m pytest tests/test_a.py -v\n", "pytest"),
        ("  pytest -q\n", "pytest"),
        ("CI=1 python3 -m pytest\n", "pytest"),
        ("python -m unittest discover\n", "unittest"),
        ('    timeout 300 go test -run "$P" ./...\n', "go"),
        ("cargo test -p toy -- first\n", "cargo"),
        ("cargo nextest run\n", "nextest"),
        ('pnpm test "src/a.test.ts" 2>&1\n', "jest"),
        ('npx pnpm@8 test "src/a.test.ts" 2>&1\n', "jest"),
        ("npm run test\n", "jest"),
        ("npx jest\n", "jest"),
        ("npx vitest run\n", "vitest"),
        ("node --test\n", "node"),
        ("pip install pytest\n", "exit"),
        ("echo run pytest\n", "exit"),
        ("# python -m pytest\n", "exit"),
        ("make check\n", "exit"),
        ("", "exit"),
    ],
)
def test_the_framework_is_the_one_that_a_line_runs(script, framework):
    """A framework that is installed, printed or in a comment does not count."""
    assert framework_of(script) == framework


@pytest.mark.parametrize(
    ("text", "commit"),
    [
        ("RUN git checkout 0123abc\n", "0123abc"),
        ("RUN git clone x && git checkout --detach " + "a" * 40, "a" * 40),
        ("RUN git reset --hard 0123abc", "0123abc"),
        ("RUN git checkout main\n", None),
        ("", None),
    ],
)
def test_the_commit_is_the_one_checked_out(text, commit):
    """A branch is not a commit."""
    assert checked_out_commit(text) == commit


@pytest.mark.parametrize(
    ("script", "words"),
    [
        ("python -m pytest tests -v # all\n", ("-m", "pytest", "tests", "-v")),
        ("timeout 9 pytest 'a b.py' 2>&1 | tee log\n", ("-m", "pytest", "a b.py")),
        ("python -m pytest $FILE\npytest one.py\n", ("-m", "pytest", "one.py")),
    ],
)
def test_a_plain_command_runs_with_this_python(script, words):
    """It is the first line that can be run as it is."""
    assert plain_pytest_command(script) == (sys.executable, *words)


@pytest.mark.parametrize("script", ["", "pytest $A\n", "pytest 'unclosed\n", "pytest a | cat\n"])
def test_other_lines_are_not_plain_commands(script):
    """Examples are variables, pipes and unbalanced quotes."""
    assert plain_pytest_command(script) is None
