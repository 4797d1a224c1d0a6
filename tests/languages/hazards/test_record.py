"""The record of a hazard."""

import json
import pickle

import attrs

from cooperbench_eval.languages.hazards.kinds import Hazard, HazardKind

HAZARD = Hazard(
    kind=HazardKind.NAME_REMOVED,
    path="src/app.py",
    line=12,
    name="parse_url",
    message="feature 2 removes `parse_url`, which feature 1 uses in src/app.py, line 12",
    features=(1, 2),
)


def test_a_hazard_survives_json():
    """Its fields are plain values, so the record that is read again is equal."""
    text = json.dumps(attrs.asdict(HAZARD))

    assert Hazard(**json.loads(text)) == HAZARD


def test_a_hazard_survives_pickling():
    """Reports cross process boundaries."""
    assert pickle.loads(pickle.dumps(HAZARD)) == HAZARD  # noqa: S301 - our own


def test_hazards_are_values():
    """Equal hazards are one element of a set."""
    assert len({HAZARD, attrs.evolve(HAZARD), attrs.evolve(HAZARD, line=13)}) == 2
