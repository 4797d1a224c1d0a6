"""The conflict score: the formula of the specification over conflict records."""

import pytest
from attrs import evolve
from generators import conflicts, lists_of
from hypothesis import given

from cooperbench_eval import Conflict, ConflictKind, ConflictScorer
from cooperbench_eval.git.merging.conflicts import Severity


def clash(path="f", ours=b"1\n", theirs=b"2\n", line=1):
    """Make a conflict between lines."""
    return Conflict(path=path, base=b"", ours=ours, theirs=theirs, line=line)


def test_the_formula_is_twenty_a_section_and_two_a_line():
    """Two sections and eleven lines score 62, unlike in an old sample report."""
    found = [clash(ours=b"x\n" * 6, theirs=b"y\n"), clash(ours=b"x\n", theirs=b"y\n" * 3, line=20)]

    details = ConflictScorer().score(found)

    assert (details.conflict_sections, details.conflict_lines) == (2, 11)
    assert details.conflict_score == 62
    assert details.avg_lines_per_conflict == 5.5


def test_no_conflict_scores_nothing():
    """A merge without conflicts has score 0 and severity NONE."""
    details = ConflictScorer().score([])

    assert (details.conflict_score, details.severity, details.files) == (0, Severity.NONE, ())
    assert details.avg_lines_per_conflict == 0.0


@pytest.mark.parametrize(
    ("ours", "theirs", "lines"),
    [
        (b"", b"", 0),
        (None, None, 0),
        (b"1\n", b"", 1),
        (b"1\n2\n", b"3\n", 3),
        (b"1\n2", b"", 2),
        (b"\n", b"\n\n", 3),
        (b"1\r\n2\r\n", b"1\r2\n", 3),
        (b"<<<<<<< ours\n=======\n>>>>>>> theirs\n", b"", 3),
    ],
)
def test_lines_of_both_sides_are_counted(ours, theirs, lines):
    """A last line without newline counts; lines of the base and markers do not."""
    conflict = Conflict(path="f", base=b"1\n2\n3\n", ours=ours, theirs=theirs, line=7)

    assert ConflictScorer().score([conflict]).conflict_lines == lines


@pytest.mark.parametrize("kind", ConflictKind)
def test_a_conflict_without_lines_is_one_section(kind):
    """A conflict over whole contents counts as one section without lines."""
    whole = Conflict(path="f", kind=kind, base=b"1\n", ours=b"2\n2\n", theirs=None)

    details = ConflictScorer().score([whole])

    assert (details.conflict_sections, details.conflict_lines) == (1, 0)
    assert details.conflict_score == 20


@pytest.mark.parametrize(
    ("score", "severity"),
    [
        (0, "NONE"),
        (1, "LOW"),
        (20, "LOW"),
        (21, "MEDIUM"),
        (50, "MEDIUM"),
        (51, "HIGH"),
        (100, "HIGH"),
        (101, "CRITICAL"),
    ],
)
def test_severity_borders_are_inclusive(score, severity):
    """Up to 20 is LOW, up to 50 MEDIUM, up to 100 HIGH; above is CRITICAL."""
    scorer = ConflictScorer(per_section=0, per_line=1)

    details = scorer.score([clash(ours=b"x\n" * score, theirs=b"")])

    assert details.severity.value == severity


def test_each_file_has_its_own_figures():
    """The details list files by path, and their sums are the totals."""
    details = ConflictScorer().score([clash("b"), clash("a", ours=b"1\n2\n"), clash("b", line=9)])

    rows = [(file.path, file.sections, file.lines, file.score) for file in details.files]
    assert rows == [("a", 1, 3, 26), ("b", 2, 4, 48)]
    assert details.conflict_score == 74


def test_the_weights_are_arguments():
    """A scorer with other weights has another formula."""
    assert ConflictScorer(per_section=1, per_line=0).score([clash()]).conflict_score == 1


@pytest.mark.parametrize("weights", [{"per_section": -1}, {"per_line": -1}])
def test_a_negative_weight_is_rejected(weights):
    """A conflict never lowers the score."""
    with pytest.raises(ValueError, match="per_"):
        ConflictScorer(**weights)


@given(lists_of(conflicts()), conflicts())
def test_one_more_conflict_scores_more(found, another):
    """The score is 0 only without conflicts, and grows with each."""
    scorer = ConflictScorer()

    before, after = scorer.score(found), scorer.score([*found, another])

    assert (before.conflict_score == 0) is (not found)
    assert after.conflict_score >= before.conflict_score + 20
    assert before.conflict_score == sum(file.score for file in before.files)


@given(lists_of(conflicts()))
def test_order_does_not_matter(found):
    """The same conflicts in another order are measured the same."""
    scorer = ConflictScorer()

    assert scorer.score(reversed(found)) == scorer.score(found)


@given(lists_of(conflicts()))
def test_the_totals_are_the_sums_over_files(found):
    """This holds for sections, lines and score; each file is listed once, by path."""
    details = ConflictScorer().score(found)

    assert details.conflict_sections == sum(file.sections for file in details.files)
    assert details.conflict_lines == sum(file.lines for file in details.files)
    assert details.conflict_score == sum(file.score for file in details.files)
    assert [file.path for file in details.files] == sorted({each.path for each in found})


@given(lists_of(conflicts()))
def test_swapping_the_sides_changes_nothing(found):
    """Swapped sides have the same conflicts and the same score."""
    swapped = [evolve(each, ours=each.theirs, theirs=each.ours) for each in found]

    assert ConflictScorer().score(swapped) == ConflictScorer().score(found)
