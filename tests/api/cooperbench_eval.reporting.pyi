"""The public names of `cooperbench_eval.reporting`; `python docs/tools/public_api.py` writes this."""

from cooperbench_eval import Attempt as Attempt

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
    ) -> None: ...
    feature: int | None
    suite: TeamSuite
    tests: tuple[str, ...]

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

class HunkRole(StrEnum):
    BREAKS = 'breaks'
    NEEDED = 'needed'

from cooperbench_eval import LandingPlan as LandingPlan

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
    ) -> None: ...
    def __getstate__(self) -> dict[str, Any]: ...
    def __setstate__(self, state: Mapping[str, Any]) -> None: ...
    diff: bytes | None
    dropped_files: tuple[str, ...]
    hunks: tuple[HunkPlacement, ...]
    @property
    def is_usable(self) -> bool: ...
    names_test_framework: tuple[str, ...]
    reason: str
    status: PatchStatus
    touched_runner_control: tuple[str, ...]

from cooperbench_eval import Probe as Probe

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

class ProbedBranch(ABC):
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
    unfiltered: tuple[str, ...]
    unsettled: tuple[str, ...]

class ProbedPair(ABC):
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

from cooperbench_eval import TeamReport as TeamReport

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

class TeamSuite(StrEnum):
    FEATURE = 'feature'
    JOINT = 'joint'
    REGRESSION = 'regression'

from cooperbench_eval import Verdict as Verdict

def report_schema(kind: Literal['pair', 'team'] = 'pair') -> dict[str, Any]: ...

from cooperbench_eval import write_report as write_report
