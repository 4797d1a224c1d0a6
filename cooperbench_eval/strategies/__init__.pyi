# As in `cooperbench_eval/__init__.pyi`.
from .blocks import Resolution as Resolution
from .blocks import resolve_blocks as resolve_blocks
from .llm import LLMStrategy as LLMStrategy
from .protocol import FeatureContext as FeatureContext
from .protocol import Gone as Gone
from .protocol import Labels as Labels
from .protocol import MergeInput as MergeInput
from .protocol import MergeOutcome as MergeOutcome
from .protocol import MergeStrategy as MergeStrategy
from .protocol import ThreeWayMerge as ThreeWayMerge
from .protocol import resolve_conflicts as resolve_conflicts
from .registry import available_strategies as available_strategies
from .registry import get_strategy as get_strategy
from .run import merge as merge
