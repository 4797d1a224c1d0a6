"""A batch of many pairs needs no more memory than one of few."""

import gc
import tracemalloc

import pytest
from batchparts import pair

import cooperbench_eval as ce
from cooperbench_eval.evaluation.batch.workers import WorkerPool


@pytest.mark.long
def test_the_caller_keeps_only_a_digest_of_each_pair(tmp_path):
    """The batch keeps about two hundred bytes for each pair that is done, and no report."""
    evaluator = ce.Evaluator(strategies=["naive"])
    held = {}
    with WorkerPool(2) as pool:
        batch = ce.evaluate_many(
            map(pair, range(1000)), evaluator=evaluator, executor=pool, store=tmp_path
        )
        tracemalloc.start()
        try:
            for done, _ in enumerate(batch, start=1):
                if done in {200, 900}:
                    gc.collect()
                    held[done] = tracemalloc.get_traced_memory()[0]
        finally:
            tracemalloc.stop()

    assert held[900] - held[200] < 700 * 500
