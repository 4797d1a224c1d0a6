# As in `cooperbench_eval/__init__.pyi`.
from .effort import plot_effort as plot_effort
from .matrix import plot_matrix as plot_matrix
from .teams import plot_teams as plot_teams
from .tries import plot_tries as plot_tries
from .verdicts import plot_verdicts as plot_verdicts
