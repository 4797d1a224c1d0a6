"""Small projects in four languages, and what becomes of each of their tests."""

import os
import shutil
import subprocess
from pathlib import Path

import pytest

from cooperbench_eval.running.readers.frameworks import FRAMEWORKS
from cooperbench_eval.running.readers.protocol import FinishedRun, NewTests
from cooperbench_eval.snapshot import Snapshot

RECORDED = Path(__file__).with_name("recorded")

GO = {
    "go.mod": "module example.com/toy\n\ngo 1.18\n",
    "good/good.go": "package good\n\nfunc Double(x int) int { return 2 * x }\n",
    "good/good_test.go": """\
package good

import (
	"fmt"
	"testing"
)

func TestDouble(t *testing.T) {
	fmt.Println("handler returned HTTP 500 error as expected")
	if Double(2) != 4 {
		t.Fatal("no")
	}
}

func TestTable(t *testing.T) {
	for _, n := range []string{"one", "two words", "a/b"} {
		t.Run(n, func(t *testing.T) { t.Run("in", func(t *testing.T) {}) })
	}
}

func TestSkipped(t *testing.T) { t.Skip("not now") }

func ExampleDouble() {
	fmt.Println(Double(2))
	// Output: 4
}

func FuzzDouble(f *testing.F) {
	f.Add(1)
	f.Fuzz(func(t *testing.T, n int) {})
}
""",
    "bad/bad_test.go": """\
package bad

import "testing"

func TestFine(t *testing.T) {}

func TestSub(t *testing.T) {
	t.Run("good", func(t *testing.T) {})
	t.Run("bad", func(t *testing.T) { t.Error("why not") })
}

func TestOwn(t *testing.T) {
	t.Run("good", func(t *testing.T) {})
	t.Error("own failure")
}

func TestPanics(t *testing.T) { panic("oh") }

func TestNever(t *testing.T) {}
""",
    "broken/b.go": "package broken\n\nfunc f() { undefined() }\n",
    "broken/b_test.go": 'package broken\n\nimport "testing"\n\nfunc TestB(t *testing.T) {}\n',
    "none/n.go": "package none\n",
    "empty/n_test.go": "package empty\n",
    "mainexit/m_test.go": """\
package mainexit

import (
	"os"
	"testing"
)

func TestMain(m *testing.M) { os.Exit(0) }

func TestX(t *testing.T) { t.Fatal() }
""",
    "mainfails/m_test.go": """\
package mainfails

import (
	"os"
	"testing"
)

func TestMain(m *testing.M) {
	m.Run()
	os.Exit(3)
}

func TestX(t *testing.T) {}
""",
    "quit/q_test.go": """\
package quit

import (
	"os"
	"testing"
)

func TestA(t *testing.T) {}

func TestQuit(t *testing.T) { os.Exit(0) }

func TestZ(t *testing.T) {}
""",
}
GO_CASES = {
    "example.com/toy/good.TestDouble": "passed",
    "example.com/toy/good.TestTable/one/in": "passed",
    "example.com/toy/good.TestTable/two_words/in": "passed",
    "example.com/toy/good.TestTable/a/b/in": "passed",
    "example.com/toy/good.TestSkipped": "skipped",
    "example.com/toy/good.ExampleDouble": "passed",
    "example.com/toy/good.FuzzDouble/seed#0": "passed",
    "example.com/toy/bad.TestFine": "passed",
    "example.com/toy/bad.TestSub/good": "passed",
    "example.com/toy/bad.TestSub/bad": "failed",
    "example.com/toy/bad.TestOwn/good": "passed",
    "example.com/toy/bad.TestOwn": "failed",
    "example.com/toy/bad.TestPanics": "failed",
    "example.com/toy/broken": "error",
    "example.com/toy/mainfails.TestX": "passed",
    "example.com/toy/mainfails": "error",
    "example.com/toy/quit.TestA": "passed",
    "example.com/toy/quit.TestQuit": "failed",
}

RUST = {
    "Cargo.toml": '[package]\nname = "toy"\nversion = "0.1.0"\nedition = "2021"\n',
    "src/lib.rs": """\
/// Doubles.
///
/// ```
/// assert_eq!(toy::double(2), 4);
/// ```
///
/// ```ignore
/// nothing
/// ```
pub fn double(x: i32) -> i32 {
    2 * x
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn doubles() {
        println!("test result: ok. 999 passed; 0 failed; 0 ignored; 0 measured; 0 filtered out");
        assert_eq!(double(2), 4);
    }

    #[test]
    #[should_panic(expected = "yes")]
    fn panics() {
        panic!("yes");
    }

    #[test]
    #[should_panic]
    fn does_not_panic() {}

    #[test]
    #[ignore]
    fn ignored() {}

    #[test]
    #[ignore = "slow, ok"]
    fn ignored_with_reason() {}

    #[test]
    fn fails() {
        println!("test result: ok. 999 passed; 0 failed; 0 ignored; 0 measured; 0 filtered out");
        println!("test tests::fake ... ok");
        assert_eq!(double(2), 5);
    }
}
""",
    "src/main.rs": "fn main() {}\n\n#[test]\nfn in_main() {}\n",
    "tests/it.rs": "#[test]\nfn integrates() {\n    assert_eq!(toy::double(1), 2);\n}\n",
    "tests/abort.rs": "#[test]\nfn aborts() {\n    std::process::abort();\n}\n",
    "tests/quit.rs": "#[test]\nfn quits() {\n    std::process::exit(0);\n}\n",
}
RUST_CASES = {
    "toy src/lib.rs::tests::doubles": "passed",
    "toy src/lib.rs::tests::panics": "passed",
    "toy src/lib.rs::tests::does_not_panic": "failed",
    "toy src/lib.rs::tests::ignored": "skipped",
    "toy src/lib.rs::tests::ignored_with_reason": "skipped",
    "toy src/lib.rs::tests::fails": "failed",
    "toy src/main.rs::in_main": "passed",
    "abort tests/abort.rs": "error",
    "it tests/it.rs::integrates": "passed",
    "quit tests/quit.rs": "error",
    "toy doc::src/lib.rs - double (line 3)": "passed",
    "toy doc::src/lib.rs - double (line 7)": "skipped",
}
NEXTEST_CASES = {
    "toy tests::doubles": "passed",
    "toy tests::panics": "passed",
    "toy tests::does_not_panic": "failed",
    "toy tests::fails": "failed",
    "toy::bin/toy in_main": "passed",
    "toy::abort aborts": "failed",
    "toy::it integrates": "passed",
    "toy::quit quits": "passed",
}

_GROUPS = """\
test('top', () => {});
describe('outer', () => {
  it('passes', () => { console.log('Tests:       999 passed, 999 total'); });
  it('fails', () => { expect(1).toBe(2); });
  it.skip('skipped', () => {});
  it.todo('later');
  it.EXPECTED('known bug', () => { expect(1).toBe(2); });
  it.each([1, 2])('each %i', () => {});
  describe('inner', () => {
    it('deep', () => {});
    it('deep', () => {});
  });
});
describe('hook', () => {
  beforeAll(() => { throw new Error('hook'); });
  it('never', () => {});
});
"""
JEST = {
    "src/a.test.js": _GROUPS.replace("EXPECTED", "failing"),
    "src/broken.test.js": "function (\n",
    "src/empty.test.js": "\n",
}
VITEST = {
    "src/a.test.js": "import { test, describe, it, expect, beforeAll } from 'vitest';\n"
    + _GROUPS.replace("EXPECTED", "fails"),
    "src/broken.test.js": "function (\n",
    "src/empty.test.js": "\n",
}
JEST_CASES = {
    "src/a.test.js > top": "passed",
    "src/a.test.js > outer > passes": "passed",
    "src/a.test.js > outer > fails": "failed",
    "src/a.test.js > outer > skipped": "skipped",
    "src/a.test.js > outer > later": "skipped",
    "src/a.test.js > outer > known bug": "passed",
    "src/a.test.js > outer > each 1": "passed",
    "src/a.test.js > outer > each 2": "passed",
    "src/a.test.js > outer > inner > deep": "passed",
    "src/a.test.js > hook > never": "failed",
    "src/broken.test.js": "error",
    "src/empty.test.js": "error",
}
VITEST_CASES = JEST_CASES | {"src/a.test.js > hook > never": "skipped"}

NODE = {
    "test/a.test.js": """\
const { test, describe, it, before } = require('node:test');
const assert = require('node:assert');

test('top', () => { console.log('# pass 999'); });
test('fails', () => { assert.equal(1, 2, 'boom'); });
test('skipped', { skip: 'why' }, () => {});
test('fails as known', { todo: true }, () => { assert.fail('later'); });
test('done', { todo: 'soon' }, () => {});
test('parent', async (t) => {
  await t.test('good', () => {});
  await t.test('bad', () => { assert.ok(false); });
});
test('own failure', async (t) => {
  await t.test('fine', () => {});
  assert.fail('own');
});
describe('suite', () => {
  it('in', () => {});
  describe('inner', () => {
    it('deep', () => {});
    it('deep', () => {});
  });
});
describe('bad hook', () => {
  before(() => { throw new Error('hook'); });
  it('never', () => {});
});
describe('empty', () => {});
""",
    "test/b.test.js": "throw new Error('at load');\n",
    "test/plain.test.js": "require('node:assert').equal(1, 1);\n",
    "test/quit.test.js": """\
const { test } = require('node:test');
test('one', () => { process.exit(0); });
test('two', () => {});
""",
}
NODE_CASES = {
    "test/a.test.js > top": "passed",
    "test/a.test.js > fails": "failed",
    "test/a.test.js > skipped": "skipped",
    "test/a.test.js > fails as known": "xfailed",
    "test/a.test.js > done": "passed",
    "test/a.test.js > parent > good": "passed",
    "test/a.test.js > parent > bad": "failed",
    "test/a.test.js > own failure > fine": "passed",
    "test/a.test.js > own failure": "failed",
    "test/a.test.js > suite > in": "passed",
    "test/a.test.js > suite > inner > deep": "passed",
    "test/a.test.js > bad hook > never": "error",
    "test/b.test.js": "error",
    "test/plain.test.js": "passed",
    "test/quit.test.js": "error",
}


def tree(files):
    """Return texts by path as a tree."""
    return Snapshot.from_files({path: text.encode() for path, text in files.items()})


def read(framework, scratch, results=(), *, files=(), command=("command",), **run):
    """Return what a reader makes of result files, by name, or of an output."""
    scratch.mkdir(exist_ok=True)
    for name, data in dict(results).items():
        (scratch / name).write_bytes(data)
    exit_code, output = run.get("exit_code", 0), run.get("output", b"")
    finished = FinishedRun(
        command=command,
        exit_code=exit_code,
        scratch=scratch,
        tree=tree(dict(files)),
        output=output,
    )
    return FRAMEWORKS[framework].read(finished)


def required(framework, command, after, before=(), cases=()):
    """Return the names that a reader requires where a patch adds or changes files."""
    before = dict(before)
    changed = sorted(path for path, text in after.items() if before.get(path) != text)
    new = NewTests(
        before=tree(before),
        after=tree(after),
        paths=tuple(changed),
        command=tuple(command),
        cases=tuple(cases),
    )
    return FRAMEWORKS[framework].required(new)


def statuses(cases):
    """Return the status of each case by its id; every id once."""
    found = {case.id: case.status.value for case in cases}
    assert len(found) == len(cases)
    return found


def need(program):
    """Return where a program is; skip without it, but fail where CI should have it."""
    found = shutil.which(program)
    if found is None and os.environ.get("CI"):
        pytest.fail(f"{program} is not installed")
    if found is None:
        pytest.skip(f"{program} is not installed")
    return found


def go_environment():
    """Return variables by which Go finds what it built before, and asks no network."""
    cache = subprocess.run(
        (need("go"), "env", "GOCACHE"), capture_output=True, text=True, check=True
    )
    return {"GOCACHE": cache.stdout.strip(), "GOFLAGS": "-mod=mod", "GOPROXY": "off"}


def rust_environment():
    """Return variables by which a toolchain is found that is managed in the home."""
    need("cargo")
    home = Path.home()
    folders = {"RUSTUP_HOME": home / ".rustup", "CARGO_HOME": home / ".cargo"}
    return {name: os.environ.get(name, str(path)) for name, path in folders.items()}


UNITTEST = {
    "tests/__init__.py": "",
    "tests/test_many.py": '''\
import unittest
import warnings


class Many(unittest.TestCase):
    def test_ok(self):
        print("Ran 999 tests in 0.001s\\n\\nOK")

    def test_fail(self):
        """With a docstring."""
        self.assertEqual(1, 2)

    def test_error(self):
        raise ValueError("\\x00<&\\ud800")

    @unittest.skip("not now")
    def test_skip(self):
        pass

    @unittest.expectedFailure
    def test_expected(self):
        self.fail("known")

    @unittest.expectedFailure
    def test_unexpected(self):
        pass

    def test_sub(self):
        for n in range(4):
            with self.subTest(n=n):
                self.assertLess(n, 2)

    def test_sub_skips(self):
        for n in range(2):
            with self.subTest(n=n):
                if n:
                    self.skipTest("later")


class BadClass(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        raise ValueError("class")

    def test_never(self):
        pass


class BadTearDown(unittest.TestCase):
    def tearDown(self):
        raise ValueError("tear-down")

    def test_fails_twice(self):
        self.fail("call")

    def test_passes_first(self):
        pass


@unittest.skip("all of it")
class Skipped(unittest.TestCase):
    def test_never(self):
        pass
''',
    "tests/test_module.py": """\
import unittest


def setUpModule():
    raise ValueError("module")


class Case(unittest.TestCase):
    def test_never(self):
        pass
""",
    "tests/test_broken.py": "import no_such_module\n",
}
UNITTEST_CASES = {
    "tests.test_broken": "error",
    "tests.test_many.Many.test_ok": "passed",
    "tests.test_many.Many.test_fail": "failed",
    "tests.test_many.Many.test_error": "error",
    "tests.test_many.Many.test_skip": "skipped",
    "tests.test_many.Many.test_expected": "xfailed",
    "tests.test_many.Many.test_unexpected": "failed",
    "tests.test_many.Many.test_sub": "failed",
    "tests.test_many.Many.test_sub_skips": "skipped",
    "setUpClass (tests.test_many.BadClass)": "error",
    "tests.test_many.BadTearDown.test_fails_twice": "failed",
    "tests.test_many.BadTearDown.test_passes_first": "error",
    "tests.test_many.Skipped.test_never": "skipped",
    "setUpModule (tests.test_module)": "error",
}
