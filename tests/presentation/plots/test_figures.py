"""What all figures have in common."""

import os
import re
import subprocess
import sys
from xml.etree import ElementTree as ET

import pytest
from drawn import legend_of, saved, ticks_of
from made_pairs import attempt, pair
from made_teams import row, team
from matplotlib import rc_context
from matplotlib.figure import Figure
from matplotlib.text import Text
from needs import need_package

from cooperbench_eval import summarize
from cooperbench_eval.analysis.policies import Policy
from cooperbench_eval.presentation.plots import (
    plot_effort,
    plot_matrix,
    plot_teams,
    plot_tries,
    plot_verdicts,
)

HOSTILE = '_$\\frac{_a}^b$ <&">\n\x1b'
SHOWN = r'_$\frac{_a}^b$ <&">\n\x1b'
LONG = "x" * 10_000


def facts_with(name, **facts):
    """A pair whose names are all *name*."""
    rows = [attempt(name, "resolved ++"), attempt(f"{name}2", "conflicts")]
    return pair(naive="conflicts", facts={"repo_name": name, "attempts": rows} | facts)


def team_with(name):
    """A team whose one strategy has the name *name*."""
    return team(3, row(name, "conflicts unhandled 3:conflict"))


def drawings(name):
    """A figure of each kind, with *name* for every name; and of the matrix both kinds."""
    facts = [facts_with(name)]
    summary = summarize(facts, by="repo_name", policies=[Policy(name=name, strategies=[name])])
    return {
        "scores": lambda **options: plot_matrix(facts, **options),
        "matrix": lambda **options: plot_matrix(facts, strategy=name, **options),
        "verdicts": lambda **options: plot_verdicts(summary, **options),
        "effort": lambda **options: plot_effort(summary, **options),
        "tries": lambda **options: plot_tries(facts, [name, "strict"], **options),
        "teams": lambda **options: plot_teams([team_with(name)], **options),
    }


KINDS = pytest.mark.parametrize("kind", drawings("a"))


@KINDS
def test_a_figure_is_saved(kind):
    """Nothing but the returned figure is needed for that."""
    assert saved(drawings("union")[kind](), "png").startswith(b"\x89PNG")


@KINDS
@pytest.mark.parametrize(("name", "shown"), [(HOSTILE, SHOWN), (LONG, "x" * 29 + "…")])
def test_a_name_is_only_a_name(kind, name, shown):
    """It opens no formula, is not left out, stays on its line and is not endless."""
    figure = drawings(name)[kind]()

    with rc_context({"svg.fonttype": "none"}):
        svg = saved(figure, "svg")

    drawn = "".join(ET.fromstring(svg).itertext())  # noqa: S314
    assert shown in drawn
    assert len(svg) < 200_000


@KINDS
def test_no_name_is_given_to_tex(kind):
    """Not even where the host has all of its texts set by TeX."""
    with rc_context({"text.usetex": True}):
        figure = drawings(HOSTILE)[kind]()

    special = [text for text in figure.findobj(Text) if re.search("[$%_]", text.get_text())]
    assert special
    assert not any(text.get_usetex() or text.get_parse_math() for text in special)


@KINDS
def test_a_figure_is_drawn_on_the_hosts_axes(kind):
    """It is the host's figure then, and what it returns."""
    host = Figure()
    ax = host.add_subplot(1, 2, 2)

    assert drawings("union")[kind](ax=ax) is host
    assert ax.get_xlabel()


@KINDS
def test_axes_and_names_are_described(kind):
    """Both axes say what they are of, and a name of the data stands somewhere."""
    figure = drawings("union")[kind]()

    ax = figure.axes[0]

    assert ax.get_xlabel()
    told = [*legend_of(ax), *ticks_of(ax.yaxis), ax.get_title(loc="left"), ax.get_ylabel()]
    assert any("union" in each for each in told)
    assert re.search(r"\b1\b", " ".join([*told, *(text.get_text() for text in ax.texts)]))


def test_a_notebook_shows_a_figure():
    """It appears as a picture without pyplot, and with any imports of the notebook."""
    formatters = need_package("IPython.core.formatters")

    shown, _ = formatters.DisplayFormatter().format(drawings("union")["effort"]())

    assert shown["image/png"].startswith(b"\x89PNG")


GUEST = """
import sys
from made_pairs import pair
from cooperbench_eval import summarize
from cooperbench_eval.presentation.plots import plot_matrix, plot_verdicts
assert "matplotlib" not in sys.modules
pairs = [pair(naive="clean ++")]
import matplotlib
before = matplotlib.rcParams.copy()
plot_matrix(pairs)
plot_verdicts(summarize(pairs))
assert matplotlib.rcParams.copy() == before
assert "matplotlib.pyplot" not in sys.modules
"""


def run(code):
    """Run Python code by itself, with this suite's helpers."""
    return subprocess.run(
        [sys.executable, "-c", code],
        capture_output=True,
        text=True,
        check=False,
        env=os.environ | {"PYTHONPATH": os.pathsep.join(filter(None, sys.path))},
    )


@pytest.mark.long
def test_drawing_changes_nothing_of_the_host():
    """Settings stay what they were, and pyplot unknown."""
    done = run(GUEST)

    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")


WITHOUT = """
import sys
sys.modules["matplotlib"] = None
from cooperbench_eval import summarize
from cooperbench_eval.presentation.plots import plot_verdicts
from made_pairs import pair
plot_verdicts(summarize([pair(naive="clean ++")]))
"""


def test_a_missing_library_names_its_extra():
    """Nothing else needs it, not even to have the functions' names."""
    assert "pip install 'cooperbench-eval[plots]'" in run(WITHOUT).stderr
