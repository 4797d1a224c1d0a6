"""CooperBench's own evaluations, read so that they can be compared with ours.

The formats of all versions are supported: the `eval.json` of its runners, with and without
counts, for merged, identical and solo patches and for errors, and the two JSON reports of
the paper's pipeline. A fact that is not in the file is `None`.
"""

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final, TypeVar

from attrs import field, frozen, validators

from cooperbench_eval.errors import ReportError
from cooperbench_eval.runlogs import Setting
from cooperbench_eval.runlogs.discovery import run_folders, setting_of
from cooperbench_eval.structuring import Converter, make_converter, parse_json, structure

__all__ = ["PeerEval", "PeerRun", "read_eval", "read_evals"]

_UNFIT: Final = "is not an evaluation"
_UNSAID: Final = "an error without a message"
_PAPER_STRATEGIES: Final = ("naive", "union", "llm")

_Shape = TypeVar("_Shape")
_Value = TypeVar("_Value")


def _own(values: Mapping[_Value, Any]) -> dict[_Value, Any]:
    return dict(values)


@frozen(kw_only=True)
class PeerEval:
    """The benchmark's own evaluation of one folder of agents' patches.

    Attributes:
        repo_name: The repository's folder in the dataset.
        task_id: The task's number.
        features: The features' numbers, as many as the agents worked on. The
            benchmark tests the first two.
        setting: How the agents worked; `None` if unknown. The folders above the file and
            the agents' record take precedence over the file, which calls a team `coop`.
        merge_status: The file's word for the merge: `clean`, `conflicts`,
            `missing_input`, `identical`, `union` or `error`; `None` if nothing was merged.
        merge_strategy: The file's word for the merge that was tested: `naive`, `union`,
            `llm`, `solo-agent1`, `skip-merge-identical`; `None` if the file has none.
        apply_status: The file's word for each agent's patch (`applied`, `skipped`,
            `failed`, `unknown`), by `agent1`, `agent2` in the order of `features`;
            empty if the file has none.
        passed: Whether each feature's tests passed; `None` if they were not run, which
            the file calls failed.
        passed_tests: How many of each feature's tests passed; `None` if not counted.
        failed_tests: How many of each feature's tests failed; `None` if not counted.
        both_passed: The file's verdict. The paper's reports have no key for it; for them
            it is whether one strategy's merge passed both features' tests, or `None` if
            no merge was tested.
        error: Why the evaluation has no answer; empty if it has one.
        evaluated_at: The time as written, which is local and without a time zone; empty
            if the file has none.
        path: The file.
    """

    repo_name: str
    task_id: int
    features: tuple[int, ...] = field(converter=tuple[int, ...])
    setting: Setting | None
    merge_status: str | None
    merge_strategy: str | None
    apply_status: Mapping[str, str] = field(converter=_own, hash=False)
    passed: Mapping[int, bool | None] = field(converter=_own, hash=False)
    passed_tests: Mapping[int, int | None] = field(converter=_own, hash=False)
    failed_tests: Mapping[int, int | None] = field(converter=_own, hash=False)
    both_passed: bool | None
    error: str
    evaluated_at: str
    path: Path

    @property
    def is_answer(self) -> bool:
        """Whether the evaluation has a verdict and no error."""
        return not self.error and self.both_passed is not None


@frozen(kw_only=True)
class PeerRun:
    """The benchmark's own evaluations of one run.

    Attributes:
        evals: The readable evaluations, sorted by their paths.
        unreadable: Why the other files cannot be read, also sorted by path. The benchmark
            takes an unreadable file for an evaluation and does not try again.
    """

    evals: tuple[PeerEval, ...] = field(converter=tuple[PeerEval, ...])
    unreadable: tuple[ReportError, ...] = field(converter=tuple[ReportError, ...])


def read_evals(logs_dir: str | os.PathLike[str], run_name: str) -> PeerRun:
    """Read every `eval.json` of a run.

    The run's `eval_summary.json` is not read, because it covers only the last session.

    Args:
        logs_dir: The folder of all runs.
        run_name: The run's folder in it.

    Raises:
        DatasetError: There is no such run, or a folder of it cannot be read.
    """
    evals: list[PeerEval] = []
    unreadable: list[ReportError] = []
    for folder in run_folders(logs_dir, run_name):
        if "eval.json" not in folder.names:
            continue
        try:
            evals.append(_read(folder.directory / "eval.json", folder.setting))
        except ReportError as exc:
            unreadable.append(exc)
    return PeerRun(evals=evals, unreadable=unreadable)


def read_eval(path: str | os.PathLike[str]) -> PeerEval:
    """Read one evaluation: an `eval.json`, or a report of the paper's pipeline.

    Two kinds of the paper's reports can be read, those about two features: a merge report,
    and a solo agent's test result.

    Raises:
        ReportError: The file cannot be read or is not an evaluation: it is cut off, not
            JSON, lacks what identifies the pair, or has values of wrong types.
    """
    file = Path(path)
    return _read(file, setting_of(file.parent))


def _read(file: Path, setting: Setting | None) -> PeerEval:
    try:
        text = file.read_bytes()
    except OSError as exc:
        raise ReportError(f"cannot be read ({exc.strerror})", str(file)) from exc
    data = parse_json(text, str(file))
    if not isinstance(data, dict):
        raise ReportError(f"{_UNFIT}: it is not a JSON object", str(file))
    if "merge_analysis" in data:
        return _paper_merge(_Document(data, file), setting)
    if "both_tests_passed" in data:
        return _paper_solo(_Document(data, file))
    return _of_runner(_Document(data, file), setting)


# --- what the files hold --------------------------------------------------------------

_is_count = validators.ge(0)


def _unless_null(word: str | None) -> str | None:
    """Return *word*, or `None` for `null`, which one of the benchmark's scripts writes as text."""
    return None if word == "null" else word


@frozen(kw_only=True)
class _Merge:
    status: str | None = field(default=None, converter=_unless_null)
    strategy: str | None = field(default=None, converter=_unless_null)


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


def _make_converter() -> Converter:
    converter = make_converter()
    converter.register_structure_hook(int, _whole_number)
    return converter


def _whole_number(value: object, _: object) -> int:
    if type(value) is int:
        return value
    raise ValueError(f"expected a whole number, found {value!r:.100}")


_CONVERTER: Final = _make_converter()


@frozen
class _Document:
    """A JSON object and the file that it is from."""

    values: dict[str, Any]
    file: Path

    def read(self, kind: type[_Shape], key: str = "") -> _Shape:
        value = self.values.get(key) if key else self.values
        path = f"$.{key}" if key else "$"
        return structure(_CONVERTER, value, kind, _UNFIT, location=str(self.file), path=path)

    def error(self, problem: str) -> ReportError:
        return ReportError(f"{_UNFIT}: {problem}", str(self.file))

    def features(self, *numbers: int) -> tuple[int, ...]:
        """Return *numbers* if they can be the features that agents worked on."""
        if len(set(numbers)) < max(2, len(numbers)) or min(numbers) < 0:
            raise self.error(f"features are {numbers}, not two or more different numbers")
        return numbers

    def evaluation(self, features: tuple[int, ...], **facts: Any) -> PeerEval:
        unknown: dict[str, Any] = {
            "merge_status": None,
            "merge_strategy": None,
            "apply_status": {},
            "passed_tests": dict.fromkeys(features),
            "failed_tests": dict.fromkeys(features),
            "error": "",
            "evaluated_at": "",
        }
        return PeerEval(features=features, path=self.file, **unknown | facts)


# --- the formats ----------------------------------------------------------------------


def _of_runner(document: _Document, setting: Setting | None) -> PeerEval:
    found = document.read(_RunnerFile)
    merge = found.merge or _Merge()
    if setting is None and document.values.get("setting") is not None:
        setting = document.read(Setting, "setting")
    error = found.error
    if error is None and merge.status == "error":
        error = ""
    features = document.features(*found.features)
    tests = {number: _Tests() for number in features}
    if error is None:
        for place, number in enumerate(features, start=1):
            tests[number] = _tests(document, f"feature{place}", number)
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


def _tests(document: _Document, key: str, number: int) -> _Tests:
    if document.values.get(key) is None:
        return _Tests()
    tests = document.read(_Tests, key)
    if tests.feature_id not in {None, number}:
        raise document.error(f"{key}.feature_id is {tests.feature_id}, not {number}")
    return _Tests() if tests.exit_code is None else tests


def _paper_merge(document: _Document, setting: Setting | None) -> PeerEval:
    """Read a merge report of the paper's pipeline.

    The pipeline tests naive first, then union, then the model's merge, until one passes.
    The result here is the first merge that passed both, or the last one that was tested.
    """
    found = document.read(_PaperFile)
    sides = (found.features.feature1, found.features.feature2)
    features = document.features(sides[0].number, sides[1].number)
    merge = found.merge_analysis or _Merge()
    merge_strategy: str | None = None
    passed: tuple[bool | None, ...] = (None, None)
    for strategy in _PAPER_STRATEGIES:
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


def _paper_solo(document: _Document) -> PeerEval:
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


def _reason(error: str | None) -> str:
    """Return why there is no answer; an exception without a message is an error, too."""
    return "" if error is None else error.strip() or _UNSAID
