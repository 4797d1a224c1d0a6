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
    "from a development version": ("a.toml", TOML, "8.4.2.dev", "8.4.2", "8.5.0.dev"),
    "a release and a later pre-release": ("a.toml", TOML, "1.2.3", "1.4.0", "2.0.0-rc.1"),
    "between two releases": ("a.toml", TOML, "1.3.0-rc.1", "1.3.0", "1.4.0-rc.1"),
    "a release named after a date": (
        "requirements.txt",
        "{}\n",
        "a==2024.1.5",
        "a==2024.1.9",
        "a==2024.2.5",
    ),
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
    "a release candidate": (JSON, "1.3.0", "1.3.0-rc.1", "1.4.0"),
    "an earlier release candidate": (JSON, "1.3.0-rc.1", "1.3.0", "1.3.0-rc.2"),
    "two operators": (JSON, "^1.2.3", "^1.2.4", "~1.3.0"),
    "the highest version": (JSON, "<1.2.3", "<1.2.4", "<1.3.0"),
    "a range with an end": (JSON, ">=1.2,<2.0", ">=1.2,<2.1", ">=1.2,<2.2"),
    "two packages": (JSON, "a@1.2.3", "b@1.2.4", "c@1.2.5"),
    "two flavours": (JSON, "a:1.2.3-alpine", "a:1.2.4-alpine", "a:1.2.5-bookworm"),
    "a number": (YAML, "1.5", "1.6", "1.7"),
    "two numbers in quotes": (JSON, "1.5", "1.6", "1.7"),
    "an option": (JSON, "--x=1.5", "--x=1.6", "--x=1.7"),
    "an address": (YAML, "10.0.0.1", "10.0.0.7", "10.0.3.1"),
    "a network": ("cidr: {}\n", "10.0.0", "10.0.7", "10.3.0"),
    "an address's start": ("hostIp: {}\n", "10.0.0", "10.0.7", "10.3.0"),
    "one of several hosts": ("dns_hosts: {}\n", "10.0.0", "10.0.7", "10.3.0"),
    "an id": ("id: {}\n", "1.2.3", "1.2.4", "1.3.0"),
    "a serial": ("zone.serial: {}\n", "1.2.3", "1.2.4", "1.3.0"),
    "about a number": ("rate: {}\n", "~0.5", "~0.6", "~0.7"),
    "a date": (YAML, "2024-01-05", "2024-01-09", "2024-02-05"),
    "a date with dots": (YAML, "2024.01.05", "2024.01.09", "2024.02.05"),
    "the last date": (YAML, "2099.12.30", "2099.12.31", "2100.1.1"),
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


APART = {
    "a new checksum": (
        "version: 1.2.3",
        "version: 1.3.0\nsha256: b",
        "version: 1.4.0",
    ),
    "a checksum that nobody changes": (
        "version: 1.2.3\nb: 1\nintegrity: a",
        "version: 1.3.0\nb: 1\nintegrity: a",
        "version: 1.4.0\nb: 1\nintegrity: a",
    ),
    "a checksum that only the lower side changes": (
        "version: 1.2.3\ndigest: a",
        "version: 1.3.0\ndigest: b",
        "version: 1.4.0\ndigest: a",
    ),
    "a nested checksum": (
        "version: 1.2.3\nsource: {hash: a, url: c}",
        "version: 1.3.0\nsource: {hash: b, url: c}",
        "version: 1.4.0\nsource: {hash: a, url: c}",
    ),
    "a long checksum in a list": (
        f"version: 1.2.3\nfiles:\n- sha256: {'a' * 64}\n",
        f"version: 1.3.0\nfiles:\n- sha256: {'a' * 64}\n",
        f"version: 1.4.0\nfiles:\n- sha256: {'a' * 64}\n",
    ),
    "a revision": (
        "version: 1.2.3\nrev: v1.2.3",
        "version: 1.3.0\nrev: v1.3.0",
        "version: 1.4.0\nrev: v1.2.3",
    ),
    "another origin": (
        "repo: a\nversion: v1.0.0",
        "repo: b\nversion: v2.0.0",
        "repo: a\nversion: v3.2.0",
    ),
    "an origin far above": (
        "repo: a\nb: 1\nc: 1\nd: 1\nversion: v1.0.0",
        "repo: b\nb: 1\nc: 1\nd: 1\nversion: v2.0.0",
        "repo: a\nb: 1\nc: 1\nd: 1\nversion: v3.2.0",
    ),
    "a new name": (
        "version: 1.0.0",
        "version: 2.0.0\nname: b",
        "version: 3.2.0",
    ),
    "a name that is gone": (
        "name: a\nversion: 1.0.0",
        "version: 2.0.0",
        "name: a\nversion: 3.2.0",
    ),
    "another image": (
        "image: a@1.0.0\nversion: 1.0.0",
        "image: b@1.0.0\nversion: 2.0.0",
        "image: a@1.0.0\nversion: 3.2.0",
    ),
    "an item": (
        "- name: a\n  version: 1.0.0",
        "- name: b\n  version: 2.0.0",
        "- name: a\n  version: 3.2.0",
    ),
    "with an anchor": (
        "name: a\nversion: &v 1.0.0",
        "name: b\nversion: &v 2.0.0",
        "name: a\nversion: &v 3.2.0",
    ),
    "on several lines": (
        "name: a\nversion: >-\n  1.0.0",
        "name: b\nversion: >-\n  2.0.0",
        "name: a\nversion: >-\n  3.2.0",
    ),
}


def merge_texts(path, texts, strategy="structured"):
    """Merge three versions of a file."""
    return merge(path, "{}\n", *texts, strategy=strategy)


@pytest.mark.parametrize("texts", APART.values(), ids=APART)
@pytest.mark.parametrize("strategy", ["structured", "cascade"])
def test_a_higher_version_is_not_taken_if_the_rest_may_describe_the_lower_one(texts, strategy):
    """A checksum or an origin would belong to a version that nobody chose."""
    base, lower, higher = texts

    for sides in ((lower, higher), (higher, lower)):
        assert merge_texts("a.yml", (base, *sides), strategy).status == "conflicts"


def test_a_version_with_another_name_stays_open_in_json_and_toml():
    """The rule does not depend on the format."""
    names = ("a", 1), ("b", 2), ("a", 3)
    objects = [f'{{"name": "{name}", "version": "{i}.0.0"}}' for name, i in names]
    tables = [f'[p]\nsource = "{name}"\nversion = "{i}.0.0"' for name, i in names]

    assert merge_texts("a.json", objects).status == "conflicts"
    assert merge_texts("a.toml", tables).status == "conflicts"


TOGETHER = {
    "other versions of the lower side": (
        '{"a": "1.2.3", "b": "^1.0", "c": "1.0"}',
        '{"a": "1.2.4", "b": "~1.1", "c": "1.1", "d": "2.0"}',
        '{"a": "1.3.0", "b": "^1.0", "c": "1.0"}',
        '{"a": "1.3.0", "b": "~1.1", "c": "1.1", "d": "2.0"}',
    ),
    "several versions, each from another side": (
        '{"a": "^1.2.3", "b": "^1.2.3"}',
        '{"a": "^1.2.4", "b": "^1.4.0"}',
        '{"a": "^1.3.0", "b": "^1.3.0"}',
        '{"a": "^1.3.0", "b": "^1.4.0"}',
    ),
    "packages that are called like other things": (
        '{"ip": "^1.1.5", "object-hash": "^1.0"}',
        '{"ip": "^1.1.6", "object-hash": "^1.0"}',
        '{"ip": "^1.1.8", "object-hash": "^1.0"}',
        '{"ip": "^1.1.8", "object-hash": "^1.0"}',
    ),
    "a checksum and a name of the higher side": (
        '{"name": "a", "version": "1.0.0", "sha256": "a"}',
        '{"name": "a", "version": "2.0.0", "sha256": "a"}',
        '{"name": "b", "version": "3.0.0", "sha256": "b"}',
        '{"name": "b", "version": "3.0.0", "sha256": "b"}',
    ),
    "a change of both sides": (
        '{"name": "a", "version": "1.0.0"}',
        '{"name": "b", "version": "2.0.0"}',
        '{"name": "b", "version": "3.0.0"}',
        '{"name": "b", "version": "3.0.0"}',
    ),
    "nested values": (
        '{"version": "1.0.0", "scripts": {"a": "1"}}',
        '{"version": "2.0.0", "scripts": {"a": "2"}}',
        '{"version": "3.0.0", "scripts": {"a": "1"}}',
        '{"version": "3.0.0", "scripts": {"a": "2"}}',
    ),
}


@pytest.mark.parametrize("texts", TOGETHER.values(), ids=TOGETHER)
def test_a_higher_version_is_taken_beside_changes_that_do_not_describe_it(texts):
    """Dependencies are many versions in one mapping."""
    base, lower, higher, expected = texts

    for sides in ((lower, higher), (higher, lower)):
        outcome = merge_texts("package.json", (base, *sides))

        assert outcome.status == "resolved", outcome.ledger
        assert outcome.changes["package.json"].data.decode() == expected + "\n"


def test_a_version_stays_open_beside_checksums_that_stay_open():
    """The reason names both."""
    y = "".join(f"y{i}: 1\n" for i in "abcdefg")
    versions = ("1.2.3", "1.3.0", "1.4.0")

    outcome = merge("a.yml", f"version: {{}}\n{y}checksums: [{{}}x]\n", *versions)

    assert [each.is_open for each in outcome.ledger] == [True, True]
    reason = "both sides raise 'version', maybe wrongly for 'checksums'"
    assert outcome.ledger[0].reason.startswith(reason)
