"""What a probe says about branches with uncommitted, already merged or unreadable work."""

import json
import os
import shutil
import zlib
from pathlib import Path

import pytest
from agents import edited, everything_in
from needs import lack

import cooperbench_eval as ce
from cooperbench_eval.errors import RepositoryError

GET = edited(b"return self.values[key]", b"return self.values.get(key)")
OTHER_GET = edited(b"return self.values[key]", b"return dict(self.values)[key]")
LOAD = edited(b"file.read()", b"file.read().strip()")


def of(repo, *names, **options):
    """Return the branches of a probe."""
    return ce.probe(repo, names, **options).branches


# --- uncommitted changes -----------------------------------------------------


def test_uncommitted_changes_of_a_branch_are_named_and_do_not_count(agents):
    """The branch is merged as committed; its worktree is named in the record, print and JSON."""
    one = agents.worktree("one", {"app.py": GET})
    agents.worktree("two")
    agents.branch("three", {"app.py": OTHER_GET})

    probe = ce.probe(agents.folder, ["one", "two", "three"])

    assert [each.uncommitted for each in probe.branches] == [(str(one.folder),), (), ()]
    assert [each.state.value for each in probe.branches][:2] == ["contained"] * 2
    assert not probe.collisions
    said = f"one does not include the uncommitted changes in {one.folder}"
    assert probe.warnings == (said,)
    assert said in " ".join(str(probe).split())
    assert said in " ".join(str(probe.branches[0]).split())
    assert json.loads(probe.to_json())["branches"][0]["uncommitted"] == [str(one.folder)]
    assert ce.reporting.Probe.from_json(probe.to_json()) == probe


@pytest.mark.parametrize("work", ["edited", "new", "staged", "removed", "committed", "none"])
def test_each_kind_of_work_is_that_of_git_status(work, agents):
    """A worktree is named if and only if `git status` shows something."""
    one = agents.worktree("one")
    {
        "edited": lambda: one.write({"app.py": GET}),
        "new": lambda: one.write({"new.py": b"x = 1\n"}),
        "staged": lambda: one.git("rm", "-q", "--cached", "app.py"),
        "removed": lambda: one.write({"app.py": None}),
        "committed": lambda: (one.write({"app.py": GET}), one.commit()),
        "none": (one.folder / "app.py").touch,
    }[work]()

    (branch,) = of(agents.folder, "one")

    assert bool(branch.uncommitted) == bool(one.git("status", "--porcelain"))
    assert bool(branch.uncommitted) == (work not in {"committed", "none"})


def test_the_main_working_tree_counts_where_its_branch_is_given(agents, tmp_path):
    """This holds from any worktree and for `HEAD`, but only if the branch is among the refs."""
    agents.git("branch", "onto")
    one = agents.worktree("one")
    agents.write({"app.py": GET})
    main = (str(agents.folder),)

    for repo in (agents.folder, one.folder, agents.folder / ".git"):
        found = of(repo, "main", "refs/heads/main", "one", onto="onto")
        assert [Path(*each.uncommitted) for each in found] == [Path(*main)] * 2 + [Path()]
    assert Path(*of(agents.folder, "HEAD", onto="onto")[0].uncommitted) == agents.folder
    assert not ce.probe(agents.folder, ["one"]).warnings


def test_a_branch_with_two_worktrees_names_those_with_changes(agents):
    """A detached worktree at the same commit has no branch, so it is not named."""
    folders = [agents.folder.parent / name for name in ("one", "two", "three")]
    agents.git("worktree", "add", "-q", "-b", "one", str(folders[0]))
    agents.git("worktree", "add", "-q", "--force", str(folders[1]), "one")
    agents.git("worktree", "add", "-q", "--detach", str(folders[2]), "one")
    for folder in folders:
        (folder / "app.py").write_bytes(GET)

    (branch,) = of(agents.folder, "one")

    assert branch.uncommitted == tuple(map(str, folders[:2]))


def test_a_branch_in_the_middle_of_a_rebase_has_uncommitted_work(agents):
    """The branch is still at the commit before the rebase, so it lacks the rebased commits."""
    agents.branch("other", {"app.py": OTHER_GET})
    one = agents.worktree("one", {"app.py": GET})
    one.commit()
    for how in (("--merge", "other"), ("--apply", "other"), ("--exec", "false", "main~0")):
        one.git("rebase", *how, fails=True)
        (branch,) = of(agents.folder, "one")
        one.git("rebase", "--abort")

        assert branch.uncommitted == (str(one.folder),), how
    assert not of(agents.folder, "one")[0].uncommitted


@pytest.mark.parametrize("is_locked", [False, True])
def test_a_worktree_whose_folder_is_gone_has_no_work(is_locked, agents):
    """If it is locked, its disk may not be mounted, so its changes are unknown."""
    one = agents.worktree("one", {"app.py": GET})
    if is_locked:
        agents.git("worktree", "lock", str(one.folder))
    shutil.rmtree(one.folder)

    (branch,) = of(agents.folder, "one")

    assert (branch.state, branch.uncommitted) == ("contained", ())
    assert branch.unread_worktrees == ((str(one.folder),) if is_locked else ())


def _damage_the_index(tree):
    Path(tree.git("rev-parse", "--absolute-git-dir"), "index").write_bytes(b"damaged")


def _remove_the_link(tree):
    (tree.folder / ".git").unlink()


def _put_a_repository_there(tree):
    _remove_the_link(tree)
    tree.git("init", "-q")


def _put_a_pipe_there(tree):
    os.mkfifo(tree.folder / ".gitignore")


@pytest.mark.parametrize(
    "damage", [_damage_the_index, _remove_the_link, _put_a_repository_there, _put_a_pipe_there]
)
def test_a_worktree_that_cannot_be_read_leaves_the_branch_as_it_is(damage, agents):
    """The branch is merged as committed, and its uncommitted changes are unknown."""
    one = agents.worktree("one", {"app.py": GET})
    one.commit()
    agents.branch("two", {"app.py": LOAD})
    damage(one)

    probe = ce.probe(agents.folder, ["one", "two"])

    assert probe.landing == ("one", "two")
    assert probe.branches[0].unread_worktrees == (str(one.folder),)
    assert probe.warnings == (
        f"{one.folder} cannot be read, so it may have uncommitted changes to one",
    )


def test_a_worktree_of_a_bare_repository_is_found(agents, tmp_path):
    """The branch of a bare repository's own HEAD has no worktree."""
    bare, tree = tmp_path / "bare.git", tmp_path / "tree"
    agents.git("clone", "-q", "--bare", str(agents.folder), str(bare))
    agents.git("worktree", "add", "-q", "-b", "one", str(tree), folder=bare)
    (tree / "app.py").write_bytes(GET)

    one, main = of(bare, "one", "main")

    assert (one.uncommitted, main.uncommitted) == ((str(tree),), ())
    assert not main.unread_worktrees


def test_a_git_folder_elsewhere_does_not_mislead(agents, tmp_path):
    """The place of the working tree is not guessed from the git folder."""
    away = tmp_path / "away/git"
    away.parent.mkdir()
    agents.git("init", "-q", f"--separate-git-dir={away}")
    agents.git("branch", "onto")
    agents.write({"app.py": GET})

    (from_tree,) = of(agents.folder, "main", onto="onto")
    (from_git,) = of(away, "main", onto="onto")

    assert Path(*from_tree.uncommitted) == agents.folder
    assert not from_git.warnings


def test_a_file_that_a_filter_converted_is_not_uncommitted(agents):
    """The index has the program's output; the program is not run again."""
    agents.git("branch", "onto")
    agents.git("config", "filter.own.clean", "tr a b")
    agents.write({".gitattributes": b"*.dat filter=own\n", "x.dat": b"aaa\n"})
    agents.commit()
    stamp = (agents.folder / "x.dat").stat().st_mtime_ns
    os.utime(agents.folder / ".git/index", ns=(stamp, stamp))  # so that git reads it again

    (branch,) = of(agents.folder, "main", onto="onto")

    assert branch.uncommitted == ()
    assert agents.git("status", "--porcelain") == ""


def test_the_branch_of_a_submodule_is_found(agents):
    """A submodule has its git folder elsewhere. Its own changes are not those of the repository."""
    agents.git(
        "-c", "protocol.file.allow=always", "submodule", "add", "-q", str(agents.folder), "sub"
    )
    agents.commit()
    agents.git("branch", "onto")
    (agents.folder / "sub/app.py").write_bytes(GET)

    (inside,) = of(agents.folder / "sub", "main", onto="origin/main")
    (outside,) = of(agents.folder, "main", onto="onto")

    assert Path(*inside.uncommitted) == agents.folder / "sub"
    assert outside.uncommitted == ()


def test_names_with_odd_bytes_are_found(agents):
    """A branch and a folder may have names that are not UTF-8."""
    name = os.fsdecode(b"caf\xe9 x")
    folder = agents.folder.parent / name
    try:
        folder.mkdir()
    except OSError:
        lack("file names that are not UTF-8", "this file system refuses them")
    branch = name.replace(" ", "")
    agents.git("worktree", "add", "-q", "-b", branch, str(folder))
    (folder / "app.py").write_bytes(GET)

    probe = ce.probe(agents.folder, [branch])

    assert probe.branches[0].uncommitted == (str(folder),)
    assert "uncommitted changes" in str(probe)
    assert ce.reporting.Probe.from_json(probe.to_json()) == probe


def test_examining_the_worktrees_of_branches_writes_nothing(agents):
    """Not even the times of the index change."""
    one = agents.worktree("one", {"app.py": GET, "new.py": b"x\n"})
    (one.folder / "notes.txt").touch()
    agents.git("branch", "onto")
    before = everything_in(agents.folder.parent)

    assert of(agents.folder, "one", "main", onto="onto")[0].uncommitted
    assert everything_in(agents.folder.parent) == before


# --- branches that add nothing -----------------------------------------------


def test_a_squash_merged_branch_is_contained(agents):
    """This also holds after other commits on the target; its pairs are still merged."""
    agents.branch("done", {"app.py": GET})
    agents.branch("other", {"app.py": OTHER_GET})
    agents.git("merge", "-q", "--squash", "done")
    agents.commit("squashed")
    agents.write({"notes.txt": b"more\n"})
    agents.commit()

    probe = ce.probe(agents.folder, ["done", "other"])

    merged = agents.git("merge-tree", "--write-tree", "main", "done")
    assert merged == agents.git("rev-parse", "main^{tree}")
    assert [each.state.value for each in probe.branches] == ["contained", "conflicts"]
    assert probe.pair("done", "other").state == "conflicts"
    assert probe.plan.left_out[0].problem == "main contains it already"


def test_a_branch_whose_changes_a_strategy_drops_is_not_contained(agents):
    """The target does not have its changes; the strategy lost them."""

    class Ours:
        name = "ours"

        def merge(self, given):
            return ce.MergeOutcome(changes=given.ours)

    agents.branch("one", {"app.py": GET})
    agents.write({"app.py": OTHER_GET})
    agents.commit()

    (branch,) = of(agents.folder, "one", strategy=Ours())

    assert branch.state == "resolved"


# --- what cannot be read -----------------------------------------------------


def _place(agents, name):
    found = agents.git("rev-parse", name)
    return agents.folder / ".git/objects" / found[:2] / found[2:]


def _forbidden_path(agents, path=".git/config"):
    """Make a branch whose tree has a path that no tree may contain."""
    blob = agents.git("rev-parse", "main:app.py")
    tree = f"100644 blob {blob}\t{path.rpartition('/')[2]}\n"
    for folder in reversed(path.split("/")[:-1]):
        made = agents.stored("mktree", data=tree.encode())
        tree = f"040000 tree {made}\t{folder}\n"
    root = agents.stored("mktree", data=f"100644 blob {blob}\tapp.py\n{tree}".encode())
    agents.git("branch", "odd", agents.git("commit-tree", root, "-p", "main", "-m", "odd"))
    return "points into a repository's own files"


def _damaged(agents, name, data):
    """Make a branch of two commits, and damage or remove one of its objects."""
    agents.branch("start", {"deep/notes.txt": b"odd\n"})
    agents.branch("odd", {"deep/app.py": GET + b"# odd\n"}, start="start")
    place = _place(agents, name)
    place.chmod(0o644)
    if data is None:
        place.unlink()
    else:
        place.write_bytes(data)
    agents.git("update-ref", "-d", "refs/heads/start")
    return "absent" if data is None else "(object|commit)"


ODD = {
    "a path below .git": _forbidden_path,
    "a path below a .git in a folder": lambda agents: _forbidden_path(agents, "data/.git/HEAD"),
} | {
    f"{how} {what}": lambda agents, name=name, data=data: _damaged(agents, name, data)
    for how, data in (
        ("absent", None),
        ("damaged", b"damaged"),
        ("other", zlib.compress(b"blob 2\0x\n")),
    )
    for what, name in (
        ("commit", "odd"), ("first commit", "odd~1"), ("tree", "odd^{tree}"),
        ("folder", "odd:deep"), ("file", "odd:deep/app.py"),
    )
}  # fmt: skip


@pytest.mark.parametrize("make", ODD.values(), ids=ODD)
def test_what_cannot_be_read_concerns_its_branch_only(make, agents):
    """It is unreadable with a reason, its pairs are unknown, and no other branch is affected."""
    agents.branch("one", {"app.py": GET})
    agents.branch("two", {"app.py": OTHER_GET})
    agents.branch("three", {"app.py": LOAD})
    names = ["one", "two", "three"]
    make(agents)
    without = ce.probe(agents.folder, names)

    probe = ce.probe(agents.folder, ["odd", *names])

    odd, *others = probe.branches
    assert odd.state == "unreadable"
    assert odd.problem
    assert [(each.state, each.files) for each in others] == [
        (each.state, each.files) for each in without.branches
    ]
    assert probe.pairs[3:] == without.pairs
    assert {each.state.value for each in probe.pairs[:3]} == {"not_examined"}
    assert probe.collisions == without.collisions
    assert probe.landing == without.landing
    assert probe.plan.tree_id == without.plan.tree_id
    assert probe.plan.minimal_conflicts == ((2, 3),)
    assert probe.plan.left_out[0].reason == "missing_input"
    assert str(probe).count("unknown") == 3
    assert str(probe.pairs[0]).startswith("odd and one: unknown")


@pytest.mark.parametrize("make", [ODD["absent commit"], ODD["damaged tree"]])
def test_nothing_lands_on_what_cannot_be_read(make, agents):
    """The target is needed for every merge."""
    make(agents)

    with pytest.raises(RepositoryError, match=r"onto odd: .*(absent|damaged|cannot be read)"):
        ce.probe(agents.folder, ["main"], onto="odd")


def test_a_tag_and_an_id_of_a_damaged_commit_are_unreadable(agents):
    """Their names exist, so this is not an error about unknown names."""
    agents.branch("odd", {"app.py": GET})
    agents.git("tag", "-a", "full", "-m", "x", "odd")
    commit = agents.git("rev-parse", "odd")
    place = _place(agents, "odd")
    place.chmod(0o644)
    place.write_bytes(b"damaged")

    found = of(agents.folder, "full", commit, commit[:12], "main")

    assert [(each.kind.value, each.state.value) for each in found] == [
        ("tag", "unreadable"), ("commit", "unreadable"), ("commit", "unreadable"),
        ("branch", "contained"),
    ]  # fmt: skip


def test_a_merge_that_cannot_be_read_is_unknown(agents):
    """The base's version of a file is absent: each branch can land, and neither conflicts."""
    agents.branch("one", {"app.py": GET})
    agents.branch("two", {"app.py": LOAD})
    agents.branch("three", {"notes.txt": b"more\n"})
    _place(agents, "main:app.py").unlink()

    probe = ce.probe(agents.folder, ["one", "two", "three"])

    assert [each.state.value for each in probe.branches] == ["fast_forward"] * 3
    assert [each.state.value for each in probe.pairs] == ["unreadable", "clean", "clean"]
    assert len(probe.landing) == 2
    assert probe.plan.minimal_conflicts == ()
    assert probe.plan.order_dependent == ()
    assert probe.plan.pairs[1, 2] == probe.plan.pairs[2, 1] == "not_examined"
    assert not probe.plan.is_exact
    (left_out,) = probe.plan.left_out
    assert (left_out.reason, "app.py" in left_out.problem) == ("missing_input", True)
    assert "cannot land together" not in str(probe)


def test_a_repaired_branch_is_read_by_the_next_probe(agents):
    """What cannot be read is not remembered."""
    agents.branch("one", {"app.py": GET})
    place = _place(agents, "one:app.py")
    place.rename(place.with_name("away"))
    before = of(agents.folder, "one")[0].state
    place.with_name("away").rename(place)

    assert (before, of(agents.folder, "one")[0].state) == ("unreadable", "fast_forward")


# --- replaced objects --------------------------------------------------------


@pytest.mark.parametrize("is_packed", [False, True])
def test_replaced_objects_are_named_and_read_as_they_are(is_packed, agents):
    """Git would merge the replacement. A probe merges the original object, and warns."""
    agents.branch("one", {"app.py": GET})
    agents.branch("two", {"app.py": OTHER_GET})
    agents.git("replace", "two", "one")
    if is_packed:
        agents.git("pack-refs", "--all")

    probe = ce.probe(agents.folder, ["one", "two"])

    assert probe.replaced == tuple(agents.git("replace", "-l").split())
    assert probe.warnings == (f"`git replace` is ignored for these objects: {probe.replaced[0]}",)
    assert probe.warnings[0] in " ".join(str(probe).split())
    assert ce.reporting.Probe.from_json(probe.to_json()) == probe
    words = ("merge-tree", "--write-tree", "one", "two")
    assert agents.git(*words, fails=True) is not None
    assert agents.git(*words, fails=True, GIT_NO_REPLACE_OBJECTS="1") is None
    assert probe.pairs[0].state == "conflicts"


def test_no_object_is_named_if_git_is_set_not_to_replace_any(agents):
    """With this setting, git and a probe read the same objects."""
    agents.branch("one", {"app.py": GET})
    agents.git("replace", "one", "main")
    agents.git("config", "core.useReplaceRefs", "false")

    assert ce.probe(agents.folder, ["one"]).replaced == ()
