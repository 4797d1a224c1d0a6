"""What a reader of a test framework is, and how readers find the tests that a patch changes.

Two versions of a test file are compared part by part. A test changes if its own text
changes, or that of something it uses: a table of parameters, a helper, a fixture. What a
part uses is guessed from the words in it, so one test too many may be found.
"""

import re
import shlex
from collections import defaultdict
from collections.abc import Callable, Container, Iterable, Iterator, Mapping, Sequence
from pathlib import Path, PurePosixPath
from typing import TypeVar

from attrs import evolve, field, frozen

from cooperbench_eval.git.trees.entries import Entry
from cooperbench_eval.git.trees.snapshot import Snapshot
from cooperbench_eval.running.readers.result_files import bounded
from cooperbench_eval.running.results import TestCase, TestCaseStatus
from cooperbench_eval.support.memo import TextMemo

_WORST_FIRST = (
    TestCaseStatus.FAILED,
    TestCaseStatus.ERROR,
    TestCaseStatus.PASSED,
    TestCaseStatus.XFAILED,
    TestCaseStatus.SKIPPED,
)


@frozen(kw_only=True)
class Launch:
    """How to start a suite's command so that its framework writes a result.

    Attributes:
        stdout: The file of the scratch directory to which the command's standard
            output is redirected, if any. The runner shows it with the output.
    """

    command: tuple[str, ...]
    env: Mapping[str, str] = field(factory=dict)
    stdout: Path | None = None


NOT_FOUND = 127
"""A shell's exit status if the program that it should run is missing."""


@frozen(kw_only=True)
class FinishedRun:
    """A command that ran to its end, as a reader sees it.

    Attributes:
        command: The suite's command, as its author wrote it.
        scratch: The directory where the framework was asked to write. It may be empty,
            or hold anything that hostile code wrote there.
        output: What the command printed. The middle of a long output may be cut.
    """

    command: tuple[str, ...]
    exit_code: int
    scratch: Path
    tree: Snapshot
    output: bytes = field(default=b"", repr=False)


@frozen(kw_only=True)
class NewTests:
    """A tests patch applied to a tree, in which readers look for the tests it adds.

    Attributes:
        paths: The files that the patch adds or changes, sorted.
        cases: The cases that the run reported. They show which files ran if the command
            does not.
    """

    before: Snapshot = field(repr=False)
    after: Snapshot = field(repr=False)
    paths: tuple[str, ...]
    command: tuple[str, ...]
    env: Mapping[str, str] = field(factory=dict, repr=False)
    cases: tuple[TestCase, ...] = field(default=(), repr=False)

    def versions(self, path: str) -> tuple[bytes, bytes]:
        """Return the contents of a file without and with the patch; empty if it is missing."""
        return contents_of(self.before.get(path)), contents_of(self.after.get(path))


@frozen(kw_only=True)
class Reader:
    """What the runner needs to know about one test framework.

    To support another framework, write a module with such a record and add the record
    to `frameworks.py`.

    Attributes:
        launch: Returns how to start a command so that the framework writes its result.
            It takes the suite's command, the suite's variables, and an empty directory
            for the result and for files that help to write it.
        required: Returns the tests that a tests patch adds or changes, found in its text,
            but only tests that the command is certain to run: one name too many makes an
            honest run inconclusive, whereas one too few only lets a forged run pass.
        added: Returns every test that a tests patch adds or changes, found in its text,
            whatever the command runs. It errs on the side of one name too many. With the
            trees swapped, it returns the tests that the patch changes or removes; with an
            empty tree before, all tests of the files. `None` if tests have no names.
        covers: Whether a case belongs to the test with a given name: it is the test, a
            variant of it, or the `error` of the file or program that contains it. A case of
            a file or program with any other status does not count.
        file_of: Returns the path of a case's file, as it is in the id; empty if the id
            does not show it.
        no_test_codes: The exit statuses that agree with a run in which no case counts.
        result: What the framework writes, for messages.
    """

    _read: Callable[[FinishedRun], Iterable[TestCase]]
    launch: Callable[[tuple[str, ...], Mapping[str, str], Path], Launch] = lambda command, env, _: (
        Launch(command=command, env=env)
    )
    required: Callable[[NewTests], tuple[str, ...]] = lambda _: ()
    added: Callable[[NewTests], tuple[str, ...]] | None = None
    covers: Callable[[TestCase, str], bool] = lambda case, name: case.id == name
    file_of: Callable[[TestCase], str] = lambda _: ""
    no_test_codes: frozenset[int] = frozenset({0})
    result: str = "result"

    def read(self, run: FinishedRun) -> tuple[TestCase, ...]:
        """Return every case of the run once, in the order of first occurrence.

        A case may be reported several times, because it ran again or because two cases share a
        name. Then the worst reported status counts. If the result is missing, too large or not
        credible, raise `UnreadableResultError`.
        """
        found: dict[str, TestCase] = {}
        for case in bounded(self._read(run)):
            known = found.get(case.id)
            found[case.id] = case if known is None else _worst_of(known, case)
        return tuple(found.values())


def _worst_of(one: TestCase, other: TestCase) -> TestCase:
    worst = min(one, other, key=lambda case: _WORST_FIRST.index(case.status))
    return evolve(worst, duration_seconds=one.duration_seconds + other.duration_seconds)


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
    new: NewTests,
    functions: Callable[[bytes], _NamesAndTexts],
    prefix: Callable[[str], str],
    keeps: Callable[[str, str], bool],
) -> tuple[str, ...]:
    """Return the ids of the tests that are new or changed, in the order of the files.

    *functions* returns the name and the text of each test in a file's contents. *prefix* returns
    the part of an id before a test's name, for a file; it is empty if the file's tests may not have
    run. *keeps* says whether the command selects a file's test with a name.
    """
    names: list[str] = []
    for path in new.paths:
        if start := prefix(path):
            found = added_or_changed(*map(functions, new.versions(path)))
            names += [f"{start}{name}" for name in found if keeps(path, name)]
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


_Parts = Callable[[bytes], Sequence[Part] | None]
"""Splits a file's contents into parts; `None` if the tests in it cannot be told apart."""


def _changed_tests(before: Sequence[Part], after: Sequence[Part]) -> tuple[str, ...]:
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
    new: NewTests, parts: _Parts, paths: Iterable[str]
) -> Iterator[tuple[str, tuple[str, ...] | None]]:
    """Yield the new or changed tests of each file; `None` if they cannot be told apart."""
    for path in paths:
        known, found = map(parts, new.versions(path))
        yield path, None if found is None else _changed_tests(known or (), found)


def remembered(compute: Callable[[bytes], _Value]) -> TextMemo[_Value]:
    """Return *compute* with a cache of its latest results, by the contents of a file.

    The runs of a task read the same test files again and again; all of them must fit.
    """
    return TextMemo(compute, max_bytes=_REMEMBERED_BYTES)


def remembered_tests(
    find: Callable[[bytes], _NamesAndTexts],
) -> TextMemo[tuple[tuple[str, str], ...]]:
    """Return *find*, which yields the tests of a file, with such a cache.

    A file whose code is nested too deeply has none.
    """

    def found(data: bytes) -> tuple[tuple[str, str], ...]:
        try:
            return tuple(find(data))
        except RecursionError:
            return ()

    return remembered(found)


def arguments_of(command: tuple[str, ...], *start: str) -> tuple[str, ...] | None:
    """Return the words after a program and its verbs; `None` for another program or verb."""
    words = (PurePosixPath(command[0]).name, *command[1:])
    return words[len(start) :] if words[: len(start)] == start else None


def option_and_value(word: str, rest: Iterator[str], with_value: Container[str]) -> tuple[str, str]:
    """Return an option's name and its value; the value is empty if there is none.

    The option is `--name`, `--name=value`, `-n` or `-nvalue`. If it is in *with_value* and its
    value is a word of its own, that is the next one of *rest*.
    """
    letter = word[:2]
    if letter != "--" and len(word) > len(letter) and letter in with_value:
        return letter, word[len(letter) :]
    name, equals, value = word.partition("=")
    if not equals and name in with_value:
        value = next(rest, "")
    return name, value


def _arguments_in_script(program: str, new: NewTests) -> Iterator[str]:
    """Yield the arguments, as text, of each call in the command's words and the files they name."""
    files = (new.after.get(word.removeprefix("./")) for word in new.command)
    texts = [file.data.decode(errors="replace") for file in files if file is not None]
    for text in (" ".join(new.command), *texts):
        joined_lines = text.replace("\\\n", " ")
        for found in re.finditer(rf"(?<![\w-])(?:{program})(?![\w-])([^\n;&|)#]*)", joined_lines):
            yield re.sub(r"\d?>+\s*\S*", " ", found[1])  # a redirection is not an argument


def selections(
    new: NewTests,
    program: str,
    arguments: tuple[str, ...] | None,
    parse: Callable[[tuple[str, ...]], _Value | None],
) -> list[_Value] | None:
    """Return what each call of a program selects; `None` if one may select anything.

    *program* is a regular expression for the program and its verb. *arguments* are those of the
    command, if it is a call of the program; `None` if it is a script that may make several. *parse*
    returns what the arguments of a call select; `None` if it does not understand them.
    """
    calls = [arguments]
    if arguments is None:
        calls = [split_words(text) for text in _arguments_in_script(program, new)]
    found = [None if words is None else parse(words) for words in calls]
    known = [each for each in found if each is not None]
    return known if len(known) == len(found) else None


def split_words(text: str) -> tuple[str, ...] | None:
    """Split a line into words as a shell does; `None` if a quote is not closed."""
    try:
        return tuple(shlex.split(text))
    except ValueError:
        return None
