"""The sandbox of many tests gives the results of the real one."""

import sys
from pathlib import Path

import pytest
from quick import QUICK, QuickSandbox

import cooperbench_eval as ce

FILES = {
    "tests/test_a.py": "import os, a\ndef test_env(): assert os.environ['KEY'] == a.KEY\n",
    "tests/test_b.py": "import pytest\ndef test_bad(): assert 0\ndef test_skip(): pytest.skip()\n",
    "lib/a.py": "import sys\nKEY = 'value' if sys.path[0] == sys.path[1][:-4] else sys.path\n",
}
COMMANDS = {
    "pytest": (sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "tests"),
    "by name": ("python", "-m", "pytest", "-q", "-p", "no:cacheprovider", "tests/test_a.py"),
    "nothing": ("python", "-m", "pytest", "-q", "-p", "no:cacheprovider", "-k", "nothing"),
    "shell": ("sh", "-c", "echo $KEY; echo $HOME | grep -o run- >&2; ls; exit 3"),
}

ONCE = {"env": {"PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"}, "timeout_seconds": 30}


@pytest.mark.parametrize("command", COMMANDS.values(), ids=COMMANDS)
def test_results_are_those_of_the_local_sandbox(command):
    """With the same cases, exit status and output."""
    base = ce.Snapshot.from_files({path: text.encode() for path, text in FILES.items()})
    env = {"KEY": "value", "PYTHONPATH": "lib", "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"}
    framework = "exit" if command[0] == "sh" else "pytest"
    suite = ce.TestSuite(command=command, env=env, framework=framework)

    quick, local = (
        ce.TestRunner(sandbox=sandbox, cache=None).run(base, ce.Changes(), suite)
        for sandbox in (QUICK, ce.LocalSandbox())
    )

    assert [(c.id, c.status) for c in quick.cases] == [(c.id, c.status) for c in local.cases]
    assert (quick.status, quick.exit_code) == (local.status, local.exit_code)


@pytest.mark.parametrize("command", [("sh", "-c", "sleep 9"), (*COMMANDS["pytest"][:3], "slow")])
def test_a_deadline_ends_the_command(tmp_path, command):
    """There is no exit status then."""
    (tmp_path / "slow").mkdir()
    Path(tmp_path / "slow/test_slow.py").write_text("import time\ndef test(): time.sleep(9)\n")

    done = QUICK.run(command, tree=tmp_path, scratch=tmp_path, env={}, timeout_seconds=0.3)

    assert (done.exit_code, done.timed_out, done.duration_seconds < 5) == (None, True, True)


def test_no_process_of_ours_is_a_child_of_this_one(tmp_path):
    """Other tests look at the children of their process."""

    def children():
        folder = Path("/proc/self/task")
        return {child for each in folder.glob("*/children") for child in each.read_text().split()}

    (tmp_path / "test_a.py").write_text("def test(): pass\n")
    before = children()
    quick = QuickSandbox()

    done = quick.run(("python", "-m", "pytest"), tree=tmp_path, scratch=tmp_path, **ONCE)

    assert (done.exit_code, children() - before) == (0, set())
