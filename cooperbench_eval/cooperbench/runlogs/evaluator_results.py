"""The results of CooperBench's evaluator, read so that they can be compared with ours.

The formats of all versions are supported: the `eval.json` of its runners, with and without
counts, for merged, identical and solo patches and for errors, and the two JSON reports of
the paper's pipeline. A fact that is not in the file is `None`.
"""

import os
from collections.abc import Mapping
from collections.abc import Set as AbstractSet
from pathlib import Path
from typing import Any, Final, Self, TypeVar

from attrs import field, fields, frozen, validators

from cooperbench_eval.cooperbench.runlogs.run_folders import run_folders, setting_of
from cooperbench_eval.errors import ReportError
from cooperbench_eval.reporting.cooperbench_results import (
    CooperBenchResult,
    CooperBenchRun,
    Setting,
)
from cooperbench_eval.support.arguments import checked
from cooperbench_eval.support.json_records import make_converter, parse_json, structure

__all__ = ["CooperBenchResult", "CooperBenchRun", "read_eval", "read_evals"]

_UNFIT: Final = "is not an evaluation"
_UNSAID: Final = "an error without a message"

_Shape = TypeVar("_Shape")

_is_count = validators.ge(0)


def _unless_null(word: str | None) -> str | None:
    """Return *word*, or `None` for `null`, which a script of CooperBench writes as text."""
    return None if word == "null" else word


@frozen(kw_only=True)
class _Merge:
    """What a file says about the merge, in its own words."""

    status: str | None = field(default=None, converter=_unless_null)
    strategy: str | None = field(default=None, converter=_unless_null)


def _whole_number(value: object, _: object) -> int:
    if type(value) is int:
        return value
    raise ValueError(f"expected a whole number, found {value!r:.100}")


_CONVERTER: Final = make_converter()
_CONVERTER.register_structure_hook(int, _whole_number)


@frozen
class _Document:
    """A JSON object and the file that it is from."""

    values: dict[str, Any]
    file: Path

    @classmethod
    def in_file(cls, file: Path) -> Self:
        """Read a file; raise `ReportError` if it cannot be read, or holds no JSON object."""
        try:
            text = file.read_bytes()
        except OSError as exc:
            raise ReportError(f"cannot be read ({exc.strerror})", str(file)) from exc
        values = parse_json(text, str(file))
        if not isinstance(values, dict):
            raise ReportError(f"{_UNFIT}: it is not a JSON object", str(file))
        return cls(values, file)

    def read(self, kind: type[_Shape], key: str = "") -> _Shape:
        """Read the whole object, or the value under *key*, as a record."""
        value = self.values.get(key) if key else self.values
        path = f"$.{key}" if key else "$"
        return structure(_CONVERTER, value, kind, _UNFIT, location=str(self.file), path=path)

    def error(self, problem: str) -> ReportError:
        """Return the error that says why this is not an evaluation."""
        return ReportError(f"{_UNFIT}: {problem}", str(self.file))

    def features(self, *numbers: int) -> tuple[int, ...]:
        """Return *numbers* if they can be the features that agents worked on."""
        if len(set(numbers)) < max(2, len(numbers)) or min(numbers) < 0:
            raise self.error(f"features are {numbers}, not two or more different numbers")
        return numbers

    def require_keys(self, values: Mapping[str, Any], known: AbstractSet[str]) -> None:
        """Reject a file with other keys, because they may hold further features' results."""
        if unknown := sorted(values.keys() - known):
            raise self.error(
                f"it has {', '.join(map(repr, unknown))}; no known format has results of more "
                "than two features"
            )

    def evaluation(self, features: tuple[int, ...], **facts: Any) -> CooperBenchResult:
        """Return an evaluation; what is not among the *facts* is unknown."""
        unknown: dict[str, Any] = {
            "merge_status": None,
            "merge_strategy": None,
            "apply_status": {},
            "passed_tests": dict.fromkeys(features),
            "failed_tests": dict.fromkeys(features),
            "error": "",
            "evaluated_at": "",
        }
        return CooperBenchResult(features=features, path=self.file, **unknown | facts)


def _reason(error: str | None) -> str:
    """Return why there is no answer; an exception without a message is an error, too."""
    return "" if error is None else error.strip() or _UNSAID


_STRATEGIES: Final = ("naive", "union", "llm")


@frozen(kw_only=True)
class _PaperHead:
    repo_name: str = field(validator=validators.min_len(1))
    task_id: int = field(validator=_is_count)
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
    merge_analysis: _Merge | None = None
    error: _PaperError | None = None


@frozen(kw_only=True)
class _SoloFile:
    task_name: str = field(validator=validators.min_len(1))
    task_id: int = field(validator=_is_count)
    feature1_id: int
    feature2_id: int
    feature1_test_passed: bool | None = None
    feature2_test_passed: bool | None = None
    both_tests_passed: bool | None = None


def _paper_merge(document: _Document, setting: Setting | None) -> CooperBenchResult:
    """Read a merge report of the paper's pipeline.

    The pipeline tests naive first, then union, then the model's merge, until one passes.
    The result here is the first merge that passed both, or the last one that was tested.
    """
    found = document.read(_PaperFile)
    document.require_keys(document.values["features"], {"feature1", "feature2"})
    sides = (found.features.feature1, found.features.feature2)
    features = document.features(sides[0].number, sides[1].number)
    merge = found.merge_analysis or _Merge()
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
        error=_reason(error),
        evaluated_at=found.metadata.generated_at or "",
    )


def _paper_solo(document: _Document) -> CooperBenchResult:
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


_TESTED: Final = ("feature1", "feature2")
"""The keys of the features that the runners test, however many features there are."""


@frozen(kw_only=True)
class _Tests:
    """One feature's tests. Without a tree to test, the exit status is `None`."""

    feature_id: int | None = None
    passed: bool | None = None
    exit_code: int | None = 0
    tests_passed: int | None = field(default=None, validator=validators.optional(_is_count))
    tests_failed: int | None = field(default=None, validator=validators.optional(_is_count))


@frozen(kw_only=True)
class _RunnerFile:
    """An `eval.json`; its features are read separately, because an error leaves them open."""

    repo: str = field(validator=validators.min_len(1))
    task_id: int = field(validator=_is_count)
    features: tuple[int, ...]
    merge: _Merge | None = None
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


def _of_runner(document: _Document, setting: Setting | None) -> CooperBenchResult:
    """Read an `eval.json`.

    For more than two features, the runners merge and test the first two, and list the
    others without results.
    """
    found = document.read(_RunnerFile)
    merge = found.merge or _Merge()
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
        error=_reason(error),
        evaluated_at=found.evaluated_at or "",
    )


def _require_known_keys(document: _Document) -> None:
    """Reject a file about a team that has other results than those of its first two."""
    for part, known in _TEAM_KEYS.items():
        values = (document.values.get(part) or {}) if part else document.values
        document.require_keys(values, known)
    if missing := [key for key in _TESTED if document.values.get(key) is None]:
        raise document.error(f"it has more than two features, but no {' and no '.join(missing)}")


def _tests(document: _Document, key: str, number: int) -> _Tests:
    if document.values.get(key) is None:
        return _Tests()
    tests = document.read(_Tests, key)
    if tests.feature_id not in {None, number}:
        raise document.error(f"{key}.feature_id is {tests.feature_id}, not {number}")
    return _Tests() if tests.exit_code is None else tests


@checked
def read_evals(logs_dir: str | os.PathLike[str], run_name: str) -> CooperBenchRun:
    """Read every `eval.json` of a run, also of teams of more than two agents.

    The run's `eval_summary.json` is not read, because it covers only the last session.

    Args:
        logs_dir: The folder of all runs.
        run_name: The run's folder in it.

    Raises:
        DatasetError: There is no such run, or a folder of it cannot be read.
    """
    evals: list[CooperBenchResult] = []
    unreadable: list[ReportError] = []
    for folder in run_folders(logs_dir, run_name):
        if "eval.json" not in folder.names:
            continue
        try:
            evals.append(_read(folder.directory / "eval.json", folder.setting))
        except ReportError as exc:
            unreadable.append(exc)
    return CooperBenchRun(evals=evals, unreadable=unreadable)


@checked
def read_eval(path: str | os.PathLike[str]) -> CooperBenchResult:
    """Read one evaluation: an `eval.json`, or a report of the paper's pipeline.

    Two kinds of the paper's reports can be read, those about two features: a merge report,
    and a solo agent's test result.

    Raises:
        ReportError: The file cannot be read or is not an evaluation: it is cut off, not
            JSON, lacks what identifies the pair, or has values of wrong types. Or it is
            about more than two features, in a format that no version of
            CooperBench writes.
    """
    file = Path(path)
    return _read(file, setting_of(file.parent))


def _read(file: Path, setting: Setting | None) -> CooperBenchResult:
    document = _Document.in_file(file)
    if "merge_analysis" in document.values:
        return _paper_merge(document, setting)
    if "both_tests_passed" in document.values:
        return _paper_solo(document)
    return _of_runner(document, setting)
