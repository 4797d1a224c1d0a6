"""What a law of sandboxes is."""

from collections.abc import Callable

from attrs import field, frozen

from cooperbench_eval.testing.records import Law
from cooperbench_eval.testing.sandbox_bench import SandboxBench

__all__ = ["SandboxLaw"]


@frozen(kw_only=True)
class SandboxLaw(Law):
    """A law of sandboxes.

    Attributes:
        name: What it is called in results and where somebody opts out.
        asks: What it asks, as a sentence.
        isolates: Whether it is asked of those alone that claim to isolate.
        check: Raises `BrokenError` if a sandbox breaks it.
    """

    isolates: bool = False
    check: Callable[[SandboxBench], None] = field(repr=False, eq=False)
