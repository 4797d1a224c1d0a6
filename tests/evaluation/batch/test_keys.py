"""Keys: the same for the same work in every process, and another for other work."""

import os
import pickle
import re
import subprocess
import sys
import weakref
from collections import deque
from decimal import Decimal
from functools import partial
from pathlib import Path

import attrs
import pytest
from batchparts import BASE, Ours, pair, patch_at
from needs import need_package

import cooperbench_eval as ce
from cooperbench_eval.evaluation.batch.keys import PairKeys, describe

SUITE = ce.TestSuite(command=("pytest", "-q"), patch=b"", env={"A": "1"})


def key(given=None, evaluator=None):
    """Return the key of a pair, by default the first under the default evaluator."""
    return PairKeys(evaluator or ce.Evaluator()).key(given or pair(1))


def test_a_key_is_the_same_in_every_process():
    """The hash seed and the order of creation do not matter."""
    script = (
        "import sys; sys.path[:0] = [sys.argv[1]]\n"
        "import cooperbench_eval as ce\n"
        "from batchparts import Ours, pair\n"
        "from cooperbench_eval.evaluation.batch.keys import PairKeys\n"
        "strategies = ['naive', 'union', 'tokens', 'structured', Ours(deadly={1, 2, 3})]\n"
        "evaluator = ce.Evaluator(strategies=strategies, runner=ce.TestRunner(sandbox='local'))\n"
        "print(PairKeys(evaluator).key(pair(1)))\n"
    )
    keys = {
        subprocess.run(
            [sys.executable, "-c", script, str(Path(__file__).parent)],
            env={"PYTHONHASHSEED": seed, "PATH": "/usr/bin:/bin"},
            capture_output=True,
            check=True,
        ).stdout
        for seed in ("1", "2", "3")
    }

    assert len(keys) == 1


def test_equal_pairs_have_one_key():
    """Equal objects that were created separately are the same work."""
    assert key() == key(pair(1), ce.Evaluator())
    assert len(key()) == 64


def with_tests(entry):
    """Return a pair with one suite in each place, whose patch was made from changes."""
    suite = attrs.evolve(SUITE, patch=ce.Patch.of(ce.Changes({"t.py": entry})))
    feature = attrs.evolve(pair(1).feature1, tests=suite)
    return pair(1, feature1=feature, joint=suite, regression=suite)


@pytest.mark.parametrize("make", [with_tests, lambda entry: pair(1, joint=with_tests(entry).joint)])
def test_a_tests_patch_made_from_changes_counts_by_what_it_changes(make):
    """It has no text, but equal changes are equal work and others are not."""
    entries = [
        ce.Entry(b"x"),
        ce.Entry(b"y"),
        ce.Entry(b"x", ce.models.FileMode.EXECUTABLE),
        None,
    ]
    keys = [key(make(entry)) for entry in entries]

    assert len({*keys, key(make(ce.Entry(b""))), key()}) == 6
    copies = [pickle.loads(pickle.dumps(make(entry))) for entry in entries]  # noqa: S301 - ours
    assert keys == list(map(key, copies))


def test_a_feature_described_alone_may_be_made_from_changes():
    """Its place in a strategy's options, say, does not give its patch a text."""
    one, same, other = (ce.Patch.of(ce.Changes({"f": ce.Entry(b)})) for b in (b"1", b"1", b"2"))

    assert describe([one]) == describe([same]) != describe([other])


OTHER_PAIRS = {
    "repository": pair(1, repo_name="other"),
    "task": pair(1, task_id=2),
    "model": pair(1, model="m"),
    "setting": pair(1, setting="coop"),
    "k": pair(1, k=2),
    "base": pair(1, base=BASE.overlay(ce.Changes({"new": ce.Entry(b"")}))),
    "patch": pair(1, feature1=ce.Feature(number=0, patch=patch_at(3, b"x"))),
    "number": pair(1, feature1=attrs.evolve(pair(1).feature1, number=7)),
    "description": pair(1, feature1=attrs.evolve(pair(1).feature1, description="d")),
    "suite": pair(1, feature1=attrs.evolve(pair(1).feature1, tests=SUITE)),
    "swapped": pair(1, feature1=pair(1).feature2, feature2=pair(1).feature1),
}
OTHER_EVALUATORS = {
    "strategies": ce.Evaluator(strategies=["naive"]),
    "their order": ce.Evaluator(strategies=["union", "naive"]),
    "scorer": ce.Evaluator(scorer=ce.ConflictScorer(per_section=1)),
    "policy": ce.Evaluator(apply_policy=ce.ApplyPolicy(partial=True)),
    "runner": ce.Evaluator(runner=ce.TestRunner(sandbox="local")),
    "repeats": ce.Evaluator(runner=ce.TestRunner(sandbox="local", repeats=2)),
    "no base tests": ce.Evaluator(test_base=False),
    "other tests": ce.Evaluator(test_other=True),
    "an option": ce.Evaluator(strategies=["naive", "union", Ours(seconds=1)]),
    "another option": ce.Evaluator(strategies=["naive", "union", Ours(seconds=2)]),
}


def test_different_work_has_a_different_key():
    """Everything that the report depends on is in the key."""
    keys = [key(), *map(key, OTHER_PAIRS.values())]
    keys += [key(evaluator=each) for each in OTHER_EVALUATORS.values()]

    assert len(set(keys)) == 1 + len(OTHER_PAIRS) + len(OTHER_EVALUATORS)


def test_every_suite_option_counts():
    """A deadline or a variable may change the result of the tests."""

    def with_suite(**change):
        feature = attrs.evolve(pair(1).feature1, tests=attrs.evolve(SUITE, **change))
        return key(pair(1, feature1=feature))

    changes = [
        {},
        {"command": ("pytest",)},
        {"patch": patch_at(2, b"t")},
        {"framework": "exit"},
        {"timeout_seconds": 5},
        {"setup": [("true",)]},
        {"delivery": "patches"},
        {"required": ("test_a",)},
        {"env": {"A": "2"}},
    ]

    assert len({with_suite(**change) for change in changes}) == len(changes)


def test_the_place_of_the_result_cache_does_not_count(tmp_path):
    """Nor does the state that objects cache."""
    plain, kept = (
        ce.Evaluator(runner=ce.TestRunner(sandbox="local", cache=cache))
        for cache in (None, tmp_path / "results")
    )
    before = key(evaluator=plain)

    plain.evaluate(pair(1))

    assert key(evaluator=plain) == before == key(evaluator=kept)


class Named(type(ce.get_strategy("naive"))):
    """A subclass of an attrs class with an attribute of its own."""

    __slots__ = ("k",)

    def __init__(self, k):
        """Take it."""
        super().__init__()
        object.__setattr__(self, "k", k)


class Hidden:
    """An attribute in a private slot."""

    __slots__ = ("__secret", "__weakref__", "shown")

    def __init__(self, secret):
        """Take it."""
        self.__secret = secret
        self.shown = None


def test_an_object_that_is_held_many_times_is_described_quickly():
    """Each list contains the previous one twice."""
    thing = ["x"]
    for _ in range(60):
        thing = [thing, thing]

    assert describe(thing) == describe(thing)


def test_a_weak_reference_does_not_change_a_description():
    """Any code may take a weak reference."""
    thing = Hidden(1)
    before = describe(thing)
    reference = weakref.ref(thing)

    assert reference() is thing
    assert describe(thing) == before


def test_functions_are_distinguished_by_their_code():
    """All lambdas have the same name."""

    def adder(number):
        return lambda x: x + number

    def scaled(x, *, by=1):
        return x * by

    one = lambda x: x  # noqa: E731
    two = lambda x: -x  # noqa: E731
    pairs = [
        (one, two),
        (adder(1), adder(2)),
        (partial(scaled, by=1), partial(scaled, by=2)),
        (eval("lambda x: x + 1"), eval("lambda x: x + 2")),  # noqa: S307 - has no source
        (eval("lambda x: x.ours"), eval("lambda x: x.theirs")),  # noqa: S307
        (eval("lambda: (lambda: 1)"), eval("lambda: (lambda: 2)")),  # noqa: S307
        (eval("lambda x=1: x"), eval("lambda x=2: x")),  # noqa: S307
        (eval("lambda *, x=1: x"), eval("lambda *, x=2: x")),  # noqa: S307
        (Ours(seconds=1).merge, Ours(seconds=2).merge),
        (re.compile("a"), re.compile("b")),
        (Decimal(1), Decimal(2)),
        (deque([1]), deque([2])),
        (min, max),
        (Named(k=1), Named(k=2)),
        (Hidden(1), Hidden(2)),
    ]

    for first, second in pairs:
        assert describe(first) != describe(second)
        assert describe(first) == describe(first)
    assert describe(adder(1)) == describe(adder(1))


def test_numbers_and_arrays_of_numpy_have_their_own_keys():
    """Each value has one, which is the same each time."""
    np = need_package("numpy")

    assert describe(np.int64(1)) == describe(np.int64(1)) != describe(np.int64(2))
    assert describe(np.array([1, 2])) == describe(np.array([1, 2])) != describe(np.array([1, 3]))


def test_an_edited_class_has_a_different_key(tmp_path):
    """It keeps its name, in a notebook or in a script between two runs."""
    keys = set()
    for side in ("ours", "theirs", "ours"):
        file = tmp_path / "mine.py"
        file.write_text(
            "import cooperbench_eval as ce\n\nclass Mine:\n    name = 'mine'\n\n"
            "    def merge(self, merge_input, /):\n"
            f"        return ce.MergeOutcome(changes=merge_input.{side})\n"
        )
        script = (
            "from mine import Mine\nfrom batchparts import pair\nimport cooperbench_eval as ce\n"
            "from cooperbench_eval.evaluation.batch.keys import PairKeys\n"
            "print(PairKeys(ce.Evaluator(strategies=[Mine()])).key(pair(1)))\n"
        )
        path = os.pathsep.join((str(tmp_path), str(Path(__file__).parent)))
        done = subprocess.run(
            [sys.executable, "-B", "-c", script],
            env={"PYTHONPATH": path},
            capture_output=True,
            check=True,
        )
        keys.add((side, done.stdout))

    assert len({key for _, key in keys}) == len(keys) == 2


def test_the_sandbox_counts_but_installed_software_does_not(monkeypatch):
    """A store serves several machines, and outlives upgrades."""
    evaluator = ce.Evaluator(runner=ce.TestRunner(sandbox="local"))
    before = key(evaluator=evaluator)
    runner = ce.TestRunner(sandbox=ce.LocalSandbox(memory_bytes=1 << 30))

    monkeypatch.setenv("PATH", "/elsewhere")

    assert key(evaluator=evaluator) == before
    assert key(evaluator=ce.Evaluator(runner=runner)) != before


def test_an_object_that_contains_itself_is_described():
    """The recursion ends."""
    strategy = Ours()
    strategy.me = strategy

    assert describe(strategy) == describe(strategy)


@pytest.mark.parametrize("thing", [{1, 2}, {"a": {3, "b"}}, Path("x"), b"x", int, object()])
def test_anything_is_described(thing):
    """An object without attributes is described by its class."""
    assert describe(thing) == describe(thing)
