# As in `cooperbench_eval/__init__.pyi`.
from .lines import plot_effort as plot_effort
from .lines import plot_teams as plot_teams
from .lines import plot_tries as plot_tries
from .matrix import plot_matrix as plot_matrix
from .verdicts import plot_verdicts as plot_verdicts
