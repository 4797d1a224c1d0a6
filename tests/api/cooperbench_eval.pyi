"""The public names of `cooperbench_eval`; `python docs/tools/public_api.py` writes this."""

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

class Attempt:
    def __init__(
        self,
        *,
        strategy: str,
        status: MergeStatus,
        hazards: tuple[Hazard, ...] = (),
        service_failed: bool = False,
        conflicts_met: int = 0,
        conflict_details: ConflictDetails | None = None,
        tree_id: str | None = None,
        diff: bytes | None = None,
        failure: str = '',
        duration_seconds: float = 0.0,
        ledger: tuple[LedgerRow, ...] = (),
        usage: tuple[ModelUsage, ...] = (),
        replacements: tuple[Replacement, ...] = (),
        implementation: str,
        feature1_tests: TestResult | None = None,
        feature2_tests: TestResult | None = None,
        feature1_judgement: Judgement | None = None,
        feature2_judgement: Judgement | None = None,
        joint_tests: TestResult | None = None,
        joint_judgement: Judgement | None = None,
        regression_tests: TestResult | None = None,
        regression_judgement: Judgement | None = None,
        trace: FailureTrace | None = None,
    ) -> None: ...
    def __rich__(self) -> Renderable: ...
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
    trace: FailureTrace | None
    tree_id: str | None
    usage: tuple[ModelUsage, ...]
    @property
    def verdict(self) -> Verdict: ...

class Blame:
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

class BubblewrapSandbox(ABC):
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
        writable_cache: Caches = (),
        shared_bytes: int = 512 * (1 << 20),
    ) -> None: ...
    def __attrs_post_init__(self) -> None: ...
    def facts_about(self, command: Sequence[str], env: Mapping[str, str]) -> str: ...
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
    writable_cache: Caches

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

class ConflictDetails:
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
        judge: JudgeRule = JudgeRule.DELTA,
        apply_policy: ApplyPolicy = ApplyPolicy(),
        test_filter: TestFileFilter | None = None,
        scorer: ConflictScorer = ConflictScorer(),
        test_base: bool = True,
        test_other: bool = False,
    ) -> None: ...
    def __attrs_post_init__(self) -> None: ...
    async def aevaluate(self, pair: FeaturePair) -> MergeReport: ...
    apply_policy: ApplyPolicy
    def evaluate(self, pair: FeaturePair) -> MergeReport: ...
    def evaluate_team(self, team: FeatureTeam) -> TeamReport: ...
    judge: JudgeRule
    runner: TestRunner | None
    scorer: ConflictScorer
    strategies: tuple[MergeStrategy, ...]
    test_base: bool
    test_filter: TestFileFilter | None
    test_other: bool

class Explanation:
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
        options: UsedOptions | None = None,
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
    options: UsedOptions | None
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

class Feature:
    def __init__(
        self,
        *,
        number: int,
        patch: Patch,
        tests: TestSuite | None = None,
        description: str = '',
        base: Snapshot | str | None = None,
        agent: AgentRun | None = None,
    ) -> None: ...
    agent: AgentRun | None
    base: Snapshot | str | None
    description: str
    number: int
    patch: Patch
    tests: TestSuite | None

class FeaturePair:
    def __init__(
        self,
        *,
        repo_name: str,
        task_id: int,
        base: Snapshot = None,
        feature1: Feature,
        feature2: Feature,
        joint: TestSuite | None = None,
        regression: TestSuite | None = None,
        model: str | None = None,
        setting: str | None = None,
        k: int = 1,
    ) -> None: ...
    def __attrs_post_init__(self) -> None: ...
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

class FeatureTeam:
    def __init__(
        self,
        *,
        repo_name: str,
        task_id: int,
        base: Snapshot = None,
        features: tuple[Feature, ...],
        joint: TestSuite | None = None,
        regression: TestSuite | None = None,
        model: str | None = None,
        setting: str | None = None,
        k: int = 1,
    ) -> None: ...
    def __attrs_post_init__(self) -> None: ...
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
    may_invent: bool = True
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

class LandingPlan:
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
        suites: tuple[TeamSuite, ...] = (),
        is_tested: bool = False,
        is_exact: bool = False,
        runs_used: int = 0,
        budget: int = 0,
        problem: str = '',
        base_tree_id: str,
        base_commit: str | None = None,
        tree_id: str,
        changes: Changes = Changes(),
        options: UsedOptions | None = None,
        dropped_files: tuple[str, ...] = (),
        reset_files: tuple[str, ...] = (),
        flaky: tuple[str, ...] = (),
        hazards: tuple[Hazard, ...] = (),
    ) -> None: ...
    def __rich__(self) -> Renderable: ...
    def __str__(self) -> str: ...
    def _repr_html_(self) -> str: ...
    base_commit: str | None
    base_tree_id: str
    budget: int
    changes: Changes
    def diff(self, base: Snapshot) -> bytes: ...
    dropped_files: tuple[str, ...]
    examined_size: int
    flaky: tuple[str, ...]
    @classmethod
    def from_dict(cls, data: object) -> Self: ...
    @classmethod
    def from_json(cls, text: str | bytes) -> Self: ...
    has_tests: bool
    hazards: tuple[Hazard, ...]
    is_exact: bool
    is_tested: bool
    @property
    def landed(self) -> _Numbers: ...
    left_out: tuple[LeftOut, ...]
    merges: tuple[PairMerge, ...]
    minimal_conflicts: tuple[_Numbers, ...]
    @property
    def numbers(self) -> _Numbers: ...
    options: UsedOptions | None
    order: _Numbers
    order_dependent: tuple[OrderDependence, ...]
    @property
    def pairs(self) -> Mapping[tuple[int, int], PairOutcome]: ...
    problem: str
    reset_files: tuple[str, ...]
    runs_used: int
    strategy: str
    suites: tuple[TeamSuite, ...]
    def to_dict(self) -> dict[str, Any]: ...
    def to_json(self) -> str: ...
    tree_id: str
    @property
    def warnings(self) -> tuple[str, ...]: ...

class LocalSandbox(ABC):
    def __init__(
        self,
        *,
        inherit: tuple[str, ...] = (),
        output_limit: int = 1 << 20,
        memory_bytes: int | None = None,
        file_bytes: int | None = None,
        processes: int | None = None,
    ) -> None: ...
    def __attrs_post_init__(self) -> None: ...
    def facts_about(self, command: Sequence[str], env: Mapping[str, str]) -> str: ...
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

class MergeReport:
    def __init__(
        self,
        *,
        repo_name: str,
        task_id: int,
        timestamp: dt.datetime,
        base_tree_id: str = '',
        base_commit: str | None = None,
        model: str | None = None,
        setting: str | None = None,
        k: int = 1,
        versions: Mapping[str, str] = dict(),
        failure: Failure | None = None,
        judge: JudgeRule = JudgeRule.ABSOLUTE,
        options: UsedOptions | None = None,
        base_joint_tests: TestResult | None = None,
        base_regression_tests: TestResult | None = None,
        attempts: tuple[Attempt, ...] = (),
        feature1: FeatureReport,
        feature2: FeatureReport,
        conflict_details: ConflictDetails | None,
        conflicts: tuple[Conflict, ...] = (),
        diff: bytes | None = None,
    ) -> None: ...
    def __rich__(self) -> Renderable: ...
    def __str__(self) -> str: ...
    def _repr_html_(self) -> str: ...
    @property
    def agent_usage(self) -> AgentUsage: ...
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
    def from_dict(cls, data: object) -> Self: ...
    @classmethod
    def from_json(cls, text: str | bytes) -> Self: ...
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
    options: UsedOptions | None
    @property
    def preexisting_failures(self) -> tuple[str, ...]: ...
    @property
    def problem(self) -> str: ...
    repo_name: str
    def resolutions(self, strategy: str) -> tuple[ConflictResolution, ...]: ...
    def reward(self, policy: object = 'strict') -> dict[str, float]: ...
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

class Patch:
    def __init__(
        self,
        *,
        files: tuple[FilePatch, ...],
        data: bytes = b'',
        problem: str = '',
        changes: Changes | None = None,
    ) -> None: ...
    def __bytes__(self) -> bytes: ...
    changes: Changes | None
    data: bytes
    files: tuple[FilePatch, ...]
    @classmethod
    def of(cls, changes: Changes) -> Self: ...
    def on(self, base: Snapshot) -> Patch: ...
    @classmethod
    def parse(
        cls,
        data: bytes | bytearray | memoryview | str | Patch,
        *,
        origin: str | None = None,
    ) -> Patch: ...
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

class PatchStatus(StrEnum):
    APPLIED = 'applied'
    EMPTY = 'empty'
    FAILED = 'failed'
    NOT_TRIED = 'not_tried'
    PARTIAL = 'partial'
    @property
    def is_usable(self) -> bool: ...

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
    def note(self, key: str) -> None: ...
    def prepare(self) -> None: ...
    def put(self, key: str, report: GroupReport) -> None: ...
    def put_packed(self, key: str, packed: Packed) -> None: ...
    def set_aside(self, key: str) -> None: ...

class Resolution:
    def __init__(
        self,
        *,
        text: bytes | None = None,
        rule: str = '',
        reason: str = '',
        is_binding: bool = False,
        is_provisional: bool = False,
    ) -> None: ...
    is_binding: bool
    is_provisional: bool
    reason: str
    rule: str
    text: bytes | None

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
        framework: Framework = 'pytest',
        timeout_seconds: float | None = None,
        env: Mapping[str, str] | None = None,
        python: Folder | None = None,
        setup: Iterable[str] | Iterable[Iterable[str]] = (),
    ) -> TestSuite: ...
    task_id: int
    def team(self, *numbers: int, **options: Unpack[PairOptions]) -> FeatureTeam: ...
    def teams(self, size: int) -> Iterator[tuple[int, ...]]: ...
    def test_command(self) -> tuple[str, ...]: ...
    def tests_patch(self, feature: int) -> Patch: ...

class TeamReport:
    def __init__(
        self,
        *,
        repo_name: str,
        task_id: int,
        timestamp: dt.datetime,
        base_tree_id: str = '',
        base_commit: str | None = None,
        model: str | None = None,
        setting: str | None = None,
        k: int = 1,
        versions: Mapping[str, str] = dict(),
        failure: Failure | None = None,
        judge: JudgeRule = JudgeRule.ABSOLUTE,
        options: UsedOptions | None = None,
        base_joint_tests: TestResult | None = None,
        base_regression_tests: TestResult | None = None,
        features: tuple[FeatureReport, ...],
        attempts: tuple[TeamAttempt, ...] = (),
        merges: tuple[TeamStep, ...] = (),
    ) -> None: ...
    def __rich__(self) -> Renderable: ...
    def __str__(self) -> str: ...
    def _repr_html_(self) -> str: ...
    @property
    def agent_usage(self) -> AgentUsage: ...
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
    def from_dict(cls, data: object) -> Self: ...
    @classmethod
    def from_json(cls, text: str | bytes) -> Self: ...
    @property
    def hazards(self) -> tuple[Hazard, ...]: ...
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
    options: UsedOptions | None
    @property
    def preexisting_failures(self) -> tuple[str, ...]: ...
    @property
    def problem(self) -> str: ...
    repo_name: str
    def reward(self, policy: object = 'strict') -> dict[str, float]: ...
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

class TestResult:
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
        framework: Framework = 'pytest',
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
    framework: Framework
    @property
    def import_roots(self) -> tuple[str, ...]: ...
    patch: Patch
    required: tuple[str, ...] | None
    @property
    def script_words(self) -> tuple[str, ...]: ...
    setup: tuple[tuple[str, ...], ...]
    timeout_seconds: float

class Verdict(StrEnum):
    CORRECT = 'correct'
    INCORRECT = 'incorrect'
    NOT_RUN = 'not_run'
    UNHANDLED = 'unhandled'

async def aevaluate(*args: Any, **options: Any) -> MergeReport: ...

def apply_patch(
    base: Snapshot,
    patch: GivenPatch,
    policy: ApplyPolicy = ApplyPolicy(),
) -> ApplyResult: ...

def audit(
    base: Snapshot,
    features: Iterable[GivenSide],
    integrated: GivenTree,
    suites: Mapping[int, TestSuite] | None = None,
    *,
    joint: TestSuite | None = None,
    regression: TestSuite | None = None,
    runner: TestRunner | None = None,
    judge: JudgeName | JudgeRule = JudgeRule.DELTA,
    strategies: Iterable[str | MergeStrategy] = ('naive', 'union', 'structured'),
    apply_policy: ApplyPolicy | None = None,
    test_filter: TestFileFilter | None = None,
) -> Audit: ...

def available_strategies() -> tuple[str, ...]: ...

def cascade(
    *members: str | MergeStrategy,
    name: str | None = None,
    takes_sides: bool = False,
) -> CascadeStrategy: ...

def compare(
    first_reports: FactsSource,
    second_reports: FactsSource,
    decider: str | Policy,
    *,
    first: str = 'first',
    second: str = 'second',
    confidence: float = 0.95,
    cluster: Cluster | None = None,
) -> Comparison: ...

def default_sandbox(
    *,
    readable: Iterable[_Path] = (),
    writable_cache: CachesLike = (),
) -> BubblewrapSandbox | LocalSandbox: ...

def evaluate(
    setting: SettingName | Setting,
    repo_name: str,
    task_id: int,
    feature1_id: int,
    feature2_id: int,
    model: str,
    patch_location: PatchLocationName | PatchLocation = 'logs',
    *,
    dataset_dir: Folder | Dataset,
    repo_dir: Folder | None = None,
    logs_dir: Folder | None = None,
    run_name: str | None = None,
    k: int = 1,
    strategies: str | MergeStrategy | Iterable[str | MergeStrategy] = ('naive', 'union'),
    runner: TestRunner | None = None,
    run_tests: bool = True,
    in_image: bool = False,
    command: Iterable[str] | None = None,
    framework: Framework = 'pytest',
    timeout_seconds: float | None = None,
    env: Mapping[str, str] | None = None,
    python: Folder | None = None,
    setup: Iterable[str] | Iterable[Iterable[str]] = (),
    readable: Iterable[Folder] = (),
    judge: JudgeName | JudgeRule = JudgeRule.DELTA,
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
    setting: SettingName | Setting | None = None,
    repo_name: str | None = None,
    task_id: int | None = None,
    subset: str | None = None,
    evaluator: Evaluator | None = None,
    suite_of: SuiteOf = Task.suite,
    in_image: bool = False,
    readable: Iterable[Folder] = (),
    teams: bool = False,
    **options: Unpack[SweepOptions],
) -> Iterator[MergeReport | TeamReport]: ...

def explain(
    report: MergeReport,
    pair: FeaturePair,
    *,
    strategy: str | MergeStrategy | None = None,
    runner: TestRunner,
    budget: int = 60,
    evaluator: Evaluator | None = None,
) -> Explanation: ...

def get_strategy(name: str, /, **options: object) -> MergeStrategy: ...

def gold_matrix(
    task: Task,
    *,
    repo_dir: Folder | None = None,
    evaluator: Evaluator | None = None,
    suite_of: SuiteOf = Task.suite,
    in_image: bool = False,
    readable: Iterable[Folder] = (),
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
    readable: Iterable[Folder] = (),
    **options: Unpack[SweepOptions],
) -> Iterator[TeamReport]: ...

def land(
    base: Snapshot,
    patches: Iterable[GivenSide],
    *,
    suites: Mapping[int, TestSuite] | None = None,
    joint: TestSuite | None = None,
    regression: TestSuite | None = None,
    strategy: str | MergeStrategy = 'structured',
    order: Literal['search', 'given'] | Sequence[int] = 'search',
    budget: int = 50,
    runner: TestRunner | None = None,
    judge: JudgeName | JudgeRule = JudgeRule.DELTA,
    apply_policy: ApplyPolicy | None = None,
    test_filter: TestFileFilter | None = None,
) -> LandingPlan: ...

def merge(
    base: Snapshot,
    ours: GivenPatch | ApplyResult,
    theirs: GivenPatch | ApplyResult,
    *,
    strategy: str | MergeStrategy = 'naive',
    labels: Labels | None = None,
) -> MergeOutcome: ...

def merge_base(repo: str | os.PathLike[str], one: str, other: str) -> Snapshot: ...

def probe(
    repo: str | os.PathLike[str],
    refs: Iterable[Ref],
    onto: Ref = 'main',
    suites: Mapping[Ref, TestSuite] | None = None,
    strategy: str | MergeStrategy = 'naive',
    *,
    joint: TestSuite | None = None,
    regression: TestSuite | None = None,
    runner: TestRunner | None = None,
    budget: int = 50,
    judge: JudgeName | JudgeRule = JudgeRule.DELTA,
    test_filter: TestFileFilter | None = None,
) -> Probe: ...

def provenance(
    base: Snapshot,
    sides: Iterable[GivenSide],
    merged: GivenTree,
    *,
    apply_policy: ApplyPolicy | None = None,
) -> Provenance: ...

def rank(
    summaries: Mapping[Hashable, Summary | FactsSource],
    decider: str | Policy = 'strict',
    *,
    size: int | None = None,
    confidence: float = 0.95,
    draws: int = 10000,
    seed: int = 0,
) -> Ranking: ...

def resolve_blocks(
    merge_input: MergeInput,
    propose: Callable[[ConflictBlock], Sequence[Resolution]],
) -> MergeOutcome: ...

def resolve_conflicts(
    merge_input: MergeInput,
    answer: Callable[[Conflict], bytes | Gone | None],
) -> MergeOutcome: ...

def summarize(
    reports: FactsSource,
    *,
    by: By | None = None,
    policies: str | Policy | Iterable[str | Policy] | None = None,
    gold: FactsSource | None = None,
    confidence: float = 0.95,
    cluster: Cluster | None = None,
) -> Summary: ...

def to_pandas(reports: FactsSource | Ranking, level: LevelName = 'pairs') -> PandasFrame: ...

def to_records(
    reports: FactsSource | Ranking,
    level: LevelName = 'pairs',
) -> list[dict[str, Any]]: ...

def write_page(
    reports: Iterable[GroupReport],
    path: str | os.PathLike[str],
    *,
    title: str | None = None,
    text_limit: int = 20000,
    explanations: Iterable[Explanation] = (),
    policies: str | Policy | Iterable[str | Policy] | None = None,
) -> Path: ...

def write_report(report: GroupReport, directory: str | os.PathLike[str]) -> tuple[Path, ...]: ...

def write_reward(
    report: GroupReport | Audit,
    path: str | os.PathLike[str],
    *,
    policy: str | Policy = 'strict',
) -> Path: ...
