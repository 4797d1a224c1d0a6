"""Orders hunks so that those that probably take part in a loss of tests come first.

A hunk probably does if its names occur in the lost tests or their failures, or in the
hunks of the other feature. Names that few hunks have count more. The order never decides
what is reported; a good one only saves test runs.
"""

import re
from collections import Counter
from collections.abc import Iterable, Sequence

from cooperbench_eval.evaluation.explaining.splitting import SideHunk
from cooperbench_eval.git.patching.path_kinds import PathKind, classify_path
from cooperbench_eval.git.trees.snapshot import Snapshot
from cooperbench_eval.running import TestSuite

__all__ = ["names_in", "ranked"]

_NAME = re.compile(rb"[^\W\d]\w{2,}")
_TEST_LINES = 30
"""About as many lines as a test has."""
_LONGEST = 200_000  # bytes of a text in which names are searched


def names_in(*texts: bytes) -> frozenset[bytes]:
    """Return the words of *texts* that could be names in a program."""
    return frozenset(name for text in texts for name in _NAME.findall(text[:_LONGEST]))


def names_of_tests(suite: TestSuite, ids: Iterable[str], base: Snapshot) -> frozenset[bytes]:
    """Return the names in the code of some tests, if the suite's patch on *base* contains them."""
    named = (_NAME.findall(_encoded(id_.partition("[")[0])) for id_ in ids)
    tests = {names[-1] for names in named if names}
    files = suite.patch.on(base).files
    lines = [line for file in files for hunk in file.hunks for line in hunk.new]
    starts = [place for place, line in enumerate(lines) if not tests.isdisjoint(names_in(line))]
    return names_in(*(line for start in starts for line in lines[start : start + _TEST_LINES]))


def ranked(hunks: Sequence[SideHunk], clues: Iterable[frozenset[bytes]]) -> tuple[SideHunk, ...]:
    """Order *hunks* by the names that they share with each of the *clues*."""
    names = {hunk: names_in(_encoded(hunk.path), hunk.text, hunk.scope) for hunk in hunks}
    hunks_with = Counter(name for each in names.values() for name in each)
    clues = tuple(clues)

    def weight(hunk: SideHunk) -> tuple[bool, float]:
        shared = sum(1 / hunks_with[name] for clue in clues for name in clue & names[hunk])
        return classify_path(hunk.path) is PathKind.DOCS, -shared

    return tuple(sorted(hunks, key=weight))


def _encoded(text: str) -> bytes:
    return text.encode("utf-8", "replace")
