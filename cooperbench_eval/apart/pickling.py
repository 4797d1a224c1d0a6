"""What travels to another process, also where that one cannot import the caller's main module."""

import pickle
from collections.abc import Callable
from typing import Final

__all__ = ["PICKLING_FAILS", "Pickler", "dumps"]

Pickler = Callable[[object], bytes]

# What pickling raises is up to what is pickled.
PICKLING_FAILS: Final = (
    pickle.PicklingError,
    TypeError,
    AttributeError,
    ValueError,
    RecursionError,
)


def dumps(thing: object) -> bytes:
    """Pickle *thing*; what the main module defines, and what has no name, travels whole."""
    try:
        data = pickle.dumps(thing)
    except PICKLING_FAILS:
        data = b"__main__"
    # It may be but a word in a patch; cloudpickle does no harm then.
    if b"__main__" not in data:
        return data
    import cloudpickle  # noqa: PLC0415 - rarely needed

    return bytes(cloudpickle.dumps(thing))
