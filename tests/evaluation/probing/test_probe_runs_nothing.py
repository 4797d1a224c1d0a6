"""Agents can write a repository's configuration. No program that it names runs."""

import os
import time

import pytest
from agents import Agents, everything_in

import cooperbench_eval as ce
from cooperbench_eval.git.worktrees import scratch

STATUS, ADD = ("status",), ("add", "--all")


@pytest.fixture
def mark(tmp_path):
    """Return a file that each trap makes when it runs."""
    return tmp_path / "mark"


@pytest.fixture
def trap(tmp_path, mark):
    """Return a program that must not run."""
    path = tmp_path / "trap"
    path.write_text(f"#!/bin/sh\ntouch {mark}\nexit 1\n")
    path.chmod(0o755)
    return path


def fsmonitor(tree, trap):
    tree.git("config", "core.fsmonitor", str(trap))
    return STATUS


def clean_filter(tree, trap):
    tree.git("config", "filter.own.clean", str(trap))
    tree.write({".gitattributes": b"* filter=own\n"})
    return ADD


def filter_process(tree, trap):
    tree.git("config", "filter.own.process", str(trap))
    tree.git("config", "filter.own.required", "true")
    tree.write({".gitattributes": b"* filter=own\n"})
    return ADD


def included_filter(tree, trap):
    more = trap.parent / "more"
    more.write_text(f'[filter "a.b"]\n\tclean = {trap}\n')
    tree.git("config", "include.path", str(more))
    tree.write({".gitattributes": b"* filter=a.b\n"})
    return ADD


def configuration_of_the_worktree(tree, trap):
    tree.git("config", "extensions.worktreeConfig", "true")
    tree.git("config", "--worktree", "core.fsmonitor", str(trap))
    return STATUS


def hook(tree, trap):
    hooks = tree.folder / tree.git("rev-parse", "--git-path", "hooks")
    hooks.mkdir(exist_ok=True)
    (hooks / "post-index-change").symlink_to(trap)
    return ADD


def folder_of_hooks(tree, trap):
    hooks = trap.parent / "hooks"
    hooks.mkdir()
    (hooks / "post-index-change").symlink_to(trap)
    tree.git("config", "core.hooksPath", str(hooks))
    return ADD


def _submodule(tree):
    inner = Agents(tree.folder / "inner")
    tree.git("add", "inner")
    tree.git("commit", "-q", "-m", "a submodule")
    return inner


def fsmonitor_of_a_submodule(tree, trap):
    _submodule(tree).git("config", "core.fsmonitor", str(trap))
    return ADD


def filter_of_a_submodule(tree, trap):
    inner = _submodule(tree)
    inner.git("config", "filter.own.clean", str(trap))
    inner.write({".gitattributes": b"* filter=own\n", "app.py": b"changed\n"})
    return ADD


def promisor(tree, trap):
    tree.write({".gitattributes": b"* text=auto\n", "far.txt": b"1\n"})
    tree.git("add", "--all")
    tree.git("commit", "-q", "-m", "with text")
    blob = tree.git("rev-parse", "HEAD:far.txt")
    objects = tree.folder / tree.git("rev-parse", "--git-path", "objects")
    (objects / blob[:2] / blob[2:]).unlink()
    for name, value in {
        "remote.far.promisor": "true",
        "remote.far.url": "ssh://far/away",
        "core.sshCommand": str(trap),
    }.items():
        tree.git("config", name, value)
    tree.write({"far.txt": b"2\r\n"})
    return ADD


TRAPS = (
    fsmonitor, clean_filter, filter_process, included_filter, configuration_of_the_worktree, hook,
    folder_of_hooks, fsmonitor_of_a_submodule, filter_of_a_submodule, promisor,
)  # fmt: skip


@pytest.mark.parametrize("lay", TRAPS)
@pytest.mark.parametrize("is_linked", [False, True])
def test_a_program_of_the_configuration_does_not_run(is_linked, lay, agents, trap, mark):
    """Git would run it; a probe reads the worktree without it, and writes nothing."""
    tree = agents.worktree("one") if is_linked else agents
    command = lay(tree, trap)
    tree.write({"app.py": b"edited\n", "new.txt": b"1\n"})
    before = everything_in(agents.folder.parent)

    (branch,) = ce.probe(agents.folder, [tree.folder], onto="HEAD").branches

    assert everything_in(agents.folder.parent) == before
    assert (branch.is_dirty, branch.problem) == (True, "")
    assert not mark.exists()
    tree.git(*command, fails=True)
    assert mark.exists(), "git does not run this program, so the test proves nothing"


def configuration(monkeypatch, folder, trap):
    monkeypatch.setenv("GIT_CONFIG_COUNT", "1")
    monkeypatch.setenv("GIT_CONFIG_KEY_0", "core.fsmonitor")
    monkeypatch.setenv("GIT_CONFIG_VALUE_0", str(trap))


def home(monkeypatch, folder, trap):
    (trap.parent / ".gitconfig").write_text(f"[core]\n\tfsmonitor = {trap}\n")
    monkeypatch.setenv("HOME", str(trap.parent))


def search_path(monkeypatch, folder, trap):
    (folder / "git").symlink_to(trap)
    monkeypatch.setenv("PATH", f".{os.pathsep}{os.environ['PATH']}")


@pytest.mark.parametrize("surround", [configuration, home, search_path])
def test_a_program_of_the_environment_does_not_run(surround, agents, trap, mark, monkeypatch):
    """The environment of the caller decides where git is, and nothing else."""
    agents.write({"app.py": b"edited\n"})
    surround(monkeypatch, agents.folder, trap)

    (branch,) = ce.probe(agents.folder, [agents.folder], onto="HEAD").branches

    assert (branch.is_dirty, branch.problem) == (True, "")
    assert not mark.exists()


def test_no_object_gets_a_new_time(agents):
    """A new file that has the contents of a committed one leaves their object as it is."""
    agents.write({"copy.txt": b"notes\n"})
    before = everything_in(agents.folder)

    (branch,) = ce.probe(agents.folder, [agents.folder], onto="HEAD").branches

    assert everything_in(agents.folder) == before
    assert branch.tree_id == agents.stored_tree(agents.folder.parent)


def test_temporary_files_in_a_worktree_do_not_count(agents, monkeypatch):
    """If temporary files lie in a worktree, those of a probe are not part of it."""
    monkeypatch.setattr("tempfile.tempdir", str(agents.folder))

    (branch,) = ce.probe(agents.folder, [agents.folder], onto="HEAD").branches

    assert (branch.is_dirty, branch.problem) == (False, "")


def test_git_is_needed_for_worktrees_only(agents, monkeypatch, tmp_path):
    """Without the program, a branch is read, and a worktree says what to install."""
    agents.branch("one", {"notes.txt": b"more\n"})
    monkeypatch.setenv("PATH", str(tmp_path))

    branch, tree = ce.probe(agents.folder, ["one", agents.folder]).branches

    assert (branch.state, tree.state) == ("fast_forward", "unreadable")
    assert "git is not installed" in tree.problem


def test_an_old_git_is_named(agents, monkeypatch, tmp_path):
    """If git is too old, the error says which version is needed."""
    old = tmp_path / "git"
    old.write_text('#!/bin/sh\n[ "$1" = version ] && echo git version 2.9.5 || exit 129\n')
    old.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}{os.pathsep}{os.environ['PATH']}")

    (tree,) = ce.probe(agents.folder, [agents.folder], onto="HEAD").branches

    assert tree.state == "unreadable"
    assert "git is 2.9, and 2.18 or newer is needed" in tree.problem


@pytest.mark.parametrize("name", [".gitignore", ".gitattributes", "deep/down/.gitignore"])
def test_a_pipe_in_the_place_of_rules_is_refused_at_once(name, agents, monkeypatch, tmp_path):
    """Git would wait for what nobody writes; the worktree is unreadable, and its pipe is named."""
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    (agents.folder / name).parent.mkdir(parents=True, exist_ok=True)
    os.mkfifo(agents.folder / name)
    agents.write({"new.txt": b"1\n"})
    before, began = set(tmp_path.iterdir()), time.monotonic()

    (branch,) = ce.probe(agents.folder, [agents.folder], onto="HEAD").branches

    assert time.monotonic() - began < 20
    assert branch.state == "unreadable"
    assert branch.problem.endswith(f"{name}, because it is a pipe")
    assert set(tmp_path.iterdir()) == before


@pytest.mark.parametrize("setting", ["core.excludesFile", "core.attributesFile"])
def test_a_pipe_that_a_setting_names_is_not_read(setting, agents):
    """The setting has no effect then, as if there were no such file."""
    os.mkfifo(agents.folder / ".git/pipe")
    agents.git("config", setting, str(agents.folder / ".git/pipe"))
    agents.write({"new.txt": b"1\n"})

    (branch,) = ce.probe(agents.folder, [agents.folder], onto="HEAD").branches

    assert (branch.is_dirty, branch.problem) == (True, "")


def test_a_git_that_never_ends_is_stopped(agents, monkeypatch, tmp_path):
    """The worktree is unreadable, and says how long git had."""
    slow = tmp_path / "git"
    slow.write_text("#!/bin/sh\nexec sleep 100\n")
    slow.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}{os.pathsep}{os.environ['PATH']}")
    monkeypatch.setattr(scratch, "_MOST_SECONDS", 0.5)

    (branch,) = ce.probe(agents.folder, [agents.folder], onto="HEAD").branches

    assert branch.state == "unreadable"
    assert "did not end within 0.5 seconds" in branch.problem
