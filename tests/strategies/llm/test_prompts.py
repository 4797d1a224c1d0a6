"""Prompts: those of the package, their versions, and custom ones."""

import attrs
import pytest

from cooperbench_eval.strategies.llm.prompts import Prompts

TEXTS = ("system", "question", "excerpt", "choice", "retry")


def test_the_librarys_prompts_have_a_name_and_a_digest():
    """Both change with the texts."""
    version = Prompts.built_in().version

    name, digest = version.split()
    assert (name, len(digest)) == ("v1", 12)


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

    assert "$excerpts" in prompts.question
    assert all(f"${name}" in prompts.excerpt for name in ("base", "ours", "theirs", "before"))
    assert "$reason" in prompts.retry
    assert all(getattr(prompts, name).strip() for name in TEXTS)
