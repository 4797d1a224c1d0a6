"""Whoever lacks an extra reads which command installs it, whatever they called."""

import json
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest
from packaging.requirements import Requirement

PYPROJECT = tomllib.loads((Path(__file__).parents[1] / "pyproject.toml").read_text())
EXTRAS = PYPROJECT["project"]["optional-dependencies"]
# The library does not import these. The sample's suites run pytest in a process of their own.
NOT_IMPORTED = {"all", "dev", "docs", "sample", "test", "test-all"}

START = """
import json, pickle, sys
from pathlib import Path

packages, uses = json.loads(sys.argv[1])
sys.modules.update(dict.fromkeys(packages))  # importing one of them fails
import cooperbench_eval as ce


def merge(path, strategy="structured"):
    base, *sides = ({path: b"let x = %d\\n" % number} for number in range(3))
    sides = [ce.Changes({path: ce.Entry(side[path])}) for side in sides]
    outcome = ce.merge(ce.Snapshot.from_files(base), *sides, strategy=strategy)
    raise ValueError(outcome.ledger[0].reason)


class Client:
    def complete(self, request):
        raise NotImplementedError


def ask_in_a_worker():
    strategy = ce.LLMStrategy("m", client=Client())
    object.__setattr__(strategy, "client", None)  # as one that was made where litellm is
    merge("a.go", pickle.loads(pickle.dumps(strategy)))


def download():
    for number in (1, 2):
        Path(f"dataset/r/task1/feature{number}").mkdir(parents=True)
    ids = dict(repo_name="r", task_id=1, feature1_id=1, feature2_id=2)
    ce.evaluate(setting="coop", model="m", patch_location="hf", dataset_dir="dataset", **ids)


def run():
    suite = ce.TestSuite(command=("true",))
    runner = ce.TestRunner(sandbox=ce.ContainerSandbox(image="a:1"))
    raise ValueError(runner.run(ce.Snapshot.from_files({}), ce.Changes({}), suite).reason)


def reports():
    features = [ce.Feature(number=number, patch=b"") for number in (1, 2)]
    base = ce.Snapshot.from_files({})
    two = dict(feature1=features[0], feature2=features[1])
    return [ce.Evaluator().evaluate(ce.FeaturePair(repo_name="r", task_id=1, base=base, **two))]


found = []
for use in uses:
    try:
        exec(use)
        found.append("nothing was raised")
    except Exception as exc:
        found.append(str(exc))
print(json.dumps(found))
"""
USES = {
    "containers": [
        "ce.running.repository_from_image('a:1', 'bases')",
        "ce.running.reap_containers()",
        "run()",
    ],
    "hf": ["download()"],
    "languages": [f"merge('a{suffix}')" for suffix in (".go", ".js", ".jsx", ".rs", ".ts", ".tsx")],
    "llm": [
        "ce.get_strategy('llm', model='m')",
        "ce.LLMStrategy('m')",
        "ce.LLMStrategy('m', cassette='folder')",
        "ask_in_a_worker()",
    ],
    "pandas": ["ce.to_pandas(reports())"],
    "plots": [
        "ce.plots.plot_matrix(reports())",
        "ce.plots.plot_tries(reports(), 'strict')",
        "ce.plots.plot_verdicts(ce.summarize(reports()))",
    ],
    "polars": ["ce.analysis.to_polars(reports())"],
    "rich": ["ce.analysis.Rate(1, 2).__rich__()"],
    "testing": ["ce.testing.check_strategy('naive')"],
}


def try_without(extra, uses, folder):
    """Return the message of each use in a program that lacks the packages of an extra."""
    packages = [Requirement(each).name.replace("-", "_") for each in EXTRAS[extra]]
    done = subprocess.run(
        [sys.executable, "-c", START, json.dumps([packages, uses])],
        cwd=folder,
        capture_output=True,
        text=True,
        check=False,
    )
    assert not done.returncode, done.stderr
    return json.loads(done.stdout)


@pytest.mark.parametrize("extra", sorted(EXTRAS.keys() - NOT_IMPORTED))
def test_a_missing_extra_names_its_command(extra, tmp_path):
    """Every public call that needs it does, of every extra that the library imports."""
    for use, message in zip(USES[extra], try_without(extra, USES[extra], tmp_path), strict=True):
        assert f"pip install 'cooperbench-eval[{extra}]'" in message, use


def test_a_strategy_that_does_not_ask_litellm_needs_no_extra(tmp_path):
    """It has a client of its own, or it only replays what was recorded."""
    uses = [
        "ce.LLMStrategy('m', client=Client())",
        "ce.LLMStrategy('m', cassette='folder', replay='replay')",
        "assert 'llm' in ce.available_strategies()",
    ]

    assert try_without("llm", uses, tmp_path) == ["nothing was raised"] * 3


def test_all_has_every_extra_for_users():
    """It leaves out only what develops the library."""
    [everything] = EXTRAS["all"]

    assert Requirement(everything).extras == EXTRAS.keys() - {
        *("all", "dev", "docs", "test", "test-all")
    }
