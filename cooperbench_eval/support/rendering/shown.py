"""`Shown`: the base class of every record that print, a notebook and rich can show."""

from typing import TYPE_CHECKING

from cooperbench_eval.support.upcalls import upcall

if TYPE_CHECKING:
    from cooperbench_eval.support.rendering.terminal import Renderable
    from cooperbench_eval.support.rendering.view import View


class Shown:
    """A record that looks the same in print, in a notebook and in rich.

    `repr` is unchanged. The view and the renderers are imported when a record is first
    shown, so that a record's module imports neither.
    """

    __slots__ = ()

    def _described(self) -> "View":
        view: View = upcall("view")(self)
        return view

    def __str__(self) -> str:
        from cooperbench_eval.support.rendering.renderers import plain_text  # noqa: PLC0415

        return plain_text(self._described())

    def _repr_html_(self) -> str:
        from cooperbench_eval.support.rendering.renderers import html_text  # noqa: PLC0415

        return html_text(self._described())

    def __rich__(self) -> "Renderable":
        from cooperbench_eval.support.rendering.terminal import renderable  # noqa: PLC0415

        return renderable(self._described())
