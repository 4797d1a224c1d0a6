"""Each record that can be shown names a function that describes it."""

import ast
from pathlib import Path
from pkgutil import resolve_name
from types import UnionType
from typing import get_args, get_type_hints

import pytest

import cooperbench_eval as ce
from cooperbench_eval.display.records import View
from cooperbench_eval.display.shown import Shown

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
def test_a_record_names_the_function_that_describes_it(record):
    """The name resolves to a function from this very record to a view."""
    hints = get_type_hints(resolve_name(record._view))

    returned = hints.pop("return")
    (described,) = hints.values()
    assert returned is View
    assert record in (get_args(described) if isinstance(described, UnionType) else {described})


def shown_classes(parent=Shown):
    """Every class that inherits from *parent*, at whatever distance."""
    for each in parent.__subclasses__():
        yield each
        yield from shown_classes(each)


def test_every_record_that_can_be_shown_is_public():
    """The test above leaves no record out; a class from which others inherit is no record."""
    names = {each.__name__ for each in shown_classes() if not each.__subclasses__()}

    assert names == {each.__name__ for each in RECORDS}


def test_records_do_not_import_their_views():
    """A module of views imports records, so a record's module must not import views."""
    records = {resolve_name(record.__module__).__file__ for record in RECORDS}

    for file in records:
        tree = ast.parse(Path(file).read_text(encoding="utf-8"))
        modules = {node.module for node in ast.walk(tree) if isinstance(node, ast.ImportFrom)}
        assert not {module for module in modules if module.endswith(".views")}
