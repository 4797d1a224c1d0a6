"""Faults of merged Python files: repeated declarations and code, early uses, wrong calls."""

import textwrap

import pytest

from cooperbench_eval.languages.faults.faults import find_fault
from cooperbench_eval.languages.readers.grammars import Grammar
from cooperbench_eval.languages.scopes.reading import read_source


def write(text):
    """Write a file."""
    return textwrap.dedent(text).lstrip("\n").encode()


def fault_of(base, ours, theirs, merged):
    """Return the fault of a merged file, without the check for new names."""
    return find_fault("a.py", (base, ours, theirs), merged, may_invent=True)


def both_added(first, second, *, before="", after="", frame="{}"):
    """Return four versions in which both sides add lines at one place, ours first in merged."""

    def version(*lines):
        body = "\n".join(each for each in (before, *lines, after) if each) or "pass"
        indent = frame[: frame.index("{}")].rpartition("\n")[2]
        return frame.replace("{}", body.replace("\n", "\n" + indent)).encode() + b"\n"

    return version(), version(first), version(second), version(first, second)


FUNCTION = "def work(a, b):\n    {}"
CLASS = "class A(B):\n    {}"

DECLARED = {
    "a nested function": (FUNCTION, "def go(): 1", "def go(): 2", "work.go"),
    "a class in a function": (FUNCTION, "class C: x = 1", "class C: x = 2", "work.C"),
    "a method of a class in a function": (
        "def work():\n    class C:\n        {}",
        "def go(self): 1",
        "def go(self): 2",
        "work.C.go",
    ),
    "a function in an arm and one behind": (
        "if a:\n    def go(): 1\n{}",
        "def go(): 2",
        "def go(): 3",
        "go",
    ),
    "a function and an import": ("{}", "from b import go", "def go(): 1", "go"),
    "imports of one name from two modules": ("{}", "from b import c", "from d import c", "c"),
    "annotated fields": (CLASS, "x: int = 1", "x: str = 2", "A.x"),
    "members of an enumeration": (CLASS, "X = 1\ndef f(self): 1", "X = 2\ndef g(self): 1", "A.X"),
    "a constant": ("{}", "LIMIT = 1\ndef f(): 1", "LIMIT = 2\ndef g(): 1", "LIMIT"),
    "a parameter and a function": (FUNCTION, "def a(): 1", "def a(): 2", "work.a"),
}


@pytest.mark.parametrize(("frame", "one", "two", "name"), DECLARED.values(), ids=DECLARED)
def test_a_scope_that_declares_a_name_twice_is_a_fault(frame, one, two, name):
    """Every class and every function is a scope."""
    versions = both_added(one, two, frame=frame)

    assert fault_of(*versions).startswith(f"{name!r} would be declared ")


NOT_DECLARED = {
    "parts of one package": ("{}", "import b.c", "import b.d"),
    "overloads": (CLASS, "@overload\ndef f(self): 1", "@overload\ndef f(self, a): 2"),
    "accessors": (CLASS, "@x.setter\ndef x(self, a): 1", "@x.deleter\ndef x(self): 2"),
    "registered functions": ("{}", "@show.register\ndef _(a): 1", "@show.register\ndef _(b): 2"),
    "named registered functions": (
        "{}",
        "@show.register(A)\ndef f(a): 1",
        "@show.register(B)\ndef f(b): 2",
    ),
    "throwaway names": (FUNCTION, "def _(): 1", "def _(): 2"),
    "members of two scopes": ("{}", "class A:\n    def f(self): 1", "class B:\n    def f(self): 1"),
    "a variable that is set again": (FUNCTION, "x = a\nuse(x)", "x = b\nview(x)"),
    "constants that build on each other": ("{}", "X = [1]", "X = X + [2]"),
}


@pytest.mark.parametrize(("frame", "one", "two"), NOT_DECLARED.values(), ids=NOT_DECLARED)
def test_a_declaration_that_may_be_repeated_is_no_fault(frame, one, two):
    """Some definitions extend an earlier one."""
    assert fault_of(*both_added(one, two, frame=frame)) == ""


BRANCHES = {
    "if": "if a:\n    def f(): 1\nelse:\n    def f(): 2\n",
    "elif": "if a:\n    def f(): 1\nelif b:\n    def f(): 2\nelse:\n    from c import f\n",
    "try": "try:\n    from a import f\nexcept ImportError:\n    def f(): 2\n",
    "else": "try:\n    a()\nexcept E:\n    f: int = 1\nelse:\n    f: int = 2\n",
    "match": "match a:\n    case 1:\n        f: int = 1\n    case 2:\n        f: int = 2\n",
}


@pytest.mark.parametrize("text", BRANCHES.values(), ids=BRANCHES)
def test_branches_that_exclude_each_other_may_declare_one_name(text):
    """Only one more definition outside of them makes it two."""
    one, two = b"import a, b\ndef f(): 1\n", b"def g(): 1\n"
    versions, merged = (one, one + two, one + two), b"import a, b\n" + text.encode() + two

    assert find_fault("a.py", versions, merged, is_whole=False, may_invent=True) == ""
    again = merged + b"def f(): 1\n"
    assert "'f' would be declared 2" in find_fault("a.py", versions, again, is_whole=False)


UNREACHED = {
    "if and else": "if a:\n    return 1\nelse:\n    raise b",
    "elif": "if a:\n    return 1\nelif b:\n    return 2\nelse:\n    return 3",
    "an endless loop": "while True:\n    work()",
    "a loop left by return": "while 1:\n    if work():\n        return 1",
    "try": "try:\n    return 1\nexcept A:\n    return 2",
    "finally": "try:\n    work()\nfinally:\n    return 2",
    "match": "match a:\n    case 1:\n        return 1\n    case _:\n        return 2",
}


@pytest.mark.parametrize("last", UNREACHED.values(), ids=UNREACHED)
def test_a_statement_after_one_that_leaves_is_a_fault(last):
    """However it leaves."""
    versions = both_added(last, "more(a)", frame=FUNCTION, before="start(a)")

    assert fault_of(*versions) == "'more(a)' would never be reached"


REACHED = {
    "if without else": "if a:\n    return 1",
    "one branch": "if a:\n    return 1\nelse:\n    b()",
    "a loop with a break": "while True:\n    if a:\n        break",
    "a condition": "while a:\n    return 1",
    "a break of the outer loop": "while True:\n    for x in a: b()\n    else:\n        break",
    "a swallowed exception": "with suppress(KeyError):\n    return a[b]",
    "a handler": "try:\n    return 1\nexcept A:\n    pass",
    "a case": "match a:\n    case 1:\n        return 1\n    case [_]:\n        return 2",
}


@pytest.mark.parametrize("last", REACHED.values(), ids=REACHED)
def test_a_statement_that_may_be_reached_is_no_fault(last):
    """It depends on values that only exist when the code runs."""
    versions = both_added(last, "more(a)", frame=FUNCTION, before="start(a)")

    assert fault_of(*versions) == ""


TWICE = {
    "the same guard": "if not a:\n    return None",
    "the same loop": "for x in a:\n    b(x)",
    "the same while": "while a:\n    a = b(a)",
    "the same with": "with a as x:\n    b(x)",
    "the same try": "try:\n    a()\nexcept E:\n    b()",
}


@pytest.mark.parametrize("text", TWICE.values(), ids=TWICE)
def test_the_same_statement_twice_in_one_suite_is_a_fault(text):
    """If neither side wrote it twice."""
    base, ours, theirs, merged = both_added(
        f"{text}\none(a)", f"{text}\ntwo(b)", frame=FUNCTION, before="start(a)"
    )

    assert "twice" in fault_of(base, ours, theirs, merged)
    assert fault_of(base, merged, theirs, merged) == ""


SLIPS = {
    "an exception": (
        "try:\n    f()\n{}",
        "except A:\n    a()",
        "except (B, A):\n    b()",
        "'except A' would be declared 2 times",
    ),
    "a decorator": (
        "@b\n{}\ndef f(): pass",
        "@a\n@c",
        "@a\n@d",
        "'@a' would be declared 2 times",
    ),
    "a value": (FUNCTION, "x = a + 1", "x = a + 2", "'x' would be set twice without being used"),
    "an attribute": (
        FUNCTION,
        "a.x = b\nc = 1",
        "a.x = 2\nd = 2",
        "'a.x' would be set twice without being used",
    ),
}


@pytest.mark.parametrize(("frame", "one", "two", "words"), SLIPS.values(), ids=SLIPS)
def test_repeated_code_is_a_fault(frame, one, two, words):
    """Both sides wrote it once."""
    base, ours, theirs, merged = both_added(one, two, frame=frame)
    base = base.replace(b"pass\ndef", b"def") if frame.startswith("@") else base
    base = ours if frame.startswith("try") else base

    assert fault_of(base, ours, theirs, merged) == words


SET_AGAIN = {
    "used in between": ("x = a\nuse(x)", "x = b\nview(x)"),
    "used by the second": ("x = a", "x = wrap(x)"),
    "perhaps set in between": ("x = a\nif b:\n    x = 1", "x = b"),
    "several variables": ("x, y = a", "x, z = b"),
    "elements": ("x[1] = a", "x[2] = b"),
}


@pytest.mark.parametrize(("one", "two"), SET_AGAIN.values(), ids=SET_AGAIN)
def test_a_variable_that_is_set_again_after_a_use_is_no_fault(one, two):
    """Or that is not certainly the same variable."""
    assert fault_of(*both_added(one, two, frame=FUNCTION)) == ""


def moved(base, ours, theirs, merged):
    """Return the fault of functions with these bodies."""
    return fault_of(*(
        write("def work(a):\n" + textwrap.indent(textwrap.dedent(each).strip(), "    ") + "\n")
        for each in (base, ours, theirs, merged)
    ))  # fmt: skip


EARLY = {
    "an assignment below": (
        "x = a()\nb()",
        "x = a()\nb()\nuse(x)",
        "b()\nx = a()",
        "b()\nuse(x)\nx = a()",
    ),
    "an assignment in a nested function": (
        "x = a()",
        "x = a()\nuse(x)",
        "def go():\n    x = a()\n    return x\ngo()",
        "def go():\n    x = a()\n    return x\ngo()\nuse(x)\nx = go()",
    ),
    "an assignment in a branch": (
        "x = a()\nuse(x)",
        "x = a()\nuse(x)\nmore(x)",
        "if a:\n    x = a()\n    use(x)",
        "if a:\n    x = a()\n    use(x)\nmore(x)",
    ),
    "an assignment in a loop": (
        "x = a()\nuse(x)",
        "x = a()\nuse(x)\nmore(x)",
        "for b in a:\n    x = a()\n    use(x)",
        "for b in a:\n    x = a()\n    use(x)\nmore(x)",
    ),
    "an assignment in a case": (
        "x = a()\nuse(x)",
        "x = a()\nuse(x)\nmore(x)",
        "match a:\n    case [x]:\n        use(x)",
        "match a:\n    case [x]:\n        use(x)\nmore(x)",
    ),
    "an assignment in a try": (
        "x = a()\nuse(x)",
        "x = a()\nuse(x)\nmore(x)",
        "try:\n    x = a()\n    use(x)\nexcept E:\n    b()",
        "try:\n    x = a()\n    use(x)\nexcept E:\n    b()\nmore(x)",
    ),
    "a global name that became local": (
        "a(x)",
        "a(x)\nb()",
        "a()\nx = b()\nuse(x)",
        "a(x)\nx = b()\nuse(x)",
    ),
    "the exception of a handler": (
        "try:\n    b()\nexcept E as x:\n    use(x)",
        "x = 1\ntry:\n    b()\nexcept E:\n    use(x)\nmore(x)",
        "try:\n    b()\nexcept E as x:\n    use(x)",
        "x = 1\ntry:\n    b()\nexcept E as x:\n    use(x)\nmore(x)",
    ),
    "a deleted name": (
        "x = a()\nuse(x)",
        "x = a()\nuse(x)\nmore(x)",
        "x = a()\nuse(x)\ndel x",
        "x = a()\nuse(x)\ndel x\nmore(x)",
    ),
}


@pytest.mark.parametrize("bodies", EARLY.values(), ids=EARLY)
def test_a_local_name_that_is_used_too_early_is_a_fault(bodies):
    """In each version, every path binds it first; neither side's order matters."""
    base, ours, theirs, merged = bodies

    assert "'x' would be used in 'work' before it is bound" in moved(base, ours, theirs, merged)
    assert "'x' would be used in 'work' before it is bound" in moved(base, theirs, ours, merged)
    assert "before it is bound" not in moved(base, merged, theirs, merged)


BOUND = {
    "every branch": "if a:\n    x = 1\nelse:\n    x = 2",
    "every branch that stays": "if a:\n    x = 1\nelif b:\n    x = 2\nelse:\n    return",
    "a handler that leaves": "try:\n    x = 1\nexcept E:\n    raise",
    "a handler that binds": "try:\n    x = 1\nexcept E:\n    x = 2\nelse:\n    x = 3",
    "finally": "try:\n    a()\nfinally:\n    x = 1",
    "with": "with a as x:\n    b()",
    "within with": "with a:\n    x = 1",
    "every case": "match a:\n    case [x]:\n        b()\n    case x:\n        c()",
    "a condition": "if (x := a()):\n    b()",
    "a condition that goes on": "if (x := a()) and x.b:\n    b()",
    "a condition of an expression": "b(x.c if (x := a()) else 0)",
    "a condition of a comprehension": "b([x.c for y in a if (x := y)])",
    "an endless loop": "while True:\n    x = a()\n    if x:\n        break",
    "a loop whose else leaves": "for x in a:\n    break\nelse:\n    return",
    "an import": "import x",
    "a function": "def x(): 1",
    "a global declaration": "global x\nif a:\n    x = 1",
    "a comprehension": "x = [x for x in a]",
}


@pytest.mark.parametrize("bound", BOUND.values(), ids=BOUND)
def test_a_name_that_every_path_binds_is_no_fault(bound):
    """Also if the values of the program decide whether a path is taken."""
    base = "x = a()\nuse(x)"

    fault = moved(base, f"{base}\nmore(x)", f"{bound}\nuse(x)", f"{bound}\nuse(x)\nmore(x)")
    assert fault == ""


def test_a_name_that_an_expression_binds_and_reads_is_no_fault_in_a_renamed_function():
    """No version has a function of this name that does so."""
    versions = [
        f"def {name}(a):\n    return {value}\n"
        for name, value in (
            ("f", "1"),
            ("g", "1"),
            ("f", "(x := a) and x"),
            ("g", "(x := a) and x"),
        )
    ]

    assert fault_of(*map(str.encode, versions)) == ""


def test_names_that_are_read_later_are_no_fault():
    """Functions, lambdas and generators are executed later."""
    base = "x = 1\nreturn x"
    later = "def f(): return x\ng = lambda: x\nh = (x for y in a if x)"

    assert moved(base, f"{later}\n{base}", base, f"{later}\nmore = a\n{base}") == ""


def test_a_name_of_the_top_level_that_is_used_above_its_definition_is_a_fault():
    """A decorator, a base class or a default is read when the definition is executed."""
    base = write("""
        def one(a): return a


        def two(): return 2
        """)
    ours = write("""
        def one(a): return a


        @one
        def two(): return 2
        """)
    theirs = write("""
        def two(): return 2


        def one(a): return a
        """)
    merged = write("""
        @one
        def two(): return 2


        def one(a): return a
        """)

    assert fault_of(base, ours, theirs, merged) == "'one' would be used above its definition"
    assert fault_of(base, merged, theirs, merged) == ""


def test_a_function_may_use_what_is_defined_below_it():
    """It is called later."""
    base = write("def one(): return 1")
    ours = write("""
        def zero(): return one()


        def one(): return 1
        """)

    assert fault_of(base, ours, base, ours) == ""


CALLS = {
    "an unknown keyword": ("def f(a): 0", "f(1, b=2)", "has no parameter `b`"),
    "a missing argument": ("def f(a, b): 0", "f(1)", "needs `b`"),
    "a missing keyword": ("def f(a, *, b): 0", "f(1)", "needs `b`"),
    "too many": ("def f(a): 0", "f(1, 2)", "takes at most 1 positional arguments"),
    "twice": ("def f(a, b=1): 0", "f(1, a=2)", "gets `a` both by position and by name"),
    "a positional one by name": ("def f(a, /): 0", "f(a=2)", "has no parameter `a`"),
    "a constructor": (
        "class f:\n    def __init__(self, a): 0",
        "f()",
        "needs `a`",
    ),
    "a method": (
        "class f:\n    def g(self, a): 0\n    def h(self): self.g()",
        "f()",
        "'f.g' would not fit, since it needs `a`",
    ),
    "a class method": (
        "class f:\n    @classmethod\n    def g(cls, a): 0\n    def h(self): self.g(b=1)",
        "f()",
        "'f.g' would not fit, since it has no parameter `b`",
    ),
    "a static method": (
        "class f:\n    @staticmethod\n    def g(a): 0\n    def h(self): self.g(1, 2)",
        "f()",
        "'f.g' would not fit, since it takes at most 1 positional",
    ),
}


@pytest.mark.parametrize(("defined", "call", "problem"), CALLS.values(), ids=CALLS)
def test_a_call_that_fits_no_longer_is_a_fault(defined, call, problem):
    """One side changed the function, the other added the call."""
    open_ = "def f(*args, **kwargs): 0" if "class" not in defined else "class f: 0"
    tail = "\n\n\ndef work():\n    return "
    base, ours = f"{open_}{tail}0\n", f"{open_}{tail}{call}\n"
    theirs, merged = f"{defined}{tail}0\n", f"{defined}{tail}{call}\n"
    if "self.g" in defined:
        theirs = defined.partition("    def h")[0] + f"{tail}0\n"
    versions = [each.encode() for each in (base, ours, theirs)]

    assert problem in fault_of(*versions, merged.encode())
    assert fault_of(versions[0], merged.encode(), versions[2], merged.encode()) == ""


CERTAIN_NOT = {
    "a decorated function": "@b\ndef f(a): 0",
    "one that is bound again": "def f(a): 0\nf = b(f)",
    "one that a parameter hides": "def f(a): 0\ndef g(f): return f()",
    "one that takes anything": "def f(*a, **b): 0",
    "one with defaults": "def f(a=1, *, b=2): 0",
    "a class that makes itself": "class f:\n    def __new__(cls): 0\n    def __init__(self, a): 0",
    "a class with a metaclass": "class f(metaclass=b):\n    def __init__(self, a): 0",
    "a decorated class": "@b\nclass f:\n    def __init__(self, a): 0",
    "a method that is replaced": (
        "class f:\n    def g(self, a): 0\n    def h(self): self.g = 1\n    def i(self): self.g()"
    ),
    "a method of another object": (
        "class f:\n    def g(self, a): 0\n    def h(self):\n        def i(self): self.g()"
    ),
}


@pytest.mark.parametrize("defined", CERTAIN_NOT.values(), ids=CERTAIN_NOT)
def test_a_call_of_something_uncertain_is_no_fault(defined):
    """What is called is only known when the code runs."""
    tail = "\n\n\ndef work():\n    return "
    texts = [f"f = 0{tail}0\n", f"f = 0{tail}f(b=1)\n", f"{defined}{tail}0\n"]
    merged = f"{defined}{tail}f()\n"

    assert "a call of" not in fault_of(*(each.encode() for each in texts), merged.encode())


def test_arguments_that_stars_give_are_not_counted():
    """They may be any."""
    tail = "\n\n\ndef work():\n    return "
    for call in ("f(*x)", "f(**x)", "f(1, *x)", "f(*x, **y)"):
        texts = [f"def f(): 0{tail}0\n", f"def f(): 0{tail}{call}\n", f"def f(a, b): 0{tail}0\n"]
        merged = f"def f(a, b): 0{tail}{call}\n"

        assert fault_of(*(each.encode() for each in texts), merged.encode()) == ""


@pytest.mark.parametrize(("size", "is_found"), [(99_000, True), (101_000, False)])
def test_paths_are_followed_in_pieces_up_to_a_size(size, is_found):
    """Following a long piece takes too long; its other faults are still found."""
    padding = f"    # {'x' * size}\n"
    texts = [
        f"def f(a):\n{padding}{body}    return a\n"
        for body in ("    x = a\n", "    x = a\n    a(x)\n", "    x = a\n", "    a(x)\n    x = a\n")
    ]

    assert ("before it is bound" in fault_of(*map(str.encode, texts))) == is_found


def test_blocks_that_python_refuses_are_not_followed_to_the_end():
    """The names of a file are also read if it cannot be compiled."""
    text = "".join(" " * i + "if a:\n" for i in range(300)) + " " * 300 + "x\n"

    assert [*read_source(Grammar.PYTHON, b"def f(a): 1\n" + text.encode()).by_name] == ["f"]


MOVED = {
    "behind a sign": ("a, *, c=1", "a, b=2", "a, *, c=1, b=2", "a, b=2, *, c=1"),
    "before a sign": ("a, /", "a, b=2", "a, b=2, /", "a, /, b=2"),
    "behind the others": ("a, *c", "a, b=2", "a, *c, b=2", ""),
    "before the others": ("a, *c", "a, b=2", "a, b=2, *c", ""),
}


@pytest.mark.parametrize(("ours", "theirs", "wrong", "right"), MOVED.values(), ids=MOVED)
def test_a_parameter_is_given_as_its_side_gives_it(ours, theirs, wrong, right):
    """Callers in other files rely on it."""
    texts = [write(f"def f({each}):\n    g(a)\n") for each in ("a", ours, theirs, wrong, right)]
    *versions, moved, kept = texts

    assert " of 'f' would be given " in fault_of(*versions, moved)
    assert not right or fault_of(*versions, kept) == ""
