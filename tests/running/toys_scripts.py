"""Small projects in JavaScript and Python, and the status of each of their tests."""

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
