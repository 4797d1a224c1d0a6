"""Finds the tests that a patch adds to JavaScript and TypeScript, and those that are selected."""

import re
from collections.abc import Iterator, Sequence
from functools import partial
from pathlib import PurePosixPath

from cooperbench_eval.running.readers.masking import JAVASCRIPT, declarations
from cooperbench_eval.running.readers.protocol import (
    NewTests,
    Part,
    Reader,
    added_tests,
    option_and_value,
    remembered,
    remembered_tests,
    tests_by_file,
)
from cooperbench_eval.running.results import TestCase, TestCaseStatus

_PATTERNS = frozenset({"-t", "--testNamePattern", "--test-name-pattern"})
_OTHER_FILTER = re.compile(
    r"-t|--testN|--test-(?:name|skip|only|shard)|--tags|--shard|--changed|--only|--list|--find"
)
# The title is only the end of the text that is searched, and Python reads some signs otherwise.
_UNSURE = re.compile(r"\^|\(\?[^:]|\[\]|^/|\\[a-zA-Z](?<![dDwWsSbnrtv])")


def _title_patterns(command: Sequence[str]) -> tuple[str, ...] | None:
    """Return the expressions of a command; `None` if it selects in another way."""
    found = []
    words = iter(command)
    for word in words:
        option, value = option_and_value(word, words, _PATTERNS)
        if option in _PATTERNS:
            found.append(value.removeprefix("="))
        elif _OTHER_FILTER.match(word):
            return None
    return tuple(found)


def _surely_matches(patterns: Sequence[str], title: str) -> bool:
    """Whether a title matches each expression, whatever groups it is in."""
    try:
        return all(
            not _UNSURE.search(pattern) and re.search(pattern, title) for pattern in patterns
        )
    except (re.error, RecursionError, OverflowError):
        return False


_ANY_TITLE = "*"
"""The name of a test whose title is only known when it runs."""

_ANY_TEST = re.compile(
    r"(?<![\w$.])(?P<owner>[\w$]+\.)?(?P<kind>it|test|fit|xit|xtest|ftest|specify)"
    r"(?P<modifiers>(?:\.\w+)*)\s*\("
)
_NOT_A_TEST = re.compile(r"\.(?:describe|before|after|step|use|extend|mock|setTimeout|info)")
_OWNERS = frozenset({"t.", "ctx.", "context.", "test.", "st."})
_TITLE = re.compile(r"""\s*(?P<quote>['"`])(?P<title>[^\\\n]*?)(?P=quote)\s*[,)]""")
_GROUP_LINE = re.compile(
    r"\s*(?:describe|suite|context|fdescribe|xdescribe)(?:\.(?!each)\w+)*\(.*\{\s*"
)
_IMPORT = re.compile(r"\s*(?:import\b(?!\()|export\s*\{|export\s*\*)")
_BOUND = re.compile(
    r"\s*(?:export\s+)?(?:default\s+)?(?:declare\s+)?(?:async\s+)?"
    r"(?:const|let|var|function\s*\*?|class|enum|interface|type)\s*"
    r"(?P<names>\{[^}]*\}|\[[^\]]*\]|[\w$]+)"
)
_WORD = re.compile(r"[\w$]+")
_ONLY_CLOSES = re.compile(r"[\s)}\];,]*")


@remembered
def _javascript_parts(data: bytes) -> Sequence[Part] | None:
    """Split a file; `None` if its comments, texts or brackets are misread.

    A test with a literal title is named by it, whatever groups it is in. Any other test is
    named `*`.
    """
    text = data.decode(errors="replace")
    masked = JAVASCRIPT.mask(text)
    statements = None if masked is None else _statements(masked)
    if masked is None or statements is None:
        return None
    return tuple(part for start, end in statements for part in _parts(text, masked, start, end))


def _statements(masked: str) -> list[tuple[int, int]] | None:
    """Return where each statement at the top level or in a group begins and ends.

    A statement begins at a line and ends at the line with its last bracket.
    """
    found = []
    depth = start = place = 0
    begun: int | None = None  # the depth at which the open statement began
    for line in masked.splitlines(keepends=True):
        if begun is None and not _ONLY_CLOSES.fullmatch(line) and not _GROUP_LINE.fullmatch(line):
            begun, start = depth, place
        opened = sum(map(line.count, "([{"))
        depth += opened - sum(map(line.count, ")]}"))
        place += len(line)
        if begun is not None and depth <= begun:
            found.append((start, place))
            begun = None
    return found if depth == 0 else None


def _parts(text: str, masked: str, start: int, end: int) -> Iterator[Part]:
    code = masked[start:end]
    if _IMPORT.match(code):
        return
    uses = frozenset(_WORD.findall(code))
    own = text[start:end].strip()
    titles = [
        _title(text, call)
        for call in _ANY_TEST.finditer(masked, start, end)
        if _is_test(text, call)
    ]
    for title in titles:
        yield Part(text=own, test=title, uses=uses)
    if not titles:
        bound = _BOUND.match(code)
        names = _WORD.findall(bound["names"]) if bound else ()
        yield Part(text=own, binds=frozenset(names), uses=uses)


def _is_test(text: str, call: re.Match[str]) -> bool:
    """Whether a call is of a test, not of a method such as that of a regular expression."""
    if _NOT_A_TEST.match(call["modifiers"]):
        return False
    owner = call["owner"]
    return not owner or owner in _OWNERS or _TITLE.match(text, call.end()) is not None


def _title(text: str, call: re.Match[str]) -> str:
    """Return the title; `_ANY_TITLE` if it is computed."""
    found = _TITLE.match(text, call.end())
    is_literal = (
        found is not None
        and "each" not in call["modifiers"]
        and (found["quote"] != "`" or "${" not in found["title"])
    )
    return found["title"] if found is not None and is_literal else _ANY_TITLE


NAME_SEPARATOR = " > "
"""Separates the file, the groups and the title in an id."""

# A title without escapes or parameters, before a test's body.
_TEST = re.compile(
    r"(?m)^[ \t]*(?P<whole>(?:it|test)\(\s*"
    r"""(?P<quote>['"])(?P<title>[^'"\\\n%$]+)(?P=quote)\s*,)"""
)
_GROUP = re.compile(
    r"\b(?:describe|suite)\([^{}()]*,\s*(?:async\s*)?(?:function\s*\(\s*\)|\(\s*\)\s*=>)\s*$"
)
# Leaves out the other tests of its file, or runs tests on a condition.
_SELECTS = re.compile(r"\.only\b|\b(?:fit|fdescribe|ftest)\b|\b(?:it|test|describe)\.\w*If\b")
_CALL = re.compile(r"(?<![\w.$#])(test|it|describe|suite)(?:\.\w+)?\(")
_OWN = re.compile(
    r"\bfunction\s*\*?\s*(test|it|describe|suite)\b"
    r"|\b(?:const|let|var)\s+(test|it|describe|suite)\s*=\s*(?:async\b|function\b|\(|\w+\s*=>)"
)
_SOURCE = re.compile(r".*\.[cm]?[jt]sx?")
_TEST_FILE = re.compile(r"[^.].*\.(?:test|spec)\.[cm]?[jt]sx?")


def added_titles(new: NewTests, *, suites_are_filtered: bool = False) -> tuple[str, ...]:
    """Name the tests `<file> > <title>`, in the order of the files.

    A test is named if it is new or changed, has a literal title, and is only inside
    groups of tests. Its file must be a test file that the command names, or a file with
    reported cases of which none was skipped. If the command selects titles, the title must
    surely match, and one reported case must not be skipped. If *suites_are_filtered*, a group
    is left out too if its title does not match.
    """
    patterns = _title_patterns(new.command)
    if patterns is None:
        return ()

    def prefix(path: str) -> str:
        if not _TEST_FILE.fullmatch(PurePosixPath(path).name):
            return ""
        text = new.versions(path)[1].decode(errors="replace")
        if patterns and suites_are_filtered and re.search(r"\b(?:describe|suite)\b", text):
            return ""
        is_run = _is_run(path, new, filtered=bool(patterns))
        return f"{path}{NAME_SEPARATOR}" if is_run else ""

    return added_tests(new, _tests, prefix, lambda _, title: _surely_matches(patterns, title))


def _changed_tests(new: NewTests) -> tuple[str, ...]:
    """Name all tests that the patch adds or changes, whatever the command runs.

    The name of a file stands for all its tests, if a changed one has a computed title, or
    if the file cannot be read or is itself a case.
    """
    ids = {case.id for case in new.cases}
    names = [path for path in new.paths if path in ids]
    paths = [path for path in new.paths if _SOURCE.fullmatch(path)]
    for path, titles in tests_by_file(new, _javascript_parts, paths):
        names += [
            path if title == _ANY_TITLE else f"{path}{NAME_SEPARATOR}{title}"
            for title in ((_ANY_TITLE,) if titles is None else titles)
        ]
    return tuple(names)


def covers(case: TestCase, name: str, *, with_subtests: bool = False) -> bool:
    """Whether *case* has the file and the title of *name*, in any groups, or is a subtest of it.

    A name may also be that of a file. A file that could not be run is a case of each of
    its tests.
    """
    file, separator, title = name.partition(NAME_SEPARATOR)
    if case.id == file:
        return not separator or case.status is TestCaseStatus.ERROR
    is_below = with_subtests and f"{NAME_SEPARATOR}{title}{NAME_SEPARATOR}" in case.id
    is_in_file = case.id.startswith(f"{file}{NAME_SEPARATOR}")
    return is_in_file and (is_below or case.id.endswith(separator + title))


@remembered
def calls_tests(data: bytes) -> bool:
    """Whether a file defines tests: it loads Node's runner, or calls `test` and the like.

    Calls of a function that the file itself defines do not count.
    """
    text = data.decode(errors="replace")
    masked = JAVASCRIPT.mask(text)
    calls = set(_CALL.findall(text if masked is None else masked))
    return "node:test" in text or bool(calls - {each[1] or each[2] for each in _OWN.finditer(text)})


def _is_run(path: str, new: NewTests, *, filtered: bool) -> bool:
    """Whether the command or the result shows that a file ran, in whole or as filtered."""
    if any(word.removeprefix("./") == path for word in new.command[1:]):
        return True
    # A script may select tests; the others are reported as skipped.
    cases = [case for case in new.cases if case.id.startswith(path + NAME_SEPARATOR)]
    ran = [case.status is not TestCaseStatus.SKIPPED for case in cases]
    return any(ran) if filtered else bool(ran) and all(ran)


@remembered_tests
def _tests(data: bytes) -> Iterator[tuple[str, str]]:
    """Yield each title with its test's text, down to the next test."""
    text = data.decode(errors="replace")
    masked = JAVASCRIPT.mask(text)
    if masked is None or _SELECTS.search(masked):
        return
    found = list(_TEST.finditer(text))
    for test, _, piece in declarations(text, masked, found, _GROUP):
        if not masked[test.start("whole")].isspace():  # not in a comment
            yield test["title"], piece


reader_in_node = partial(
    Reader,
    required=added_titles,
    added=_changed_tests,
    covers=covers,
    file_of=lambda case: case.id.partition(NAME_SEPARATOR)[0],
    # The frameworks end with 1 if they find no test file.
    no_test_codes=frozenset({0, 1}),
)
"""Makes the reader of a framework that runs in Node from its `launch` and its `read`."""
