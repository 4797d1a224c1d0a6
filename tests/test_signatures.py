"""Signatures: what each argument of the public functions and classes accepts."""

import inspect
import typing
from collections.abc import Iterable
from enum import Enum, IntEnum, StrEnum
from os import PathLike
from pathlib import Path
from types import ModuleType
from typing import Literal

import pytest
from attrs import field, frozen

import cooperbench_eval as ce
from cooperbench_eval.analysis.grouping import GroupName
from cooperbench_eval.analysis.tables import Level, LevelName
from cooperbench_eval.reporting.cooperbench_results import PatchLocationName, SettingName
from cooperbench_eval.running.readers.frameworks import FRAMEWORKS, Framework
from cooperbench_eval.running.results import JudgeName
from cooperbench_eval.support.arguments import named_fields

MODULES = [each for name in ce.__all__ if isinstance(each := getattr(ce, name), ModuleType)]
PUBLIC = {
    id(each): each
    for module in (ce, *MODULES)
    for name in module.__all__
    if not isinstance(each := getattr(module, name), ModuleType) and callable(each)
}
CALLED = [
    each
    for each in PUBLIC.values()
    if not inspect.isclass(each)
    or (
        not (issubclass(each, Enum) or getattr(each, "_is_protocol", False))
        and inspect.isfunction(each.__init__)
    )
]


class Colour(StrEnum):
    """Two colours."""

    RED = "red"
    BLUE = "blue"


class Size(IntEnum):
    """One size."""

    ONE = 1


def as_text(given: bytes | str) -> str:
    """Convert as the library's own converters do."""
    return str(given)


def as_own(values: Iterable[typing.AnyStr]) -> list[typing.AnyStr]:
    """Convert with a type variable, which stands for the items of a field."""
    return list(values)


@frozen(kw_only=True, field_transformer=named_fields)
class Record:
    """A field of each kind."""

    colour: Colour = field(converter=Colour)
    size: Size = field(converter=Size)
    places: tuple[Path, ...] = field(default=(), converter=tuple[Path, ...])
    words: frozenset[str] = field(default=frozenset(), converter=frozenset)
    _folder: Path = field(default=Path(), converter=Path)
    text: str = field(default="", converter=as_text)
    lines: list[str] = field(factory=list, converter=as_own)
    number: int = field(default=0, converter=int)
    plain: int = 0
    made: Colour = field(default="red", init=False, converter=Colour)


@pytest.mark.parametrize("called", CALLED, ids=lambda each: each.__name__)
def test_every_argument_has_a_type(called):
    """`help` and editors show it, also if attrs generated the signature."""
    parameters = list(inspect.signature(called).parameters.values())

    unknown = [each.name for each in parameters if each.annotation is inspect.Parameter.empty]

    assert unknown == []


def test_all_kinds_of_names_are_examined():
    """The test above would pass without any."""
    assert len(CALLED) > 130
    assert {ce.TestResult, ce.merge, ce.running.Execution, ce.errors.PatchError} <= set(CALLED)


def test_a_converted_field_shows_what_it_accepts():
    """A function says so itself; for a class, this is derived from the class."""
    expected = {
        "colour": Colour | str,
        "size": Size,
        "places": Iterable[Path],
        "words": Iterable[str],
        "folder": str | PathLike[str],
        "text": bytes | str,
        "lines": Iterable[str],
        "number": int,
        "plain": int,
    }

    found = {name: each.annotation for name, each in inspect.signature(Record).parameters.items()}

    assert found == expected


@pytest.mark.parametrize(
    ("literal", "values"),
    [
        (SettingName, [each.value for each in ce.runlogs.Setting]),
        (PatchLocationName, [each.value for each in ce.runlogs.PatchLocation]),
        (JudgeName, [each.value for each in ce.models.JudgeRule]),
        (LevelName, [each.value for each in Level]),
        (Framework, list(FRAMEWORKS)),
    ],
)
def test_a_literal_type_has_every_value(literal, values):
    """An editor completes exactly what the library accepts."""
    assert sorted(typing.get_args(literal)) == sorted(values)


@pytest.mark.parametrize(
    ("called", "argument", "literal"),
    [
        (ce.evaluate, "setting", SettingName),
        (ce.evaluate, "patch_location", PatchLocationName),
        (ce.evaluate, "framework", Framework),
        (ce.evaluate, "judge", JudgeName),
        (ce.evaluate_run, "setting", SettingName),
        (ce.Task.suite, "framework", Framework),
        (ce.TestSuite, "framework", Framework),
        (ce.summarize, "by", GroupName),
        (ce.to_records, "level", LevelName),
        (ce.to_pandas, "level", LevelName),
        (ce.land, "judge", JudgeName),
        (ce.land, "order", Literal["search", "given"]),
        (ce.reporting.report_schema, "kind", Literal["pair", "team"]),
    ],
)
def test_an_argument_with_few_values_lists_them(called, argument, literal):
    """The annotation is a `Literal`, perhaps beside an enum or other types."""
    kind = inspect.signature(called).parameters[argument].annotation

    found = {kind, *typing.get_args(kind)}

    assert literal in found or set(typing.get_args(literal)) <= {
        value for each in found for value in typing.get_args(each)
    }
