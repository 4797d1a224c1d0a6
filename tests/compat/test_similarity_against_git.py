"""The similarity of two files through `git diff -M`: the same percentage."""

import pytest
from generators import lists_of, similar_files
from hypothesis import example, given

from cooperbench_eval.git.merging.renames import FULL_SCORE, Similarities
from cooperbench_eval.git.trees.entries import Entry

LEAST = FULL_SCORE // 100  # of `-M1%`


def percentages_of_git(git, pairs):
    """Return the percentage of each pair of contents; `None` for those that git does not pair."""
    rows = "".join(
        f"{git.tree({'a': Entry(old)})} {git.tree({'b': Entry(new)})}\n" for old, new in pairs
    )
    printed = git.run("diff-tree", "-r", "-M1%", "--stdin", "--raw", data=rows.encode())
    found = []
    for line in printed.decode().splitlines():
        if not line.startswith(":"):
            found.append(None)
        elif (status := line.split("\t")[0].split()[-1]).startswith("R"):
            found[-1] = int(status[1:])
    return found


def percentages_of_ours(pairs):
    """Return the same by our own score; one `Similarities` compares all pairs."""
    similarities = Similarities()
    scores = [similarities.score(Entry(old), Entry(new), LEAST) for old, new in pairs]
    return [score * 100 // FULL_SCORE if score >= LEAST else None for score in scores]


@given(lists_of(similar_files()))
@example([(b"=" * 64 + b"\n" + b"kept\n", b"-" * 64 + b"\n" + b"kept\n")])
@example([(b"x\ny\n" + b"tail", b"x\ny\n" + b"end")])
@example([(b"a" * 63 + b"\n", b"a" * 63 + b"b\n"), (b"a" * 64 + b"\n", b"a" * 64 + b"b\n")])
@example([(b"a" * 64, b"a" * 64 + b"bc"), (b"a" * 63, b"a" * 64 + b"b")])
@example([(b"a\r\nb\r\nc\r\n", b"a\nb\nc\n"), (b"a\r\nb\r\n\0", b"a\nb\n\0"), (b"\r\r\n", b"\r\n")])
@example([(b"a\r\n" * 3000 + b"\0", b"a\n" * 3000 + b"\0")])
def test_the_percentage_is_that_of_git(git, pairs):
    """Long lines, either line end, NULs, missing newlines and chunks with equal numbers."""
    pairs = [(old, new) for old, new in pairs if old and new and old != new]

    assert percentages_of_ours(pairs) == percentages_of_git(git, pairs)


# Each of these lines has the same number as its partner, by git and by us.
CONFUSED = [
    (b"def function_13(self, argument_169):\n", b"def function_411(self, argument_168921):\n"),
    (b"def function_75(self, argument_5625):\n", b"def function_726(self, argument_527076):\n"),
    (b"381\n", b"a2a7\n"),
    (b"743\n", b"14a2e\n"),
    (b"42 " + b"\xff" * 40 + b"\n", b"200 " + b"\xff" * 40 + b"\n"),
    (b"\xff" * 26 + b"106\n", b"\xff" * 14 + b"694\n"),
    (b"\x0f\x7f\x7f\x7f\x80\n", b"328986\n"),  # the last byte's carry is lost
    (b"=" * 64 + b"\n", b"-" * 64 + b"\n"),
]


@pytest.mark.parametrize("pair", CONFUSED)
def test_some_different_lines_are_equal(git, pair):
    """They count as the same bytes, up to the length of the shorter one."""
    small, large = sorted(map(len, pair))

    assert percentages_of_git(git, [pair]) == [100 * small // large]
    assert percentages_of_ours([pair]) == [100 * small // large]


@pytest.mark.parametrize(("size", "is_half"), [(50, True), (51, False)])
def test_a_file_is_renamed_from_half_of_its_bytes_on(git, size, is_half):
    """Exactly half of the larger file is enough, for git and for us; less is not."""
    old, new = b"a" * 49 + b"\n" + b"b" * 49 + b"\n", b"a" * 49 + b"\n" + b"c" * size
    trees = git.tree({"a": Entry(old)}), git.tree({"b": Entry(new)})

    score = Similarities().score(Entry(old), Entry(new), FULL_SCORE // 2)

    assert (score >= FULL_SCORE // 2) == is_half
    assert bool(git.run("diff-tree", "-r", "-M", "--diff-filter=R", *trees)) == is_half
