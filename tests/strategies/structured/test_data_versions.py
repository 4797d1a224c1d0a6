"""A version that both sides raise gets the higher number."""

import pytest
from needs import need_package

import cooperbench_eval as ce

for each in ("json", "toml", "yaml"):
    need_package(f"tree_sitter_{each}")


def merge(path, template, *values, strategy="structured"):
    """Merge three versions of a file that differ in one value."""
    base, *sides = (template.replace("{}", value).encode() for value in values)
    changes = (ce.Changes({path: ce.Entry(side)}) for side in sides)
    return ce.merge(ce.Snapshot.from_files({path: base}), *changes, strategy=strategy)


JSON, TOML, YAML = '{\n  "x": "{}"\n}\n', 'x = "{}"\n', "x: {}\n"
RAISED = {
    "a patch and a major release": ("package.json", JSON, "1.9.8", "1.9.9", "2.0.0"),
    "numbers, not letters": ("Cargo.toml", TOML, "1.9.8", "1.9.9", "1.10.0"),
    "before a release": ("package.json", JSON, "4.15.2", "4.15.4", "5.0.0-alpha.5"),
    "from a development version": ("a.toml", TOML, "8.4.2.dev", "8.4.2", "8.5.0.dev"),
    "a range": ("package.json", JSON, "^8.1", "^8.1.2", "^8.2"),
    "the least version": ("a.toml", TOML, ">=3.7", ">=3.10", ">=3.11"),
    "a requirement": ("a.toml", 'x = ["{}"]\n', "a-b==0.7.0.2", "a-b==0.7.0.9", "a-b==0.7.1"),
    "a line of requirements": ("requirements.txt", "{}\n", "a2==2.3", "a2==2.9", "a2==2.10"),
    "an action": (".github/a.yml", "- uses: {}\n", "a/b@v3.5", "a/b@v3.6.0", "a/b@v4.0"),
    "an image": ("a.yaml", YAML, "r.io/a1/b:1.2.3", "r.io/a1/b:1.2.4", "r.io/a1/b:1.3.0"),
}


@pytest.mark.parametrize("case", RAISED.values(), ids=RAISED)
@pytest.mark.parametrize("strategy", ["structured", "cascade"])
def test_a_version_that_both_sides_raise_gets_the_higher_number(case, strategy):
    """The order of the sides does not matter."""
    path, template, base, lower, higher = case

    for sides in ((lower, higher), (higher, lower)):
        outcome = merge(path, template, base, *sides, strategy=strategy)

        assert outcome.status == "resolved", outcome.ledger
        assert outcome.changes[path].data.decode() == template.replace("{}", higher)


OPEN = {
    "a side lowers it": (JSON, "1.2.3", "1.2.2", "1.2.4"),
    "one release in two forms": (JSON, "1.2.3", "1.3.0-rc.1", "1.3.0-rc.2"),
    "two operators": (JSON, "^1.2.3", "^1.2.4", "~1.3.0"),
    "the highest version": (JSON, "<1.2.3", "<1.2.4", "<1.3.0"),
    "a range with an end": (JSON, ">=1.2,<2.0", ">=1.2,<2.1", ">=1.2,<2.2"),
    "two packages": (JSON, "a@1.2.3", "b@1.2.4", "c@1.2.5"),
    "two flavours": (JSON, "a:1.2.3-alpine", "a:1.2.4-alpine", "a:1.2.5-bookworm"),
    "a number": (YAML, "1.5", "1.6", "1.7"),
    "two numbers in quotes": (JSON, "1.5", "1.6", "1.7"),
    "an option": (JSON, "--x=1.5", "--x=1.6", "--x=1.7"),
    "an address": (YAML, "10.0.0.1", "10.0.0.7", "10.0.3.1"),
    "a date": (YAML, "2024-01-05", "2024-01-09", "2024-02-05"),
    "a name": (YAML, "h1.2.3", "h1.2.4", "h1.2.5"),
    "a long number": (YAML, f"1.2.{'1' * 5000}", f"1.2.{'2' * 5000}", f"1.2.{'3' * 5000}"),
}


@pytest.mark.parametrize("case", OPEN.values(), ids=OPEN)
@pytest.mark.parametrize("strategy", ["structured", "cascade"])
def test_other_values_that_both_sides_change_stay_open(case, strategy):
    """They are not versions, or not both are raised, or the sides change more."""
    template, *values = case
    path = "a.json" if template is JSON else "a.yml"

    assert merge(path, template, *values, strategy=strategy).status == "conflicts"


def test_a_new_version_that_both_sides_add_stays_open():
    """Nobody knows whether the higher one is a later one."""
    values = ("", '\n  "x": "1.2.4",', '\n  "x": "1.3.0",')

    assert merge("a.json", '{{}\n  "y": 1\n}\n', *values).status == "conflicts"


@pytest.mark.parametrize("strategy", ["structured", "cascade"])
def test_a_new_image_does_not_get_the_tag_of_the_old_one(strategy):
    """Both sides raise the tag, but only one changes the repository."""
    values = ("a, tag: 1.0.0", "b, tag: 1.1.0", "a, tag: 1.2.0")

    outcome = merge("a.yml", "{repository: {}}\n", *values, strategy=strategy)

    assert outcome.status == "conflicts"
    equal = merge("a.yml", "{repository: {}}\n", values[0], values[1], "a, tag: 1.1.0")
    assert equal.status == "resolved"


def test_mappings_are_no_revisions():
    """A key such as `tag` may have another meaning there."""
    values = ("url: 1, tag: {a: 1, b: 1}", "url: 2, tag: {a: 2, b: 1}", "url: 1, tag: {a: 1, b: 2}")

    outcome = merge("a.yml", "{{}}\n", *values)

    assert outcome.changes["a.yml"].data == b"{url: 2, tag: {a: 2, b: 2}}\n"


def test_the_reason_names_what_stays_open_beside_a_raised_version():
    """The lower number is not a loss."""
    values = ("1.2.3", "1.2.9", "1.3.0")
    y = "".join(f"y{i}: 1\n" for i in "abcdefg")
    template = f"x: {{}}\n{y}z: {{}} z\n"

    outcome = merge("a.yml", template, *values)

    (row,) = (each for each in outcome.ledger if each.is_open)
    assert row.reason.startswith("at 'z', both sides changed")
