"""The public names of `cooperbench_eval.reporting`; `python docs/tools/public_api.py` writes this."""

from cooperbench_eval import Attempt as Attempt

class Audit:
    def __init__(
        self,
        *,
        features: tuple[int, ...],
        base_tree_id: str,
        tree_id: str,
        files: tuple[AuditedFile, ...] = (),
        foreign: tuple[ForeignLines, ...] = (),
        foreign_files: tuple[str, ...] = (),
        comparisons: tuple[StrategyComparison, ...] = (),
        suites: tuple[SuiteRun, ...] = (),
        options: UsedOptions | None = None,
        dropped_files: tuple[str, ...] = (),
        missing: tuple[int, ...] = (),
        rejected: tuple[LeftOut, ...] = (),
        hazards: tuple[Hazard, ...] = (),
    ) -> None: ...
    def __rich__(self) -> Renderable: ...
    def __str__(self) -> str: ...
    def _repr_html_(self) -> str: ...
    base_tree_id: str
    comparisons: tuple[StrategyComparison, ...]
    dropped_files: tuple[str, ...]
    features: tuple[int, ...]
    def file(self, feature: int, path: str) -> AuditedFile | None: ...
    files: tuple[AuditedFile, ...]
    foreign: tuple[ForeignLines, ...]
    foreign_files: tuple[str, ...]
    @classmethod
    def from_dict(cls, data: object) -> Self: ...
    @classmethod
    def from_json(cls, text: str | bytes) -> Self: ...
    hazards: tuple[Hazard, ...]
    @property
    def is_complete(self) -> bool: ...
    @property
    def lost_files(self) -> tuple[AuditedFile, ...]: ...
    missing: tuple[int, ...]
    def of(self, feature: int) -> tuple[AuditedFile, ...]: ...
    options: UsedOptions | None
    @property
    def passed_suites(self) -> int: ...
    @property
    def problem(self) -> str: ...
    rejected: tuple[LeftOut, ...]
    def reward(self) -> dict[str, float]: ...
    @property
    def score(self) -> float | None: ...
    suites: tuple[SuiteRun, ...]
    def to_dict(self) -> dict[str, Any]: ...
    def to_json(self) -> str: ...
    tree_id: str
    @property
    def warnings(self) -> tuple[str, ...]: ...

class AuditedDefinition:
    def __init__(
        self,
        *,
        name: str,
        line: int,
        fate: Fate,
        is_new: bool = False,
        is_removed: bool = False,
    ) -> None: ...
    fate: Fate
    is_new: bool
    is_removed: bool
    line: int
    name: str

class AuditedEntry:
    def __init__(self, *, aspect: EntryAspect, fate: Fate) -> None: ...
    aspect: EntryAspect
    fate: Fate

class AuditedFile:
    def __init__(
        self,
        *,
        feature: int,
        path: str,
        merged_path: str | None = None,
        added: tuple[AuditedLines, ...] = (),
        removed: tuple[AuditedLines, ...] = (),
        definitions: tuple[AuditedDefinition, ...] = (),
        entries: tuple[AuditedEntry, ...] = (),
    ) -> None: ...
    added: tuple[AuditedLines, ...]
    def added_lines(self, fate: Fate | None = None) -> int: ...
    definitions: tuple[AuditedDefinition, ...]
    entries: tuple[AuditedEntry, ...]
    @property
    def fate(self) -> Fate: ...
    @property
    def fates(self) -> Iterator[Fate]: ...
    feature: int
    @property
    def lost(self) -> tuple[AuditedLines, ...]: ...
    merged_path: str | None
    path: str
    removed: tuple[AuditedLines, ...]
    def removed_lines(self, fate: Fate | None = None) -> int: ...
    @property
    def restored(self) -> tuple[AuditedLines, ...]: ...

class AuditedLines:
    def __init__(
        self,
        *,
        fate: Fate,
        first: int,
        last: int,
        text: bytes,
        in_conflict: bool = False,
        merged_path: str | None = None,
        merged_line: int | None = None,
    ) -> None: ...
    @property
    def count(self) -> int: ...
    fate: Fate
    first: int
    in_conflict: bool
    last: int
    merged_line: int | None
    merged_path: str | None
    text: bytes

from cooperbench_eval import Blame as Blame

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
        reason: str = '',
    ) -> None: ...
    feature: int | None
    reason: str
    suite: TeamSuite
    tests: tuple[str, ...]

class ConflictResolution:
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
        conflict: Conflict,
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

class ConflictedFile:
    def __init__(
        self,
        *,
        path: str,
        kinds: tuple[ConflictKind, ...],
        conflicts: int = 1,
        definitions: tuple[str, ...] = (),
    ) -> None: ...
    conflicts: int
    definitions: tuple[str, ...]
    kinds: tuple[ConflictKind, ...]
    path: str

class EntryAspect(StrEnum):
    CONTENTS = 'contents'
    DELETION = 'deletion'
    END = 'end'
    FILE = 'file'
    MODE = 'mode'
    NAME = 'name'

class ExplainedHunk:
    def __init__(self, *, feature: int, path: str, line: int, text: str, role: HunkRole) -> None: ...
    feature: int
    line: int
    path: str
    role: HunkRole
    text: str

from cooperbench_eval import Explanation as Explanation

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

class Fate(StrEnum):
    CHANGED = 'changed'
    KEPT = 'kept'
    LOST = 'lost'
    MOVED = 'moved'
    SUPERSEDED = 'superseded'

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
        agent: AgentRun | None = None,
    ) -> None: ...
    agent: AgentRun | None
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

class FileKind(StrEnum):
    BINARY = 'binary'
    DELETED = 'deleted'
    LINK = 'link'
    SUBMODULE = 'submodule'
    TEXT = 'text'

class FileProvenance:
    def __init__(
        self,
        *,
        path: str,
        kind: FileKind,
        origin: Origin,
        runs: tuple[LineRun, ...] = (),
        renamed_from: str | None = None,
    ) -> None: ...
    kind: FileKind
    @property
    def line_count(self) -> int: ...
    origin: Origin
    @property
    def origins(self) -> Iterator[Origin]: ...
    path: str
    renamed_from: str | None
    runs: tuple[LineRun, ...]

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

class ForeignLines:
    def __init__(
        self,
        *,
        path: str,
        first: int,
        last: int,
        text: bytes,
        is_removed: bool = False,
    ) -> None: ...
    @property
    def count(self) -> int: ...
    first: int
    is_removed: bool
    last: int
    path: str
    text: bytes

class HunkRole(StrEnum):
    BREAKS = 'breaks'
    NEEDED = 'needed'

from cooperbench_eval import LandingPlan as LandingPlan

class LeftOut:
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

class LineRun:
    def __init__(self, *, first: int, last: int, origin: Origin) -> None: ...
    @property
    def count(self) -> int: ...
    first: int
    last: int
    origin: Origin

from cooperbench_eval import MergeReport as MergeReport

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

class Origin:
    def __init__(self, *, kind: OriginKind, features: tuple[int, ...] = ()) -> None: ...
    def __str__(self) -> str: ...
    features: tuple[int, ...]
    kind: OriginKind

class OriginKind(StrEnum):
    BASE = 'base'
    FEATURE = 'feature'
    MARKER = 'marker'
    RESOLVER = 'resolver'
    SEVERAL = 'several'
    UNKNOWN = 'unknown'

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
        diff: bytes | None = None,
        base_tree_id: str | None = None,
        base_commit: str | None = None,
    ) -> None: ...
    base_commit: str | None
    base_tree_id: str | None
    diff: bytes | None
    dropped_files: tuple[str, ...]
    hunks: tuple[HunkPlacement, ...]
    @property
    def is_usable(self) -> bool: ...
    names_test_framework: tuple[str, ...]
    reason: str
    status: PatchStatus
    touched_runner_control: tuple[str, ...]

class Probe:
    def __init__(
        self,
        *,
        onto: str,
        onto_commit: str,
        onto_tree: str,
        strategy: str,
        branches: tuple[ProbedBranch, ...],
        pairs: tuple[ProbedPair, ...] = (),
        plan: LandingPlan,
        replaced: tuple[str, ...] = (),
    ) -> None: ...
    def __rich__(self) -> Renderable: ...
    def __str__(self) -> str: ...
    def _repr_html_(self) -> str: ...
    def branch(self, name: str | os.PathLike[str]) -> ProbedBranch: ...
    branches: tuple[ProbedBranch, ...]
    @property
    def collisions(self) -> tuple[ProbedPair, ...]: ...
    @classmethod
    def from_dict(cls, data: object) -> Self: ...
    @classmethod
    def from_json(cls, text: str | bytes) -> Self: ...
    @property
    def hazards(self) -> tuple[Hazard, ...]: ...
    @property
    def landing(self) -> tuple[str, ...]: ...
    onto: str
    onto_commit: str
    onto_tree: str
    @property
    def options(self) -> UsedOptions | None: ...
    def pair(self, one: str | os.PathLike[str], other: str | os.PathLike[str]) -> ProbedPair: ...
    pairs: tuple[ProbedPair, ...]
    plan: LandingPlan
    replaced: tuple[str, ...]
    strategy: str
    def to_dict(self) -> dict[str, Any]: ...
    def to_json(self) -> str: ...
    @property
    def warnings(self) -> tuple[str, ...]: ...

class ProbeState(StrEnum):
    CLEAN = 'clean'
    CONFLICTS = 'conflicts'
    CONTAINED = 'contained'
    FAILED = 'failed'
    FAST_FORWARD = 'fast_forward'
    IN_PROGRESS = 'in_progress'
    MISSING = 'missing'
    NOT_EXAMINED = 'not_examined'
    RESOLVED = 'resolved'
    UNBORN = 'unborn'
    UNREADABLE = 'unreadable'
    UNRELATED = 'unrelated'
    @property
    def is_collision(self) -> bool: ...
    @property
    def is_complete(self) -> bool: ...

class ProbedBranch:
    def __init__(
        self,
        *,
        number: int,
        name: str,
        kind: RefKind,
        state: ProbeState,
        files: tuple[ConflictedFile, ...] = (),
        problem: str = '',
        commit_id: str | None = None,
        tree_id: str | None = None,
        is_dirty: bool = False,
        unfiltered: tuple[str, ...] = (),
        unsettled: tuple[str, ...] = (),
        uncommitted: tuple[str, ...] = (),
        unread_worktrees: tuple[str, ...] = (),
    ) -> None: ...
    def __rich__(self) -> Renderable: ...
    def __str__(self) -> str: ...
    def _repr_html_(self) -> str: ...
    commit_id: str | None
    files: tuple[ConflictedFile, ...]
    is_dirty: bool
    kind: RefKind
    name: str
    number: int
    problem: str
    state: ProbeState
    tree_id: str | None
    uncommitted: tuple[str, ...]
    unfiltered: tuple[str, ...]
    unread_worktrees: tuple[str, ...]
    unsettled: tuple[str, ...]
    @property
    def warnings(self) -> tuple[str, ...]: ...

class ProbedPair:
    def __init__(
        self,
        *,
        one: str,
        other: str,
        state: ProbeState,
        files: tuple[ConflictedFile, ...] = (),
        problem: str = '',
    ) -> None: ...
    def __rich__(self) -> Renderable: ...
    def __str__(self) -> str: ...
    def _repr_html_(self) -> str: ...
    files: tuple[ConflictedFile, ...]
    one: str
    other: str
    problem: str
    state: ProbeState

class Provenance:
    def __init__(
        self,
        *,
        features: tuple[int, ...],
        files: tuple[FileProvenance, ...],
        tree: Snapshot,
    ) -> None: ...
    def __rich__(self) -> Renderable: ...
    def __str__(self) -> str: ...
    def _repr_html_(self) -> str: ...
    def annotate(self, path: str) -> bytes: ...
    def counts(self) -> dict[str, int]: ...
    features: tuple[int, ...]
    def file(self, path: str) -> FileProvenance | None: ...
    files: tuple[FileProvenance, ...]
    def origin_of(self, path: str, line: int) -> Origin: ...
    def to_dict(self) -> dict[str, Any]: ...
    tree: Snapshot

class StrategyComparison:
    def __init__(
        self,
        *,
        strategy: str,
        status: MergeStatus,
        tree_id: str | None = None,
        files: tuple[str, ...] = (),
        failure: str = '',
    ) -> None: ...
    failure: str
    files: tuple[str, ...]
    @property
    def is_equal(self) -> bool: ...
    status: MergeStatus
    strategy: str
    tree_id: str | None

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
    @property
    def problem(self) -> str: ...
    suite: TeamSuite
    tests: TestResult | None

class TeamAttempt:
    def __init__(
        self,
        *,
        strategy: str,
        status: MergeStatus,
        hazards: tuple[Hazard, ...] = (),
        implementation: str,
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
    hazards: tuple[Hazard, ...]
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

class TeamBlame:
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

from cooperbench_eval import TeamReport as TeamReport

class TeamStep:
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

class TeamSuite(StrEnum):
    FEATURE = 'feature'
    JOINT = 'joint'
    REGRESSION = 'regression'

class UsedOptions:
    def __init__(
        self,
        *,
        strategies: tuple[str, ...],
        judge: JudgeRule,
        apply_policy: ApplyPolicy,
        test_filter: TestFileFilter | None = None,
        sandbox: str | None = None,
        repeats: int = 1,
        scorer: ConflictScorer | None = None,
    ) -> None: ...
    apply_policy: ApplyPolicy
    judge: JudgeRule
    repeats: int
    sandbox: str | None
    scorer: ConflictScorer | None
    strategies: tuple[str, ...]
    test_filter: TestFileFilter | None

from cooperbench_eval import Verdict as Verdict

def report_schema(kind: Literal['pair', 'team'] = 'pair') -> dict[str, Any]: ...

from cooperbench_eval import write_report as write_report
