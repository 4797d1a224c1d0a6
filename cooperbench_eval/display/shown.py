"""`Shown`: the base class of every record that print, a notebook and rich can show."""

from abc import ABC, abstractmethod
from pkgutil import resolve_name
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from cooperbench_eval.display.records import View
    from cooperbench_eval.display.terminal import Renderable

__all__ = ["Shown"]


class Shown(ABC):
    """A record that looks the same in print, in a notebook and in rich.

    `repr` is unchanged. The view and the renderers are imported when a record is first
    shown, so that a record's module imports neither.
    """

    __slots__ = ()

    @property
    @abstractmethod
    def _view(self) -> str:
        """The function that describes the record, as `module:function`."""

    def _described(self) -> "View":
        view: View = resolve_name(self._view)(self)
        return view

    def __str__(self) -> str:
        from cooperbench_eval.display.plain import plain_text  # noqa: PLC0415

        return plain_text(self._described())

    def _repr_html_(self) -> str:
        from cooperbench_eval.display.html import html_text  # noqa: PLC0415

        return html_text(self._described())

    def __rich__(self) -> "Renderable":
        from cooperbench_eval.display.terminal import renderable  # noqa: PLC0415

        return renderable(self._described())
