"""JSON values become records if they fit exactly; else the error says where they do not."""

import datetime as dt

import pytest
from attrs import field, frozen, validators

from cooperbench_eval.errors import ReportError
from cooperbench_eval.running.results import TestStatus
from cooperbench_eval.support.json_records import Compact, make_converter, parse_json, structure


@frozen(kw_only=True)
class Part:
    """A record whose fields all have defaults."""

    count: int = field(default=0, validator=validators.ge(0))


@frozen(kw_only=True)
class Whole:
    """A record with a field of every kind."""

    name: str
    status: TestStatus = TestStatus.PASSED
    is_new: bool = False
    seconds: float = 0.0
    time: dt.datetime | None = None
    parts: tuple[Part, ...] = ()


@pytest.mark.parametrize(
    ("data", "problem"),
    [
        ({}, r"required field missing @ \$\.name"),
        ({"name": None}, r"expected a text, found None @ \$\.name"),
        ({"name": "x", "status": "fine"}, r"'fine' is not a valid TestStatus @ \$\.status"),
        ({"name": "x", "is_new": 1}, r"expected true or false, found 1 @ \$\.is_new"),
        ({"name": "x", "seconds": "1"}, r"expected a finite number, found '1' @ \$\.seconds"),
        ({"name": "x", "time": "2026-01-31"}, r"expected a time with its zone, .* @ \$\.time"),
        ({"name": "x", "parts": "ab"}, r"expected a list, found 'ab' @ \$\.parts"),
        ({"name": "x", "parts": [[]]}, r"expected an object, found \[\] @ \$\.parts\[0\]"),
        ({"name": "x", "parts": [{"count": True}]}, r"expected an integer, .*\.parts\[0\]\.count"),
        ({"name": "x", "parts": [{"count": -1}]}, r"'count' must be >= 0: -1 @ \$\.parts\[0\]"),
    ],
)
def test_an_error_names_the_path_and_what_was_expected(data, problem):
    """The fast converter of `Compact` says the same as the other one."""
    with pytest.raises(ReportError, match=f"^f.json: is not a whole: {problem}") as caught:
        structure(make_converter(), data, Whole, "is not a whole", location="f.json")
    with pytest.raises(ReportError, match=f"does not hold Whole: {problem}"):
        Compact(Whole).load(data)

    assert caught.value.location == "f.json"


def test_a_path_begins_where_the_values_stand():
    """A part that is read separately is named by its place in the file."""
    with pytest.raises(ReportError, match=r"expected an object, found 3 @ \$\.part"):
        structure(make_converter(), 3, Part, "is not a part", path="$.part")


@pytest.mark.parametrize("text", [b"", b"{", b"\xff", "[" * 100_000])
def test_text_that_is_not_json_is_refused(text):
    """Brackets that are nested too deeply are refused as well."""
    with pytest.raises(ReportError, match="is not JSON"):
        parse_json(text)
