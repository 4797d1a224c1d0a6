"""Measures what importing the library costs.

    python benchmarks/bench_import.py [--rounds N]

Starts new interpreters in turn and prints the median of each import minus the
median of a bare start: processor time, which other work on the machine disturbs
least, and wall time.
"""

import argparse
import resource
import statistics
import subprocess
import sys
import time

STATEMENTS = (
    "pass",
    "import attrs",
    "import pygit2",
    "import cattrs",
    "import cooperbench_eval",
    "from cooperbench_eval import *",
)


def measure(statement: str) -> tuple[float, float]:
    """Return the processor and wall time of an interpreter that runs *statement*."""
    before, began = resource.getrusage(resource.RUSAGE_CHILDREN), time.perf_counter()
    subprocess.run([sys.executable, "-c", statement], check=True)
    after, ended = resource.getrusage(resource.RUSAGE_CHILDREN), time.perf_counter()
    used = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return used, ended - began


def main() -> None:
    """Print one line per import."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--rounds", type=int, default=15)
    rounds = parser.parse_args().rounds
    runs: dict[str, list[tuple[float, float]]] = {statement: [] for statement in STATEMENTS}
    for _ in range(rounds):
        for statement in STATEMENTS:
            runs[statement].append(measure(statement))
    medians = {
        statement: [1000 * statistics.median(column) for column in zip(*times, strict=True)]
        for statement, times in runs.items()
    }
    bare_used, bare_wall = medians.pop("pass")
    print(f"{'milliseconds':<34}{'processor':>10}{'wall':>10}")
    print(f"{'bare interpreter':<34}{bare_used:>10.1f}{bare_wall:>10.1f}")
    for statement, (used, wall) in medians.items():
        print(f"{statement:<34}{used - bare_used:>+10.1f}{wall - bare_wall:>+10.1f}")


if __name__ == "__main__":
    main()
