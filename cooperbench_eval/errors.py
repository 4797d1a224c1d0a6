"""Every exception this library raises on purpose.

```
CooperBenchEvalError
├── PatchError (ValueError)                 text is no patch, or it leaves the tree
├── RepositoryError                         repository, commit or object is missing
├── DatasetError (LookupError)              dataset or log layout lacks what was asked for
├── PluginError
│   ├── UnknownPluginError (LookupError)    no such name
│   │   ├── UnknownStrategyError
│   │   └── UnknownSandboxError
│   ├── DuplicatePluginError                two distributions claim one name
│   │   ├── DuplicateStrategyError
│   │   └── DuplicateSandboxError
│   └── PluginLoadError                     the plug-in exists and cannot be loaded
│       ├── StrategyLoadError
│       └── SandboxLoadError
├── StrategyError                           all three of a strategy, and:
│   └── StrategyFailedError                 the strategy raised or broke its contract
├── TestRunError                            tests could not be started or counted
│   └── SandboxError                        the sandbox failed, not what ran in it
├── ReportError (ValueError)                report unreadable, newer, or not writable
├── BatchError                              a batch of evaluations cannot begin, or go on
├── WorkerError                             a process of its own could not begin, or was lost
└── AnalysisError (ValueError)              reports cannot be summed up or compared as asked
```

A conflict, a rejected patch, a failing or timed-out test is a result, not an
exception. Facts are positional and kept as attributes; `str()` builds the
sentence. All of them survive pickling, so they cross process pools.
"""

__all__ = [
    "AnalysisError",
    "BatchError",
    "CooperBenchEvalError",
    "DatasetError",
    "DuplicatePluginError",
    "DuplicateSandboxError",
    "DuplicateStrategyError",
    "PatchError",
    "PluginError",
    "PluginLoadError",
    "ReportError",
    "RepositoryError",
    "SandboxError",
    "SandboxLoadError",
    "StrategyError",
    "StrategyFailedError",
    "StrategyLoadError",
    "TestRunError",
    "UnknownPluginError",
    "UnknownSandboxError",
    "UnknownStrategyError",
    "WorkerError",
]

from typing import ClassVar

_SHOWN_COMMAND = 500


class CooperBenchEvalError(Exception):
    """Base of everything this library raises on purpose."""


class PatchError(CooperBenchEvalError, ValueError):
    """The bytes are no patch, or a path in them leaves the tree.

    Attributes:
        reason: What is wrong, as a clause.
        origin: The file or side the patch came from, if known.
        line: The 1-based line of the patch where reading stopped, if known.
    """

    def __init__(self, reason: str, origin: str | None = None, line: int | None = None) -> None:
        super().__init__(reason, origin, line)
        self.reason = reason
        self.origin = origin
        self.line = line

    def __str__(self) -> str:
        where = self.origin or "patch"
        if self.line is not None:
            where += f", line {self.line}"
        return f"{where}: {self.reason}"


class RepositoryError(CooperBenchEvalError):
    """A repository, a commit or an object in it is missing or unreadable.

    Attributes:
        location: Path of the repository or directory.
        problem: What is wrong with it, as a clause.
    """

    def __init__(self, location: str, problem: str) -> None:
        super().__init__(location, problem)
        self.location = location
        self.problem = problem

    def __str__(self) -> str:
        return f"{self.location}: {self.problem}"


class DatasetError(CooperBenchEvalError, LookupError):
    """A dataset or a folder of run logs lacks what was asked for.

    Attributes:
        problem: What is missing or unknown, as a sentence without its stop.
        location: The path or the argument it concerns.
    """

    def __init__(self, problem: str, location: str) -> None:
        super().__init__(problem, location)
        self.problem = problem
        self.location = location

    def __str__(self) -> str:
        return f"{self.location}: {self.problem}"


class PluginError(CooperBenchEvalError):
    """Base of what goes wrong in getting a plug-in by its name.

    Attributes:
        kind: What the plug-in is to be.
    """

    kind: ClassVar[str] = "plug-in"


class UnknownPluginError(PluginError, LookupError):
    """No installed distribution registers a plug-in of that name.

    Attributes:
        name: The name asked for.
        available: The names that exist, sorted.
        origins: The distributions that register them, as "name version".
    """

    def __init__(
        self, name: str, available: tuple[str, ...] = (), origins: tuple[str, ...] = ()
    ) -> None:
        super().__init__(name, available, origins)
        self.name = name
        self.available = available
        self.origins = origins

    def __str__(self) -> str:
        known = ", ".join(self.available) or "none"
        source = f" (from {', '.join(self.origins)})" if self.origins else ""
        return f"no {self.kind} is called {self.name!r}; available: {known}{source}"


class DuplicatePluginError(PluginError):
    """Two or more distributions register the same name.

    Attributes:
        name: The contested name.
        origins: The distributions that claim it, as "name version".
    """

    def __init__(self, name: str, origins: tuple[str, ...]) -> None:
        super().__init__(name, origins)
        self.name = name
        self.origins = origins

    def __str__(self) -> str:
        claimants = " and ".join(self.origins)
        return f"{self.kind} {self.name!r} is registered by {claimants}; uninstall one"


class PluginLoadError(PluginError):
    """A registered plug-in cannot be imported or built.

    Attributes:
        name: The plug-in's name.
        origin: The distribution and object that register it.
        problem: What went wrong, as a clause.
    """

    def __init__(self, name: str, origin: str, problem: str) -> None:
        super().__init__(name, origin, problem)
        self.name = name
        self.origin = origin
        self.problem = problem

    def __str__(self) -> str:
        return f"{self.kind} {self.name!r} from {self.origin}: {self.problem}"


class StrategyError(CooperBenchEvalError):
    """Base of what goes wrong with merge strategies."""

    kind: ClassVar[str] = "merge strategy"


class UnknownStrategyError(StrategyError, UnknownPluginError):
    """No installed distribution registers a strategy of that name."""


class DuplicateStrategyError(StrategyError, DuplicatePluginError):
    """Two or more distributions register the same strategy name."""


class StrategyLoadError(StrategyError, PluginLoadError):
    """A registered strategy cannot be imported or built."""


class StrategyFailedError(StrategyError):
    """A strategy raised, or returned what the protocol does not allow.

    Attributes:
        name: The strategy's name.
        problem: What happened, as a clause.
    """

    def __init__(self, name: str, problem: str) -> None:
        super().__init__(name, problem)
        self.name = name
        self.problem = problem

    def __str__(self) -> str:
        return f"merge strategy {self.name!r} failed: {self.problem}"


class TestRunError(CooperBenchEvalError):
    """Tests could not be started or counted; says nothing about the code.

    Attributes:
        problem: What went wrong, as a clause.
        command: The command that was to run.
    """

    __test__: ClassVar[bool] = False

    def __init__(self, problem: str, command: tuple[str, ...] = ()) -> None:
        super().__init__(problem, command)
        self.problem = problem
        self.command = command

    def __str__(self) -> str:
        if not self.command:
            return self.problem
        command = " ".join(self.command)
        if len(command) > _SHOWN_COMMAND:
            command = f"{command[:_SHOWN_COMMAND]}..."
        return f"{command}: {self.problem}"


class SandboxError(TestRunError):
    """The sandbox failed, so nothing is known of the command; trying again may help.

    Attributes:
        problem: What went wrong, as a clause.
        command: The command that was to run, if there was one yet.
    """


class UnknownSandboxError(UnknownPluginError):
    """No installed distribution registers a sandbox of that name."""

    kind: ClassVar[str] = "sandbox"


class DuplicateSandboxError(DuplicatePluginError):
    """Two or more distributions register the same sandbox name."""

    kind: ClassVar[str] = "sandbox"


class SandboxLoadError(PluginLoadError):
    """A registered sandbox cannot be imported or built."""

    kind: ClassVar[str] = "sandbox"


class ReportError(CooperBenchEvalError, ValueError):
    """A report cannot be read, written, or is of a newer schema.

    Attributes:
        problem: What is wrong, as a clause.
        location: The file or key it concerns, if known.
    """

    def __init__(self, problem: str, location: str | None = None) -> None:
        super().__init__(problem, location)
        self.problem = problem
        self.location = location

    def __str__(self) -> str:
        return f"{self.location}: {self.problem}" if self.location else self.problem


class BatchError(CooperBenchEvalError):
    """A batch of evaluations cannot begin or go on; what was finished is not lost.

    Attributes:
        problem: What is wrong, as a clause.
        concerns: The pair, the argument or the folder it concerns, if any.
    """

    def __init__(self, problem: str, concerns: str | None = None) -> None:
        super().__init__(problem, concerns)
        self.problem = problem
        self.concerns = concerns

    def __str__(self) -> str:
        return f"{self.concerns}: {self.problem}" if self.concerns else self.problem


class WorkerError(CooperBenchEvalError):
    """What was to be done in a process of its own was not, or was lost with it.

    Attributes:
        problem: What went wrong, as a sentence without its stop.
        exit_code: How the process ended, if it did so before its time: its exit
            status, or a signal's number, negative.
    """

    def __init__(self, problem: str, exit_code: int | None = None) -> None:
        super().__init__(problem, exit_code)
        self.problem = problem
        self.exit_code = exit_code

    def __str__(self) -> str:
        return self.problem


class AnalysisError(CooperBenchEvalError, ValueError):
    """Reports cannot be summed up or compared in the way asked for.

    Attributes:
        problem: What is wrong, as a clause.
        available: What could have been asked for instead, if there is a list of that.
    """

    def __init__(self, problem: str, available: tuple[str, ...] = ()) -> None:
        super().__init__(problem, available)
        self.problem = problem
        self.available = available

    def __str__(self) -> str:
        if not self.available:
            return self.problem
        return f"{self.problem}; available: {', '.join(self.available)}"
