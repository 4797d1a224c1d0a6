"""Generators of merges, for Hypothesis.

Texts are made of few lines that repeat, so that sides often change the same ones, and
bases are edited rather than drawn anew, so that sides often agree.

- `texts`: the three versions of one text.
- `trees`: the three versions of a tree, with every kind of entry.
- `files`: which files a strategy is asked about, its author's among them.
- `cases`: what a strategy is asked under a law.
"""

from cooperbench_eval.testing.generators.cases import (
    disjoint_cases,
    edited_cases,
    merge_cases,
    odd_cases,
)
from cooperbench_eval.testing.generators.files import Files, checked_files
from cooperbench_eval.testing.generators.texts import (
    Edit,
    Lines,
    TextTriples,
    Triple,
    edits,
    texts,
    three_way_texts,
)
from cooperbench_eval.testing.generators.trees import entries, three_way_edits, three_way_trees

__all__ = [
    "Edit",
    "Files",
    "Lines",
    "TextTriples",
    "Triple",
    "checked_files",
    "disjoint_cases",
    "edited_cases",
    "edits",
    "entries",
    "merge_cases",
    "odd_cases",
    "texts",
    "three_way_edits",
    "three_way_texts",
    "three_way_trees",
]
