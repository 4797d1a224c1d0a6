"""Finding every test that a patch adds or changes."""

import time
import tomllib
from configparser import ConfigParser

import pytest
import toys

from cooperbench_eval.running.readers import python_parts
from cooperbench_eval.running.readers.frameworks import FRAMEWORKS
from cooperbench_eval.running.readers.masking import Language
from cooperbench_eval.running.results import TestCase, TestCaseStatus

PYTHON = """\
import pytest
from m import tools, more
CASES = [1, 2]
TOOL = tools.make()
def prepare(): return CASES
@pytest.fixture
def data(): return prepare()
@unknown.decorator
def test_table(x): assert x in CASES
def test_fixture(data): pass
def test_alone(): assert 'CASES are here'
class Mixin:
    def test_shared(self): pass
class Unknown(tools.Case):
    class Inner:
        def test_inner(self): pass
    def setUp(self): self.x = 1
    def test_own(self): pass
class TestDerived(Mixin):
    limit = 3
    def test_derived(self): pass
if tools:
    def test_sometimes(): pass
test_made = tools.make(1)
"""


def test_all_tests_of_a_python_file_are_named():
    """Decorators, base classes and nesting do not matter."""
    assert sorted(toys.added("pytest", {"t/test_a.py": PYTHON})) == sorted(
        [
            "t/test_a.py::test_table",
            "t/test_a.py::test_fixture",
            "t/test_a.py::test_alone",
            "t/test_a.py::Mixin::test_shared",
            "*::test_shared",
            "t/test_a.py::Unknown::Inner::test_inner",
            "*::test_inner",
            "t/test_a.py::Unknown::test_own",
            "t/test_a.py::TestDerived::test_derived",
            "t/test_a.py::TestDerived::test_shared",
            "t/test_a.py::test_sometimes",
            "t/test_a.py::test_made",
        ]
    )


@pytest.mark.parametrize(
    ("old", "new", "names"),
    [
        ("[1, 2]", "[1, 3]", {"test_table", "test_fixture"}),
        ("[1, 2]", "[1, 2]  # a comment", set()),
        ("prepare(): return CASES", "prepare(): return 1", {"test_fixture"}),
        ("'CASES are here'", "1", {"test_alone"}),
        ("limit = 3", "limit = 4", {"TestDerived::test_derived", "TestDerived::test_shared"}),
        ("self.x = 1", "self.x = 2", {"Unknown::test_own", "Unknown::Inner::test_inner"}),
        ("tools, more", "more, tools", set()),
        ("if tools:", "if more:", {"test_sometimes"}),
        ("import pytest", "import pytest\nimport os", set()),
    ],
)
def test_a_test_changes_with_what_it_uses(old, new, names):
    """A table, a helper or a fixture decides what a test checks; an import of another does not."""
    after = PYTHON.replace(old, new)
    found = toys.added("pytest", {"test_a.py": after}, {"test_a.py": PYTHON})

    # A class without base classes is listed once more, since others may inherit its tests.
    named = {name.removeprefix("test_a.py::") for name in found if not name.startswith("*")}
    assert named == names


def test_swapped_trees_name_what_a_patch_removes():
    """An empty tree before names all tests."""
    after = PYTHON.replace("def test_alone(): assert 'CASES are here'\n", "")

    assert toys.added("pytest", {"test_a.py": PYTHON}, {"test_a.py": after}) == (
        "test_a.py::test_alone",
    )
    assert toys.added("pytest", {"test_a.py": after}, {"test_a.py": PYTHON}) == ()


@pytest.mark.parametrize("text", ["def test_(:", "x = " + "(" * 3000])
def test_a_file_that_cannot_be_parsed_is_named_as_a_whole(text):
    """Its name covers each of its cases, and its own failure."""
    covers = FRAMEWORKS["pytest"].covers
    cases = [
        TestCase(id=name, status=TestCaseStatus.PASSED)
        for name in ("t/test_a.py::test_b[x]", "t/test_a.py", "t/test_a.pyx::test_b")
    ]

    assert toys.added("pytest", {"t/test_a.py": text}) == ("t/test_a.py",)
    assert [covers(case, "t/test_a.py") for case in cases] == [True, True, False]


@pytest.mark.parametrize(
    ("framework", "files", "cases"),
    [
        ("unittest", toys.UNITTEST, toys.UNITTEST_CASES),
        ("go", toys.GO, toys.GO_CASES),
        ("cargo", toys.RUST, toys.RUST_CASES),
        ("nextest", toys.RUST, toys.NEXTEST_CASES),
        ("jest", toys.JEST, toys.JEST_CASES),
        ("vitest", toys.VITEST, toys.VITEST_CASES),
        ("node", toys.NODE, toys.NODE_CASES),
    ],
)
def test_every_case_that_a_framework_reports_belongs_to_a_name(framework, files, cases):
    """The cases are those of real runs, which the tests of each reader compare."""
    covers = FRAMEWORKS[framework].covers
    found = [TestCase(id=name, status=status) for name, status in cases.items()]

    names = toys.added(framework, files, cases=found)

    left = [case.id for case in found if not any(covers(case, name) for name in names)]
    assert [name for name in left if " doc::" not in name] == []


GO = """\
package p
import "testing"
var table = []int{1}
type Suite struct{}
func helper() []int { return table }
func TestTable(t *testing.T) { helper() }
func TestAlone(t *testing.T) { t.Log("table") }
func TestMany(t *testing.T) { suite.Run(t, new(Suite)) }
func (s *Suite) TestMethod() {}
func FuzzIt(f *testing.F) {}
"""
RUST = """\
const TABLE: &[i32] = &[1];
fn helper() -> i32 { TABLE[0] }
#[test]
fn table() { helper(); let x = 1; }
mod inner {
    #[rstest]
    #[case(Some { x: 1 })]
    fn cases(#[case] y: Y) { const Z: i32 = 1; assert!(y); }
    #[tokio::test]
    async fn alone() { }
}
"""
JAVASCRIPT = """\
import { a } from './a';
const table = [1];
const { helper } = require('./helper');
describe('group', () => {
  test('table', () => {
    table.forEach(() => {});
  });
  it('alone', () => { expect('table'); });
  if (helper) {
    it('sometimes', () => {});
  }
  const local = () => {
    return helper;
  };
  test.skip('local', () => { local(); });
});
it.each([1])('%i', (i) => {});
"""
FILES = {
    "go": ("go.mod", "module m\n", "p_test.go", GO),
    "cargo": ("Cargo.toml", '[package]\nname = "c"\n', "tests/p.rs", RUST),
    "jest": ("package.json", "{}", "p.test.js", JAVASCRIPT),
}


@pytest.mark.parametrize(
    ("framework", "old", "new", "names"),
    [
        ("go", "int{1}", "int{2}", {"m.TestTable"}),
        ("go", 't.Log("table")', 't.Log("x")', {"m.TestAlone"}),
        ("go", 'import "testing"', 'import ("os"; "testing")', set()),
        ("go", "Suite struct{}", "Suite struct{ x int }", {"m.TestMany", "m.*/TestMethod"}),
        ("go", "TestMethod() {}", "TestMethod() { f() }", {"m.*/TestMethod"}),
        (
            "go",
            "TestAlone",
            "TestMain",
            {"m.TestTable", "m.TestMany", "m.*/TestMethod", "m.FuzzIt"},
        ),
        ("go", "package p", "//go:build x\n\npackage p", None),
        ("cargo", "&[1]", "&[2]", {"p tests/p.rs::table"}),
        ("cargo", "let x = 1", "let x = 2", {"p tests/p.rs::table"}),
        (
            "cargo",
            "const Z: i32 = 1; assert!(y)",
            "const Z: i32 = 1; assert!(z)",
            {"p tests/p.rs::inner::cases", "p tests/p.rs::inner::cases::*"},
        ),
        (
            "cargo",
            "Some { x: 1 }",
            "Some { x: 2 }",
            {"p tests/p.rs::inner::cases", "p tests/p.rs::inner::cases::*"},
        ),
        ("jest", "table = [1]", "table = [2]", {"p.test.js > table"}),
        ("jest", "expect('table')", "expect('x')", {"p.test.js > alone"}),
        ("jest", "'./a'", "'./b'", set()),
        ("jest", "return helper;", "return 1;", {"p.test.js > local"}),
        ("jest", "each([1])", "each([2])", {"p.test.js"}),
        ("jest", "if (helper)", "if (1)", {"p.test.js > sometimes"}),
        ("jest", "it('alone'", "beforeEach('alone'", None),
        ("jest", "expect('table')", "expect(`table)", {"p.test.js"}),
    ],
)
def test_a_test_changes_with_what_it_uses_in_other_languages(framework, old, new, names):
    """`None` means all tests."""
    manifest, text, path, source = FILES[framework]
    before = {manifest: text, path: source}
    after = before | {path: source.replace(old, new)}
    assert after != before

    found = toys.added(framework, after, before)

    if names is None:
        names = set(toys.added(framework, after))
    assert set(found) == names


def test_a_changed_build_constraint_changes_every_test_of_its_file():
    """A constraint decides whether the file is compiled at all."""
    manifest, text, path, source = FILES["go"]
    before = {manifest: text, path: f"//go:build x\n\n{source}"}
    after = before | {path: f"//go:build y\n\n{source}"}

    assert toys.added("go", after, before) == toys.added("go", after)


ELIFS = "if a:\n def test_0(): pass\n" + "".join(
    f"elif a{n}:\n def test_{n}(): pass\n" for n in range(900)
)


@pytest.mark.parametrize(
    "text",
    [
        ELIFS,
        "@f(" + "+".join("1" * 900) + ")\ndef test_a(): pass\n",
        "class A(B" + ".x" * 900 + "):\n def test_a(self): pass\n",
        "def test_a(): " + "+".join("1" * 900) + "\n",
        "".join(f"class T{n}(T{n - 1}):\n def test_{n}(self): pass\n" for n in range(1000)),
    ],
    ids=["elif", "decorator", "base class", "body", "heirs"],
)
@pytest.mark.parametrize("framework", ["pytest", "unittest"])
def test_deeply_nested_python_does_no_harm(framework, text):
    """The previous version of a file may be an agent's."""
    command = ("python", "-m", framework)
    plain = "def test_b(): pass\n"

    assert toys.required(framework, command, {"test_a.py": text}) is not None
    assert toys.added(framework, {"test_a.py": text}) is not None
    assert toys.added("pytest", {"test_a.py": plain}, {"test_a.py": text}) == ("test_a.py::test_b",)


@pytest.mark.parametrize(
    ("framework", "path", "text"),
    [
        ("cargo", "tests/p.rs", 'r#"' * 60_000),
        ("cargo", "tests/p.rs", "/* " * 60_000),
        ("go", "p_test.go", "/* " * 60_000),
        ("jest", "p.test.js", "/* " * 60_000),
    ],
)
def test_literals_that_are_never_closed_take_no_time(framework, path, text):
    """Each of them would be searched to the end of the file."""
    manifest, contents, *_ = FILES[framework]
    began = time.process_time()

    toys.added(framework, {manifest: contents, path: text})

    assert time.process_time() - began < 2


PARSERS = [
    (python_parts, "parse_source"),
    (tomllib, "loads"),
    (ConfigParser, "read_string"),
    (Language, "mask"),
]


@pytest.mark.parametrize(
    ("framework", "command", "files"),
    [
        ("pytest", ("pytest",), {"test_a.py": PYTHON, "pyproject.toml": "", "tox.ini": "[a]\nb=1"}),
        ("unittest", ("python", "-m", "unittest"), {"test_a.py": PYTHON}),
        ("go", ("go", "test", "./..."), {"go.mod": "module m\n", "a_test.go": GO}),
        ("cargo", ("cargo", "test"), toys.RUST),
        ("jest", ("npx", "jest"), toys.JEST),
    ],
)
def test_equal_files_are_parsed_once_for_many_runs(framework, command, files, monkeypatch):
    """The runs of a task read the same test files, of which there may be hundreds."""
    ends = {f"d{number}": "\n" * number for number in range(1, 101)}  # no two are equal
    many = {f"{at}/{path}": text + end for at, end in ends.items() for path, text in files.items()}
    parsed = []
    for owner, name in PARSERS:
        parse = getattr(owner, name)
        noting = lambda *args, parse=parse: parsed.append(args) or parse(*args)  # noqa: E731
        monkeypatch.setattr(owner, name, noting)

    def find():
        found = toys.added(framework, files | many), toys.required(framework, command, files | many)
        return found, len(parsed)

    (names, first), (names_again, second) = find(), find()

    assert names == names_again
    assert first == second > 0
