"""The container sandbox satisfies the laws for every sandbox, on a bare image."""

import time
from typing import ClassVar

import pytest
from container_images import (  # noqa: F401 - fixtures
    bare_image,
    engine,
    find_containers,
    import_image,
)
from sandbox_conformance import OwnLaws

from cooperbench_eval.running.sandboxes.containers.sandbox import ContainerSandbox

pytestmark = pytest.mark.long


class TestContainer(OwnLaws):
    """A container of busybox."""

    isolates: ClassVar[bool] = True
    slack_seconds: ClassVar[float] = 6.0
    patience_seconds: ClassVar[float] = 10.0
    parallel_runs: ClassVar[int] = 16
    parallel_width: ClassVar[int] = 8

    @pytest.fixture(autouse=True)
    def take_engine(self, find_containers):  # noqa: F811
        """Keep the function that finds leftover containers."""
        self.find_containers = find_containers

    @pytest.fixture
    def sandbox(self, bare_image):  # noqa: F811
        """Return one with default options."""
        return ContainerSandbox(image=bare_image, pull=False)

    def leftovers(self):
        """List the containers that are left after the watchdog had time to act."""
        deadline = time.monotonic() + self.patience_seconds
        while (found := self.find_containers()) and time.monotonic() < deadline:
            time.sleep(0.1)
        return found
