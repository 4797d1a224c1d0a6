"""What a name given to a probe stands for, and what is said if it cannot be read."""

import os
import shutil
import subprocess
import sys

import pytest
from needs import WITHOUT_PRIVILEGES, need_program

import cooperbench_eval as ce
from cooperbench_eval.errors import RepositoryError


def test_a_full_id_is_a_commit_before_it_is_a_branch(agents):
    """A branch that is named like a commit does not hide it, as for git."""
    first = agents.git("rev-parse", "HEAD")
    agents.write({"new": b"x"})
    agents.commit()
    agents.git("update-ref", f"refs/heads/{first}", "HEAD")

    (branch,) = ce.probe(agents.folder, [first]).branches

    assert (branch.kind, branch.commit_id) == ("commit", agents.git("rev-parse", first))


@pytest.mark.parametrize("name", ["", "a\0b", "worktrees/a\0b"])
def test_what_cannot_be_a_name_is_refused(name, agents):
    """An empty name, and one with a null byte, stand for nothing."""
    with pytest.raises(RepositoryError) as caught:
        ce.probe(agents.folder, [name])

    assert repr(name) in caught.value.problem


def test_a_branch_without_its_commit_is_named(agents):
    """Such a branch is unreadable, and nothing can land on it; both say what is absent."""
    (agents.folder / ".git/refs/heads/gone").write_text("1" * 40 + "\n")
    problem = f"refs/heads/gone refers to the object {'1' * 40}, which is absent or damaged"

    (branch,) = ce.probe(agents.folder, ["gone"]).branches
    with pytest.raises(RepositoryError) as caught:
        ce.probe(agents.folder, ["main"], onto="gone")

    assert (branch.kind, branch.state, branch.problem) == ("branch", "unreadable", problem)
    assert caught.value.problem == f"nothing can be merged onto gone: {problem}"


def test_a_moved_worktree_is_named(agents):
    """After `mv`, git must repair a worktree; the advice helps."""
    one = agents.worktree("one", {"new": b"x"})
    away = one.folder.parent / "away"
    shutil.move(one.folder, away)

    with pytest.raises(RepositoryError, match="was moved: run `git worktree repair` in it"):
        ce.probe(agents.folder, [away])
    agents.git("worktree", "repair", folder=away)

    assert ce.probe(agents.folder, [away]).branches[0].is_dirty


def test_a_worktree_is_found_by_its_path_object(agents):
    """Branches and pairs may be asked for by what was given to the probe."""
    one, two = (agents.worktree(name, {"new": name.encode()}) for name in ("one", "two"))

    probe = ce.probe(agents.folder, [one.folder, two.folder])

    assert probe.branch(one.folder).name == str(one.folder)
    assert probe.pair(two.folder, one.folder) == probe.pairs[0]


@pytest.mark.parametrize(
    ("option", "words"),
    [
        ("--object-format=sha256", "is a git repository with SHA-256 ids"),
        ("extensions.refstorage=reftable", r"stores its refs as tables \(reftable\)"),
    ],
)
def test_a_format_that_libgit2_lacks_is_named(option, words, agents, tmp_path):
    """A repository in a newer format is refused with the name of the format."""
    place = str(tmp_path / "new")
    if option.startswith("--"):
        agents.git("init", "-q", option, place)
    else:
        agents.git("init", "-q", place)
        agents.git("config", "core.repositoryformatversion", "1", folder=place)
        agents.git("config", *option.split("="), folder=place)

    with pytest.raises(RepositoryError, match=words):
        ce.probe(place, ["main"])


PROBE = """
import sys
import cooperbench_eval as ce
from pathlib import Path
repo, name = sys.argv[1:]
try:
    (branch,) = ce.probe(repo, [Path(name) if "/" in name else name], onto="onto").branches
    print("state", branch.state, branch.problem)
except ce.errors.RepositoryError as exc:
    print("error", exc)
"""


@pytest.mark.parametrize(
    ("part", "name"),
    [
        (".git", "one"), (".git/objects", "one"), (".git/refs/heads/one", "one"),
        (".git/worktrees", "tree"), ("../tree", "tree"),
    ],
)  # fmt: skip
def test_what_may_not_be_read_is_named(part, name, agents):
    """A part of the repository that the user may not read is an error or a state."""
    agents.git("branch", "onto")
    agents.git("branch", "one")
    tree = agents.worktree("tree")
    hidden = (agents.folder / part).resolve()
    mode = hidden.stat().st_mode
    hidden.chmod(0)
    try:
        found = probe_without_privileges(
            agents.folder, str(tree.folder) if name == "tree" else name
        )
    finally:
        hidden.chmod(mode)

    assert found.startswith(("error", "state unreadable"))


def probe_without_privileges(repo, name):
    """Return what a user is told who may only read what the modes of files allow."""
    command = [sys.executable, "-c", PROBE, repo, name]
    if hasattr(os, "geteuid") and not os.geteuid():
        need_program("setpriv")
        command[:0] = WITHOUT_PRIVILEGES
    done = subprocess.run(
        command,
        env={"HOME": "/nonexistent", "PATH": os.environ["PATH"], "PYTHONPATH": ":".join(sys.path)},
        capture_output=True,
        check=False,
        text=True,
    )
    assert not done.stderr
    return done.stdout
