"""Runs in which none of the tests that the tests patch adds or changes ran."""

import pytest
import toys
from needs import need_program
from quick import QUICK

from cooperbench_eval.git.trees.entries import Entry
from cooperbench_eval.git.trees.snapshot import Changes
from cooperbench_eval.running import TestRunner, TestSuite
from cooperbench_eval.running.readers.protocol import NewTests
from cooperbench_eval.running.results import TestCase, TestResult, TestStatus
from cooperbench_eval.running.verdict import require_tests

PYTHON = "def test_{0}(): pass\n"
UNITTEST = "import unittest\nclass T(unittest.TestCase):\n    def test_{0}(self): pass\n"
GO = 'package m\n\nimport "testing"\n\nfunc Test_{0}(t *testing.T) {{}}\n'
RUST = "#[test]\nfn {0}() {{}}\n"
NODE = "const {{ test }} = require('node:test');\ntest('{0}', () => {{}});\n"
FILES = {
    "pytest": ("test_{0}.py", PYTHON),
    "unittest": ("test_{0}.py", UNITTEST),
    "go": ("{0}_test.go", GO),
    "cargo": ("tests/{0}.rs", RUST),
    "node": ("{0}.test.js", NODE),
}
MANIFESTS = {
    "go": {"go.mod": "module m\n\ngo 1.18\n"},
    "cargo": {"Cargo.toml": toys.RUST["Cargo.toml"], "src/lib.rs": ""},
}


def run(framework, command, *, brought=None, path=None, **more):
    """Run a suite on a tree with an old test, with a patch that adds a new one."""
    name, text = FILES[framework]
    base = toys.tree(MANIFESTS.get(framework, {}) | {name.format("old"): text.format("old")})
    new = text.format("new") if brought is None else brought
    patch = Changes({path or name.format("new"): Entry(new.encode())}).diff(base)
    known = {"go": toys.go_environment, "cargo": toys.rust_environment}.get(framework, dict)()
    env = {"PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"} | known
    if framework in {"cargo", "go", "node"}:
        need_program(framework)
    suite = TestSuite(command=command, patch=patch, framework=framework, env=env, **more)
    return TestRunner(sandbox=QUICK, cache=None).run(base, Changes(), suite)


@pytest.mark.parametrize(
    ("framework", "command", "brought"),
    [
        ("go", ("go", "test", "./..."), "//go:build go1.999\n\n" + GO.format("new")),
        ("go", ("go", "test", "-run", "old", "./..."), None),
        ("pytest", ("python", "-m", "pytest", "-k", "old"), None),
        ("pytest", ("python", "-m", "pytest", "test_old.py"), None),
        ("pytest", ("python", "-m", "pytest", "test_old.py::test_old"), None),
        ("pytest", ("sh", "-c", "python -m pytest test_old.py"), None),
        ("pytest", ("python", "-m", "pytest"), "__test__ = False\n" + PYTHON.format("new")),
        ("unittest", ("python", "-m", "unittest", "test_old"), None),
        ("node", ("node", "--test", "old.test.js"), None),
        ("node", ("node", "--test-name-pattern=old", "--test", "old.test.js", "new.test.js"), None),
        ("cargo", ("cargo", "test", "--offline", "--test", "old"), None),
    ],
)
def test_a_run_without_a_brought_test_is_inconclusive(framework, command, brought):
    """A passing run of old tests says nothing about the feature."""
    result = run(framework, command, brought=brought)

    assert "passed" in [case.status.value for case in result.cases]
    assert result.status is TestStatus.INCONCLUSIVE
    assert result.missing_tests
    assert "none of the tests that the tests patch adds or changes ran: 1, such as" in result.reason


@pytest.mark.parametrize(
    ("framework", "command", "more"),
    [
        ("go", ("go", "test", "./..."), {}),
        ("pytest", ("python", "-m", "pytest", "-k", "new"), {}),
        (
            "pytest",
            ("python", "-m", "pytest", "test_old.py"),
            {"required": ["test_old.py::test_old"]},
        ),
        ("pytest", ("python", "-m", "pytest"), {"path": "data.txt", "brought": "data\n"}),
        ("pytest", ("python", "-m", "pytest"), {"path": "conftest.py", "brought": "x = 1\n"}),
        ("unittest", ("sh", "-c", "python -m unittest test_old"), {}),
        ("node", ("node", "--test"), {}),
    ],
)
def test_an_honest_run_passes(framework, command, more):
    """A new test ran, or the caller named others, or the patch contains no named test."""
    result = run(framework, command, **more)

    assert (result.status, result.missing_tests) == (TestStatus.PASSED, ())


@pytest.mark.parametrize(
    ("framework", "path", "text", "good", "bad"),
    [
        ("jest", "a.test.js", "it.each([1])('%i', () => {});\n", "a.test.js > 1", "b.test.js > 1"),
        ("vitest", "a.test.ts", "it('x', () => {});\n", "a.test.ts > g > x", "a.test.ts > g > y"),
        ("nextest", "tests/it.rs", RUST.format("new"), "toy::it new", "toy::it newer"),
        ("nextest", "crates/c/src/o.rs", RUST.format("new"), "c o::new", "c new"),
    ],
)
def test_a_case_of_a_brought_test_must_be_reported(framework, path, text, good, bad):
    """A case of another file, or with another name, does not count."""
    files = {"Cargo.toml": toys.RUST["Cargo.toml"]} | {
        "crates/c/Cargo.toml": '[package]\nname = "c"\n',
        "crates/c/src/lib.rs": "mod o;\n",
    }
    new = NewTests(
        before=toys.tree(files),
        after=toys.tree(files | {path: text}),
        paths=(path,),
        command=("./run.sh",),
    )

    def status(name):
        cases = [TestCase(id=name, status="passed")]
        result = TestResult(status="passed", cases=cases)
        return require_tests(result, toys.FRAMEWORKS[framework], (new,), None).status.value

    assert (status(good), status(bad)) == ("passed", "inconclusive")


def test_a_failed_run_stays_failed_if_its_collection_failed():
    """The names are listed, for a caller that excuses the failure."""
    result = run("pytest", ("python", "-m", "pytest"), brought="import absent\ndef test_new(): 1\n")

    assert result.status is TestStatus.FAILED
    assert result.missing_tests == ("test_new.py::test_new",)
