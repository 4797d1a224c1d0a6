"""Where a cascade accepts the lines of both sides, and what it says of other conflicts."""

import pytest

import cooperbench_eval as ce


def union_of(**files):
    """Merge files, each given as three texts, by a cascade of union, and as git does."""
    paths = {name.replace("_", "."): texts for name, texts in files.items()}
    base = ce.Snapshot.from_files({path: texts[0] for path, texts in paths.items()})
    sides = [ce.Changes({p: ce.Entry(t[n]) for p, t in paths.items()}) for n in (1, 2)]
    return ce.merge(base, *sides, strategy=ce.cascade("union")), ce.merge(base, *sides)


JOINED = {
    "a line that both replaced": ("words", "a\npear\nz\n", "a\npeach\nz\n", "a\nfig\nz\n"),
    "a line that one side removed": ("words", "a\npear\nz\n", "a\nz\n", "a\nfig\nz\n"),
    "parts of one insertion": (
        "words",
        "a:\n\tx\n",
        "a:\n\tx\n\nb:\n\ty\n",
        "a:\n\tx\n\nb:\n\tz\n",
    ),
}


@pytest.mark.parametrize("texts", JOINED.values(), ids=JOINED)
def test_lines_are_joined_only_where_both_sides_insert(texts):
    """Two versions of one line, or a change of what the other side removed."""
    path, *versions = texts
    files = {path.replace(".", "_"): [text.encode() for text in versions]}

    outcome, git = union_of(**files)

    assert outcome.changes == git.changes
    assert "would repeat or restore" in outcome.ledger[0].reason


def test_what_both_insert_before_their_own_lines_is_not_in_the_way():
    """Lines that begin alike would be two versions of one."""
    texts = [b"a = 1\n" + new for new in (b"", b"b = 1\nc = 1\n", b"b = 1\nd = 1\n")]

    outcome, _ = union_of(a_cfg=texts)
    other, git = union_of(a_po=[text.replace(b"d =", b"c +=") for text in texts])

    assert outcome.changes["a.cfg"].data == b"a = 1\nb = 1\nc = 1\nd = 1\n"
    assert other.changes == git.changes


def test_a_line_that_both_sides_moved_is_not_in_the_way():
    """Here, one side adds a line where it was."""
    head, tail = (b"".join(b"%s%d\n" % (word, i) for i in range(6)) for word in (b"h", b"t"))
    base = head + b"m\n" + tail
    moved = b"m\n" + head

    outcome, _ = union_of(words=(base, moved + tail, moved + b"new\n" + tail))

    assert outcome.changes["words"].data == moved + b"new\n" + tail


def test_markers_that_a_side_left_are_an_open_conflict():
    """Those of the base may stay."""
    marked = b"<<<<<<< a\nx\n=======\ny\n>>>>>>> b\n"
    texts = b"1\n2\n3\n", b"1\n2\n" + marked + b"3\n", b"1\n2\nnew\n3\n"

    left, git = union_of(words=texts)
    kept, _ = union_of(words=[marked + text for text in (b"1\n", b"1\n2\n", b"1\n3\n")])

    assert left.changes == git.changes
    assert "conflict markers" in left.ledger[0].reason
    assert kept.changes["words"].data == marked + b"1\n2\n3\n"


ROWS = b"".join(b"line %d\n" % i for i in range(9))


@pytest.mark.parametrize("strategy", ["union", "cascade"])
def test_a_conflict_without_lines_has_a_row(strategy):
    """Nobody answers it, and the ledger says why."""
    base = ce.Snapshot.from_files({"a.txt": ROWS})
    sides = [
        ce.Changes.between(base, ce.Snapshot.from_files({name: ROWS}))
        for name in ("b.txt", "c.txt")
    ]

    outcome = ce.merge(base, *sides, strategy=strategy)

    assert [(row.path, row.is_open) for row in outcome.ledger] == [("a.txt", True)]
    assert outcome.ledger[0].reason


def test_lines_that_end_with_a_carriage_return_alone_are_not_merged():
    """Git and the resolvers take all of them for one line."""
    texts = [text.replace(b"\n", b"\r") for text in (b"a: z\n", b"a: z\nb: x\n", b"a: z\nc: y\n")]
    base, *sides = (ce.Snapshot.from_files({"a.md": text}) for text in texts)
    changes = (ce.Changes.between(base, side) for side in sides)

    outcome = ce.merge(base, *changes, strategy=ce.cascade("structured", "union"))

    assert outcome.status == "conflicts"
