"""Awaited evaluations: reports equal those of `evaluate`, and no test outlives its task."""

import asyncio
import inspect
import os
import time

import pytest
from batchparts import Ours, pair, plain
from needs import need_bubblewrap
from processparts import EXAMPLES, kill_worker, live, pair_that_sleeps, until

import cooperbench_eval as ce


@pytest.fixture(params=["local", "bubblewrap"])
def sandbox(request):
    """Return each sandbox of this machine."""
    if request.param == "local":
        return ce.LocalSandbox()
    need_bubblewrap()
    return ce.BubblewrapSandbox()


def test_a_report_equals_that_of_evaluate():
    """Only the times differ, from both functions, even with a custom strategy."""
    evaluator = ce.Evaluator(strategies=["naive", "union", Ours()])

    async def main():
        return await asyncio.gather(
            evaluator.aevaluate(pair(2)), ce.aevaluate(pair(2), evaluator=evaluator)
        )

    expected = plain(evaluator.evaluate(pair(2)))
    assert [plain(report) for report in asyncio.run(main())] == [expected] * 2


def test_a_pair_of_the_dataset_is_awaited_with_the_arguments_of_evaluate(sample_repo):
    """They may be given by position or by name."""
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


def test_an_exception_of_evaluate_is_raised():
    """It is the same exception."""
    with pytest.raises(ce.errors.DatasetError, match="/nowhere"):
        asyncio.run(ce.aevaluate("coop", "r", 1, 1, 2, "m", "gold", dataset_dir="/nowhere"))


def test_a_pair_without_an_evaluator_is_an_error():
    """The error names the argument, before any process is started."""
    with pytest.raises(TypeError, match=r"^evaluator is needed with a pair: evaluator=Evaluator"):
        asyncio.run(ce.aevaluate(pair(1)))
    with pytest.raises(TypeError, match=r"^evaluator must be Evaluator, not int: 5"):
        asyncio.run(ce.aevaluate(pair(1), evaluator=5))


class Deadly:
    """A strategy that ends its process."""

    name = "deadly"

    def merge(self, merge_input, /):  # noqa: ARG002 - the protocol's
        """Die, as a fault in native code does."""
        os.abort()


def test_a_strategy_that_crashes_costs_only_its_pair():
    """The host and the other pairs go on."""

    async def main():
        evaluators = [ce.Evaluator(strategies=[each]) for each in (Deadly(), "naive")]
        return await asyncio.gather(
            *(each.aevaluate(pair(1)) for each in evaluators), return_exceptions=True
        )

    lost, report = asyncio.run(main())

    assert isinstance(lost, ce.errors.WorkerError)
    assert lost.exit_code == -6
    assert report.merge_status == "conflicts"


@pytest.mark.parametrize("is_cancelled", [True, False])
def test_a_pair_that_is_stopped_ends_its_tests(sandbox, word, temporary, is_cancelled):
    """The suite sleeps and has a grandchild that ignores signals; it is cancelled or killed."""
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

    with pytest.raises(asyncio.CancelledError if is_cancelled else ce.errors.WorkerError):
        asyncio.run(main())

    assert left == [[], []]


def test_the_event_loop_goes_on_while_a_pair_is_evaluated(sample_repo):
    """Its longest pause is much shorter than the evaluation."""

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
