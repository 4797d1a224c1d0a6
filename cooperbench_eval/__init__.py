"""Merge what two coding agents wrote, run both features' tests, and say how it went.

The evaluation phase of the CooperBench benchmark (arXiv 2601.13295) as a library: a base
commit and two patches go in, a typed `MergeReport` comes out.

Start here
----------
Evaluate one pair of features, with whatever made the patches:

    import cooperbench_eval as ce

    base = ce.Snapshot.from_repo("path/to/repo", "d791537")
    pair = ce.FeaturePair(
        repo_name="click",
        task_id=2068,
        base=base,
        feature1=ce.Feature(number=1, patch=patch1, tests=suite1),
        feature2=ce.Feature(number=2, patch=patch2, tests=suite2),
    )
    runner = ce.TestRunner(sandbox=ce.default_sandbox())
    report = ce.Evaluator(strategies=["naive", "union"], runner=runner).evaluate(pair)
    print(report)

By task, what to call first:

- evaluate a task of CooperBench's dataset: `evaluate`; all of its pairs: `gold_matrix`;
  everything that a run of agents wrote: `evaluate_run`
- evaluate many pairs of your own, in parallel, and resume: `evaluate_many`, `ReportStore`
- look at the results: `print(report)`, `summarize`, `write_page`, `to_pandas`
- keep a report: `write_report`, `MergeReport.to_json`
- read a patch and place it on a tree: `Patch.parse`, `apply_patch`
- merge without any tests: `merge`, and `ConflictScorer` for the score
- write a strategy: `resolve_conflicts`, `MergeStrategy`, `ce.testing.check_strategy`
- find the hunks that made a merge lose tests: `explain`
- find out which patches can land together, and in what order: `land`

The rest is in these modules, which `import cooperbench_eval as ce` makes available:

- `ce.errors`: every exception; `CooperBenchEvalError` is the base of all
- `ce.models`: the records in a report: test cases, conflicts, hazards
- `ce.patching`: the parts of a patch, and how it is placed
- `ce.strategies`: what a merge strategy receives and returns
- `ce.llm`: clients, prompts and recordings for the strategy `llm`
- `ce.running`: sandboxes, suites and the results of commands
- `ce.reporting`: the parts of reports, explanations and landing plans
- `ce.batch`: progress of a batch, and its store
- `ce.analysis`: facts, counts, rates, policies and tables of many reports
- `ce.plots`: figures
- `ce.runlogs`: the agents' run logs, and the results of CooperBench's evaluator
- `ce.testing`: checks for the authors of strategies and sandboxes
"""

import lazy_loader

# `__init__.pyi` lists the public names. Each is imported from its module on first use, so
# that importing the library is fast and a script loads only what it needs.
_get_public, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)


def __getattr__(name: str) -> object:
    """Return a public name, or with a warning one that used to be public here."""
    try:
        return _get_public(name)
    except AttributeError:
        if name.startswith("_"):
            raise
        from cooperbench_eval.moved import get_moved, has_moved  # noqa: PLC0415 - rarely used

        if not has_moved(name):
            raise
    return get_moved(name)
