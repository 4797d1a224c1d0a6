"""Which child of one version became which of the other."""

import pytest
from generators import three_way_programs
from hypothesis import given

from cooperbench_eval.languages.alignment import align, similarity
from cooperbench_eval.languages.files import read_versions
from cooperbench_eval.languages.tree import Mode


def aligned(base, side):
    """Align the statements of two files; their ends aside."""
    trees = read_versions("a.py", [base.encode(), side.encode()])
    return align(trees[0].children[:-1], trees[1].children[:-1], Mode.MEMBERS)


def items(*words):
    """Read the items of a list."""
    source = b"f(%s)\n" % b", ".join(words)
    (statement, _) = read_versions("a.py", [source, b"\n"])[0].children
    return statement.children[1].children[1].children


ALIGNED = {
    "one more": ("a\nc\n", "a\nb\nc\n", [0, 2]),
    "one fewer": ("a\nb\nc\n", "a\nc\n", [0, None, 1]),
    "other layout": ("f(a)\n", "f(\n  a\n)\n", [0]),
    "one name": ("def f(): a\n", "def f(): b + c + d + e\n", [0]),
    "one name among others": ("def f(): a\n", "def g(): a\ndef f(): b + c + d\n", [1]),
    "names that swapped": ("def f(): a\ndef g(): b\n", "def g(): b\ndef f(): a\n", [None, 0]),
    "a new name and most words": (
        "def f():\n    one()\n    two()\n    three()\n",
        "def g():\n    one()\n    two()\n    three()\n",
        [0],
    ),
    "a new name and other words": ("def f(): one()\n", "def g(x): return x\n", [None]),
    "half of the words": ("a(b)\n", "a(c)\n", [0]),
    "only brackets": ("a()\n", "c()\n", [None]),
    "only brackets and commas": ("a(b, 'x')\n", "c(d, 'y')\n", [None]),
    "brackets before the same call": ("a()\nc()\n", "c(x)\n", [None, 0]),
    "no words": ("a\n", "b\n", [None]),
    "another kind": ("return a\n", "raise a\n", [None]),
    "the likest": ("f(a, b, c)\n", "f(x, y)\nf(a, b, d)\n", [1]),
    "a statement that was wrapped": (
        "if a:\n    call(b, c, d)\n",
        "if x:\n    if a:\n        call(b, c, d)\n",
        [None],
    ),
    "a function that was decorated": ("def f(a, b): pass\n", "@c\ndef f(a, b): pass\n", [0]),
    "a head of several words": (
        "for a in b:\n    call(a, 1, 'x')\n    d += e\n",
        "n = 0\nfor a in b:\n    return other\n",
        [1],
    ),
    "another head": (
        "for a in b:\n    call(a, 1, 'x')\n    d += e\n",
        "for f in g:\n    return other\n",
        [None],
    ),
    "a value of one variable": ("a = f(1)\n", "a = 2\n", [0]),
}


@pytest.mark.parametrize(("base", "side", "expected"), ALIGNED.values(), ids=ALIGNED)
def test_statements_are_found_by_text_then_name_then_likeness(base, side, expected):
    """Those for which there is none are gone."""
    assert aligned(base, side) == expected


def test_items_are_found_by_their_names():
    """A dict's key or a keyword says more than the value."""
    base, side = items(b"a=1", b"b=2"), items(b"b=1", b"c=2")

    assert align(base, side, Mode.LIST) == [None, 0]


def test_a_statement_with_all_words_is_the_edited_one():
    """Another one may share more of its words with it, but not what tells them apart."""
    base, side = 'log("a", x)\n', 'log("b", x)\nlog("a", double(x + 1))\n'

    assert aligned(base, side) == [1]
    assert aligned(side, base) == [None, 0]


def test_too_many_children_to_compare_are_matched_only_by_their_text():
    """So that two files without a line in common take no time."""
    base, side = ([b"f(%d)" % (i + at) for i in range(50)] for at in (0, 1000))

    assert align(items(*base), items(*side), Mode.LIST) == [None] * 50
    assert align(items(*base[:9]), items(*side[:9]), Mode.LIST) == [*range(9)]


def test_names_are_found_among_any_number_of_children():
    """Likeness is looked at in few children only, names in all."""
    base, side = ("".join(f"def f{i}({names}): {i}\n" for i in range(60)) for names in "ab")

    assert aligned(base, side) == [*range(60)]
    assert aligned(base, "def g(): 0\n" + side) == [*range(1, 61)]


@pytest.mark.parametrize(
    ("one", "other", "expected"),
    [([], [], 1.0), ([b"a"], [], 0.0), ([b"a", b"b"], [b"b", b"c"], 0.5), ([b"a"], [b"a"], 1.0)],
)
def test_similarity_is_the_share_of_equal_words(one, other, expected):
    """Whatever their order; as often as both have them."""
    assert similarity(one, other) == similarity(other[::-1], one[::-1]) == expected


@given(three_way_programs())
def test_places_never_cross_and_equal_ends_are_found(texts):
    """A version that changed nothing is aligned with itself."""
    for base, side, _ in (texts, texts[::-1]):
        one, other = (tree.children for tree in read_versions("a.py", [base, side]))
        places = [place for place in align(one, other, Mode.MEMBERS) if place is not None]

        assert places == sorted(set(places))
        assert align(one, one, Mode.MEMBERS) == [*range(len(one))]
        assert all(
            one[i].kind == other[j].kind
            for i, j in enumerate(align(one, other, Mode.MEMBERS))
            if j is not None
        )


def go(*functions):
    """Write functions of Go."""
    lines = []
    for head, *body in functions:
        lines += [f"func {head} {{", *(f"\t{line}" for line in body), "}"]
    return "".join(f"{line}\n" for line in lines)


READ = ("Read(p string) error", "f := open(p)", "defer f.Close()", "return parse(f, p, nil)")
RENAMED = {
    "most of its body is left": ((("Load(p string) error", *READ[1:]),), [0]),
    "little of its body is left": (
        (("Load(p string) error", "f := open(p, p)", "defer f.Close(p)", READ[3]),),
        [None],
    ),
    "its old name is used for another": (
        (("Load(p string) error", *READ[1:]), ("Read(p string) error", "return Load(p)")),
        [1],
    ),
}


@pytest.mark.parametrize("name", RENAMED)
def test_a_definition_is_renamed_if_half_of_its_statements_are_left(name):
    """Otherwise one is removed and another one added, however alike their words are."""
    functions, expected = RENAMED[name]
    sources = [go(READ).encode(), go(*functions).encode()]
    base, side = (tree.children[:-1] for tree in read_versions("a.go", sources))

    assert align(base, side, Mode.MEMBERS) == expected


def test_a_name_that_was_there_before_is_no_new_name():
    """What has it now is that function, not another one that was renamed."""
    other = ("Load(p string) error", "return nil")
    sources = [go(READ, other).encode(), go(("Load(p string) error", *READ[1:])).encode()]
    base, side = (tree.children[:-1] for tree in read_versions("a.go", sources))

    assert align(base, side, Mode.MEMBERS) == [None, 0]
