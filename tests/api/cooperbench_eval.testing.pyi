"""The public names of `cooperbench_eval.testing`; `python docs/tools/public_api.py` writes this."""

class Counterexample:
    def __init__(self, *, given: str, came: str, wanted: str, mistake: str = '') -> None: ...
    def __str__(self) -> str: ...
    came: str
    given: str
    mistake: str
    wanted: str

class Law:
    def __init__(self, *, name: str, asks: str) -> None: ...
    asks: str
    name: str

class LawResult:
    def __init__(
        self,
        *,
        law: Law,
        status: LawStatus,
        reason: str = '',
        counterexample: Counterexample | None = None,
        cases: int = 0,
        answered: int | None = None,
    ) -> None: ...
    def __str__(self) -> str: ...
    answered: int | None
    cases: int
    counterexample: Counterexample | None
    @property
    def is_ok(self) -> bool: ...
    law: Law
    reason: str
    status: LawStatus

class LawStatus(StrEnum):
    BROKEN = 'broken'
    HELD = 'held'
    NOT_CHECKED = 'not_checked'
    OPTED_OUT = 'opted_out'

SANDBOX_LAWS: Final[tuple[SandboxLaw, ...]]

STRATEGY_LAWS: Final[tuple[StrategyLaw, ...]]

class SandboxLaws:
    def __init_subclass__(cls) -> None: ...
    isolates: bool = False
    def leftovers(self) -> Sequence[object]: ...
    def make_sandbox(self) -> Sandbox: ...
    opt_out: Mapping[str, str] = {}
    parallel_runs: int = 24
    parallel_width: int = 8
    patience_seconds: float = 5.0
    def pytest_generate_tests(self, metafunc: pytest.Metafunc) -> None: ...
    slack_seconds: float = 5.0
    def test_law(self, law: SandboxLaw) -> None: ...

class StrategyLaws:
    def __init_subclass__(cls) -> None: ...
    examples: int | None = None
    files: Files = {}
    def make_strategy(self) -> MergeStrategy: ...
    opt_out: Mapping[str, str] = {}
    def pytest_generate_tests(self, metafunc: pytest.Metafunc) -> None: ...
    def test_law(self, law: StrategyLaw) -> None: ...

def check_sandbox(
    sandbox: str | Sandbox,
    /,
    *,
    isolates: bool = False,
    opt_out: Mapping[str, str] | None = None,
    leftovers: Callable[[], Sequence[object]] = list,
    slack_seconds: float = 5.0,
    parallel_runs: int = 24,
    deadline_seconds: float = 120.0,
) -> tuple[LawResult, ...]: ...

def check_strategy(
    strategy: str | MergeStrategy,
    /,
    *,
    opt_out: Mapping[str, str] | None = None,
    files: generators.Files | None = None,
    examples: int = 100,
    seed: int | None = 0,
    deadline_seconds: float | None = 30.0,
) -> tuple[LawResult, ...]: ...
