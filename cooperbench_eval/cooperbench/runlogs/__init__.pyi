# As in `cooperbench_eval/__init__.pyi`.
from .evals.reading import CooperBenchResult as CooperBenchResult
from .evals.reading import CooperBenchRun as CooperBenchRun
from .evals.reading import read_eval as read_eval
from .evals.reading import read_evals as read_evals
from .finding import PatchLocation as PatchLocation
from .finding import Setting as Setting
