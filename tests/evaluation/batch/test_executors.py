"""The executors of the standard library and third-party ones: all give the same reports."""

import base64
import multiprocessing
import pickle
import subprocess
import sys
from collections import Counter
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor
from pathlib import Path

import pytest
from batchparts import Ours, by_task, noted, pairs, plain
from needs import need_package

import cooperbench_eval as ce

EVALUATOR = ce.Evaluator(strategies=["naive", "union", Ours()])
EXPECTED = [plain(EVALUATOR.evaluate(each)) for each in pairs(10)]


@pytest.fixture(scope="module")
def cluster():
    """A cluster of two worker processes, which gives a pair up at the first death."""
    distributed = need_package("distributed")  # loads for a second
    dask = need_package("dask")
    options = {"n_workers": 2, "threads_per_worker": 1, "processes": True}
    options |= {"dashboard_address": None, "host": "127.0.0.1", "silence_logs": 50}
    with (
        dask.config.set({"distributed.scheduler.allowed-failures": 0}),
        distributed.LocalCluster(**options) as local,
        distributed.Client(local) as client,
    ):
        yield client


@pytest.fixture
def reusable():
    """A pool of two processes."""
    loky = need_package("loky")
    executor = loky.get_reusable_executor(max_workers=2)
    yield executor
    executor.shutdown(kill_workers=True)


def pool(method):
    """The standard library's pool with a way to start."""
    return ProcessPoolExecutor(2, mp_context=multiprocessing.get_context(method))


@pytest.mark.parametrize("make", [lambda: ThreadPoolExecutor(2), lambda: pool("spawn")])
def test_the_executors_of_the_standard_library(make):
    """Threads and processes work, with every way to start a process."""
    with make() as executor:
        reports = ce.evaluate_many(pairs(10), evaluator=EVALUATOR, executor=executor)

        assert by_task(reports) == EXPECTED


@pytest.mark.long
def test_loky(reusable):
    """The reusable pool of loky works."""
    reports = ce.evaluate_many(pairs(10), evaluator=EVALUATOR, executor=reusable)

    assert by_task(reports) == EXPECTED


@pytest.mark.long
def test_a_death_in_a_loky_pool_costs_one_pair(reusable):
    """The pool breaks, but the other pairs are evaluated."""
    evaluator = ce.Evaluator(strategies=["naive", Ours(deadly={4})])

    reports = list(ce.evaluate_many(pairs(8), evaluator=evaluator, executor=reusable))

    lost = [report.task_id for report in reports if report.failure]
    assert (len(reports), lost) == (8, [4])


@pytest.mark.long
def test_dask(cluster, tmp_path):
    """The executor of a Dask client spreads the pairs; the caller's process writes the store."""
    executor, log = cluster.get_executor(), tmp_path / "log"
    evaluator = ce.Evaluator(strategies=["naive", "union", Ours(log=str(log), seconds=0.05)])
    options = {"evaluator": evaluator, "executor": executor, "store": tmp_path / "store"}

    first = by_task(ce.evaluate_many(pairs(10), **options))
    again = by_task(ce.evaluate_many(pairs(10), **options))

    assert first == again == EXPECTED
    assert sorted(noted(log)) == list(range(10))
    assert len({line.split()[1] for line in log.read_text().splitlines()}) == 2


@pytest.mark.long
def test_a_death_on_a_dask_cluster_costs_one_pair(cluster):
    """Dask loses all pairs of the worker; a pair that is lost twice is tried without others."""
    evaluator = ce.Evaluator(strategies=["naive", Ours(deadly={4})])

    executor = cluster.get_executor(retries=0)
    reports = list(ce.evaluate_many(pairs(8), evaluator=evaluator, executor=executor))

    [lost] = [report for report in reports if report.failure]
    assert (len(reports), lost.task_id) == (8, 4)
    assert lost.failure.error.endswith("KilledWorker")
    assert lost.failure.tries == 3


MAIN = """
import sys
sys.path[:0] = [{tests!r}]
import cooperbench_eval as ce
from batchparts import pairs

def theirs(merge_input):
    return merge_input.theirs

class Theirs:
    name = "theirs"

    def __init__(self, choose):
        self.choose = choose

    def merge(self, merge_input, /):
        return ce.MergeOutcome(changes=self.choose(merge_input))

if __name__ == "__main__":
    {imports}
    evaluator = ce.Evaluator(strategies=[Theirs({choose})])
    with {executor} as executor:
        for report in ce.evaluate_many(pairs(3), evaluator=evaluator, executor=executor):
            print(report.attempt("theirs").status, report.failure)
"""


def run_main(folder, imports, executor, choose="lambda merge_input: merge_input.theirs"):
    """Run a script whose strategy is its own, with a function in it."""
    script = folder / "script.py"
    tests = str(Path(__file__).parent)
    script.write_text(MAIN.format(tests=tests, imports=imports, executor=executor, choose=choose))
    return subprocess.run(
        [sys.executable, script], capture_output=True, text=True, timeout=60, check=False
    )


LOKY = ("from loky import ProcessPoolExecutor", "ProcessPoolExecutor(1)")
OURS = ("from cooperbench_eval.evaluation.batch.workers import WorkerPool", "WorkerPool(1)")


@pytest.mark.parametrize(
    ("pool", "choose"),
    [
        pytest.param(LOKY, "lambda merge_input: merge_input.theirs", marks=pytest.mark.long),
        pytest.param(LOKY, "theirs", marks=pytest.mark.long),
        (OURS, "theirs"),
    ],
)
def test_classes_and_functions_of_a_script_can_be_sent(tmp_path, pool, choose):
    """Lambdas can be sent too, if the executor uses cloudpickle."""
    done = run_main(tmp_path, *pool, choose)

    counts = Counter(done.stdout.splitlines())
    assert counts == {"resolved None": 2, "clean None": 1}, done.stderr


PACKED = """
import base64
import cooperbench_eval as ce
from cooperbench_eval.evaluation.batch.payloads import PayloadMaker

class Mine:
    name = "mine"

    def merge(self, merge_input, /):
        return ce.MergeOutcome(changes=merge_input.ours)

base = ce.Snapshot.from_files({})
one, two = (ce.Feature(number=n, patch=b"") for n in (1, 2))
pair = ce.FeaturePair(repo_name="r", task_id=0, base=base, feature1=one, feature2=two)
maker = PayloadMaker(ce.Evaluator(strategies=[Mine()]), own_processes=False)
print(base64.b64encode(maker.payload(pair).shared[0]).decode())
"""


def test_definitions_of_a_script_can_be_used_without_the_script(tmp_path):
    """The workers of a cluster do not have the script."""
    (tmp_path / "script.py").write_text(PACKED)
    done = subprocess.run([sys.executable, tmp_path / "script.py"], capture_output=True, check=True)

    evaluator = pickle.loads(base64.b64decode(done.stdout))  # noqa: S301 - of our script

    [strategy] = evaluator.strategies
    assert type(strategy).__module__ == "__main__"
    report = ce.Evaluator(strategies=[strategy]).evaluate(pairs(1)[0])
    assert report.attempt("mine").status == "resolved"


def test_the_default_pool_names_what_it_cannot_send(tmp_path):
    """It cannot send a lambda, but could send a function of the script."""
    done = run_main(tmp_path, *OURS)

    assert done.returncode == 1
    last = done.stderr.splitlines()[-1]
    assert "strategy 'theirs': cannot be sent to another process" in last
