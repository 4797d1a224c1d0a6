"""Hunks with most but not all of their lines in the file: placed if allowed, never guessed."""

import itertools
import time

import pytest
from generators import drifted_hunks
from hypothesis import given
from patch_texts import AT_10, AT_20, LINES, NAMES, apply

from cooperbench_eval.git.patching.fuzzy_placing import NoPlaceError, apply_edits, find_fuzzily
from cooperbench_eval.git.patching.patch_parts import Hunk, PatchStatus, Rung

FUZZY = ["offset", "whitespace", "fuzzy"]
SEVERAL = "its lines are similar to those of several places"


def function(name, doc="Add one.", body="x + 1"):
    """Return a small function."""
    text = (
        f'def {name}(x):\n    """{doc}"""\n    total = {body}\n    log(total)\n    return total\n'
    )
    return text.encode()


HEAD = b"import os\n\n\n"
TAIL = b"\n\nEND = 1\n"
HUNK = (
    b'@@ -4,5 +4,5 @@\n def one(x):\n     """Add one."""\n-    total = x + 1\n'
    b"+    total = x + 2\n     log(total)\n     return total\n"
)
ADDITION = (
    b'@@ -4,4 +4,5 @@\n def one(x):\n     """Add one."""\n+    check(x)\n'
    b"     total = x + 1\n     log(total)\n"
)


def outcome(before, hunk=HUNK, rungs=FUZZY, **options):
    """Place a hunk; return the reason of its refusal, or the file after it."""
    result, after = apply({"x": before}, NAMES + hunk, rungs, **options)
    return result.reason or after["x"]


DRIFTED = HEAD + function("one", "Adds one.") + TAIL


def test_similar_lines_are_not_a_place_unless_allowed():
    """They are accepted neither by default nor by the other rungs."""
    others = [rung for rung in Rung if rung is not Rung.FUZZY]

    assert outcome(DRIFTED, rungs=others) == "x hunk 1: its lines are not there"
    assert apply({"x": DRIFTED}, NAMES + HUNK)[0].status is PatchStatus.FAILED


@pytest.mark.parametrize("before", [b"", b"# one\n# two\n"])
def test_a_change_whose_context_drifted_is_placed(before):
    """The placement says that the place was similar, and how far away it was."""
    result, after = apply({"x": before + DRIFTED}, NAMES + HUNK, FUZZY)

    assert [(each.rung, each.offset) for each in result.hunks] == [
        (Rung.FUZZY, before.count(b"\n"))
    ]
    assert after["x"] == before + HEAD + function("one", "Adds one.", "x + 2") + TAIL


@pytest.mark.parametrize(
    ("old", "new"),
    [
        (b"import os\n", b""),
        (b'    """Add one."""\n', b""),
        (b"    log(total)\n", b"    log(total)\n    log(x)\n"),
        (b"def one(x):\n", b"def one(x):\n    # Says log.\n"),
        (b"    return total\n", b"    return (total)\n"),
    ],
    ids=["far away", "a line gone", "a line more after", "a line more before", "the last line"],
)
def test_drifted_lines_around_a_change_are_kept(old, new):
    """Only the hunk's own change is made."""
    before = (HEAD + function("one") + TAIL).replace(old, new)

    assert outcome(before) == before.replace(b"x + 1", b"x + 2")


def test_context_that_differs_in_white_space_counts_as_equal():
    """The policy must allow this; the indentation must be equal, and the file's spaces are kept."""
    before = DRIFTED.replace(b"return total", b"return  total")

    assert outcome(before) == before.replace(b"x + 1", b"x + 2")


def test_a_removed_line_must_be_there():
    """Similar lines around it are not enough."""
    before = HEAD + function("one", body="x + 3") + TAIL

    assert outcome(before) == "x hunk 1: a line that it removes is not there"


def test_each_of_several_removed_lines_must_be_there():
    """A change is never made by half."""
    hunk = (
        b'@@ -4,5 +4,3 @@\n def one(x):\n     """Add one."""\n'
        b"-    total = x + 1\n-    log(total)\n     return total\n"
    )
    before = HEAD + function("one").replace(b"log(total)", b"lo(total)") + TAIL

    assert outcome(before, hunk, least_similarity=0.6) == (
        "x hunk 1: a line that it removes is not there"
    )


def test_a_change_that_could_not_be_undone_is_refused():
    """The resulting file would not show where it was made."""
    lines = [b" a\n", b"-a\n", b" a\n", b" a\n", b" a\n"]
    hunk = Hunk(old_start=1, new_start=1, lines=lines)

    with pytest.raises(NoPlaceError, match="could not be undone"):
        find_fuzzily([b"a\n"] * 4, bytes(4), hunk, 0, 0.75)


@pytest.mark.parametrize("share", [0.6, 0.75, 0.9])
def test_a_place_less_similar_than_the_policy_asks_for_is_refused(share):
    """Similarity is the share of equal characters without white space: here 41 of 53."""
    found = outcome(HEAD + function("one", "Sum.") + TAIL, least_similarity=share)

    assert (b"x + 2" in found) if share < 0.77 else found.endswith("nor similar ones")


def test_a_change_that_fits_two_places_is_refused():
    """Neither place is better than the other."""
    before = HEAD + function("one", "Adds one.") * 2 + TAIL

    assert outcome(before) == f"x hunk 1: {SEVERAL}"


@pytest.mark.parametrize("bodies", [("two", "three"), ("two", "one")])
def test_the_line_that_encloses_a_change_must_be_there(bodies):
    """The nearest function may have the same body and still be the wrong one."""
    before = HEAD + function(bodies[0]) + b"\n\n" + function(bodies[1], "Adds one.") + TAIL

    assert outcome(before) == "x hunk 1: a line that it is indented under is not there"


@pytest.mark.parametrize("names", [("one", "two"), ("two", "one")])
def test_a_function_of_another_name_and_text_is_not_changed(names):
    """The right one is changed if it is similar enough and no other is."""
    before = b"\n\n".join(function(name, "Adds one.") for name in names)

    expected = before.replace(function("one", "Adds one."), function("one", "Adds one.", "x + 2"))
    assert outcome(HEAD + before + TAIL) == HEAD + expected + TAIL


@pytest.mark.parametrize("hunk", [HUNK, ADDITION], ids=["replacement", "addition"])
@pytest.mark.parametrize("name", ["two", "on", "one_more"])
def test_a_change_of_a_function_that_is_not_there_is_refused(name, hunk):
    """A function with the same body and another name is not changed."""
    before = HEAD + function(name) + TAIL

    result, after = apply({"x": before}, NAMES + hunk, FUZZY)

    assert (result.status, after) == (PatchStatus.FAILED, {"x": before})


def test_lines_between_removed_lines_are_not_removed():
    """The change is not made around them either."""
    hunk = (
        b'@@ -4,5 +4,3 @@\n def one(x):\n     """Add one."""\n'
        b"-    total = x + 1\n-    log(total)\n     return total\n"
    )
    before = HEAD + function("one", body="x + 1\n    check(x)") + TAIL

    assert outcome(before, hunk) == "x hunk 1: other lines are between those that it removes"


def test_an_addition_needs_its_neighbouring_lines_together():
    """If other lines came between them, its place is ambiguous."""
    drifted = HEAD + function("one").replace(b"log(", b"print(") + TAIL
    parted = HEAD + function("one", body="x + 1").replace(b"    total", b"    y = x\n    total", 1)

    assert outcome(drifted, ADDITION) == drifted.replace(b'"""\n', b'"""\n    check(x)\n')
    assert outcome(parted + TAIL, ADDITION) == "x hunk 1: other lines are where it adds some"


def test_an_addition_needs_a_line_beside_it():
    """The rest of the context does not show where it belongs."""
    hunk = b"@@ -1,8 +1,9 @@\n line 1\n line 2\n line 3\n a\n+new\n b\n line 6\n line 7\n line 8\n"

    reason = outcome(LINES, hunk, least_similarity=0.6)

    assert reason == "x hunk 1: neither of the lines around an addition is there"


def test_a_hunk_does_not_use_lines_of_another_hunk():
    """Two equal hunks cannot make one change twice."""
    assert outcome(DRIFTED, HUNK + HUNK).startswith("x hunk 2: ")


def test_blank_lines_do_not_count_as_similarity():
    """Only lines with text are compared."""
    hunk = b"@@ -1,7 +1,6 @@\n a\n \n \n-\n \n \n b\n"

    assert outcome(b"1\n" + b"\n" * 9 + b"2\n", hunk).endswith("nor similar ones")


@pytest.mark.long
@pytest.mark.parametrize(
    ("size", "words"), [(1_200_001, "take too long"), (1_000_000, "nor similar ones")]
)
def test_a_long_file_is_not_searched(size, words):
    """The limit is twelve million pairs of lines."""
    hunk = b"@@ -1,10 +1,9 @@\n" + b" no\n" * 5 + b"-yes\n" + b" no\n" * 4

    assert words in outcome(b"a\n" * size, hunk)


@pytest.mark.long
def test_a_file_of_a_million_different_lines_is_searched_or_not():
    """There are more different lines than characters to encode them."""
    before = b"".join(b"%x\n" % number for number in range(1_115_000))
    hunk = b"@@ -1,3 +1,2 @@\n no\n-yes\n maybe\n"

    assert "x hunk 1: " in outcome(before, hunk)


def test_the_result_does_not_depend_on_the_clock(monkeypatch):
    """A slow machine gets the same result as a fast one."""
    expected = outcome(DRIFTED)
    hours = itertools.count(step=3600.0)

    monkeypatch.setattr(time, "time", lambda: next(hours))

    assert b"x + 2" in expected
    assert outcome(DRIFTED) == expected


@given(drifted_hunks())
def test_undoing_a_change_by_the_same_rules_restores_the_file(drifted):
    """A placed change is found again, and is undone unless its place is ambiguous."""
    file, lines = drifted
    hunk = Hunk(old_start=1, new_start=1, lines=lines)
    try:
        edits = find_fuzzily(file, bytes(len(file)), hunk, 0, 0.75)
    except NoPlaceError:
        return
    after = apply_edits(file, edits, hunk)

    try:
        undone = find_fuzzily(after, bytes(len(after)), hunk.reversed, edits[0].start, 0.75)
    except NoPlaceError as exc:  # found again, among several places
        reason = str(exc)
    else:
        assert apply_edits(after, undone, hunk.reversed) == file
        reason = ""
    assert reason in {"", SEVERAL, "its change could not be undone at the most similar place"}
    assert [line for e in edits for line in file[e.start : e.end]] == [
        line[1:] for line in lines if line[:1] == b"-"
    ]


@given(drifted_hunks())
def test_a_claimed_line_is_never_changed(drifted):
    """This holds even if it is the only place."""
    file, lines = drifted
    hunk = Hunk(old_start=1, new_start=1, lines=lines)
    claimed = bytes(number % 2 for number in range(len(file)))
    try:
        edits = find_fuzzily(file, claimed, hunk, 0, 0.75)
    except NoPlaceError:
        return

    assert not any(any(claimed[edit.start : edit.end]) for edit in edits)


def test_exact_hunks_stay_exact_next_to_a_similar_one():
    """Each hunk has its own placement."""
    similar = AT_20.replace(b"line 19\n", b"line 18\n line nineteen\n").replace(b",3", b",4")

    result, _ = apply({"x": LINES}, NAMES + AT_10 + similar, FUZZY, least_similarity=0.6)

    assert [each.rung for each in result.hunks] == [Rung.EXACT, Rung.FUZZY]


NESTED = (
    b"def alpha(order):\n    if order.ready:\n        ship(order)\n        notify(order.customer)\n"
    b"    return order.total\n"
)
IN_NESTED = (
    b"@@ -1,5 +1,6 @@\n def alpha(order):\n     if order.ready:\n         ship(order)\n"
    b"         notify(order.customer)\n+        log(order)\n     return order.total\n"
)


@pytest.mark.parametrize("rest", [b"", NESTED.replace(b"ready", b"paid").replace(b"ship", b"bill")])
def test_every_block_around_a_change_must_be_there(rest):
    """Not only the nearest block counts, but also the function."""
    before = HEAD + rest + NESTED.replace(b"alpha", b"beta") + TAIL

    assert outcome(before, IN_NESTED).startswith("x hunk 1: ")


@pytest.mark.parametrize("name", ["Alpha", "Gamma"])
def test_a_hunk_belongs_under_the_line_that_its_header_names(name):
    """Git writes the class line there, which the hunk's lines do not contain."""
    method = b"    def price(self):\n        total = self.sum()\n%b        return total\n"
    log = b'        log.debug("beta %s", total)\n'
    before = b"class Alpha:\n    x = 1\n\n\nclass Beta:\n" + method % log + TAIL
    hunk = method % log.replace(b"beta", b"alph")
    hunk = b"".join(b" " + line for line in hunk.splitlines(keepends=True)[:3])
    header = f"@@ -3,4 +3,4 @@ class {name}:\n".encode()

    change = b"-        return total\n+        return 1 * total\n"
    reason = outcome(before, header + hunk + change, least_similarity=0.6)

    assert reason == "x hunk 1: it is not under the line that its header names"


def test_a_hunk_that_also_fits_one_line_further_is_refused():
    """Places that overlap are two places."""
    hunk = b"@@ -2,5 +2,6 @@\n x = 1\n x = 1\n+NEW\n x = 1\n x = 1\n y\n"

    assert outcome(b"start\n" + b"x = 1\n" * 5 + b"end\n", hunk).startswith("x hunk 1: ")
