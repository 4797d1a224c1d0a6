"""Tables are tidy: scalar columns, the same ones always, in records and frames alike."""

import datetime as dt
import subprocess
import sys
from enum import StrEnum

import attrs
import pytest
from generators import lists_of, pair_facts, reports, team_reports
from hypothesis import given, settings
from made_pairs import a_report, pair
from made_teams import team
from needs import need_package

from cooperbench_eval.analysis.sources import facts_of
from cooperbench_eval.analysis.tables import Level, columns_of, to_pandas, to_polars, to_records
from cooperbench_eval.errors import AnalysisError
from cooperbench_eval.reporting.landings import LeftOut

pd = need_package("pandas")
pl = need_package("polars")

fewer = settings(max_examples=settings().max_examples // 2)  # these are slow

OF_FACTS = ["pairs", "attempts", "features"]
OF_REPORTS = ["tests", "conflicts"]
PLAIN = (str, int, float, bool, dt.datetime, type(None))


def read_back(frame):
    """Return a pandas frame as records, with `None` for missing values."""
    return [
        {name: None if value is None or pd.isna(value) else value for name, value in row.items()}
        for row in frame.astype(object).to_dict("records")
    ]


@fewer
@given(reports() | team_reports())
def test_records_are_plain_and_have_the_columns_of_their_level(report):
    """Values are plain: no enums, no bytes, and only text that UTF-8 can encode."""
    for level in Level:
        names = list(columns_of(level))
        for record in to_records([report], level):
            assert list(record) == names
            assert all(type(value) in PLAIN for value in record.values())
            assert all(v.encode() is not None for v in record.values() if isinstance(v, str))


# Each example makes ten frames of up to 41 columns from up to six reports.
@pytest.mark.long
@settings(max_examples=settings().max_examples // 4)
@given(lists_of(reports() | team_reports()))
def test_frames_read_back_are_the_records(some):
    """Neither library loses or changes a value, and both agree."""
    for level in Level:
        records = to_records(some, level)
        assert to_polars(some, level).to_dicts() == records, level
        assert read_back(to_pandas(some, level)) == records, level


@pytest.mark.parametrize("level", list(Level))
def test_a_frame_of_nothing_has_all_columns_in_their_types(level):
    """Zero rows have the schema of many."""
    columns = columns_of(level)

    pandas, polars = to_pandas([], level), to_polars([], level)

    assert list(pandas.columns) == polars.columns == list(columns)
    for name, kind in columns.items():
        if issubclass(kind, StrEnum):
            members = [member.value for member in kind]
            assert list(pandas[name].cat.categories) == members
            assert polars.schema[name] == pl.Enum(members)
    assert to_records([], level) == []


def test_columns_have_nullable_types():
    """Integers that may be missing do not become floats, and times have a zone."""
    pairs = [pair(naive="clean ++"), pair(naive="conflicts", lead="applied +..")]

    pandas, polars = to_pandas(pairs), to_polars(pairs)

    assert pandas.dtypes["conflict_score"] == "Int64"
    assert pandas.dtypes["feature1_passed"] == "boolean"
    assert pandas.dtypes["timestamp"] == "datetime64[us, UTC]"
    assert polars.schema["feature1_passed"] == pl.Boolean()
    assert polars.schema["timestamp"] == pl.Datetime("us", "UTC")
    assert not isinstance(pandas.index, pd.MultiIndex)


@given(lists_of(pair_facts()))
def test_there_is_a_row_for_each_thing(facts):
    """Pairs, strategies' tries and features are each there once."""
    assert len(to_records(facts, "pairs")) == len(facts)
    assert len(to_records(facts, "features")) == 2 * len(facts)
    attempts = to_records(facts, "attempts")
    assert [row["strategy"] for row in attempts] == [a.strategy for f in facts for a in f.attempts]


def test_correct_is_missing_where_there_is_no_answer():
    """A missing side is a failure; a run that was never made is nothing."""
    words = ["clean ++", "clean +-", "conflicts", "not_tried", "clean +."]

    rows = to_records([pair(naive=word) for word in words], "attempts")

    assert [row["correct"] for row in rows] == [True, False, False, False, None]


def test_a_test_says_whose_it_is_and_on_which_tree_it_ran():
    """The other feature's tests on a patch are rows of the other feature."""
    rows = to_records([a_report()], "tests")

    assert [(row["feature"], row["run"], row["strategy"]) for row in rows] == [
        (4, "alone", None),
        (7, "base", None),
        (7, "other", None),
        (7, "merged", "naive"),
    ]
    assert {(row["id"], row["status"]) for row in rows} == {("test_a", "passed")}


def test_a_conflict_counts_its_sides_lines():
    """Only a conflict with lines of its own has counts."""
    lined, binary = to_records([a_report()], "conflicts")

    counts = ("line", "base_lines", "ours_lines", "theirs_lines")
    assert [lined[name] for name in counts] == [3, 0, 2, 1]
    assert [binary[name] for name in counts] == [None] * 4
    assert (binary["path"], binary["kind"]) == ("b\\udcff", "binary")


def test_times_are_in_utc():
    """Whatever zone the evaluation was in."""
    (row,) = to_records([a_report()])

    assert row["timestamp"].isoformat() == "2026-01-31T10:00:00+00:00"


@fewer
@given(reports())
def test_facts_and_stores_of_them_are_enough(report):
    """A table of pairs, attempts or features is the same from facts."""

    class Store:
        def facts(self):
            return [facts_of(report)]

    for level in OF_FACTS:
        assert to_records([report], level) == to_records(Store(), level)


@pytest.mark.parametrize("level", OF_REPORTS)
def test_tests_and_conflicts_need_reports(level):
    """Facts have none of them, and an empty table would say there were none."""

    class Store:
        def facts(self):
            return []

    for facts in ([facts_of(a_report())], Store()):
        with pytest.raises(AnalysisError, match=f"table of {level} needs reports"):
            to_records(facts, level)


def test_an_unknown_level_is_an_error():
    """The error names the levels there are."""
    with pytest.raises(AnalysisError, match="'hunks'; available: pairs, attempts"):
        to_records([], "hunks")


@pytest.mark.parametrize("library", ["pandas", "polars"])
def test_a_missing_library_names_its_extra(library):
    """Nothing else of the tables needs it."""
    code = f"""
import sys
sys.modules[{library!r}] = None
from cooperbench_eval import to_records
from cooperbench_eval.analysis import to_{library}
assert to_records([]) == []
to_{library}([])
"""

    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)

    assert f"pip install 'cooperbench-eval[{library}]'" in done.stderr


# --- teams -----------------------------------------------------------------------


TEAMS = [
    team(3, naive="conflicts unhandled 2:conflict", union="clean correct"),
    team(4, naive="not_tried not_run 1:missing_input", facts={"model": "m", "k": 2}),
]


def test_teams_and_their_attempts_have_tables_of_their_own():
    """Pairs are left out of them, and teams of the tables of pairs."""
    mixed = [pair(naive="clean ++"), *TEAMS]

    teams, attempts = to_records(mixed, "teams"), to_records(mixed, "team_attempts")

    assert [(row["features"], row["size"], row["model"], row["k"]) for row in teams] == [
        ("1,2,3", 3, None, 1),
        ("1,2,3,4", 4, "m", 2),
    ]
    assert [row["merge_status"] for row in teams] == ["conflicts", "missing_input"]
    names = ("size", "strategy", "correct", "landed", "left_out", "score", "landed_features")
    assert [tuple(row[name] for name in names) for row in attempts] == [
        (3, "naive", False, 2, 1, 2 / 3, "1,3"),
        (3, "union", True, 3, 0, 1.0, "1,2,3"),
        (4, "naive", False, 3, 1, 0.75, "2,3,4"),
    ]
    assert to_pandas(mixed, "team_attempts")["score"].tolist() == [2 / 3, 1.0, 0.75]
    assert to_polars(mixed, "teams")["size"].to_list() == [3, 4]
    for level in OF_FACTS:
        assert len(to_records(mixed, level)) == len(to_records(mixed[:1], level))


def test_a_left_out_feature_has_a_row_with_its_reason():
    """It names the other features that the reason concerns."""
    left_out = LeftOut(number=2, reason="conflict", features=[3, 1])
    naive = attrs.evolve(TEAMS[0].attempts[0], left_out=[left_out])

    (row,) = to_records([attrs.evolve(TEAMS[0], attempts=[naive])], "left_out")

    names = ("features", "strategy", "feature", "reason", "concerns")
    assert tuple(row[name] for name in names) == ("1,2,3", "naive", 2, "conflict", "3,1")


def test_what_was_not_evaluated_is_not_incorrect():
    """Its rows say that nothing was tried, as if a side was missing."""
    failed = {"merge_status": "not_evaluated", "failure": "repository"}

    (of_pair,) = to_records([pair(naive="not_tried", facts=failed)], "attempts")
    (of_team,) = to_records([team(3, naive="not_tried not_run", facts=failed)], "team_attempts")

    assert of_pair["correct"] is of_team["correct"] is None
