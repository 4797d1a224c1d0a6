"""The request of `find_work`, and the comparison of model names."""

import re

from attrs import frozen

from cooperbench_eval.reporting.identity import PairId
from cooperbench_eval.reporting.settings import Setting

__all__ = ["Wanted", "letters"]


@frozen(kw_only=True)
class Wanted(PairId):
    """The pair whose patches are wanted; its setting and model are known."""

    setting: Setting
    model: str

    @property
    def orders(self) -> tuple[tuple[int, int], ...]:
        """The orders in which folder names may list the features; the benchmark sorts them."""
        low, high = sorted(self.features)
        return (low, high), (high, low)


def letters(name: str) -> str:
    """Return *name* in lower case and without punctuation, because spellings differ in these."""
    return re.sub(r"[^a-z0-9]", "", name.lower())
