"""Patches and merges on the page: their files, the words that differ, and the colours."""

import string
from importlib.resources import files
from itertools import groupby

import pytest
from attrs import evolve
from generators import moved_trees
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from page_reports import BASE, CLEAN, CONFLICT, edited, made

import cooperbench_eval as ce
from cooperbench_eval.presentation.page.diffs import diff_files
from cooperbench_eval.presentation.page.embedding import Texts

# --- the data of a diff ---


def data_of(diff, limit=20_000):
    """The data of a diff, and its texts."""
    texts = Texts(limit)
    return diff_files(diff, texts), texts.kept


@given(moved_trees())
def test_the_data_of_a_diff_is_what_the_patch_parser_reads(trees):
    """Whatever the names and contents: the same files, and the same lines in each hunk."""
    base, after, _ = (ce.Snapshot.from_files({}).overlay(ce.Changes(each)) for each in trees)
    diff = ce.Changes.between(base, after).diff(base)

    data, texts = data_of(diff)

    parsed = ce.Patch.parse(diff).files if diff else ()
    assert [each["path"] for each in data["files"]] == [
        file.new_path or file.old_path for file in parsed
    ]
    for shown, file in zip(data["files"], parsed, strict=True):
        bodies = [texts[number] for _, number in shown["hunks"]]
        assert all(left == 0 for _, left in bodies)
        lines = [line for text, _ in bodies for line in text.splitlines() if line[0] != "\\"]
        assert len(lines) == sum(len(hunk.lines) for hunk in file.hunks)
        assert shown["added"] == sum(line[0] == "+" for line in lines)
        assert shown["removed"] == sum(line[0] == "-" for line in lines)


@given(
    st.lists(
        st.sampled_from([b"diff --git ", b"@@ -1 +1 @@", b"\n", b"+", b"--- ", b'"\\', b"\xff"])
    )
)
def test_any_bytes_have_data(pieces):
    """A report may hold anything as a diff."""
    data, _ = data_of(b"".join(pieces))

    assert data["more"] == 0


def test_what_is_too_much_is_counted():
    """Files, hunks and bytes have limits, and each says what is left out."""
    file = b"diff --git a/f b/f\n--- a/f\n+++ b/f\n"
    hunks = b"".join(b"@@ -%d +%d @@\n-a\n+%s\n" % (n, n, b"x" * n) for n in range(1, 251))

    data, _ = data_of(file * 300)
    ((shown,), texts) = data_of(file + hunks)[0]["files"], data_of(file + hunks, limit=100)[1]

    assert (len(data["files"]), data["more"]) == (200, 100)
    assert (len(shown["hunks"]), shown["more"]) == (200, 50)
    assert texts[9] == ("-a\n+xxxxxxxxxx\n", 0)
    assert texts[-1] == ("", 205)
    assert data_of(file + b"@@ -1 +1 @@\n-a\n+%s\n" % (b"x" * 200), limit=100)[1] == [
        ("-a\n+" + "x" * 96, 105)
    ]
    assert sum(len(text) for text, _ in texts) == 100 * 50


def test_a_hunk_that_a_patch_and_a_merge_share_is_kept_once():
    """So a merge adds little to the page."""
    diff = b"diff --git a/f b/f\n--- a/f\n+++ b/f\n@@ -%d +%d @@\n-a\n+b\n"
    texts = Texts(100)

    one, two = (diff_files(diff % (line, line), texts) for line in (3, 9))

    assert one["files"][0]["hunks"] == [["@@ -3 +3 @@", 0]]
    assert two["files"][0]["hunks"] == [["@@ -9 +9 @@", 0]]
    assert len(texts.kept) == 1


# --- the script's functions ---


@pytest.fixture(scope="module")
def script(browser):
    """Run an expression with the functions of the page's script that need no page."""
    page = browser.new_page()
    folder = files("cooperbench_eval.presentation.page")
    source = "".join(folder.joinpath(f"{name}.js").read_text() for name in ("syntax", "diffs"))
    yield lambda expression, given: page.evaluate(
        f"(given) => {{ {source}; return {expression}; }}", given
    )
    page.close()


LINES = st.lists(st.text(string.ascii_lowercase[:3] + " _.('\"#/*`", max_size=12), max_size=6)
IN_BROWSER = settings(
    max_examples=25, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)


@IN_BROWSER
@given(st.lists(st.tuples(LINES, LINES), min_size=5, max_size=20))
def test_the_words_outside_the_marks_are_those_of_both_sides(script, pairs):
    """In their order; so what is marked is exactly the difference."""
    changes = script("given.map(([one, two]) => wordChanges(one, two))", pairs)

    for sides, ranges in zip(pairs, changes, strict=True):
        assert [len(each) for each in ranges] == [len(each) for each in sides]
        if any(marks for side in ranges for marks in side):
            one, two = (
                [w for text, marks in zip(*each, strict=True) for w in unmarked(text, marks)]
                for each in zip(sides, ranges, strict=True)
            )
            assert one == two


def unmarked(text, marks):
    """The words of a line that are outside the marks."""
    for start, end in reversed(marks):
        assert 0 <= start < end <= len(text)
        text = f"{text[:start]} {text[end:]}"
    return "".join(each if each.isalnum() or each == "_" else " " for each in text).split()


@IN_BROWSER
@given(st.lists(st.tuples(LINES, LINES), min_size=5, max_size=20))
def test_a_diff_of_two_texts_leads_from_one_to_the_other(script, pairs):
    """Without the added lines it is the first text, without the removed ones the second."""
    texts = [["".join(f"{line}\n" for line in side) for side in pair] for pair in pairs]

    for (one, two), rows in zip(
        pairs, script("given.map(([one, two]) => textRows(one, two, 1))", texts), strict=True
    ):
        assert [row["text"] for row in rows if row["sign"] != "+"] == one
        assert [row["text"] for row in rows if row["sign"] != "-"] == two
        assert [row["now"] for row in rows if row["sign"] != "-"] == list(range(1, len(two) + 1))


@IN_BROWSER
@given(
    st.sampled_from(
        ["a.py", "a.js", "a.ts", "a.go", "a.rs", "a.yaml", "a.c", "a.bin", "__proto__"]
    ),
    st.lists(LINES, min_size=5, max_size=20),
)
def test_colours_change_no_character(script, path, texts):
    """The pieces of a line are the line, in any language and any state."""
    given = [path, texts]

    shown = script("given[1].map((lines) => lines.map(colourer(given[0], lines)))", given)

    assert [["".join(text for _, text in line) for line in lines] for lines in shown] == texts


@pytest.mark.parametrize(
    ("path", "lines", "kinds"),
    [
        (
            "a.py",
            ['x = "def"  # if', "def f(): pass"],
            ["string", "comment", "keyword", "defined", "keyword"],
        ),
        (
            "a.py",
            ['"""One', "if two", 'three"""', "if x:"],
            ["string", "string", "string", "keyword"],
        ),
        ("a.py", ["if in the text", 'its end."""', "if x:"], ["string", "string", "keyword"]),
        (
            "a.go",
            ["a := `one", "if` // no", "func F() {}"],
            ["string", "string", "comment", "keyword", "defined"],
        ),
        ("a.ts", ["/* one", "if */ let x = 1"], ["comment", "comment", "keyword", "number"]),
        ("a.rs", ["fn f<'a>(x: &'a str) {} // no"], ["keyword", "defined", "keyword", "comment"]),
        ("a.txt", ["if 'x'"], []),
    ],
)
def test_code_is_coloured(script, path, lines, kinds):
    """Texts and comments may go over several lines, or begin before the hunk."""
    shown = script("given[1].map(colourer(given[0], given[1])).flat()", [path, lines])

    found = [kind for kind, _ in shown if kind]
    assert [kind for kind, _ in groupby(found)] == [kind for kind, _ in groupby(kinds)]


# --- the page ---


def test_a_pair_shows_both_patches_and_each_merge(open_page):
    """With the words that differ; strategies with the same tree share a diff."""
    text = b"".join(b"value_%d = call(%d)\n" % (n, n) for n in range(12))
    of = made(
        edited(0, b"value_0 = call(99)\n", text),
        edited(11, b"value_11 = other(11)\n", text),
        base=text,
    )
    page = open_page([of], "#pair=1")

    patches = page.texts(".diff")[:2]
    assert [each.split("\n")[0] for each in patches] == ["Patch of feature 1", "Patch of feature 2"]
    assert "f.py +1 \N{MINUS SIGN}1" in patches[0]
    marks = page.tab.locator(".diff >> nth=0 >> mark").all_inner_texts()
    assert marks == ["call", "other"]
    assert page.texts(".diff h4")[2:] == ["Merge of naive, union"]
    margins = page.tab.locator(".diff >> nth=2 >> .row:is(.added, .removed)").evaluate_all(
        "rows => rows.map(row => row.dataset.margin.trim().replace(/ +/g, ' '))"
    )
    assert margins == ["1 2 -", "1 2 +", "12 1 -", "12 1 +"]


SIX_ORIGINS = b"""\
diff --git a/f.py b/f.py
--- a/f.py
+++ b/f.py
@@ -1,12 +1,15 @@
-0
+of two
 1
-2
+<<<<<<< ours
+the strategy's
+>>>>>>> theirs
 3
+nobody's
 4
 5
-6
+of both
 7
 8
 9
 10
-11
+of one
"""
EDGES = """rows => {
    const light = (colour) => colour.match(/[\\d.]+/g).slice(0, 3).map(Number)
        .map((part) => (part /= 255) <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4)
        .reduce((sum, part, place) => sum + part * [0.2126, 0.7152, 0.0722][place], 0);
    return rows.map((row) => {
        const style = getComputedStyle(row);
        const edge = style.boxShadow.match(/rgb\\([^)]*\\)/)?.[0] ?? null;
        const pair = edge && [light(edge), light(style.backgroundColor)].sort((a, b) => b - a);
        const sign = row.dataset.margin.trim().split(/ +/)[1];
        return [row.innerText.trim(), sign, edge, edge && (pair[0] + 0.05) / (pair[1] + 0.05)];
    });
}"""


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_each_origin_of_a_merged_line_has_a_sign_and_a_colour(open_page, scheme):
    """The legend shows the same six, and the colours have contrast."""
    both = edited(6, b"of both\n")
    of = made(
        edited(0, b"of two\n", edited(2, b"two\n", both)),
        edited(11, b"of one\n", edited(2, b"one\n", both)),
        strategies=("naive",),
    )
    naive = evolve(of.attempts[0], diff=SIX_ORIGINS)
    page = open_page([evolve(of, attempts=[naive])], "#pair=1", context={"color_scheme": scheme})

    rows = page.tab.locator(".diff >> nth=2 >> .row.added").evaluate_all(EDGES)
    assert [row[:2] for row in rows] == [
        ["of two", "2"],
        ["<<<<<<< ours", "!"],
        ["the strategy's", "*"],
        [">>>>>>> theirs", "!"],
        ["nobody's", "?"],
        ["of both", "="],
        ["of one", "1"],
    ]
    colours = {sign: edge for _, sign, edge, _ in rows}
    assert len(set(colours.values())) == 6
    assert min(ratio for *_, ratio in rows) >= 3  # WCAG's limit for what is not text
    legend = page.tab.locator(".legend .sign").evaluate_all(
        "signs => signs.map((s) => [s.innerText, getComputedStyle(s).borderLeftColor])"
    )
    assert dict(legend) == colours
    assert page.texts(".legend li")[2:4] == [
        "= both features did",
        "* a strategy wrote it where the features conflict",
    ]
    patch = page.tab.locator(".diff >> nth=0 >> .row.added").evaluate_all(EDGES)
    assert {edge for _, _, edge, _ in patch} == {None}


def test_a_merge_without_origins_says_why(open_page):
    """Its diff has no margin for them, and there is no legend."""
    patch = evolve(CLEAN.feature1.patch, base_commit="0" * 40)
    page = open_page([evolve(CLEAN, feature1=evolve(CLEAN.feature1, patch=patch))], "#pair=1")

    merge = page.texts(".diff")[2]
    assert "not shown, because a patch starts from another tree" in merge
    assert page.tab.locator(".diff >> nth=2 >> .row.added").first.get_attribute(
        "data-margin"
    ).split() == ["1", "+"]
    assert page.tab.locator(".legend").count() == 0


def test_a_patch_that_was_not_applied_or_not_recorded_says_so(open_page):
    """Reports of earlier versions have no patches."""
    bad = evolve(
        CLEAN.feature1.patch, status="failed", reason="hunk 1 of f.py does not match", diff=None
    )
    old = evolve(CLEAN.feature2.patch, diff=None)
    report = evolve(
        CLEAN,
        feature1=evolve(CLEAN.feature1, patch=bad),
        feature2=evolve(CLEAN.feature2, patch=old),
    )
    page = open_page([report], "#pair=1")

    one, two, *_ = page.texts(".diff")
    assert "It was not applied. failed: hunk 1 of f.py does not match" in one
    assert "An earlier version" in two
    assert page.tab.locator(".diff >> nth=2 >> .row.added").first.is_visible()


def test_many_changes_are_folded(open_page):
    """Files are open until they have three hundred changed lines together."""
    long = b"".join(b"%d\n" % n for n in range(400))
    tree = ce.Snapshot.from_files({"a.py": BASE, "b.py": BASE})
    changes = ce.Changes({"a.py": ce.Entry(edited(3, b"x\n")), "b.py": ce.Entry(long)})
    patch = evolve(CONFLICT.feature1.patch, diff=changes.diff(tree))
    page = open_page([evolve(CONFLICT, feature1=evolve(CONFLICT.feature1, patch=patch))], "#pair=1")

    boxes = page.tab.locator(".diff >> nth=0 >> .file")
    assert boxes.evaluate_all("all => all.map(each => each.open)") == [True, False]
    assert boxes.nth(1).locator("pre").count() == 0
    page.tab.locator(".diff >> nth=0 >> .file summary >> nth=1").focus()
    page.tab.keyboard.press("Enter")
    page.settle()
    assert boxes.nth(1).locator(".row").count() > 380
