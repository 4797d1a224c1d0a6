"""Frozen records, in the order in which a value passes through the pipeline.

No I/O and no logic beyond derived facts. Contents are bytes; paths are `str`
with `/`, undecodable bytes kept as surrogate escapes.
"""

from cooperbench_eval.models.merges import *  # noqa: F403
from cooperbench_eval.models.pairs import *  # noqa: F403
from cooperbench_eval.models.patches import *  # noqa: F403
from cooperbench_eval.models.runs import *  # noqa: F403
from cooperbench_eval.models.trees import *  # noqa: F403
