"""How often a trace shows why clean merges lost a test, in the shapes of the benchmark."""

import importlib.util
import random
import sys
from pathlib import Path

import pytest
from quick import QUICK

import cooperbench_eval as ce

FILE = Path(__file__).parents[2] / "benchmarks" / "broken_merges.py"


@pytest.fixture(scope="module")
def planted():
    """The benchmark's module, which makes pairs of which a feature loses a test."""
    spec = importlib.util.spec_from_file_location("planted_breaks", FILE)
    module = sys.modules[spec.name] = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.mark.long
def test_the_trace_shows_the_planted_lines_of_both_features(planted):
    """In nearly all shapes, whichever feature loses its test."""
    rng = random.Random(7)  # noqa: S311 - not for secrets
    runner = ce.TestRunner(sandbox=QUICK)
    evaluator = ce.Evaluator(strategies=["naive"], runner=runner, test_base=False)

    missed = set()
    for number, shape in enumerate(planted.SHAPES):
        broken = planted.build(shape, rng, is_mirrored=number % 2 == 1)
        attempt = evaluator.evaluate(broken.pair).attempt("naive")
        assert attempt.status == "clean"
        if not broken.is_traced(attempt.trace):
            missed.add(shape.name)

    # One renames a function, and the other acts at the top level of a module.
    assert missed <= {"renamed helper", "order of registration"}
