"""Differential test of the interference check, on functions without calls.

Horwitz, Prins and Reps prove that a merge without interference does what each side does
where the other side changes nothing. Here base, sides and merge are executed instead.
"""

import ast
import itertools
from random import Random
from typing import NamedTuple

import pytest
from tiny_programs import INPUTS, edited, execute, follow, program, statements_of, written

from cooperbench_eval.languages.files import read_versions
from cooperbench_eval.languages.tree import StructureError, render
from cooperbench_eval.strategies.structured.flow.interference import find_interference
from cooperbench_eval.strategies.structured.merge import TreeMerge

FEW, MANY = 200, 2000


class Trial(NamedTuple):
    """A merge, what the check says, and an input on which the merge is wrong."""

    text: str
    found: str
    wrong: tuple | None


def trial(seed):
    """Merge two random edits of a random program; `None` if there is nothing to judge."""
    random, numbers = Random(seed), itertools.count()  # noqa: S311 - no secret
    base = program(random, numbers)
    sides = [edited(random, numbers, base) for _ in range(2)]
    if both_edit(base, *sides):
        return None
    texts = [written(each) for each in (base, *sides)]
    trees = read_versions("a.py", [text.encode() for text in texts])
    try:
        merged = TreeMerge().merge(*trees)
    except StructureError:
        return None
    text = render(merged).decode() + "\n"
    if text[1:] in texts or not parses(text):
        return None
    wrong = first_wrong(base, sides, text)
    return Trial(text, find_interference(*trees, merged), wrong)


def parses(text):
    """Whether the merge has no empty suite; the checks refuse one that has."""
    try:
        ast.parse(text)
    except SyntaxError:
        return False
    return True


def both_edit(base, ours, theirs):
    """Whether both sides change one expression: the check leaves this to the merge."""
    before, mine, other = (
        {each.number: each.value for each in statements_of(version)}
        for version in (base, ours, theirs)
    )
    return any(
        value not in {mine.get(n, value), other.get(n, value)} for n, value in before.items()
    )


def first_wrong(base, sides, text):
    """Return an input that one side leaves alone and on which the merge is not the other."""
    for given, result in zip(INPUTS, execute(text, INPUTS), strict=True):
        before, *runs = (follow(version, given) for version in (base, *sides))
        for one, other in (runs, runs[::-1]):
            if leaves_alone(before, other) and result != one.result:
                return given
    return None


def leaves_alone(before, after):
    """Whether a side returns the same, and computes the same in the base's statements."""
    return before.result == after.result and all(
        now == then
        for number, values in before.values.items()
        for now, then in zip(after.values.get(number, ()), values, strict=False)
    )


def check(seeds, most_missed):
    """Judge the merges, and return how many of the right ones the check refuses."""
    trials = [found for seed in seeds if (found := trial(seed))]
    missed = [each for each in trials if each.wrong and not each.found]
    assert len(missed) <= most_missed, missed
    right = [each for each in trials if not each.wrong]
    assert any(each.wrong for each in trials)
    return sum(bool(each.found) for each in right) / len(right)


def test_a_merge_without_interference_does_what_each_side_does():
    """Where the other side changes nothing."""
    assert check(range(FEW), 0) < 0.85


@pytest.mark.long
def test_many_merges_without_interference_do_what_each_side_does():
    """All but a few in a thousand; functions of arithmetic are refused too often."""
    assert check(range(FEW, MANY), (MANY - FEW) // 500) < 0.85
