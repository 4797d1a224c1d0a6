"""A worktree is read as `git add --all` would store it."""

import os
import random
import shutil
import subprocess
import sys
import time

import pygit2
import pytest
from hypothesis import given
from hypothesis import strategies as st
from needs import need_program
from worktree_states import Worktree, make_random

from cooperbench_eval.errors import RepositoryError
from cooperbench_eval.git.worktrees.names import Names
from cooperbench_eval.git.worktrees.scratch import Scratch
from cooperbench_eval.git.worktrees.worktree import has_uncommitted, read_worktree

pytestmark = pytest.mark.usefixtures("no_user_settings")


@pytest.fixture(autouse=True, scope="module")
def no_user_settings():
    """Neither git nor libgit2 reads the settings of the user who runs the tests."""
    need_program("git")
    levels = (
        pygit2.enums.ConfigLevel.GLOBAL,
        pygit2.enums.ConfigLevel.XDG,
        pygit2.enums.ConfigLevel.SYSTEM,
    )
    before = {level: pygit2.settings.search_path[level] for level in levels}
    for level in levels:
        pygit2.settings.search_path[level] = os.devnull
    yield
    for level, path in before.items():
        pygit2.settings.search_path[level] = path


def read(tree, name="w"):
    """Return what the library reads."""
    names = Names(str(tree.folder))
    return read_worktree(names, name, names.find(tree.folder))


def has_work_for_git(tree, scratch):
    """Return whether git shows uncommitted changes, or would commit some that it does not show."""
    shown = tree.git("status", "--porcelain", "--ignore-submodules=dirty")
    return bool(shown) or tree.stored_tree(scratch) != tree.git("rev-parse", "HEAD^{tree}")


def has_work(tree):
    """Return whether the library finds uncommitted changes."""
    names = Names(str(tree.folder))
    return has_uncommitted(names, names.find(tree.folder))


@given(seed=st.integers(0, 10**9))
def test_uncommitted_changes_are_those_of_git(seed, tmp_path_factory):
    """Whatever was done in a worktree, the library finds changes if and only if git does."""
    folder = tmp_path_factory.mktemp("worktree")
    tree = Worktree(folder / "main")
    source = random.Random(seed)  # noqa: S311
    make_random(source, tree)
    if source.random() < 0.5:  # so that there may be nothing left
        tree.git("add", "--all", fails=True)
        tree.git("commit", "-q", "-m", "all", fails=True)

    assert has_work(tree) == has_work_for_git(tree, folder)


def test_the_worktrees_of_a_branch_are_those_that_git_lists(tmp_path):
    """Renamed branches, moved worktrees and detached worktrees are treated as in git."""
    tree = Worktree(tmp_path / "main")
    linked = [tree.linked(tmp_path / name) for name in ("one", "two", "three", "four")]
    tree.git("branch", "-m", "one", "renamed/one")
    tree.git("worktree", "move", str(linked[1].folder), str(tmp_path / "a b"))
    linked[2].git("checkout", "-q", "--detach")
    tree.git("worktree", "add", "-q", "--force", str(tmp_path / "again"), "four")
    shutil.rmtree(tmp_path / "again")
    listed = {}
    for entry in tree.git("worktree", "list", "--porcelain").split("\n\n"):
        facts = dict(line.partition(" ")[::2] for line in entry.splitlines())
        listed.setdefault(facts.get("branch"), set()).add(facts["worktree"])

    for repo in (tree.folder, tmp_path / "a b", tree.folder / ".git"):
        names = Names(str(repo))
        branches = tree.git("for-each-ref", "--format=%(refname)").split()
        assert len(branches) == 5
        for branch in branches:
            found = {os.path.normpath(e.folder) for e in names.worktrees_of(branch.encode())}
            assert found == listed.get(branch, set()), (repo, branch)


@pytest.mark.parametrize("is_linked", [False, True])
@given(seed=st.integers(0, 10**9))
def test_a_worktree_is_what_git_would_add(is_linked, seed, tmp_path_factory):
    """Whatever was done in a worktree, its tree is the one that git would write."""
    folder = tmp_path_factory.mktemp("worktree")
    tree = Worktree(folder / "main")
    tree = tree.linked(folder / "linked") if is_linked else tree
    make_random(random.Random(seed), tree)  # noqa: S311

    found = read(tree)

    assert (found.tree and found.tree.tree_id) == tree.stored_tree(folder), found.details


def sparse(tree):
    tree.git("sparse-checkout", "set", "dir")
    (tree.folder / "b").write_text("there nevertheless")


def skipped(tree):
    tree.git("update-index", "--skip-worktree", "a", "b")
    (tree.folder / "a").unlink()
    (tree.folder / "b").write_text("ignored")


def assumed(tree):
    tree.git("update-index", "--assume-unchanged", "a", "b", "sub")
    (tree.folder / "a").unlink()
    (tree.folder / "b").write_text("ignored")
    shutil.rmtree(tree.folder / "sub")


def assumed_and_new(tree):
    (tree.folder / "new").write_text("x")
    (tree.folder / "later").write_text("x")
    (tree.folder / "other").mkdir()
    tree.git("init", "-q", folder=tree.folder / "other")
    tree.git("commit", "-q", "--allow-empty", "-m", "x", folder=tree.folder / "other")
    tree.git("add", "new", "other")
    tree.git("add", "--intent-to-add", "later")
    tree.git("update-index", "--assume-unchanged", "new", "other", "later")


def assumed_but_a_repository(tree):
    tree.git("update-index", "--assume-unchanged", "a")
    (tree.folder / "a").unlink()
    (tree.folder / "a").mkdir()
    tree.git("init", "-q", folder=tree.folder / "a")
    tree.git("commit", "-q", "--allow-empty", "-m", "x", folder=tree.folder / "a")


def assumed_and_in_the_way(tree):
    tree.git("update-index", "--assume-unchanged", "a", "dir/c")
    tree.git("update-index", "--skip-worktree", "b")
    for name in ("a", "b"):
        (tree.folder / name).unlink()
        (tree.folder / name).mkdir()
        (tree.folder / name / "x").write_text("x")
    shutil.rmtree(tree.folder / "dir")
    (tree.folder / "dir").write_text("x")


def assumed_below_a_pipe(tree):
    tree.git("update-index", "--assume-unchanged", "dir/c")
    shutil.rmtree(tree.folder / "dir")
    os.mkfifo(tree.folder / "dir")


def ignored_repository_in_the_place_of_a_file(tree):
    (tree.folder / ".gitignore").write_text("a\n")
    (tree.folder / "a").unlink()
    (tree.folder / "a").mkdir()
    tree.git("init", "-q", folder=tree.folder / "a")


def repository_without_a_commit_in_the_place_of_a_file(tree):
    (tree.folder / "a").unlink()
    (tree.folder / "a").mkdir()
    tree.git("init", "-q", folder=tree.folder / "a")


def useless_repository_in_the_place_of_a_file(tree):
    (tree.folder / "a").unlink()
    (tree.folder / "a/.git").mkdir(parents=True)
    (tree.folder / "a/x").write_text("x")


def intended(tree):
    for name in ("new", "empty", "gone", "skipped"):
        (tree.folder / name).write_text("" if name == "empty" else name)
    tree.git("add", "-N", "new", "empty", "gone", "skipped")
    tree.git("update-index", "--skip-worktree", "skipped")
    (tree.folder / "gone").unlink()


def moved_submodule(tree):
    tree.git("commit", "-q", "--allow-empty", "-m", "x", folder=tree.folder / "sub")
    (tree.folder / "sub/dirty").write_text("x")


def empty_submodule(tree):
    shutil.rmtree(tree.folder / "sub/.git")


def gone_submodule(tree):
    shutil.rmtree(tree.folder / "sub")


def nested(tree):
    (tree.folder / "deep/er").mkdir(parents=True)
    tree.git("init", "-q", folder=tree.folder / "deep/er")
    tree.git("commit", "-q", "--allow-empty", "-m", "x", folder=tree.folder / "deep/er")
    tree.git("worktree", "add", "-q", "inner")


def nested_and_ignored(tree):
    nested(tree)
    (tree.folder / ".gitignore").write_text("deep\ninner/\n")


def nested_with_tracked_files(tree):
    (tree.folder / "dir/c").write_text("changed")
    (tree.folder / "dir/new").write_text("new")
    tree.git("init", "-q", folder=tree.folder / "dir")
    tree.git("commit", "-q", "--allow-empty", "-m", "x", folder=tree.folder / "dir")


def nested_with_tracked_files_below_a_rule_for_the_top(tree):
    nested_with_tracked_files(tree)
    (tree.folder / ".gitignore").write_text("**/\n!dir/\n")


def nested_in_the_place_of_tracked_files(tree):
    nested_with_tracked_files_below_a_rule_for_the_top(tree)
    (tree.folder / "dir/c").unlink()


def nested_without_a_commit(tree):
    (tree.folder / "deep").mkdir()
    tree.git("init", "-q", folder=tree.folder / "deep")


def other_kinds(tree):
    (tree.folder / "a").unlink()
    (tree.folder / "a").mkdir()
    (tree.folder / "a/inside").write_text("x")
    shutil.rmtree(tree.folder / "dir")
    (tree.folder / "dir").symlink_to("a")
    (tree.folder / "b").unlink()
    (tree.folder / "b").symlink_to("nowhere")


def behind_a_link(tree):
    shutil.move(tree.folder / "dir", tree.folder.parent / "elsewhere")
    (tree.folder / "dir").symlink_to(tree.folder.parent / "elsewhere")


def staged_only(tree):
    (tree.folder / "new").write_text("x")
    (tree.folder / "a").write_text("y")
    tree.git("add", "new", "a")
    tree.git("rm", "-q", "--cached", "b")
    (tree.folder / "b").unlink()
    (tree.folder / "new").unlink()


def without_modes(tree):
    tree.git("config", "core.filemode", "false")
    for name in ("a", "b"):
        (tree.folder / name).chmod(0o755 if name == "a" else 0o644)
        (tree.folder / name).write_text("x")


def without_links(tree):
    tree.git("config", "core.symlinks", "false")
    (tree.folder / "link").unlink()
    (tree.folder / "link").write_text("elsewhere")


def new_index_format(tree):
    (tree.folder / "a").write_text("x")
    tree.git("update-index", "--index-version", "4")


STATES = (
    sparse, skipped, assumed, assumed_and_new, assumed_and_in_the_way,
    assumed_below_a_pipe, assumed_but_a_repository, ignored_repository_in_the_place_of_a_file,
    repository_without_a_commit_in_the_place_of_a_file, useless_repository_in_the_place_of_a_file,
    intended, moved_submodule, empty_submodule, gone_submodule, nested, nested_and_ignored,
    nested_with_tracked_files, nested_with_tracked_files_below_a_rule_for_the_top,
    nested_in_the_place_of_tracked_files, nested_without_a_commit, other_kinds, behind_a_link,
    staged_only, without_modes, without_links, new_index_format,
)  # fmt: skip


@pytest.mark.parametrize("change", STATES)
def test_a_rare_state_is_what_git_would_add(change, tmp_path):
    """Each of the index's flags, each kind of entry and each setting counts as for git."""
    tree = Worktree(tmp_path / "main")
    (tree.folder / "dir").mkdir()
    for name in ("a", "b", "dir/c"):
        (tree.folder / name).write_text(name)
    (tree.folder / "b").chmod(0o755)
    (tree.folder / "link").symlink_to("a")
    (tree.folder / "sub").mkdir()
    tree.git("init", "-q", folder=tree.folder / "sub")
    tree.git("commit", "-q", "--allow-empty", "-m", "x", folder=tree.folder / "sub")
    tree.git("add", "--all")
    tree.git("commit", "-q", "-m", "1")
    change(tree)

    found = read(tree)

    assert (found.tree and found.tree.tree_id) == tree.stored_tree(tmp_path), found.details
    shutil.rmtree(tmp_path / "objects")
    assert has_work(tree) == has_work_for_git(tree, tmp_path)


def test_a_repository_without_a_commit_is_a_problem(tmp_path):
    """Git cannot add another repository that has no commit; the reason names it."""
    tree = Worktree(tmp_path / "main")
    tree.git("commit", "-q", "--allow-empty", "-m", "1")
    nested_without_a_commit(tree)

    found = read(tree)

    assert found.problem == "unreadable"
    assert "deep is a repository without a commit" in found.details.replace(":", "")


def test_an_edit_in_the_same_moment_is_seen(tmp_path):
    """An edit that changes neither length nor time is seen, if the index is not newer."""
    tree = Worktree(tmp_path / "main")
    file, index = tree.folder / "a", tree.folder / ".git/index"
    file.write_bytes(b"1\n")
    tree.git("add", "a")
    tree.git("commit", "-q", "-m", "1")
    stamp = file.stat().st_mtime_ns
    with file.open("r+b") as opened:
        opened.write(b"2")
    for path in (file, index):
        os.utime(path, ns=(stamp, stamp))

    found = read(tree)

    assert found.tree.read("a") == b"2\n"
    assert found.tree.tree_id == tree.stored_tree(tmp_path)


@pytest.mark.parametrize(
    "rule", ["*.dat filter=own", "*.dat filter=own text", "*.dat filter=own -text"]
)
def test_a_filter_program_never_runs(rule, tmp_path):
    """A file that a program would convert is named, and counts as it is on disk."""
    tree = Worktree(tmp_path / "main")
    (tree.folder / ".gitattributes").write_text(f"{rule}\n")
    tree.git("add", "--all")
    tree.git("commit", "-q", "-m", "1")
    tree.git("config", "filter.own.clean", f"touch {tmp_path}/ran; cat")
    (tree.folder / "z.dat").write_bytes(b"raw\r\n")

    found = read(tree)

    assert found.unfiltered == ("z.dat",)
    assert found.tree.read("z.dat") == b"raw\r\n"
    assert not (tmp_path / "ran").exists()


def test_a_filter_without_a_program_changes_nothing(tmp_path):
    """An attribute that names a filter which is not set up has no effect, as in git."""
    tree = Worktree(tmp_path / "main")
    (tree.folder / ".gitattributes").write_text("*.dat filter=lfs\n")
    tree.git("commit", "-q", "--allow-empty", "-m", "1")
    (tree.folder / "z.dat").write_bytes(b"raw\n")

    found = read(tree)

    assert found.unfiltered == ()
    assert found.tree.tree_id == tree.stored_tree(tmp_path)


@pytest.mark.parametrize("encoding", ["UTF-16", "UTF-16LE", "UTF-16LE-BOM", "latin-1", "UTF-32BE"])
def test_an_encoding_is_converted(encoding, tmp_path):
    """A file in another encoding counts as the UTF-8 text that git stores."""
    tree = Worktree(tmp_path / "main")
    (tree.folder / ".gitattributes").write_text(f"*.txt working-tree-encoding={encoding}\n")
    tree.git("commit", "-q", "--allow-empty", "-m", "1")
    codec = {"UTF-16LE-BOM": "utf-16"}.get(encoding, encoding)
    (tree.folder / "a.txt").write_bytes("é one\r\n".encode(codec))

    found = read(tree)

    assert found.tree.read("a.txt").decode().startswith("é one")
    assert found.tree.tree_id == tree.stored_tree(tmp_path)


def test_what_git_refuses_to_convert_is_a_problem(tmp_path):
    """Contents that are not in their encoding make a worktree unreadable, by the file's name."""
    tree = Worktree(tmp_path / "main")
    (tree.folder / ".gitattributes").write_text("*.txt working-tree-encoding=UTF-16\n")
    tree.git("commit", "-q", "--allow-empty", "-m", "1")
    (tree.folder / "a.txt").write_bytes(b"no marks")

    found = read(tree)

    assert found.tree is None
    assert "a.txt" in found.details
    assert tree.stored_tree(tmp_path) is None


def test_large_files_are_hashed_but_not_kept(tmp_path):
    """A large file has its id at once; its contents are read when they are used."""
    tree = Worktree(tmp_path / "main")
    tree.git("commit", "-q", "--allow-empty", "-m", "1")
    data = bytes(range(256)) * 20_000
    (tree.folder / "big").write_bytes(data)

    found = read(tree)

    assert found.tree.tree_id == tree.stored_tree(tmp_path)
    assert found.tree.read("big") == data


def test_a_large_file_is_converted_when_it_is_used(tmp_path):
    """Contents that git would convert are converted; what has changed since is an error."""
    tree = Worktree(tmp_path / "main")
    (tree.folder / ".gitattributes").write_text("* text\n")
    tree.git("commit", "-q", "--allow-empty", "-m", "1")
    (tree.folder / "big").write_bytes(b"a line\r\n" * 1_000_000)

    found = read(tree)

    assert found.tree.tree_id == tree.stored_tree(tmp_path)
    assert found.tree.read("big") == b"a line\n" * 1_000_000
    (tree.folder / "big").write_bytes(b"another line")
    with pytest.raises(RepositoryError, match="big has changed since it was first read"):
        found.tree.read("big")


def after_comparing(monkeypatch, act):
    """Let an agent act between the comparison with the index and the reading of the files."""
    original = Scratch.compare

    def compare(self):
        original(self)
        act()

    monkeypatch.setattr(Scratch, "compare", compare)


def test_a_write_during_a_look_causes_another_look(tmp_path, monkeypatch):
    """If an agent writes two files while the second one is read, both or none are in the tree."""
    tree = Worktree(tmp_path / "main")
    for name in ("a", "b"):
        (tree.folder / name).write_text("0")
    tree.git("add", "--all")
    tree.git("commit", "-q", "-m", "1")
    (tree.folder / "c").write_text("makes the look read something")
    time.sleep(0.05)
    writes = iter(("a", "c"))

    def write():
        for name in writes:
            (tree.folder / name).write_text("1")

    after_comparing(monkeypatch, write)

    found = read(tree)

    assert found.unsettled == ()
    assert (found.tree.read("a"), found.tree.read("c")) == (b"1", b"1")


def test_a_file_that_always_changes_is_named(tmp_path, monkeypatch):
    """What changed during each look is named, and the tree is returned all the same."""
    tree = Worktree(tmp_path / "main")
    tree.git("commit", "-q", "--allow-empty", "-m", "1")
    (tree.folder / "log").write_text("0")
    after_comparing(monkeypatch, lambda: (tree.folder / "log").write_text("more"))

    found = read(tree)

    assert found.unsettled == ("log",)
    assert found.tree.read("log") == b"more"


def test_a_file_that_vanishes_is_gone(tmp_path, monkeypatch):
    """A file that is removed between the look and the read is not in the tree."""
    tree = Worktree(tmp_path / "main")
    tree.git("commit", "-q", "--allow-empty", "-m", "1")
    (tree.folder / "new").write_text("0")
    after_comparing(monkeypatch, lambda: (tree.folder / "new").unlink(missing_ok=True))

    found = read(tree)

    assert found.tree.paths() == ()


WRITER = """
import os, sys, time
folder, number = sys.argv[1], 0
while True:
    number += 1
    for name in ("a", "b"):  # always in this order, so b is never newer than a
        with open(f"{folder}/{name}.new", "w") as file:
            file.write(str(number))
        os.rename(f"{folder}/{name}.new", f"{folder}/{name}")
    time.sleep(0.02 * (number % 16))  # some looks see a change, others none
"""


def test_a_tree_never_mixes_two_moments_silently(tmp_path):
    """While an agent writes two files in turn, every tree is one that existed, or says so."""
    tree = Worktree(tmp_path / "main")
    for name in ("a", "b", *(f"aa{number}" for number in range(2000))):
        (tree.folder / name).write_text("0")
    tree.git("add", "--all")
    tree.git("commit", "-q", "-m", "1")
    (tree.folder / ".git/info").mkdir(exist_ok=True)
    (tree.folder / ".git/info/exclude").write_text("*.new\n")
    settled = 0
    with subprocess.Popen([sys.executable, "-c", WRITER, str(tree.folder)]) as writer:
        try:
            for _ in range(60):
                found = read(tree)
                assert found.tree is not None, found.details
                if not found.unsettled:
                    settled += 1
                    first, second = (int(found.tree.read(name)) for name in ("a", "b"))
                    assert first - second in {0, 1}, (first, second)
        finally:
            writer.kill()

    assert settled


def with_filter(tree):
    """Give a repository a file that a program converts; return what git runs the program by."""
    tree.git("config", "filter.own.clean", "sed s/big/pointer/")
    tree.git("config", "filter.own.smudge", "sed s/pointer/big/")
    (tree.folder / ".gitattributes").write_text("*.dat filter=own\n")
    (tree.folder / "z.dat").write_bytes(b"big 1\n")
    (tree.folder / "a.txt").write_bytes(b"1\n")
    tree.git("add", "--all")
    tree.git("commit", "-q", "-m", "1")


def test_a_fresh_worktree_has_no_changes_by_a_filter(tmp_path):
    """What git has just checked out through a filter is unchanged, so only the edit counts."""
    main = Worktree(tmp_path / "main")
    with_filter(main)
    tree = main.linked(tmp_path / "linked")
    (tree.folder / "a.txt").write_bytes(b"2\n")

    found = read(tree)

    assert found.tree.read("z.dat") == b"pointer 1\n"
    assert found.tree.tree_id == tree.stored_tree(tmp_path)


def test_a_file_as_old_as_the_index_may_need_its_filter(tmp_path):
    """If git cannot know without its program, the index's entry counts and the file is named."""
    tree = Worktree(tmp_path / "main")
    with_filter(tree)
    stamp = (tree.folder / "z.dat").stat().st_mtime_ns
    os.utime(tree.folder / ".git/index", ns=(stamp, stamp))

    found = read(tree)

    assert (found.unfiltered, found.is_dirty) == (("z.dat",), False)
    assert found.tree.read("z.dat") == b"pointer 1\n"


def test_a_staged_file_as_old_as_the_index_is_as_it_was_staged(tmp_path):
    """What the program made of it is in the index, and differs from the commit."""
    tree = Worktree(tmp_path / "main")
    with_filter(tree)
    (tree.folder / "z.dat").write_bytes(b"big 2\n")
    tree.git("add", "--all")
    stamp = (tree.folder / "z.dat").stat().st_mtime_ns
    os.utime(tree.folder / ".git/index", ns=(stamp, stamp))

    found = read(tree)

    assert (found.unfiltered, found.is_dirty) == (("z.dat",), True)
    assert found.tree.read("z.dat") == b"pointer 2\n"


def test_an_edit_of_a_filtered_file_counts(tmp_path):
    """An edit of the same length at once after the checkout is seen, and named."""
    tree = Worktree(tmp_path / "main")
    with_filter(tree)
    (tree.folder / "z.dat").write_bytes(b"big 2\n")

    found = read(tree)

    assert found.unfiltered == ("z.dat",)
    assert found.tree.read("z.dat") == b"big 2\n"


def test_a_name_that_is_not_utf8_is_stored(tmp_path):
    """Any bytes may be a name: of files, folders and other repositories."""
    tree = Worktree(tmp_path / "main")
    top = os.fsencode(tree.folder)

    def write(name, data):
        with open(os.path.join(top, name), "wb") as file:  # noqa: PTH118, PTH123 - bytes
            file.write(data)

    (tree.folder / ".gitattributes").write_text("* text=auto\n")
    write(b"tracked-\xe9", b"1\n")
    tree.git("add", "--all")
    tree.git("commit", "-q", "-m", "1")
    os.mkdir(os.path.join(top, b"dir-\xe9"))  # noqa: PTH102, PTH118 - bytes
    for name in (b"tracked-\xe9", b"new-\xe9", b"dir-\xe9/a"):
        write(name, b"2\r\n")

    inner = os.fsdecode(os.path.join(top, b"inner-\xe9"))  # noqa: PTH118 - bytes
    tree.git("init", "-q", inner)
    tree.git("commit", "-q", "--allow-empty", "-m", "1", folder=inner)

    found = read(tree)

    assert found.tree is not None, found.details
    assert found.tree.tree_id == tree.stored_tree(tmp_path)


@pytest.mark.parametrize(
    "setting", [("submodule.sub.ignore", "all"), ("diff.ignoreSubmodules", "all"), ()]
)
def test_a_moved_submodule_counts_whatever_the_settings(setting, tmp_path):
    """Settings that hide submodules from `git diff` do not hide them from `git add`."""
    tree = Worktree(tmp_path / "main")
    (tree.folder / "sub").mkdir()
    tree.git("init", "-q", folder=tree.folder / "sub")
    tree.git("commit", "-q", "--allow-empty", "-m", "x", folder=tree.folder / "sub")
    rule = '[submodule "sub"]\n\tpath = sub\n\turl = ./sub\n'
    (tree.folder / ".gitmodules").write_text(rule + ("" if setting else "\tignore = all\n"))
    tree.git("add", "--all")
    tree.git("commit", "-q", "-m", "1")
    if setting:
        tree.git("config", *setting)
    moved_submodule(tree)

    found = read(tree)

    assert found.is_dirty
    assert found.tree.tree_id == tree.stored_tree(tmp_path)


def linked_folder(tree):
    (tree.folder / "node_modules").symlink_to("dir")
    return "node_modules/\n"


def only_folders(tree):
    (tree.folder / "top").write_text("x")
    return "*/\n"


def linked_rules(tree):
    (tree.folder / "rules").write_text("*.log\n")
    (tree.folder / ".gitignore").symlink_to("rules")
    (tree.folder / "x.log").write_text("x")


def linked_attributes(tree):
    (tree.folder / "rules").write_text("*.txt text\n")
    (tree.folder / ".gitattributes").symlink_to("rules")
    (tree.folder / "dir/x.txt").write_bytes(b"x\r\n")


def changed_attributes(tree):
    (tree.folder / ".gitattributes").write_text("* text=auto\n")
    (tree.folder / "dir/.gitattributes").write_text("* text\n")
    tree.git("add", "--all")
    (tree.folder / ".gitattributes").write_text("*.md text\n")
    (tree.folder / "dir/.gitattributes").write_text('"c d" text\n')
    for name in ("x.txt", "x.md", "dir/x.txt", "dir/c d"):
        (tree.folder / name).write_bytes(b"x\r\n")


def deleted_attributes(tree):
    for folder in ("", "dir/"):
        (tree.folder / folder / ".gitattributes").write_text("* text=auto\n")
    tree.git("add", "--all")
    tree.git("update-index", "--assume-unchanged", "dir/.gitattributes")
    for folder in ("", "dir/"):
        (tree.folder / folder / ".gitattributes").unlink()
        (tree.folder / folder / "x.txt").write_bytes(b"x\r\n")


def attributes_that_became_a_link(tree):
    (tree.folder / ".gitattributes").write_text("* text=auto\n")
    tree.git("add", "--all")
    (tree.folder / ".gitattributes").unlink()
    linked_attributes(tree)
    (tree.folder / "x.md").write_bytes(b"x\r\n")


def left_out_rules(tree):
    (tree.folder / ".gitignore").write_text("*.log\n")
    tree.git("add", "--all")
    tree.git("commit", "-q", "-m", "rules")
    tree.git("sparse-checkout", "set", "--no-cone", "/a", "dir/")
    (tree.folder / "x.log").write_text("x")


def rules_that_begin_anew(tree):
    (tree.folder / "x/y").mkdir(parents=True)
    (tree.folder / "x/y/k.log").write_text("x")
    return "x**/k.log\n*.txt\t\n"


def wrongly_ignored_folder(tree):
    (tree.folder / "new/deep").mkdir(parents=True)
    (tree.folder / "new/deep/k").write_text("x")
    (tree.folder / "new/deep/k\t").write_text("x")
    return "new\t\n"


@pytest.mark.parametrize(
    "change",
    [
        linked_folder, only_folders, linked_rules, linked_attributes, changed_attributes,
        attributes_that_became_a_link, deleted_attributes, left_out_rules,
        rules_that_begin_anew, wrongly_ignored_folder,
    ],
)  # fmt: skip
def test_rules_are_those_of_git(change, tmp_path):
    """Rules that libgit2 reads differently from git count as they do for git."""
    tree = Worktree(tmp_path / "main")
    (tree.folder / "dir").mkdir()
    for name in ("a", "dir/b"):
        (tree.folder / name).write_text(name)
    tree.git("add", "--all")
    tree.git("commit", "-q", "-m", "1")
    rules = change(tree)
    if rules:
        (tree.folder / ".gitignore").write_text(rules)

    found = read(tree)

    assert found.tree.tree_id == tree.stored_tree(tmp_path), found.tree.paths()


def an_empty_folder(tree, path):
    path.mkdir()


def a_text_file(tree, path):
    path.write_text("nothing")


def a_pruned_worktree(tree, path):
    tree.git("worktree", "add", "-q", str(path.parent / "inner"))
    shutil.move(path.parent / "inner/.git", path)
    shutil.rmtree(tree.folder / ".git/worktrees")


def a_folder_without_refs(tree, path):
    tree.git("init", "-q", str(path.parent))
    shutil.rmtree(path / "refs")


def a_folder_with_an_odd_head(tree, path):
    tree.git("init", "-q", str(path.parent))
    (path / "HEAD").write_text("odd")


@pytest.mark.parametrize(
    "make",
    [
        an_empty_folder, a_text_file, a_pruned_worktree, a_folder_without_refs,
        a_folder_with_an_odd_head,
    ],
)  # fmt: skip
def test_files_beside_a_useless_git_folder_count(make, tmp_path):
    """A folder is another repository only if its `.git` is one, as for git."""
    tree = Worktree(tmp_path / "main")
    tree.git("commit", "-q", "--allow-empty", "-m", "1")
    (tree.folder / "new/deep").mkdir(parents=True)
    (tree.folder / "new/deep/x").write_text("x")
    (tree.folder / "new/x.log").write_text("x")
    (tree.folder / ".gitignore").write_text("*.log\n")
    make(tree, tree.folder / "new/.git")

    found = read(tree)

    assert found.tree is not None, found.details
    assert found.tree.tree_id == tree.stored_tree(tmp_path), found.tree.paths()


@pytest.mark.parametrize("path", ["GIT~1/x", ".git./x", "a/.GIT/x"])
def test_a_path_that_git_does_not_add_makes_a_worktree_unreadable(tmp_path, path):
    """`git add` fails there, so no tree without the file may be given for the worktree."""
    tree = Worktree(tmp_path / "main")
    tree.git("commit", "-q", "-m", "1", "--allow-empty")
    file = tree.folder / path
    file.parent.mkdir(parents=True)
    file.write_bytes(b"1\n")

    found = read(tree)

    assert found.tree is None
    assert repr(path) in found.details


def test_a_device_in_the_place_of_rules_is_not_copied(tmp_path):
    """It could be read without end."""
    tree = Worktree(tmp_path / "main")
    tree.git("commit", "-q", "-m", "1", "--allow-empty")
    (tree.folder / ".git/info").mkdir(exist_ok=True)
    (tree.folder / ".git/info/exclude").unlink(missing_ok=True)
    (tree.folder / ".git/info/exclude").symlink_to("/dev/zero")
    (tree.folder / "a").write_bytes(b"1\n")

    found = read(tree)

    assert found.tree.read("a") == b"1\n"


def test_a_damaged_index_is_named_by_its_own_path(tmp_path):
    """Not by the path of a copy; and each time alike."""
    tree = Worktree(tmp_path / "main")
    tree.git("commit", "-q", "-m", "1", "--allow-empty")
    (tree.folder / ".git/index").write_bytes(b"DIRC")

    first, second = read(tree), read(tree)

    assert str(tree.folder / ".git/index") in first.details
    assert first.details == second.details
