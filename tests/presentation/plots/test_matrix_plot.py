"""The matrix of a task's pairs."""

import itertools

import pytest
from drawn import legend_of, saved, texts_of, ticks_of
from made_pairs import pair
from matplotlib.patches import Rectangle

from cooperbench_eval.errors import AnalysisError
from cooperbench_eval.presentation.plots import plot_matrix

FAILED = {"merge_status": "not_evaluated", "conflict_score": None, "failure": "repository"}


def cells_of(ax):
    """The colour and hatch of each cell, by its column and row."""
    return {
        (round(box.get_x() + 0.5), round(box.get_y() + 0.5)): (
            box.get_facecolor(),
            box.get_hatch(),
        )
        for box in ax.patches
        if isinstance(box, Rectangle)
    }


def a_task():
    """Four features: 3 and 10 have no report, and 1 and 12 were not evaluated."""
    scores = {(1, 3): 0, (10, 1): 24, (3, 12): 1880}
    found = [
        pair(
            naive="conflicts" if score else "clean ++",
            features=two,
            facts={"conflict_score": score},
        )
        for two, score in scores.items()
    ]
    missing = pair(naive="not_tried", features=(10, 12))
    return [*found, missing, pair(naive="failed", features=(1, 12), facts=FAILED)]


def test_a_cell_is_the_score_of_its_pair():
    """Below the diagonal, in the order of the numbers, whichever feature is first."""
    ax = plot_matrix(a_task()).axes[0]

    assert ticks_of(ax.xaxis) == ["1", "3", "10"]
    assert ticks_of(ax.yaxis) == ["3", "10", "12"]
    assert texts_of(ax) == {
        ((0, 1), "0"),
        ((0, 2), "24"),
        ((1, 3), "1880"),
        ((2, 3), "M"),
        ((0, 3), "?"),
    }
    assert ax.get_title(loc="left") == "click/1, 5 pairs"
    assert legend_of(ax) == ["M: missing input (1)", "?: unanswered (1)"]


def test_worse_conflicts_are_darker():
    """White is clean, and shades fall with the score; what has no score has a hatch."""
    cells = cells_of(plot_matrix(a_task()).axes[0])

    clean, some, many = (cells[place][0][:3] for place in ((0, 1), (0, 2), (1, 3)))
    assert sum(clean) > 2.8 > sum(some) > sum(many)
    assert cells[0, 3][1]
    assert set(cells) == {(0, 1), (0, 2), (1, 3), (2, 3), (0, 3)}


def test_a_strategys_verdicts_are_letters():
    """The legend says which and how many; a strategy without a row has no answer."""
    words = ["resolved ++", "resolved +-", "conflicts", "not_tried", "clean ..", "resolved !+"]
    two = itertools.combinations(range(1, 5), 2)
    facts = [pair(naive="conflicts", union=word, features=next(two)) for word in words]
    facts[0] = pair(naive="conflicts", features=(1, 2))

    ax = plot_matrix(facts, strategy="union").axes[0]

    assert {(place, letter) for place, letter in texts_of(ax)} == {
        ((0, 1), "?"),
        ((0, 2), "I"),
        ((0, 3), "U"),
        ((1, 2), "M"),
        ((1, 3), "?"),
        ((2, 3), "?"),
    }
    assert legend_of(ax) == [
        *("I: incorrect (1)", "U: unhandled (1)", "M: missing input (1)", "?: unanswered (3)"),
    ]
    assert ax.get_title(loc="left").endswith("6 pairs: union")


def test_an_unevaluated_pair_has_no_verdict():
    """Its rows were known before the evaluation and are not answers."""
    facts = pair(naive="clean ++", facts=FAILED)

    ax = plot_matrix([facts], strategy="naive").axes[0]

    assert texts_of(ax) == {((0, 1), "?")}


@pytest.mark.parametrize("count", [2, 12])
def test_numbers_keep_within_their_cells(count):
    """With two features or twelve, every score is readable in its cell."""
    facts = [
        pair(naive="conflicts", features=two, facts={"conflict_score": 9_999})
        for two in itertools.combinations(range(1, count + 1), 2)
    ]
    figure = plot_matrix(facts)
    saved(figure, "png")
    ax = figure.axes[0]

    boxes = {
        (round(box.get_x() + 0.5), round(box.get_y() + 0.5)): box.get_window_extent()
        for box in ax.patches
    }

    assert len(boxes) == count * (count - 1) / 2
    for text in ax.texts:
        inner, outer = text.get_window_extent(), boxes[text.get_position()]
        assert outer.x0 < inner.x0
        assert inner.x1 < outer.x1


def test_many_features_have_no_numbers():
    """Beyond thirty the shade has to do."""
    facts = [pair(naive="conflicts", features=(1, number)) for number in range(2, 33)]

    ax = plot_matrix(facts).axes[0]

    assert texts_of(ax) == set()
    assert len(cells_of(ax)) == 31


def test_a_task_is_named_where_there_are_several():
    """Then only its pairs are drawn."""
    facts = [*a_task(), pair(naive="clean ++", facts={"task_id": 9})]

    assert plot_matrix(facts, task="click/9").axes[0].get_title(loc="left") == "click/9, 1 pair"


SEVERAL = [pair(), pair(facts={"task_id": 2})]


@pytest.mark.parametrize(
    ("facts", "options", "problem"),
    [
        ([], {}, "there is no pair to draw"),
        (SEVERAL, {}, "several tasks; name one of them; available: click/1, click/2"),
        (SEVERAL, {"task": "x"}, "no pair of 'x'; available: click/1, click/2"),
        ([pair(), pair(features=(2, 1))], {}, "features 1 and 2 of click/1 occur twice"),
        ([pair(features=(2, 2))], {}, "has feature 2 on both sides"),
        (
            [pair(naive="clean ++")],
            {"strategy": "x"},
            "no report has a row of 'x'; available: naive",
        ),
        ([pair(features=(0, n)) for n in range(1, 61)], {}, "61 features"),
    ],
)
def test_what_cannot_be_drawn_is_an_error(facts, options, problem):
    """The error says what there is instead."""
    with pytest.raises(AnalysisError, match=problem):
        plot_matrix(facts, **options)
