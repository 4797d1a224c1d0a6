"""One run in one container, from its creation to its removal."""

import os
import re
import secrets
import shlex
import time
import uuid
from collections.abc import Callable, Iterator, Mapping
from contextlib import closing, contextmanager, suppress
from pathlib import Path
from typing import Any

from attrs import define, frozen

from cooperbench_eval.errors import SandboxError, TestRunError
from cooperbench_eval.running.processes.supervision import Capture
from cooperbench_eval.running.sandboxes.containers.archives import (
    END_OF_ARCHIVE,
    Packer,
    Unpacked,
    unpack,
)
from cooperbench_eval.running.sandboxes.containers.engine import (
    Attached,
    ContainerState,
    Engine,
    MissingError,
    RefusedError,
)
from cooperbench_eval.running.sandboxes.containers.guard import GUARD, OWNER_LABEL, owner_of
from cooperbench_eval.running.sandboxes.containers.kernel_watch import CopyWatch, MemoryWatch
from cooperbench_eval.running.sandboxes.protocol import Execution

_MOST_FILES = 10_000
_MOST_BYTES = 256 << 20
"""How much of the scratch directory is copied back."""
_ATTEMPTS = 3
_DEATH_SECONDS = 30.0
"""How long a container may take to die, and the engine to notice."""
_LOOK_SECONDS = 1.0
_PAUSE_SECONDS = 0.01
_REST_SECONDS = 0.5
"""How long to read the remaining output, which may never end."""
_CANNOT_START = (126, 127)
_NO_COMMAND = re.compile('exec: "|executable file|open executable')
"""Matches what runc and crun say if a command does not exist."""

# The shell is the container's first process and the command is its child, because a
# first process ignores its own signals. The command is in a file, because the engine
# accepts only text as arguments. If the command does not exist, the shell's message
# begins or ends with a secret word from that file. The file is deleted before the
# command starts, so no command can print the word. The shell first waits for a line, which
# comes when the container is watched; otherwise a short command could end before that. A
# subshell reads it, because the variable may be one of the command's.
_START = """\
(read -r line) || exit 1
. "$0"; rm -f "$0"; exec </dev/null 2>/dev/null
(trap 'printf %s "$word"' EXIT; BASH_ARGV0=$word; exec "$@") 2>&1
exit $?
"""


@frozen(kw_only=True)
class ContainerJob:
    """A command, and the container to run it in; see `ContainerSandbox`.

    Attributes:
        scratch_at: Its path in the container.
        own: A directory in the container only, which holds `home` and `temporary`.
        packer: Packs files for the owner that they have in the container.
        env: Variables that are added to the image's own.
        host: The limits of the container, as the SDK's host options.
    """

    image: str
    command: tuple[str, ...]
    tree: Path
    tree_at: str
    scratch: Path
    scratch_at: str
    own: str
    packer: Packer
    env: Mapping[str, str]
    workdir: str
    user: str | None
    shell: str | None
    host: Mapping[str, Any]
    timeout_seconds: float
    output_limit: int


def execute(engine: Engine, job: ContainerJob) -> Execution:
    """Run *job* in a new container.

    Raises:
        TestRunError: The command cannot be started.
        SandboxError: The engine fails.
        OSError: Files of this machine cannot be read or written.
    """
    word = secrets.token_hex()
    first, *rest = job.command
    if job.shell is not None:
        first, *rest = job.shell, "-c", _START, f"{job.own}/start"
    elif not all(map(_is_text, (*job.command, *job.env.values()))):
        raise TestRunError("cannot be started (without a shell, arguments must be valid text)")
    with container(
        engine,
        job.image,
        host=job.host,
        # As the entry point: podman would replace an empty one with the image's own.
        entrypoint=[first],
        command=rest,
        environment={name: value for name, value in job.env.items() if _is_text(value)},
        working_dir=job.workdir,
        user=job.user,
        stdin_open=job.shell is not None,
    ) as (name, container_id):
        engine.put(name, _archive(job, word))
        with (
            _starting(job),
            closing(engine.attach(name)) as output,
            closing(CopyWatch(job.tree, job.tree_at)) as copy,
        ):
            engine.start(name)
            following = _Following(
                engine, name, output, Capture(job.output_limit), copy, waits=job.shell is not None
            )
            execution = following.until_the_end(container_id, job.timeout_seconds)
        if execution.exit_code in _CANNOT_START and word.encode() in execution.output:
            said = execution.output.decode(errors="backslashreplace").replace(word, "")
            reason = said.removeprefix(f"{job.own}/start").strip(": \n")
            raise TestRunError(f"cannot be started ({reason})", job.command)
        _bring_back(engine, name, job)
        return execution


@contextmanager
def container(
    engine: Engine, image: str, *, host: Mapping[str, Any], **config: Any
) -> Iterator[tuple[str, str]]:
    """Create a container with the SDK's options, remove it at the end; yield its name and id."""
    name = f"cooperbench-{uuid.uuid4().hex}"
    GUARD.hold(engine.address, name)
    labels = {OWNER_LABEL: owner_of(os.getpid())}
    try:
        yield name, engine.create(name, image, host=host, labels=labels, **config)
    except BaseException as exc:
        with suppress(SandboxError):
            # The engine may still be creating it; the watchdog then removes it.
            if engine.remove(name) or isinstance(exc, MissingError | RefusedError):
                GUARD.release(engine.address, name)
        raise
    engine.remove(name)
    GUARD.release(engine.address, name)


def _archive(job: ContainerJob, word: str) -> Iterator[bytes]:
    yield from job.packer.tree(job.tree, job.tree_at)
    yield from job.packer.tree(job.scratch, job.scratch_at)
    for folder in (job.own, f"{job.own}/home", f"{job.own}/temporary"):
        yield job.packer.folder(folder)
    start = _start_file(job, word).encode("utf-8", "surrogateescape")
    yield job.packer.file(f"{job.own}/start", start)
    yield END_OF_ARCHIVE


def _start_file(job: ContainerJob, word: str) -> str:
    odd = ((name, value) for name, value in job.env.items() if not _is_text(value))
    exports = (f"export {name}={shlex.quote(value)}\n" for name, value in odd)
    return f"word={word}\n{''.join(exports)}set -- {shlex.join(job.command)}\n"


def _is_text(value: str) -> bool:
    try:
        value.encode()
    except UnicodeEncodeError:
        return False
    return True


def _bring_back(engine: Engine, name: str, job: ContainerJob) -> None:
    """Copy the files of the scratch directory back.

    The command may have created files that the engine cannot read, or replaced the
    directory. Then some files are lost, which harms only the command's own result.
    """
    _wait_for(lambda: engine.state(name).is_settled, "the container does not finish")
    for _ in range(_ATTEMPTS):
        with suppress(MissingError, RefusedError), engine.get(name, job.scratch_at) as archive:
            how = unpack(archive, job.scratch, files=_MOST_FILES, size=_MOST_BYTES)
            if how is not Unpacked.DAMAGED:
                break


def _wait_for(is_so: Callable[[], bool], problem: str) -> None:
    until = time.monotonic() + _DEATH_SECONDS
    while not is_so():
        if time.monotonic() > until:
            raise SandboxError(problem)
        time.sleep(_PAUSE_SECONDS)


@contextmanager
def _starting(job: ContainerJob) -> Iterator[None]:
    """Turn the engine's error for a command that does not exist into a `TestRunError`."""
    try:
        yield
    except SandboxError as exc:
        if _NO_COMMAND.search(exc.problem):
            raise TestRunError(f"cannot be started ({exc.problem})", job.command) from exc
        raise


@define
class _Following:
    """Reads the output of a started container, and waits for its end."""

    _engine: Engine
    _name: str
    _output: Attached
    _capture: Capture
    _copy: CopyWatch
    _waits: bool

    def until_the_end(self, container_id: str, timeout_seconds: float) -> Execution:
        """Let the command start, and wait for its end, or kill the container at its deadline."""
        state = self._engine.state(self._name)
        self._copy.open(state.process_id, container_id)
        with closing(MemoryWatch(state.process_id, container_id)) as memory:
            started = time.monotonic()
            if self._waits:
                self._let_start()
            ended = self._wait(memory, started + timeout_seconds)
            seconds = time.monotonic() - started
            is_stopped = False
            if ended is None:
                # Podman does not kill a container whose output is not read.
                self._take_the_rest()
                self._output.close()
                # False if the container ended in the meantime.
                is_stopped = self._engine.kill(self._name)
                _wait_for(self._is_over, "the container does not die")
                ended = self._engine.state(self._name)
            is_starved = ended.out_of_memory or memory.kills() > 0
            return Execution(
                exit_code=None if is_stopped else ended.exit_code,
                timed_out=is_stopped and not is_starved,
                out_of_memory=is_starved,
                duration_seconds=seconds,
                output=self._capture.value(),
                changed_files=self._copy.changed(),
            )

    def _let_start(self) -> None:
        """Send the line that the shell waits for, unless the container was killed meanwhile."""
        try:
            self._output.send(b"\n")
        except OSError as exc:
            if not self._is_over():
                raise SandboxError(f"the container cannot be started ({exc})") from exc

    def _wait(self, memory: MemoryWatch, until: float) -> ContainerState | None:
        """Read output until the command ends; `None` if it must be stopped."""
        while (left := until - time.monotonic()) > 0:
            if data := self._output.read(min(left, _LOOK_SECONDS)):
                self._capture.feed(data)
                continue
            state = self._engine.state(self._name)
            if state.is_over:
                self._take_the_rest()
                return state
            if memory.kills():
                return None
            if data is not None:  # the output has ended
                time.sleep(_PAUSE_SECONDS)
        return None

    def _is_over(self) -> bool:
        return self._engine.state(self._name).is_over

    def _take_the_rest(self) -> None:
        enough = time.monotonic() + _REST_SECONDS
        while time.monotonic() < enough and (data := self._output.read(_PAUSE_SECONDS)):
            self._capture.feed(data)
