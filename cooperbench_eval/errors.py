"""Every exception this library raises on purpose.

```
CooperBenchEvalError
├── ArgumentError (TypeError, ValueError)   an argument has a wrong type or value
├── PatchError (ValueError)                 bytes are not a patch, or a path leaves the tree
├── RepositoryError                         repository, commit or object is missing
├── DatasetError (LookupError)              dataset or run logs lack what was requested
├── PluginError
│   ├── UnknownPluginError (LookupError)    no plug-in has this name
│   │   ├── UnknownStrategyError
│   │   └── UnknownSandboxError
│   ├── DuplicatePluginError                several distributions register one name
│   │   ├── DuplicateStrategyError
│   │   └── DuplicateSandboxError
│   └── PluginLoadError                     the plug-in is registered but cannot be loaded
│       ├── StrategyLoadError
│       └── SandboxLoadError
├── StrategyError                           the three errors above for strategies, and:
│   └── StrategyFailedError                 the strategy raised or returned an invalid value
├── TestRunError                            tests could not be started or counted
│   └── SandboxError                        the sandbox failed, not the command in it
├── ReportError (ValueError)                report unreadable, too new, or not writable
├── UnknownAttemptError (KeyError)          a report has no row for a strategy
├── BatchError                              a batch of evaluations cannot start or continue
├── WorkerError                             a worker process could not start, or was lost
└── AnalysisError (ValueError)              reports cannot be summarized or compared
```

A conflict, a rejected patch and a failing or timed-out test are results, not
exceptions. Each error keeps its positional arguments as attributes, and `str()`
makes a sentence from them. All errors can be pickled, so they can cross processes.
"""

__all__ = [
    "AnalysisError",
    "ArgumentError",
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
    "UnknownAttemptError",
    "UnknownPluginError",
    "UnknownSandboxError",
    "UnknownStrategyError",
    "WorkerError",
]

from typing import ClassVar

_SHOWN_COMMAND = 500


class CooperBenchEvalError(Exception):
    """Base class of every exception that this library raises on purpose."""


class ArgumentError(CooperBenchEvalError, TypeError, ValueError):
    """An argument has the wrong type, or a value that is not allowed.

    It is raised by the call that gets the argument, before anything else happens. It is both
    a `TypeError` and a `ValueError`, because an argument such as `"delta"` has both a type and
    a value.

    Attributes:
        argument: The argument's name.
        problem: What is wrong with it and what it must be, as a clause after the name.
    """

    def __init__(self, argument: str, problem: str) -> None:
        super().__init__(argument, problem)
        self.argument = argument
        self.problem = problem

    def __str__(self) -> str:
        return f"{self.argument} {self.problem}"


class PatchError(CooperBenchEvalError, ValueError):
    """The bytes are not a patch, or a path in them leaves the tree.

    Attributes:
        reason: What is wrong, as a clause.
        origin: The file or side that the patch came from, if known.
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
    """A dataset or a folder of run logs lacks what was requested.

    Attributes:
        problem: What is missing or unknown, as a sentence without a full stop.
        location: The path or argument concerned.
    """

    def __init__(self, problem: str, location: str) -> None:
        super().__init__(problem, location)
        self.problem = problem
        self.location = location

    def __str__(self) -> str:
        return f"{self.location}: {self.problem}"


class PluginError(CooperBenchEvalError):
    """Base class of the errors in finding and loading a plug-in.

    Attributes:
        kind: The kind of plug-in, as a noun for messages.
    """

    kind: ClassVar[str] = "plug-in"


class UnknownPluginError(PluginError, LookupError):
    """No installed distribution registers a plug-in under that name.

    Attributes:
        name: The requested name.
        available: The registered names, sorted.
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
    """Several distributions register the same name, which is not that of a built-in plug-in.

    Attributes:
        name: The contested name.
        origins: The distributions that register it, as "name version".
    """

    def __init__(self, name: str, origins: tuple[str, ...]) -> None:
        super().__init__(name, origins)
        self.name = name
        self.origins = origins

    def __str__(self) -> str:
        origins = " and ".join(self.origins)
        return f"{self.kind} {self.name!r} is registered by {origins}; uninstall one"


class PluginLoadError(PluginError):
    """A plug-in cannot be imported or built, or an object is not a plug-in of this kind.

    Attributes:
        name: The plug-in's name.
        origin: The distribution and the object that register it, or the object's class.
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
    """Base class of the errors of merge strategies."""

    kind: ClassVar[str] = "merge strategy"


class UnknownStrategyError(StrategyError, UnknownPluginError):
    """No installed distribution registers a strategy under that name."""


class DuplicateStrategyError(StrategyError, DuplicatePluginError):
    """Several distributions register a strategy under the same name."""


class StrategyLoadError(StrategyError, PluginLoadError):
    """A strategy cannot be imported or built, or an object is not a strategy."""


class StrategyFailedError(StrategyError):
    """A strategy raised an exception, or returned a value that the protocol does not allow.

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
    """Tests could not be started or counted, so nothing is known about the tested code.

    `TestRunner.run` raises it. Evaluations, plans, probes, audits and explanations record a run
    without an answer instead.

    Attributes:
        problem: What went wrong, as a clause.
        command: The command that should have run.
        path: The path in the tree that is in the way; empty if none is.
    """

    __test__: ClassVar[bool] = False

    def __init__(self, problem: str, command: tuple[str, ...] = (), path: str = "") -> None:
        super().__init__(problem, command, path)
        self.problem = problem
        self.command = command
        self.path = path

    def __str__(self) -> str:
        if not self.command:
            return self.problem
        command = " ".join(self.command)
        if len(command) > _SHOWN_COMMAND:
            command = f"{command[:_SHOWN_COMMAND]}..."
        # The command is last, so that a cut at the end keeps the cause.
        return f"{self.problem}; the command: {command}"


class SandboxError(TestRunError):
    """The sandbox failed, so nothing is known about the command; a retry may help."""


class UnknownSandboxError(UnknownPluginError):
    """No installed distribution registers a sandbox under that name."""

    kind: ClassVar[str] = "sandbox"


class DuplicateSandboxError(DuplicatePluginError):
    """Several distributions register a sandbox under the same name."""

    kind: ClassVar[str] = "sandbox"


class SandboxLoadError(PluginLoadError):
    """A sandbox cannot be imported or built, or an object is not a sandbox."""

    kind: ClassVar[str] = "sandbox"


class ReportError(CooperBenchEvalError, ValueError):
    """A report cannot be read or written, has a newer schema, or has no answer.

    Attributes:
        problem: What is wrong, as a clause.
        location: The file or key concerned, if known.
    """

    def __init__(self, problem: str, location: str | None = None) -> None:
        super().__init__(problem, location)
        self.problem = problem
        self.location = location

    def __str__(self) -> str:
        return f"{self.location}: {self.problem}" if self.location else self.problem


class UnknownAttemptError(CooperBenchEvalError, KeyError):
    """A report has no row for the requested strategy.

    Attributes:
        strategy: The requested strategy.
        available: The strategies that have a row, in the report's order.
    """

    def __init__(self, strategy: str, available: tuple[str, ...] = ()) -> None:
        super().__init__(strategy, available)
        self.strategy = strategy
        self.available = available

    def __str__(self) -> str:
        known = ", ".join(self.available) or "none"
        return f"the report has no attempt of {self.strategy!r}; available: {known}"


class BatchError(CooperBenchEvalError):
    """A batch of evaluations cannot start or continue; finished reports are not lost.

    Attributes:
        problem: What is wrong, as a clause.
        concerns: The pair, argument or folder concerned, if any.
    """

    def __init__(self, problem: str, concerns: str | None = None) -> None:
        super().__init__(problem, concerns)
        self.problem = problem
        self.concerns = concerns

    def __str__(self) -> str:
        return f"{self.concerns}: {self.problem}" if self.concerns else self.problem


class WorkerError(CooperBenchEvalError):
    """A worker process could not start, or ended before its work was done.

    Attributes:
        problem: What went wrong, as a sentence without a full stop.
        exit_code: The exit status of a process that ended early, or the negative
            number of the signal that killed it; `None` otherwise.
    """

    def __init__(self, problem: str, exit_code: int | None = None) -> None:
        super().__init__(problem, exit_code)
        self.problem = problem
        self.exit_code = exit_code

    def __str__(self) -> str:
        return self.problem


class AnalysisError(CooperBenchEvalError, ValueError):
    """Reports cannot be summarized or compared as requested.

    Attributes:
        problem: What is wrong, as a clause.
        available: The valid choices, if there is a list of them.
    """

    def __init__(self, problem: str, available: tuple[str, ...] = ()) -> None:
        super().__init__(problem, available)
        self.problem = problem
        self.available = available

    def __str__(self) -> str:
        if not self.available:
            return self.problem
        return f"{self.problem}; available: {', '.join(self.available)}"
