"""Merge bases, and merges with several of them, through the git binary: the same to the byte."""

import pygit2
import pytest
from generators import branching_graphs, commit_graphs, criss_cross_histories
from hypothesis import assume, example, given, settings
from test_merges_against_git import (
    loses_a_file,
    may_lose_an_edit,
    merge_branches_with_git,
    write_commit,
)

from cooperbench_eval import Evaluator, Feature, FeaturePair, FeatureTeam, probe
from cooperbench_eval.git.merging.conflicts import MergeStatus
from cooperbench_eval.git.merging.merge_base import History, merge_bases
from cooperbench_eval.git.merging.three_way_merge import Labels
from cooperbench_eval.git.merging.tree_merge import merge_changes
from cooperbench_eval.git.trees.entries import Entry, FileMode
from cooperbench_eval.git.trees.objects import Commit
from cooperbench_eval.git.trees.snapshot import Changes, Snapshot
from cooperbench_eval.reporting import ProbeState

fewer = settings(max_examples=settings().max_examples // 2)  # of what is dear

LINES = b"".join(b"line %d\n" % number for number in range(12))
TEXT = Entry(LINES)
TOP, LOW = Entry(b"top\n" + LINES), Entry(LINES + b"low\n")
LINK, OTHER_LINK = (Entry(target, FileMode.SYMLINK) for target in (b"one", b"two"))
MODULE, OTHER_MODULE = (Entry(digit * 40, FileMode.SUBMODULE) for digit in (b"1", b"2"))
BINARY, OTHER_BINARY = Entry(b"\0one"), Entry(b"\0two")


def signature(time):
    """Return the author of a commit made at a time."""
    return pygit2.Signature("Ann", "ann@example.org", time, 0)


def store(git, commits):
    """Store commits, of which the last two become the branches `ours` and `theirs`."""
    repository, ids = pygit2.Repository(git.path), []
    for tree, parents, time in commits:
        ids.append(write_commit(repository, tree, [ids[n] for n in parents], signature(time)))
    for name, commit in zip(("ours", "theirs"), ids[-2:], strict=True):
        repository.references.create(f"refs/heads/{name}", commit, True)
    return [str(each) for each in ids]


def merge_with_us(git):
    """Merge the branches with the library; return what git prints for a merge, and the trees."""
    history = History(git.path)
    one, other = history.find("ours"), history.find("theirs")
    base = history.merge_base([one], [other])
    sides = history.snapshot(one), history.snapshot(other)
    merge = merge_changes(
        base,
        *(Changes.between(base, side) for side in sides),
        Labels(ours="ours", theirs="theirs"),
    )
    stages = sorted((s.path, s.number, int(s.entry.mode), s.entry.id) for s in merge.stages)
    trees = [{path: tree.get(path) for path in tree.paths()} for tree in (base, *sides)]
    return (merge.changes.tree_id(base), stages, bool(merge.conflicts)), trees


@given(commit_graphs())
@example([((), 2), ((0,), 3), ((1,), 2), ((0, 2), 1)])  # an ancestor is found with its child
def test_merge_bases_are_those_of_git_in_its_order(git, graph):
    """`git merge-base --all` lists the same commits in the same order, whatever the clocks say."""
    ids = store(git, [({f"{n}": TEXT}, parents, time) for n, (parents, time) in enumerate(graph)])
    expected = git.run("merge-base", "--all", ids[-2], ids[-1], fails=True) or b""

    found = merge_bases(History(git.path).commit, ids[-2], [ids[-1]])

    assert found == expected.decode().split()


@given(commit_graphs())
def test_several_commits_stand_for_their_merge(git, graph):
    """The merge bases with several commits are those of `git merge-base` with their merge."""
    assume(len(graph) > 2)
    ids = store(git, [({f"{n}": TEXT}, parents, time) for n, (parents, time) in enumerate(graph)])
    expected = git.run("merge-base", "--all", *ids[-3:], fails=True) or b""

    found = merge_bases(History(git.path).commit, ids[-3], ids[-2:])

    assert found == expected.decode().split()


@fewer
@given(criss_cross_histories())
def test_criss_cross_merges_equal_those_of_git(git, commits):
    """With virtual merge bases, verdict, tree id and unmerged stages are git's."""
    store(git, commits)
    merged, trees = merge_with_us(git)
    assume(not may_lose_an_edit(*trees))
    expected = merge_branches_with_git(git)
    assume(expected is not None and not loses_a_file(git, *expected))

    assert merged == expected


@fewer
@given(criss_cross_histories())
def test_a_pair_on_separate_bases_is_merged_as_git_merges_its_branches(git, commits):
    """Each feature is the last commit of a branch, and starts from the commit before it."""
    ids = store(git, commits)
    starts = [at(git, ids[commits[n][1][0]]) for n in (-1, -2)]
    features = [
        Feature(number=n + 1, base=start, patch=Changes.between(start, at(git, head)))
        for n, (start, head) in enumerate(zip(starts, (ids[-1], ids[-2]), strict=True))
    ]
    assume(all(each.patch.changes for each in features))
    assume(not may_lose_an_edit(*merge_with_us(git)[1]))
    expected = merge_branches_with_git(git)
    assume(expected is not None and not loses_a_file(git, *expected))
    pair = FeaturePair(repo_name="r", task_id=0, feature1=features[0], feature2=features[1])

    attempt = Evaluator(strategies=["naive"]).evaluate(pair).attempt("naive")

    assert (attempt.status is MergeStatus.CONFLICTED) == expected[2]
    assert expected[2] or attempt.tree_id == expected[0]


@fewer
@given(criss_cross_histories())
def test_a_probe_merges_branches_as_git_does(git, commits):
    """What lands has git's tree, and a branch that conflicts is left out."""
    store(git, commits)
    assume(not may_lose_an_edit(*merge_with_us(git)[1]))
    expected = merge_branches_with_git(git)
    assume(expected is not None and not loses_a_file(git, *expected))

    found = probe(git.path, ["theirs"], onto="ours")

    if expected[2]:
        assert (found.branches[0].state, found.landing) == (ProbeState.CONFLICTS, ())
    else:
        assert found.branches[0].state.is_complete
        assert found.plan.tree_id == expected[0]


@given(branching_graphs())
def test_a_team_on_separate_bases_is_merged_as_git_merges_its_branches(git, graph):
    """One `git merge` after another has the same final tree, if none conflicts.

    Every commit edits a line of one file, and some undo an edit of a parent. So a merge on
    another base would bring back what a branch has undone.
    """
    edits = []
    for number, (parents, time) in enumerate(graph):
        made = dict(edits[parents[0]]) if parents else {}
        if made and time % 2:
            made.pop(min(made))
        edits.append(made | {number: b"edit %d\n" % number})
    ids = store(git, [(edited_file(made), *row) for made, row in zip(edits, graph, strict=True)])
    heads = range(len(graph) - 3, len(graph))
    expected = merged_one_after_another(git, [ids[n] for n in heads])
    assume(expected is not None)
    features = []
    for number in heads:
        start = at(git, ids[graph[number][0][0]])
        changes = Changes.between(start, at(git, ids[number]))
        features.append(Feature(number=number, base=start, patch=changes))
    team = FeatureTeam(repo_name="r", task_id=0, features=features)

    attempt = Evaluator(strategies=["naive"]).evaluate_team(team).attempt("naive")

    assert attempt.tree_id == expected


def edited_file(edits):
    """Return a file of which every fourth line can have an edit, by number."""
    lines = (b"line %d\n" % n if n % 4 else edits.get(n // 4, b"original\n") for n in range(48))
    return {"f": Entry(b"".join(lines))}


def merged_one_after_another(git, commits):
    """Return the tree of commits that git merges one after another; `None` if one conflicts."""
    so_far, *rest = commits
    for each in rest:
        tree = git.run("merge-tree", "--write-tree", so_far, each, fails=True)
        if tree is None:
            return None
        so_far = git.commit(tree.decode().strip(), "merged", "-p", so_far, "-p", each)
    return git.run("rev-parse", f"{so_far}^{{tree}}").decode().strip()


def at(git, commit):
    """Return the tree of a commit."""
    return Snapshot.from_repo(git.path, commit)


@pytest.mark.parametrize(
    ("base", "one", "other"),
    [
        ({"f": TEXT}, {"f": TOP}, {"f": Entry(b"another\n" + LINES)}),
        ({"f": TEXT}, {"g": TOP}, {"g": TEXT, "h": LOW}),
        ({"f": TEXT}, {"f": TOP}, {}),
        ({"f": TEXT}, {"g": TOP}, {}),
        ({"f": TEXT}, {"g": TOP}, {"h": LOW}),
        ({"f": BINARY}, {"f": OTHER_BINARY}, {"f": Entry(b"\0three")}),
        ({}, {"f": BINARY}, {"f": OTHER_BINARY}),
        ({"f": LINK}, {"f": OTHER_LINK}, {"f": Entry(b"three", FileMode.SYMLINK)}),
        ({}, {"f": LINK}, {"f": OTHER_LINK}),
        ({"f": TEXT}, {"f": LINK}, {"f": OTHER_LINK}),
        ({"f": MODULE}, {"f": OTHER_MODULE}, {"f": Entry(b"3" * 40, FileMode.SUBMODULE)}),
        ({}, {"f": MODULE}, {"f": OTHER_MODULE}),
        ({"f": TEXT}, {"f": TOP}, {"f": LINK}),
        ({}, {"f": TEXT}, {"f": LINK}),
        ({}, {"f": TEXT}, {"f/g": LOW}),
        ({"f": TEXT}, {"f": TOP}, {"f/g": LOW}),
        ({"d/f": TEXT, "d/g": BINARY}, {"e/f": TEXT, "e/g": BINARY}, {"d/f": TEXT, "d/h": LOW}),
        ({}, {"f": TEXT}, {"f": Entry(LINES, FileMode.EXECUTABLE)}),
    ],
    ids=lambda tree: "-".join(f"{path}:{entry.data[:5]!r}" for path, entry in tree.items()),
)
def test_what_the_virtual_base_keeps_is_what_git_keeps(git, base, one, other):
    """Whatever two merge bases disagree about, the merge on top of them equals git's.

    The merges take everything from one side, and the heads then remove it or edit it, so that
    the virtual base decides about the result.
    """
    for change in ({}, {"f": LOW}, {"f": TOP, "g": TOP, "h": TOP, "e/f": LOW, "d/h": TOP}):
        criss_cross = [(base, (), 1), (one, (0,), 2), (other, (0,), 3)]
        criss_cross += [(one, (1, 2), 4), (other, (2, 1), 5)]
        heads = (({**one, **change}, (3,), 6), ({**other, "new": TEXT}, (4,), 7))
        for head in (heads, heads[::-1]):
            store(git, [*criss_cross, *head])

            assert merge_with_us(git)[0] == merge_branches_with_git(git)


def test_each_level_of_virtual_bases_has_longer_markers(git):
    """A base of a base has its conflicts between markers of eleven characters, as in git."""
    root, one, other, yours = ({"f": Entry(b"%d\n" % n + LINES)} for n in range(4))
    signs = (b"<" * 11, b"=" * 11, b">" * 11)
    conflict = b"%b Temporary merge branch 1\n1\n%b\n2\n%b Temporary merge branch 2\n" % signs
    mine = {"f": Entry(conflict + LINES)}
    commits = [(root, (), 1), (one, (0,), 2), (other, (0,), 3)]
    commits += [(mine, (2, 1), 4), (yours, (1, 2), 5)]
    commits += [(mine, (3, 4), 6), (yours, (4, 3), 7)]
    store(git, [*commits, ({"f": LOW}, (5,), 8), ({}, (6,), 9)])
    merged, (base, *_) = merge_with_us(git)

    assert merged == merge_branches_with_git(git)
    assert base == yours


def test_more_than_two_merge_bases_are_merged_the_oldest_first(git):
    """The order decides what the virtual base has, which git lists as a version."""
    sides = [({"f": Entry(b"%d\n" % n + LINES)}, (0,), 5 - n) for n in range(3)]
    commits = [({"f": TEXT}, (), 1), *sides, ({"f": TOP}, (1, 2, 3), 6), ({}, (3, 2, 1), 7)]
    store(git, commits)

    assert merge_with_us(git)[0] == merge_branches_with_git(git)


def test_a_long_history_is_not_read_to_its_end():
    """Commits older than the merge base are not asked for."""
    asked = set()

    def find(name):
        asked.add(name)
        number = int(name.strip("ab"))
        side = name[-1] if name[-1] in "ab" and number > 91 else ""
        return Commit((f"{number - 1}{side if number > 92 else ''}",) if number else (), number)

    assert merge_bases(find, "99a", ["99b"]) == ["91"]
    assert len(asked) < 30
