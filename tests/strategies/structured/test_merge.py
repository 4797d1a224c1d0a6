"""What is combined and what is refused, construct by construct."""

import pytest

from cooperbench_eval.languages.files import read_versions
from cooperbench_eval.languages.tree import DisagreementError, OrderError, render
from cooperbench_eval.strategies.structured.merge import TreeMerge


def merge(base, ours, theirs, *, theirs_first=False):
    """Merge three texts."""
    trees = read_versions("a.py", [text.encode() for text in (base, ours, theirs)])
    merged = TreeMerge(theirs_first=theirs_first).merge(*trees)
    return (render(merged)[1:] + b"\n").decode()


def function(*lines, head="def f(a):"):
    """Write a function of some lines."""
    return "".join(f"{line}\n" for line in (head, *(f"    {line}" for line in lines)))


KEPT = {
    "names of an import": (
        "from m import a\n",
        "from m import a, x\n",
        "from m import a, y\n",
        "from m import a, x, y\n",
    ),
    "names of an import that both add": (
        "a\n",
        "from m import x, z\na\n",
        "from m import x, y\na\n",
        "from m import x, z, y\na\n",
    ),
    "names in brackets and without": (
        "from m import a\n",
        "from m import (\n    a,\n    b,\n)\n",
        "from m import a, c\n",
        "from m import (\n    a,\n    b,\n    c,\n)\n",
    ),
    "one import in brackets and one without": (
        "a\n",
        "from m import (\n    x,\n)\na\n",
        "from m import y\na\n",
        "from m import (\n    x,\n    y,\n)\na\n",
    ),
    "imports of two modules": (
        "import a\n",
        "import a\nimport b\n",
        "import a\nimport c\n",
        "import a\nimport b\nimport c\n",
    ),
    "the same import": (
        "import a\n",
        "import a\nimport b\n",
        "import a\nimport b\nimport c\n",
        "import a\nimport b\nimport c\n",
    ),
    "functions into an empty file": (
        "\n",
        function("pass"),
        function("pass", head="def g(a):"),
        function("pass") + "\n\n" + function("pass", head="def g(a):"),
    ),
    "functions at the start": (
        "def z(): 0\n",
        "def f(): 1\n\n\ndef z(): 0\n",
        "def g(): 2\n\n\ndef z(): 0\n",
        "def f(): 1\n\n\ndef g(): 2\n\n\ndef z(): 0\n",
    ),
    "functions in the middle": (
        "a = 1\n\n\nb = 2\n",
        "a = 1\n\n\ndef f(): 1\n\n\nb = 2\n",
        "a = 1\n\n\n# G.\ndef g(): 2\n\n\nb = 2\n",
        "a = 1\n\n\ndef f(): 1\n\n\n# G.\ndef g(): 2\n\n\nb = 2\n",
    ),
    "functions at the end": (
        "a = 1\n",
        "a = 1\n\n\ndef f(): 1\n",
        "a = 1\n\n\ndef g(): 2\n",
        "a = 1\n\n\ndef f(): 1\n\n\ndef g(): 2\n",
    ),
    "members of a class": (
        "class A:\n    def z(self): 0\n",
        "class A:\n    x = 1\n\n    def z(self): 0\n",
        "class A:\n    def y(self): 2\n\n    def z(self): 0\n",
        "class A:\n    x = 1\n\n    def y(self): 2\n\n    def z(self): 0\n",
    ),
    "members of an empty class": (
        "class A:\n    pass\n",
        "class A:\n    def f(self): 1\n",
        "class A:\n    def g(self): 2\n",
        "class A:\n    def f(self): 1\n\n    def g(self): 2\n",
    ),
    "one method": (
        "class A:\n" + "    def f(self):\n        a()\n        b()\n",
        "class A:\n" + "    def f(self):\n        x()\n        a()\n        b()\n",
        "class A:\n" + "    def f(self):\n        a()\n        b()\n        y()\n",
        "class A:\n" + "    def f(self):\n        x()\n        a()\n        b()\n        y()\n",
    ),
    "a function renamed, and edited": (
        function("one()", "two()", "three()"),
        function("one()", "two()", "three()", head="def g(a):"),
        function("one()", "two()", "three(a)"),
        function("one()", "two()", "three(a)", head="def g(a):"),
    ),
    "bases": (
        "class A(B):\n    x = 1\n",
        "class A(B, C):\n    x = 1\n",
        "class A(B, D):\n    x = 1\n",
        "class A(B, C, D):\n    x = 1\n",
    ),
    "parameters": ("def f(a): 0\n", "def f(a, b): 0\n", "def f(a, c): 0\n", "def f(a, b, c): 0\n"),
    "the first parameters": (
        "def f(): 0\n",
        "def f(a): 0\n",
        "def f(b): 0\n",
        "def f(a, b): 0\n",
    ),
    "a parameter of both": (
        "def f(a): 0\n",
        "def f(a, b=1, c=2): 0\n",
        "def f(a, c=2, d=3): 0\n",
        "def f(a, b=1, c=2, d=3): 0\n",
    ),
    "required and defaulted parameters of both": (
        "def f(a): 0\n",
        "def f(a, b, x=1): 0\n",
        "def f(a, c, y=2): 0\n",
        "def f(a, b, c, x=1, y=2): 0\n",
    ),
    "mixed parameters and names of an import": (
        "from m import a\n\n\ndef f(a): return g(a)\n",
        "from m import a, b\n\n\ndef f(a, b, x=1): return g(a, b=b, x=x)\n",
        "from m import a, c\n\n\ndef f(a, c, y=2): return g(a, c=c, y=y)\n",
        "from m import a, b, c\n\n\ndef f(a, b, c, x=1, y=2): return g(a, b=b, x=x, c=c, y=y)\n",
    ),
    "parameters by keyword": (
        "def f(a): 0\n",
        "def f(a, *, b): 0\n",
        "def f(a, *, c, d=1): 0\n",
        "def f(a, *, b, c, d=1): 0\n",
    ),
    "more parameters by keyword": (
        "def f(a, *, k): 0\n",
        "def f(a, *, k, b=1): 0\n",
        "def f(a, *, k, c): 0\n",
        "def f(a, *, k, b=1, c): 0\n",
    ),
    "parameters by position only": (
        "def f(a): 0\n",
        "def f(a, /): 0\n",
        "def f(a, b): 0\n",
        "def f(a, /, b): 0\n",
    ),
    "arguments": ("f(a)\n", "f(a, b=b)\n", "f(a, c=c)\n", "f(a, b=b, c=c)\n"),
    "the first arguments": ("f()\n", "f(b=b)\n", "f(c=c)\n", "f(b=b, c=c)\n"),
    "arguments of either kind": (
        "f(a)\n",
        "f(a, b, x=x)\n",
        "f(a, c, **y)\n",
        "f(a, b, c, x=x, **y)\n",
    ),
    "a parameter that is handed on": (
        "def f(a):\n    return g(a)\n",
        "def f(a, b=1):\n    return g(a, b=b)\n",
        "def f(a, c=2):\n    return g(a, c=c)\n",
        "def f(a, b=1, c=2):\n    return g(a, b=b, c=c)\n",
    ),
    "items of a list": ("x = [1]\n", "x = [1, 2]\n", "x = [1, 3]\n", "x = [1, 2, 3]\n"),
    "what is exported": (
        '__all__ = [\n    "a",\n]\n',
        '__all__ = [\n    "a",\n    "b",\n]\n',
        '__all__ = [\n    "a",\n    "c",\n]\n',
        '__all__ = [\n    "a",\n    "b",\n    "c",\n]\n',
    ),
    "items without a comma at the end": (
        "x = [\n    1  # one\n]\n",
        "x = [\n    1,  # one\n    2  # two\n]\n",
        "x = [\n    1,  # one\n    3  # three\n]\n",
        "x = [\n    1,  # one\n    2,  # two\n    3  # three\n]\n",
    ),
    "items with comments above": (
        "x = [\n    # one\n    1,\n    # end\n]\n",
        "x = [\n    # one\n    1,\n    # two\n    2,\n    # end\n]\n",
        "x = [\n    # one\n    1,\n    # three\n    3,\n    # end\n]\n",
        "x = [\n    # one\n    1,\n    # two\n    2,\n    # three\n    3,\n    # end\n]\n",
    ),
    "a list that one side spreads over lines": (
        "x = [1, 2]\n",
        "x = [\n    1,\n    2,\n]\n",
        "x = [1, 2, 3]\n",
        "x = [\n    1,\n    2,\n    3,\n]\n",
    ),
    "items of a dict": (
        'x = {"a": 1}\n',
        'x = {"a": 1, "b": 2}\n',
        'x = {"a": 1, **c}\n',
        'x = {"a": 1, "b": 2, **c}\n',
    ),
    "unpacked dicts stay where they are": (
        'x = {"a": 1}\n',
        'x = {"a": 1, **b}\n',
        'x = {"a": 1, "c": 3}\n',
        'x = {"a": 1, **b, "c": 3}\n',
    ),
    "items of a set": ("x = {1}\n", "x = {1, 2}\n", "x = {1, 3}\n", "x = {1, 2, 3}\n"),
    "lambdas": (
        "x = [a]\n",
        "x = [a, lambda: 1]\n",
        "x = [a, lambda: 2]\n",
        "x = [a, lambda: 1, lambda: 2]\n",
    ),
    "a value that has the other side's change": (
        'x = "x>=1.2,<2"\n',
        'x = "x>=1.3,<3"\n',
        'x = "x>=1.3,<2"\n',
        'x = "x>=1.3,<3"\n',
    ),
    "strings at different places": (
        'x = ("a"\n     "b")\n',
        'x = ("a"\n     "c"\n     "b")\n',
        'x = ("a"\n     "b"\n     "d")\n',
        'x = ("a"\n     "c"\n     "b"\n     "d")\n',
    ),
    "elif": (
        "if a:\n    b\n",
        "if a:\n    b\nelif c == 1:\n    d\n",
        "if a:\n    b\nelif c == 2:\n    f\n",
        "if a:\n    b\nelif c == 1:\n    d\nelif c == 2:\n    f\n",
    ),
    "else before elif": (
        "if a:\n    b\n",
        "if a:\n    b\nelse:\n    e\n",
        "if a:\n    b\n# C.\nelif c:\n    d\n",
        "if a:\n    b\n# C.\nelif c:\n    d\nelse:\n    e\n",
    ),
    "clauses in one line": (
        "if a: b\n",
        "if a: b\nelse: e\n",
        "if a: b\nelif c: d\n",
        "if a: b\nelif c: d\nelse: e\n",
    ),
    "except and finally": (
        "try:\n    a\nexcept A:\n    b\n",
        "try:\n    a\nexcept A:\n    b\nfinally:\n    c\n",
        "try:\n    a\nexcept A:\n    b\nexcept:\n    e\n",
        "try:\n    a\nexcept A:\n    b\nexcept:\n    e\nfinally:\n    c\n",
    ),
    "cases": (
        "match a:\n    case 1:\n        b\n",
        "match a:\n    case 1:\n        b\n    case _:\n        c\n",
        "match a:\n    case 1:\n        b\n    case 2:\n        d\n",
        "match a:\n    case 1:\n        b\n    case 2:\n        d\n    case _:\n        c\n",
    ),
    "decorators where there was none": (
        "def f(a, b):\n    pass\n",
        "@x\ndef f(a, b):\n    pass\n",
        "@y\ndef f(a, b):\n    pass\n",
        "@x\n@y\ndef f(a, b):\n    pass\n",
    ),
    "decorators below empty lines": (
        "a\n\n\ndef f(): 0\n",
        "a\n\n\n@x\ndef f(): 0\n",
        "a\n\n\n@y\ndef f(): 0\n",
        "a\n\n\n@x\n@y\ndef f(): 0\n",
    ),
    "decorators around another": (
        "@a\ndef f(): 0\n",
        "@b\n@a\ndef f(): 0\n",
        "@a\n@c\ndef f(): 0\n",
        "@b\n@a\n@c\ndef f(): 0\n",
    ),
    "arguments of a decorator, and another": (
        "@a(1)\ndef f(): 0\n",
        "@a(1, 2)\ndef f(): 0\n",
        "@a(1)\n@b\ndef f(): 0\n",
        "@a(1, 2)\n@b\ndef f(): 0\n",
    ),
    "sections of a docstring": (
        function('"""One.', "", "Args:", "    a: A.", '"""'),
        function('"""One.', "", "Args:", "    a: A.", "    b: B.", '"""'),
        function('"""One.', "", "Args:", "    a: A.", "    c: C.", '"""'),
        function('"""One.', "", "Args:", "    a: A.", "    b: B.", "    c: C.", '"""'),
    ),
    "statements at one point": (
        function("a()", "z()"),
        function("a()", "b()", "z()"),
        function("a()", "c()", "z()"),
        function("a()", "b()", "c()", "z()"),
    ),
    "what may leave comes last": (
        function("a()", "z()"),
        function("a()", "if b:", "    return", "z()"),
        function("a()", "c()", "z()"),
        function("a()", "c()", "if b:", "    return", "z()"),
    ),
    "statements with tabs, and with spaces": (
        "if a:\n\tb()\n",
        "if a:\n    b()\n    c()\n",
        "if a:\n\tb()\n\td()\n",
        "if a:\n    b()\n    c()\n    d()\n",
    ),
    "Windows's line ends": (
        "def f(a):\r\n    pass\r\n",
        "def f(a, b):\r\n    pass\r\n",
        "def f(a, c):\r\n    pass\r\n",
        "def f(a, b, c):\r\n    pass\r\n",
    ),
    "functions with Windows's line ends": (
        "\r\n",
        "def f():\r\n    1\r\n",
        "def g():\r\n    2\r\n",
        "def f():\r\n    1\r\n\r\n\r\ndef g():\r\n    2\r\n",
    ),
    "an edit and a deletion of different statements": (
        function("a(1)", "b()", "c()"),
        function("b()", "c()"),
        function("a(1)", "b()", "c(3)"),
        function("b()", "c(3)"),
    ),
}


@pytest.mark.parametrize(("base", "ours", "theirs", "expected"), KEPT.values(), ids=KEPT)
def test_what_the_sides_add_or_edit_for_themselves_is_combined(base, ours, theirs, expected):
    """The words of either side are there once, and it is Python."""
    compile(expected, "<expected>", "exec")

    assert merge(base, ours, theirs) == expected
    assert merge(base, theirs, ours, theirs_first=True) == expected


@pytest.mark.parametrize("side", range(3))
@pytest.mark.parametrize("texts", KEPT.values(), ids=KEPT)
def test_where_one_side_did_nothing_the_other_is_the_result(texts, side):
    """As it is where both did the same."""
    base, other = texts[0], texts[side + 1]

    assert merge(base, base, other) == merge(base, other, base) == other
    assert merge(base, other, other) == other


REFUSED = {
    "two values of a name": ("a = 1\n", "a = 2\n", "a = 3\n"),
    "two values of a new name": ("a = 1\n", "a = 1\nb = 2\n", "a = 1\nb = 3\n"),
    "two functions of a name": ("a\n", "a\ndef f(): 1\n", "a\ndef f(): 2\n"),
    "two values of a key": ('{"a": 1}\n', '{"a": 1, "b": 2}\n', '{"a": 1, "b": 3}\n'),
    "two defaults": ("def f(a): 0\n", "def f(a, b=1): 0\n", "def f(a, b=2): 0\n"),
    "two numbers of arguments": ("def f(): 0\n", "def f(**a): 0\n", "def f(**b): 0\n"),
    "any arguments, and one more": ("def f(a): 0\n", "def f(a, *b): 0\n", "def f(a, c=1): 0\n"),
    "two things by one name": ("a\n", "from m import x as y\na\n", "from m import z as y\na\n"),
    "one name of two modules": ("a\n", "from m import y\na\n", "from n import y\na\n"),
    "two else": (
        "if a:\n    b\n",
        "if a:\n    b\nelse:\n    c\n",
        "if a:\n    b\nelse:\n    d\n",
    ),
    "two of one case": (
        "match a:\n    case 1: b\n",
        "match a:\n    case 1: b\n    case 2:\n        c\n",
        "match a:\n    case 1: b\n    case 2:\n        d\n",
    ),
    "an edit of what is deleted": (
        function("a(1)", "b()"),
        function("b()"),
        function("a(2)", "b()"),
    ),
    "an edit in what is deleted": (
        "def f():\n    a(1)\n\n\nb\n",
        "b\n",
        "def f():\n    a(2)\n\n\nb\n",
    ),
    "terms at one place": ("x = a\n", "x = a + b\n", "x = a + c\n"),
    "calls of one name": ("x = f\n", "x = f(a)\n", "x = f(b)\n"),
    "strings at one place": ('x = ("a")\n', 'x = ("a" "b")\n', 'x = ("a" "c")\n'),
    "more to return": (function("return a"), function("return a, b"), function("return a, c")),
    "parameters that must be mixed, and arguments without keyword": (
        "def f(a): return g(a)\n",
        "def f(a, b, x=1): return g(a, b, x)\n",
        "def f(a, c, y=2): return g(a, c, y)\n",
    ),
    "an edit of another kind": (function("return a"), function("raise a"), function("return b")),
}


@pytest.mark.parametrize(("base", "ours", "theirs"), REFUSED.values(), ids=REFUSED)
@pytest.mark.parametrize("theirs_first", [False, True])
def test_what_both_sides_changed_differently_is_refused(base, ours, theirs, theirs_first):
    """In either order; nothing is guessed."""
    for sides in ((ours, theirs), (theirs, ours)):
        with pytest.raises(DisagreementError):
            merge(base, *sides, theirs_first=theirs_first)


ORDERED = {
    "required before defaulted": (
        "def f(a): return g(a)\n",
        "def f(a, b=1): return g(a, b)\n",
        "def f(a, c): return g(a, c)\n",
        "def f(a, c, b=1): return g(a, c, b)\n",
    ),
    "by keyword only behind the others": (
        "def f(a): 0\n",
        "def f(a, *, b): 0\n",
        "def f(a, c=1): 0\n",
        "def f(a, c=1, *, b): 0\n",
    ),
    "any keywords last": (
        "def f(a): 0\n",
        "def f(a, **b): 0\n",
        "def f(a, c=1): 0\n",
        "def f(a, c=1, **b): 0\n",
    ),
    "arguments by position first": ("f(a)\n", "f(a, b=b)\n", "f(a, c)\n", "f(a, c, b=b)\n"),
}


@pytest.mark.parametrize(("base", "ours", "theirs", "expected"), ORDERED.values(), ids=ORDERED)
def test_if_only_one_order_is_right_the_other_is_refused(base, ours, theirs, expected):
    """Calls follow parameters, so the order must be that of the whole file."""
    with pytest.raises(OrderError):
        merge(base, ours, theirs)

    assert merge(base, ours, theirs, theirs_first=True) == expected
    assert merge(base, theirs, ours) == expected
