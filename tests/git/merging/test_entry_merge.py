"""What is remembered of merged contents."""

from cooperbench_eval.git.merging import entry_merge
from cooperbench_eval.git.merging.entry_merge import MergeCache, merge_entries
from cooperbench_eval.git.trees.entries import Entry, FileMode

LABELS = "ours", "theirs"


def versions():
    """New entries of base, ours and theirs, which conflict."""
    return [Entry(b"".join([text, b"\n"])) for text in (b"old", b"one", b"other")]


class TestMergeCache:
    def test_a_merge_of_equal_texts_is_not_made_twice(self, monkeypatch):
        """The merged file is then the same object, whose id is also computed once."""
        cache = MergeCache()

        first = merge_entries(*versions(), labels=LABELS, cache=cache)
        monkeypatch.delattr(entry_merge, "merge_text")

        assert merge_entries(*versions(), labels=LABELS, cache=cache) is first

    def test_whatever_changes_a_merge_makes_another_one(self):
        """Merges with other texts, modes, labels or markers are as those with no cache."""
        cache = MergeCache()
        base, ours, theirs = versions()
        program = Entry(theirs.data, FileMode.EXECUTABLE)
        calls = [
            ((base, ours, theirs), {}),
            ((base, theirs, ours), {}),
            ((None, ours, theirs), {}),
            ((base, ours, program), {}),
            ((None, ours, program), {}),
            ((base, ours, theirs), {"labels": ("here", "there")}),
            ((base, ours, theirs), {"marker_size": 8}),
        ]

        for given, options in calls:
            wanted = {"labels": LABELS, **options}
            merged = merge_entries(*given, cache=cache, **wanted)

            assert merged == merge_entries(*given, cache=MergeCache(), **wanted)

    def test_merges_that_are_too_large_are_not_kept(self, monkeypatch):
        """So the memory of a cache is bounded even if a single file is huge."""
        monkeypatch.setattr(entry_merge, "_KEPT_MERGES", 1500)
        cache = MergeCache()
        base, ours, theirs = versions()
        tail = bytes(300).replace(b"\0", b"a line\n")

        merge_entries(base, ours, theirs, labels=LABELS, cache=cache)
        assert len(cache.merges) == 0

        monkeypatch.setattr(entry_merge, "_KEPT_MERGES", 2000)
        merge_entries(base, ours, theirs, labels=LABELS, cache=cache)
        large = [Entry(entry.data + tail) for entry in (base, ours, theirs)]
        merge_entries(*large, labels=LABELS, cache=cache)
        assert len(cache.merges) == 1
