"""Frozen records, in the order in which a value passes through the pipeline.

No I/O and no logic beyond derived facts. Contents are bytes; paths are `str`
with `/`, undecodable bytes kept as surrogate escapes.
"""

import hashlib
from collections.abc import Iterable
from enum import IntEnum, StrEnum
from typing import ClassVar, Self

from attrs import field, frozen

__all__ = [
    "Conflict",
    "ConflictBlock",
    "ConflictDetails",
    "ConflictKind",
    "Entry",
    "FileConflicts",
    "FileMode",
    "HunkPlacement",
    "LedgerRow",
    "MergeStatus",
    "ModelUsage",
    "PatchStatus",
    "RepeatPolicy",
    "Rung",
    "Severity",
    "TestCase",
    "TestCaseStatus",
    "TestResult",
    "TestStatus",
]


# --- trees ------------------------------------------------------------------


class FileMode(IntEnum):
    """What git's mode bits say an entry is."""

    FILE = 0o100644
    """A regular file."""
    EXECUTABLE = 0o100755
    """A regular file that may be run."""
    SYMLINK = 0o120000
    """A symbolic link; the entry's data is its target."""
    SUBMODULE = 0o160000
    """A commit of another repository; the entry's data is its id in hex."""

    @property
    def is_regular(self) -> bool:
        """Whether the entry holds a file's contents."""
        return self in {FileMode.FILE, FileMode.EXECUTABLE}


@frozen
class Entry:
    """One file, link or submodule of a tree.

    Attributes:
        data: The contents: file bytes, link target, or submodule commit in hex.
        mode: What the entry is.
    """

    data: bytes = field(repr=False)
    mode: FileMode = field(default=FileMode.FILE, converter=FileMode)

    @property
    def id(self) -> str:
        """The git object id in hex: a blob's id, or the submodule's commit."""
        if self.mode is FileMode.SUBMODULE:
            return self.data.decode("ascii")
        header = b"blob %d\0" % len(self.data)
        return hashlib.sha1(header + self.data, usedforsecurity=False).hexdigest()


# --- patches ----------------------------------------------------------------


class PatchStatus(StrEnum):
    """What became of a patch."""

    APPLIED = "applied"
    """Every change found its place."""
    PARTIAL = "partial"
    """Some change found no place and was left out, as the policy allows."""
    EMPTY = "empty"
    """The patch changes nothing."""
    FAILED = "failed"
    """Some change found no place, so none was made."""


class Rung(StrEnum):
    """How a hunk was placed, from strict to lenient."""

    EXACT = "exact"
    """At the stated line, or shifted only by the hunks before it."""
    OFFSET = "offset"
    """Its lines stand elsewhere; the nearest place was taken."""
    WHITESPACE = "whitespace"
    """Its lines stand there but for runs of white space."""
    THREE_WAY = "three_way"
    """The file it was made from is known; what changed since was merged."""
    RECOUNT = "recount"
    """Its header miscounts its lines; they were counted anew."""
    FUZZY = "fuzzy"
    """Most of its lines stand there, and at no other place."""


@frozen(kw_only=True)
class HunkPlacement:
    """Where one change of a patch went.

    Attributes:
        path: The file; empty where the patch cannot be read.
        hunk: The hunk's number in its file, counted from 1; `None` for what
            concerns the file as a whole (creation, deletion, mode, binary).
        rung: How it was placed; `None` where it was not.
        offset: Lines between the stated place and the one taken.
        reason: Why it was refused; else empty.
        uncounted_lines: Changed lines right behind the hunk that its header does
            not count. They were not applied, as `git apply` has it.
    """

    path: str
    hunk: int | None = None
    rung: Rung | None = None
    offset: int = 0
    reason: str = ""
    uncounted_lines: int = 0


# --- merges -----------------------------------------------------------------


class MergeStatus(StrEnum):
    """How a merge ended."""

    CLEAN = "clean"
    """No conflict was met."""
    RESOLVED = "resolved"
    """Conflicts were met and none is left."""
    CONFLICTED = "conflicts"
    """Some conflicts are left open."""
    FAILED = "failed"
    """The strategy could not do its work."""
    NOT_TRIED = "not_tried"
    """A side was missing, so there was nothing to merge."""


class ConflictKind(StrEnum):
    """Why the sides disagree at a place."""

    CONTENT = "content"
    """Both sides changed the same lines of a file."""
    ADD_ADD = "add/add"
    """Both sides added the file, with different lines."""
    BINARY = "binary"
    """Both sides changed a file that is not text."""
    MODIFY_DELETE = "modify/delete"
    """One side changed the file, the other deleted it."""
    MODE = "mode"
    """Both sides changed what may be done with the file, differently."""
    TYPE = "type"
    """The sides made different kinds of entry of one path."""
    FILE_DIRECTORY = "file/directory"
    """One side has a file where the other has a directory."""
    SUBMODULE = "submodule"
    """Both sides moved a submodule to different commits."""
    SYMLINK = "symlink"
    """Both sides pointed a symbolic link at different targets."""
    RENAME_RENAME = "rename/rename"
    """The sides renamed one file to different names."""
    RENAME_ADD = "rename/add"
    """Two different files ended at one name, at least one of them by renaming."""
    RENAME_DELETE = "rename/delete"
    """One side renamed the file, the other deleted it."""
    DIRECTORY_RENAME = "directory rename"
    """One side added to a directory which the other renamed."""


@frozen(kw_only=True)
class Conflict:
    """One place where the sides disagree.

    Where *kind* has lines of its own (`CONTENT`, `ADD_ADD`), the three texts are
    the lines of this place alone; elsewhere they are whole contents. `None`
    stands for "no such entry on that side".

    Attributes:
        path: Where the conflict stands in the merged tree.
        kind: Why the sides disagree.
        base: The common ancestor's text. For one of several conflicts that git
            splits out of a larger region it is the part of the region's base
            that aligns with it.
        ours: Our text.
        theirs: Their text.
        line: Where the opening marker stands in the merged file, counted from
            1; `None` for a conflict without markers.
        newline: How the lines around end, for a text that must be ended.
    """

    path: str
    kind: ConflictKind = field(default=ConflictKind.CONTENT, converter=ConflictKind)
    base: bytes | None = field(repr=False)
    ours: bytes | None = field(repr=False)
    theirs: bytes | None = field(repr=False)
    line: int | None = None
    newline: bytes = field(default=b"\n", repr=False)

    @property
    def has_lines(self) -> bool:
        """Whether git shows this conflict between markers."""
        return self.line is not None


@frozen(kw_only=True)
class ConflictBlock:
    """The lines of a file that both sides changed, in one piece.

    Git splits a region that both sides changed at the lines which they happen to
    share, and so two new functions may become three conflicts. A block is the region
    as it was before, with the conflicts it became.

    Attributes:
        path: The file in the merged tree.
        base: The lines both started from.
        ours: Our lines.
        theirs: Their lines.
        newline: How the lines around end.
        conflicts: The open conflicts it became, in order.
        files: The whole file in base, ours and theirs.
    """

    path: str
    base: bytes = field(repr=False)
    ours: bytes = field(repr=False)
    theirs: bytes = field(repr=False)
    newline: bytes = field(default=b"\n", repr=False)
    conflicts: tuple[Conflict, ...] = field(repr=False)
    files: tuple[bytes, bytes, bytes] = field(repr=False)


@frozen(kw_only=True)
class LedgerRow:
    """What became of one conflict, or of the conflicts of one block.

    Attributes:
        path: The file.
        line: Where its first opening marker stood in git's merged file.
        conflicts: How many of git's conflicts it is.
        shape: What either side did, such as `insert/insert` or `edit/delete`.
        strategy: Which strategy of a cascade it was; empty outside of one.
        rule: What resolved it; empty if it is open.
        reason: Why it is open; empty if it is resolved.
        ours_kept: The share of the tokens that ours added which the resolution has,
            from 0 to 1; `None` if it is open or that was not measured.
        theirs_kept: Likewise of theirs.
        attempts: How often a model was asked; `None` if none was.
        invented_lines: Lines of a model's answer that occur in no version.
    """

    path: str
    line: int | None = None
    conflicts: int = 1
    shape: str = ""
    strategy: str = ""
    rule: str = ""
    reason: str = ""
    ours_kept: float | None = None
    theirs_kept: float | None = None
    attempts: int | None = None
    invented_lines: int | None = None

    @classmethod
    def left_open(cls, conflict: Conflict, reason: str) -> Self:
        """Make the row of a conflict that stays open."""
        kind = conflict.kind.value
        return cls(path=conflict.path, line=conflict.line, shape=kind, reason=reason)

    @property
    def is_open(self) -> bool:
        """Whether it stays open."""
        return not self.rule


@frozen(kw_only=True)
class ModelUsage:
    """What asking a model came to in one merge.

    Attributes:
        model: The model, as the provider names it.
        prompt_version: Which texts it was asked with.
        requests: How often it was asked, answered or not.
        prompt_tokens: Tokens read, cached ones included.
        completion_tokens: Tokens written.
        cached_tokens: Tokens read that the provider had in its cache.
        cost_usd: What it cost; `None` where no price is known.
        latency_seconds: How long the answers took, added up.
    """

    model: str = ""
    prompt_version: str = ""
    requests: int = 0
    prompt_tokens: int = 0
    completion_tokens: int = 0
    cached_tokens: int = 0
    cost_usd: float | None = None
    latency_seconds: float = 0.0


class Severity(StrEnum):
    """A conflict score in one word."""

    NONE = "NONE"
    """The score is 0."""
    LOW = "LOW"
    """At most 20."""
    MEDIUM = "MEDIUM"
    """At most 50."""
    HIGH = "HIGH"
    """At most 100."""
    CRITICAL = "CRITICAL"
    """Above 100."""


@frozen(kw_only=True)
class FileConflicts:
    """The measured conflicts of one file.

    Attributes:
        path: The file.
        sections: Conflict regions, plus one for each conflict without lines.
        lines: Lines of both sides between the markers, markers not counted.
        score: The two, weighed.
    """

    path: str
    sections: int
    lines: int
    score: int


@frozen(kw_only=True)
class ConflictDetails:
    """Measured conflicts of a merge; sums over its files.

    Attributes:
        conflict_sections: Conflict regions that `git merge` leaves, plus one for
            each conflict without lines of its own.
        conflict_lines: Lines of both sides between the markers.
        conflict_score: The two, weighed.
        severity: The score in one word.
        files: The same for each file, by path.
    """

    conflict_sections: int
    conflict_lines: int
    conflict_score: int
    severity: Severity = field(converter=Severity)
    files: tuple[FileConflicts, ...] = field(default=(), converter=tuple[FileConflicts, ...])

    @property
    def avg_lines_per_conflict(self) -> float:
        """Lines for each section; 0.0 where there is no section."""
        if not self.conflict_sections:
            return 0.0
        return self.conflict_lines / self.conflict_sections


# --- test runs --------------------------------------------------------------


class TestCaseStatus(StrEnum):
    """How one test case ended."""

    __test__: ClassVar[bool] = False

    PASSED = "passed"
    """It ran and held."""
    FAILED = "failed"
    """It ran and did not hold."""
    ERROR = "error"
    """It could not run to its end: collection, set-up or tear-down failed."""
    SKIPPED = "skipped"
    """It was not run, on purpose."""
    XFAILED = "xfailed"
    """It failed as its author expects."""


class TestStatus(StrEnum):
    """How a run of a suite ended."""

    __test__: ClassVar[bool] = False

    PASSED = "passed"
    """At least one case passed, none failed, and the exit status agrees."""
    FAILED = "failed"
    """At least one case failed or could not run."""
    NO_TESTS = "no_tests"
    """No case that counts: none ran, or all were skipped or failed as expected."""
    PATCH_REJECTED = "patch_rejected"
    """The suite's tests patch does not apply to the tree; nothing was run."""
    SETUP_FAILED = "setup_failed"
    """What the suite needs before its tests could not be made ready."""
    TIMED_OUT = "timed_out"
    """The deadline passed and every process of the run was killed."""
    OUT_OF_MEMORY = "out_of_memory"
    """A process of the run was killed for want of memory."""
    INCONCLUSIVE = "inconclusive"
    """Exit status and structured result disagree, or a required test did not run."""
    INFRASTRUCTURE_ERROR = "infrastructure_error"
    """The sandbox failed, also when tried again; says nothing about the code."""


class RepeatPolicy(StrEnum):
    """How many of a suite's repeated runs have to pass."""

    ANY = "any"
    """One of them."""
    ALL = "all"
    """Every one."""
    MAJORITY = "majority"
    """More than half."""

    def is_met(self, passed: int, runs: int) -> bool:
        """Whether *passed* of *runs* are enough."""
        match self:
            case RepeatPolicy.ANY:
                return passed > 0
            case RepeatPolicy.ALL:
                return passed == runs
            case RepeatPolicy.MAJORITY:
                return passed * 2 > runs


@frozen(kw_only=True)
class TestCase:
    """One test case of a run.

    Attributes:
        id: The framework's own name of the case, as one would ask for it.
        status: How it ended.
        duration_seconds: How long it took, as the framework measured it.
        message: Why it did not pass, cut to a sensible length; else empty.
    """

    __test__: ClassVar[bool] = False

    id: str
    status: TestCaseStatus = field(converter=TestCaseStatus)
    duration_seconds: float = 0.0
    message: str = field(default="", repr=False)


def _statuses(given: Iterable[str]) -> tuple[TestStatus, ...]:
    return tuple(map(TestStatus, given))


@frozen(kw_only=True)
class TestResult:
    """What a run of a suite on a tree showed.

    Attributes:
        status: The verdict.
        cases: Every case the framework reported, in its order.
        exit_code: The command's exit status, negative for a signal; `None` where
            nothing ran or the deadline passed.
        duration_seconds: Wall time of the command.
        output: What it printed, standard output and error as one; undecodable
            bytes are shown as escapes. Where it was too long the middle is cut,
            with a line that says how much.
        reason: Why the status is not simply passed or failed; else empty.
        command: The command, as the suite has it.
        sandbox: The name of the sandbox it ran in.
        sandbox_identity: The sandbox with what may change a verdict, such as an
            image's digest.
        restored_files: Files of the tree that steer test runs and were put back to
            the base's version before, sorted.
        missing_tests: Tests that had to run and did not.
        repeats: How each run ended, where the suite was run several times; what
            else stands here is of the run that decided. Empty for a single run.
        repeat_policy: How many of the repeats had to pass.
    """

    __test__: ClassVar[bool] = False

    status: TestStatus = field(converter=TestStatus)
    cases: tuple[TestCase, ...] = field(default=(), converter=tuple[TestCase, ...], repr=False)
    exit_code: int | None = None
    duration_seconds: float = 0.0
    output: str = field(default="", repr=False)
    reason: str = ""
    command: tuple[str, ...] = field(default=(), converter=tuple[str, ...])
    sandbox: str = ""
    sandbox_identity: str = ""
    restored_files: tuple[str, ...] = field(default=(), converter=tuple[str, ...])
    missing_tests: tuple[str, ...] = field(default=(), converter=tuple[str, ...])
    repeats: tuple[TestStatus, ...] = field(default=(), converter=_statuses)
    repeat_policy: RepeatPolicy | None = None

    def _count(self, status: TestCaseStatus) -> int:
        return sum(case.status is status for case in self.cases)

    @property
    def passed(self) -> bool:
        """Whether the suite holds on this tree."""
        return self.status is TestStatus.PASSED

    @property
    def was_run(self) -> bool:
        """Whether the result says anything about the tree.

        A tests patch that was rejected and a sandbox that failed say nothing.
        """
        return self.status not in {TestStatus.PATCH_REJECTED, TestStatus.INFRASTRUCTURE_ERROR}

    @property
    def passed_tests(self) -> int:
        """Cases that passed."""
        return self._count(TestCaseStatus.PASSED)

    @property
    def failed_tests(self) -> int:
        """Cases that failed."""
        return self._count(TestCaseStatus.FAILED)

    @property
    def error_tests(self) -> int:
        """Cases that could not run to their end."""
        return self._count(TestCaseStatus.ERROR)

    @property
    def skipped_tests(self) -> int:
        """Cases skipped on purpose; not part of the total."""
        return self._count(TestCaseStatus.SKIPPED)

    @property
    def xfailed_tests(self) -> int:
        """Cases that failed as expected; not part of the total."""
        return self._count(TestCaseStatus.XFAILED)

    @property
    def total_tests(self) -> int:
        """Passed, failed and errored cases."""
        return self.passed_tests + self.failed_tests + self.error_tests

    @property
    def pass_rate(self) -> float:
        """Passed cases over the total; 0.0 where no case counts."""
        total = self.total_tests
        return self.passed_tests / total if total else 0.0
