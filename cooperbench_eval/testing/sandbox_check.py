"""Checks a sandbox against the laws of all sandboxes."""

import tempfile
from collections.abc import Callable, Mapping, Sequence

from cooperbench_eval.errors import SandboxError
from cooperbench_eval.running.sandboxes.protocol import Sandbox
from cooperbench_eval.running.sandboxes.registry import as_sandbox
from cooperbench_eval.support.arguments import checked
from cooperbench_eval.support.systems import linux_problem
from cooperbench_eval.testing.laws import (
    BrokenError,
    Counterexample,
    LawResult,
    LawStatus,
    UncheckedError,
    check_in_fork,
    check_laws,
    check_positive,
)
from cooperbench_eval.testing.sandbox_bench import SandboxBench, sandbox_bench
from cooperbench_eval.testing.sandbox_laws import SANDBOX_LAWS, SandboxLaw

_UNCLAIMED = "the sandbox does not claim to isolate"


@checked
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
    """Check a sandbox against each law, and return the results.

    The sandbox runs real commands, in trees below the temporary directory. It needs `sh`
    and the tools of busybox. The check needs Linux, because it finds processes in `/proc`.
    Each law is checked in a fork of this process.

    Args:
        sandbox: An object, or a registered name.
        isolates: Whether the sandbox claims to isolate its command from the machine. If
            not, the laws of isolation are not checked.
        opt_out: The laws that the sandbox does not have to keep, by name, each with its
            reason.
        leftovers: Lists everything that runs left behind, except processes and temporary
            files: for example containers. The list must be empty whenever a run is over.
        slack_seconds: How much longer than its command, or than its deadline, a run may
            take.
        parallel_runs: The number of runs for the law of parallel runs; eight run at a time.
        deadline_seconds: How long one run may take before its check is killed; the runs'
            own deadlines are much shorter.

    Raises:
        SandboxError: This system is not Linux.
        PluginError: The sandbox cannot be loaded, or the object is not a sandbox.
        ValueError: An opt-out has an unknown law or no reason; *deadline_seconds* or
            *parallel_runs* is not positive.

    Example:
        >>> from cooperbench_eval import LocalSandbox
        >>> results = check_sandbox(LocalSandbox())  # doctest: +SKIP
        >>> all(result.is_ok for result in results)  # doctest: +SKIP
        True
    """
    if problem := linux_problem("check_sandbox"):
        raise SandboxError(problem)
    found = as_sandbox(sandbox)
    check_positive(deadline_seconds=deadline_seconds, parallel_runs=parallel_runs)

    def check(law: SandboxLaw) -> LawResult:
        if law.isolates and not isolates:
            return LawResult(law=law, status=LawStatus.OPTED_OUT, reason=_UNCLAIMED)
        with sandbox_bench(
            found, slack_seconds=slack_seconds, parallel_runs=parallel_runs, leftovers=leftovers
        ) as bench:

            def check_here(report: Callable[[str | Counterexample], None]) -> LawResult:
                bench.report = report
                return check_sandbox_law(bench, law)

            return check_in_fork(
                law, check_here, patience_seconds=deadline_seconds, wanted="an Execution"
            )

    return check_laws(SANDBOX_LAWS, check, opt_out=opt_out)


def check_sandbox_law(bench: SandboxBench, law: SandboxLaw) -> LawResult:
    """Check one law in this process, which uses the bench's temporary directory for that time."""
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
