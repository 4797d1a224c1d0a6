"""Lists, values and comments of data files are merged without a loss."""

import json
import re
import tomllib
from itertools import chain

import pytest
from hypothesis import given
from hypothesis import strategies as st
from needs import need_package

import cooperbench_eval as ce

for each in ("json", "toml", "yaml"):
    need_package(f"tree_sitter_{each}")
yaml = need_package("yaml")


def merged(path, *texts, strategy="structured"):
    """Return the merged file, or the reason why it is open."""
    base, *sides = (text.encode() for text in texts)
    changes = (ce.Changes({path: ce.Entry(side)}) for side in sides)
    outcome = ce.merge(ce.Snapshot.from_files({path: base}), *changes, strategy=strategy)
    assert outcome.status != "clean"  # otherwise the strategy was not asked
    if outcome.conflicts:
        return outcome.ledger[0].reason
    return outcome.changes[path].data.decode()


def items(words):
    """Write a list of YAML, one word for each letter."""
    return "x:\n" + "".join(f"- {word}w\n" for word in words) + "y: 1\n"


LISTS = {
    "neighbours that the sides remove": ("abcd", "acd", "abd", "ad"),
    "more and fewer neighbours that the sides remove": ("abcde", "ae", "abe", "ae"),
    "a removed item beside a new one": ("ab", "b", "anb", "nb"),
    "a replaced item beside a new one": ("ab", "nb", "axb", "nxb"),
    "neighbours that the sides replace": ("abc", "nbc", "axc", "nxc"),
    "a replaced item and a removed neighbour": ("abc", "nbc", "ac", "nc"),
    "one item that a side replaces by more": ("abc", "anc", "anmc", "anmc"),
    "two items of which a side keeps one": ("abc", "nc", "anc", "nc"),
    "an alphabetical order around two new items": ("bf", "bdf", "bcf", "bcdf"),
    "no order": ("fb", "fdb", "fcb", "fdcb"),
}


@pytest.mark.parametrize("words", LISTS.values(), ids=LISTS)
def test_items_of_both_sides_are_kept_and_removed(words):
    """Each item of a list of words is one thing, wherever it stands."""
    *texts, expected = map(items, words)

    assert merged("a.yml", *texts) == expected
    assert sorted(merged("a.yml", texts[0], *texts[:0:-1])) == sorted(expected)


MERGED = {
    "a string with other quotes": (
        "a.yml",
        "a: 'x.y'\nb: 1\n",
        "a: 'z'\nb: 1\n",
        "a: x.y\nb: 2\n",
        "a: 'z'\nb: 2\n",
    ),
    "a string that is a number with other quotes": (
        "a.toml",
        "a = '1'\nb = 1\n",
        "a = '2'\nb = 1\n",
        'a = "1"\nb = 2\n',
        "a = '2'\nb = 2\n",
    ),
    "a new item with other quotes": (
        "a.toml",
        "a = [\n]\n",
        "a = [\n  'x',\n]\n",
        'a = [\n  "x",\n  "y",\n]\n',
        "a = [\n  'x',\n  \"y\",\n]\n",
    ),
    "a new list that contains the other one": (
        "a.json",
        "{}\n",
        '{"a": ["x", "y"]}\n',
        '{"a": ["x"]}\n',
        '{"a": ["x", "y"]}\n',
    ),
    "a command with more edits than the other one": (
        "package.json",
        '{"test": "run a b"}\n',
        '{"test": "run a b -v"}\n',
        '{"test": "run -n 2 a b -v"}\n',
        '{"test": "run -n 2 a b -v"}\n',
    ),
    "a script with more edits than the other one": (
        "a.yml",
        "run: |\n  a x\n  b\n",
        "run: |\n  a y\n  b\n",
        "run: |\n  a y\n  b z\n",
        "run: |\n  a y\n  b z\n",
    ),
    "comments at one place": (
        "a.toml",
        "a = 1\n",
        "a = 1\n\n# b = 1\n",
        "a = 1\n\n# c = 1\n",
        "a = 1\n\n# b = 1\n\n# c = 1\n",
    ),
    "a repeated merge of mappings": (
        "a.yml",
        "x: &x {a: 1}\ny: &y {b: 1}\nz:\n  <<: *x\n  <<: *y\n  c: 1\n  d: 1\n",
        "x: &x {a: 1}\ny: &y {b: 1}\nz:\n  <<: *x\n  <<: *y\n  c: 2\n  d: 1\n",
        "x: &x {a: 1}\ny: &y {b: 1}\nz:\n  <<: *x\n  <<: *y\n  c: 1\n  d: 2\n",
        "x: &x {a: 1}\ny: &y {b: 1}\nz:\n  <<: *x\n  <<: *y\n  c: 2\n  d: 2\n",
    ),
    "a new document": (
        "a.yml",
        "kind: A\na: 1\nb: 1\n",
        "kind: A\na: 2\nb: 1\n",
        "kind: A\na: 1\nb: 2\n---\nkind: B\n",
        "kind: A\na: 2\nb: 2\n---\nkind: B\n",
    ),
}


@pytest.mark.parametrize("case", MERGED.values(), ids=MERGED)
def test_equal_values_and_larger_changes_are_taken(case):
    *texts, expected = case

    assert merged(*texts) == expected


OPEN = {
    "one item that the sides replace differently": ("a.yml", *map(items, ("abc", "anc", "axc"))),
    "an item that a side removes and the other changes": (
        "a.toml",
        "a = [\n  'm==1',\n  'n',\n]\n",
        "a = [\n  'n',\n]\n",
        "a = [\n  'm==2',\n  'n',\n]\n",
    ),
    "new items in two orders": ("a.yml", *map(items, ("a", "abc", "acb"))),
    "new lists with an item of each side": ("a.json", "{}\n", '{"a": ["x"]}\n', '{"a": ["y"]}\n'),
    "a number and a string": ("a.yml", "a: 1\n", "a: '2'\n", "a: 2\n"),
    "an option and its value": (
        "a.json",
        '{"a": ["--p", "8", "x"]}\n',
        '{"a": ["--p", "9", "x"]}\n',
        '{"a": ["--q", "8", "x"]}\n',
    ),
    "a script with other edits": (
        "a.yml",
        "run: |\n  a x\n  b\n",
        "run: |\n  a y\n  b\n",
        "run: |\n  a z\n  b z\n",
    ),
}


@pytest.mark.parametrize("case", OPEN.values(), ids=OPEN)
@pytest.mark.parametrize("strategy", ["structured", "cascade"])
def test_what_contradicts_itself_stays_open(case, strategy):
    path, *texts = case

    reason = merged(*case, strategy=strategy)

    assert "ours" in reason or "both sides" in reason
    assert merged(path, texts[0], *texts[:0:-1], strategy=strategy) != texts[2]


IMAGE = "image:\n  repository: a/%s\n  tag: v%s\n  pull: %s\n"


@pytest.mark.parametrize("strategy", ["structured", "tokens", "cascade"])
def test_a_new_origin_does_not_get_the_others_revision(strategy):
    """One side's image may lack the other's tag, unless both sides chose the same image."""
    texts = [IMAGE % each for each in (("b", 1, "x"), ("c", 1, "x"), ("b", 2, "x"))]

    reason = merged("values.yaml", *texts, strategy=strategy)

    problem = "one side changes 'repository', the other 'tag' of the same thing"
    assert (problem if strategy != "tokens" else "no merge by key") in reason
    texts = [IMAGE % each for each in (("b", 1, "x"), ("c", 2, "x"), ("c", 2, "y"))]
    assert merged("values.yaml", texts[0], *texts[1:]) == texts[2]
    texts = [IMAGE % each for each in (("b", 1, "x"), ("c", 2, "x"), ("b", 1, "y"))]
    assert merged("values.yaml", *texts) == IMAGE % ("c", 2, "y")


def write(form, names, table):
    """Write a list and a table in a format, with a comment about each item and entry."""
    mark = "//" if form == "tsconfig.json" else "#"
    about = [f" {mark} about {word}\n" for word in chain(names, table)]
    listed, entries = about[: len(names)], about[len(names) :]
    if form == "a.yml":
        first = (f"- {name}{text}" for name, text in zip(names, listed, strict=True))
        last = (f"  {key}: {table[key]}{text}" for key, text in zip(table, entries, strict=True))
        return f"names:\n{''.join(first)}table:\n{''.join(last)}end: 1\n"
    first = (f'  "{name}",{text}' for name, text in zip(names, listed, strict=True))
    if form == "a.toml":
        last = (f'{key} = "{table[key]}"{text}' for key, text in zip(table, entries, strict=True))
        return f"names = [\n{''.join(first)}]\n[table]\n{''.join(last)}"
    last = (f'  "{key}": "{table[key]}",{text}' for key, text in zip(table, entries, strict=True))
    return f'{{"names": [\n{"".join(first)}],\n"table": {{\n{"".join(last)}}}}}\n'


def read(form, text):
    """Return the words of the list, and those of the table, as sets of words."""
    if form == "a.yml":
        value = yaml.safe_load(text)
    elif form == "a.toml":
        value = tomllib.loads(text)
    else:
        plain = re.sub(r" // about \w+", "", text)
        value = json.loads(re.sub(r",(?=\s*[]}])", "", plain))
    names, table = value["names"] or [], value["table"] or {}
    return {*names, *table, *table.values()}, len({*names}) == len(names)


def about(text):
    """Return the words that comments are about."""
    return set(re.findall(r"(?:#|//) about (\w+)", text))


@st.composite
def edited(draw, names, table, own, shared):
    """Return a list and a table without some words, with *shared* ones and some of its own."""
    names = [name for name in names if draw(st.integers(0, 3))]
    names[len(names) // 2 : len(names) // 2] = shared
    table = {key: value for key, value in table.items() if draw(st.integers(0, 3))}
    for i in range(draw(st.integers(0, 2))):
        names.insert(draw(st.integers(0, len(names))), f"{own}n{i}")
    for key in table:
        if not draw(st.integers(0, 3)):
            table[key] = f"{own}v{key}"
    for i in range(draw(st.integers(0, 2))):
        table[f"{own}k{i}"] = f"{own}w{i}"
    return names, table


@given(st.data(), st.sampled_from(["a.yml", "a.toml", "tsconfig.json"]))
def test_no_word_and_no_comment_is_lost_or_made_up(data, form):
    """What both sides have or one of them adds is there once; what a side removes is not."""
    names = [f"bn{i}" for i in range(data.draw(st.integers(1, 6)))]
    shared = [f"sn{i}" for i in range(data.draw(st.integers(0, 1)))]
    table = {f"bk{i}": f"bv{i}" for i in range(data.draw(st.integers(1, 4)))}
    sides = [data.draw(edited(names, table, own, shared)) for own in "ot"]
    texts = [write(form, *each) for each in ((names, table), *sides)]
    base, *changes = (text.encode() for text in texts)
    outcome = ce.merge(
        ce.Snapshot.from_files({form: base}),
        *(ce.Changes({form: ce.Entry(side)}) for side in changes),
        strategy="structured",
    )
    if outcome.conflicts:
        return

    text = outcome.changes[form].data.decode() if form in outcome.changes else texts[0]
    found, is_single = read(form, text)
    before, mine, other = (read(form, each)[0] for each in texts)
    assert found == (mine & other) | ((mine | other) - before)
    assert is_single
    before, mine, other = map(about, texts)
    assert about(text) == (mine & other) | ((mine | other) - before)
