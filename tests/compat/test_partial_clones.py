"""Repositories that lack objects or change while they are used, against the git program."""

import shutil
from pathlib import Path

import pytest

import cooperbench_eval as ce

LINES = b"".join(b"line %d\n" % number for number in range(20))
TREE = {
    "f.py": LINES,
    "g.py": LINES[::-1],
    "src/old.py": LINES[7:] + b"only here\n",
    "src/more.py": b"more\n",
    "run.sh": b"#!/bin/sh\n",
}


def entries(files):
    """Return files as entries."""
    return {p: e if isinstance(e, ce.Entry) else ce.Entry(e) for p, e in files.items()}


def without(*paths):
    """Return the base's files except *paths*."""
    return {path: data for path, data in TREE.items() if path not in paths}


class Clones:
    """A repository with two branches, and a clone of it without file contents."""

    def __init__(self, git, folder, ours, theirs):
        (folder / "full").mkdir()
        self.full = type(git)(folder / "full")
        self.full.run("config", "uploadpack.allowFilter", "true")
        self.full.run("config", "uploadpack.allowAnySHA1InWant", "true")
        base = self.full.commit(self.full.tree(entries(TREE)))
        self.commits = {"base": base}
        for name, files in (("ours", ours), ("theirs", theirs)):
            tree = self.full.tree(entries(files))
            self.commits[name] = self.full.commit(tree, name, "-p", base)
            self.full.run("update-ref", f"refs/heads/{name}", self.commits[name])
        self.partial = folder / "partial"
        url = f"file://{self.full.path}"
        self.full.run("clone", "-q", "--bare", "--filter=blob:none", url, str(self.partial))

    def git_merge(self, repository):
        """Return whether git merges cleanly, and its tree; `None` if it fails.

        Git may not fetch.
        """
        merge = "git merge-tree --write-tree -z --no-messages ours theirs"
        printed = self.full.run(
            *("-c", "protocol.allow=never"),
            *("-c", f"alias.merged=!{merge}; printf %d $?", "merged"),
            GIT_DIR=str(repository),
        )
        *printed_by_git, status = printed.decode("utf-8", "surrogateescape").split("\0")
        return (status == "0", printed_by_git[0]) if status in {"0", "1"} else None

    def snapshots(self, repository):
        return [ce.Snapshot.from_repo(repository, commit) for commit in self.commits.values()]

    def merge(self, repository):
        """Return whether we merge cleanly, and our tree."""
        base, ours, theirs = self.snapshots(repository)
        outcome = ce.merge(
            base,
            ce.Changes.between(base, ours),
            ce.Changes.between(base, theirs),
            labels=ce.strategies.Labels(ours="ours", theirs="theirs"),
        )
        return outcome.status is ce.MergeStatus.CLEAN, outcome.tree_id(base)


def changed(path, data=b"changed\n"):
    """Return the base's files with one of them changed or added."""
    return TREE | {path: data}


RUN = ce.Entry(TREE["run.sh"], ce.models.FileMode.EXECUTABLE)
LINKS = [ce.Entry(target, ce.models.FileMode.SYMLINK) for target in (b"one", b"two")]

# What each side has; git needs no contents for these merges,
WITHOUT_CONTENTS = {
    "different files": (changed("f.py"), changed("g.py")),
    "the same change": (changed("f.py"), changed("f.py")),
    "a mode and another file": (changed("run.sh", RUN), changed("g.py")),
    "a mode and contents": (changed("run.sh", RUN), changed("run.sh")),
    "a rename and a change": (without("f.py") | {"new/f.py": LINES}, changed("f.py")),
    "a renamed folder": (
        without("src/old.py", "src/more.py")
        | {"lib/old.py": TREE["src/old.py"], "lib/more.py": TREE["src/more.py"]},
        changed("src/added.py"),
    ),
    "a deleted file": (changed("f.py"), without("f.py")),
    "two links": (changed("link", LINKS[0]), changed("link", LINKS[1])),
    "a file and a folder": (changed("new", b"file\n"), changed("new/file")),
}
# and for these it does.
WITH_CONTENTS = {
    "both sides change a file": (changed("f.py", LINES + b"x\n"), changed("f.py", b"x\n" + LINES)),
    "both sides add a file": (changed("n.py", LINES), changed("n.py", LINES + b"x\n")),
    "a renamed and changed file": (
        without("f.py") | {"other.py": LINES + b"x\n"},
        changed("f.py", b"x\n" + LINES),
    ),
}


@pytest.mark.parametrize("name", WITHOUT_CONTENTS)
def test_a_merge_that_git_can_do_in_a_partial_clone_works(git, tmp_path, name):
    """The verdict and the tree are the same as git's, and nothing is fetched."""
    clones = Clones(git, tmp_path, *WITHOUT_CONTENTS[name])
    objects = sorted(clones.partial.glob("objects/**/*"))

    merged = clones.merge(clones.partial)

    assert sorted(clones.partial.glob("objects/**/*")) == objects
    assert merged == clones.git_merge(clones.full.path)
    assert merged == clones.git_merge(clones.partial)


@pytest.mark.parametrize("name", WITH_CONTENTS)
def test_a_merge_that_needs_absent_contents_says_so(git, tmp_path, name):
    """The error names the path; the command in it fetches what is missing."""
    clones = Clones(git, tmp_path, *WITH_CONTENTS[name])
    assert clones.git_merge(clones.partial) is None
    objects = sorted(clones.partial.glob("objects/**/*"))

    with pytest.raises(ce.errors.RepositoryError, match="the clone is partial") as caught:
        clones.merge(clones.partial)

    assert sorted(clones.partial.glob("objects/**/*")) == objects
    assert any(path in caught.value.problem for path in ("f.py", "n.py", "other.py"))
    assert caught.value.location == str(clones.partial)
    for _ in range(4):
        try:
            merged = clones.merge(clones.partial)
        except ce.errors.RepositoryError as error:
            _, command, _ = error.problem.split("`")
            clones.full.run(*command.split()[1:], GIT_DIR=str(clones.partial))
    assert merged == clones.git_merge(clones.full.path)


@pytest.mark.parametrize("strategy", ["naive", "union"])
def test_a_conflict_about_a_whole_file_needs_contents_when_its_text_is_used(
    git, tmp_path, strategy
):
    """The conflict is found without the contents of the file."""
    clones = Clones(git, tmp_path, *WITHOUT_CONTENTS["a deleted file"])
    base, ours, theirs = clones.snapshots(clones.partial)

    outcome = ce.merge(
        base, ce.Changes.between(base, ours), ce.Changes.between(base, theirs), strategy=strategy
    )
    (conflict,) = outcome.conflicts

    assert (conflict.path, conflict.kind) == ("f.py", ce.ConflictKind.MODIFY_DELETE)
    assert ce.ConflictScorer().score(outcome.conflicts).conflict_sections == 1
    assert conflict.theirs is None
    with pytest.raises(ce.errors.RepositoryError, match=r"f\.py .*the clone is partial"):
        _ = conflict.ours


class Reader:
    """A strategy that reads the text of each conflict, or raises an error."""

    name = "reader"

    def __init__(self, error=None):
        self._error = error

    def merge(self, merge_input):
        if self._error:
            raise self._error
        return ce.resolve_conflicts(merge_input, lambda conflict: conflict.ours)


def test_a_strategy_is_not_blamed_for_absent_contents(git, tmp_path):
    """Absent contents of the base are a repository error, unlike the strategy's own errors."""
    clones = Clones(git, tmp_path, *WITHOUT_CONTENTS["a deleted file"])
    base, ours, theirs = clones.snapshots(clones.partial)
    sides = ce.Changes.between(base, ours), ce.Changes.between(base, theirs)

    with pytest.raises(ce.errors.RepositoryError, match=r"f\.py .*the clone is partial"):
        ce.merge(base, *sides, strategy=Reader())
    with pytest.raises(ce.errors.StrategyFailedError, match="its own"):
        ce.merge(base, *sides, strategy=Reader(ce.errors.RepositoryError("elsewhere", "its own")))


def test_only_a_partial_clone_is_called_partial(git, tmp_path):
    """If a full repository lost an object, there is no advice to fetch it."""
    clones = Clones(git, tmp_path, *WITH_CONTENTS["both sides change a file"])
    for lost in Path(clones.full.path).glob("objects/??/*"):
        if lost.parent.name + lost.name == ce.Entry(LINES).id:
            lost.unlink()

    with pytest.raises(ce.errors.RepositoryError, match=r"contents of f\.py are absent") as caught:
        clones.merge(clones.full.path)

    assert "the clone is partial" not in caught.value.problem


def pair(base, number, path):
    """Return a pair whose features change the ends of a file."""
    old = base.overlay(ce.Changes({path: ce.Entry(LINES)}))
    patches = [
        ce.Changes({path: ce.Entry(new)}).diff(old) for new in (LINES + b"x\n", b"x\n" + LINES)
    ]
    features = [ce.Feature(number=n, patch=patch) for n, patch in enumerate(patches, 1)]
    return ce.FeaturePair(
        repo_name="r", task_id=number, base=base, feature1=features[0], feature2=features[1]
    )


def test_an_object_that_a_worker_misses_fails_only_its_pair(git, tmp_path):
    """The failure is typed and not stored; once the object is there, the pair is evaluated."""
    clones = Clones(git, tmp_path, changed("f.py"), changed("g.py"))
    partial, full = (
        ce.Snapshot.from_repo(path, clones.commits["base"])
        for path in (clones.partial, clones.full.path)
    )
    pairs = [pair(partial, 0, "f.py"), pair(full, 1, "f.py")]
    options = {
        "evaluator": ce.Evaluator(strategies=["naive"]),
        "store": tmp_path / "store",
    }

    first = {report.task_id: report for report in ce.evaluate_many(pairs, **options)}
    clones.full.run("cat-file", "-e", ce.Entry(LINES).id, GIT_DIR=str(clones.partial))
    again = {report.task_id: report for report in ce.evaluate_many(pairs, **options)}

    assert first[0].failure.kind is ce.reporting.FailureKind.REPOSITORY
    assert "f.py" in first[0].failure.problem
    assert "the clone is partial" in first[0].failure.problem
    assert first[1].failure is None
    assert again[0].failure is None
    assert again[0].merge_status == first[1].merge_status == "clean"


@pytest.fixture
def stored(git, tmp_path):
    """A repository with loose objects, and the commits of a merge."""
    return Clones(git, tmp_path, changed("f.py", LINES + b"x\n"), changed("f.py", b"x\n" + LINES))


def test_a_repository_may_be_repacked_while_a_snapshot_is_in_use(stored):
    """After `git gc`, the same contents are read as before."""
    base, ours, theirs = stored.snapshots(stored.full.path)
    changes = ce.Changes.between(base, ours)
    wanted = stored.git_merge(stored.full.path)
    stored.full.run("gc", "-q", "--prune=now")
    assert not list(Path(stored.full.path).glob("objects/??/*"))

    outcome = ce.merge(base, changes, ce.Changes.between(base, theirs))

    assert (outcome.status is ce.MergeStatus.CLEAN, outcome.tree_id(base)) == wanted
    assert base.read("src/more.py") == TREE["src/more.py"]


def test_a_snapshot_stays_the_same_when_a_repository_gains_objects(stored):
    """Only a new snapshot sees a new commit."""
    (base, *_) = stored.snapshots(stored.full.path)
    paths = base.paths()
    commit = stored.full.commit(stored.full.tree(entries(changed("later.py"))))

    later = ce.Snapshot.from_repo(stored.full.path, commit)

    assert base.paths() == paths
    assert list(ce.Changes.between(base, later)) == ["later.py"]


@pytest.mark.parametrize("is_packed", [False, True])
def test_a_repository_may_disappear_while_a_snapshot_is_in_use(stored, is_packed):
    """Reading something new gives the right contents, or an error that names it."""
    if is_packed:
        stored.full.run("gc", "-q", "--prune=now")
    base, ours, theirs = stored.snapshots(stored.full.path)
    assert base.read("f.py") == LINES
    changes = ce.Changes.between(base, ours)
    shutil.rmtree(stored.full.path)

    assert base.read("f.py") == LINES
    assert changes["f.py"].id == ce.Entry(LINES + b"x\n").id
    if is_packed:  # an open pack can still be read
        outcome = ce.merge(base, changes, ce.Changes.between(base, theirs))
        assert outcome.changes["f.py"].data == b"x\n" + LINES + b"x\n"
    else:
        with pytest.raises(ce.errors.RepositoryError, match=r"f\.py are absent") as caught:
            ce.merge(base, changes, ce.Changes.between(base, theirs))
        assert caught.value.location == stored.full.path
    with pytest.raises(ce.errors.RepositoryError, match="cannot be opened"):
        ce.Snapshot.from_repo(stored.full.path, stored.commits["base"])


def test_a_patch_that_needs_an_absent_version_is_not_refused(git, tmp_path):
    """A full clone may have the version, so nobody can say that the patch does not apply."""
    both = Clones(git, tmp_path, changed("g.py"), changed("run.sh"))
    old = both.full.commit(both.full.tree(entries({"f.py": LINES})))
    new = both.full.commit(both.full.tree(entries({"f.py": LINES.replace(b"line 10\n", b"ten\n")})))
    patch = ce.Patch.parse(both.full.run("diff", "--full-index", old, new))
    moved = LINES.replace(b"line 8\n", b"eight\n")
    base = both.full.commit(both.full.tree(entries({"f.py": moved})), "main")
    both.full.run("update-ref", "refs/heads/main", base)
    url, partial = f"file://{both.full.path}", tmp_path / "later"
    both.full.run("clone", "-q", "--filter=blob:none", "-b", "main", url, str(partial))

    whole = ce.apply_patch(ce.Snapshot.from_repo(both.full.path, base), patch)
    with pytest.raises(ce.errors.RepositoryError, match="is absent; the clone is partial"):
        ce.apply_patch(ce.Snapshot.from_repo(partial, base), patch)

    assert whole.hunks[0].rung is ce.models.Rung.THREE_WAY


def test_a_clone_without_folders_says_so(git, tmp_path):
    """Otherwise it looks as if the branch were missing."""
    both = Clones(git, tmp_path, changed("f.py"), changed("g.py"))
    url, partial = f"file://{both.full.path}", tmp_path / "no-trees"
    both.full.run("clone", "-q", "--bare", "--filter=tree:0", url, str(partial))

    with pytest.raises(ce.errors.RepositoryError, match="the clone is partial"):
        ce.Snapshot.from_repo(partial, "ours")
