"""Declarations of data, and items, that both sides change or insert under one name."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cooperbench_eval.languages.files import find_syntax_fault, read_versions
from cooperbench_eval.languages.tree import DisagreementError, render
from cooperbench_eval.strategies.structured.merge import TreeMerge


def merge(path, base, ours, theirs):
    """Merge three versions of a file."""
    trees = read_versions(path, [each.encode() for each in (base, ours, theirs)])
    return render(TreeMerge().merge(*trees)).decode()[1:] + "\n"


def words(text):
    """Return a text without its layout."""
    return text.split()


CALL = "export function load(url: string%s) {\n  return get(url);\n}\n"
PARAMETERS = {
    "option types": (
        ", options?: { timeout: number }",
        ", options?: { retries?: number }",
        ", options?: { timeout: number; retries?: number }",
    ),
    "types with modifiers": (
        ", options: { readonly timeout?: number } = {}",
        ", options: { retries?: number } = {}",
        ", options: { readonly timeout?: number; retries?: number } = {}",
    ),
    "patterns": (
        ", { timeout }: { timeout?: number } = {}",
        ", { retries = 3 }: { retries?: number } = {}",
        ", { timeout, retries = 3 }: { timeout?: number; retries?: number } = {}",
    ),
    "defaults": (", options = { a: 1 }", ", options = { b: 2 }", ", options = { a: 1, b: 2 }"),
    "nested": (
        ", o: { retry: { times: number } }",
        ", o: { retry: { delay: number } }",
        ", o: { retry: { times: number; delay: number } }",
    ),
}


@pytest.mark.parametrize("name", PARAMETERS)
def test_a_parameter_that_both_insert_has_the_members_of_both(name):
    """Optional and readonly members stay so."""
    base, ours, theirs, both = (CALL % each for each in ("", *PARAMETERS[name]))

    assert merge("a.ts", base, ours, theirs) == both


DISAGREEING = {
    "another type": (", options: { a: number }", ", options: { a: string }"),
    "optional for one side": (", options: { a?: number }", ", options: { a: number }"),
    "an optional parameter": (", options?: { a: number }", ", options: { b: number }"),
    "another default": (", options = { a: 1 }", ", options = { a: 2 }"),
    "one spreads": (", options = { a: 1, ...rest }", ", options = { b: 2 }"),
    "no data": (", options: A", ", options: B"),
    "two behaviours": (", options = { a: () => 1 }", ", options = { a: () => 2 }"),
}


@pytest.mark.parametrize("name", DISAGREEING)
def test_members_that_disagree_are_refused(name):
    """Neither side's member is dropped."""
    base, ours, theirs = (CALL % each for each in ("", *DISAGREEING[name]))

    with pytest.raises(DisagreementError):
        merge("a.ts", base, ours, theirs)


DECLARATIONS = {
    "an interface": (
        "a.ts",
        ("interface A {", "  // of ours", "  a: string;", "}"),
        ("interface A {", "  // of theirs", "  b?: number;", "}"),
        ("interface A {", "  // of ours", "  a: string;", "  // of theirs", "  b?: number;", "}"),
    ),
    "an enum": ("a.ts", ("enum A { P, Q }",), ("enum A { R }",), ("enum A { P, Q, R }",)),
    "an object": (
        "a.ts",
        ("const A = { p: 1, q: { r: 2 } };",),
        ("const A = { q: { s: 3 }, t };",),
        ("const A = { p: 1, q: { r: 2, s: 3 }, t };",),
    ),
    "a struct in Go": (
        "a.go",
        ("// A has options.", "type A struct {", "\tP int", "}"),
        ("// A has options.", "type A struct {", "\tQ string", "}"),
        ("// A has options.", "type A struct {", "\tP int", "\tQ string", "}"),
    ),
    "a struct in Rust": (
        "a.rs",
        ("struct A {", "    p: u8,", "}"),
        ("struct A {", "    q: Vec<u8>,", "}"),
        ("struct A {", "    p: u8,", "    q: Vec<u8>,", "}"),
    ),
    "a class in Python": (
        "a.py",
        ("class A:", "    p: int = 1"),
        ("class A:", "    q: str"),
        ("class A:", "    p: int = 1", "    q: str"),
    ),
    "a dict in Python": (
        "a.py",
        ('A = {"p": 1}',),
        ('A = {"q": 2}',),
        ('A = {"p": 1, "q": 2}',),
    ),
}


@pytest.mark.parametrize("name", DECLARATIONS)
def test_data_that_both_declare_has_the_members_of_both(name):
    """Members that both declare alike, and comments, are kept once."""
    path, *sides = DECLARATIONS[name]
    first = "package a\n" if path == "a.go" else ""
    ours, theirs, both = (first + "".join(f"{line}\n" for line in side) for side in sides)

    assert words(merge(path, first or "\n", ours, theirs)) == words(both)
    swapped = merge(path, first or "\n", theirs, ours)
    assert sorted(re.findall(r"\w+", swapped)) == sorted(re.findall(r"\w+", both))


BEHAVIOURS = {
    "a.ts": ("function f() {\n  a();\n}\n", "function f() {\n  b();\n}\n"),
    "a.go": ("package a\n\nfunc f() {\n\ta()\n}\n", "package a\n\nfunc f() {\n\tb()\n}\n"),
    "a.rs": ("fn f() {\n    a();\n}\n", "fn f() {\n    b();\n}\n"),
    "a.py": ("class A:\n    def f(self): pass\n", "class A:\n    p: int\n"),
}


@pytest.mark.parametrize("path", BEHAVIOURS)
def test_two_functions_of_one_name_are_refused(path):
    """Their statements do not count as members."""
    base = "package a\n" if path == "a.go" else "\n"

    with pytest.raises(DisagreementError):
        merge(path, base, *BEHAVIOURS[path])


def test_members_on_one_line_are_separated():
    """With the separator that the others have."""
    base, ours, theirs = (
        f"interface A {{ a: string{each} }}\n" for each in ("", ", b: 1", ", c: 2")
    )

    assert merge("a.ts", base, ours, theirs) == "interface A { a: string, b: 1, c: 2 }\n"


NAMES = st.lists(st.sampled_from("abcdefgh"), unique=True, min_size=1)


@given(NAMES, NAMES, NAMES)
def test_imported_names_are_merged_as_sets(base, ours, theirs):
    """A name is imported if a side added it, or both kept it."""
    sources = [f"import {{ {', '.join(names)} }} from 'x';\n" for names in (base, ours, theirs)]
    before, mine, other = map(set, (base, ours, theirs))
    try:
        merged = merge("a.ts", *sources)
    except DisagreementError:
        assert before - mine - other or before & mine != before & other or mine != other
        return
    names = merged[merged.index("{") + 1 : merged.index("}")].replace(",", " ").split()
    assert sorted(names) == sorted((mine & other) | (mine - before) | (other - before))
    assert not find_syntax_fault("a.ts", merged.encode())


def test_an_import_that_both_replaced_is_refused():
    """Each side knows only its own replacement."""
    base, ours, theirs = (f'import (\n\t"{name}"\n)\n' for name in ("io", "os", "bytes"))

    with pytest.raises(DisagreementError):
        merge("a.go", base, ours, theirs)


def test_an_import_that_one_side_replaced_and_the_other_added_is_there_once():
    """The replaced one is gone."""
    base, ours, theirs = (
        f'import (\n\t"a"\n{lines}\t"z"\n)\n'
        for lines in ('\t"io"\n', '\t"os"\n', '\t"os"\n\t"io"\n')
    )

    assert merge("a.go", base, ours, theirs) == ours
    assert merge("a.go", base, theirs, ours) == ours


@pytest.mark.parametrize(("path", "form"), [("a.py", "x = [%s]\n"), ("a.ts", "f(%s);\n")])
def test_an_item_does_not_take_the_place_of_one_that_the_other_side_removed(path, form):
    """The items have no names, so their places may have a meaning."""
    with pytest.raises(DisagreementError):
        merge(path, *(form % items for items in ("1, 2", "1", "1, 2, 3")))


def test_a_named_argument_may_take_that_place():
    """Its name tells what it means."""
    assert merge("a.py", "f(a=1, b=2)\n", "f(a=1)\n", "f(a=1, b=2, c=3)\n") == "f(a=1, c=3)\n"


def test_attributes_with_docstrings_are_inserted_by_both():
    """Each docstring belongs to the attribute before it."""
    base = 'class A:\n    """Doc."""\n'
    ours, theirs = (f'{base}\n    {name} = 1\n    """Of {name}."""\n' for name in "pq")

    merged = merge("a.py", base, ours, theirs)

    assert [line.strip() for line in merged.splitlines()[2:] if line] == [
        "p = 1",
        '"""Of p."""',
        "q = 1",
        '"""Of q."""',
    ]


def test_a_pattern_keeps_the_spaces_inside_its_brackets():
    """Though both sides changed its first item, so that neither has the result's."""
    base, ours, theirs = (
        f"const {{ {names} }} = f();\n" for names in ("p: a", "p: a, r", "p: b, s")
    )

    assert merge("a.ts", base, ours, theirs) == "const { p: b, r, s } = f();\n"
