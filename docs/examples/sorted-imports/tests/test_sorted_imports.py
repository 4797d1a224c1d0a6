"""Conflicts that the strategy resolves or leaves open, and the laws for all strategies."""

from typing import ClassVar

import pytest
from sorted_imports import SortedImports

from cooperbench_eval import Changes, Entry, Snapshot, merge
from cooperbench_eval.testing import StrategyLaws


class TestLaws(StrategyLaws):
    """It satisfies every law, also on files with many conflicts for it."""

    files: ClassVar[dict[str, list[bytes]]] = {
        "app.py": [b"import os\n", b"import re\n", b"from a import b\n", b"run()\n"]
    }
    examples: ClassVar[int] = 30

    def make_strategy(self) -> SortedImports:
        """Make it as the registry does."""
        return SortedImports()


def merged(base: bytes, ours: bytes, theirs: bytes, path: str = "a.py") -> bytes | None:
    """Merge one file; `None` if it is left open."""
    tree = Snapshot.from_files({path: base})
    sides = (Changes({path: Entry(text)}) for text in (ours, theirs))
    outcome = merge(tree, *sides, strategy=SortedImports())
    return None if outcome.conflicts else outcome.changes[path].data


def test_imports_of_both_sides_are_kept() -> None:
    """They are sorted and unique."""
    ours, theirs = b"import re\nx = 1\n", b"import os\nimport json\nx = 1\n"

    assert merged(b"x = 1\n", ours, theirs) == b"import json\nimport os\nimport re\nx = 1\n"


@pytest.mark.parametrize(
    ("base", "ours", "theirs", "path"),
    [
        (b"import a\n", b"import b\n", b"import c\n", "a.py"),
        (b"x\n", b"import a\ny()\nx\n", b"import b\nx\n", "a.py"),
        (b"x\n", b"from a import (\n    c,\n)\nx\n", b"from b import (\n    c,\n)\nx\n", "a.py"),
        (b"x\n", b"from __future__ import annotations\nx\n", b"import b\nx\n", "a.py"),
        (b"x\n", b"import a\nx\n", b"import b\nx\n", "a.txt"),
    ],
    ids=["edited", "other code", "several lines", "future", "another language"],
)
def test_anything_else_stays_open(base: bytes, ours: bytes, theirs: bytes, path: str) -> None:
    """The strategy does not invent text."""
    assert merged(base, ours, theirs, path) is None
