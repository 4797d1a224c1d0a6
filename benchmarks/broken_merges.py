"""Pairs that merge cleanly and lose a test, with innocent changes around the planted ones."""

import random
import sys

from attrs import frozen

from cooperbench_eval import Changes, Entry, Explanation, Feature, FeaturePair, Snapshot, TestSuite
from cooperbench_eval.reporting.rows import FailureTrace

__all__ = ["SHAPES", "BrokenPair", "Shape", "build"]

Edit = tuple[str, str]
"""An old text and the new one in its place; an empty old text appends to the module."""


@frozen(kw_only=True)
class Shape:
    """A way in which two features break together.

    Attributes:
        name: What happens.
        base: The module that both features change.
        needs: The edits of the feature that loses its test; the first one is planted.
        breaks: The edits of the other feature; the first ones are planted.
        planted: How many edits of the other feature are planted.
        lost: The body of the test that is lost.
        kept: The body of the other feature's test.
    """

    name: str
    base: str
    needs: tuple[Edit, ...]
    breaks: tuple[Edit, ...]
    planted: int = 1
    lost: str
    kept: str


SHAPES = [
    Shape(
        name="shared state",
        base="STATE = []\n\n\ndef reset():\n    STATE.clear()\n",
        needs=(
            ("", "def add(item):\n    STATE.append(item)\n    return len(STATE)\n"),
            ("    STATE.clear()\n", "    STATE.clear()\n    return len(STATE)\n"),
        ),
        breaks=(("STATE = []\n", 'STATE = ["header"]\n'),),
        lost='assert (core.add("x"), core.reset()) == (1, 0)',
        kept='assert core.STATE[0] == "header"',
    ),
    Shape(
        name="renamed helper",
        base="def norm(text):\n    return text.strip()\n\n\ndef show(text):\n    value = text\n"
        "    # shown\n    value = norm(value)\n    return value\n",
        needs=(("", "def label(text):\n    return norm(text) + ':'\n"),),
        breaks=(
            ("def norm(text)", "def normalize(text)"),
            ("    value = norm(value)", "    value = normalize(value)"),
        ),
        lost='assert core.label(" a ") == "a:"',
        kept='assert core.normalize(" a ") == core.show("a")',
    ),
    Shape(
        name="changed default",
        base="def pad(\n    text,\n    # right\n    width=4,\n):\n    return text.rjust(width)\n",
        needs=(
            ("", "def row(*cells):\n    return BAR.join(pad(cell) for cell in cells)\n"),
            ("def pad(", "BAR = '|'\n\n\ndef pad("),
        ),
        breaks=(("    width=4,", "    width=8,"),),
        lost='assert core.row("a", "b") == "   a|   b"',
        kept='assert len(core.pad("a")) == 8',
    ),
    Shape(
        name="changed return type",
        base="def parse(text):\n    key, value = text.split('=')\n    return key, value\n",
        needs=(("", "def key_of(text):\n    return parse(text)[0]\n"),),
        breaks=(("    return key, value\n", "    return {key: value}\n"),),
        lost='assert core.key_of("a=1") == "a"',
        kept='assert core.parse("a=1") == {"a": "1"}',
    ),
    Shape(
        name="changed constant",
        base="LIMIT = 10\n\n\ndef head(items):\n    return items[:LIMIT]\n",
        needs=(("", "def pages(count):\n    return -(-count // LIMIT)\n"),),
        breaks=(("LIMIT = 10", "LIMIT = 25"),),
        lost="assert core.pages(21) == 3",
        kept="assert len(core.head(list(range(99)))) == 25",
    ),
    Shape(
        name="order of registration",
        base="FORMATS = []\n\n\ndef register(name):\n    FORMATS.append(name)\n\n\n"
        "# the formats of this program\n\n\ndef default():\n    return FORMATS[0]\n",
        needs=(("", "register('csv')\n\n\ndef suffix():\n    return '.' + default()\n"),),
        breaks=(("# the formats of this program\n", "# the formats\nregister('json')\n"),),
        lost='assert core.suffix() == ".csv"',
        kept='assert "json" in core.FORMATS',
    ),
    Shape(
        name="changed exception",
        base="KNOWN = {'a': 1}\n\n\ndef load(key):\n    if key not in KNOWN:\n"
        "        raise KeyError(key)\n    return KNOWN[key]\n",
        needs=(
            (
                "",
                (
                    "def load_or(key, value):\n    try:\n        return load(key)\n"
                    "    except KeyError:\n        return value\n"
                ),
            ),
        ),
        breaks=(("        raise KeyError(key)", "        raise ValueError(f'no {key}')"),),
        lost='assert core.load_or("b", 2) == 2',
        kept='try:\n        core.load("b")\n        assert 0\n    except ValueError:\n        pass',
    ),
    Shape(
        name="cache key",
        base="UNIT = [1]\n\n\ndef area(side):\n    scale = UNIT[0]\n    return side**2 * scale\n",
        needs=(("", "def area_in(unit, side):\n    UNIT[0] = unit\n    return area(side)\n"),),
        breaks=(
            ("def area(side):", "@functools.cache\ndef area(side):"),
            ("UNIT = [1]\n", "import functools\n\nUNIT = [1]\n"),
        ),
        lost="assert (core.area_in(1, 2), core.area_in(3, 2)) == (4, 12)",
        kept="assert core.area(2) is core.area(2) and core.area.cache_info().hits",
    ),
    Shape(
        name="dictionary key",
        base="def hello():\n    return 'Hello '\n\n\ndef record(name):\n    made = {}\n"
        "    made['name'] = name\n    return made\n",
        needs=(
            ("", "def greet(name):\n    return hello() + record(name)['name']\n"),
            ("    return 'Hello '", "    return 'Hi '"),
        ),
        breaks=(("    made['name'] = name", "    made['title'] = name"),),
        lost='assert core.greet("Jo") == "Hi Jo"',
        kept='assert core.record("Jo") == {"title": "Jo"}',
    ),
    Shape(
        name="mutated argument",
        base="def clean(items):\n    return sorted(items)\n",
        needs=(("", "def ends(items):\n    low = clean(items)\n    return items[0], low[0]\n"),),
        breaks=(("    return sorted(items)", "    items.sort()\n    return items"),),
        lost="assert core.ends([3, 1, 2]) == (3, 1)",
        kept="items = [2, 1]\n    assert core.clean(items) is items",
    ),
    Shape(
        name="changed signature",
        base="SENT = []\n\n\ndef send(to, body):\n    message = (to, body)\n"
        "    SENT.append(message)\n",
        needs=(("", "def notify(user):\n    send(user, 'hello')\n    return SENT[-1][0]\n"),),
        breaks=(
            (
                "def send(to, body):\n    message = (to, body)",
                "def send(to, subject, body):\n    message = (to, subject, body)",
            ),
        ),
        lost='assert core.notify("jo") == "jo"',
        kept='core.send("jo", "s", "b")\n    assert core.SENT[-1] == ("jo", "s", "b")',
    ),
    Shape(
        name="changed unit",
        base="def timeout():\n    seconds = 3\n    return seconds\n",
        needs=(("", "def deadline(now):\n    return now + timeout()\n"),),
        breaks=(("    return seconds", "    return seconds * 1000"),),
        lost="assert core.deadline(10) == 13",
        kept="assert core.timeout() == 3000",
    ),
    Shape(
        name="list becomes iterator",
        base="def rows():\n    found = ['a', 'b']\n    return found\n",
        needs=(("", "def count_rows():\n    return len(rows())\n"),),
        breaks=(("    return found", "    return iter(found)"),),
        lost="assert core.count_rows() == 2",
        kept='assert next(core.rows()) == "a"',
    ),
    Shape(
        name="two constants",
        base="LOW = 1\n\n\ndef low():\n    return LOW\n\n\ndef mid():\n    return 5\n\n\n"
        "HIGH = 9\n",
        needs=(("", "def span():\n    return (LOW, HIGH)\n"),),
        breaks=(("LOW = 1", "LOW = 2"), ("HIGH = 9", "HIGH = 8")),
        planted=2,
        lost="assert core.span() == (1, 9)",
        kept="assert core.LOW + core.HIGH == 10",
    ),
    Shape(
        name="renamed attribute",
        base="class Cart:\n    def __init__(self):\n        self.total = 0\n\n    # items\n\n"
        "    def put(self, price):\n        self.total += price\n",
        needs=(
            (
                "",
                (
                    "def cost(*prices):\n    cart = Cart()\n    for each in prices:\n"
                    "        cart.put(each)\n    return cart.total\n"
                ),
            ),
        ),
        breaks=(
            ("        self.total = 0", "        self.amount = 0"),
            ("        self.total += price", "        self.amount += price"),
        ),
        lost="assert core.cost(1, 2) == 3",
        kept="assert core.Cart().amount == 0",
    ),
]

_DECOYS = {"core": range(8), "extra": range(8, 12), "more": range(12, 16)}
_FILLER = "".join(f"\n\ndef filler_{i}(x):\n    return x + {i}\n" for i in range(3))


@frozen(kw_only=True)
class BrokenPair:
    """A pair of which one feature loses a test.

    Attributes:
        pair: The pair.
        owner: The number of the feature that loses its test.
        needed: The planted lines of this feature.
        breaking: The planted lines of the other feature.
    """

    pair: FeaturePair
    owner: int
    needed: tuple[str, ...]
    breaking: tuple[str, ...]

    def is_traced(self, trace: FailureTrace | None) -> bool:
        """Whether the functions of a trace show the planted lines of both sides."""
        functions = trace.functions if trace else ()
        sides = [[each.feature1 for each in functions], [each.feature2 for each in functions]]
        own, other = sides if self.owner == 1 else reversed(sides)
        return all(
            any(text is not None and line.encode() in text for text in texts)
            for texts, lines in ((own, self.needed), (other, self.breaking))
            for line in lines
        )

    def is_found(self, explanation: Explanation) -> bool:
        """Whether the planted lines of both sides are reported."""
        sides = [explanation.feature1_hunks, explanation.feature2_hunks]
        own, other = sides if self.owner == 1 else reversed(sides)
        return all(
            any(line in hunk.text for hunk in hunks)
            for hunks, lines in ((own, self.needed), (other, self.breaking))
            for line in lines
        )


def build(shape: Shape, rng: random.Random, *, is_mirrored: bool) -> BrokenPair:
    """Make a pair of one shape; *is_mirrored* makes feature 2 lose its test."""
    files = _base_files(shape)
    base = Snapshot.from_files({path: text.encode() for path, text in files.items()})
    numbers = rng.sample(range(16), 16)
    chosen = (numbers[: rng.randint(3, 8)], numbers[8 : 8 + rng.randint(3, 8)])
    sides = [
        ("needing", shape.needs, chosen[0], shape.lost),
        ("breaking", shape.breaks, chosen[1], shape.kept),
    ]
    one, two = (
        _feature(base, _edited(files, edits, decoys, name), number, _tests(name, body, decoys))
        for number, (name, edits, decoys, body) in enumerate(
            reversed(sides) if is_mirrored else sides, start=1
        )
    )
    return BrokenPair(
        pair=FeaturePair(repo_name="generated", task_id=0, base=base, feature1=one, feature2=two),
        owner=2 if is_mirrored else 1,
        needed=_added(shape.needs[:1]),
        breaking=_added(shape.breaks[: shape.planted]),
    )


def _feature(base: Snapshot, files: dict[str, str], number: int, tests: str) -> Feature:
    changes = Changes({path: Entry(text.encode()) for path, text in files.items()})
    added = Changes({f"test_{number}.py": Entry(tests.encode())})
    suite = TestSuite(
        command=(sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider"),
        patch=added.diff(Snapshot.from_files({})),
        env={"PYTHONPATH": ".", "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"},
    )
    return Feature(number=number, patch=changes.diff(base), tests=suite)


def _base_files(shape: Shape) -> dict[str, str]:
    """Return the shape's module among other functions, other modules, and notes."""
    decoys = {name: list(map(_decoy, numbers)) for name, numbers in _DECOYS.items()}
    core = [*decoys["core"][:4], _FILLER, "\n\n", shape.base, _FILLER, *decoys["core"][4:], _FILLER]
    return {
        "core.py": "".join(core),
        "extra.py": "".join(decoys["extra"]),
        "more.py": "".join(decoys["more"]),
        "notes.md": "".join(f"{i}. See `core`.\n\n\n\n\n" for i in range(10)),
    }


def _decoy(number: int) -> str:
    """Return a function in which one line can be changed."""
    lines = [f"def decoy_{number}(value):", "    # a comment", f"    step = {number}"]
    return "\n".join(["", "", *lines, "    return value + step", ""])


def _edited(
    files: dict[str, str], edits: tuple[Edit, ...], decoys: list[int], name: str
) -> dict[str, str]:
    """Return the files with a feature's edits and its innocent changes."""
    core = files["core.py"]
    for old, new in edits:
        if old and core.count(old) != 1:
            raise ValueError(f"{old!r} is {core.count(old)} times in the module")
        core = core.replace(old, new) if old else f"{core}\n\n{new}"
    edited = {**files, "core.py": core, f"{name}.py": f"NAME = {name!r}\n"}
    for number in decoys:
        line = f"    step = {number}\n"
        edited = {
            path: text.replace(line, f"    step = {number}  # as {name} and pages do\n")
            for path, text in edited.items()
        }
    note = f"{len(name)}. "
    edited["notes.md"] = edited["notes.md"].replace(note, f"{note}{name}: ")
    return edited


def _tests(name: str, body: str, decoys: list[int]) -> str:
    """Return the shape's test, and tests of two innocent changes."""
    tests = [f"import core, extra, more\n\n\ndef test_{name}():\n    {body}\n"]
    for number in decoys[:2]:
        module = next(module for module, numbers in _DECOYS.items() if number in numbers)
        call = f"{module}.decoy_{number}(1)"
        tests.append(f"def test_{name}_{number}():\n    assert {call} == {number + 1}\n")
    return "\n\n".join(tests)


def _added(edits: tuple[Edit, ...]) -> tuple[str, ...]:
    """Return the lines that edits bring, as they are in the module."""
    return tuple(
        line
        for old, new in edits
        for line in new.splitlines()
        if line and line not in old.splitlines()
    )
