"""Why a pair could not be evaluated: a record where others would have an exception."""

from enum import StrEnum

from attrs import field, frozen

__all__ = ["Failure", "FailureKind"]


class FailureKind(StrEnum):
    """What kept a pair from being evaluated. None of it says anything of the patches."""

    REPOSITORY = "repository"
    """Its base cannot be read."""
    DATASET = "dataset"
    """The dataset or the logs lack something of it."""
    TEST_RUN = "test_run"
    """Its tests cannot be started."""
    WORKER_LOST = "worker_lost"
    """Whatever evaluated it died or went away, and again when that was repeated."""
    NOT_DELIVERED = "not_delivered"
    """It, the evaluator or the report could not be sent from process to process."""
    DUPLICATE = "duplicate"
    """The same pair was given before; its report stands elsewhere."""
    NOT_STORED = "not_stored"
    """Its report is in the store and cannot be read."""
    ERROR = "error"
    """Something raised that should not have, a plug-in or this library."""


@frozen(kw_only=True)
class Failure:
    """Why there is no answer for a pair.

    Attributes:
        kind: The reason in one word.
        problem: What went wrong, as a clause.
        error: The class of the exception, as `module:name`; empty if there was none.
        tries: How often the pair was tried.
    """

    kind: FailureKind = field(converter=FailureKind)
    problem: str
    error: str = ""
    tries: int = 1
