"""What the checks find in the scopes of JavaScript, TypeScript, Go, Rust and C."""

import re
import time

import pytest

from cooperbench_eval.languages.faults.faults import find_fault

_ADDED = re.compile("«(.*?)»", re.DOTALL)


def fault_of(path, source):
    """Return the fault if merged has the text in guillemets, and the versions do not.

    Whether that text has new names does not matter here.
    """
    before = _ADDED.sub("", source).encode()
    after = _ADDED.sub(r"\1", source).encode()
    assert find_fault(path, (after, after, after), after) == ""
    assert find_fault(path, (before, after, before), after) == ""
    return find_fault(path, (before, before, before), after, may_invent=True)


def go(body):
    """A function of Go with a body."""
    return f"package a\n\nfunc f(p int) (q int) {{\n{body}\n}}\n"


def rust(body):
    """A function of Rust with a body."""
    return f"fn f(p: u8) {{\n{body}\n}}\n"


DOUBLE = {
    "a constant": ("a.js", "const a = 1;\n«const a = 2;»\n", "a"),
    "a function": ("a.js", "function a() {}\n«function a(b) {}»\n", "a"),
    "a parameter and a constant": ("a.js", "function f(a) {\n«let a = 1;»\n}\n", "f.a"),
    "two parameters": ("a.js", "const f = (a«, a») => 1;\n", "f.a"),
    "two parameters of a function": ("a.ts", "function f(a: 1«, a?: 2»): void {}\n", "f.a"),
    "in a curried function": (
        "a.js",
        "const f = a => b => { const c = 1; «const c = 2;» };\n",
        "f.c",
    ),
    "in a callback": ("a.js", "g(() => { const c = 1; «const c = 2;» });\n", "c"),
    "in a block": ("a.js", "if (b) { let c; «let c;» }\n", "c"),
    "in a block of a function": ("a.js", "function f() { { let c; «let c;» } }\n", "f.c"),
    "in a case": ("a.js", "switch (b) { case 1: let c; case 2: «let c;» }\n", "c"),
    "in a method of an object": ("a.js", "x = { f() { const c = 1; «const c = 2;» } };\n", "f.c"),
    "in a function of an object": (
        "a.js",
        "x = { f: () => { const c = 1; «const c = 2;» } };\n",
        "f.c",
    ),
    "in a handler": ("a.js", "try { } catch (e) { «let e;» }\n", "e"),
    "var through a block": ("a.js", "function f() { let c; { «var c;» } }\n", "f.c"),
    "destructured": ("a.js", "const { a, b: [c] } = x;\n«const [, ...c] = y;»\n", "c"),
    "a key": ("a.ts", "const x = { a: 1, b, «b: 2,» };\n", "b"),
    "a key in quotes": ("a.js", "x = { 'a': 1, «a: 2,» };\n", "a"),
    "a getter": ("a.js", "x = { get a() { return 1; }, «get a() { return 2; },» };\n", "get a"),
    "a method": ("a.ts", "class A { m() {} «m() {}» }\n", "A.m"),
    "a field of a class": ("a.ts", "class A { m = 1; «m = 2;» }\n", "A.m"),
    "a member of an interface": ("a.ts", "interface A { m: 1; «m: 2;» }\n", "A.m"),
    "a member of a type": ("a.ts", "type A = { m: 1; «m: 2;» };\n", "A.m"),
    "a member of an enum": ("a.ts", "enum A { m, «m = 2,» }\n", "A.m"),
    "a type": ("a.ts", "type A = 1;\n«type A = 2;»\n", "A"),
    "a class and an enum": ("a.ts", "class A {}\n«enum A {}»\n", "A"),
    "an import": ("a.ts", "import { a } from 'a';\n«import a from 'b';»\n", "a"),
    "an import of a type": ("a.ts", "import { a } from 'a';\n«import { type a } from 'b';»\n", "a"),
    "an import and a constant": ("a.ts", "import { a } from 'a';\n«const a = 1;»\n", "a"),
    "in a namespace": ("a.ts", "namespace N { const a = 1; «const a = 2;» }\n", "N.a"),
    "an export": ("a.ts", "const a = 1;\nexport { a };\n«export { a };»\n", "export a"),
    "a default export": ("a.ts", "export default 1;\n«export default 2;»\n", "export default"),
    "an attribute": ("a.tsx", "const x = <A b={1} «b={2}» />;\n", "b"),
    "a type parameter": ("a.ts", "function f<T«, T»>() {}\n", "f.T"),
    "a compared value": ("a.ts", "switch (b) { case 1: break; «case 1: c();» }\n", "case 1"),
    "a variable of Go": ("a.go", go("x := 1\n«x := 2»\n_ = x"), "f.x"),
    "var after a variable": ("a.go", go("x := 1\n«var x int»\n_ = x"), "f.x"),
    "a parameter of Go": ("a.go", go("«p := 1»"), "f.p"),
    "a result of Go": ("a.go", go("«var q string»"), "f.q"),
    "two names, none new": ("a.go", go("x, y := 1, 2\n«x, y := 3, 4»\n_, _ = x, y"), "f.x"),
    "in a function literal": ("a.go", go("g(func() {\nx := 1\n«x := 2»\n_ = x\n})"), "f.x"),
    "in a block of Go": ("a.go", go("if p > 0 {\nx := 1\n«x := 2»\n_ = x\n}"), "f.x"),
    "in a case of Go": ("a.go", go("switch p {\ncase 1:\nx := 1\n«x := 2»\n_ = x\n}"), "f.x"),
    "a type of Go": ("a.go", "package a\ntype T int\n«type T = string»\n", "T"),
    "a local type of Go": ("a.go", go("type T int\n«type T string»"), "f.T"),
    "a type and a function": ("a.go", "package a\ntype T int\n«func T() {}»\n", "T"),
    "a package": ("a.go", 'package a\nimport (\n"x/b"\n«"y/b"»\n)\n', "b"),
    "an alias of a package": ("a.go", 'package a\nimport (\n"x/b"\n«b "c"»\n)\n', "b"),
    "a field of Go": ("a.go", "package a\ntype T struct {\nA, b int\n«b string»\n}\n", "T.b"),
    "an embedded field": ("a.go", "package a\ntype T struct {\nE string\n«*p.E»\n}\n", "T.E"),
    "a method of an interface": (
        "a.go",
        "package a\ntype T interface {\nM()\n«M(a int)»\n}\n",
        "T.M",
    ),
    "a method of Go": ("a.go", "package a\nfunc (T) m() {}\n«func (t *T) m() {}»\n", "T.m"),
    "a method of a generic type": (
        "a.go",
        "package a\nfunc (t *T[K]) m() {}\n«func (t T[V]) m() {}»\n",
        "T.m",
    ),
    "a key of Go": ("a.go", 'package a\nvar x = m{"a": 1,\n«"a": 2,»\n}\n', '"a"'),
    "a field of a value": ("a.go", "package a\nvar x = T{a: 1,\n«a: 2,»\n}\n", "a"),
    "a case of Go": ("a.go", go("switch p {\ncase 1, 2:\n«case 3, 2:»\n}"), "f.case 2"),
    "a case of a type": ("a.go", go("switch x.(type) {\ncase T:\n«case T:»\n}"), "f.case T"),
    "a constant of Go": ("a.go", "package a\nconst (\na = 1\n«a = 2»\n)\n", "a"),
    "an item": ("a.rs", "struct A;\n«enum A {}»\n", "A"),
    "a function of Rust": ("a.rs", "fn a() {}\n«fn a(b: u8) {}»\n", "a"),
    "a function in a function": ("a.rs", rust("fn a() {}\n«fn a() {}»"), "f.a"),
    "in a module": ("a.rs", "mod m { fn a() {} «fn a() {}» }\n", "m.a"),
    "a use": ("a.rs", "use b::A;\n«use c::{d, A};»\n", "A"),
    "a use as": ("a.rs", "use b::A;\n«use c::B as A;»\n", "A"),
    "a use and an item": ("a.rs", "use b::A;\n«struct A;»\n", "A"),
    "a variant": ("a.rs", "enum E { A, «A(u8),» }\n", "E.A"),
    "a field of Rust": ("a.rs", "struct S { a: u8, «a: u8,» }\n", "S.a"),
    "a field of a value of Rust": ("a.rs", rust("S { a, «a: 1» };"), "f.a"),
    "a method of Rust": ("a.rs", "impl S { fn a() {} «fn a() {}» }\n", "S.a"),
    "a method of another block": ("a.rs", "impl S { fn a() {} }\n«impl S { fn a() {} }»\n", "S.a"),
    "a method of a trait": ("a.rs", "trait T { fn a(); «fn a() {}» }\n", "T.a"),
    "a parameter of Rust": ("a.rs", "fn f(a: u8, «a: u8») {}\n", "f.a"),
    "a parameter of a closure": ("a.rs", rust("let c = |a«, a»| a;"), "f.a"),
    "a generic parameter": ("a.rs", "fn f<T, «T»>() {}\n", "f.T"),
    "a variable of C": ("a.c", "int f(int p) { int x; «int x;» }\n", "f.x"),
    "a parameter of C": ("a.c", "int f(int p) { «char *p;» }\n", "f.p"),
    "a parameter of older C": ("a.c", "int f(p, q) int p; { «char *p;» }\n", "f.p"),
    "a resource": ("a.js", "function f() { using a = g(); «using a = h();» }\n", "f.a"),
    "a resource of TypeScript": (
        "a.ts",
        "function f() { await using a = g(); «using a = h();» }\n",
        "f.a",
    ),
    "an accessor": ("a.ts", "class A { accessor a = 1; «accessor a = 2;» }\n", "A.a"),
    "an accessor of JavaScript": ("a.js", "class A { accessor a = 1; «accessor a = 2;» }\n", "A.a"),
    "a name that is also written with a ligature": (
        "a.py",
        "def fi():\n    pass\n«def ﬁ():\n    return 1\n»",
        "fi",
    ),
    "a function of C": ("a.c", "int f(void) { return 1; }\n«int f(int a) { return 2; }»\n", "f"),
    "a field of C": ("a.c", "struct s { int a, *b; «char b;» };\n", "s.b"),
    "a member of an enum of C": ("a.c", "enum e { A, B };\n«enum d { B };»\n", "B"),
    "an arm": ("a.rs", rust("match p { 1 => a(), «1 => b(),» _ => c() }"), "f.arm 1"),
}


@pytest.mark.parametrize("case", DOUBLE)
def test_a_scope_declares_a_name_twice(case):
    """It is a fault unless a version has it."""
    path, source, name = DOUBLE[case]

    assert fault_of(path, source) == f"{name!r} would be declared 2 times"


SINGLE = {
    "var": ("a.js", "var a = 1;\n«var a = 2;»\n"),
    "var and a parameter": ("a.js", "function f(a) { «var a;» }\n"),
    "an inner block": ("a.js", "let a; { «let a;» }\n"),
    "an inner function": ("a.js", "const f = a => { g(«a =>» a); };\n"),
    "a loop": ("a.js", "for (let i = 0; ;) { «let i;» }\n"),
    "another loop": ("a.js", "for (const i of a) {}\n«for (const i of b) {}»\n"),
    "a name of a function": ("a.js", "const f = function «g»() { const g = 1; };\n"),
    "getter and setter": ("a.js", "x = { get a() {}, «set a(b) {}» };\n"),
    "static": ("a.ts", "class A { a = 1; «static a = 2;» }\n"),
    "quotes": ("a.js", "x = { \"'\": 1, «'\"': 2» };\n"),
    "a key in another object": ("a.js", "x = { a: 1, b: { «a: 2» } };\n"),
    "overloads": ("a.ts", "function f(a: 1): 1;\n«function f(a: 2): 2;»\nfunction f(a: any) {}\n"),
    "overloads of methods": ("a.ts", "class A { m(a: 1): 1; «m(a: 2): 2;» m(a: any) {} }\n"),
    "interfaces": ("a.ts", "interface A { a: 1 }\n«interface A { b: 1 }»\n"),
    "an interface and a class": ("a.ts", "class A {}\n«interface A { b: 1 }»\n"),
    "namespaces": ("a.ts", "namespace A { }\n«namespace A { }»\n"),
    "a function and a namespace": ("a.ts", "function a() {}\n«namespace a { }»\n"),
    "a type and a value": ("a.ts", "type A = 1;\n«const A = 1;»\n"),
    "a type and an imported value": ("a.ts", "import { A } from 'a';\n«type A = typeof A;»\n"),
    "a var of a declaration": (
        "a.d.ts",
        "declare global { interface A { a: 1 }\n«var A: { b: 1 };»\n}\n",
    ),
    "parameters of types": ("a.ts", "type F = (a: 1) => («a: 2») => 3;\n"),
    "index signatures": ("a.ts", "interface A { [k: string]: 1; «[k: number]: 2;» }\n"),
    "one new name": ("a.go", go("x, err := g()\n«y, err := g()»\n_, _, _ = x, y, err")),
    "the blank name": ("a.go", go("_ = 1\n«_ = 2»\n")),
    "a shadowed variable": ("a.go", go("x := 1\n{\n«x := 2»\n_ = x\n}")),
    "a variable of an if": ("a.go", go("x := 1\n«if x := 2; x > 1 {\n_ = x\n}»\n_ = x")),
    "init": ("a.go", "package a\nfunc init() {}\n«func init() {}»\n"),
    "imports for their effects": ("a.go", 'package a\nimport (\n_ "x/b"\n«_ "y/b"»\n)\n'),
    "versions of a package": ("a.go", 'package a\nimport (\n"x/b/v2"\n«c "x/b"»\n)\n'),
    "methods of types": ("a.go", "package a\nfunc (T) m() {}\n«func (U) m() {}»\n"),
    "cases of two switches": ("a.go", go("switch p {\ncase 1:\n}\n«switch p {\ncase 1:\n}»")),
    "patterns of two cases": (
        "A.java",
        "class A { void f(Q o) { switch (o) { case B s: g(); «case C s: h();» default: } } }\n",
    ),
    "a declaration of C": ("a.c", "int f(int);\nextern int x;\n«int f(int a);\nint x;»\n"),
    "functions for systems": (
        "a.c",
        "#ifdef A\nint f(void) { }\n«#else\nint f(void) { }»\n#endif\n",
    ),
    "a macro of C": ("a.c", "#define A 1\n«#define A 2»\n"),
    "a variable of a loop of C": (
        "a.c",
        "void f(void) { int i; «for (int i = 0;;) { int i; }» }\n",
    ),
    "let": ("a.rs", rust("let a = 1;\n«let a = 2;»")),
    "a macro": ("a.rs", "macro_rules! a { () => {} }\n«macro_rules! a { () => {} }»\n"),
    "a function and a module": ("a.rs", "mod a {}\n«fn a() {}»\n"),
    "a function and a type": ("a.rs", "struct A { a: u8 }\n«fn A() {}»\n"),
    "for systems": ("a.rs", "#[cfg(unix)]\nfn a() {}\n«#[cfg(windows)]\nfn a() {}»\n"),
    "blocks for systems": (
        "a.rs",
        "#[cfg(unix)]\nimpl S { fn a() {} }\n«#[cfg(windows)]\nimpl S { fn a() {} }»\n",
    ),
    "methods of a trait and a type": (
        "a.rs",
        "impl S { fn a() {} }\n«impl T for S { fn a() {} }»\n",
    ),
    "no name": ("a.rs", "use a::A as _;\n«use b::B as _;»\n"),
    "an arm with a guard": ("a.rs", rust("match p { «1 if g() => a(),» 1 => b(), _ => c() }")),
    "names of a pattern": ("a.rs", rust("match p { A(a) «| B(a)» => a, _ => c() }")),
    "a parameter of an inner function": ("a.rs", rust("«let c = |p: u8| p;»")),
}


@pytest.mark.parametrize("case", SINGLE)
def test_what_a_language_allows_is_not_a_fault(case):
    """The same name may mean different things, or the same thing twice."""
    path, source = SINGLE[case]

    assert fault_of(path, source) == ""


SKIPPED = {
    "after return": ("a.js", "function f() { return 1; «g();» }\n"),
    "after throw": ("a.ts", "const f = () => { if (a) { throw b; «g();» } };\n"),
    "after break": ("a.js", "switch (a) { case 1: break; «g();» }\n"),
    "after continue": ("a.js", "for (;;) { continue; «g();» }\n"),
    "in Go": ("a.go", go("return 1\n«g()»")),
    "in a case of Go": ("a.go", go("switch p {\ncase 1:\nbreak\n«g()»\n}")),
    "in a function literal": ("a.go", go("g(func() {\nreturn\n«g()»\n})")),
    "in C": ("a.c", "int f(void) { return 1; «g();» }\n"),
    "after goto": ("a.go", go("for {\ngoto L\n«g()»\n}\nL:\ng()")),
    "in Rust": ("a.rs", rust("return 1;\n«g();»")),
    "in a loop of Rust": ("a.rs", rust("loop { break; «g()» }")),
}


@pytest.mark.parametrize("case", SKIPPED)
def test_a_statement_is_never_reached(case):
    """It follows one that always leaves its block."""
    assert fault_of(*SKIPPED[case]).endswith(" would never be reached")


REACHED = {
    "a function": ("a.js", "function f() { return g(); «function g() {}» }\n"),
    "a comment": ("a.js", "function f() { return 1; «// g()»\n}\n"),
    "another case": ("a.js", "switch (a) { case 1: break; «case 2: g();» }\n"),
    "a label": ("a.go", go("for {\ngoto L\n}\nreturn\n«L:\ng()»")),
    "an item of Rust": ("a.rs", rust("return g();\n«fn g() {}»")),
    "for a system": ("a.rs", rust("#[cfg(unix)]\nreturn 1;\n«2»")),
}


@pytest.mark.parametrize("case", REACHED)
def test_a_statement_may_be_reached(case):
    """What is declared there counts everywhere in the block, and labels are jumped to."""
    assert fault_of(*REACHED[case]) == ""


UNBOUND = {
    "let in a block": (
        "a.js",
        "function f() { const a = 1; g(a); h(); }\n",
        "function f() { if (h) { const a = 1; g(); } h(a); }\n",
        "a",
    ),
    "let in a try": (
        "a.ts",
        "async function f() { const a = await b(); return a; }\n",
        "async function f() { try { const a = await b(); } catch { } return a; }\n",
        "a",
    ),
    "too early": (
        "a.js",
        "function f() { const a = 1; return g(a); }\n",
        "function f() { g(a); const a = 1; return; }\n",
        "a",
    ),
    "a parameter": (
        "a.js",
        "const f = a => { g(a); };\nconst h = () => { k(); };\n",
        "const f = a => { g(); };\nconst h = () => { k(a); };\n",
        "a",
    ),
    "a component": (
        "a.tsx",
        "import { A } from 'a';\nconst B = () => <A b={c} />;\n",
        "import { } from 'a';\nconst B = () => <A b={c} />;\n",
        "A",
    ),
    "in a loop of Go": (
        "a.go",
        go("x := 1\nfor {\ng()\n}\nh(x)"),
        go("for {\nx := 1\ng()\n}\nh(x)"),
        "x",
    ),
    "in an if of Go": (
        "a.go",
        go("err := g()\nif err != nil {\nreturn\n}\nh(err)"),
        go("if err := g(); err != nil {\nreturn\n}\nh(err)"),
        "err",
    ),
    "too early in Go": ("a.go", go("x := 1\nh(x)"), go("h(x)\nx := 1"), "x"),
    "a package": (
        "a.go",
        'package a\nimport "x/b"\nvar c = b.C\n',
        'package a\nimport ""\nvar c = b.C\n',
        "b",
    ),
    "in a block of C": (
        "a.c",
        "void f(int b) { int a = 1; if (b) { g(); } h(a); }\n",
        "void f(int b) { if (b) { int a = 1; g(); } h(a); }\n",
        "a",
    ),
    "a parameter of older C": (
        "a.c",
        "int f(a, b) int a; char *b; { return a + *b; }\n",
        "int f(c, b) int c; char *b; { return a + *b; }\n",
        "a",
    ),
    "a pattern in a case": (
        "A.java",
        "class A { int f(Object o) { return switch (o) { case B a -> a.g(); default -> 0; }; } }\n",
        "class A { int f(Object o) { return switch (o) { case B b -> a.g(); default -> 0; }; } }\n",
        "a",
    ),
    "a pattern in a record": (
        "A.java",
        "class A { int f(Object o) { return o instanceof B(C a, var b) ? a.g(b) : 0; } }\n",
        "class A { int f(Object o) { return o instanceof B(C c, var b) ? a.g(b) : 0; } }\n",
        "a",
    ),
    "in a block of Rust": (
        "a.rs",
        rust("let a = 1; if b { g(); } h(a);"),
        rust("if b { let a = 1; g(); } h(a);"),
        "a",
    ),
    "in an if let": (
        "a.rs",
        rust("let a = g(); h(a); if let Some(c) = b { k(); }"),
        rust("if let Some(a) = g() { k(); } h(a); let c = b;"),
        "a",
    ),
    "in an arm": (
        "a.rs",
        rust("let a = 1; match p { b => g(), _ => h(a) }"),
        rust("match p { a => g(), _ => h(a) }; let b = 1;"),
        "a",
    ),
    "a use of Rust": (
        "a.rs",
        "use x::{b, c};\nfn f() { b::d(); c(); }\n",
        "use x::{c};\nfn f() { b::d(); c(); }\n",
        "b",
    ),
}


@pytest.mark.parametrize("case", UNBOUND)
def test_a_name_is_no_longer_declared_where_it_is_used(case, monkeypatch):
    """In each version, it is."""
    monkeypatch.setattr("cooperbench_eval.languages.faults.faults.find_lost_token", lambda *_: "")
    path, before, after, name = UNBOUND[case]
    before, after = before.encode(), after.encode()

    fault = find_fault(path, (before, before, before), after)

    assert fault == f"{name!r} would not be declared where it is used"
    assert find_fault(path, (before, after, before), after) == ""
    part = find_fault(path, (before, before, before), after, is_whole=False, may_invent=True)
    assert part == ""


BOUND = {
    "a global": ("a.js", "const a = b => b;\n", "const a = b => c;\n"),
    "var in a block": (
        "a.js",
        "function f() { var a = 1; g(a); }\n",
        "function f() { if (g) { var a = 1; } g(a); }\n",
    ),
    "a later function": ("a.js", "function g() {}\ng();\n", "g();\nfunction g() {}\n"),
    "a closure before": (
        "a.js",
        "function f() { const a = 1; const g = () => a; }\n",
        "function f() { const g = () => a; const a = 1; }\n",
    ),
    "a member": (
        "a.js",
        "function f(a) { g(a); }\nfunction h() {}\n",
        "function f(a) { g(a); }\nfunction h() { g.a = { a: 1 }; a: for (;;) break a; }\n",
    ),
    "another file of the package": (
        "a.go",
        "package a\nfunc g() {}\nfunc f() { g() }\n",
        "package a\nfunc f() { g() }\n",
    ),
    "a field of Go": (
        "a.go",
        go("x := 1\nh(x)") + "func g() {}\n",
        go("x := 1\nh(x)") + "func g() { h(T{x: 1}.x) }\n",
    ),
    "a glob": (
        "a.rs",
        "use b::*;\nuse b::c;\nfn f() { c(); }\n",
        "use b::*;\nfn f() { c(); }\n",
    ),
    "a macro": (
        "a.rs",
        rust("let a = 1; g(a);"),
        rust("m!(a); g();"),
    ),
    "a script": ("a.js", "const a = 1;\ng(a);\n", "g(a);\n"),
}


@pytest.mark.parametrize("case", BOUND)
def test_a_name_may_still_be_declared(case, monkeypatch):
    """What is not known to be wrong is not a fault."""
    monkeypatch.setattr("cooperbench_eval.languages.faults.faults.find_lost_token", lambda *_: "")
    path, before, after = BOUND[case]

    assert find_fault(path, (before.encode(),) * 3, after.encode(), may_invent=True) == ""


REPEATED = {
    "a guard": ("a.js", "function f(a) { if (!a) { return; } g(); «if (!a) { return; }» h(); }\n"),
    "a guard without braces": ("a.ts", "function f(a) { if (!a) throw b; «if (!a) throw b;» }\n"),
    "a loop": ("a.js", "function f() { for (const a of b) g(a); «for (const a of b) g(a);» }\n"),
    "a guard of Go": (
        "a.go",
        go("if p > 1 {\nreturn 1\n}\nx := 1\n«if p > 1 {\nreturn 1\n}»\ng(x)"),
    ),
    "a loop of Go": ("a.go", go("for _, o := range p {\no()\n}\n«for _, o := range p {\no()\n}»")),
    "a guard of Rust": ("a.rs", rust("if p > 1 { return; }\ng();\n«if p > 1 { return; }»\nh();")),
    "a loop of Rust": ("a.rs", rust("for o in p { o(); }\n«for o in p { o(); }»\nh();")),
}


@pytest.mark.parametrize("case", REPEATED)
def test_a_guard_or_a_loop_is_repeated(case):
    """Both sides inserted it, at different places of one block."""
    assert "would occur twice" in fault_of(*REPEATED[case])


ANEW = {
    "an error": (
        "a.go",
        go("err := g()\nif err != nil {\nreturn\n}\n«err = h()\nif err != nil {\nreturn\n}»"),
    ),
    "a changed value": ("a.js", "function f(a) { if (!a) return; a.b(); «if (!a) return;» }\n"),
    "a call": ("a.js", "function f() { if (g()) return; h(); «if (g()) return;» }\n"),
    "by address": ("a.go", go("if p > 1 {\nreturn\n}\ng(&p)\n«if p > 1 {\nreturn\n}»")),
    "by a macro": ("a.rs", rust("if p > 1 { return; }\nm!(p);\n«if p > 1 { return; }»\nh();")),
    "another block": ("a.js", "function f(a) { if (!a) { return; } { «if (!a) { return; }» } }\n"),
    "a sum": ("a.c", "void f(int a) { a = g(); «a += h();» k(a); }\n"),
    "a sum of Java": ("A.java", "class A { void f(int a) { a = 1; «a += 2;» k(a); } }\n"),
    "no guard": ("a.js", "function f(a) { if (a) { g(); } «if (a) { g(); }» }\n"),
}


@pytest.mark.parametrize("case", ANEW)
def test_a_guard_may_check_anew(case):
    """What it checks may have changed since."""
    assert fault_of(*ANEW[case]) == ""


MIXED = {
    "a method of Go": (
        "a.go",
        "package a\nfunc (t T) m(a int{}) {{}}\nfunc (t T) n() {{ {} }}\n",
        ("", "t.m(1)"),
        (", b int", "t.m(1, 2)"),
        (", c int", "t.m(1, 3)"),
        (", b int, c int", "t.m(1, 2)"),
        (", b int, c int", "t.m(1, 2, 3)"),
    ),
    "a function of Rust": (
        "a.rs",
        "fn m(a: u8{}) {{}}\nfn n() {{ {}; }}\n",
        ("", "m(1)"),
        (", b: u8", "m(1, 2)"),
        (", c: u8", "m(1, 3)"),
        (", b: u8, c: u8", "m(1, 3)"),
        (", b: u8, c: u8", "m(1, 2, 3)"),
    ),
    "an optional parameter": (
        "a.ts",
        "function m(a: A{}) {{}}\n{};\n",
        ("", "m(1)"),
        (", b?: B", "m(1, 2)"),
        (", c?: C", "m(1, 3)"),
        (", b?: B, c?: C", "m(1, 3)"),
        (", b?: B, c?: C", "m(1, undefined, 3)"),
    ),
    "a default": (
        "a.js",
        "const m = (a{}) => 1;\n{};\n",
        ("", "m(1)"),
        (", b = 1", "m(1)"),
        (", c = 2", "m(1)"),
        (", b = 1, c = 2", "m(1)"),
        ("", "m(1)"),
    ),
    "a constructor": (
        "a.ts",
        "class M {{ constructor(a{}) {{}} }}\n{};\n",
        ("", "new M(1)"),
        (", b?", "new M(1, 2)"),
        (", c?", "new M(1, 3)"),
        (", c?, b?", "new M(1, 2)"),
        (", c?, b?", "new M(1, 3, 2)"),
    ),
    "calls elsewhere": (
        "a.go",
        "package a\nfunc M(a int{}) {{}}\n{}\n",
        ("", ""),
        (", b int", ""),
        (", c int", ""),
        (", b int, c int", ""),
        (", c int", "func N() { M(1, 3) }"),
    ),
}


@pytest.mark.parametrize("case", MIXED)
def test_arguments_of_new_parameters_are_mixed_up(case, monkeypatch):
    """Both sides added a parameter at the same place."""
    monkeypatch.setattr("cooperbench_eval.languages.faults.faults.find_lost_token", lambda *_: "")
    path, form, *parts = MIXED[case]
    base, ours, theirs, wrong, right = (form.format(*part).encode() for part in parts)

    fault = find_fault(path, (base, ours, theirs), wrong)

    assert re.match("both sides add parameters to |a call of .* (would not fit|to another)", fault)
    assert find_fault(path, (base, ours, theirs), right, may_invent=True) == ""
    assert find_fault(path, (base, wrong, theirs), wrong) == ""


HOSTILE = {
    "blocks": ("a.js", "{" * 20_000 + "a;" + "}" * 20_000),
    "calls": ("a.js", "f(" * 10_000 + "a" + ")" * 10_000),
    "uses in blocks": ("a.js", "{" * 150 + "a;" * 10_000 + "}" * 150),
    "conditions": ("a.go", go("if p > 1 {\n" * 5_000 + "}\n" * 5_000)),
    "guards": ("a.js", "function f() {" + "if (a) return;" * 5_000 + "}"),
    "loops": ("a.rs", rust("loop { a; " * 5_000 + "}" * 5_000)),
    "variants": ("a.rs", "enum E {" + "// a\n" * 2_000 + "A," * 1_000 + "}"),
    "imports": ("a.rs", "use a::{" + "b::{" * 5_000 + "self" + "}" * 5_000 + "};"),
}


@pytest.mark.parametrize("case", HOSTILE)
def test_hostile_source_is_read_in_bounded_time(case):
    """What is nested too deeply, or is too long, is not looked at."""
    path, source = HOSTILE[case]
    start = time.perf_counter()

    assert fault_of(path, source + "«\n»") == ""
    assert time.perf_counter() - start < 20


def test_what_follows_deep_nesting_is_read():
    """Only what is inside is left out."""
    deep = b"{" * 20_000 + b"let a;" + b"}" * 20_000 + b"\nlet b;\n"

    assert "'b' would" in find_fault("a.js", (deep, deep, deep), deep + b"let b;\n")
