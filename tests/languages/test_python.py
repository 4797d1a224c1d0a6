"""Python is read without loss, whatever it looks like."""

import ast
import contextlib
import os
from pathlib import Path

import pytest
from generators import programs, random_bytes
from hypothesis import given

import cooperbench_eval as ce
from cooperbench_eval.languages.files import read_versions
from cooperbench_eval.languages.tree import StructureError, render

EVERY = 1 if os.environ.get("HYPOTHESIS_PROFILE") == "thorough" else 12
OTHER = b"other\n"


def read(source):
    """Read all of a file: what versions have in common is not looked into."""
    return read_versions("a.py", [source, OTHER])[0]


def written(tree):
    """Write a file out."""
    return render(tree)[1:] + b"\n"


def kinds(source):
    """Return kind and key of what a file consists of."""
    return [(each.kind, each.key) for each in read(source).children[:-1]]


SAMPLES = {
    "nothing but a newline": b"\n",
    "blank lines": b"\n\n\n",
    "white space at line ends": b"x  \n  \n\t\ny \n\n\ndef f(): pass\n",
    "a blank line at the end": b"x\n\n",
    "comments at every indentation": (
        b"def f():\n    # a\n  # b\n    x\n# c\n        # d\n    y\n  # e\n\n# f\nz\n   # g\n"
    ),
    "only comments": b"# a\n  # b\n\t# c\n",
    "comments before clauses": b"if a:\n    b\n  # c\n# d\nelse:\n    # e\n    f\n    # g\n",
    "comments among decorators": b"# a\n@b\n# c\n@d  # e\n\n# f\ndef g(): pass\n",
    "decorators over lines": b"@a(\n    b,  # c\n)\n@d\nclass E:\n    @f\n    def g(self): ...\n",
    "backslashes": b"x = 1 + \\\n    2\nif a and \\\n   b:\n    c\\\n\nd\n",
    "a backslash at the start": b"\\\nx = 1\n",
    "comments in brackets": (
        b"x = [  # a\n    1,  # b\n    # c\n    2  # d\n    ,\n    (3,),\n    # e\n]  # f\n"
    ),
    "a comma after a comment": b"x = [\n    1 # a\n    , 2 # b\n    ,\n]\n",
    "long strings like code": b"x = '''\ndef f():\n  pass\n\n\nclass A:\n'''\ny = '''(['''\n",
    "docstrings": (
        b"def f():\n    '''A\n    b\n\n  c\n        d'''\n\nclass E:\n\t'''F\n\tg\n\t'''\n"
    ),
    "strings with backslashes": b"x = 'a\\\\'\ny = 'a\\'b'\nz = 'a\\\nb'\nr = r'\\''\n",
    "strings with prefixes": b"a = Rb'''x''' + bR'y' + f'{z!r:>{w}}' + u'v'\n",
    "async": (
        b"async def f():\n    async with a as b: pass\n    async for x in y:\n        await z\n"
        b"    else:\n        w\n"
    ),
    "match": b"match a:\n    case [1, *_] if b:\n        c\n    case {'d': 1}: e\nmatch = 1\n",
    "semicolons": b"a; b = 1; c()\nif d: e; f;\n",
    "one-line suites": b"if a: b\nelif c: d\nelse: e\nclass F: g = 1\ndef h(): return 1\n",
    "walrus and lambda": b"if (a := b(lambda x, *y, z=1: (x, y))) > 1: pass\n",
    "imports": (
        b"import a.b as c, d\nfrom . import e\nfrom .f import *\nfrom g import (h, # i\n j as k,)\n"
    ),
    "with in brackets": b"with (\n    a as b,  # c\n    # d\n    e as f,\n):\n    pass\n",
    "try": b"try:\n    a\nexcept* B:\n    c\nexcept D as f: g\nelse:\n    h\nfinally:\n    i\n",
    "loops with else": b"for a in b:\n  c\n  while d:\n      e\n  else:\n      f\nelse:\n g\n",
    "numbers": b"x = 0xFF + 1e-5 + 1_000j + .5 - 1.e+5 * 0o7\n",
    "signs": b"a <<= 1; b **= 2; c //= 3; d @= e; f = -g; h != i; j: k = ...\n",
    "annotations": b"def f(a: 'b' = 1, /, *c: d, e=lambda: 1, **g) -> h[i]:  # j\n    pass\n",
    "tabs": b"if a:\n\tb\n\tif c:\n\t\td\n        # eight\n\te\n",
    "CR LF": b"if a:\r\n    b\r\n\r\n    '''c\r\n    d'''\r\n\r\n\r\ndef e(): pass\r\n",
    "form feeds": b"x\n\x0cy\n",
    "a byte order mark": b"\xef\xbb\xbfx = 1\n",
    "UTF-8": "é = 'ü'\n".encode(),
    "Latin-1": b"# coding: latin-1\nx = '\xfc'  # \xe9\n",
    "an indented first line": b"    x\n",
    "an indentation that fits nothing": b"if a:\n    b\n  c\n",
    "tabs and spaces": b"class A:\n    if a:\n\tb\n",
    "conflict markers": b"x = '''\n<<<<<<< a\n=======\n>>>>>>> b\n'''\n",
}


@pytest.mark.parametrize("source", SAMPLES.values(), ids=SAMPLES)
def test_awkward_source_comes_out_as_it_went_in(source):
    """Byte for byte, read or not looked into."""
    assert written(read(source)) == source
    assert [written(tree) for tree in read_versions("a.py", [source, source])] == [source, source]


@pytest.mark.long
def test_the_files_of_this_package_come_out_as_they_went_in():
    """All of them; two at a time share pieces, which are not looked into."""
    sources = [path.read_bytes() for path in sorted(Path(ce.__file__).parent.rglob("*.py"))]
    sources += [OTHER] * (len(sources) % 2)

    for one, other in zip(sources[::2], sources[1::2], strict=True):
        assert [written(tree) for tree in read_versions("a.py", [one, other])] == [one, other]


def test_the_standard_library_comes_out_as_it_went_in():
    """A sample of it, all of it in the thorough profile."""
    paths = sorted(Path(os.__file__).parent.glob("*.py"))[::EVERY]
    sources = [source for path in paths if (source := path.read_bytes()).endswith(b"\n")]

    assert len(sources) > 5
    for source in sources:
        assert written(read(source)) == source


@given(programs())
def test_generated_programs_come_out_as_they_went_in(source):
    """They parse, and what is made of them."""
    ast.parse(source)

    assert written(read(source)) == source


@given(random_bytes())
def test_text_that_is_not_python_is_read_without_loss_or_refused(source):
    """With no other exception."""
    source = source.removesuffix(b"\n") + b"\n"

    with contextlib.suppress(StructureError):
        assert written(read(source)) == source


REFUSED = {
    "an open bracket": (b"x = (1\n", "syntax error .line 1"),
    "a bracket too many": (b"y = 2\nx = 1)\n", "syntax error .line 2"),
    "brackets that do not match": (b"x = (1]\n", "syntax error .line 1"),
    "an open string": (b"x = 'a\n", "syntax error .line 1"),
    "an open long string": (b"x = '''a\n", "syntax error .line 1"),
    "no body": (b"class A:\nx = 1\n", "a block is empty"),
    "control characters": (b"x = '\x1f'\n", "contains control characters"),
    "a NUL byte": (b"x = 1\0\n", "contains control characters"),
    "brackets in one another": (b"(" * 200 + b")" * 200 + b"\n", "more than 120"),
    "many more": (b"(" * 20_000 + b")" * 20_000 + b"\n", "more than 120"),
    "suites in one another": (
        b"".join(b" " * i + b"if a:\n" for i in range(90)) + b" " * 90 + b"b\n",
        "more than 120",
    ),
    "Latin-1 in a name": (b"# coding: latin-1\n\xe9 = 1\n", "syntax error .line 2"),
    "comments without end": (b"# a\n\n" * 100_000 + b"x\n", "lines of comments in a row"),
    "prose": (b"Dear all,\n\n  this isn't Python.\n", "syntax error .line 1"),
}


@pytest.mark.parametrize(("source", "reason"), REFUSED.values(), ids=REFUSED)
def test_what_cannot_be_read_is_refused_with_a_reason(source, reason):
    """Clearly and at once."""
    with pytest.raises(StructureError, match=reason):
        read(source)


@pytest.mark.parametrize(
    "source",
    [
        b"x\n" + b"\n" * 100_000 + b"y\n",
        b"x\n" + b"\r\n" * 100_000 + b"y\n",
        b"x\n" + b"\n\n# c\n" * 2_900 + b"y\n",
        b"if a:\n    b\n" + b"elif c:\n    d\n" * 5_000,
        b"@a\n" * 5_000 + b"def f(): pass\n",
        b"x = [1," + b"\n# c" * 2_900 + b"\n2]\n",
        b"x = 1" + b" " * 200_000 + b"\n",
        b"x = '" + b"\\\\" * 24_000 + b"'\n",
    ],
    ids=[
        "newlines",
        "CR LF",
        "comments",
        "clauses",
        "decorators",
        "tails",
        "spaces",
        "backslashes",
    ],
)
def test_reading_takes_no_longer_than_the_file_is_long(source):
    """A run of anything is read once; this would take minutes otherwise."""
    assert written(read(source)) == source


def test_a_string_like_code_is_a_string():
    """It defines nothing."""
    source = b"x = '''\n\n\ndef f():\n    pass\n'''\ny = (1)\n"

    assert kinds(source) == [("assignment", b"x"), ("assignment", b"y")]


def test_what_versions_have_in_common_is_not_looked_into():
    """It is one token, so that large files cost no more than their changes."""
    common = b"\n\ndef f():\n    return 1\n"

    one, other = read_versions("a.py", [b"a = 1\n" + common, b"b = 2\n" + common])

    assert [each.kind for each in one.children] == ["assignment", "unread", "end"]
    assert one.children[1].plain == other.children[1].plain


NAMED = {
    "a function": (b"def f(a): pass\n", "def", b"f"),
    "a coroutine": (b"async def f():\n    pass\n", "def", b"f"),
    "a class": (b"@a\nclass B(C):\n    pass\n", "class", b"B"),
    "an import": (b"from a import b\n", "import", b"from a"),
    "an assignment": (b"a = 1\n", "assignment", b"a"),
    "an annotation": (b"a: int = 1\n", "assignment", b"a"),
    "a docstring": (b'"""A."""\n', "docstring", b"docstring"),
    "a call": (b"a(b=1)\n", "expression", b""),
    "a statement": (b"return a\n", "return", b""),
    "a suite": (b"if a == {b: c}:\n    d = 1\n", "if", b""),
    "a suite in one line": (b"if a: b = 1\n", "if", b""),
}


@pytest.mark.parametrize(("source", "kind", "key"), NAMED.values(), ids=NAMED)
def test_a_statement_is_known_by_what_it_defines(source, kind, key):
    """One that defines nothing has no name."""
    assert kinds(source) == [(kind, key)]


def test_versions_of_a_class_share_the_methods_that_they_have_in_common():
    """So a large class costs little more than its changes."""
    rest = b"".join(
        b"\n    def method%d(self):\n        return [self.first, self.second, self.third]\n" % i
        for i in range(3)
    )
    versions = [b"class A:\n    x = %d\n" % i + rest for i in range(2)]

    one, other = (
        tree.children[0].children[0].children[-1] for tree in read_versions("a.py", versions)
    )

    methods = [[each for each in suite.children if each.kind == "def"] for suite in (one, other)]
    assert [each.key for each in methods[0]] == [b"method0", b"method1", b"method2"]
    assert all(a is b for a, b in zip(*methods, strict=True))
