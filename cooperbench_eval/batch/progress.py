"""What happens in a batch, told as it happens: to a function, or as a bar."""

from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from enum import StrEnum
from typing import Any

from attrs import field, frozen

from cooperbench_eval.reporting import MergeReport

__all__ = ["BatchEvent", "EventKind", "Progress", "listener"]


class EventKind(StrEnum):
    """What happened to a pair."""

    SUBMITTED = "submitted"
    """It went to the executor."""
    WAITING = "waiting"
    """Another batch on the store works at it, or at one whose claim is the same file."""
    RETRIED = "retried"
    """Whatever worked at it was lost; it goes to the executor once more."""
    STORED = "stored"
    """Its report was in the store, and is yielded."""
    FINISHED = "finished"
    """It was evaluated, and its report is yielded."""
    FAILED = "failed"
    """It could not be evaluated, and a report that says so is yielded."""


@frozen(kw_only=True)
class BatchEvent:
    """One thing that happened in a batch.

    Attributes:
        kind: What happened.
        pair: The pair's name, for a person; empty for a report out of the store.
        report: The report that is about to be yielded, if one is.
        problem: Why it is tried again, or failed; else empty.
    """

    kind: EventKind = field(converter=EventKind)
    pair: str = ""
    report: MergeReport | None = field(default=None, repr=False)
    problem: str = ""


Progress = Callable[[BatchEvent], None]
"""Is told of everything that happens in a batch, in the thread that iterates over it."""


@contextmanager
def listener(progress: Progress | bool | None, total: int | None) -> Iterator[Progress]:
    """Return whom to tell: a bar for `True`, nobody for `None` or `False`."""
    if progress is True:
        with _bar(total) as bar:
            yield bar
    else:
        yield progress or _nobody


def _nobody(_: BatchEvent) -> None:
    """Tell nobody."""


@contextmanager
def _bar(total: int | None) -> Iterator[Progress]:
    from tqdm.auto import tqdm  # noqa: PLC0415 - looks at the terminal, or the notebook

    counts: Counter[EventKind] = Counter()
    with tqdm(total=total, unit="pair", dynamic_ncols=True) as bar:

        def show(event: BatchEvent) -> None:
            counts[event.kind] += 1
            if event.report is None:
                return
            shown: dict[str, Any] = {
                kind.value: counts[kind]
                for kind in (EventKind.STORED, EventKind.FAILED)
                if counts[kind]
            }
            bar.set_postfix(shown, refresh=False)
            bar.update()

        yield show
