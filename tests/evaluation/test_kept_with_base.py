"""What is computed from a base for one call is kept for the next, within bounds."""

import gc
import tracemalloc
from concurrent.futures import ThreadPoolExecutor

import pytest

import cooperbench_eval as ce
from cooperbench_eval.git.merging import histogram
from cooperbench_eval.git.patching import apply
from cooperbench_eval.git.trees.snapshot import cache_of

TEXT = b"".join(b"line %d\n" % number for number in range(60))
FIRST, LAST = TEXT.replace(b"line 1\n", b"one\n"), TEXT.replace(b"line 58\n", b"fifty-eight\n")
PARTIAL = ce.ApplyPolicy(rungs=[ce.models.Rung.EXACT], partial=True)


def side(text):
    """Return changes that give the file this text."""
    return ce.Changes({"f": ce.Entry(text)})


@pytest.fixture
def base():
    """A base that no other test has used."""
    return ce.Snapshot.from_files({"f": TEXT, "other": b"1\n"})


@pytest.fixture
def diffs(monkeypatch):
    """Return a list that records the texts whose lines are compared."""
    compared = []
    compare = histogram.mark_changes

    def counted(a, b, *more):
        compared.append((b"".join(a), b"".join(b)))
        return compare(a, b, *more)

    monkeypatch.setattr(histogram, "mark_changes", counted)
    return compared


def callers_of(base):
    """Return the public calls that merge two sides; both sides change the same file."""
    first, last = (side(text).diff(base) for text in (FIRST, LAST))
    features = [ce.Feature(number=n, patch=patch) for n, patch in enumerate((first, last), 1)]
    pair = ce.FeaturePair(
        repo_name="r", task_id=1, base=base, feature1=features[0], feature2=features[1]
    )
    team = ce.FeatureTeam(repo_name="r", task_id=1, base=base, features=features)
    return {
        "merge": lambda: ce.merge(base, side(FIRST), side(LAST)),
        "union": lambda: ce.merge(base, side(LAST), side(FIRST), strategy="union"),
        "evaluate": lambda: ce.Evaluator(strategies=["naive"]).evaluate(pair),
        "evaluate_team": lambda: ce.Evaluator(strategies=["naive"]).evaluate_team(team),
        "land": lambda: ce.land(base, [first, last], strategy="naive"),
    }


@pytest.mark.parametrize("earlier", ["merge", "evaluate"])
@pytest.mark.parametrize("later", ["merge", "union", "evaluate", "evaluate_team", "land"])
def test_line_diffs_are_shared_by_all_calls(base, diffs, earlier, later):
    """A side that was compared with the base once is not compared again by any call."""
    calls = callers_of(base)
    calls[earlier]()
    assert {(TEXT, FIRST), (TEXT, LAST)} <= set(diffs)
    diffs.clear()

    calls[later]()

    assert not {(TEXT, FIRST), (TEXT, LAST)} & set(diffs)


def test_another_base_has_its_own_diffs(base, diffs):
    """Diffs are cached with one base only."""
    ce.merge(base, side(FIRST), side(LAST))
    diffs.clear()

    ce.merge(ce.Snapshot.from_files({"f": TEXT}), side(FIRST), side(LAST))

    assert sorted(diffs) == sorted([(TEXT, FIRST), (TEXT, LAST)])


def test_what_is_kept_does_not_change_a_merge(base):
    """The outcome is the same as with a new base, with conflicts and without."""
    texts = [FIRST, LAST, TEXT.replace(b"line 1\n", b"eins\n"), TEXT + b"end\n", b"", b"\0"]
    for _ in range(2):
        for ours in texts:
            for theirs in texts:
                fresh = ce.Snapshot.from_files({"f": TEXT, "other": b"1\n"})
                expected = ce.merge(fresh, side(ours), side(theirs))

                assert ce.merge(base, side(ours), side(theirs)) == expected


# --- patches ---


@pytest.fixture
def placed(monkeypatch):
    """Return a list that records the patches that are placed."""
    patches = []
    place = apply._apply

    def counted(base, patch, policy):
        patches.append(patch)
        return place(base, patch, policy)

    monkeypatch.setattr(apply, "_apply", counted)
    return patches


def test_a_patch_is_placed_once(base, placed):
    """This holds even if it is parsed again, and the result is equal."""
    data = side(FIRST).diff(base)

    results = [ce.apply_patch(base, ce.Patch.parse(data)) for _ in range(3)]

    assert len(placed) == 1
    assert results[0] == results[1] == results[2]
    assert results[0].changes["f"].data == FIRST


def test_a_refusal_is_kept_too(base, placed):
    """A refusal takes longest, because every rung is tried."""
    patch = ce.Patch.parse("--- a/f\n+++ b/f\n@@ -1 +1 @@\n-not there\n+new\n")

    first = ce.apply_patch(base, patch)
    tried = len(placed)
    second = ce.apply_patch(base, patch)

    assert first == second
    assert (first.status, len(placed)) == (ce.PatchStatus.FAILED, tried)


def test_the_policy_and_the_base_matter(base):
    """A result is not reused under another policy or on another base."""
    patch = ce.Patch.parse(side(FIRST).diff(base) + side(b"x").diff(base).replace(b"f", b"g"))
    other = ce.Snapshot.from_files({"f": b"other\n"})

    for _ in range(2):
        strict = ce.apply_patch(base, patch)
        partial = ce.apply_patch(base, patch, PARTIAL)
        elsewhere = ce.apply_patch(other, patch, PARTIAL)

        assert strict.status is ce.PatchStatus.FAILED
        assert (partial.status, list(partial.changes)) == (ce.PatchStatus.PARTIAL, ["f"])
        assert elsewhere.status is ce.PatchStatus.FAILED


def test_patches_that_need_much_memory_are_not_kept(base, monkeypatch):
    """Other results are kept up to a limit."""
    monkeypatch.setattr(apply, "_KEPT_BYTES", 20_000)
    patches = [ce.Patch.parse(side(TEXT + b"%d\n" % n).diff(base)) for n in range(50)]
    large = ce.Patch.parse(side(TEXT + b"x" * 20_000).diff(base))

    for patch in (*patches, large):
        assert ce.apply_patch(base, patch) == ce.apply_patch(base, patch)

    kept = cache_of(base, apply._placed_patches)
    assert 0 < len(kept) < 50
    assert kept.get((patches[-1], ce.ApplyPolicy())) is not None
    assert kept.get((large, ce.ApplyPolicy())) is None


def test_threads_may_share_a_base(base):
    """Several threads get the same results as one."""
    calls = callers_of(base)
    texts = [TEXT.replace(b"line %d\n" % n, b"new %d\n" % n) for n in range(0, 60, 3)]

    def work(n):
        theirs = ce.apply_patch(base, ce.Patch.parse(side(texts[n]).diff(base))).changes
        return ce.merge(base, side(FIRST), theirs), calls["land"]().order

    with ThreadPoolExecutor(4) as pool:
        found = list(pool.map(work, list(range(20)) * 3))

    assert found == [work(n) for n in range(20)] * 3


# --- memory ---


def use(calls, start=0):
    """Make many different calls: new bases, new patches, new sides, names of strategies."""
    base = None
    for number in range(start, start + calls):
        if base is None or number % 20 == 0:
            base = ce.Snapshot.from_files({"f": TEXT + b"%d\n" % number})
        old = base.read("f")
        ours = side(old.replace(b"line 1\n", b"ours %d\n" % number))
        patch = side(old.replace(b"line 58\n", b"theirs %d\n" % number)).diff(base)
        theirs = ce.apply_patch(base, ce.Patch.parse(patch)).changes
        ce.merge(base, ours, theirs, strategy="union")


@pytest.mark.long
def test_many_calls_hold_no_more_memory_than_a_few():
    """The caches of a base end with it, and nothing else grows with each call."""
    use(300)  # what is imported on first use is no cache
    tracemalloc.start()
    use(1200, 300)
    gc.collect()
    held, _ = tracemalloc.get_traced_memory()
    tracemalloc.stop()

    assert held < 100 * 1200
