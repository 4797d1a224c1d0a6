"""The sandbox of bubblewrap keeps the laws of every sandbox, and isolates."""

import os

import pytest
from sandbox_conformance import IsolationLaws, SandboxLaws

from cooperbench_eval.running.sandboxes.bubblewrap import BubblewrapSandbox, bubblewrap_problem


class TestBubblewrap(IsolationLaws, SandboxLaws):
    """Processes of this machine in namespaces of their own."""

    @pytest.fixture
    def sandbox(self):
        """Return one with nothing set; where it must work, it must."""
        problem = bubblewrap_problem()
        if problem and "CI" in os.environ:
            pytest.fail(problem)
        if problem:
            pytest.skip(problem)
        return BubblewrapSandbox()
