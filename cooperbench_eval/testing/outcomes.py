"""How a strategy's outcome is told to a person, and compared with another."""

from attrs import frozen

from cooperbench_eval.snapshot import Snapshot
from cooperbench_eval.strategies.protocol import MergeOutcome
from cooperbench_eval.testing.cases import MergeCase, shown_changes
from cooperbench_eval.testing.records import BrokenError, Counterexample

__all__ = ["Answer", "answer_of", "broken", "shown_outcome"]


def shown_outcome(outcome: MergeOutcome, base: Snapshot) -> str:
    """Tell the tree that comes of it, and its open conflicts."""
    lines = [shown_changes(outcome.changes, base)]
    for conflict in outcome.conflicts:
        place = f"{conflict.path!r}" + (f", line {conflict.line}" if conflict.has_lines else "")
        lines.append(f"an open conflict ({conflict.kind.value}) in {place}")
    if outcome.conflicts_met and not outcome.conflicts:
        lines.append("no open conflict")
    return "\n".join(lines)


def broken(case: MergeCase, *, came: str | MergeOutcome, wanted: str) -> BrokenError:
    """Return the error that says how a law is broken."""
    told = came if isinstance(came, str) else shown_outcome(came, case.base)
    return BrokenError(Counterexample(given=str(case), came=told, wanted=wanted))


@frozen
class Answer:
    """What of an outcome must not differ from one time to the next.

    Attributes:
        told: The tree and the open conflicts, for a person.
        details: What that does not say: the tree's id, and the ledger.
    """

    told: str
    details: str

    def beside(self, other: "Answer") -> str:
        """Tell that part of it which differs from *other*."""
        return self.told if self.told != other.told else self.details


def answer_of(outcome: MergeOutcome, base: Snapshot) -> Answer:
    """Return what is to be compared of *outcome*."""
    details = [outcome.tree_id(base), *map(str, outcome.ledger)]
    return Answer(shown_outcome(outcome, base), "\n".join(details))
