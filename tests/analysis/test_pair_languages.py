"""The language of a change is that of most of its code."""

from fnmatch import fnmatchcase

import pytest
from pygments.lexers import get_all_lexers

from cooperbench_eval.analysis.languages import _matches, find_language


@pytest.mark.parametrize(
    ("paths", "language"),
    [
        ([], ""),
        (["src/a.py"], "Python"),
        (["src/form.tsx", "src/b.ts", "a.js"], "TypeScript"),
        (["a.jsx"], "JavaScript"),
        (["mux.go", "go.mod", "go.sum"], "Go"),
        (["crates/a/src/lib.rs", "Cargo.toml", "README.md", "docs/a.md"], "Rust"),
        (["src/one.c", "src/one.h"], "C"),
        (["LICENSE", "logo.png"], ""),
    ],
)
def test_the_language_is_that_of_most_files(paths, language):
    """Pygments' name of it; dialects count as their language."""
    assert find_language(paths) == language


def test_data_and_texts_count_only_where_there_is_nothing_else():
    """One line of code outweighs any number of files beside it."""
    beside = ["a.rst", "b.rst", "package.json", "poetry.lock", "c.yaml", "d.yaml", "e.toml"]

    assert find_language([*beside, "src/a.py"]) == "Python"
    assert find_language(["CHANGES.rst", "docs/a.rst"]) == "reStructuredText"


def test_the_products_code_outweighs_its_tests():
    """Tests and settings decide only where no code of the product was changed."""
    assert find_language(["src/a.rs", "tests/a.py", "tests/b.py"]) == "Rust"
    assert find_language(["tests/a.py"]) == "Python"


def test_a_file_counts_once_and_the_order_does_not_matter():
    """Many hunks of one file are one file, and a tie goes to the first name."""
    tie = ["a.ts", "b.rs", "c.py", "d.kt", "e.java", "f.go"]

    assert find_language([*["a.py"] * 3, "b.rs", "c.rs"]) == "Rust"
    assert find_language(tie) == find_language(reversed(tie)) == "Go"


def test_a_pattern_fits_the_names_that_it_fits_in_a_shell():
    """Each of Pygments', on names of each."""
    patterns = {pattern for _, _, each, _ in get_all_lexers(plugins=False) for pattern in each}
    names = {pattern.replace("*", start) for pattern in patterns for start in ("", "a")}

    some = sorted(patterns)[::20] + [each for each in patterns if not {"?", "["}.isdisjoint(each)]
    for pattern in some:
        for name in names:
            assert _matches(name, pattern) == fnmatchcase(name, pattern)
