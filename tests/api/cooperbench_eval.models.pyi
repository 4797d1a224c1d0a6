"""The public names of `cooperbench_eval.models`; `python docs/tools/public_api.py` writes this."""

class AgentRun:
    def __init__(
        self,
        *,
        features: tuple[int, ...],
        status: str | None = None,
        usage: AgentUsage = AgentUsage(),
        messages_together: int | None = None,
        problem: str = '',
    ) -> None: ...
    features: tuple[int, ...]
    messages_together: int | None
    problem: str
    status: str | None
    usage: AgentUsage

class AgentUsage:
    def __init__(
        self,
        *,
        cost_usd: float | None = None,
        steps: int | None = None,
        input_tokens: int | None = None,
        output_tokens: int | None = None,
        cache_read_tokens: int | None = None,
        cache_write_tokens: int | None = None,
        messages_sent: int | None = None,
    ) -> None: ...
    cache_read_tokens: int | None
    cache_write_tokens: int | None
    cost_usd: float | None
    input_tokens: int | None
    messages_sent: int | None
    output_tokens: int | None
    steps: int | None

from cooperbench_eval import Conflict as Conflict

class ConflictBlock:
    def __init__(
        self,
        *,
        path: str,
        base: bytes,
        ours: bytes,
        theirs: bytes,
        newline: bytes = b'\n',
        conflicts: tuple[Conflict, ...],
        files: tuple[bytes, bytes, bytes],
    ) -> None: ...
    base: bytes
    conflicts: tuple[Conflict, ...]
    files: tuple[bytes, bytes, bytes]
    newline: bytes
    ours: bytes
    path: str
    theirs: bytes

from cooperbench_eval import ConflictDetails as ConflictDetails

from cooperbench_eval import ConflictKind as ConflictKind

from cooperbench_eval import Entry as Entry

class FailureTrace:
    def __init__(self, *, functions: tuple[TracedFunction, ...], left_out: int = 0) -> None: ...
    functions: tuple[TracedFunction, ...]
    left_out: int

class FileConflicts:
    def __init__(self, *, path: str, sections: int, lines: int, score: int) -> None: ...
    lines: int
    path: str
    score: int
    sections: int

class FileMode(IntEnum):
    EXECUTABLE = 33261
    FILE = 33188
    SUBMODULE = 57344
    SYMLINK = 40960
    @property
    def is_regular(self) -> bool: ...

class Hazard:
    def __init__(
        self,
        *,
        kind: HazardKind,
        path: str,
        line: int | None = None,
        name: str = '',
        message: str,
        features: tuple[int, ...],
    ) -> None: ...
    features: tuple[int, ...]
    kind: HazardKind
    line: int | None
    message: str
    name: str
    path: str

class HazardKind(StrEnum):
    DECLARED_TWICE = 'declared_twice'
    KEY_REPEATED = 'key_repeated'
    NAME_REMOVED = 'name_removed'
    PARSE_ERROR = 'parse_error'
    SAME_NUMBER = 'same_number'
    SAME_PARENT = 'same_parent'
    SAME_VERSION = 'same_version'
    SIGNATURE_CHANGED = 'signature_changed'

class HunkPlacement:
    def __init__(
        self,
        *,
        path: str,
        hunk: int | None = None,
        rung: Rung | None = None,
        offset: int = 0,
        reason: str = '',
        uncounted_lines: int = 0,
    ) -> None: ...
    hunk: int | None
    offset: int
    path: str
    reason: str
    rung: Rung | None
    uncounted_lines: int

class JudgeRule(StrEnum):
    ABSOLUTE = 'absolute'
    DELTA = 'delta'

class Judgement:
    def __init__(
        self,
        *,
        broken: tuple[str, ...],
        preexisting: tuple[str, ...] = (),
        foreign: tuple[str, ...] = (),
        flaky: tuple[str, ...] = (),
    ) -> None: ...
    broken: tuple[str, ...]
    def decide(self, run: TestResult) -> bool | None: ...
    @property
    def excused(self) -> frozenset[str]: ...
    flaky: tuple[str, ...]
    foreign: tuple[str, ...]
    preexisting: tuple[str, ...]

class LedgerRow:
    def __init__(
        self,
        *,
        path: str,
        line: int | None = None,
        conflicts: int = 1,
        shape: str = '',
        strategy: str = '',
        rule: str = '',
        reason: str = '',
        is_binding: bool = False,
        is_provisional: bool = False,
        ours_line: int | None = None,
        theirs_line: int | None = None,
        ours_kept: float | None = None,
        theirs_kept: float | None = None,
        attempts: int | None = None,
        invented_lines: int | None = None,
        features: tuple[int, ...] = (),
    ) -> None: ...
    attempts: int | None
    conflicts: int
    features: tuple[int, ...]
    invented_lines: int | None
    is_binding: bool
    @property
    def is_open(self) -> bool: ...
    is_provisional: bool
    @classmethod
    def left_open(cls, conflict: Conflict, reason: str) -> Self: ...
    line: int | None
    ours_kept: float | None
    ours_line: int | None
    path: str
    reason: str
    rule: str
    shape: str
    strategy: str
    theirs_kept: float | None
    theirs_line: int | None

from cooperbench_eval import MergeStatus as MergeStatus

class ModelUsage:
    def __init__(
        self,
        *,
        model: str = '',
        prompt_version: str = '',
        requests: int = 0,
        prompt_tokens: int = 0,
        completion_tokens: int = 0,
        cached_tokens: int = 0,
        cost_usd: float | None = None,
        latency_seconds: float = 0.0,
    ) -> None: ...
    cached_tokens: int
    completion_tokens: int
    cost_usd: float | None
    latency_seconds: float
    model: str
    prompt_tokens: int
    prompt_version: str
    requests: int

from cooperbench_eval import PatchStatus as PatchStatus

class RefKind(StrEnum):
    BRANCH = 'branch'
    COMMIT = 'commit'
    TAG = 'tag'
    WORKTREE = 'worktree'

class RepeatPolicy(StrEnum):
    ALL = 'all'
    ANY = 'any'
    MAJORITY = 'majority'
    def is_met(self, passed: int, runs: int) -> bool: ...

class Replacement:
    def __init__(
        self,
        *,
        kind: ResolutionKind,
        together: tuple[int, ...],
        text: bytes | None = None,
        lines_before: int = 0,
        lines_after: int = 0,
        is_exact: bool = True,
        reason: str = '',
    ) -> None: ...
    is_exact: bool
    kind: ResolutionKind
    lines_after: int
    lines_before: int
    reason: str
    text: bytes | None
    together: tuple[int, ...]

class ResolutionKind(StrEnum):
    DELETED = 'deleted'
    OPEN = 'open'
    TEXT = 'text'
    UNKNOWN = 'unknown'

class Rung(StrEnum):
    EXACT = 'exact'
    FUZZY = 'fuzzy'
    OFFSET = 'offset'
    RECOUNT = 'recount'
    THREE_WAY = 'three_way'
    WHITESPACE = 'whitespace'

class Severity(StrEnum):
    CRITICAL = 'CRITICAL'
    HIGH = 'HIGH'
    LOW = 'LOW'
    MEDIUM = 'MEDIUM'
    NONE = 'NONE'

class TestCase:
    def __init__(
        self,
        *,
        id: str,
        status: TestCaseStatus,
        duration_seconds: float = 0.0,
        message: str = '',
    ) -> None: ...
    duration_seconds: float
    id: str
    message: str
    status: TestCaseStatus

class TestCaseStatus(StrEnum):
    ERROR = 'error'
    FAILED = 'failed'
    PASSED = 'passed'
    SKIPPED = 'skipped'
    XFAILED = 'xfailed'

from cooperbench_eval import TestResult as TestResult

from cooperbench_eval import TestStatus as TestStatus

class TraceKind(StrEnum):
    BOTH = 'both'
    FRAME = 'frame'
    NAMED = 'named'
    USED = 'used'

class TracedFunction:
    def __init__(
        self,
        *,
        path: str,
        name: str,
        line: int | None = None,
        kind: TraceKind,
        tests: tuple[str, ...],
        base: bytes | None = None,
        feature1: bytes | None = None,
        feature2: bytes | None = None,
        merged: bytes | None = None,
    ) -> None: ...
    base: bytes | None
    feature1: bytes | None
    feature2: bytes | None
    kind: TraceKind
    line: int | None
    merged: bytes | None
    name: str
    path: str
    tests: tuple[str, ...]
