"""The methods of a class are read one by one, with the same result."""

import os
from pathlib import Path

import pytest

from cooperbench_eval.languages.readers import python
from cooperbench_eval.languages.readers.python import read_python
from cooperbench_eval.languages.readers.python_lines import split_members, split_python
from cooperbench_eval.languages.tree import StructureError

EVERY = 1 if os.environ.get("HYPOTHESIS_PROFILE") == "thorough" else 24

SAMPLES = {
    "a class": '''\
class A:
    """B."""

    def c(self): pass
    # d

    # e
    @f

    # g
    def h(self):
        i
      # j

    async def k(self): l
    m = 1

    class N:
        o = 2

        def p(self): pass
q
''',
    "strings like code": '''\
class A:
    """B

    def c(): pass

    def d(): pass

    def e(): pass
    """
    f = "\\"""g"

    def h(self): pass

    def i(self): pass
''',
    "a string that looks closed": '''\
class A:
    """B" c

    def d(): pass

    def e(): "pass

    def f(): "g"""

    def h(self): pass
''',
    "brackets": """\
class A:
    b = [

    # c
    ]

    def d(e=(

    # f
    1)): g

    def h(self): i
""",
    "suites at the top level": """\
class A:
    b = 1

    def c(self): pass

    def d(self): pass
if e:
    f

    def g(): pass

    def h(): pass
else:

    def g(): pass
""",
    "suites in suites": """\
class A:
    if b:

        def c(self): pass

        def d(self): pass

        def e(self): pass
    else:
        f
""",
    "other indentation": """\
class A:

    def b(self): pass

   def c(self): pass

   def d(self): pass
""",
    "decorators apart": """\
class A:
    b = 1
    @c

    def d(self): pass
    @e

    def f(self): g

    @h

    def i(self): j
""",
    "a decorator before the first method": """\
class A:
    @b

    def c(self): pass

    def d(self): pass

    def e(self): pass
""",
    "brackets that nest too deeply where they are": f"""\
class A:
    if b:

        def c(self): pass

        def d(self): {"(" * 38}{")" * 38}

        def e(self): pass
""",
    "backslashes": """\
class A:
    b = 1 + \\

    def c(self): pass

    def d(self): e \\

    def f(self): pass

    def g(self): pass
""",
    "a suite without its first line": """\
def f():
  # a

        # b
        def c(): pass

        def d(): pass

        def e(): pass
""",
}


def run_of(source):
    """Return statements as the reader gets them, with the newline before them."""
    return b"\n" + source.removesuffix(b"\n")


def tree_of(read, piece):
    """Return the tree of a run of statements, or the error."""
    try:
        return tuple(read(piece))
    except StructureError as exc:
        return str(exc)


def read_at_once(piece):
    """Read a run of statements without cutting it."""
    return python._PythonReader(python.to_lines(piece)).file()


@pytest.mark.parametrize("source", SAMPLES.values(), ids=SAMPLES)
def test_a_class_read_in_pieces_is_the_class_read_at_once(source):
    """Both trees are equal, wherever the class is cut."""
    piece = run_of(source.encode())

    assert len(split_members(piece)[1]) > 2
    assert tree_of(python._read_uncached, piece) == tree_of(read_at_once, piece)


def test_the_classes_of_the_standard_library_are_read_the_same_in_both_ways():
    """A sample is read; the thorough profile reads all of them."""
    paths = sorted(Path(os.__file__).parent.glob("*.py"))[3::EVERY]
    pieces = [
        piece
        for path in paths
        for piece in split_python(run_of(path.read_bytes()))
        if len(split_members(piece)[1]) > 2
    ]

    assert len(pieces) > 10
    for piece in pieces:
        assert tree_of(python._read_uncached, piece) == tree_of(read_at_once, piece)


def test_versions_of_a_class_share_the_methods_that_they_have_in_common():
    """So a large class costs little more than its changes."""
    rest = b"".join(b"\n    def m%d(self):\n        pass\n# end\n" % i for i in range(4))
    versions = [b"class A:\n    x = %d\n" % i + rest for i in range(2)]

    one, other = (tree.children[0].children[0].children[-1] for tree in read_python(versions))

    methods = [[each for each in suite.children if each.kind == "def"] for suite in (one, other)]
    assert [each.key for each in methods[0]] == [b"m0", b"m1", b"m2", b"m3"]
    assert [a is b for a, b in zip(*methods, strict=True)] == [True, True, True, False]


def test_an_empty_string_and_a_quote_open_a_long_string():
    """But a string that ends with a quote, and a string after it, are two strings."""
    with pytest.raises(StructureError, match="a string is not closed"):
        python.to_lines(b'\nx = """y" + "z"')

    words = [token.word for token in python.to_lines(b'\nx = "\\"""y" \'\' "z"')[0].tokens]
    assert words == [b"x", b"=", b'"\\""', b'"y"', b"''", b'"z"']
