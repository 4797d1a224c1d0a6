"""Runs tests on a merged tree and reads their results.

`TestRunner` writes the tree to disk, has a `Sandbox` run a `TestSuite`'s command on it,
and reads the framework's own result file. If the framework writes no file, the command's
output is read, although any code can write to it.
"""

from cooperbench_eval.running.cache import ResultCache
from cooperbench_eval.running.control import ControlFiles, files_that_name_a_framework
from cooperbench_eval.running.delta import DeltaJudge
from cooperbench_eval.running.runner import TestRunner
from cooperbench_eval.running.sandboxes.local import LocalSandbox
from cooperbench_eval.running.sandboxes.protocol import Execution, Sandbox
from cooperbench_eval.running.suite import Delivery, TestSuite

__all__ = [
    "ControlFiles",
    "Delivery",
    "DeltaJudge",
    "Execution",
    "LocalSandbox",
    "ResultCache",
    "Sandbox",
    "TestRunner",
    "TestSuite",
    "files_that_name_a_framework",
]
