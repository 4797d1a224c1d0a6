"""`Shown`: what a record needs to be shown by print, a notebook and rich."""

from abc import ABC, abstractmethod
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from cooperbench_eval.display.records import View
    from cooperbench_eval.display.terminal import Renderable

__all__ = ["Shown"]


class Shown(ABC):
    """Is shown the same by print, in a notebook and by rich: as its `_view`.

    `repr` stays what it is. The renderings are imported when they are first asked for;
    rich's is asked for by rich.
    """

    __slots__ = ()

    @abstractmethod
    def _view(self) -> "View":
        """Describe what is shown."""

    def __str__(self) -> str:
        from cooperbench_eval.display.plain import plain_text  # noqa: PLC0415

        return plain_text(self._view())

    def _repr_html_(self) -> str:
        from cooperbench_eval.display.html import html_text  # noqa: PLC0415

        return html_text(self._view())

    def __rich__(self) -> "Renderable":
        from cooperbench_eval.display.terminal import renderable  # noqa: PLC0415

        return renderable(self._view())
