"""The local sandbox keeps the laws of every sandbox; it isolates nothing."""

from typing import ClassVar

import pytest
from sandbox_conformance import HostedLaws, OwnLaws

from cooperbench_eval.running import LocalSandbox


class TestLocal(HostedLaws, OwnLaws):
    """Plain processes of this machine."""

    parallel_runs: ClassVar[int] = 100
    parallel_width: ClassVar[int] = 16

    @pytest.fixture
    def sandbox(self):
        """Return one with nothing set."""
        return LocalSandbox()
