"""Signatures: what each argument of the public functions and classes accepts."""

import inspect
import typing
from typing import Literal

import pytest

import cooperbench_eval as ce
from cooperbench_eval.analysis.grouping import GroupName
from cooperbench_eval.analysis.levels import Level, LevelName
from cooperbench_eval.models import JudgeName
from cooperbench_eval.runlogs.choices import PatchLocationName, SettingName
from cooperbench_eval.running.readers.frameworks import FRAMEWORKS
from cooperbench_eval.running.readers.recognizing import Framework


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
