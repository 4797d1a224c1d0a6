"""Both sides change one piece of work, and the merge does what both want."""

import pytest

from cooperbench_eval import Changes, MergeStatus, Snapshot, merge

LAZY = """\
def walk(root, name, left):
    with root.open(name, left.copy(), lazy=True) as node:
        left = node.rest + node.left

        while left:
            name, child, left = node.find(left)
            with child.open(name, left, lazy=True) as inner:
                node = inner
                left = node.rest + node.left

    return node
"""

CASES = {
    "one side changes the items of a loop, the other all that it does": (
        """\
def find(self, name):
    for folder in self.folders:
        file = open_in(folder, name)
        if file is None:
            continue
        text = file.read()
        file.close()
        return text, file.path
    raise Missing(name)
""",
        """\
def find(self, name):
    for folder in self.folders + self.others:
        file = open_in(folder, name)
        if file is None:
            continue
        text = file.read()
        file.close()
        return text, file.path
    raise Missing(name)
""",
        """\
def find(self, name):
    for folder in self.folders:
        found = self.load(folder, name)
        if found is not None:
            return found
    raise Missing(name)
""",
        """\
def find(self, name):
    for folder in self.folders + self.others:
        found = self.load(folder, name)
        if found is not None:
            return found
    raise Missing(name)
""",
    ),
    "an edit follows the copies in a retry": (
        """\
def send(self, path):
    host = self.find_host()

    try:
        reply = post(f'{host}/upload "{path}"', token=self.token)
        code = reply.wait()
    except OSError as e:
        raise Failed(e) from e
""",
        """\
def send(self, path):
    host = self.find_host()
    extra = self.options()

    try:
        try:
            reply = post(f'{host}/upload "{path}"', token=self.token, **extra)
        except TypeError:
            if not extra:
                raise
            reply = post(f'{host}/upload "{path}"', token=self.token)

        code = reply.wait()
    except OSError as e:
        raise Failed(e) from e
""",
        """\
def send_all(self, paths):
    names = " ".join(f'"{path}"' for path in paths)
    host = self.find_host()

    try:
        reply = post(f"{host}/upload {names}", token=self.token)
        code = reply.wait()
    except OSError as e:
        raise Failed(e) from e
""",
        """\
def send_all(self, paths):
    names = " ".join(f'"{path}"' for path in paths)
    host = self.find_host()
    extra = self.options()

    try:
        try:
            reply = post(f"{host}/upload {names}", token=self.token, **extra)
        except TypeError:
            if not extra:
                raise
            reply = post(f"{host}/upload {names}", token=self.token)

        code = reply.wait()
    except OSError as e:
        raise Failed(e) from e
""",
    ),
    "a way out comes after the other's repair": (
        """\
def table(rows, by):
    pick = picker(by)
    return [Group(k, list(v)) for k, v in split(order(rows, pick), pick)]
""",
        """\
def table(rows, by, sizes=False):
    pick = picker(by)
    found = [Group(k, list(v)) for k, v in split(order(rows, pick), pick)]

    if sizes:
        return [(k, len(v)) for k, v in found]

    return found
""",
        """\
def table(rows, by, strict=False):
    pick = make(None if strict else fold, cached=True, of=by)
    found = [Group(k, list(v)) for k, v in split(order(rows, pick), pick)]

    if not strict:
        plain = picker(by)
        found = [Group(plain(v[0]), v) for _, v in found]

    return found
""",
        """\
def table(rows, by, strict=False, sizes=False):
    pick = make(None if strict else fold, cached=True, of=by)
    found = [Group(k, list(v)) for k, v in split(order(rows, pick), pick)]

    if not strict:
        plain = picker(by)
        found = [Group(plain(v[0]), v) for _, v in found]

    if sizes:
        return [(k, len(v)) for k, v in found]

    return found
""",
    ),
    "a choice comes after the other's repair": (
        """\
def table(rows, by):
    return [Group(k, list(v)) for k, v in split(rows, by)]
""",
        """\
def table(rows, by, most=None):
    groups = [Group(k, list(v)) for k, v in split(rows, by)]
    return groups if most is None else groups[:most]
""",
        """\
def table(rows, by, strict=False):
    found = [Group(k, list(v)) for k, v in split(rows, by)]
    if not strict:
        found = restored(found)
    return found
""",
        """\
def table(rows, by, strict=False, most=None):
    found = [Group(k, list(v)) for k, v in split(rows, by)]
    if not strict:
        found = restored(found)
    groups = found
    return groups if most is None else groups[:most]
""",
    ),
    "what is done for an option comes after the other's repair": (
        """\
def table(rows, by):
    return [Group(k, list(v)) for k, v in split(rows, by)]
""",
        """\
def table(rows, by, keep=None):
    groups = [Group(k, list(v)) for k, v in split(rows, by)]
    if keep is not None:
        groups = [each for each in groups if keep(each)]
    return groups
""",
        """\
def table(rows, by, strict=False):
    found = [Group(k, list(v)) for k, v in split(rows, by)]
    if not strict:
        found = restored(found)
    return found
""",
        """\
def table(rows, by, strict=False, keep=None):
    found = [Group(k, list(v)) for k, v in split(rows, by)]
    if not strict:
        found = restored(found)
    groups = found
    if keep is not None:
        groups = [each for each in groups if keep(each)]
    return groups
""",
    ),
    "one change by both, with an argument more on one side": (
        """\
def walk(root, name, left):
    node = root.open(name, left.copy())
    left = node.rest + node.left

    while left:
        name, child, left = node.find(left)
        node = child.open(name, left)
        left = node.rest + node.left

    return node
""",
        LAZY,
        """\
def walk(root, name, left):
    with root.open(name, left.copy()) as node:
        left = node.rest + node.left

        while left:
            name, child, left = node.find(left)
            with child.open(name, left) as inner:
                node = inner
                left = node.rest + node.left

    return node
""",
        LAZY,
    ),
    "a value is prepared before the other side's new work": (
        """\
def load(self, name):
    parts = split(name)
    for folder in self.folders:
        if found := look(folder, *parts):
            return found
    raise Missing(name)
""",
        """\
def load(self, name):
    name = clean(name)
    parts = split(name)
    for folder in self.folders:
        if found := look(folder, *parts):
            return found
    raise Missing(name)
""",
        """\
def load(self, name):
    changed = self.rename(name)
    parts = split(changed)
    for folder in self.folders:
        if found := look(folder, *parts):
            return found
    raise Missing(name)
""",
        """\
def load(self, name):
    name = clean(name)
    changed = self.rename(name)
    parts = split(changed)
    for folder in self.folders:
        if found := look(folder, *parts):
            return found
    raise Missing(name)
""",
    ),
}


def words(text):
    """Return the words of a text in any order, since parameters of both may have either."""
    return sorted(text.replace("(", " ( ").replace(")", " ) ").replace(",", " ").split())


@pytest.mark.parametrize("strategy", ["structured", "cascade"])
@pytest.mark.parametrize(("base", "ours", "theirs", "expected"), CASES.values(), ids=CASES)
def test_the_merge_does_what_both_sides_want(base, ours, theirs, expected, strategy):
    """Whichever side is ours."""
    before = Snapshot.from_files({"a.py": base.encode()})
    sides = [
        Changes.between(before, Snapshot.from_files({"a.py": text.encode()}))
        for text in (ours, theirs)
    ]

    for each in (sides, sides[::-1]):
        outcome = merge(before, *each, strategy=strategy)

        assert outcome.status is MergeStatus.RESOLVED
        text = before.overlay(outcome.changes).get("a.py").data.decode()
        assert words(text) == words(expected)
        assert text.splitlines()[1:] == expected.splitlines()[1:]


EARLY = """\
def take(self, item):
    if self.retries <= 0 or is_plain(item):
        return self.stack.enter(item)

    value = item.enter()
    self.stack.push(item)
    return value
"""
COUNTED = """\
def take(self, item):
    if self.most is not None and self.count >= self.most:
        raise Full(self.most)

    value = self.stack.enter(item)
    self.count += 1
    return value
"""


@pytest.mark.parametrize("strategy", ["structured", "cascade"])
def test_a_way_out_that_skips_the_work_of_the_other_side_stays_open(strategy):
    """Here one side returns the base's value for the usual value of its option."""
    base = b"def take(self, item):\n    return self.stack.enter(item)\n"
    before = Snapshot.from_files({"a.py": base})
    sides = [
        Changes.between(before, Snapshot.from_files({"a.py": text.encode()}))
        for text in (EARLY, COUNTED)
    ]

    for each in (sides, sides[::-1]):
        assert merge(before, *each, strategy=strategy).status is MergeStatus.CONFLICTED
