"""Compares two versions of a test file part by part, to find the tests that changed.

A test changes if its own text changes, or that of something it uses: a table of
parameters, a helper, a fixture. What a part uses is guessed from the words in it, so one
test too many may be found.
"""

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import TypeVar

from attrs import frozen

from cooperbench_eval.running.readers.added import contents_of
from cooperbench_eval.running.readers.protocol import NewTests
from cooperbench_eval.support.memo import TextMemo

__all__ = ["Part", "changed_tests", "remembered", "tests_by_file"]

_REMEMBERED_BYTES = 1 << 24
_Value = TypeVar("_Value")


@frozen(kw_only=True)
class Part:
    """A test of a file, or another part of the file that tests may use.

    Attributes:
        text: The text, or a digest of it.
        test: The test's name; empty if the part is not a test.
        binds: The names that the part defines. A part that is not a test and defines
            nothing concerns every test of its file.
        uses: The words in it that may refer to other parts.
    """

    text: str
    test: str = ""
    binds: frozenset[str] = frozenset()
    uses: frozenset[str] = frozenset()


Parts = Callable[[bytes], Sequence[Part] | None]
"""Splits a file's contents into parts; `None` if the tests in it cannot be told apart."""


def changed_tests(before: Sequence[Part], after: Sequence[Part]) -> tuple[str, ...]:
    """Name the tests of *after* that are new or changed, each once, in its order."""
    known = {(part.test, part.binds, part.text) for part in before}
    new = [part for part in after if (part.test, part.binds, part.text) not in known]
    if any(not part.test and not part.binds for part in new):
        return tuple(dict.fromkeys(part.test for part in after if part.test))
    users: dict[str, list[Part]] = defaultdict(list)
    for part in after:
        for word in part.uses:
            users[word].append(part)
    touched = {id(part) for part in new}
    while new:
        for user in (each for word in new.pop().binds for each in users.pop(word, ())):
            if id(user) not in touched:
                touched.add(id(user))
                new.append(user)
    return tuple(dict.fromkeys(part.test for part in after if part.test and id(part) in touched))


def tests_by_file(
    new: NewTests, parts: Parts, paths: Iterable[str]
) -> Iterator[tuple[str, tuple[str, ...] | None]]:
    """Yield the new or changed tests of each file; `None` if they cannot be told apart."""
    for path in paths:
        found = parts(contents_of(new.after.get(path)))
        known = parts(contents_of(new.before.get(path)))
        yield path, None if found is None else changed_tests(known or (), found)


def remembered(compute: Callable[[bytes], _Value]) -> TextMemo[_Value]:
    """Return *compute* with a cache of its latest results, by the contents of a file.

    The runs of a task read the same test files again and again; all of them must fit.
    """
    return TextMemo(compute, max_bytes=_REMEMBERED_BYTES)
