"""Checks a sandbox against the laws of all sandboxes."""

import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from cooperbench_eval.running.sandboxes.protocol import Sandbox
from cooperbench_eval.running.sandboxes.registry import as_sandbox
from cooperbench_eval.testing.forks import check_in_fork
from cooperbench_eval.testing.records import (
    BrokenError,
    LawResult,
    LawStatus,
    UncheckedError,
    check_opt_out,
    check_positive,
    excused,
)
from cooperbench_eval.testing.sandbox_bench import Allowance, SandboxBench
from cooperbench_eval.testing.sandbox_laws import SANDBOX_LAWS, SandboxLaw

__all__ = ["check_sandbox", "check_sandbox_law", "sandbox_bench"]

_UNCLAIMED = "it is not said that it isolates"


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
) -> tuple[LawResult, ...]:
    """Check a sandbox against each law, and say what became of it.

    The sandbox runs real commands, in trees of its own below the temporary directory; it
    needs `sh` and what busybox has. Linux alone: processes are looked for in `/proc`.
    Each law is checked in a fork of this process.

    Args:
        sandbox: An object, or a registered name.
        isolates: Whether it claims to keep its command from the machine. If not, the
            laws of isolation are opted out of.
        opt_out: The laws that it need not keep, by name, each with its reason.
        leftovers: Lists what is left of runs beside processes and temporary files, such
            as containers; to be empty whenever a run is over.
        slack_seconds: How much longer than its command, or than its deadline, a run may
            take.
        parallel_runs: How many runs the law of many at once makes, eight at a time.
        deadline_seconds: How long a run may take that has a deadline far below.

    Raises:
        PluginError: It is not to be had, or no sandbox at all.
        ValueError: An opt-out names no law or no reason; *deadline_seconds* or
            *parallel_runs* is not positive.

    Example:
        >>> from cooperbench_eval import LocalSandbox
        >>> results = check_sandbox(LocalSandbox())  # doctest: +SKIP
        >>> all(result.is_ok for result in results)  # doctest: +SKIP
        True
    """
    found, reasons = as_sandbox(sandbox), dict(opt_out or {})
    check_opt_out(reasons, SANDBOX_LAWS)
    check_positive(deadline_seconds=deadline_seconds, parallel_runs=parallel_runs)
    allowance = Allowance(
        slack_seconds=slack_seconds,
        parallel_runs=parallel_runs,
        isolates=isolates,
        leftovers=leftovers,
    )
    results = []
    for law in SANDBOX_LAWS:
        if law.isolates and not isolates:
            reason = reasons.get(law.name, _UNCLAIMED)
            results.append(LawResult(law=law, status=LawStatus.OPTED_OUT, reason=reason))
            continue
        result = _checked(found, law, allowance, deadline_seconds)
        results.append(excused(result, reasons.get(law.name)))
    return tuple(results)


def _checked(
    sandbox: Sandbox, law: SandboxLaw, allowance: Allowance, deadline_seconds: float
) -> LawResult:
    with sandbox_bench(sandbox, allowance) as bench:

        def check(tell: Callable[[Any], None]) -> LawResult:
            bench.tell = tell
            return check_sandbox_law(bench, law)

        return check_in_fork(law, check, patience_seconds=deadline_seconds, wanted="an Execution")


@contextmanager
def sandbox_bench(sandbox: Sandbox, allowance: Allowance) -> Iterator[SandboxBench]:
    """Yield a bench, and kill afterwards what a broken sandbox left running."""
    with tempfile.TemporaryDirectory() as folder:
        bench = SandboxBench(sandbox, allowance, Path(folder))
        try:
            yield bench
        finally:
            bench.clear()


def check_sandbox_law(bench: SandboxBench, law: SandboxLaw) -> LawResult:
    """Check one law in this process, which has another temporary directory meanwhile."""
    status, reason, broken = LawStatus.HELD, "", None
    before, tempfile.tempdir = tempfile.tempdir, str(bench.temporary)
    try:
        law.check(bench)
    except UncheckedError as exc:
        status, reason = LawStatus.NOT_CHECKED, str(exc)
    except BrokenError as exc:
        status, broken = LawStatus.BROKEN, exc.counterexample
    finally:
        tempfile.tempdir = before
    return LawResult(law=law, status=status, reason=reason, counterexample=broken, cases=bench.runs)
