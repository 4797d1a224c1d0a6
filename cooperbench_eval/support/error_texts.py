"""Parts of error messages: the names that were probably meant, and where an error was raised."""

import sysconfig
import traceback
from collections.abc import Iterable
from difflib import SequenceMatcher
from pathlib import Path

_COMPARED = 100
"""How many characters of a name are compared; the time grows with their square."""
_LISTED = 12


def nearest(wanted: str | int, known: Iterable[str | int]) -> list[str | int]:
    """Return all *known* names or numbers, those most like *wanted* first.

    A name that contains *wanted* is nearer than one that does not. Numbers are compared by
    their difference.

    Example:
        >>> nearest("click", ["go_chi_task", "pallets_jinja_task", "pallets_click_task"])
        ['pallets_click_task', 'go_chi_task', 'pallets_jinja_task']
        >>> nearest(2790, [2068, 2956, 2800])
        [2800, 2956, 2068]
    """

    def distance(name: str | int) -> float:
        if isinstance(name, int) and isinstance(wanted, int):
            return abs(name - wanted)
        one, other = str(wanted)[:_COMPARED].casefold(), str(name)[:_COMPARED].casefold()
        return (one not in other) - SequenceMatcher(None, one, other).ratio()

    return sorted(sorted(known), key=distance)


def listed(names: Iterable[str | int]) -> str:
    """Return names as a list for a sentence; of many names, only the first few.

    Example:
        >>> listed([1, 2, 3]), listed(["a"]), listed([])
        ('1, 2, 3', 'a', 'none')
    """
    every = [str(name) for name in names]
    more = f" and {len(every) - _LISTED} more" if len(every) > _LISTED else ""
    return (", ".join(every[:_LISTED]) or "none") + more


def it_has(wanted: str | int, known: Iterable[str | int]) -> str:
    """Return a clause that says what there is instead of *wanted*.

    Example:
        >>> it_has(3, [7, 5]), it_has("y", ["x"])
        ('it has 5, 7 (the nearest first)', 'it has x')
    """
    names = nearest(wanted, known)
    return f"it has {listed(names)}" + (" (the nearest first)" if len(names) > 1 else "")


# Frames of this library and of the standard library rarely show whose mistake it was.
_OURS = str(Path(__file__).parents[1])
_STANDARD, _INSTALLED = sysconfig.get_path("stdlib"), sysconfig.get_path("purelib")


def describe_error(exc: BaseException) -> str:
    """Return an exception with the place that raised it."""
    return f"{_shown(exc)}{place_of(exc)}"


def place_of(exc: BaseException) -> str:
    """Return where an exception was raised, such as ` (file.py, line 3, in merge)`.

    This is the innermost function of the caller or a plug-in, if there is one. The file is named
    without its folder, so that the text is the same on every machine. An exception that was not
    raised gives an empty text.
    """
    frames = traceback.extract_tb(exc.__traceback__)
    if not frames:
        return ""
    theirs = [frame for frame in frames if not _is_skipped(frame.filename)]
    frame = (theirs or frames)[-1]
    return f" ({Path(frame.filename).name}, line {frame.lineno}, in {frame.name})"


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
