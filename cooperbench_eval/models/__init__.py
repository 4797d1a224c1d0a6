"""Frozen records, in the order in which a value passes through the pipeline.

They do no I/O, and their only logic is to derive facts. Contents are bytes. Paths are
`str` with `/`; bytes that cannot be decoded are kept as surrogate escapes.
"""

from cooperbench_eval.models.hazards import *  # noqa: F403
from cooperbench_eval.models.judgements import *  # noqa: F403
from cooperbench_eval.models.merges import *  # noqa: F403
from cooperbench_eval.models.pairs import *  # noqa: F403
from cooperbench_eval.models.patches import *  # noqa: F403
from cooperbench_eval.models.runs import *  # noqa: F403
from cooperbench_eval.models.traces import *  # noqa: F403
from cooperbench_eval.models.trees import *  # noqa: F403
