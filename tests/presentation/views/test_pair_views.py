"""Views of a report and of its parts."""

import datetime as dt
import re
from collections.abc import Mapping
from enum import Enum

import attrs
import pytest
from fragments import by_rich, read_fragment
from generators import odd_texts, reports
from hypothesis import given, settings
from needs import need_package

from cooperbench_eval.git.merging.conflicts import (
    Conflict,
    ConflictDetails,
    FileConflicts,
    LedgerRow,
    ModelUsage,
)
from cooperbench_eval.git.patching.patch_parts import HunkPlacement
from cooperbench_eval.languages.hazards.kinds import Hazard
from cooperbench_eval.reporting import (
    Attempt,
    Blame,
    Failure,
    FeatureReport,
    MergeReport,
    PatchReport,
)
from cooperbench_eval.reporting.agent_costs import AgentRun, AgentUsage
from cooperbench_eval.reporting.teams import with_agents
from cooperbench_eval.running.results import Judgement, TestCase, TestResult
from cooperbench_eval.support.rendering.visible import visible


def a_run(passed, failed=0, **facts):
    """A run with cases `t0`, `t1` and so on, the last ones of which fail."""
    ends = ["passed"] * passed + ["failed"] * failed
    cases = [
        TestCase(id=f"t{number}", status=end, message=f"E{number}\nmore" * (end == "failed"))
        for number, end in enumerate(ends)
    ]
    return TestResult(status="failed" if failed else "passed", cases=cases, **facts)


DETAILS = ConflictDetails(
    conflict_sections=2,
    conflict_lines=11,
    conflict_score=62,
    severity="HIGH",
    files=[
        FileConflicts(path="a.py", sections=1, lines=1, score=22),
        FileConflicts(path="b.py", sections=1, lines=10, score=40),
    ],
)


def a_report(**facts):
    """A pair that conflicts; union breaks feature 4, and llm fails."""
    usage = ModelUsage(model="gpt", requests=3, prompt_tokens=1200, completion_tokens=34)
    attempts = [
        Attempt(
            strategy="naive",
            implementation="",
            status="conflicts",
            conflicts_met=2,
            conflict_details=DETAILS,
            ledger=[LedgerRow(path="a.py", reason="left")],
        ),
        Attempt(
            strategy="union",
            implementation="",
            status="resolved",
            feature1_tests=a_run(3, 9),
            feature2_tests=a_run(5),
            duration_seconds=0.25,
        ),
        Attempt(
            strategy="llm", implementation="", status="failed", failure="no answer", usage=[usage]
        ),
    ]
    patch = PatchReport(status="applied", hunks=[HunkPlacement(path="a.py", hunk=1)])
    plain = {
        "repo_name": "click",
        "task_id": 2068,
        "timestamp": dt.datetime(2026, 1, 31, 12, 30, tzinfo=dt.UTC),
        "feature1": FeatureReport(number=4, patch=patch, tests=a_run(12), base_tests=a_run(7, 5)),
        "feature2": FeatureReport(number=7, patch=patch, tests=a_run(5)),
        "conflict_details": DETAILS,
        "conflicts": [Conflict(path="a.py", base=b"", ours=b"x", theirs=b"z", line=3)],
        "attempts": attempts,
        "base_tree_id": "6" * 40,
        "base_commit": "5" * 40,
        "model": "gpt-5",
        "setting": "coop",
        "versions": {"git": "2"},
    }
    return MergeReport(**plain | facts)


def words_of(text):
    """The words and numbers of a text, wherever its lines break."""
    return set(re.findall(r"[\w.%/]+", text))


def with_texts(value, text):
    """Put *text* into every text of a record at any depth; strategy names stay different."""
    if isinstance(value, str) and not isinstance(value, Enum):
        return text
    if isinstance(value, tuple):
        return tuple(
            attrs.evolve(with_texts(each, text), strategy=f"{text}{number}")
            if isinstance(each, Attempt)
            else with_texts(each, text)
            for number, each in enumerate(value)
        )
    if isinstance(value, Mapping):
        return {text: text}
    if attrs.has(type(value)):
        names = [each.name for each in attrs.fields(type(value))]
        return attrs.evolve(
            value, **{name: with_texts(getattr(value, name), text) for name in names}
        )
    return value


def test_a_report_is_shown_in_a_dozen_lines():
    """The pair, its conflicts, each feature alone, each strategy, and the lost tests."""
    assert str(a_report()).splitlines() == [
        "click/2068: feature 4 merged into feature 7",
        "gpt-5, coop, try 1, evaluated 2026-01-31 12:30+00:00, base commit 555555555555",
        "git leaves 2 conflict sections with 11 lines, score 62 (HIGH) in b.py (40), a.py (22)",
        "feature  patch    its tests alone  its tests on the base",
        "  4      applied  passed 12/12     failed 7/12",
        "  7      applied  passed 5/5",
        "strategy  merge      verdict    to blame                   tests of 4   tests of 7",
        "  naive   conflicts  unhandled  the conflict",
        "  union   resolved   incorrect  the merge broke feature 4  failed 3/12  passed 5/5",
        "  llm     failed     unhandled  the strategy failed",
        "union lost 9 tests of feature 4: t3, t4, t5 and 6 more",
        "llm failed: no answer",
    ]


@pytest.mark.parametrize(
    ("facts", "line"),
    [
        (
            {"failure": Failure(kind="test_run", problem="no python")},
            "not evaluated, test run: no python",
        ),
        ({"conflict_details": None}, "missing input: a patch is empty or does not apply"),
        (
            {
                "conflict_details": ConflictDetails(
                    conflict_sections=0, conflict_lines=0, conflict_score=0, severity="NONE"
                )
            },
            "git merges the two without a conflict, score 0",
        ),
    ],
    ids=["failure", "missing", "clean"],
)
def test_the_third_line_says_how_the_sides_merge(facts, line):
    """A pair that was not evaluated, one with a missing side and a clean one all differ."""
    assert str(a_report(**facts)).splitlines()[2].startswith(line)


def test_the_other_features_tests_have_a_column_if_they_ran():
    """Without such a run the table has no column for it."""
    lead = attrs.evolve(a_report().feature1, other_tests=a_run(1, 1))

    text = str(a_report(feature1=lead))

    assert "the other's tests alone" in text
    assert re.search(r"4 +applied +passed 12/12 +failed 7/12 +failed 1/2", text)


@pytest.mark.parametrize("width", [80, 40])
def test_rich_shows_all_that_text_shows(width):
    """Every word and number is there, even on a narrow terminal."""
    report = a_report()

    for result in (report, report.attempt("union"), report.blame("union"), DETAILS, a_run(3, 9)):
        assert words_of(str(result)) <= words_of(by_rich(result, width))


def test_html_shows_all_that_text_shows():
    """Every word and number is there."""
    report = a_report()

    for result in (report, report.attempt("llm"), report.blame("union"), DETAILS, a_run(3, 9)):
        texts = " ".join(read_fragment(result._repr_html_()).texts)
        assert words_of(str(result)) <= words_of(texts)


@settings(max_examples=40)
@given(reports())
def test_any_report_can_be_shown(report):
    """Whatever a report holds, each rendering of it and of its rows is valid and small."""
    for result in (report, *report.attempts, report.feature1.tests, report.conflict_details):
        if result is not None:
            html = result._repr_html_()
            read_fragment(html)
            assert len(html) < 20_000
            assert str(result).replace("\n", "").isprintable()
    assert by_rich(report, 60)


@given(odd_texts())
def test_no_text_of_a_report_becomes_markup(text):
    """Any text can be anywhere in a report, and names stay recognisable."""
    report = with_texts(a_report(failure=Failure(kind="error", problem="p")), text)

    found = read_fragment(report._repr_html_())

    assert f"{visible(text, 40)}/2068: feature 4 merged into feature 7" in found.lines
    assert [row[0] for row in found.rows[-3:]] == [visible(f"{text}{n}", 40) for n in range(3)]
    assert str(report).replace("\n", "").isprintable()


@pytest.mark.parametrize("text", ["x" * 10**6, '"' * 10**6, "\x1b" * 10**6, "漢" * 10**6])
def test_every_report_is_small(text):
    """Long texts, ten thousand lost tests and a hundred strategies take at most 20 kB."""
    one = with_texts(a_report(), text)
    cases = [TestCase(id=f"{number}{text[:200]}", status="passed") for number in range(10_000)]
    lost = [attrs.evolve(case, status="failed") for case in cases]
    alone = TestResult(status="passed", cases=cases)
    merged = TestResult(status="failed", cases=lost, reason=text)
    attempts = [
        attrs.evolve(each, strategy=f"{number}{text}", feature1_tests=merged, feature2_tests=merged)
        for number, each in enumerate(one.attempts * 34)
    ]
    features = [attrs.evolve(each, tests=alone) for each in (one.feature1, one.feature2)]
    report = attrs.evolve(one, feature1=features[0], feature2=features[1], attempts=attempts)

    html = report._repr_html_()

    assert len(html.encode()) < 20_000
    assert "and 94 more strategy rows" in html
    assert "lost 10,000 tests of feature 4" in html


def test_an_attempt_shows_its_work():
    """Conflicts met and left, models asked and their cost, and both features' tests."""
    report = a_report()

    assert str(report.attempt("naive")) == (
        "naive: conflicts, unhandled\n"
        "met 2 conflicts, left 2 conflict sections with 11 lines, score 62 (HIGH), took 0 seconds"
    )
    assert str(report.attempt("llm")).splitlines()[2:] == [
        "asked gpt 3 times: 1,200 tokens read, 34 written, price unknown",
        "it failed: no answer",
    ]
    assert "failed 3/12" in str(report.attempt("union"))


def test_tokens_from_a_cache_are_named():
    """This holds for strategies and agents; nothing is shown if there are none."""
    [asked] = a_report().attempt("llm").usage
    cached = attrs.evolve(
        a_report().attempt("llm"), usage=[attrs.evolve(asked, cached_tokens=1000)]
    )
    usage = AgentUsage(input_tokens=1200, cache_read_tokens=1, output_tokens=3)
    report = with_agents(
        a_report(), dict.fromkeys(a_report().numbers, AgentRun(features=[4, 7], usage=usage))
    )

    assert "asked gpt 3 times: 1,200 tokens read (1,000 from a cache), 34 written," in str(cached)
    assert (
        "the agents' work: 1,200 tokens read, 1 token read from a cache, 3 tokens written"
        in str(report)
    )


@pytest.mark.parametrize(
    ("kind", "features", "words"),
    [
        ("missing_side", [4], "no usable patch of feature 4"),
        ("broken_alone", [4, 7], "features 4 and 7 broken alone"),
        ("conflict", [], "the conflict, or the strategy's failure"),
        ("merge_broke_both", [4, 7], "the merge broke features 4 and 7"),
        ("unknown", [], "not known"),
        ("nobody", [], "nobody"),
    ],
)
def test_each_kind_of_blame_has_words(kind, features, words):
    """They name the features concerned."""
    assert str(Blame(kind=kind, features=features)) == f"to blame: {words}"


def test_a_blame_lists_lost_tests():
    """It names the first twenty, one on each line, and counts the others."""
    blame = Blame(kind="merge_broke_feature2", features=[7], lost_tests2=map(str, range(25)))

    lines = str(blame).splitlines()

    assert lines[1] == "25 tests of the second feature lost"
    assert lines[2:] == [f"  {number}" for number in range(20)] + ["  and 5 more"]


def test_a_run_lists_what_did_not_pass():
    """Ten cases with the first line of their message, the number of others, and the reason."""
    run = a_run(
        2,
        12,
        reason="exit status 3",
        sandbox="local",
        duration_seconds=1.5,
        missing_tests=["t9"],
        repeats=["failed", "passed"],
        repeat_policy="all",
    )

    lines = str(run).splitlines()

    assert lines[:4] == [
        "failed 2/14",
        "1.5 seconds in the sandbox local",
        "exit status 3",
        "run 2 times: failed, passed, all had to pass",
    ]
    assert [line.split() for line in lines[6:8]] == [
        ["t2", "failed", "E2"],
        ["t3", "failed", "E3"],
    ]
    assert lines[4] == "did not run: t9"
    assert lines[-1] == "  and 2 more"


def test_conflicts_list_the_worst_file_first():
    """Measured conflicts are shown file by file."""
    assert str(DETAILS).splitlines()[2:] == [
        "  b.py         1     10     40",
        "  a.py         1      1     22",
    ]


def test_a_notebook_shows_the_html():
    """IPython's own formatter finds it, and its plain text is still the record's `repr`."""
    report = a_report()

    formatters = need_package("IPython.core.formatters")

    shown, _ = formatters.DisplayFormatter().format(report)

    assert shown["text/html"] == report._repr_html_()
    assert shown["text/plain"] == repr(report)


def a_judged_report():
    """A clean merge whose joint tests fail, beside a case that already fails on the base."""
    own = judged(preexisting=["t3"])
    hazard = Hazard(
        kind="declared_twice", path="a.py", line=7, name="f", message="both add f", features=[4, 7]
    )
    attempt = Attempt(
        strategy="naive",
        implementation="",
        status="clean",
        feature1_tests=a_run(3, 1),
        feature1_judgement=own,
        feature2_tests=a_run(5),
        joint_tests=a_run(0, 1),
        regression_tests=a_run(9),
        hazards=[hazard],
    )
    report = a_report(attempts=[attempt], judge="delta", base_joint_tests=a_run(1))
    one = attrs.evolve(report.feature1, tests=a_run(3, 1), judgement=own)
    return attrs.evolve(
        report, feature1=one, feature2=attrs.evolve(report.feature2, tests=a_run(5))
    )


def judged(**facts):
    """A judgement in which nothing is broken."""
    return Judgement(broken=(), **facts)


def test_a_report_shows_how_its_runs_count():
    """Which failed runs count as passed, the pair's own suites, warnings and hazards."""
    text = str(a_judged_report())

    assert text.count("failed 3/4, counts as passed") == 2
    assert "joint tests" in text
    assert "the repository's tests" in text
    assert "the merge broke the joint tests" in text
    assert "naive lost 1 test of both features together: t0" in text
    assert "Feature 4 alone fails under the absolute rule, but not here: t3 already fails" in text
    assert "The joint tests pass on the base, so they prove nothing about the merge." in text
    assert "hazard in a.py, line 7: both add f" in text


def test_parts_of_a_report_show_the_pairs_own_suites():
    """An attempt has a row for each suite and its hazards; blame lists the lost joint tests."""
    report = a_judged_report()
    attempt, blame = str(report.attempts[0]), str(report.blame("naive"))

    for words in ("of both together", "of the repository", "hazard in a.py, line 7"):
        assert words in attempt
    assert "1 test of both features together lost" in blame


def test_a_lost_tests_name_is_not_cut():
    """Names of tests are longer than others, and differ at their end."""
    name = "tests/test_shell_completion.py::test_shell_completion_resolve_context_with_on_exit"
    report = a_report()
    passed = TestResult(status="passed", cases=[TestCase(id=name, status="passed")])
    failed = TestResult(status="failed", cases=[TestCase(id=name, status="failed")])
    first = attrs.evolve(report.feature1, tests=passed)
    attempts = [attrs.evolve(each, feature1_tests=failed) for each in report.attempts]
    report = attrs.evolve(report, feature1=first, attempts=attempts)

    assert f": {name}\n" in f"{report}\n"


def test_a_report_says_why_the_tests_gave_no_result():
    """Once, if it is the same reason for both features; a failed test needs no reason."""
    report = a_report()
    problem = TestResult(status="inconclusive", reason="venv/bin/python has no module pytest")
    failed = TestResult(status="failed", reason="exit status 1", cases=[])
    first, second = (report.feature1.number, report.feature2.number)

    def shown(run1, run2):
        features = {
            "feature1": attrs.evolve(report.feature1, tests=run1),
            "feature2": attrs.evolve(report.feature2, tests=run2),
        }
        return str(attrs.evolve(report, **features))

    both = f"the tests of features {first} and {second} alone, inconclusive: venv/bin/python has no"
    one = f"the tests of feature {second} alone, inconclusive: venv/bin/python has no"
    assert shown(problem, problem).count(both) == 1
    assert shown(failed, problem).count(one) == 1
    assert "alone, " not in shown(failed, failed)
