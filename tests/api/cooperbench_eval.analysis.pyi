"""The public names of `cooperbench_eval.analysis`; `python docs/tools/public_api.py` writes this."""

class AgentSummary:
    def __init__(
        self,
        *,
        cost_usd: Distribution = Distribution(),
        steps: Distribution = Distribution(),
        input_tokens: Distribution = Distribution(),
        output_tokens: Distribution = Distribution(),
        cache_read_tokens: Distribution = Distribution(),
        cache_write_tokens: Distribution = Distribution(),
        messages_sent: Distribution = Distribution(),
    ) -> None: ...
    cache_read_tokens: Distribution
    cache_write_tokens: Distribution
    cost_usd: Distribution
    input_tokens: Distribution
    messages_sent: Distribution
    output_tokens: Distribution
    steps: Distribution
    def to_dict(self) -> dict[str, Any]: ...

class AttemptFacts:
    def __init__(
        self,
        *,
        service_failed: bool = False,
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

class Comparison:
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
        clusters: tuple[Cells, ...] | None = None,
    ) -> None: ...
    def __rich__(self) -> Renderable: ...
    def __str__(self) -> str: ...
    def _repr_html_(self) -> str: ...
    both: int
    clusters: tuple[Cells, ...] | None
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

class CooperBenchAgreement:
    def __init__(
        self,
        *,
        comparison: Comparison,
        disagreements: tuple[CooperBenchDisagreement, ...] = (),
    ) -> None: ...
    def __rich__(self) -> Renderable: ...
    def __str__(self) -> str: ...
    def _repr_html_(self) -> str: ...
    @property
    def agreeing(self) -> int: ...
    comparison: Comparison
    disagreements: tuple[CooperBenchDisagreement, ...]

class CooperBenchDisagreement:
    def __init__(
        self,
        *,
        cooperbench: CooperBenchResult,
        ours: PairFacts,
        judged: PolicyVerdict,
    ) -> None: ...
    cooperbench: CooperBenchResult
    judged: PolicyVerdict
    ours: PairFacts

class CostPerCorrect:
    def __init__(
        self,
        *,
        pairs: int = 0,
        unknown: int = 0,
        correct: int = 0,
        total_usd: float = 0.0,
        low: float | None = None,
        high: float | None = None,
    ) -> None: ...
    correct: int
    high: float | None
    low: float | None
    pairs: int
    def to_dict(self) -> dict[str, Any]: ...
    total_usd: float
    unknown: int
    @property
    def value(self) -> float | None: ...

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

class GoldSummary:
    def __init__(self, *, ceiling: Rate, reached: Rate, beyond: Rate, unmatched: int = 0) -> None: ...
    beyond: Rate
    ceiling: Rate
    reached: Rate
    def to_dict(self) -> dict[str, Any]: ...
    unmatched: int

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
    def of(
        cls,
        shares: Iterable[float],
        *,
        confidence: float = 0.95,
        clusters: Iterable[Hashable] | None = None,
    ) -> Self: ...
    def to_dict(self) -> dict[str, Any]: ...

POLICIES: Mapping[str, Policy]

class PairFacts:
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
        agent_usage: AgentUsage = AgentUsage(),
    ) -> None: ...
    agent_usage: AgentUsage
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
    def from_dict(cls, data: object) -> Self: ...
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
    def judge(self, pair: GroupFacts | GroupReport) -> PolicyVerdict: ...
    lead_alone: bool
    name: str
    rule: PolicyRule
    skips_empty: bool
    strategies: tuple[str, ...]

class PolicyRule(StrEnum):
    ANY_PASSES = 'any_passes'
    FIRST_MERGES = 'first_merges'

class PolicySummary:
    def __init__(
        self,
        *,
        name: str,
        verdicts: Verdicts,
        confidence: float = 0.95,
        tasks: Mapping[str, Verdicts] = dict(),
        cluster: Cluster | None = None,
        gold: GoldSummary | None = None,
        untried: tuple[str, ...] = (),
        cost_per_correct: CostPerCorrect = CostPerCorrect(),
    ) -> None: ...
    def __rich__(self) -> Renderable: ...
    def __str__(self) -> str: ...
    def _repr_html_(self) -> str: ...
    cluster: Cluster | None
    confidence: float
    @property
    def correct(self) -> Rate: ...
    cost_per_correct: CostPerCorrect
    def effort_reduction(self, k: float) -> float | None: ...
    gold: GoldSummary | None
    name: str
    tasks: Mapping[str, Verdicts]
    def to_dict(self) -> dict[str, Any]: ...
    untried: tuple[str, ...]
    verdicts: Verdicts

class PolicyVerdict:
    def __init__(self, *, verdict: Verdict, by: str = '', is_missing_input: bool = False) -> None: ...
    by: str
    is_missing_input: bool
    verdict: Verdict

class RankedTeam:
    def __init__(
        self,
        *,
        name: str,
        correct: Rate,
        unanswered: int = 0,
        rank: int,
        best_rank: int,
        worst_rank: int,
        groups: tuple[str, ...],
    ) -> None: ...
    best_rank: int
    correct: Rate
    groups: tuple[str, ...]
    name: str
    rank: int
    def to_dict(self) -> dict[str, Any]: ...
    unanswered: int
    worst_rank: int

class Ranking:
    def __init__(
        self,
        *,
        decider: str,
        size: int | None = None,
        teams: tuple[RankedTeam, ...],
        tasks: tuple[str, ...],
        left_out: Mapping[str, tuple[str, ...]] = dict(),
        unmatched: Mapping[str, int] = dict(),
        differences: tuple[TeamDifference, ...],
        confidence: float = 0.95,
        flips: int,
        is_exact: bool,
        seed: int = 0,
    ) -> None: ...
    def __rich__(self) -> Renderable: ...
    def __str__(self) -> str: ...
    def _repr_html_(self) -> str: ...
    confidence: float
    decider: str
    differences: tuple[TeamDifference, ...]
    flips: int
    @property
    def groups(self) -> Mapping[str, tuple[str, ...]]: ...
    is_exact: bool
    left_out: Mapping[str, tuple[str, ...]]
    def rows(self) -> list[list[Any]]: ...
    seed: int
    size: int | None
    tasks: tuple[str, ...]
    teams: tuple[RankedTeam, ...]
    def to_dict(self) -> dict[str, Any]: ...
    def to_records(self) -> list[dict[str, Any]]: ...
    unmatched: Mapping[str, int]

class Rate:
    def __init__(
        self,
        count: int,
        total: int,
        confidence: float = 0.95,
        clusters: tuple[Counts, ...] | None = None,
    ) -> None: ...
    def __rich__(self) -> Renderable: ...
    def __str__(self) -> str: ...
    def _repr_html_(self) -> str: ...
    clusters: tuple[Counts, ...] | None
    confidence: float
    count: int
    @property
    def effective_total(self) -> float | None: ...
    @property
    def high(self) -> float | None: ...
    @property
    def low(self) -> float | None: ...
    @property
    def rate(self) -> float | None: ...
    def to_dict(self) -> dict[str, Any]: ...
    total: int

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

class StrategySummary:
    def __init__(
        self,
        *,
        name: str,
        verdicts: Verdicts,
        confidence: float = 0.95,
        tasks: Mapping[str, Verdicts] = dict(),
        cluster: Cluster | None = None,
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
        gold: GoldSummary | None = None,
        cost_per_correct: CostPerCorrect = CostPerCorrect(),
    ) -> None: ...
    def __add__(self, other: UsageTotals) -> UsageTotals: ...
    def __rich__(self) -> Renderable: ...
    def __str__(self) -> str: ...
    def _repr_html_(self) -> str: ...
    blame: Mapping[BlameKind, int]
    cases: Rate
    cluster: Cluster | None
    completion_tokens: int
    confidence: float
    @property
    def correct(self) -> Rate: ...
    cost_per_correct: CostPerCorrect
    cost_usd: float
    def effort_reduction(self, k: float) -> float | None: ...
    features: Rate
    gold: GoldSummary | None
    name: str
    prompt_tokens: int
    requests: int
    seconds: Distribution
    tasks: Mapping[str, Verdicts]
    test_seconds: Distribution
    def to_dict(self) -> dict[str, Any]: ...
    unpriced_requests: int
    verdicts: Verdicts

class Summary:
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
        unanswerable: tuple[str, ...] = (),
        comparisons: Mapping[tuple[str, str], Comparison],
        by: tuple[str, ...] = (),
        groups: Mapping[Hashable, Summary] = dict(),
        teams: Mapping[int, TeamSummary] = dict(),
        confidence: float = 0.95,
        agents: AgentSummary = AgentSummary(),
        cluster: Cluster | None = None,
        clusters: Mapping[str, Mapping[PairStatus, int]] = dict(),
    ) -> None: ...
    def __rich__(self) -> Renderable: ...
    def __str__(self) -> str: ...
    def _repr_html_(self) -> str: ...
    agents: AgentSummary
    by: tuple[str, ...]
    cases_alone: Rate
    @property
    def clean(self) -> Rate: ...
    cluster: Cluster | None
    clusters: Mapping[str, Mapping[PairStatus, int]]
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
    unanswerable: tuple[str, ...]

class TeamAttemptFacts:
    def __init__(
        self,
        *,
        service_failed: bool = False,
        verdict: Verdict,
        absolute_verdict: Verdict = Verdict.NOT_RUN,
        requests: int = 0,
        unpriced_requests: int = 0,
        prompt_tokens: int = 0,
        completion_tokens: int = 0,
        cost_usd: float | None = 0.0,
        strategy: str,
        status: MergeStatus,
        blame: BlameKind,
        landed: tuple[int, ...] = (),
        left_out: tuple[LeftOut, ...] = (),
        conflicts_met: int = 0,
        duration_seconds: float = 0.0,
        is_unanswered: bool = False,
    ) -> None: ...
    def __add__(self, other: UsageTotals) -> UsageTotals: ...
    absolute_verdict: Verdict
    blame: BlameKind
    completion_tokens: int
    conflicts_met: int
    cost_usd: float | None
    @property
    def counted_absolute_verdict(self) -> Verdict: ...
    @property
    def counted_verdict(self) -> Verdict: ...
    duration_seconds: float
    is_unanswered: bool
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

class TeamDifference:
    def __init__(self, *, first: str, second: str, difference: float, p_value: float) -> None: ...
    difference: float
    first: str
    p_value: float
    second: str
    def to_dict(self) -> dict[str, Any]: ...

class TeamFacts:
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
        features: tuple[FeatureFacts, ...],
        merge_status: PairStatus,
        conflict_score: int | None = None,
        failure: FailureKind | None = None,
        problem: str = '',
        attempts: tuple[TeamAttemptFacts, ...] = (),
        language: str = '',
        agent_usage: AgentUsage = AgentUsage(),
    ) -> None: ...
    agent_usage: AgentUsage
    attempts: tuple[TeamAttemptFacts, ...]
    base_commit: str | None
    base_tree_id: str
    conflict_score: int | None
    failure: FailureKind | None
    features: tuple[FeatureFacts, ...]
    @classmethod
    def from_dict(cls, data: object) -> Self: ...
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

class TeamStrategySummary:
    def __init__(
        self,
        *,
        name: str,
        verdicts: Verdicts,
        confidence: float = 0.95,
        tasks: Mapping[str, Verdicts] = dict(),
        cluster: Cluster | None = None,
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
    cluster: Cluster | None
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
    tasks: Mapping[str, Verdicts]
    def to_dict(self) -> dict[str, Any]: ...
    unpriced_requests: int
    verdicts: Verdicts

class TeamSummary:
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
        agents: AgentSummary = AgentSummary(),
    ) -> None: ...
    def __rich__(self) -> Renderable: ...
    def __str__(self) -> str: ...
    def _repr_html_(self) -> str: ...
    agents: AgentSummary
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

class Tries:
    def __init__(self, *, decider: str, within: tuple[Rate, ...], left_out: int = 0) -> None: ...
    def __rich__(self) -> Renderable: ...
    def __str__(self) -> str: ...
    def _repr_html_(self) -> str: ...
    decider: str
    left_out: int
    within: tuple[Rate, ...]

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
    def is_mostly_unanswered(self) -> bool: ...
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

from cooperbench_eval import compare as compare

def compare_with_cooperbench(
    evals: Iterable[CooperBenchResult],
    reports: FactsSource,
    *,
    policy: str | Policy = 'cooperbench-0.0.29',
) -> CooperBenchAgreement: ...

def facts_of(report: GroupReport) -> GroupFacts: ...

from cooperbench_eval import rank as rank

def solved_within(
    reports: FactsSource,
    decider: str | Policy,
    *,
    tries: int | None = None,
    confidence: float = 0.95,
    cluster: Cluster | None = None,
) -> Tries: ...

from cooperbench_eval import summarize as summarize

from cooperbench_eval import to_pandas as to_pandas

def to_polars(reports: FactsSource | Ranking, level: LevelName = 'pairs') -> PolarsFrame: ...

from cooperbench_eval import to_records as to_records
