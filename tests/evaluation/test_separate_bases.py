"""Features that start from different commits: pairs, teams, landing plans, and their suites."""

import pickle
import sys

import pytest
from needs import need_program

import cooperbench_eval as ce
from cooperbench_eval.errors import ArgumentError, RepositoryError
from cooperbench_eval.evaluation.explaining.explain import explain
from cooperbench_eval.git.merging.merge_base import common_base, merge_base
from cooperbench_eval.git.trees.entries import Entry
from cooperbench_eval.git.trees.snapshot import Changes, Snapshot

LINES = b"".join(b"line %d\n" % number for number in range(12))


def edited(line, new):
    """Return the lines with another one in the place of a line."""
    return LINES.replace(b"line %d\n" % line, new)


@pytest.fixture
def repo(git, tmp_path):
    """Return a function that stores files as a commit, on parents; it returns the commit's id."""
    counted = iter(range(1000))

    def commit(files, *parents):
        tree = git.tree({path: Entry(data) for path, data in files.items()})
        options = [word for parent in parents for word in ("-p", parent)]
        return git.commit(tree, f"{tmp_path.name} {next(counted)}", *options)

    commit.path = git.path
    return commit


def at(repo, commit):
    """Return the tree of a commit."""
    return Snapshot.from_repo(repo.path, commit)


def feature(repo, number, start, files, **options):
    """Return a feature that starts from a commit and changes files."""
    changes = Changes({path: Entry(data) for path, data in files.items()})
    return ce.Feature(number=number, base=at(repo, start), patch=changes, **options)


def pair_of(*features, **options):
    """Return a pair of two features."""
    first, second = features
    return ce.FeaturePair(repo_name="r", task_id=0, feature1=first, feature2=second, **options)


def test_a_pair_has_the_merge_base_of_its_features(repo):
    """The base is the common ancestor; a feature that starts there has no base of its own."""
    old = repo({"f": LINES})
    new = repo({"f": edited(0, b"new\n")}, old)
    one = feature(repo, 1, new, {"f": edited(0, b"new\n").replace(b"line 9", b"one")})
    two = feature(repo, 2, old, {"f": edited(5, b"two\n")})

    pair = pair_of(one, two)

    assert (pair.base.commit_id, pair.feature2.base) == (old, None)
    assert pair.feature1.base.commit_id == new


def test_a_clean_pair_has_the_edits_of_both_and_of_the_newer_base(repo):
    """Merging keeps what happened between the bases."""
    old = repo({"f": LINES})
    new = repo({"f": edited(0, b"new\n")}, old)
    one = feature(repo, 1, new, {"f": edited(0, b"new\n").replace(b"line 9", b"one")})
    two = feature(repo, 2, old, {"f": edited(5, b"two\n")})

    report = ce.Evaluator(strategies=["naive"], runner=None).evaluate(pair_of(one, two))

    wanted = edited(0, b"new\n").replace(b"line 9", b"one").replace(b"line 5", b"two")
    assert report.attempt("naive").tree_id == Snapshot.from_files({"f": wanted}).tree_id
    assert report.base_commit == old
    assert (report.feature1.patch.base_commit, report.feature2.patch.base_commit) == (new, None)
    assert ce.MergeReport.from_json(report.to_json()) == report


def test_a_patch_is_placed_on_its_own_base(repo):
    """A patch whose context exists only in its own base applies exactly."""
    old = repo({"f": LINES})
    new = repo({"f": b"x\n" * 5 + LINES}, old)
    start, end = at(repo, new), Changes({"f": Entry(b"x\n" * 4 + b"y\n" + LINES)})
    one = ce.Feature(number=1, base=start, patch=end.diff(start))
    two = feature(repo, 2, old, {"g": b"two\n"})

    report = ce.Evaluator(strategies=["naive"], runner=None).evaluate(pair_of(one, two))

    assert [hunk.rung.value for hunk in report.feature1.patch.hunks] == ["exact"]
    assert report.merge_status == "clean"


def test_pairs_of_the_same_commits_share_their_base(repo):
    """What is cached with a base serves all pairs that have it."""
    old = repo({"f": LINES})
    sides = [repo({"f": edited(line, b"new\n")}, old) for line in (0, 9)]
    starts = [at(repo, side) for side in sides]
    one, two = (
        ce.Feature(number=n, base=start, patch=Changes({"g": Entry(b"%d\n" % n)}))
        for n, start in enumerate(starts)
    )

    assert pair_of(one, two).base is pair_of(one, two).base


def test_a_commit_can_be_named(repo):
    """A name is looked up in the repository of the other base."""
    old = repo({"f": LINES})
    new = repo({"f": edited(0, b"new\n")}, old)
    one = ce.Feature(number=1, base=new, patch=Changes({"g": Entry(b"one\n")}))
    two = ce.Feature(number=2, patch=Changes({"h": Entry(b"two\n")}))

    pair = pair_of(one, two, base=at(repo, old))

    assert (pair.feature1.base.commit_id, pair.base.commit_id) == (new, old)


def test_equal_bases_are_one_base(repo):
    """If all features start from one commit, the pair is an ordinary one."""
    old = repo({"f": LINES})
    pair = pair_of(
        feature(repo, 1, old, {"f": edited(0, b"1\n")}),
        feature(repo, 2, old, {"f": edited(9, b"2\n")}),
    )

    assert (pair.base.commit_id, pair.feature1.base, pair.feature2.base) == (old, None, None)


def test_a_name_needs_a_repository():
    """Without another base, nobody knows where the commit is."""
    named = ce.Feature(number=1, base="main", patch=b"")
    files = Snapshot.from_files({"f": b"1\n"})

    with pytest.raises(ArgumentError, match="base is needed, because the feature whose base is"):
        pair_of(named, ce.Feature(number=2, base="main", patch=b""))
    with pytest.raises(ArgumentError, match="'main', but no other base is a commit"):
        pair_of(named, ce.Feature(number=2, patch=b""), base=files)


def test_a_pair_without_any_base_is_refused():
    """The error names the feature that has no tree to start from."""
    with pytest.raises(ArgumentError, match="base is needed, because feature 1 has no tree"):
        pair_of(ce.Feature(number=1, patch=b""), ce.Feature(number=2, patch=b""))


def test_trees_that_are_not_commits_have_no_merge_base(repo):
    """Files in memory have no history, so they cannot be one of several bases."""
    one = feature(repo, 1, repo({"f": LINES}), {"f": b"1\n"})
    two = ce.Feature(number=2, base=Snapshot.from_files({"f": b"2\n"}), patch=b"")

    with pytest.raises(ArgumentError, match="must be a commit of a repository if features start"):
        pair_of(one, two)


def test_unrelated_histories_are_refused_by_name(repo):
    """The error names both commits."""
    first, second = repo({"f": LINES}), repo({"g": LINES})

    with pytest.raises(RepositoryError, match=f"no common ancestor of {first} and {second}"):
        common_base([at(repo, first), at(repo, second)])
    with pytest.raises(RepositoryError, match=f"no common ancestor of {first} and {second}"):
        merge_base(repo.path, first, second)


def test_a_shallow_clone_is_named_as_the_cause(git, repo, tmp_path):
    """Where the history is cut off, the error says so."""
    old = repo({"f": LINES})
    for name in ("one", "two"):
        git.run("update-ref", f"refs/heads/{name}", repo({"f": LINES, name: LINES}, old))
    git.run("clone", "-q", "--bare", "--depth=1", "--no-single-branch", f"file://{git.path}",
            str(tmp_path / "shallow"))  # fmt: skip

    with pytest.raises(RepositoryError, match="shallow clone: use a full one"):
        merge_base(tmp_path / "shallow", "one", "two")


def test_the_first_feature_of_a_team_brings_its_base(repo):
    """A team is merged like branches: each merge has the merge base of what is merged so far."""
    oldest = repo({"f": LINES})
    older = repo({"f": edited(0, b"older\n")}, oldest)
    new = repo({"f": edited(0, b"older\n").replace(b"line 11", b"new")}, older)
    team = ce.FeatureTeam(
        repo_name="r",
        task_id=0,
        features=[
            feature(repo, 1, new, {"g": b"1\n"}),
            feature(repo, 2, older, {"f": edited(0, b"two\n")}),
            feature(repo, 3, oldest, {"f": edited(6, b"three\n")}),
        ],
    )

    attempt = ce.Evaluator(strategies=["naive"], runner=None).evaluate_team(team).attempt("naive")

    merged = edited(0, b"two\n").replace(b"line 11", b"new").replace(b"line 6", b"three")
    assert team.base.commit_id == oldest
    assert attempt.landed == (1, 2, 3)
    assert attempt.tree_id == Snapshot.from_files({"f": merged, "g": b"1\n"}).tree_id


def test_a_plan_first_merges_an_older_patch_into_the_base(repo):
    """Later commits of main stay, and a patch that conflicts with them cannot land."""
    old = repo({"f": LINES})
    main = repo({"f": edited(0, b"main\n")}, old)
    patches = [
        feature(repo, 1, old, {"f": edited(0, b"one\n")}),
        feature(repo, 2, old, {"f": edited(6, b"two\n")}),
        feature(repo, 3, main, {"f": edited(0, b"main\n").replace(b"line 11", b"three")}),
        feature(repo, 4, old, {"f": edited(0, b"main\n")}),
    ]

    plan = ce.land(at(repo, main), patches, strategy="naive")

    wanted = edited(0, b"main\n").replace(b"line 6", b"two").replace(b"line 11", b"three")
    left_out = {each.number: (each.reason.value, each.files) for each in plan.left_out}
    assert sorted(plan.landed) == [2, 3]
    assert plan.tree_id == Snapshot.from_files({"f": wanted}).tree_id
    assert left_out == {1: ("conflict", ("f",)), 4: ("missing_input", ())}
    assert "feature 1 conflicts with the base in f" in str(plan.left_out[0])
    assert "the base has its changes already" in str(plan.left_out[1])


def test_a_plan_for_one_older_patch_keeps_what_the_base_has(repo):
    """The tree of a single patch is the merge of the base and the patch."""
    old = repo({"f": LINES})
    main = repo({"f": edited(0, b"main\n")}, old)

    plan = ce.land(at(repo, main), [feature(repo, 1, old, {"f": edited(6, b"one\n")})])

    wanted = edited(0, b"main\n").replace(b"line 6", b"one")
    assert plan.tree_id == Snapshot.from_files({"f": wanted}).tree_id


def test_commits_that_two_patches_share_are_not_merged_twice(repo):
    """If one of the patches undoes such a commit, it stays undone."""
    old = repo({"f": LINES})
    main = repo({"f": edited(11, b"main\n")}, old)
    shared = repo({"f": edited(0, b"shared\n")}, old)
    patches = [
        feature(repo, 1, shared, {"f": LINES, "g": b"1\n"}),
        feature(repo, 2, shared, {"f": edited(0, b"shared\n").replace(b"line 5", b"two")}),
    ]

    plan = ce.land(at(repo, main), patches, strategy="naive")

    wanted = edited(5, b"two\n").replace(b"line 11", b"main")
    assert sorted(plan.landed) == [1, 2]
    assert plan.tree_id == Snapshot.from_files({"f": wanted, "g": b"1\n"}).tree_id


def test_a_plan_leaves_out_a_patch_of_another_history(repo):
    """A patch whose base is unrelated is left out, and the others still land."""
    main = repo({"f": LINES})
    stray = feature(repo, 1, repo({"g": LINES}), {"g": b"1\n"})

    plan = ce.land(at(repo, main), [stray, feature(repo, 2, main, {"h": b"2\n"})])

    assert plan.landed == (2,)
    assert "no common ancestor" in plan.left_out[0].problem


SUITE = (sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider")
VALUE = b"def value():\n    return %d\n"
TEST = "import {0}\n\n\ndef test_{0}():\n    assert {0}.value() == {1}\n"


def suite(name, value):
    """Return a suite that adds a test of the value of one module."""
    test = Changes({f"test_{name}.py": Entry(TEST.format(name, value).encode())})
    return ce.TestSuite(command=SUITE, patch=test.diff(Snapshot.from_files({})), framework="pytest")


@pytest.fixture
def tested_pair(repo):
    """Return a pair of which feature 1 starts later, from a commit that breaks a test."""
    files = {"one.py": VALUE % 0, "two.py": VALUE % 0, "old.py": VALUE % 7}
    old = repo(files | {"test_old.py": TEST.format("old", 7).encode()})
    files |= {"old.py": VALUE % 8, "test_old.py": TEST.format("old", 7).encode()}
    new = repo(files, old)
    return pair_of(
        feature(repo, 1, new, {"one.py": VALUE % 1}, tests=suite("one", 1)),
        feature(repo, 2, old, {"two.py": VALUE % 2}, tests=suite("two", 2)),
    )


@pytest.fixture
def runner():
    """Return a runner that starts plain processes."""
    need_program("git")
    return ce.TestRunner(sandbox=ce.LocalSandbox())


def test_a_suite_is_compared_with_the_tree_from_which_its_feature_starts(tested_pair, runner):
    """A case that fails there already counts against nobody; the merge is judged by the rest."""
    report = ce.Evaluator(strategies=["naive"], runner=runner).evaluate(tested_pair)

    on_base = [each.base_tests for each in (report.feature1, report.feature2)]
    failed = [[case.id for case in run.cases if case.status == "failed"] for run in on_base]
    assert [len(each) for each in failed] == [2, 1]  # with test_old, and without it
    assert [each.judgement.broken for each in (report.feature1, report.feature2)] == [(), ()]
    assert report.preexisting_failures == tuple(each for each in failed[0] if "old" in each)


def test_the_commits_between_the_bases_can_be_to_blame(tested_pair, runner):
    """Feature 2's suite loses a test that the newer base breaks, and its hunk is found."""
    evaluator = ce.Evaluator(strategies=["naive"], runner=runner)
    report = evaluator.evaluate(tested_pair)

    explanation = explain(report, tested_pair, runner=runner, evaluator=evaluator)

    assert [hunk.path for hunk in explanation.feature1_hunks] == ["old.py"]
    assert explanation.feature2_hunks == ()


def test_a_pair_survives_pickling_and_has_a_key_of_its_own(tested_pair, tmp_path):
    """Reports are stored under keys in which the features' bases count."""
    evaluator = ce.Evaluator(strategies=["naive"], runner=None)
    moved = pair_of(
        *(
            ce.Feature(number=each.number, patch=each.patch, base=tested_pair.base)
            for each in tested_pair.features
        )
    )
    pairs = [pickle.loads(pickle.dumps(tested_pair)), moved]  # noqa: S301 - our own data

    reports = list(ce.evaluate_many(pairs, evaluator=evaluator, store=tmp_path))

    assert {each.feature1.patch.base_commit for each in reports} == {
        tested_pair.feature1.base.commit_id,
        None,
    }
    assert len(list(ce.ReportStore(tmp_path))) == 2


@pytest.mark.parametrize("place", ["old", "new"])
def test_an_audit_has_the_work_of_features_that_start_elsewhere(repo, place):
    """Their branches are read on the given base, whichever of the two commits it is."""
    old = repo({"f": LINES})
    new = repo({"f": edited(0, b"new\n")}, old)
    one = feature(repo, 1, new, {"f": edited(0, b"new\n").replace(b"line 9", b"one")})
    two = feature(repo, 2, old, {"f": edited(5, b"two\n")})
    base = at(repo, {"old": old, "new": new}[place])
    whole = edited(0, b"new\n").replace(b"line 9", b"one").replace(b"line 5", b"two")
    merged, lacking = (
        Snapshot.from_files({"f": each}) for each in (whole, whole.replace(b"two", b"line 5"))
    )

    report = ce.audit(base, [one, two], merged)
    lost = ce.audit(base, [one, two], lacking, strategies=[])
    origins = ce.provenance(base, [one, two], merged)

    assert report.is_complete
    assert [each.is_equal for each in report.comparisons] == [True, True, True]
    assert [(each.feature, each.path) for each in lost.lost_files] == [(2, "f")]
    assert str(origins.origin_of("f", 6)) == "feature 2"
    assert str(origins.origin_of("f", 1)) == {"old": "feature 1", "new": "base"}[place]


def test_an_audit_names_a_feature_that_conflicts_with_the_base(repo):
    """It says in which files, as for a patch that does not apply."""
    old = repo({"f": LINES})
    new = repo({"f": edited(5, b"new\n")}, old)
    two = feature(repo, 2, old, {"f": edited(5, b"two\n")})

    found = ce.audit(at(repo, new), [two], at(repo, new))

    assert found.features == (2,)
    assert [each.number for each in found.rejected] == [2]
    assert "conflicts with the base in f" in found.problem


def test_patches_that_start_from_one_later_commit_land_together(repo):
    """Each merge has a base of its own, and the result is the tree on the given one."""
    old = repo({"f": LINES, "g": b"old\n"})
    new = repo({"f": LINES, "g": b"new\n"}, old)
    one, two = (
        feature(repo, number, new, {"f": edited(line, b"edited\n")})
        for number, line in ((1, 2), (2, 11))
    )
    three = feature(repo, 3, old, {"f": edited(7, b"edited\n")})
    base = at(repo, old)

    plan = ce.land(base, [one, two, three], strategy="naive")

    wanted = LINES
    for line in (2, 7, 11):
        wanted = wanted.replace(b"line %d\n" % line, b"edited\n")
    merged = base.overlay(plan.changes)
    assert plan.landed == (1, 2, 3)
    assert plan.tree_id == merged.tree_id
    assert (merged.read("f"), merged.read("g")) == (wanted, b"new\n")
