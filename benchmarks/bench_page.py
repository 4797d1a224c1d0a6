"""Measures the page of a run: writing it, and using it in Chromium.

    python benchmarks/bench_page.py [--store DIR] [--pairs 500 --pairs 5000]

Prints the milliseconds of CPU time to write one pair, next to `json.dumps` of the same
reports and, for a store, to reading them; and the seconds of a new process that writes 36
pairs, import included. Then, for each number of pairs, the seconds to write the page and
its size, and in a headless Chromium the seconds until it is usable, a filter is applied, a
column is sorted and a pair is open; then the ratio of the last number to the first. The
reports are those of a store, repeated under other task numbers, or synthetic: a pair with
three conflicts and sixty test cases per run. Needs `chromium`, and Playwright for Python.
"""

import argparse
import gc
import itertools
import json
import pickle
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from statistics import median

from attrs import evolve

from cooperbench_eval import (
    Changes,
    Entry,
    Evaluator,
    Feature,
    FeaturePair,
    MergeReport,
    ReportStore,
    Snapshot,
    TestResult,
    write_page,
)
from cooperbench_eval.running.results import TestCase

_FLAGS = (
    *("--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-sync"),
    *("--disable-background-networking", "--disable-component-update"),
)
# Playwright waits for the call's result, which comes two frames after the page has acted.
_FRAME = "new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))"


def made_up() -> list[MergeReport]:
    """Return a pair that union merges, and one whose tests it breaks."""
    text = b"".join(b"def f%d(x):\n    return x + %d\n\n\n" % (n, n) for n in range(40))
    base = Snapshot.from_files({"code.py": text})
    sides = [
        text.replace(b"x + 5\n", b"x + 5 * %d\n" % side * 20)
        .replace(b"x + 15\n", b"x + 15 * %d\n" % side)
        .replace(b"x + 25\n", b"x + 25 * %d\n" % side * 8)
        for side in (2, 3)
    ]
    first, second = (
        Feature(number=n, patch=Changes({"code.py": Entry(side)}).diff(base))
        for n, side in enumerate(sides, start=1)
    )
    pair = FeaturePair(repo_name="code", task_id=1, base=base, feature1=first, feature2=second)
    report = Evaluator(strategies=["naive", "union", "tokens", "structured"]).evaluate(pair)
    whole, broken = _run(60), _run(40)
    report = evolve(
        report,
        feature1=evolve(report.feature1, tests=whole),
        feature2=evolve(report.feature2, tests=whole),
    )
    return [_tested(report, whole), _tested(report, broken)]


def _run(passing: int) -> TestResult:
    cases = [
        TestCase(
            id=f"tests/test_code.py::test_function_{n}",
            status="passed" if n < passing else "failed",
            message="" if n < passing else "AssertionError: " + "what is expected " * 10,
        )
        for n in range(60)
    ]
    return TestResult(status="passed" if passing == len(cases) else "failed", cases=cases)


def _tested(report: MergeReport, run: TestResult) -> MergeReport:
    rows = [
        evolve(row, feature1_tests=run, feature2_tests=run) if row.status == "resolved" else row
        for row in report.attempts
    ]
    return evolve(report, attempts=rows)


def repeated(reports: list[MergeReport], count: int) -> Iterator[MergeReport]:
    """Yield *count* reports, each with a different task number."""
    for number, report in enumerate(itertools.islice(itertools.cycle(reports), count), start=1):
        yield evolve(report, task_id=number)


_FRESH = """
import pickle, sys
from cooperbench_eval import write_page
with open(sys.argv[1], "rb") as file:
    write_page(pickle.load(file), sys.argv[2])
"""


def writing(reports: Sequence[MergeReport], store: ReportStore | None, folder: Path) -> None:
    """Print what it takes to write one pair."""

    def milliseconds(act: Callable[[], object]) -> float:
        times = []
        for _ in range(3):
            began = time.process_time()
            act()
            times.append(time.process_time() - began)
        return 1000 * median(times) / len(reports)

    page = milliseconds(lambda: write_page(reports, folder / "list.html"))
    values = [report.to_dict() for report in reports]
    dumped = milliseconds(lambda: [json.dumps(each) for each in values])
    print(f"to write: {page:.2f} ms per pair (target: 3), {page / dumped:.1f} times json.dumps")
    if store is not None:
        read = milliseconds(lambda: _exhaust(store))
        whole = milliseconds(lambda: write_page(store, folder / "store.html"))
        print(f"from the store: {whole:.2f} ms per pair (target: 3), {read:.2f} of it to read")
    data = folder / "reports"
    data.write_bytes(pickle.dumps(list(itertools.islice(itertools.cycle(reports), 36))))
    began = time.perf_counter()
    command = (sys.executable, "-c", _FRESH, data, folder / "fresh.html")
    subprocess.run(command, check=True)
    print(f"36 pairs in a new process: {time.perf_counter() - began:.2f} s")


def _exhaust(items: Iterable[object]) -> None:
    for _ in items:
        pass


def measure(reports: list[MergeReport], count: int, folder: Path) -> dict[str, float]:
    """Write a page of that many pairs and use it."""
    path = folder / f"{count}.html"
    found = {}

    def timed(name: str, act: Callable[[], object]) -> None:
        began = time.perf_counter()
        act()
        found[name] = time.perf_counter() - began

    timed("write, seconds", lambda: write_page(repeated(reports, count), path))
    found["size, megabytes"] = path.stat().st_size / 1e6
    from playwright.sync_api import sync_playwright  # noqa: PLC0415 - wanted by this part only

    with sync_playwright() as playwright:
        chromium = shutil.which("chromium")
        browser = playwright.chromium.launch(executable_path=chromium, args=_FLAGS)
        tab = browser.new_page()
        tab.goto("about:blank")

        def act(script: str) -> Callable[[], object]:
            return lambda: tab.evaluate(f"() => {{ {script}; return {_FRAME}; }}")

        choose = "const s = document.querySelector('[name=verdict]'); s.value = 'incorrect'"
        change = f"{choose}; s.dispatchEvent(new Event('change', {{ bubbles: true }}))"
        timed("open, seconds", lambda: (tab.goto(path.as_uri()), act("")()))
        timed("filter, seconds", act(change))
        timed("sort, seconds", act("document.querySelector('[data-sort=lost]').click()"))
        timed("open a pair, seconds", act("document.querySelector('[data-pair]').click()"))
        browser.close()
    return found


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--store", type=Path, help="take the reports of this store")
    parser.add_argument("--pairs", type=int, action="append", help="default: 500 and 5000")
    options = parser.parse_args()
    reports, store = made_up(), None
    if options.store:
        store = ReportStore(options.store)
        reports = [each for each in store if isinstance(each, MergeReport)]
        gc.freeze()  # a script that reads a store does not hold these reports
    counts = options.pairs or [500, 5000]
    with tempfile.TemporaryDirectory() as folder:
        write_page(reports[:1], Path(folder) / "first.html")  # loads what is loaded once
        writing(reports if store else list(repeated(reports, 200)), store, Path(folder))
        found = {count: measure(reports, count, Path(folder)) for count in counts}
    print(f"{'':<24}" + "".join(f"{count:>10,}" for count in counts) + f"{'ratio':>10}")
    for name in found[counts[0]]:
        values = [found[count][name] for count in counts]
        shown = "".join(f"{value:>10.3f}" for value in values)
        print(f"{name:<24}{shown}{values[-1] / values[0]:>10.1f}")


if __name__ == "__main__":
    main()
