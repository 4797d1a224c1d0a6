"""The faults that the static checks find in a merged file, and false alarms to avoid."""

import ast
import builtins
import random
import re
import symtable
from collections import Counter

import pytest
from generators import indices
from hypothesis import given

import cooperbench_eval as ce
from cooperbench_eval.languages.faults import faults, losses
from cooperbench_eval.languages.faults.faults import find_fault
from cooperbench_eval.languages.faults.names import find_name_fault
from cooperbench_eval.languages.readers.grammars import Grammar
from cooperbench_eval.languages.readers.python_syntax import check_python
from cooperbench_eval.languages.scopes.reading import read_source
from cooperbench_eval.languages.tree import SyntaxFaultError

ONE, TWO = b"def one():\n    return 1\n", b"def two():\n    return 2\n"

FAULTS = {
    "brackets out of order": (b"a()\n", b"a(b)\n", b"a(c)\n", b"a)b c(\n", "not parse"),
    "an indent that fits nothing": (
        b"a = 1\n",
        b"a = 1\nif a:\n    b = 2\n",
        b"a = 1\n",
        b"a = 1\nif a:\nb = 2\n",
        "not parse",
    ),
    "a parameter given twice": (
        b"def f(): 0\n",
        b"def f(a): 0\n",
        b"def f(a): 0\n",
        b"def f(a, a): 0\n",
        "would not parse",
    ),
    "a function defined twice": (b"", ONE, ONE, ONE + ONE, "'one' would be declared 2 times"),
    "a method defined twice": (
        b"class A:\n    x = 1\n",
        b"class A:\n    x = 1\n    def f(self): 1\n",
        b"class A:\n    x = 1\n    def f(self): 2\n",
        b"class A:\n    x = 1\n    def f(self): 1\n    def f(self): 2\n",
        "'A.f' would be declared 2 times",
    ),
    "a name that lost its import": (
        b"import os\n",
        b"import os\nx = os.name\n",
        b"",
        b"x = os.name\n",
        "'os' is used, but would no longer be bound",
    ),
    "a name that lost its function": (
        ONE,
        ONE + b"\n\ndef more():\n    return one()\n",
        TWO,
        TWO + b"\n\ndef more():\n    return one()\n",
        "'one' is used, but would no longer be bound",
    ),
    "a method that lost its name": (
        b"class A:\n    def f(self): 1\n",
        b"class A:\n    def fs(self): 1\n",
        b"class A:\n    def f(self): 1\n    def g(self): self.f()\n",
        b"class A:\n    def fs(self): 1\n    def g(self): self.f()\n",
        "'f' is used, but would no longer be defined",
    ),
    "a method that neither side dropped": (
        b"class A:\n    def f(self): 1\nclass B:\n    def f(self): 1\nA().f\n",
        b"class B:\n    def f(self): 1\nA().f\n",
        b"class A:\n    def f(self): 1\nA().f\n",
        b"A().f\n",
        "'f' is used, but would no longer be defined",
    ),
    "a name bound by what both dropped": (
        b"import os\nos.x\n\n\nimport os\n",
        b"os.x\n\n\nimport os\n",
        b"import os\nos.x\n",
        b"os.x\n",
        "'os' is used, but would no longer be bound",
    ),
    "a token that one side added": (b"a\n", b"a + b\n", b"a\n", b"a\n+\n", "'b' would be lost"),
    "a token that both sides kept": (b"a + b\n", b"a + b + c\n", b"a + b\n", b"b + c\n+\n", "'a'"),
}


@pytest.mark.parametrize(("base", "ours", "theirs", "merged", "words"), FAULTS.values(), ids=FAULTS)
def test_a_fault_is_found_and_described(base, ours, theirs, merged, words):
    """The order of the sides does not matter; the ledger has the same words."""
    assert words in find_fault("a.py", (base, ours, theirs), merged)
    assert words in find_fault("a.py", (base, theirs, ours), merged)


SOUND = {
    "what both added, once": (b"a\n", b"a\nb\n", b"a\nb\n", b"a\nb\n"),
    "what either removed": (b"a\nb\nc\n", b"b\nc\n", b"a\nb\n", b"b\n"),
    "a name that was never bound": (b"f(a)\n", b"f(a, k=b)\n", b"f(a, m=c)\n", b"f(a, k=b, m=c)\n"),
    "a name of the builtins": (b"", b"print(len([]))\n", b"", b"print(len([]))\n"),
    "a name that a star import may bind": (
        b"import os\n",
        b"import os\nx = os.name\n",
        b"from m import *\n",
        b"from m import *\nx = os.name\n",
    ),
    "a name that only a function uses": (
        b"",
        b"def f(x): return x\n",
        b"",
        b"def f(x): return x\n",
    ),
    "a function that a side defined twice": (b"", ONE + ONE, b"", ONE + ONE),
    "methods of one name in two classes": (
        b"class A:\n    def f(self): 1\n",
        b"class A:\n    def f(self): 1\nclass B:\n    def f(self): 1\n",
        b"class A:\n    def f(self): 1\n",
        b"class A:\n    def f(self): 1\nclass B:\n    def f(self): 1\n",
    ),
    "a method that the side without it calls too": (
        b"class A(B):\n    def f(self): 1\n",
        b"class A(B):\n    def g(self): self.f()\n",
        b"class A(B):\n    def f(self): 1\nA().f()\n",
        b"class A(B):\n    def g(self): self.f()\nA().f()\n",
    ),
    "a method that is an attribute now": (
        b"class A:\n    def f(self): 1\n",
        b"class A:\n    def __init__(self): self.f = 1\n",
        b"class A:\n    def f(self): 1\nA().f\n",
        b"class A:\n    def __init__(self): self.f = 1\nA().f\n",
    ),
    "a method that the class binds now": (
        b"class A:\n    def f(self): 1\n",
        b"class A:\n    f = one\n",
        b"class A:\n    def f(self): 1\nA().f\n",
        b"class A:\n    f = one\nA().f\n",
    ),
    "a method that may be found all the same": (
        b"class A:\n    def f(self): 1\n",
        b"class A:\n    def __getattr__(self, name): 1\n",
        b"class A:\n    def f(self): 1\nA().f\n",
        b"class A:\n    def __getattr__(self, name): 1\nA().f\n",
    ),
    "a method that a dictionary has as well": (
        b"class A:\n    def get(self): 1\n",
        b"class A:\n    def got(self): 1\n",
        b"class A:\n    def get(self): 1\n{}.get\n",
        b"class A:\n    def got(self): 1\n{}.get\n",
    ),
    "a name that a function binds for all": (
        b"a = 0\n",
        b"\n\ndef f():\n    global a\n    a = 1\n",
        b"a = 0\nprint(a)\n",
        b"print(a)\n\n\ndef f():\n    global a\n    a = 1\n",
    ),
    "two lambdas": (b"", b"f = lambda: 1\ng = lambda: 2\n", b"", b"f = lambda: 1\ng = lambda: 2\n"),
    "one comma for two": (b"f(a)\n", b"f(a, k=b,)\n", b"f(a, m=c,)\n", b"f(a, k=b, m=c)\n"),
}


UNREADABLE = {
    "a file that never parsed": (b"a(\n", b"a(b\n", b"a(c\n", b"a(b c\n"),
    "a file that did not parse on one side": (b"a\n", b"a(b\n", b"a\n", b"a(b\n"),
    "a file that is no UTF-8": (b"\xe9 = 1\n", b"\xe9 = 1\nb\n", b"\xe9 = 1\n", b"\xe9 = 1\n(b\n"),
    "a file with a NUL byte": (b"a\0\n", b"a\0b\n", b"a\0\n", b"a\0(b\n"),
}


@pytest.mark.parametrize(("base", "ours", "theirs", "merged"), UNREADABLE.values(), ids=UNREADABLE)
def test_source_that_does_not_parse_in_a_version_cannot_be_checked(base, ours, theirs, merged):
    assert "does not parse" in find_fault("a.py", (base, ours, theirs), merged)


@pytest.mark.parametrize(("base", "ours", "theirs", "merged"), SOUND.values(), ids=SOUND)
def test_no_fault_is_found_in_a_sound_file(base, ours, theirs, merged):
    """None is found in a file that cannot be checked either."""
    assert find_fault("a.py", (base, ours, theirs), merged) == ""
    assert find_fault("a.py", (base, theirs, ours), merged) == ""


@pytest.mark.parametrize(
    ("path", "words"),
    [("a.py", "not parse"), ("a.pyi", "not parse"), ("a.lua", ""), ("a.python", ""), ("py", "")],
)
def test_only_files_of_known_languages_are_parsed(path, words):
    """The file's suffix gives the language."""
    fault = find_fault(path, (b"a\n", b"a\nb()\n", b"a\n"), b"a\nb()(\n")

    assert words in fault
    assert bool(fault) == bool(words)


SLIPS = {
    "a statement behind a return": (
        b"def f():\n    a()\n",
        b"def f():\n    a()\n    return 1\n",
        b"def f():\n    a()\n    b()\n",
        b"def f():\n    a()\n    return 1\n    b()\n",
        "'b()' would never be reached",
    ),
    "a key twice": (
        b"d = {}\n",
        b"d = {'b': 2}\n",
        b'd = {"b": 3}\n',
        b"d = {'b': 2, \"b\": 3}\n",
        "'key b' would be declared 2 times",
    ),
    "a condition twice": (
        b"if x:\n    a()\n",
        b"if x:\n    a()\nelif y:\n    b()\n",
        b"if x:\n    a()\nelif y:\n    c()\n",
        b"if x:\n    a()\nelif y:\n    b()\nelif y:\n    c()\n",
        "'elif y :' and 'elif y :' may both match, so their order matters",
    ),
    "a case twice": (
        b"match x:\n    case 1: a()\n",
        b"match x:\n    case 1: a()\n    case 2: b()\n",
        b"match x:\n    case 1: a()\n    case 2: c()\n",
        b"match x:\n    case 1: a()\n    case 2: b()\n    case 2: c()\n",
        "'case 2 : b ( )' and 'case 2 : c ( )' may both match, so their order matters",
    ),
}


@pytest.mark.parametrize(("base", "ours", "theirs", "merged", "words"), SLIPS.values(), ids=SLIPS)
def test_code_that_is_rarely_intended_is_a_fault_unless_a_version_has_it(
    base, ours, theirs, merged, words
):
    """It parses, but neither side wrote it."""
    assert find_fault("a.py", (base, ours, theirs), merged) == words
    assert find_fault("a.py", (base, merged, theirs), merged) == ""


def test_a_byte_order_mark_in_the_middle_is_a_fault():
    mark = b"\xef\xbb\xbf"

    fault = find_fault(
        "a.py", (b"\n", mark + b"a()\n", mark + b"b()\n"), mark + b"a()\n" + mark + b"b()\n"
    )

    assert fault == "a byte order mark would be in the middle of the file"


SUITES = {
    "a file": "{body}",
    "a loop's else": "for x in y: pass\nelse:\n    {body}",
    "a handler": "try: pass\nexcept A:\n    {body}",
    "a finally": "try: pass\nfinally:\n    {body}",
    "a case": "match x:\n  case 1:\n    {body}",
    "a function in a class": "class A:\n  def f():\n    {body}",
}


@pytest.mark.parametrize("suite", SUITES.values(), ids=SUITES)
def test_a_statement_is_never_reached_in_any_suite(suite):
    """It is found in a suite of any kind of statement."""
    versions = [
        suite.format(body=f"pass{work}").encode() + b"\n" for work in ("", "; raise A", "; b()")
    ]
    merged = suite.format(body="pass; raise A; b()").encode() + b"\n"

    assert "would never be reached" in find_fault("a.py", tuple(versions), merged)


GO = b"package a\n\nfunc one() int {\n\treturn 1\n}\n"


RENAMED = b"""class A:
    def __init__(self):
        self.%b = 1

    def first(self):
        return self.%b
"""
MORE = b"""
    def second(self):
        return self.amount
"""


def test_half_of_a_renaming_is_a_fault():
    """A side renamed the attribute, and the other reads it once more."""
    base, ours = (RENAMED % (name, name) for name in (b"amount", b"_amount"))

    fault = find_fault("a.py", (base, ours, base + MORE), ours + MORE)

    assert fault == "'amount' is used, but would no longer be set"


def test_an_attribute_may_be_set_in_another_file():
    """A version reads it without setting it."""
    base = RENAMED % (b"other", b"amount")
    ours = RENAMED % (b"_other", b"amount")

    assert find_fault("a.py", (base, ours, base + MORE), ours + MORE) == ""


@pytest.mark.parametrize(
    ("path", "texts", "words"),
    [
        ("a.json", (b"{}", b'{"a": 1}', b'{"b": 1}', b'{"a": 1"b": 1}'), "not parse"),
        ("a.json", (b"{}", b'{"a": 1}', b'{"a": 2}', b'{"a": 1, "a": 2}'), "'a' occurs twice"),
        ("a.toml", (b"", b"a = 1\n", b"a = 2\n", b"a = 1\na = 2\n"), "not parse"),
        ("a.json", (b"// odd\n{}", b"// odd\n{1}", b"{2}", b"{1}"), "the base does not parse"),
        ("tsconfig.json", (b"// c\n{}", b'// c\n{"a": 1,}', b"{}", b'{"a": 1,}'), ""),
        ("a.json", (b"", b'{"a": 1}', b'{"a": 1}', b'{"a": 1}'), ""),
    ],
)
def test_data_and_its_versions_must_parse(path, texts, words):
    *versions, merged = texts

    fault = find_fault(path, tuple(versions), merged)

    assert words in fault if words else not fault


@pytest.mark.parametrize(
    "encode",
    [
        lambda text: b"\xef\xbb\xbf" + text,
        lambda text: b"# coding: latin-1\nword = '\xe4'\n" + text,
    ],
    ids=["byte order mark", "Latin-1"],
)
def test_files_are_read_as_python_reads_them(encode):
    """A fault is found in each encoding that a file may name."""
    base, ours, theirs = (encode(text) for text in (b"", b"def f(): 1\n", b"def f(): 2\n"))

    fault = find_fault("a.py", (base, ours, theirs), ours + b"def f(): 2\n")

    assert fault == "'f' would be declared 2 times"


def test_a_file_of_a_known_grammar_must_parse():
    """A merged Go file with a syntax error is refused, if no version had one."""
    broken = GO.replace(b"return 1\n}", b"return 1\n")

    assert "not parse" in find_fault("a.go", (GO, GO, GO), broken, is_whole=False)
    fault = find_fault("a.go", (broken, GO, GO), broken, is_whole=False)
    assert fault.startswith("the base does not parse (line")


def test_a_definition_that_neither_side_had_twice_is_a_fault_in_any_known_language():
    """A Go function that is defined twice only in merged is refused."""
    twice = GO + b"\nfunc one() int {\n\treturn 1\n}\n"

    assert find_fault("a.go", (GO, GO, GO), twice) == "'one' would be declared 2 times"
    assert find_fault("a.go", (twice, twice, twice), twice) == ""


def test_files_of_unknown_languages_must_not_lose_tokens():
    """This check needs no language."""
    assert find_fault("a.txt", (b"a\n", b"a b\n", b"a\n"), b"a\n") == "'b' would be lost"


def test_a_lost_token_that_is_not_text_is_shown():
    """The message is text, whatever the bytes are."""
    assert (
        find_fault("a", (b"", b"\xff\n", b""), b"") == "'\N{REPLACEMENT CHARACTER}' would be lost"
    )


def test_an_unfinished_file_may_lack_text():
    """While conflicts are open, missing text is not a fault, but a duplicate is."""
    versions = b"import os\n", b"import os\nos.x\n", b"\n"

    assert find_fault("a.py", versions, b"os.x\n") == "'os' is used, but would no longer be bound"
    assert find_fault("a.py", versions, b"os.x\n", is_whole=False) == ""
    assert "not parse" in find_fault("a.py", versions, b"os.(\n", is_whole=False)
    assert "2 times" in find_fault("a.py", (b"", ONE, ONE), ONE + ONE, is_whole=False)


def test_a_warning_of_the_compiler_is_not_a_fault():
    """The warning, such as for an invalid escape, is not shown either."""
    ours = b'a = "\\d"\nassert (a, 1)\nb = 1 is 1\n'

    assert find_fault("a.py", (b"", ours, b""), ours) == ""


# --- piece by piece ------------------------------------------------------------------------


BROKEN = {
    "early": b"def f(: 1\n\n\ndef g(): 2\n",
    "late": b"import os\n\n\ndef f(): 1\n\n\ndef g(a, a): 2\n\n\ndef h(): 1\n",
    "in what the future brought": b"from __future__ import annotations\n\ndef f(a, a): 1\n",
    "by a future too late": b"def f(): 1\n\ndef g(): 1\nfrom __future__ import division\n",
    "by what is global too late": b"a = 1\n\ndef f(): 1\nglobal a\n",
    "by a string without an end": b'def f(): 1\n\ndef g(): """\n\ndef h(): 1\n',
    "by a line that goes on": b"a = 1 \\\n\ndef f(: 1\n",
}


@pytest.mark.parametrize("source", BROKEN.values(), ids=BROKEN)
def test_a_syntax_error_is_that_of_the_compiler(source):
    """The problem and the line are, without the name that was given to it."""
    with pytest.raises(SyntaxError) as expected:
        compile(source, "<merged>", "exec", dont_inherit=True)

    with pytest.raises(SyntaxFaultError) as found:
        check_python(source)

    assert (str(found.value), found.value.line) == (expected.value.msg, expected.value.lineno)


class Whole:
    """The reference for missing names: the compiler's table of a whole file."""

    def __init__(self, source):
        text = source.decode()
        self.definitions, self.used, self.bound, self.known = set(), set(), set(), set()
        self._walk(symtable.symtable(text, "<merged>", "exec"), "")
        # Since Python 3.12, the table has the names of comprehensions beside those around them.
        for names in (self.used, self.bound, self.known):
            names.discard("each")
        has_star = re.search(r"(?m)^from \S+ import \*", text)
        self.unbound = set() if has_star else self.used - self.bound - set(dir(builtins))
        nodes = [node for node in ast.walk(ast.parse(text)) if isinstance(node, ast.Attribute)]
        self.read = {node.attr for node in nodes if isinstance(node.ctx, ast.Load)}
        self.set = {node.attr for node in nodes if not isinstance(node.ctx, ast.Load)}
        self.known |= self.set

    def _walk(self, table, scope):
        for symbol in table.get_symbols():
            if symbol.is_referenced() and (not scope or symbol.is_global()):
                self.used.add(symbol.get_name())
            if symbol.is_assigned() or symbol.is_imported():
                if not scope or symbol.is_declared_global():
                    self.bound.add(symbol.get_name())
                if not scope or symbol.is_declared_global() or table.get_type() == "class":
                    self.known.add(symbol.get_name())
        for child in table.get_children():
            if child.get_name() not in {"lambda", "genexpr", "listcomp"}:
                self.definitions.add(child.get_name())
                self.known.add(child.get_name())
            self._walk(child, f"{scope}{child.get_name()}.")


def missing(before, now):
    """Return which name merged reads that it no longer binds, defines or sets."""
    if unbound := now.unbound.difference(*(each.unbound for each in before)):
        return f"{min(unbound)!r} is used, but would no longer be bound"
    once = set().union(*(each.definitions for each in before))
    for name in sorted(once & now.read - now.known):
        if not any(name in side.read and name not in side.known for side in before[1:]):
            return f"{name!r} is used, but would no longer be defined"
    gone = set().union(*(each.set for each in before)) - now.set
    for name in sorted(gone & now.read):
        if all(name in each.set for each in before if name in each.read):
            return f"{name!r} is used, but would no longer be set"
    return ""


PARTS = [
    *("import a", "from b import c", "from d import *", "del a.two", "a.two += 1", ""),
    *("a = c", "c = 1", "print(a.one)", "b = one()", "b = two", "a.two = c"),
    *("x = [each for each in a]", "if a:\n    def one(): c", "if c:\n    two = a.one()"),
    *("def one():\n    return 1", "def one(a):\n    return two(c)", "@a\ndef two(x: c): x.one()"),
    *("def two():\n    global c\n    c = a.three", "async def three(): await one()", "# one"),
    *("class A:\n    def one(self): self.two()", "class A:\n    one = c\n    def two(self): a"),
    *("class B:\n    def three(self): one", 'class B:\n    """B."""\n    class C: c\n'),
    "def five(b):\n    return [(b, c, (d := b)) for c in b if (lambda e, f=g: e + f + h)(c)]",
    "match a:\n    case B(x=c) | [c, *_] if c:\n        d = c\n    case {'k': e, **f}: e",
    "def six(a):\n    with a as (b, c), d: pass\n    try: b\n    except E as c: c",
    "def seven():\n    a = 1\n    def eight():\n        nonlocal a\n        a = b\n    return a",
]


def edited(chance, parts):
    """Insert, drop, replace or repeat a few parts."""
    parts = list(parts)
    for _ in range(chance.randrange(4)):
        at = chance.randrange(len(parts) + 1)
        new = chance.choices([*PARTS, *parts], k=chance.randrange(3))
        parts[at : at + chance.randrange(3)] = new
    return parts


def mixed(chance, base, ours, theirs):
    """Take most of the parts that a side added or both kept."""
    wanted = [p for p in ours if p not in base or p in theirs] + [
        p for p in theirs if p not in ours
    ]
    return edited(chance, wanted) if chance.randrange(3) else wanted


def joined(parts):
    """Join parts with empty lines between them."""
    return "".join(f"{part}\n\n\n" for part in parts).encode()


@given(indices())
def test_the_missing_names_are_those_of_the_compiler(seed):
    """This holds for any contents of the four files."""
    chance = random.Random(seed)  # noqa: S311 - no secret
    base = chance.choices(PARTS, k=chance.randrange(9))
    ours, theirs = edited(chance, base), edited(chance, base)
    parts = base, ours, theirs, mixed(chance, base, ours, theirs)
    *versions, merged = map(joined, parts)

    fault = find_name_fault("a.py", tuple(versions), merged, is_whole=True)
    expected = missing([Whole(each) for each in versions], Whole(merged))

    # Another fault may be found first.
    assert fault == expected or (fault and "no longer" not in fault)


@given(indices())
def test_the_free_and_bound_names_are_those_of_the_compiler(seed):
    """However the statements are mixed."""
    chance = random.Random(seed)  # noqa: S311 - no secret
    source = joined(chance.choices(PARTS, k=chance.randrange(9)))

    found, table = read_source(Grammar.PYTHON, source), Whole(source)

    assert (found.free, set(found.declared)) == (table.used - table.bound, table.bound)


# --- the checks decide ---------------------------------------------------------------------


def merge_one(base, ours, theirs, path="a.py"):
    """Merge one file by tokens."""
    tree = ce.Snapshot.from_files({path: base})
    sides = (ce.Changes({path: ce.Entry(text)}) for text in (ours, theirs))
    return ce.merge(tree, *sides, strategy="tokens")


CLASS = b"class A:\n    def f(self):\n        return 1\n"
METHOD = b"\n    def g(self):\n        return 2\n"
STATEMENT = b"\nx = A()\n"


def test_theirs_comes_first_if_only_that_passes():
    """A method that theirs adds cannot come after a statement that ours adds."""
    outcome = merge_one(CLASS, CLASS + STATEMENT, CLASS + METHOD)

    assert outcome.changes["a.py"].data == CLASS + METHOD + STATEMENT
    assert [row.rule for row in outcome.ledger] == ["tokens, theirs first"]


def test_ours_comes_first_if_that_passes():
    """The other order is not tried."""
    outcome = merge_one(CLASS, CLASS + METHOD, CLASS + STATEMENT)

    assert outcome.changes["a.py"].data == CLASS + METHOD + STATEMENT
    assert [row.rule for row in outcome.ledger] == ["tokens"]


def test_ours_comes_first_if_the_language_is_unknown():
    """The same texts in a file that is not Python."""
    outcome = merge_one(CLASS, CLASS + STATEMENT, CLASS + METHOD, path="a.txt")

    assert outcome.changes["a.txt"].data == CLASS + STATEMENT + METHOD


def test_a_rejected_merge_stays_open_with_its_reason():
    """Two functions of one name cannot be merged in either order."""
    outcome = merge_one(ONE, ONE + b"\n\ndef f(a):\n    return a\n", ONE + b"\n\ndef f():\n    0\n")

    assert outcome.status == "conflicts"
    assert [row.reason for row in outcome.ledger] == [
        "'f' would be declared 2 times (ours, line 5: `def f(a):`; theirs, line 5: `def f():`)"
    ]
    assert outcome.ledger[0].is_open


def test_a_faulty_block_does_not_keep_a_sound_one_open():
    """Each is checked separately if the whole file fails."""
    middle = b"".join(b"a%d = %d\n" % (i, i) for i in range(9))
    base = b"x = f(1, 2)\n" + middle
    ours = b"x = g(1, 2)\n" + middle + b"\n\ndef f(a):\n    return a\n"
    theirs = b"x = f(1, 3)\n" + middle + b"\n\ndef f():\n    return 0\n"

    outcome = merge_one(base, ours, theirs)

    assert [row.rule for row in outcome.ledger] == ["tokens", ""]
    assert outcome.changes["a.py"].data.startswith(b"x = g(1, 3)\n" + middle)
    assert len(outcome.conflicts) == 1


def test_equal_lines_are_read_once(monkeypatch):
    read = []

    def count(text):
        read.append(text)
        return Counter(text.split())

    monkeypatch.setattr(losses, "count_parts", count)
    many, fewer, least = (b"a b b\n" * n for n in (9000, 8000, 7000))
    assert find_fault("a", (many, fewer, many), fewer) == ""
    assert "'a' would be lost" in find_fault("a", (fewer, fewer, many), least)
    assert sum(map(len, read)) < 1000


@pytest.mark.parametrize("suffix", [".py", ".js"])
@pytest.mark.parametrize("size", [500_000, 500_001])
def test_source_is_parsed_up_to_a_size(monkeypatch, suffix, size):
    parsed = []
    monkeypatch.setattr(faults, "find_parse_fault", lambda *_: parsed.append(1) or "stop")
    base = b"1" * (size - 1) + b"\n" if suffix == ".js" else b"#" * (size - 1) + b"\n"
    fault = find_fault("a" + suffix, (base, b"a\n", b"b\n"), b"a\n", is_whole=False)
    assert bool(parsed) == ("would not parse" in fault) == (size == 500_000)
    assert parsed or fault == "a version has more than 500,000 bytes, too many to check"


def test_other_files_are_checked_at_any_size():
    base = b"a\n" * 300_000
    assert find_fault("a.txt", (base, base, base), base[2:]) == "'a' would be lost"


def test_a_list_lacks_no_item():
    """JavaScript's grammar allows it in a call; what a version has, it may have."""
    versions = [b"f(1);\n", b"f(1, 2);\n", b"f(1, 3);\n"]
    lacking = find_fault("a.js", tuple(versions), b"f(1,, 2, 3);\n")
    known = [text.replace(b"1,", b"1,,") for text in versions]

    assert lacking == "a list would lack an item between two commas"
    assert "two commas" not in find_fault("a.js", tuple(known), known[1])
