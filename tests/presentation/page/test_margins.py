"""The margin of a merge says where each changed line comes from, as `provenance` does."""

import re

import pytest
from attrs import evolve
from generators import damages, moved_trees
from hypothesis import given
from hypothesis import strategies as st
from page_reports import CLEAN, CONFLICT

import cooperbench_eval as ce
from cooperbench_eval.presentation.page import margins
from cooperbench_eval.presentation.page.details import details_of
from cooperbench_eval.presentation.page.margins import Margins, read_diff

LETTERS = {"several": "b", "base": ".", "resolver": "r", "marker": "m", "unknown": "u"}


def evaluated(base, one, two, strategies=("naive", "union")):
    """Evaluate a pair of trees, and return the pair and the report."""
    tree = ce.Snapshot.from_files(base)
    features = [
        ce.Feature(
            number=n, patch=ce.Changes.between(tree, ce.Snapshot.from_files(side)).diff(tree)
        )
        for n, side in ((4, one), (3, two))
    ]
    pair = ce.FeaturePair(
        repo_name="r", task_id=1, base=tree, feature1=features[0], feature2=features[1]
    )
    return pair, ce.Evaluator(strategies=strategies).evaluate(pair)


def letters_of(runs):
    """A letter for each changed line of a hunk."""
    return "".join(letter * int(count or 1) for letter, count in re.findall(r"(\D)(\d*)", runs))


def shown(report, attempt):
    """The path, sign, text and letter of each changed line of a merge, and why there are none."""
    margin, problem = Margins(report).of(attempt.diff, [attempt])
    rows = []
    for file, hunks in zip(ce.Patch.parse(attempt.diff).files, margin, strict=not problem):
        for hunk, runs in zip(file.hunks, hunks, strict=True):
            changed = [line for line in hunk.lines if line[:1] != b" "]
            pairs = zip(changed, letters_of(runs), strict=True)
            rows += [(file.path, line[:1], line[1:], letter) for line, letter in pairs]
    return rows, problem


def expected(pair, attempt):
    """The path, text and letter of each added line, from the whole trees."""
    found = ce.provenance(pair.base, pair.features, attempt)
    rows = []
    for file in ce.Patch.parse(attempt.diff).files if attempt.diff else ():
        if file.new_path is None:
            continue
        whole = found.file(file.path)
        origins = list(whole.origins) or [whole.origin]  # of a link or a submodule
        for hunk in file.hunks:
            new = [line for line in hunk.lines if line[:1] != b"-"]
            for line, origin in zip(new, origins[hunk.new_start - 1 :], strict=False):
                if line[:1] == b"+":
                    letter = LETTERS.get(origin.kind.value) or "fs"[origin.features[0] == 3]
                    rows.append((file.path, line[1:], letter))
    return rows


def added(rows):
    return [(path, text, letter) for path, sign, text, letter in rows if sign == b"+"]


def check_against_provenance(base, one, two):
    """Check that every margin agrees with the origins in the whole trees."""
    pair, report = evaluated(base, one, two)
    for attempt in report.attempts:
        if attempt.diff:
            rows, problem = shown(report, attempt)
            assert problem == ""
            assert added(rows) == expected(pair, attempt)


# --- the origins ---


@given(moved_trees())
def test_origins_are_those_of_the_whole_trees(trees):
    """Whatever is moved, replaced or deleted: text, binary files, links and submodules."""
    check_against_provenance(*trees)


@st.composite
def long_texts(draw):
    """A text of unique lines, and two edited versions, of which one may have another name."""
    count = draw(st.integers(1, 80))
    lines = [b"line %d\n" % n for n in range(count - 1)]
    lines.append(draw(st.sampled_from([b"last\n", b"last"])))
    sides = []
    for side in range(2):
        text = list(lines)
        for n in range(draw(st.integers(1, 3))):
            at = draw(st.integers(0, len(text)))
            new = [b"new %d of %d\n" % (n, draw(st.sampled_from([side, 2]))), b"and more\n"]
            text[at : at + draw(st.integers(0, 3))] = new[: draw(st.integers(0, 2))]
        sides.append(b"".join(text))
    name = draw(st.sampled_from(["a.py", "b.py"]))
    mode = draw(st.sampled_from(list(ce.models.FileMode)[:2]))
    texts = b"".join(lines), *sides
    base, one, two = (ce.Entry(text) for text in texts)
    return {"a.py": base}, {name: one}, {"a.py": ce.Entry(two.data, mode)}


@given(long_texts())
def test_origins_need_only_the_lines_that_diffs_show(trees):
    """Lines between the hunks are unknown; the file may be renamed, or lack its last newline."""
    check_against_provenance(*trees)


def numbered(*changes):
    """Thirty lines, with lines after some of them."""
    lines = [b"line %d\n" % n for n in range(30)]
    for place, *new in changes:
        lines[place] += b"".join(b"%s\n" % line for line in new)
    return ce.Entry(b"".join(lines))


def test_the_last_line_may_lack_its_newline_after_two_others():
    """The file ends there, although no hunk is shorter than elsewhere."""
    lines = numbered().data.removesuffix(b"\n").splitlines(keepends=True)
    base, one, two = (
        ce.Entry(b"".join(each))
        for each in (lines, lines[:26] + lines[27:], lines[:25] + lines[27:])
    )

    check_against_provenance({"a": base}, {"a": one}, {"a": two})


def test_equal_lines_in_two_places_have_their_own_features():
    """Also in a file that the other feature renames."""
    one = numbered((3, b"return None"))
    two = numbered((20, b"return None", b"more"))

    for name in ("a.py", "b.py"):
        _, report = evaluated({"a.py": numbered()}, {name: one}, {"a.py": two})
        rows, _ = shown(report, report.attempt("naive"))

        changed = [(text, letter) for _, text, letter in added(rows) if letter != "."]
        assert changed == [(b"return None\n", "f"), (b"return None\n", "s"), (b"more\n", "s")]


def test_a_removed_line_has_the_features_that_remove_it():
    """Both, one, or neither."""
    lines = numbered().data.splitlines(keepends=True)
    one = ce.Entry(b"".join(lines[:3] + lines[4:15] + lines[16:]))
    two = ce.Entry(b"".join(lines[:15] + lines[16:25] + lines[26:]))
    tree = ce.Snapshot.from_files({"a": numbered()})
    merged = b"".join(lines[1:3] + lines[4:15] + lines[16:25] + lines[26:])
    _, report = evaluated({"a": numbered()}, {"a": one}, {"a": two})
    diff = ce.Changes({"a": ce.Entry(merged)}).diff(tree)

    rows, _ = shown(report, evolve(report.attempt("naive"), diff=diff))

    assert [row[1:] for row in rows] == [
        (b"-", b"line 0\n", "."),
        (b"-", b"line 3\n", "f"),
        (b"-", b"line 15\n", "b"),
        (b"-", b"line 25\n", "s"),
    ]


# --- reports without a margin ---


def problem_of(report):
    return shown(report, report.attempts[0])[1]


def of_patches(report, **changes):
    """The report with changes of the first feature's patch."""
    patch = evolve(report.feature1.patch, **changes)
    return evolve(report, feature1=evolve(report.feature1, patch=patch))


def test_a_report_without_a_patch_has_no_margin():
    """Earlier versions of the library did not record patches."""
    assert "does not have both patches" in problem_of(of_patches(CLEAN, diff=None))


def test_a_patch_of_another_base_gives_no_margin():
    """Its line numbers are those of another tree."""
    assert "starts from another tree" in problem_of(of_patches(CLEAN, base_tree_id="0" * 40))


@pytest.mark.parametrize(
    ("old", "new"),
    [
        (b"@@ -1,4 ", b"@@ -2,4 "),
        (b" 1\n", b" 7\n"),
        (b"--- a/f.py", b"--- a/../f.py"),
        (b" 3\n", b""),
        (b"--- a/f.py\n", b"rename from f.py\nrename to g.py\n--- a/f.py\n"),
        (b"diff --git a/f.py b/f.py\n", b"diff --git a/f.py b/f.py\nnew file mode 100644\n"),
    ],
)
def test_diffs_that_do_not_fit_together_give_no_margin(old, new):
    """Another place or base, a name outside of the tree, too few lines, a rename, a new file."""
    first = next(f for f in (CLEAN.feature2, CLEAN.feature1) if b"@@ -1,4 " in f.patch.diff)
    diff = first.patch.diff
    assert old in diff
    patch = evolve(first.patch, diff=diff.replace(old, new))
    name = "feature1" if first is CLEAN.feature1 else "feature2"

    assert "do not fit together" in problem_of(evolve(CLEAN, **{name: evolve(first, patch=patch)}))


@given(damages(), st.sampled_from(["patch", "merge"]), st.sampled_from([CLEAN, CONFLICT]))
def test_a_damaged_report_has_a_page(damage, which, report):
    """Whatever the diffs are, they have a margin of their own lines, or a problem."""
    attempt = report.attempts[0]
    if which == "patch":
        report = of_patches(report, diff=damage(report.feature1.patch.diff))
    else:
        attempt = evolve(attempt, diff=damage(attempt.diff))
    margin, problem = Margins(report).of(attempt.diff, [attempt])

    assert bool(problem) or bool(margin) == bool(attempt.diff.strip())


def test_a_long_binary_file_is_not_read():
    """So a small report cannot fill the memory; lines of other files still have origins."""
    blob = ce.Entry(b"\0" * 5_000_000)
    one, two = ({"a": ce.Entry(text), "b": blob} for text in (b"1\n2\n", b"0\n1\n"))
    _, report = evaluated({"a": ce.Entry(b"1\n")}, one, two)

    rows, problem = shown(report, report.attempt("union"))

    assert problem == ""
    assert sorted(letter for *_, letter in rows) == ["f", "s"]
    assert [file.binary for file in read_diff(report.feature1.patch.diff)] == [None, None]


def test_a_text_may_replace_a_binary_file():
    """Its diff has the text as binary contents, and so has that of a merge with a rename."""
    binary, text = ce.Entry(b"binary\0"), numbered()

    check_against_provenance({"a": binary}, {"a": text}, {"b": binary})


@pytest.mark.parametrize("is_searched", [False, True])
def test_long_diffs_give_no_margin(is_searched):
    """The work for a pair is bounded; a merge of the features' own hunks may be longer."""
    count = 1 + (margins.MOST_SEARCHED if is_searched else margins.MOST_LINES // 2)
    tree = ce.Snapshot.from_files({"g.py": b"", "h.py": b""})
    long = ce.Entry(b"".join(b"%d\n" % n for n in range(count)))
    patch = ce.Changes({"g.py": long}).diff(tree)
    merge = ce.Changes({"h.py": long}).diff(tree) if is_searched else patch
    report = evolve(CLEAN, attempts=[evolve(CLEAN.attempts[0], diff=merge)])

    assert "too long" in problem_of(of_patches(report, diff=patch))
    if is_searched:
        report = evolve(report, attempts=[evolve(CLEAN.attempts[0], diff=patch)])
        assert problem_of(of_patches(report, diff=patch)) == ""


# --- the data of the page ---


def test_a_tree_of_several_strategies_is_followed_once(monkeypatch):
    """Strategies often return the same tree."""
    calls = []
    follow = margins.provenance_of
    monkeypatch.setattr(margins, "provenance_of", lambda *a: calls.append(a) or follow(*a))

    row = CONFLICT.attempts[1]
    report = evolve(CONFLICT, attempts=[row, evolve(row, strategy="again")])
    data = details_of(report, (), 20_000)

    assert len(calls) == 1
    (merge,) = data["merges"]
    assert (merge["strategies"], merge["problem"]) == (["union", "again"], "")
    assert [hunk[2] for file in merge["files"] for hunk in file["hunks"]] == ["bsf"]


def test_a_merge_of_the_features_own_hunks_needs_no_search(monkeypatch):
    """So most merges cost little."""
    monkeypatch.setattr(margins, "provenance_of", None)

    rows, problem = shown(CLEAN, CLEAN.attempts[0])

    assert problem == ""
    assert [row[1:] for row in rows] == [
        (b"-", b"0\n", "s"),
        (b"+", b"ours\n", "s"),
        (b"-", b"11\n", "f"),
        (b"+", b"theirs\n", "f"),
    ]


def test_hunks_of_patches_have_no_origins():
    """Their lines are their feature's."""
    data = details_of(CLEAN, (), 20_000)

    assert {len(h) for p in data["patches"] for file in p["files"] for h in file["hunks"]} == {2}
