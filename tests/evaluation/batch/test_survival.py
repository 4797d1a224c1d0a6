"""Batches that are killed, share a store or run out of disk lose and repeat nothing."""

import collections
import contextlib
import os
import random
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from batchparts import Ours, by_task, noted, pairs, plain
from needs import need_bubblewrap

import cooperbench_eval as ce

COUNT = 80

# A process that has imported everything and forks the batches, so that each starts at once.
NURSERY = """
import os, signal, sys
sys.path[:0] = [{tests!r}]
from concurrent.futures import ThreadPoolExecutor
import cooperbench_eval as ce
from batchparts import Ours, pairs
import tqdm.auto

EVALUATOR = ce.Evaluator(strategies=["naive", Ours(log={log!r}, seconds=0.002)])

def batch(own_pool):
    options = dict(evaluator=EVALUATOR, store={store!r})
    for report in ce.evaluate_many(pairs({count}), **options,
                                   executor=None if own_pool else ThreadPoolExecutor(2)):
        pass

if __name__ == "__main__":
    print("ready", flush=True)
    for line in sys.stdin:
        child = os.fork()
        if not child:
            batch(line.strip() == "processes")
            os._exit(0)
        print(child, flush=True)
        print(os.waitpid(child, 0)[1], flush=True)
"""


class Nursery:
    """A process that forks batches on request."""

    def __init__(self, folder):
        """Start the process; its batches use `store` and `log` in *folder*."""
        script = folder / "nursery.py"
        tests, store, log = Path(__file__).parent, folder / "store", folder / "log"
        log.touch()
        script.write_text(
            NURSERY.format(tests=str(tests), store=str(store), log=str(log), count=COUNT)
        )
        self._process = subprocess.Popen(
            [sys.executable, script], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )
        assert self._process.stdout.readline() == "ready\n"

    def begin(self, how="threads"):
        """Begin a batch; return its process id."""
        print(how, file=self._process.stdin, flush=True)
        return int(self._process.stdout.readline())

    def ended(self):
        """Wait for it; return its status."""
        return int(self._process.stdout.readline())

    def close(self):
        """End it."""
        self._process.stdin.close()
        self._process.stdout.close()
        self._process.wait()


@pytest.fixture
def nursery(tmp_path):
    """Return a nursery whose batches use `store` and `log`."""
    nursery = Nursery(tmp_path)
    yield nursery
    nursery.close()


def stored(store):
    """Return the tasks whose reports are stored; each report is read completely."""
    there = ce.ReportStore(store)
    return [report.task_id for report in there] if there.exists else []


def wait_for_a_write(store):
    """Wait until a batch is writing a file, or until the time is up."""
    deadline = time.monotonic() + 0.05
    while time.monotonic() < deadline:
        with contextlib.suppress(FileNotFoundError):
            if os.listdir(store / "unfinished"):  # noqa: PTH208 - as fast as can be
                return


@pytest.mark.long
def test_fifty_kills_neither_lose_nor_repeat_nor_damage_a_report(nursery, tmp_path):
    """Batches are killed anywhere, even while they write; each continues the one before."""
    store, log = tmp_path / "store", tmp_path / "log"
    chance = random.Random(1)  # noqa: S311 - any moments will do
    killed, known = 0, []

    while killed < 50:
        own_pool = killed % 10 == 9
        before = len(noted(log))
        batch = nursery.begin("processes" if own_pool else "threads")
        time.sleep(chance.uniform(0.25, 0.45) if own_pool else chance.uniform(0.0, 0.06))
        if killed % 2:
            wait_for_a_write(store)
        os.kill(batch, signal.SIGKILL)
        status = nursery.ended()
        killed += status == signal.SIGKILL
        again = set(noted(log)[before:]) & set(known)
        assert not again, "a stored pair is not evaluated again"
        known = stored(store)
        assert len(known) == len(set(known)), "no pair has two reports"
        if len(known) == COUNT:  # start again
            shutil.rmtree(store)
            known = []
    nursery.begin()
    assert nursery.ended() == 0

    evaluator = ce.Evaluator(strategies=["naive", Ours()])
    assert by_task(ce.ReportStore(store)) == [plain(evaluator.evaluate(p)) for p in pairs(COUNT)]


def test_two_processes_on_a_store_do_not_evaluate_a_pair_twice(tmp_path):
    """Both processes yield every report."""
    log = tmp_path / "log"
    script = tmp_path / "script.py"
    script.write_text(
        f"import sys; sys.path[:0] = [{str(Path(__file__).parent)!r}]\n"
        "import os, time\n"
        "from pathlib import Path\n"
        "from concurrent.futures import ThreadPoolExecutor\n"
        "import cooperbench_eval as ce\n"
        "from batchparts import Ours, pairs\n"
        f"ready = Path({str(tmp_path / 'ready')!r})\n"
        "ready.mkdir(exist_ok=True)\n"
        "class Meeting(Ours):\n"
        "    def merge(self, merge_input, /):\n"
        "        (ready / str(os.getpid())).touch()\n"
        "        while len(list(ready.iterdir())) < 2:  # one could do all of them\n"
        "            time.sleep(0.001)\n"
        "        return super().merge(merge_input)\n"
        f"strategy = Meeting(log={str(log)!r}, seconds=0.02)\n"
        "evaluator = ce.Evaluator(strategies=['naive', strategy])\n"
        f"for report in ce.evaluate_many(pairs(40), evaluator=evaluator,\n"
        f"        store={str(tmp_path / 'store')!r}, executor=ThreadPoolExecutor(2)):\n"
        "    print(report.task_id)\n"
    )

    processes = [
        subprocess.Popen([sys.executable, script], stdout=subprocess.PIPE) for _ in range(2)
    ]
    printed = [process.communicate(timeout=60)[0].split() for process in processes]

    assert [sorted(map(int, each)) for each in printed] == [list(range(40))] * 2
    lines = [line.split() for line in log.read_text().splitlines()]
    assert collections.Counter(int(number) for number, _ in lines) == dict.fromkeys(range(40), 1)
    assert len({pid for _, pid in lines}) == 2, "both took part"


def test_a_batch_takes_over_the_claims_of_a_killed_one(nursery, tmp_path):
    """It waits only for batches that still run."""
    store, log = tmp_path / "store", tmp_path / "log"
    other = Nursery(tmp_path)
    first = nursery.begin("processes")
    while not noted(log):
        time.sleep(0.001)

    other.begin()
    os.kill(first, signal.SIGKILL)

    assert nursery.ended() == signal.SIGKILL
    assert other.ended() == 0
    other.close()
    assert sorted(stored(store)) == list(range(COUNT))


FULL = """
import sys
sys.path[:0] = [{tests!r}]
from concurrent.futures import ThreadPoolExecutor
import cooperbench_eval as ce
from batchparts import Ours, noted, pairs

seen = 0
evaluator = ce.Evaluator(strategies=["naive", Ours(log={log!r})])
try:
    for report in ce.evaluate_many(pairs(200), evaluator=evaluator, store={store!r},
                                   executor=ThreadPoolExecutor(2)):
        seen += 1
except ce.errors.ReportError as exc:
    print("error", exc)
print("seen", seen, "done", len(noted({log!r})), "kept", len(list(ce.ReportStore({store!r}))))
"""


def test_a_full_disk_is_one_clear_error_and_loses_nothing(tmp_path):
    """Finished reports are yielded, stored ones can be read, and the rest is left for later."""
    need_bubblewrap()  # it mounts the small disk
    script = tmp_path / "script.py"
    store = tmp_path / "disk" / "store"
    store.parent.mkdir()
    tests, log = Path(__file__).parent, tmp_path / "log"
    script.write_text(FULL.format(tests=str(tests), store=str(store), log=str(log)))

    done = subprocess.run(
        [
            *("bwrap", "--dev-bind", "/", "/", "--size", str(400 << 10)),
            *("--tmpfs", str(store.parent), sys.executable, str(script)),
        ],
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )

    assert done.returncode == 0, done.stderr
    error, counts = done.stdout.splitlines()
    assert error.endswith("cannot be written (No space left on device)")
    assert error.startswith(f"error {store}")
    seen, done, kept = map(int, counts.split()[1::2])
    assert 0 < kept < seen < 200
    assert seen == done, "every evaluated pair is yielded"
    assert seen - kept <= 12, "only pairs in progress are not stored"
