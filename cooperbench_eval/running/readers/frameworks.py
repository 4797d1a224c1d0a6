"""The reader of each test framework."""

from collections.abc import Mapping
from types import MappingProxyType

from cooperbench_eval.running.readers.exit_reader import EXIT_READER
from cooperbench_eval.running.readers.go.go_reader import GO_READER
from cooperbench_eval.running.readers.javascript.javascript_reader import JEST_READER, VITEST_READER
from cooperbench_eval.running.readers.javascript.node_reader import NODE_READER
from cooperbench_eval.running.readers.protocol import Reader
from cooperbench_eval.running.readers.python.pytest_reader import PYTEST_READER
from cooperbench_eval.running.readers.python.unittest_reader import UNITTEST_READER
from cooperbench_eval.running.readers.rust.cargo_reader import CARGO_READER
from cooperbench_eval.running.readers.rust.nextest_reader import NEXTEST_READER

__all__ = ["FRAMEWORKS"]

FRAMEWORKS: Mapping[str, Reader] = MappingProxyType(
    {
        "exit": EXIT_READER,
        "pytest": PYTEST_READER,
        "unittest": UNITTEST_READER,
        "go": GO_READER,
        "cargo": CARGO_READER,
        "nextest": NEXTEST_READER,
        "jest": JEST_READER,
        "vitest": VITEST_READER,
        "node": NODE_READER,
    }
)
"""Readers by the name that `TestSuite.framework` takes."""
