"""Times the overhead of a test run over its bare command, and counts the commands run.

    python benchmarks/bench_runner.py [--files N] [--rounds N] [--features N] [--image IMAGE]

First, a command that does nothing, on a tree of N files of which each run changes
five: through the runner in each sandbox that works here, and started bare in a
prepared directory. Bare and sandboxed take turns; the overhead is the difference of
medians. Then a synthetic task of N features, some of which conflict: all its pairs
by two strategies, and once more with all results cached.
With --image, a local image that has `true`, the container sandbox is timed too.
"""

import argparse
import statistics
import subprocess
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from itertools import combinations
from pathlib import Path

from cooperbench_eval import (
    BubblewrapSandbox,
    Changes,
    ContainerSandbox,
    Entry,
    Evaluator,
    Feature,
    FeaturePair,
    LocalSandbox,
    ResultCache,
    Sandbox,
    Snapshot,
    TestRunner,
    TestSuite,
)
from cooperbench_eval.errors import SandboxError
from cooperbench_eval.running import Execution

NOTHING = TestSuite(command=("true",), framework="exit")


def seconds(work: Callable[[], object]) -> float:
    """Return the seconds that *work* takes."""
    began = time.perf_counter()
    work()
    return time.perf_counter() - began


def tree_of(files: int) -> Snapshot:
    """Return a tree of that many files, 40 to a folder."""
    return Snapshot.from_files(
        {
            f"p{n // 40}/m{n}.py": b"".join(b"x%d = %d\n" % (n, i) for i in range(100))
            for n in range(files)
        }
    )


# --- overhead ----------------------------------------------------------------


def time_overhead(sandbox: Sandbox, base: Snapshot, rounds: int) -> None:
    """Print the overhead of a run in *sandbox* over the bare command."""
    runner = TestRunner(sandbox=sandbox, cache=None, retries=0)
    paths = base.paths()

    def run(number: int) -> None:
        changes = {paths[(7 * number + i) % len(paths)]: Entry(b"%d\n" % number) for i in range(5)}
        result = runner.run(base, Changes(changes), NOTHING)
        assert result.passed, result.reason  # noqa: S101

    try:
        first = seconds(partial(run, 0))
    except (SandboxError, AssertionError) as exc:
        print(f"{sandbox.name:<12} does not work here: {exc}")
        return
    with tempfile.TemporaryDirectory() as folder:
        base.write_to(Path(folder) / "tree")
        start = partial(subprocess.run, ("true",), check=True, cwd=f"{folder}/tree")
        times = [
            (
                seconds(start),
                seconds(partial(run, number)),
            )
            for number in range(1, rounds + 1)
        ]
    bare, whole = (statistics.median(each) * 1000 for each in zip(*times, strict=True))
    print(
        f"{sandbox.name:<12} first run {first * 1000:6.1f} ms   then {whole:6.1f} ms"
        f"   bare {bare:5.1f} ms   overhead {whole - bare:6.1f} ms"
    )


# --- never twice -------------------------------------------------------------


class Counting:
    """A sandbox that counts its runs."""

    def __init__(self, inner: Sandbox) -> None:
        """Wrap another sandbox."""
        self._inner = inner
        self.name, self.identity = inner.name, inner.identity
        self.commands = 0

    def run(
        self,
        command: Sequence[str],
        *,
        tree: Path,
        scratch: Path,
        env: Mapping[str, str],
        timeout_seconds: float,
    ) -> Execution:
        """Count the run and pass it on."""
        self.commands += 1
        return self._inner.run(
            command, tree=tree, scratch=scratch, env=env, timeout_seconds=timeout_seconds
        )


def pairs_of(features: int) -> Iterator[FeaturePair]:
    """Yield every pair of a synthetic task: even features share a line, odd ones add files."""
    base = Snapshot.from_files({"shared": b"1\n2\n3\n", "other": b"x\n"})
    made = []
    for number in range(1, features + 1):
        line = b"%d\n" % number
        path, text = (f"new{number}", line) if number % 2 else ("shared", b"1\n" + line + b"3\n")
        made.append(
            Feature(
                number=number,
                patch=Changes({path: Entry(text)}).diff(base),
                tests=TestSuite(command=("grep", "-rqx", str(number), "."), framework="exit"),
            )
        )
    for one, other in combinations(made, 2):
        yield FeaturePair(repo_name="made_task", task_id=1, base=base, feature1=one, feature2=other)


def count_commands(features: int) -> None:
    """Print how many commands a task runs, and the seconds if all results are cached."""
    pairs = list(pairs_of(features))
    strategies = ("naive", "union")
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "cache.sqlite"
        for label in ("first", "again"):
            sandbox = Counting(LocalSandbox())
            runner = TestRunner(sandbox=sandbox, cache=ResultCache(file))
            evaluator = Evaluator(strategies=strategies, runner=runner)
            took = seconds(lambda: [evaluator.evaluate(pair) for pair in pairs])  # noqa: B023
            print(
                f"{len(pairs)} pairs of {features} features, {label}: {took:6.2f} s,"
                f" {sandbox.commands} test commands; 2·pairs·strategies ="
                f" {2 * len(pairs) * len(strategies)}"
            )


def main() -> None:
    """Print all numbers."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--files", type=int, default=1000)
    parser.add_argument("--rounds", type=int, default=40)
    parser.add_argument("--features", type=int, default=15)
    parser.add_argument("--image")
    options = parser.parse_args()
    base = tree_of(options.files)
    sandboxes: list[Sandbox] = [LocalSandbox(), BubblewrapSandbox()]
    if options.image:
        sandboxes.append(ContainerSandbox(image=options.image))
    print(f"a tree of {options.files} files, {options.rounds} rounds")
    for sandbox in sandboxes:
        time_overhead(sandbox, base, options.rounds)
    count_commands(options.features)


if __name__ == "__main__":
    main()
