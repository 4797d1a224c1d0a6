"""Calls a function in a supervised process of its own."""

import math
import os
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, Final

from cooperbench_eval.errors import SandboxError, WorkerError
from cooperbench_eval.running.processes.stopping import CLEANER, describe_exit
from cooperbench_eval.running.processes.supervision import (
    CommandEnd,
    EndReason,
    SupervisedCommand,
    Supervision,
)
from cooperbench_eval.running.processes.temporary import temporary_folder
from cooperbench_eval.running.processes.worker import REPLY, read_reply, worker_command, write_call

__all__ = ["call_in_process"]

_GRACE_SECONDS: Final = 5.0
"""How long a process may take to clean up after a stop, or to end after its reply."""
_SIGKILL: Final = 9
_NOTHING: Final[Mapping[str, str]] = {}


def call_in_process(
    fn: Callable[..., Any],
    args: Sequence[Any] = (),
    kwargs: Mapping[str, Any] = _NOTHING,
    *,
    supervision: Supervision | None = None,
    env: Mapping[str, str] = _NOTHING,
    timeout_seconds: float = math.inf,
    output_limit: int | None = None,
) -> Any:
    """Call *fn* in a process of its own, and return its value once all its processes are gone.

    Args:
        fn: The function. It is pickled by name, or by value if the main module defines it.
        args: Its arguments.
        kwargs: Its arguments by name.
        supervision: The supervision to use, with which another thread can stop the call.
        env: Variables to set in addition to those of this process.
        timeout_seconds: The deadline, from the start of the process.
        output_limit: As in `SupervisedCommand`.

    Raises:
        WorkerError: The process could not be started, died or was stopped, or a value
            cannot be pickled.
        Exception: The exception that *fn* raised.
    """
    supervision = supervision or Supervision()
    try:
        with temporary_folder() as folder:
            write_call(folder, fn, args, kwargs)
            if supervision.is_stopped:
                raise WorkerError("it was stopped")
            temporary = folder / "tmp"
            temporary.mkdir()
            end = supervision.run(
                SupervisedCommand(
                    command=worker_command(folder),
                    folder=Path(),
                    env={**os.environ, **env, "TMPDIR": str(temporary)},
                    timeout_seconds=timeout_seconds,
                    grace_seconds=_GRACE_SECONDS,
                    output_limit=output_limit,
                    marks=(folder,),
                    spared=CLEANER,
                    temporary=folder,
                    result=folder / REPLY,
                )
            )
            reply = read_reply(folder)
    except (OSError, SandboxError) as exc:
        problem = exc.problem if isinstance(exc, SandboxError) else exc
        raise WorkerError(f"its process cannot be started ({problem})") from exc
    if reply is None:
        raise _lost(end, supervision, timeout_seconds)
    return reply.value()


def _lost(end: CommandEnd, supervision: Supervision, timeout_seconds: float) -> WorkerError:
    code = end.exit_code if end.reason is EndReason.EXITED else -_SIGKILL
    if supervision.is_stopped:
        return WorkerError("it was stopped", code)
    if end.seconds >= timeout_seconds:
        return WorkerError(f"it did not answer within {timeout_seconds:g} seconds", code)
    match end.reason:
        case EndReason.REFUSED:
            return WorkerError(f"its process cannot be started ({end.problem})")
        case EndReason.LOST:
            ended = describe_exit(supervision.exit_code)
            return WorkerError(f"the process that supervises it {ended}", supervision.exit_code)
        case _:
            return WorkerError(f"its process {describe_exit(code)}", code)
