"""The versions of the programs that an evaluation uses."""

import functools
import platform
from collections.abc import Mapping

__all__ = ["versions"]


@functools.cache
def versions() -> Mapping[str, str]:
    """Return the versions in use; they do not change while a process runs."""
    # Imported late, because it would add much to the import time of the library.
    from importlib.metadata import version  # noqa: PLC0415

    return {
        "cooperbench_eval": version("cooperbench-eval"),
        "python": platform.python_version(),
        "pygit2": version("pygit2"),
    }
