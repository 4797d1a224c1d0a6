"""Pytest hooks for `conftest.py`: which tests run, in which process and order."""

import gc
import os
from collections import Counter
from pathlib import Path

import pytest
from needs import report_missing

RUNS_LONG_TESTS = os.environ.get("HYPOTHESIS_PROFILE") in {"full", "thorough"}

STARTS_EARLY = (
    "test_container_conformance.py",
    "test_forgery.py",
    "test_survival.py",
    "test_container.py",
    "test_worktrees_against_git.py",
    "test_probe.py",
    "test_histories_against_git.py",
    "test_teams_against_git.py",
    "test_write_page.py",
    "test_schema.py",
    "test_other_systems.py",
    "test_batch_memory.py",
    "test_shared_runs.py",
    "test_flow_noninterference.py",
    "test_inspect_scorer.py",
    "test_sample_task.py",
    "test_harbor_task.py",
    "test_plugin_package.py",
    "test_strategy_check.py",
    "test_executors.py",
    "test_explore_notebook.py",
    "test_team_evaluation.py",
    "test_distributions.py",
    "test_container_tasks.py",
    "write-a-strategy.md",
    "run-batches.md",
    "run-tests.md",
    "tutorial.md",
    "write-a-sandbox.md",
)
"""Files whose few tests take much time. If one ran last, the other processes would idle."""


PASSED = os.environ.get("COOPERBENCH_EVAL_PASSED")
"""A file with the names of tests that passed. If it is absent, this run makes it; otherwise the
tests in it are left out."""
if "PYTEST_XDIST_WORKER" in os.environ:
    os.environ.pop("COOPERBENCH_EVAL_PASSED", None)  # not for a pytest that a test starts
NEED_NO_EXTRAS = (
    "tests/compat/",
    "tests/evaluation/auditing/",
    "tests/evaluation/explaining/",
    "tests/evaluation/probing/",
    "tests/git/",
    "tests/languages/",
    "tests/reporting/",
    "tests/strategies/structured/",
    "tests/testing/test_strategy_check.py",
)
"""Where tests run in the same way whether or not more than the extra `test` is installed."""


def pytest_configure(config):
    """Register the marker of tests that only some profiles run, and the hooks of `needs`."""
    report_missing(config)
    config.addinivalue_line(
        "markers", "long: takes seconds by nature; runs with the profiles full and thorough"
    )


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(config, items):
    """Leave out the long tests unless requested, and start slow files early."""
    if not RUNS_LONG_TESTS and not config.option.markexpr:
        left_out = [item for item in items if item.get_closest_marker("long")]
        config.hook.pytest_deselected(items=left_out)
        items[:] = [item for item in items if not item.get_closest_marker("long")]
    if PASSED and Path(PASSED).exists():
        passed = set(Path(PASSED).read_text(encoding="utf-8").splitlines())
        config.hook.pytest_deselected(items=[item for item in items if item.nodeid in passed])
        items[:] = [item for item in items if item.nodeid not in passed]
    sizes = Counter(item.path for item in items)
    ranks = {name: rank for rank, name in enumerate(STARTS_EARLY)}
    last = len(STARTS_EARLY)
    items.sort(
        key=lambda item: (ranks.get(item.path.name, last), -sizes[item.path], str(item.path))
    )


_passed = []


def pytest_runtest_logreport(report):
    """Note a test that would pass again; one with examples tries others in the next run."""
    has_passed = report.when == "call" and report.passed and "hypothesis" not in report.keywords
    if has_passed and report.nodeid.startswith(NEED_NO_EXTRAS) and report.nodeid.isprintable():
        _passed.append(report.nodeid)


def pytest_sessionfinish(session):
    """Write down which tests passed, in the process that knows all results."""
    if PASSED and not Path(PASSED).exists() and not hasattr(session.config, "workerinput"):
        Path(PASSED).write_text("\n".join(_passed), encoding="utf-8")


@pytest.hookimpl(wrapper=True)
def pytest_collection():
    """Run the garbage collector less often, and never over the thousands of test items.

    Otherwise it takes a quarter of the time of tests that make many small objects, as
    Hypothesis does.
    """
    gc.disable()
    try:
        return (yield)
    finally:
        gc.enable()
        gc.freeze()
        gc.set_threshold(20_000, 50, 50)


ASKS_A_MODEL = (
    "tests/strategies/llm/test_http_limits.py",
    "tests/strategies/llm/test_litellm_client.py",
    "tests/strategies/llm/test_redaction.py",
    "tests/strategies/llm/test_llm.py",
    "docs/how-to/use-a-model.md",
)
"""Files that import litellm, which takes seconds in each process that does."""


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config, log):
    """Run all files that import litellm in one process, and each other file in a free one."""
    if config.getvalue("dist") != "loadfile":
        return None
    from xdist.scheduler import LoadFileScheduling  # noqa: PLC0415 - where its hook is called

    class Scheduling(LoadFileScheduling):
        def _split_scope(self, nodeid):
            file = super()._split_scope(nodeid)
            return ASKS_A_MODEL[0] if file in ASKS_A_MODEL else file

    return Scheduling(config, log)
