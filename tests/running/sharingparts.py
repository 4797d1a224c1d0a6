"""Jobs for tests of shared results; other processes import this module."""

import os
import resource
import time
from pathlib import Path

import cooperbench_eval as ce

RESULT = ce.TestResult(
    status="failed", cases=[ce.models.TestCase(id="t", status="failed")], exit_code=1
)


def make_noted(log, seconds=0.1):
    """Make a result, and log that."""
    with Path(log).open("a") as file:
        file.write(f"{os.getpid()}\n")
    time.sleep(seconds)
    return RESULT


def made(log):
    """Return how many results were made."""
    return len(Path(log).read_text().splitlines())


def ask(job):
    """Ask for three results at the same time as another process."""
    cache, log, is_kept = job
    Path(f"{log}-{os.getpid()}").touch()
    while len(list(Path(log).parent.glob(f"{Path(log).name}-*"))) < 2:
        time.sleep(0.01)
    return [
        cache.get_or_make(key, lambda: make_noted(log), keeps=lambda _: is_kept) for key in "abc"
    ]


def die(job):
    """Die while making a result; a child of this process lives on."""
    cache, log = job

    def make():
        make_noted(log)
        if not os.fork():
            time.sleep(20)
            os._exit(0)
        os.kill(os.getpid(), 9)

    cache.get_or_make("key", make, keeps=bool)


def fill_a_disk(cache):
    """Return how many results two requests make if no byte can be written to a file."""
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (0, hard))
    try:
        results = []
        for _ in range(2):
            cache.get_or_make("full", lambda: results.append(1) or RESULT, keeps=bool)
        return len(results)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
