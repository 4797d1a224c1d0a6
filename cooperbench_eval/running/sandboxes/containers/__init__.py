"""The container sandbox, its adapter to the engine, and the removal of containers."""

from cooperbench_eval.running.sandboxes.containers.images import repository_from_image, task_image
from cooperbench_eval.running.sandboxes.containers.sandbox import ContainerSandbox, reap_containers

__all__ = ["ContainerSandbox", "reap_containers", "repository_from_image", "task_image"]
