"""The record `UsedOptions`: with which options a question was asked."""

from collections.abc import Collection

from attrs import field, frozen

from cooperbench_eval.git.merging.conflicts import ConflictScorer
from cooperbench_eval.git.patching.patch_parts import ApplyPolicy
from cooperbench_eval.git.patching.path_kinds import TestFileFilter
from cooperbench_eval.running.results import JudgeRule
from cooperbench_eval.support.arguments import named_fields
from cooperbench_eval.support.error_texts import listed


@frozen(kw_only=True, field_transformer=named_fields)
class UsedOptions:
    """The options with which a result was found, defaults included.

    Attributes:
        strategies: The names of the merge strategies.
        judge: Which cases must pass.
        apply_policy: How leniently patches were placed.
        test_filter: Which test files of the agents were dropped; `None` if all were kept.
        sandbox: The name of the sandbox in which the suites ran; `None` if no suite ran.
        repeats: How often the runner repeats each run of a suite.
        scorer: Measures conflicts; `None` if nothing was measured, or by a scorer of another class.
    """

    strategies: tuple[str, ...] = field(converter=tuple[str, ...])
    judge: JudgeRule = field(converter=JudgeRule)
    apply_policy: ApplyPolicy
    test_filter: TestFileFilter | None = None
    sandbox: str | None = None
    repeats: int = 1
    scorer: ConflictScorer | None = None


def about_dropped(paths: Collection[str]) -> tuple[str, ...]:
    """Return a sentence about the test files of agents that were dropped; none if none was."""
    if not paths:
        return ()
    files, were = ("test file", "was") if len(paths) == 1 else ("test files", "were")
    what = f"{len(paths)} {files} of the agents {were} dropped: {listed(paths)}."
    return (f"{what} The suites' own tests judge.",)
