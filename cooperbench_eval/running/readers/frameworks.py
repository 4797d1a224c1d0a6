"""Which reader knows which test framework."""

from collections.abc import Mapping
from types import MappingProxyType

from cooperbench_eval.running.readers.exit_reader import ExitReader
from cooperbench_eval.running.readers.go.go_reader import GoReader
from cooperbench_eval.running.readers.javascript.javascript_reader import JavaScriptReader
from cooperbench_eval.running.readers.javascript.node_reader import NodeReader
from cooperbench_eval.running.readers.protocol import Reader
from cooperbench_eval.running.readers.python.pytest_reader import PytestReader
from cooperbench_eval.running.readers.python.unittest_reader import UnittestReader
from cooperbench_eval.running.readers.rust.cargo_reader import CargoReader
from cooperbench_eval.running.readers.rust.nextest_reader import NextestReader

__all__ = ["FRAMEWORKS"]

FRAMEWORKS: Mapping[str, Reader] = MappingProxyType(
    {
        "exit": ExitReader(),
        "pytest": PytestReader(),
        "unittest": UnittestReader(),
        "go": GoReader(),
        "cargo": CargoReader(),
        "nextest": NextestReader(),
        "jest": JavaScriptReader(framework="jest"),
        "vitest": JavaScriptReader(framework="vitest"),
        "node": NodeReader(),
    }
)
"""Readers by the name that `TestSuite.framework` takes."""
