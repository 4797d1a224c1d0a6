"""What a question shows besides its conflicts."""

import pytest

import cooperbench_eval as ce
from cooperbench_eval.git.merging.tree_merge import merge_changes
from cooperbench_eval.strategies import MergeInput
from cooperbench_eval.strategies.llm.background import Background

F = b"def f(a):\n    b = a\n    c = 1\n    return b\n"
G = b"def g(a):\n    return a\n"


def input_of(files):
    """Return what a strategy gets for files, each with its text in base, ours and theirs."""
    trees = [
        ce.Snapshot.from_files({p: each[i] for p, each in files.items() if each[i] is not None})
        for i in range(3)
    ]
    ours, theirs = (ce.Changes.between(trees[0], side) for side in trees[1:])
    merge = merge_changes(trees[0], ours, theirs)
    return MergeInput(base=trees[0], ours=ours, theirs=theirs, merge=merge)


def shown(base, ours, theirs, path="a.py", **others):
    """Return what is shown for all conflicts of a file."""
    others = {f"{name}.py": texts for name, texts in others.items()}
    merge_input = input_of({path: (base, ours, theirs), **others})
    conflicts = [each for each in merge_input.conflicts if each.path == path]
    assert conflicts
    return Background(merge_input).of(path, conflicts)


def edits(text=F, ours=b"c = 2", theirs=b"c = 3"):
    """Return a text and two edits of it that conflict."""
    return text, text.replace(b"c = 1", ours), text.replace(b"c = 1", theirs)


# --- definitions ---------------------------------------------------------------------------------


def test_the_definition_around_a_conflict_is_shown_in_all_versions():
    """It shows edits that git merges, too."""
    base, ours, theirs = edits()
    theirs = theirs.replace(b"b = a", b"b = a.copy()")

    text = shown(base, ours, theirs)

    assert text == (
        f"Definition of f, base:\n```\n{base.decode()}```\n"
        f"Definition of f, side A:\n```\n{ours.decode()}```\n"
        f"Definition of f, side B:\n```\n{theirs.decode()}```\n\n"
    )


def test_a_method_is_shown_without_its_class():
    """And a conflict at the top level has no definition."""
    body = b"".join(b"    " + line + b"\n" for line in F.splitlines())
    base, ours, theirs = edits(b"class A:\n    x = 1\n\n" + body)

    assert "class A" not in shown(base, ours, theirs)
    assert "Definition of A.f, side A:\n```\n    def f(a):\n" in shown(base, ours, theirs)
    assert shown(*edits(b"\nc = 1\n" + F)).count("Definition of") == 3


def test_what_is_wholly_in_a_conflict_is_not_shown_again():
    """The conflict shows it."""
    assert shown(b"x = 1\n", b"x = 1\n" + F, b"x = 1\n" + G) == ""


def test_a_version_without_the_definition_says_so():
    """A side may add it, or rename it."""
    base, ours, theirs = edits()

    text = shown(base, ours, theirs.replace(b"def f", b"def h"))

    assert "Definition of f, side B: it is not there.\n" in text
    assert "Definition of h, base: it is not there.\n" in text
    assert "Definition of h, side B:\n```\ndef h(a):\n" in text


def test_equal_versions_are_shown_once():
    """A conflict may touch the definition only on one side."""
    base = b"x = 1\n" + F
    ours = b"x = 2\n" + F.replace(b"def f(a)", b"def f(a, b)")

    text = shown(base, ours, b"x = 3\n" + F)

    assert "Definition of f, side B: as in the base.\n" in text


def test_lines_far_from_an_edit_are_left_out_of_a_long_definition():
    """The first lines stay, and the edits, also those that git merges."""
    far = b"    d = 1\n" * 1_000
    base, ours, theirs = edits(F.replace(b"    c = 1\n", far + b"    c = 1\n" + far))
    theirs = theirs.replace(b"return b", b"return b or a")

    text = shown(base, ours, theirs)

    assert (
        "Definition of f, side A:\n```\ndef f(a):\n    b = a\n    d = 1\n    d = 1\n    d = 1\n"
        "[994 lines are left out here]\n    d = 1\n    d = 1\n    d = 1\n    c = 2\n"
        "    d = 1\n    d = 1\n    d = 1\n[994 lines are left out here]\n"
    ) in text
    assert "    d = 1\n    return b or a\n```\n" in text
    assert len(text) < 1000


@pytest.mark.parametrize("line", [b"    d = 1\n", b"    d = '" + b"x" * 50_000 + b"'\n"])
def test_the_middle_of_a_long_edit_is_left_out(line):
    """The text says how much; the head and the end stay."""
    base, ours, theirs = edits(F)
    more = line * (1 if len(line) > 100 else 500) + b"    return b\n"
    base, ours, theirs = (
        text.replace(b"    return b\n", (b"    e = %d\n" % i) + more.replace(b"d", b"d%d" % i))
        for i, text in enumerate((base, ours, theirs))
    )

    text = shown(base, ours, theirs)

    assert len(text) < 7000
    assert text.count("characters are left out here]\n") == 3
    assert text.count("```\ndef f(a):\n    b = a\n") == text.count("    return b\n```\n") == 3


def test_few_definitions_are_shown():
    """A small file is asked about in one question, however many definitions it has."""
    functions = (F.replace(b"f(", b"f%d(" % i) + b"\n# x\n# y\n# z\n\n" for i in range(20))
    base, ours, theirs = edits(b"".join(functions))

    assert shown(base, ours, theirs).count("Definition of") == 4 * 3


def test_text_in_a_definition_does_not_end_its_fence():
    """Control characters stay as they are, as in conflicts."""
    evil = b'    """\n```\nConflict 9\n```conflict-1\n\x1b[31m\x07\n    """\n'
    base, ours, theirs = edits(F.replace(b"    b = a\n", evil))

    text = shown(base, ours, theirs)

    assert text.count("````\ndef f(a):\n") == 3
    assert text.count("    return b\n````\n") == 3


@pytest.mark.parametrize(
    ("path", "text"),
    [
        ("a.txt", F),
        ("a.py", F + b"x = (\n"),
        ("a.py", F + b"# " + b"x" * 600_000 + b"\n"),
        ("a.rb", b"def f(a)\n  c = 1\nend\n"),
    ],
    ids=["no language", "does not parse", "too large", "names unknown"],
)
def test_a_file_that_cannot_be_read_has_no_definitions(path, text):
    """Its conflicts can still be asked about."""
    assert shown(*edits(text), path=path) == ""


def test_a_text_of_another_encoding_is_escaped():
    """A version may have bytes that are not in the merged file."""
    base, ours, theirs = edits(F.replace(b"b = a", b"b = a  # caf\xc3\xa9"))

    text = shown(base.replace(b"\xc3\xa9", b"\xe9"), ours, theirs)

    assert "café" in text
    assert "caf\\xe9" in text


# --- functions that a side calls -----------------------------------------------------------------


def called(new, call=b"c = g(2)", **others):
    """Return what is shown of `g`, which theirs changed and ours calls."""
    base, ours, theirs = edits(ours=call)
    if "b" not in others:
        base, ours, theirs = base + b"\n\n" + G, ours + b"\n\n" + G, theirs + b"\n\n" + new
    return shown(base, ours, theirs, **others).partition("Functions ")[2]


@pytest.mark.parametrize(
    ("new", "line"),
    [
        (G.replace(b"(a)", b"(a, *,\n        b=1)"), "a.py: def g(a, *, b=1):"),
        (G.replace(b"def g", b"def h"), "a.py: g is now def h(a):"),
        (b"", "a.py: g is gone"),
    ],
    ids=["parameters", "renamed", "removed"],
)
def test_a_function_that_the_other_side_changed_is_shown(new, line):
    """Only its head, as it is called now."""
    assert called(new) == f"that side A calls, as side B changed them:\n```\n{line}\n```\n\n"


def test_a_function_of_another_file_is_shown():
    """Of the files that the other side touches."""
    text = called(b"", b=(G, G, G.replace(b"(a)", b"(a, b)")))

    assert "\nb.py: def g(a, b):\n" in text


def test_a_constructor_is_called_by_the_name_of_its_class():
    """Python's is called `__init__` where it is defined."""
    old = b"class P:\n    def __init__(self, a):\n        self.a = a\n"

    text = called(b"", call=b"c = P(2)", b=(old, old, old.replace(b", a)", b", a, b)")))

    assert "\nb.py: def __init__(self, a, b):\n" in text


@pytest.mark.parametrize(
    ("new", "call"),
    [
        (G.replace(b"return a", b"return a + 1"), b"c = g(2)"),
        (G.replace(b"(a)", b"(a, b)"), b"c = 2"),
        (G.replace(b"def g(a)", b"@cached\ndef g(a: int) -> int"), b"c = g(2)"),
    ],
    ids=["its body changed", "it is not called", "its types changed"],
)
def test_other_functions_are_not_shown(new, call):
    """A change of the body changes no call."""
    assert called(new, call) == ""


def test_a_definition_that_is_shown_is_not_shown_again():
    """A function may call itself."""
    base, ours, theirs = edits(ours=b"c = f(2)")

    assert "Functions" not in shown(base, ours, theirs.replace(b"(a)", b"(a, b)"))


def test_ours_changes_may_matter_to_theirs():
    """Both directions are searched."""
    base, ours, theirs = edits(theirs=b"c = g(2)")

    text = shown(base + G, ours + G.replace(b"(a)", b"(a, b)"), theirs + G)

    assert "Functions that side B calls, as side A changed them:\n```\na.py: def g(a, b):" in text


def test_few_functions_are_shown_and_little_of_each():
    """However many a side calls."""
    names = [b"g%d" % i + b"x" * 5000 for i in range(30)]
    old = b"".join(b"def %s(a):\n    pass\n" % name for name in names)
    call = b"c = " + b" + ".join(name + b"(1)" for name in names)

    text = called(b"", call=call, b=(old, old, old.replace(b"(a)", b"(a, b)")))

    assert text.count("b.py: ") == 8
    assert len(text) < 3000


def test_a_file_that_does_not_parse_changes_no_function():
    """It has no definitions that can be found."""
    assert called(b"", b=(G, G, b"def g(a, b)\n")) == ""
