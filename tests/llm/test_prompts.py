"""Prompts: in the package, versioned, and of one's own."""

import attrs
import pytest

from cooperbench_eval.llm.prompts import Prompts

TEXTS = ("system", "question", "excerpt", "choice", "retry")


def test_the_librarys_own_have_a_name_and_a_digest():
    """Both change with the texts."""
    version = Prompts.built_in().version

    name, digest = version.split()
    assert (name, len(digest)) == ("v1", 12)


def test_a_directory_may_hold_some_of_them(tmp_path):
    """The rest is the library's own; the version says that they are others."""
    (tmp_path / "system.txt").write_text("Be brief. Costs 5 $.", encoding="utf-8")

    prompts = Prompts.read(tmp_path)

    assert prompts.system == "Be brief. Costs 5 $."
    assert prompts.question == Prompts.built_in().question
    assert prompts.version.startswith(f"{tmp_path.name} ")
    assert prompts.version.split()[-1] != Prompts.built_in().version.split()[-1]


def test_a_directory_without_any_is_a_mistake(tmp_path):
    """A name mistyped does not pass for the library's own prompts."""
    with pytest.raises(FileNotFoundError, match=r"system\.txt"):
        Prompts.read(tmp_path / "nonesuch")


def test_a_template_that_hides_the_conflict_is_refused(tmp_path):
    """Nobody could answer it."""
    (tmp_path / "excerpt.txt").write_text("Ours: $ours")

    with pytest.raises(ValueError, match=r"'excerpt' has no \$theirs"):
        Prompts.read(tmp_path)


def test_filling_leaves_other_dollar_signs_and_values_alone():
    """A value is not looked into."""
    prompts = attrs.evolve(Prompts.built_in(), retry="$reason costs 5$ or $$5 ${more}")

    assert prompts.fill("retry", reason="$path") == "$path costs 5$ or $5 ${more}"


def test_a_template_says_each_thing_it_is_for():
    """The texts are the library's own, whole."""
    prompts = Prompts.built_in()

    assert "$excerpts" in prompts.question
    assert all(f"${name}" in prompts.excerpt for name in ("base", "ours", "theirs", "before"))
    assert "$reason" in prompts.retry
    assert all(getattr(prompts, name).strip() for name in TEXTS)
