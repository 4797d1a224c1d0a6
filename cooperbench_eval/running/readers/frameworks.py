"""Which reader knows which test framework."""

from collections.abc import Mapping
from types import MappingProxyType

from cooperbench_eval.running.readers.exit_reader import ExitReader
from cooperbench_eval.running.readers.protocol import Reader
from cooperbench_eval.running.readers.pytest_reader import PytestReader

__all__ = ["FRAMEWORKS"]

FRAMEWORKS: Mapping[str, Reader] = MappingProxyType(
    {
        "exit": ExitReader(),
        "pytest": PytestReader(),
    }
)
"""Readers by the name that `TestSuite.framework` takes."""
