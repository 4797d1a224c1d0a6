"""One strategy under one law: it is asked, and held to the protocol."""

import traceback
from collections.abc import Callable
from pathlib import Path
from typing import Any

from cooperbench_eval.errors import StrategyFailedError
from cooperbench_eval.strategies.protocol import MergeInput, MergeOutcome, MergeStrategy
from cooperbench_eval.strategies.run import run_strategy
from cooperbench_eval.testing.cases import MergeCase
from cooperbench_eval.testing.outcomes import Answer, broken
from cooperbench_eval.testing.records import UncheckedError

__all__ = ["StrategyTrial"]

_WANTED = "an outcome"


class StrategyTrial:
    """One strategy under one law, and what was seen of it.

    Attributes:
        cases: How often it was asked about a case.
        answered: In how many of these a conflict was resolved.
        remembered: Some cases with what it made of them, for asking again elsewhere.
    """

    def __init__(
        self, strategy: MergeStrategy, tell: Callable[[MergeCase], None] = lambda _: None
    ) -> None:
        """Take the strategy, and whom to tell before it is asked."""
        self.strategy = strategy
        self.cases = 0
        self.answered = 0
        self.remembered: list[tuple[MergeCase, Answer]] = []
        self._tell = tell
        self._is_asked = self._is_answered = False

    def begin(self) -> None:
        """Begin another case; it counts if the strategy is asked."""
        self._is_asked = self._is_answered = False

    def merge(self, case: MergeCase, given: MergeInput | None = None) -> MergeOutcome:
        """Ask the strategy, and hold it to the protocol.

        Raises:
            BrokenError: It raised, broke the protocol, or said that it failed.
            UncheckedError: A service that it needs failed it.
        """
        self._tell(case)
        self.cases += not self._is_asked
        self._is_asked = True
        try:
            outcome = run_strategy(self.strategy, given or case.fresh_input())
        except StrategyFailedError as exc:
            came = f"it failed: {exc.problem}{_place_of(exc.__cause__)}"
            raise broken(case, came=came, wanted=_WANTED) from exc
        except KeyboardInterrupt:
            raise
        # Nothing that a strategy raises ends the check: SystemExit is none of its business.
        except BaseException as exc:
            came = f"it raised {type(exc).__qualname__}{_place_of(exc)}"
            raise broken(case, came=came, wanted=_WANTED) from exc
        if outcome.service_failed:
            raise UncheckedError(outcome.failure or "a service that the strategy needs failed it")
        if outcome.failure:
            came = f"it said that it failed: {outcome.failure}"
            raise broken(case, came=came, wanted=_WANTED)
        if len(outcome.conflicts) < outcome.conflicts_met and not self._is_answered:
            self._is_answered = True
            self.answered += 1
        return outcome


def _place_of(exc: BaseException | None) -> str:
    """Say where in its own code a strategy raised."""
    frames: list[Any] = traceback.extract_tb(exc.__traceback__) if exc else []
    own = Path(__file__).parent.parent
    frames = [frame for frame in frames if own not in Path(frame.filename).parents] or frames
    if not frames:
        return ""
    last = frames[-1]
    return f" ({Path(last.filename).name}, line {last.lineno}, in {last.name})"
