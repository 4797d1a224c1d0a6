"""Asks a strategy again in another process, where hashes and the time differ."""

import os
import pickle
import subprocess
import sys
from collections.abc import Sequence

from cooperbench_eval.errors import CooperBenchEvalError
from cooperbench_eval.processes.pickling import dumps
from cooperbench_eval.strategies.protocol import MergeStrategy
from cooperbench_eval.strategies.run import run_strategy
from cooperbench_eval.testing.cases import MergeCase
from cooperbench_eval.testing.outcomes import Answer, answer_of

__all__ = ["answer_here", "answers_elsewhere"]

_SCRIPT = "from cooperbench_eval.testing.elsewhere import answer_here; answer_here()"
_PROTOCOL_LINE = b"\0answers\0"  # whatever the strategy prints comes before it


def answers_elsewhere(
    strategy: MergeStrategy, cases: Sequence[MergeCase], *, timeout_seconds: float
) -> list[Answer] | str:
    """Return what a copy of *strategy* answers in a new interpreter, or why it does not.

    Its hashes of texts have another seed, so that what depends on the order of a set
    shows.
    """
    try:
        question = dumps((strategy, list(cases)))
    # A strategy may raise anything where it is pickled.
    except Exception as exc:  # noqa: BLE001
        return f"it does not pickle ({type(exc).__qualname__})"
    seed = "1" if os.environ.get("PYTHONHASHSEED") != "1" else "2"
    paths = os.pathsep.join(path or os.getcwd() for path in sys.path)  # noqa: PTH109 - as is
    try:
        done = subprocess.run(  # noqa: S603 - this interpreter
            (sys.executable, "-c", _SCRIPT),
            input=question,
            capture_output=True,
            check=False,
            timeout=timeout_seconds,
            env=os.environ | {"PYTHONHASHSEED": seed, "PYTHONPATH": paths},
        )
    except subprocess.TimeoutExpired:
        return f"it did not answer there within {timeout_seconds:g} seconds"
    _, found, answers = done.stdout.rpartition(_PROTOCOL_LINE)
    if not found:
        last = done.stderr.decode(errors="backslashreplace").strip().rpartition("\n")[2]
        return f"it cannot be loaded there ({last or f'exit status {done.returncode}'})"
    received: list[Answer] = pickle.loads(answers)  # noqa: S301 - of our own child
    return received


def answer_here() -> None:
    """Answer what stands on standard input; what `answers_elsewhere` runs."""
    strategy, cases = pickle.loads(sys.stdin.buffer.read())  # noqa: S301 - of our own parent
    answers = []
    for case in cases:
        try:
            outcome = run_strategy(strategy, case.fresh_input())
            answers.append(answer_of(outcome, case.base))
        except CooperBenchEvalError as exc:
            answers.append(Answer(str(exc), ""))
    sys.stdout.flush()
    sys.stdout.buffer.write(_PROTOCOL_LINE + pickle.dumps(answers))
    sys.stdout.buffer.flush()
