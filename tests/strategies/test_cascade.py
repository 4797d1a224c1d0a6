"""Several strategies in turn, and the ledger of what each resolved."""

import pickle

import attrs
import pytest

import cooperbench_eval as ce
from cooperbench_eval.git.merging.conflicts import LedgerRow

GAP = b"".join(b"%d\n" % i for i in range(9))
MANY = b"".join(b"y%d\n" % i for i in range(4001))  # more than tokens merge
BASE = ce.Snapshot.from_files({"f": b"f(a)\n" + GAP})
OURS, THEIRS = (
    ce.Changes({"f": ce.Entry(text)})
    for text in (b"f(a, b=1)\n" + GAP + b"x2\n", b"f(a, c=2)\n" + GAP + MANY)
)
EITHER = b"f(a, b=1, c=2)\n" + GAP + b"x2\n" + MANY
MINE = b"f(a, c=2, b=1)\n" + GAP + MANY + b"x2\n"


class Member:
    """A strategy made of a function; it records its inputs."""

    def __init__(self, function, name="member"):
        """Take the function that `merge` calls."""
        self.name = name
        self.function = function
        self.asked = []

    def merge(self, merge_input, /):
        """Call the function."""
        self.asked.append(merge_input)
        return self.function(merge_input)


def no_record(conflicts=()):
    """Make a member that keeps no record, and leaves *conflicts* open."""
    changes = ce.Changes({"f": ce.Entry(MINE)})
    return Member(lambda _: ce.MergeOutcome(changes=changes, conflicts=conflicts))


def merge_by(*members, base=BASE, ours=OURS, theirs=THEIRS):
    """Merge the two sides with a cascade of *members*."""
    return ce.merge(base, ours, theirs, strategy=ce.cascade(*members))


def rows_of(outcome):
    """Return each row's strategy, action and rule."""
    return [(row.line, row.strategy, row.rule) for row in outcome.ledger]


# --- who resolves what -----------------------------------------------------------------------


@pytest.mark.parametrize("strategy", ["cascade", ce.cascade("tokens", "union")])
def test_each_member_continues_with_the_conflicts_left_open(strategy):
    """Tokens take the arguments, union the two values; the ledger says so."""
    outcome = ce.merge(BASE, OURS, THEIRS, strategy=strategy)

    assert outcome.changes["f"].data == EITHER
    assert (outcome.status, outcome.conflicts, outcome.conflicts_met) == ("resolved", (), 2)
    assert [row[1:] for row in rows_of(outcome)] == [("tokens", "tokens"), ("union", "answer")]
    assert not any(row.is_open for row in outcome.ledger)


def answering(number):
    """Make a member that adds seven empty lines to the sides of one conflict."""

    def answer(conflict):
        return conflict.ours + conflict.theirs + b"\n" * 7 if number in conflict.ours else None

    return Member(lambda given: ce.resolve_conflicts(given, answer))


@pytest.mark.parametrize("last", [answering(b"3"), ce.cascade("tokens", answering(b"3"))])
def test_rows_of_later_members_name_the_lines_of_gits_merge(last):
    """Replacing earlier conflicts by more lines makes no difference."""
    texts = [b"".join(GAP + b"%s%d\n" % (side, n) for n in range(5)) for side in (b"b", b"o", b"t")]
    base = ce.Snapshot.from_files({"f": texts[0]})
    ours, theirs = (ce.Changes({"f": ce.Entry(text)}) for text in texts[1:])

    outcome = merge_by(answering(b"1"), last, base=base, ours=ours, theirs=theirs)

    lines = [each.line for each in ce.merge(base, ours, theirs).conflicts]
    assert sorted(row.line for row in outcome.ledger) == lines
    resolved = [row.line for row in outcome.ledger if not row.is_open]
    assert resolved == [lines[1], lines[3]]


def test_a_later_member_sees_only_open_conflicts():
    """It also sees the merge with the answers so far."""
    member = Member(lambda given: ce.resolve_conflicts(given, lambda _: None))

    outcome = merge_by("tokens", member)

    (given,) = member.asked
    assert [conflict.ours for conflict in given.conflicts] == [b"x2\n"]
    assert (given.base, given.ours, given.theirs) == (BASE, OURS, THEIRS)
    assert outcome.status == "conflicts"
    assert outcome.changes["f"].data.startswith(b"f(a, b=1, c=2)\n" + GAP + b"<<<<<<<")


def test_a_member_is_not_asked_when_nothing_is_open():
    """This holds after the last conflict and in a clean merge."""
    member = Member(lambda _: 1 / 0)

    assert merge_by("tokens", "union", member).status == "resolved"
    assert merge_by(member, theirs=OURS).status == "clean"
    assert member.asked == []


def test_an_unresolved_conflict_stays_open_with_its_reason():
    """The row is that of the last member that gave a reason."""
    outcome = merge_by("tokens")

    assert (outcome.status, len(outcome.conflicts), outcome.conflicts_met) == ("conflicts", 1, 2)
    done, left = outcome.ledger
    assert (done.rule, done.reason) == ("tokens", "")
    assert (left.strategy, left.is_open) == ("tokens", True)
    assert left.reason == "there are more than 4000 tokens"


def refuse(reason, **fields):
    """Make a member that leaves every conflict open for a reason."""

    def merge(given):
        outcome = ce.resolve_conflicts(given, lambda _: None)
        rows = [attrs.evolve(row, reason=reason, **fields) for row in outcome.ledger]
        return attrs.evolve(outcome, ledger=rows)

    return Member(merge, reason)


def test_the_first_reason_that_is_not_provisional_stays():
    """Later members understand less; one that could not read the file says nothing about it."""
    unread, fails = refuse("unread", is_provisional=True), Member(lambda _: 1 / 0, "fails")

    outcome = merge_by(unread, refuse("known"), fails, refuse("late"))
    nobody = merge_by(unread, refuse("later", is_provisional=True))

    assert {(row.strategy, row.reason) for row in outcome.ledger} == {("known", "known")}
    assert {(row.strategy, row.reason) for row in nobody.ledger} == {("later", "later")}


def test_conflicts_without_lines_stay_open_with_a_row():
    """Tokens have nothing to merge in a file that one side deleted."""
    base = ce.Snapshot.from_files({"g": b"1\n"})
    sides = ce.Changes({"g": ce.Entry(b"2\n")}), ce.Changes({"g": None})

    outcome = merge_by("tokens", base=base, ours=sides[0], theirs=sides[1])

    assert [conflict.kind for conflict in outcome.conflicts] == ["modify/delete"]
    (row,) = outcome.ledger
    assert (row.path, row.line, row.shape, row.is_open) == ("g", None, "modify/delete", True)
    assert row.reason


# --- refusals that bind later members ---------------------------------------------------------


FLOW = [
    b"def f(x):\n    y = %s\n    return %s\n" % parts
    for parts in ((b"x", b"y"), (b"x + 1", b"y"), (b"x", b"y * 2"))
]


def merge_flow(*members):
    """Merge a file whose sides interfere, and a text in which they only clash."""
    texts = {"a.py": FLOW, "b.txt": [b"f(a)\n", b"f(a, b=1)\n", b"f(a, c=2)\n"]}
    base = ce.Snapshot.from_files({path: each[0] for path, each in texts.items()})
    sides = (ce.Changes({p: ce.Entry(each[n]) for p, each in texts.items()}) for n in (1, 2))
    return merge_by(*members, base=base, ours=(given := list(sides))[0], theirs=given[1])


def test_interference_that_one_member_found_binds_the_next():
    """Tokens are not asked; alone, their text is refused too, but another member might do it."""
    alone, after = merge_flow("tokens"), merge_flow("structured", "tokens", "union")

    assert [(r.path, r.is_binding) for r in alone.ledger if r.is_open] == [("a.py", False)]
    assert [conflict.path for conflict in after.conflicts] == ["a.py"]
    assert after.changes["b.txt"].data == b"f(a, b=1, c=2)\n"
    rows = {row.path: (row.strategy, row.is_open, row.is_binding) for row in after.ledger}
    assert rows == {"a.py": ("structured", True, True), "b.txt": ("tokens", False, False)}


def refusing(path, **fields):
    """Make a member that leaves all open, and writes a row about a file."""
    row = LedgerRow(path=path, line=1, reason="never", **{"is_binding": True, **fields})

    def merge(given):
        outcome = ce.resolve_conflicts(given, lambda _: None)
        return attrs.evolve(outcome, ledger=(row, *outcome.ledger))

    return Member(merge, "refusing")


def test_later_members_do_not_see_a_file_that_a_member_refused_for_good():
    """Any member can refuse one; the conflicts are open in the end as git left them."""
    member = Member(lambda given: ce.resolve_conflicts(given, lambda _: None))

    outcome = merge_flow(refusing("b.txt"), member)

    (given,) = member.asked
    assert {conflict.path for conflict in given.conflicts} == {"a.py"}
    assert {block.path for block in given.merge.blocks} == {"a.py"}
    assert [conflict.path for conflict in outcome.conflicts] == ["a.py", "b.txt"]
    assert outcome.changes["b.txt"] == merge_flow("naive").changes["b.txt"]
    assert outcome.merge.conflicts == outcome.conflicts


def test_nobody_is_asked_about_files_that_are_all_refused_for_good():
    """Inside another cascade, that one stops as well."""
    last = Member(lambda _: 1 / 0)

    outcome = merge_by(ce.cascade(refusing("f"), last), last)

    assert last.asked == []
    assert outcome.conflicts == ce.merge(BASE, OURS, THEIRS).conflicts


def test_a_member_without_a_record_cannot_overwrite_a_refusal():
    """The file is put back."""
    changes = {"a.py": ce.Entry(FLOW[1]), "b.txt": ce.Entry(b"f(a, b=1, c=2)\n")}
    member = Member(lambda _: ce.MergeOutcome(changes=ce.Changes(changes)))

    outcome = merge_flow("structured", member)

    assert outcome.changes["a.py"] == merge_flow("naive").changes["a.py"]
    assert [conflict.path for conflict in outcome.conflicts] == ["a.py"]


def test_what_was_resolved_before_a_refusal_stays():
    """Only the open conflicts of the file are refused."""
    outcome = merge_by("tokens", refusing("f"), "union")

    assert outcome.changes["f"].data.startswith(b"f(a, b=1, c=2)\n" + GAP + b"<<<<<<<")
    assert len(outcome.conflicts) == 1


@pytest.mark.parametrize("row", [{"rule": "done"}, {"is_binding": False}, {"path": "g"}])
def test_other_rows_bind_nobody(row):
    """A row of a resolved conflict, one that is not binding, one of another file."""
    outcome = merge_by(refusing(**{"path": "f", **row}), "tokens", "union")

    assert outcome.status == "resolved"


# --- members that fail ---------------------------------------------------------------------------


@pytest.mark.parametrize(
    "function",
    [
        lambda _: 1 / 0,
        lambda _: None,
        lambda given: ce.MergeOutcome(changes=given.ours, failure="no key"),
    ],
    ids=["raises", "breaks the protocol", "says that it failed"],
)
def test_a_failing_member_is_skipped(function):
    """The next one gets the same input."""
    outcome = merge_by(Member(function), "tokens", "union")

    assert outcome.changes["f"].data == EITHER
    assert outcome.failure == ""
    assert {row.strategy for row in outcome.ledger} == {"tokens", "union"}


@pytest.mark.parametrize(
    ("function", "words"),
    [
        (lambda _: 1 / 0, "ZeroDivisionError"),
        (lambda given: ce.MergeOutcome(changes=given.ours, failure="no key"), "no key"),
    ],
    ids=["raises", "says that it failed"],
)
def test_if_the_only_member_fails_its_failure_is_the_reason(function, words):
    """All conflicts are open, and each row names the member."""
    outcome = merge_by(Member(function, name="broken"))

    assert (outcome.status, outcome.failure) == ("conflicts", "")
    assert outcome.changes == ce.merge(BASE, OURS, THEIRS).changes
    assert [row.strategy for row in outcome.ledger] == ["broken", "broken"]
    assert all(row.is_open and words in row.reason for row in outcome.ledger)


@pytest.mark.parametrize("fails", [True, False])
def test_a_members_failed_service_is_recorded(fails):
    """This holds even if a later member succeeds, because a retry may end differently."""
    member = Member(
        lambda asked: ce.MergeOutcome(
            changes=asked.merge.changes,
            conflicts=asked.conflicts,
            failure="unavailable",
            service_failed=fails,
        )
    )

    for last in ("union", no_record()):
        outcome = merge_by(member, "tokens", last)

        assert (outcome.status, outcome.service_failed) == ("resolved", fails)


def test_a_member_without_a_record_is_used_if_it_leaves_nothing_open():
    """No other member has to continue from its result then."""
    last = Member(lambda _: 1 / 0)

    outcome = merge_by("tokens", no_record(), last)

    assert outcome.changes["f"].data == MINE
    assert (outcome.status, outcome.conflicts_met) == ("resolved", 2)
    assert last.asked == []


def test_a_member_without_a_record_is_skipped_if_it_leaves_a_conflict_open():
    """Its resolutions cannot be distinguished from the rest."""
    one = ce.merge(BASE, OURS, THEIRS).conflicts[:1]

    alone, followed = merge_by(no_record(one)), merge_by(no_record(one), "tokens", "union")

    assert alone.changes == ce.merge(BASE, OURS, THEIRS).changes
    assert len(alone.conflicts) == 2
    assert {row.reason for row in alone.ledger} == {"it does not show which conflicts it resolved"}
    assert followed.changes["f"].data == EITHER


# --- making one ----------------------------------------------------------------------------------


def test_a_cascade_is_named_after_its_members_unless_given_a_name():
    """The outcome has that name."""
    assert ce.cascade("tokens", "union").name == "tokens+union"
    assert ce.cascade("tokens", Member(None, name="mine")).name == "tokens+mine"
    assert ce.cascade("tokens", name="first").name == "first"
    assert merge_by("tokens", "union").strategy == "tokens+union"
    assert ce.merge(BASE, OURS, THEIRS, strategy="cascade").strategy == "cascade"


def test_a_cascade_needs_a_member():
    """A cascade without members is a mistake."""
    with pytest.raises(ValueError, match="at least one strategy"):
        ce.cascade()


def test_an_unknown_member_is_reported_when_the_cascade_is_made():
    """The error does not wait for the first merge."""
    with pytest.raises(ce.errors.UnknownStrategyError) as caught:
        ce.cascade("tokens", "nonsense")

    assert caught.value.name == "nonsense"


def test_a_member_that_is_not_a_strategy_is_refused():
    """A class instead of an instance, for example."""
    with pytest.raises(ce.errors.StrategyLoadError):
        ce.cascade("tokens", Member)


def test_a_cascade_may_contain_a_cascade():
    """The inner one is a member like any other, under its own name."""
    outcome = merge_by(ce.cascade("tokens", name="inner"), "union")

    assert outcome.changes["f"].data == EITHER
    assert [row.strategy for row in outcome.ledger] == ["inner", "union"]


def test_a_cascade_and_its_outcome_pickle():
    """Pairs can therefore be evaluated in other processes."""
    strategy = ce.cascade("tokens", "union")

    copy = pickle.loads(pickle.dumps(strategy))  # noqa: S301 - our own
    outcome = ce.merge(BASE, OURS, THEIRS, strategy=copy)

    assert copy == strategy
    assert pickle.loads(pickle.dumps(outcome)) == outcome  # noqa: S301 - our own


def test_a_merge_by_structure_stays_whole_if_it_takes_one_sides_lines_somewhere():
    """Its conflicts are judged together: with ours in one of them, it would be another text."""

    def version(names, numbers, first=""):
        gap = "".join(f"\n\ndef f{n}():\n    return {n}\n" for n in range(6))
        return f"{first}names = [{names}]\n{gap}\n\nnumbers = [{numbers}]\n".encode()

    base = ce.Snapshot.from_files({"a.py": version("'a'", "1")})
    sides = version("'a', 'b'", "1, 2", "import q\n"), version("'a', 'c'", "1, 2, 3", "import q\n")
    changes = [ce.Changes({"a.py": ce.Entry(side)}) for side in sides]

    outcome = ce.merge(base, *changes, strategy="cascade")

    assert outcome.changes == ce.merge(base, *changes, strategy="structured").changes
    assert [row.strategy for row in outcome.ledger] == ["structured", "structured"]
