"""Finds the tests that a patch adds or changes, and what commands say about them.

Two versions of a test file are compared part by part. A test changes if its own text
changes, or that of something it uses: a table of parameters, a helper, a fixture. What a
part uses is guessed from the words in it, so one test too many may be found.
"""

import re
import shlex
from collections import defaultdict
from collections.abc import Callable, Container, Iterable, Iterator, Sequence
from pathlib import PurePosixPath
from typing import TypeVar

from attrs import frozen

from cooperbench_eval.git.trees.entries import Entry
from cooperbench_eval.running.readers.protocol import NewTests
from cooperbench_eval.support.memo import TextMemo

__all__ = [
    "Part",
    "added_or_changed",
    "added_tests",
    "arguments_in_script",
    "arguments_of",
    "changed_tests",
    "contents_of",
    "option_and_value",
    "remembered",
    "split_words",
    "tests_by_file",
]

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


def arguments_of(command: tuple[str, ...], program: str, *verbs: str) -> tuple[str, ...] | None:
    """Return the words after a program and its verbs; `None` for another program or verb."""
    rest = command[1 + len(verbs) :]
    is_program = bool(command) and PurePosixPath(command[0]).name == program
    return rest if is_program and command[1 : 1 + len(verbs)] == verbs else None


def option_and_value(word: str, rest: Iterator[str], with_value: Container[str]) -> tuple[str, str]:
    """Return an option's name and its value; the value is empty if there is none.

    Args:
        word: The option, as `--name`, `--name=value`, `-n` or `-nvalue`.
        rest: The words after it. The value is the next one if it is a word of its own.
        with_value: The names of the options that take a value.
    """
    letter = word[:2]
    if letter != "--" and len(word) > len(letter) and letter in with_value:
        return letter, word[len(letter) :]
    name, equals, value = word.partition("=")
    if not equals and name in with_value:
        value = next(rest, "")
    return name, value


def arguments_in_script(program: str, new: NewTests) -> Iterator[str]:
    """Yield the arguments, as text, of each call of a program in a script.

    The script is the words of the suite's command and the files that they name.

    Args:
        program: A regular expression for the program and its verb.
        new: The tree with the tests patch, and the command.
    """
    files = (new.after.get(word.removeprefix("./")) for word in new.command)
    texts = [file.data.decode(errors="replace") for file in files if file is not None]
    for text in (" ".join(new.command), *texts):
        joined_lines = text.replace("\\\n", " ")
        for found in re.finditer(rf"(?<![\w-])(?:{program})(?![\w-])([^\n;&|)#]*)", joined_lines):
            yield re.sub(r"\d?>+\s*\S*", " ", found[1])  # a redirection is not an argument


def split_words(text: str) -> tuple[str, ...] | None:
    """Split a line into words as a shell does; `None` if a quote is not closed."""
    try:
        return tuple(shlex.split(text))
    except ValueError:
        return None
