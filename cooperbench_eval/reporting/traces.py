"""Records of the code that the failures of lost tests lead to."""

from enum import StrEnum

from attrs import field, frozen

from cooperbench_eval.support.arguments import named_fields


class TraceKind(StrEnum):
    """How a failure leads to a function."""

    FRAME = "frame"
    """The traceback goes through it."""
    NAMED = "named"
    """The message names it, for example in the line that failed."""
    USED = "used"
    """One of these functions uses its name, directly or through others."""
    BOTH = "both"
    """No failure leads to it, but both features changed it."""


@frozen(kw_only=True, field_transformer=named_fields)
class TracedFunction:
    """A function that a feature changed and that may be why tests were lost.

    It may also be a variable, or the head of a class up to its first method.

    Attributes:
        path: Its file in the merged tree, or in the base if the merge removes the file.
        name: Its name, after those of the classes around it, with dots.
        line: Its first line in the merged file, counted from 1; `None` if it is not there.
        kind: How the failures lead to it.
        tests: Lost tests whose failures lead to it, at most ten.
        base: Its text in the base, as whole lines; `None` if it is not there.
        feature1: Its text with feature 1 only, in the same way.
        feature2: Its text with feature 2 only, in the same way.
        merged: Its text in the merged tree, in the same way.
    """

    path: str
    name: str
    line: int | None = None
    kind: TraceKind = field(converter=TraceKind)
    tests: tuple[str, ...] = field(converter=tuple[str, ...])
    base: bytes | None = field(default=None, repr=False)
    feature1: bytes | None = field(default=None, repr=False)
    feature2: bytes | None = field(default=None, repr=False)
    merged: bytes | None = field(default=None, repr=False)


@frozen(kw_only=True, field_transformer=named_fields)
class FailureTrace:
    """Where the failures of lost tests lead in the files that the features changed.

    Attributes:
        functions: The functions that a feature changed, the surest first.
        left_out: How many more were found than are recorded. A file that was too much to read
            counts as one.
    """

    functions: tuple[TracedFunction, ...] = field(converter=tuple[TracedFunction, ...])
    left_out: int = 0
