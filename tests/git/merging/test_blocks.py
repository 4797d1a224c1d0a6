"""Blocks: regions that both sides changed, whole again after git split them."""

from collections import Counter

from generators import three_way_edits, three_way_texts, three_way_trees
from hypothesis import assume, given, settings

import cooperbench_eval as ce
from cooperbench_eval.git.merging.text_merge import find_text_blocks, merge_text
from cooperbench_eval.git.merging.tree_merge import merge_changes

fewer = settings(max_examples=settings().max_examples // 2)  # of what is dear


def merge_file(base, ours, theirs):
    """Merge one file `f`."""
    tree = ce.Snapshot.from_files({"f": base})
    sides = (ce.Changes({"f": ce.Entry(text)}) for text in (ours, theirs))
    return merge_changes(tree, *sides)


def text_of(merge):
    """Return what stands in the file."""
    return merge.changes["f"].data


def make_class(name, value):
    """Write a class that shares its long middle with every other one."""
    shared = "".join(f"        self.{letter} = 0\n" for letter in "abcdef")
    return (
        f"class {name}:\n    def __init__(self):\n{shared}        self.value = {value}\n\n"
        "    def get(self):\n        return self.value\n\n\n"
    ).encode()


HEAD, TAIL = b"import os\n\n\n", b"def last():\n    return 0\n"
ALPHA, BETA = make_class("Alpha", 1), make_class("Beta", 2)
SPLIT = HEAD + TAIL, HEAD + ALPHA + TAIL, HEAD + BETA + TAIL


# --- what a block is ------------------------------------------------------------------------


def test_a_region_that_git_splits_is_one_block():
    """Two classes that share their middle are two conflicts, and one block of whole classes."""
    merge = merge_file(*SPLIT)

    (block,) = merge.blocks
    assert len(merge.conflicts) == 2
    assert block.conflicts == merge.conflicts
    assert (block.path, block.base, block.newline) == ("f", b"", b"\n")
    assert (block.ours, block.theirs) == (ALPHA, BETA)
    assert block.files == SPLIT


def test_a_conflict_that_git_does_not_split_is_a_block_of_its_own():
    """It holds the lines of the conflict."""
    gap = b"".join(b"%d\n" % i for i in range(9))

    merge = merge_file(b"a\n" + gap + b"b\n", b"c\n" + gap + b"d\n", b"e\n" + gap + b"f\n")

    assert [(b.base, b.ours, b.theirs) for b in merge.blocks] == [
        (b"a\n", b"c\n", b"e\n"),
        (b"b\n", b"d\n", b"f\n"),
    ]
    assert [block.conflicts for block in merge.blocks] == [(each,) for each in merge.conflicts]


def test_conflicts_that_git_joins_are_one_block():
    """With the lines between them, for they are one conflict."""
    merge = merge_file(b"a\nx\nb\n", b"c\nx\nd\n", b"e\nx\nf\n")

    (block,) = merge.blocks
    assert (block.base, block.ours, block.theirs) == (b"a\nx\nb\n", b"c\nx\nd\n", b"e\nx\nf\n")


def test_the_newline_of_a_block_is_that_of_the_lines_around():
    """So that an answer can end its lines alike."""
    merge = merge_file(b"x\r\na\r\n", b"x\r\nb\r\n", b"x\r\nc\r\n")

    assert [block.newline for block in merge.blocks] == [b"\r\n"]


def test_a_file_that_both_sides_added_is_a_block():
    """Its base is empty."""
    sides = (ce.Changes({"f": ce.Entry(text)}) for text in (b"a\n", b"b\n"))

    merge = merge_changes(ce.Snapshot.from_files({}), *sides)

    (block,) = merge.blocks
    assert (block.base, block.ours, block.theirs) == (b"", b"a\n", b"b\n")


def test_a_clean_merge_has_no_blocks():
    """Nor has one whose conflicts have no lines."""
    tree = ce.Snapshot.from_files({"f": b"a\n"})
    edit, deletion = ce.Changes({"f": ce.Entry(b"b\n")}), ce.Changes({"f": None})

    assert merge_changes(tree, edit, edit).blocks == ()
    assert merge_changes(tree, edit, deletion).conflicts
    assert merge_changes(tree, edit, deletion).blocks == ()


# --- answering blocks ------------------------------------------------------------------------


def test_an_answer_takes_the_place_of_the_whole_block():
    """The shared lines that git had settled are part of it, and not repeated."""
    resolved = merge_file(*SPLIT).resolve_blocks(lambda block: block.ours + block.theirs)

    assert text_of(resolved) == HEAD + ALPHA + BETA + TAIL
    assert (resolved.conflicts, resolved.blocks) == ((), ())


@fewer
@given(three_way_trees())
def test_the_text_around_blocks_and_the_answers_make_the_file(trees):
    """Also where some conflicts were answered before, so that their blocks are not whole."""
    merge = merge_changes(*trees)
    partly = merge.resolve(lambda conflict: b"x\n" if (conflict.line or 0) % 3 == 0 else None)

    for each in (merge, partly):
        resolved = each.resolve_blocks(lambda block: b"<" + block.ours)
        for path in {conflict.path for conflict in each.conflicts if conflict.has_lines}:
            first, *others = each.settled_around_blocks(path)
            answers = [b"<" + block.ours for block in each.blocks if block.path == path]
            pairs = zip(answers, others, strict=True)
            assert resolved.changes[path].data == first + b"".join(a + s for a, s in pairs)


def test_an_empty_answer_takes_the_block_away():
    """It is not the same as `None`."""
    resolved = merge_file(*SPLIT).resolve_blocks(lambda _: b"")

    assert text_of(resolved) == HEAD + TAIL
    assert resolved.conflicts == ()


def test_a_file_partly_resolved_has_only_its_untouched_blocks():
    """A block of which one conflict was answered is not whole any more."""
    gap = b"".join(b"%d\n" % i for i in range(9))
    ends = (b"a\n", b"b\n", b"c\n")
    texts = (text + gap + end for text, end in zip(SPLIT, ends, strict=True))
    merge = merge_file(*texts)
    answers = iter([b"answer\n", None, None])

    partly = merge.resolve(lambda _: next(answers))

    assert [len(block.conflicts) for block in merge.blocks] == [2, 1]
    assert [(block.ours, block.theirs) for block in partly.blocks] == [(b"b\n", b"c\n")]
    assert partly.blocks[0].conflicts == partly.conflicts[1:]
    finished = partly.resolve_blocks(lambda block: block.theirs)
    assert finished.conflicts == partly.conflicts[:1]
    assert text_of(finished).endswith(gap + b"c\n")


def test_blocks_may_be_answered_one_after_the_other():
    """What stays open is where it was, with its line counted anew."""
    gap = b"".join(b"%d\n" % i for i in range(9))
    merge = merge_file(b"a\n" + gap + b"b\n", b"c\n" + gap + b"d\n", b"e\n" + gap + b"f\n")

    once = merge.resolve_blocks(lambda block: block.ours if block.base == b"a\n" else None)
    twice = once.resolve_blocks(lambda block: block.theirs)

    assert [conflict.line for conflict in once.conflicts] == [11]
    assert [block.base for block in once.blocks] == [b"b\n"]
    assert text_of(once).startswith(b"c\n" + gap + b"<<<<<<<")
    assert text_of(twice) == b"c\n" + gap + b"f\n"


def test_tokens_keep_whole_what_union_interleaves():
    """Two classes stand one behind the other, not one inside of the other."""
    tree = ce.Snapshot.from_files({"f.py": SPLIT[0]})
    sides = [ce.Changes({"f.py": ce.Entry(text)}) for text in SPLIT[1:]]

    by_tokens = ce.merge(tree, *sides, strategy="tokens").changes["f.py"].data
    by_union = ce.merge(tree, *sides, strategy="union").changes["f.py"].data

    assert by_tokens.split() == (HEAD + ALPHA + BETA + TAIL).split()
    assert ALPHA.strip() in by_tokens
    assert BETA.strip() in by_tokens
    assert b"class Alpha:\nclass Beta:\n" in by_union


# --- laws ----------------------------------------------------------------------------------------


@given(three_way_trees() | three_way_edits())
def test_every_conflict_with_lines_is_in_exactly_one_block(sides):
    """In the order of the files, each as the merge lists it."""
    merge = merge_changes(*sides)

    inside = [conflict for block in merge.blocks for conflict in block.conflicts]

    assert inside == [conflict for conflict in merge.conflicts if conflict.has_lines]


@given(three_way_texts())
def test_every_conflict_of_a_text_is_in_exactly_one_block(texts):
    """The places of the blocks count all of them, in order."""
    conflicts = merge_text(*texts).conflicts if len(set(texts)) == 3 else ()
    blocks = find_text_blocks(*texts) if len(set(texts)) == 3 else ()

    assert [i for _, place in blocks for i in place.conflicts] == list(range(len(conflicts)))
    assert all(place.conflicts for _, place in blocks)


@given(three_way_texts())
def test_all_blocks_as_ours_are_all_conflicts_as_ours(texts):
    """The same bytes: what git settled inside of a block is what ours has there."""
    merge = merge_file(*texts)

    by_block = merge.resolve_blocks(lambda block: block.ours)

    assert text_of(by_block) == text_of(merge.resolve(lambda conflict: conflict.ours))
    assert by_block.conflicts == ()


@given(three_way_trees())
def test_all_blocks_of_a_tree_as_ours_are_all_its_text_conflicts_as_ours(sides):
    """And nothing else of it is resolved."""
    merge = merge_changes(*sides)

    by_block = merge.resolve_blocks(lambda block: block.ours)
    by_conflict = merge.resolve(lambda conflict: conflict.ours if conflict.has_lines else None)

    assert by_block.changes == by_conflict.changes
    assert by_block.conflicts == by_conflict.conflicts


@given(three_way_texts())
def test_blocks_are_lines_of_their_files_in_order(texts):
    """Each side's text of a block is a slice of the side."""
    blocks = merge_file(*texts).blocks

    for version, name in zip(texts, ("base", "ours", "theirs"), strict=True):
        at = 0
        for block in blocks:
            piece = getattr(block, name)
            at = version.index(piece, at) + len(piece)


@given(three_way_texts())
def test_nothing_outside_of_blocks_is_touched(texts):
    """What stands around them is the same, whatever the answers are."""
    merge = merge_file(*texts)
    blocks = merge.blocks
    assume(blocks and b"\0" not in b"".join(texts))
    mark = b"\0"

    pieces = text_of(merge.resolve_blocks(lambda _: mark)).split(mark)
    by_ours = text_of(merge.resolve_blocks(lambda block: block.ours))

    answers = [block.ours for block in blocks]
    woven = pieces[0] + b"".join(a + p for a, p in zip(answers, pieces[1:], strict=True))
    assert woven == by_ours


@fewer
@given(three_way_texts())
def test_unanswered_blocks_change_nothing(texts):
    """All stays as git leaves it."""
    merge = merge_file(*texts)

    assert merge.resolve_blocks(lambda _: None) == merge


@given(three_way_texts())
def test_lines_that_only_one_side_added_are_in_the_blocks_or_settled(texts):
    """Answering with both sides loses no line that a side has and base has not."""
    base, ours, theirs = (Counter(text.splitlines()) for text in texts)
    assume(all(text.endswith(b"\n") for text in texts))

    both = merge_file(*texts).resolve_blocks(lambda block: block.ours + block.theirs)

    there = set(text_of(both).splitlines())
    assert (ours - base).keys() - base.keys() <= there
    assert (theirs - base).keys() - base.keys() <= there


def test_the_blocks_of_a_file_are_found_once_per_merge(monkeypatch):
    """Each strategy of a cascade reads them, and a merge with answers has the same ones."""
    found = []

    def find(*sources, cache):
        found.append(sources)
        return find_text_blocks(*sources, cache=cache)

    monkeypatch.setattr("cooperbench_eval.git.merging.three_way_merge.find_text_blocks", find)
    merge = merge_file(*SPLIT)

    (block,) = merge.blocks
    assert merge.resolve_blocks(lambda _: None).blocks == (block,)
    assert len(found) == 1
