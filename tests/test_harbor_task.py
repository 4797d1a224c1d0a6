"""The example task for Harbor: its verifier is run on trees that an agent might leave."""

import json
import math
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest
from needs import need_program

import cooperbench_eval as ce

TASK = Path(__file__).parents[1] / "docs" / "examples" / "harbor-task"


def git(folder, *arguments):
    """Run git in a folder."""
    identity = ("-c", "user.name=a", "-c", "user.email=a@example.org")
    subprocess.run(["git", *identity, *arguments], cwd=folder, check=True, capture_output=True)


@pytest.fixture
def app(tmp_path):
    """Build the repository as the task's Dockerfile does, without its image."""
    need_program("git")
    folder = tmp_path / "app"
    shutil.copytree(TASK / "environment" / "base", folder)
    git(folder, "init", "-q", "-b", "main")
    git(folder, "add", "-A")
    git(folder, "commit", "-qm", "base")
    for agent in ("agent-1", "agent-2"):
        git(folder, "checkout", "-qb", agent, "main")
        git(folder, "apply", TASK / "environment" / f"{agent}.patch")
        git(folder, "commit", "-qam", agent)
    git(folder, "checkout", "-q", "main")
    return folder


def verify(app, tests=TASK / "tests"):
    """Run the verifier as the task's script does; return how it ended, and its folder."""
    out = app.parent / "verifier"
    command = [sys.executable, tests / "verify.py", "--tests", tests, "--integrated", app]
    done = subprocess.run(
        [*command, "--out", out], capture_output=True, text=True, timeout=120, check=False
    )
    return done, out


def integrate(app):
    """Run the task's own solution."""
    script = (TASK / "solution" / "solve.sh").read_text().replace("/app", str(app))
    identity = {"GIT_AUTHOR_NAME": "a", "GIT_AUTHOR_EMAIL": "a@example.org"}
    identity |= {key.replace("AUTHOR", "COMMITTER"): value for key, value in identity.items()}
    path = {"PATH": "/usr/local/bin:/usr/bin:/bin"}
    subprocess.run(["bash", "-c", script], check=True, capture_output=True, env=identity | path)


def reward_after(app):
    """Return the reward that the verifier writes."""
    done, out = verify(app)
    assert done.returncode == 0, done.stdout + done.stderr
    return json.loads((out / "reward.json").read_text())


def test_the_oracle_is_worth_one(app):
    """Its script resolves the conflict, and both features' tests pass on what it leaves."""
    integrate(app)

    reward = reward_after(app)

    assert reward["reward"] == reward["score"] == reward["pass_rate"] == 1.0
    assert reward["regression_passed"] == reward["complete"] == 1.0
    # What Harbor 0.26.0 accepts: an object of finite numbers.
    assert all(type(each) in {int, float} and math.isfinite(each) for each in reward.values())


def test_tests_of_the_agent_give_way_to_those_of_the_features(app):
    """They have the same name. Right work stays right, and idle work stays wrong."""
    (app / "test_discount.py").write_text("def test_nothing():\n    pass\n")

    assert reward_after(app)["reward"] == 0.0
    integrate(app)
    assert reward_after(app)["reward"] == 1.0


def test_an_idle_agent_that_forges_a_run_is_worth_nothing(app):
    """The base has neither feature, and its conftest.py is not in the tree whose tests run."""
    (app / "conftest.py").write_text("import os\nprint('2 passed')\nos._exit(0)\n")

    reward = reward_after(app)

    assert (reward["reward"], reward["features_passed"]) == (0.0, 0.0)
    assert (reward["regression_passed"], reward["kept_lines"]) == (1.0, 0.0)


def test_one_side_alone_is_worth_nothing(app):
    """The other agent's work is lost, which the graded numbers show."""
    git(app, "merge", "-q", "agent-1")

    reward = reward_after(app)

    assert (reward["reward"], reward["features_passed"], reward["complete"]) == (0.0, 0.5, 0.0)
    assert reward["lost_lines"] > 0


def test_a_verifier_that_has_no_answer_writes_no_reward(app, tmp_path):
    """Harbor then records an error for the trial instead of a failure of the agent."""
    tests = tmp_path / "tests"
    shutil.copytree(TASK / "tests", tests)
    script = (tests / "verify.py").read_text()
    (tests / "verify.py").write_text(script.replace('"python3", "-m", "pytest"', '"no-such-tool"'))

    done, out = verify(app, tests)

    assert done.returncode == 1
    assert "no reward" in done.stderr
    assert not (out / "reward.json").exists()


def test_the_verifier_has_its_own_copies_of_what_the_agent_got():
    """An agent may change its files, so the verifier's must be others with the same contents."""
    names = ["base/prices.py", "base/test_prices.py", "agent-1.patch", "agent-2.patch"]
    for name in names:
        given, kept = TASK / "environment" / name, TASK / "tests" / name
        assert given.read_bytes() == kept.read_bytes()
    script = (TASK / "tests" / "test.sh").read_text()
    assert "--tests /tests --integrated /app --out /logs/verifier" in script
    config = tomllib.loads((TASK / "task.toml").read_text())
    assert config["environment"]["workdir"] == "/app"


def test_the_agents_branches_conflict():
    """Otherwise there would be nothing to integrate."""
    base = ce.Snapshot.from_dir(TASK / "tests" / "base")
    sides = [
        ce.apply_patch(base, ce.Patch.read(TASK / "tests" / f"agent-{number}.patch")).changes
        for number in (1, 2)
    ]

    assert ce.merge(base, *sides).status is ce.MergeStatus.CONFLICTED
