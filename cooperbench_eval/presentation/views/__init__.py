"""What people see of each result, described once for print, notebooks, rich and the page.

The modules describe records as a `View`, and `view_of` finds the description of a record.
`wording` has the words that several descriptions share.
"""

from pkgutil import resolve_name
from typing import Final

from attrs import evolve

from cooperbench_eval.support.rendering.view import View

VIEWS: Final = {
    "Attempt": "reports:attempt_view",
    "Audit": "audits:audit_view",
    "Blame": "reports:blame_view",
    "CooperBenchAgreement": "summaries:agreement_view",
    "Comparison": "summaries:comparison_view",
    "ConflictDetails": "reports:details_view",
    "Explanation": "audits:explanation_view",
    "LandingPlan": "plans:plan_view",
    "LeftOut": "plans:left_out_view",
    "MergeReport": "reports:report_view",
    "Probe": "plans:probe_view",
    "PolicySummary": "summaries:judged_view",
    "ProbedBranch": "plans:branch_view",
    "ProbedPair": "plans:pair_view",
    "Provenance": "audits:provenance_view",
    "Ranking": "summaries:ranking_view",
    "Rate": "summaries:rate_view",
    "StrategySummary": "summaries:judged_view",
    "Summary": "summaries:summary_view",
    "TeamAttempt": "reports:team_attempt_view",
    "TeamBlame": "reports:team_blame_view",
    "TeamReport": "reports:team_report_view",
    "TeamStep": "reports:step_view",
    "TeamStrategySummary": "summaries:team_strategy_view",
    "TeamSummary": "summaries:teams_view",
    "TestResult": "reports:run_view",
    "Tries": "summaries:tries_view",
}
"""The function that describes each record that can be shown, by the name of its class."""


def view_of(record: object) -> View:
    """Describe a record by its nearest class with a view, without tables that have no rows."""
    place = next(VIEWS[each.__name__] for each in type(record).__mro__ if each.__name__ in VIEWS)
    view: View = resolve_name(f"{__name__}.{place}")(record)
    tables = [t for t in view.tables if any(each.rows or each.title for each in t.sections)]
    return evolve(view, tables=tables)
