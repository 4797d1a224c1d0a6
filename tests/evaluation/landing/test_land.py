"""Landing plans, compared with every order of every set of patches."""

import random
from itertools import permutations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from landing_material import (
    BASE,
    PATCHES,
    brute_force,
    fold,
    minimal,
    overlays,
    suite,
    trees,
    usable,
)

import cooperbench_eval as ce
from cooperbench_eval.errors import ArgumentError
from cooperbench_eval.evaluation import sides as sides_of_merges
from cooperbench_eval.evaluation.landing import land as planning
from cooperbench_eval.evaluation.landing import mergeable, merger
from cooperbench_eval.evaluation.landing.mergeable import components
from cooperbench_eval.evaluation.sides import Side

# --- merges only ---


@pytest.mark.parametrize("strategy", ["naive", "tokens", "union"])
@settings(max_examples=8)
@given(patches=PATCHES)
def test_a_plan_is_what_trying_everything_finds(strategy, patches):
    """The largest set, its tree, the pairs, the minimal conflicts and the order's effects."""
    changes = usable(patches)
    truth = brute_force(changes, strategy)

    plan = ce.land(BASE, patches, strategy=strategy)

    largest = max((len(each) for each, orders in truth.items() if trees(orders)), default=0)
    assert plan.is_exact
    assert len(plan.landed) == largest
    assert plan.numbers == tuple(range(1, len(patches) + 1))
    if plan.order:
        assert plan.tree_id == fold(changes, plan.order, strategy)
        assert plan.changes.tree_id(BASE) == plan.tree_id
    for pair, outcome in plan.pairs.items():
        lands = fold(changes, pair, strategy) is not None
        assert outcome in ({"clean", "resolved"} if lands else {"conflict"})
    cannot = {each for each, orders in truth.items() if not trees(orders)}
    matters = {
        each for each, orders in truth.items() if each not in cannot and len({*orders.values()}) > 1
    }
    within = plan.examined_size
    assert [each for each in plan.minimal_conflicts if len(each) <= within] == sorted(
        (each for each in minimal(cannot) if len(each) <= within), key=lambda x: (len(x), x)
    )
    listed = [each.patches for each in plan.order_dependent]
    assert listed == sorted(listed, key=lambda each: (len(each), each))
    assert {each for each in listed if len(each) <= within} == {
        tuple(sorted(each)) for each in matters if len(each) <= within
    }
    for each in plan.order_dependent:
        orders = truth[frozenset(each.patches)]
        assert orders[each.lands] is not None
        assert each.trees == len(trees(orders))
        assert bool(each.fails) == (None in orders.values())
        assert not each.fails or orders[each.fails] is None


@settings(max_examples=15)
@given(patches=PATCHES, more=overlays())
def test_another_patch_never_makes_the_landed_set_smaller(patches, more):
    """A set that lands still lands if one more patch is there to choose from."""
    before, after = (ce.land(BASE, each, strategy="naive") for each in (patches, [*patches, more]))

    assert before.is_exact
    assert after.is_exact
    assert len(after.landed) >= len(before.landed)


@settings(max_examples=15)
@given(patches=PATCHES, seed=st.integers(0, 99))
def test_only_one_order_counts_if_it_is_given(patches, seed):
    """The largest set that lands with its patches in this order."""
    changes = usable(patches)
    order = [*range(1, len(patches) + 1)]
    random.Random(seed).shuffle(order)  # noqa: S311 - not for secrets
    kept = [number for number in order if changes.get(number)]
    firsts = {}
    for number in order:
        tree = patches[number - 1].tree_id(BASE)
        if tree != BASE.tree_id:
            firsts.setdefault(tree, number)
    kept = list(firsts.values())
    all_changes = dict(enumerate(patches, 1))
    truth = brute_force(
        {number: all_changes[number] for number in kept}, "naive", lambda each: [each]
    )

    plan = ce.land(BASE, patches, strategy="naive", order=order)

    assert plan.is_exact
    assert [order.index(number) for number in plan.order] == sorted(map(order.index, plan.order))
    assert len(plan.order) == max(
        (len(s) for s, orders in truth.items() if trees(orders)), default=0
    )


@given(patches=st.lists(overlays(most_files=1), min_size=2, max_size=4))
def test_patches_of_different_groups_do_not_affect_each_other(patches):
    """Every order of patches of which no two are in one group gives the same clean tree."""
    changes = usable(patches)
    chosen = [group[0] for group in components(BASE, changes)]
    union = {path: entry for number in chosen for path, entry in changes[number].items()}

    for order in permutations(chosen) if chosen else ():
        assert fold(changes, order, "naive") == ce.Changes(union).tree_id(BASE)


# --- what is given ---

A2, A3, B2 = (
    ce.Changes({path: ce.Entry(data)})
    for path, data in (("a", b"2\n"), ("a", b"3\n"), ("b", b"2\n"))
)


def test_patches_may_be_given_in_any_form():
    """Bytes, text, a Patch, Changes, and a Feature with a number of its own."""
    diff = A2.diff(BASE)
    feature = ce.Feature(number=7, patch=B2.diff(BASE))
    patches = [diff, diff.decode(), ce.Patch.parse(diff), A3, feature]

    plan = ce.land(BASE, patches, strategy="naive")

    assert plan.numbers == (1, 2, 3, 4, 7)
    assert plan.landed == (1, 7)
    assert plan.diff(BASE) == ce.Changes({**A2, **B2}).diff(BASE)
    assert [(each.number, each.reason, each.features) for each in plan.left_out] == [
        (2, "duplicate", (1,)),
        (3, "duplicate", (1,)),
        (4, "conflict", (1,)),
    ]
    assert plan.left_out[2].files == ("a",)


def test_patches_may_be_files_texts_and_changes(tmp_path):
    """All forms of a patch land alike, alone and in a feature."""
    text = B2.diff(BASE)
    (tmp_path / "x.patch").write_bytes(text)
    given = [tmp_path / "x.patch", text, text.decode(), ce.Patch.parse(text), B2]

    plans = [
        ce.land(BASE, [A2, form], strategy="naive")
        for each in given
        for form in (each, ce.Feature(number=9, patch=each))
    ]

    assert len({plan.tree_id for plan in plans}) == 1
    assert all(len(plan.landed) == 2 for plan in plans)
    with pytest.raises(ArgumentError, match=r"^patches\[1\] is not a diff: 'x.patch'"):
        ce.land(BASE, [A2, "x.patch"])


def test_a_patch_that_does_not_apply_is_left_out_with_the_reason():
    """Neither text that is not a patch nor a hunk without a place stops the others."""
    misplaced = b"--- a/a\n+++ b/a\n@@ -1 +1 @@\n-absent\n+new\n"

    plan = ce.land(BASE, [b"not a patch", misplaced, b"", B2, ce.Changes()], strategy="naive")

    assert plan.landed == (4,)
    assert plan.is_exact
    assert [(each.number, each.reason) for each in plan.left_out] == [
        (number, "missing_input") for number in (1, 2, 3, 5)
    ]
    assert all(each.problem for each in plan.left_out)


def test_no_patch_at_all_may_be_usable():
    """The plan then lands nothing and changes nothing."""
    plan = ce.land(BASE, [b"not a patch"])

    assert (plan.order, plan.landed, plan.tree_id) == ((), (), BASE.tree_id)
    assert plan.diff(BASE) == b""
    assert plan.is_exact


@pytest.mark.parametrize(
    ("arguments", "error", "problem"),
    [
        ({"patches": []}, ValueError, "patches is empty"),
        ({"patches": b"diff"}, TypeError, "patches must be Iterable"),
        ({"patches": [B2, 3]}, TypeError, "patches must be .*, but item 1 is int: 3"),
        ({"patches": [A2, ce.Feature(number=1, patch=b"")]}, ValueError, "the number 1"),
        ({"patches": [ce.Feature(number=4, patch=b"")] * 2}, ValueError, "the number 4"),
        ({"order": "random"}, ValueError, "order must be .*, not str: 'random'"),
        ({"order": [1]}, ValueError, "order lacks 2"),
        ({"order": [1, 2, 5]}, ValueError, "order has 5"),
        ({"order": [1, 2, 1]}, ValueError, "order has 1 more than once"),
        ({"budget": -1}, ValueError, "budget must be 0 runs or more, not -1"),
        ({"budget": 1.5}, TypeError, "float"),
        ({"strategy": "absent"}, ce.errors.UnknownStrategyError, "absent"),
        ({"suites": {3: suite("x")}}, ValueError, "not given: 3"),
        (
            {"suites": {1: "pytest"}},
            TypeError,
            "suites must be .*, but the value of 1 is str: 'pytest'",
        ),
        (
            {
                "patches": [ce.Feature(number=1, patch=b"", tests=suite("x"))],
                "suites": {1: suite("y")},
            },
            ValueError,
            "suites has tests for feature 1, which already has tests",
        ),
    ],
)
def test_bad_input_is_refused_by_name(arguments, error, problem):
    """The message says which value is wrong."""
    with pytest.raises(error, match=problem):
        ce.land(BASE, **{"patches": [A2, B2]} | arguments)


class Fails:
    """Resolves conflicts with ours, but raises at the second one it meets."""

    name = "fails"

    def __init__(self):
        self.met = 0

    def merge(self, merge_input):
        self.met += bool(merge_input.conflicts)
        if merge_input.conflicts and self.met == 2:
            raise RuntimeError("no more")
        return ce.resolve_conflicts(merge_input, lambda conflict: conflict.ours)


def test_a_strategy_that_raises_fails_in_one_merge_only():
    """The merge counts as not complete, and the search goes on."""
    strategy = Fails()

    plan = ce.land(BASE, [A2, A3, B2], strategy=strategy)

    assert strategy.met == 2
    assert plan.landed == (1, 2, 3)
    assert sorted(plan.pairs[pair] for pair in ((1, 2), (2, 1))) == ["conflict", "resolved"]


def test_a_patch_is_left_out_if_the_strategy_fails_at_it():
    """The reason is the strategy's, with its message."""

    class Raises:
        name = "raises"

        def merge(self, merge_input):
            if merge_input.conflicts:
                raise RuntimeError("cannot")
            return ce.get_strategy("naive").merge(merge_input)

    (left_out,) = ce.land(BASE, [A2, A3], strategy=Raises()).left_out

    assert (left_out.reason, left_out.features) == ("strategy_failed", (1,))
    assert "cannot" in left_out.problem


def test_a_strategy_that_looks_at_other_files_makes_no_plan_exact():
    """Groups were searched on their own; what does not merge with the others is left out."""

    class OneFile:
        name = "one-file"

        def merge(self, merge_input):
            if "b" in merge_input.ours or "b" in merge_input.theirs:
                raise RuntimeError("not b")
            return ce.get_strategy("naive").merge(merge_input)

    plan = ce.land(BASE, [A2, B2], strategy=OneFile())

    assert (plan.landed, plan.is_exact) == ((1,), False)
    assert plan.left_out[0].reason == "strategy_failed"


def test_nothing_is_lost_if_the_base_disappears(tmp_path, monkeypatch):
    """What was merged until then is the plan, which says what happened."""
    calls = []
    merge = ce.get_strategy("naive").merge

    class Disappears:
        name = "disappears"

        def merge(self, merge_input):
            return merge(merge_input)

    def merge_input(*arguments):
        calls.append(arguments)
        if len(calls) > allowed:
            raise ce.errors.RepositoryError("repo", "has disappeared")
        return original(*arguments)

    original = sides_of_merges.merge_input
    monkeypatch.setattr(sides_of_merges, "merge_input", merge_input)
    patches = [A2, ce.Changes({"b": ce.Entry(b"3\n"), "a": A2["a"]}), A3, B2]

    allowed = 1
    plan = ce.land(BASE, patches, strategy=Disappears())

    assert len(plan.landed) == 2
    assert not plan.is_exact
    assert "has disappeared" in plan.problem
    assert {each.reason.value for each in plan.left_out} == {"not_examined"}

    allowed, calls = 0, []
    with pytest.raises(ce.errors.RepositoryError, match="has disappeared"):
        ce.land(BASE, patches, strategy=Disappears())


def test_trees_that_are_not_kept_are_made_again(monkeypatch):
    """The plan is the same if hardly any contents of trees are kept in memory."""
    patches = [
        ce.Changes({"a": ce.Entry(BASE.read("a").replace(word, b"new " + word))})
        for word in (b"one", b"three", b"five", b"seven", b"eight")
    ]
    whole = ce.land(BASE, patches, strategy="union")

    monkeypatch.setattr(merger, "_MOST_BYTES", 1)

    assert ce.land(BASE, patches, strategy="union") == whole


def test_test_files_land_unless_they_are_filtered_out():
    """A pull request brings its own tests; an agent's tests may be dropped."""
    tests = {"test_it.py": ce.Entry(b"def test():\n    pass\n")}
    patches = [ce.Changes({**B2, **tests}).diff(BASE), ce.Changes(tests).diff(BASE)]

    kept = ce.land(BASE, patches[:1])
    filtered = ce.land(BASE, patches, test_filter=ce.patching.TestFileFilter())

    assert set(kept.changes) == {"b", "test_it.py"}
    assert set(filtered.changes) == {"b"}
    assert [(each.number, each.problem) for each in filtered.left_out] == [
        (2, "it contains only test files, which were dropped")
    ]


def test_resolvers_are_bounded_but_still_fold_promising_orders(monkeypatch):
    """With hardly any work allowed, the folds that follow the matrix are still done."""
    calls = []
    merge_sides = sides_of_merges.merge_sides
    monkeypatch.setattr(
        sides_of_merges, "merge_sides", lambda *given: calls.append(1) or merge_sides(*given)
    )
    monkeypatch.setattr(planning, "_MOST_WORK", 100)
    starts = [*[b"one\n"] * 12, *[b"five\n"] * 4]
    patches = [
        ce.Changes({"a": ce.Entry(BASE.read("a").replace(start, b"%d\n" % number))})
        for number, start in enumerate(starts)
    ]

    plan = ce.land(BASE, patches, strategy="tokens")

    assert not plan.is_exact
    assert len(plan.landed) == 2
    assert "not_examined" in set(plan.pairs.values())
    assert len(calls) < 300


NEW_A = ce.Entry(BASE.read("a").replace(b"four", b"4"))


@pytest.mark.parametrize(
    "patches",
    [
        # What one removes and another adds is a renamed file, which the third one edits.
        [{"a": None}, {"moved": ce.Entry(BASE.read("a"))}, {"a": NEW_A}],
        # A file in the place of a folder, whose file another one edits.
        [{"d": ce.Entry(b"a file\n")}, {"d/c": ce.Entry(b"x = 2\n")}],
        # The same, the other way round.
        [{"a/b": ce.Entry(b"\n")}, {"a": NEW_A}],
        # A file that is added in the place of a folder removes the folder's files.
        [{"d": ce.Entry(BASE.read("a"))}, {"e": ce.Entry(BASE.read("d/c"))}],
        [{"a": NEW_A}, {"a": ce.Entry(b"\n"), "b": ce.Entry(b"\n")}, {"b": ce.Entry(b"2\n")}],
    ],
)
def test_patches_that_may_affect_each_other_are_in_one_group(patches):
    """Through a path, through a rename that git may find, or through a folder."""
    changes = {number: ce.Changes(entries) for number, entries in enumerate(patches, 1)}

    assert components(BASE, changes) == [tuple(changes)]


def test_patches_that_only_add_or_edit_different_files_are_in_groups_of_their_own():
    """Without a removal, nothing can be a rename."""
    patches = {1: A2, 2: B2, 3: ce.Changes({"e": ce.Entry(BASE.read("a"))})}

    assert components(BASE, patches) == [(1,), (2,), (3,)]


def test_a_given_order_is_kept_even_if_another_one_lands_more():
    """A strategy that only merges smaller numbers into larger ones lands 3, 2, 1."""

    class Descending:
        name = "descending"

        def merge(self, merge_input):
            if merge_input.theirs_feature.number > merge_input.ours_features[-1].number:
                raise RuntimeError("ascending")
            return ce.resolve_conflicts(merge_input, lambda conflict: conflict.ours)

    patches = [ce.Changes({"a": ce.Entry(b"%d\n" % number)}) for number in (7, 8, 9)]
    strategy = Descending()

    searched = ce.land(BASE, patches, strategy=strategy)
    given = ce.land(BASE, patches, strategy=strategy, order="given")
    chosen = ce.land(BASE, patches, strategy=strategy, order=[1, 3, 2])

    assert searched.order == (3, 2, 1)
    assert given.order == (1,)
    assert chosen.order == (3, 2)
    assert searched.is_exact
    assert given.is_exact
    assert chosen.is_exact
    assert [(each.number, each.features) for each in chosen.left_out] == [(1, (3,))]
    assert chosen.pairs[3, 2] == "resolved"
    assert chosen.pairs[2, 3] == "not_examined"


def test_promising_orders_are_folded_even_if_the_matrix_is_cut_short(monkeypatch):
    """The first patch conflicts with all others, which land together."""
    monkeypatch.setattr(planning, "_MOST_WORK", 1)
    monkeypatch.setattr(mergeable, "_FOLDS", 1)
    others = [
        BASE.read("a").replace(word, b"new") for word in (b"one", b"three", b"five", b"seven")
    ]
    patches = [ce.Changes({"a": ce.Entry(text)}) for text in (b"other\n", *others)]

    plan = ce.land(BASE, patches, strategy="tokens")

    assert (plan.landed, plan.is_exact) == ((2, 3, 4, 5), False)


def test_a_patch_may_have_the_number_zero():
    """Zero is a number like any other."""
    changes = ce.Changes({"new": ce.Entry(b"1\n")})
    features = [ce.Feature(number=number, patch=changes.diff(BASE)) for number in (0, 1)]

    plan = ce.land(BASE, features, strategy="naive")

    assert plan.landed == (0,)
    assert plan.left_out[0].reason is ce.reporting.LeftOutReason.DUPLICATE
    assert plan.left_out[0].features == (0,)


# --- conflicts between a file and a folder ---

CLASH_BASE = ce.Snapshot.from_files({"a": b"1\n"})
FILE, FOLDER = {"n": ce.Entry(b"n\n")}, {"n/y": ce.Entry(b"y\n")}
MOVES = {"a": None, "zz": ce.Entry(b"z\n")}  # it could be a rename, so all are in one group


def attempt_at(patches, strategy):
    """Return a strategy's attempt at a team of these patches."""
    features = [
        ce.Feature(number=number, patch=ce.Changes(each).diff(CLASH_BASE))
        for number, each in enumerate(patches, 1)
    ]
    team = ce.FeatureTeam(repo_name="r", task_id=0, base=CLASH_BASE, features=features)
    return ce.Evaluator(strategies=[strategy]).evaluate_team(team).attempts[0]


def reasons_for(*patches):
    """Return what a plan and a team say about the patches that do not land."""
    plan = ce.land(CLASH_BASE, map(ce.Changes, patches), strategy="naive", order="given")
    return [
        [(each.number, each.features, each.files) for each in found.left_out]
        for found in (plan, attempt_at(patches, "naive"))
    ]


@pytest.mark.parametrize("last_two", [(FILE, FOLDER), (FOLDER, FILE)])
def test_the_partner_of_a_file_and_a_folder_is_found(last_two):
    """Merging names the file after its side, whose name depends on what landed before."""
    assert reasons_for(MOVES, *last_two) == [[(3, (2,), ("n",))]] * 2


def test_a_ledger_names_the_features_of_a_file_and_a_folder():
    """As the reasons do; the first feature has neither of them."""
    (row,) = attempt_at((MOVES, FILE, FOLDER), "structured").steps[-1].ledger

    assert (row.path, row.features) == ("n~feature1+feature2", (2, 3))


def test_a_partner_is_found_if_the_new_name_of_the_file_is_taken():
    """Merging adds a number to the name."""
    taken = MOVES | {"n~feature1+feature2": ce.Entry(b"\n"), "n~feature2": ce.Entry(b"\n")}

    assert reasons_for(taken, FILE, FOLDER) == [[(3, (2,), ("n",))]] * 2


def test_a_file_that_is_named_like_a_side_keeps_its_name():
    """Only what merging adds to a name is not part of it."""
    one, other = ({"n~feature1": ce.Entry(text)} for text in (b"1\n", b"2\n"))

    assert reasons_for(one, other) == [[(2, (1,), ("n~feature1",))]] * 2


def test_both_new_names_of_a_renamed_file_are_listed():
    """As `git merge-tree` lists them: the old name and the two new ones."""
    renames = [{"a": None, name: ce.Entry(b"1\n")} for name in ("r1", "r2")]

    assert reasons_for(*renames) == [[(2, (1,), ("a", "r1", "r2"))]] * 2


@pytest.mark.parametrize(("is_naive", "expected"), [(True, 1), (False, 100)])
def test_only_the_strategies_of_this_library_are_known_to_be_fast(is_naive, expected):
    """Another strategy may have the same name."""

    class SlowStrategy:
        name = "naive"

        def merge(self, merge_input):
            return ce.get_strategy("naive").merge(merge_input)

    strategy = ce.get_strategy("naive") if is_naive else SlowStrategy()
    sides = {
        number: Side.of(ce.Feature(number=number, patch=b""), changes)
        for number, changes in ((1, A2), (2, A3))
    }
    work = merger.PatchMerger(BASE, sides, strategy, 1000)

    work.merge(work.first(1), 2)

    assert work.used == expected


def test_the_order_is_examined_even_if_all_patches_land():
    """Two insertions at one place conflict in git, unless the line beside them changed before."""
    text = b"def echo(text):\n    print(text)\n\n\nVERSION = 8\n"
    base = ce.Snapshot.from_files({"f.py": text})
    edits = [
        (b"VERSION", b"def shout(text):\n    echo(text.upper())\n\n\nVERSION"),
        (b"VERSION", b"def twice(text):\n    echo(2 * text)\n\n\nVERSION"),
        (b"print(text)", b"print(text, flush=True)"),
    ]
    patches = [ce.Changes({"f.py": ce.Entry(text.replace(*edit))}) for edit in edits]

    plan = ce.land(base, patches, strategy="naive")

    assert (plan.landed, plan.is_exact) == ((1, 2, 3), True)
    assert plan.minimal_conflicts == ((1, 2),)
    (dependence,) = plan.order_dependent
    assert dependence.patches == (1, 2, 3)
    assert dependence.fails[:2] in {(1, 2), (2, 1)}
    assert plan.examined_size == 3
