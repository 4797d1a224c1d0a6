# As in `cooperbench_eval/__init__.pyi`.
from .evaluator_results import CooperBenchResult as CooperBenchResult
from .evaluator_results import CooperBenchRun as CooperBenchRun
from .evaluator_results import read_eval as read_eval
from .evaluator_results import read_evals as read_evals
from .pair_files import PatchLocation as PatchLocation
from .pair_files import Setting as Setting
