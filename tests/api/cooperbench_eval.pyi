"""The public names of `cooperbench_eval`; `python docs/tools/public_api.py` writes this."""

class AnalysisError(CooperBenchEvalError, ValueError):
    def __init__(self, problem: str, available: tuple[str, ...] = ()) -> None: ...
    def __str__(self) -> str: ...
    available: tuple[str, ...]
    problem: str

class ApplyPolicy:
    def __init__(
        self,
        *,
        rungs: frozenset[Rung] = (Rung.EXACT, Rung.OFFSET, Rung.WHITESPACE, Rung.THREE_WAY),
        partial: bool = False,
        least_similarity: float = 0.75,
    ) -> None: ...
    def allows(self, rung: Rung) -> bool: ...
    least_similarity: float
    partial: bool
    rungs: frozenset[Rung]

class ApplyResult:
    def __init__(
        self,
        *,
        status: PatchStatus,
        changes: Changes = Changes(),
        hunks: tuple[HunkPlacement, ...] = (),
    ) -> None: ...
    changes: Changes
    hunks: tuple[HunkPlacement, ...]
    @property
    def reason(self) -> str: ...
    status: PatchStatus

class Attempt(ABC):
    def __init__(
        self,
        *,
        status: MergeStatus,
        conflicts_met: int = 0,
        conflict_details: ConflictDetails | None = None,
        tree_id: str | None = None,
        diff: bytes | None = None,
        failure: str = '',
        duration_seconds: float = 0.0,
        ledger: tuple[LedgerRow, ...] = (),
        usage: tuple[ModelUsage, ...] = (),
        service_failed: bool = False,
        replacements: tuple[Replacement, ...] = (),
        strategy: str,
        implementation: str,
        feature1_tests: TestResult | None = None,
        feature2_tests: TestResult | None = None,
        feature1_judgement: Judgement | None = None,
        feature2_judgement: Judgement | None = None,
        joint_tests: TestResult | None = None,
        joint_judgement: Judgement | None = None,
        regression_tests: TestResult | None = None,
        regression_judgement: Judgement | None = None,
        hazards: tuple[Hazard, ...] = (),
    ) -> None: ...
    def __getstate__(self) -> dict[str, Any]: ...
    def __rich__(self) -> Renderable: ...
    def __setstate__(self, state: Mapping[str, Any]) -> None: ...
    def __str__(self) -> str: ...
    def _repr_html_(self) -> str: ...
    @property
    def absolute_verdict(self) -> Verdict: ...
    conflict_details: ConflictDetails | None
    conflicts_met: int
    diff: bytes | None
    duration_seconds: float
    failure: str
    feature1_judgement: Judgement | None
    feature1_tests: TestResult | None
    feature2_judgement: Judgement | None
    feature2_tests: TestResult | None
    hazards: tuple[Hazard, ...]
    implementation: str
    joint_judgement: Judgement | None
    @property
    def joint_run(self) -> Judged: ...
    joint_tests: TestResult | None
    ledger: tuple[LedgerRow, ...]
    @property
    def own_runs(self) -> tuple[Judged, Judged]: ...
    regression_judgement: Judgement | None
    @property
    def regression_run(self) -> Judged: ...
    regression_tests: TestResult | None
    replacements: tuple[Replacement, ...]
    service_failed: bool
    status: MergeStatus
    strategy: str
    tree_id: str | None
    usage: tuple[ModelUsage, ...]
    @property
    def verdict(self) -> Verdict: ...

class AttemptFacts:
    def __init__(
        self,
        *,
        requests: int = 0,
        unpriced_requests: int = 0,
        prompt_tokens: int = 0,
        completion_tokens: int = 0,
        cost_usd: float | None = 0.0,
        strategy: str,
        status: MergeStatus,
        blame: BlameKind,
        conflicts_met: int = 0,
        conflict_sections: int | None = None,
        conflict_score: int | None = None,
        feature1_tests: RunFacts | None = None,
        feature2_tests: RunFacts | None = None,
        duration_seconds: float = 0.0,
        failure: str = '',
        service_failed: bool = False,
        joint_tests: RunFacts | None = None,
        regression_tests: RunFacts | None = None,
    ) -> None: ...
    def __add__(self, other: UsageTotals) -> UsageTotals: ...
    @property
    def absolute_verdict(self) -> Verdict: ...
    blame: BlameKind
    completion_tokens: int
    conflict_score: int | None
    conflict_sections: int | None
    conflicts_met: int
    cost_usd: float | None
    @property
    def counted_absolute_verdict(self) -> Verdict: ...
    @property
    def counted_verdict(self) -> Verdict: ...
    duration_seconds: float
    failure: str
    feature1_tests: RunFacts | None
    feature2_tests: RunFacts | None
    joint_tests: RunFacts | None
    prompt_tokens: int
    regression_tests: RunFacts | None
    requests: int
    service_failed: bool
    status: MergeStatus
    strategy: str
    unpriced_requests: int
    @property
    def verdict(self) -> Verdict: ...

class BatchError(CooperBenchEvalError):
    def __init__(self, problem: str, concerns: str | None = None) -> None: ...
    def __str__(self) -> str: ...
    concerns: str | None
    problem: str

class BatchEvent:
    def __init__(
        self,
        *,
        kind: EventKind,
        pair: str = '',
        report: GroupReport | None = None,
        problem: str = '',
    ) -> None: ...
    kind: EventKind
    pair: str
    problem: str
    report: GroupReport | None

class Blame(ABC):
    def __init__(
        self,
        *,
        kind: BlameKind,
        features: tuple[int, ...] = (),
        lost_tests1: tuple[str, ...] = (),
        lost_tests2: tuple[str, ...] = (),
        lost_joint_tests: tuple[str, ...] = (),
        lost_regression_tests: tuple[str, ...] = (),
    ) -> None: ...
    def __rich__(self) -> Renderable: ...
    def __str__(self) -> str: ...
    def _repr_html_(self) -> str: ...
    features: tuple[int, ...]
    kind: BlameKind
    lost_joint_tests: tuple[str, ...]
    lost_regression_tests: tuple[str, ...]
    lost_tests1: tuple[str, ...]
    lost_tests2: tuple[str, ...]

class BlameKind(StrEnum):
    BROKEN_ALONE = 'broken_alone'
    CONFLICT = 'conflict'
    MERGE_BROKE_BOTH = 'merge_broke_both'
    MERGE_BROKE_FEATURE1 = 'merge_broke_feature1'
    MERGE_BROKE_FEATURE2 = 'merge_broke_feature2'
    MERGE_BROKE_FEATURES = 'merge_broke_features'
    MERGE_BROKE_JOINT = 'merge_broke_joint'
    MERGE_BROKE_REGRESSION = 'merge_broke_regression'
    MISSING_SIDE = 'missing_side'
    NOBODY = 'nobody'
    REGRESSED_ALONE = 'regressed_alone'
    UNKNOWN = 'unknown'

class BrokenTests:
    def __init__(
        self,
        *,
        suite: TeamSuite,
        feature: int | None = None,
        tests: tuple[str, ...] = (),
    ) -> None: ...
    feature: int | None
    suite: TeamSuite
    tests: tuple[str, ...]

class BubblewrapSandbox:
    def __init__(
        self,
        *,
        inherit: tuple[str, ...] = (),
        output_limit: int = 1 << 20,
        memory_bytes: int | None = None,
        file_bytes: int | None = None,
        processes: int | None = None,
        network: bool = False,
        readable: tuple[str, ...] = (),
        shared_bytes: int = 512 * (1 << 20),
    ) -> None: ...
    file_bytes: int | None
    @property
    def identity(self) -> str: ...
    inherit: tuple[str, ...]
    memory_bytes: int | None
    name: str
    network: bool
    output_limit: int
    processes: int | None
    readable: tuple[str, ...]
    def run(
        self,
        command: Sequence[str],
        *,
        tree: Path,
        scratch: Path,
        env: Mapping[str, str],
        timeout_seconds: float,
    ) -> Execution: ...
    shared_bytes: int

class Changes(Mapping[str, Entry | None]):
    def __getitem__(self, path: str) -> Entry | None: ...
    def __hash__(self) -> int: ...
    def __init__(self, entries: Mapping[str, Entry | None] | None = None) -> None: ...
    def __iter__(self) -> Iterator[str]: ...
    def __len__(self) -> int: ...
    def __repr__(self) -> str: ...
    @classmethod
    def between(cls, old: Snapshot, new: Snapshot) -> Self: ...
    def diff(self, base: Snapshot) -> bytes: ...
    def get(self, path: str, default: object = None) -> object: ...
    def items(self) -> ItemsView[str, Entry | None]: ...
    def tree_id(self, base: Snapshot) -> str: ...

class ChatClient(Protocol):
    def complete(self, request: ChatRequest) -> ChatReply: ...

class ChatError(Exception):
    def __init__(
        self,
        fault: ChatFault,
        problem: str,
        retry_after_seconds: float | None = None,
    ) -> None: ...
    def __str__(self) -> str: ...
    fault: ChatFault
    problem: str
    retry_after_seconds: float | None

class ChatFault(StrEnum):
    MALFORMED = 'malformed'
    NOT_RECORDED = 'not recorded'
    RATE_LIMITED = 'rate limited'
    REJECTED = 'rejected'
    TIMED_OUT = 'timed out'
    UNAVAILABLE = 'unavailable'
    @property
    def is_transient(self) -> bool: ...
    @property
    def passes(self) -> bool: ...

class ChatReply:
    def __init__(
        self,
        *,
        text: str,
        finish_reason: str = 'stop',
        model: str = '',
        prompt_tokens: int = 0,
        completion_tokens: int = 0,
        cached_tokens: int = 0,
        cost_usd: float | None = None,
        latency_seconds: float = 0.0,
    ) -> None: ...
    cached_tokens: int
    completion_tokens: int
    cost_usd: float | None
    finish_reason: str
    latency_seconds: float
    model: str
    prompt_tokens: int
    text: str

class ChatRequest:
    def __init__(
        self,
        *,
        model: str,
        messages: tuple[Message, ...],
        options: Mapping[str, Any] = dict(),
    ) -> None: ...
    def canonical(self) -> str: ...
    @property
    def key(self) -> str: ...
    messages: tuple[Message, ...]
    model: str
    options: Mapping[str, Any]

class Comparison(ABC):
    def __init__(
        self,
        *,
        first: str = 'first',
        second: str = 'second',
        both: int,
        only_first: int,
        only_second: int,
        neither: int,
        unanswered: int = 0,
        unmatched_first: int = 0,
        unmatched_second: int = 0,
        confidence: float = 0.95,
    ) -> None: ...
    def __rich__(self) -> Renderable: ...
    def __str__(self) -> str: ...
    def _repr_html_(self) -> str: ...
    both: int
    confidence: float
    @property
    def difference(self) -> float | None: ...
    first: str
    @property
    def first_rate(self) -> Rate: ...
    neither: int
    only_first: int
    only_second: int
    @property
    def p_value(self) -> float | None: ...
    @property
    def pairs(self) -> int: ...
    second: str
    @property
    def second_rate(self) -> Rate: ...
    def to_dict(self) -> dict[str, Any]: ...
    unanswered: int
    unmatched_first: int
    unmatched_second: int

class Conflict:
    def __init__(
        self,
        *,
        path: str,
        kind: ConflictKind = ConflictKind.CONTENT,
        base: bytes | None,
        ours: bytes | None,
        theirs: bytes | None,
        line: int | None = None,
        newline: bytes = b'\n',
    ) -> None: ...
    def __getattr__(self, name: str) -> object: ...
    base: bytes | None
    @property
    def has_lines(self) -> bool: ...
    kind: ConflictKind
    line: int | None
    newline: bytes
    ours: bytes | None
    path: str
    theirs: bytes | None

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

class ConflictDetails(ABC):
    def __init__(
        self,
        *,
        conflict_sections: int,
        conflict_lines: int,
        conflict_score: int,
        severity: Severity,
        files: tuple[FileConflicts, ...] = (),
    ) -> None: ...
    def __rich__(self) -> Renderable: ...
    def __str__(self) -> str: ...
    def _repr_html_(self) -> str: ...
    @property
    def avg_lines_per_conflict(self) -> float: ...
    conflict_lines: int
    conflict_score: int
    conflict_sections: int
    files: tuple[FileConflicts, ...]
    severity: Severity

class ConflictKind(StrEnum):
    ADD_ADD = 'add/add'
    BINARY = 'binary'
    CONTENT = 'content'
    DIRECTORY_RENAME = 'directory rename'
    FILE_DIRECTORY = 'file/directory'
    MODE = 'mode'
    MODIFY_DELETE = 'modify/delete'
    RENAME_ADD = 'rename/add'
    RENAME_DELETE = 'rename/delete'
    RENAME_RENAME = 'rename/rename'
    SUBMODULE = 'submodule'
    SYMLINK = 'symlink'
    TYPE = 'type'

class ConflictResolution:
    def __init__(
        self,
        *,
        conflict: Conflict,
        kind: ResolutionKind,
        text: bytes | None = None,
        together: tuple[int, ...],
        lines_before: int = 0,
        lines_after: int = 0,
        is_exact: bool = True,
        reason: str = '',
        ledger: LedgerRow | None = None,
    ) -> None: ...
    conflict: Conflict
    is_exact: bool
    kind: ResolutionKind
    ledger: LedgerRow | None
    lines_after: int
    lines_before: int
    reason: str
    text: bytes | None
    together: tuple[int, ...]

class ConflictScorer:
    def __init__(self, *, per_section: int = 20, per_line: int = 2) -> None: ...
    per_line: int
    per_section: int
    def score(self, conflicts: Iterable[Conflict]) -> ConflictDetails: ...

class ContainerSandbox:
    def __init__(
        self,
        *,
        image: str,
        base_url: str | None = None,
        pull: bool = True,
        network: bool = False,
        memory_bytes: int | None = None,
        cpus: float | None = None,
        processes: int | None = None,
        user: str | None = None,
        tree_at: str | None = None,
        workdir: str | None = None,
        own_home: bool = True,
        shell: str | None = '/bin/sh',
        output_limit: int = 1 << 20,
    ) -> None: ...
    base_url: str | None
    cpus: float | None
    @classmethod
    def for_task(
        cls,
        repo_name: str,
        task_id: int | str,
        *,
        registry: str = REGISTRY,
        prefix: str = PREFIX,
        **options: Any,
    ) -> Self: ...
    @property
    def identity(self) -> str: ...
    image: str
    memory_bytes: int | None
    name: str
    network: bool
    output_limit: int
    own_home: bool
    processes: int | None
    pull: bool
    def run(
        self,
        command: Sequence[str],
        *,
        tree: Path,
        scratch: Path,
        env: Mapping[str, str],
        timeout_seconds: float,
    ) -> Execution: ...
    shell: str | None
    tree_at: str | None
    user: str | None
    workdir: str | None

class ControlFiles(StrEnum):
    KEEP = 'keep'
    RESTORE = 'restore'

class CooperBenchEvalError(Exception):
    ...

class Dataset:
    def __init__(self, directory: Path, repo_dirs: Path | Mapping[str, Path] | None = None) -> None: ...
    def all_pairs(
        self,
        *,
        repo_name: str | None = None,
        subset: str | None = None,
        **options: Unpack[PairOptions],
    ) -> Counted[FeaturePair]: ...
    directory: Path
    repo_dirs: Path | Mapping[str, Path] | None
    def subset(self, name: str) -> tuple[tuple[Task, tuple[int, int]], ...]: ...
    def task(self, repo_name: str, task_id: int) -> Task: ...
    def tasks(self) -> tuple[Task, ...]: ...

class DatasetError(CooperBenchEvalError, LookupError):
    def __init__(self, problem: str, location: str) -> None: ...
    def __str__(self) -> str: ...
    location: str
    problem: str

class Delivery(StrEnum):
    PATCHES = 'patches'
    TREE = 'tree'

class Distribution:
    def __init__(
        self,
        *,
        count: int = 0,
        total: float = 0.0,
        minimum: float | None = None,
        lower_quartile: float | None = None,
        median: float | None = None,
        upper_quartile: float | None = None,
        maximum: float | None = None,
    ) -> None: ...
    count: int
    lower_quartile: float | None
    maximum: float | None
    @property
    def mean(self) -> float | None: ...
    median: float | None
    minimum: float | None
    @classmethod
    def of(cls, values: Iterable[float]) -> Self: ...
    def to_dict(self) -> dict[str, Any]: ...
    total: float
    upper_quartile: float | None

class DuplicatePluginError(PluginError):
    def __init__(self, name: str, origins: tuple[str, ...]) -> None: ...
    def __str__(self) -> str: ...
    name: str
    origins: tuple[str, ...]

class DuplicateSandboxError(DuplicatePluginError):
    kind: str = 'sandbox'

class DuplicateStrategyError(StrategyError, DuplicatePluginError):
    ...

class Entry:
    def __init__(self, data: bytes, mode: FileMode = FileMode.FILE) -> None: ...
    def __eq__(self, other: object) -> bool: ...
    def __getattr__(self, name: str) -> object: ...
    def __hash__(self) -> int: ...
    def __reduce__(self) -> tuple[object, ...]: ...
    data: bytes
    @property
    def id(self) -> str: ...
    mode: FileMode

class Evaluator:
    def __init__(
        self,
        *,
        strategies: tuple[MergeStrategy, ...] = ('naive', 'union'),
        runner: TestRunner | None = None,
        scorer: ConflictScorer = ConflictScorer(),
        test_filter: TestFileFilter = TestFileFilter(),
        apply_policy: ApplyPolicy = ApplyPolicy(),
        test_base: bool = True,
        test_other: bool = False,
        judge: JudgeRule = JudgeRule.DELTA,
    ) -> None: ...
    async def aevaluate(self, pair: FeaturePair) -> MergeReport: ...
    apply_policy: ApplyPolicy
    def evaluate(self, pair: FeaturePair) -> MergeReport: ...
    def evaluate_team(self, team: FeatureTeam) -> TeamReport: ...
    judge: JudgeRule
    runner: TestRunner | None
    scorer: ConflictScorer
    strategies: tuple[MergeStrategy, ...]
    test_base: bool
    test_filter: TestFileFilter
    test_other: bool

class EventKind(StrEnum):
    FAILED = 'failed'
    FINISHED = 'finished'
    RETRIED = 'retried'
    STORED = 'stored'
    SUBMITTED = 'submitted'
    WAITING = 'waiting'

class Execution:
    def __init__(
        self,
        *,
        exit_code: int | None,
        timed_out: bool = False,
        out_of_memory: bool = False,
        duration_seconds: float = 0.0,
        output: bytes = b'',
        reason: str = '',
        changed_files: frozenset[str] = frozenset(),
    ) -> None: ...
    changed_files: frozenset[str]
    duration_seconds: float
    exit_code: int | None
    out_of_memory: bool
    output: bytes
    reason: str
    timed_out: bool

class ExplainedHunk:
    def __init__(self, *, feature: int, path: str, line: int, text: str, role: HunkRole) -> None: ...
    feature: int
    line: int
    path: str
    role: HunkRole
    text: str

class Explanation(ABC):
    def __init__(
        self,
        *,
        strategy: str,
        pair: PairId,
        findings: tuple[Finding, ...] = (),
        failure: ExplanationStatus | None = None,
        problem: str = '',
        runs_used: int = 0,
        budget: int,
    ) -> None: ...
    def __rich__(self) -> Renderable: ...
    def __str__(self) -> str: ...
    def _repr_html_(self) -> str: ...
    budget: int
    failure: ExplanationStatus | None
    @property
    def feature1_hunks(self) -> tuple[ExplainedHunk, ...]: ...
    @property
    def feature2_hunks(self) -> tuple[ExplainedHunk, ...]: ...
    findings: tuple[Finding, ...]
    @property
    def is_minimal(self) -> bool: ...
    pair: PairId
    problem: str
    @property
    def reason(self) -> str: ...
    runs_used: int
    @property
    def status(self) -> ExplanationStatus: ...
    strategy: str
    @property
    def tests(self) -> tuple[str, ...]: ...
    def to_dict(self) -> dict[str, Any]: ...

class ExplanationStatus(StrEnum):
    EXPLAINED = 'explained'
    NOTHING_LOST = 'nothing_lost'
    NOT_MERGED = 'not_merged'
    NOT_REPRODUCED = 'not_reproduced'
    NOT_RUN = 'not_run'
    OTHER_TREE = 'other_tree'
    UNEXPLAINED = 'unexplained'

class Failure:
    def __init__(self, *, kind: FailureKind, problem: str, error: str = '', tries: int = 1) -> None: ...
    error: str
    kind: FailureKind
    problem: str
    tries: int

class FailureKind(StrEnum):
    DATASET = 'dataset'
    DUPLICATE = 'duplicate'
    ERROR = 'error'
    NOT_DELIVERED = 'not_delivered'
    NOT_STORED = 'not_stored'
    REPOSITORY = 'repository'
    TEST_RUN = 'test_run'
    WORKER_LOST = 'worker_lost'

class Feature:
    def __init__(
        self,
        *,
        number: int,
        patch: Patch,
        tests: TestSuite | None = None,
        description: str = '',
    ) -> None: ...
    description: str
    number: int
    patch: Patch
    tests: TestSuite | None

class FeatureContext:
    def __init__(self, *, number: int, description: str = '') -> None: ...
    description: str
    number: int

class FeatureFacts:
    def __init__(
        self,
        *,
        number: int,
        patch_status: PatchStatus,
        tests: RunFacts | None = None,
        base_tests: RunFacts | None = None,
        other_tests: RunFacts | None = None,
    ) -> None: ...
    base_tests: RunFacts | None
    number: int
    other_tests: RunFacts | None
    patch_status: PatchStatus
    tests: RunFacts | None

class FeaturePair:
    def __init__(
        self,
        *,
        repo_name: str,
        task_id: int,
        base: Snapshot,
        feature1: Feature,
        feature2: Feature,
        joint: TestSuite | None = None,
        regression: TestSuite | None = None,
        model: str | None = None,
        setting: str | None = None,
        k: int = 1,
    ) -> None: ...
    base: Snapshot
    feature1: Feature
    feature2: Feature
    @property
    def features(self) -> tuple[Feature, Feature]: ...
    joint: TestSuite | None
    k: int
    model: str | None
    @property
    def numbers(self) -> tuple[int, int]: ...
    regression: TestSuite | None
    repo_name: str
    setting: str | None
    task_id: int

class FeatureReport:
    def __init__(
        self,
        *,
        number: int,
        patch: PatchReport,
        tests: TestResult | None = None,
        base_tests: TestResult | None = None,
        other_tests: TestResult | None = None,
        judgement: Judgement | None = None,
        joint_tests: TestResult | None = None,
        regression_tests: TestResult | None = None,
        regression_judgement: Judgement | None = None,
    ) -> None: ...
    def __getstate__(self) -> dict[str, Any]: ...
    def __setstate__(self, state: Mapping[str, Any]) -> None: ...
    base_tests: TestResult | None
    @property
    def is_right(self) -> bool | None: ...
    joint_tests: TestResult | None
    judgement: Judgement | None
    number: int
    other_tests: TestResult | None
    @property
    def passes_on_base(self) -> bool | None: ...
    patch: PatchReport
    regression_judgement: Judgement | None
    regression_tests: TestResult | None
    @property
    def test_output(self) -> str: ...
    tests: TestResult | None
    @property
    def tests_passed(self) -> bool | None: ...

class FeatureTeam:
    def __init__(
        self,
        *,
        repo_name: str,
        task_id: int,
        base: Snapshot,
        features: tuple[Feature, ...],
        joint: TestSuite | None = None,
        regression: TestSuite | None = None,
        model: str | None = None,
        setting: str | None = None,
        k: int = 1,
    ) -> None: ...
    base: Snapshot
    features: tuple[Feature, ...]
    joint: TestSuite | None
    k: int
    model: str | None
    @property
    def numbers(self) -> tuple[int, ...]: ...
    regression: TestSuite | None
    repo_name: str
    setting: str | None
    task_id: int

class FileChange(StrEnum):
    ADD = 'add'
    COPY = 'copy'
    DELETE = 'delete'
    MODIFY = 'modify'
    RENAME = 'rename'

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

class FilePatch:
    def __init__(
        self,
        *,
        change: FileChange,
        old_path: str | None,
        new_path: str | None,
        old_mode: FileMode | None = None,
        new_mode: FileMode | None = None,
        old_id: str | None = None,
        new_id: str | None = None,
        hunks: tuple[Hunk, ...] = (),
        binary: BinaryChange | None = None,
        lacks_contents: bool = False,
    ) -> None: ...
    binary: BinaryChange | None
    change: FileChange
    hunks: tuple[Hunk, ...]
    lacks_contents: bool
    new_id: str | None
    new_mode: FileMode | None
    new_path: str | None
    old_id: str | None
    old_mode: FileMode | None
    old_path: str | None
    @property
    def path(self) -> str: ...
    @property
    def paths(self) -> tuple[str, ...]: ...

class Finding:
    def __init__(
        self,
        *,
        suite: SuiteKind,
        tests: tuple[str, ...],
        status: ExplanationStatus,
        hunks: tuple[ExplainedHunk, ...] = (),
        is_minimal: bool = False,
        reason: str = '',
    ) -> None: ...
    hunks: tuple[ExplainedHunk, ...]
    is_minimal: bool
    reason: str
    status: ExplanationStatus
    suite: SuiteKind
    tests: tuple[str, ...]

class GoldSummary:
    def __init__(self, *, ceiling: Rate, reached: Rate, beyond: Rate, unmatched: int = 0) -> None: ...
    beyond: Rate
    ceiling: Rate
    reached: Rate
    def to_dict(self) -> dict[str, Any]: ...
    unmatched: int

class Gone(Enum):
    GONE = 'gone'

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
    NAME_REMOVED = 'name_removed'
    PARSE_ERROR = 'parse_error'
    SIGNATURE_CHANGED = 'signature_changed'

class Hunk:
    def __init__(
        self,
        *,
        old_start: int,
        new_start: int,
        lines: tuple[bytes, ...],
        section: bytes = b'\n',
        stated: tuple[int, int] | None = None,
        uncounted: tuple[bytes, ...] = (),
    ) -> None: ...
    lines: tuple[bytes, ...]
    @property
    def new(self) -> list[bytes]: ...
    new_start: int
    @property
    def old(self) -> list[bytes]: ...
    old_start: int
    @property
    def reversed(self) -> Hunk: ...
    section: bytes
    stated: tuple[int, int] | None
    uncounted: tuple[bytes, ...]
    @property
    def whole(self) -> Hunk: ...
    @property
    def without_blank_end(self) -> Hunk: ...

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

class HunkRole(StrEnum):
    BREAKS = 'breaks'
    NEEDED = 'needed'

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

class LLMStrategy:
    def __init__(
        self,
        model: str = '',
        name: str = 'llm',
        api_base: str | None = None,
        api_key: str | None = None,
        temperature: float | None = 0.0,
        seed: int | None = None,
        max_attempts: int = 3,
        timeout_seconds: float = 120.0,
        max_tokens: int = 4096,
        context_lines: int = 30,
        whole_lines: int = 150,
        concurrency: int = 4,
        budget_usd: float | None = None,
        max_invented_lines: int | None = 10,
        min_kept: float = 0.0,
        cassette: str | Path | None = None,
        replay: Replay = Replay.AUTO,
        prompts: Prompts = None,
        options: Mapping[str, Any] = dict(),
        client: ChatClient | None = None,
    ) -> None: ...
    def __getstate__(self) -> dict[str, Any]: ...
    def __setstate__(self, state: Mapping[str, Any]) -> None: ...
    api_base: str | None
    api_key: str | None
    budget_usd: float | None
    cassette: str | Path | None
    client: ChatClient | None
    concurrency: int
    context_lines: int
    max_attempts: int
    max_invented_lines: int | None
    max_tokens: int
    def merge(self, merge_input: MergeInput, /) -> MergeOutcome: ...
    min_kept: float
    model: str
    name: str
    options: Mapping[str, Any]
    prompts: Prompts
    replay: Replay
    seed: int | None
    temperature: float | None
    timeout_seconds: float
    whole_lines: int

class Labels:
    def __init__(self, *, ours: str = 'ours', theirs: str = 'theirs') -> None: ...
    def of(self, side: Side) -> str: ...
    ours: str
    theirs: str

class LandingPlan(ABC):
    def __init__(
        self,
        *,
        strategy: str,
        order: _Numbers,
        left_out: tuple[LeftOut, ...] = (),
        merges: tuple[PairMerge, ...] = (),
        minimal_conflicts: tuple[_Numbers, ...] = (),
        order_dependent: tuple[OrderDependence, ...] = (),
        examined_size: int = 0,
        has_tests: bool = False,
        is_tested: bool = False,
        is_exact: bool = False,
        runs_used: int = 0,
        budget: int = 0,
        problem: str = '',
        base_tree_id: str,
        base_commit: str | None = None,
        tree_id: str,
        changes: Changes = Changes(),
    ) -> None: ...
    def __rich__(self) -> Renderable: ...
    def __str__(self) -> str: ...
    def _repr_html_(self) -> str: ...
    base_commit: str | None
    base_tree_id: str
    budget: int
    changes: Changes
    def diff(self, base: Snapshot) -> bytes: ...
    examined_size: int
    @classmethod
    def from_dict(cls, data: object) -> Self: ...
    @classmethod
    def from_json(cls, text: str | bytes) -> Self: ...
    has_tests: bool
    is_exact: bool
    is_tested: bool
    @property
    def landed(self) -> _Numbers: ...
    left_out: tuple[LeftOut, ...]
    merges: tuple[PairMerge, ...]
    minimal_conflicts: tuple[_Numbers, ...]
    @property
    def numbers(self) -> _Numbers: ...
    order: _Numbers
    order_dependent: tuple[OrderDependence, ...]
    @property
    def pairs(self) -> Mapping[tuple[int, int], PairOutcome]: ...
    problem: str
    runs_used: int
    strategy: str
    def to_dict(self) -> dict[str, Any]: ...
    def to_json(self) -> str: ...
    tree_id: str

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
    @property
    def is_open(self) -> bool: ...
    @classmethod
    def left_open(cls, conflict: Conflict, reason: str) -> Self: ...
    line: int | None
    ours_kept: float | None
    path: str
    reason: str
    rule: str
    shape: str
    strategy: str
    theirs_kept: float | None

class LeftOut(ABC):
    def __init__(
        self,
        *,
        number: int,
        reason: LeftOutReason,
        features: tuple[int, ...] = (),
        files: tuple[str, ...] = (),
        tests: tuple[BrokenTests, ...] = (),
        problem: str = '',
    ) -> None: ...
    def __rich__(self) -> Renderable: ...
    def __str__(self) -> str: ...
    def _repr_html_(self) -> str: ...
    features: tuple[int, ...]
    files: tuple[str, ...]
    number: int
    problem: str
    reason: LeftOutReason
    tests: tuple[BrokenTests, ...]

class LeftOutReason(StrEnum):
    BREAKS = 'breaks'
    CONFLICT = 'conflict'
    DUPLICATE = 'duplicate'
    FAILS_OWN_TESTS = 'fails_own_tests'
    MISSING_INPUT = 'missing_input'
    NOT_EXAMINED = 'not_examined'
    STRATEGY_FAILED = 'strategy_failed'

class LocalSandbox:
    def __init__(
        self,
        *,
        inherit: tuple[str, ...] = (),
        output_limit: int = 1 << 20,
        memory_bytes: int | None = None,
        file_bytes: int | None = None,
        processes: int | None = None,
    ) -> None: ...
    file_bytes: int | None
    @property
    def identity(self) -> str: ...
    inherit: tuple[str, ...]
    memory_bytes: int | None
    name: str
    output_limit: int
    processes: int | None
    def run(
        self,
        command: Sequence[str],
        *,
        tree: Path,
        scratch: Path,
        env: Mapping[str, str],
        timeout_seconds: float,
    ) -> Execution: ...

class Mean:
    def __init__(
        self,
        *,
        count: int = 0,
        mean: float | None = None,
        low: float | None = None,
        high: float | None = None,
    ) -> None: ...
    count: int
    high: float | None
    low: float | None
    mean: float | None
    @classmethod
    def of(cls, shares: Iterable[float], *, confidence: float = 0.95) -> Self: ...
    def to_dict(self) -> dict[str, Any]: ...

class MergeInput:
    def __init__(
        self,
        *,
        base: Snapshot,
        ours: Changes,
        theirs: Changes,
        merge: ThreeWayMerge,
        ours_feature: FeatureContext | None = None,
        theirs_feature: FeatureContext | None = None,
        ours_features: tuple[FeatureContext, ...] = Factory(_only_feature, takes_self=True),
    ) -> None: ...
    base: Snapshot
    @property
    def conflicts(self) -> tuple[Conflict, ...]: ...
    merge: ThreeWayMerge
    ours: Changes
    ours_feature: FeatureContext | None
    ours_features: tuple[FeatureContext, ...]
    theirs: Changes
    theirs_feature: FeatureContext | None

class MergeOutcome:
    def __init__(
        self,
        *,
        changes: Changes,
        conflicts: tuple[Conflict, ...] = (),
        conflicts_met: int = 0,
        strategy: str = '',
        failure: str = '',
        ledger: tuple[LedgerRow, ...] = (),
        usage: tuple[ModelUsage, ...] = (),
        service_failed: bool = False,
        merge: ThreeWayMerge | None = None,
    ) -> None: ...
    changes: Changes
    conflicts: tuple[Conflict, ...]
    conflicts_met: int
    def diff(self, base: Snapshot) -> bytes: ...
    failure: str
    ledger: tuple[LedgerRow, ...]
    merge: ThreeWayMerge | None
    service_failed: bool
    @property
    def status(self) -> MergeStatus: ...
    strategy: str
    def tree_id(self, base: Snapshot) -> str: ...
    usage: tuple[ModelUsage, ...]

class MergeReport(ABC):
    def __init__(
        self,
        *,
        base_tree_id: str = '',
        base_commit: str | None = None,
        model: str | None = None,
        setting: str | None = None,
        k: int = 1,
        repo_name: str,
        task_id: int,
        timestamp: dt.datetime,
        feature1: FeatureReport,
        feature2: FeatureReport,
        conflict_details: ConflictDetails | None,
        conflicts: tuple[Conflict, ...] = (),
        diff: bytes | None = None,
        attempts: tuple[Attempt, ...] = (),
        versions: Mapping[str, str] = dict(),
        failure: Failure | None = None,
        judge: JudgeRule = JudgeRule.ABSOLUTE,
        base_joint_tests: TestResult | None = None,
        base_regression_tests: TestResult | None = None,
    ) -> None: ...
    def __getstate__(self) -> dict[str, Any]: ...
    def __rich__(self) -> Renderable: ...
    def __setstate__(self, state: Mapping[str, Any]) -> None: ...
    def __str__(self) -> str: ...
    def _repr_html_(self) -> str: ...
    def attempt(self, strategy: str) -> Attempt: ...
    attempts: tuple[Attempt, ...]
    base_commit: str | None
    base_joint_tests: TestResult | None
    base_regression_tests: TestResult | None
    base_tree_id: str
    def blame(self, strategy: str) -> Blame: ...
    conflict_details: ConflictDetails | None
    @property
    def conflict_score(self) -> int | None: ...
    conflicts: tuple[Conflict, ...]
    diff: bytes | None
    failure: Failure | None
    feature1: FeatureReport
    feature2: FeatureReport
    @property
    def features(self) -> tuple[FeatureReport, FeatureReport]: ...
    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> MergeReport: ...
    @classmethod
    def from_json(cls, text: str | bytes) -> MergeReport: ...
    @property
    def hazards(self) -> tuple[Hazard, ...]: ...
    @property
    def is_final(self) -> bool: ...
    judge: JudgeRule
    k: int
    @property
    def merge_status(self) -> PairStatus: ...
    model: str | None
    @property
    def numbers(self) -> tuple[int, int]: ...
    @property
    def preexisting_failures(self) -> tuple[str, ...]: ...
    @property
    def problem(self) -> str: ...
    repo_name: str
    def resolutions(self, strategy: str) -> tuple[ConflictResolution, ...]: ...
    setting: str | None
    task_id: int
    timestamp: dt.datetime
    def to_dict(self) -> dict[str, Any]: ...
    def to_json(self) -> str: ...
    versions: Mapping[str, str]
    @property
    def warnings(self) -> tuple[str, ...]: ...

class MergeStatus(StrEnum):
    CLEAN = 'clean'
    CONFLICTED = 'conflicts'
    FAILED = 'failed'
    NOT_TRIED = 'not_tried'
    RESOLVED = 'resolved'

class MergeStrategy(Protocol):
    def merge(self, merge_input: MergeInput, /) -> MergeOutcome: ...
    @property
    def name(self) -> str: ...

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

class OrderDependence:
    def __init__(
        self,
        *,
        patches: _Numbers,
        lands: _Numbers,
        fails: _Numbers = (),
        trees: int,
    ) -> None: ...
    fails: _Numbers
    lands: _Numbers
    patches: _Numbers
    trees: int

POLICIES: Mapping[str, Policy]

class PairFacts:
    def __init__(
        self,
        *,
        base_tree_id: str = '',
        base_commit: str | None = None,
        model: str | None = None,
        setting: str | None = None,
        k: int = 1,
        repo_name: str,
        task_id: int,
        timestamp: dt.datetime,
        feature1: FeatureFacts,
        feature2: FeatureFacts,
        merge_status: PairStatus,
        conflict_sections: int | None = None,
        conflict_lines: int | None = None,
        conflict_score: int | None = None,
        severity: Severity | None = None,
        failure: FailureKind | None = None,
        problem: str = '',
        attempts: tuple[AttemptFacts, ...] = (),
        language: str = '',
    ) -> None: ...
    attempts: tuple[AttemptFacts, ...]
    base_commit: str | None
    base_tree_id: str
    conflict_lines: int | None
    conflict_score: int | None
    conflict_sections: int | None
    failure: FailureKind | None
    feature1: FeatureFacts
    feature2: FeatureFacts
    @property
    def features(self) -> tuple[int, int]: ...
    @classmethod
    def from_dict(cls, data: object) -> PairFacts: ...
    k: int
    language: str
    merge_status: PairStatus
    model: str | None
    @property
    def numbers(self) -> tuple[int, int]: ...
    problem: str
    repo_name: str
    setting: str | None
    severity: Severity | None
    @property
    def task(self) -> str: ...
    task_id: int
    timestamp: dt.datetime
    def to_dict(self) -> dict[str, Any]: ...

class PairMerge:
    def __init__(self, *, into: int, number: int, outcome: PairOutcome) -> None: ...
    into: int
    number: int
    outcome: PairOutcome

class PairOutcome(StrEnum):
    BREAKS_TESTS = 'breaks_tests'
    CLEAN = 'clean'
    CONFLICT = 'conflict'
    NOT_EXAMINED = 'not_examined'
    RESOLVED = 'resolved'

class PairStatus(StrEnum):
    CLEAN = 'clean'
    CONFLICTS = 'conflicts'
    MISSING_INPUT = 'missing_input'
    NOT_EVALUATED = 'not_evaluated'

class Patch:
    def __init__(
        self,
        *,
        files: tuple[FilePatch, ...],
        data: bytes = b'',
        problem: str = '',
    ) -> None: ...
    def __bytes__(self) -> bytes: ...
    data: bytes
    files: tuple[FilePatch, ...]
    @classmethod
    def parse(cls, data: bytes | str | Patch, *, origin: str | None = None) -> Patch: ...
    @property
    def paths(self) -> tuple[str, ...]: ...
    problem: str
    @classmethod
    def read(cls, path: str | os.PathLike[str]) -> Patch: ...
    def select(self, files: tuple[FilePatch, ...]) -> Self: ...
    @classmethod
    def unreadable(cls, error: PatchError) -> Self: ...

class PatchError(CooperBenchEvalError, ValueError):
    def __init__(self, reason: str, origin: str | None = None, line: int | None = None) -> None: ...
    def __str__(self) -> str: ...
    line: int | None
    origin: str | None
    reason: str

class PatchLocation(StrEnum):
    CACHE = 'cache'
    GOLD = 'gold'
    HF = 'hf'
    LOGS = 'logs'
    @classmethod
    def of(cls, word: str) -> Self: ...

class PatchReport:
    def __init__(
        self,
        *,
        status: PatchStatus,
        reason: str = '',
        dropped_files: tuple[str, ...] = (),
        touched_runner_control: tuple[str, ...] = (),
        names_test_framework: tuple[str, ...] = (),
        hunks: tuple[HunkPlacement, ...] = (),
    ) -> None: ...
    dropped_files: tuple[str, ...]
    hunks: tuple[HunkPlacement, ...]
    @property
    def is_usable(self) -> bool: ...
    names_test_framework: tuple[str, ...]
    reason: str
    status: PatchStatus
    touched_runner_control: tuple[str, ...]

class PatchStatus(StrEnum):
    APPLIED = 'applied'
    EMPTY = 'empty'
    FAILED = 'failed'
    NOT_TRIED = 'not_tried'
    PARTIAL = 'partial'
    @property
    def is_usable(self) -> bool: ...

class PeerAgreement(ABC):
    def __init__(
        self,
        *,
        comparison: Comparison,
        disagreements: tuple[PeerDisagreement, ...] = (),
    ) -> None: ...
    def __rich__(self) -> Renderable: ...
    def __str__(self) -> str: ...
    def _repr_html_(self) -> str: ...
    @property
    def agreeing(self) -> int: ...
    comparison: Comparison
    disagreements: tuple[PeerDisagreement, ...]

class PeerDisagreement:
    def __init__(self, *, peer: PeerEval, ours: PairFacts, judged: PolicyVerdict) -> None: ...
    judged: PolicyVerdict
    ours: PairFacts
    peer: PeerEval

class PeerEval:
    def __init__(
        self,
        *,
        repo_name: str,
        task_id: int,
        features: tuple[int, ...],
        setting: Setting | None,
        merge_status: str | None,
        merge_strategy: str | None,
        apply_status: Mapping[str, str],
        passed: Mapping[int, bool | None],
        passed_tests: Mapping[int, int | None],
        failed_tests: Mapping[int, int | None],
        both_passed: bool | None,
        error: str,
        evaluated_at: str,
        path: Path,
    ) -> None: ...
    apply_status: Mapping[str, str]
    both_passed: bool | None
    error: str
    evaluated_at: str
    failed_tests: Mapping[int, int | None]
    features: tuple[int, ...]
    @property
    def is_answer(self) -> bool: ...
    merge_status: str | None
    merge_strategy: str | None
    passed: Mapping[int, bool | None]
    passed_tests: Mapping[int, int | None]
    path: Path
    repo_name: str
    setting: Setting | None
    task_id: int

class PeerRun:
    def __init__(self, *, evals: tuple[PeerEval, ...], unreadable: tuple[ReportError, ...]) -> None: ...
    evals: tuple[PeerEval, ...]
    unreadable: tuple[ReportError, ...]

class PluginError(CooperBenchEvalError):
    kind: str = 'plug-in'

class PluginLoadError(PluginError):
    def __init__(self, name: str, origin: str, problem: str) -> None: ...
    def __str__(self) -> str: ...
    name: str
    origin: str
    problem: str

class Policy:
    def __init__(
        self,
        *,
        name: str,
        strategies: tuple[str, ...],
        rule: PolicyRule = PolicyRule.ANY_PASSES,
        lead_alone: bool = False,
        skips_empty: bool = False,
        is_absolute: bool = False,
    ) -> None: ...
    def __attrs_post_init__(self) -> None: ...
    is_absolute: bool
    def judge(self, pair: PairFacts | MergeReport) -> PolicyVerdict: ...
    lead_alone: bool
    name: str
    rule: PolicyRule
    skips_empty: bool
    strategies: tuple[str, ...]

class PolicyRule(StrEnum):
    ANY_PASSES = 'any_passes'
    FIRST_MERGES = 'first_merges'

class PolicySummary(ABC):
    def __init__(
        self,
        *,
        name: str,
        verdicts: Verdicts,
        confidence: float = 0.95,
        gold: GoldSummary | None = None,
    ) -> None: ...
    def __rich__(self) -> Renderable: ...
    def __str__(self) -> str: ...
    def _repr_html_(self) -> str: ...
    confidence: float
    @property
    def correct(self) -> Rate: ...
    def effort_reduction(self, k: float) -> float | None: ...
    gold: GoldSummary | None
    name: str
    def to_dict(self) -> dict[str, Any]: ...
    verdicts: Verdicts

class PolicyVerdict:
    def __init__(self, *, verdict: Verdict, by: str = '', is_missing_input: bool = False) -> None: ...
    by: str
    is_missing_input: bool
    verdict: Verdict

class Prompts:
    def __init__(
        self,
        *,
        version: str,
        system: str,
        question: str,
        excerpt: str,
        choice: str,
        retry: str,
    ) -> None: ...
    def __attrs_post_init__(self) -> None: ...
    @classmethod
    def built_in(cls) -> Prompts: ...
    choice: str
    excerpt: str
    def fill(self, name: str, **values: object) -> str: ...
    question: str
    @classmethod
    def read(cls, directory: str | Path) -> Prompts: ...
    retry: str
    system: str
    version: str

class Rate(ABC):
    def __init__(self, count: int, total: int, confidence: float = 0.95) -> None: ...
    def __rich__(self) -> Renderable: ...
    def __str__(self) -> str: ...
    def _repr_html_(self) -> str: ...
    confidence: float
    count: int
    @property
    def high(self) -> float | None: ...
    @property
    def low(self) -> float | None: ...
    @property
    def rate(self) -> float | None: ...
    def to_dict(self) -> dict[str, Any]: ...
    total: int

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

class Replay(StrEnum):
    AUTO = 'auto'
    LIVE = 'live'
    RECORD = 'record'
    REPLAY = 'replay'

class ReportError(CooperBenchEvalError, ValueError):
    def __init__(self, problem: str, location: str | None = None) -> None: ...
    def __str__(self) -> str: ...
    location: str | None
    problem: str

class ReportStore:
    def __init__(self, directory: Path) -> None: ...
    def __contains__(self, key: object) -> bool: ...
    def __iter__(self) -> Iterator[GroupReport]: ...
    def __len__(self) -> int: ...
    def check(self, key: str) -> bool: ...
    def claims(self) -> Claims: ...
    directory: Path
    @property
    def exists(self) -> bool: ...
    def facts(self) -> Iterator[GroupFacts]: ...
    def get(self, key: str) -> GroupReport | None: ...
    def keys(self) -> frozenset[str]: ...
    def prepare(self) -> None: ...
    def put(self, key: str, report: GroupReport) -> None: ...
    def put_packed(self, key: str, packed: Packed) -> None: ...
    def set_aside(self, key: str) -> None: ...

class RepositoryError(CooperBenchEvalError):
    def __init__(self, location: str, problem: str) -> None: ...
    def __str__(self) -> str: ...
    location: str
    problem: str

class Resolution:
    def __init__(self, *, text: bytes | None = None, rule: str = '', reason: str = '') -> None: ...
    reason: str
    rule: str
    text: bytes | None

class ResolutionKind(StrEnum):
    DELETED = 'deleted'
    OPEN = 'open'
    TEXT = 'text'
    UNKNOWN = 'unknown'

class ResultCache:
    def __init__(self, path: Path | None = None) -> None: ...
    def __getstate__(self) -> tuple[Path | None, SharedFolder | None]: ...
    def __setstate__(self, state: tuple[Path | None, SharedFolder | None]) -> None: ...
    def get(self, key: str) -> TestResult | None: ...
    def get_or_make(
        self,
        key: str,
        make: Callable[[], TestResult],
        keeps: Callable[[TestResult], bool],
    ) -> TestResult: ...
    def is_taken(self, key: str) -> bool: ...
    path: Path | None
    def put(self, key: str, result: TestResult) -> None: ...

class RunFacts:
    def __init__(
        self,
        *,
        status: TestStatus,
        passed_tests: int = 0,
        failed_tests: int = 0,
        error_tests: int = 0,
        skipped_tests: int = 0,
        xfailed_tests: int = 0,
        duration_seconds: float = 0.0,
        accepted: bool | None = None,
        is_undecided: bool = False,
    ) -> None: ...
    accepted: bool | None
    duration_seconds: float
    error_tests: int
    failed_tests: int
    is_undecided: bool
    @property
    def outcome(self) -> bool | None: ...
    @property
    def pass_rate(self) -> float: ...
    @property
    def passed(self) -> bool: ...
    passed_tests: int
    skipped_tests: int
    status: TestStatus
    @property
    def total_tests(self) -> int: ...
    @property
    def was_run(self) -> bool: ...
    xfailed_tests: int

class Rung(StrEnum):
    EXACT = 'exact'
    FUZZY = 'fuzzy'
    OFFSET = 'offset'
    RECOUNT = 'recount'
    THREE_WAY = 'three_way'
    WHITESPACE = 'whitespace'

class Sandbox(Protocol):
    @property
    def identity(self) -> str: ...
    @property
    def name(self) -> str: ...
    def run(
        self,
        command: Sequence[str],
        *,
        tree: Path,
        scratch: Path,
        env: Mapping[str, str],
        timeout_seconds: float,
    ) -> Execution: ...

class SandboxError(TestRunError):
    ...

class SandboxLoadError(PluginLoadError):
    kind: str = 'sandbox'

class Setting(StrEnum):
    COOP = 'coop'
    COOP_ABLATION = 'coop_ablation'
    SINGLE = 'single'
    SOLO = 'solo'
    TEAM = 'team'
    @classmethod
    def of(cls, word: str) -> Self: ...

class Severity(StrEnum):
    CRITICAL = 'CRITICAL'
    HIGH = 'HIGH'
    LOW = 'LOW'
    MEDIUM = 'MEDIUM'
    NONE = 'NONE'

class Snapshot:
    def __init__(
        self,
        store: Store,
        *,
        location: str | None = None,
        commit_id: str | None = None,
    ) -> None: ...
    def __reduce__(self) -> tuple[object, ...]: ...
    def __repr__(self) -> str: ...
    commit_id: str | None
    def find_blob(self, prefix: str) -> bytes | None: ...
    @classmethod
    def from_dir(cls, path: str | os.PathLike[str]) -> Self: ...
    @classmethod
    def from_files(cls, files: Mapping[str, bytes | Entry]) -> Self: ...
    @classmethod
    def from_repo(cls, path: str | os.PathLike[str], revision: str) -> Self: ...
    def get(self, path: str) -> Entry | None: ...
    def is_directory(self, path: str) -> bool: ...
    location: str | None
    def overlay(self, changes: Changes) -> Snapshot: ...
    def paths(self, below: str = '') -> tuple[str, ...]: ...
    def read(self, path: str) -> bytes: ...
    @property
    def tree_id(self) -> str: ...
    def write_to(self, directory: str | os.PathLike[str]) -> None: ...

class StrategyError(CooperBenchEvalError):
    kind: str = 'merge strategy'

class StrategyFailedError(StrategyError):
    def __init__(self, name: str, problem: str) -> None: ...
    def __str__(self) -> str: ...
    name: str
    problem: str

class StrategyLoadError(StrategyError, PluginLoadError):
    ...

class StrategySummary(ABC):
    def __init__(
        self,
        *,
        name: str,
        verdicts: Verdicts,
        confidence: float = 0.95,
        gold: GoldSummary | None = None,
        requests: int = 0,
        unpriced_requests: int = 0,
        prompt_tokens: int = 0,
        completion_tokens: int = 0,
        cost_usd: float = 0.0,
        blame: Mapping[BlameKind, int],
        features: Rate,
        cases: Rate,
        seconds: Distribution,
        test_seconds: Distribution,
    ) -> None: ...
    def __add__(self, other: UsageTotals) -> UsageTotals: ...
    def __rich__(self) -> Renderable: ...
    def __str__(self) -> str: ...
    def _repr_html_(self) -> str: ...
    blame: Mapping[BlameKind, int]
    cases: Rate
    completion_tokens: int
    confidence: float
    @property
    def correct(self) -> Rate: ...
    cost_usd: float
    def effort_reduction(self, k: float) -> float | None: ...
    features: Rate
    gold: GoldSummary | None
    name: str
    prompt_tokens: int
    requests: int
    seconds: Distribution
    test_seconds: Distribution
    def to_dict(self) -> dict[str, Any]: ...
    unpriced_requests: int
    verdicts: Verdicts

class SuiteKind(StrEnum):
    FEATURE1 = 'feature1'
    FEATURE2 = 'feature2'
    JOINT = 'joint'
    REGRESSION = 'regression'

class SuiteRun:
    def __init__(
        self,
        *,
        suite: TeamSuite,
        feature: int | None = None,
        tests: TestResult | None = None,
        judgement: Judgement | None = None,
    ) -> None: ...
    @property
    def broken(self) -> BrokenTests | None: ...
    feature: int | None
    judgement: Judgement | None
    @property
    def outcome(self) -> bool | None: ...
    suite: TeamSuite
    tests: TestResult | None

class Summary(ABC):
    def __init__(
        self,
        *,
        pairs: int,
        statuses: Mapping[PairStatus, int],
        failures: Mapping[FailureKind, int],
        problems: Mapping[str, int] = dict(),
        repeated: int = 0,
        conflict_score: Distribution,
        features_alone: Rate,
        cases_alone: Rate,
        test_seconds_alone: Distribution,
        strategies: Mapping[str, StrategySummary],
        policies: Mapping[str, PolicySummary],
        comparisons: Mapping[tuple[str, str], Comparison],
        by: tuple[str, ...] = (),
        groups: Mapping[Hashable, Summary] = dict(),
        teams: Mapping[int, TeamSummary] = dict(),
        confidence: float = 0.95,
    ) -> None: ...
    def __rich__(self) -> Renderable: ...
    def __str__(self) -> str: ...
    def _repr_html_(self) -> str: ...
    by: tuple[str, ...]
    cases_alone: Rate
    @property
    def clean(self) -> Rate: ...
    comparisons: Mapping[tuple[str, str], Comparison]
    confidence: float
    conflict_score: Distribution
    @property
    def conflicts(self) -> Rate: ...
    failures: Mapping[FailureKind, int]
    features_alone: Rate
    groups: Mapping[Hashable, Summary]
    @property
    def missing_input(self) -> Rate: ...
    @property
    def not_evaluated(self) -> int: ...
    pairs: int
    policies: Mapping[str, PolicySummary]
    problems: Mapping[str, int]
    repeated: int
    statuses: Mapping[PairStatus, int]
    strategies: Mapping[str, StrategySummary]
    teams: Mapping[int, TeamSummary]
    test_seconds_alone: Distribution
    def to_dict(self) -> dict[str, Any]: ...
    def to_records(self) -> list[dict[str, Any]]: ...

class Task:
    def __init__(
        self,
        *,
        repo_name: str,
        task_id: int,
        directory: Path,
        features: tuple[int, ...],
        repo_dir: Path | None = None,
    ) -> None: ...
    def all_pairs(
        self,
        pairs: Iterable[tuple[int, int]] | None = None,
        **options: Unpack[PairOptions],
    ) -> Counted[FeaturePair]: ...
    def all_teams(self, size: int, **options: Unpack[PairOptions]) -> Counted[FeatureTeam]: ...
    def base(self, repo_dir: Folder | None = None) -> Snapshot: ...
    def base_commit(self) -> str: ...
    def description(self, feature: int) -> str: ...
    directory: Path
    features: tuple[int, ...]
    def gold_patch(self, feature: int) -> Patch: ...
    def image_suite(self, feature: int, *, timeout_seconds: float | None = None) -> TestSuite: ...
    def pair(self, first: int, second: int, **options: Unpack[PairOptions]) -> FeaturePair: ...
    @property
    def pairs(self) -> tuple[tuple[int, int], ...]: ...
    repo_dir: Path | None
    repo_name: str
    def require(self, *features: int) -> None: ...
    def suite(
        self,
        feature: int,
        *,
        command: Iterable[str] | None = None,
        framework: str = 'pytest',
        timeout_seconds: float | None = None,
        env: Mapping[str, str] | None = None,
    ) -> TestSuite: ...
    task_id: int
    def team(self, *numbers: int, **options: Unpack[PairOptions]) -> FeatureTeam: ...
    def teams(self, size: int) -> Iterator[tuple[int, ...]]: ...
    def test_command(self) -> tuple[str, ...]: ...
    def tests_patch(self, feature: int) -> Patch: ...

class TeamAttempt(ABC):
    def __init__(
        self,
        *,
        strategy: str,
        implementation: str,
        status: MergeStatus,
        landed: tuple[int, ...] = (),
        left_out: tuple[LeftOut, ...] = (),
        steps: tuple[TeamStep, ...] = (),
        tree_id: str | None = None,
        diff: bytes | None = None,
        tests: tuple[SuiteRun, ...] = (),
        landed_tests: tuple[SuiteRun, ...] = (),
    ) -> None: ...
    def __rich__(self) -> Renderable: ...
    def __str__(self) -> str: ...
    def _repr_html_(self) -> str: ...
    @property
    def absolute_verdict(self) -> Verdict: ...
    diff: bytes | None
    implementation: str
    @property
    def joint_run(self) -> Judged: ...
    landed: tuple[int, ...]
    landed_tests: tuple[SuiteRun, ...]
    left_out: tuple[LeftOut, ...]
    @property
    def own_runs(self) -> tuple[Judged, ...]: ...
    @property
    def regression_run(self) -> Judged: ...
    def run_of(self, suite: TeamSuite, feature: int | None = None) -> Judged: ...
    @property
    def score(self) -> float: ...
    @property
    def service_failed(self) -> bool: ...
    status: MergeStatus
    steps: tuple[TeamStep, ...]
    strategy: str
    tests: tuple[SuiteRun, ...]
    tree_id: str | None
    @property
    def verdict(self) -> Verdict: ...

class TeamAttemptFacts:
    def __init__(
        self,
        *,
        requests: int = 0,
        unpriced_requests: int = 0,
        prompt_tokens: int = 0,
        completion_tokens: int = 0,
        cost_usd: float | None = 0.0,
        strategy: str,
        status: MergeStatus,
        verdict: Verdict,
        blame: BlameKind,
        landed: tuple[int, ...] = (),
        left_out: tuple[LeftOut, ...] = (),
        conflicts_met: int = 0,
        duration_seconds: float = 0.0,
        service_failed: bool = False,
    ) -> None: ...
    def __add__(self, other: UsageTotals) -> UsageTotals: ...
    blame: BlameKind
    completion_tokens: int
    conflicts_met: int
    cost_usd: float | None
    @property
    def counted_verdict(self) -> Verdict: ...
    duration_seconds: float
    landed: tuple[int, ...]
    left_out: tuple[LeftOut, ...]
    prompt_tokens: int
    requests: int
    @property
    def score(self) -> float: ...
    service_failed: bool
    status: MergeStatus
    strategy: str
    unpriced_requests: int
    verdict: Verdict

class TeamBlame(ABC):
    def __init__(
        self,
        *,
        kind: BlameKind,
        features: tuple[int, ...] = (),
        lost: tuple[BrokenTests, ...] = (),
    ) -> None: ...
    def __rich__(self) -> Renderable: ...
    def __str__(self) -> str: ...
    def _repr_html_(self) -> str: ...
    features: tuple[int, ...]
    kind: BlameKind
    lost: tuple[BrokenTests, ...]

class TeamFacts:
    def __init__(
        self,
        *,
        base_tree_id: str = '',
        base_commit: str | None = None,
        model: str | None = None,
        setting: str | None = None,
        k: int = 1,
        repo_name: str,
        task_id: int,
        timestamp: dt.datetime,
        features: tuple[FeatureFacts, ...],
        merge_status: PairStatus,
        conflict_score: int | None = None,
        failure: FailureKind | None = None,
        problem: str = '',
        attempts: tuple[TeamAttemptFacts, ...] = (),
        language: str = '',
    ) -> None: ...
    attempts: tuple[TeamAttemptFacts, ...]
    base_commit: str | None
    base_tree_id: str
    conflict_score: int | None
    failure: FailureKind | None
    features: tuple[FeatureFacts, ...]
    @classmethod
    def from_dict(cls, data: object) -> TeamFacts: ...
    k: int
    language: str
    merge_status: PairStatus
    model: str | None
    @property
    def numbers(self) -> tuple[int, ...]: ...
    problem: str
    repo_name: str
    setting: str | None
    @property
    def size(self) -> int: ...
    @property
    def task(self) -> str: ...
    task_id: int
    timestamp: dt.datetime
    def to_dict(self) -> dict[str, Any]: ...

class TeamReport(ABC):
    def __init__(
        self,
        *,
        base_tree_id: str = '',
        base_commit: str | None = None,
        model: str | None = None,
        setting: str | None = None,
        k: int = 1,
        repo_name: str,
        task_id: int,
        timestamp: dt.datetime,
        features: tuple[FeatureReport, ...],
        merges: tuple[TeamStep, ...] = (),
        attempts: tuple[TeamAttempt, ...] = (),
        versions: Mapping[str, str] = dict(),
        failure: Failure | None = None,
        judge: JudgeRule = JudgeRule.ABSOLUTE,
        base_joint_tests: TestResult | None = None,
        base_regression_tests: TestResult | None = None,
    ) -> None: ...
    def __rich__(self) -> Renderable: ...
    def __str__(self) -> str: ...
    def _repr_html_(self) -> str: ...
    def attempt(self, strategy: str) -> TeamAttempt: ...
    attempts: tuple[TeamAttempt, ...]
    base_commit: str | None
    base_joint_tests: TestResult | None
    base_regression_tests: TestResult | None
    base_tree_id: str
    def blame(self, strategy: str) -> TeamBlame: ...
    @property
    def conflict_score(self) -> int | None: ...
    failure: Failure | None
    features: tuple[FeatureReport, ...]
    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> TeamReport: ...
    @classmethod
    def from_json(cls, text: str | bytes) -> TeamReport: ...
    @property
    def is_final(self) -> bool: ...
    judge: JudgeRule
    k: int
    @property
    def merge_status(self) -> PairStatus: ...
    merges: tuple[TeamStep, ...]
    model: str | None
    @property
    def numbers(self) -> tuple[int, ...]: ...
    @property
    def preexisting_failures(self) -> tuple[str, ...]: ...
    @property
    def problem(self) -> str: ...
    repo_name: str
    setting: str | None
    @property
    def size(self) -> int: ...
    task_id: int
    timestamp: dt.datetime
    def to_dict(self) -> dict[str, Any]: ...
    def to_json(self) -> str: ...
    versions: Mapping[str, str]
    @property
    def warnings(self) -> tuple[str, ...]: ...

class TeamStep(ABC):
    def __init__(
        self,
        *,
        status: MergeStatus,
        conflicts_met: int = 0,
        conflict_details: ConflictDetails | None = None,
        tree_id: str | None = None,
        diff: bytes | None = None,
        failure: str = '',
        duration_seconds: float = 0.0,
        ledger: tuple[LedgerRow, ...] = (),
        usage: tuple[ModelUsage, ...] = (),
        service_failed: bool = False,
        replacements: tuple[Replacement, ...] = (),
        feature: int,
        into: tuple[int, ...],
        conflicts: tuple[Conflict, ...] = (),
    ) -> None: ...
    def __rich__(self) -> Renderable: ...
    def __str__(self) -> str: ...
    def _repr_html_(self) -> str: ...
    conflict_details: ConflictDetails | None
    conflicts: tuple[Conflict, ...]
    conflicts_met: int
    diff: bytes | None
    duration_seconds: float
    failure: str
    feature: int
    into: tuple[int, ...]
    @property
    def is_complete(self) -> bool: ...
    ledger: tuple[LedgerRow, ...]
    replacements: tuple[Replacement, ...]
    service_failed: bool
    status: MergeStatus
    tree_id: str | None
    usage: tuple[ModelUsage, ...]

class TeamStrategySummary(ABC):
    def __init__(
        self,
        *,
        name: str,
        verdicts: Verdicts,
        confidence: float = 0.95,
        requests: int = 0,
        unpriced_requests: int = 0,
        prompt_tokens: int = 0,
        completion_tokens: int = 0,
        cost_usd: float = 0.0,
        landed: Mean,
        left_out: Mapping[LeftOutReason, int],
        blame: Mapping[BlameKind, int],
        seconds: Distribution,
    ) -> None: ...
    def __add__(self, other: UsageTotals) -> UsageTotals: ...
    def __rich__(self) -> Renderable: ...
    def __str__(self) -> str: ...
    def _repr_html_(self) -> str: ...
    blame: Mapping[BlameKind, int]
    completion_tokens: int
    confidence: float
    @property
    def correct(self) -> Rate: ...
    cost_usd: float
    def effort_reduction(self, k: float) -> float | None: ...
    landed: Mean
    left_out: Mapping[LeftOutReason, int]
    name: str
    prompt_tokens: int
    requests: int
    seconds: Distribution
    def to_dict(self) -> dict[str, Any]: ...
    unpriced_requests: int
    verdicts: Verdicts

class TeamSuite(StrEnum):
    FEATURE = 'feature'
    JOINT = 'joint'
    REGRESSION = 'regression'

class TeamSummary(ABC):
    def __init__(
        self,
        *,
        size: int,
        teams: int,
        statuses: Mapping[PairStatus, int],
        failures: Mapping[FailureKind, int],
        problems: Mapping[str, int] = dict(),
        repeated: int = 0,
        strategies: Mapping[str, TeamStrategySummary],
    ) -> None: ...
    def __rich__(self) -> Renderable: ...
    def __str__(self) -> str: ...
    def _repr_html_(self) -> str: ...
    failures: Mapping[FailureKind, int]
    @property
    def not_evaluated(self) -> int: ...
    problems: Mapping[str, int]
    repeated: int
    size: int
    statuses: Mapping[PairStatus, int]
    strategies: Mapping[str, TeamStrategySummary]
    teams: int
    def to_dict(self) -> dict[str, Any]: ...

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

class TestFileFilter:
    def __init__(
        self,
        *,
        conventions: bool = True,
        touched: bool = True,
        keep: frozenset[str] = frozenset(),
    ) -> None: ...
    conventions: bool
    keep: frozenset[str]
    def split(self, patch: Patch, tests: Iterable[Patch] = ()) -> tuple[Patch, tuple[str, ...]]: ...
    touched: bool

class TestResult(ABC):
    def __init__(
        self,
        *,
        status: TestStatus,
        cases: tuple[TestCase, ...] = (),
        exit_code: int | None = None,
        duration_seconds: float = 0.0,
        output: str = '',
        reason: str = '',
        command: tuple[str, ...] = (),
        sandbox: str = '',
        sandbox_identity: str = '',
        restored_files: tuple[str, ...] = (),
        missing_tests: tuple[str, ...] = (),
        repeats: tuple[TestStatus, ...] = (),
        repeat_policy: RepeatPolicy | None = None,
    ) -> None: ...
    def __rich__(self) -> Renderable: ...
    def __str__(self) -> str: ...
    def _repr_html_(self) -> str: ...
    cases: tuple[TestCase, ...]
    command: tuple[str, ...]
    duration_seconds: float
    @property
    def error_tests(self) -> int: ...
    exit_code: int | None
    @property
    def failed_tests(self) -> int: ...
    missing_tests: tuple[str, ...]
    output: str
    @property
    def pass_rate(self) -> float: ...
    @property
    def passed(self) -> bool: ...
    @property
    def passed_tests(self) -> int: ...
    reason: str
    repeat_policy: RepeatPolicy | None
    repeats: tuple[TestStatus, ...]
    restored_files: tuple[str, ...]
    sandbox: str
    sandbox_identity: str
    @property
    def skipped_tests(self) -> int: ...
    status: TestStatus
    @property
    def total_tests(self) -> int: ...
    @property
    def was_run(self) -> bool: ...
    @property
    def xfailed_tests(self) -> int: ...

class TestRunError(CooperBenchEvalError):
    def __init__(self, problem: str, command: tuple[str, ...] = ()) -> None: ...
    def __str__(self) -> str: ...
    command: tuple[str, ...]
    problem: str

class TestRunner:
    def __init__(
        self,
        *,
        sandbox: Sandbox = default_sandbox(),
        cache: ResultCache | None = ResultCache(),
        control_files: ControlFiles = ControlFiles.RESTORE,
        require_new_tests: bool = True,
        repeats: int = 1,
        repeat_policy: RepeatPolicy = RepeatPolicy.ALL,
        retries: int = 2,
    ) -> None: ...
    cache: ResultCache | None
    control_files: ControlFiles
    def is_underway(self, base: Snapshot, changes: Changes, suite: TestSuite) -> bool: ...
    repeat_policy: RepeatPolicy
    repeats: int
    require_new_tests: bool
    retries: int
    def run(
        self,
        base: Snapshot,
        changes: Changes,
        suite: TestSuite,
        *,
        number: int = 1,
    ) -> TestResult: ...
    sandbox: Sandbox

class TestStatus(StrEnum):
    FAILED = 'failed'
    INCONCLUSIVE = 'inconclusive'
    INFRASTRUCTURE_ERROR = 'infrastructure_error'
    NO_TESTS = 'no_tests'
    OUT_OF_MEMORY = 'out_of_memory'
    PASSED = 'passed'
    PATCH_REJECTED = 'patch_rejected'
    SETUP_FAILED = 'setup_failed'
    TIMED_OUT = 'timed_out'
    @property
    def was_run(self) -> bool: ...

class TestSuite:
    def __init__(
        self,
        *,
        command: tuple[str, ...],
        patch: Patch = lambda: Patch.parse(b'')(),
        framework: str = 'pytest',
        timeout_seconds: float = DEFAULT_TIMEOUT_SECONDS,
        setup: tuple[tuple[str, ...], ...] = (),
        delivery: Delivery = Delivery.TREE,
        required: tuple[str, ...] | None = None,
        env: tuple[tuple[str, str], ...] = (),
    ) -> None: ...
    command: tuple[str, ...]
    delivery: Delivery
    @property
    def env(self) -> Mapping[str, str]: ...
    def environment_at(self, tree: str | os.PathLike[str]) -> dict[str, str]: ...
    framework: str
    @property
    def import_roots(self) -> tuple[str, ...]: ...
    patch: Patch
    required: tuple[str, ...] | None
    @property
    def script_words(self) -> tuple[str, ...]: ...
    setup: tuple[tuple[str, ...], ...]
    timeout_seconds: float

class ThreeWayMerge:
    def __init__(
        self,
        *,
        changes: Changes,
        conflicts: tuple[Conflict, ...],
        stages: tuple[Stage, ...] = (),
        labels: Labels = Labels(),
        files: Mapping[str, OpenFile] = dict(),
        cache: DiffCache = DiffCache(),
        blocks: dict[str, tuple[TextBlock, ...]] = dict(),
    ) -> None: ...
    @property
    def blocks(self) -> tuple[ConflictBlock, ...]: ...
    changes: Changes
    conflicts: tuple[Conflict, ...]
    labels: Labels
    def lines_before(self, earlier: ThreeWayMerge) -> Mapping[tuple[str, int], int]: ...
    def replacements(
        self,
        merged: Snapshot,
        still_open: Iterable[Conflict],
    ) -> tuple[Replacement, ...]: ...
    def resolve(self, answer: Callable[[Conflict], bytes | Gone | None]) -> ThreeWayMerge: ...
    def resolve_blocks(self, answer: Callable[[ConflictBlock], bytes | None]) -> ThreeWayMerge: ...
    def resolve_files(self, texts: Mapping[str, bytes]) -> ThreeWayMerge: ...
    def settled_around_blocks(self, path: str) -> tuple[bytes, ...]: ...
    def settled_in(self, path: str) -> tuple[bytes, ...]: ...
    stages: tuple[Stage, ...]
    def takes_text(self, conflict: Conflict) -> bool: ...
    def versions_of(self, path: str) -> tuple[bytes, bytes, bytes]: ...

class Tries(ABC):
    def __init__(self, *, decider: str, within: tuple[Rate, ...], left_out: int = 0) -> None: ...
    def __rich__(self) -> Renderable: ...
    def __str__(self) -> str: ...
    def _repr_html_(self) -> str: ...
    decider: str
    left_out: int
    within: tuple[Rate, ...]

class UnknownPluginError(PluginError, LookupError):
    def __init__(
        self,
        name: str,
        available: tuple[str, ...] = (),
        origins: tuple[str, ...] = (),
    ) -> None: ...
    def __str__(self) -> str: ...
    available: tuple[str, ...]
    name: str
    origins: tuple[str, ...]

class UnknownSandboxError(UnknownPluginError):
    kind: str = 'sandbox'

class UnknownStrategyError(StrategyError, UnknownPluginError):
    ...

class Verdict(StrEnum):
    CORRECT = 'correct'
    INCORRECT = 'incorrect'
    NOT_RUN = 'not_run'
    UNHANDLED = 'unhandled'

class Verdicts:
    def __init__(
        self,
        *,
        correct: int = 0,
        incorrect: int = 0,
        unhandled: int = 0,
        not_run: int = 0,
        missing_input: int = 0,
    ) -> None: ...
    @property
    def answered(self) -> int: ...
    @property
    def at_least(self) -> float | None: ...
    @property
    def at_most(self) -> float | None: ...
    correct: int
    def effort_reduction(self, k: float) -> float | None: ...
    incorrect: int
    @property
    def is_untested(self) -> bool: ...
    missing_input: int
    not_run: int
    @property
    def pairs(self) -> int: ...
    def to_dict(self) -> dict[str, Any]: ...
    @property
    def unanswered(self) -> int: ...
    unhandled: int

class WorkerError(CooperBenchEvalError):
    def __init__(self, problem: str, exit_code: int | None = None) -> None: ...
    def __str__(self) -> str: ...
    exit_code: int | None
    problem: str

async def aevaluate(*args: Any, **options: Any) -> MergeReport: ...

def apply_patch(
    base: Snapshot,
    patch: Patch,
    policy: ApplyPolicy = ApplyPolicy(),
) -> ApplyResult: ...

def available_sandboxes() -> tuple[str, ...]: ...

def available_strategies() -> tuple[str, ...]: ...

def bubblewrap_problem() -> str | None: ...

def cascade(*members: str | MergeStrategy, name: str | None = None) -> CascadeStrategy: ...

def compare(
    first_reports: FactsSource,
    second_reports: FactsSource,
    decider: str | Policy,
    *,
    first: str = 'first',
    second: str = 'second',
    confidence: float = 0.95,
) -> Comparison: ...

def compare_with_peer(
    evals: Iterable[PeerEval],
    reports: FactsSource,
    *,
    policy: str | Policy = 'upstream-0.0.29',
) -> PeerAgreement: ...

def default_sandbox() -> BubblewrapSandbox | LocalSandbox: ...

def evaluate(
    setting: str,
    repo_name: str,
    task_id: int,
    feature1_id: int,
    feature2_id: int,
    model: str,
    patch_location: str = 'logs',
    *,
    dataset_dir: Folder | Dataset,
    repo_dir: Folder | None = None,
    logs_dir: Folder | None = None,
    run_name: str | None = None,
    k: int = 1,
    strategies: Iterable[str | MergeStrategy] = ('naive', 'union'),
    runner: TestRunner | None = None,
    run_tests: bool = True,
    in_image: bool = False,
    command: Iterable[str] | None = None,
    framework: str = 'pytest',
    timeout_seconds: float | None = None,
    env: Mapping[str, str] | None = None,
    judge: JudgeRule | str = JudgeRule.DELTA,
) -> MergeReport: ...

def evaluate_many(
    pairs: Iterable[FeatureGroup | GroupReport],
    *,
    evaluator: Evaluator,
    executor: Executor | None = None,
    store: ReportStore | str | os.PathLike[str] | None = None,
    progress: Progress | bool | None = None,
    on_error: Literal['record', 'raise'] = 'record',
) -> Iterator[MergeReport] | Iterator[TeamReport] | Iterator[GroupReport]: ...

def evaluate_run(
    logs_dir: Folder,
    run_name: str,
    *,
    dataset_dir: Folder | Dataset,
    repo_dirs: RepoDirs | None = None,
    setting: str | None = None,
    repo_name: str | None = None,
    task_id: int | None = None,
    subset: str | None = None,
    evaluator: Evaluator | None = None,
    suite_of: SuiteOf = Task.suite,
    in_image: bool = False,
    teams: bool = False,
    **options: Unpack[SweepOptions],
) -> Iterator[MergeReport | TeamReport]: ...

def explain(
    report: MergeReport,
    pair: FeaturePair,
    *,
    strategy: str | MergeStrategy = 'naive',
    runner: TestRunner,
    budget: int = 60,
    evaluator: Evaluator | None = None,
) -> Explanation: ...

def facts_of(report: GroupReport) -> GroupFacts: ...

def get_sandbox(name: str, /, **options: object) -> Sandbox: ...

def get_strategy(name: str, /, **options: object) -> MergeStrategy: ...

def gold_matrix(
    task: Task,
    *,
    repo_dir: Folder | None = None,
    evaluator: Evaluator | None = None,
    suite_of: SuiteOf = Task.suite,
    in_image: bool = False,
    **options: Unpack[SweepOptions],
) -> Iterator[MergeReport]: ...

def gold_teams(
    task: Task,
    *,
    size: int,
    repo_dir: Folder | None = None,
    evaluator: Evaluator | None = None,
    suite_of: SuiteOf = Task.suite,
    in_image: bool = False,
    **options: Unpack[SweepOptions],
) -> Iterator[TeamReport]: ...

def land(
    base: Snapshot,
    patches: Iterable[GivenPatch],
    *,
    suites: Mapping[int, TestSuite] | None = None,
    joint: TestSuite | None = None,
    regression: TestSuite | None = None,
    strategy: str | MergeStrategy = 'structured',
    order: str | Sequence[int] = 'search',
    budget: int = 50,
    runner: TestRunner | None = None,
    judge: str | JudgeRule = JudgeRule.DELTA,
    apply_policy: ApplyPolicy | None = None,
    test_filter: TestFileFilter | None = None,
) -> LandingPlan: ...

def merge(
    base: Snapshot,
    ours: Changes,
    theirs: Changes,
    *,
    strategy: str | MergeStrategy = 'naive',
    labels: Labels | None = None,
) -> MergeOutcome: ...

def plot_effort(summary: Summary, *, up_to: float = 10.0, ax: Axes | None = None) -> Figure: ...

def plot_matrix(
    reports: FactsSource,
    *,
    task: str | None = None,
    strategy: str | None = None,
    ax: Axes | None = None,
) -> Figure: ...

def plot_teams(
    reports: FactsSource,
    *,
    confidence: float = 0.95,
    ax: Axes | None = None,
) -> Figure: ...

def plot_tries(
    reports: FactsSource,
    deciders: str | Policy | Iterable[str | Policy] = 'strict',
    *,
    tries: int | None = None,
    confidence: float = 0.95,
    ax: Axes | None = None,
) -> Figure: ...

def plot_verdicts(summary: Summary, *, ax: Axes | None = None) -> Figure: ...

def read_eval(path: str | os.PathLike[str]) -> PeerEval: ...

def read_evals(logs_dir: str | os.PathLike[str], run_name: str) -> PeerRun: ...

def reap_containers(*, base_url: str | None = None) -> int: ...

def report_schema(kind: Literal['pair', 'team'] = 'pair') -> dict[str, Any]: ...

def repository_from_image(
    image: str,
    destination: Path | str,
    *,
    path: str = '/workspace/repo',
    pull: bool = True,
    base_url: str | None = None,
) -> Path: ...

def resolve_blocks(
    merge_input: MergeInput,
    propose: Callable[[ConflictBlock], Sequence[Resolution]],
) -> MergeOutcome: ...

def resolve_conflicts(
    merge_input: MergeInput,
    answer: Callable[[Conflict], bytes | Gone | None],
) -> MergeOutcome: ...

def solved_within(
    reports: FactsSource,
    decider: str | Policy,
    *,
    tries: int | None = None,
    confidence: float = 0.95,
) -> Tries: ...

def summarize(
    reports: FactsSource,
    *,
    by: By | None = None,
    policies: str | Policy | Iterable[str | Policy] = tuple(POLICIES),
    gold: FactsSource | None = None,
    confidence: float = 0.95,
) -> Summary: ...

def task_image(
    repo_name: str,
    task_id: int | str,
    *,
    registry: str = REGISTRY,
    prefix: str = PREFIX,
) -> str: ...

def to_pandas(reports: FactsSource, level: str = Level.PAIRS) -> PandasFrame: ...

def to_polars(reports: FactsSource, level: str = Level.PAIRS) -> PolarsFrame: ...

def to_records(reports: FactsSource, level: str = Level.PAIRS) -> list[dict[str, Any]]: ...

def write_page(
    reports: Iterable[GroupReport],
    path: str | os.PathLike[str],
    *,
    title: str | None = None,
    text_limit: int = 20000,
    explanations: Iterable[Explanation] = (),
) -> Path: ...

def write_report(report: GroupReport, directory: str | os.PathLike[str]) -> tuple[Path, ...]: ...
