"""Finds the tests that a patch adds or changes."""

from collections.abc import Callable, Iterable, Iterator

from cooperbench_eval.git.trees.entries import Entry
from cooperbench_eval.running.readers.protocol import NewTests

__all__ = ["added_or_changed", "added_tests", "contents_of"]

_NamesAndTexts = Iterable[tuple[str, str]]


def contents_of(entry: Entry | None) -> bytes:
    """Return the contents of a regular file; empty for anything else."""
    return entry.data if entry is not None and entry.mode.is_regular else b""


def added_or_changed(before: _NamesAndTexts, after: _NamesAndTexts) -> Iterator[str]:
    """Yield the names of the tests that are new or whose text changed.

    If two tests of a file share a name, the last one counts.
    """
    known = dict(before)
    for name, text in dict(after).items():
        if known.get(name) != text:
            yield name


def added_tests(
    new: NewTests, functions: Callable[[bytes], _NamesAndTexts], prefix: Callable[[str], str]
) -> tuple[str, ...]:
    """Return the ids of the tests that are new or changed, in the order of the files.

    Args:
        new: The tree before and after the tests patch.
        functions: Returns the name and the text of each test in a file's contents.
        prefix: Returns the part of an id before a test's name, for a file; empty if the
            file's tests may not have run.
    """
    names: list[str] = []
    for path in new.paths:
        if start := prefix(path):
            before, after = (
                functions(contents_of(tree.get(path))) for tree in (new.before, new.after)
            )
            names += [f"{start}{name}" for name in added_or_changed(before, after)]
    return tuple(names)
