"""The `eval.json` of CooperBench's runners."""

from typing import Final

from attrs import field, fields, frozen, validators

from cooperbench_eval.cooperbench.runlogs.evals.document import Document, Merge, is_count, reason
from cooperbench_eval.reporting.cooperbench_results import CooperBenchResult
from cooperbench_eval.reporting.settings import Setting

__all__ = ["of_runner"]

_TESTED: Final = ("feature1", "feature2")
"""The keys of the features that the runners test, however many features there are."""


@frozen(kw_only=True)
class _Tests:
    """One feature's tests. Without a tree to test, the exit status is `None`."""

    feature_id: int | None = None
    passed: bool | None = None
    exit_code: int | None = 0
    tests_passed: int | None = field(default=None, validator=validators.optional(is_count))
    tests_failed: int | None = field(default=None, validator=validators.optional(is_count))


@frozen(kw_only=True)
class _RunnerFile:
    """An `eval.json`; its features are read separately, because an error leaves them open."""

    repo: str = field(validator=validators.min_len(1))
    task_id: int = field(validator=is_count)
    features: tuple[int, ...]
    merge: Merge | None = None
    apply_status: dict[str, str] | None = None
    both_passed: bool | None
    error: str | None = None
    evaluated_at: str | None = None


_TEAM_KEYS: Final = {
    "": frozenset(each.name for each in fields(_RunnerFile)) | {"setting", *_TESTED},
    "apply_status": frozenset({"agent1", "agent2"}),
    "merge": frozenset({"status", "strategy", "diff"}),
}
"""The keys that files about more than two features have, and those of two objects in them.

The published versions drop the other agents' patches. A format that tests them has more
keys, whose meaning nobody has fixed yet.
"""


def of_runner(document: Document, setting: Setting | None) -> CooperBenchResult:
    """Read an `eval.json`.

    For more than two features, the runners merge and test the first two, and list the
    others without results.
    """
    found = document.read(_RunnerFile)
    merge = found.merge or Merge()
    if setting is None and document.values.get("setting") is not None:
        setting = document.read(Setting, "setting")
    error = found.error
    if error is None and merge.status == "error":
        error = ""
    features = document.features(*found.features)
    if len(features) > len(_TESTED):
        _require_known_keys(document)
    tests = {number: _Tests() for number in features}
    if error is None:
        for key, number in zip(_TESTED, features, strict=False):
            tests[number] = _tests(document, key, number)
    return document.evaluation(
        features,
        repo_name=found.repo,
        task_id=found.task_id,
        setting=setting,
        merge_status=merge.status,
        merge_strategy=merge.strategy,
        apply_status=found.apply_status or {},
        passed={number: each.passed for number, each in tests.items()},
        passed_tests={number: each.tests_passed for number, each in tests.items()},
        failed_tests={number: each.tests_failed for number, each in tests.items()},
        both_passed=found.both_passed,
        error=reason(error),
        evaluated_at=found.evaluated_at or "",
    )


def _require_known_keys(document: Document) -> None:
    """Reject a file about a team that has other results than those of its first two."""
    for part, known in _TEAM_KEYS.items():
        values = (document.values.get(part) or {}) if part else document.values
        document.require_keys(values, known)
    if missing := [key for key in _TESTED if document.values.get(key) is None]:
        raise document.error(f"it has more than two features, but no {' and no '.join(missing)}")


def _tests(document: Document, key: str, number: int) -> _Tests:
    if document.values.get(key) is None:
        return _Tests()
    tests = document.read(_Tests, key)
    if tests.feature_id not in {None, number}:
        raise document.error(f"{key}.feature_id is {tests.feature_id}, not {number}")
    return _Tests() if tests.exit_code is None else tests
