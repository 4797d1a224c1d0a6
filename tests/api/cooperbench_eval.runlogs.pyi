"""The public names of `cooperbench_eval.runlogs`; `python docs/tools/public_api.py` writes this."""

class CooperBenchResult:
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

class CooperBenchRun:
    def __init__(
        self,
        *,
        evals: tuple[CooperBenchResult, ...],
        unreadable: tuple[ReportError, ...],
    ) -> None: ...
    evals: tuple[CooperBenchResult, ...]
    unreadable: tuple[ReportError, ...]

class PatchLocation(StrEnum):
    CACHE = 'cache'
    GOLD = 'gold'
    HF = 'hf'
    LOGS = 'logs'
    @classmethod
    def of(cls, word: str) -> Self: ...

class Setting(StrEnum):
    COOP = 'coop'
    COOP_ABLATION = 'coop_ablation'
    PLAN_EXECUTE = 'plan_execute'
    SINGLE = 'single'
    SOLO = 'solo'
    TEAM = 'team'
    @classmethod
    def of(cls, word: str) -> Self: ...

def read_eval(path: str | os.PathLike[str]) -> CooperBenchResult: ...

def read_evals(logs_dir: str | os.PathLike[str], run_name: str) -> CooperBenchRun: ...
