"""Prompts: those of the package, their versions, and custom ones."""

from pathlib import Path

import attrs
import pytest

import cooperbench_eval as ce
from cooperbench_eval.git.merging.conflicts import Conflict
from cooperbench_eval.strategies.llm.prompts import Prompts
from cooperbench_eval.strategies.llm.questions import Place, Question

TEXTS = ("system", "question", "excerpt", "choice", "retry")


def test_the_librarys_prompts_have_a_name_and_a_digest():
    """Both change with the texts."""
    version = Prompts.built_in().version

    name, digest = version.split()
    assert (name, len(digest)) == ("v2", 12)


def test_earlier_prompts_are_kept():
    """Cassettes that were recorded with them can be replayed, and the version is the same."""
    folder = Path(ce.llm.__file__).parent / "prompts" / "v1"

    assert Prompts.read(folder).version == "v1 d1b32113b0a8"


def test_prompts_without_newer_placeholders_can_be_used():
    """A question is written with those that there are, as before."""
    prompts = Prompts.read(Path(ce.llm.__file__).parent / "prompts" / "v1")
    conflict = Conflict(path="a.py", base=b"", ours=b"1\n", theirs=b"2\n", line=1)
    question = Question(path="a.py", places=[Place(conflict=conflict)])
    place = Place(conflict=conflict, refusal="both sides changed it")
    newer = Question(path="a.py", places=[place], definitions="Definition of f")

    text = newer.text(prompts, "", 3)

    assert text == question.text(prompts, "", 3)
    assert text.startswith("File: a.py (Python)\n\nConflict 1, line 1\n\nLines before:\n")


def test_a_directory_may_have_some_of_the_prompts(tmp_path):
    """The others come from the library; the version is different."""
    (tmp_path / "system.txt").write_text("Be brief. Costs 5 $.", encoding="utf-8")

    prompts = Prompts.read(tmp_path)

    assert prompts.system == "Be brief. Costs 5 $."
    assert prompts.question == Prompts.built_in().question
    assert prompts.version.startswith(f"{tmp_path.name} ")
    assert prompts.version.split()[-1] != Prompts.built_in().version.split()[-1]


def test_a_directory_without_prompts_is_an_error(tmp_path):
    """A mistyped name must not select the library's own prompts."""
    with pytest.raises(ValueError, match=r"directory has no system\.txt"):
        Prompts.read(tmp_path / "nonesuch")


def test_a_template_that_hides_the_conflict_is_rejected(tmp_path):
    """No model could answer it."""
    (tmp_path / "excerpt.txt").write_text("Ours: $ours")

    with pytest.raises(ValueError, match=r"excerpt has no \$theirs"):
        Prompts.read(tmp_path)


def test_filling_leaves_other_dollar_signs_as_they_are():
    """Also dollar signs in a value."""
    prompts = attrs.evolve(Prompts.built_in(), retry="$reason costs 5$ or $$5 ${more}")

    assert prompts.fill("retry", reason="$path") == "$path costs 5$ or $5 ${more}"


def test_the_librarys_templates_have_all_placeholders():
    """The texts are complete."""
    prompts = Prompts.built_in()

    assert all(f"${name}" in prompts.question for name in ("definitions", "excerpts", "features"))
    shown = ("base", "ours", "theirs", "before", "behind", "refusal")
    assert all(f"${name}" in prompts.excerpt for name in shown)
    assert "$reason" in prompts.retry
    assert all(getattr(prompts, name).strip() for name in TEXTS)
