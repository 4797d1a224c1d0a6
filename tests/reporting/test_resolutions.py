"""What a strategy made of each conflict is told from the report."""

import datetime as dt
import itertools

import pytest
from attrs import evolve
from generators import answers, reports, three_way_texts, three_way_trees
from hypothesis import given, settings

import cooperbench_eval as ce
from cooperbench_eval.merging.tree import merge_changes
from cooperbench_eval.reporting.resolutions import NaiveMerge, occurrences
from cooperbench_eval.scoring import ConflictScorer
from cooperbench_eval.strategies.protocol import MergeInput, resolve_conflicts


class Merged:
    """A merge of two sides, and what a strategy made of it, as a report has them."""

    def __init__(self, base, ours, theirs):
        self.base = base
        self.merge = merge_changes(base, ours, theirs)
        self.sides = ours, theirs

    @classmethod
    def of_texts(cls, base, ours, theirs):
        """Merge the three texts of one file; `None` is no file."""
        tree = ce.Snapshot.from_files({} if base is None else {"f": base})
        sides = [ce.Changes({"f": None if s is None else ce.Entry(s)}) for s in (ours, theirs)]
        return cls(tree, *sides)

    def resolve(self, answer):
        """Return the outcome of a strategy that gives these answers."""
        ours, theirs = self.sides
        given = MergeInput(base=self.base, ours=ours, theirs=theirs, merge=self.merge)
        return resolve_conflicts(given, answer)

    def tell(self, outcome, **changed):
        """Tell what the outcome of a strategy is, from its row in a report."""
        attempt = ce.Attempt(
            strategy="any",
            implementation="any:Any",
            status=outcome.status,
            diff=outcome.changes.diff(self.base),
            conflict_details=ConflictScorer().score(outcome.conflicts),
            ledger=outcome.ledger,
        )
        diff = self.merge.changes.diff(self.base)
        return NaiveMerge(self.merge.conflicts, diff).resolutions(evolve(attempt, **changed))

    def expected(self, path, numbers, texts):
        """What stands in the place of neighbouring conflicts, settled lines between them."""
        settled = self.merge.settled_in(path)
        first, *rest = numbers
        return texts[first] + b"".join(settled[i] + texts[i] for i in rest)


def repeats(text):
    """Whether a line stands in it more than once."""
    lines = text.split(b"\n")
    return len(set(lines)) < len(lines)


def in_turn(given):
    """A function that answers with one after the other, over again."""
    cycle = itertools.cycle(given)
    return lambda _conflict: next(cycle)


@given(three_way_texts(), answers())
def test_the_told_text_is_the_answer(texts, given_answers):
    """Conflicts at either end, CR LF, Latin-1, no last newline, text that looks like markers."""
    merged = Merged.of_texts(*texts)
    count = len(merged.merge.conflicts)
    wanted = list(itertools.islice(itertools.cycle(given_answers), count))

    told = merged.tell(merged.resolve(in_turn(given_answers)))

    assert len(told) == count
    for i, one in enumerate(told):
        assert one.conflict == merged.merge.conflicts[i]
        if not one.is_exact:  # two diffs of a text that repeats itself may differ in where
            assert repeats(texts[0])
            continue
        assert (one.lines_before, one.lines_after, one.reason) == (0, 0, "")
        if one.kind == "open":
            assert wanted[i] is None
            continue
        assert one.kind == "text"
        if one.together == (i,):
            assert one.text == wanted[i]
        elif None not in (wanted[each] for each in one.together):
            assert i in one.together
            assert one.text == merged.expected("f", one.together, wanted)


@given(three_way_trees(), answers())
def test_conflicts_of_whole_files_are_told(trees, given_answers):
    """What becomes of a binary, a deleted or a moved file is told, too."""
    merged = Merged(*trees)
    choices = itertools.cycle([*given_answers, ce.Gone.GONE])
    wanted = {}

    def answer(conflict):
        is_submodule = any(len(v or b"") == 40 for v in (conflict.ours, conflict.theirs))
        return wanted.setdefault(id(conflict), None if is_submodule else next(choices))

    outcome = merged.resolve(answer)
    told = merged.tell(outcome)

    left = [(c.path, c.kind, c.ours, c.theirs) for c in outcome.conflicts]
    for conflict, one in zip(merged.merge.conflicts, told, strict=True):
        is_open = (conflict.path, conflict.kind, conflict.ours, conflict.theirs) in left
        if is_open or wanted[id(conflict)] is None:
            assert one.kind == "open"
        elif wanted[id(conflict)] is ce.Gone.GONE:
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
    """Between them stand lines of the base that no diff shows."""
    merged = Merged.of_texts(
        NUMBERS, changed((3, b"a\n"), (30, b"b\n")), changed((3, b"c\n"), (30, b"d\n"))
    )

    told = merged.tell(merged.resolve(in_turn([b"x\ny\n", b""])))

    assert [(one.text, one.together) for one in told] == [(b"x\ny\n", (0,)), (b"", (1,))]


def test_lines_that_a_conflict_shows_are_known():
    """One side deletes many lines of which the other changes one: its diff shows few of them."""
    ours = changed((15, b"changed\n"))
    merged = Merged.of_texts(NUMBERS, ours, b"0\n1\n2\n38\n39\n")

    (told,) = merged.tell(merged.resolve(lambda conflict: conflict.ours))

    assert told.text == b"".join(ours.splitlines(keepends=True)[3:38])


def test_what_may_be_of_either_conflict_is_told_of_both():
    """The line between the conflicts stands in both answers, so nobody knows where it was."""
    base = b"1\n-\n-\n-\n-\n2\n"
    merged = Merged.of_texts(base, base.replace(b"1", b"a"), base.replace(b"1", b"b"))
    both = Merged.of_texts(
        base,
        base.replace(b"1", b"a").replace(b"2", b"c"),
        base.replace(b"1", b"b").replace(b"2", b"d"),
    )

    (alone,) = merged.tell(merged.resolve(in_turn([b"x\n-\n-\n-\n-\ny\n"])))
    first, second = both.tell(both.resolve(in_turn([b"x\n-\n-\n-\n-\ny\n", b"z\n"])))

    assert alone.text == b"x\n-\n-\n-\n-\ny\n"
    assert first.text == second.text == b"x\n-\n-\n-\n-\ny\n-\n-\n-\n-\nz\n"
    assert first.together == second.together == (0, 1)


def test_settled_lines_are_sought_as_lines():
    """What ends as they do is none of them."""
    base = b"1\n}\n\n\n\n2\n"
    merged = Merged.of_texts(
        base,
        base.replace(b"1", b"a").replace(b"2", b"c"),
        base.replace(b"1", b"b").replace(b"2", b"d"),
    )

    told = merged.tell(merged.resolve(in_turn([b"  }\n\n\n\n", b"y\n"])))

    assert [(one.text, one.together) for one in told] == [
        (b"  }\n\n\n\n", (0,)),
        (b"y\n", (1,)),
    ]


def test_settled_lines_that_follow_one_another_are_sought_as_lines():
    """Nothing stands between them where the conflict that stood there is resolved to nothing."""
    base = b"1\n}\n\n\n\n2\n)\n\n\n\n3\n"
    merged = Merged.of_texts(
        base,
        base.replace(b"1", b"a").replace(b"2", b"c").replace(b"3", b"e"),
        base.replace(b"1", b"b").replace(b"2", b"d").replace(b"3", b"f"),
    )

    told = merged.tell(merged.resolve(in_turn([b"  }\n\n\n\n", b"", b"y\n"])))

    assert [one.text for one in told] == [b"  }\n\n\n\n", b"", b"y\n"]


def test_lines_of_the_base_within_a_conflict_part_nothing():
    """They stand in the other merge as well, but nothing there is settled."""
    ours = changed((10, b"a\n"), (14, b"b\n"))
    merged = Merged.of_texts(NUMBERS, ours, NUMBERS[: NUMBERS.index(b"10\n")])
    text = changed((9, b"near\n"), (10, b"x\n"), (14, b"y\n"))

    (told,) = merged.tell(rewritten(merged, text))

    assert told.text == text[text.index(b"near") :]
    assert told.lines_before == 1


def test_an_answer_without_a_last_newline_is_told_as_it_is():
    """It ends where the next settled line begins."""
    merged = Merged.of_texts(NUMBERS, changed((3, b"a\n")), changed((3, b"b\n")))

    (told,) = merged.tell(merged.resolve(in_turn([b"x"])))

    assert (told.text, told.lines_after) == (b"x", 0)


def test_an_answer_without_a_newline_may_stand_before_settled_lines():
    """They begin within its line then, and are found there."""
    edits = [(10, b"a\n"), (16, b"b\n")]
    merged = Merged.of_texts(NUMBERS, changed(*edits), changed((10, b"c\n"), (16, b"d\n")))

    told = merged.tell(merged.resolve(in_turn([b"x", b"y\n"])))

    assert [(one.text, one.is_exact) for one in told] == [(b"x", True), (b"y\n", True)]


def rewritten(merged, text):
    """The outcome of a strategy that writes the whole file itself."""
    changes = ce.Changes({"f": None if text is None else ce.Entry(text)})
    return ce.MergeOutcome(changes=changes, conflicts_met=len(merged.merge.conflicts))


def test_settled_lines_that_were_changed_too_are_counted():
    """Where a strategy rewrites lines around a conflict, its text holds them."""
    merged = Merged.of_texts(NUMBERS, changed((20, b"a\n")), changed((20, b"b\n")))
    text = changed((18, b"one\n"), (19, b"two\n"), (20, b"x\n"), (21, b"after\n"))

    (told,) = merged.tell(rewritten(merged, text))

    assert told.text == b"one\ntwo\nx\nafter\n"
    assert (told.lines_before, told.lines_after) == (2, 1)


def test_a_line_is_not_taken_for_one_before_and_one_behind_a_conflict():
    """Where one of two equal settled lines is gone, that one is counted as changed."""
    ours = changed((19, b"n\n19\n"), (20, b"a\n"), (21, b"21\nn\n"))
    merged = Merged.of_texts(NUMBERS, ours, changed((20, b"b\n")))
    text = changed((19, b""), (20, b"n\n"), (21, b""))
    short = Merged.of_texts(b"-\n-\n1\n-\n-\n", b"-\n-\n2\n-\n-\n", b"-\n-\n3\n-\n-\n")

    (told,) = merged.tell(rewritten(merged, text))
    (told_of_short,) = short.tell(rewritten(short, b"-\n-\n-\n"))

    assert (told.text, told.lines_before, told.lines_after) == (b"", 1, 2)
    assert not told_of_short.is_exact


def test_changes_far_from_a_conflict_leave_its_text_alone():
    """Lines of the base that both merges keep part the file."""
    merged = Merged.of_texts(
        NUMBERS, changed((8, b"a\n"), (30, b"b\n")), changed((8, b"c\n"), (30, b"d\n"))
    )
    text = changed((0, b"elsewhere\n"), (8, b"x\n"), (29, b"near\n"), (30, b"y\n"))

    first, second = merged.tell(rewritten(merged, text))

    assert (first.text, first.lines_before, first.together) == (b"x\n", 0, (0,))
    assert (second.text, second.lines_before, second.together) == (b"near\ny\n", 1, (1,))
    assert not first.is_exact


def test_conflicts_resolved_in_one_piece_are_told_in_one_piece():
    """The settled lines between them are gone."""
    edits = [(10, b"a\n"), (16, b"b\n")]
    merged = Merged.of_texts(NUMBERS, changed(*edits), changed((10, b"c\n"), (16, b"d\n")))
    lines = NUMBERS.splitlines(keepends=True)
    text = b"".join([*lines[:10], b"all of it\n", *lines[17:]])

    first, second = merged.tell(rewritten(merged, text))

    assert first.text == second.text == b"all of it\n"
    assert first.together == second.together == (0, 1)


def test_a_file_that_is_gone_is_told():
    """Conflicts between its lines went with it."""
    merged = Merged.of_texts(NUMBERS, changed((3, b"a\n")), changed((3, b"b\n")))
    added = Merged.of_texts(None, b"a\n", b"b\n")

    (told,) = merged.tell(rewritten(merged, None))
    (told_of_new,) = added.tell(rewritten(added, None))

    assert told.kind == told_of_new.kind == "deleted"
    assert told.text is None


def test_a_file_as_the_base_has_it_is_told():
    """It is in no diff then."""
    merged = Merged.of_texts(NUMBERS, changed((3, b"a\n")), changed((3, b"b\n")))
    deleted = Merged.of_texts(b"1\n", b"2\n", None)

    (told,) = merged.tell(rewritten(merged, NUMBERS))
    (told_of_file,) = deleted.tell(rewritten(deleted, b"1\n"))

    assert (told.kind, told.text) == ("text", b"3\n")
    assert (told_of_file.kind, told_of_file.text) == ("text", b"1\n")


def test_a_file_of_another_mode_is_told():
    """A diff of its mode alone shows nothing of its contents."""
    base = ce.Snapshot.from_files({"f": ce.Entry(b"1\n", ce.FileMode.EXECUTABLE)})
    sides = ce.Changes({"f": None}), ce.Changes({"f": ce.Entry(b"1\n")})
    merged = Merged(base, *sides)

    (told,) = merged.tell(merged.resolve(lambda conflict: conflict.theirs))

    assert (told.kind, told.text) == ("text", b"1\n")


def test_markers_as_an_answer_are_no_open_conflict():
    """Whether a conflict is open, the strategy's row says."""
    merged = Merged.of_texts(b"1\n", b"2\n", b"3\n")
    shown = merged.merge.changes["f"].data

    (told,) = merged.tell(merged.resolve(in_turn([shown])))
    (left,) = merged.tell(merged.resolve(in_turn([None])))

    assert (told.kind, told.text) == ("text", shown)
    assert (left.kind, left.text) == ("open", None)


@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        ({"status": "failed", "diff": None}, "the strategy failed"),
        ({"diff": None}, "the report has no diff of the merge"),
        ({"diff": b"no diff"}, "a diff in the report cannot be read (holds no diff)"),
    ],
)
def test_what_cannot_be_told_says_why(changes, reason):
    """A strategy that failed, a report without diffs, and one with something else there."""
    merged = Merged.of_texts(b"1\n", b"2\n", b"3\n")

    (told,) = merged.tell(merged.resolve(in_turn([b"x\n"])), **changes)

    assert (told.kind, told.text, told.reason) == ("unknown", None, reason)


def diff_between(old, new):
    """The diff of one file; `None` is no file."""
    base = ce.Snapshot.from_files({} if old is None else {"f": old})
    return ce.Changes({"f": None if new is None else ce.Entry(new)}).diff(base)


@pytest.mark.parametrize(
    ("diff", "reason"),
    [
        (diff_between(None, b"x\n"), "the two diffs do not start from the same file"),
        (diff_between(b"0\nnot 1\n2\n", b"x\n"), "the two diffs do not start from the same file"),
        (diff_between(b"0\n", b"\0"), "a diff does not show the file as lines"),
    ],
)
def test_a_diff_that_does_not_fit_is_noticed(diff, reason):
    """It is of another base, or shows no lines."""
    merged = Merged.of_texts(NUMBERS, changed((3, b"a\n")), changed((3, b"b\n")))

    (told,) = merged.tell(merged.resolve(in_turn([b"x\n"])), diff=diff)

    assert (told.kind, told.reason) == ("unknown", reason)


CONFLICT = ce.Conflict(path="f", base=b"3\n", ours=b"a\n", theirs=b"b\n", line=4)
ELSEWHERE = b"@@ -1 +1 @@\n-0\n+zero\n"


@pytest.mark.parametrize(
    ("conflicts", "more", "reason"),
    [
        ([evolve(CONFLICT, line=5)], b"", "the naive merge's diff does not show the conflict"),
        (
            [evolve(CONFLICT, theirs=b"c\n")],
            b"",
            "the naive merge's diff does not show the conflict",
        ),
        ([CONFLICT, CONFLICT], b"", "the conflicts overlap"),
        ([CONFLICT], ELSEWHERE, "a diff's hunks overlap"),
    ],
)
def test_a_naive_merge_that_does_not_fit_its_conflicts_is_noticed(conflicts, more, reason):
    """Its conflicts stand elsewhere or are others, stand twice, or its diff is no diff."""
    merged = Merged.of_texts(NUMBERS, changed((3, b"a\n")), changed((3, b"b\n")))
    diff = merged.merge.changes.diff(merged.base)
    attempt = ce.Attempt(
        strategy="any",
        implementation="any:Any",
        status="resolved",
        diff=diff_between(NUMBERS, changed((3, b"x\n"))),
    )

    right = NaiveMerge([CONFLICT], diff).resolutions(attempt)
    told = NaiveMerge(conflicts, diff + more).resolutions(attempt)

    assert [one.text for one in right] == [b"x\n"]
    assert {(one.kind, one.reason) for one in told} == {("unknown", reason)}


def test_conflicts_with_nothing_between_them_are_told_apart():
    """No merge of ours has such, but a report may: both answers are empty here."""
    edits = [(5, b"x\n"), (20, b"")]
    marked = b"<<<<<<< ours\na\n=======\nb\n>>>>>>> theirs\n"
    shown = changed((5, marked), (20, marked + marked))
    attempt = ce.Attempt(
        strategy="any",
        implementation="any:Any",
        status="resolved",
        diff=diff_between(NUMBERS, changed(*edits)),
    )
    conflicts = [evolve(CONFLICT, line=line) for line in (6, 25, 30)]

    told = NaiveMerge(conflicts, diff_between(NUMBERS, shown)).resolutions(attempt)

    assert [(one.text, one.together) for one in told] == [(b"x\n", (0,)), (b"", (1,)), (b"", (2,))]


def test_a_moved_files_base_is_not_taken_for_what_stood_at_its_place():
    """A diff of the mode alone starts from a file that no version of the conflict need be."""
    base = ce.Snapshot.from_files({"f": b"1\n"})
    diff = ce.Changes({"f": ce.Entry(b"1\n", ce.FileMode.EXECUTABLE)}).diff(base)
    kind = ce.ConflictKind.RENAME_DELETE
    conflict = ce.Conflict(path="f", kind=kind, base=b"of g\n", ours=b"of g\n", theirs=None)
    attempt = ce.Attempt(strategy="any", implementation="any:Any", status="resolved", diff=diff)

    (told,) = NaiveMerge([conflict], diff).resolutions(attempt)

    assert (told.kind, told.reason) == ("unknown", "a diff shows the file in parts")


def test_the_strategys_words_stand_at_their_conflicts():
    """Also where one row is of several conflicts, and not where lines do not match."""
    edits = [(10, b"a\n"), (16, b"b\n"), (30, b"c\n")]
    ours, theirs = changed(*edits), changed(*[(at, new.upper()) for at, new in edits])
    merged = Merged.of_texts(NUMBERS, ours, theirs)
    one, two, three = merged.merge.conflicts
    rows = [
        ce.LedgerRow(path="f", line=one.line, conflicts=2, rule="both"),
        ce.LedgerRow(path="f", line=three.line, rule="alone"),
    ]
    shifted = [rows[0], ce.LedgerRow(path="f", line=two.line, rule="alone")]
    outcome = merged.resolve(in_turn([b"x\n"]))

    told = merged.tell(outcome, ledger=rows)
    told_of_shifted = merged.tell(outcome, ledger=shifted)

    assert [each.ledger.rule for each in told] == ["both", "both", "alone"]
    assert [each.ledger for each in told_of_shifted] == [None] * 3


@settings(max_examples=settings().max_examples // 4)
@given(reports())
def test_any_report_is_told_of(report):
    """Whatever a report holds, there is an answer for each conflict."""
    for attempt in report.attempts:
        told = report.resolutions(attempt.strategy)

        assert [each.conflict for each in told] == list(report.conflicts)


def test_a_strategy_without_a_row_is_a_key_error():
    """As with `attempt` and `blame`."""
    one, two = (
        ce.FeatureReport(number=number, patch=ce.PatchReport(status="empty")) for number in (1, 2)
    )
    report = ce.MergeReport(
        repo_name="any",
        task_id=1,
        timestamp=dt.datetime(2026, 1, 31, tzinfo=dt.UTC),
        feature1=one,
        feature2=two,
        conflict_details=None,
    )

    with pytest.raises(KeyError, match="union"):
        report.resolutions("union")


UNSEEN = [b"s%d\n" % n for n in range(9)]


def with_unseen_between():
    """Two conflicts, and between them lines of which no diff shows the middle ones."""
    base, ours, theirs = (
        b"".join([b"p\n", one, *UNSEEN, two, b"q\n"])
        for one, two in ((b"A\n", b"B\n"), (b"o1\n", b"o2\n"), (b"t1\n", b"t2\n"))
    )
    return Merged.of_texts(base, ours, theirs)


@pytest.mark.parametrize(
    "given_answers",
    [
        [b"".join([*UNSEEN, b"x\n"]), b""],
        [b"", b"".join([b"x\n", *UNSEEN])],
        [b"".join([b"x\n", *UNSEEN]), b"z\n"],
        [b"".join([*UNSEEN, b"x"]), b"z\n"],  # the settled lines begin behind the x
    ],
)
def test_lines_that_no_diff_shows_may_stand_in_an_answer(given_answers):
    """Where they do, it is not known which of the two stood there before."""
    merged = with_unseen_between()

    first, second = merged.tell(merged.resolve(in_turn(given_answers)))

    assert first.together == second.together == (0, 1)
    assert first.kind == second.kind == "unknown"
    assert first.reason == "it holds lines of the base that no diff shows"


def test_an_answer_with_some_of_the_settled_lines_is_told():
    """Lines that no diff shows can be no other ones, where those around them are."""
    merged = with_unseen_between()
    given_answers = [b"".join([*UNSEEN[:3], b"x\n", b"\n", UNSEEN[8]]), b"".join(UNSEEN[1:])]

    told = merged.tell(merged.resolve(in_turn(given_answers)))

    assert [(one.text, one.together, one.is_exact) for one in told] == [
        (given_answers[0], (0,), True),
        (given_answers[1], (1,), True),
    ]


@pytest.mark.parametrize("limit", ["_MOST_COMPARISONS", "_MOST_LINES"])
def test_a_search_that_takes_long_is_given_up(monkeypatch, limit):
    """Conflicts are told together then, as if the lines between them could stand elsewhere."""
    merged = with_unseen_between()
    outcome = merged.resolve(in_turn([b"x\n", b"y\n"]))
    apart = [one.together for one in merged.tell(outcome)]
    monkeypatch.setattr(occurrences, limit, 8)

    together = [one.together for one in merged.tell(outcome)]

    assert apart == [(0,), (1,)]
    assert together == [(0, 1), (0, 1)]


LINK = ce.FileMode.SYMLINK


@pytest.mark.parametrize(
    ("base", "ours", "theirs", "kept"),
    [
        (ce.Entry(b"x", LINK), None, ce.Entry(b"file\n"), b"x"),
        (ce.Entry(b"one\n"), ce.Entry(b"two\n"), ce.Entry(b"k", LINK), b"one\n"),
        (ce.Entry(b"2" * 40, ce.FileMode.SUBMODULE), None, ce.Entry(b"file\n"), b"2" * 40),
    ],
)
def test_an_entry_of_another_type_that_is_kept_is_not_deleted(base, ours, theirs, kept):
    """A diff has a change of type as a deletion and an addition; a strategy may undo both."""
    merged = Merged(
        ce.Snapshot.from_files({"a": base}), ce.Changes({"a": ours}), ce.Changes({"a": theirs})
    )

    (told,) = merged.tell(ce.MergeOutcome(changes=ce.Changes(), conflicts_met=1))

    assert (told.kind, told.text) == ("text", kept)


def test_lines_of_a_file_that_was_a_link_and_is_one_again_cannot_be_told():
    """The link stands in the place of them all, and the file is not gone."""
    tree = ce.Snapshot.from_files({"a": ce.Entry(b"x", LINK)})
    sides = [ce.Changes({"a": ce.Entry(text)}) for text in (b"1\n2\n3\n", b"1\n9\n3\n")]
    merged = Merged(tree, *sides)

    (told,) = merged.tell(ce.MergeOutcome(changes=ce.Changes(), conflicts_met=1))

    assert told.kind == "unknown"
    assert told.reason == "the base's entry stands there, which is of another type"


def test_a_submodule_is_told_by_its_commit():
    """As the versions of its conflict are, and not in the words that a diff has for it."""
    one, two, three = (ce.Entry(digit * 40, ce.FileMode.SUBMODULE) for digit in (b"1", b"2", b"3"))
    both = ce.Snapshot.from_files({"a": one})
    changed_by_both = Merged(both, ce.Changes({"a": two}), ce.Changes({"a": three}))
    added = Merged(ce.Snapshot.from_files({}), ce.Changes({"a": two}), ce.Changes({"a": three}))

    for merged in (changed_by_both, added):
        changes = ce.Changes({"a": two})
        (told,) = merged.tell(ce.MergeOutcome(changes=changes, conflicts_met=1))

        assert (told.kind, told.text) == ("text", merged.merge.conflicts[0].ours)


def test_an_open_conflict_of_a_changed_file_is_not_exact():
    """Its lines are as they were, and others of the file are not."""
    merged = Merged.of_texts(NUMBERS, changed((20, b"a\n")), changed((20, b"b\n")))
    shown = merged.merge.changes["f"].data
    left = evolve(
        rewritten(merged, shown.replace(b"0\n", b"elsewhere\n", 1)),
        conflicts=merged.merge.conflicts,
    )

    (told,) = merged.tell(left)

    assert (told.kind, told.is_exact) == ("open", False)
