"""Languages of which only the structure is read, also around what their grammars cannot read."""

import sys
from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

import cooperbench_eval as ce
from cooperbench_eval.languages.faults.faults import find_fault
from cooperbench_eval.languages.files import opaque_regions, read_versions
from cooperbench_eval.languages.readers import grammars
from cooperbench_eval.languages.readers.syntax import read_syntax
from cooperbench_eval.languages.tree import StructureError, render

SAMPLES = {
    "a.c": """/* Of the file. */
#include <a.h>
#include "b.h" // here
#define MOST(a, b) \\
    ((a) > (b) ? (a) : (b))
#ifndef A_H
# define A_H 1
struct point { int x, y; const char *name; };
typedef struct { int a; } T;
enum color { RED, /* two */ GREEN = 2, };
static const T list[] = { { 1 }, { .a = 2 } };
extern int f(int a, char *b), *g;
#ifdef ONE
int one(void) { return 1; }
#elif defined(TWO)
int two(void) { return 2; }
#else
int none(void);
#endif
int main(int argc, char **argv)
{
    int i, j = 2;
    for (i = 0; i < 3; i++) { j += i; }
    switch (argc) {
    case 1:
    case 2: puts("a" "b"); break; // out
    default: break;
    }
    do { i--; } while (i > 0);
    if (i) return 1; else if (j) { j = 1; } else goto end;
#if ONE
    j = 'c';
#endif
end:
    return f("x", argv[0]);
}
#endif
""",
    "a.h": """#ifdef __cplusplus
extern "C" {
#endif
int f(void);
#ifdef __cplusplus
}
#endif
""",
    "a.cc": """using namespace std;
using std::string;
namespace a { namespace b {
template <typename T, int N>
class Shop : public Base, private List<T> {
 public:
  explicit Shop(int x) : x_(x), y_{0} {}
  ~Shop() override;
  int get() const { return x_; }
  Shop& operator=(const Shop&) = delete;
 protected:
  static constexpr int k = 1;
 private:
  int x_ = 1, y_;
};
}  // namespace b
}
enum class Size : int { SMALL, LARGE };
int Shop::run(std::vector<int> v) {
  auto f = [&](int a) { return a + 1; };
  for (auto& e : v) { f(e); }
  try { g(); } catch (const std::exception& e) { throw; } catch (...) { }
  return R"(raw)"[0];
}
""",
    "a.cs": """using System;
using X = System.IO; // both
namespace A.B
{
    [Named(1)]
    public class Shop<T> : Base, IList where T : new()
    {
        private readonly int x = 1, y;
        public event EventHandler Changed;
        public string Name { get; set; } = "a";
        public int this[int i] { get { return i; } }
        public Shop(int a) : base(a) { x = a; }
        public static void M(int a, string b = "c")
        {
            var z = $"{a}";
            foreach (var e in list) { Use(e); }
            using (var r = Open()) { r.Read(); }
            switch (a) { case 1: Use(1); break; default: break; }
            var q = a switch { 1 => "x", _ => "y" };
            try { A(); } catch (Failure e) { throw; } finally { B(); }
            Func<int, int> f = v => v + 1;
            if (a > 1) { a++; } else if (b == null) { } else { }
        }
#if DEBUG
        public int P => 3;
#else
        public int P => 4;
#endif
    }
    enum Color { Red, Green = 2 }
    record Point(int X);
}
""",
    "a.kt": """package a.b
import a.c
import a.d as e
@Named("x")
class Shop<T>(val a: Int, b: String = "c") : Base(a), List {
    private val x = 1
    var y: Int = 2
        get() = field
    companion object { const val K = 1 }
    init { x.foo() }
    constructor(a: Int) : this(a, "b")
    override fun run(a: Int): Int {
        val z = listOf(1, 2).map { it + 1 }
        when (a) { 1 -> foo(); is Int, 3 -> { bar() } else -> baz() }
        for (i in 0..3) { foo(i) }
        if (a > 1) { foo() } else if (a == 2) { } else { bar() }
        try { foo() } catch (e: Exception) { throw e } finally { bar() }
        return z.fold(0) { one, other -> one + other }
    }
    fun short() = 1
}
enum class Size(val v: Int) { SMALL(1), LARGE(2); fun f() = 1 }
fun String.ext(block: (Int) -> Unit) { block(1) }
""",
    "a.php": """<?php
namespace A\\B;
use C\\D;
use E\\{F, G as H};
#[Named(1)]
abstract class Shop extends Base implements One, Two {
    use Shared;
    const A = 1;
    public static ?int $x = 1, $y;
    public function __construct(private int $a, string ...$b) { $this->a = $a; }
    abstract protected function f(): void;
}
enum Size: string { case Small = 's'; case Large = 'l'; }
function foo(array $a) {
    $x = ['a' => 1, 'b' => [2, 3]];
    foreach ($a as $k => $v) { echo $v; }
    switch ($x) { case 1: f(); break; default: g(); }
    $m = match($x) { 1, 2 => 'a', default => 'b' };
    try { f(); } catch (\\Exception $e) { throw $e; } finally { g(); }
    if ($a) { f(); } elseif ($b) { g(); } else { h(); }
    $f = function ($a) use ($b) { return fn($a) => $a + 1; };
    return "a {$x} b";
}
?>
<p>hello</p>
""",
    "a.rb": """# frozen_string_literal: true
require 'a'
module A
  class Shop < Base
    include Shared
    K = 1
    def initialize(a, b = 1, *c, d:, **e, &f)
      @a = a
      super()
    rescue Failure => e
      raise
    ensure
      done
    end
    def self.run(x)
      if x > 1
        foo(1)
      elsif x
        bar
      else
        baz
      end
      case x
      when 1, 2 then foo
      else baz
      end
      [1, 2].each do |i|
        puts i
      end
      h = { a: 1, "b" => 2 }
      begin
        foo
      rescue
        bar
      end
      return 1 if x
      y = x.map { |z| z + 1 }
      text = <<~TEXT
        hello #{x}
      TEXT
    end

    private

    def p; end
  end
end
""",
    "a.html": """<!DOCTYPE html>
<html lang="en">
  <head>
    <meta charset="utf-8">
    <script src="a.js">if (a < b) { c() }</script>
    <style>a { b: c }</style>
  </head>
  <body class="a">
    <!-- note -->
    <p>Hello <b>you</b> there &amp;
      more
    <img src="a" /><br>
  </body>
</html>
""",
    "a.css": """@charset "utf-8";
@import url("a.css");
:root { --a: 1px; }
a, b > c:hover { color: red; margin: 0 1px }
/* note */
@media (max-width: 1px) { a { color: blue; } }
@keyframes x { from { a: b } 50% { a: c } }
""",
}
BOM = b"\xef\xbb\xbf"


def read(path, source):
    """Read a file, every construct of it."""
    tree, _ = read_versions(path, (source, b"\n"))
    return tree


def combine(path, base, ours, theirs, strategy="structured"):
    """Merge texts; return the merged one, or the reasons why conflicts are left."""
    versions = [ce.Entry(text.encode()) for text in (ours, theirs)]
    start = ce.Snapshot.from_files({path: base.encode()})
    changes = [ce.Changes({path: entry}) for entry in versions]
    merged = ce.merge(start, *changes, strategy=strategy)
    if merged.conflicts:
        return ", ".join(row.reason for row in merged.ledger)
    return start.overlay(merged.changes).read(path).decode()


# --- reading ---------------------------------------------------------------------------------


@pytest.mark.parametrize("path", SAMPLES)
@pytest.mark.parametrize("newline", [b"\n", b"\r\n"])
@pytest.mark.parametrize("start", [b"", BOM])
def test_a_tree_has_every_byte(path, newline, start):
    """What is written out is what was read, whatever ends the lines."""
    source = start + SAMPLES[path].encode().replace(b"\n", newline)

    assert render(read(path, source))[1:] + b"\n" == source


@pytest.mark.parametrize("path", SAMPLES)
def test_the_samples_are_read_as_a_whole(path):
    """No part of them is unknown to the grammar."""
    assert opaque_regions(path, SAMPLES[path].encode()) == []


LINES = [(path, SAMPLES[path].splitlines(keepends=True)) for path in SAMPLES]


@given(
    st.sampled_from(LINES).flatmap(
        lambda each: st.tuples(st.just(each[0]), st.lists(st.sampled_from(each[1]), max_size=20))
    )
)
def test_lines_in_any_order_are_read_with_every_byte_or_refused(given_lines):
    """Such a file has errors of all kinds."""
    path, lines = given_lines
    source = "".join(lines).encode() or b"\n"
    try:
        tree = read(path, source)
    except StructureError:
        return

    assert render(tree)[1:] + b"\n" == source


@pytest.mark.parametrize(
    ("path", "source", "reason"),
    [
        ("a.c", b"int f(void) {\n", r"has a syntax error \(line 1\)"),
        ("a.kt", b"fun f() {\n", r"has a syntax error \(line 1\)"),
        ("a.rb", b"def a\n", "has a syntax error"),
        ("a.c", b"int a = '\xe9';\n", "not UTF-8"),
        ("a.c", b"int x = " + b"(" * 2000 + b"1" + b")" * 2000 + b";\n", "nest more than"),
        ("a.cs", b"class A {" * 2000 + b"}" * 2000 + b"\n", "nest more than"),
        ("a.css", b"a{" * 2000 + b"}" * 2000 + b"\n", "nest more than"),
        ("a.html", b"<a>" * 1500 + b"</a>" * 1500 + b"\n", "nest more than"),
        ("a.html", b"<a>" * 90_000 + b"</a>" * 90_000 + b"\n", "2,000 tags are open"),
        ("a.kt", b"[" * 10_000 + b"]" * 10_000 + b"\n", "an error is nested more than"),
        ("a.php", b"<?php f(" + b"[" * 2000 + b"]" * 2000 + b");\n", "nest more than"),
        ("a.php", b"<?php f(" + b"@{" * 9000 + b"}" * 9000 + b");\n", "nest more than"),
        ("a.css", b"/* a\n" * 20_000, "stay open"),
        ("a.css", b":not(" * 9000 + b"a" + b")" * 9000 + b" {}\n", "nest more than"),
        ("a.c", b"LOCK(a, b\nint x;\n" * 9000 + b"\n", "stay open"),
        ("a.c", b"LOCK(a, b\nint x;\n" * 4000 + b")" * 4000 + b"\n", "parts of a version"),
    ],
)
def test_what_cannot_be_read_is_refused(path, source, reason):
    """The whole file is wrong, or nests too deeply."""
    with pytest.raises(StructureError, match=reason):
        read(path, source)


def test_many_pointers_are_not_deep():
    """Declarators nest in the syntax tree, but not in ours."""
    source = b"int " + b"*" * 5000 + b"x;\n"

    assert render(read("a.c", source))[1:] + b"\n" == source


def test_a_large_file_is_refused():
    """It has five megabytes."""
    base = b"int x;\n" * 700_000

    assert "too many to check" in find_fault("a.c", (base, b"int y;\n" + base, base), base)


PACKAGES = {"a.c": "c", "a.cc": "cpp", "a.cs": "c_sharp", "a.kt": "kotlin", "a.css": "css"}


@pytest.mark.parametrize("path", PACKAGES)
def test_without_its_package_a_language_is_refused(path, monkeypatch):
    """The message says which extra to install."""
    monkeypatch.setitem(sys.modules, f"tree_sitter_{PACKAGES[path]}", None)
    for cached in (read_syntax, grammars._parser, grammars.parse):
        cached.cache_clear()
    source = SAMPLES[path].encode()

    with pytest.raises(StructureError, match=r"is missing: pip install .*\[languages\]"):
        read(path, source)
    assert "is missing" in find_fault(path, (source, source + b"\n", source), source)


# --- merging ---------------------------------------------------------------------------------

C_BODY = "int f(int a) {\n    int r = 0;\n@    return r;\n}\n"
RUBY_CLASS = "class A\n  def a\n    1\n  end\n@end\n"
PHP_CLASS = "<?php\nclass A {\n    public function a() { return 1; }\n@}\n"
ADDED = {
    "functions": (
        "a.c",
        "int a;\n@",
        "\nint b(void) { return 1; }\n",
        "\nint c(void) { return 2; }\n",
    ),
    "calls": ("a.c", C_BODY, "    log_a(a);\n", "    log_b(a);\n"),
    "includes": ("a.c", "#include <a.h>\n@\nint x;\n", "#include <b.h>\n", "#include <c.h>\n"),
    "values of an enum": ("a.c", "enum e {\n    A,\n@};\n", "    B,\n", "    C,\n"),
    "a condition": ("a.c", C_BODY, "#ifdef X\n    b();\n#endif\n", "    c();\n"),
    "in a guard": (
        "a.h",
        "#ifndef X\n#define X\n\nint a(void);\n@\n#endif\n",
        "int b(void);\n",
        "int c(int x);\n",
    ),
    "for C++": (
        "a.h",
        SAMPLES["a.h"].replace("int f", "@int f"),
        "int b(void);\n",
        "int c(void);\n",
    ),
    "methods": (
        "a.cc",
        "class A {\n public:\n  int x() const;\n@\n private:\n  int y_;\n};\n",
        "  int z() const { return 1; }\n",
        "  int w() const { return 2; }\n",
    ),
    "members": (
        "a.cs",
        "class A\n{\n    int x;\n@}\n",
        "    public int B { get; set; }\n",
        "    public void C(int a) { x = a; }\n",
    ),
    "branches": (
        "a.kt",
        "fun f(a: Int) = when (a) {\n    1 -> 2\n@    else -> 0\n}\n",
        "    2 -> 3\n",
        "    3 -> 4\n",
    ),
    "properties": ("a.kt", "class A {\n    val a = 1\n@}\n", "    val b = 2\n", "    val c = 3\n"),
    "entries": (
        "a.php",
        "<?php\nreturn [\n    'a' => 1,\n@];\n",
        "    'b' => 2,\n",
        "    'c' => 3,\n",
    ),
    "methods in PHP": (
        "a.php",
        PHP_CLASS,
        "\n    public function b() { return 2; }\n",
        "\n    private function c($x) { return $x; }\n",
    ),
    "methods in Ruby": (
        "a.rb",
        RUBY_CLASS,
        "\n  def b\n    2\n  end\n",
        "\n  def c\n    3\n  end\n",
    ),
    "before a section": (
        "a.rb",
        RUBY_CLASS.replace("@", "@\n  private\n\n  def z\n  end\n"),
        "\n  def b\n    2\n  end\n",
        "\n  def c\n    3\n  end\n",
    ),
    "clauses": ("a.rb", "if x\n  a\n@end\n", "elsif y\n  b\n", "else\n  c\n"),
    "values of a case": ("a.rb", "case x\nwhen 1\n  a\n@end\n", "when 2\n  b\n", "when 3\n  c\n"),
    "settings": ("a.css", "a {\n  color: red;\n@}\n", "  top: 1px;\n", "  left: 2px;\n"),
    "interfaces": ("a.php", "<?php\nclass A implements B@ {}\n", ", C", ", D"),
}


@pytest.mark.parametrize(("path", "frame", "one", "other"), ADDED.values(), ids=ADDED)
def test_what_both_sides_add_is_kept(path, frame, one, other):
    """The result is ours before theirs."""
    texts = [frame.replace("@", new) for new in ("", one, other, one + other)]

    assert combine(path, *texts[:3]) == texts[3]


def test_a_new_section_comes_after_the_members_of_the_one_before():
    """So no member becomes private that was public."""
    frame = "class A {\n public:\n  int x();\n@};\n"
    new = ("", "  int z();\n private:\n  int q_;\n", "  int w();\n")

    assert combine("a.cc", *(frame.replace("@", each) for each in new)) == (
        "class A {\n public:\n  int x();\n  int z();\n  int w();\n private:\n  int q_;\n};\n"
    )


def test_a_comment_stays_above_what_it_describes():
    """The other side adds a definition before that."""
    base = "<?php\nclass A {\n    function a() {}\n\n    function b() {}\n}\n"
    ours = base.replace("    function b", "    /** Of b. */\n    function b")
    theirs = base.replace("    function b", "    function c() {}\n\n    function b")

    assert combine("a.php", base, ours, theirs) == theirs.replace(
        "    function b", "    /** Of b. */\n    function b"
    )


REFUSED = {
    "a statement that leaves": ("a.rb", "def a(x)\n  x.go\n@end\n", "  b(x)\n", "  c(x)\n"),
    "add 'b'": (
        "a.php",
        PHP_CLASS,
        "\n    public function b() { return 2; }\n",
        "\n    public function b() { return 3; }\n",
    ),
    "both sides add 'b'": ("a.rb", "x = {\n  a: 1,\n@}\n", "  b: 2,\n", "  :b => 3,\n"),
    "both sides add \"'b'\"": (
        "a.php",
        "<?php\n$x = [\n  'a' => 1,\n@];\n",
        "  'b' => 2,\n",
        '  "b" => 3,\n',
    ),
    "would be lost": ("a.cs", "using A;\n@class B { }\n", "using C = D.E;\n", "using C = D.F;\n"),
    "may mix up its arguments": ("a.c", "int f(int a@) { return a; }\n", ", int b", ", int c"),
    "add 'i'": ("a.c", C_BODY, "    int i = 1;\n", "    int i = 2;\n"),
    "which no version has": ("a.css", "a { b: c }\n@", ".d { e: f }\n", ".d { g: h }\n"),
    "insert at one place": (
        "a.html",
        "<ul>\n  <li>a</li>\n@</ul>\n",
        "  <li>b</li>\n",
        "  <li>c</li>\n",
    ),
}


@pytest.mark.parametrize("reason", REFUSED)
def test_what_does_not_fit_together_stays_open(reason):
    """The reason is in the ledger."""
    path, frame, one, other = REFUSED[reason]

    assert reason in combine(path, *(frame.replace("@", new) for new in ("", one, other)))


@pytest.mark.parametrize(
    ("path", "base", "one", "other", "fault"),
    [
        (
            "a.c",
            "int a(void) { return 1; }\n@int z;\n#",
            "int b(void) { return 1; }\n",
            None,
            "'b' would be declared 2 times",
        ),
        (
            "a.rb",
            "class A\n@  def a\n  end\n#end\n",
            "  def b\n  end\n",
            None,
            "'b' would be declared more than once",
        ),
        (
            "a.c",
            "void f(void) {\n@    g();\n#}\n",
            "    int i = 1;\n",
            "    int i = 2;\n",
            "'f.i' would be declared 2 times",
        ),
        (
            "A.kt",
            "class A {\n@    val z = 1\n#}\n",
            "    fun b() = 1\n",
            None,
            "'b()' would be declared more than once",
        ),
        (
            "a.php",
            "<?php\n@function z() {}\n#",
            "function Foo() {}\n",
            "function foo() {}\n",
            "'foo' would be declared more than once",
        ),
        (
            "a.php",
            "<?php\nclass A {\n@    public function z() {}\n#}\n",
            "    public function Foo() {}\n",
            "    public function foo() {}\n",
            "'foo' would be declared more than once",
        ),
        (
            "a.php",
            "<?php\n@function z() {}\n#",
            "class Foo {}\n",
            "interface foo {}\n",
            "'foo' would be declared more than once",
        ),
        (
            "a.php",
            "<?php\n@use A\\B;\n#",
            "use A\\Foo;\n",
            "use Z\\Bar as foo;\n",
            "'foo' would be declared more than once",
        ),
        (
            "a.php",
            "<?php\n@use A\\B;\n#",
            "use A\\Foo;\n",
            "use function Z\\foo;\n",
            "",
        ),
        (
            "A.kt",
            "@import a.B\n#",
            "import a.Foo\n",
            "import b.Foo\n",
            "'Foo' would be declared more than once",
        ),
        (
            "a.php",
            "<?php\nclass A {\n@    public function z() {}\n#}\n",
            "    public $foo;\n",
            "    public $Foo;\n",
            "",
        ),
    ],
)
def test_a_name_is_defined_once(path, base, one, other, fault):
    """Both sides define it in one place of the file, but not at one line."""
    versions = [
        base.replace("@", first).replace("#", second).encode()
        for first, second in (("", ""), (one, ""), ("", other or one), (one, other or one))
    ]

    assert find_fault(path, tuple(versions[:3]), versions[3]) == fault


# --- what a grammar cannot read --------------------------------------------------------------

LOOP = "    FOR_EACH(x, list) {\n        use(x);\n    } END\n"
BRANCHES = """int f(void) {
    if (a) {
#ifdef X
        if (b) {
#else
        if (c) {
#endif
            d();
        }
    }
    return 1;
}
"""
UNREAD = {
    "a loop": ("a.c", "int f(int a) {\n$    b();\n    return a;\n}\n", LOOP, "FOR_EACH(x, list)"),
    "arguments": ("a.c", "$int a;\n", "MAKE(a, unsigned long; x)\n", "MAKE(a, unsigned long; x)"),
    "branches": ("a.c", "int a;\n$", BRANCHES, BRANCHES.strip()),
    "a word": ("a.c", "int a;\n$int b;\n", "static INLINE int f(void) { }\n", "int"),
    "in C++": ("a.cc", "namespace a {\n$int b;\n}\n", "EXPORT B void C g() { }\n", "B void C"),
    "in C#": ("a.cs", "class A {\n$    int a;\n}\n", "    int ? b = ;\n", "="),
    "in Kotlin": ("a.kt", "class A {\n$    val a = 1\n}\n", "    fun b(x: ) { }\n", "x:"),
    "in a style sheet": ("a.css", "a { b: c; }\n$d { e: f; }\n", "x { *y: z; }\n", "*y: z;"),
    "in HTML": ("a.html", "<a>\n$<b></b>\n</a>\n", '<i c="d" "e">f</i>\n', '"e"'),
}
END = {
    "a.c": "int v;\n@", "a.cc": "int v;\n@", "a.cs": "class B {\n    int v;\n@}\n",
    "a.kt": "class B {\n    val v = 1\n@}\n", "a.css": ".b {\n  c: d;\n@}\n",
    "a.html": "<p>\n@</p>\n",
}  # fmt: skip
"""What both sides add to, at its end."""
NEW = {
    "a.c": ("int w;\n", "int z;\n"), "a.cc": ("int w;\n", "int z;\n"),
    "a.cs": ("    int w;\n", "    int z;\n"), "a.kt": ("    val w = 1\n", "    val z = 2\n"),
    "a.css": ("  top: 1px;\n", "  left: 2px;\n"),
}  # fmt: skip


@pytest.mark.parametrize(("path", "frame", "text", "region"), UNREAD.values(), ids=UNREAD)
def test_the_smallest_region_in_which_brackets_match_is_not_read(path, frame, text, region):
    """It is one token, and every byte is kept."""
    source = (frame.replace("$", text) + END[path].replace("@", "")).encode()

    found = [source[start:end].decode() for start, end in opaque_regions(path, source)]
    tree = read(path, source)

    assert found == [region]
    kinds = Counter(each.kind for part in tree.walk() for each in part.children)
    assert kinds["opaque"] >= 1
    assert render(tree)[1:] + b"\n" == source


@pytest.mark.parametrize(
    ("path", "frame", "text", "region"),
    [each for each in UNREAD.values() if each[0] in NEW],
    ids=[name for name, each in UNREAD.items() if each[0] in NEW],
)
def test_the_rest_of_a_file_is_merged(path, frame, text, region):
    """One side may change the region."""
    one, other = NEW[path]
    end = END[path]
    changed = frame.replace("$", text.replace(region, region.replace("x", "xx")))
    frame = frame.replace("$", text)

    merged = combine(
        path,
        frame + end.replace("@", ""),
        changed + end.replace("@", one),
        frame + end.replace("@", other),
    )

    assert merged == changed + end.replace("@", one + other)


@pytest.mark.parametrize("strategy", ["structured", "tokens"])
def test_a_region_that_both_sides_change_stays_open(strategy):
    """Nobody knows what a combination of the changes would mean."""
    frame = "int f(int a) {\n    FOR_EACH(%s, list, %s) {\n        use(x);\n    } END\n}\n"
    versions = [frame % names for names in (("x", "y"), ("v", "y"), ("x", "w"))]

    assert "FOR_EACH(v, list, w)" not in combine("a.c", *versions, strategy=strategy)


@pytest.mark.parametrize(
    ("path", "text", "is_accepted"),
    [("a.c", "int x = 1;\n\nBAD(int y; z)\n", True), ("a.java", "class A { int = 1; }\n", False)],
)
def test_only_regions_of_a_version_are_accepted(path, text, is_accepted):
    """In languages whose grammars read all valid files, an error is one."""
    base = text.encode()
    theirs = base + b"\n/* more */\n"

    assert bool(find_fault(path, (base, base, theirs), theirs)) is not is_accepted
    assert find_fault(path, (base, base, theirs), theirs + b"BAD(int q; q)\n")
