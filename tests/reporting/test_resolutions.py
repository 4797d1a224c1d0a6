"""A report says what each strategy made of each conflict."""

import datetime as dt
import itertools
import json
import pickle

import pytest
from attrs import evolve
from generators import answers, reports, three_way_texts, three_way_trees
from hypothesis import given, settings

import cooperbench_eval as ce
from cooperbench_eval.git.merging.tree_merge import merge_changes
from cooperbench_eval.reporting.report import read_resolutions
from cooperbench_eval.strategies.protocol import MergeInput, resolve_conflicts


class Merged:
    """A merge of two sides, to be resolved and recorded."""

    def __init__(self, base, ours, theirs):
        self.base = base
        self.merge = merge_changes(base, ours, theirs)
        self.sides = ours, theirs

    @classmethod
    def of_texts(cls, base, ours, theirs):
        """Merge the three texts of one file; `None` means that the file is absent."""
        tree = ce.Snapshot.from_files({} if base is None else {"f": base})
        sides = [ce.Changes({"f": None if s is None else ce.Entry(s)}) for s in (ours, theirs)]
        return cls(tree, *sides)

    def resolve(self, answer):
        """Return the outcome of a strategy that gives these answers."""
        ours, theirs = self.sides
        given = MergeInput(base=self.base, ours=ours, theirs=theirs, merge=self.merge)
        return resolve_conflicts(given, answer)

    def resolutions(self, outcome, **changed):
        """Record the outcome of a strategy as the evaluator does, and read the record."""
        merged = self.base.overlay(outcome.changes)
        attempt = ce.Attempt(
            strategy="any",
            implementation="any:Any",
            status=outcome.status,
            ledger=outcome.ledger,
            replacements=self.merge.replacements(merged, outcome.conflicts),
        )
        return read_resolutions(self.merge.conflicts, evolve(attempt, **changed))

    def expected(self, path, numbers, texts):
        """The texts of neighbouring conflicts with the settled lines between them."""
        settled = self.merge.settled_in(path)
        first, *rest = numbers
        return texts[first] + b"".join(settled[i] + texts[i] for i in rest)


def in_turn(given):
    """A function that returns one answer after the other, over and over."""
    cycle = itertools.cycle(given)
    return lambda _conflict: next(cycle)


@given(three_way_texts(), answers())
def test_the_text_of_a_resolution_is_the_answer(texts, given_answers):
    """Conflicts at either end, CR LF, Latin-1, no last newline, text that looks like markers."""
    merged = Merged.of_texts(*texts)
    count = len(merged.merge.conflicts)
    wanted = list(itertools.islice(itertools.cycle(given_answers), count))

    found = merged.resolutions(merged.resolve(in_turn(given_answers)))

    assert [one.conflict for one in found] == list(merged.merge.conflicts)
    for i, one in enumerate(found):
        assert (one.lines_before, one.lines_after, one.reason) == (0, 0, "")
        assert one.is_exact
        assert i in one.together
        if one.kind == "open":
            assert wanted[i] is None
        elif None not in (wanted[each] for each in one.together):
            assert one.kind == "text"
            assert one.text == merged.expected("f", one.together, wanted)


@given(three_way_trees(), answers())
def test_conflicts_of_whole_files_have_resolutions(trees, given_answers):
    """The resolution of a binary, a deleted or a moved file is the file or its deletion."""
    merged = Merged(*trees)
    choices = itertools.cycle([*given_answers, ce.strategies.Gone.GONE])
    wanted = {}

    def answer(conflict):
        is_submodule = any(len(v or b"") == 40 for v in (conflict.ours, conflict.theirs))
        return wanted.setdefault(id(conflict), None if is_submodule else next(choices))

    outcome = merged.resolve(answer)
    found = merged.resolutions(outcome)

    left = [(c.path, c.kind, c.ours, c.theirs) for c in outcome.conflicts]
    for conflict, one in zip(merged.merge.conflicts, found, strict=True):
        is_open = (conflict.path, conflict.kind, conflict.ours, conflict.theirs) in left
        if is_open or wanted[id(conflict)] is None:
            assert one.kind == "open"
        elif wanted[id(conflict)] is ce.strategies.Gone.GONE:
            assert one.kind == "deleted"
        else:
            assert (one.kind, one.text) == ("text", wanted[id(conflict)])


NUMBERS = b"".join(b"%d\n" % n for n in range(40))


def changed(*edits, text=NUMBERS):
    """The numbers from 0 to 39, each on a line, with some lines changed."""
    lines = text.splitlines(keepends=True)
    for line, new in edits:
        lines[line] = new
    return b"".join(lines)


def test_each_of_several_conflicts_has_its_own_text():
    """Settled lines separate the two answers."""
    merged = Merged.of_texts(
        NUMBERS, changed((3, b"a\n"), (30, b"b\n")), changed((3, b"c\n"), (30, b"d\n"))
    )

    found = merged.resolutions(merged.resolve(in_turn([b"x\ny\n", b""])))

    assert [(one.text, one.together) for one in found] == [(b"x\ny\n", (0,)), (b"", (1,))]


def test_text_that_may_belong_to_either_conflict_is_reported_for_both():
    """The line between the conflicts is in both answers, so its own place is unknown."""
    base = b"1\n-\n-\n-\n-\n2\n"
    one_conflict = Merged.of_texts(base, base.replace(b"1", b"a"), base.replace(b"1", b"b"))
    both = Merged.of_texts(
        base,
        base.replace(b"1", b"a").replace(b"2", b"c"),
        base.replace(b"1", b"b").replace(b"2", b"d"),
    )

    (single,) = one_conflict.resolutions(
        one_conflict.resolve(in_turn([b"x\n-\n-\n-\n-\ny\n"])),
    )
    first, second = both.resolutions(both.resolve(in_turn([b"x\n-\n-\n-\n-\ny\n", b"z\n"])))

    assert single.text == b"x\n-\n-\n-\n-\ny\n"
    assert first.text == second.text == b"x\n-\n-\n-\n-\ny\n-\n-\n-\n-\nz\n"
    assert first.together == second.together == (0, 1)


def test_an_indented_copy_of_the_settled_lines_is_part_of_the_answer():
    """Settled lines are searched for as whole lines."""
    base = b"1\n}\n\n\n\n2\n"
    merged = Merged.of_texts(
        base,
        base.replace(b"1", b"a").replace(b"2", b"c"),
        base.replace(b"1", b"b").replace(b"2", b"d"),
    )

    found = merged.resolutions(merged.resolve(in_turn([b"  }\n\n\n\n", b"y\n"])))

    assert [(one.text, one.together) for one in found] == [
        (b"  }\n\n\n\n", (0,)),
        (b"y\n", (1,)),
    ]
    # The answers might also have been two blanks and `}\n\n\n\ny\n`.
    assert not any(one.is_exact for one in found)


def test_settled_lines_may_follow_one_another():
    """The conflict between them was replaced by an empty text."""
    base = b"1\n}\n\n\n\n2\n)\n\n\n\n3\n"
    merged = Merged.of_texts(
        base,
        base.replace(b"1", b"a").replace(b"2", b"c").replace(b"3", b"e"),
        base.replace(b"1", b"b").replace(b"2", b"d").replace(b"3", b"f"),
    )

    found = merged.resolutions(merged.resolve(in_turn([b"  }\n\n\n\n", b"", b"y\n"])))

    assert [one.text for one in found] == [b"  }\n\n\n\n", b"", b"y\n"]


def test_an_answer_without_a_last_newline_keeps_its_bytes():
    """The answer ends where the next settled line begins."""
    merged = Merged.of_texts(NUMBERS, changed((3, b"a\n")), changed((3, b"b\n")))

    (one,) = merged.resolutions(merged.resolve(in_turn([b"x"])))

    assert (one.text, one.lines_after) == (b"x", 0)


def test_an_answer_without_a_newline_may_precede_settled_lines():
    """The settled lines then begin within the answer's line, and are found there."""
    edits = [(10, b"a\n"), (16, b"b\n")]
    merged = Merged.of_texts(NUMBERS, changed(*edits), changed((10, b"c\n"), (16, b"d\n")))

    found = merged.resolutions(merged.resolve(in_turn([b"x", b"y\n"])))

    assert [(one.text, one.is_exact) for one in found] == [(b"x", True), (b"y\n", True)]


SETTLED = [b"s%d\n" % n for n in range(9)]


def with_settled_between():
    """Two conflicts with nine settled lines between them."""
    base, ours, theirs = (
        b"".join([b"p\n", one, *SETTLED, two, b"q\n"])
        for one, two in ((b"A\n", b"B\n"), (b"o1\n", b"o2\n"), (b"t1\n", b"t2\n"))
    )
    return Merged.of_texts(base, ours, theirs)


@pytest.mark.parametrize(
    "given_answers",
    [
        [b"".join([*SETTLED, b"x\n"]), b""],
        [b"", b"".join([b"x\n", *SETTLED])],
        [b"".join([b"x\n", *SETTLED]), b"z\n"],
        [b"".join([*SETTLED, b"x"]), b"z\n"],  # the settled lines follow the x on its line
        [b"x", b"".join([*SETTLED, b"z\n"])],
    ],
)
def test_an_answer_that_repeats_the_settled_lines_is_reported_with_its_neighbour(given_answers):
    """Nothing shows which of the two copies is the settled one."""
    merged = with_settled_between()

    first, second = merged.resolutions(merged.resolve(in_turn(given_answers)))

    assert first.together == second.together == (0, 1)
    assert first.text == second.text == merged.expected("f", (0, 1), given_answers)


def test_an_answer_with_some_of_the_settled_lines_has_its_own_text():
    """Only all of them in a row could be mistaken for the settled ones."""
    merged = with_settled_between()
    given_answers = [b"".join([*SETTLED[:3], b"x\n", b"\n", SETTLED[8]]), b"".join(SETTLED[1:])]

    found = merged.resolutions(merged.resolve(in_turn(given_answers)))

    assert [(one.text, one.together, one.is_exact) for one in found] == [
        (given_answers[0], (0,), True),
        (given_answers[1], (1,), True),
    ]


def rewritten(merged, text):
    """The outcome of a strategy that writes the whole file itself."""
    changes = ce.Changes({"f": None if text is None else ce.Entry(text)})
    return ce.MergeOutcome(changes=changes, conflicts_met=len(merged.merge.conflicts))


def test_settled_lines_that_were_changed_too_are_counted():
    """If a strategy rewrites lines around a conflict, they are part of its text."""
    merged = Merged.of_texts(NUMBERS, changed((20, b"a\n")), changed((20, b"b\n")))
    text = changed((18, b"one\n"), (19, b"two\n"), (20, b"x\n"), (21, b"after\n"))

    (one,) = merged.resolutions(rewritten(merged, text))

    assert one.text == b"one\ntwo\nx\nafter\n"
    assert (one.lines_before, one.lines_after) == (2, 1)


def test_changed_lines_within_a_long_conflict_are_part_of_its_text():
    """A conflict is replaced as a whole, with the settled line before it."""
    ours = changed((10, b"a\n"), (14, b"b\n"))
    merged = Merged.of_texts(NUMBERS, ours, NUMBERS[: NUMBERS.index(b"10\n")])
    text = changed((9, b"near\n"), (10, b"x\n"), (14, b"y\n"))

    (one,) = merged.resolutions(rewritten(merged, text))

    assert one.text == text[text.index(b"near") :]
    assert one.lines_before == 1


def test_a_line_is_not_counted_both_before_and_after_a_conflict():
    """If one of two equal settled lines is gone, one of them counts as changed."""
    ours = changed((19, b"n\n19\n"), (20, b"a\n"), (21, b"21\nn\n"))
    merged = Merged.of_texts(NUMBERS, ours, changed((20, b"b\n")))
    text = changed((19, b""), (20, b"n\n"), (21, b""))
    short = Merged.of_texts(b"-\n-\n1\n-\n-\n", b"-\n-\n2\n-\n-\n", b"-\n-\n3\n-\n-\n")

    (one,) = merged.resolutions(rewritten(merged, text))
    (of_short,) = short.resolutions(rewritten(short, b"-\n-\n-\n"))

    assert (one.text, one.lines_before + one.lines_after) == (b"", 3)
    assert (of_short.text, of_short.lines_before + of_short.lines_after) == (b"", 1)
    assert not of_short.is_exact


def test_changes_far_from_a_conflict_are_not_part_of_its_text():
    """The unchanged lines between them separate the two."""
    merged = Merged.of_texts(
        NUMBERS, changed((8, b"a\n"), (30, b"b\n")), changed((8, b"c\n"), (30, b"d\n"))
    )
    text = changed((0, b"elsewhere\n"), (8, b"x\n"), (29, b"near\n"), (30, b"y\n"))

    first, second = merged.resolutions(rewritten(merged, text))

    assert (first.text, first.lines_before, first.together) == (b"x\n", 0, (0,))
    assert (second.text, second.lines_before, second.together) == (b"near\ny\n", 1, (1,))
    assert not first.is_exact


def test_conflicts_resolved_in_one_piece_share_their_text():
    """The settled lines between them are gone."""
    edits = [(10, b"a\n"), (16, b"b\n")]
    merged = Merged.of_texts(NUMBERS, changed(*edits), changed((10, b"c\n"), (16, b"d\n")))
    lines = NUMBERS.splitlines(keepends=True)
    text = b"".join([*lines[:10], b"all of it\n", *lines[17:]])

    first, second = merged.resolutions(rewritten(merged, text))

    assert first.text == second.text == b"all of it\n"
    assert first.together == second.together == (0, 1)


def test_a_deleted_file_takes_its_conflicts_with_it():
    """It may be a file of the base or a new one."""
    merged = Merged.of_texts(NUMBERS, changed((3, b"a\n")), changed((3, b"b\n")))
    added = Merged.of_texts(None, b"a\n", b"b\n")

    (one,) = merged.resolutions(rewritten(merged, None))
    (of_new,) = added.resolutions(rewritten(added, None))

    assert one.kind == of_new.kind == "deleted"
    assert one.text is None


def test_a_file_may_be_left_as_the_base_has_it():
    """The strategy's changes do not name it then."""
    merged = Merged.of_texts(NUMBERS, changed((3, b"a\n")), changed((3, b"b\n")))
    deleted = Merged.of_texts(b"1\n", b"2\n", None)

    (one,) = merged.resolutions(ce.MergeOutcome(changes=ce.Changes(), conflicts_met=1))
    (of_file,) = deleted.resolutions(ce.MergeOutcome(changes=ce.Changes(), conflicts_met=1))

    assert (one.kind, one.text) == ("text", b"3\n")
    assert (of_file.kind, of_file.text) == ("text", b"1\n")


def test_markers_in_an_answer_are_not_an_open_conflict():
    """The outcome lists the conflicts that are open."""
    merged = Merged.of_texts(b"1\n", b"2\n", b"3\n")
    shown = merged.merge.changes["f"].data

    (one,) = merged.resolutions(merged.resolve(in_turn([shown])))
    (left,) = merged.resolutions(merged.resolve(in_turn([None])))

    assert (one.kind, one.text) == ("text", shown)
    assert (left.kind, left.text) == ("open", None)


def test_a_strategy_that_changes_nothing_leaves_every_conflict_open():
    settled = b"}\n\nreturn\n}\n"
    merged = Merged.of_texts(
        b"a\n" + settled + b"b\n",
        b"A\n" + settled + b"B\n",
        b"aa\n" + settled + settled + b"bb\n",
    )
    outcome = merged.resolve(lambda _: None)
    found = merged.resolutions(outcome)
    assert [(each.kind, each.together) for each in found] == [("open", (0,)), ("open", (1,))]


def test_an_open_conflict_of_a_changed_file_is_not_exact():
    """The conflict is unchanged, and other lines of the file are not."""
    merged = Merged.of_texts(NUMBERS, changed((20, b"a\n")), changed((20, b"b\n")))
    shown = merged.merge.changes["f"].data
    left = evolve(
        rewritten(merged, shown.replace(b"0\n", b"elsewhere\n", 1)),
        conflicts=merged.merge.conflicts,
    )

    (one,) = merged.resolutions(left)

    assert (one.kind, one.is_exact) == ("open", False)


def test_a_failed_strategy_has_no_resolutions():
    """The reason says that it failed."""
    merged = Merged.of_texts(b"1\n", b"2\n", b"3\n")

    (one,) = merged.resolutions(merged.resolve(in_turn([b"x\n"])), status="failed", replacements=[])

    assert (one.kind, one.text, one.reason) == ("unknown", None, "the strategy failed")


def test_the_ledgers_rows_are_matched_to_conflicts():
    """A row may be about several conflicts; rows whose lines do not match are left out."""
    edits = [(10, b"a\n"), (16, b"b\n"), (30, b"c\n")]
    ours, theirs = changed(*edits), changed(*[(at, new.upper()) for at, new in edits])
    merged = Merged.of_texts(NUMBERS, ours, theirs)
    one, two, three = merged.merge.conflicts
    rows = [
        ce.models.LedgerRow(path="f", line=one.line, conflicts=2, rule="both"),
        ce.models.LedgerRow(path="f", line=three.line, rule="single"),
    ]
    shifted = [rows[0], ce.models.LedgerRow(path="f", line=two.line, rule="single")]
    outcome = merged.resolve(in_turn([b"x\n"]))

    found = merged.resolutions(outcome, ledger=rows)
    found_shifted = merged.resolutions(outcome, ledger=shifted)

    assert [each.ledger.rule for each in found] == ["both", "both", "single"]
    assert [each.ledger for each in found_shifted] == [None] * 3


@settings(max_examples=settings().max_examples // 4)
@given(reports())
def test_every_report_has_a_resolution_for_each_conflict(report):
    """It may be `UNKNOWN`."""
    for attempt in report.attempts:
        found = report.resolutions(attempt.strategy)

        assert [each.conflict for each in found] == list(report.conflicts)


def make_report(conflicts=(), **of):
    """A report of a pair whose merge has these conflicts."""
    one, two = (
        ce.reporting.FeatureReport(number=number, patch=ce.reporting.PatchReport(status="applied"))
        for number in (1, 2)
    )
    return ce.MergeReport(
        repo_name="any",
        task_id=1,
        timestamp=dt.datetime(2026, 1, 31, tzinfo=dt.UTC),
        feature1=one,
        feature2=two,
        conflict_details=ce.ConflictScorer().score(conflicts),
        conflicts=conflicts,
        **of,
    )


def test_a_strategy_without_a_row_is_a_key_error():
    """`attempt` and `blame` raise the same."""
    with pytest.raises(KeyError, match="union"):
        make_report().resolutions("union")


CONFLICT = ce.Conflict(path="f", base=b"3\n", ours=b"a\n", theirs=b"b\n", line=4)
ATTEMPT = ce.Attempt(
    strategy="any",
    implementation="any:Any",
    status="resolved",
    replacements=[ce.models.Replacement(kind="text", together=[0], text=b"x\n")],
)


def test_a_report_of_an_earlier_version_says_that_it_records_no_resolutions():
    """Its JSON lacks the key."""
    report = make_report(conflicts=[CONFLICT], attempts=[ATTEMPT])
    data = json.loads(report.to_json())
    del data["attempts"][0]["replacements"]

    assert [one.text for one in report.resolutions("any")] == [b"x\n"]
    old = ce.MergeReport.from_dict(data)
    (one,) = old.resolutions("any")
    assert (one.kind, one.text, one.together) == ("unknown", None, (0,))
    assert "written by an earlier version" in one.reason
    assert ce.MergeReport.from_json(old.to_json()) == old


def test_a_resolution_that_a_report_does_not_record_is_unknown():
    """Each conflict is recorded or none, so such a report was edited."""
    row = evolve(ATTEMPT, replacements=[evolve(ATTEMPT.replacements[0], together=[7])])
    report = make_report(conflicts=[CONFLICT], attempts=[row])

    (one,) = report.resolutions("any")

    assert (one.kind, one.text, one.reason) == ("unknown", None, "the report does not record it")


def test_a_pickled_attempt_keeps_its_replacements():
    """Pickling and unpickling gives an equal record."""
    assert pickle.loads(pickle.dumps(ATTEMPT)) == ATTEMPT  # noqa: S301 - made here


LINK = ce.models.FileMode.SYMLINK


@pytest.mark.parametrize(
    ("base", "ours", "theirs", "kept"),
    [
        (ce.Entry(b"x", LINK), None, ce.Entry(b"file\n"), b"x"),
        (ce.Entry(b"one\n"), ce.Entry(b"two\n"), ce.Entry(b"k", LINK), b"one\n"),
        (ce.Entry(b"2" * 40, ce.models.FileMode.SUBMODULE), None, ce.Entry(b"file\n"), b"2" * 40),
    ],
)
def test_an_entry_of_another_type_that_is_kept_is_not_deleted(base, ours, theirs, kept):
    """A strategy may keep the base's entry where a side changed its type."""
    merged = Merged(
        ce.Snapshot.from_files({"a": base}), ce.Changes({"a": ours}), ce.Changes({"a": theirs})
    )

    (one,) = merged.resolutions(ce.MergeOutcome(changes=ce.Changes(), conflicts_met=1))

    assert (one.kind, one.text) == ("text", kept)


def test_a_link_in_the_place_of_a_file_says_nothing_of_its_lines():
    """Both sides replaced a link by a file, and the strategy kept the link."""
    tree = ce.Snapshot.from_files({"a": ce.Entry(b"x", LINK)})
    sides = [ce.Changes({"a": ce.Entry(text)}) for text in (b"1\n2\n3\n", b"1\n9\n3\n")]
    merged = Merged(tree, *sides)

    (one,) = merged.resolutions(ce.MergeOutcome(changes=ce.Changes(), conflicts_met=1))

    assert one.kind == "unknown"
    assert one.reason == "the merged tree has a symlink there instead of a file"


def test_the_text_of_a_submodule_is_its_commit():
    """The versions of its conflict are commits as well."""
    one, two, three = (
        ce.Entry(digit * 40, ce.models.FileMode.SUBMODULE) for digit in (b"1", b"2", b"3")
    )
    both = ce.Snapshot.from_files({"a": one})
    changed_by_both = Merged(both, ce.Changes({"a": two}), ce.Changes({"a": three}))
    added = Merged(ce.Snapshot.from_files({}), ce.Changes({"a": two}), ce.Changes({"a": three}))

    for merged in (changed_by_both, added):
        changes = ce.Changes({"a": two})
        (found,) = merged.resolutions(ce.MergeOutcome(changes=changes, conflicts_met=1))

        assert (found.kind, found.text) == ("text", merged.merge.conflicts[0].ours)
