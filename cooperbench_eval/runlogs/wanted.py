"""What `find_patches` looks for, and how the names of models are compared."""

import re

from attrs import frozen

from cooperbench_eval.runlogs.choices import Setting

__all__ = ["Wanted", "letters"]


@frozen(kw_only=True)
class Wanted:
    """The pair whose patches are wanted, and whose they are."""

    setting: Setting
    repo_name: str
    task_id: int
    numbers: tuple[int, int]
    model: str
    k: int

    @property
    def orders(self) -> tuple[tuple[int, int], ...]:
        """The orders of the features that folders may have; the benchmark sorts them."""
        low, high = sorted(self.numbers)
        return (low, high), (high, low)


def letters(name: str) -> str:
    """Return *name* in lower case and without punctuation, in which spellings differ."""
    return re.sub(r"[^a-z0-9]", "", name.lower())
