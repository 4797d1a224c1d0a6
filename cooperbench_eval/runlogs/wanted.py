"""What is looked for, and how a model's name is compared."""

import re

from attrs import frozen

from cooperbench_eval.runlogs.choices import Setting

__all__ = ["Wanted", "letters"]


@frozen(kw_only=True)
class Wanted:
    """What is looked for."""

    setting: Setting
    repo_name: str
    task_id: int
    numbers: tuple[int, int]
    model: str
    k: int

    @property
    def orders(self) -> tuple[tuple[int, int], ...]:
        """The pair as folders may name it; the peer sorts, its subsets do not."""
        first, second = self.numbers
        return ((min(self.numbers), max(self.numbers)), (first, second), (second, first))


def letters(name: str) -> str:
    """Return *name* without what writers of it disagree about: case and punctuation."""
    return re.sub(r"[^a-z0-9]", "", name.lower())
