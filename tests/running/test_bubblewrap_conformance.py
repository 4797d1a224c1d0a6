"""The sandbox of bubblewrap satisfies the laws for every sandbox, and isolates."""

import os
from typing import ClassVar

import pytest
from sandbox_conformance import HostedLaws, OwnLaws


class TestBubblewrap(HostedLaws, OwnLaws):
    """Processes of this machine in separate namespaces."""

    isolates: ClassVar[bool] = True
    parallel_runs: ClassVar[int] = 100 if "CI" in os.environ else 40
    parallel_width: ClassVar[int] = 16

    @pytest.fixture
    def sandbox(self, bubblewrap):
        """Return one with default options."""
        return bubblewrap()


@pytest.mark.long
class TestBubblewrapWithCache(TestBubblewrap):
    """The same with an overlay, which another program mounts first."""

    parallel_runs: ClassVar[int] = 24

    @pytest.fixture
    def sandbox(self, bubblewrap, tmp_path_factory):
        """Return one with a prepared directory."""
        return bubblewrap(writable_cache=[tmp_path_factory.mktemp("prepared")])
