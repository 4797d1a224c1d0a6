"""An interpreter, a set-up and readable paths that a caller adds to suites."""

import os
import shutil
import sys
import venv
from pathlib import Path

import pytest

from cooperbench_eval.errors import ArgumentError, TestRunError
from cooperbench_eval.git.trees.snapshot import Changes, Snapshot
from cooperbench_eval.running import LocalSandbox, TestRunner, TestSuite
from cooperbench_eval.running.preparation import Preparation
from cooperbench_eval.running.results import TestStatus
from cooperbench_eval.running.sandboxes.registry import default_sandbox

TREE = Snapshot.from_files({"a": b""})


@pytest.fixture(scope="module")
def environment(tmp_path_factory):
    """Return a virtual environment without packages."""
    folder = tmp_path_factory.mktemp("somewhere") / "mine"
    venv.create(folder, symlinks=True)
    return folder


def run(suite, sandbox=None, **options):
    """Run a suite on a tree with one file."""
    return TestRunner(sandbox=sandbox or LocalSandbox(), **options).run(TREE, Changes(), suite)


# --- the interpreter --------------------------------------------------------------------


@pytest.mark.parametrize("name", ["", "bin/python", "relative"])
def test_the_interpreter_may_be_a_path_or_an_environments_folder(environment, monkeypatch, name):
    """A relative path is taken from the caller's folder, and links are kept."""
    monkeypatch.chdir(environment.parent)
    given = environment.name if name == "relative" else environment / name

    assert Preparation(python=given).python == str(environment / "bin" / "python")


def test_a_name_is_looked_up_on_the_path(environment, monkeypatch):
    """As a shell does."""
    monkeypatch.setenv("PATH", str(environment / "bin"))

    assert Preparation(python="python3").python == str(environment / "bin" / "python3")


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ("no-such-python", "there is no such program"),
        ("/no/such/python", "there is no such program"),
        ("empty", "the folder has no bin/python"),
        ("shim", "is a script, not an interpreter"),
        ("data", "there is no such program"),
    ],
)
def test_a_useless_interpreter_is_refused_at_once(tmp_path, monkeypatch, given, words):
    """The error names the argument, what is wrong, and what is expected."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "empty").mkdir()
    for name, mode in {"shim": 0o700, "data": 0o600}.items():
        (tmp_path / name).write_text("#!/bin/bash\n")
        (tmp_path / name).chmod(mode)

    expected = f"^python is '{given}', but .*{words}.*; expected a Python"
    with pytest.raises(ArgumentError, match=expected):
        Preparation(python=given)


@pytest.mark.parametrize("missing", ["python", "python3"])
@pytest.mark.parametrize("instead", [None, "/bin/sh", "not executable", "folder"])
def test_an_interpreter_that_scripts_would_not_find_is_refused(tmp_path, missing, instead):
    """Debian's `/usr/bin` has no `python`, so the next folder on `PATH` would decide."""
    for name in {"python", "python3", "python3.11"} - {missing}:
        (tmp_path / name).symlink_to(sys.executable)
    other = tmp_path / missing
    if instead == "folder":
        other.mkdir()
    elif instead == "not executable":
        shutil.copyfile(sys.executable, other)
    elif instead:
        other.symlink_to(instead)

    named = f"has no program {missing} that is the same.*, so scripts would start another one"
    with pytest.raises(ArgumentError, match=f"^python is .*, but {tmp_path} {named}.* -m venv "):
        Preparation(python=tmp_path / "python3.11")


def test_an_environment_may_have_copies_of_its_interpreter(tmp_path):
    """`python -m venv --copies` makes one copy for each name."""
    venv.create(tmp_path / "mine", symlinks=False)
    python = tmp_path / "mine" / "bin" / "python3"

    assert not python.is_symlink()
    assert Preparation(python=python).python == str(python)


def test_a_folder_that_path_would_split_is_refused(tmp_path, environment):
    """A part of its name would be another folder, which may be in the tree."""
    (tmp_path / "a:b").symlink_to(environment)

    with pytest.raises(ArgumentError, match="a folder on PATH cannot have ':' in its name"):
        Preparation(python=tmp_path / "a:b")


def test_a_wrong_type_is_named():
    """The error names the argument."""
    with pytest.raises(ArgumentError, match="python must be str, PathLike or None, not int: 3"):
        Preparation(python=3)
    with pytest.raises(ArgumentError, match=r"readable must be Iterable.*, not str: '/opt'"):
        Preparation(readable="/opt")
    with pytest.raises(ArgumentError, match=r"setup must be .*, not one string"):
        Preparation(setup="npm ci")


def test_every_python_of_a_suite_is_replaced(environment, monkeypatch):
    """The set-up and all that the commands start use it too; other programs stay."""
    monkeypatch.setenv("PATH", f"relative::{os.environ['PATH']}")
    print_it = "import sys; print(sys.prefix)"
    suite = TestSuite(
        command=("sh", "-c", f"python -c '{print_it}'; python3 -c '{print_it}'; exit 1"),
        setup=[(sys.executable, "-c", print_it), ("python3", "-c", print_it), ("true",)],
        framework="exit",
    )

    changed = Preparation(python=environment).of_suite(suite)

    assert run(changed).output == f"{environment}\n" * 4
    assert changed.setup[2] == ("true",)
    assert not changed.import_roots


def test_a_suites_own_path_is_kept(environment):
    """The environment comes first."""
    suite = TestSuite(command=("python",), env={"PATH": "/opt/bin:tools"})

    changed = Preparation(python=environment).of_suite(suite)

    assert changed.env["PATH"] == f"{environment}/bin:/opt/bin:tools"
    assert Preparation().of_suite(suite) is suite


# --- the set-up -------------------------------------------------------------------------


def test_a_set_up_runs_in_the_tree_before_the_suites_own(environment):
    """It may be one command or several, and what it writes is there for the tests."""
    suite = TestSuite(
        command=("cat", "made", "second"), setup=[("cp", "made", "second")], framework="exit"
    )

    results = [
        run(Preparation(setup=each).of_suite(suite))
        for each in [("sh", "-c", "echo 1 >made"), [("touch", "made"), ("sh", "-c", "echo 1>made")]]
    ]

    assert [each.passed for each in results] == [True, True]
    assert results[0].output == "1\n1\n"


def test_a_set_up_that_fails_is_the_stated_cause():
    """The reason says which command failed, how, and what it printed last."""
    setup = (("true",), ("sh", "-c", "echo no such package; exit 3"))

    result = run(TestSuite(command=("true",), setup=setup, framework="exit"))

    assert result.status is TestStatus.SETUP_FAILED
    assert result.reason.startswith("the set-up's sh -c 'echo no such package; exit 3' ended with")
    assert result.reason.endswith("exit status 3; its last line of output was: no such package")


@pytest.mark.parametrize("slow", ["set-up", "test"])
def test_the_deadline_covers_the_set_up_and_the_reason_says_which_was_late(slow):
    """One deadline is for both."""
    sleep = ("sleep", "60")
    setup, command = [("true",), sleep], ("true",)
    if slow == "test":
        setup, command = [("true",)], sleep

    suite = TestSuite(command=command, setup=setup, framework="exit", timeout_seconds=0.5)
    result = run(suite)

    assert result.status is TestStatus.TIMED_OUT
    what = "the set-up" if slow == "set-up" else "it"
    assert result.reason == f"{what} did not end within 0.5 seconds"


def test_a_set_up_is_part_of_the_key():
    """Another set-up can change the result, so the run is repeated."""
    suite = TestSuite(command=("test", "-e", "made"), framework="exit")
    runner = TestRunner(sandbox=LocalSandbox())

    passed = [
        runner.run(TREE, Changes(), Preparation(setup=setup).of_suite(suite)).passed
        for setup in [(), ("touch", "made"), ()]
    ]

    assert passed == [False, True, False]


# --- readable paths ---------------------------------------------------------------------


def test_readable_paths_are_added_to_the_sandboxs_own(bubblewrap):
    """All other options and limits of the sandbox stay."""
    runner = TestRunner(sandbox=bubblewrap(readable=["/opt"], processes=9), retries=0)

    changed = Preparation(readable=["/srv", Path("/mnt")]).of_runner(runner)

    assert changed.sandbox == bubblewrap(readable=["/opt", "/srv", "/mnt"], processes=9)
    assert (changed.cache, changed.retries) == (runner.cache, 0)
    assert Preparation().of_runner(runner) is runner


def test_the_default_sandbox_keeps_its_limits(bubblewrap):
    """Readable paths do not remove the limits of memory and processes."""
    plain, more = default_sandbox(), default_sandbox(readable=["/srv"])

    assert isinstance(more, bubblewrap)
    assert more.readable == ("/srv",)
    assert (more.memory_bytes, more.processes) == (plain.memory_bytes, plain.processes)
    assert more.processes


def test_a_sandbox_that_hides_nothing_needs_no_readable_paths():
    """Any other kind has no such option, and says so."""

    class Sandbox:
        name = identity = "mine"

    local = TestRunner(sandbox=LocalSandbox())

    assert Preparation(readable=["/srv"]).of_runner(local).sandbox == LocalSandbox()
    other = TestRunner(sandbox=LocalSandbox())
    object.__setattr__(other, "sandbox", Sandbox())
    with pytest.raises(TestRunError, match="readable: the sandbox 'mine' has no such option"):
        Preparation(readable=["/srv"]).of_runner(other)


# --- what is missing --------------------------------------------------------------------


@pytest.mark.parametrize("framework", ["pytest", "unittest"])
def test_a_missing_module_is_the_stated_cause(environment, framework):
    """The reason says what is missing where, and what to do."""
    module = {"pytest": "pytest", "unittest": "absent"}[framework]
    rest = {"pytest": ("-m", "pytest"), "unittest": ("-c", "import absent")}[framework]
    suite = TestSuite(command=("python", *rest), framework=framework)

    result = run(Preparation(python=environment).of_suite(suite))

    python = environment / "bin" / "python"
    assert result.reason.startswith(f"{python} has no module {module}: install it there, or pass")
    assert "python=..." in result.reason
    assert result.status is TestStatus.INCONCLUSIVE
