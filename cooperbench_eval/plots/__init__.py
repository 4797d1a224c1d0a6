"""Figures of many reports. They need the extra `plots`, which is imported on first use.

`canvas.py` is the adapter to matplotlib. Each other module makes one kind of figure: it
first collects what to draw in records, and then draws it. Nothing here uses pyplot, so a
figure is only returned; showing and keeping it is up to the caller.
"""

from cooperbench_eval.plots.effort import plot_effort
from cooperbench_eval.plots.matrix import plot_matrix
from cooperbench_eval.plots.teams import plot_teams
from cooperbench_eval.plots.tries import plot_tries
from cooperbench_eval.plots.verdicts import plot_verdicts

__all__ = ["plot_effort", "plot_matrix", "plot_teams", "plot_tries", "plot_verdicts"]
