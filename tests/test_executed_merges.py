"""The generator of executed merges: its programs run as intended, and it finds wrong merges."""

import importlib
from itertools import pairwise
from pathlib import Path

import pytest
from needs import need_program
from test_benchmarks import run

ROOT = Path(__file__).parents[1]
COUNT = 30


@pytest.fixture(scope="module")
def modules():
    """Import the modules of the benchmark."""
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(ROOT / "benchmarks")
        names = ("merges", "cases", "edits", "rendering", "runs")
        yield {name: importlib.import_module(f"executed_{name}") for name in names}


@pytest.fixture(scope="module")
def cases(modules):
    """Make some cases, always the same."""
    return [modules["cases"].make_case(3, number) for number in range(COUNT)]


@pytest.fixture
def judge(modules):
    """Return a function that judges a text as the merge of a case."""
    merges = modules["merges"]

    def judge(case, text, language="python"):
        merge = merges.Merge(case=case, language=language, strategy="x", text=text)
        return merges.judge_all(language, [merge])[0]

    return judge


def with_order(cases, order):
    """Return the cases in whose merge the order of the edits is free, or not."""
    return [case for case in cases if case.order == order]


def test_the_versions_of_a_case_run_and_differ(modules, cases):
    """A side that ran like the base would have no intent."""
    runs = modules["runs"].run_all
    inputs = modules["cases"].ALL_INPUTS

    for case in cases:
        base, *sides = runs("python", case.texts("python"), inputs)
        assert not isinstance(base, str)
        assert all(not isinstance(side, str) and side != base for side in sides)


@pytest.mark.parametrize("language", ["javascript", "go"])
def test_a_program_runs_alike_in_each_language(modules, cases, language):
    """So one model says what is right in all of them."""
    need_program("node" if language == "javascript" else "go")
    inputs = modules["cases"].ALL_INPUTS

    def runs(each):
        chosen = cases[:5]
        texts = [text for case in chosen for text in (*case.texts(each), *case.references(each))]
        return modules["runs"].run_all(each, texts, inputs)

    assert runs(language) == runs("python")


def test_a_program_with_the_edits_of_both_sides_is_right(cases, judge):
    """In either order of what the sides insert at one place."""
    free = with_order(cases, "commute")
    assert len(free) > COUNT / 2
    for case in free:
        assert {judge(case, text).ending.value for text in case.references("python")} == {"right"}


def test_a_merge_that_drops_an_edit_is_wrong(modules, cases, judge):
    """The judge finds the loss of any single edit, of both sides too."""
    combine, render = modules["edits"].combine, modules["rendering"].render
    for case in with_order(cases, "commute"):
        for edit in dict.fromkeys((*case.ours, *case.theirs)):
            if edit.kind in modules["edits"].REFACTORING:
                continue  # no run shows it
            left = (
                [each for each in side if each is not edit] for side in (case.ours, case.theirs)
            )
            text = render(combine(case.base, *left), "python")
            assert judge(case, text).ending.value == "wrong", edit.kind


def test_a_merge_that_repeats_what_both_sides_insert_is_wrong(cases, judge):
    """Every event of an edit that both sides make happens as often as on each side."""
    found = 0
    for case in with_order(cases, "commute"):
        lines = case.references("python")[0].splitlines(keepends=True)
        for at, line in enumerate(lines):
            if b'kit.Log("s' in line:
                text = b"".join([*lines[: at + 1], *lines[at:]])
                assert judge(case, text).problem.startswith("event repeated")
                found += 1
    assert found


def test_events_of_one_side_keep_their_order(cases, judge):
    """Swapping two events of the base is found, though the sums are equal."""
    found = 0
    for case in with_order(cases, "commute"):
        lines = case.references("python")[0].splitlines(keepends=True)
        for at, pair in enumerate(pairwise(lines)):
            starts = [line.startswith(b'    kit.Log("b') for line in pair]
            if all(starts):
                swapped = b"".join([*lines[:at], *reversed(pair), *lines[at + 2 :]])
                assert judge(case, swapped).problem.startswith("order changed")
                found += 1
    assert found


def test_a_contradiction_or_an_unclear_order_must_stay_open(modules, judge):
    """Any text for it is a guess, or wrong."""
    unclear = [modules["cases"].make_case(4, number) for number in (43, 49, 64, 76)]

    assert {case.order.value for case in unclear} == {"order matters", "contradict"}
    for case in unclear:
        texts = case.references("python") or case.texts("python")[1:]
        assert {judge(case, text).ending.value for text in texts} == {"guessed"}


def test_a_program_that_does_not_run_is_wrong(modules, judge):
    """A text that does not parse counts as closed, and never as a guess."""
    free, contradiction = (modules["cases"].make_case(4, number) for number in (0, 39))

    for case in (free, contradiction):
        judged = judge(case, b"def run(:\n")
        assert judged.ending.value == "wrong"
        assert judged.problem.startswith("does not run (SyntaxError")


def test_merges_without_a_conflict_are_right(modules, cases):
    """What git merges without a conflict agrees with the model."""
    merges = modules["merges"]
    found = [one for case in cases for one in merges.merges_of(case, "python", ["union"])]
    clean = [each for each in found if each.strategy == merges.CLEAN]

    assert 0 < len(clean) < len(found) / 2
    assert {each.ending.value for each in merges.judge_all("python", clean)} == {"right"}


ONCE_WRONG = {
    601: (
        *(6, 12, 71, 98, 152, 163, 243, 275, 285, 317, 338, 369, 403, 412, 414, 428, 439, 455),
        *(458, 465, 481, 538, 559, 621, 666, 712, 718, 727, 743, 752, 842, 843, 870, 919, 928, 933),
    ),
    701: (74, 93, 136, 412, 480, 545, 582),
}
"""Numbers of cases, by seed, that were once closed with a wrong text in one of the languages."""


@pytest.mark.parametrize("language", ["python", "javascript", "go"])
def test_what_was_once_closed_with_a_wrong_text_is_right_or_open(modules, language):
    """Every case is of a kind that random edits of both sides produce."""
    programs = {"javascript": "node", "go": "go"}
    if language in programs:
        need_program(programs[language])
    merges, make_case = modules["merges"], modules["cases"].make_case
    made = [make_case(seed, number) for seed, numbers in ONCE_WRONG.items() for number in numbers]
    found = [
        one
        for case in made
        for one in merges.merges_of(case, language, ["structured", "tokens", "cascade"])
        if one.strategy != merges.CLEAN
    ]

    judged = merges.judge_all(language, found)

    bad = [(each.merge.case.number, each.problem) for each in judged if each.ending in merges.BAD]
    assert not bad
    assert sum(each.ending.value == "right" for each in judged) > len(judged) / 5


def test_the_script_finds_that_union_repeats_what_both_insert():
    """The numbers of a row add up."""
    options = ("--count", "20", "--language", "python", "--strategy", "union")

    header, row, clean = run(*options, script="executed_merges.py")

    assert header == ["conflicts", "closed", "right", "wrong", "guessed", "open"]
    conflicts, closed, right, wrong, guessed, left = map(int, row[2:])
    assert row[:2] == ["python", "union"]
    assert right + wrong + guessed == closed == conflicts - left
    assert wrong
    assert conflicts + int(clean[2]) == 20
