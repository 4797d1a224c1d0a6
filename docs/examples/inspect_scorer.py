"""Grades pairs of patches in inspect_ai.

    python docs/examples/inspect_scorer.py [--log-dir DIR]
    inspect eval docs/examples/inspect_scorer.py --model mockllm/model

A sample is a pair: its metadata has the pair's identity and its two patches. The samples
here are pairs of the bundled sample task with the task's own solutions, so no model is
asked; in your own harness, a solver would let agents write the patches.
"""

import argparse
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from inspect_ai import Task, eval, task  # noqa: A004 - that is its name
from inspect_ai.dataset import MemoryDataset, Sample
from inspect_ai.scorer import (
    CORRECT,
    INCORRECT,
    NOANSWER,
    Score,
    Scorer,
    Target,
    accuracy,
    scorer,
    stderr,
)
from inspect_ai.solver import Generate, Solver, TaskState, solver
from inspect_ai.util import concurrency

import cooperbench_eval as ce

SAMPLE = Path(__file__).resolve().parent / "sample"
TASK = ce.Dataset(SAMPLE / "dataset").task("pennybook_task", 1)
BASE = ce.Snapshot.from_dir(SAMPLE / "base")
PAIRS = ((1, 2), (2, 5))
# Pytest plug-ins that happen to be installed here are not part of the task.
ENV = {"PYTHONPATH": "src", "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"}


def sample_of(features: tuple[int, int]) -> Sample:
    """Make a sample of a pair's identity and patches."""
    first, second = features
    return Sample(
        id=f"f{first}_f{second}",
        input=f"Write features {first} and {second} of {TASK.repo_name}.",
        metadata={
            "features": list(features),
            "patches": [TASK.gold_patch(number).data.decode() for number in features],
        },
    )


def pair_of(metadata: dict[str, Any]) -> ce.FeaturePair:
    """Make the pair of a sample; agents have no influence on its tests."""
    first, second = (
        ce.Feature(number=number, patch=patch, tests=TASK.suite(number, env=ENV))
        for number, patch in zip(metadata["features"], metadata["patches"], strict=True)
    )
    return ce.FeaturePair(
        repo_name=TASK.repo_name, task_id=TASK.task_id, base=BASE, feature1=first, feature2=second
    )


def value_of(attempt: ce.Attempt, blame: ce.Blame) -> str | float:
    """Return a strategy's verdict as a value of inspect; NaN does not count."""
    if blame.kind is ce.reporting.BlameKind.MISSING_SIDE:
        return INCORRECT  # an agent's patch is empty or does not apply
    return {
        ce.Verdict.CORRECT: CORRECT,
        ce.Verdict.INCORRECT: INCORRECT,
        ce.Verdict.UNHANDLED: NOANSWER,
        ce.Verdict.NOT_RUN: float("nan"),
    }[attempt.verdict]


def score_of(report: ce.MergeReport) -> Score:
    """Turn a report into a score, with one value for each strategy."""
    blames = {each.strategy: report.blame(each.strategy) for each in report.attempts}
    told = "\n".join(
        f"{each.strategy}: {each.verdict}, {blames[each.strategy].kind}" for each in report.attempts
    )
    facts = {"report": report.to_dict()}
    if not report.is_final:  # for example, a sandbox failed: no verdict on the agents
        return Score.unscored(explanation=f"not to be judged here\n{told}", metadata=facts)
    values = {each.strategy: value_of(each, blames[each.strategy]) for each in report.attempts}
    return Score(value=values, explanation=told, metadata=facts)


@scorer(metrics={"*": [accuracy(), stderr()]})
def merged(strategies: Sequence[str] = ("naive", "union"), at_a_time: int = 2) -> Scorer:
    """Grade a pair by its verdict under each merge strategy.

    If a sample is cancelled, for example at its time limit, its test runs end too. An
    exception from `aevaluate` is not a verdict: inspect records it as the sample's error.
    """
    evaluator = ce.Evaluator(strategies=strategies, runner=ce.TestRunner())

    async def score(state: TaskState, target: Target) -> Score:  # noqa: ARG001 - inspect's
        async with concurrency("cooperbench_eval", at_a_time):
            return score_of(await evaluator.aevaluate(pair_of(state.metadata)))

    return score


@solver
def patches_of_the_sample() -> Solver:
    """Do nothing, because the patches exist. In a harness, agents would write them here."""

    async def solve(state: TaskState, generate: Generate) -> TaskState:  # noqa: ARG001 - inspect's
        return state

    return solve


@task
def merged_pairs() -> Task:
    """Grade pairs of the sample task's own solutions."""
    samples = [sample_of(features) for features in PAIRS]
    return Task(dataset=MemoryDataset(samples), solver=patches_of_the_sample(), scorer=merged())


def main() -> None:
    """Run the task and print inspect's results."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--log-dir", default="logs", help="where inspect writes its log")
    options = parser.parse_args()
    [log] = eval(merged_pairs(), model="mockllm/model", log_dir=options.log_dir, display="none")
    for sample in log.samples or ():
        for each in (sample.scores or {}).values():
            print(sample.id, each.value)
    for result in log.results.scores if log.results else ():
        print(result.name, "accuracy", round(result.metrics["accuracy"].value, 2))


if __name__ == "__main__":
    main()
