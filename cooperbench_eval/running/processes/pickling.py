"""Pickles values for another process, even one that cannot import the caller's main module."""

import pickle
from collections.abc import Callable
from typing import Final

from cooperbench_eval.running.processes.stopping import Stopped

__all__ = ["PICKLING_FAILS", "Pickler", "describe_exception", "dumps", "plain_dumps"]

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
        raise pickle.PicklingError(f"it raised {describe_exception(exc)}") from exc


def describe_exception(exc: BaseException) -> str:
    """Return the `repr` of *exc*, cut if it is long, or its class's name if that fails."""
    try:
        return repr(exc)[:_MOST_CHARACTERS]
    except Exception:  # noqa: BLE001 - a class may do anything
        return type(exc).__name__
