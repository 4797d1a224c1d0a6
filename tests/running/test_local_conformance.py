"""The local sandbox satisfies the laws for every sandbox; it isolates nothing."""

import os
from typing import ClassVar

import pytest
from sandbox_conformance import HostedLaws, OwnLaws

from cooperbench_eval.running import LocalSandbox


class TestLocal(HostedLaws, OwnLaws):
    """Plain processes of this machine."""

    parallel_runs: ClassVar[int] = 100 if "CI" in os.environ else 40
    parallel_width: ClassVar[int] = 16

    @pytest.fixture
    def sandbox(self):
        """Return one with default options."""
        return LocalSandbox()
