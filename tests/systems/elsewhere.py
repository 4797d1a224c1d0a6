"""Does everything that needs no tests, and prints what came out; a script of its own.

The test runs it on this system and on simulated ones, and compares what it prints.
"""

import asyncio
import hashlib
import importlib
import io
import json
import os
import pkgutil
import sys
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime
from pathlib import Path

import attrs
from rich.console import Console

import cooperbench_eval as ce
from cooperbench_eval.errors import CooperBenchEvalError
from cooperbench_eval.evaluation.batch.workers import usable_cores
from cooperbench_eval.git.trees.entries import FileMode
from cooperbench_eval.presentation import plots
from cooperbench_eval.running import Execution
from cooperbench_eval.running.sandboxes.bubblewrap import bubblewrap_problem
from cooperbench_eval.testing import check_strategy

SAMPLE = Path(__file__).parents[2] / "docs/examples/sample"
LINES = b"".join(b"line %d\n" % number for number in range(40))
BASE = {
    "src/calc.py": b"import math\n\n\ndef area(r):\n    return math.pi * r * r\n",
    "src/text.py": LINES,
    "README.md": b"# calc\r\n\r\nwords\r\n",
    "gl\xfcck/na\xefve.txt": "grüße\n".encode(),
}
STRATEGIES = ("naive", "union", "tokens", "structured", "cascade")


def patch_of(base, files):
    """Return a diff that writes *files*."""
    return ce.Changes({path: ce.Entry(data) for path, data in files.items()}).diff(base)


def make_pair(base, number):
    """Return a pair of features that conflict in one file and agree in another."""
    first = {
        "src/calc.py": BASE["src/calc.py"].replace(b"(r)", b"(r, scale=1)"),
        "src/text.py": LINES.replace(b"line 7\n", b"first %d\n" % number),
        "docs/first.md": b"new\n",
    }
    second = {
        "src/calc.py": BASE["src/calc.py"] + b"\n\ndef length(r):\n    return 2 * math.pi * r\n",
        "src/text.py": LINES.replace(b"line 7\n", b"second\n"),
        "README.md": BASE["README.md"] + b"more\r\n",
    }
    return ce.FeaturePair(
        repo_name="calc",
        task_id=number,
        base=base,
        feature1=ce.Feature(number=1, patch=patch_of(base, first)),
        feature2=ce.Feature(number=2, patch=patch_of(base, second)),
    )


def digest(data):
    """Return a digest of text or bytes."""
    return hashlib.sha256(data if isinstance(data, bytes) else data.encode()).hexdigest()


def timeless(report):
    """Return *report* without the times at which it was made."""
    attempts = [attrs.evolve(each, duration_seconds=0.0) for each in report.attempts]
    return attrs.evolve(
        report, timestamp=datetime(2026, 1, 1, tzinfo=UTC), attempts=tuple(attempts)
    )


def merges(base):
    """Merge, score and resolve without an evaluator."""
    pair = make_pair(base, 3)
    ours, theirs = (ce.apply_patch(base, f.patch).changes for f in (pair.feature2, pair.feature1))
    for name in STRATEGIES:
        strategy = ce.cascade("structured", "tokens", "union") if name == "cascade" else name
        outcome = ce.merge(base, ours, theirs, strategy=strategy)
        details = ce.ConflictScorer().score(outcome.conflicts)
        yield name, outcome.status, outcome.tree_id(base), details.conflict_score
    plan = ce.land(base, [pair.feature1.patch, pair.feature2.patch], strategy="naive")
    yield "land", sorted(plan.landed), list(plan.order)


def reports(base, folder, executor):
    """Evaluate pairs, store the reports, and read them back."""
    pairs = [make_pair(base, number) for number in (1, 2)]
    evaluator = ce.Evaluator(strategies=["naive", "union"])
    run = {"evaluator": evaluator, "executor": executor, "store": folder / "store"}
    done = sorted(ce.evaluate_many(pairs, **run), key=lambda report: report.task_id)
    again = sorted(ce.evaluate_many(pairs, **run), key=lambda report: report.task_id)
    assert [r.to_dict() for r in again] == [r.to_dict() for r in done]
    done = [timeless(report) for report in done]
    written = ce.write_report(done[0], folder / "out")
    first = next(path for path in written if path.name.startswith("merge_report"))
    assert ce.MergeReport.from_json(first.read_text(encoding="utf-8")) == done[0]
    yield sorted((path.name, digest(path.read_bytes())) for path in written)
    summary = ce.summarize(ce.ReportStore(folder / "store"))
    yield str(summary), len(ce.to_records(done))
    page = ce.write_page(done, folder / "page.html", title="A run")
    yield digest(page.read_bytes().replace(b"\r\n", b"\n"))


def awaited(base):
    """Evaluate in a process of its own."""
    evaluator = ce.Evaluator(strategies=["naive"])
    report = asyncio.run(evaluator.aevaluate(make_pair(base, 5)))
    yield report.merge_status, report.conflict_score


class Echo:
    """A sandbox that runs nothing, and reports what it found in the tree."""

    name = identity = "echo"

    def run(self, command, *, tree, scratch, env, timeout_seconds):
        """Find the command's files in the tree."""
        assert scratch.is_dir()
        assert timeout_seconds > 0
        assert Path(env["HERE_PATH"]) == tree / "src"
        found = [(tree / name).read_bytes() for name in command[1:]]
        return Execution(exit_code=0, output=b"".join(found))


def trees(base, folder):
    """Write trees to disk for tests that run elsewhere, and keep their results."""
    cache = ce.ResultCache(folder / "results.sqlite")
    runner = ce.TestRunner(sandbox=Echo(), cache=cache)
    for data in (b"first\n", b"second\n", b"first\n"):
        changes = ce.Changes({"docs/new.md": ce.Entry(data), "src/text.py": ce.Entry(data)})
        files = ("docs/new.md", "src/text.py", "README.md")
        suite = ce.TestSuite(
            command=("echo", *files), framework="exit", env={"HERE_PATH": "src"}, timeout_seconds=9
        )
        result = runner.run(base, changes, suite)
        yield result.status, result.output, result.reason


TEST = b"""
import os, stat, calc
from pathlib import Path
def test_area(): assert 3.1 < calc.area(1) < 3.2
def test_length(): assert 6.2 < calc.length(1) < 6.3
def test_place(tmp_path): assert os.environ["HOME"] and stat.S_ISDIR(tmp_path.stat().st_mode)
def test_odd_names(): assert Path("gl\xc3\xbcck/na\xc3\xafve.txt").read_text(encoding="utf-8")
def test_program(): assert Path("run.sh").stat().st_mode & 0o100
"""


def of_a_dataset(folder):
    """Read the sample task, and evaluate a pair of its own solutions without tests."""
    dataset = SAMPLE / "dataset"
    (task,) = ce.Dataset(dataset).tasks()
    yield task.repo_name, len(task.features)
    report = ce.evaluate(
        setting="coop",
        repo_name=task.repo_name,
        task_id=task.task_id,
        feature1_id=1,
        feature2_id=2,
        model="gold",
        patch_location="gold",
        dataset_dir=dataset,
        repo_dir=folder / "pennybook",
        run_tests=False,
    )
    yield report.merge_status, report.conflict_score, report.base_tree_id


def tested(base, image):
    """Test a pair in containers of *image*."""
    sandbox = ce.ContainerSandbox(image=image, pull=False)
    pair = make_pair(base, 1)
    entries = {
        "tests/test_calc.py": ce.Entry(TEST),
        "run.sh": ce.Entry(b"#!/bin/sh\necho ran\n", FileMode.EXECUTABLE),
    }
    suite = ce.TestSuite(
        command=("python3", "-m", "pytest", "-q", "tests"),
        patch=ce.Patch.parse(ce.Changes(entries).diff(base)),
        env={"PYTHONPATH": "src:."},
        timeout_seconds=60,
    )
    pair = attrs.evolve(
        pair,
        feature1=attrs.evolve(pair.feature1, patch=patch_of(base, {"docs/first.md": b"new\n"})),
        feature2=attrs.evolve(pair.feature2, tests=suite),
    )
    evaluator = ce.Evaluator(strategies=["naive"], runner=ce.TestRunner(sandbox=sandbox))
    report = evaluator.evaluate(pair)
    (attempt,) = report.attempts
    run = attempt.feature2_tests
    if run.status != "passed":
        sys.stderr.write(run.output)
    yield run.status, run.reason, sorted((case.id, case.status) for case in run.cases)
    suite = attrs.evolve(suite, command=("./run.sh",), framework="exit")
    result = ce.TestRunner(sandbox=sandbox).run(base, ce.Changes(), suite)
    yield result.status, result.output, result.reason


def figures(base, folder):
    """Draw and show a summary, and check a strategy."""
    reports = list(map(ce.Evaluator(strategies=["naive", "union"]).evaluate, [make_pair(base, 1)]))
    summary = ce.summarize(reports)
    plots.plot_verdicts(summary).savefig(folder / "verdicts.png")
    yield (folder / "verdicts.png").read_bytes()[:4]
    console = Console(file=io.StringIO(), width=200)
    console.print(summary)
    yield console.file.getvalue(), digest(summary._repr_html_())
    yield [str(each) for each in check_strategy("union", examples=2)]


def walk():
    """Import every module of the package; yield those that cannot be imported."""
    for module in pkgutil.walk_packages(ce.__path__, "cooperbench_eval."):
        try:
            importlib.import_module(module.name)
        except Exception as exc:  # noqa: BLE001 - of any kind
            yield module.name, repr(exc)


def refusals(base, folder):
    """Ask for what the system does not have; yield the errors."""
    for ask in (ce.LocalSandbox, ce.BubblewrapSandbox, ce.default_sandbox, ce.TestRunner):
        yield raised(ask)
    yield str(bubblewrap_problem())
    runner = ce.TestRunner(sandbox=ce.ContainerSandbox(image="python:3.12-slim"))
    yield runner.sandbox.name, usable_cores() > 0
    yield (
        raised(importlib.import_module, "fcntl" if os.name == "nt" else "spwd"),
        hasattr(os, "fork"),
    )
    names = {"A/b", "a/b"}, {"nul.txt"}, {"src/a:b"}, {"ends."}, {"back\\slash"}
    for number, paths in enumerate(names):
        tree = ce.Snapshot.from_files(dict.fromkeys(paths, b"x"))
        yield raised(tree.write_to, folder / f"tree{number}")
    runner = ce.TestRunner(sandbox=Echo(), cache=None, retries=0)
    suite = ce.TestSuite(command=("echo",), framework="exit", env={"HERE_PATH": "src"})
    for path in ("SRC/text.py", "src/new.py", "prn"):
        changes = ce.Changes({path: ce.Entry(b"other")})
        result = runner.run(base, changes, suite)
        yield result.status, result.reason


def raised(call, *args):
    """Return the error that a call raises, or an empty text."""
    try:
        call(*args)
    except (CooperBenchEvalError, ImportError) as exc:
        return f"{type(exc).__name__}: {exc}"
    return ""


def main():
    """Print facts that must be equal on all systems, one JSON value in a line."""
    folder, *parts = sys.argv[1:]
    for fact in facts(Path(folder), parts):
        sys.stdout.write(json.dumps(fact, default=str) + "\n")


def facts(folder, parts):
    """Yield what each of the *parts* finds; the folder has a repository and its tree."""
    base = ce.Snapshot.from_repo(folder / "repo", "HEAD")
    assert base.paths() == ce.Snapshot.from_dir(folder / "tree").paths()
    finders = {
        "merges": lambda: merges(base),
        "awaited": lambda: awaited(base),
        "tested": lambda: tested(base, os.environ["SIMULATED_IMAGE"]),
        "figures": lambda: figures(base, folder),
        "walk": walk,
        "dataset": lambda: of_a_dataset(folder),
        "trees": lambda: trees(base, folder),
        "refusals": lambda: refusals(base, folder),
        "threads": lambda: in_threads(base, folder / "threads"),
        "processes": lambda: reports(base, folder / "processes", None),
    }
    for part in parts:
        for fact in finders[part]():
            yield part, fact


def in_threads(base, folder):
    """Evaluate in threads of this process."""
    with ThreadPoolExecutor(2) as executor:
        yield from reports(base, folder, executor)


if __name__ == "__main__":
    main()
