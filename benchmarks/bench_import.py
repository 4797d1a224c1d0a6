"""Measures what importing the library costs.

    python benchmarks/bench_import.py [--rounds N]

Starts fresh interpreters in turn and prints the median of each import, less the
median of a bare start.
"""

import argparse
import statistics
import subprocess
import sys
import time

STATEMENTS = ("pass", "import attrs", "import pygit2", "import cattrs", "import cooperbench_eval")


def seconds(statement: str) -> float:
    """Return how long an interpreter takes to start, run *statement* and end."""
    began = time.perf_counter()
    subprocess.run([sys.executable, "-c", statement], check=True)
    return time.perf_counter() - began


def main() -> None:
    """Print one line an import."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--rounds", type=int, default=15)
    rounds = parser.parse_args().rounds
    times: dict[str, list[float]] = {statement: [] for statement in STATEMENTS}
    for _ in range(rounds):
        for statement in STATEMENTS:
            times[statement].append(seconds(statement))
    bare = statistics.median(times["pass"])
    print(f"bare interpreter         {1000 * bare:7.1f} ms")
    for statement in STATEMENTS[1:]:
        extra = statistics.median(times[statement]) - bare
        print(f"{statement:<24} {1000 * extra:7.1f} ms more")


if __name__ == "__main__":
    main()
