"""What a probe says of branches and worktrees."""

import itertools
import json
import os
import random
import re
import shutil
from pathlib import Path

import pytest
from agents import APP, Agents, edited, everything_in
from hypothesis import given
from hypothesis import strategies as st
from needs import lack
from worktree_states import Worktree

import cooperbench_eval as ce
from cooperbench_eval.errors import ArgumentError, RepositoryError

GET = edited(b"return self.values[key]", b"return self.values.get(key)")
OTHER_GET = edited(b"return self.values[key]", b"return dict(self.values)[key]")
PUT = edited(b"self.values[key] = value", b"self.values.update({key: value})")
LOAD = edited(b"file.read()", b"file.read().strip()")


def states(probe):
    """Return the state of each branch by its name."""
    return {each.name: each.state.value for each in probe.branches}


# --- merges ---


def test_two_edits_of_one_method_collide_there(agents):
    """A collision names the file, the kind, and the method that both branches changed."""
    agents.branch("one", {"app.py": GET})
    agents.branch("two", {"app.py": OTHER_GET})
    agents.branch("three", {"app.py": LOAD})

    probe = ce.probe(agents.folder, ["one", "two", "three"])

    assert states(probe) == dict.fromkeys(("one", "two", "three"), "fast_forward")
    (pair,) = probe.collisions
    assert (pair.one, pair.other, pair.state) == ("one", "two", "conflicts")
    (file,) = pair.files
    assert (file.path, file.kinds, file.conflicts) == ("app.py", ("content",), 1)
    assert file.definitions == ("Store.get",)
    assert probe.pair("three", "one").state == "clean"


def test_two_new_functions_at_one_place_are_both_named(agents):
    """If both branches add a definition at the same place, both are named."""
    agents.branch("one", {"app.py": APP + b"\n\ndef new_one():\n    return 1\n"})
    agents.branch("two", {"app.py": APP + b"\n\ndef new_two():\n    return 2\n"})

    (pair,) = ce.probe(agents.folder, ["one", "two"]).collisions

    assert pair.files[0].definitions == ("new_one", "new_two")


def test_a_removed_method_is_named_where_the_other_branch_has_it(agents):
    """A branch that removes what another one edits collides in what the other one has."""
    agents.branch("one", {"app.py": re.sub(rb"    def get.*?\n\n", b"", APP, flags=re.DOTALL)})
    agents.branch("two", {"app.py": GET})

    (pair,) = ce.probe(agents.folder, ["one", "two"]).collisions

    assert pair.files[0].definitions == ("Store.get",)


def test_a_function_that_one_branch_renamed_has_both_names(agents):
    """If a branch left nothing at the place, its own name of the function around it counts."""
    lines = ["def get_all():\n", *(f"    line({number})\n" for number in range(9))]
    agents.write({"long.py": "".join(lines).encode()})
    agents.commit()
    agents.branch(
        "one", {"long.py": "".join(["def fetch_all():\n", *lines[1:6], *lines[7:]]).encode()}
    )
    agents.branch("two", {"long.py": "".join([*lines[:6], "    other()\n", *lines[7:]]).encode()})

    (pair,) = ce.probe(agents.folder, ["one", "two"]).collisions

    assert pair.files[0].definitions == ("fetch_all", "get_all")


def test_conflicts_with_the_target_are_those_of_the_branch(agents):
    """A branch that conflicts with the branch on which it lands is not in the plan."""
    agents.branch("one", {"app.py": GET})
    agents.branch("two", {"app.py": PUT})
    agents.write({"app.py": OTHER_GET})
    agents.commit()

    probe = ce.probe(agents.folder, ["one", "two"])

    assert states(probe) == {"one": "conflicts", "two": "clean"}
    assert probe.branch("one").files[0].definitions == ("Store.get",)
    assert probe.landing == ("two",)
    (left_out,) = probe.plan.left_out
    assert (left_out.number, left_out.reason, left_out.files) == (1, "conflict", ("app.py",))
    assert left_out.problem == "it conflicts with main"


def test_a_branch_may_be_contained_or_continue_the_target(agents):
    """Contained branches and fast-forwards are not merges; a contained branch does not land."""
    agents.git("branch", "old")
    agents.write({"notes.txt": b"more\n"})
    agents.commit()
    agents.branch("ahead", {"app.py": GET})

    probe = ce.probe(agents.folder, ["old", "ahead"])

    assert states(probe) == {"old": "contained", "ahead": "fast_forward"}
    assert probe.landing == ("ahead",)
    assert probe.plan.left_out[0].problem == "main contains it already"
    assert probe.plan.tree_id == agents.git("rev-parse", "ahead^{tree}")


def test_a_strategy_may_resolve_what_git_does_not(agents):
    """Each pair says whether the strategy resolved its conflicts."""
    agents.branch("one", {"app.py": APP + b"\n\ndef new_one():\n    return 1\n"})
    agents.branch("two", {"app.py": APP + b"\n\ndef new_two():\n    return 2\n"})

    probe = ce.probe(agents.folder, ["one", "two"], strategy="structured")

    assert probe.pair("one", "two").state == "resolved"
    assert probe.landing == ("one", "two")


def test_a_strategy_that_fails_is_named_and_asked_again(agents):
    """A failure is the state of the pair, and it is not remembered."""

    class Fails:
        name = "fails"
        calls = 0

        def merge(self, _):
            self.calls += 1
            raise OSError("no network")

    strategy = Fails()
    agents.branch("one", {"app.py": GET})
    agents.branch("two", {"app.py": PUT})

    first = ce.probe(agents.folder, ["one", "two"], strategy=strategy)
    calls = strategy.calls
    ce.probe(agents.folder, ["one", "two"], strategy=strategy)

    assert first.pair("one", "two").state == "failed"
    assert "no network" in first.pair("one", "two").problem
    assert strategy.calls > calls


def test_names_of_files_in_a_clash_of_file_and_folder_are_those_of_the_branches(agents):
    """A file that the merge would rename is listed by its own name."""
    agents.branch("one", {"new": b"a file\n"})
    agents.branch("two", {"new/inside": b"in a folder\n"})

    (pair,) = ce.probe(agents.folder, ["one", "two"]).collisions

    assert [(each.path, each.kinds) for each in pair.files] == [("new", ("file/directory",))]


def test_tags_and_commits_are_names_too(agents):
    """Each kind of name says what it is."""
    commit = agents.branch("one", {"app.py": GET})
    agents.git("tag", "light", "one")
    agents.git("tag", "-a", "full", "-m", "x", "one")

    probe = ce.probe(agents.folder, ["one", "light", "full", commit[:12], "one~1"])

    assert [each.kind.value for each in probe.branches] == [
        "branch",
        "tag",
        "tag",
        "commit",
        "commit",
    ]
    assert {each.commit_id for each in probe.branches[:4]} == {commit}


class Files:
    """Three files of nine lines, and random edits of them."""

    def __init__(self, tree, source):
        self.tree = tree
        self.source = source
        self.first = {name: [f"{name} {line}\n" for line in range(9)] for name in ("a", "b", "d/c")}

    def save(self, files, message):
        self.tree.write({name: "".join(lines).encode() for name, lines in files.items()})
        self.tree.commit(message)

    def edited(self):
        files = {name: list(lines) for name, lines in self.first.items()}
        for lines in files.values():
            for _ in range(self.source.choice((0, 0, 1, 1, 2))):
                start = self.source.randrange(9)
                lines[start : start + self.source.randrange(3)] = [f"{self.source.random()}\n"]
        return files


@given(seed=st.integers(0, 10**9))
def test_every_merge_ends_as_that_of_git(seed, tmp_path_factory):
    """Every pair conflicts if and only if it does for git, and git can merge what could land."""
    source = random.Random(seed)  # noqa: S311
    tree = Agents(tmp_path_factory.mktemp("agents") / "repo")
    files = Files(tree, source)
    files.save(files.first, "base")
    names = ["one", "two", "three"]
    for name in (*names, "onto"):
        tree.git("checkout", "-q", "-b", name, "main")
        files.save(files.edited(), name)

    probe = ce.probe(tree.folder, names, onto="onto")

    merges = [(each.one, each.other, each.state) for each in probe.pairs]
    merges += [("onto", each.name, each.state) for each in probe.branches]
    for one, other, state in merges:
        merged = tree.git("merge-tree", "--write-tree", one, other, fails=True)
        assert state.is_complete == (merged is not None), (one, other)
        if one == "onto":
            is_there = merged == tree.git("rev-parse", "onto^{tree}")
            assert (state == "contained") == is_there, other
    tree.git("checkout", "-q", "onto")
    for name in probe.landing:
        tree.git("merge", "-q", "--no-edit", name)
    assert probe.plan.tree_id == tree.git("rev-parse", "HEAD^{tree}")


# --- tests of the branches ---


def test_a_branch_whose_work_is_there_already_does_not_disturb_the_others(agents):
    """It was squashed into the target, and two others collide."""
    agents.branch("done", {"notes.txt": b"done\n"})
    agents.branch("one", {"app.py": GET})
    agents.branch("two", {"app.py": OTHER_GET})
    agents.write({"notes.txt": b"done\n"})
    agents.commit("squashed")

    for order in itertools.permutations(["done", "one", "two"]):
        found = ce.probe(agents.folder, order)

        assert states(found)["done"] == "contained"
        assert found.landing == (min(order, key=lambda each: each == "done"),)
        assert sorted(each.reason.value for each in found.plan.left_out) == [
            "conflict",
            "missing_input",
        ]


def test_a_branch_on_which_another_one_builds_is_never_left_out_as_a_duplicate(agents):
    """The third one merges only after the second, which makes the same change as the first."""
    agents.branch("one", {"notes.txt": b"fixed\n"})
    agents.branch("two", {"notes.txt": b"fixed\n"})
    agents.branch("three", {"notes.txt": b"fixed and more\n"}, start="two")
    agents.write({"other.txt": b"main\n"})
    agents.commit()

    for order in itertools.permutations(["one", "two", "three"]):
        found = ce.probe(agents.folder, order)
        assert set(found.landing) == {"two", "three"}
        assert [each.reason for each in found.plan.left_out] == ["duplicate"]
    agents.git("merge", "-q", "--no-edit", "one")
    agents.git("merge", "-q", "--no-edit", "two")
    agents.git("merge", "-q", "--no-edit", "three")
    found = ce.probe(agents.folder, ["one", "two", "three"], onto="main~3")
    assert found.plan.tree_id == agents.git("rev-parse", "HEAD^{tree}")


def test_branches_with_the_same_change_are_duplicates(agents):
    """As in `land`; the print names the branches."""
    agents.branch("one", {"notes.txt": b"fixed\n"})
    agents.branch("two", {"notes.txt": b"fixed\n"})

    found = ce.probe(agents.folder, ["one", "two"])

    assert found.landing == ("one",)
    assert [(each.number, each.features) for each in found.plan.left_out] == [(2, (1,))]
    assert "two makes the same changes as one" in str(found)


def test_a_probe_names_branches_without_an_answer_and_counts_those_that_are_contained(agents):
    """As their numbers mean nothing to somebody who gave names."""
    agents.branch("one", {"notes.txt": b"fixed\n"})
    agents.branch("done", {})
    missing = ce.TestSuite(command=("no-such-command",), framework="exit")

    found = ce.probe(agents.folder, ["one", "done"], suites={"one": missing})

    assert found.plan.problem.startswith("one's tests have no answer: ")
    assert str(found).startswith("naive: 1 of 2 branches can land on main, 1 already contained, 0")


def test_suites_say_what_breaks(agents):
    """With suites, a branch that merges but breaks another one's tests is left out."""
    agents.branch("one", {"app.py": LOAD})
    agents.branch("two", {"new.py": b"x = 1\n"})
    script = "import app; open('a', 'w').write(' x '); assert app.load('a') == {}"
    suites = {
        name: ce.TestSuite(command=("python3", "-c", script.format(text)), framework="exit")
        for name, text in (("one", "'x'"), ("two", "' x '"))
    }

    probe = ce.probe(agents.folder, ["one", "two"], suites=suites)

    assert "feature" not in str(probe)
    assert probe.pair("one", "two").state == "clean"
    assert probe.plan.has_tests
    assert probe.plan.is_tested
    assert len(probe.landing) == 1
    (left_out,) = probe.plan.left_out
    assert left_out.reason == "breaks"
    assert "breaks" in str(probe)


# --- worktrees ---


def test_worktrees_count_with_what_is_not_committed(agents):
    """Uncommitted changes and untracked files of worktrees collide; ignored files do not."""
    one = agents.worktree("one", {"app.py": GET, "new.py": b"x = 1\n", "out.log": b"1"})
    two = agents.worktree("two", {"app.py": PUT, "new.py": b"x = 2\n", "out.log": b"2"})
    (agents.folder / ".git/info/exclude").write_text("*.log\n")

    probe = ce.probe(agents.folder, [one.folder, two.folder])

    assert [(each.kind, each.is_dirty) for each in probe.branches] == [("worktree", True)] * 2
    (pair,) = probe.collisions
    assert [(each.path, each.kinds, each.definitions) for each in pair.files] == [
        ("new.py", ("add/add",), ("x",))
    ]


def test_a_text_is_a_branch_first_and_a_path_object_is_a_worktree(agents):
    """A name that is a branch and a worktree is the branch; a worktree's name comes next."""
    one = agents.worktree("one", {"app.py": GET})
    agents.git("branch", "-q", "-m", "one", "renamed")

    as_branch = ce.probe(agents.folder, ["renamed"]).branches[0]
    by_name = ce.probe(agents.folder, ["one"]).branches[0]
    by_path = ce.probe(agents.folder, [str(one.folder)]).branches[0]
    by_object = ce.probe(agents.folder, [one.folder]).branches[0]

    assert (as_branch.kind, as_branch.is_dirty) == ("branch", False)
    assert {(each.kind, each.is_dirty) for each in (by_name, by_path, by_object)} == {
        ("worktree", True)
    }


def test_the_main_worktree_and_a_worktree_as_target_can_be_probed(agents):
    """Any worktree may be a branch or the target, with its uncommitted changes."""
    one = agents.worktree("one", {"app.py": GET})
    agents.write({"app.py": OTHER_GET})

    from_main = ce.probe(agents.folder, [agents.folder], onto=one.folder)

    assert states(from_main) == {str(agents.folder): "conflicts"}


def test_a_bare_repository_with_worktrees_can_be_probed(agents, tmp_path):
    """A bare repository has branches and linked worktrees, but is not a worktree itself."""
    agents.branch("one", {"app.py": GET})
    bare = tmp_path / "bare.git"
    agents.git("clone", "-q", "--bare", str(agents.folder), str(bare))
    agents.git("worktree", "add", "-q", "--detach", str(tmp_path / "tree"), "one", folder=bare)
    (tmp_path / "tree/app.py").write_bytes(OTHER_GET)

    probe = ce.probe(bare, ["one", tmp_path / "tree"])

    assert probe.branches[1].is_dirty
    with pytest.raises(RepositoryError, match="is a bare repository, which has no worktree"):
        ce.probe(bare, [bare])


def test_a_detached_worktree_is_read(agents):
    """A worktree needs no branch."""
    one = agents.worktree("one", {"app.py": GET})
    one.git("checkout", "-q", "--detach")

    (branch,) = ce.probe(agents.folder, [one.folder]).branches

    assert (branch.state, branch.is_dirty) == ("fast_forward", True)


def _merge(tree):
    tree.git("merge", "other", fails=True)


def _rebase(tree):
    tree.git("rebase", "other", fails=True)


def _rebase_by_mail(tree):
    tree.git("rebase", "--apply", "other", fails=True)


def _cherry_pick(tree):
    tree.git("cherry-pick", "other", fails=True)


def _revert(tree):
    tree.git("revert", "--no-edit", "HEAD~1", fails=True)


def _between_picks(tree):
    tree.git("cherry-pick", "other", "HEAD~1", fails=True)
    tree.write({"app.py": PUT})
    tree.git("commit", "-q", "-a", "-m", "by hand")


def _bisect(tree):
    tree.git("bisect", "start", "HEAD", "HEAD~1")


def _stash(tree):
    tree.write({"app.py": OTHER_GET})
    tree.git("stash", "-q")
    tree.write({"app.py": PUT.replace(b"self.values[key]", b"None")})
    tree.commit()
    tree.git("stash", "pop", fails=True)


@pytest.mark.parametrize(
    ("begin", "words"),
    [
        (_merge, "the worktree is in the middle of a merge"),
        (_rebase, "the worktree is in the middle of a rebase"),
        (_rebase_by_mail, "the worktree is in the middle of a rebase"),
        (_cherry_pick, "the worktree is in the middle of a cherry-pick"),
        (_revert, "the worktree is in the middle of a revert"),
        (
            _between_picks,
            "the worktree is in the middle of a cherry-pick or a revert of several commits",
        ),
        (_bisect, "the worktree is in the middle of a bisection"),
        (_stash, "the worktree has unmerged files: app.py"),
    ],
)
def test_a_worktree_in_the_middle_of_something_is_named(begin, words, agents):
    """Such a worktree has a state of its own, and the others are not affected."""
    agents.branch("other", {"app.py": OTHER_GET})
    one = agents.worktree("one", {"app.py": GET})
    one.commit()
    one.write({"app.py": GET.replace(b".get(key)", b".get(key, None)")})
    one.commit()
    begin(one)

    probe = ce.probe(agents.folder, [one.folder, "other"])

    assert states(probe) == {str(one.folder): "in_progress", "other": "fast_forward"}
    assert probe.branches[0].problem == words
    assert probe.pairs[0].state == "not_examined"
    assert probe.landing == ("other",)


def test_a_worktree_without_a_commit_is_unborn(agents):
    """A worktree on a branch without a commit has a state of its own."""
    one = agents.worktree("one")
    one.git("checkout", "-q", "--orphan", "fresh")

    (branch,) = ce.probe(agents.folder, [one.folder]).branches

    assert (branch.state, branch.tree_id) == ("unborn", None)


@pytest.mark.parametrize("is_locked", [False, True])
def test_a_missing_worktree_is_named(is_locked, agents):
    """A worktree whose folder is gone is missing, by name and by path; a lock is mentioned."""
    one = agents.worktree("one")
    if is_locked:
        agents.git("worktree", "lock", "--reason", "on a stick", str(one.folder))
    agents.git("branch", "-q", "-m", "one", "renamed")
    one.folder.rename(one.folder.parent / "away")

    probe = ce.probe(agents.folder, ["one", one.folder])

    assert {each.state.value for each in probe.branches} == {"missing"}
    assert ("it is locked (on a stick)" in probe.branches[0].problem) == is_locked


def test_a_pruned_worktree_is_unknown(agents):
    """After git has forgotten a worktree, its name is unknown, and its folder is not a worktree."""
    one = agents.worktree("one")
    agents.git("branch", "-q", "-m", "one", "renamed")
    away = one.folder.parent / "away"
    one.folder.rename(away)
    agents.git("worktree", "prune")

    with pytest.raises(RepositoryError, match="no branch, tag, commit or worktree 'one'; it has"):
        ce.probe(agents.folder, ["one"])
    with pytest.raises(RepositoryError, match="away: cannot be opened as a git repository"):
        ce.probe(agents.folder, [away])


def test_an_unreadable_index_is_a_state(agents):
    """A worktree whose index is damaged is unreadable, and the others are not affected."""
    one = agents.worktree("one")
    index = agents.folder / one.git("rev-parse", "--git-path", "index")
    index.write_bytes(b"damaged")

    probe = ce.probe(agents.folder, [one.folder, "main"])

    assert states(probe) == {str(one.folder): "unreadable", "main": "contained"}
    assert "index" in probe.branches[0].problem


@pytest.mark.parametrize(
    "command",
    [
        ("update-index", "--split-index"),
        ("sparse-checkout", "set", "--cone", "--sparse-index", "kept"),
    ],
)
def test_an_index_that_libgit2_cannot_read_counts(command, agents):
    """A split index, and a sparse one, are read by git."""
    agents.write({"kept/a": b"a", "left/b": b"b"})
    agents.commit()
    one = agents.worktree("one")
    one.git(*command)

    (before,) = ce.probe(agents.folder, [one.folder]).branches
    one.write({"kept/a": b"edited"})
    (after,) = ce.probe(agents.folder, [one.folder]).branches

    assert (before.state, before.is_dirty) == ("contained", False)
    assert after.tree_id == one.stored_tree(agents.folder.parent)


# --- names and repositories ---


def test_a_missing_branch_is_refused_with_the_nearest_names(agents):
    """A wrong name is an error of the caller, which lists what there is."""
    agents.git("branch", "agent-1")
    agents.git("branch", "agent-2")

    with pytest.raises(
        RepositoryError, match=r"'agnt-1'; it has agent-1, agent-2, main \(the near"
    ):
        ce.probe(agents.folder, ["agnt-1"])
    with pytest.raises(RepositoryError, match="worktree 'trunk'"):
        ce.probe(agents.folder, ["main"], onto="trunk")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"refs": "main"}, "refs must be Iterable"),
        ({"refs": Path("main")}, "refs must be"),
        ({"refs": []}, "refs must name at least one"),
        ({"refs": ["main", "main"]}, "refs has main more than once"),
        ({"refs": ["main"], "budget": -1}, "budget must be 0 runs or more"),
        (
            {"refs": ["main"], "suites": {"min": ce.TestSuite(command=["x"])}},
            "'min', which is not in refs: it has main",
        ),
    ],
)
def test_wrong_arguments_are_refused(arguments, message, agents):
    """Wrong arguments are refused before anything is read."""
    with pytest.raises(ArgumentError, match=message):
        ce.probe(agents.folder, **arguments)


def test_a_tree_or_a_file_is_not_a_branch(agents):
    """A name must stand for a commit, because nothing else has a history."""
    agents.git("tag", "file", "main:app.py")

    for name, kind in (("main^{tree}", "folder"), ("main:app.py", "file"), ("file", "file")):
        with pytest.raises(
            RepositoryError, match=f"has no commit .*: the name stands for a {kind}"
        ):
            ce.probe(agents.folder, [name])


def test_an_unborn_repository_is_named(tmp_path, agents):
    """Nothing can land on a branch without a commit."""
    agents.git("init", "-q", "-b", "main", str(tmp_path / "fresh"))

    with pytest.raises(
        RepositoryError, match="nothing has been committed to the branch of HEAD yet"
    ):
        ce.probe(tmp_path / "fresh", ["HEAD"], onto="HEAD")
    with pytest.raises(
        RepositoryError, match=r"nothing can be merged onto \S+: nothing has been committed"
    ):
        ce.probe(tmp_path / "fresh", [tmp_path / "fresh"], onto=tmp_path / "fresh")


def test_unrelated_histories_are_a_state(agents):
    """A branch without a common commit is named; two such branches may still be related."""
    agents.git("checkout", "-q", "--orphan", "lonely")
    agents.commit()
    agents.git("checkout", "-q", "main")
    agents.git("branch", "lonely-too", "lonely")

    probe = ce.probe(agents.folder, ["lonely", "lonely-too", "main"])

    assert states(probe)["lonely"] == "unrelated"
    assert probe.branch("lonely").problem == "lonely has no commit in common with main"
    assert probe.pair("lonely", "lonely-too").state == "clean"
    assert probe.pair("lonely", "main").state == "unrelated"


def test_a_shallow_clone_says_that_its_history_is_cut(agents, tmp_path):
    """If the common commit is beyond the end of a shallow clone, the reason is named."""
    agents.branch("one", {"app.py": GET})
    agents.write({"notes.txt": b"more\n"})
    agents.commit()
    clone = tmp_path / "clone"
    agents.git(
        "clone", "-q", "--depth=1", "--no-single-branch", f"file://{agents.folder}", str(clone)
    )

    (branch,) = ce.probe(clone, ["origin/one"]).branches

    assert branch.state == "unrelated"
    assert "which is shallow: `git fetch --unshallow` gets the rest" in branch.problem


def test_an_absent_object_of_a_partial_clone_is_a_state(agents, tmp_path):
    """A merge that needs an object which was not fetched is unreadable; nothing is fetched."""
    agents.git("config", "uploadpack.allowFilter", "true")
    agents.branch("one", {"app.py": GET})
    agents.branch("two", {"notes.txt": b"more\n"})
    agents.write({"app.py": OTHER_GET})
    agents.commit()
    clone = tmp_path / "clone"
    agents.git("clone", "-q", "--bare", "--filter=blob:none", f"file://{agents.folder}", str(clone))
    before = everything_in(clone)

    probe = ce.probe(clone, ["one", "two"])

    assert states(probe) == {"one": "unreadable", "two": "clean"}
    assert "the clone is partial, and this library never fetches" in probe.branch("one").problem
    assert everything_in(clone) == before


def test_branches_that_cannot_be_merged_with_each_other_land_alone(agents, tmp_path):
    """The merges onto the target need no contents; the plan goes on without the others."""
    agents.git("config", "uploadpack.allowFilter", "true")
    for name, files in (("one", {"app.py": GET}), ("two", {"app.py": OTHER_GET})):
        agents.branch(name, files)
    agents.branch("three", {"notes.txt": b"more\n"})
    clone = tmp_path / "clone"
    agents.git("clone", "-q", "--bare", "--filter=blob:none", f"file://{agents.folder}", str(clone))

    probe = ce.probe(clone, ["one", "two", "three"])

    assert states(probe) == dict.fromkeys(("one", "two", "three"), "fast_forward")
    assert probe.pair("one", "two").state.value == "unreadable"
    assert probe.landing == ("one", "three")
    [left_out] = probe.plan.left_out
    assert (left_out.number, left_out.reason.value) == (2, "missing_input")
    assert "the clone is partial" in left_out.problem


@pytest.mark.parametrize("kind", ["missing", "empty", "file"])
def test_what_is_not_a_repository_is_named(kind, tmp_path):
    """The path is in the error."""
    path = tmp_path / "x"
    if kind == "empty":
        path.mkdir()
    elif kind == "file":
        path.write_text("x")

    with pytest.raises(RepositoryError, match="x: cannot be opened as a git repository"):
        ce.probe(path, ["main"])


def test_a_worktree_of_another_repository_is_refused(agents, tmp_path):
    """A path must be the top of a worktree of the probed repository."""
    other = Worktree(tmp_path / "other")
    other.git("commit", "-q", "--allow-empty", "-m", "x")
    (agents.folder / "folder").mkdir()

    with pytest.raises(RepositoryError, match="other: is not a worktree of"):
        ce.probe(agents.folder, [other.folder])
    with pytest.raises(RepositoryError, match="folder: cannot be opened as a git repository"):
        ce.probe(agents.folder, [agents.folder / "folder"])


def _give_away(folder):
    """Make another user own a folder."""
    if not hasattr(os, "geteuid") or os.geteuid():
        lack("the superuser", "only it can give files to another user")
    for path in (folder, *folder.rglob("*")):
        os.chown(path, 54_321, 54_321, follow_symlinks=False)


def test_a_repository_of_another_user_is_refused(agents):
    """A repository that git would not open is not opened, and the error says how to allow it."""
    _give_away(agents.folder)

    with pytest.raises(RepositoryError) as caught:
        ce.probe(agents.folder, ["main"])

    assert "belongs to another user, so it is not opened" in caught.value.problem
    allow = f"`git config --global --add safe.directory {agents.folder}`"
    assert caught.value.problem.endswith(allow)


def test_a_worktree_of_another_user_is_a_state(agents):
    """A linked worktree that another user owns is unreadable; the others are not affected."""
    one = agents.worktree("one", {"app.py": GET})
    _give_away(one.folder)

    probe = ce.probe(agents.folder, [one.folder, "one"])

    assert [each.state.value for each in probe.branches] == ["unreadable", "contained"]
    assert "belongs to another user" in probe.branches[0].problem


# --- what a probe leaves and remembers ---


def test_nothing_is_written(agents):
    """The repository and its worktrees are the same before and after, to the byte and the time."""
    agents.branch("one", {"app.py": GET})
    tree = agents.worktree("two", {"app.py": OTHER_GET, "new/file": b"x\n"})
    tree.git("add", "-N", "new/file")
    (tree.folder / "notes.txt").touch()  # so that git would refresh the index
    before = everything_in(agents.folder.parent)

    probe = ce.probe(agents.folder, ["one", tree.folder, agents.folder], strategy="structured")
    str(probe), probe.to_json()

    assert everything_in(agents.folder.parent) == before


class Counted:
    """The naive strategy, which counts its merges."""

    name = "counted"

    def __init__(self):
        self.merges = 0

    def merge(self, given):
        self.merges += 1
        return ce.MergeOutcome(changes=given.merge.changes, conflicts=given.conflicts)


def test_a_second_probe_merges_only_what_changed(agents):
    """A second probe merges nothing; after one branch moved, only this branch is merged again."""
    names = ["one", "two", "three", "four"]
    for name in names:
        agents.branch(name, {f"{name}.py": b"x = 1\n"})
    agents.write({"notes.txt": b"more\n"})
    agents.commit()
    strategy = Counted()

    first = ce.probe(agents.folder, names, strategy=strategy)
    merges = strategy.merges
    second = ce.probe(agents.folder, names, strategy=strategy)

    assert merges >= len(names) + len(first.pairs)
    assert strategy.merges == merges
    assert second == first

    agents.git("checkout", "-q", "four")
    agents.write({"four.py": b"x = 4\n"})
    agents.commit()
    agents.git("checkout", "-q", "main")
    third = ce.probe(agents.folder, names, strategy=strategy)

    with_four = 1 + 3  # onto main, and each other branch
    landing = 1 + 3  # on main, and after the others
    assert strategy.merges - merges <= with_four + landing
    assert third.landing == tuple(names)
    assert third != first


def test_a_changed_worktree_is_seen_by_the_next_probe(agents):
    """What is remembered depends on contents, so an edit is never missed."""
    one = agents.worktree("one", {"app.py": GET})
    two = agents.worktree("two", {"app.py": PUT})
    refs = [one.folder, two.folder]

    before = ce.probe(agents.folder, refs)
    two.write({"app.py": OTHER_GET})
    after = ce.probe(agents.folder, refs)
    two.write({"app.py": PUT})
    again = ce.probe(agents.folder, refs)

    assert (len(before.collisions), len(after.collisions)) == (0, 1)
    assert again == before


def test_a_changed_worktree_as_target_is_seen_by_the_next_probe(agents):
    """What could land is found on what is there now."""
    names = ["one", "two", "three"]
    for name in names:
        agents.branch(name, {f"{name}.txt": b"text\n", f"more of {name}.txt": b"text\n"})
    agents.write({"one.txt": b"text\n"})
    ce.probe(agents.folder, names, onto=agents.folder)
    agents.write({"one.txt": None})

    found = ce.probe(agents.folder, names, onto=agents.folder).plan

    assert len(found.changes) == 6
    for name in names:
        agents.git("merge", "-q", "--no-edit", name)
    assert found.tree_id == agents.git("rev-parse", "HEAD^{tree}")


def test_a_clone_that_got_its_history_is_related(agents, tmp_path):
    """This is what the probe advises."""
    agents.branch("one", {"app.py": GET})
    agents.write({"notes.txt": b"more\n"})
    agents.commit()
    clone = tmp_path / "clone"
    agents.git(
        "clone", "-q", "--depth=1", "--no-single-branch", f"file://{agents.folder}", str(clone)
    )
    before = ce.probe(clone, ["origin/one"]).branches[0]
    agents.git("-C", str(clone), "fetch", "-q", "--unshallow")

    assert (before.state, ce.probe(clone, ["origin/one"]).branches[0].state) == (
        "unrelated",
        "clean",
    )


def test_many_repositories_do_not_use_up_the_open_files(tmp_path, agents):
    """Each repository that is remembered keeps some of its files open."""
    agents.branch("one", {"app.py": GET})
    agents.git("gc", "-q")
    opened = []
    for number in range(140):
        copy = tmp_path / str(number)
        shutil.copytree(agents.folder / ".git", copy)
        ce.probe(copy, ["one"])
        opened.append(sum(1 for _ in Path("/proc/self/fd").iterdir()))

    assert max(opened) - opened[0] < 80


def test_a_new_repository_at_the_same_path_is_another_one(agents, tmp_path):
    """What is remembered of a repository does not outlive it."""
    agents.branch("one", {"app.py": GET})
    ce.probe(agents.folder, ["one"])
    agents.folder.rename(tmp_path / "away")
    again = type(agents)(agents.folder)
    again.branch("one", {"app.py": OTHER_GET})

    (branch,) = ce.probe(again.folder, ["one"]).branches

    assert branch.tree_id == again.git("rev-parse", "one^{tree}")


# --- the record ---


def test_a_probe_is_json_and_shows_itself(agents):
    """A probe becomes JSON with what follows from it, and a text with every collision."""
    agents.branch("one", {"app.py": GET})
    agents.branch("two", {"app.py": OTHER_GET})
    probe = ce.probe(agents.folder, ["one", "two"])

    data = json.loads(probe.to_json())
    text = str(probe)

    assert ce.reporting.Probe.from_json(probe.to_json()) == probe
    assert data["kind"] == "probe"
    assert data["collisions"] == [["one", "two"]]
    assert data["landing"] == list(probe.landing) == ["one"]
    assert data["branches"][0]["state"] == "fast_forward"
    assert text.startswith("naive: 1 of 2 branches can land on main, 1 collision")
    assert "one and two: app.py (content in Store.get)" in text
    assert str(probe.pairs[0]).startswith("one and two: conflicts")
    assert str(probe.branches[0]).startswith("one: fast forward")


@pytest.mark.parametrize(
    ("change", "problem"),
    [
        ({"kind": "audit"}, "is not a probe, but an audit, which Audit reads"),
        ({"schema_version": 99}, "newer than"),
        ({"landing": []}, "landing: is .*, but .* follows from the rest"),
        ({"collisions": []}, "collisions: is"),
        ({"branches": 1}, "expected a list"),
        ({"branches": []}, "a probe has at least one branch"),
        ({"pairs": []}, "the pairs of a probe are every two branches"),
        ({"plan": {"landed": [7]}}, r"plan\.landed: is"),
        ({"plan": {"order": [7], "landed": [7]}}, "the plan of a probe is about all its branches"),
    ],
)
def test_json_that_is_not_a_probe_is_refused(change, problem, agents):
    """The error says what was expected, or what contradicts the rest."""
    agents.branch("one", {"app.py": GET})
    agents.branch("two", {"app.py": OTHER_GET})
    data = ce.probe(agents.folder, ["one", "two"]).to_dict()
    plan = data["plan"] | change.get("plan", {})

    with pytest.raises(ce.errors.ReportError, match=problem):
        ce.reporting.Probe.from_dict(data | change | {"plan": plan})


@pytest.mark.parametrize(("key", "value"), [("number", 7), ("name", "two")])
def test_a_probe_with_wrong_branches_is_refused(key, value, agents):
    """Numbers are positions, and names are unique."""
    agents.branch("one", {"app.py": GET})
    agents.branch("two", {"app.py": OTHER_GET})
    data = ce.probe(agents.folder, ["one", "two"]).to_dict()
    data["branches"][0][key] = value

    with pytest.raises(ce.errors.ReportError, match=r"of a probe are numbered|of one name"):
        ce.reporting.Probe.from_dict(data)


def test_a_probe_says_why_a_strategy_failed(agents):
    """The list of collisions has the failure, because it has no files to show."""
    agents.branch("one", {"app.py": GET})
    agents.branch("two", {"app.py": OTHER_GET})

    class Broken:
        name = "broken"

        def merge(self, merge_input):
            raise ValueError(f"no idea of {len(merge_input.merge.conflicts)}")

    probe = ce.probe(agents.folder, ["one", "two"], strategy=Broken())

    assert probe.pairs[0].state.value == "failed"
    assert f"one and two: {probe.pairs[0].problem}" in str(probe)
    assert "no idea" in probe.pairs[0].problem


def test_a_wrong_name_of_a_branch_lists_the_others(agents):
    """A lookup names the argument and what there is."""
    probe = ce.probe(agents.folder, ["main"])

    with pytest.raises(ArgumentError, match="name is not a branch of the probe: 'x'; it has main"):
        probe.branch("x")
    with pytest.raises(ArgumentError, match="other must not name the same branch"):
        probe.pair("main", "main")
