"""What a strategy put in the place of each conflict, read from a report."""

from cooperbench_eval.reporting.resolutions.reading import read_resolutions
from cooperbench_eval.reporting.resolutions.records import ConflictResolution, ResolutionKind

__all__ = ["ConflictResolution", "ResolutionKind", "read_resolutions"]
