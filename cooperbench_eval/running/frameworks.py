"""Which reader knows which test framework."""

from collections.abc import Mapping
from types import MappingProxyType

from cooperbench_eval.running.exit_reader import ExitReader
from cooperbench_eval.running.pytest_reader import PytestReader
from cooperbench_eval.running.reader import Reader

__all__ = ["FRAMEWORKS"]

FRAMEWORKS: Mapping[str, Reader] = MappingProxyType(
    {
        "exit": ExitReader(),
        "pytest": PytestReader(),
    }
)
"""Readers by the name that `TestSuite.framework` takes."""
