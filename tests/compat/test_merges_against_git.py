"""Three-way merges of trees through `git merge-tree`: the same to the byte."""

from pathlib import Path

import pygit2
import pytest
from generators import moved_trees
from hypothesis import assume, example, given, settings
from rare_merges import RARE

from cooperbench_eval.git.merging.three_way_merge import Labels
from cooperbench_eval.git.merging.tree_merge import merge_changes
from cooperbench_eval.git.trees.entries import Entry, FileMode
from cooperbench_eval.git.trees.snapshot import Changes, Snapshot

fewer = settings(max_examples=settings().max_examples // 2)  # of what is dear

AUTHOR = pygit2.Signature("Ann", "ann@example.org", 0, 0)
LINES = b"".join(b"line %d\n" % number for number in range(12))
OTHER = b"".join(b"other %d\n" % number for number in range(12))
GAPS = Path(__file__).parents[1] / "scenarios" / "known_gaps"
LINK = Entry(b"target", FileMode.SYMLINK)


def merge_with_git(git, base, ours, theirs):
    """Return git's tree id, stages, and whether it conflicts; `None` where git crashes."""
    repository = pygit2.Repository(git.path)

    def commit(name, files, *parents):
        made = write_commit(repository, files, parents)
        repository.references.create(f"refs/heads/{name}", made, True)
        return made

    root = commit("base", base)
    commit("ours", ours, root)
    commit("theirs", theirs, root)
    return merge_branches_with_git(git)


def merge_branches_with_git(git):
    """Return what `merge_with_git` returns, for the branches `ours` and `theirs`."""
    # The exit status is printed last: 0 is clean and 1 conflicting; both print a tree.
    merge = "git merge-tree --write-tree -z --no-messages ours theirs"
    printed = git.run("-c", f"alias.merged=!{merge}; printf %d $?", "merged")
    *shown, status = printed.decode("utf-8", "surrogateescape").split("\0")
    if status not in {"0", "1"}:
        return None  # it crashed, and may have printed nothing else
    tree, *rows = shown
    stages = []
    for row in filter(None, rows):
        facts, path = row.split("\t", 1)
        mode, object_id, number = facts.split()
        stages.append((path, int(number), int(mode, 8), object_id))
    return tree, sorted(stages), status == "1"


def write_commit(repository, files, parents, author=AUTHOR):
    """Store a commit; return its id."""
    index = pygit2.Index()
    for path, entry in files.items():
        if entry.mode is FileMode.SUBMODULE:
            object_id = pygit2.Oid(hex=entry.data.decode())
        else:
            object_id = repository.create_blob(entry.data)
        index.add(pygit2.IndexEntry(path, object_id, pygit2.enums.FileMode(int(entry.mode))))
    tree = index.write_tree(repository)
    return repository.create_commit(None, author, author, "", tree, list(parents))


def loses_a_file(git, tree, stages, _conflicts):
    """Return whether git's tree lacks a path that git itself lists as unmerged.

    It happens where a directory rename puts a file below another file's old name,
    or a file where a folder was, which git then lists with an id of zeros; see
    tests/scenarios/known_gaps.
    """
    if any(object_id == "0" * 40 for _, _, _, object_id in stages):
        return True
    listed = git.run("ls-tree", "-r", "-z", "--name-only", tree).split(b"\0")
    there = {path.decode("utf-8", "surrogateescape") for path in listed}
    return any(path not in there for path, number, _, _ in stages if number > 1)


def may_lose_an_edit(base, ours, theirs):
    """Return whether both sides made one new file, and one of them changed its source.

    If that file is a renamed one, git settles it before it looks at the other side's
    edit, which is then lost; see tests/scenarios/known_gaps.
    """
    made_alike = any(ours[path] == theirs.get(path) for path in ours.keys() - base.keys())
    return made_alike and any(path not in ours or path not in theirs for path in base)


@fewer
@given(moved_trees())
@example(({"a": LINES}, {"b": LINES}, {}))
@example(({"a": LINES}, {"b": LINES + b"x\n"}, {"c": LINES + b"y\n"}))
@example(({"a": LINES, "b": OTHER}, {"c": LINES, "b": OTHER + b"x\n"}, {"c": OTHER, "a": LINES}))
@example(({"a": LINES}, {"c": LINES}, {"a": LINES + b"z\n", "c": OTHER}))
@example(({"d/1": LINES, "d/2": OTHER}, {"e/1": LINES, "e/2": OTHER}, {"d/3": b"new\n"}))
@example(({"a": LINES}, {"a": LINES + b"x\n"}, {"a": LINK}))
@example(({"a": LINES}, {"c": LINES}, {"a": LINK}))
@example(({"k": b"k"}, {"k": b"k", "a": LINES}, {"k": b"k", "a/b": OTHER}))
@example(({}, {"a": LINES}, {"a": Entry(LINES, FileMode.EXECUTABLE)}))
@example(({"a": LINES, "d/d": LINES}, {"a": LINES}, {"b/c/d": LINES, "a/d": LINES}))
@example(
    (
        {"b": LINES, "c": LINK},
        {"a": LINES, "c": b"a file now\n"},
        {"b": LINES, "a": LINK},
    )
)
@example(
    (
        {"x/a": LINES, "x/k": OTHER, "q/a": b"1\n"},
        {"x/a": LINES + b"ours\n", "x/k": OTHER, "q/a": b"2\n"},
        {"y/a": LINES + b"1\n2\n3\n4\n5\n", "y/k": OTHER, "z": LINES + b"new\n"},
    )
)
@example(
    (
        {"x/a": LINES, "q/a": b"1\n"},
        {"x/a": LINES + b"ours\n", "q/a": b"1\n"},
        {"y/a": LINES + b"1\n2\n3\n4\n5\n", "z": LINES + b"new\n"},
    )
)
@example(({"a": b"a\0b"}, {"a": b"a\0c"}, {"a": b"a\0d"}))
# git ignores a last line without a newline, so `f` is deleted here, not renamed.
@example(
    (
        {"f": b"x\ny\nz\ntail of the file"},
        {"g": b"x\ny\nZ\ntail of the file"},
        {"f": b"w\nx\ny\nz\ntail of the file"},
    )
)
# git takes these long lines for equal, so `f` is renamed here.
@example(
    (
        {"f": b"=" * 64 + b"\nkept\n"},
        {"g": b"-" * 64 + b"\nkept\n"},
        {"f": b"=" * 64 + b"\nkept\nmore\n"},
    )
)
def test_tree_merges_equal_those_of_git(git, trees):
    """Verdict, tree id, every conflicted blob and the list of unmerged stages are equal."""
    base, ours, theirs = map(with_modes, trees)
    assume(not may_lose_an_edit(base, ours, theirs))
    expected = merge_with_git(git, base, ours, theirs)
    assume(expected is not None and not loses_a_file(git, *expected))

    assert merge_with_us(base, ours, theirs) == expected


def with_modes(tree):
    """Return the entries of a tree, in which plain contents are files."""
    return {path: e if isinstance(e, Entry) else Entry(e) for path, e in tree.items()}


def merge_with_us(base, ours, theirs):
    """Return our tree id and stages, and whether we report a conflict."""
    snapshot = Snapshot.from_files(base)
    sides = [Changes.between(snapshot, Snapshot.from_files(side)) for side in (ours, theirs)]
    merged = merge_changes(snapshot, *sides, Labels(ours="ours", theirs="theirs"))
    stages = [(s.path, s.number, int(s.entry.mode), s.entry.id) for s in merged.stages]
    return merged.changes.tree_id(snapshot), sorted(stages), bool(merged.conflicts)


@pytest.mark.parametrize("trees", RARE.values(), ids=RARE)
def test_rare_merges_equal_those_of_git(git, trees):
    """Verdict, tree id and the list of unmerged stages are equal."""
    trees = [with_modes(tree) for tree in trees]

    assert merge_with_us(*trees) == merge_with_git(git, *trees)


def scenario(name):
    """Return the three trees of a known gap."""
    return (
        {path: side.get(path) for path in side.paths()}
        for side in (Snapshot.from_dir(GAPS / name / word) for word in ("base", "ours", "theirs"))
    )


def merge_scenario(git, name):
    """Return git's stages of a known gap, and the paths in its tree."""
    tree, stages, _ = merge_with_git(git, *scenario(name))
    listed = git.run("ls-tree", "-r", "-z", "--name-only", tree).decode().split("\0")
    return tree, stages, listed


def test_git_loses_a_file_below_another_files_old_name(git):
    """The known gap still exists: git's tree lacks a path that it lists as unmerged."""
    assert loses_a_file(git, *merge_with_git(git, *scenario("folder_renamed_onto_a_file")))


def test_git_loses_an_edit_of_a_file_that_both_sides_made(git):
    """The known gap still exists: git's clean tree lacks the line that ours added."""
    tree, stages, _ = merge_scenario(git, "edit_beside_an_equal_new_file")

    assert not stages
    assert b"ours" not in git.run("cat-file", "blob", f"{tree}:b")


def test_git_lists_a_file_without_an_id(git):
    """The known gap still exists: the file's id consists of zeros."""
    _, stages, _ = merge_scenario(git, "file_listed_without_an_id")

    assert ("c~ours", 2, 0, "0" * 40) in stages


def test_git_loses_a_file_where_a_renamed_folder_goes(git):
    """The known gap still exists: `b/d` is neither in the tree nor unmerged."""
    _, stages, listed = merge_scenario(git, "file_under_a_renamed_folder")

    assert not any(path.startswith("b/d~") for path in [*listed, *(stage[0] for stage in stages)])


def test_git_loses_the_files_of_a_settled_folder(git):
    """The known gap still exists: git's tree lacks a file that nobody touched."""
    assert "c/d/d" not in merge_scenario(git, "file_moved_into_a_settled_folder")[2]


def test_git_puts_a_moved_file_in_the_place_of_a_settled_one(git):
    """The known gap still exists: git's tree lacks two files that nobody touched."""
    tree, stages, listed = merge_scenario(git, "file_moved_onto_a_settled_file")

    assert [stage[:2] for stage in stages] == [("b/d/x", 3), ("b/n", 3)]
    assert "b/d/y" not in listed
    assert b"nobody" not in git.run("cat-file", "blob", f"{tree}:b/d/x")
