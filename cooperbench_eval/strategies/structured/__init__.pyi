# As in `cooperbench_eval/__init__.pyi`.
from .strategy import StructuredStrategy as StructuredStrategy
