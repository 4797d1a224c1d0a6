"""Finds the tests that a patch adds or changes."""

from collections.abc import Callable, Iterable, Iterator

from cooperbench_eval.models import Entry
from cooperbench_eval.running.readers.protocol import NewTests

__all__ = ["added_or_changed", "added_tests", "contents_of"]


def contents_of(entry: Entry | None) -> bytes:
    """Return the contents of a regular file; empty for anything else."""
    return entry.data if entry is not None and entry.mode.is_regular else b""


def added_or_changed(
    path: str, new: NewTests, functions: Callable[[bytes], Iterable[tuple[str, str]]]
) -> Iterator[str]:
    """Yield the names of a file's tests that are new or whose text changed.

    Args:
        path: The file.
        new: The tree before and after the tests patch.
        functions: Returns the name and the text of each test in a file's contents. If
            two tests share a name, the last one counts.
    """
    known = dict(functions(contents_of(new.before.get(path))))
    for name, text in dict(functions(contents_of(new.after.get(path)))).items():
        if known.get(name) != text:
            yield name


def added_tests(
    new: NewTests,
    functions: Callable[[bytes], Iterable[tuple[str, str]]],
    prefix: Callable[[str], str],
) -> tuple[str, ...]:
    """Return the ids of the tests that are new or changed, in the order of the files.

    Args:
        new: The tree before and after the tests patch.
        functions: As in `added_or_changed`.
        prefix: Returns the part of an id before a test's name, for a file; empty if the
            file's tests may not have run.
    """
    prefixes = {path: prefix(path) for path in new.paths}
    return tuple(
        f"{start}{name}"
        for path, start in prefixes.items()
        if start
        for name in added_or_changed(path, new, functions)
    )
