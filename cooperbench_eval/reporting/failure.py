"""Why a pair could not be evaluated."""

from enum import StrEnum

from attrs import field, frozen

from cooperbench_eval.support.arguments import named_fields

__all__ = ["Failure", "FailureKind"]


class FailureKind(StrEnum):
    """Why a pair was not evaluated. No kind says anything about the patches."""

    REPOSITORY = "repository"
    """Its base cannot be read."""
    DATASET = "dataset"
    """The dataset or the run logs lack a part of the pair."""
    TEST_RUN = "test_run"
    """Its tests cannot be started."""
    WORKER_LOST = "worker_lost"
    """The worker that evaluated it died or disappeared, and so did the next one."""
    NOT_DELIVERED = "not_delivered"
    """The pair, the evaluator or the report could not be sent between processes."""
    DUPLICATE = "duplicate"
    """The same pair was given before, and has its own report."""
    NOT_STORED = "not_stored"
    """Its report is in the store and cannot be read."""
    ERROR = "error"
    """A plug-in or this library raised an unexpected exception."""


@frozen(kw_only=True, field_transformer=named_fields)
class Failure:
    """Why a pair could not be evaluated.

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
