"""The three-way merge of one text, and how its conflicts are shown."""

from itertools import pairwise

import pytest
from generators import three_way_texts
from hypothesis import given, settings

from cooperbench_eval.git.merging.line_diff import DiffAlgorithm, DiffCache, diff_lines, split_lines
from cooperbench_eval.git.merging.regions import Origin, find_regions
from cooperbench_eval.git.merging.text_merge import Answer, TextConflict, TextMerge, merge_text

quickly = settings(max_examples=40, deadline=None)
REFINED = pytest.mark.parametrize("refine", [True, False])


def text(words):
    """One line for each word."""
    return b"".join(word.encode() + b"\n" for word in words.split())


def merge(base, ours, theirs, **options):
    """Merge texts given as words."""
    return merge_text(text(base), text(ours), text(theirs), **options)


def sides(merged):
    """What each conflict disputes, as words."""
    return [
        tuple(" ".join(part.decode().split()) for part in (each.base, each.ours, each.theirs))
        for each in merged.conflicts
    ]


class TestCleanMerges:
    @REFINED
    @quickly
    @given(three_way_texts())
    def test_unchanged_side_yields_to_the_other(self, refine, texts):
        """Where one side left the base alone, the other side is the result."""
        base, ours, _ = texts

        assert merge_text(base, base, ours, refine=refine).render() == ours
        assert merge_text(base, ours, base, refine=refine).render() == ours

    @REFINED
    @quickly
    @given(three_way_texts())
    def test_same_change_twice_is_that_change(self, refine, texts):
        """Sides that agree are the result, whatever the base."""
        base, ours, _ = texts

        merged = merge_text(base, ours, ours, refine=refine)

        assert merged.render() == ours
        assert not merged.conflicts

    def test_separate_changes_merge(self):
        """Each side's change stands in the result."""
        merged = merge("a b c d e", "A b c d e", "a b c d E f")

        assert merged.chunks == (text("A b c d E f"),)

    def test_same_change_beside_another_is_taken_once(self):
        """What both sides changed alike is no conflict and is not doubled."""
        merged = merge("a b c d e", "A b c d e", "A b c d E")

        assert merged.chunks == (text("A b c d E"),)

    def test_emptied_texts_merge_to_nothing(self):
        """An empty result has no chunk."""
        assert merge("a", "", "").chunks == ()

    def test_conflict_markers_in_the_input_are_lines(self):
        """A text that quotes a conflict merges like any other."""
        quoted = b"<<<<<<< ours\na\n=======\nb\n>>>>>>> theirs\n"

        merged = merge_text(b"x\ny\n" + quoted, b"X\ny\n" + quoted, b"x\ny\n" + quoted + b"z\n")

        assert merged.chunks == (b"X\ny\n" + quoted + b"z\n",)


class TestConflicts:
    def test_touching_changes_conflict(self):
        """Changes of adjacent lines meet."""
        assert sides(merge("a b c", "A b c", "a B c")) == [("a b", "A b", "a B")]

    def test_insertions_at_one_place_conflict(self):
        """There is no order between two insertions."""
        assert sides(merge("a b", "a x b", "a y b")) == [("", "x", "y")]

    def test_modification_of_deleted_lines_conflicts(self):
        """A side may have nothing in a conflict."""
        assert sides(merge("a b c", "a c", "a B c")) == [("b", "", "B")]

    def test_two_new_files_conflict_where_they_differ(self):
        """Without a base, what both sides share is still settled."""
        merged = merge("", "h1 h2 h3 h4 x t1 t2 t3 t4", "h1 h2 h3 h4 y t1 t2 t3 t4")

        assert merged.chunks == (
            text("h1 h2 h3 h4"),
            TextConflict(base=b"", ours=b"x\n", theirs=b"y\n"),
            text("t1 t2 t3 t4"),
        )

    def test_one_side_may_end_without_newline(self):
        """The last line with and without newline are two lines."""
        merged = merge_text(b"a\nb", b"a\nc", b"a\nb\n")

        assert merged.conflicts == (TextConflict(base=b"b", ours=b"c", theirs=b"b\n"),)

    @quickly
    @given(three_way_texts())
    def test_side_order_does_not_matter_unrefined(self, texts):
        """Swapping the sides swaps the conflicts' sides and nothing else."""
        base, ours, theirs = texts

        merged = merge_text(base, ours, theirs, refine=False)
        swapped = merge_text(base, theirs, ours, refine=False)

        assert [(c.base, c.ours, c.theirs) for c in merged.conflicts] == [
            (c.base, c.theirs, c.ours) for c in swapped.conflicts
        ]

    @quickly
    @given(three_way_texts())
    def test_refinement_never_makes_a_conflict(self, texts):
        """A merge that is clean unrefined is the same clean merge refined."""
        plain = merge_text(*texts, refine=False)

        if not plain.conflicts:
            assert merge_text(*texts) == plain

    @quickly
    @given(three_way_texts())
    def test_cache_does_not_show(self, texts):
        """A cache changes nothing but the time."""
        cache = DiffCache()

        first = merge_text(*texts, cache=cache)

        assert first == merge_text(*texts, cache=cache) == merge_text(*texts)


class TestRefinement:
    BASE = "a1 b1 m1 m2 m3 m4 e1"
    OURS = "a2 n1 n2 n3 n4 e2"
    THEIRS = "a3 n1 n2 n3 n4 e3"

    def test_zealous_disputes_only_what_differs(self):
        """Lines that both sides have are settled."""
        merged = merge(self.BASE, self.OURS, self.THEIRS)

        assert [chunk for chunk in merged.chunks if isinstance(chunk, bytes)] == [
            text("n1 n2 n3 n4")
        ]
        assert [(ours, theirs) for _, ours, theirs in sides(merged)] == [
            ("a2", "a3"),
            ("e2", "e3"),
        ]

    def test_three_lines_between_join(self):
        """Conflicts three lines apart become one."""
        merged = merge("a1 k1 e1", "a2 n1 n2 n3 e2", "a3 n1 n2 n3 e3")

        assert sides(merged) == [("a1 k1 e1", "a2 n1 n2 n3 e2", "a3 n1 n2 n3 e3")]

    def test_settled_lines_may_be_the_base_lines(self):
        """Conflicts join across unchanged lines, too."""
        merged = merge("a1 k1 k2 e1", "a2 k1 k2 e2", "a3 k1 k2 e3")

        assert sides(merged) == [("a1 k1 k2 e1", "a2 k1 k2 e2", "a3 k1 k2 e3")]

    def test_change_of_one_side_keeps_conflicts_apart(self):
        """Only conflicts with nothing but settled lines between them join."""
        merged = merge("a1 k1 x k2 e1", "a2 k1 y k2 e2", "a3 k1 x k2 e3")

        assert sides(merged) == [("a1", "a2", "a3"), ("e1", "e2", "e3")]

    def test_agreement_keeps_no_conflicts_apart(self):
        """What both sides changed alike counts as settled."""
        merged = merge("a1 k p k e1", "a2 k x k e2", "a3 k x k e3")

        assert sides(merged) == [("a1 k p k e1", "a2 k x k e2", "a3 k x k e3")]

    def test_agreement_by_different_changes_settles(self):
        """Sides whose changes differ in extent may still end at the same lines."""
        words = ("b a b a", "b b", "b b a")

        assert merge(*words).chunks == (text("b b"),)
        assert sides(merge(*words, refine=False)) == [("b a", "b", "b")]

    def test_none_disputes_the_whole_region(self):
        """The unrefined conflict holds all that touches."""
        merged = merge(self.BASE, self.OURS, self.THEIRS, refine=False)

        assert sides(merged) == [(self.BASE, self.OURS, self.THEIRS)]

    def test_algorithm_is_used_for_both_diffs(self):
        """The algorithms anchor on different lines, and the merge shows it."""
        words = ("a Q b b", "b b Q a", "a Q b b z")

        by_histogram = merge(*words)
        by_myers = merge(*words, algorithm=DiffAlgorithm.MYERS)

        assert by_histogram != by_myers


class TestBaseOfRefinedConflicts:
    def test_lines_are_paired_one_by_one(self):
        """Each part has the base lines that stand at its place."""
        merged = merge("a b c d e f", "A n1 n2 n3 n4 F", "aa n1 n2 n3 n4 ff")

        assert sides(merged) == [("a", "A", "aa"), ("f", "F", "ff")]

    def test_removed_lines_go_with_the_part_that_contains_them(self):
        """Base lines that ours removed are not lost where a part begins or ends."""
        merged = merge(
            "a r1 r2 k1 k2 k3 k4 k5 e",
            "A k1 k2 k3 k4 k5 E",
            "aa k1 k2 k3 k4 k5 ee",
        )

        assert sides(merged) == [("a r1 r2", "A", "aa"), ("e", "E", "ee")]

    def test_joined_parts_take_the_base_between(self):
        """Joining two parts leaves no hole in the base."""
        merged = merge("a b c", "A n C", "aa n cc")

        assert sides(merged) == [("a b c", "A n C", "aa n cc")]

    @pytest.mark.parametrize("algorithm", DiffAlgorithm)
    @REFINED
    @quickly
    @given(three_way_texts())
    def test_parts_are_disjoint_slices_in_order(self, refine, algorithm, texts):
        """No base, ours or theirs line belongs to two regions."""
        base, ours, theirs = map(split_lines, texts)

        regions = find_regions(
            (base, ours, theirs),
            diff_lines(base, ours, algorithm=algorithm),
            diff_lines(base, theirs, algorithm=algorithm),
            refine=refine,
            algorithm=algorithm,
        )

        bounds = [0] * 3
        for region in regions:
            for k in range(3):
                start, end = region[1 + 2 * k], region[2 + 2 * k]
                assert bounds[k] <= start <= end
                bounds[k] = end
        lengths = map(len, (base, ours, theirs))
        assert all(bound <= length for bound, length in zip(bounds, lengths, strict=True))
        for left, right in pairwise(regions):
            assert (
                ours[left.ours_end : right.ours_start]
                == theirs[left.theirs_end : right.theirs_start]
            )
        assert all(isinstance(region.origin, Origin) for region in regions)


class TestRendering:
    CONFLICT = TextConflict(base=b"b\n", ours=b"o\n", theirs=b"t\n")

    def test_shows_both_sides(self):
        """The markers are git's."""
        merged = TextMerge(chunks=[b"x\n", self.CONFLICT, b"y\n"])

        assert merged.render(ours="HEAD", theirs="feature/1") == (
            b"x\n<<<<<<< HEAD\no\n=======\nt\n>>>>>>> feature/1\ny\n"
        )

    def test_marker_size_is_free(self):
        """Markers may be longer, so that quoted ones are told apart."""
        merged = TextMerge(chunks=[self.CONFLICT])

        assert merged.render(marker_size=9) == b"<<<<<<<<<\no\n=========\nt\n>>>>>>>>>\n"

    def test_label_need_not_be_ascii(self):
        """A label is written as UTF-8."""
        assert b"<<<<<<< \xc3\xa9\n" in TextMerge(chunks=[self.CONFLICT]).render(ours="é")

    def test_last_line_is_closed_before_a_marker(self):
        """A marker never continues a line."""
        conflict = TextConflict(base=b"", ours=b"o", theirs=b"t")

        assert TextMerge(chunks=[conflict]).render() == b"<<<<<<<\no\n=======\nt\n>>>>>>>\n"

    @pytest.mark.parametrize(
        ("base", "newline"), [(b"a\r\nb\r\n", b"\r\n"), (b"a\nb\r\n", b"\n"), (b"", b"\n")]
    )
    def test_markers_end_like_the_lines_about(self, base, newline):
        """CR LF around a conflict, and at the base's start, makes CR LF markers."""
        merged = merge_text(base, b"a\r\nx", b"a\r\ny\r\n")

        assert [conflict.newline for conflict in merged.conflicts] == [newline]
        assert b"x" + newline + b"=======" + newline in merged.render()

    def test_only_line_without_newline_tells_nothing(self):
        """The other texts decide then."""
        crlf = merge_text(b"a\r\nb\r\n", b"x", b"y\r\n")
        lf = merge_text(b"a\nb\n", b"x", b"y\n")

        assert [conflict.newline for conflict in crlf.conflicts] == [b"\r\n"]
        assert [conflict.newline for conflict in lf.conflicts] == [b"\n"]

    @REFINED
    @quickly
    @given(three_way_texts())
    def test_marker_lines_are_where_conflicts_start(self, refine, texts):
        """The line numbers hold in the rendered text, whatever else it quotes."""
        merged = merge_text(*texts, refine=refine)

        lines = split_lines(merged.render(ours="here it starts"))

        assert merged.marker_lines() == tuple(
            number
            for number, line in enumerate(lines, start=1)
            if b"<<<<<<< here it starts" in line
        )

    def test_union_keeps_both_sides(self):
        """Ours' lines come first; a missing newline is added between."""
        for texts, expected in (
            ((b"a\nb\nc\n", b"a\nx\nc\n", b"a\ny\nc\n"), b"a\nx\ny\nc\n"),
            ((b"a\nb", b"a\nx", b"a\ny"), b"a\nx\ny"),
            ((b"a\nb", b"a\nx", b"a\n"), b"a\nx\n"),
        ):
            merged = merge_text(*texts)
            (conflict,) = merged.conflicts

            assert merged.replace([Answer(range(1), conflict.union())]).chunks == (expected,)


class TestReplace:
    MERGED = TextMerge(
        chunks=[
            b"x\n",
            TextConflict(base=b"", ours=b"1\n", theirs=b"2\n"),
            b"y\n",
            TextConflict(base=b"", ours=b"3\n", theirs=b"4\n"),
        ]
    )

    def test_puts_text_in_place_of_conflicts(self):
        """Resolutions and settled text become one run."""
        resolved = self.MERGED.replace(
            [Answer(range(i, i + 1), each.theirs) for i, each in enumerate(self.MERGED.conflicts)]
        )

        assert resolved.chunks == (b"x\n2\ny\n4\n",)

    def test_leaves_open_what_has_no_answer(self):
        """A conflict without an answer stays as it is."""
        resolved = self.MERGED.replace([Answer(range(1), b"")])

        assert resolved.chunks == (b"x\ny\n", self.MERGED.conflicts[1])


@pytest.mark.parametrize("ours", [b"", b"1\n", b"1", b"1\n2"])
@pytest.mark.parametrize("theirs", [b"", b"3\n", b"3"])
def test_a_conflict_counts_the_lines_it_is_rendered_in(ours, theirs):
    """Markers count, and so does a last line without its newline."""
    conflict = TextConflict(base=b"0", ours=ours, theirs=theirs)

    assert conflict.count_lines() == conflict.render().count(b"\n")
