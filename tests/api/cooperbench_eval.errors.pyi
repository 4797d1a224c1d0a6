"""The public names of `cooperbench_eval.errors`; `python docs/tools/public_api.py` writes this."""

class AnalysisError(CooperBenchEvalError, ValueError):
    def __init__(self, problem: str, available: tuple[str, ...] = ()) -> None: ...
    def __str__(self) -> str: ...
    available: tuple[str, ...]
    problem: str

class ArgumentError(CooperBenchEvalError, TypeError, ValueError):
    def __init__(self, argument: str, problem: str) -> None: ...
    def __str__(self) -> str: ...
    argument: str
    problem: str

class BatchError(CooperBenchEvalError):
    def __init__(self, problem: str, concerns: str | None = None) -> None: ...
    def __str__(self) -> str: ...
    concerns: str | None
    problem: str

from cooperbench_eval import CooperBenchEvalError as CooperBenchEvalError

class DatasetError(CooperBenchEvalError, LookupError):
    def __init__(self, problem: str, location: str) -> None: ...
    def __str__(self) -> str: ...
    location: str
    problem: str

class DuplicatePluginError(PluginError):
    def __init__(self, name: str, origins: tuple[str, ...]) -> None: ...
    def __str__(self) -> str: ...
    name: str
    origins: tuple[str, ...]

class DuplicateSandboxError(DuplicatePluginError):
    kind: str = 'sandbox'

class DuplicateStrategyError(StrategyError, DuplicatePluginError):
    ...

from cooperbench_eval import PatchError as PatchError

class PluginError(CooperBenchEvalError):
    kind: str = 'plug-in'

class PluginLoadError(PluginError):
    def __init__(self, name: str, origin: str, problem: str) -> None: ...
    def __str__(self) -> str: ...
    name: str
    origin: str
    problem: str

class ReportError(CooperBenchEvalError, ValueError):
    def __init__(self, problem: str, location: str | None = None) -> None: ...
    def __str__(self) -> str: ...
    location: str | None
    problem: str

class RepositoryError(CooperBenchEvalError):
    def __init__(self, location: str, problem: str) -> None: ...
    def __str__(self) -> str: ...
    location: str
    problem: str

class SandboxError(TestRunError):
    ...

class SandboxLoadError(PluginLoadError):
    kind: str = 'sandbox'

class StrategyError(CooperBenchEvalError):
    kind: str = 'merge strategy'

class StrategyFailedError(StrategyError):
    def __init__(self, name: str, problem: str) -> None: ...
    def __str__(self) -> str: ...
    name: str
    problem: str

class StrategyLoadError(StrategyError, PluginLoadError):
    ...

class TestRunError(CooperBenchEvalError):
    def __init__(self, problem: str, command: tuple[str, ...] = (), path: str = '') -> None: ...
    def __str__(self) -> str: ...
    command: tuple[str, ...]
    path: str
    problem: str

class UnknownAttemptError(CooperBenchEvalError, KeyError):
    def __init__(self, strategy: str, available: tuple[str, ...] = ()) -> None: ...
    def __str__(self) -> str: ...
    available: tuple[str, ...]
    strategy: str

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

class WorkerError(CooperBenchEvalError):
    def __init__(self, problem: str, exit_code: int | None = None) -> None: ...
    def __str__(self) -> str: ...
    exit_code: int | None
    problem: str
