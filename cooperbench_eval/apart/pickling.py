"""What travels to another process, also where that one cannot import the caller's main module."""

import pickle
from collections.abc import Callable
from typing import Final

from cooperbench_eval.apart.stopping import Stopped

__all__ = ["PICKLING_FAILS", "Pickler", "dumps", "plain_dumps", "shown"]

Pickler = Callable[[object], bytes]

PICKLING_FAILS: Final = (
    pickle.PicklingError,
    TypeError,
    AttributeError,
    ValueError,
    RecursionError,
)
"""What `dumps` and `plain_dumps` raise of what cannot be pickled."""
_SHOWN: Final = 1000


def dumps(thing: object) -> bytes:
    """Pickle *thing*; what the main module defines, and what has no name, travels whole."""
    try:
        data = plain_dumps(thing)
    except PICKLING_FAILS:
        data = b"__main__"
    # It may be but a word in a patch; cloudpickle does no harm then.
    if b"__main__" not in data:
        return data
    import cloudpickle  # noqa: PLC0415 - rarely needed

    return _told(cloudpickle.dumps, thing)


def plain_dumps(thing: object) -> bytes:
    """Pickle *thing* as Python does, by name."""
    return _told(pickle.dumps, thing)


def _told(pickler: Pickler, thing: object) -> bytes:
    """Pickle *thing*; what its classes raise meanwhile, which may be anything, is told in words."""
    try:
        return bytes(pickler(thing))
    except (KeyboardInterrupt, Stopped):  # not of the thing
        raise
    except BaseException as exc:
        if type(exc) in PICKLING_FAILS:
            raise
        raise pickle.PicklingError(f"it raised {shown(exc)}") from exc


def shown(exc: BaseException) -> str:
    """Return *exc* in words, whatever its class does."""
    try:
        return repr(exc)[:_SHOWN]
    except Exception:  # noqa: BLE001 - a class may do anything
        return type(exc).__name__
