"""Runs tests on a merged tree and reads what they showed.

`TestRunner` writes the tree out, has a `Sandbox` run a `TestSuite`'s command
on it, and reads the framework's own result file. Nothing is read out of the
output, which any code can write.
"""

from cooperbench_eval.running.runner import TestRunner
from cooperbench_eval.running.sandboxes.local import LocalSandbox
from cooperbench_eval.running.sandboxes.protocol import Execution, Sandbox
from cooperbench_eval.running.suite import TestSuite

__all__ = ["Execution", "LocalSandbox", "Sandbox", "TestRunner", "TestSuite"]
