"""Java, as trees that are merged and as scopes that the checks read."""

import re

import pytest

import cooperbench_eval as ce
from cooperbench_eval.languages.faults.faults import find_fault
from cooperbench_eval.languages.files import GRAMMARS, read_versions
from cooperbench_eval.languages.scopes.reading import read_source
from cooperbench_eval.languages.tree import render

SAMPLE = b"""/* Of the file. */
package a.b; // here

import static a.b.C.d;
import a.b.*;
import java.util.List;

/**
 * Of the class.
 */
@Named(x = 1, y = {1, 2})
public final class Shop<T extends A & B> extends Base implements First, Second {
    private final int count = 1, size; // both
    static { start(); }
    { restart(); }

    Shop(final int size, String... names) throws Late { this(size); }
    Shop(int size) { super(); this.size = size; }

    @Override
    public <U> void run(final List<U> all, U... more) throws Late, Early {
        try (Reader one = open(); Reader two = open()) {
            for (U each : all) { if (each == null) continue; else break; }
            for (int i = 0, j = 1; i < 3; i++) { j += i; }
        } catch (Late | Early problem) {
            throw new Failure("no" + 'c', problem);
        } finally { done(); }
        outer: while (true) { do { break outer; } while (size > 0); }
        synchronized (this) { assert size > 0 : "none"; }
        Runnable task = () -> { done(); };
        Comparator<U> order = (a, b) -> a.compareTo(b);
        Object other = new Base(1) { int inner; void go() { } };
        if (other instanceof Shop<?> shop && shop.size > 1) return;
        int[] list = {1, 2,}, more2 = new int[]{3};
        names.forEach(Shop::print);
    }

    int pick(int key) {
        switch (key) {
            case 1:
            case 2: return 1; // out
            default: { break; }
        }
        return switch (key) { case 1, 3 -> 2; case 4 -> { yield 4; } default -> 5; };
    }

    enum Size { SMALL, LARGE(2) { int half; }, /* none */; int factor; void grow() { } }
    interface Inner { int VALUE = 1; default void on() { } void off(); }
    record Point(int x, int y) { Point { check(); } }
    @interface Mark { int value() default 1; }
}
"""


@pytest.mark.parametrize("newline", [b"\n", b"\r\n"])
def test_a_tree_has_every_byte(newline):
    """All of Java's statements and definitions are read, with comments and layout."""
    source = SAMPLE.replace(b"\n", newline)
    changed = source.replace(b"size", b"width")

    for tree, text in zip(
        read_versions("a.java", [source, changed]), (source, changed), strict=True
    ):
        assert render(tree) == b"\n" + text[:-1]


def merged(base, ours, theirs):
    """Merge versions of a file; the text is empty if a conflict is left."""
    snapshot = ce.Snapshot.from_files({"A.java": base.encode()})
    sides = (ce.Changes({"A.java": ce.Entry(text.encode())}) for text in (ours, theirs))
    outcome = ce.merge(snapshot, *sides, strategy="structured")
    if outcome.conflicts:
        return ""
    return snapshot.overlay(outcome.changes).read("A.java").decode()


def java(*members):
    """Write a class with members."""
    return "class A {\n" + "\n".join(f"    {each}" for each in members) + "\n}\n"


MERGES = {
    "new methods": (
        java("void a() {}"),
        java("void a() {}", "", "int b() {", "    return 1;", "}"),
        java("void a() {}", "", "int c() {", "    return 2;", "}"),
        ["int b()", "int c()"],
    ),
    "overloads": (
        java("void a() {}"),
        java("void a() {}", "void a(int x) { one(x); }"),
        java("void a() {}", "void a(String x) { two(x); }"),
        ["a(int x)", "a(String x)"],
    ),
    "parameters and throws": (
        java("void a(int x) { run(x); }"),
        java("void a(int x, int y) { run(x); }"),
        java("void a(int x) throws Late { run(x); }"),
        ["void a(int x, int y) throws Late {"],
    ),
    "arguments of one call": (
        java("int x = call(one);"),
        java("int x = call(one, two);"),
        java("int x = call(uno);"),
        ["call(uno, two)"],
    ),
    "imports": (
        "import a.B;\nclass A { }\n",
        "import a.B;\nimport a.C;\nclass A { }\n",
        "import a.B;\nimport static a.D.e;\nclass A { }\n",
        ["import a.B;", "import a.C;", "import static a.D.e;"],
    ),
    "a static import of the same name": (
        "class A { }\n",
        "import a.B.c;\nclass A { }\n",
        "import static a.B.c;\nclass A { }\n",
        ["import a.B.c;", "import static a.B.c;"],
    ),
    "an edit and a move into a block": (
        java("void a() {", "    run(one);", "}"),
        java("void a() {", "    if (ready) {", "        run(one);", "    }", "}"),
        java("void a() {", "    run(one, two);", "}"),
        ["if (ready) {\n            run(one, two);\n        }"],
    ),
    "constants": (
        "enum E { ONE }\n",
        "enum E { ONE, TWO }\n",
        "enum E { ZERO, ONE }\n",
        ["enum E { ZERO, ONE, TWO }"],
    ),
}


@pytest.mark.parametrize("name", MERGES)
def test_changes_of_both_sides_are_combined(name):
    """What both sides added or changed in different constructs is in the result."""
    base, ours, theirs, expected = MERGES[name]

    for text in (merged(base, ours, theirs), merged(base, theirs, ours)):
        assert all(part in text for part in expected), text


def test_changes_of_one_expression_are_refused():
    """Nothing says which side is right."""
    versions = [java(f"int x = {value};") for value in (1, 2, 3)]

    assert merged(*versions) == ""


ADDED = re.compile("«(.*?)»", re.DOTALL)
DOUBLE = {
    "a field": (java("int a;", "«int a;»"), "A.a"),
    "a method": (java("void a(int x) {}", "«void a(int y) {}»"), "A.a(int)"),
    "a method after erasure": (
        java("void a(List<B> x) {}", "«void a(List<Map<B, C>> y) {}»"),
        "A.a(List)",
    ),
    "a constructor": (java("A() {}", "«A() {}»"), "A.A()"),
    "a class": ("class A {}\n«class A {}»\n", "A"),
    "a nested type": (java("enum B {}", "«interface B {}»"), "A.B"),
    "a constant": ("enum E { A, «A,» B }\n", "E.A"),
    "a component": ("record R(int a«, int a») {}\n", "R.a"),
    "a parameter and a variable": (java("void m(int a) { «int a = 1;» }"), "A.m(int).a"),
    "a variable": (java("void m() { int a = 1; «int a = 2;» }"), "A.m().a"),
    "in a lambda": (java("Runnable r = () -> { int a; «int a;» };"), "A.a"),
    "in an anonymous class": (java("Object o = new B() { int a; «int a;» };"), "A.a"),
    "a case": (java("void m(int k) { switch (k) { case 1: a(); «case 1: a();» } }"), "case 1"),
    "who sees it": (java("public «private» int a;"), "visibility"),
    "a word": (java("static «static» int a;"), "static"),
}


def fault_of(source):
    """Return the fault if merged has the text in guillemets, and the versions do not."""
    before = ADDED.sub("", source).encode()
    after = ADDED.sub(r"\1", source).encode()
    assert find_fault("A.java", (after, after, after), after) == ""
    return find_fault("A.java", (before, before, before), after, may_invent=True)


@pytest.mark.parametrize("name", DOUBLE)
def test_what_is_declared_twice_is_refused(name):
    """The fault names it, after the scopes around it."""
    source, expected = DOUBLE[name]

    assert f"{expected}' would be declared" in fault_of(source)


@pytest.mark.parametrize(
    "source",
    [
        java("void a(int x) {}", "«void a(long x) {}»", "«int a;»"),
        java("void m() { { int a; } «{ int a; }» }"),
        java("void m() { for (int i = 0;;) { } «for (int i = 0;;) { a(); }» }"),
        "import a.B;\n«import a.B;»\nclass A { }\n",
        java("«public static final» int a;"),
    ],
)
def test_what_java_allows_is_no_fault(source):
    """Overloads, names of different kinds, and names in different blocks do not clash."""
    assert fault_of(source) == ""


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        (java("int m() { return 1; «a();» }"), "never be reached"),
        (java("void m() { throw x; «a();» }"), "never be reached"),
        (
            java("void m(A a) { if (a == null) { return; } «if (a == null) { return; }» }"),
            "occur twice",
        ),
        (java("void m() { for (int i : a) { b(); } «for (int i : a) { b(); }» }"), "occur twice"),
    ],
)
def test_faults_of_blocks_are_found(source, expected):
    """Statements that are never reached, and guards and loops that stand twice."""
    assert expected in fault_of(source)


def test_a_guard_after_a_call_on_what_it_checks_is_no_repetition():
    """The call may have changed what the guard checks."""
    guard = "if (a.size > 1) { return; }"

    assert fault_of(java(f"void m(A a) {{ {guard} a.next(); «{guard}» }}")) == ""


def test_a_variable_outside_of_its_block_is_refused():
    """In all versions, it is declared where it is used."""
    inside = java("void m() { { int a = 1; use(a); } }").encode()
    outside = java("void m() { { int a = 1; } use(a); }").encode()

    fault = find_fault("A.java", (inside, inside, inside), outside)

    assert fault == "'a' would not be declared where it is used"


@pytest.mark.parametrize("callee", ["run", "this.run"])
def test_parameters_that_both_sides_add_are_refused_if_calls_would_mix_them_up(callee):
    """Unless all calls that can be seen pass both."""

    def version(parameters, first, second):
        calls = f"{callee}(x{first}); {callee}(y{second});"
        return java(f"void run(int a{parameters}) {{}}", f"void go() {{ {calls} }}").encode()

    before = version("", "", ""), version(", int b", ", k", ""), version(", int c", "", ", m")
    both = ", int b, int c"

    mixed_up = find_fault("A.java", before, version(both, ", k", ", m"))
    rewritten = find_fault("A.java", before, version(both, ", k, m", ", k, m"))

    assert mixed_up == "a call of 'A.run' would not fit, since it needs more arguments"
    assert rewritten == ""


def test_all_of_the_language_is_free_of_clashes():
    """The sample, which has everything once, has no fault; its imports may bring any name."""
    names = read_source(GRAMMARS[".java"], SAMPLE)

    assert not names.clashes
    assert not names.slips
    assert names.is_open
    assert names.declared.keys() == {"d", "List", "Shop"}


@pytest.mark.parametrize(
    ("one", "other", "is_merged"),
    [
        ("<T> void f(T x) {}", "void f(Object x) {}", False),
        ("<T extends B> void f(T x) {}", "void f(B x) {}", False),
        ("<T extends B> void f(T x) {}", "void f(Object x) {}", True),
    ],
)
def test_methods_of_one_erasure_are_refused(one, other, is_merged):
    """The compiler replaces a type variable by its bound."""
    base = java("void a() {}")

    assert bool(merged(base, *(java("void a() {}", each) for each in (one, other)))) is is_merged
