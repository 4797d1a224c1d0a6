"""Grades three samples in inspect_ai in one process, for the tests that read the log."""

import sys
from pathlib import Path

import attrs
from processparts import EXAMPLES

sys.path.insert(0, str(EXAMPLES))

import inspect_scorer as example
from inspect_ai import eval as evaluate
from inspect_ai.dataset import MemoryDataset

import cooperbench_eval as ce


@attrs.frozen
class FailingSandbox:
    """A sandbox that never works."""

    name: str = "failing"
    identity: str = "failing"

    def run(self, command, **_):
        """Fail."""
        raise ce.errors.SandboxError("there is no engine", tuple(command))


def altered(task):
    """Return a sample of the example, a copy without a patch, and one that is not a pair."""
    saved = task.dataset[0]
    missing = saved.model_copy(deep=True)
    missing.id = "missing"
    missing.metadata["patches"][0] = ""
    error = saved.model_copy(deep=True)
    error.id = "error"
    error.metadata["features"] = [1, 1]
    return [saved, missing, error]


def main():
    """Write a log, and the example's result with a sandbox that does not work."""
    folder = Path(sys.argv[1])
    task = example.merged_pairs()
    pair = example.pair_of(task.dataset[0].metadata)
    runner = ce.TestRunner(sandbox=FailingSandbox(), retries=0)
    score = example.score_of(ce.Evaluator(runner=runner).evaluate(pair))
    (folder / "unscored.json").write_text(score.model_dump_json())

    task.dataset = MemoryDataset(altered(task))
    options = {"model": "mockllm/model", "log_format": "json", "display": "none"}
    evaluate(task, log_dir=str(folder), fail_on_error=False, **options)


if __name__ == "__main__":
    main()
