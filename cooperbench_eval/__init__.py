r"""Start here: merge what two coding agents wrote, test the result, and report how it went.

This is the evaluation phase of the CooperBench benchmark (arXiv 2601.13295) as a library: a
base and two patches go in, a typed `MergeReport` comes out.

    >>> import cooperbench_eval as ce
    >>> base = ce.Snapshot.from_files({"greet.py": b"print('hello')\n"})
    >>> one = ce.Changes({"greet.py": ce.Entry(b"print('hi')\n")})
    >>> two = ce.Changes({"greet.py": ce.Entry(b"print('hey')\n")})
    >>> pair = ce.FeaturePair(
    ...     repo_name="greetings",
    ...     task_id=1,
    ...     base=base,  # or ce.Snapshot.from_repo("path/to/clone", "d791537")
    ...     feature1=ce.Feature(number=1, patch=one),  # or a diff; tests=ce.TestSuite(...)
    ...     feature2=ce.Feature(number=2, patch=two),
    ... )
    >>> report = ce.Evaluator(strategies=["naive", "union"]).evaluate(pair)
    >>> print(report)
    greetings/1: feature 1 merged into feature 2
    ...
    strategy  merge      verdict    to blame      tests of 1  tests of 2
      naive   conflicts  unhandled  the conflict
      union   resolved   not run    not known

What to call first:

- To run the tests too: give each `Feature` a `TestSuite`, and the `Evaluator` a
  `TestRunner()`.
- To evaluate pairs of CooperBench's dataset: `Dataset("dataset").task(...)`, and its `pair`
  and `all_pairs`; `evaluate` for one pair of a run, `evaluate_run` for all of them.
- To evaluate many pairs, in parallel, and to resume: `evaluate_many`, with a `ReportStore`.
- To look at reports: `print`, `summarize`, `compare`, `write_page`, `to_pandas`.
- To keep a report: `write_report`, or `MergeReport.to_json` and `from_json`.
- To read a patch and place it on a tree: `Patch.read`, `apply_patch`.
- To merge without an evaluation: `merge`, and `ConflictScorer` for the score.
- To write a strategy: `resolve_conflicts`, and `ce.testing.check_strategy` to check it.
- To find out why a merge lost tests: `explain`.
- To find out which patches can land together, and in what order: `land`.
- To find out how live branches and worktrees merge at this moment: `probe`.
- To find out whose work is in a tree that somebody else merged: `audit`, and `provenance`
  for the origin of each line.
- To rank teams, or to write the reward of a training run: `rank`, `write_reward`.

Names that are needed less often are in modules, which need no separate import:

- `ce.analysis`: statistics over many reports: facts, rates, policies, tables
- `ce.batch`: the progress of a batch, and its store
- `ce.errors`: every exception; `CooperBenchEvalError` is the base of all
- `ce.llm`: clients, prompts and recordings for the strategy `llm`
- `ce.models`: records that several results share: test cases, conflicts, hazards
- `ce.patching`: the parts of a patch, and how it is placed
- `ce.plots`: figures; they need the extra `plots`
- `ce.reporting`: the parts of reports, explanations, landing plans, probes and audits
- `ce.runlogs`: the agents' run logs, and the results of CooperBench's evaluator
- `ce.running`: sandboxes, suites and the results of commands
- `ce.strategies`: what a merge strategy gets and returns
- `ce.testing`: checks for the authors of strategies and sandboxes
"""

import importlib
import sys
from typing import Final

import lazy_loader

from cooperbench_eval.support import upcalls

# `__init__.pyi` lists the public names. Each is imported from its module on first use, so
# that importing the library is fast and a script loads only what it needs.
_get_public, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)

_PUBLIC_PACKAGES: Final = {
    "batch": "evaluation.batch",
    "llm": "strategies.llm",
    "models": "reporting.models",
    "patching": "git.patching",
    "plots": "presentation.plots",
    "runlogs": "cooperbench.runlogs",
}
"""The public modules inside other packages, with their places."""


upcalls.connect(
    view=f"{__name__}.presentation.views:view_of",
    reward=f"{__name__}.analysis.rewards:reward_of",
    audit_reward=f"{__name__}.analysis.rewards:reward_of_audit",
)


def __getattr__(name: str) -> object:
    """Return a public name; Python suggests one that may have been meant."""
    if name in _PUBLIC_PACKAGES:
        return importlib.import_module(f"{__name__}.{_PUBLIC_PACKAGES[name]}")
    try:
        return _get_public(name)
    except AttributeError as exc:
        problem = f"module {__name__!r} has no attribute {name!r}"
        # Python looks in `obj` for the name that was meant.
        raise AttributeError(problem, name=name, obj=sys.modules[__name__]) from exc
