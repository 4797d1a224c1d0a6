"""Loose objects that are cut off: libgit2 would read some of them for ever.

Whatever reads them runs in a process that is ended after a while.
"""

import os
import subprocess
import sys

import pygit2
import pytest
from agents import edited

import cooperbench_eval as ce

SECONDS = 60
GET = edited(b"return self.values[key]", b"return self.values.get(key)")
LOAD = edited(b"file.read()", b"file.read().strip()")
PROBE = "print(ce.probe(sys.argv[1], sys.argv[2:]).to_json())"
SNAPSHOT = """
for revision in sys.argv[2:]:
    try:
        base = ce.Snapshot.from_repo(sys.argv[1], revision)
        print(base.read("app.py").count(b"odd"))
    except ce.errors.RepositoryError as exc:
        print(exc)
"""
BLOB = "print(ce.Snapshot.from_repo(sys.argv[1], 'main').find_blob(sys.argv[2]))"


def run(script, *words):
    """Return what a script prints."""
    script = f"import sys\nimport cooperbench_eval as ce\n{script}"
    command = [sys.executable, "-c", script, *map(str, words)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=SECONDS, check=True)
    return done.stdout


def probed(folder, *names):
    """Return a probe that another process makes."""
    return ce.reporting.Probe.from_json(run(PROBE, folder, *names))


def place_of(agents, name):
    """Return the file of an object."""
    found = agents.git("rev-parse", name)
    return agents.folder / ".git/objects" / found[:2] / found[2:]


def cut(place, size=None):
    """Cut a file to half, or to a size."""
    place.chmod(0o644)
    os.truncate(place, place.stat().st_size // 2 if size is None else size)


@pytest.fixture
def branches(agents):
    """Return a repository with two sound branches, and a third one of two commits."""
    agents.branch("one", {"app.py": GET})
    agents.branch("two", {"app.py": LOAD})
    agents.branch("start", {"deep/notes.txt": b"odd\n" * 99})
    agents.branch("odd", {"app.py": GET + b"# odd\n"}, start="start")
    return agents


@pytest.mark.parametrize(
    ("name", "size"),
    [
        *((each, None) for each in ("odd", "odd~1", "odd^{tree}", "odd:deep", "odd:app.py")),
        *(("odd", size) for size in (0, 2)),
    ],
)
def test_an_object_that_is_cut_off_concerns_its_branch_only(name, size, branches):
    """It is unreadable, its pairs are unknown, and the probe ends."""
    cut(place_of(branches, name), size)

    probe = probed(branches.folder, "odd", "one", "two")

    assert [each.state.value for each in probe.branches] == [
        "unreadable", "fast_forward", "fast_forward",
    ]  # fmt: skip
    assert probe.branches[0].problem
    assert [each.state.value for each in probe.pairs] == ["not_examined", "not_examined", "clean"]
    assert len(probe.landing) == 2


def test_names_that_lead_to_it_are_unreadable(branches):
    """So are tags, ids, expressions and worktrees."""
    tree = branches.worktree("tree")
    tree.write({"app.py": GET})
    commit = tree.commit()
    branches.git("tag", "-a", "full", "-m", "x", "tree")
    cut(place_of(branches, "tree"))
    names = "tree", "full", commit, commit[:12], "tree^{commit}", str(tree.folder), "one"

    probe = probed(branches.folder, *names)

    assert [each.state.value for each in probe.branches] == ["unreadable"] * 6 + ["fast_forward"]


def test_a_snapshot_of_it_is_refused(branches):
    """It is not said to be absent."""
    commit = branches.git("rev-parse", "odd")
    cut(place_of(branches, "odd"))

    *refused, sound = run(SNAPSHOT, branches.folder, "odd", commit, "odd~1", "start").splitlines()

    assert all("cannot read the commit" in each for each in refused)
    assert len(refused) == 3
    assert sound == "0"


def test_contents_that_are_cut_off_are_refused(branches):
    """They are found by their path or by the beginning of their id."""
    found = branches.git("rev-parse", "odd:app.py")
    cut(place_of(branches, "odd:app.py"))

    assert "contents of app.py cannot be read" in run(SNAPSHOT, branches.folder, "odd")
    assert run(BLOB, branches.folder, found[:12]) == "None\n"


def test_a_borrowed_object_that_is_cut_off_is_refused(branches, tmp_path):
    """The objects of another repository may be damaged, too."""
    other = tmp_path / "other"
    branches.git("clone", "-q", "--shared", str(branches.folder), str(other))
    cut(place_of(branches, "odd"))
    cut(place_of(branches, "one:app.py"))

    odd, one = run(SNAPSHOT, other, "origin/odd", "origin/one").splitlines()

    assert "cannot read the commit" in odd
    assert "contents of app.py cannot be read" in one


def test_an_object_that_a_pack_has_too_is_read(branches):
    """Git reads packs first, so the damage does not matter."""
    place = place_of(branches, "odd")
    data = place.read_bytes()
    branches.git("repack", "-a", "-d", "-q")
    place.parent.mkdir(exist_ok=True)
    place.write_bytes(data[: len(data) // 2])

    assert probed(branches.folder, "odd").branches[0].state == "fast_forward"
    assert run(SNAPSHOT, branches.folder, "odd", "odd~1").split() == ["1", "0"]


def test_libgit2_would_read_it_for_ever(branches):
    """Once this fails, nothing needs to be checked any more."""
    cut(place_of(branches, "odd"))
    script = "import pygit2, sys; pygit2.Repository(sys.argv[1]).revparse_single('odd')"

    with pytest.raises(subprocess.TimeoutExpired):
        subprocess.run([sys.executable, "-c", script, branches.folder], timeout=2, check=False)
    assert pygit2.Repository(str(branches.folder)).branches["odd"].target
