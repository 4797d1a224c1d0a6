"""Teams of two to six features against successive `git merge`s, and against git's octopus merge."""

from tempfile import TemporaryDirectory

from generators import diverging_trees
from hypothesis import assume, example, given, settings
from hypothesis import strategies as st
from test_merges_against_git import may_lose_an_edit

import cooperbench_eval as ce

few = settings(max_examples=settings().max_examples // 3)  # each runs a dozen processes

LINES = b"".join(b"line %d\n" % number for number in range(12))


def edited(number, text=b"edited\n"):
    """Return a file in which one line is replaced."""
    lines = LINES.splitlines(keepends=True)
    lines[number] = text
    return {"f": ce.Entry(b"".join(lines))}


def team_of(base, sides):
    """Return a team whose features make the sides; feature n is the n-th from the end."""
    snapshot = ce.Snapshot.from_files(base)
    changes = [ce.Changes.between(snapshot, ce.Snapshot.from_files(side)) for side in sides]
    features = [
        ce.Feature(number=len(sides) - at, patch=each.diff(snapshot))
        for at, each in enumerate(changes)
    ]
    return ce.FeatureTeam(repo_name="r", task_id=0, base=snapshot, features=features)


def merge_with_git(git, ours, theirs):
    """Return whether git merges two branches, and its tree; `None` if git fails."""
    # The exit status is printed last: 0 is clean and 1 conflicting; both print a tree.
    merge = f"git merge-tree --write-tree -z --no-messages {ours} {theirs}"
    printed = git.run("-c", f"alias.merged=!{merge}; printf %d $?", "merged")
    *shown, status = printed.decode("utf-8", "surrogateescape").split("\0")
    if status not in {"0", "1"}:
        return None  # it crashed, and may have printed nothing else
    tree, *rows = shown
    lists_no_id = any(row.split()[1:2] == ["0" * 40] for row in rows)
    return None if lists_no_id else (status == "0", tree)


def branch(git, name, tree, *parents):
    """Commit a tree to a branch, which gives the side its label in markers."""
    commit = git.commit(tree, "A change", *(word for each in parents for word in ("-p", each)))
    git.run("update-ref", f"refs/heads/{name}", commit)
    return commit


def fold_with_git(git, base, numbered):
    """Merge branches one after another, without those that conflict.

    Yields, for each merge, its numbers, whether it is clean, git's tree, and the files of
    the result so far.
    """
    root = branch(git, "base", git.tree(base))
    for number, files in numbered:
        branch(git, f"feature{number}", git.tree(files), root)
    (first, files), *others = numbered
    so_far, head = [first], f"feature{first}"
    for number, _ in others:
        merged = merge_with_git(git, head, f"feature{number}")
        if merged is None:
            yield None
            return
        is_clean, tree = merged
        yield tuple(so_far), number, is_clean, tree, files
        if is_clean:
            parents = head, f"feature{number}"
            so_far.append(number)
            head = "+".join(f"feature{each}" for each in so_far)
            branch(git, head, tree, *parents)
            snapshot = ce.Snapshot.from_repo(git.path, tree)
            files = {path: snapshot.get(path) for path in snapshot.paths()}


@few
@given(diverging_trees(2, 6, max_changes=2))
@example(({"f": ce.Entry(LINES)}, edited(2), edited(9), edited(2, b"other\n"), edited(5)))
@example(({"f": ce.Entry(LINES)}, edited(2), edited(2), edited(3)))
@example(
    (
        {"d/f": ce.Entry(LINES)},
        {"e/f": ce.Entry(LINES)},
        {"d/f": edited(3)["f"]},
        {"d/f": edited(9)["f"], "d/g": ce.Entry(b"new\n")},
    )
)
def test_a_team_is_merged_as_git_merges_branches_one_after_another(git, trees):
    """Each step is clean if git's is, and has git's tree, markers and their labels included."""
    base, *sides = trees
    sides = [side for side in sides if side != base]
    assume(len(sides) > 1)
    team = team_of(base, sides)
    numbered = list(zip(team.numbers, sides, strict=True))
    expected = list(fold_with_git(git, base, numbered))
    assume(None not in expected)
    by_number = dict(numbered)
    for _, number, _, _, files in expected:
        assume(not may_lose_an_edit(base, files, by_number[number]))

    report = ce.Evaluator(strategies=["naive"]).evaluate_team(team)

    attempt = report.attempt("naive")
    found = [(each.into, each.feature, each.is_complete, each.tree_id) for each in attempt.steps]
    assert found == [each[:4] for each in expected]
    assert [each.tree_id for each in report.merges] == [each.tree_id for each in attempt.steps]
    clean = [number for _, number, is_clean, _, _ in expected if is_clean]
    assert attempt.landed == (team.numbers[0], *clean)


LONG = ce.Entry(b"".join(b"line %d\n" % number for number in range(40)))
EDITS = st.lists(
    st.lists(st.tuples(st.sampled_from("fgh"), st.integers(0, 39)), min_size=1, max_size=2),
    min_size=2,
    max_size=6,
)
"""For each side the lines that it replaces, as a file and a number; `h` is a new file."""


@settings(few, max_examples=settings().max_examples // 5)
@given(EDITS)
@example([[("f", 2)], [("f", 5)], [("g", 9), ("h", 0)]])
def test_where_an_octopus_merge_succeeds_its_tree_is_ours(git, edits):
    """Git has a merge of several branches at once, which gives up at the first conflict."""
    base = {"f": LONG, "g": LONG}
    sides = [dict(base) for _ in edits]
    for at, (side, places) in enumerate(zip(sides, edits, strict=True)):
        for name, number in places:
            lines = side.get(name, LONG).data.splitlines(keepends=True)
            lines[number] = b"side %d\n" % at
            side[name] = ce.Entry(b"".join(lines))
    root = branch(git, "base", git.tree(base))
    heads = [branch(git, f"side{at}", git.tree(side), root) for at, side in enumerate(sides)]
    with TemporaryDirectory() as folder:
        git.run("update-ref", "--no-deref", "HEAD", heads[0])
        git.run("reset", "-q", "--hard", GIT_WORK_TREE=folder)
        options = ("-q", "--strategy=octopus", "--no-edit", "--no-ff")
        done = git.run("merge", *options, *heads[1:], fails=True, GIT_WORK_TREE=folder)
    assume(done is not None)
    tree = git.run("rev-parse", "HEAD^{tree}").decode().strip()
    team = team_of(base, sides)

    attempt = ce.Evaluator(strategies=["naive"]).evaluate_team(team).attempt("naive")

    assert (attempt.landed, attempt.tree_id) == (team.numbers, tree)
