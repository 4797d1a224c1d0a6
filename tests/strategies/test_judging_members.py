"""What a cascade rejects of its members' work, and what it keeps."""

import pytest
from generators import three_way_programs, three_way_texts
from hypothesis import given
from needs import need_package

import cooperbench_eval as ce
from cooperbench_eval.git.merging.conflicts import LedgerRow
from cooperbench_eval.git.trees.entries import FileMode
from cooperbench_eval.languages.faults.faults import find_fault
from cooperbench_eval.strategies import Gone

GAP = b"".join(b"line_%d = 0\n" % i for i in range(9))


class Member:
    """A strategy made of a function."""

    def __init__(self, function, name="member"):
        """Take the function that `merge` calls."""
        self.name = name
        self.merge = function


def answering(answer, name="member"):
    """Make a member that answers each conflict."""
    return Member(lambda given: ce.resolve_conflicts(given, answer), name)


def both(conflict):
    """Keep ours, then theirs."""
    return conflict.ours + conflict.theirs


def writing(files, name="writer"):
    """Make a member that writes whole files and shows no merge."""

    def merge(given):
        entries = {p: ce.Entry(e) if isinstance(e, bytes) else e for p, e in files.items()}
        return ce.MergeOutcome(changes=ce.Changes({**given.merge.changes, **entries}))

    return Member(merge, name)


def sides_of(**files):
    """Make base, ours and theirs of files, each given as three texts."""
    paths = {name.replace("_", "."): texts for name, texts in files.items()}
    base = ce.Snapshot.from_files({path: texts[0] for path, texts in paths.items()})
    sides = (ce.Changes({p: ce.Entry(texts[n]) for p, texts in paths.items()}) for n in (1, 2))
    return (base, *sides)


def merge_by(*members, **files):
    """Merge files with a cascade; returns the outcome and git's merge."""
    versions = sides_of(**files)
    return ce.merge(*versions, strategy=ce.cascade(*members)), ce.merge(*versions)


HEADS = (
    b"def f(a):\n    return a\n",
    b"def f(a, b):\n    return a\n",
    b"def f(a, c):\n    return a\n",
)
VALUES = (b"", b"run(2)\n", b"go(3)\n")
ARGUMENTS = (b"f(\n    1,\n)\n", b"f(\n    1,\n    k=2,\n)\n", b"f(\n    1,\n    m=3,\n)\n")


@pytest.mark.parametrize("name", ["a_yml", "a_toml", "a_json"])
def test_a_side_of_data_is_not_taken_if_the_others_change_is_lost(name):
    """Neither of one value, nor of two neighbouring ones, which a merge by key combines."""
    form = {
        "a_yml": b"a: %d\nb: %d\n",
        "a_toml": b"a = %d\nb = %d\n",
        "a_json": b'{\n  "a": %d,\n  "b": %d\n}\n',
    }[name]
    value = [form % each for each in ((1, 1), (2, 1), (3, 1))]
    neighbours = [form % each for each in ((1, 1), (2, 1), (1, 2))]

    for texts in (value, neighbours):
        outcome, git = merge_by(answering(lambda conflict: conflict.ours), **{name: texts})

        assert outcome.conflicts == git.conflicts


def test_what_does_not_parse_is_left_open():
    """Union gives the function two heads; the row names it, and says why it was rejected."""
    outcome, git = merge_by("union", a_py=HEADS)

    assert (outcome.changes, outcome.conflicts) == (git.changes, git.conflicts)
    (row,) = outcome.ledger
    assert (row.strategy, row.line, row.rule) == ("union", git.conflicts[0].line, "")
    assert row.reason == (
        "union's text was rejected: both sides' changes together would not parse"
        " (ours, line 1: `def f(a, b):`; theirs, line 1: `def f(a, c):`)"
    )


def test_union_alone_does_what_git_does():
    """It is a cascade that judges, not the strategy."""
    outcome = ce.merge(*sides_of(a_py=HEADS), strategy="union")

    assert outcome.status == "resolved"
    assert b"def f(a, b):\ndef f(a, c):\n" in outcome.changes["a.py"].data


UNION = {
    "both edited a line": (b"f(a)\n", b"f(a, b)\n", b"f(a, c)\n"),
    "each removed a line": (b"f(a)\ng(b)\n", b"g(b)\n", b"f(a)\n"),
}


@pytest.mark.parametrize("texts", UNION.values(), ids=UNION)
def test_the_lines_of_both_sides_are_rejected_if_they_repeat_a_line_of_the_base(texts):
    """A call would be made twice, or again; the same lines are kept if nothing is repeated."""
    outcome, _ = merge_by("union", a_py=texts)
    other, _ = merge_by("union", words=texts)
    fresh, _ = merge_by("union", a_py=(b"", *texts[1:]))

    assert "a merge by structure gives a different text" in outcome.ledger[0].reason
    assert outcome.conflicts
    assert other.conflicts
    assert not fresh.conflicts


def test_the_next_member_gets_what_was_rejected():
    """It may find a text without a fault."""
    outcome, _ = merge_by("union", answering(lambda _: b"def f(a, b, c):\n"), a_py=HEADS)

    assert outcome.changes["a.py"].data == b"def f(a, b, c):\n    return a\n"
    assert [(row.strategy, row.is_open) for row in outcome.ledger] == [("member", False)]


def test_only_the_conflict_with_the_fault_is_opened_again():
    """The other one of the file stays resolved."""
    files = [head + GAP + value for head, value in zip(HEADS, VALUES, strict=True)]

    outcome, git = merge_by("union", a_py=files)

    assert outcome.conflicts == git.conflicts[:1]
    assert outcome.changes["a.py"].data.endswith(GAP + b"run(2)\ngo(3)\n")
    rows = {row.line: (row.rule, bool(row.reason)) for row in outcome.ledger}
    assert rows == {
        git.conflicts[0].line: ("", True),
        git.conflicts[1].line: ("answer", False),
    }


def test_all_conflicts_of_the_file_are_opened_if_no_single_one_has_the_fault():
    """Each of the two texts defines a helper once; together they define it twice."""
    files = [value + GAP + value.replace(b"(", b"_on(") for value in VALUES]
    helping = answering(lambda c: both(c) + b"def helper():\n    return 1\n")
    helping.may_invent = True

    outcome, git = merge_by(helping, a_py=files)

    assert outcome.conflicts == git.conflicts
    assert {row.reason for row in outcome.ledger} == {
        "member's text was rejected: 'helper' would be declared 2 times"
    }


def test_all_conflicts_are_opened_if_the_file_has_another_fault_without_the_faulty_ones():
    """One conflict does not parse on its own, and the two others do not fit together."""
    files = [b"".join([v, GAP, v, GAP, h]) for v, h in zip(VALUES, HEADS, strict=True)]
    helper = b"def helper():\n    return 1\n"
    helping = answering(lambda c: both(c) + (b"" if b"def" in c.ours else helper))

    outcome, git = merge_by(helping, a_py=files)

    assert outcome.conflicts == git.conflicts


def test_all_conflicts_are_opened_if_the_text_between_them_changed():
    """It is unknown then which text is whose."""
    files = [head + GAP + value for head, value in zip(HEADS, VALUES, strict=True)]
    text = HEADS[1] + HEADS[2] + GAP.replace(b"line", b"other") + VALUES[1] + VALUES[2]

    outcome, git = merge_by(writing({"a.py": text.replace(b"a\ndef", b"a\n)def")}), a_py=files)

    assert (outcome.changes, outcome.conflicts) == (git.changes, git.conflicts)


def test_conflicts_that_one_row_resolves_are_opened_together():
    """A text for both is not half of a text for each."""
    files = [
        head + GAP + value + GAP + head2
        for head, value, head2 in zip(HEADS, VALUES, ARGUMENTS, strict=True)
    ]

    def merge(given):
        done = ce.resolve_conflicts(given, both)
        first, _, last = done.ledger
        pair = LedgerRow(path="a.py", line=first.line, conflicts=2, rule="both", ours_kept=1.0)
        return ce.MergeOutcome(changes=done.changes, merge=done.merge, ledger=(pair, last))

    outcome, git = merge_by(Member(merge), a_py=files)

    assert outcome.conflicts == git.conflicts[:2]
    assert [(row.line, row.conflicts, row.is_open) for row in outcome.ledger] == [
        (git.conflicts[2].line, 1, False),
        (git.conflicts[0].line, 2, True),
    ]
    assert outcome.ledger[1].ours_kept is None  # nothing is kept


LINK = ce.Entry(b"run(2)\ngo(3)\n", FileMode.SYMLINK)


@pytest.mark.parametrize("text", [None, b"run(2)\n", b"run(2)\ngo(3)\n(", LINK])
def test_a_file_without_a_record_is_judged_too(text):
    """It is open again if it is gone, lost a side or does not parse; other files stay."""
    member = writing({"a.py": text, "b.txt": b"2\n3\n"})

    changed = (b"nothing\n", *VALUES[1:])

    outcome, git = merge_by(member, "tokens", a_py=changed, b_txt=(b"", b"2\n", b"3\n"))

    assert [conflict.path for conflict in outcome.conflicts] == ["a.py"]
    assert outcome.changes["a.py"] == git.changes["a.py"]
    assert outcome.changes["b.txt"].data == b"2\n3\n"
    (row,) = outcome.ledger
    assert (row.path, row.strategy, row.is_open) == ("a.py", "tokens", True)


def test_a_member_without_rows_gets_one_for_what_was_rejected():
    """Otherwise the conflict would have none."""
    outcome, git = merge_by(writing({"a.py": b"run(2)\n"}), a_py=VALUES)

    (row,) = outcome.ledger
    assert (row.path, row.line, row.strategy) == ("a.py", git.conflicts[0].line, "writer")
    assert row.reason.startswith("writer's text was rejected: 'go' would be lost (")


def test_a_token_that_a_partial_answer_loses_is_missed():
    """The lines of both sides stand for what is open, so they are not missed."""
    files = [value + GAP + head for value, head in zip(VALUES, HEADS, strict=True)]
    first = answering(lambda c: c.ours if b"run(2)" in c.ours else None)

    outcome, git = merge_by(first, a_py=files)

    assert outcome.conflicts == git.conflicts
    assert "member's text was rejected: 'go' would be lost (" in outcome.ledger[0].reason
    assert outcome.ledger[1].reason == "the strategy has no answer"


def test_source_that_does_not_parse_in_a_version_is_left_open():
    """Nobody could tell whether its merge is broken."""
    broken = [head + b"(\n" for head in HEADS]

    outcome, git = merge_by("union", a_py=broken)

    assert outcome.changes == git.changes
    assert "the base does not parse" in outcome.ledger[0].reason


@pytest.mark.parametrize("path", ["a_txt", "a_unknown"])
def test_files_without_a_grammar_are_judged_by_their_lines(path):
    """Nobody knows whether they parse, but a line is lost or repeated in any text."""
    values = b"# a\n", b"# a\na = 2\n", b"# a\nb = 3\n"
    assert merge_by("union", **{path: values})[0].status == "resolved"
    assert merge_by("union", **{path: HEADS})[0].status == "conflicts"
    assert merge_by(answering(lambda c: c.ours), **{path: values})[0].status == "conflicts"


@pytest.mark.parametrize("path", ["a.py", "a.toml", "a"])
def test_a_value_that_no_version_has_is_rejected_unless_a_model_may_write_it(path):
    """In source as in any other file; the reason names the value."""
    texts = {path.replace(".", "_"): (b"# c\n", b"# c\na = 1.7\n", b"# c\nb = 2.5\n")}
    member = answering(lambda c: both(c) + b"c = 2.7\n")

    refused, git = merge_by(member, **texts)
    member.may_invent = True
    accepted, _ = merge_by(member, **texts)

    assert refused.changes == git.changes
    problem = "member's text was rejected: the merged file would have '2.7', which no version has"
    assert [row.reason for row in refused.ledger] == [
        f"{problem} (ours, line 2: `a = 1.7`; theirs, line 2: `b = 2.5`)"
    ]
    assert accepted.changes[path].data.endswith(b"b = 2.5\nc = 2.7\n")


@pytest.mark.parametrize(
    ("path", "text"),
    [
        ("a.py", b'def f():\n    """Do.\n\n    See %b.\n    """\n'),
        ("a.ts", b"/**\n * See %b.\n */\nf();\n"),
        ("a.go", b"package a\n\n// See %b.\nvar x = 1\n"),
    ],
)
def test_dashed_and_dotted_words_are_values_in_the_comments_of_source(path, text):
    """Docstrings and comments of several lines included."""
    texts = {path.replace(".", "_"): [text % name for name in (b"web-api", b"web-ui", b"svc-api")]}

    for member in ("tokens", "structured", "cascade"):
        outcome, git = merge_by(member, **texts)

        assert outcome.changes == git.changes


@pytest.mark.parametrize("is_model", [False, True])
def test_only_a_model_may_combine_source_otherwise_than_a_merge_by_structure(is_model):
    """It may know better; of any other member, layout alone may differ."""
    texts = b"x = a\n", b"x = a or b\n", b"x = a or c\n"
    found = []
    for text in (b"x = a or  b or c\n", b"x = a or (b or c)\n"):
        member = answering(lambda _, text=text: text)
        member.may_invent = is_model
        found.append(merge_by(member, a_py=texts)[0].status)

    assert found == ["resolved", "resolved" if is_model else "conflicts"]


MOVED = {
    "in place": ("if a:", "    new()", "    two()", "if b:", "    four()"),
    "in another block": ("if a:", "    two()", "if b:", "    new()", "    four()"),
    "out of its block": ("new()", "if a:", "    two()", "if b:", "    four()"),
    "twice": ("if a:", "    new()", "    new()", "    two()", "if b:", "    four()"),
}


@pytest.mark.parametrize("name", MOVED)
def test_a_statement_stays_where_its_side_put_it(name):
    """Also if the member rewrites the whole file."""

    def function(*lines):
        body = (f"    {each}\n" for each in ("one()", *lines, "three()"))
        return "".join(("def f(a):\n", *body)).encode()

    base = function("if a:", "    two()")
    ours = function("if a:", "    new()", "    two()")
    theirs = function("if a:", "    two()", "if b:", "    four()")
    clash = b"x = 1\n", b"x = 1\ny = 2\n", b"x = 1\nz = 3\n"
    versions = [head + text for head, text in zip((base, ours, theirs), clash, strict=True)]
    member = writing({"a.py": function(*MOVED[name]) + b"x = 1\ny = 2\nz = 3\n"})

    outcome, _ = merge_by(member, a_py=versions)

    assert bool(outcome.conflicts) is (name != "in place")


def test_other_languages_are_judged():
    """Two heads of one function, and two constructors of one class."""
    need_package("tree_sitter_typescript")
    heads = [b"function f(%s) {\n  return a;\n}\n" % names for names in (b"a", b"a, b", b"a, c")]
    classes = [
        b"class A {\n%s  go() {}\n}\n" % new
        for new in (b"", b"  constructor(a) {}\n", b"  constructor(b) {}\n")
    ]

    unclosed, _ = merge_by("union", a_ts=heads)
    twice, _ = merge_by("union", a_ts=classes)

    assert "would not parse" in unclosed.ledger[0].reason
    assert "2 times" in twice.ledger[0].reason


@pytest.mark.parametrize("path", ["a_py", "a_txt"])
@pytest.mark.parametrize(
    "encode",
    [
        lambda text: text.replace(b"\n", b"\r\n"),
        lambda text: b"\xef\xbb\xbf" + text,
        lambda text: b"# -*- coding: latin-1 -*-\nword = '\xe4'\n" + text,
    ],
    ids=["CR LF", "byte order mark", "Latin-1"],
)
def test_unusual_files_stay_as_they_are(encode, path):
    """What is right is accepted byte for byte, and a loss is noticed."""
    files = [encode(b"first = 0\n" + text) for text in VALUES]

    right, _ = merge_by("union", **{path: files})
    wrong, git = merge_by(answering(lambda c: c.ours), **{path: files})

    merged = encode(b"first = 0\nrun(2)\ngo(3)\n")
    assert right.changes[path.replace("_", ".")].data == merged
    assert wrong.changes == git.changes


def test_a_byte_order_mark_is_not_repeated():
    """Both sides of the first line have it."""
    outcome, git = merge_by("union", a_py=[b"\xef\xbb\xbf" + text for text in VALUES])

    assert outcome.changes == git.changes
    assert "byte order mark" in outcome.ledger[0].reason


FLOW = [
    b"def f(x):\n    y = %s\n    return %s\n" % each
    for each in ((b"x", b"y"), (b"x + 1", b"y"), (b"x", b"y * 2"))
]


@pytest.mark.parametrize("strategy", ["tokens", "structured"])
def test_every_strategy_is_asked_whether_the_sides_disturb_each_other(strategy):
    """Text that is merged word by word has the same effects as a merged tree."""
    outcome, _ = merge_by(strategy, a_py=FLOW)

    (row,) = outcome.ledger
    assert "in 'f', ours changes 'y', theirs how it is used (ours, line 2" in row.reason
    assert (row.ours_line, row.theirs_line) == (2, 2)
    assert merge_by(strategy, a_txt=FLOW)[0].status == "resolved" or strategy == "structured"


ROWS = [b"".join(b"%s %d\n" % (word, i) for i in range(9)) for word in (b"line", b"row")]


@pytest.mark.parametrize("strategy", ["union", "tokens", "cascade"])
def test_conflict_markers_that_no_version_has_are_an_open_conflict(strategy):
    """A renamed file is merged before it meets a new one of that name."""
    base = ce.Snapshot.from_files({"a.txt": b"x\n" + ROWS[0]})
    ours = {"c.txt": b"o\n" + ROWS[0]}
    theirs = {"a.txt": b"t\n" + ROWS[0], "c.txt": b"new\n"}
    sides = [ce.Changes.between(base, ce.Snapshot.from_files(each)) for each in (ours, theirs)]

    outcome = ce.merge(base, *sides, strategy=strategy)

    assert [conflict.path for conflict in outcome.conflicts] == ["c.txt"]
    assert outcome.changes == ce.merge(base, *sides).changes
    assert strategy != "union" or "conflict markers" in outcome.ledger[0].reason


@pytest.mark.parametrize("answer", [b"a = 2\n(", b"", b"a = 2\n", Gone.GONE])
def test_the_text_of_a_file_that_one_side_deleted_is_judged(answer):
    """It must parse, and keep what the other side added; the file may also go."""
    base = ce.Snapshot.from_files({"a.py": b"a = 1\n"})
    sides = ce.Changes({"a.py": ce.Entry(b"a = 2\n")}), ce.Changes({"a.py": None})

    outcome = ce.merge(base, *sides, strategy=ce.cascade(answering(lambda _: answer)))

    assert bool(outcome.conflicts) == (answer in {b"a = 2\n(", b""})


@pytest.mark.parametrize("lines", [51_000, pytest.param(500_000, marks=pytest.mark.long)])
def test_source_that_is_too_large_to_check_is_left_open(lines):
    """The reason says so; a file that is not source is checked at any size."""
    large = b"# nothing\n" * lines

    source, git = merge_by("union", a_py=[text + large for text in VALUES])
    other, _ = merge_by("union", a_csv=[text + large for text in VALUES])

    assert source.changes == git.changes
    assert "too many to check" in source.ledger[0].reason
    assert other.status == "resolved"


@given(three_way_programs())
def test_a_cascade_of_union_is_union_without_faults(texts):
    """It rejects union's file if it has a fault, and changes nothing in what it accepts."""
    versions = sides_of(a_py=texts)
    union = ce.merge(*versions, strategy="union")

    outcome = ce.merge(*versions, strategy=ce.cascade("union"))

    if not union.conflicts_met:
        assert outcome.changes == union.changes
        return
    merged = union.changes["a.py"].data
    if find_fault("a.py", texts, merged):
        assert outcome.conflicts
    if not outcome.conflicts:
        assert outcome.changes == union.changes
    assert sum(row.conflicts for row in outcome.ledger if row.is_open) == len(outcome.conflicts)


@given(three_way_texts())
def test_union_loses_nothing_in_a_text(texts):
    """So a cascade accepts all that it does to such a file, unless a line would be repeated."""
    versions = sides_of(a_txt=texts)
    union = ce.merge(*versions, strategy="union")

    outcome = ce.merge(*versions, strategy=ce.cascade("union"))

    if not outcome.conflicts:
        assert outcome.changes == union.changes
    elif "would repeat or restore" not in outcome.ledger[0].reason:
        # such as a line that a side moved, which counts cannot tell from a loss
        assert find_fault("a.txt", texts, union.changes["a.txt"].data)


@pytest.mark.parametrize("item", ["    return a{}\n", "    a{} = g()\n"])
def test_items_of_both_sides_in_one_tuple_are_rejected(item):
    """Each has a meaning by its place."""
    versions = [f"def f():\n{item.format(new)}".encode() for new in ("", ", x", ", y", ", x, y")]
    member = writing({"a.py": versions.pop()})

    outcome, git = merge_by(member, a_py=versions)

    assert outcome.changes == git.changes
