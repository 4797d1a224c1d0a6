"""Verdicts by task."""

from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping
from functools import cached_property

from cooperbench_eval.analysis.answers import MISSING, Answer, task_of_key
from cooperbench_eval.analysis.verdicts import Verdicts
from cooperbench_eval.reporting.identity import PairKey
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

    def __init__(self, answers: tuple[Answer, ...], pairs: tuple[Counter[PairKey], ...]) -> None:
        """Count the *answers*; *pairs* counts the reports of each pair that has the answer."""
        self._answers = answers
        self._pairs = pairs

    @cached_property
    def _verdicts(self) -> dict[str, Verdicts]:
        found: defaultdict[str, Counter[Answer]] = defaultdict(Counter)
        for key, answer, count in self.pairs():
            found[task_of_key(key)][answer] += count
        return {task: verdicts_of(found[task]) for task in sorted(found)}

    def pairs(self) -> Iterator[tuple[PairKey, Answer, int]]:
        """Yield each pair or team with an answer, and the number of reports that give it."""
        for answer, pairs in zip(self._answers, self._pairs, strict=True):
            for key, count in pairs.items():
                yield key, answer, count

    def __getitem__(self, task: str) -> Verdicts:
        return self._verdicts[task]

    def __iter__(self) -> Iterator[str]:
        return iter(self._verdicts)

    def __len__(self) -> int:
        return len(self._verdicts)

    def __repr__(self) -> str:
        return repr(self._verdicts)
