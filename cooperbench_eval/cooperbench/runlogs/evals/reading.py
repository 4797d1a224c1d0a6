"""Finds the results of CooperBench's evaluator, and recognizes the format of each."""

import os
from pathlib import Path

from cooperbench_eval.cooperbench.runlogs.discovery import run_folders, setting_of
from cooperbench_eval.cooperbench.runlogs.evals.document import Document
from cooperbench_eval.cooperbench.runlogs.evals.paper import paper_merge, paper_solo
from cooperbench_eval.cooperbench.runlogs.evals.runner import of_runner
from cooperbench_eval.errors import ReportError
from cooperbench_eval.reporting.cooperbench_results import CooperBenchResult, CooperBenchRun
from cooperbench_eval.reporting.settings import Setting
from cooperbench_eval.support.arguments import checked

__all__ = ["CooperBenchResult", "CooperBenchRun", "read_eval", "read_evals"]


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
    document = Document.in_file(file)
    if "merge_analysis" in document.values:
        return paper_merge(document, setting)
    if "both_tests_passed" in document.values:
        return paper_solo(document)
    return of_runner(document, setting)
