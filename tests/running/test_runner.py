"""Verdicts of real commands on real trees."""

import pickle
import re
import stat
import time
from concurrent.futures import ThreadPoolExecutor
from functools import partial

import pytest

from cooperbench_eval.errors import TestRunError
from cooperbench_eval.git.trees.entries import Entry
from cooperbench_eval.git.trees.snapshot import Changes, Snapshot
from cooperbench_eval.running import LocalSandbox, TestRunner, TestSuite
from cooperbench_eval.running.results import TestCaseStatus, TestStatus

PYTEST = ("python", "-m", "pytest", "-q")
GOOD = "def test_good(): pass\n"
BAD = "def test_bad(): assert 0\n"
BOMB = """<!DOCTYPE x [<!ENTITY a "aaaaaaaaaa">]><testsuites name="&a;"/>"""
NEW_TEST = b"""\
diff --git a/test_new.py b/test_new.py
new file mode 100644
--- /dev/null
+++ b/test_new.py
@@ -0,0 +1,2 @@
+from code_under_test import answer
+def test_new(): assert answer == 42
"""


def shell(script):
    """Return the command that runs a shell script."""
    return ("sh", "-c", script)


# --- the pipeline -----------------------------------------------------------


def test_changes_and_tests_patch_are_applied_to_the_base():
    """The command sees the base, the changes and the tests patch; the base does not change."""
    base = Snapshot.from_files({"code_under_test.py": b"answer = 41\n"})
    changes = Changes({"code_under_test.py": Entry(b"answer = 42\n")})
    env = {"PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"}
    suite = TestSuite(command=PYTEST, patch=NEW_TEST, env=env)

    with_changes = TestRunner().run(base, changes, suite)
    without = TestRunner().run(base, Changes(), suite)

    assert with_changes.status is TestStatus.PASSED
    assert [case.id for case in with_changes.cases] == ["test_new.py::test_new"]
    assert without.status is TestStatus.FAILED
    assert base.paths() == ("code_under_test.py",)


def test_a_tests_patch_that_does_not_apply_is_a_result(run_suite):
    """Nothing is run, and the reason names the file."""
    patch = b"--- a/test_x.py\n+++ b/test_x.py\n@@ -1 +1 @@\n-not there\n+new\n"

    result = run_suite({"test_x.py": GOOD}, ("no-such-command",), patch=patch)

    assert result.status is TestStatus.PATCH_REJECTED
    assert "test_x.py" in result.reason
    assert (result.cases, result.exit_code, result.output) == ((), None, "")


def test_a_result_records_how_it_was_produced(run_suite):
    """The result holds the command, sandbox, exit status, output and time, and it pickles."""
    result = run_suite({"test_x.py": GOOD + BAD}, sandbox=LocalSandbox())

    assert result.command == PYTEST
    assert result.sandbox == "local"
    assert result.exit_code == 1
    assert "1 failed, 1 passed" in result.output
    assert 0 < result.duration_seconds < 30
    assert pickle.loads(pickle.dumps(result)) == result  # noqa: S301 - our own bytes


def test_relative_path_variables_point_into_the_tree(run_suite):
    """A `src` layout is importable from any working directory."""
    files = {
        "src/mine.py": "x = 1\n",
        "test_x.py": "import subprocess as s, sys\n"
        "def test(): s.check_call([sys.executable, '-c', 'import mine'], cwd='/')\n",
    }

    result = run_suite(files, env={"PYTHONPATH": "src"})

    assert result.status is TestStatus.PASSED


def test_modes_and_links_are_in_the_tree():
    """An executable can be run and a link can be followed."""
    base = Snapshot.from_files(
        {
            "run.sh": Entry(b"#!/bin/sh\nread x < link && echo $x\n", 0o100755),
            "link": Entry(b"f", 0o120000),
            "f": b"hi\n",
        }
    )

    result = TestRunner().run(base, Changes(), TestSuite(command=("./run.sh",), framework="exit"))

    assert (result.status, result.output) == (TestStatus.PASSED, "hi\n")


def test_undecodable_output_is_shown_as_escapes(run_suite):
    """Bytes that are not UTF-8 do not stop a run."""
    result = run_suite({}, shell(r"printf 'ok \303\251 \377'"), framework="exit")

    assert result.output == "ok é \\xff"


def test_a_missing_command_is_an_error(run_suite, own_temporary_directory):
    """The error says nothing about the code, so it is raised; the tree is still removed."""
    with pytest.raises(TestRunError):
        run_suite({"f": ""}, ("no-such-command",))

    assert list(own_temporary_directory.iterdir()) == []


# --- verdicts ---------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "command", "status", "words"),
    [
        (GOOD, PYTEST, "passed", ""),
        (GOOD + BAD, PYTEST, "failed", ""),
        ("", PYTEST, "no_tests", "none was found"),
        (GOOD, (*PYTEST, "-k", "nothing"), "no_tests", "none was found"),
        (GOOD, (*PYTEST, "--collect-only"), "no_tests", "none was found"),
        (
            "import pytest\n@pytest.mark.skip\ndef test(): pass\n",
            PYTEST,
            "no_tests",
            "1 skipped",
        ),
        ("import pytest\npytest.skip('x', allow_module_level=True)\n", PYTEST, "no_tests", "1 sk"),
        ("import pytest\n@pytest.mark.xfail\ndef test(): assert 0\n", PYTEST, "no_tests", "1 xf"),
        (BAD, shell("python -m pytest -q; exit 0"), "inconclusive", "failed: 1, but .* status 0"),
        (GOOD, shell("python -m pytest -q; exit 3"), "inconclusive", "no case failed, .* status 3"),
        (GOOD, (*PYTEST, "test"), "inconclusive", "status 4; .*says: ERROR: .* not found: test"),
        (GOOD, shell("python -m pytest; kill -9 $$"), "inconclusive", "killed by signal 9"),
        (GOOD, (*PYTEST, "-p", "no:junitxml"), "inconclusive", "no result file .* status 4"),
        (GOOD, ("true",), "inconclusive", "no result file was written; .* status 0"),
    ],
)
def test_a_verdict_needs_an_agreeing_result_and_exit_status(
    run_suite, text, command, status, words
):
    """If the two disagree or leave something open, the run neither passed nor failed."""
    result = run_suite({"test_x.py": text}, command)

    assert result.status == status
    assert re.search(words, result.reason)
    assert bool(result.reason) == (status not in {"passed", "failed"})


def test_printed_success_is_ignored(run_suite):
    """A conftest that prints "999 passed" and exits with 0 does not make a run pass."""
    forged = "import os\nprint('Tests: 999 passed', flush=True)\nos._exit(0)\n"

    result = run_suite({"conftest.py": forged, "test_x.py": BAD}, (*PYTEST, "-s"))

    assert "999 passed" in result.output
    assert result.status is TestStatus.INCONCLUSIVE
    assert result.exit_code == 0
    assert not result.passed
    assert result.total_tests == 0


def test_printed_failure_is_ignored(run_suite):
    """What a passing test prints about failures is ignored."""
    printed = "0 passed, 7 failed; Tests: 5 failed; 500 error"

    result = run_suite({"test_x.py": f"def test(): print({printed!r})\n"}, (*PYTEST, "-s"))

    assert result.status is TestStatus.PASSED
    assert printed in result.output


def test_an_interrupted_case_is_not_counted(run_suite):
    """The session was stopped during that case; earlier cases count."""
    result = run_suite({"test_x.py": GOOD + "def test_stop(): raise KeyboardInterrupt\n"})

    assert [case.id for case in result.cases] == ["test_x.py::test_good"]
    assert result.status is TestStatus.INCONCLUSIVE


def test_a_broken_conftest_is_inconclusive(run_suite):
    """Pytest stops before it writes a result; the reason names its exit status."""
    result = run_suite({"conftest.py": "import no_such_module\n", "test_x.py": GOOD})

    assert result.status is TestStatus.INCONCLUSIVE
    assert "exit status 4" in result.reason


def test_an_internal_error_of_pytest_is_inconclusive(run_suite):
    """A hook that raises says nothing about the tests."""
    hook = "def pytest_runtest_logreport(report): raise ValueError('hook')\n"

    result = run_suite({"conftest.py": hook, "test_x.py": GOOD})

    assert result.status is TestStatus.INCONCLUSIVE
    assert "internal error" in result.reason


@pytest.mark.parametrize(
    "plant",
    [
        f"f.write({BOMB!r})",
        "f.write('999 passed')",
        "f.truncate(65 << 20)",
        "os.unlink(path); os.mkfifo(path)",
        "os.unlink(path); os.mkdir(path)",
        "os.unlink(path); os.symlink('/dev/zero', path)",
    ],
)
def test_a_planted_result_file_harms_nothing(run_suite, plant):
    """Bombs, pipes, folders, links and giant files in its place soon end in a verdict."""
    script = f"""
import os, re
path = re.search("--junitxml=(.*?) -o", os.environ["PYTEST_ADDOPTS"])[1]
with open(path, "w") as f: {plant}
"""
    started = time.monotonic()

    result = run_suite({"plant.py": script}, ("python", "plant.py"))

    assert (result.status, result.exit_code) == (TestStatus.INCONCLUSIVE, 0)
    assert "result file" in result.reason
    assert time.monotonic() - started < 5


def test_a_timeout_is_a_verdict(run_suite):
    """A run that hangs is timed out; what it printed until then is kept."""
    text = "import time\ndef test(): print('begun', flush=True); time.sleep(60)\n"

    result = run_suite(
        {"test_x.py": text}, (*PYTEST, "-s"), sandbox=LocalSandbox(), timeout_seconds=2
    )

    assert result.status is TestStatus.TIMED_OUT
    assert result.exit_code is None
    assert "2 seconds" in result.reason
    assert "begun" in result.output


def test_killing_the_supervisor_does_not_pass(run_suite):
    """A test that kills its supervisor makes the run inconclusive."""
    result = run_suite({}, shell("kill -9 $PPID; sleep 60"), framework="exit")

    assert result.status is TestStatus.INCONCLUSIVE
    assert "sandbox" in result.reason


@pytest.mark.parametrize(
    ("script", "status", "case_status", "message"),
    [
        ("exit 0", "passed", "passed", ""),
        ("exit 3", "failed", "failed", "exit status 3"),
        ("kill -9 $$", "failed", "error", "killed by signal 9"),
    ],
)
def test_the_exit_framework_uses_the_exit_status(run_suite, script, status, case_status, message):
    """There is one case, named after the command."""
    result = run_suite({}, shell(script), framework="exit")

    assert result.status == status
    (case,) = result.cases
    assert (case.id, case.message) == (f"sh -c '{script}'", message)
    assert case.status is TestCaseStatus(case_status)


# --- a good guest -----------------------------------------------------------


def test_nothing_is_left_in_the_temporary_directory(run_suite, own_temporary_directory):
    """Folders that tests made unreadable are removed too."""
    script = "mkdir -p a/b $TMPDIR/c $HOME/d; touch a/b/f; chmod 0 a/b a $TMPDIR/c $HOME/d ."

    result = run_suite({"f": ""}, shell(script), framework="exit")

    assert result.status is TestStatus.PASSED
    assert list(own_temporary_directory.iterdir()) == []


def test_links_out_of_the_tree_are_not_followed_when_it_is_removed(run_suite, tmp_path):
    """The target of a link keeps its contents and its rights."""
    outside = tmp_path / "outside"
    outside.mkdir(mode=0o755)
    (outside / "f").write_text("mine")

    run_suite(
        {},
        shell(f"ln -s {outside} link; mkdir shut; ln -s {outside} shut; chmod 0 shut"),
        framework="exit",
    )

    assert (outside / "f").read_text() == "mine"
    assert stat.S_IMODE(outside.stat().st_mode) == 0o755


def test_runs_in_threads_are_independent(run_suite):
    """Two runs at once have separate trees, results and outputs."""
    trees = [{"test_x.py": GOOD}, {"test_x.py": BAD}]

    with ThreadPoolExecutor(2) as pool:
        good, bad = pool.map(partial(run_suite, sandbox=LocalSandbox()), trees)

    assert (good.status, bad.status) == (TestStatus.PASSED, TestStatus.FAILED)
    assert [case.id for case in bad.cases] == ["test_x.py::test_bad"]


def test_runner_and_sandbox_are_values():
    """Both compare and pickle by their options, so they can be sent to worker processes."""
    runner = TestRunner(sandbox=LocalSandbox(inherit=["A"], output_limit=5))

    assert pickle.loads(pickle.dumps(runner)) == runner  # noqa: S301 - our own bytes
    assert runner != TestRunner()
