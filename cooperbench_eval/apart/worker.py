"""The worker's part: makes the call that it is given, and answers."""

import pickle
import signal
import sys
import traceback
from collections.abc import Callable
from contextlib import suppress
from typing import Any, BinaryIO

from cooperbench_eval.apart.answers import Answer, write_answer
from cooperbench_eval.apart.pickling import dumps, shown
from cooperbench_eval.apart.stopping import Stopped, pass_over, stop_when_told

__all__ = ["serve"]

_STOPPED = 128 + signal.SIGTERM


def serve(call: BinaryIO, answer: int) -> None:
    """Make the call that stands in a file, and write its answer to a descriptor."""
    stop_when_told()
    try:
        write_answer(_answer(call), answer)
    except Stopped:
        sys.exit(_STOPPED)
    finally:
        signal.signal(signal.SIGTERM, pass_over)


def _answer(call: BinaryIO) -> Answer:
    try:
        fn, args, kwargs = pickle.load(call)  # noqa: S301 - packed by the host
    # Whatever a class does when it is rebuilt, or its module when it is imported.
    except Exception as exc:  # noqa: BLE001
        return Answer(problem=f"cannot be rebuilt in a process of its own ({shown(exc)})")
    return _call(fn, args, kwargs)


def _call(fn: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]) -> Answer:
    try:
        value = fn(*args, **kwargs)
    except Stopped:
        raise
    # It is the host's, whatever it is.
    except BaseException as exc:  # noqa: BLE001
        return _raised(exc)
    try:
        return Answer(is_value=True, data=dumps(value))
    # What pickling raises is up to what is pickled.
    except Exception as exc:  # noqa: BLE001
        return Answer(problem=f"its value cannot be sent back ({shown(exc)})")


def _raised(exc: BaseException) -> Answer:
    where = "".join(traceback.format_exception(exc))
    problem = f"it raised {shown(exc)}"
    data = None
    with suppress(Exception):  # it is told in words then
        data = dumps(exc)
    return Answer(data=data, problem=problem, traceback=where)
