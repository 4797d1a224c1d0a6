"""A sandbox for tests whose subject is what is done with results, not how commands run.

A server imports pytest once, and forks a process for each run of `python -m pytest`. Other
commands are plain processes. Both take a fifth of the time of a run in `LocalSandbox`.
"""

import atexit
import json
import os
import select
import signal
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path

from cooperbench_eval.errors import TestRunError
from cooperbench_eval.running import Execution

__all__ = ["QUICK", "QuickSandbox"]

NEUTRAL = {"LC_ALL": "C.UTF-8", "PYTHONDONTWRITEBYTECODE": "1", "PYTHONHASHSEED": "0"}
PYTEST = ("-m", "pytest")
SERVER = """
import atexit, faulthandler, gc, json, os, pdb, sys
import pytest
from _pytest.config import get_config

get_config()  # imports the plug-ins that pytest always loads
gc.freeze()  # otherwise each collection in a run goes over all of them

def run(arguments, env, folder, output):
    os.setsid()
    file = os.open(output, os.O_WRONLY)
    empty = os.open(os.devnull, os.O_RDONLY)
    for number, target in enumerate((empty, file, file)):
        os.dup2(target, number)
    os.chdir(folder)
    os.environ.clear()
    os.environ.update(env)
    paths = env.get("PYTHONPATH", "").split(os.pathsep)
    sys.path[:1] = [folder, *(os.path.abspath(path) for path in paths if path)]
    sys.argv = [pytest.__file__, *arguments]
    return int(pytest.main())

for line in sys.stdin:
    child = os.fork()
    if not child:
        status = 1
        try:
            status = run(*json.loads(line))
        except BaseException:
            sys.excepthook(*sys.exc_info())
        finally:
            atexit._run_exitfuncs()
            sys.stdout.flush()
            os._exit(status)
    print(child, flush=True)
    print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), flush=True)
"""


class QuickSandbox:
    """A sandbox without isolation or supervision."""

    name = identity = "quick"

    def __init__(self):
        """Start nothing yet."""
        self._server = None
        self._lock = threading.Lock()

    def run(self, command, *, tree, scratch, env, timeout_seconds):
        """Run the command; see `Sandbox.run`."""
        own_python = str(Path(sys.executable).parent)
        variables = {
            "PATH": os.pathsep.join((own_python, os.environ["PATH"])),
            "HOME": str(scratch),
            "TMPDIR": str(scratch),
            **NEUTRAL,
            **env,
        }
        is_pytest = command[0] in {"python", sys.executable} and tuple(command[1:3]) == PYTEST
        run = self._run_pytest if is_pytest else self._run_process
        with tempfile.TemporaryFile() as output:
            began = time.monotonic()
            exit_code = run(command, str(tree), variables, output.fileno(), timeout_seconds)
            seconds = time.monotonic() - began
            output.seek(0)
            return Execution(
                exit_code=exit_code,
                timed_out=exit_code is None,
                duration_seconds=seconds,
                output=output.read(),
            )

    def _run_process(self, command, folder, env, output, seconds):
        streams = {"stdin": subprocess.DEVNULL, "stdout": output, "stderr": output}
        try:
            process = subprocess.Popen(
                command, cwd=folder, env=env, start_new_session=True, **streams
            )
        except OSError as exc:
            raise TestRunError(f"cannot be started ({exc})", command) from exc
        try:
            return process.wait(seconds)
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)
            process.wait()
            return None

    def _run_pytest(self, command, folder, env, output, seconds):
        with self._lock:
            if self._server is None:
                self._server = self._started()
            file = f"/proc/{os.getpid()}/fd/{output}"
            request = json.dumps((command[3:], env, folder, file)).encode()
            self._server.stdin.write(request + b"\n")
            child = int(self._server.stdout.readline())
            in_time = bool(select.select([self._server.stdout], [], [], seconds)[0])
            if not in_time:
                os.killpg(child, signal.SIGKILL)
            exit_code = int(self._server.stdout.readline())
            return exit_code if in_time else None

    @staticmethod
    def _started():
        # A shell starts it and ends, because some tests look at the children of this process.
        server = subprocess.Popen(
            ("sh", "-c", 'exec 3<&0; "$@" <&3 3<&- &', "sh", sys.executable, "-c", SERVER),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            bufsize=0,
            env={"PATH": os.environ["PATH"], **NEUTRAL},
        )
        server.wait()
        atexit.register(server.communicate)
        return server


QUICK = QuickSandbox()
"""The one sandbox of this process, so that one server imports pytest."""
