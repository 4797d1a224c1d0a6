# As in `cooperbench_eval/__init__.pyi`.
from .choices import PatchLocation as PatchLocation
from .choices import Setting as Setting
from .evals.reading import read_eval as read_eval
from .evals.reading import read_evals as read_evals
from .evals.records import CooperBenchResult as CooperBenchResult
from .evals.records import CooperBenchRun as CooperBenchRun
