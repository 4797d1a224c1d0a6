"""The data about the tests that merges lost, and about the code that their failures lead to."""

from collections.abc import Sequence
from typing import Any

from cooperbench_eval.presentation.page.embedding import Texts, cut
from cooperbench_eval.presentation.page.index import JudgedAttempt
from cooperbench_eval.presentation.views import wording
from cooperbench_eval.reporting import MergeReport
from cooperbench_eval.reporting.blame import LostTest, lost_tests_of
from cooperbench_eval.reporting.explanation import SuiteKind
from cooperbench_eval.reporting.rows import FailureTrace, TracedFunction

_MOST_FAILURES = 30
_MOST_TESTS = 100
_MOST_NAME = 400
_MOST_MESSAGE = 4_000
_Json = dict[str, Any]
_Lost = tuple[LostTest, ...]


def losses_of(report: MergeReport, judged: Sequence[JudgedAttempt], texts: Texts) -> list[_Json]:
    """Return what the merges lost; strategies whose merges lost the same are put together."""
    found: dict[tuple[_Lost, FailureTrace | None, str | None], list[str]] = {}
    for attempt, _, blame, _ in judged:
        lost = tuple(lost_tests_of(attempt, blame))
        if lost:
            key = lost, attempt.trace, attempt.tree_id
            found.setdefault(key, []).append(cut(attempt.strategy, _MOST_NAME))
    return [
        {
            "strategies": strategies,
            **_failures(report, lost),
            "trace": None if trace is None else _trace(trace, texts),
        }
        for (lost, trace, _), strategies in found.items()
    ]


def _failures(report: MergeReport, lost: Sequence[LostTest]) -> _Json:
    """Return the lost tests; those that failed alike are put together.

    Their messages begin and end with the same line: the error, and the place where it happened.
    The message of the first of them is given.
    """
    owners = {
        SuiteKind.FEATURE1: f"feature {report.feature1.number}",
        SuiteKind.FEATURE2: f"feature {report.feature2.number}",
        SuiteKind.JOINT: "both features together",
        SuiteKind.REGRESSION: "the repository",
    }
    groups: dict[tuple[str, str, str, str], list[LostTest]] = {}
    for each in lost:
        status = wording.spoken(each.case.status) if each.case and each.is_own else "did not run"
        first, last = each.message.partition("\n")[0], each.message.rpartition("\n")[2]
        groups.setdefault((owners[each.suite], status, first, last), []).append(each)
    shown = list(groups.items())[:_MOST_FAILURES]
    return {
        "failures": [
            {
                "owner": owner,
                "status": status,
                "message": cut(alike[0].message, _MOST_MESSAGE),
                "tests": [cut(test.name, _MOST_NAME) for test in alike[:_MOST_TESTS]],
                "more": max(len(alike) - _MOST_TESTS, 0),
            }
            for (owner, status, _, _), alike in shown
        ],
        "more": len(lost) - sum(len(alike) for _, alike in shown),
    }


def _trace(trace: FailureTrace, texts: Texts) -> _Json:
    return {
        "functions": [_function(each, texts) for each in trace.functions],
        "left_out": trace.left_out,
    }


def _function(traced: TracedFunction, texts: Texts) -> _Json:
    return {
        "path": cut(traced.path, _MOST_NAME),
        "name": cut(traced.name, _MOST_NAME),
        "line": traced.line,
        "kind": traced.kind.value,
        "tests": [cut(name, _MOST_NAME) for name in traced.tests],
        "versions": [
            texts.add(text)
            for text in (traced.base, traced.feature1, traced.feature2, traced.merged)
        ],
    }
