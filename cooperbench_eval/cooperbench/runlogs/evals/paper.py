"""The two JSON reports of the paper's pipeline."""

from typing import Final

from attrs import field, frozen, validators

from cooperbench_eval.cooperbench.runlogs.evals.document import Document, Merge, is_count, reason
from cooperbench_eval.reporting.cooperbench_results import CooperBenchResult
from cooperbench_eval.reporting.settings import Setting

__all__ = ["paper_merge", "paper_solo"]

_STRATEGIES: Final = ("naive", "union", "llm")


@frozen(kw_only=True)
class _PaperHead:
    repo_name: str = field(validator=validators.min_len(1))
    task_id: int = field(validator=is_count)
    generated_at: str | None = None


@frozen(kw_only=True)
class _PaperFeature:
    number: int
    naive_merge_test_passed: bool | None = None
    union_merge_test_passed: bool | None = None
    llm_merge_test_passed: bool | None = None


@frozen(kw_only=True)
class _PaperFeatures:
    feature1: _PaperFeature
    feature2: _PaperFeature


@frozen(kw_only=True)
class _PaperError:
    message: str | None = None


@frozen(kw_only=True)
class _PaperFile:
    metadata: _PaperHead
    features: _PaperFeatures
    merge_analysis: Merge | None = None
    error: _PaperError | None = None


@frozen(kw_only=True)
class _SoloFile:
    task_name: str = field(validator=validators.min_len(1))
    task_id: int = field(validator=is_count)
    feature1_id: int
    feature2_id: int
    feature1_test_passed: bool | None = None
    feature2_test_passed: bool | None = None
    both_tests_passed: bool | None = None


def paper_merge(document: Document, setting: Setting | None) -> CooperBenchResult:
    """Read a merge report of the paper's pipeline.

    The pipeline tests naive first, then union, then the model's merge, until one passes.
    The result here is the first merge that passed both, or the last one that was tested.
    """
    found = document.read(_PaperFile)
    document.require_keys(document.values["features"], {"feature1", "feature2"})
    sides = (found.features.feature1, found.features.feature2)
    features = document.features(sides[0].number, sides[1].number)
    merge = found.merge_analysis or Merge()
    merge_strategy: str | None = None
    passed: tuple[bool | None, ...] = (None, None)
    for strategy in _STRATEGIES:
        shown = tuple(getattr(side, f"{strategy}_merge_test_passed") for side in sides)
        if None not in shown:
            merge_strategy, passed = strategy, shown
            if all(shown):
                break
    error = None
    if "error" in document.values:
        error = (found.error and found.error.message) or ""
    return document.evaluation(
        features,
        repo_name=found.metadata.repo_name,
        task_id=found.metadata.task_id,
        setting=setting,
        merge_status=merge.status,
        merge_strategy=merge_strategy,
        passed=dict(zip(features, passed, strict=True)),
        both_passed=all(passed) if merge_strategy else None,
        error=reason(error),
        evaluated_at=found.metadata.generated_at or "",
    )


def paper_solo(document: Document) -> CooperBenchResult:
    """Read the result of a solo agent's tests, as the paper's pipeline writes it."""
    found = document.read(_SoloFile)
    features = document.features(found.feature1_id, found.feature2_id)
    passed = (found.feature1_test_passed, found.feature2_test_passed)
    return document.evaluation(
        features,
        repo_name=found.task_name,
        task_id=found.task_id,
        setting=Setting.SOLO,
        passed=dict(zip(features, passed, strict=True)),
        both_passed=found.both_tests_passed,
    )
