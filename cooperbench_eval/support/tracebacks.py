"""Where an exception was raised, in words."""

import sysconfig
import traceback
from pathlib import Path

__all__ = ["describe_error"]

# Frames of this library and of the standard library rarely show whose mistake it was.
_OURS = str(Path(__file__).parents[1])
_STANDARD, _INSTALLED = sysconfig.get_path("stdlib"), sysconfig.get_path("purelib")


def describe_error(exc: BaseException) -> str:
    """Return an exception with the file, the line and the function that raised it.

    This is the innermost function of the caller or a plug-in, if one takes part. The file is
    named without its folder, so that the text is the same on every machine.
    """
    frames = traceback.extract_tb(exc.__traceback__)
    if not frames:
        return _shown(exc)
    theirs = [frame for frame in frames if not _is_skipped(frame.filename)]
    frame = (theirs or frames)[-1]
    place = f"{Path(frame.filename).name}, line {frame.lineno}, in {frame.name}"
    return f"{_shown(exc)} ({place})"


def _is_skipped(file: str) -> bool:
    if file.startswith(("<frozen", _OURS)):
        return True
    return file.startswith(_STANDARD) and not file.startswith(_INSTALLED)


def _shown(exc: BaseException) -> str:
    try:
        return repr(exc) or type(exc).__qualname__
    # Even this may be the code of a plug-in.
    except Exception:  # noqa: BLE001
        return type(exc).__qualname__
