"""What both sides insert at one place stands there once."""

import pytest
from needs import need_package

from cooperbench_eval.languages.files import read_versions
from cooperbench_eval.languages.sequences import join_lines
from cooperbench_eval.languages.tree import DisagreementError, render
from cooperbench_eval.strategies.structured.merge import TreeMerge

FRAMES = {
    "a.py": ("def f(q):\n    q.start()\n", "    return q\n", "    {}\n"),
    "a.ts": ("function f(q: Q) {\n  q.start();\n", "  return q;\n}\n", "  {};\n"),
    "a.go": ("package p\n\nfunc f(q *Q) {\n\tq.start()\n", "\treturn\n}\n", "\t{}\n"),
    "a.rs": ("fn f(q: Q) {\n    q.start();\n", "    q.stop();\n}\n", "    {};\n"),
    "A.java": ("class A {\n  void f(Q q) {\n    q.start();\n", "  }\n}\n", "    {};\n"),
}


def merge(path, base, ours, theirs):
    """Merge three texts of a file."""
    if path.endswith((".ts", ".go", ".rs", ".java")):
        need_package("tree_sitter")
    trees = read_versions(path, [each.encode() for each in (base, ours, theirs)])
    return render(TreeMerge().merge(*trees))[1:].decode() + "\n"


@pytest.mark.parametrize("path", FRAMES)
@pytest.mark.parametrize(
    ("ours", "theirs", "expected"),
    [
        ("s a", "s b", "s a b"),
        ("a s", "b s", "a b s"),
        ("a s c", "b s", "a b s c"),
        ("s", "s s", "s s"),
        ("s a t", "s b t c", "s a b t c"),
        ("a", "b", "a b"),
    ],
)
def test_statements_that_both_sides_insert_stand_once(path, ours, theirs, expected):
    """Each side's own stay between the same ones; what one side repeats is repeated."""
    head, tail, line = FRAMES[path]

    def written(calls):
        return head + "".join(line.format(f"q.{each}()") for each in calls.split()) + tail

    assert merge(path, head + tail, written(ours), written(theirs)) == written(expected)


CROSSING = {
    "statements": (
        "a.py",
        "def f(q):\n@    return q\n",
        "    q.a()\n    q.b()\n",
        "    q.b()\n    q.a()\n",
    ),
    "arguments": ("a.py", "f(x@)\n", ", a, b", ", b, a"),
    "items": ("a.py", "v = [x@]\n", ", a, b", ", b, a"),
    "items of a list": ("a.md", "# T\n@\n", "\n- a one\n- b two\n", "\n- b two\n- a one\n"),
}


@pytest.mark.parametrize(("path", "frame", "ours", "theirs"), CROSSING.values(), ids=CROSSING)
def test_what_both_insert_in_another_order_is_refused(path, frame, ours, theirs):
    """Neither order is known to be right."""
    with pytest.raises(DisagreementError):
        merge(path, *(frame.replace("@", each) for each in ("", ours, theirs)))


FREE = {
    "imports": ("import x\n@", "import a\nimport b\n", "import b\nimport a\n"),
    "functions": (
        "x = 1\n@",
        "\n\ndef f():\n    a()\n\n\ndef g():\n    b()\n",
        "\n\ndef g():\n    b()\n\n\ndef f():\n    a()\n",
    ),
    "named arguments": ("f(x@)\n", ", a=1, b=2", ", b=2, a=1"),
}


@pytest.mark.parametrize(("frame", "ours", "theirs"), FREE.values(), ids=FREE)
def test_definitions_imports_and_names_may_change_places(frame, ours, theirs):
    """Their order means nothing, so they stand as in ours."""
    base, mine, other = (frame.replace("@", each) for each in ("", ours, theirs))

    assert merge("a.py", base, mine, other) == mine


def test_comments_belong_to_the_statement_after_them():
    """And those at the end of its line as well."""
    base = "def f():\n    return 1\n"
    ours = "def f():\n    # A\n    a()\n    b()  # B\n    return 1\n"
    theirs = "def f():\n    c()\n    # B\n    b()\n    return 1\n"
    expected = "def f():\n    # A\n    a()\n    c()\n    # B\n    b()\n    return 1\n"
    ours = ours.replace("b()  # B", "# B\n    b()")

    assert merge("a.py", base, ours, theirs) == expected


def test_insertions_that_take_seconds_to_compare_stay_open():
    """Each member of one is compared with each of the other, in several ways."""
    base, *sides = (
        "x = 1\n" + "".join(f"log({name}{i})\n" for i in range(count))
        for name, count in (("", 0), ("a", 2000), ("b", 2000))
    )

    with pytest.raises(DisagreementError, match="too much at one place"):
        merge("a.py", base, *sides)


PROSE = {
    "a shared start": (b"see:\n\n  a\n", b"see:\n\n  b\n", b"see:\n\n  a\nsee:\n\n  b\n"),
    "items": (b"- a\n- b\n", b"- c\n- b\n", b"- a\n- c\n- b\n"),
    "a sentence that refers to another": (
        b"x\nIt raises.\n",
        b"y\nIt raises.\n",
        b"x\nIt raises.\ny\nIt raises.\n",
    ),
    "all of the other's": (b"a\nb\nc\n", b"a\nc\n", b"a\nb\nc\n"),
    "items in another order": (b"- a\n- b\n", b"- b\n- a\n", None),
}


@pytest.mark.parametrize(("ours", "theirs", "expected"), PROSE.values(), ids=PROSE)
def test_lines_of_prose_that_both_insert(ours, theirs, expected):
    """Lines are joined only where they do not refer to what is before them."""
    assert join_lines(ours, theirs) == expected
