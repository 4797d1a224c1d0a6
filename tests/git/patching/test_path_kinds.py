"""The purpose of a path, and which files of a feature patch are tests."""

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from cooperbench_eval.git.patching.patch import Patch
from cooperbench_eval.git.patching.path_kinds import (
    _FRAMEWORK_WORDS,
    PathKind,
    TestFileFilter,
    classify_path,
    files_that_name_a_framework,
    is_test_path,
)
from cooperbench_eval.git.trees.entries import Entry
from cooperbench_eval.git.trees.snapshot import Changes, Snapshot

CHANGE = b"@@ -1 +1 @@\n-old\n+new\n"


def diff(*paths):
    """Return a patch that changes each path."""
    return Patch.parse(b"".join(b"--- a/%b\n+++ b/%b\n%b" % (p, p, CHANGE) for p in paths))


@pytest.mark.parametrize(
    "path",
    [
        # Defect 19 of the harness that this library replaces: dropped, and product code.
        "src/jinja2/tests.py",
        "django/test/client.py",
        "src/spec/loader.py",
        "tools/test_runner",
        "tools/test_runner.py",
        "src/test_utils.py",
        # Similar cases.
        "src/click/testing.py",
        "numpy/testing/utils.py",
        "lib/contest.py",
        "latest/x.py",
        "protest_test/x.py",
        "attestation.go",
        "test.py",
        "tests",
        "src/test/helper.py",
        "src/testing/x.ts",
        "spec.rb",
        "greatest.ts",
        "src/respect.spec",
        "contest_.rs",
        "src/main/java/Tester.java",
        "Latests.txt",
    ],
)
def test_product_code_is_not_a_test(path):
    """A name that merely contains `test` does not count."""
    assert not is_test_path(path)


@pytest.mark.parametrize(
    "path",
    [
        # Defect 19: kept, and tests.
        "conftest.py",
        "sub/conftest.py",
        "Tests/helper.py",
        "foo_spec.rb",
        "FooTests.swift",
        "tests.rs",
        "src/tests.rs",
        "src/lib_tests.rs",
        "a dir/test_foo.py",
        "café_test.go",
        # Similar cases.
        "tests/core.py",
        "tests/data/x.json",
        "src/pkg/tests/__init__.py",
        "test/x.py",
        "spec/models/x.rb",
        "specs/x.js",
        "test_x.py",
        "src/test_x.py",
        "x_test.py",
        "x_test.go",
        "mux_test.go",
        "internal/testdata/x.golden",
        "src/x.test.ts",
        "src/x.spec.tsx",
        "src/x.test.mjs",
        "src/__tests__/x.tsx",
        "src/test/java/a/B.java",
        "module/src/test/resources/x.xml",
        "a/FooTest.java",
        "x_test.cc",
        "stubs/test_x.pyi",
    ],
)
def test_tests_are_recognized_by_folder_or_name(path):
    """The conventions of pytest, go, cargo, jest, RSpec, XCTest and Maven."""
    assert is_test_path(path)


@pytest.mark.parametrize(
    ("path", "kind"),
    [
        ("src/x.py", PathKind.CODE),
        ("src/jinja2/tests.py", PathKind.CODE),
        ("README", PathKind.CODE),
        ("tests/test_x.py", PathKind.TESTS),
        ("tests/README.md", PathKind.TESTS),
        ("README.md", PathKind.DOCS),
        ("CHANGES.rst", PathKind.DOCS),
        ("docs/conf.py", PathKind.DOCS),
        ("sub/doc/x.txt", PathKind.DOCS),
        ("requirements-dev.txt", PathKind.DEPENDENCIES),
        ("requirements/requirements.in", PathKind.DEPENDENCIES),
        ("go.mod", PathKind.DEPENDENCIES),
        ("crates/x/Cargo.toml", PathKind.DEPENDENCIES),
        ("package-lock.json", PathKind.DEPENDENCIES),
        ("setup.py", PathKind.DEPENDENCIES),
        ("conftest.py", PathKind.RUNNER_CONTROL),
        ("tests/conftest.py", PathKind.RUNNER_CONTROL),
        ("pytest.ini", PathKind.RUNNER_CONTROL),
        ("tox.ini", PathKind.RUNNER_CONTROL),
        ("setup.cfg", PathKind.RUNNER_CONTROL),
        ("pyproject.toml", PathKind.RUNNER_CONTROL),
        ("package.json", PathKind.RUNNER_CONTROL),
        ("jest.config.js", PathKind.RUNNER_CONTROL),
        ("web/vitest.config.mts", PathKind.RUNNER_CONTROL),
        ("build.rs", PathKind.RUNNER_CONTROL),
        ("Makefile", PathKind.RUNNER_CONTROL),
        (".gitattributes", PathKind.RUNNER_CONTROL),
        (".github/workflows/ci.yml", PathKind.RUNNER_CONTROL),
        ("sitecustomize.py", PathKind.RUNNER_CONTROL),
        ("notsetup.cfg", PathKind.CODE),
        ("pyproject.toml.j2", PathKind.CODE),
    ],
)
def test_every_path_has_one_purpose(path, kind):
    """Control of test runs takes precedence over tests, and tests over docs and dependencies."""
    assert classify_path(path) is kind


def test_the_filter_drops_test_files_and_names_them():
    """The rest of the patch is kept, in its order."""
    patch = diff(b"tests/b.py", b"src/x.py", b"test_a.py", b"src/a.py")

    kept, dropped = TestFileFilter().split(patch)

    assert [file.path for file in kept.files] == ["src/x.py", "src/a.py"]
    assert dropped == ("test_a.py", "tests/b.py")


def test_a_patch_without_test_files_is_unchanged():
    """Its text is unchanged too."""
    patch = diff(b"src/x.py")

    kept, dropped = TestFileFilter().split(patch)

    assert kept is patch
    assert dropped == ()


def test_files_of_the_benchmarks_tests_are_dropped():
    """Their names do not matter: the benchmark provides those files itself."""
    patch = diff(b"src/x.py", b"checks/x.yml")
    tests = [diff(b"checks/x.yml"), diff(b"none")]

    assert TestFileFilter().split(patch, tests)[1] == ("checks/x.yml",)
    assert TestFileFilter(touched=False).split(patch, tests)[1] == ()


def test_conventions_can_be_turned_off():
    """Only files of the benchmark's tests are then dropped."""
    patch = diff(b"tests/a.py", b"tests/b.py")

    dropped = TestFileFilter(conventions=False).split(patch, [diff(b"tests/b.py")])[1]

    assert dropped == ("tests/b.py",)


def test_kept_paths_are_never_dropped():
    """Neither a convention nor the benchmark's tests drop them."""
    patch = diff(b"tests/a.py", b"tests/b.py")

    dropped = TestFileFilter(keep=["tests/a.py"]).split(patch, [diff(b"tests/a.py")])[1]

    assert dropped == ("tests/b.py",)


@pytest.mark.parametrize(
    ("old", "new", "dropped"),
    [
        (b"src/core.py", b"tests/core.py", ()),
        (b"tests/core.py", b"src/core.py", ()),
        (b"tests/core.py", b"tests/heart.py", ("tests/core.py", "tests/heart.py")),
    ],
)
def test_a_move_is_dropped_only_from_tests_to_tests(old, new, dropped):
    """Moving a source file among the tests still removes it from its old place."""
    text = b"diff --git a/%b b/%b\nrename from %b\nrename to %b\n" % (old, new, old, new)
    patch = Patch.parse(text)

    assert TestFileFilter().split(patch)[1] == dropped


def test_a_file_with_a_kept_change_keeps_all_its_changes():
    """A patch may name one file twice; half of the changes would not be the agent's work."""
    text = b"diff --git a/src/x.py b/tests/x.py\nrename from src/x.py\nrename to tests/x.py\n"
    text += b"diff --git a/tests/x.py b/tests/x.py\n--- a/tests/x.py\n+++ b/tests/x.py\n" + CHANGE
    patch = Patch.parse(text + diff(b"tests/y.py").data)

    kept, dropped = TestFileFilter().split(patch)

    assert kept.files == patch.files[:2]
    assert dropped == ("tests/y.py",)


def test_an_empty_patch_stays_empty():
    """There is nothing to drop."""
    assert TestFileFilter().split(Patch.parse(b"")) == (Patch.parse(b""), ())


@pytest.mark.parametrize(
    ("path", "text", "named"),
    [
        ("src/p/a.py", "import os\nos._exit(0)\n", True),
        ("src/p/a.py", "import _pytest.runner\n", True),
        ("src/p/a.py", "os.environ['PYTEST_ADDOPTS']\n", True),
        ("src/p/a.py", "import sys\nsys.exit(0)\n", False),
        ("tests/test_a.py", "import pytest\n", False),
        ("README.md", "run pytest\n", False),
    ],
)
def test_code_that_names_a_framework_is_reported(path, text, named):
    """This is a hint for the reader, not a verdict; tests and texts may name frameworks."""
    changes = Changes({path: Entry(text.encode())})

    assert files_that_name_a_framework(Snapshot.from_files({}), changes) == (
        (path,) if named else ()
    )


def test_old_lines_that_name_a_framework_do_not_count():
    """Only new lines count."""
    base = Snapshot.from_files({"a.py": b"import pytest\n"})
    changes = Changes({"a.py": Entry(b"import pytest\nnew = 1\n"), "gone.py": None})

    assert files_that_name_a_framework(base, changes) == ()


_PIECES = [
    *(b"pytest", b"_pytest", b"pytest_runtest", b"PYTEST_", b"SkipTest", b"junit_xml", b"os._exit"),
    *(b"unittest.case", b"jest", b"COOPERBENCH", b"_", b"x", b".", b" ", b"\xe9", b"\0"),
    *(b"\n", b"\n", b"\n", b"\r", b"\r\n", b"\x0b", b"\x0c", b"\x85", b"\x1c"),
]
_FILES = st.none() | st.builds(
    Entry,
    st.lists(st.sampled_from(_PIECES), max_size=12).map(b"".join),
    st.sampled_from([0o100644, 0o100644, 0o100755, 0o120000]),
)


def lines_that_name_a_framework(entry):
    """Find these lines the simplest way: search the whole file."""
    if entry is None or not entry.mode.is_regular:
        return set()
    found = _FRAMEWORK_WORDS.finditer(entry.data)
    places = {match.start() for match in found}
    lines, at = set(), 0
    for line in entry.data.splitlines(keepends=True):
        if any(at <= place < at + len(line) for place in places):
            lines.add(line.rstrip(b"\r\n"))
        at += len(line)
    return lines


@example(None, Entry(b"one\npytest\ntwo\n"))
@given(_FILES, _FILES)
def test_searching_only_new_lines_finds_the_same(before, after):
    """The result equals a search of both files, minus the lines of the old file."""
    base = Snapshot.from_files({"a.py": before} if before else {})

    named = files_that_name_a_framework(base, Changes({"a.py": after}))

    new = lines_that_name_a_framework(after) - lines_that_name_a_framework(before)
    assert named == (("a.py",) if new else ())
