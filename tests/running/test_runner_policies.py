"""What a runner adds to a run: set-up, repeats, retries and cached results."""

import pickle

import pytest

from cooperbench_eval.errors import PluginError, SandboxError, TestRunError
from cooperbench_eval.git.trees.entries import Entry
from cooperbench_eval.git.trees.snapshot import Changes, Snapshot
from cooperbench_eval.running import Execution, LocalSandbox, ResultCache, TestRunner, TestSuite
from cooperbench_eval.running.results import TestStatus

BASE = Snapshot.from_files({"f": b"1\n"})


class Scripted:
    """A sandbox that fails or answers from a script, and counts its runs."""

    name = "scripted"
    identity = "scripted"

    def __init__(self, *answers):
        """Take what to raise or return in each run; the last item is repeated."""
        self.answers = list(answers)
        self.runs = 0

    def run(self, command, **options):  # noqa: ARG002
        """Give the next answer."""
        answer = self.answers[min(self.runs, len(self.answers) - 1)]
        self.runs += 1
        if isinstance(answer, Exception):
            raise answer
        if isinstance(answer, Execution):
            return answer
        return Execution(exit_code=answer)


def shell(script, **options):
    """Return a suite that passes if a shell script does."""
    return TestSuite(command=("sh", "-c", script), framework="exit", **options)


# --- never twice ------------------------------------------------------------


@pytest.mark.parametrize(
    ("suite", "changes", "options", "runs"),
    [
        (shell("true"), Changes(), {}, 1),
        (shell("true"), Changes({"f": Entry(b"1\n")}), {}, 1),
        (shell("false"), Changes(), {}, 2),
        (shell("true", env={"A": "1"}), Changes(), {}, 2),
        (shell("true", timeout_seconds=5), Changes(), {}, 2),
        (shell("true", setup=[["true"]]), Changes(), {}, 2),
        (shell("true", required=["x"]), Changes(), {}, 2),
        (shell("true", delivery="patches"), Changes(), {}, 2),
        (shell("true"), Changes({"f": Entry(b"2\n")}), {}, 2),
        (shell("true"), Changes({"f": Entry(b"1\n", 0o100755)}), {}, 2),
        (shell("true"), Changes(), {"repeats": 2}, 3),
        (shell("true"), Changes(), {"require_new_tests": False}, 2),
    ],
)
def test_an_equal_run_is_not_repeated(tmp_path, suite, changes, options, runs):
    """A run is repeated only if an input of its verdict differs."""
    sandbox, cache = Scripted(0), ResultCache(tmp_path / "cache")

    first = TestRunner(sandbox=sandbox, cache=cache).run(BASE, Changes(), shell("true"))
    second = TestRunner(sandbox=sandbox, cache=cache, **options).run(BASE, changes, suite)

    assert sandbox.runs == runs
    assert runs > 1 or first == second


def test_the_tests_patch_is_part_of_the_key():
    """Two equal final trees may require different tests."""
    sandbox = Scripted(0)
    runner = TestRunner(sandbox=sandbox)
    patch = Changes({"f": Entry(b"2\n")})

    runner.run(BASE, patch, shell("true"))
    runner.run(BASE, Changes(), shell("true", patch=patch.diff(BASE)))

    assert sandbox.runs == 2


def test_another_sandbox_is_another_run():
    """The sandbox's identity is part of the key and of the result."""
    cache = ResultCache()
    one, other = Scripted(0), Scripted(0)
    other.identity = "scripted, other limits"

    results = [
        TestRunner(sandbox=each, cache=cache).run(BASE, Changes(), shell("true"))
        for each in (one, other)
    ]

    assert (one.runs, other.runs) == (1, 1)
    assert [each.sandbox_identity for each in results] == ["scripted", "scripted, other limits"]


def test_without_a_cache_everything_is_run():
    """Without a cache each run takes place, for example to measure its time."""
    sandbox = Scripted(0)
    runner = TestRunner(sandbox=sandbox, cache=None)

    for _ in range(3):
        runner.run(BASE, Changes(), shell("true"))

    assert sandbox.runs == 3


def test_a_cached_result_also_lists_restored_files():
    """Restored files are a fact about the change, not about the run."""
    sandbox = Scripted(0)
    runner = TestRunner(sandbox=sandbox)

    plain = runner.run(BASE, Changes(), shell("true"))
    steering = runner.run(BASE, Changes({"conftest.py": Entry(b"")}), shell("true"))

    assert sandbox.runs == 1
    assert (plain.restored_files, steering.restored_files) == ((), ("conftest.py",))


def test_a_missing_program_is_looked_for_again():
    """A missing program gives a result, but that result is not cached."""
    sandbox = Scripted(127)
    runner = TestRunner(sandbox=sandbox)
    suite = TestSuite(command=("sh", "-c", "pytest"))

    results = [runner.run(BASE, Changes(), suite) for _ in range(2)]

    assert {each.status for each in results} == {TestStatus.SETUP_FAILED}
    assert sandbox.runs == 2


def test_a_plug_in_that_violates_the_protocol_is_a_failing_sandbox(monkeypatch):
    """This covers anything that a sandbox may raise or return."""
    monkeypatch.setattr("time.sleep", lambda _: None)

    class Odd(Scripted):
        def run(self, command, **options):  # noqa: ARG002
            return 0

    class Nameless(Scripted):
        @property
        def identity(self):
            raise KeyError("y")

    results = [
        TestRunner(sandbox=sandbox).run(BASE, Changes(), shell("true"))
        for sandbox in (Scripted(KeyError("x")), Odd(), Nameless(0))
    ]

    assert {each.status for each in results} == {TestStatus.INFRASTRUCTURE_ERROR}
    assert "raised KeyError('x')" in results[0].reason
    assert "not an Execution" in results[1].reason
    assert "raised KeyError('y')" in results[2].reason


@pytest.mark.parametrize("cache", [ResultCache(), None])
def test_a_sandboxs_identity_is_read_once(cache):
    """To know its identity it may have to look up an image; the result stores the identity."""
    asked = []

    class Asked(Scripted):
        @property
        def identity(self):
            asked.append(self)
            return f"asked {len(asked)}"

    result = TestRunner(sandbox=Asked(0), cache=cache).run(BASE, Changes(), shell("true"))

    assert (len(asked), result.sandbox_identity) == (1, "asked 1")


def test_a_sandbox_and_a_cache_can_be_named(tmp_path):
    """A value that is neither a name nor a sandbox is refused at once."""
    runner = TestRunner(sandbox="local", cache=tmp_path / "cache")

    assert runner.sandbox == LocalSandbox()
    assert runner.cache == ResultCache(tmp_path / "cache")
    for wrong in (LocalSandbox, object(), "no-such-sandbox"):
        with pytest.raises(PluginError):
            TestRunner(sandbox=wrong)


def test_finished_repeats_are_not_run_again(monkeypatch):
    """If the sandbox fails during the repeats, only the failed one is run again."""
    monkeypatch.setattr("time.sleep", lambda _: None)
    sandbox = Scripted(0, GONE, 0, 0)

    result = TestRunner(sandbox=sandbox, repeats=3).run(BASE, Changes(), shell("true"))

    assert (result.status, sandbox.runs) == (TestStatus.PASSED, 4)


def test_a_suites_own_options_may_leave_new_tests_out():
    """Tests that the suite's variables deselect are not required."""
    text = b"def test_a(): pass\ndef test_b(): assert 0\n"
    tests = Changes({"test_x.py": Entry(text)}).diff(BASE)
    env = {"PYTEST_ADDOPTS": "-k test_a", "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"}
    suite = TestSuite(command=("python", "-m", "pytest", "-q"), patch=tests, env=env)

    result = TestRunner(sandbox=LocalSandbox()).run(BASE, Changes(), suite)

    assert (result.status, result.passed_tests) == (TestStatus.PASSED, 1)


# --- a sandbox that fails ---------------------------------------------------

GONE = SandboxError("the engine does not answer")


def test_a_sandbox_that_recovers_is_tried_again(monkeypatch):
    """The result does not show the earlier failures."""
    monkeypatch.setattr("time.sleep", lambda _: None)
    sandbox = Scripted(GONE, GONE, 0)

    result = TestRunner(sandbox=sandbox).run(BASE, Changes(), shell("true"))

    assert (result.status, sandbox.runs) == (TestStatus.PASSED, 3)


@pytest.mark.parametrize("retries", [0, 1, 2])
def test_the_result_of_a_broken_sandbox_is_not_cached(monkeypatch, retries):
    """Such a result says nothing about the code, so the next evaluation tries again."""
    monkeypatch.setattr("time.sleep", lambda _: None)
    sandbox = Scripted(*[GONE] * (retries + 1), 0)
    runner = TestRunner(sandbox=sandbox, retries=retries)

    first = runner.run(BASE, Changes(), shell("true"))
    second = runner.run(BASE, Changes(), shell("true"))

    assert first.status is TestStatus.INFRASTRUCTURE_ERROR
    assert first.reason == f"the engine does not answer; tried {retries + 1} times"
    assert not first.was_run
    assert second.status is TestStatus.PASSED


def test_a_sandbox_without_an_identity_gives_a_result(monkeypatch):
    """Its container engine may be down, for example."""
    monkeypatch.setattr("time.sleep", lambda _: None)

    class Down(Scripted):
        @property
        def identity(self):
            raise GONE

    result = TestRunner(sandbox=Down(0)).run(BASE, Changes(), shell("true"))

    assert result.status is TestStatus.INFRASTRUCTURE_ERROR


def test_a_full_disk_is_not_a_verdict(monkeypatch, tmp_path):
    """If the working tree cannot be written, that is an infrastructure error."""
    monkeypatch.setattr("time.sleep", lambda _: None)
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path / "missing"))

    result = TestRunner(sandbox=Scripted(0)).run(BASE, Changes(), shell("true"))

    assert result.status is TestStatus.INFRASTRUCTURE_ERROR
    assert "cannot be written" in result.reason


def test_lack_of_memory_is_a_status():
    """Lack of memory is a fact about the run, so the result is cached."""
    sandbox = Scripted(Execution(exit_code=-9, out_of_memory=True))
    runner = TestRunner(sandbox=sandbox)

    results = [runner.run(BASE, Changes(), shell("true")) for _ in range(2)]

    assert {each.status for each in results} == {TestStatus.OUT_OF_MEMORY}
    assert sandbox.runs == 1


# --- repeats ----------------------------------------------------------------


@pytest.mark.parametrize(
    ("codes", "policy", "status"),
    [
        ((0, 0, 0), "all", "passed"),
        ((0, 1, 0), "all", "failed"),
        ((0, 1, 0), "majority", "passed"),
        ((1, 1, 0), "majority", "failed"),
        ((1, 1, 0), "any", "passed"),
        ((1, 1, 1), "any", "failed"),
        ((0, 1), "majority", "failed"),
    ],
)
def test_a_flaky_suite_is_judged_by_the_policy(codes, policy, status):
    """The result has the policy and every status; its other fields are of a run that agrees."""
    runner = TestRunner(sandbox=Scripted(*codes), repeats=len(codes), repeat_policy=policy)

    result = runner.run(BASE, Changes(), shell("true"))

    assert result.status == status
    assert result.exit_code == (0 if status == "passed" else 1)
    assert [each == "passed" for each in result.repeats] == [code == 0 for code in codes]
    assert result.repeat_policy == policy


def test_one_run_has_no_policy():
    """A single run is not repeated, so there is nothing to judge by a policy."""
    result = TestRunner(sandbox=Scripted(0)).run(BASE, Changes(), shell("true"))

    assert (result.repeats, result.repeat_policy) == ((), None)


@pytest.mark.parametrize("options", [{"repeats": 0}, {"retries": -1}, {"repeat_policy": "most"}])
def test_invalid_options_are_rejected(options):
    """They are rejected when the runner is made."""
    with pytest.raises(ValueError, match=r"repeats|retries|most"):
        TestRunner(**options)


# --- set-up -----------------------------------------------------------------


def test_set_up_runs_first_in_the_same_tree():
    """The set-up's commands run in order, with the same variables."""
    suite = shell(
        "cat made && test $A = 1",
        setup=[("sh", "-c", "echo $A > made"), ("test", "-f", "made")],
        env={"A": "1"},
    )

    result = TestRunner(sandbox=LocalSandbox()).run(BASE, Changes(), suite)

    assert (result.status, result.output) == (TestStatus.PASSED, "1\n")


@pytest.mark.parametrize(
    ("setup", "reason"),
    [
        ([("sh", "-c", "exit 3")], "the set-up's sh -c 'exit 3' ended with exit status 3"),
        ([("true",), ("no-such-program", "it's")], "exit status 127"),
        ([("sh", "-c", "kill -9 $$")], "exit status 137"),
    ],
)
def test_a_set_up_that_fails_ends_the_run(setup, reason):
    """The run has a separate status, and the tests are not run."""
    suite = shell("touch ran; false", setup=setup)

    result = TestRunner(sandbox=LocalSandbox()).run(BASE, Changes(), suite)

    assert result.status is TestStatus.SETUP_FAILED
    assert reason in result.reason
    assert (result.cases, result.was_run, result.passed) == ((), True, False)


def test_a_forged_marker_does_not_pass():
    """The contents of the marker do not matter."""
    evil = "for f in $HOME/../setup-failed; do echo 0 0 > $f; done; exit 0"
    results = [
        TestRunner(sandbox=LocalSandbox()).run(BASE, Changes(), shell(evil, setup=setup))
        for setup in ([], [("true",)])
    ]

    assert [each.status.value for each in results] == ["passed", "setup_failed"]


def test_a_script_that_a_patch_removed_is_the_patchs_fault():
    """A program that is missing for another reason is the caller's mistake, and is raised."""
    base = Snapshot.from_files({"run.sh": Entry(b"#!/bin/sh\n", 0o100755)})
    suite = TestSuite(command=("./run.sh",), framework="exit")
    runner = TestRunner(sandbox=LocalSandbox())

    assert runner.run(base, Changes(), suite).status is TestStatus.PASSED
    gone = runner.run(base, Changes({"run.sh": None}), suite)
    assert gone.status is TestStatus.SETUP_FAILED
    assert "./run.sh" in gone.reason
    for program in ("no-such-program", "./no-such.sh"):
        with pytest.raises(TestRunError, match="no-such"):
            runner.run(base, Changes(), TestSuite(command=(program,), framework="exit"))


def test_a_missing_program_in_a_script_is_a_set_up_failure():
    """The shell's exit status shows it, and no result was written."""
    suite = TestSuite(command=("sh", "-c", "no-such-program"))

    result = TestRunner(sandbox=LocalSandbox()).run(BASE, Changes(), suite)

    assert result.status is TestStatus.SETUP_FAILED
    assert "program is missing" in result.reason


# --- patches instead of a tree ----------------------------------------------


def test_a_command_can_apply_the_patches_itself(git, tmp_path):
    """A benchmark's image does so: first the feature, then the tests, both as git diffs."""
    base = Snapshot.from_files({"f": b"1\n2\n3\n", "bin": bytes(range(256))})
    changes = Changes(
        {"f": Entry(b"0\n2\n3\n"), "bin": Entry(bytes(300)), "x": Entry(b"#!", 0o100755)}
    )
    tests = Changes({"f": Entry(b"1\n2\n4\n"), "t": Entry(b"no newline")}).diff(base)
    script = f"""
set -e
cp feature.patch tests.patch {tmp_path}
mkdir repo && cd repo && git init -q . && printf '1\\n2\\n3\\n' > f && cp {tmp_path}/bin bin
git add . && git -c user.name=a -c user.email=b commit -qm m
git apply --index ../feature.patch && git apply --index ../tests.patch && git write-tree
"""
    (tmp_path / "bin").write_bytes(bytes(range(256)))
    suite = shell(script, patch=tests, delivery="patches")

    result = TestRunner(sandbox=LocalSandbox()).run(base, changes, suite)

    both = dict(changes) | {"f": Entry(b"0\n2\n4\n"), "t": Entry(b"no newline")}
    assert result.status is TestStatus.PASSED, result.output
    assert result.output.strip() == base.overlay(Changes(both)).tree_id


@pytest.mark.parametrize(
    "files",
    [
        {"a": b"1\n"},
        {"a": b"1\n2\n3\n4\n5\n6"},
        {"a": b"", "b": b"no newline", "c": b"\0\n", "d d": b"1\n", "e": b"1\r\n2\n"},
    ],
)
def test_a_patch_that_changes_nothing_is_accepted_by_git(git, files):
    """Git refuses an empty patch, and the base is tested with one that changes nothing."""
    base = Snapshot.from_files(files)
    seen = {}

    class Looking(Scripted):
        def run(self, command, *, tree, **options):  # noqa: ARG002
            seen.update({path.name: path.read_bytes() for path in tree.iterdir()})
            return Execution(exit_code=0)

    TestRunner(sandbox=Looking()).run(base, Changes(), shell("true", delivery="patches"))

    assert seen.keys() == {"feature.patch", "tests.patch"}
    entries = {path: base.get(path) for path in base.paths()}
    for patch in seen.values():
        assert patch
        assert git.apply(entries, patch) == base.tree_id


def test_a_runner_is_pickled_with_its_cache_on_disk(tmp_path):
    """The copy has its own working trees."""
    sandbox = LocalSandbox()
    runner = TestRunner(sandbox=sandbox, cache=ResultCache(tmp_path / "cache"), repeats=2)
    runner.run(BASE, Changes(), shell("true"))

    copy = pickle.loads(pickle.dumps(runner))  # noqa: S301 - our own bytes

    assert copy == runner
    assert copy.run(BASE, Changes(), shell("true")).passed
