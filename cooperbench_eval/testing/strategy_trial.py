"""Runs a strategy under one law, and checks that it follows the protocol."""

import traceback
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from attrs import define, field

from cooperbench_eval.errors import CooperBenchEvalError, StrategyFailedError
from cooperbench_eval.strategies.protocol import MergeInput, MergeOutcome, MergeStrategy
from cooperbench_eval.strategies.run import run_strategy
from cooperbench_eval.testing.cases import Fingerprint, MergeCase, broken, fingerprint
from cooperbench_eval.testing.records import UncheckedError

__all__ = ["WANTED", "StrategyTrial", "fingerprints"]

WANTED = "an outcome"


@define
class StrategyTrial:
    """One strategy under one law, in one case.

    Each input is shown to `report` before it is merged. A case may be `remembered` with its
    outcome, to compare it with another process.
    """

    strategy: MergeStrategy
    report: Callable[[str], None] = lambda _: None
    has_merged: bool = field(default=False, init=False)
    has_answered: bool = field(default=False, init=False)
    remembered: tuple[MergeCase, Fingerprint] | None = field(default=None, init=False)

    def merge(self, case: MergeCase, given: MergeInput | None = None) -> MergeOutcome:
        """Run the strategy on *given*, or else on a fresh input.

        Whatever it does other than to return an outcome breaks the law. If a service that it
        needs failed, `UncheckedError` is raised.
        """
        self.report(str(case))
        self.has_merged = True
        try:
            outcome = run_strategy(self.strategy, given or case.fresh_input())
        except StrategyFailedError as exc:
            came = f"it failed: {exc.problem}{_place_of(exc.__cause__)}"
            raise broken(case, came=came, wanted=WANTED) from exc
        except KeyboardInterrupt:
            raise
        # Nothing else that a strategy raises may end the check, not even SystemExit.
        except BaseException as exc:
            came = f"it raised {type(exc).__qualname__}{_place_of(exc)}"
            raise broken(case, came=came, wanted=WANTED) from exc
        if outcome.service_failed:
            raise UncheckedError(outcome.failure or "a service that the strategy needs failed")
        if outcome.failure:
            raise broken(case, came=f"it reported a failure: {outcome.failure}", wanted=WANTED)
        self.has_answered |= len(outcome.conflicts) < outcome.conflicts_met
        return outcome


def fingerprints(strategy: MergeStrategy, cases: Sequence[MergeCase]) -> list[Fingerprint]:
    """Merge the cases, and return the facts that must be the same in every process."""
    found = []
    for case in cases:
        try:
            outcome = run_strategy(strategy, case.fresh_input())
            found.append(fingerprint(outcome, case.base))
        except CooperBenchEvalError as exc:
            found.append((str(exc), ""))
    return found


def _place_of(exc: BaseException | None) -> str:
    """Return where in its own code a strategy raised."""
    frames: list[Any] = traceback.extract_tb(exc.__traceback__) if exc else []
    own = Path(__file__).parent.parent
    frames = [frame for frame in frames if own not in Path(frame.filename).parents] or frames
    if not frames:
        return ""
    last = frames[-1]
    return f" ({Path(last.filename).name}, line {last.lineno}, in {last.name})"
