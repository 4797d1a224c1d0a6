"""Runs tests on a merged tree and reads what they showed.

`TestRunner` writes the tree out, has a `Sandbox` run a `TestSuite`'s command
on it, and reads the framework's own result file. Nothing is read out of the
output, which any code can write, where a framework writes a file.
"""

from cooperbench_eval.running.cache import ResultCache
from cooperbench_eval.running.control import ControlFiles, files_that_name_a_framework
from cooperbench_eval.running.runner import TestRunner
from cooperbench_eval.running.sandboxes.local import LocalSandbox
from cooperbench_eval.running.sandboxes.protocol import Execution, Sandbox
from cooperbench_eval.running.suite import Delivery, TestSuite

__all__ = [
    "ControlFiles",
    "Delivery",
    "Execution",
    "LocalSandbox",
    "ResultCache",
    "Sandbox",
    "TestRunner",
    "TestSuite",
    "files_that_name_a_framework",
]
