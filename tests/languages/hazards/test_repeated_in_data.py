"""Keys that a merge of a data file repeats."""

import sys

import pytest

from cooperbench_eval.languages.hazards.kinds import HazardKind
from cooperbench_eval.languages.readers import grammars

GAP = "".join(f"{{}}gap{n}{{}}\n" for n in range(6))


def around(first, last, gap, start="", end=""):
    """A file with two places that are far from each other."""
    return f"{start}{first}{gap}{last}{end}"


YAML, TOML = GAP.format(*["  ", ": 0"] * 6), GAP.format(*["", " = 0"] * 6)
JSON = GAP.format(*['  "', '": 0,'] * 6)

REPEATED = {
    "a job": (
        ".github/workflows/ci.yml",
        ("  lint:\n    run: a\n", "  lint:\n    run: b\n", YAML, "jobs:\n"),
        ("jobs.lint", 10, 2),
    ),
    "a file that templates fill": (
        "chart/values.yaml",
        ("  a: 1\n", "  a: {{ x }}\n", YAML, "top:\n"),
        ("top.a", 9, 2),
    ),
    "a table": (
        "pyproject.toml",
        ("[tool.a]\nx = 1\n", "[tool.a]\ny = 1\n", f"[gap]\n{TOML}"),
        ("[tool.a]", 10, 1),
    ),
    "a key of a table": ("Cargo.toml", ("a = 1\n", 'a = "2"\n', TOML, "[x]\n"), ("[x].a", 9, 2)),
    "the same key and value": ("a.toml", ("a = 1\n", "a = 1\n", TOML), ("a", 8, 1)),
    "a key of JSON": (
        "package.json",
        ('  "a": 1,\n', '  "a": 2,\n', JSON, "{\n", '  "z": 0\n}\n'),
        ("a", 9, 2),
    ),
    "another checksum": (
        "go.sum",
        (
            "a v1 h1:a=\n",
            "a v1 h1:b=\n",
            "".join(f"gap{n} v1 h1:c=\n" for n in range(6)),
        ),
        ("a v1", 8, 1),
    ),
    "a package": (
        "requirements.txt",
        ("Foo==1\n", "foo==2\n", "".join(f"gap{n}\n" for n in range(6))),
        ("foo", 8, 1),
    ),
}


@pytest.mark.parametrize("case", REPEATED)
def test_a_key_of_both_sides_is_repeated(case, hazards_of):
    """Git merges the two entries without a conflict, and the file does not count as broken."""
    path, (ours, theirs, *rest), (name, line, first) = REPEATED[case]
    base = {path: around("", "", *rest)}

    (found,) = hazards_of(base, {path: around(ours, "", *rest)}, {path: around("", theirs, *rest)})

    assert (found.kind, found.path, found.name) == (HazardKind.KEY_REPEATED, path, name)
    assert (found.line, found.features) == (line, (1, 2))
    assert found.message == (
        f"with both features, the key `{name}` occurs 2 times ({path}, line {first} and {path}, "
        f"line {line}); feature 1 alone and feature 2 alone have it at most once"
    )


HARMLESS = {
    "keys of different mappings": ("a.yml", "  a: 1\n", "other:\n  a: 2\n", YAML, "top:\n"),
    "items of a list": (
        "a.yml",
        "  - name: a\n    x: 1\n",
        "  - name: a\n    x: 2\n",
        "".join(f"  - name: gap{n}\n" for n in range(6)),
        "top:\n",
    ),
    "documents": ("a.yml", "---\na: 1\n", "---\na: 2\n", "---\nx: 1\ny: 1\nz: 1\n"),
    "lists of tables": ("a.toml", "[[a]]\nx = 1\n", "[[a]]\nx = 2\n", f"[gap]\n{TOML}"),
    "the same requirement": (
        "requirements.txt",
        "foo==1\n",
        "foo==1\n",
        "".join(f"gap{n}\n" for n in range(6)),
    ),
    "the same checksum": (
        "go.sum",
        "a v1 h1:a=\n",
        "a v1 h1:a=\n",
        "".join(f"gap{n} v1 h1:b=\n" for n in range(6)),
    ),
}


@pytest.mark.parametrize("case", HARMLESS)
def test_what_a_file_may_repeat_is_not_a_hazard(case, hazards_of):
    """The entries belong to different mappings, or the format allows them."""
    path, ours, theirs, *rest = HARMLESS[case]

    found = hazards_of(
        {path: around("", "", *rest)},
        {path: around(ours, "", *rest)},
        {path: around("", theirs, *rest)},
    )

    assert found == ()


def test_a_key_that_the_base_repeats_is_not_a_hazard(hazards_of):
    """Nor are lists of tables, which such a file may continue."""
    base = around("a = 1\na = 2\n", "", f"[gap]\n{TOML}")
    ours, theirs = f"b = 1\n{base}", f"{base}b = 2\n"
    tables = {"a.toml": f"{base}[[t]]\nx = 1\n[u]\n[[t]]\nx = 2\n"}

    assert hazards_of({"a.toml": base}, {"a.toml": ours}, {"a.toml": theirs}) == ()
    assert hazards_of({"a.toml": base}, {"a.toml": ours}, {"a.toml": theirs}, tables) == ()


def test_a_key_that_a_side_repeats_is_not_a_hazard_of_the_merge(hazards_of):
    """The merge does not make it worse."""
    base = around("", "", YAML, "top:\n")
    ours = around("  a: 1\n", "  a: 1\n", YAML, "top:\n")
    theirs = base.replace("gap3: 0", "gap3: 0\n  a: 2")

    assert hazards_of({"a.yml": base}, {"a.yml": ours}, {"a.yml": theirs}, {"a.yml": ours}) == ()
    assert hazards_of({"a.yml": base}, {"a.yml": ours}, {"a.yml": base}) == ()


def test_without_grammars_the_file_does_not_parse(hazards_of, monkeypatch):
    """The standard library finds the key as well, but not where it is."""
    path, (ours, theirs, *rest), _ = REPEATED["a key of JSON"]
    monkeypatch.setitem(sys.modules, "tree_sitter_json", None)
    caches = (grammars._parser, grammars.parse)
    for cache in caches:
        cache.cache_clear()

    (found,) = hazards_of(
        {path: around("", "", *rest)},
        {path: around(ours, "", *rest)},
        {path: around("", theirs, *rest)},
    )
    for cache in caches:
        cache.cache_clear()

    assert found.kind is HazardKind.PARSE_ERROR
    assert "the key 'a' occurs twice" in found.message
