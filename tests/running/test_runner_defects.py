"""Defects of the harness that this library replaces, which this library does not have.

The numbers are those of our list of these defects. Defects in reading results are tested
with each reader, forged results in `test_forgery.py`, containers in `test_container.py`.
"""

import subprocess
import sys
import time

import pytest

import cooperbench_eval as ce

BASE = ce.Snapshot.from_files({".gitignore": b"build/\n", "f": b"1\n"})
SANDBOXES = [ce.LocalSandbox(), ce.default_sandbox()]


def shell(script, **options):
    """Return a suite that passes if a shell script does."""
    return ce.TestSuite(command=("sh", "-c", script), framework="exit", **options)


def test_24_ignored_files_of_a_run_do_not_reach_the_next():
    """No file of a run does, whatever `.gitignore` says."""
    runner = ce.TestRunner(cache=None)
    suite = shell("test ! -e build && mkdir build && touch build/x && ls -a | tr '\\n' ' '")

    results = [runner.run(BASE, ce.Changes(), suite) for _ in range(2)]

    assert [each.output for each in results] == [". .. .gitignore build f "] * 2


@pytest.mark.parametrize("sandbox", SANDBOXES, ids=lambda each: each.name)
def test_25_a_deadline_ends_the_run_when_it_passes(sandbox, survivors):
    """The run ends at once, and the command is killed."""
    runner = ce.TestRunner(sandbox=sandbox)
    started = time.monotonic()

    result = runner.run(BASE, ce.Changes(), shell("trap '' TERM; sleep 987.25", timeout_seconds=1))

    assert result.status is ce.TestStatus.TIMED_OUT
    assert time.monotonic() - started < 8
    assert survivors("987.25", within_seconds=2) == []


def test_26_a_patch_may_exceed_the_size_of_an_argument():
    """No patch is passed on a command line."""
    big = ce.Changes({"big": ce.Entry(b"x" * 99 + b"\n")})
    text = b"".join(b"%07d\n" % n for n in range(60_000))
    tests = ce.Changes({"tests": ce.Entry(text)}).diff(BASE)

    result = ce.TestRunner().run(BASE, big, shell("wc -c < tests", patch=tests))

    assert (result.status, result.output.strip()) == (ce.TestStatus.PASSED, "480000")


def test_28_a_deadline_covers_one_run_in_every_sandbox():
    """It includes the set-up, but not the merge or another run."""
    suite = shell("sleep 0.1", setup=[("sleep", "0.1")], timeout_seconds=20)

    for sandbox in SANDBOXES:
        runner = ce.TestRunner(sandbox=sandbox, cache=None)
        results = [runner.run(BASE, ce.Changes(), suite) for _ in range(2)]
        assert [each.status for each in results] == [ce.TestStatus.PASSED] * 2
        assert all(0.2 <= each.duration_seconds < 10 for each in results)


def test_29_a_lost_patch_is_never_replaced_by_another():
    """No patch was submitted, so nothing is merged and no test result is invented."""
    solved = ce.Changes({"f": ce.Entry(b"2\n")}).diff(BASE)
    features = [
        ce.Feature(number=n, patch=patch, tests=shell("grep 2 f"))
        for n, patch in ((1, b""), (2, solved))
    ]
    pair = ce.FeaturePair(
        repo_name="r", task_id=0, base=BASE, feature1=features[0], feature2=features[1]
    )

    report = ce.Evaluator(strategies=["naive"], runner=ce.TestRunner()).evaluate(pair)

    assert report.merge_status is ce.reporting.PairStatus.MISSING_INPUT
    assert report.feature1.tests is None
    assert report.attempt("naive").verdict is ce.Verdict.NOT_RUN
    assert report.blame("naive").features == (1,)


def test_32_an_engine_that_was_down_once_is_asked_again(tmp_path, monkeypatch):
    """Its error is a result that is not kept; a kept result is complete or absent."""
    monkeypatch.setattr("time.sleep", lambda _: None)
    cache = ce.ResultCache(tmp_path / "results.sqlite")
    down = ce.ContainerSandbox(image="any", base_url=f"unix://{tmp_path}/no-engine", pull=False)

    first = ce.TestRunner(sandbox=down, cache=cache).run(BASE, ce.Changes(), shell("true"))
    second = ce.TestRunner(sandbox=ce.LocalSandbox(), cache=cache).run(
        BASE, ce.Changes(), shell("true")
    )

    assert first.status is ce.TestStatus.INFRASTRUCTURE_ERROR
    assert second.passed


def test_40_no_name_of_ours_is_collected_as_a_test(tmp_path):
    """A module may import all public names and define a test of its own."""
    (tmp_path / "test_theirs.py").write_text(
        "from cooperbench_eval import *\nfrom cooperbench_eval.reporting.models import *\n"
        "def test_theirs(): assert TestRunner and TestSuite and TestCase\n"
    )

    done = subprocess.run(
        (sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "-W", "error"),
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
    )

    assert done.stdout.splitlines()[-1].startswith("1 passed"), done.stdout
