"""The local sandbox keeps the laws of every sandbox; it isolates nothing."""

import pytest
from sandbox_conformance import HostedLaws, SandboxLaws

from cooperbench_eval.running import LocalSandbox


class TestLocal(HostedLaws, SandboxLaws):
    """Plain processes of this machine."""

    @pytest.fixture
    def sandbox(self):
        """Return one with nothing set."""
        return LocalSandbox()
