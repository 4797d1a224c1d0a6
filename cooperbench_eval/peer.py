"""CooperBench's own evaluations, read so that they can be compared with ours.

Every shape that its versions wrote is known: the `eval.json` of its runners, with
and without counts, for merged, identical and solo patches and for its errors, and
the two JSON reports of the paper's pipeline. What a file cannot say is `None`.
"""

import json
import os
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any, TypeVar

from attrs import field, frozen

from cooperbench_eval.errors import ReportError
from cooperbench_eval.runlogs import Setting
from cooperbench_eval.runlogs.discovery import run_folders, setting_of

__all__ = ["PeerEval", "PeerRun", "read_eval", "read_evals"]

_UNSAID = "an error without a message"
_PAPER_STRATEGIES = ("naive", "union", "llm")

_Value = TypeVar("_Value")


def _words(values: Mapping[str, str]) -> dict[str, str]:
    return dict(values)


def _verdicts(values: Mapping[int, bool | None]) -> dict[int, bool | None]:
    return dict(values)


def _counts(values: Mapping[int, int | None]) -> dict[int, int | None]:
    return dict(values)


@frozen(kw_only=True)
class PeerEval:
    """What the benchmark's own evaluation says of one folder of agents' patches.

    Attributes:
        repo_name: The repository's folder in the dataset.
        task_id: The task's number.
        features: The features' numbers, as many as the agents worked on. The
            benchmark tests the first two.
        setting: How the agents worked. The folders above the file and the agents'
            record go before the file, which calls a team `coop`; `None` where none
            of them tells.
        merge_status: Its word for the merge: `clean`, `conflicts`, `missing_input`,
            `identical`, `union` or `error`; `None` where nothing was merged.
        merge_strategy: Its word for what its tests saw: `naive`, `union`, `llm`,
            `solo-agent1`, `skip-merge-identical`; `None` where it does not say.
        apply_status: Its word for each agent's patch (`applied`, `skipped`,
            `failed`, `unknown`), by `agent1`, `agent2` in the order of `features`.
            Empty where it does not say.
        passed: Whether each feature's tests passed; `None` where they were not
            run, which is written as failed.
        passed_tests: How many of each feature's tests passed, as it counted them;
            `None` where it did not.
        failed_tests: How many failed, likewise.
        both_passed: Its verdict as written. The paper's reports hold none; theirs
            is whether one strategy's merge passed both, `None` if none was tested.
        error: Why it gives no answer; empty where it gives one.
        evaluated_at: The time as written, which is local and names no zone. Empty
            where there is none.
        path: The file.
    """

    repo_name: str
    task_id: int
    features: tuple[int, ...] = field(converter=tuple[int, ...])
    setting: Setting | None
    merge_status: str | None
    merge_strategy: str | None
    apply_status: Mapping[str, str] = field(converter=_words, hash=False)
    passed: Mapping[int, bool | None] = field(converter=_verdicts, hash=False)
    passed_tests: Mapping[int, int | None] = field(converter=_counts, hash=False)
    failed_tests: Mapping[int, int | None] = field(converter=_counts, hash=False)
    both_passed: bool | None
    error: str
    evaluated_at: str
    path: Path

    @property
    def is_answer(self) -> bool:
        """Whether it says anything about the patches: there is a verdict and no error."""
        return not self.error and self.both_passed is not None


@frozen(kw_only=True)
class PeerRun:
    """The benchmark's own evaluations of one run.

    Attributes:
        evals: Those that can be read, sorted by their paths.
        unreadable: Why the others cannot, in the same order. Such a file is no
            evaluation, though the benchmark takes it for one and does not try again.
    """

    evals: tuple[PeerEval, ...] = field(converter=tuple[PeerEval, ...])
    unreadable: tuple[ReportError, ...] = field(converter=tuple[ReportError, ...])


def read_evals(logs_dir: str | os.PathLike[str], run_name: str) -> PeerRun:
    """Read every `eval.json` of a run.

    The run's `eval_summary.json` is not asked: it tells of the last session only.

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

    Of the latter, those about two features: a merge report, or a solo agent's
    test result.

    Raises:
        ReportError: The file cannot be read, or holds none: it is cut off, no
            JSON, lacks what names the pair, or has values of other kinds.
    """
    file = Path(path)
    return _read(file, setting_of(file.parent))


def _read(file: Path, told: Setting | None) -> PeerEval:
    try:
        data = json.loads(file.read_bytes())
    except OSError as exc:
        raise ReportError(f"cannot be read ({exc.strerror})", str(file)) from exc
    # Brackets nested without end exhaust the reader instead.
    except (ValueError, RecursionError) as exc:
        raise ReportError(f"is no JSON ({exc})", str(file)) from exc
    if not isinstance(data, dict):
        raise ReportError("is no evaluation: no object", str(file))
    record = _Record(data, file)
    if record.has("merge_analysis"):
        return _paper_merge(record, told)
    if record.has("both_tests_passed"):
        return _paper_solo(record)
    return _of_runner(record, told)


# --- the shapes -----------------------------------------------------------------------


def _of_runner(record: "_Record", told: Setting | None) -> PeerEval:
    """Read what every runner since the paper's pipeline writes: `eval.json`."""
    merge = record.record("merge")
    merge_status = _word(merge, "status")
    error = record.text("error")
    if merge_status == "error":
        error = error or ""
    features = _features(record, record.numbers("features"))
    tests = {
        number: _Tests() if error is not None else _tests(record.record(f"feature{place}"), number)
        for place, number in enumerate(features, start=1)
    }
    if not record.has("both_passed"):
        raise record.error("both_passed", "is missing")
    return PeerEval(
        repo_name=record.required_text("repo"),
        task_id=record.required_number("task_id"),
        features=features,
        setting=_setting(record) if told is None else told,
        merge_status=merge_status,
        merge_strategy=_word(merge, "strategy"),
        apply_status=record.texts("apply_status"),
        passed={number: each.passed for number, each in tests.items()},
        passed_tests={number: each.passed_tests for number, each in tests.items()},
        failed_tests={number: each.failed_tests for number, each in tests.items()},
        both_passed=record.flag("both_passed"),
        error=_reason(error),
        evaluated_at=record.text("evaluated_at") or "",
        path=record.file,
    )


@frozen(kw_only=True)
class _Tests:
    """What one feature's tests showed; nothing where they were not run."""

    passed: bool | None = None
    passed_tests: int | None = None
    failed_tests: int | None = None


def _tests(feature: "_Record", number: int) -> _Tests:
    if feature.number("feature_id") not in {None, number}:
        raise feature.error("feature_id", f"is not {number}")
    # Where there was no tree to test, it writes "failed" without an exit status.
    if feature.has("exit_code") and feature.number("exit_code", least=None) is None:
        return _Tests()
    return _Tests(
        passed=feature.flag("passed"),
        passed_tests=feature.number("tests_passed"),
        failed_tests=feature.number("tests_failed"),
    )


def _paper_merge(record: "_Record", told: Setting | None) -> PeerEval:
    """Read a merge report of the paper's pipeline.

    It tests naive first, then union, then the model's merge, each if the one before
    did not do. What it shows here is the first that passed both, or the last tested.
    """
    head = record.record("metadata")
    sides = [record.record("features").record(name) for name in ("feature1", "feature2")]
    features = _features(record, [side.required_number("number") for side in sides])
    merge_strategy: str | None = None
    passed: list[bool | None] = [None, None]
    for strategy in _PAPER_STRATEGIES:
        shown = [side.flag(f"{strategy}_merge_test_passed") for side in sides]
        if None not in shown:
            merge_strategy, passed = strategy, shown
            if all(shown):
                break
    error = record.record("error").text("message") or "" if record.has("error") else None
    return PeerEval(
        repo_name=head.required_text("repo_name"),
        task_id=head.required_number("task_id"),
        features=features,
        setting=told,
        merge_status=_word(record.record("merge_analysis"), "status"),
        merge_strategy=merge_strategy,
        apply_status={},
        passed=dict(zip(features, passed, strict=True)),
        passed_tests=dict.fromkeys(features),
        failed_tests=dict.fromkeys(features),
        both_passed=all(passed) if merge_strategy else None,
        error=_reason(error),
        evaluated_at=head.text("generated_at") or "",
        path=record.file,
    )


def _paper_solo(record: "_Record") -> PeerEval:
    """Read a solo agent's test result of the paper's pipeline."""
    keys = ("feature1_id", "feature2_id")
    features = _features(record, [record.required_number(key) for key in keys])
    passed = [record.flag(f"feature{place}_test_passed") for place in (1, 2)]
    return PeerEval(
        repo_name=record.required_text("task_name"),
        task_id=record.required_number("task_id"),
        features=features,
        setting=Setting.SOLO,
        merge_status=None,
        merge_strategy=None,
        apply_status={},
        passed=dict(zip(features, passed, strict=True)),
        passed_tests=dict.fromkeys(features),
        failed_tests=dict.fromkeys(features),
        both_passed=record.flag("both_tests_passed"),
        error="",
        evaluated_at="",
        path=record.file,
    )


def _features(record: "_Record", numbers: Iterable[int]) -> tuple[int, ...]:
    features = tuple(numbers)
    if len(features) < 2 or len(set(features)) < len(features):  # noqa: PLR2004 - a pair
        raise record.error("features", "are not two or more different ones")
    return features


def _word(merge: "_Record", key: str) -> str | None:
    """A word for the merge; one of its scripts writes `null` as text."""
    word = merge.text(key)
    return None if word == "null" else word


def _reason(error: str | None) -> str:
    """Why there is no answer: an exception without a message is an error all the same."""
    return "" if error is None else error.strip() or _UNSAID


def _setting(record: "_Record") -> Setting | None:
    word = record.text("setting")
    if word is None:
        return None
    try:
        return Setting(word)
    except ValueError:
        raise record.error("setting", f"is {word[:40]!r}, which is unknown") from None


# --- values ---------------------------------------------------------------------------


@frozen
class _Record:
    """A JSON object that is asked for values of one kind; `null` is as good as none.

    Every question raises `ReportError` where the value is of another kind.
    """

    values: dict[str, Any]
    file: Path
    name: str = ""

    def has(self, key: str) -> bool:
        """Whether the key is there, be it with `null`."""
        return key in self.values

    def text(self, key: str) -> str | None:
        """The text under *key*."""
        return self._value(key, str, "text")

    def flag(self, key: str) -> bool | None:
        """The truth value under *key*."""
        return self._value(key, bool, "truth value")

    def number(self, key: str, *, least: int | None = 0) -> int | None:
        """The whole number under *key*."""
        value = self._value(key, int, "whole number")
        if isinstance(value, bool) or (value is not None and least is not None and value < least):
            raise self.error(key, "is no count")
        return value

    def record(self, key: str) -> "_Record":
        """The object under *key*, or an empty one."""
        values = self._value(key, dict, "object")
        return _Record(values or {}, self.file, f"{self.name}{key}.")

    def numbers(self, key: str) -> list[int]:
        """The whole numbers of the list under *key*."""
        values = self._value(key, list, "list") or []
        if any(type(value) is not int or value < 0 for value in values):
            raise self.error(key, "holds what is no count")
        return values

    def texts(self, key: str) -> dict[str, str]:
        """The object of texts under *key*."""
        values = self._value(key, dict, "object") or {}
        if not all(isinstance(value, str) for value in values.values()):
            raise self.error(key, "holds what is no text")
        return values

    def required_text(self, key: str) -> str:
        """The text under *key*, which cannot be missing or empty."""
        value = self.text(key)
        if not value:
            raise self.error(key, "is missing")
        return value

    def required_number(self, key: str) -> int:
        """The count under *key*, which cannot be missing."""
        value = self.number(key)
        if value is None:
            raise self.error(key, "is missing")
        return value

    def error(self, key: str, problem: str) -> ReportError:
        """What to raise about *key*."""
        return ReportError(f"is no evaluation: {self.name}{key} {problem}", str(self.file))

    def _value(self, key: str, kind: type[_Value], named: str) -> _Value | None:
        value = self.values.get(key)
        if value is None or isinstance(value, kind):
            return value
        raise self.error(key, f"is no {named}")
