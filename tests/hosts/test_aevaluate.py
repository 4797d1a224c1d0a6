"""Pairs that are awaited: the reports are those of `evaluate`, and no test outlives its task."""

import asyncio
import inspect
import os
import time

import pytest
from batchparts import Ours, pair, plain
from processparts import EXAMPLES, kill_worker, live, pair_that_sleeps, until

import cooperbench_eval as ce


@pytest.fixture(params=["local", "bubblewrap"])
def sandbox(request):
    """Return each sandbox of this machine; where bubblewrap must work, it must."""
    if request.param == "local":
        return ce.LocalSandbox()
    if problem := ce.bubblewrap_problem():
        (pytest.fail if "CI" in os.environ else pytest.skip)(problem)
    return ce.BubblewrapSandbox()


def test_a_report_is_that_of_evaluate():
    """But for its times, from either door, with a strategy of one's own."""
    evaluator = ce.Evaluator(strategies=["naive", "union", Ours()])

    async def main():
        return await asyncio.gather(
            evaluator.aevaluate(pair(2)), ce.aevaluate(pair(2), evaluator=evaluator)
        )

    expected = plain(evaluator.evaluate(pair(2)))
    assert [plain(report) for report in asyncio.run(main())] == [expected] * 2


def test_a_pair_of_the_dataset_is_awaited_with_the_arguments_of_evaluate(sample_repo):
    """By position or by name."""
    where = {"dataset_dir": EXAMPLES / "sample" / "dataset", "repo_dir": sample_repo}
    asked = ("coop", "pennybook_task", 1, 1, 2, "gold", "gold")
    names = list(inspect.signature(ce.evaluate).parameters)
    named = dict(zip(names, asked, strict=False))

    async def main():
        return await asyncio.gather(
            ce.aevaluate(*asked, run_tests=False, **where),
            ce.aevaluate(run_tests=False, **named, **where),
        )

    expected = plain(ce.evaluate(*asked, run_tests=False, **where))
    assert [plain(report) for report in asyncio.run(main())] == [expected] * 2


def test_what_evaluate_raises_is_raised():
    """As it is."""
    with pytest.raises(ce.DatasetError, match="/nowhere"):
        asyncio.run(ce.aevaluate("coop", "r", 1, 1, 2, "m", "gold", dataset_dir="/nowhere"))


def test_a_pair_without_an_evaluator_is_an_error():
    """It says what is missing, by the name that was called."""
    with pytest.raises(TypeError, match=r"^aevaluate\(\) needs evaluator=\.\.\. with a pair$"):
        asyncio.run(ce.aevaluate(pair(1)))


class Deadly:
    """A strategy that takes its process along."""

    name = "deadly"

    def merge(self, merge_input, /):  # noqa: ARG002 - the protocol's
        """Die, as of a fault in native code."""
        os.abort()


def test_a_strategy_that_crashes_costs_its_pair_alone():
    """The host goes on, and so do the other pairs."""

    async def main():
        evaluators = [ce.Evaluator(strategies=[each]) for each in (Deadly(), "naive")]
        return await asyncio.gather(
            *(each.aevaluate(pair(1)) for each in evaluators), return_exceptions=True
        )

    lost, report = asyncio.run(main())

    assert isinstance(lost, ce.WorkerError)
    assert lost.exit_code == -6
    assert report.merge_status == "conflicts"


@pytest.mark.parametrize("is_cancelled", [True, False])
def test_a_pair_that_is_stopped_takes_its_tests_along(sandbox, word, temporary, is_cancelled):
    """A suite that sleeps, with a grandchild that hears no signal; cancelled, or killed."""
    evaluator = ce.Evaluator(runner=ce.TestRunner(sandbox=sandbox))
    left = []

    async def main():
        task = asyncio.create_task(evaluator.aevaluate(pair_that_sleeps(word, "mark")))
        await asyncio.to_thread(until, lambda: list(temporary.rglob("mark")))
        assert len(live(word)) >= 2
        task.cancel() if is_cancelled else kill_worker()
        try:
            await task
        finally:
            left.extend((live(word), list(temporary.iterdir())))

    with pytest.raises(asyncio.CancelledError if is_cancelled else ce.WorkerError):
        asyncio.run(main())

    assert left == [[], []]


def test_the_event_loop_goes_on_while_a_pair_is_evaluated(sample_repo):
    """Its longest pause is far below what the evaluation takes."""

    async def main():
        task = asyncio.create_task(ce.Evaluator().aevaluate(pair(1, clash=True)))
        longest, last = 0.0, time.perf_counter()
        while not task.done():
            await asyncio.sleep(0)
            now = time.perf_counter()
            longest, last = max(longest, now - last), now
        return longest

    began = time.perf_counter()
    longest = asyncio.run(main())

    assert longest < (time.perf_counter() - began) / 2
