"""Answers that are taken back."""

from generators import answers, three_way_texts
from hypothesis import given

from cooperbench_eval.git.merging.text_merge import Answer
from cooperbench_eval.git.merging.tree_merge import merge_changes
from cooperbench_eval.git.trees.entries import Entry
from cooperbench_eval.git.trees.snapshot import Changes, Snapshot


def merge_texts(**files):
    """Merge files, each given as base, ours and theirs."""
    base = Snapshot.from_files({path: texts[0] for path, texts in files.items()})
    sides = (Changes({p: Entry(texts[n]) for p, texts in files.items()}) for n in (1, 2))
    return merge_changes(base, *sides)


CLASH = (b"1\n", b"2\n", b"3\n")


def test_conflicts_of_some_files_are_opened_again():
    """The answers in other files stay."""
    merge = merge_texts(a=CLASH, b=CLASH)
    done = merge.resolve(lambda conflict: conflict.ours)

    reopened = done.reopened(merge, {"a": ()})

    assert reopened.conflicts == merge.conflicts[:1]
    assert (reopened.changes["a"], reopened.changes["b"].data) == (merge.changes["a"], b"2\n")
    assert reopened.resolve(lambda conflict: conflict.ours) == done


def test_a_conflict_about_a_whole_file_is_opened_again():
    """Such as one that only a side changed and the other deleted."""
    base = Snapshot.from_files({"a": b"1\n"})
    merge = merge_changes(base, Changes({"a": Entry(b"2\n")}), Changes({"a": None}))
    done = merge.resolve(lambda _: b"3\n")

    assert done.conflicts == ()
    assert done.reopened(merge, {"a": ()}) == merge


def test_a_tree_without_conflicts_may_replace_the_merge():
    """Its conflicts can be opened again too."""
    merge = merge_texts(a=CLASH, b=CLASH)
    done = merge.concluded(Changes({"a": Entry(b"4\n"), "b": None}))

    assert (done.conflicts, done.changes["b"]) == ((), None)
    assert done.reopened(merge, {"b": ()}).conflicts == merge.conflicts[1:]
    assert done.reopened(merge, {"a": (), "b": ()}) == merge


@given(three_way_texts(), answers())
def test_kept_answers_are_those_that_are_given(texts, given_texts):
    """Answers that are kept stand in the file as if only they had been given."""
    merge = merge_texts(f=texts)
    chosen = dict(enumerate((given_texts * len(merge.conflicts))[: len(merge.conflicts)]))
    numbers = {conflict: i for i, conflict in enumerate(merge.conflicts)}
    kept = [Answer(range(i, i + 1), text) for i, text in chosen.items() if text is not None]
    done = merge.resolve(lambda _: b"other\n")

    reopened = done.reopened(merge, {"f": kept} if merge.conflicts else {})

    assert reopened == merge.resolve(lambda conflict: chosen[numbers[conflict]])
