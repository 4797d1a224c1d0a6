"""Hazards of Go, Java, TypeScript, JavaScript and Rust: what is found, and what is not one."""

import sys

import pytest

from cooperbench_eval.languages.hazards.kinds import HazardKind
from cooperbench_eval.languages.readers import grammars
from cooperbench_eval.languages.scopes import reading

TWICE, REMOVED, CHANGED = (
    HazardKind.DECLARED_TWICE,
    HazardKind.NAME_REMOVED,
    HazardKind.SIGNATURE_CHANGED,
)
GAP = "".join(f"// gap {n}\n" for n in range(8))
GO = "package a\n"
MODULE = "module example.org/m\n"


def around(first, last, start=""):
    """A file with two places that are far from each other."""
    return f"{start}{first}{GAP}{last}"


DECLARED_TWICE = {
    "a function of Go": ("a.go", GO, "func f() {}\n", "func f() int { return 1 }\n", "f"),
    "a type of Go": ("a.go", GO, "type T struct{}\n", "type T int\n", "T"),
    "a method of Go": (
        "a.go",
        GO + "type T int\n",
        "func (t T) m() {}\n",
        "func (t *T) m() {}\n",
        "T.m",
    ),
    "a function of TypeScript": ("a.ts", "", "function f() {}\n", "export function f() {}\n", "f"),
    "a type of TypeScript": ("a.ts", "", "type T = 1\n", "type T = 2\n", "T"),
    "a constant of JavaScript": ("a.js", "", "const a = 1\n", "const a = 2\n", "a"),
    "an import of TypeScript": (
        "a.ts",
        "",
        "import { f } from './b'\n",
        "import f from 'c'\n",
        "f",
    ),
    "an import and a function": ("a.ts", "", "import { f } from './b'\n", "function f() {}\n", "f"),
    "a function of Rust": ("a.rs", "", "fn f() {}\n", "fn f() -> u8 { 1 }\n", "f"),
    "an import of Rust": ("a.rs", "", "use a::f;\n", "use b::{c, f};\n", "f"),
    "a struct of Rust": ("a.rs", "", "struct S;\n", "struct S { a: u8 }\n", "S"),
    "a class of Java": ("A.java", "", "class A {}\n", "interface A {}\n", "A"),
}


@pytest.mark.parametrize("case", DECLARED_TWICE)
def test_what_both_sides_declare_is_declared_twice(case, hazards_of):
    """Git merges the two declarations without a conflict."""
    path, start, ours, theirs, name = DECLARED_TWICE[case]

    (found,) = hazards_of(
        {path: around("", "", start)},
        {path: around(ours, "", start)},
        {path: around("", theirs, start)},
    )

    assert (found.kind, found.name, found.path) == (TWICE, name, path)
    assert found.line == 9 + (ours + start).count("\n")


def test_a_variable_of_go_is_declared_twice_in_one_function(hazards_of):
    """Go compiles `x := 1` only once in a block."""
    base = f"package a\n\nfunc f() {{\n\ta()\n{GAP}\tb()\n}}\n"

    (found,) = hazards_of(
        {"a.go": base},
        {"a.go": base.replace("\ta()\n", "\ta()\n\tx := 1\n")},
        {"a.go": base.replace("\tb()\n", "\tx := 2\n\tb()\n")},
    )

    assert (found.kind, found.name, found.line) == (TWICE, "f.x", 14)


SCOPES = {
    "a function literal": (
        "a.go",
        "package a\n\nfunc f() {\n\tg(func() {\n",
        "\t})\n}\n",
        "x := {}\n",
        "f.x",
    ),
    "a local type": ("a.go", "package a\n\nfunc f() {\n", "}\n", "type T int // {}\n", "f.T"),
    "a group of types": ("a.go", "package a\n\ntype (\n", ")\n", "T [{}]int\n", "T"),
    "an interface": ("a.go", "package a\n\ntype I interface {\n", "}\n", "M() // {}\n", "I.M"),
    "a method of Java": (
        "A.java",
        "class A {\n",
        "}\n",
        "void f(int a) {{ g({}); }}\n",
        "A.f(int)",
    ),
    "a variable of Java": (
        "A.java",
        "class A { void f() { g(() -> {\n",
        "}); } }\n",
        "int x = {};\n",
        "A.f().x",
    ),
    "an alias": ("a.go", "package a\n\nimport (\n", ")\n", 'b "x/{}"\n', "b"),
    "a callback": ("a.ts", "g(() => {\n", "})\n", "const x = {}\n", "x"),
    "a curried function": ("a.js", "const f = a => b => {\n", "}\n", "const x = {}\n", "f.x"),
    "an object": ("a.ts", "const f = {\n", "}\n", "x: {},\n", "x"),
    "a closure": ("a.rs", "fn f() { g(|| {\n", "}) }\n", "struct X {{ a: [u8; {}] }}\n", "f.X"),
}


@pytest.mark.parametrize("case", SCOPES)
def test_a_scope_without_a_name_declares_a_name_once(case, hazards_of):
    """Git merges the two declarations without a conflict."""
    path, start, end, form, name = SCOPES[case]
    first, second = form.format(1), form.format(2)

    (found,) = hazards_of(
        {path: around("", end, start)},
        {path: around(first, end, start)},
        {path: around("", second + end, start)},
    )

    assert (found.kind, found.name, found.path) == (TWICE, name, path)
    assert found.line == 10 + start.count("\n")


def test_a_package_imported_twice_is_a_hazard_in_go(hazards_of):
    """Go does not compile the second import."""
    base = f'package a\n\nimport (\n\t"b"\n{GAP}\t"c"\n)\n'

    (found,) = hazards_of(
        {"a.go": base},
        {"a.go": base.replace('\t"b"\n', '\t"b"\n\t"d/os"\n')},
        {"a.go": base.replace('\t"c"\n', '\t"c"\n\t"d/os"\n')},
    )

    assert (found.kind, found.name, found.line) == (TWICE, "os", 15)


def test_files_of_a_go_package_share_their_names(hazards_of):
    """The declarations are in different files, so no line merge can see them together."""
    (found,) = hazards_of(
        {}, {"p/a.go": "package a\nfunc f() {}\n"}, {"p/b.go": "package a\nfunc f() {}\n"}
    )

    assert (found.kind, found.name, found.path, found.line) == (TWICE, "f", "p/b.go", 2)
    assert "p/a.go, line 2 and p/b.go, line 2" in found.message


MAY_REPEAT = {
    "other packages": ("package a\nfunc f() {}\n", "package a_test\nfunc f() {}\n", "b_test.go"),
    "another system": ("package a\nfunc f() {}\n", "package a\nfunc f() {}\n", "b_windows.go"),
    "a build line": (
        "//go:build linux\n\npackage a\nfunc f() {}\n",
        "//go:build !linux\n\npackage a\nfunc f() {}\n",
        "b.go",
    ),
    "init functions": ("package a\nfunc init() {}\n", "package a\nfunc init() {}\n", "b.go"),
    "imports of two files": ('package a\nimport "b"\n', 'package a\nimport "b"\n', "b.go"),
}


@pytest.mark.parametrize("case", MAY_REPEAT)
def test_what_go_lets_two_files_declare_is_not_a_hazard(case, hazards_of):
    """They are not compiled together, or the names are not those of the package."""
    ours, theirs, path = MAY_REPEAT[case]

    assert hazards_of({}, {"a.go": ours}, {path: theirs}) == ()


def test_one_class_of_two_modules_of_java_is_not_a_hazard(hazards_of):
    """They are compiled apart from each other."""
    text = "package p;\nclass A {}\n"

    assert hazards_of({}, {"a/p/A.java": text}, {"b/p/A.java": text}) == ()


HARMLESS = {
    "overloads": ("a.ts", "function f(a: 1): 1\n", "function f(a: 2): 2\n"),
    "interfaces": ("a.ts", "interface T { a: 1 }\n", "interface T { b: 1 }\n"),
    "a type and a value": ("a.ts", "type T = 1\n", "const T = 1\n"),
    "variables of JavaScript": ("a.js", "var a = 1\n", "var a = 2\n"),
    "functions for systems": (
        "a.rs",
        "#[cfg(unix)]\nfn f() {}\n",
        "#[cfg(windows)]\nfn f() {}\n",
    ),
    "methods of types": ("a.rs", "impl A { fn f() {} }\n", "impl B { fn f() {} }\n"),
    "overloads of Java": (
        "A.java",
        "class A {\n void f(int a) {}\n}\n",
        "class B {\n void f(int a) {}\n}\n",
    ),
    "the same import of Java": ("A.java", "import a.B;\n", "import a.B;\n"),
    "imports without a name": ("a.rs", "use a::A as _;\n", "use b::B as _;\n"),
}


@pytest.mark.parametrize("case", HARMLESS)
def test_what_may_occur_twice_is_not_a_hazard(case, hazards_of):
    """The languages allow it."""
    path, ours, theirs = HARMLESS[case]

    found = hazards_of({path: around("", "")}, {path: around(ours, "")}, {path: around("", theirs)})

    assert found == ()


NEW_USES = {
    "a function of Go": (
        {"p/a.go": GO + "func F() {}\nfunc g() {}\n", "p/b.go": GO},
        {"p/a.go": GO + "func g() {}\n"},
        {"p/b.go": GO + "func h() { F() }\n"},
        "feature 2 removes `F` in p/a.go, and feature 1 calls it in p/b.go, line 2",
    ),
    "a type of another package of Go": (
        {"go.mod": MODULE, "p/a.go": GO + "type T int\nfunc g() {}\n", "b.go": "package b\n"},
        {"p/a.go": GO + "func g() {}\n"},
        {"b.go": 'package b\nimport q "example.org/m/p"\nvar x q.T\n'},
        "feature 2 removes `T` in p/a.go, and feature 1 uses it in b.go, line 3",
    ),
    "a renamed method of Go": (
        {"a.go": GO + "type T int\nfunc (t T) Look() {\n\tg()\n}\n", "b.go": GO},
        {"a.go": GO + "type T int\nfunc (t T) Find() {\n\tg()\n}\n"},
        {"b.go": GO + "func h(t T) { t.Look() }\n"},
        "feature 2 renames `T.Look` in a.go to `Find`, and feature 1 calls it in b.go, line 2",
    ),
    "an import of TypeScript": (
        {"src/a.ts": "export function f() {}\nexport const x = 1\n", "src/b.ts": "let a\n"},
        {"src/a.ts": "export const x = 1\n"},
        {"src/b.ts": "let a\nimport { f } from './a'\n"},
        "feature 2 removes `f` in src/a.ts, and feature 1 uses it in src/b.ts, line 2",
    ),
    "a member of a module of TypeScript": (
        {
            "src/a/index.ts": "export type T = 1\nexport const x = 1\n",
            "src/b.ts": "import * as a from './a'\n",
        },
        {"src/a/index.ts": "export const x = 1\n"},
        {"src/b.ts": "import * as a from './a'\nlet b: a.T\n"},
        "feature 2 removes `T` in src/a/index.ts, and feature 1 uses it in src/b.ts, line 2",
    ),
    "a function of JavaScript": (
        {"a.js": around("const f = () => 1\n", "")},
        {"a.js": around("", "")},
        {"a.js": around("const f = () => 1\n", "g({ f })\n")},
        "feature 2 removes `f` in a.js, and feature 1 uses it in a.js, line 9",
    ),
    "a method of the same class": (
        {"a.ts": around("class A {\n  f() {}\n  g() {}\n", "}\n")},
        {"a.ts": around("class A {\n  g() {}\n", "}\n")},
        {"a.ts": around("class A {\n  f() {}\n  g() {}\n", "h() { this.f() }\n}\n")},
        "feature 2 removes `A.f` in a.ts, and feature 1 calls it in a.ts, line 11",
    ),
    "a function of Rust": (
        {"src/a.rs": "pub fn f() {}\npub fn g() {}\n", "src/b.rs": "fn h() {}\n"},
        {"src/a.rs": "pub fn g() {}\n"},
        {"src/b.rs": "fn h() {}\nfn i() { crate::a::f(); }\n"},
        "feature 2 removes `f` in src/a.rs, and feature 1 calls it in src/b.rs, line 2",
    ),
    "a class of Java": (
        {"p/A.java": "package p;\nclass A {}\n", "p/B.java": "package p;\nclass B {\n}\n"},
        {"p/A.java": None},
        {"p/B.java": "package p;\nclass B {\n A a;\n}\n"},
        "feature 2 removes `A` in p/A.java, and feature 1 uses it in p/B.java, line 3",
    ),
    "an imported class of Java": (
        {"s/p/A.java": "package p;\nclass A {}\nclass C {}\n", "t/q/B.java": "package q;\n"},
        {"s/p/A.java": "package p;\nclass C {}\n"},
        {"t/q/B.java": "package q;\nimport p.A;\n"},
        "feature 2 removes `A` in s/p/A.java, and feature 1 uses it in t/q/B.java, line 2",
    ),
    "a static method of Java": (
        {"p/A.java": "package p;\nclass A {\n static void f() { g(); }\n}\n", "q/B.java": "\n"},
        {"p/A.java": "package p;\nclass A {\n static void h() { g(); }\n}\n"},
        {"q/B.java": "import static p.A.f;\n"},
        "feature 2 renames `A.f` in p/A.java to `h`, and feature 1 uses it in q/B.java, line 1",
    ),
    "a method of the same class of Java": (
        {"A.java": around("class A {\n  void f() {}\n", "}\n")},
        {"A.java": around("class A {\n", "}\n")},
        {"A.java": around("class A {\n  void f() {}\n", "  void g() { f(); }\n}\n")},
        "feature 2 removes `A.f` in A.java, and feature 1 calls it in A.java, line 10",
    ),
    "a method of a variable of Java": (
        {"p/A.java": "package p;\nclass A {\n  void f() {}\n}\n", "p/B.java": "package p;\n"},
        {"p/A.java": "package p;\nclass A {\n}\n"},
        {"p/B.java": "package p;\nclass B {\n  B(A a) {\n    a.f();\n  }\n}\n"},
        "feature 2 removes `A.f` in p/A.java, and feature 1 calls it in p/B.java, line 4",
    ),
    "a method of a variable of Java whose class is imported": (
        {"p/A.java": "package p;\nclass A {\n  void f() {}\n}\n", "q/B.java": "package q;\n"},
        {"p/A.java": "package p;\nclass A {\n}\n"},
        {"q/B.java": "package q;\nimport p.A;\nclass B {\n  A a;\n  { a.f(); }\n}\n"},
        "feature 2 removes `A.f` in p/A.java, and feature 1 calls it in q/B.java, line 5",
    ),
    "a constant of an enum of Java": (
        {"p/K.java": "package p;\nenum K { A, B }\n", "p/B.java": "package p;\n"},
        {"p/K.java": "package p;\nenum K { A }\n"},
        {"p/B.java": "package p;\nclass B { K k = K.B; }\n"},
        "feature 2 removes `K.B` in p/K.java, and feature 1 uses it in p/B.java, line 2",
    ),
    "an import of Rust": (
        {"src/m/a.rs": "pub struct S;\npub fn g() {}\n", "src/m/b.rs": "fn h() {}\n"},
        {"src/m/a.rs": "pub fn g() {}\n"},
        {"src/m/b.rs": "fn h() {}\nuse super::a::{g, S};\n"},
        "feature 2 removes `S` in src/m/a.rs, and feature 1 uses it in src/m/b.rs, line 2",
    ),
}


@pytest.mark.parametrize("case", NEW_USES)
def test_a_new_use_of_a_removed_name_is_a_hazard(case, hazards_of):
    """The message says who removes it, and where the other one uses it."""
    base, ours, theirs, message = NEW_USES[case]

    (found,) = hazards_of(base, ours, theirs)

    assert (found.kind, found.features, found.message) == (REMOVED, (1, 2), message)
    assert message.endswith(f"in {found.path}, line {found.line}")
    assert hazards_of(base, ours, {}) == hazards_of(base, {}, theirs) == ()


STILL_THERE = {
    "a name that moved within the package": (
        {"a.go": GO + "func f() {}\nfunc g() {}\n", "b.go": GO, "c.go": GO},
        {"a.go": GO + "func g() {}\n", "c.go": GO + "func f() {}\n"},
        {"b.go": GO + "func h() { f() }\n"},
    ),
    "a local variable of Go": (
        {"a.go": GO + "func f() {}\nfunc g() {}\n", "b.go": GO},
        {"a.go": GO + "func g() {}\n"},
        {"b.go": GO + "func h() { f := 1; print(f) }\n"},
    ),
    "a field of Go": (
        {"a.go": GO + "func f() {}\nfunc g() {}\n", "b.go": GO},
        {"a.go": GO + "func g() {}\n"},
        {"b.go": GO + "var t = T{f: 1}\n"},
    ),
    "another module of Go": (
        {"go.mod": MODULE, "p/a.go": GO + "type T int\nfunc g() {}\n", "b.go": "package b\n"},
        {"p/a.go": GO + "func g() {}\n"},
        {"b.go": 'package b\nimport q "example.com/m/p"\nvar x q.T\n'},
    ),
    "a parameter of TypeScript": (
        {"a.ts": around("const f = () => 1\n", "")},
        {"a.ts": around("", "")},
        {"a.ts": around("const f = () => 1\n", "x(({ f }) => f())\n")},
    ),
    "a name that is exported from elsewhere": (
        {"a.ts": "export const f = 1\nexport const x = 1\n", "b.ts": "let a\n"},
        {"a.ts": "export * from './c'\nexport const x = 1\n"},
        {"b.ts": "let a\nimport { f } from './a'\n"},
    ),
    "a package of TypeScript": (
        {"a.ts": "export const f = 1\nexport const x = 1\n", "b.ts": "let a\n"},
        {"a.ts": "export const x = 1\n"},
        {"b.ts": "let a\nimport { f } from 'a'\n"},
    ),
    "a name in a macro": (
        {"src/a.rs": around("fn f() {}\n", "")},
        {"src/a.rs": around("", "")},
        {"src/a.rs": around("fn f() {}\n", "fn g() { m!(f) }\n")},
    ),
    "a class of another package of Java": (
        {"p/A.java": "package p;\nclass A {}\n", "q/B.java": "package q;\n"},
        {"p/A.java": "package p;\n"},
        {"q/B.java": "package q;\nclass B { A a; }\n"},
    ),
    "a class of Java that an import may bring": (
        {"p/A.java": "package p;\nclass A {}\n", "p/B.java": "package p;\n"},
        {"p/A.java": "package p;\n"},
        {"p/B.java": "package p;\nimport q.*;\nclass B { A a; }\n"},
    ),
    "an inherited method of Java": (
        {"A.java": around("class A extends B {\n  void f() {}\n", "}\n")},
        {"A.java": around("class A extends B {\n", "}\n")},
        {"A.java": around("class A extends B {\n  void f() {}\n", "  void g() { f(); }\n}\n")},
    ),
    "a method of an anonymous class of Java": (
        {"A.java": around("class A {\n  void f() {}\n", "}\n")},
        {"A.java": around("class A {\n", "}\n")},
        {
            "A.java": around(
                "class A {\n  void f() {}\n", "  B b = new B() { void g() { f(); } };\n}\n"
            )
        },
    ),
    "a method of a variable of Java with two types": (
        {"p/A.java": "package p;\nclass A {\n  void f() {}\n}\n", "p/B.java": "package p;\n"},
        {"p/A.java": "package p;\nclass A {\n}\n"},
        {
            "p/B.java": "package p;\nclass B {\n  void g() {\n    for (A a : x) {}\n"
            "    for (C a : y) { a.f(); }\n  }\n}\n"
        },
    ),
    "a field with the name of a method of an anonymous class of Java": (
        {"A.java": around("class A {\n  B b = new B() { void f() {} };\n", "}\n")},
        {"A.java": around("class A {\n", "}\n")},
        {"A.java": around("class A {\n  B b = new B() { void f() {} };\n", "  int x = f;\n}\n")},
    ),
    "a method of an array of Java": (
        {"p/A.java": "package p;\nclass A {\n  void f() {}\n}\n", "p/B.java": "package p;\n"},
        {"p/A.java": "package p;\nclass A {\n}\n"},
        {"p/B.java": "package p;\nclass B {\n  A a[];\n  { a.f(); }\n}\n"},
    ),
    "a method of an unknown object of Java": (
        {"p/A.java": "package p;\nclass A {\n  void f() {}\n}\n", "p/B.java": "package p;\n"},
        {"p/A.java": "package p;\nclass A {\n}\n"},
        {"p/B.java": "package p;\nclass B {\n  void g() { Some.other().f(); x.f(); }\n}\n"},
    ),
    "a glob import of Rust": (
        {"src/a.rs": around("fn f() {}\n", "")},
        {"src/a.rs": around("use b::*;\n", "")},
        {"src/a.rs": around("fn f() {}\n", "fn g() { f() }\n")},
    ),
}


@pytest.mark.parametrize("case", STILL_THERE)
def test_a_name_that_may_still_exist_is_not_a_hazard(case, hazards_of):
    """A hint that is often wrong is noise."""
    assert hazards_of(*STILL_THERE[case]) == ()


NEW_CALLS = {
    "a function of Go": (
        "a.go",
        GO,
        "func f(a int) {}",
        "func f(a, b int) {}",
        "func g() { f(1) }",
    ),
    "a method of Go": (
        "a.go",
        GO,
        "func (t T) f(a int) {}",
        "func (t T) f() {}",
        "func g(t T) { t.f(1) }",
    ),
    "a function of TypeScript": ("a.ts", "", "function f(a) {}", "function f(a, b) {}", "f(1)"),
    "a function that is a value": ("a.ts", "", "const f = a => 1", "const f = (a, b) => 1", "f(1)"),
    "a constructor": (
        "a.ts",
        "",
        "class A { constructor(a) {} }",
        "class A { constructor(a, b) {} }",
        "new A(1)",
    ),
    "a static method of Java": (
        "A.java",
        "",
        "class A { static void f(int a, int b) {} }",
        "class A { static void f(int a) {} }",
        "class B { void g() { A.f(1, 2); } }",
    ),
    "a method of a variable of Java": (
        "A.java",
        "",
        "class A { void f() {} }",
        "class A { void f(int a) {} }",
        "class B { void g(A a) { a.f(); } }",
    ),
    "a constructor of Java": (
        "A.java",
        "",
        "class A { A() {} }",
        "class A { A(int a) {} }",
        "class B { A a = new A(); }",
    ),
    "a record of Java": (
        "A.java",
        "",
        "record A(int a) {}",
        "record A(int a, int b) {}",
        "class B { A a = new A(1); }",
    ),
    "a function of Rust": ("a.rs", "", "fn f(a: u8) {}", "fn f() {}", "fn g() { f(1) }"),
    "a method of Rust": (
        "a.rs",
        "",
        "impl T { fn f(&self) {} }",
        "impl T { fn f(&self, a: u8) {} }",
        "fn g(t: T) { t.f() }",
    ),
}


@pytest.mark.parametrize("case", NEW_CALLS)
def test_a_new_call_that_no_longer_fits_is_a_hazard(case, hazards_of):
    """Only the other side knows the new parameters."""
    path, start, old, new, call = NEW_CALLS[case]

    (found,) = hazards_of(
        {path: around(old + "\n", "", start)},
        {path: around(new + "\n", "", start)},
        {path: around(old + "\n", call + "\n", start)},
    )

    assert (found.kind, found.path) == (CHANGED, path)
    assert "feature 2 changes the parameters of" in found.message


def test_a_call_of_a_method_of_the_same_class_of_java_no_longer_fits(hazards_of):
    """No object precedes the call."""
    base = around("class A {\n  void f(int a) {}\n", "}\n")

    (found,) = hazards_of(
        {"A.java": base},
        {"A.java": base.replace("int a", "int a, int b")},
        {"A.java": base.replace("\n}\n", "\n  void g() { f(1); }\n}\n")},
    )

    assert (found.kind, found.name, found.line) == (CHANGED, "f", 11)


FITTING = {
    "a variadic parameter": ("a.go", GO, "func f() {}", "func f(a ...int) {}", "func g() { f() }"),
    "a variadic parameter of Java": (
        "A.java",
        "",
        "class A { static void f() {} }",
        "class A { static void f(int... a) {} }",
        "class B { void g() { A.f(); } }",
    ),
    "an overload of Java": (
        "A.java",
        "",
        "class A { static void f() {} }",
        "class A { static void f(int a) {} static void f() {} }",
        "class B { void g() { A.f(); } }",
    ),
    "the values of a call": (
        "a.go",
        GO,
        "func f(a int) {}",
        "func f(a, b int) {}",
        "var x = f(g())",
    ),
    "a slice": (
        "a.go",
        GO,
        "func f(a ...int) {}",
        "func f(a int, b ...int) {}",
        "func g() { f(x...) }",
    ),
    "a default": ("a.ts", "", "function f(a) {}", "function f(a, b = 1) {}", "f(1)"),
    "an optional parameter": ("a.ts", "", "function f(a) {}", "function f(a, b?: 1) {}", "f(1)"),
    "spread arguments": ("a.ts", "", "function f(a) {}", "function f(a, b) {}", "f(...x)"),
    "a rest parameter": ("a.js", "", "function f(a) {}", "function f(...a) {}", "f(1)"),
    "an object": ("a.js", "", "function f({ a }) {}", "function f({ a, b }) {}", "f({})"),
    "a method called as a function": (
        "a.rs",
        "",
        "impl T { fn f(&self) {} }",
        "impl T { fn f(&self, a: u8) {} }",
        "fn g(t: T) { T::f(t) }",
    ),
}


@pytest.mark.parametrize("case", FITTING)
def test_a_call_that_may_fit_is_not_a_hazard(case, hazards_of):
    """What is not known to be wrong is not reported."""
    path, start, old, new, call = FITTING[case]

    found = hazards_of(
        {path: around(old + "\n", "", start)},
        {path: around(new + "\n", "", start)},
        {path: around(old + "\n", call + "\n", start)},
    )

    assert found == ()


def test_without_grammars_there_are_no_hazards(hazards_of, monkeypatch):
    """The packages are optional."""
    for name in ("go", "java", "javascript", "rust", "typescript"):
        monkeypatch.setitem(sys.modules, f"tree_sitter_{name}", None)
    caches = (grammars._parser, grammars.parse, reading.read_source)
    for cache in caches:
        cache.cache_clear()

    found = [
        hazards_of(
            {path: around("", "", start)},
            {path: around(ours, "", start)},
            {path: around("", theirs, start)},
        )
        for path, start, ours, theirs, _ in DECLARED_TWICE.values()
    ]
    for cache in caches:
        cache.cache_clear()

    assert set(found) == {()}
