"""Strategies are found by name in installed distributions."""

import functools
import subprocess
import sys

import pytest

import cooperbench_eval as ce
from cooperbench_eval.strategies.naive import NaiveStrategy
from cooperbench_eval.strategies.union import UnionStrategy

GROUP = "cooperbench_eval.strategies"
NEEDS = "is not a merge strategy: it needs a name and a merge method"
OURS = """
from cooperbench_eval import resolve_conflicts

class Ours:
    def __init__(self, name="keep-ours", ending=b""):
        self.name, self.ending = name, ending

    def merge(self, merge_input):
        return resolve_conflicts(merge_input, lambda c: c.ours + self.ending)
"""


@pytest.fixture
def install(install_plugins):
    """Return a function that installs a distribution with strategies."""
    return functools.partial(install_plugins, GROUP)


# --- names ----------------------------------------------------------------------


def test_built_in_strategies_are_available():
    """The names are sorted."""
    names = ce.available_strategies()

    assert {"naive", "union"} <= set(names)
    assert list(names) == sorted(names)


def test_listing_imports_no_strategy():
    """Neither importing the library nor asking for the names loads a strategy's module."""
    script = f"""
import sys
import cooperbench_eval as ce
from importlib.metadata import entry_points
assert "union" in ce.available_strategies()
modules = {{point.module for point in entry_points(group={GROUP!r})}}
print(len(modules), sorted(modules & set(sys.modules)), "litellm" in sys.modules)
"""

    done = subprocess.run([sys.executable, "-c", script], capture_output=True, check=True)

    count, loaded = done.stdout.decode().split(maxsplit=1)
    assert int(count) >= 2
    assert loaded.strip() == "[] False"


def test_a_listed_plug_in_is_not_imported(install):
    """This holds even for one that cannot be imported."""
    install("broken-plugin", "1.0", "registry_broken", "raise OSError('no licence')", broken="X")

    assert "broken" in ce.available_strategies()
    assert "registry_broken" not in sys.modules


@pytest.mark.parametrize(("name", "kind"), [("naive", NaiveStrategy), ("union", UnionStrategy)])
def test_a_name_gives_its_strategy(name, kind):
    """A built-in strategy has the name under which it is registered."""
    strategy = ce.get_strategy(name)

    assert type(strategy) is kind
    assert strategy.name == name


def test_a_plug_in_is_found_by_its_name(install):
    """It only has to be installed."""
    install("keep-plugin", "1.0", "registry_keep", OURS, keep="Ours")

    assert "keep" in ce.available_strategies()
    assert ce.get_strategy("keep").name == "keep-ours"


def test_options_reach_the_plug_in(install):
    """One of them may be called `name`, to distinguish two instances."""
    install("option-plugin", "1.0", "registry_options", OURS, keep="Ours")

    strategy = ce.get_strategy("keep", name="keep!", ending=b"!")

    assert (strategy.name, strategy.ending) == ("keep!", b"!")


def test_a_built_in_strategy_takes_another_name():
    """A report can then hold two instances."""
    first, second = ce.get_strategy("union"), ce.get_strategy("union", name="union-again")

    names = [each.name for each in ce.Evaluator(strategies=[first, second]).strategies]

    assert names == ["union", "union-again"]


# --- what goes wrong --------------------------------------------------------------


def test_the_error_for_an_unknown_name_lists_the_known_names(install):
    """It also lists the distributions that register them."""
    install("known-plugin", "2.3", "registry_known", OURS, known="Ours")

    with pytest.raises(ce.errors.UnknownStrategyError) as caught:
        ce.get_strategy("nine")

    error = caught.value
    assert isinstance(error, LookupError)
    assert error.name == "nine"
    assert {"known", "naive", "union"} <= set(error.available)
    assert "known-plugin 2.3" in error.origins
    assert all(word in str(error) for word in ("'nine'", "known, llm, naive", "known-plugin 2.3"))


@pytest.mark.parametrize(
    ("source", "attribute", "problem"),
    [
        ("raise OSError('no licence')", "X", "cannot be imported: OSError('no licence')"),
        ("import no_such_module", "X", "cannot be imported: No module named 'no_such_module'"),
        ("class Y: pass", "X", "cannot be imported: AttributeError"),
        ("class X:\n def __init__(self): raise KeyError('key')", "X", "be built: KeyError('key')"),
        ("class X:\n def __init__(self, key): pass", "X", "cannot be built: TypeError"),
        ("X = 5", "X", "cannot be built: TypeError"),
        ("def X():\n raise ImportError", "X", "cannot be built: ImportError()"),
        ("class X: name = 'x'", "X", NEEDS),
        ("class X:\n def merge(self, merge_input): pass", "X", NEEDS),
        ("class X:\n name = 5\n def merge(self, i): pass", "X", NEEDS),
        ("class X:\n name, merge = 'x', 5", "X", NEEDS),
        ("def X():\n return None", "X", NEEDS),
        ("class S:\n name = 's'\n def merge(self, i): pass\ndef X(): return S", "X", NEEDS),
    ],
)
def test_the_error_of_a_broken_plug_in_names_its_origin(install, source, attribute, problem):
    """The error names strategy, distribution, object and cause."""
    install("bad-plugin", "0.9", "registry_bad", source, bad=attribute)

    with pytest.raises(ce.errors.StrategyLoadError) as caught:
        ce.get_strategy("bad")

    error = caught.value
    assert (error.name, error.origin) == ("bad", f"bad-plugin 0.9 (registry_bad:{attribute})")
    assert problem in error.problem
    assert "bad-plugin 0.9" in str(error)
    assert (error.__cause__ is None) == (problem is NEEDS)


def test_one_name_from_two_distributions_is_refused(install):
    """The error names both distributions, and other names still work."""
    install("first-plugin", "1.0", "registry_first", OURS, twice="Ours", first="Ours")
    install("second-plugin", "2.0", "registry_second", OURS, twice="Ours")

    with pytest.raises(ce.errors.DuplicateStrategyError) as caught:
        ce.get_strategy("twice")

    assert caught.value.origins == ("first-plugin 1.0", "second-plugin 2.0")
    assert ce.available_strategies().count("twice") == 1
    assert ce.get_strategy("first").name == "keep-ours"


@pytest.mark.parametrize(
    "use",
    [
        lambda: ce.get_strategy("naive"),
        lambda: ce.Evaluator(strategies=["naive"]).strategies[0],
        lambda: ce.Evaluator().strategies[0],
        lambda: ce.cascade("naive", "keep").members[0],
    ],
)
def test_a_built_in_strategy_cannot_be_shadowed(use, install):
    """Every use of `naive` warns of the plug-in that is ignored; nothing else changes."""
    install("shadow-plugin", "1.0", "registry_shadow", OURS, naive="Ours", keep="Ours")

    with pytest.warns(UserWarning, match="the one of shadow-plugin 1.0 is ignored") as caught:
        found = use()

    assert type(found) is NaiveStrategy
    assert {each.filename for each in caught} == {__file__}
    assert ce.available_strategies().count("naive") == 1
    assert ce.get_strategy("keep").name == "keep-ours"


def test_one_distribution_found_twice_is_one(install, tmp_path, monkeypatch):
    """It may be on the path both installed and as a checkout."""
    install("again-plugin", "1.0", "registry_again", OURS, again="Ours")
    copy = tmp_path / "copy"
    copy.mkdir()
    (tmp_path / "again_plugin-1.0.dist-info").rename(copy / "again_plugin-1.0.dist-info")
    install("again-plugin", "1.0", "registry_again", OURS, again="Ours")
    monkeypatch.syspath_prepend(copy)

    assert ce.get_strategy("again").name == "keep-ours"


# --- instances --------------------------------------------------------------------


def test_objects_are_accepted_wherever_names_are(install):
    """`merge` and `Evaluator` treat a name and an instance alike."""
    install("object-plugin", "1.0", "registry_object", OURS, keep="Ours")
    base = ce.Snapshot.from_files({"f": b"1\n"})
    sides = [ce.Changes({"f": ce.Entry(text)}) for text in (b"2\n", b"3\n")]
    instance = ce.get_strategy("keep")

    outcomes = [ce.merge(base, *sides, strategy=each) for each in ("keep", instance)]
    evaluator = ce.Evaluator(strategies=["naive", instance])

    assert outcomes[0] == outcomes[1]
    assert outcomes[0].changes["f"].data == b"2\n"
    assert [each.name for each in evaluator.strategies] == ["naive", "keep-ours"]


@pytest.mark.parametrize("candidate", [UnionStrategy, object(), 5, None])
def test_a_class_or_another_object_is_refused(candidate):
    """The error asks for an instance."""
    base = ce.Snapshot.from_files({})

    with pytest.raises(ce.errors.StrategyLoadError, match="pass an instance"):
        ce.merge(base, ce.Changes(), ce.Changes(), strategy=candidate)
    with pytest.raises(ce.errors.StrategyLoadError, match="pass an instance"):
        ce.Evaluator(strategies=[candidate])


def test_an_evaluator_looks_names_up_at_once():
    """A wrong name is reported before the first pair."""
    with pytest.raises(ce.errors.UnknownStrategyError):
        ce.Evaluator(strategies=["naive", "nine"])
