"""Each record that can be shown names a function that describes it."""

from pkgutil import resolve_name
from types import UnionType
from typing import get_args, get_type_hints

import pytest

import cooperbench_eval as ce
from cooperbench_eval.presentation import views
from cooperbench_eval.support.rendering.shown import Shown
from cooperbench_eval.support.rendering.view import View

ROOMS = (ce, ce.analysis, ce.models, ce.reporting)
RECORDS = sorted(
    {
        public
        for room in ROOMS
        for name in room.__all__
        if isinstance(public := getattr(room, name), type) and issubclass(public, Shown)
    },
    key=lambda record: record.__name__,
)


@pytest.mark.parametrize("record", RECORDS)
def test_a_record_has_a_function_that_describes_it(record):
    """The table names a function from this very record to a view."""
    hints = get_type_hints(resolve_name(f"{views.__name__}.{views.VIEWS[record.__name__]}"))

    returned = hints.pop("return")
    (described,) = hints.values()
    assert returned is View
    assert record in (get_args(described) if isinstance(described, UnionType) else {described})


def test_the_table_names_only_records_that_can_be_shown():
    """A class that was renamed or removed does not stay behind."""
    assert views.VIEWS.keys() <= {each.__name__ for each in RECORDS}


def shown_classes(parent=Shown):
    """Every class that inherits from *parent*, at whatever distance."""
    for each in parent.__subclasses__():
        yield each
        yield from shown_classes(each)


def test_every_record_that_can_be_shown_is_public():
    """The test above leaves no record out; a class from which others inherit is no record."""
    found = list(shown_classes())  # and those that `attrs` has replaced by classes with slots
    names = {each.__name__ for each in found}
    names -= {each.__name__ for each in found if each.__subclasses__()}

    assert names == {each.__name__ for each in RECORDS}


def test_a_subclass_looks_like_its_record():
    """A user may add methods to a record."""

    class Mine(ce.TestResult):
        pass

    assert str(Mine(status="passed")) == str(ce.TestResult(status="passed"))
