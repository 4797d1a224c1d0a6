"""Classifies files: tests, documentation, dependencies, code that names a test framework.

The rules of paths look at whole parts of a path, never at substrings. They follow the conventions
of the test frameworks that the benchmark's repositories use: pytest, unittest, go, cargo,
jest, vitest, RSpec and XCTest.
"""

import re
from collections.abc import Iterable
from enum import StrEnum
from pathlib import PurePosixPath
from typing import ClassVar

from attrs import field, frozen

from cooperbench_eval.git.patching.patch import Patch
from cooperbench_eval.git.patching.patch_parts import FilePatch
from cooperbench_eval.git.trees.entries import Entry
from cooperbench_eval.git.trees.snapshot import Changes, Snapshot
from cooperbench_eval.support.arguments import checked, checked_fields


class PathKind(StrEnum):
    """The purpose of a file."""

    CODE = "code"
    """Part of the product."""
    TESTS = "tests"
    """Tests, their data and helpers."""
    DOCS = "docs"
    """Documentation."""
    DEPENDENCIES = "dependencies"
    """Lists or locks the dependencies of the product."""
    RUNNER_CONTROL = "runner_control"
    """Controls how tests are found and run."""


_TEST_FOLDERS = frozenset({"tests", "__tests__", "testdata"})
_TOP_TEST_FOLDERS = frozenset({"test", "spec", "specs"})
_MAVEN_TESTS = re.compile(r"(?:.+/)?src/test/(?:java|kotlin|scala|resources)/.+")
_TEST_NAME = re.compile(
    r"(?:test_.+\.pyi?|.+_tests?\.(?:pyi?|go|rs|rb|cc|cpp)|.+_spec\.rb|conftest\.py|tests\.rs"
    r"|.+\.(?:test|spec)\.[cm]?[jt]sx?|.+Tests?\.(?:swift|java|kt|cs))",
)
# Modules of the product that help its users to write tests.
_TEST_HELPERS = re.compile(r"test_(?:utils?|helpers?|tools?|support|runner|case)\.pyi?")
_RUNNER_NAME = re.compile(
    r"(?:conftest\.py|\.?pytest\.(?:ini|toml)|tox\.(?:ini|toml)|setup\.cfg|pyproject\.toml"
    r"|noxfile\.py|hatch\.toml|(?:site|user)customize(?:\..+)?|.+\.pth"
    # Python ignores the case of these, and accepts them without a name.
    r"|.*\.(?:egg|dist)-info|egg-info"
    r"|__pycache__|.+\.py[co]|\.coveragerc|package\.json|node_modules|__mocks__|\.pnp\..+"
    r"|(?:jest|vite|vitest|babel)\.(?:config|setup|workspace)\..+|setupTests\..+"
    r"|\.(?:babelrc|mocharc|swcrc|yarnrc|npmrc)(?:\..+)?|\.pnpmfile\.c?js|build\.rs|\.cargo"
    r"|nextest\.toml|rust-toolchain.*|go\.work|GNUmakefile|makefile|justfile|\.git.*)",
    # Some file systems ignore the case of every name.
    re.IGNORECASE,
)
_DEPENDENCY_NAME = re.compile(
    r"(?:requirements.*\.(?:txt|in)|Pipfile(?:\.lock)?|poetry\.lock|uv\.lock|go\.(?:mod|sum)"
    r"|Cargo\.(?:toml|lock)|package-lock\.json|pnpm-lock\.yaml|yarn\.lock|setup\.py)",
)
_DOC_SUFFIXES = frozenset({".md", ".rst", ".adoc"})
_DOC_FOLDERS = frozenset({"doc", "docs"})


def is_test_path(path: str) -> bool:
    """Whether *path* is a test file by its name or its folder.

    Folders named `tests`, `Tests`, `__tests__` and `testdata` contain tests at any
    depth. Folders named `test` and `spec` do so only at the top, because packages have
    modules with these names. A module named `tests.py` is part of the product.
    """
    pure = PurePosixPath(path)
    folders = [folder.lower() for folder in pure.parts[:-1]]
    if _TEST_FOLDERS.intersection(folders) or _MAVEN_TESTS.fullmatch(path):
        return True
    if folders and folders[0] in _TOP_TEST_FOLDERS:
        return True
    return bool(_TEST_NAME.fullmatch(pure.name)) and not _TEST_HELPERS.fullmatch(pure.name)


def classify_path(path: str) -> PathKind:
    """Return the purpose of a file; controlling a test run takes precedence.

    Example:
        >>> classify_path("src/jinja2/tests.py").value
        'code'
        >>> classify_path("Tests/helper.py").value
        'tests'
    """
    pure = PurePosixPath(path)
    # Folders as well: package metadata, or a folder in the place of such a file.
    if any(map(_RUNNER_NAME.fullmatch, pure.parts)):
        return PathKind.RUNNER_CONTROL
    if is_test_path(path):
        return PathKind.TESTS
    if _DEPENDENCY_NAME.fullmatch(pure.name):
        return PathKind.DEPENDENCIES
    if pure.suffix.lower() in _DOC_SUFFIXES or _DOC_FOLDERS.intersection(pure.parts[:-1]):
        return PathKind.DOCS
    return PathKind.CODE


@frozen(kw_only=True, field_transformer=checked_fields)
class TestFileFilter:
    """Removes test files from a feature patch.

    Agents write their own tests, but the benchmark judges with its own. A change is
    dropped only if every path that it names is a test path. So moving a source file
    into a test folder still removes it from its old place; the other changes of that
    file are then also kept.

    Attributes:
        conventions: Drop files that are tests by convention.
        touched: Drop files that the benchmark's own tests patches touch.
        keep: Paths that are never dropped.
    """

    __test__: ClassVar[bool] = False

    conventions: bool = True
    touched: bool = True
    keep: frozenset[str] = field(default=frozenset(), converter=frozenset)

    @checked
    def split(self, patch: Patch, tests: Iterable[Patch] = ()) -> tuple[Patch, tuple[str, ...]]:
        """Separate a feature patch from its test files.

        Args:
            patch: The feature patch.
            tests: The benchmark's tests patches for the pair.

        Returns:
            The patch without test files, and the paths that were dropped, sorted.
        """
        touched = self._touched_by(tests)
        left = {p for file in patch.files if not self._drops(file, touched) for p in file.paths}
        kept = tuple(file for file in patch.files if not left.isdisjoint(file.paths))
        dropped = tuple(sorted({p for file in patch.files for p in file.paths} - left))
        return (patch.select(kept) if dropped else patch), dropped

    @checked
    def split_changes(
        self, changes: Changes, tests: Iterable[Patch] = ()
    ) -> tuple[Changes, tuple[str, ...]]:
        """Separate changes from their test files: see `split`. A rename is two changes."""
        touched = self._touched_by(tests)
        dropped = tuple(sorted(path for path in changes if self._is_test(path, touched)))
        if not dropped:
            return changes, ()
        return Changes({path: changes[path] for path in changes if path not in dropped}), dropped

    def _touched_by(self, tests: Iterable[Patch]) -> set[str]:
        return {path for each in tests for path in each.paths} if self.touched else set()

    def _drops(self, file: FilePatch, touched: set[str]) -> bool:
        return all(self._is_test(path, touched) for path in file.paths)

    def _is_test(self, path: str, touched: set[str]) -> bool:
        is_test = path in touched or (self.conventions and is_test_path(path))
        return is_test and path not in self.keep


# Code under test has little reason to contain these words, and code that forges a verdict
# from inside the tested process needs them.
_FRAMEWORK_WORDS = re.compile(
    rb"\b_?pytest\b|PYTEST_|\bSkipTest\b|\bjunit_?xml\b|\bpytest_runtest|\bunittest\.(?:case|main|result|runner)"
    rb"|\bos\._exit\b|\blibtest\b|\btest2json\b|\b(?:jest|vitest)\b|COOPERBENCH"
)


def files_that_name_a_framework(base: Snapshot, changes: Changes) -> tuple[str, ...]:
    """Return the changed files, except tests, in which a new line names a test framework.

    Code under test shares a process with the framework and can rewrite it; nothing inside that
    process could prevent it. This is a hint for the reader of the report, not a verdict: many
    honest changes name pytest.
    """
    return tuple(
        path
        for path, entry in changes.items()
        if entry is not None
        and classify_path(path) in {PathKind.CODE, PathKind.DEPENDENCIES}
        # Matching the new lines is much faster than matching the whole file.
        and _FRAMEWORK_WORDS.search(b"\n".join(_lines(entry) - _lines(base.get(path))))
    )


def _lines(entry: Entry | None) -> set[bytes]:
    if entry is None or not entry.mode.is_regular:
        return set()
    return set(entry.data.splitlines())
