"""A process that makes one call, and the files that carry the call and its reply.

`write_call` writes the call into a folder, the process that `worker_command` names makes
it, and `read_reply` reads the result. A reply is either complete or missing.
"""

import marshal
import os
import pickle
import signal
import sys
import threading
import traceback
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from types import FrameType
from typing import Any, Final, NoReturn

from attrs import frozen

from cooperbench_eval.errors import WorkerError
from cooperbench_eval.support.staging import staged

_SOON_SECONDS: Final = 0.01


class Stopped(BaseException):
    """This process was asked to stop; raised so that it cleans up on its way out."""


def stop_on_sigterm() -> None:
    """Have the first SIGTERM raise `Stopped` in the main thread of this process of ours."""
    signal.signal(signal.SIGTERM, _stop)
    sys.unraisablehook = _stop_later


def ignore_signal(_: int = 0, __: FrameType | None = None) -> None:
    """Do nothing; unlike SIG_IGN, a handler is not inherited by programs that are started."""


def _stop(_: int, __: FrameType | None) -> NoReturn:
    signal.signal(signal.SIGTERM, ignore_signal)  # a second one must not interrupt the clean-up
    raise Stopped


def _stop_later(ignored: "sys.UnraisableHookArgs") -> None:
    """Stop a moment later if Python ignored `Stopped`, as it does in a callback of an import."""
    if not isinstance(ignored.exc_value, Stopped):
        sys.__unraisablehook__(ignored)
        return
    signal.signal(signal.SIGTERM, _stop)
    threading.Timer(_SOON_SECONDS, os.kill, (os.getpid(), signal.SIGTERM)).start()


Pickler = Callable[[object], bytes]

PICKLING_FAILS: Final = (
    pickle.PicklingError,
    TypeError,
    AttributeError,
    ValueError,
    RecursionError,
)
"""The exceptions that `dumps` and `plain_dumps` raise for a value that cannot be pickled."""
_MOST_CHARACTERS: Final = 1000


def dumps(value: object) -> bytes:
    """Pickle *value*; definitions of the main module and lambdas are pickled by value."""
    try:
        data = plain_dumps(value)
    except PICKLING_FAILS:
        data = b"__main__"
    # The word may also occur in the text of a patch; then cloudpickle does no harm.
    if b"__main__" not in data:
        return data
    import cloudpickle  # noqa: PLC0415 - rarely needed

    return _pickle_with(cloudpickle.dumps, value)


def plain_dumps(value: object) -> bytes:
    """Pickle *value* as Python does: classes and functions by name."""
    return _pickle_with(pickle.dumps, value)


def _pickle_with(pickler: Pickler, value: object) -> bytes:
    """Pickle *value*; any exception that its classes raise becomes one of `PICKLING_FAILS`."""
    try:
        return bytes(pickler(value))
    except (KeyboardInterrupt, Stopped):  # not caused by the value
        raise
    except BaseException as exc:
        if type(exc) in PICKLING_FAILS:
            raise
        raise pickle.PicklingError(f"it raised {_describe_exception(exc)}") from exc


def _describe_exception(exc: BaseException) -> str:
    """Return the `repr` of *exc*, cut if it is long, or its class's name if that fails."""
    try:
        return repr(exc)[:_MOST_CHARACTERS]
    except Exception:  # noqa: BLE001 - a class may do anything
        return type(exc).__name__


# The worker imports from where the host does, even if nothing is installed.
_START: Final = """
import marshal, sys
file = open(sys.argv[1] + "/call", "rb")
sys.path[:] = marshal.load(file)
from cooperbench_eval.running.processes.worker import serve
serve(file.read(), sys.argv[1])
"""
REPLY: Final = "reply"
"""The name of the file that holds a complete reply."""
_STOPPED: Final = 128 + signal.SIGTERM


@frozen(kw_only=True)
class Reply:
    """The value of a call, or the exception that it raised.

    Attributes:
        data: The value or the exception, pickled; `None` if it cannot be pickled.
        problem: If there is no value, the reason in words.
    """

    data: bytes | None = None
    is_value: bool = False
    problem: str = ""
    traceback: str = ""

    def value(self) -> Any:
        """Return the value, or raise the exception that the call raised.

        If either cannot be rebuilt here, raise `WorkerError`.
        """
        found = None
        try:
            found = None if self.data is None else pickle.loads(self.data)  # noqa: S301 - a worker's
        except KeyboardInterrupt:
            raise
        # A class may raise anything when it is rebuilt.
        except BaseException as exc:
            problem = f"the answer cannot be rebuilt here ({_describe_exception(exc)})"
            raise WorkerError(self.problem or problem) from exc
        if self.is_value:
            return found
        # Others, such as SystemExit and CancelledError, would act on the host itself.
        raised = found if isinstance(found, Exception) else WorkerError(self.problem)
        if self.traceback:
            raised.add_note(f"In a process of its own:\n{self.traceback}")
        raise raised


def write_call(
    folder: Path, fn: Callable[..., Any], args: Sequence[Any], kwargs: Mapping[str, Any]
) -> None:
    """Write a call to *folder*; raise `WorkerError` if it cannot be pickled."""
    path = marshal.dumps([each for each in sys.path if isinstance(each, str)])
    try:
        call = dumps((fn, args, kwargs))
    except PICKLING_FAILS as exc:
        raise WorkerError(f"cannot be sent to a process of its own ({exc})") from exc
    (folder / "call").write_bytes(path + call)


def worker_command(folder: Path) -> tuple[str, ...]:
    """Return the command of a process that makes the call in *folder*."""
    return (sys.executable, "-P", "-c", _START, str(folder))


def read_reply(folder: Path) -> Reply | None:
    """Read the reply to the call in *folder*; return `None` if there is none."""
    try:
        reply = pickle.loads((folder / REPLY).read_bytes())  # noqa: S301 - a worker's
    except FileNotFoundError:
        return None
    assert isinstance(reply, Reply)  # noqa: S101 - for mypy
    return reply


def serve(call: bytes, folder: str) -> None:
    """In the worker: make a pickled call, and write the reply to *folder*."""
    stop_on_sigterm()
    try:
        reply = _answer(call)
        try:
            _write_reply(reply, folder)
        except OSError as exc:
            problem = f"its answer cannot be written ({_describe_exception(exc)})"
            _write_reply(Reply(problem=problem), folder)
    except Stopped:
        sys.exit(_STOPPED)
    finally:
        signal.signal(signal.SIGTERM, ignore_signal)


def _write_reply(reply: Reply, folder: str) -> None:
    # On a full disk, removing the unfinished file makes room for a short reply.
    with staged(Path(folder, REPLY)) as part:
        part.write_bytes(pickle.dumps(reply))


def _answer(call: bytes) -> Reply:
    try:
        fn, args, kwargs = pickle.loads(call)  # noqa: S301 - written by the host
    # A class may raise anything when it is rebuilt, and a module when it is imported.
    except Exception as exc:  # noqa: BLE001
        problem = f"cannot be rebuilt in a process of its own ({_describe_exception(exc)})"
        return Reply(problem=problem)
    try:
        value = fn(*args, **kwargs)
    except Stopped:
        raise
    # Any exception is for the host.
    except BaseException as exc:  # noqa: BLE001
        return _raised(exc)
    try:
        return Reply(is_value=True, data=dumps(value))
    # A class may raise anything when it is pickled.
    except Exception as exc:  # noqa: BLE001
        return Reply(problem=f"its value cannot be sent back ({_describe_exception(exc)})")


def _raised(exc: BaseException) -> Reply:
    data = None
    with suppress(Exception):  # if it cannot be pickled, only its text is sent
        data = dumps(exc)
    return Reply(
        data=data,
        problem=f"it raised {_describe_exception(exc)}",
        traceback="".join(traceback.format_exception(exc)),
    )
