"""Figures of many reports. They need the extra `plots`, which is imported when one is drawn.

`canvas.py` is the door to matplotlib, and each other module one kind of figure: it says
what is drawn, as records, and draws it. Nothing here touches pyplot, so nothing is shown
or kept by itself; a figure is what a function returns.
"""

from cooperbench_eval.plots.effort import plot_effort
from cooperbench_eval.plots.matrix import plot_matrix
from cooperbench_eval.plots.tries import plot_tries
from cooperbench_eval.plots.verdicts import plot_verdicts

__all__ = ["plot_effort", "plot_matrix", "plot_tries", "plot_verdicts"]
