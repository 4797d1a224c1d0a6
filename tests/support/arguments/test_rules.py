"""Which values an annotation allows, and what an error says about the others."""

import asyncio
import inspect
import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, Literal, Protocol, TypedDict, Unpack

import pytest
from attrs import evolve, field, frozen, validators

from cooperbench_eval.errors import ArgumentError
from cooperbench_eval.running.results import JudgeRule
from cooperbench_eval.support.arguments import (
    able_to,
    checked,
    checked_fields,
    follows,
    named_fields,
    rule_of,
)

try:
    import numpy as np
except ModuleNotFoundError:  # it comes with some extras
    INTEGERS, FLOATS = [], []
else:
    INTEGERS, FLOATS = [np.int64(4)], [np.float32(2)]


class Anything(Protocol):
    """Plug-ins are objects of any class."""

    def work(self):
        """Work."""


@pytest.mark.parametrize(
    ("hint", "right", "wrong"),
    [
        (int, [0, -3, *INTEGERS], [True, 1.0, "1", None, b"1"]),
        (float, [0, 1.5, *FLOATS, float("nan")], [True, "1", None, 1j]),
        (bool, [True, False], [0, 1, None, "yes"]),
        (str, ["", "x"], [b"", None, Path("x")]),
        (bytes, [b""], ["", bytearray(b"")]),
        (None, [None], [0, False]),
        (str | None, ["x", None], [0]),
        (str | os.PathLike[str], ["x", Path("x")], [b"x", 3, None]),
        (Literal["a", "b"], ["a"], ["c", 0, None, []]),
        (JudgeRule, [JudgeRule.DELTA, "delta"], ["other", 0, None, []]),
        (JudgeRule | str, [JudgeRule.DELTA, "absolute"], ["other", 0]),
        (Callable[[int], str], [len, lambda: 0], [0, "x", None]),
        (Iterable[int], [[1], (), {2}, range(3), iter("ab")], ["12", b"12", 3, [1, "2"], (None,)]),
        (tuple[str, ...], [(), ("a",)], [["a"], "a", ("a", 1)]),
        (tuple[int, str], [(1, "a")], [(1,), (1, 2), (1, "a", 2)]),
        (Sequence[str], [["a"], ("b",)], [{"a"}, "ab", iter(["a"])]),
        (Mapping[str, int], [{}, {"a": 1}], [{1: 1}, {"a": "b"}, [], [("a", 1)]]),
        (type[Exception], [ValueError], ["ValueError", ValueError()]),
        (Path, [Path("x")], ["x"]),
    ],
    ids=lambda each: None if isinstance(each, list) else str(each),
)
def test_a_rule_allows_what_the_annotation_means(hint, right, wrong):
    """Numbers of other libraries count, text is not a collection, and elements are checked."""
    rule = rule_of(hint)

    assert [value for value in right if not rule.allows(value)] == []
    assert [value for value in wrong if rule.allows(value)] == []
    assert not any(isinstance(value, rule.kinds) for value in wrong)


@pytest.mark.parametrize("hint", [Any, object, Anything, Anything | str, int | Any])
def test_some_annotations_allow_everything(hint):
    """There is nothing to check, or the plug-in's own registry does."""
    assert rule_of(hint) is None


@pytest.mark.parametrize(
    ("hint", "value", "problem"),
    [
        (int, "x", "must be an integer, not str: 'x'"),
        (Path | None, 3, "must be Path or None, not int: 3"),
        (Path, Path, "must be Path, not the class Path"),
        (JudgeRule | str, "x", "must be 'delta' or 'absolute', not str: 'x'"),
        (Iterable[str], "ab", "must be Iterable[str], not str: 'ab'"),
        (Iterable[str], ["a", 1], "must be Iterable[str], but item 1 is int: 1"),
        (Mapping[str, int], {"a": 0.5}, "must be Mapping[str, int], but the value of 'a' is float"),
        (Mapping[str, int], {1: 1}, "must be Mapping[str, int], but a key is int: 1"),
        (list[int] | None, [None], "must be list[int] or None, but item 0 is NoneType: None"),
        (bytes, "x" * 10**6, "must be bytes, not str: 'xxx"),
        pytest.param(str, 10**5000, "must be str, not int: (it cannot be shown)", id="huge"),
        pytest.param(str, [10**5000], "must be str, not list: (it cannot be shown)", id="inside"),
        pytest.param(
            Mapping[str, int],
            {10**5000: 1},
            "must be Mapping[str, int], but a key is int: (it cannot be shown)",
            id="key",
        ),
    ],
)
def test_the_problem_says_what_is_allowed_and_what_came(hint, value, problem):
    """The values of a choice are listed, a wrong element is pointed out, and all of it is short."""
    told = rule_of(hint).problem(value)

    assert told.startswith(problem)
    assert len(told) < 300


class Options(TypedDict, total=False):
    """Options that are passed on."""

    size: int


@checked
def call(
    first: int, /, second: str = "", *rest: bytes, third: bool = False, **more: Unpack[Options]
):
    """Return the arguments."""
    return first, second, rest, third, more


def test_a_function_checks_every_kind_of_argument():
    """By place, by name, as one of many, and as an option that is passed on."""
    assert call(1, "a", b"b", third=True, size=3) == (1, "a", (b"b",), True, {"size": 3})
    for args, options, name in [
        (("x",), {}, "first"),
        ((1, 2), {}, "second"),
        ((1,), {"second": 2}, "second"),
        ((1, "a", b"b", "c"), {}, "rest"),
        ((1,), {"third": 1}, "third"),
        ((1,), {"size": "3"}, "size"),
    ]:
        with pytest.raises(ArgumentError) as caught:
            call(*args, **options)
        assert caught.value.argument == name
    with pytest.raises(TypeError, match="missing 1 required positional argument"):
        call()
    assert list(inspect.signature(call).parameters) == ["first", "second", "rest", "third", "more"]


def test_a_coroutine_function_stays_one():
    """It checks when it is awaited."""

    @checked(runner=able_to("run"))
    async def later(number: int, runner: Path | None = None):
        return number

    assert inspect.iscoroutinefunction(later)
    assert asyncio.run(later(1)) == 1
    with pytest.raises(ArgumentError, match=r"^number must be an integer"):
        asyncio.run(later("1"))
    with pytest.raises(ArgumentError, match=r"^runner must be an object with a run method or None"):
        asyncio.run(later(1, runner=3))


def _double(value: int | str) -> int:
    return int(value) * 2


@frozen(kw_only=True, field_transformer=checked_fields)
class Record:
    """A record that callers make."""

    number: int = field(default=1, converter=_double)
    names: tuple[str, ...] = field(default=(), converter=tuple[str, ...])
    share: float = field(default=0.5, validator=validators.le(1))
    other: int = field(default=0, metadata=follows(None))
    _hidden: bool = False


@pytest.mark.parametrize(
    ("arguments", "problem"),
    [
        ({"number": None}, "number must be an integer or str, not NoneType: None"),
        ({"number": "x"}, "number is not valid: invalid literal for int"),
        ({"names": "abc"}, "names must be Iterable[str], not str: 'abc'"),
        ({"names": iter([1])}, "names must be tuple[str, ...], but item 0 is int: 1"),
        ({"share": "1"}, "share must be a number, not str: '1'"),
        ({"share": 2}, "share must be <= 1: 2"),
        ({"hidden": 0}, "hidden must be bool, not int: 0"),
    ],
)
def test_a_record_checks_its_fields(arguments, problem):
    """Before and after the conversion; a validator's error names the field too."""
    with pytest.raises(ArgumentError) as caught:
        Record(**arguments)

    assert str(caught.value).startswith(problem)
    assert Record(number="3", names=iter("ab"), other="x").names == ("a", "b")
    with pytest.raises(ArgumentError, match=r"^share "):
        evolve(Record(), share=2)


@frozen(kw_only=True, field_transformer=named_fields)
class Made(Record):
    """A record that only the library makes; it inherits the checks of the other one."""

    rule: JudgeRule = field(converter=JudgeRule)
    size: int = 0


def test_a_record_of_the_library_names_its_fields_only():
    """An error of a converter is ours, but types are not checked."""
    assert Made(rule="delta", size="x").size == "x"
    with pytest.raises(ArgumentError, match=r"^rule must be 'delta' or 'absolute', not str: 'x'"):
        Made(rule="x")
    with pytest.raises(ArgumentError, match=r"^share must be a number"):
        Made(rule="delta", share="x")


def test_converters_leave_their_types_to_the_signature():
    """They are what a caller may pass."""
    hints = {name: each.annotation for name, each in inspect.signature(Made).parameters.items()}

    assert hints["number"] == int | str
    assert hints["names"] == Iterable[str]
    assert hints["rule"] == JudgeRule | str
