"""Splits files of Go tests into tests and what tests use."""

import re
from collections.abc import Sequence
from itertools import pairwise

from cooperbench_eval.running.readers.masking import GO
from cooperbench_eval.running.readers.parts import Part, remembered

__all__ = ["METHOD", "go_parts"]

METHOD = "*/"
"""Begins the name of a method that a test function may run as a subtest."""

_DECLARATION = re.compile(r"^(func|type|var|const|import|package)\b", re.MULTILINE)
_FUNCTION = re.compile(r"func\s*(?P<receiver>\([^)]*\))?\s*(?P<name>\w+)")
_TEST = re.compile(r"(?:Test|Example|Fuzz|Benchmark)(?:[^a-z\W]\w*)?")
# The names in a block of declarations come after one tab.
_NAMES = re.compile(r"^(?:var|const|type|\t)[ \t]*(\w+(?:[ \t]*,[ \t]*\w+)*)", re.MULTILINE)
_CONSTRAINT = re.compile(r"^//(?:go:build| ?\+build)\b.*", re.MULTILINE)
# Functions that run around other tests.
_SURROUNDINGS = frozenset(
    {"TestMain", "init", "SetupTest", "SetupSuite", "TearDownTest", "TearDownSuite", "SetUpTest"}
)


@remembered
def go_parts(data: bytes) -> Sequence[Part]:
    """Split a file; a method of a test suite is named `*/Method`."""
    text = data.decode(errors="replace")
    masked = GO.mask(text) or ""
    starts = [each.start() for each in _DECLARATION.finditer(masked)]
    parts = [
        Part(text=each[0]) for each in _CONSTRAINT.finditer(text[: starts[0] if starts else 0])
    ]
    for start, end in pairwise((*starts, len(text))):
        code = masked[start:end].rstrip()
        if not code.startswith(("import", "package")):
            parts.append(_part(code, text[start : start + len(code)]))
    return parts


def _part(code: str, text: str) -> Part:
    uses = frozenset(re.findall(r"\w+", code))
    function = _FUNCTION.match(code)
    if function is None:
        names = (name for found in _NAMES.findall(code) for name in re.split(r"\W+", found))
        return Part(text=text, binds=frozenset(names), uses=uses)
    name = function["name"]
    if name in _SURROUNDINGS:
        return Part(text=text, uses=uses)
    test = name if _TEST.fullmatch(name) else ""
    if test and function["receiver"]:
        test = METHOD + name
    return Part(text=text, test=test, binds=frozenset({name}), uses=uses)
