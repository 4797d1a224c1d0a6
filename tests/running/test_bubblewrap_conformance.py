"""The sandbox of bubblewrap keeps the laws of every sandbox, and isolates."""

import pytest
from sandbox_conformance import HostedLaws, IsolationLaws, SandboxLaws


class TestBubblewrap(HostedLaws, IsolationLaws, SandboxLaws):
    """Processes of this machine in namespaces of their own."""

    @pytest.fixture
    def sandbox(self, bubblewrap):
        """Return one with nothing set."""
        return bubblewrap()
