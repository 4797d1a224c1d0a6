"""Files that no longer parse."""

import pytest

from cooperbench_eval.languages.hazards.kinds import HazardKind

BROKEN = {
    "a.py": ("a = f(1)\n", "a = f(1, 2)\n", "a = f(1)\nb = 1\n", "a = f(1, 2\nb = 1\n", 1),
    "a.go": (
        "package a\n\nfunc f() {}\n",
        "package a\n\nfunc f() {\n}\n",
        "package a\n\nfunc f() {}\nfunc g() {}\n",
        "package a\n\nfunc f() {\n\nfunc g() {}\n",
        5,
    ),
    "a.ts": ("f()\n", "f(1)\n", "f()\ng()\n", "f(1\ng()\n", 1),
    "a.js": ("f()\n", "f(1)\n", "f()\ng()\n", "f()\nlet = ;\n", 2),
    "a.rs": ("fn f() {}\n", "fn f() {\n}\n", "fn f() {}\nfn g() {}\n", "fn f() {\nfn g( {}\n", 2),
    "a.json": ('{"a": 1}\n', '{"a": 2}\n', '{"a": 1,\n"b": 1}\n', '{"a": 2\n"b": 1}\n', 2),
    "a.toml": ("a = 1\n", "a = 1\nb = 1\n", "b = 2\na = 1\n", "b = 2\na =\nb = 1\n", None),
    "A.java": (
        "class A {}\n",
        "class A {\n}\n",
        "class A {}\nclass B {}\n",
        "class A {\nclass B {}\n",
        2,
    ),
}


@pytest.mark.parametrize("path", BROKEN)
def test_a_file_that_no_longer_parses_is_a_hazard(path, hazards_of):
    """The hazard names the file, its line and both features."""
    base, ours, theirs, merged, line = BROKEN[path]

    (found,) = hazards_of({path: base}, {path: ours}, {path: theirs}, {path: merged})

    assert (found.kind, found.path, found.line) == (HazardKind.PARSE_ERROR, path, line)
    assert found.features == (1, 2)
    assert f"{path} parses with feature 1 alone and with feature 2 alone" in found.message


@pytest.mark.parametrize("path", BROKEN)
@pytest.mark.parametrize("broken_before", [0, 1, 2])
def test_a_file_that_did_not_parse_before_is_not_a_hazard(path, broken_before, hazards_of):
    """It does not matter which of the versions did not parse."""
    versions = list(BROKEN[path][:3])
    versions[broken_before] = BROKEN[path][3] + "\n"
    base, ours, theirs = versions

    assert hazards_of({path: base}, {path: ours}, {path: theirs}, {path: BROKEN[path][3]}) == ()


@pytest.mark.parametrize("path", BROKEN)
def test_a_file_that_parses_is_not_a_hazard(path, hazards_of):
    """The sides alone are fine, and so is a merge that takes one of them."""
    base, ours, theirs, *_ = BROKEN[path]

    assert hazards_of({path: base}, {path: ours}, {path: theirs}, {path: ours}) == ()


def test_a_file_that_both_sides_add_has_no_base(hazards_of):
    """Only the versions that exist must parse."""
    (found,) = hazards_of({}, {"a.py": "a = (1)\n"}, {"a.py": "b = (2)\n"}, {"a.py": "a = (\n"})

    assert found.kind is HazardKind.PARSE_ERROR
