"""A plug-in's input, its possible answers, and its failures."""

import inspect
import json

import attrs
import pytest
from generators import three_way_texts
from hypothesis import given

import cooperbench_eval as ce
from cooperbench_eval.git.trees.entries import FileMode

BASE = ce.Snapshot.from_files({"f": b"a\n1\nb\n", "g": b"1\n", "clean": b"1\n"})
OURS = ce.Changes({"f": ce.Entry(b"a\n2\nb\n"), "g": ce.Entry(b"2\n")})
THEIRS = ce.Changes({"f": ce.Entry(b"a\n3\nb\n"), "g": None, "clean": ce.Entry(b"2\n")})


class Plugin:
    """A strategy made of a function, as a plug-in author might write it."""

    def __init__(self, function, name="plugin"):
        """Take the function that `merge` calls."""
        self.name = name
        self.function = function

    def merge(self, merge_input, /):
        """Call the function."""
        return self.function(merge_input)


def merge_with(function):
    """Merge the two sides above with a plug-in that calls *function*."""
    return ce.merge(BASE, OURS, THEIRS, strategy=Plugin(function))


# --- what a strategy sees -----------------------------------------------------------


def test_a_strategy_sees_base_sides_and_the_finished_merge():
    """It also sees the open conflicts, which it can answer."""
    seen = []

    merge_with(lambda given: seen.append(given) or ce.MergeOutcome(changes=given.merge.changes))

    (given,) = seen
    assert (given.base, given.ours, given.theirs) == (BASE, OURS, THEIRS)
    assert given.conflicts == given.merge.conflicts
    assert [(each.path, each.kind.value) for each in given.conflicts] == [
        ("f", "content"),
        ("g", "modify/delete"),
    ]
    assert given.ours_feature is given.theirs_feature is None


def test_a_strategy_never_sees_tests():
    """Neither its input nor the feature's context has a field for them."""
    seen, known = (
        {each.name for each in attrs.fields(kind)}
        for kind in (ce.MergeInput, ce.strategies.FeatureContext)
    )

    features = {"ours_feature", "theirs_feature", "ours_features"}
    assert seen == {"base", "ours", "theirs", "merge", *features}
    assert known == {"number", "description"}


# --- resolve_conflicts ----------------------------------------------------------------


class Ours:
    """The five-line example of the documentation."""

    name = "keep-ours"

    def merge(self, merge_input):
        """Answer each conflict with our text."""
        return ce.resolve_conflicts(merge_input, lambda conflict: conflict.ours)


def test_a_plug_in_can_be_five_lines():
    """It needs no base class, and its outcome has its name."""
    outcome = ce.merge(BASE, OURS, THEIRS, strategy=Ours())

    assert (outcome.status, outcome.strategy) == ("resolved", "keep-ours")
    assert (outcome.conflicts, outcome.conflicts_met) == ((), 2)
    assert {path: entry.data for path, entry in outcome.changes.items()} == {
        "clean": b"2\n",
        "f": b"a\n2\nb\n",
        "g": b"2\n",
    }


def test_none_leaves_a_conflict_open():
    """Its markers stay in the tree, and the outcome is conflicted."""
    answers = {"f": None, "g": b"9\n"}

    outcome = merge_with(lambda given: ce.resolve_conflicts(given, lambda c: answers[c.path]))

    assert (outcome.status, outcome.conflicts_met) == ("conflicts", 2)
    assert [conflict.path for conflict in outcome.conflicts] == ["f"]
    assert outcome.changes["f"] == ce.merge(BASE, OURS, THEIRS).changes["f"]
    assert outcome.changes["g"].data == b"9\n"


def test_a_conflict_that_no_text_can_resolve_has_a_reason():
    """The function is not asked about it."""
    base = ce.Snapshot.from_files({"f": b"a\n"})
    link = ce.Changes({"f": ce.Entry(b"a", FileMode.SYMLINK)})
    edit = ce.Changes({"f": ce.Entry(b"b\n")})
    asked = []

    strategy = Plugin(lambda given: ce.resolve_conflicts(given, asked.append))
    outcome = ce.merge(base, link, edit, strategy=strategy)

    assert asked == []
    reasons = [row.reason for row in outcome.ledger]
    assert reasons == ["the sides have different kinds of entry here"]


def test_empty_text_is_an_answer():
    """It removes the lines; it is not the same as `None`."""
    outcome = merge_with(lambda given: ce.resolve_conflicts(given, lambda _: b""))

    assert outcome.status == "resolved"
    assert (outcome.changes["f"].data, outcome.changes["g"].data) == (b"a\nb\n", b"")


@given(three_way_texts())
def test_text_outside_of_conflicts_is_unchanged(texts):
    """An answer replaces the markers; every other byte is that of the naive merge."""
    base, *sides = texts
    tree = ce.Snapshot.from_files({"f": base})
    ours, theirs = (ce.Changes({"f": ce.Entry(text)}) for text in sides)
    naive = ce.merge(tree, ours, theirs)
    expected = naive.changes["f"].data.split(b"\n")
    for conflict in reversed(naive.conflicts):
        height = 3 + sum(
            text.count(b"\n") + (not text.endswith(b"\n") and bool(text))
            for text in (conflict.ours, conflict.theirs)
        )
        expected[conflict.line - 1 : conflict.line - 1 + height] = [b"ANSWER"]

    outcome = ce.merge(
        tree,
        ours,
        theirs,
        strategy=Plugin(lambda given: ce.resolve_conflicts(given, lambda _: b"ANSWER\n")),
    )

    assert outcome.changes["f"].data == b"\n".join(expected)
    assert outcome.conflicts == ()
    assert outcome.status == ("resolved" if naive.conflicts else "clean")


# --- the boundary -----------------------------------------------------------------------


def _mutate(given):
    given.ours = given.theirs


class UnshowableError(Exception):
    """An error that cannot be shown."""

    def __repr__(self):
        raise RuntimeError


def _raise_unshowable(_):
    raise UnshowableError


def _write(given):
    given.merge.changes["f"] = ce.Entry(b"")


BROKEN = {
    "raises": (lambda _: 1 / 0, "ZeroDivisionError"),
    "answers with text": (
        lambda given: ce.resolve_conflicts(given, lambda conflict: conflict.path),
        "Error",
    ),
    "mutates its input": (_mutate, "FrozenInstanceError"),
    "writes into the merge": (_write, "TypeError"),
    "returns None": (lambda _: None, "returned NoneType instead of a MergeOutcome"),
    "returns bytes": (lambda _: b"", "returned bytes instead of a MergeOutcome"),
    "returns the changes": (lambda given: given.ours, "returned Changes instead"),
    "returns the merge": (lambda given: given.merge, "returned ThreeWayMerge instead"),
    "changes are a dict": (lambda _: ce.MergeOutcome(changes={"f": b""}), "changes"),
    "no changes": (lambda _: ce.MergeOutcome(changes=None), "changes"),
    "contents are text": (
        lambda _: ce.MergeOutcome(changes=ce.Changes({"f": "text"})),
        "'f'",
    ),
    "data is text": (
        lambda _: ce.MergeOutcome(changes=ce.Changes({"f": ce.Entry("text")})),
        "'data', \"must be bytes, not str",
    ),
    "data makes no tree": (
        lambda _: ce.MergeOutcome(
            changes=ce.Changes({"f": ce.Entry(b"x", ce.models.FileMode.SUBMODULE)})
        ),
        "Error",
    ),
    "failure is no text": (
        lambda given: ce.MergeOutcome(changes=given.ours, failure=5),
        "'failure', 'must be str, not int",
    ),
    "raises what cannot be shown": (_raise_unshowable, "UnshowableError"),
    "conflicts are paths": (
        lambda given: ce.MergeOutcome(changes=given.ours, conflicts=["f"]),
        "conflicts",
    ),
    "usage is a dict": (
        lambda given: ce.MergeOutcome(changes=given.ours, usage=[{"requests": 1}]),
        "'usage', \"must be Iterable[ModelUsage], but item 0 is dict",
    ),
}


@pytest.mark.parametrize(("function", "words"), BROKEN.values(), ids=BROKEN)
def test_a_strategy_that_violates_the_protocol_fails(function, words):
    """`merge` raises one error, which names the strategy and says what happened."""
    with pytest.raises(ce.errors.StrategyFailedError) as caught:
        merge_with(function)

    assert caught.value.name == "plugin"
    assert words in caught.value.problem
    assert "'plugin'" in str(caught.value)


def test_an_exception_of_a_strategy_is_the_cause():
    """Its own traceback is not lost."""
    with pytest.raises(ce.errors.StrategyFailedError) as caught:
        merge_with(lambda _: 1 / 0)

    assert isinstance(caught.value.__cause__, ZeroDivisionError)


def _parse(given):
    del given
    return json.loads("{")


def test_an_exception_of_a_strategy_says_where_it_was_raised():
    """Its place is in the plug-in, even if the standard library raised it."""
    with pytest.raises(ce.errors.StrategyFailedError) as caught:
        merge_with(_parse)

    line = inspect.getsourcelines(_parse)[1] + 2
    place = f"(test_protocol.py, line {line}, in _parse)"
    assert caught.value.problem.startswith("JSONDecodeError(")
    assert caught.value.problem.endswith(place)


def test_an_exception_without_a_plug_in_says_where_it_was_raised():
    """Then the place is in the standard library or in this one."""

    class Parser:
        name = "parser"
        merge = staticmethod(json.loads)

    with pytest.raises(
        ce.errors.StrategyFailedError, match=r"\(__init__\.py, line \d+, in loads\)$"
    ):
        ce.merge(BASE, OURS, THEIRS, strategy=Parser())


@pytest.mark.parametrize("error", [KeyboardInterrupt, SystemExit])
def test_an_interrupt_is_not_a_failure_of_a_strategy(error):
    """Ctrl-C during a strategy stops the program."""

    def interrupt(_):
        raise error

    with pytest.raises(error):
        merge_with(interrupt)


def test_a_strategy_may_report_its_failure():
    """The outcome has the failure, and nothing is raised."""
    outcome = merge_with(lambda given: ce.MergeOutcome(changes=given.ours, failure="no key"))

    assert (outcome.status, outcome.failure) == ("failed", "no key")


@pytest.mark.parametrize("claimed", [0, 7])
def test_conflicts_met_do_not_depend_on_the_strategys_claim(claimed):
    """A strategy that returns its own tree for a conflicting pair is resolved, not clean."""
    outcome = merge_with(lambda given: ce.MergeOutcome(changes=given.ours, conflicts_met=claimed))

    assert (outcome.status, outcome.conflicts_met) == ("resolved", 2)


def test_an_outcome_has_the_strategys_own_name():
    """A name that the strategy writes into the outcome is replaced."""
    outcome = merge_with(lambda given: ce.MergeOutcome(changes=given.ours, strategy="other"))

    assert outcome.strategy == "plugin"


# --- in a report ------------------------------------------------------------------------

PATCHES = [b"--- a/g\n+++ b/g\n@@ -1 +1 @@\n-1\n+%s\n" % text for text in (b"theirs", b"ours")]


def evaluate_with(*strategies):
    """Evaluate a conflicting pair, without tests."""
    features = [ce.Feature(number=number, patch=PATCHES[number - 1]) for number in (1, 2)]
    pair = ce.FeaturePair(
        repo_name="r", task_id=0, base=BASE, feature1=features[0], feature2=features[1]
    )
    return ce.Evaluator(strategies=strategies).evaluate(pair)


@pytest.mark.parametrize(("function", "words"), BROKEN.values(), ids=BROKEN)
def test_a_failure_is_a_row_of_the_report(function, words):
    """The strategies before and after it are still tried."""
    report = evaluate_with("naive", Plugin(function), "union")

    failed = report.attempt("plugin")
    assert (failed.status, failed.verdict) == ("failed", "unhandled")
    assert words in failed.failure
    assert (failed.tree_id, failed.diff, failed.conflict_details) == (None, None, None)
    assert failed.conflicts_met == 1
    assert failed.implementation == f"{__name__}:Plugin"
    assert [each.status.value for each in report.attempts] == ["conflicts", "failed", "resolved"]
    assert ce.MergeReport.from_json(report.to_json()) == report


def test_a_reported_failure_is_a_row_of_the_report():
    """It has a reason, but no tree, diff or score."""
    report = evaluate_with(
        Plugin(lambda given: ce.MergeOutcome(changes=given.ours, failure="no key")), "union"
    )

    told = report.attempt("plugin")
    assert (told.status, told.failure, told.verdict) == ("failed", "no key", "unhandled")
    assert (told.tree_id, told.diff, told.conflict_details) == (None, None, None)
    assert (told.feature1_tests, told.feature2_tests) == (None, None)
    assert report.attempt("union").status == "resolved"


def test_an_answer_that_is_not_bytes_is_rejected():
    """A text instead of bytes is a failure with a helpful message."""
    base, ours, theirs = (ce.Snapshot.from_files({"f": text}) for text in (b"a\n", b"b\n", b"c\n"))
    sides = ce.Changes.between(base, ours), ce.Changes.between(base, theirs)

    class Texts:
        name = "texts"

        def merge(self, merge_input, /):
            return ce.resolve_conflicts(merge_input, lambda _: "b\n")

    with pytest.raises(
        ce.errors.StrategyFailedError, match=r"must return bytes, Gone\.GONE or None, not 'b"
    ):
        ce.merge(base, *sides, strategy=Texts())
