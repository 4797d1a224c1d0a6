"""The public names are recorded, and incompatible changes are reported as breaking."""

import public_api as tool
import pytest

NAMES = ("Colour", "LIMITS", "Paint", "Painter", "Shade", "ShadeError", "mix", "thin")

ROOMS = '''
from collections.abc import Mapping
from enum import StrEnum
from typing import ClassVar, Protocol

from attrs import field, frozen

_MOST = 1 << 4
LIMITS: Mapping[str, int] = {}


class _Word(StrEnum):
    @classmethod
    def of(cls, word: str) -> "_Word":
        return cls(word)


class Colour(_Word):
    """A colour."""

    RED = "red"
    BLUE = "blue"


class ShadeError(ValueError):
    def __init__(self, problem: str) -> None:
        super().__init__(problem)
        self.problem = problem


class Painter(Protocol):
    def paint(self, wall: str, /, *, coats: int = 1) -> None: ...


class _Lazy:
    __slots__ = ("_mixed",)
    _mixed: int


@frozen(kw_only=True)
class Paint(_Lazy):
    """A paint."""

    kind: ClassVar[str] = "oil"
    colour: Colour = field(converter=Colour)
    litres: float = field(default=1.0, repr=False)
    notes: tuple[str, ...] = field(factory=tuple)
    _seen: int = field(default=0, init=False)

    @property
    def is_red(self) -> bool:
        return self.colour is Colour.RED

    def _secret(self) -> None: ...


class Shade(Paint):
    pass


def mix(one: Paint, two: Paint, *parts: int, most: int = _MOST, **rest: object) -> Paint:
    """Mix two paints."""
    return one


async def thin(paint: Paint, share: float = 0.5) -> Paint:
    return paint
'''

STUB = '''\
"""The public names of `made`; `python docs/tools/public_api.py` writes this."""

class Colour(StrEnum):
    BLUE = 'blue'
    RED = 'red'
    @classmethod
    def of(cls, word: str) -> _Word: ...

LIMITS: Mapping[str, int] = {}

class Paint:
    def __init__(
        self,
        *,
        colour: Colour,
        litres: float = 1.0,
        notes: tuple[str, ...] = tuple(),
    ) -> None: ...
    colour: Colour
    @property
    def is_red(self) -> bool: ...
    kind: str = 'oil'
    litres: float
    notes: tuple[str, ...]

class Painter(Protocol):
    def paint(self, wall: str, /, *, coats: int = 1) -> None: ...

class Shade(Paint):
    ...

class ShadeError(ValueError):
    def __init__(self, problem: str) -> None: ...
    problem: str

def mix(one: Paint, two: Paint, *parts: int, most: int = 1 << 4, **rest: object) -> Paint: ...

async def thin(paint: Paint, share: float = 0.5) -> Paint: ...
'''


def stub_of(folder, source):
    """Return the stub of a generated package that imports lazily, as ours does."""
    package = folder / "made"
    package.mkdir(parents=True)
    names = [name for name in NAMES if name != "thin" or "def thin(" in source]
    imports = "".join(f"from .rooms import {name} as {name}\n" for name in names)
    (package / "__init__.py").write_text("import lazy_loader\n")
    (package / "__init__.pyi").write_text(imports)
    (package / "rooms.py").write_text(source)
    return tool.make_stub("made", folder)


@pytest.mark.parametrize("module", tool.MODULES)
def test_the_public_names_are_as_recorded(module):
    """A commit that changes the public API must also update the record."""
    recorded = tool.record_file(module).read_text(encoding="utf-8")

    change = tool.find_change(module, recorded, tool.make_stub(module))

    if change:
        pytest.fail(f"`python docs/tools/public_api.py` records what has changed:\n{change}")


def test_a_record_shows_what_a_caller_sees(tmp_path):
    """Whole signatures, values of enums, what attrs makes of a record; no private name."""
    assert stub_of(tmp_path, ROOMS) == STUB


@pytest.mark.parametrize(
    ("old", "new", "told"),
    [
        (", share: float = 0.5", "", "made.thin: Parameter was removed (share: float"),
        ("share: float", "part: float", "made.thin: Parameter was removed (share: float"),
        ("def thin(", "def water(", "made.thin: Public object was removed"),
        ("_MOST = 1 << 4", "_MOST = 1 << 5", "made.mix: Parameter default was changed"),
        ("default=1.0", "default=2.0", "made.Paint.__init__: Parameter default was changed"),
        ("    litres: float = field(default=1.0, repr=False)\n", "", "made.Paint.litres: Public"),
        ("litres: float = field(default=1.0, ", "litres: float = field(", "is now required"),
        ("    notes:", "    gloss: int\n    notes:", "made.Paint.__init__: Parameter was added as"),
        ("one: Paint, ", "brush: str, one: Paint, ", "made.mix: Parameter was added as required"),
        ("one: Paint, two: Paint", "two: Paint, one: Paint", "made.mix: Positional parameter was"),
        ("wall: str, /, *, ", "*, wall: str, ", "made.Painter.paint: Parameter kind was changed"),
        ('RED = "red"', 'RED = "crimson"', "made.Colour.RED: Attribute value was changed ('red'"),
        ('    BLUE = "blue"\n', "", "made.Colour.BLUE: Public object was removed"),
        ("class ShadeError(ValueError)", "class ShadeError", "Base class was removed"),
        ("    @property\n", "", "made.Paint.is_red: Public object points to a different kind"),
    ],
)
def test_a_breaking_change_is_reported(tmp_path, old, new, told):
    """A name, an argument, a default or an enum value changes that programs rely on."""
    source = ROOMS.replace(old, new)
    assert source != ROOMS

    change = tool.find_change("made", STUB, stub_of(tmp_path, source))

    assert any(told in each for each in change.breaking), change
    assert str(change).startswith("breaking:\n  made.")


@pytest.mark.parametrize(
    ("old", "new", "line"),
    [
        ("*parts: int", "*parts: float", "+def mix(one: Paint, two: Paint, *parts: float"),
        ("**rest", "fast: bool = False, **rest", "+    fast: bool = False,"),
        ('RED = "red"', 'RED = "red"\n    GREEN = "green"', "+    GREEN = 'green'"),
        ("    litres", "    gloss: int = 0\n    litres", "+        gloss: int = 0,"),
        ("def _secret", "def open(self) -> int: ...\n\n    def _secret", "+    def open(self)"),
    ],
)
def test_an_addition_is_a_difference_but_not_breaking(tmp_path, old, new, line):
    """No program breaks, but the record must still be updated."""
    change = tool.find_change("made", STUB, stub_of(tmp_path, ROOMS.replace(old, new)))

    assert change
    assert change.breaking == ()
    assert line in str(change)


def test_an_internal_change_is_not_a_difference(tmp_path):
    """Private names, function bodies, docstrings and source order are not part of the API."""
    source = ROOMS.replace("_secret", "_other").replace("A paint.", "Any paint.")
    source = source.replace("return one", "return two")

    assert not tool.find_change("made", STUB, stub_of(tmp_path, source))
