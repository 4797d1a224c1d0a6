"""The merge that rules use for the parts of statements."""

from typing import Protocol

from cooperbench_eval.languages.tree import Element, Elements, Mode

__all__ = ["Merger"]


class Merger(Protocol):
    """The three-way merge that the rules use for the parts of statements."""

    @property
    def theirs_first(self) -> bool:
        """Whether theirs comes first where both orders are allowed."""

    def merge(self, base: Element, ours: Element, theirs: Element) -> Element:
        """Merge two versions of a construct."""

    def merge_children(
        self, base: Elements, ours: Elements, theirs: Elements, mode: Mode, kind: str = "suite"
    ) -> Elements:
        """Merge two versions of the children of a construct of some kind."""
