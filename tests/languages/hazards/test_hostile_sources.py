"""Whatever the files contain: no exception, bounded time, the same hazards in the same order."""

import json
import time

import attrs
import pytest
from generators import damages, random_bytes
from hypothesis import given

import cooperbench_eval as ce
from cooperbench_eval.languages.hazards.finding import find_hazards

SOURCES = {
    "a.py": b"""\
from __future__ import annotations
import os, a.b as c
from .d import (e, f as g)
if TYPE_CHECKING:
    from h import *

class A(B, metaclass=C):
    x: int = 1
    @property
    def f(self): return self.g(1, *a, k=2)
    @f.setter
    def f(self, v): self.x = [y for y in v if (z := y)]
    @staticmethod
    def g(a, /, b=1, *c, d, **e): return lambda q: q.r().s

def f(a):
    global A
    match a:
        case [B(), *c] if c: return {**a}
        case {"k": 1, **d}: pass
    try:
        from k import l
    except* E as m:
        return super().f(l, m)
    def f(): nonlocal a; return f(a)
""",
    "a.go": b"""\
package a

import (
\t"fmt"
\tq "example.org/m/p"
\t. "b"
)

type T struct { a, b int; q.U }
type I interface { M(int) (string, error) }
func (t *T) M(a, b int, c ...string) { x := 1; for i := range y { t.a.M(i, c...) } }
func f[V any](a V) { if err := q.G(f(1)); err != nil { fmt.Println(T{a: 1}) } }
const (
\tA = iota
\tB
)
""",
    "a.ts": b"""\
import d, { n as m, type q } from './a'
import * as ns from "x"
export function f(a: number, b?: string, c = 1, ...r) { const {z, w: u} = a; f(1, ...x) }
export const g = (a, {b}) => ns.g(a as q.T)
class A<T> extends B { static x = 1; constructor(private x: X) {} get m() { return this.m(1) } }
export { n as k } from './b'
export * from './c'
export default class { [k]() { new A(1) } }
type U = { a: 1 } | A
interface I { a(): void }
""",
    "a.jsx": b"""\
const { a, ...b } = require('./c')
export default (x) => <A b={a} {...b}><C.D /></A>
var v = function () { try { this.q = v } catch ({ e }) { for (const i of e) i.f`x` } }
""",
    "a.rs": b"""\
use crate::a::{self, B, c as d, *};
use super::x;
#[cfg(unix)]
fn f(&(a, b): &(u8, u8)) {}
impl<T> A<T> for B where T: C { fn m(&self, x: u8) -> Self { Self::g(self.m(1)); mac!(f(1)) } }
enum E { A { b: u8 }, #[cfg(x)] C(D) }
fn g() { match q { Some(x) => y, A { b, c: d } => e }; let z = |v, w: u8| T::<u8>::new(v); }
mod n { pub use self::o::*; }
""",
    "A.java": b"""\
package a.b;
import a.c.D;
import static a.c.E.f;
@interface N { int x() default 1; }
public class A<T extends B & C> extends D implements E.F {
  static int x = 1, y[] = {2};
  A(A this, int a, String... b) throws G { this(a); super.f(A::new); a().b(c -> c.d(x)); }
  <U> void f(final U[] a) { for (A b : c) b.f(a); try (H h = new H(1) { int i; }) {} finally {} }
  enum K { P(1) { void q() { r(); } }, Q; K() { new A.K(); } }
  record R(int a) { R { this.a = a; } }
  Object g() { return o instanceof S s ? switch (s) { case T t -> t.u(); default -> x; } : null; }
}
""",
    "a.json": b'{"a": [1, {"b": null}],\n"c": "d"}\n',
    "a.toml": b'[a]\nb = 1\n\n[[c]]\nd = "e"\n',
}


def hazards(path, versions):
    """The hazards of a tree with one file, whose versions are base, ours, theirs and merged."""
    base, *others = versions
    tree = ce.Snapshot.from_files({path: base})
    changes = [ce.Changes({path: ce.Entry(text)}) for text in others]
    ours, theirs, merged = changes
    return find_hazards(tree, {2: ours, 1: theirs}, merged)


def order(hazard):
    return hazard.path, hazard.line or 0, hazard.kind, hazard.name, hazard.message


def check(path, versions):
    found = hazards(path, versions)

    assert found == hazards(path, versions)
    assert list(found) == sorted(set(found), key=order)
    assert all(
        ce.models.Hazard(**json.loads(json.dumps(attrs.asdict(each)))) == each for each in found
    )


@pytest.mark.parametrize("path", SOURCES)
@given(one=damages(headers=False), two=damages(headers=False), three=damages(headers=False))
def test_damaged_sources_raise_nothing(path, one, two, three):
    """Some versions parse and some do not, and names come and go at random."""
    source = SOURCES[path]

    check(path, (source, one(source), two(source), three(one(source))))
    check(path, (one(source), source, two(source), source + three(source)))


@given(one=random_bytes(), two=random_bytes(), three=random_bytes())
def test_random_bytes_raise_nothing(one, two, three):
    """Neither text nor code."""
    for path in SOURCES:
        check(path, (one, two, three, one + two + three))


DEEP = 4_000
HOSTILE = {
    "brackets": ("a.py", b"x = " + b"(" * DEEP + b")" * DEEP + b"\n"),
    "a long sum": ("a.py", b"x = " + b"1 + " * DEEP + b"1\n"),
    "a long chain": ("a.py", b"x = a" + b".b" * DEEP + b"\n"),
    "indented blocks": (
        "a.py",
        b"".join(b" " * n + b"if x:\n" for n in range(90)),
    ),
    "a NUL": ("a.py", b"x = '\0'\n"),
    "bytes that are not UTF-8": ("a.py", b"x = '\xff'\n"),
    "carriage returns": ("a.py", b"x = 1\ry = 2\rdef f():\r  pass\r"),
    "many names": ("a.py", b"".join(b"def f%d(): 0\n" % n for n in range(500))),
    "one name": ("a.py", b"def f(): f(1)\n" * 500),
    "JSON in brackets": ("a.json", b"[" * DEEP + b"]" * DEEP),
    "TOML in brackets": ("a.toml", b"a = " + b"[" * DEEP + b"]" * DEEP),
    "calls of Go": ("a.go", b"package a\nvar x = " + b"f(" * DEEP + b")" * DEEP + b"\n"),
    "attributes of TypeScript": ("a.ts", b"x" + b".y()" * DEEP + b"\n"),
    "attributes of Java": ("A.java", b"class A { B b = x" + b".y" * DEEP + b"; }\n"),
    "attributes of a call of Java": ("A.java", b"class A { B b = x()" + b".y" * DEEP + b"; }\n"),
    "calls of Java": ("A.java", b"class A { B b = x" + b".y()" * DEEP + b"; }\n"),
    "classes of Java": ("A.java", b"class A { " * 500 + b"}" * 500),
    "patterns of TypeScript": ("a.ts", b"const " + b"{a:" * 500 + b"b" + b"}" * 500 + b" = x\n"),
    "an import tree of Rust": ("a.rs", b"use " + b"a::{" * 500 + b"b" + b"}" * 500 + b";\n"),
    "many functions of Go": (
        "a.go",
        b"package a\n" + b"".join(b"func f%d() { f%d(1) }\n" % (n, n) for n in range(500)),
    ),
    "a method without a receiver": ("a.go", b"package a\nfunc () m() {}\nfunc ([]T) m() {}\n"),
    "spaces": ("a.h", b"#define A" + b" " * 100_000 + b"x\n"),
    "words": ("a.h", b"a " * 100_000 + b"= 1\n"),
    "spaces after a version": ("setup.py", b"version" + b" " * 100_000 + b"x\n"),
    "brackets of migrations": (
        "a.py",
        b"class M(migrations.Migration):\n    dependencies = [" + b"] \n" * 50_000,
    ),
    "a large file": ("a.py", b"x = 1\n" * 400_000),
}


@pytest.mark.parametrize("case", HOSTILE)
def test_hostile_files_take_bounded_time(case):
    """Deep, long, odd or large: the file comes, changes, goes or comes twice."""
    path, text = HOSTILE[case]
    started = time.monotonic()

    check(path, (b"", text, b"\n", text + text))
    check(path, (text, text + b"\n", b"", text))
    check(path, (text, b"\n", text + b"\n\n", b"\n" + text))

    assert time.monotonic() - started < 20


def test_a_flood_of_hazards_is_cut():
    """A report does not grow without bound."""
    text = b"".join(b"def f%d(): 0\n" % n for n in range(500))

    found = hazards("a.py", (b"", text, text, text + text))

    assert len(found) == 100


def test_links_and_submodules_are_not_read():
    """Their contents are not source code."""
    tree = ce.Snapshot.from_files({"a.py": b"x = 1\n"})
    link = ce.Changes({"a.py": ce.Entry(b"(", ce.models.FileMode.SYMLINK)})

    assert find_hazards(tree, {2: link, 1: link}, link) == ()


def test_the_order_of_changes_does_not_matter():
    """Two calls with swapped sides find hazards at the same places."""
    base, ours, theirs = (
        b"def f(a): 0\n\n\n\n\nx = 1\n",
        b"def f(a, b): 0\n\n\n\n\nx = 1\n",
        (b"def f(a): 0\n\n\n\n\nx = f(1)\n"),
    )
    merged = b"def f(a, b): 0\n\n\n\n\nx = f(1)\n"

    one = hazards("a.py", (base, ours, theirs, merged))
    other = hazards("a.py", (base, theirs, ours, merged))

    assert [(h.kind, h.path, h.line, h.name, h.features) for h in one] == [
        (h.kind, h.path, h.line, h.name, h.features) for h in other
    ]
    assert len(one) == 1
