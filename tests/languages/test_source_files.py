"""Which languages are known, and what is asked of their files."""

import sys

import pytest

from cooperbench_eval.languages.files import GRAMMARS, SyntaxFault, find_syntax_fault, read_versions
from cooperbench_eval.languages.readers import grammars
from cooperbench_eval.languages.scopes.reading import read_source
from cooperbench_eval.languages.tree import StructureError

TYPESCRIPT = b"""
export function f(a: string): void;
export function f(a: number): void;
export function f(a: any) { const inner = 1; { const inner = 2; } }
interface I { a: string }
interface I { b: string }
namespace f { export const x = 1 }
type Name = string;
const Name = 'a', other = () => { const deep = 1; };
enum E { A }
enum E { B }
export default class A {
  static x = 1;
  x = 2;
  get y() { return 1 }
  set y(value) {}
  m(): void;
  m(a?: string) {}
  [computed]() {}
}
describe('x', () => { const App = 1; });
const { p, q } = r;
"""
GO = b"""package a
import "fmt"
const A, B = 1, 2
var (
\t_ = A
\tv int
)
type T struct { a, b int }
func init() {}
func init() {}
func f() { x := 1 }
func (t *T[K]) M() {}
"""
RUST = b"""
struct S { a: u8 }
enum E { A, B(u8) }
const _: () = ();
const _: () = ();
impl S { fn new() {} fn a() {} }
impl fmt::Display for S { fn fmt() {} }
trait T { fn f(); fn g() {} }
mod m { fn f() { fn inner() {} } }
"""


@pytest.mark.parametrize(
    ("path", "source", "expected"),
    [
        ("a.ts", b"let a = 1\n", None),
        ("a.ts", b"let a = 1\n\nlet = ;\n", 3),
        ("a.js", b"f(\n", 1),
        ("a/b.tsx", b"let a = <b/>\n", None),
        ("a.ts", b"let a = <b/>\n", 1),
        ("a.go", b"package a\nfunc f() {\n", 2),
        ("a.rs", b"fn f() { a() b() }\n", 1),
        ("a.rs", b"fn f(#[a] #[b] default: u8) {}\n", None),
        ("a", b"}\n", None),
    ],
)
def test_a_fault_is_said_with_its_line(path, source, expected):
    """Nothing is said of files of unknown languages."""
    fault = SyntaxFault(f"line {expected}", expected) if expected else None

    assert find_syntax_fault(path, source) == fault


@pytest.mark.parametrize(
    ("source", "problem", "line"),
    [
        (b"a = 1\n", "", None),
        (b"a = 1\ndef\n", "invalid syntax", 2),
        (b"a = 1\n\n\ndef f(): 0\n\n\ndef g(a, a): 0\n", "duplicate argument", 7),
        (b"a = '\0'\n", "null bytes", None),
        (b"a = '\xff'\n", "can't decode", None),
    ],
)
def test_the_compiler_says_where_a_python_file_is_wrong(source, problem, line):
    """The line is that of the file, even if a later part of it is compiled on its own."""
    fault = find_syntax_fault("a.py", source)

    assert (fault is None) == (not problem)
    assert fault is None or problem in fault.problem
    assert fault is None or fault.line == line


@pytest.mark.parametrize(
    ("path", "source", "expected"),
    [
        (
            "a.ts",
            TYPESCRIPT,
            "f;f;f.x;I;I;Name;type Name;Name;other;E;E;default;A;A.static x;A.x;A.get y;A.set y;A.m;p;q",  # noqa: E501,
        ),
        ("a.go", GO, "A;B;v;T;T.{a};T.{b};f;T.M"),
        (
            "a.rs",
            RUST,
            "S;S.{a};E;E.{A};E.{B};S.new;S.a;<S as fmt::Display>.fmt;T;T.g;m;m.f;m.f.inner",
        ),
    ],
)
def test_definitions_have_qualified_names(path, source, expected):
    """Variables of functions are none; a trait's method is not a type's own."""
    found = read_source(GRAMMARS[path[1:]], source).definitions

    assert sorted(each.name for each in found) == sorted(expected.split(";"))


def test_a_missing_grammar_is_not_used(monkeypatch):
    """The checks go without."""
    monkeypatch.setitem(sys.modules, "tree_sitter_rust", None)
    grammars._parser.cache_clear()
    grammars.parse.cache_clear()

    assert find_syntax_fault("a.rs", b"}\n") is None


@pytest.mark.parametrize(
    ("path", "reason"),
    [("a.lua", "of .lua files is not known"), ("Makefile", "of such files is not known")],
)
def test_other_languages_are_refused(path, reason):
    """The reason names the ending."""
    with pytest.raises(StructureError, match=reason):
        read_versions(path, [b"a\n"])
