"""Which process runs which tests, in what order; hooks that `conftest.py` hands to pytest."""

import gc
from collections import Counter

import pytest

LONG = (
    "test_container_conformance.py",
    "test_forgery.py",
    "test_survival.py",
    "test_container.py",
    "test_sample_task.py",
    "test_plugin_package.py",
    "test_strategy_check.py",
    "test_executors.py",
    "test_explore_notebook.py",
    "test_distributions.py",
    "test_container_tasks.py",
    "run-tests.md",
    "tutorial.md",
)
"""Files that take long for the number of their tests; those that wait for an engine apart."""


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(items):
    """Begin with the files that take long: one that came last would leave processes idle."""
    sizes = Counter(item.path for item in items)
    ranks = {name: rank for rank, name in enumerate(LONG)}
    items.sort(
        key=lambda item: (ranks.get(item.path.name, len(LONG)), -sizes[item.path], str(item.path))
    )


@pytest.hookimpl(wrapper=True)
def pytest_collection():
    """Have the collector of garbage look less often, and never at thousands of tests.

    It takes a fourth of the time of what makes many small objects, as Hypothesis does.
    """
    gc.disable()
    try:
        return (yield)
    finally:
        gc.enable()
        gc.freeze()
        gc.set_threshold(20_000, 50, 50)


ASKS_A_MODEL = (
    "tests/llm/test_litellm_client.py",
    "tests/strategies/test_llm.py",
    "docs/how-to/use-a-model.md",
)
"""Files that import litellm, which takes seconds in each process that does."""


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config, log):
    """Have one process run all files that import litellm, and whichever is free each other."""
    if config.getvalue("dist") != "loadfile":
        return None
    from xdist.scheduler import LoadFileScheduling  # noqa: PLC0415 - where its hook is called

    class Scheduling(LoadFileScheduling):
        def _split_scope(self, nodeid):
            file = super()._split_scope(nodeid)
            return ASKS_A_MODEL[0] if file in ASKS_A_MODEL else file

    return Scheduling(config, log)
