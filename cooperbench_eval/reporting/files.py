"""The output files of a report, with the names that CooperBench uses."""

import contextlib
import errno
import os
import re
from collections.abc import Mapping
from pathlib import Path

from cooperbench_eval.errors import ReportError
from cooperbench_eval.reporting.rows import FeatureReport
from cooperbench_eval.reporting.teams import GroupReport, TeamReport
from cooperbench_eval.running.results import TestResult
from cooperbench_eval.support.arguments import checked
from cooperbench_eval.support.staging import staged


@checked
def write_report(report: GroupReport, directory: str | os.PathLike[str]) -> tuple[Path, ...]:
    """Write a report, its diffs and the test log of each feature into *directory*.

    For a pair:

    - `merge_report_f1_into_f2_k1.json`: the report;
    - `merge_diff_f1_into_f2_k1.diff`: the naive merge, if there was one, and
      also each other strategy's, with the strategy's name as suffix;
    - `test_result_<model>_<repo>_task<id>_f1_k1.txt`: the test run of each feature.

    For a team, whose features are named in its order:

    - `team_report_f3_f1_f2_k1.json`: the report;
    - `team_diff_f3_f1_f2_k1_<strategy>.diff`: the tree of the features that landed under each
      strategy;
    - `test_result_<model>_<repo>_task<id>_f1_k1.txt`: the test run of each feature.

    Each file appears complete or not at all, and no file appears if one of them cannot be
    written. Files have the mode that new files have. The directory is created if it is
    missing.

    Returns:
        The paths written, sorted.

    Raises:
        ReportError: The directory cannot be written to.
    """
    target = Path(directory)
    contents = _contents(report)
    paths = sorted(target / name for name in contents)
    try:
        target.mkdir(parents=True, exist_ok=True)
        # Before anything is written, because a directory cannot be replaced by a file.
        for path in paths:
            if path.is_dir() and not path.is_symlink():
                raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR))
        with contextlib.ExitStack() as parts:
            for name, data in contents.items():
                parts.enter_context(staged(target / name)).write_bytes(data)
    except OSError as exc:
        raise ReportError(f"cannot be written to ({exc.strerror})", str(target)) from exc
    return tuple(paths)


def _contents(report: GroupReport) -> dict[str, bytes]:
    if isinstance(report, TeamReport):
        kind, diff = "team", None
        stem = "_".join([*(f"f{number}" for number in report.numbers), f"k{report.k}"])
    else:
        kind, diff = "merge", report.diff
        stem = f"f{report.feature1.number}_into_f{report.feature2.number}_k{report.k}"
    contents = {f"{kind}_report_{stem}.json": report.to_json().encode("utf-8")}
    if diff is not None:
        contents[f"{kind}_diff_{stem}.diff"] = diff
    for attempt in report.attempts:
        is_on_top = attempt.strategy == "naive" and attempt.diff == diff
        if attempt.diff is not None and not is_on_top:
            contents[_free(f"{kind}_diff_{stem}", attempt.strategy, contents)] = attempt.diff
    for feature in report.features:
        name = (
            f"test_result_{_safe(report.model or 'unnamed')}_{_safe(report.repo_name)}"
            f"_task{report.task_id}_f{feature.number}_k{report.k}.txt"
        )
        contents[name] = _log(feature).encode("utf-8", "backslashreplace")
    return contents


def _free(stem: str, strategy: str, contents: Mapping[str, bytes]) -> str:
    """Return the name of a strategy's diff, with a number if another strategy has that name."""
    wanted = suffix = _safe(strategy)
    number = 2
    taken = {name.casefold() for name in contents}  # some file systems ignore case
    while f"{stem}_{suffix}.diff".casefold() in taken:
        suffix, number = f"{wanted}_{number}", number + 1
    return f"{stem}_{suffix}.diff"


def _safe(name: str) -> str:
    """Make a name part of a file name; a model may be called `vendor/model`."""
    return re.sub(r"[^A-Za-z0-9.+-]+", "_", name)


def _log(feature: FeatureReport) -> str:
    lines = [f"feature {feature.number}", f"patch: {feature.patch.status.value}"]
    if feature.patch.reason:
        lines.append(f"reason: {feature.patch.reason}")
    if feature.tests is None:
        return "\n".join([*lines, "tests: not run", ""])
    return "\n".join([*lines, *_summary(feature.tests), "", feature.tests.output])


def _summary(tests: TestResult) -> list[str]:
    reason = f" ({tests.reason})" if tests.reason else ""
    counts = {
        "passed": tests.passed_tests,
        "failed": tests.failed_tests,
        "errors": tests.error_tests,
        "skipped": tests.skipped_tests,
        "expected failures": tests.xfailed_tests,
    }
    return [
        f"tests: {tests.status.value}{reason}",
        "cases: " + ", ".join(f"{count} {word}" for word, count in counts.items()),
        f"pass rate: {tests.pass_rate:.4f}",
        f"exit status: {tests.exit_code}",
        f"seconds: {tests.duration_seconds:.3f}",
    ]
