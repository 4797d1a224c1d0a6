"""Languages that tree-sitter's grammars parse, as trees that are merged."""

import sys

import pytest

import cooperbench_eval as ce
from cooperbench_eval.languages.files import read_versions
from cooperbench_eval.languages.readers import grammars, syntax
from cooperbench_eval.languages.readers.syntax import read_syntax
from cooperbench_eval.languages.tree import StructureError, render
from cooperbench_eval.strategies.structured.merge import TreeMerge
from cooperbench_eval.support.memo import TextMemo

SAMPLES = {
    "comments.js": """#!/usr/bin/env node
'use strict' // at the end
/* before */ let a = 1, b /* within */ = 2 // behind

// alone
/**
 * Of several lines.
 */
function f(/* nothing */) { // opened
  // only this
}
const list = [ // first
  1, // one
  /* two */ 2
  // last
]
const holes = [, 1, , 2,,]
const empty = [
  // none
]
call(a /* first */, // second
  b // third
  , c)
""",
    "plain.js": """import a, { b, c as d } from 'x'
import * as all from "y"
import 'z'
export * from './a'
export { a, b as default, } from './b'
export default class extends Base {
  #hidden = 1
  static count = 0;
  get size() { return this.#hidden }
  set size(value) { this.#hidden = value }
  async *[Symbol.iterator]() { yield* [] }
  static { Base.count++ }
  handler = async (event) => { event.stop() }
}
const f = x => x ? y : z
const g = function named() { return }
if (a) b(); else if (c) { d() } else e()
for (const i of list) if (i) continue; else break
outer: for (;;) { break outer }
do { a++ } while (a < 3)
try { risky() } catch { } finally { done() }
switch (a) {
  case 1:
  case 2: b(); break // out
  // the rest
  default: { c() }
}
const text = `one ${two + `three
  ${four}`}
five`
const found = /[/]\\/(?<name>x)/giu.exec(text)
a ||= b ?? c?.d?.[0]
new Thing
throw new Error('no' + 'way')
""",
    "newer.ts": """import defer * as a from './a';
export type * from './b';
export type * as c from './c';
class A { accessor b = 1; static accessor #c: number; }
function f() { using a = g(); await using b = h(); }
""",
    "newer.js": """import source a from './a';
class A { accessor b; static accessor #c = 1; }
function f() { using a = g(); }
""",
    "types.ts": """import type { A, B } from './types';
declare module 'm' { export const a: number }
declare global { interface Window { x?: 1 } }
namespace N.M { export type T = string }
@decorated({ a: 1 })
export abstract class Foo<T extends object = {}> extends Bar<T> implements I, J {
  private readonly x: number = 1;
  @inject() declare y?: string
  constructor(private a: string, public b?: Map<string, Array<T>>) { super(); }
  find(id: string): T;
  find(id: string, or?: T): T { return <any>id as unknown as T; }
  abstract gone(): void;
  [key: string]: any;
}
interface I<T> extends A, B { a: string, m(x: number): void; new (x: T): I<T> }
enum Colour { Red = 'r', Green = 1 << 2, Blue }
type U = | { kind: 'a'; a: 1 } | { kind: 'b', b?: readonly string[] } | `x${string}`;
type C<T> = T extends (infer U)[] ? U : { [K in keyof T]?: T[K] };
function assert(x: unknown): asserts x is string;
function assert(x: unknown) {}
const o = { a, 'b': 1, [c]: 2, d() {}, get e() { return 1 }, ...rest } satisfies O;
let { p, q: { r = 1 }, ...s } = o!, [t, , u] = list;
export const f = async <T,>(a: T, ...more: T[]): Promise<void> => { await a; };
""",
    "view.tsx": """export default function View({ items, ...props }: Props) {
  return (
    <div
      className="a"
      {...props}
      onClick={() => { go(); }}
    >
      {/* a remark */}
      some text, {items.map((item) => (
        <Item<string> key={item} {...item} />
      ))} and more
      <>
        <br/>&nbsp;<a.b x = 'y' >z</a.b>
      </>
    </div>
  );
}
""",
    "main.go": """// Package main does things.
package main

import "fmt"
import (
\t"a/b" // why
\t. "c"

\tother "d"
)

const A = 1
const (
\tX, Y = iota, 2 // both

\tZ = `raw
text`
)
var (
	q int; w = 'x';
)
type (
\tAlias = string
\tList[T any, U ~int | string] struct {
\t\ta, b int `json:"a"`
\t\tEmbedded
\t\t*pkg.Other // pointed at
\t}
)
type Reader interface {
\tRead(p []byte, more ...int) (n int, err error)
\tio.Closer
}

func (l *List[T, U]) Do(a, b int, f func(int) error) (x int, err error) {
\tm := map[string][]int{"a": {1, 2}, "b": {}}
\tif v, ok := m["a"]; ok {
\t\treturn len(v), nil
\t} else if a > b { goto end
\t} else {
\t\tgo func() { defer close(c) }()
\t}
\tswitch v := any(a).(type) {
\tcase int, string: // either
\t\tfallthrough
\tdefault:
\t}
\tselect { case <-c: x++; case c <- 1: }
end:
\tfor i := range 10 { continue }
\treturn
}
""",
    "lib.rs": """#![allow(dead_code)]
//! Of the whole file.
use std::{fmt, io::{self, Read as _}};
pub(crate) use a::b::*;

/// Documented.
#[derive(Debug, Clone)] // derived
pub struct S<'a, T: X + 'a> where T: Y { pub a: &'a str, #[cfg(x)] b: [T; 3], }
struct P(u8, pub i32);
enum E { A, B(u8) = 3, #[default] C { x: u8 } }
impl<'a, T> fmt::Display for S<'a, T> {
    const N: usize = 1;
    fn fmt(&self, #[a] #[b(1)] default: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Some(x) = self.a.get(0..=2)? else { return Err(fmt::Error) };
        let y = if x { 1 } else if let Some(_) = z { 2 } else { 3 };
        match y {
            1 | 2 => f(),
            n @ 3.. if n > 4 => { g() }
            // otherwise
            E::C { x, .. } => return Ok(()),
            _ => unreachable!("{} {:?}", a, b),
        }
    }
}
macro_rules! mine { ($($a:expr),* $(,)?) => { vec![$($a),*] }; }
unsafe extern "C" { fn c(x: *const u8); }
pub trait Q: R + Send { type T; fn g(&self) where Self: Sized; }
mod inner { use super::*; }
async fn h<T>(v: Vec<Vec<T>>) -> impl Fn(u8) -> bool {
    'outer: loop { break 'outer; }
    let s = r#"raw "string""#; let c = '\\'';
    v.iter().map(|x| x.len()).filter(move |&n| { n > 0 });
    S { a: "x", ..Default::default() };
    /* block /* nested */ */
    move |x| x as u16 == 1
}
""",
}


def read(path, source):
    """Read a file, every construct of it."""
    tree, _ = read_versions(path, (source, b"\n"))
    return tree


def merge(path, base, ours, theirs, *, theirs_first=False):
    """Merge texts by their structure."""
    trees = read_versions(path, [text.encode() for text in (base, ours, theirs)])
    merged = TreeMerge(theirs_first=theirs_first).merge(*trees)
    return (render(merged)[1:] + b"\n").decode()


# --- reading ---------------------------------------------------------------------------------


@pytest.mark.parametrize("path", SAMPLES)
@pytest.mark.parametrize("newline", ["\n", "\r\n"])
def test_a_tree_has_every_byte(path, newline):
    """What is written out is what was read, whatever ends the lines."""
    source = SAMPLES[path].replace("\n", newline).encode()

    assert render(read(path, source))[1:] + b"\n" == source


@pytest.mark.parametrize("path", SAMPLES)
def test_what_all_versions_share_is_not_read(path):
    """Top-level constructs that are in all versions become a token each."""
    source = SAMPLES[path].encode()

    tree, other, _ = read_versions(path, (source, source, source))

    assert {child.kind for child in tree.children} == {"unread", "end"}
    assert tree == other
    assert render(tree)[1:] + b"\n" == source


def test_a_byte_order_mark_stays():
    """It is a token of its own."""
    source = b"\xef\xbb\xbflet a = 1\n"

    assert render(read("a.js", source))[1:] + b"\n" == source


def test_an_empty_file_is_a_tree():
    """There is but the end of it."""
    assert render(read("a.go", b"\n\n")) == b"\n\n"


@pytest.mark.parametrize(
    ("path", "source", "reason"),
    [
        ("a.ts", b"let a = 1\nlet = }\n", r"has a syntax error \(line 2\)"),
        ("a.go", b"package a\nfunc f( {\n", r"has a syntax error \(line 2\)"),
        ("a.js", b"let a = '\x1f'\n", "control characters"),
        ("a.js", b"let a = '\xff'\n", "not UTF-8"),
        ("a.js", b"let a = 1", "no newline"),
        ("a.js", b"f(" * 2000 + b")" * 2000 + b"\n", "constructs nest more than"),
        ("a.tsx", b"x = " + b"<a>" * 2000 + b"</a>" * 2000 + b"\n", "nest more than"),
        ("a.rs", b"fn f() " + b"{" * 2000 + b"}" * 2000 + b"\n", "nest more than"),
    ],
)
def test_what_cannot_be_read_is_refused(path, source, reason):
    """Errors, what the trees keep for themselves, and what nests too deeply."""
    with pytest.raises(StructureError, match=reason):
        read(path, source)


def test_long_expressions_are_not_deep():
    """Operators nest in the syntax tree, but not in ours."""
    source = b"x = " + b" + ".join([b"1"] * 5000) + b"\n"

    assert render(read("a.js", source))[1:] + b"\n" == source


def test_what_may_be_read_may_be_merged():
    """The depth that is allowed is one that a merge can go to."""
    deep = "f(" * 25 + "{}" + ")" * 25 + "\n"

    assert merge("a.js", deep.format("a, b"), deep.format("a, c"), deep.format("d, b")) == (
        deep.format("d, c")
    )


def test_without_its_package_a_language_is_refused(monkeypatch):
    """The message says which extra to install."""
    monkeypatch.setitem(sys.modules, "tree_sitter_go", None)
    read_syntax.cache_clear()
    grammars._parser.cache_clear()
    grammars.parse.cache_clear()

    with pytest.raises(StructureError, match=r"Go .*cooperbench-eval\[languages\]"):
        read("a.go", b"package a\n")


BOTH_ADD = {
    "tree_sitter_go": ("a.go", b"package a\n%b", b"func B() {}\n", b"func C() {}\n"),
    "tree_sitter_json": ("a.json", b'{"a": 1%b}\n', b', "b": 2', b', "c": 3'),
}


@pytest.mark.parametrize("package", BOTH_ADD)
def test_without_its_package_nothing_is_merged_unchecked(monkeypatch, package):
    """A merge that nobody can parse may be broken; the reason says which extra to install."""
    path, frame, *added = BOTH_ADD[package]
    base, *sides = (ce.Snapshot.from_files({path: frame % new}) for new in (b"", *added))
    changes = [ce.Changes.between(base, side) for side in sides]
    monkeypatch.setitem(sys.modules, package, None)
    for cached in (read_syntax, grammars._parser, grammars.parse):
        cached.cache_clear()

    for strategy in ("structured", "tokens", "cascade"):
        outcome = ce.merge(base, *changes, strategy=strategy)

        assert outcome.status == "conflicts"
        assert "cooperbench-eval[languages]" in outcome.ledger[0].reason


BODY = (
    "{\n    one(a, b, c);\n\n  // two\n    if (d) {\n      three();\n    }\n  return { e, f };\n}\n"
)
RUST = (
    "fn f(#[first] #[second] a: u8, default: u8) {\n    first(second, default);\n    third();\n}\n"
)
ATTRIBUTES = "    #[first] #[second] let default = call(one, two, three, four, five, six, seven);\n"
CONTEXTS = {
    "at the top level": ("a.js", "function f() " + BODY),
    "in another language": ("a.ts", "function f() " + BODY),
    "in a language with tags": ("a.tsx", "function f() " + BODY),
    "in a class": ("a.js", "class A {\n  f() " + BODY + "}\n"),
    "in a class of another language": ("a.ts", "class A {\n  f() " + BODY + "}\n"),
    "in a function": ("a.js", "function g() {\n  function f() " + BODY + "}\n"),
    "in a function with tabs": ("a.js", "function g() {\n\tfunction f() " + BODY + "}\n"),
    "on one line": ("a.js", "function g() { function f() " + BODY + "}\n"),
    "deeper": ("a.js", "{ { function f() " + BODY + "} }\n"),
    "exported": ("a.js", "export function f() " + BODY),
    "operators": ("a.js", "use(%s < T > (b));\n" % ("a" * 64)),
    "the same as a generic call": ("a.ts", "use(%s < T > (b));\n" % ("a" * 64)),
    "an if": ("a.js", "{ if (a) " + BODY + "}\n"),
    "the same as a method": ("a.js", "class A { if (a) " + BODY + "}\n"),
    "one attribute": ("a.rs", RUST.replace("#[second] ", "")),
    "attributes that are not parsed": ("a.rs", RUST),
    "a module with these attributes": ("a.rs", "mod m {\n" + RUST + "}\n"),
    "statements that parse": ("a.rs", "fn g() {\n" + ATTRIBUTES + "}\n"),
    "statements where attributes are not parsed": (
        "a.rs",
        RUST + "fn g() {\n" + ATTRIBUTES + "}\n",
    ),
}


def test_what_was_read_before_makes_no_difference(monkeypatch):
    """A member is read once for all files, but only if it is the same everywhere."""
    contexts = [(path, source.encode()) for path, source in CONTEXTS.values()]
    monkeypatch.setattr(syntax, "_known", TextMemo(syntax._none_known, max_bytes=0))
    expected = [read(*context) for context in contexts]
    read_syntax.cache_clear()

    monkeypatch.setattr(syntax, "_known", TextMemo(syntax._none_known, max_bytes=1 << 20))
    for order in (1, -1):
        found = [read(*context) for context in contexts[::order]]
        read_syntax.cache_clear()
        assert found[::order] == expected


def test_what_was_read_before_is_refused_where_it_nests_too_deeply():
    """Its depth counts from the top of the file."""
    member = b"f(" * 30 + b"a, b" + b")" * 30 + b"\n"
    read("a.js", member)

    with pytest.raises(StructureError, match="nest more than"):
        read("a.js", b"{" * 20 + member + b"}" * 20 + b"\n")


def test_versions_share_what_they_have_in_common():
    """So a large class costs little more than its changes, also in other pairs."""
    methods = "".join(f"  m{i}() {{ return call({'a' * 64}, {i}); }}\n" for i in range(3))

    suites = []
    for i in range(2):
        source = f"class A {{\n  x = {i};\n{methods}}}\n".encode()
        (statement, _) = read("a.js", source).children
        suites.append([each for each in statement.walk() if each.key.startswith(b"m")])

    assert [each.key for each in suites[0]] == [b"m0", b"m0", b"m1", b"m1", b"m2", b"m2"]
    assert all(one is other for one, other in zip(*suites, strict=True))


def test_the_members_of_a_very_large_class_are_remembered_but_not_the_class():
    """The class would displace everything else, and its next version differs anyway."""
    method = f"f() {{ return call({'a' * 100}); }}"
    large = f"class A {{\n  x = '{'b' * max(syntax._KNOWN_SIZES)}';\n  {method}\n}}"

    read("a.js", f"{large}\n".encode())

    assert not syntax._known(large.encode())
    assert syntax._known(method.encode())


def test_one_text_in_many_places_is_not_remembered_for_each():
    """Memory is limited even if only the indentation differs."""
    member = f"f({'a' * 80})"
    source = "".join(f"{{\n{' ' * i}{member}\n}}\n" for i in range(1, 40)).encode()

    tree = read("a.js", source)

    assert render(tree)[1:] + b"\n" == source
    assert len(syntax._known(member.encode())) == syntax._MOST_KNOWN


# --- what both sides add ---------------------------------------------------------------------


CLASS = "class A {\n  a() {\n    return 1;\n  }\n%s}\n"
METHOD = "\n  %s() {\n    go();\n  }\n"
ADDED = {
    "a method": ("a.js", CLASS, [METHOD % "b", METHOD % "c"], "{0}{1}"),
    "an import": (
        "a.ts",
        "%simport z from 'z';\n",
        ["import { a } from 'x';\n", "import { b } from 'x';\n"],
        "import { a, b } from 'x';\n",
    ),
    "a name to an import": (
        "a.ts",
        "import { a%s } from 'x';\n",
        [", b", ", c"],
        "{0}{1}",
    ),
    "a name to a tall import": (
        "a.ts",
        "import {\n  a,\n%s} from 'x';\n",
        ["  b,\n", "  c,\n"],
        "{0}{1}",
    ),
    "a parameter": ("a.ts", "function f(a%s) {}\n", [", b: B", ", c?: C"], "{0}{1}"),
    "an argument": ("a.js", "f(a%s);\n", [", b", ", c"], "{0}{1}"),
    "a key": ("a.js", "x = {\n  a: 1,\n%s};\n", ["  b: 2,\n", "  c() {},\n"], "{0}{1}"),
    "a last key": ("a.js", "x = {\n  a: 1%s\n};\n", [",\n  b: 2", ",\n  c"], "{0}{1}"),
    "a member": (
        "a.ts",
        "interface A {\n  a: 1;\n%s}\n",
        ["  b?: B;\n", "  c(): C;\n"],
        "{0}{1}",
    ),
    "an enum's": ("a.ts", "enum A {\n  A,\n%s}\n", ["  B,\n", "  C = 3,\n"], "{0}{1}"),
    "a case": (
        "a.js",
        "switch (a) {\n  case 1:\n    break;\n%s}\n",
        ["  case 2:\n    b();\n    break;\n", "  case 3:\n    c();\n    break;\n"],
        "{0}{1}",
    ),
    "an else if": (
        "a.js",
        "if (a === 1) {\n}%s\n",
        [" else if (a === 2) {\n}", " else if (a === 3) {\n}"],
        "{0}{1}",
    ),
    "an attribute": ("a.jsx", "x = <A%s />;\n", [" b={1}", ' c="2"'], "{0}{1}"),
    "an element": (
        "a.jsx",
        "x = (\n  <A>\n    <B />\n%s  </A>\n);\n",
        ["    <C />\n", "    <D>d</D>\n"],
        "{0}{1}",
    ),
    "a test": (
        "a.js",
        "describe('a', () => {\n%s});\n",
        ["  it('b', () => {\n  });\n", "  it('c', () => {\n  });\n"],
        "{0}{1}",
    ),
    "a statement": ("a.js", "f()\n%s", ["let a = 1\n", "let b = 2\n"], "{0}{1}"),
    "a spec": ("a.go", 'package a\nimport (\n\t"a"\n%s)\n', ['\t"b"\n', '\t"c"\n'], "{0}{1}"),
    "an import block": (
        "a.go",
        "package a\n%sfunc f() {}\n",
        ['import (\n\t"a"\n)\n', 'import (\n\t"b"\n)\n'],
        'import (\n\t"a"\n\t"b"\n)\n',
    ),
    "a field": (
        "a.go",
        "package a\ntype A struct {\n\ta int\n%s}\n",
        ["\tb int\n", "\tc, d *B `json`\n"],
        "{0}{1}",
    ),
    "a function": ("a.go", "package a\n%s", ["\nfunc f() {\n}\n", "\nfunc g() {\n}\n"], "{0}{1}"),
    "an element of a literal": (
        "a.go",
        'package a\nvar a = []A{\n\t{"a"},\n%s}\n',
        ['\t{"b"},\n', '\t{"c"},\n'],
        "{0}{1}",
    ),
    "a constant": (
        "a.go",
        "package a\nconst (\n\tA = 1\n%s)\n",
        ["\tB = 2\n", "\tC = 3\n"],
        "{0}{1}",
    ),
    "a method of an interface": (
        "a.go",
        "package a\ntype A interface {\n\tA()\n%s}\n",
        ["\tB()\n", "\tC(a int)\n"],
        "{0}{1}",
    ),
    "a use": ("a.rs", "use a::{b%s};\n", [", c", ", d::{e, f}"], "{0}{1}"),
    "a variant": (
        "a.rs",
        "enum A {\n    A,\n%s}\n",
        ["    B(u8),\n", "    C { c: u8 },\n"],
        "{0}{1}",
    ),
    "an arm": (
        "a.rs",
        "fn f() {\n    match a {\n        1 => b,\n%s    }\n}\n",
        ["        2 => c,\n", "        3 => { d }\n"],
        "{0}{1}",
    ),
    "a field with an attribute": (
        "a.rs",
        "struct A {\n    a: u8,\n%s}\n",
        ["    #[b]\n    b: u8,\n", "    /// C.\n    pub c: u8,\n"],
        "{0}{1}",
    ),
    "a function with attributes": (
        "a.rs",
        "impl A {\n%s}\n",
        ["    #[b]\n    /// B.\n    fn b() {}\n", "    fn c(&self) {}\n"],
        "{0}\n{1}",
    ),
}


@pytest.mark.parametrize("case", ADDED)
@pytest.mark.parametrize("theirs_first", [False, True])
def test_what_both_sides_add_is_kept(case, theirs_first):
    """Each is one by itself, and what imports one module is one import."""
    path, text, added, both = ADDED[case]
    versions = [text % "", *(text % each for each in added)]

    merged = merge(path, *versions, theirs_first=theirs_first)

    if both.startswith("{0}"):
        between = both.removeprefix("{0}").removesuffix("{1}")
        assert merged == text % between.join(added[::-1] if theirs_first else added)
    else:
        assert sorted(merged) == sorted(text % both)
        assert merged == text % both or theirs_first


# --- what both sides change ------------------------------------------------------------------

CHANGED = {
    "signature and call": (
        "a.ts",
        "function f(a: A) {\n  g(a);\n}\n\nf(1);\n",
        "function f(a: A, b: B) {\n  g(a);\n}\n\nf(1, 2);\n",
        "function f(a: A) {\n  g(a, 0);\n}\n\nf(one);\n",
        "function f(a: A, b: B) {\n  g(a, 0);\n}\n\nf(one, 2);\n",
    ),
    "a body wrapped": (
        "a.js",
        "function f() {\n  const a = get(1, 2);\n  use(a);\n}\n",
        "function f() {\n  try {\n    const a = get(1, 2);\n    use(a);\n  } catch {\n  }\n}\n",
        "function f() {\n  const a = get(1, 3);\n  use(a);\n}\n",
        "function f() {\n  try {\n    const a = get(1, 3);\n    use(a);\n  } catch {\n  }\n}\n",
    ),
    "a named arrow": (
        "a.ts",
        "export const f = (a) => {\n  one();\n};\n",
        "export const f = (a) => {\n  one();\n  two();\n};\n",
        "export const f = (a, b) => {\n  one();\n};\n",
        "export const f = (a, b) => {\n  one();\n  two();\n};\n",
    ),
    "one line": (
        "a.go",
        "package a\n\nfunc f() {\n\treturn a(1), b(2)\n}\n",
        "package a\n\nfunc f() {\n\treturn a(3), b(2)\n}\n",
        "package a\n\nfunc f() {\n\treturn a(1), c(2)\n}\n",
        "package a\n\nfunc f() {\n\treturn a(3), c(2)\n}\n",
    ),
    "a list spread out": (
        "a.ts",
        "f(a, b);\n",
        "f(\n  a,\n  b,\n);\n",
        "f(a, b, c);\n",
        "f(\n  a,\n  b,\n  c,\n);\n",
    ),
    "what is returned": (
        "a.js",
        "function f(a) {\n  return g(a, 1);\n}\n",
        "function f(a) {\n  const b = g(a, 1);\n  log(b);\n  return b;\n}\n",
        "function f(a) {\n  return g(a, 1, 2);\n}\n",
        "function f(a) {\n  const b = g(a, 1, 2);\n  log(b);\n  return b;\n}\n",
    ),
    "what a block comes to": (
        "a.rs",
        "fn f(&self) -> A {\n    self.get(1).next()\n}\n",
        "fn f(&self) -> A {\n    let a = self.get(1).next();\n    change(a)\n}\n",
        "fn f(&self) -> A {\n    self.get(2).next()\n}\n",
        "fn f(&self) -> A {\n    let a = self.get(2).next();\n    change(a)\n}\n",
    ),
    "a moved comment": (
        "a.go",
        "package a\n\nfunc f() {\n\ta()\n}\n",
        "package a\n\n// F does.\nfunc f() {\n\ta()\n}\n",
        "package a\n\nfunc f() {\n\ta(1)\n}\n",
        "package a\n\n// F does.\nfunc f() {\n\ta(1)\n}\n",
    ),
}


@pytest.mark.parametrize("case", CHANGED)
def test_changes_of_different_constructs_combine(case):
    """However close they stand, and from either side."""
    path, base, ours, theirs, expected = CHANGED[case]

    assert merge(path, base, ours, theirs) == expected
    assert merge(path, base, theirs, ours) == expected


@pytest.mark.parametrize(
    ("path", "text", "sides"),
    [
        ("a.js", "x = %s;\n", ("1", "2", "3")),
        ("a.js", "if (a%s) b();\n", ("", " && b", " || c")),
        ("a.ts", "function f(a%s) {}\n", ("", ", b: B", ", b: C")),
        ("a.js", "x = {a: 1%s};\n", ("", ", b: 1", ", b: 2")),
        ("a.js", "if (a) {}%s\n", ("", " else { b }", " else { c }")),
        ("a.go", "package a\n\nfunc f() {\n\t%s\n}\n", ("a = 1", "a = 2", "b(3)")),
        ("a.rs", "fn f() -> u8 {\n    %s\n}\n", ("a.b()", "a.c()", "a.d()")),
        (
            "a.rs",
            "fn f() -> u8 {\n    %s\n}\n",
            ("a.b(1)", "if c { d.b(1) } else { a.b(1) }", "e(2)"),
        ),
    ],
)
def test_changes_of_one_construct_are_refused(path, text, sides):
    """It is unclear which one is meant."""
    with pytest.raises(StructureError, match="both sides changed"):
        merge(path, *(text % side for side in sides))


def test_a_construct_that_moves_inwards_is_indented():
    """Comments of several lines are, too."""
    base = "function f() {\n  /* one\n     two */\n  a(1, 2, 3);\n}\n"
    ours = "function f() {\n  if (b) {\n    /* one\n       two */\n    a(1, 2, 3);\n  }\n}\n"
    theirs = base.replace("}\n", "  c();\n}\n")

    merged = merge("a.js", base, ours, base.replace("(1", "(0"))

    assert merged == ours.replace("(1", "(0")
    assert "c();" in merge("a.js", base, ours, theirs)
