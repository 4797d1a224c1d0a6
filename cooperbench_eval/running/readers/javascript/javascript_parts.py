"""Splits files of JavaScript and TypeScript into tests and what tests use."""

import re
from collections.abc import Iterator, Sequence

from cooperbench_eval.running.readers.masking import JAVASCRIPT
from cooperbench_eval.running.readers.parts import Part, remembered

__all__ = ["ANY_TITLE", "javascript_parts"]

ANY_TITLE = "*"
"""The name of a test whose title is only known when it runs."""

_TEST = re.compile(
    r"(?<![\w$.])(?P<owner>[\w$]+\.)?(?P<kind>it|test|fit|xit|xtest|ftest|specify)"
    r"(?P<modifiers>(?:\.\w+)*)\s*\("
)
_NOT_A_TEST = re.compile(r"\.(?:describe|before|after|step|use|extend|mock|setTimeout|info)")
_OWNERS = frozenset({"t.", "ctx.", "context.", "test.", "st."})
_TITLE = re.compile(r"""\s*(?P<quote>['"`])(?P<title>[^\\\n]*?)(?P=quote)\s*[,)]""")
_GROUP = re.compile(r"\s*(?:describe|suite|context|fdescribe|xdescribe)(?:\.(?!each)\w+)*\(.*\{\s*")
_IMPORT = re.compile(r"\s*(?:import\b(?!\()|export\s*\{|export\s*\*)")
_BOUND = re.compile(
    r"\s*(?:export\s+)?(?:default\s+)?(?:declare\s+)?(?:async\s+)?"
    r"(?:const|let|var|function\s*\*?|class|enum|interface|type)\s*"
    r"(?P<names>\{[^}]*\}|\[[^\]]*\]|[\w$]+)"
)
_WORD = re.compile(r"[\w$]+")
_ONLY_CLOSES = re.compile(r"[\s)}\];,]*")


@remembered
def javascript_parts(data: bytes) -> Sequence[Part] | None:
    """Split a file; `None` if its comments, texts or brackets are misread.

    A test with a literal title is named by it, whatever groups it is in. Any other test is
    named `*`.
    """
    text = data.decode(errors="replace")
    masked = JAVASCRIPT.mask(text)
    if masked is None:
        return None
    statements = _statements(masked)
    if statements is None:
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
        if begun is None and not _ONLY_CLOSES.fullmatch(line) and not _GROUP.fullmatch(line):
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
        _title(text, call) for call in _TEST.finditer(masked, start, end) if _is_test(text, call)
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
    """Return the title; `ANY_TITLE` if it is computed."""
    found = _TITLE.match(text, call.end())
    is_literal = (
        found is not None
        and "each" not in call["modifiers"]
        and (found["quote"] != "`" or "${" not in found["title"])
    )
    return found["title"] if found is not None and is_literal else ANY_TITLE
