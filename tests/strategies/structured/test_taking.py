"""Functions that are taken as a whole from one side."""

import pytest
from generators import three_way_programs
from hypothesis import given
from needs import need_package

import cooperbench_eval as ce
from cooperbench_eval.strategies.structured.taking import take_functions

BASE = "def f(a):\n    return g(1, a)\n"
ONE = "def f(a, limit=None):\n    return g(limit, a)\n"
BOTH = "def f(a, limit=None, up=False):\n    return g(limit or up, a)\n"


def take(base, ours, theirs, path="a.py"):
    """Return the first versions with functions taken, as texts, and the rule."""
    for taken in take_functions(path, tuple(text.encode() for text in (base, ours, theirs))):
        return [text.decode() for text in taken.versions[1:]], taken.rule
    return None


def test_the_side_with_both_features_is_taken():
    """The order of the sides only changes the rule."""
    assert take(BASE, ONE, BOTH) == ([BOTH, BOTH], "took theirs, which contains ours")
    assert take(BASE, BOTH, ONE) == ([BOTH, BOTH], "took ours, which contains theirs")


def test_what_is_outside_of_the_function_stays():
    """Only the function is taken, at its own place and with its own indentation."""
    inside = [text.replace("\n", "\n    ").rstrip() + "\n" for text in ("\n" + BASE, ONE, BOTH)]
    base = f"class A:\n    {inside[0].strip()}\n\n    x = 1\n"
    ours = f"import re\n\n\nclass A:\n    {inside[1].strip()}\n\n    x = 1\n"
    theirs = f"class A:\n    y = 2\n\n    {inside[2].strip()}\n\n    x = 1\n"

    (mine, other), _ = take(base, ours, theirs)

    assert mine == ours.replace(inside[1].strip(), inside[2].strip())
    assert other == theirs


@pytest.mark.parametrize(
    "one",
    [
        ONE.replace("limit", "most"),
        ONE.replace("limit=None", "limit=3"),
        ONE.replace("limit=None", "limit: int = None"),
        ONE.replace("g(limit", "clean(limit"),
        BASE.replace("1", "2"),
        BASE,
    ],
    ids=["a name", "a default", "a type", "a call", "no name", "no change"],
)
def test_a_side_without_all_that_the_other_adds_is_not_taken(one):
    """A name, a default, a type or a call is missing, or nothing shows a feature."""
    assert take(BASE, one, BOTH) is None


def test_a_name_in_a_comment_or_docstring_does_not_count():
    """It declares nothing."""
    for note in ("    # most\n", '    """most"""\n'):
        head, _, rest = BOTH.partition("\n")
        assert take(BASE, ONE.replace("limit", "most"), head + "\n" + note + rest) is None
        head, _, rest = ONE.partition("\n")
        assert take(BASE, head + "\n" + note + rest, BOTH) is not None


def test_parameters_of_functions_inside_count():
    """An inner function of the same name must take what the other side's takes."""
    texts = [
        f"def f(a):\n    def g({names}):\n        return {value}\n    return g\n"
        for names, value in (("a", "a"), ("a, b", "b"), ("a", "(a, b, c)"))
    ]

    assert take(*texts) is None


def test_new_functions_of_both_sides_are_compared_as_well():
    """The base has none."""
    assert take("x = 1\n", "x = 1\n" + ONE, "x = 1\n" + BOTH) is not None


def test_other_functions_are_merged():
    """A function that can be merged is not taken, if another one must be."""
    adds = (
        "def g(a):\n    return a\n",
        "def g(a, b=1):\n    return a\n",
        "def g(a, b=1, c=2):\n    return a\n",
    )
    base, ours, theirs = (one + two for one, two in zip((BASE, ONE, BOTH), adds, strict=True))

    (mine, _), _ = take(base, ours, theirs)

    assert mine == BOTH + adds[1]


@pytest.mark.parametrize(
    ("suffix", "package", "texts"),
    [
        (
            ".ts",
            "tree_sitter_typescript",
            (
                "function f(a: string) {\n  return a;\n}\n",
                "function f(a: string, limit = 0) {\n  return g(a, limit);\n}\n",
                "function f(a: string, limit = 0, up = false) {\n  return g(a, limit, up);\n}\n",
            ),
        ),
        (
            ".go",
            "tree_sitter_go",
            (
                "package p\n\nfunc f(a int) int {\n\treturn a\n}\n",
                "package p\n\nfunc f(a int, limit int) int {\n\treturn a[:limit]\n}\n",
                "package p\n\nfunc f(a int, limit int, up int) int {\n\treturn limit + up\n}\n",
            ),
        ),
    ],
)
def test_other_languages(suffix, package, texts):
    """The rule is the same."""
    need_package(package)

    assert take(*texts, path=f"a{suffix}") == ([texts[2]] * 2, "took theirs, which contains ours")


def test_the_receiver_of_a_method_in_go_is_not_all_of_its_parameters():
    """The parameters come after it."""
    need_package("tree_sitter_go")
    texts = [
        f"package p\n\nfunc (t *T) f({names}) int {{\n\treturn {value}\n}}\n"
        for names, value in (("a int", "a"), ("a int, b int", "b"), ("a int", "b + c"))
    ]

    assert take(*texts, path="a.go") is None


@pytest.mark.parametrize(
    ("path", "texts"),
    [
        ("a.txt", (BASE, ONE, BOTH)),
        ("a.py", (BASE, ONE + "(", BOTH)),
        ("a.py", (BASE, ONE, BOTH + "# long\n" * 80_000)),
    ],
    ids=["no language", "does not parse", "too large"],
)
def test_files_that_cannot_be_read_are_left(path, texts):
    """Nothing is taken."""
    assert take(*texts, path=path) is None


# --- strategies -------------------------------------------------------------------------------


LOSSY = ONE.replace("limit, a)", "limit, a, 7)")


def merge(texts, strategy):
    """Merge one file."""
    base = ce.Snapshot.from_files({"a.py": texts[0]})
    sides = [ce.Changes({"a.py": ce.Entry(text)}) for text in texts[1:]]
    return ce.merge(base, *sides, strategy=strategy)


@pytest.mark.parametrize("encode", [str.encode, lambda t: t.replace("\n", "\r\n").encode()])
@pytest.mark.parametrize("name", ["structured", "cascade"])
def test_it_is_an_option_of_structured_and_of_cascades(name, encode):
    """The ledger says what was taken, and how much of ours that keeps."""
    texts = [encode(text) for text in (BASE, LOSSY, BOTH)]

    without = merge(texts, ce.get_strategy(name))
    outcome = merge(texts, ce.get_strategy(name, takes_sides=True))

    assert without.status == "conflicts"
    assert outcome.changes["a.py"].data == texts[2]
    (row,) = outcome.ledger
    assert row.rule == "structure, took theirs, which contains ours"
    assert row.ours_kept < row.theirs_kept == 1.0


def test_a_cascade_without_the_option_rejects_what_a_member_took():
    """The checks find that something of ours is lost."""
    texts = [text.encode() for text in (BASE, LOSSY, BOTH)]
    member = ce.get_strategy("structured", takes_sides=True)

    assert merge(texts, ce.cascade(member)).status == "conflicts"
    assert merge(texts, ce.cascade(member, takes_sides=True)).status == "resolved"


@given(three_way_programs())
def test_a_file_that_can_be_merged_is_merged_without_taking(texts):
    """The option only adds candidates."""
    plain = merge(texts, "structured")
    taking = merge(texts, ce.get_strategy("structured", takes_sides=True))

    if not plain.conflicts:
        assert taking.changes == plain.changes
    assert len(taking.conflicts) <= len(plain.conflicts)
