"""The kit catches whoever breaks a law, says how, and is broken by nobody."""

import pickle
import re
import subprocess
import sys
import threading
import time

import broken_strategies as broken
import pytest
from generators import odd_file_strategies

import cooperbench_eval as ce
from cooperbench_eval.merging.locating import find_between
from cooperbench_eval.testing import STRATEGY_LAWS, LawStatus, check_strategy
from cooperbench_eval.testing.checking import check_in_fork
from cooperbench_eval.testing.strategy_check import check_law

LAWS = {law.name: law for law in STRATEGY_LAWS}
NAMES = tuple(LAWS)

# Whom each law is to catch, and a piece of what is told.
CULPRITS = {
    broken.ForgetsASide: ("identity", "no open conflict, and"),
    broken.AddsUp: ("same_change", "no open conflict, and"),
    broken.TakesOurFiles: ("disjoint_files", "no open conflict, and"),
    broken.SignsFiles: ("untouched_bytes", "outside of what both sides changed"),
    broken.TakesOneSideWhole: ("untouched_bytes", "outside of what both sides changed"),
    broken.MakesAllExecutable: ("untouched_bytes", "the mode that the three-way merge gives it"),
    broken.WritesIntoTheMerge: ("no_mutation", "the three-way merge"),
    broken.SetsAVariable: ("no_mutation", "ASKED differ"),
    broken.Counts: ("determinism", "and then"),
    broken.ReadsTheClock: ("determinism", "and then"),
    broken.OrdersByHash: ("determinism", "and in another"),
    broken.Pretends: ("markers", "with markers for only 0 open conflicts"),
    broken.Apologises: ("markers", "because that conflict is open"),
    broken.CallsItselfSymmetric: ("symmetry", "with the sides swapped"),
    broken.KnowsUtf8Alone: ("survival", "which no version has"),
    broken.RaisesOnLatin1: ("survival", "UnicodeDecodeError"),
    broken.KnowsLinefeedAlone: ("survival", "at the end of lines"),
    broken.NamesFilesInAscii: ("survival", "UnicodeEncodeError"),
}


def statuses(results):
    """Return what became of each law."""
    return {result.law.name: result.status.value for result in results}


def culprit_of(results):
    """Return the one result that is not fine."""
    (result,) = [result for result in results if not result.is_ok]
    return result


@pytest.mark.parametrize("kind", CULPRITS, ids=lambda kind: kind.__name__)
def test_who_breaks_one_law_is_caught_by_that_one_alone(kind):
    """The counterexample says what was asked, what came, and what should have been."""
    name, words = CULPRITS[kind]

    results = [
        check_law(
            kind(),
            law,
            files={},
            examples=150 if law.name == name else 6,
        )
        for law in STRATEGY_LAWS
        if law.name == name or law.name not in {"symmetry", "determinism"}
    ]

    result = culprit_of(results)
    assert (result.law.name, result.status) == (name, LawStatus.BROKEN)
    told = str(result)
    assert words in told
    assert result.law.asks in told
    assert all(f"\n  {word} " in told for word in ("given", "came", "wanted"))
    assert len(told) < 2500


def test_who_changes_what_it_answered_is_caught():
    """By other laws as well, since nothing can be relied on; the kit stands it."""
    results = check_strategy(broken.ReusesItsTable(), examples=6, deadline_seconds=None)

    told = {result.law.name: str(result) for result in results}
    assert "the first outcome changed during the second merge" in told["no_mutation"]


def test_every_law_catches_somebody():
    """None of them is there for show."""
    assert {name for name, _ in CULPRITS.values()} == set(NAMES)


def test_who_keeps_the_laws_is_told_so():
    """With how many cases were tried, and in how many a conflict was resolved."""
    results = check_strategy(broken.Strategy(), examples=30)

    assert statuses(results) == dict.fromkeys(NAMES, "held") | {"symmetry": "opted_out"}
    by_name = {result.law.name: result for result in results}
    assert by_name["identity"].cases == 30
    assert by_name["identity"].answered == 0
    assert 1 <= by_name["untouched_bytes"].answered <= by_name["untouched_bytes"].cases <= 30
    assert by_name["symmetry"].reason == "the strategy does not declare `is_symmetric`"
    assert str(by_name["identity"]) == "identity: held in 30 cases, 0 with a conflict resolved"


def test_a_counterexample_is_as_small_as_can_be():
    """One file of a few bytes is told, not whatever was tried first."""
    results = check_strategy(broken.Pretends(), examples=20, deadline_seconds=None)

    given = culprit_of(results).counterexample.given
    assert given.count("\n") <= 2
    assert len(given) < 200


@pytest.mark.parametrize(
    ("runs", "data", "is_there"),
    [
        ([b"a", b"b"], b"a-b", True),
        ([b"a", b"b"], b"ab", True),
        ([b"a", b"b"], b"-ab", False),
        ([b"a", b"b"], b"ab-", False),
        ([b"a", b"c", b"b"], b"a-c-b", True),
        ([b"a", b"c", b"b"], b"ab", False),
        ([b"", b"c", b""], b"--c--", True),
        ([b"", b"c", b"c"], b"-c", False),
        ([b"ab", b"b"], b"ab", False),
    ],
)
def test_what_is_settled_has_to_be_there_in_order(runs, data, is_there):
    """From the first byte to the last, with anything between, and no byte twice."""
    assert (find_between(data, runs, anywhere=True) is not None) is is_there


# --- what a strategy may do to the kit ------------------------------------------------------


@pytest.fixture(scope="module")
def results_of_one_that_raises():
    """Return what becomes of each law."""
    return check_strategy(broken.Raises(), examples=20)


RAISED = "ZeroDivisionError('division by zero') (broken_strategies.py, line"


def test_whatever_a_strategy_raises_is_a_result(results_of_one_that_raises):
    """It says where in the strategy's own code that was."""
    results = results_of_one_that_raises

    assert statuses(results)["survival"] == "broken"
    assert all(RAISED in str(result) for result in results if not result.is_ok)


@pytest.mark.parametrize(
    ("kind", "words"),
    [
        (broken.Exits, "it raised SystemExit (broken_strategies.py, line"),
        (broken.SaysThatItFailed, "it reported a failure: no key"),
    ],
)
def test_whatever_a_strategy_does_instead_of_answering_is_a_result(kind, words):
    """Whether it is asked in this process or in a fork of it."""

    def check(report):
        return check_law(kind(), LAWS["survival"], files={}, report=report)

    here = check(lambda _: None)
    there = check_in_fork(LAWS["survival"], check, patience_seconds=20, wanted="an outcome")

    assert here == there
    assert here.status == "broken"
    assert words in str(here)


def test_a_strategy_that_ends_its_process_ends_that_of_no_one_else():
    """It was a fork."""
    results = check_strategy(broken.Dies(), examples=20)

    assert statuses(results)["markers"] == "broken"
    told = {str(result) for result in results if not result.is_ok}
    assert all("its process ended with status 3" in text for text in told)
    assert all("theirs '" in text for text in told)


def test_a_strategy_that_loops_is_stopped_at_the_deadline(tmp_path):
    """Also one that holds the interpreter; the case is told, and the other laws are checked."""
    started = time.monotonic()
    strategy = broken.LoopsOnce(tmp_path / "note")

    results = check_strategy(strategy, examples=6, deadline_seconds=2)

    assert time.monotonic() - started < 20
    kept = dict.fromkeys(NAMES, "held") | {"symmetry": "opted_out"}
    assert statuses(results) == kept | {"untouched_bytes": "broken"}
    result = culprit_of(results)
    assert result.counterexample.came == "no answer within 2 seconds"
    assert "theirs '" in result.counterexample.given


@pytest.mark.parametrize("answer", [None, b""])
def test_what_is_no_outcome_is_a_result(answer):
    """As whatever else breaks the protocol."""

    class Answers(broken.Strategy):
        def merge(self, _given, /):
            return answer

    laws = STRATEGY_LAWS if answer is None else STRATEGY_LAWS[:1]

    results = [check_law(Answers(), law, files={}, examples=6) for law in laws]

    assert {each.status.value for each in results} == {"broken"}
    assert f"returned {type(answer).__name__} instead of a MergeOutcome" in str(results[0])


def test_a_service_that_failed_breaks_no_law_and_keeps_none():
    """It could not be checked, and that is not fine."""
    strategy = broken.WaitsForAService()

    results = check_strategy(strategy, examples=4, deadline_seconds=None)

    found = statuses(results)
    assert found.pop("symmetry") == "opted_out"
    assert set(found.values()) == {"not_checked"}
    assert not results[0].is_ok
    assert str(results[0]) == "identity: not checked (no answer)"
    assert strategy.asked == len(NAMES) - 1  # nobody waits for it again and again


def test_a_law_that_was_not_tried_is_not_held():
    """Of one case it may be that no two files are changed in it."""
    results = check_strategy("naive", examples=1)

    found = statuses(results)
    assert (found["identity"], found["disjoint_files"]) == ("held", "not_checked")
    assert "(no case was found to which it applies)" in str(results[2])


def test_one_that_does_not_pickle_is_compared_in_this_process_alone():
    """The result says so."""

    class Local(broken.Strategy):
        """Which holds what cannot go to another process."""

        def __init__(self):
            self.lock = threading.Lock()

    result = check_law(Local(), LAWS["determinism"], files={}, examples=20)

    assert result.status == "held"
    assert re.match(
        "only in this process: cannot be sent to a process of its own .*pickle", result.reason
    )


def test_one_that_a_script_defines_is_compared_with_another_process():
    """Its class travels whole, as it does to the workers of an evaluation."""

    class Local(broken.Strategy):
        """Of which no other process knows."""

    class OrdersByHash(broken.OrdersByHash):
        """Nor of this one."""

    kept, caught = (
        check_law(kind(), LAWS["determinism"], files={}, examples=40)
        for kind in (Local, OrdersByHash)
    )

    assert (kept.status, kept.reason) == ("held", "")
    assert "and in another" in str(caught)


# --- what it is asked -----------------------------------------------------------------------


def test_a_registered_name_will_do():
    """As wherever a strategy is named."""
    results = check_strategy("naive", examples=8, deadline_seconds=None)

    assert statuses(results) == dict.fromkeys(NAMES, "held")


def test_an_opt_out_keeps_its_reason():
    """Whether the law is broken or, as may be worth knowing, not."""
    reasons = {"determinism": "it numbers its answers", "identity": "to be safe"}

    results = check_strategy(broken.Counts(), opt_out=reasons, examples=20, deadline_seconds=None)

    assert all(result.is_ok for result in results)
    by_name = {result.law.name: result for result in results}
    assert by_name["determinism"].status == by_name["identity"].status == "opted_out"
    assert by_name["determinism"].reason == "it numbers its answers"
    assert by_name["determinism"].counterexample is not None
    assert str(by_name["identity"]) == (
        "identity: opted out (to be safe; it was not broken in any case tried)"
    )


@pytest.mark.parametrize(
    ("opt_out", "words"),
    [
        ({"idendity": "typo"}, "no law is called 'idendity'; laws: identity, same_change"),
        ({"identity": ""}, "say why 'identity' need not be kept"),
        ({"identity": " \n"}, "say why"),
        ({"identity": None}, "say why"),
    ],
)
def test_an_opt_out_names_a_law_and_a_reason(opt_out, words):
    """Else nobody would notice what is not checked."""
    with pytest.raises(ValueError, match=words):
        check_strategy("naive", opt_out=opt_out)


class Nameless:
    """It has no name."""

    def merge(self, given, /):
        """Merge like one all the same."""
        return ce.MergeOutcome(changes=given.merge.changes)


class Numbered(Nameless):
    """Its name is no text."""

    name = 5


class Unnameable(Nameless):
    """Its name raises."""

    @property
    def name(self):
        """Raise."""
        raise RuntimeError("no name today")


class Asynchronous:
    """Its merge has to be awaited."""

    name = "asynchronous"

    async def merge(self, given, /):
        """Do nothing yet."""


@pytest.mark.parametrize(
    ("candidate", "words"),
    [
        (None, "pass an instance"),
        (broken.Strategy, r"is a class; pass an instance, as Strategy\(\)"),
        (Nameless(), "it needs a name"),
        (Numbered(), "it needs a name"),
        (Unnameable(), r"cannot be inspected: RuntimeError\('no name today'\)"),
        (Asynchronous(), "its merge is asynchronous"),
    ],
)
def test_what_is_no_strategy_is_refused(candidate, words):
    """Before any law is looked at."""
    with pytest.raises(ce.StrategyLoadError, match=words):
        check_strategy(candidate)


def test_an_unknown_name_is_refused():
    """As `get_strategy` does."""
    with pytest.raises(ce.UnknownStrategyError):
        check_strategy("nonsense")


def test_files_of_ones_own_are_asked_about():
    """A strategy for one kind of file is checked on that kind."""
    lines = [b"a==1\n", b"b==2\n", b"pinned==3\n", b"\n"]

    without = check_strategy(broken.DropsVersions(), examples=6, deadline_seconds=None)
    found = check_strategy(
        broken.DropsVersions(), files={"pins.txt": lines}, examples=25, deadline_seconds=None
    )

    assert all(result.is_ok for result in without)
    assert statuses(found)["untouched_bytes"] == "broken"
    assert "'pins.txt'" in str(culprit_of(found))


@pytest.mark.parametrize(
    ("files", "words"),
    [
        ({"a": b"x\n"}, "two lines of bytes or more"),
        ({"a": [b"x\n"]}, "two lines of bytes or more"),
        ({"a": ["x\n", "y\n"]}, "two lines of bytes or more"),
        ({"a": [b"x\n", b"y"]}, "two lines of bytes or more"),
        ({"../a": [b"x\n", b"y\n"]}, "leaves the tree"),
        ({"a": odd_file_strategies()["nothing"]}, "makes nothing: nothing"),
    ],
)
def test_files_that_cannot_be_made_are_refused(files, words):
    """With what they should be."""
    with pytest.raises(ValueError, match=words):
        check_strategy("naive", files=files)


@pytest.mark.parametrize("deadline_seconds", [None, 30.0])
@pytest.mark.parametrize(
    ("kind", "words"),
    [
        ("numbers", r"must make tuples \(base, ours, theirs\) of bytes, not \d+"),
        ("raises", r"ZeroDivisionError\('in the file strategy'\)"),
    ],
)
def test_files_that_go_wrong_accuse_no_strategy(kind, words, deadline_seconds):
    """No law is checked then, and each says why."""
    files = {"a.py": odd_file_strategies()[kind]}

    results = check_strategy("union", files=files, examples=3, deadline_seconds=deadline_seconds)

    found = [each for each in results if each.law.name != "symmetry"]
    assert {each.status for each in found} == {LawStatus.NOT_CHECKED}
    assert all(re.search(f"the check failed: .*{words}", each.reason) for each in found)


@pytest.mark.parametrize(
    "wrong", [{"examples": 0}, {"examples": -1}, {"deadline_seconds": 0}, {"deadline_seconds": -1}]
)
def test_effort_that_is_none_is_refused(wrong):
    """It would look like a strategy that answers nothing."""
    with pytest.raises(ValueError, match=next(iter(wrong))):
        check_strategy("union", **wrong)


def test_what_the_check_itself_raises_accuses_nobody():
    """It comes out of the fork in words, for it need not pickle."""

    def check(_report):
        raise RuntimeError("a fault of the kit", threading.Lock())

    result = check_in_fork(STRATEGY_LAWS[0], check, patience_seconds=20, wanted="an outcome")

    assert result.status == "not_checked"
    assert result.reason.startswith("the check failed: RuntimeError('a fault of the kit', <")


def test_a_law_that_held_by_doing_nothing_says_so():
    """Where files were given, somebody expected more; it says what helps."""
    lines = [b"a\n", b"b\n"]

    made = {"a.txt": odd_file_strategies()["one conflict"]}

    reasons = {
        each.law.name: each.reason
        for each in check_strategy(
            broken.LeavesAllOpen(), files={"a.txt": lines}, examples=5, deadline_seconds=None
        )
    }
    others, tried = (
        check_law(kind(), LAWS["markers"], files=made, examples=5).reason
        for kind in (broken.LeavesAllOpen, broken.Strategy)
    )

    assert reasons["identity"] == ""
    helps = "give files as a Hypothesis strategy of (base, ours, theirs)"
    assert (
        reasons["markers"]
        == f"nothing was tried, because the strategy resolved no conflict: {helps}"
    )
    assert others == "nothing was tried: the files have no conflict that the strategy resolves"
    assert tried == ""


@pytest.mark.parametrize(
    ("kind", "words"),
    [
        (broken.Shuffles, "no change of the state of the module `random`"),
        (broken.HandlesSignals, "no change of the handler of SIGTERM"),
        (broken.SetsUpLogging, "no change of the handlers and level of the root logger"),
        (broken.LeavesAThread, "no thread left running, such as busy"),
    ],
)
def test_who_changes_the_process_is_caught(kind, words):
    """In what is looked at; in a fork, which is to change in no other way."""
    law = LAWS["no_mutation"]

    def check(report):
        return check_law(kind(), law, files={}, examples=2, report=report)

    result = check_in_fork(law, check, patience_seconds=20, wanted="an outcome")

    assert words in str(result)


def test_a_check_can_be_repeated():
    """The same seed gives the same cases and the same counterexample."""
    first, again = (
        check_strategy(broken.Pretends(), examples=8, seed=7, deadline_seconds=None)
        for _ in range(2)
    )

    assert first == again


def test_results_pickle(results_of_one_that_raises):
    """So that they can be kept or sent."""
    results = results_of_one_that_raises

    assert {each.status.value for each in results} == {"held", "broken", "opted_out"}
    assert pickle.loads(pickle.dumps(results)) == results  # noqa: S301 - our own


def test_hypothesis_and_pytest_are_imported_where_they_are_used():
    """Neither by the package nor by what checks sandboxes."""
    script = """
import sys
import cooperbench_eval.testing as kit
kit.SANDBOX_LAWS, kit.check_sandbox, kit.LawResult
print({"hypothesis", "pytest"} & set(sys.modules))
assert kit.__all__ == dir(kit)
assert all(getattr(kit, name) is not None for name in kit.__all__)
print(hasattr(kit, "nonsense"), "hypothesis" in sys.modules, "pytest" in sys.modules)
"""

    done = subprocess.run((sys.executable, "-c", script), capture_output=True, check=True)

    assert done.stdout == b"set()\nFalse True False\n"
