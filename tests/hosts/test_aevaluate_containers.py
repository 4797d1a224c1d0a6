"""Awaited evaluations in containers: no container outlives its task."""

import asyncio

import pytest
from container_images import bare_image, engine, find_containers, import_image  # noqa: F401 - fixtures
from processparts import kill_worker, pair_that_sleeps, until

import cooperbench_eval as ce


@pytest.mark.parametrize("is_cancelled", [True, pytest.param(False, marks=pytest.mark.long)])
def test_a_pair_that_is_stopped_removes_its_containers(
    bare_image,  # noqa: F811
    find_containers,  # noqa: F811
    temporary,
    is_cancelled,
):
    """If its process is killed, the supervisor waits for the containers' watchdog."""
    sandbox = ce.ContainerSandbox(image=bare_image, pull=False)
    evaluator = ce.Evaluator(runner=ce.TestRunner(sandbox=sandbox))
    pair = pair_that_sleeps("word", "mark", command=("sleep", "60"))
    left = []

    async def main():
        task = asyncio.create_task(evaluator.aevaluate(pair))
        assert await asyncio.to_thread(until, lambda: find_containers(running=True))
        task.cancel() if is_cancelled else kill_worker()
        try:
            await task
        finally:
            left.extend((find_containers(), list(temporary.iterdir())))

    with pytest.raises(asyncio.CancelledError if is_cancelled else ce.errors.WorkerError):
        asyncio.run(main())

    assert left == [[], []]
