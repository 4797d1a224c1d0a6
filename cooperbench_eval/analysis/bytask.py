"""Verdicts by task."""

from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping
from functools import cached_property

from cooperbench_eval.analysis.answers import MISSING, Answer
from cooperbench_eval.analysis.verdicts import Verdicts
from cooperbench_eval.reporting.rows import Verdict

__all__ = ["ByTask", "verdicts_of"]

_MERGED = (Verdict.CORRECT, Verdict.INCORRECT, Verdict.UNHANDLED)


def verdicts_of(counts: Counter[Answer]) -> Verdicts:
    """Return the verdicts of the number of pairs with each answer."""
    decided = {verdict.value: counts[verdict.value] for verdict in _MERGED}
    return Verdicts(
        **decided,
        not_run=counts.total() - sum(decided.values()),
        missing_input=counts[MISSING],
    )


class ByTask(Mapping[str, Verdicts]):
    """The verdicts of a strategy or policy in each task, in the order of the tasks' names.

    They are made on first access, because all strategies and policies share their numbers.
    """

    def __init__(self, answers: tuple[Answer, ...], pairs: tuple[Counter[str], ...]) -> None:
        """Count the *answers*; *pairs* counts the pairs of each by task."""
        self._answers = answers
        self._pairs = pairs

    @cached_property
    def _verdicts(self) -> dict[str, Verdicts]:
        found: defaultdict[str, Counter[Answer]] = defaultdict(Counter)
        for answer, tasks in zip(self._answers, self._pairs, strict=True):
            for task, pairs in tasks.items():
                found[task][answer] += pairs
        return {task: verdicts_of(found[task]) for task in sorted(found)}

    def __getitem__(self, task: str) -> Verdicts:
        return self._verdicts[task]

    def __iter__(self) -> Iterator[str]:
        return iter(self._verdicts)

    def __len__(self) -> int:
        return len(self._verdicts)

    def __repr__(self) -> str:
        return repr(self._verdicts)
