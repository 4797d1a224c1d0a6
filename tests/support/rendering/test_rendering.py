"""One view as text, as HTML and by rich."""

import subprocess
import sys

import pytest
from fragments import by_rich, read_fragment
from generators import lists_of, odd_texts
from hypothesis import given

from cooperbench_eval.support.rendering.renderers import ROWS, html_text, plain_text
from cooperbench_eval.support.rendering.terminal import renderable
from cooperbench_eval.support.rendering.view import Cell, Section, Table, Tone, View
from cooperbench_eval.support.rendering.visible import visible

HEADER = ("name", "kind", "count")
HOSTILE = (
    "<script>alert(1)</script>",
    "</td></table><img src=x onerror=alert(1)>",
    "<!-- & &lt; &#60; ]]>",
    "\" onmouseover='x' style=\"position:fixed",
    "[bold red]x[/] [link=http://e.org]y[/link] :boom:",
    "\x1b[31mred\x1b]8;;http://e.org\x07link\x9b2J",
    "nul\0 bell\a back\b\b\b line\nfeed\r",
    "user\u202etxt.exe\u2066\u200b",
    "half \udcff",
    "$x_1$ \\alpha",
)


def table(*rows, title=""):
    """A table of one section."""
    return Table(header=HEADER, sections=[Section(title=title, rows=rows)], numbers=1)


def printed(view, width=80, **options):
    """What rich prints of a view on a terminal of that width."""
    return by_rich(renderable(view), width, **options)


def test_text_is_aligned():
    """Names are aligned left and numbers right, with wide characters counted as two columns."""
    view = View(
        title="Title",
        lines=["One."],
        tables=[table(["a", "漢", "1"], ["bcd", "ef", "1,234"], title="all")],
        notes=["Note."],
    )

    assert plain_text(view).splitlines() == [
        "Title",
        "One.",
        "name   kind  count",
        "all",
        "  a    漢        1",
        "  bcd  ef    1,234",
        "Note.",
    ]


def test_html_has_a_row_for_each_row():
    """The header, section titles and rows are those of the table, and a tone is a colour."""
    view = View(title="T", tables=[table(["a", Cell("b", Tone.BAD), "1"], title="all")])

    found = read_fragment(html_text(view))

    assert found.rows == [["name", "kind", "count"], ["all"], ["a", "b", "1"]]
    assert any("color:" in style for style in found.styles)


def test_rich_prints_a_table_if_it_fits():
    """Each row is a line, and numbers are aligned right."""
    view = View(title="T", tables=[table(["a", "b", "1"], ["a", "b", "12"])])

    lines = printed(view).splitlines()

    assert [line.split() for line in lines] == [
        ["T"],
        ["name", "kind", "count"],
        ["a", "b", "1"],
        ["a", "b", "12"],
    ]
    assert lines[2].rstrip().endswith(" 1")


def test_rich_prints_a_list_if_the_table_does_not_fit():
    """No number is broken over two lines: each cell follows the name of its column."""
    numbers = [f"{number:,}" for number in (1_234_567, 2_345_678)]
    view = View(title="T", tables=[table(*([f"row-{n}", "b", n] for n in numbers), title="all")])

    text = printed(view, width=18)

    assert "all\nname row-1,234,567\n" in text
    assert all(text.split().count(number) == 1 for number in numbers)


def test_tones_are_colours():
    """A terminal with colours shows good and bad texts in different ones."""
    row = [Cell("a"), Cell("good", Tone.GOOD), Cell("bad", Tone.BAD)]

    text = printed(View(title="T", tables=[table(row)]), color_system="standard", force_terminal=1)

    assert "\x1b[34mgood" in text
    assert "\x1b[33m  bad" in text


@given(lists_of(odd_texts()), odd_texts(), odd_texts())
def test_texts_stay_texts_in_html(cells, title, line):
    """Any text appears as text, at its place in the fragment, and never as markup."""
    rows = [[cell, cell, cell] for cell in cells]

    found = read_fragment(html_text(View(title=title, lines=[line], tables=[table(*rows)])))

    assert found.rows[1:] == [[visible(cell)] * 3 for cell in cells]
    assert {visible(title), visible(line)} <= {"", *found.lines}


@pytest.mark.parametrize("text", HOSTILE)
def test_a_hostile_text_is_shown_and_has_no_effect(text):
    """Markup of HTML and of rich, and escape sequences, appear as readable text."""
    view = View(title=text, lines=[text], tables=[table([text] * 3, title=text)], notes=[text])

    found = read_fragment(html_text(view))
    terminal = printed(view, width=300, color_system="truecolor", force_terminal=True)
    plain = plain_text(view)

    assert found.rows[1:] == [[visible(text)], [visible(text)] * 3]
    assert found.lines.count(visible(text)) == 3
    assert plain.count(visible(text)) == 7
    assert terminal.count(visible(text)) == 7
    assert plain.replace("\n", "").isprintable()
    codes = terminal.split("\x1b[")[1:]
    assert all(code.partition("m")[0] in {"0", "1", "2"} for code in codes)


@pytest.mark.parametrize("render", [html_text, plain_text, printed])
def test_a_long_text_is_cut(render):
    """A megabyte of text takes a few lines, which say how much is left out."""
    view = View(title="x" * 10**6, tables=[table(["y" * 10**6, "", ""])])

    text = render(view)

    assert len(text) < 3_000
    assert " ".join(text.split()).count("999,700 more characters") == 2


def test_html_of_a_long_table_is_small():
    """The first and last rows are there, and a row between them counts the others."""
    rows = [[str(number), '"' * 10**4, "1"] for number in range(5_000)]

    html = html_text(View(title="T", tables=[table(*rows)]))

    shown = read_fragment(html).rows
    assert len(html.encode()) < 300_000
    assert shown[1][0] == "0"
    assert shown[-1][0] == "4999"
    assert len(shown) == 1 + ROWS + 1
    assert [row for row in shown if len(row) == 1] == [
        ["… 4,900 rows are left out; print shows all of them …"]
    ]


def test_text_and_rich_have_every_row():
    """A summary of a thousand tasks prints a thousand rows."""
    view = View(title="T", tables=[table(*([f"row{number}", "b", "1"] for number in range(1_000)))])

    assert "row999" in plain_text(view)
    assert plain_text(view).count("row") == printed(view).count("row") == 1_000


def test_a_row_has_a_cell_for_each_column():
    """A row of another length than the header is an error."""
    with pytest.raises(ValueError, match="1 cells in 3 columns"):
        table(["a"])


def test_an_empty_table_has_its_header():
    """A table without rows is not an error."""
    view = View(title="T", tables=[table()])

    assert plain_text(view) == "T\nname  kind  count"
    assert read_fragment(html_text(view)).rows == [["name", "kind", "count"]]
    assert printed(view).split() == ["T", "name", "kind", "count"]


WITHOUT_RICH = """
import sys
sys.modules["rich"] = None
import cooperbench_eval as ce
rate = ce.analysis.Rate(1, 2)
assert "1/2" in str(rate) and "1/2" in rate._repr_html_()
rendered = {"IPython", "matplotlib", "cooperbench_eval.support.rendering.terminal"}
assert not rendered & set(sys.modules)
rate.__rich__()
"""


def test_only_rich_needs_rich():
    """Text and HTML work without rich; if it is missing, the error names the extra to install."""
    done = subprocess.run(
        [sys.executable, "-c", WITHOUT_RICH], capture_output=True, text=True, check=False
    )

    assert "pip install 'cooperbench-eval[rich]'" in done.stderr
