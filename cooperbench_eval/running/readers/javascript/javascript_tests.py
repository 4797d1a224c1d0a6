"""Finds the tests that a patch brings to files of JavaScript and TypeScript."""

import re
from collections.abc import Iterator
from pathlib import PurePosixPath

from cooperbench_eval.models import Entry, TestCaseStatus
from cooperbench_eval.running.readers.added import added_or_changed
from cooperbench_eval.running.readers.masking import mask_javascript, open_braces
from cooperbench_eval.running.readers.protocol import NewTests

__all__ = ["NAME_SEPARATOR", "added_javascript_tests", "calls_tests", "covers_title"]

NAME_SEPARATOR = " > "
"""Stands between the file, the groups and the title in an id."""

# A title without escapes or parameters, and the body behind it.
_TEST = re.compile(r"""(?m)^[ \t]*(?:it|test)\(\s*(['"])([^'"\\\n%$]+)\1\s*,""")
_GROUP = re.compile(
    r"\b(?:describe|suite)\([^{}()]*,\s*(?:async\s*)?(?:function\s*\(\s*\)|\(\s*\)\s*=>)\s*$"
)
# Leaves out the others of its file, or runs tests at an author's pleasure.
_SELECTS = re.compile(r"\.only\b|\b(?:fit|fdescribe|ftest)\b|\b(?:it|test|describe)\.\w*If\b")
_CALL = re.compile(r"(?<![\w.$#])(test|it|describe|suite)(?:\.\w+)?\(")
_OWN = re.compile(
    r"\bfunction\s*\*?\s*(test|it|describe|suite)\b"
    r"|\b(?:const|let|var)\s+(test|it|describe|suite)\s*=\s*(?:async\b|function\b|\(|\w+\s*=>)"
)
_FILTER = re.compile(
    r"-t|--testN|--test-(?:name|skip|only|shard)|--tags|--shard|--changed|--only|--list|--find"
)
_TEST_FILE = re.compile(r"[^.].*\.(?:test|spec)\.[cm]?[jt]sx?")


def added_javascript_tests(new: NewTests) -> tuple[str, ...]:
    """Name the tests `<file> > <title>`, in the order of the files.

    Named is what is new or changed, has a literal title and stands in nothing but
    groups of tests, in a test file that the command names or of which something
    ran and nothing was skipped.
    """
    return tuple(
        f"{path}{NAME_SEPARATOR}{title}"
        for path in new.paths
        if _TEST_FILE.fullmatch(PurePosixPath(path).name) and _is_run(path, new)
        for title in added_or_changed(path, new, _tests)
    )


def covers_title(case_id: str, name: str) -> bool:
    """Whether an id is that of the test *name*, in whatever groups."""
    file, separator, title = name.partition(NAME_SEPARATOR)
    tail = separator + title
    return case_id.startswith(file + separator) and case_id.endswith(tail)


def calls_tests(text: str) -> bool:
    """Whether a file defines tests: it loads Node's runner, or calls what is named so.

    A function of such a name that the file makes itself is another matter.
    """
    masked = mask_javascript(text)
    calls = set(_CALL.findall(text if masked is None else masked))
    return "node:test" in text or bool(calls - {each[1] or each[2] for each in _OWN.finditer(text)})


def _is_run(path: str, new: NewTests) -> bool:
    """Whether every test of a file is run: the command or the result says so."""
    if any(_FILTER.match(word) for word in new.command):
        return False
    if any(word.removeprefix("./") == path for word in new.command[1:]):
        return True
    # A script may choose among tests; those that it leaves out are reported as skipped.
    cases = [case for case in new.cases if case.id.startswith(path + NAME_SEPARATOR)]
    return bool(cases) and all(case.status is not TestCaseStatus.SKIPPED for case in cases)


def _tests(entry: Entry | None) -> Iterator[tuple[str, str]]:
    """Yield each title with its test's text, down to the next test."""
    if entry is None or not entry.mode.is_regular:
        return
    text = entry.data.decode(errors="replace")
    masked = mask_javascript(text)
    if masked is None or _SELECTS.search(masked):
        return
    found = list(_TEST.finditer(text))
    ends = [each.start() for each in found[1:]] + [len(text)]
    for each, end in zip(found, ends, strict=True):
        word = each.start() + len(each[0]) - len(each[0].lstrip())
        if masked[word].strip() and _is_in_groups_only(masked, word):
            yield each[2], text[word:end].rstrip()


def _is_in_groups_only(masked: str, place: int) -> bool:
    """Whether every open brace before a place is that of a group's body."""
    opened = open_braces(masked, place)
    if opened is None:
        return False
    return all(_GROUP.search(masked, max(0, at - 300), at) for at in opened)
