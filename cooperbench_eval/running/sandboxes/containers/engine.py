"""The adapter to the Docker SDK: a container engine, its images and containers.

The engine is any server of Docker's API: Docker itself, or podman's service. The SDK is
optional and slow to load, so it is imported when an engine is first needed.
"""

import os
import re
import socket
import time
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from http import HTTPStatus
from typing import TYPE_CHECKING, Any

from attrs import frozen

from cooperbench_eval.errors import SandboxError, TestRunError

if TYPE_CHECKING:
    import docker


_PIECE = 1 << 18
_HEADER = 8
_SEND_SECONDS = 60.0


class Attached:
    """The output of a running container, and its input."""

    def __init__(self, stream: Any) -> None:
        """Use *stream*: a socket, or the file object that the SDK returns instead."""
        self._socket: socket.socket = getattr(stream, "_sock", stream)
        self._buffer = bytearray()
        self._left = 0

    def send(self, data: bytes) -> None:
        """Write to the container's standard input; raise an `OSError` if it does not take it."""
        self._socket.settimeout(_SEND_SECONDS)
        self._socket.sendall(data)

    def read(self, seconds: float) -> bytes | None:
        """Return the next output, `b""` at its end, or `None` if none comes in time."""
        # A timeout of the socket, because TLS may hold bytes that `select` does not see.
        try:
            self._socket.settimeout(max(seconds, 0.001))
            data = self._socket.recv(_PIECE)
        except TimeoutError:
            return None
        except OSError:
            return b""
        if not data:
            return b""
        return self._payload(data) or None

    def _payload(self, data: bytes) -> bytes:
        """Remove the headers of frames; each has a stream's number and a length."""
        output = bytearray()
        self._buffer += data
        start = 0
        while start < len(self._buffer):
            if not self._left:
                if len(self._buffer) - start < _HEADER:
                    break
                self._left = int.from_bytes(self._buffer[start + 4 : start + _HEADER], "big")
                start += _HEADER
            piece = self._buffer[start : start + self._left]
            output += piece
            start += len(piece)
            self._left -= len(piece)
        del self._buffer[:start]
        return bytes(output)

    def close(self) -> None:
        """Stop reading; later output is lost."""
        # The SDK closes the descriptor with the connection.
        with suppress(OSError):
            self._socket.shutdown(socket.SHUT_RDWR)


_STATE_RETRIES = 3
_PAUSE_SECONDS = 0.05
_CALL_SECONDS = 60.0
"""How long the engine may take for one request."""
_NO_SUCH_IMAGE = re.compile(
    "manifest unknown|name unknown|does not exist|access to the resource is denied"
    "|unauthorized|short-name"
)
"""Matches what registries and engines say if an image does not exist or is not public."""
_PULL_AGAIN_SECONDS = 60.0
_failed_pulls: dict[tuple[str, str], tuple[float, str]] = {}
"""When and why pulling an image failed; kept because engines take long before they fail."""


class MissingError(SandboxError):
    """The engine has no such image, container or path."""


class RefusedError(SandboxError):
    """The engine refuses the request."""


@frozen(kw_only=True)
class ImageInfo:
    """What an engine knows about an image.

    Attributes:
        digest: The digest of its configuration, which lists every layer: `sha256:` and hex.
        user: The user that its commands run as; empty for root.
    """

    digest: str
    user: str


@frozen(kw_only=True)
class ContainerState:
    """The state of a container.

    Attributes:
        is_settled: Whether the engine has finished its own work after the command's end.
            Until then, podman returns an empty archive for any of the container's files.
        exit_code: The exit status; 128 plus the signal's number for a signal.
        out_of_memory: Whether the engine noticed that a process was killed because memory
            ran out. Podman 4.3 does not notice.
        process_id: The container's first process, on the engine's machine; 0 if it has
            none.
    """

    is_over: bool
    is_settled: bool
    exit_code: int
    out_of_memory: bool
    process_id: int


class Engine:
    """A connection to an engine, for one thread and one task.

    Attributes:
        address: The engine's address, as `connect` takes it.

    Every method raises `SandboxError` if the engine cannot be reached or fails,
    `MissingError` if the image, container or path does not exist, and `RefusedError` if
    the engine refuses the request.
    """

    def __init__(self, client: "docker.APIClient", address: str) -> None:
        self._client = client
        # Neither the SDK nor its session closes responses that were not read completely.
        self._responses: list[Any] = []
        client.hooks["response"].append(lambda response, **_: self._responses.append(response))
        self.address = address

    def image(self, name: str, *, pull: bool) -> ImageInfo:
        """Find an image by name or digest; with *pull*, fetch a missing one.

        If it does not exist, so that a retry is useless, raise a plain `TestRunError`.
        """
        with suppress(MissingError):
            return self._image(name)
        if pull:
            self._pull(name)
            with suppress(MissingError):
                return self._image(name)
        raise TestRunError(f"there is no image {name}")

    def _pull(self, name: str) -> None:
        """Fetch an image, unless that failed within the last minute."""
        failed, problem = _failed_pulls.get((self.address, name), (0.0, ""))
        if problem and time.monotonic() - failed < _PULL_AGAIN_SECONDS:
            raise SandboxError(problem)
        problem = f"the image {name} is absent and cannot be pulled"
        try:
            with _errors_as(problem):
                _raise_reported(problem, self._client.pull(name, stream=True, decode=True))
        except SandboxError as exc:
            said = exc.problem.removeprefix(problem)
            if isinstance(exc, MissingError) or _NO_SUCH_IMAGE.search(said):
                raise TestRunError(f"there is no image {name}{said}") from exc
            _failed_pulls[self.address, name] = time.monotonic(), exc.problem
            raise

    def _image(self, name: str) -> ImageInfo:
        with _errors_as(f"there is no image {name}"):
            found = self._client.inspect_image(name)
            return ImageInfo(digest=str(found["Id"]), user=str(found["Config"].get("User") or ""))

    def create(self, name: str, image: str, *, host: Mapping[str, Any], **config: Any) -> str:
        """Create a container with the SDK's options, without starting it; return its id."""
        with _errors_as(f"no container of {image} can be created"):
            host_config = self._client.create_host_config(**host)
            made = self._client.create_container(
                image, name=name, host_config=host_config, **config
            )
            return str(made["Id"])

    def put(self, name: str, archive: Iterable[bytes]) -> None:
        """Unpack a tar archive at a container's root."""
        with _errors_as("files cannot be put into the container"):
            self._client.put_archive(name, "/", archive)

    @contextmanager
    def get(self, name: str, path: str) -> Iterator[Iterator[bytes]]:
        """Yield a tar archive of a container's file or directory, in pieces."""
        problem = f"{path} cannot be copied out of the container"
        with _errors_as(problem):
            pieces, _ = self._client.get_archive(name, path, chunk_size=_PIECE)
            response = self._responses[-1]
        try:
            yield _pieces_with_errors(problem, pieces)
        finally:
            # Docker does not remove a container while it sends its files.
            response.close()

    def attach(self, name: str) -> Attached:
        """Open a container's output, from the first byte if it has not started yet.

        Its input is open too if the container was created with one.
        """
        wanted = {"stdin": 1, "stdout": 1, "stderr": 1, "stream": 1}
        with _errors_as("the container's output cannot be read"):
            return Attached(self._client.attach_socket(name, params=wanted))

    def start(self, name: str) -> None:
        """Start a container."""
        with _errors_as("the container cannot be started"):
            self._client.start(name)

    def kill(self, name: str) -> bool:
        """Kill a container; return whether it was running."""
        try:
            with _errors_as("the container cannot be killed"):
                self._client.kill(name)
        except RefusedError as exc:
            if getattr(exc.__cause__, "status_code", None) != HTTPStatus.CONFLICT:
                raise
            return False
        return True

    def state(self, name: str) -> ContainerState:
        """Return the state of a container.

        Podman may fail if the process ends during the request; it succeeds on a retry.
        """
        for _ in range(_STATE_RETRIES):
            try:
                return self._state(name)
            except MissingError:
                raise
            except SandboxError:
                time.sleep(_PAUSE_SECONDS)
        return self._state(name)

    def _state(self, name: str) -> ContainerState:
        with _errors_as("the container's state is unknown"):
            state = self._client.inspect_container(name)["State"]
            is_settled = state["Status"] in {"exited", "dead"}
            return ContainerState(
                is_over=is_settled or state["Status"] == "stopped",
                is_settled=is_settled,
                exit_code=int(state["ExitCode"]),
                out_of_memory=bool(state["OOMKilled"]),
                process_id=int(state["Pid"]),
            )

    def remove(self, name: str) -> bool:
        """Kill and remove a container with its volumes; return whether it existed."""
        with suppress(MissingError), _errors_as("the container cannot be removed"):
            self._client.remove_container(name, force=True, v=True)
            return True
        return False

    def close(self) -> None:
        """Close every connection."""
        for response in self._responses:
            response.close()
        self._client.close()

    def labelled(self, label: str) -> dict[str, str]:
        """Return the value of *label*, by container, for all containers that have it."""
        with _errors_as("containers cannot be listed"):
            found = self._client.containers(all=True, filters={"label": label})
            return {str(each["Id"]): str(each["Labels"].get(label, "")) for each in found}


@contextmanager
def connect(base_url: str | None) -> Iterator[Engine]:
    """Open a connection to the engine at *base_url*, or else at `DOCKER_HOST`.

    Raises:
        SandboxError: No engine answers at the address, or the SDK is not installed.
    """
    try:
        from docker.constants import DEFAULT_NPIPE, DEFAULT_UNIX_SOCKET  # noqa: PLC0415 - as above
        from docker.utils import kwargs_from_env  # noqa: PLC0415
    except ImportError as exc:
        problem = f"the Docker SDK is missing ({exc}): pip install 'cooperbench-eval[containers]'"
        raise SandboxError(problem) from exc
    with _errors_as("no container engine answers"):
        usual = DEFAULT_NPIPE if os.name == "nt" else DEFAULT_UNIX_SOCKET
        settings: dict[str, Any] = {"base_url": usual, **kwargs_from_env()}
        if base_url is not None:
            settings["base_url"] = base_url
        client = _client(settings)
    engine = Engine(client, settings["base_url"])
    try:
        yield engine
    finally:
        engine.close()


def _client(settings: dict[str, Any]) -> "docker.APIClient":
    import docker  # noqa: PLC0415 - see above
    from docker.constants import DEFAULT_DOCKER_API_VERSION as OURS  # noqa: PLC0415
    from docker.utils import version_lt  # noqa: PLC0415

    # The SDK's own negotiation of the version takes a third of a second with podman.
    _check_is_there(settings["base_url"])
    client = docker.APIClient(version=OURS, timeout=_CALL_SECONDS, **settings)
    try:
        response = client.get(f"{client.base_url}/_ping", timeout=_CALL_SECONDS)
        response.raise_for_status()
    except BaseException:
        client.close()
        raise
    theirs = response.headers.get("Api-Version", "auto")
    if theirs != "auto" and not version_lt(theirs, OURS):
        return client
    client.close()
    return docker.APIClient(version=theirs, timeout=_CALL_SECONDS, **settings)


def _check_is_there(address: str) -> None:
    """Try to connect to a Unix socket, because the SDK leaks one if it cannot connect."""
    scheme, _, path = address.partition("://")
    if scheme in {"unix", "http+unix"} and hasattr(socket, "AF_UNIX"):
        with socket.socket(socket.AF_UNIX) as probe:
            probe.connect(f"/{path.lstrip('/')}")


def _raise_reported(problem: str, steps: Iterable[Mapping[str, Any]]) -> None:
    """Raise the error that a successful response reports in one of its steps, if any."""
    for step in steps:
        if "error" in step:
            raise SandboxError(f"{problem} ({step['error']})")


@contextmanager
def _errors_as(problem: str) -> Iterator[None]:
    """Turn the errors of the SDK and of the network below it into our errors."""
    from docker.errors import APIError, DockerException, NotFound  # noqa: PLC0415 - see above

    try:
        yield
    except NotFound as exc:
        raise MissingError(_sentence(problem, exc)) from exc
    except APIError as exc:
        raise RefusedError(_sentence(problem, exc)) from exc
    # Errors of requests are OSErrors; another server's response may have any form.
    except (DockerException, OSError, ValueError, LookupError) as exc:
        raise SandboxError(_sentence(problem, exc)) from exc


def _pieces_with_errors(problem: str, pieces: Iterator[bytes]) -> Iterator[bytes]:
    with _errors_as(problem):
        yield from pieces


def _sentence(problem: str, exc: Exception) -> str:
    return f"{problem} ({getattr(exc, 'explanation', None) or exc})"
