"""Documents are merged block by block."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cooperbench_eval import Changes, Entry, MergeStatus, Snapshot, merge
from cooperbench_eval.languages.files import read_versions
from cooperbench_eval.languages.readers.prose import read_prose
from cooperbench_eval.languages.tree import DisagreementError, StructureError, render
from cooperbench_eval.strategies.structured.merge import TreeMerge

LOG = b"""News
====

Next
----

-   The first change,
    in two lines.
-   The second change.

Version 1
---------

-   The beginning.
"""


def merged(base, ours, theirs):
    """Merge three versions of a document."""
    return render(TreeMerge().merge(*read_versions("NEWS.rst", [base, ours, theirs])))[1:] + b"\n"


def with_line(before, new):
    """Return the log with a line before the one that starts with *before*."""
    assert LOG.count(before) == 1
    return LOG.replace(before, new + before)


@given(st.lists(st.text("ab .-*#|=\n\t1\r", max_size=30), min_size=3, max_size=3))
def test_a_document_keeps_every_byte(texts):
    versions = [text.encode() + b"\n" for text in texts]

    assert [render(tree)[1:] + b"\n" for tree in read_prose(versions)] == versions


@pytest.mark.parametrize("before", [b"-   The first", b"-   The second", b"\nVersion 1"])
def test_items_at_one_place_of_a_list_are_kept_in_one_list(before):
    ours, theirs = with_line(before, b"-   Ours.\n"), with_line(before, b"-   Theirs,\n    long.\n")

    expected = with_line(before, b"-   Ours.\n-   Theirs,\n    long.\n")
    assert merged(LOG, ours, theirs) == expected


def test_items_at_the_end_of_the_file_are_kept():
    assert merged(LOG, LOG + b"-   Ours.\n", LOG + b"-   Theirs.\n") == (
        LOG + b"-   Ours.\n-   Theirs.\n"
    )


def test_a_heading_that_both_sides_add_occurs_once():
    head = b"Version 2\n---------\n\n"
    ours, theirs = (with_line(b"Next", head + each + b"\n") for each in (b"- A\n", b"- B\n"))

    assert merged(LOG, ours, theirs) == with_line(b"Next", head + b"- A\n- B\n\n")


def test_the_longer_insertion_is_taken_if_it_begins_with_the_other():
    ours = with_line(b"Next", b"One.\n\n")

    assert merged(LOG, ours, with_line(b"Next", b"One.\n\nTwo.\n\n")) == with_line(
        b"Next", b"One.\n\nTwo.\n\n"
    )


def test_edits_of_different_words_are_combined():
    ours, theirs = LOG.replace(b"first", b"1st"), LOG.replace(b"two lines", b"2 lines")

    assert merged(LOG, ours, theirs) == LOG.replace(b"first", b"1st").replace(b"two l", b"2 l")


def test_edits_of_the_same_word_are_refused():
    with pytest.raises(DisagreementError):
        merged(LOG, LOG.replace(b"first", b"1st"), LOG.replace(b"first", b"leading"))


def test_control_characters_are_refused():
    with pytest.raises(StructureError, match="control characters"):
        merged(LOG, LOG + b"\0\n", LOG)


@pytest.mark.parametrize("newline", [b"\n", b"\r\n"])
def test_the_strategy_merges_documents(newline):
    base, ours, theirs = (
        each.replace(b"\n", newline)
        for each in (
            LOG,
            with_line(b"-   The first", b"- A\n"),
            with_line(b"-   The first", b"- B\n"),
        )
    )
    snapshot = Snapshot.from_files({"NEWS.md": base})
    sides = (Changes({"NEWS.md": Entry(each)}) for each in (ours, theirs))

    outcome = merge(snapshot, *sides, strategy="structured")

    assert outcome.status is MergeStatus.RESOLVED
    expected = with_line(b"-   The first", b"- A\n- B\n").replace(b"\n", newline)
    assert outcome.changes["NEWS.md"].data == expected


def test_a_sentence_that_both_sides_insert_after_their_own_occurs_once():
    """Below a heading of each side, it occurs twice."""
    one, other, both = (b"\n%b is here.\n" % name for name in (b"One", b"Other", b"Both"))
    titles = (b"\n# A\n", b"\n# B\n")

    assert merged(LOG, LOG + one + both, LOG + other + both) == LOG + one + other + both
    expected = LOG + titles[0] + both + titles[1] + both
    assert merged(LOG, *(LOG + title + both for title in titles)) == expected


WORDS = st.sampled_from([b"- one\n", b"- two\n", b"three\nfour\n", b"\n", b"Head\n----\n"])


@given(st.lists(WORDS, max_size=8), st.data())
def test_insertions_at_random_places_lose_nothing(blocks, data):
    def inserted(name):
        at = data.draw(st.integers(0, len(blocks)))
        return [*blocks[:at], b"- " + name + b"\n", *blocks[at:]]

    base, ours, theirs = (
        b"".join(each) + b"End.\n" for each in (blocks, inserted(b"ours"), inserted(b"theirs"))
    )
    try:
        found = merged(base, ours, theirs)
    except DisagreementError:
        return
    words = found.split()
    assert sorted(words) == sorted([*base.split(), b"-", b"-", b"ours", b"theirs"])
