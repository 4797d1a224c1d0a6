"""The container sandbox, which creates a new container for each run."""

import os
import re
from collections.abc import Mapping, Sequence
from functools import partial
from pathlib import Path, PureWindowsPath
from typing import Any, Self

from attrs import field, frozen, validators

from cooperbench_eval.errors import SandboxError, TestRunError
from cooperbench_eval.running.sandboxes.containers.archives import Packer
from cooperbench_eval.running.sandboxes.containers.engine import connect
from cooperbench_eval.running.sandboxes.containers.guard import OWNER_LABEL, is_gone
from cooperbench_eval.running.sandboxes.containers.images import PREFIX, REGISTRY, task_image
from cooperbench_eval.running.sandboxes.containers.run import ContainerJob, execute
from cooperbench_eval.running.sandboxes.local import NEUTRAL_ENVIRONMENT, POSITIVE, check
from cooperbench_eval.running.sandboxes.protocol import Execution
from cooperbench_eval.support.arguments import checked, checked_fields

_REST = r"""([^\s:;,="']*)"""
"""Matches the rest of a path after its folder."""


def _places_of(
    tree: Path | PureWindowsPath, scratch: Path | PureWindowsPath, tree_at: str | None = None
) -> dict[str, str]:
    r"""Map the paths of the tree and the scratch directory to those in the container.

    They are the same, unless the host is Windows.

    Example:
        >>> from pathlib import PureWindowsPath as Windows
        >>> places = _places_of(Windows(r"C:\T\tree-1"), Windows(r"C:\T\run-1"))
        >>> _translate(r"--junitxml=C:\T\run-1\out\junit.xml", places)
        '--junitxml=/cooperbench/scratch/out/junit.xml'
        >>> _translate(r"C:\T\tree-1/src:C:\T\tree-1/lib", places)
        '/cooperbench/tree/src:/cooperbench/tree/lib'
    """
    is_windows = os.name == "nt" or isinstance(tree, PureWindowsPath)
    usual = ("/cooperbench/tree", "/cooperbench/scratch")
    inside = usual if is_windows else (str(tree), str(scratch))
    return {str(tree): tree_at or inside[0], str(scratch): inside[1]}


def _translate(word: str, places: Mapping[str, str]) -> str:
    """Return a word of a command with the container's paths in place of the host's."""
    for folder, place in places.items():
        if "\\" in folder:
            word = re.sub(re.escape(folder) + _REST, partial(_placed, place), word)
        else:
            word = word.replace(folder, place)
    return word


def _placed(place: str, found: re.Match[str]) -> str:
    return place + found[1].replace("\\", "/")


@frozen(kw_only=True, field_transformer=checked_fields)
class ContainerSandbox:
    """Runs commands in containers; each run has a new container, which is then removed.

    The engine is Docker or podman's service, whichever `DOCKER_HOST` names. By default,
    a container has no network. It has no capabilities, and cannot gain any. It sees the
    files of its image, and copies of the tree and the scratch directory. The plain
    files of the scratch directory are copied back, at most 10,000 files and 256 MiB.
    The container is removed even if this process is killed; `reap_containers`
    covers the remaining cases.

    The command sees the image's own environment, with a fresh `HOME` and
    `TMPDIR`, a UTF-8 locale, no byte code written and a fixed hash seed. Its
    standard input is empty. If a signal ended the command, its exit status is 128 plus
    the signal's number, as in a shell.

    Attributes:
        image: The image, by name or digest.
        base_url: The address of the engine, if not `DOCKER_HOST`.
        pull: Whether to fetch a missing image from its registry.
        network: Whether the container is in the engine's default network.
        memory_bytes: The limit of memory for all processes together, including swap.
        cpus: How many processors' time the processes may use.
        processes: How many processes there may be at a time.
        user: The user that runs the processes: a number, `number:number`, or a name
            in the image; by default the image's user.
        tree_at: The path of the tree in the container; by default the host's path, or
            `/cooperbench/tree` if the host is Windows.
        workdir: Where the command starts; by default in the tree.
        own_home: Whether `HOME` and `TMPDIR` are fresh. Otherwise they are the
            image's, where its tools may be installed.
        shell: A shell of the image. It joins standard output and error in order, and
            distinguishes a missing command from one that fails. Pass `None` if the image
            has no shell: then the engine joins the streams as it reads them, and the
            command is the container's first process, which ignores its own signals.
        output_limit: How many bytes of output to keep at each end; the bytes in
            between are counted and dropped.

    Example:
        >>> sandbox = ContainerSandbox(image="python:3.12-slim", memory_bytes=2 << 30)
        >>> sandbox.name, sandbox.network
        ('container', False)
    """

    image: str = field(validator=validators.min_len(1))
    base_url: str | None = None
    pull: bool = True
    network: bool = False
    memory_bytes: int | None = field(default=None, validator=POSITIVE)
    cpus: float | None = field(default=None, validator=POSITIVE)
    processes: int | None = field(default=None, validator=POSITIVE)
    user: str | None = None
    tree_at: str | None = None
    workdir: str | None = None
    own_home: bool = True
    shell: str | None = "/bin/sh"
    output_limit: int = field(default=1 << 20, validator=validators.ge(0))
    name: str = field(default="container", init=False)

    @classmethod
    @checked
    def for_task(
        cls,
        repo_name: str,
        task_id: int | str,
        *,
        registry: str = REGISTRY,
        prefix: str = PREFIX,
        **options: Any,
    ) -> Self:
        """Return a sandbox for one of the benchmark's task images.

        A task image has the repository at `/workspace/repo`, and a script `runner.sh`
        that reads patches from `/patches`. So the tree is put at `/patches`, and the
        command starts in the repository. Nearly all of these scripts install packages
        while they run, and fail without `network=True`.

        Args:
            repo_name: The repository's name in the dataset.
            task_id: The task's number.
            registry: The registry of the image.
            prefix: The beginning of the image's name.
            options: Further options of the sandbox.
        """
        return cls(
            **{
                "image": task_image(repo_name, task_id, registry=registry, prefix=prefix),
                "tree_at": "/patches",
                "workdir": "/workspace/repo",
                "own_home": False,
                **options,
            }
        )

    @property
    def identity(self) -> str:
        """The image's digest, and every option that a result may depend on.

        Raises:
            TestRunError: The image does not exist.
            SandboxError: There is no engine, or the image's registry fails.
        """
        with connect(self.base_url) as engine:
            digest = engine.image(self.image, pull=self.pull).digest
        network = "network" if self.network else "no network"
        limits = (self.memory_bytes, self.cpus, self.processes, self.output_limit)
        places = (self.tree_at, self.workdir, self.own_home, self.shell)
        return f"{self.name} {digest} {network} {limits} {self.user} {places}"

    def run(
        self,
        command: Sequence[str],
        *,
        tree: Path,
        scratch: Path,
        env: Mapping[str, str],
        timeout_seconds: float,
    ) -> Execution:
        """Run *command*; see `Sandbox.run`.

        Raises:
            TestRunError: The image does not exist, it does not have the command, or the
                command cannot be passed to it.
            SandboxError: The engine or the registry cannot be reached, or fails.
        """
        parts = check(command, env)
        places = _places_of(tree, scratch, self.tree_at)
        tree_at, scratch_at = places[str(tree)], places[str(scratch)]
        own = f"{scratch_at}.own"
        home = {"HOME": f"{own}/home", "TMPDIR": f"{own}/temporary"}
        try:
            with connect(self.base_url) as engine:
                image = engine.image(self.image, pull=self.pull)
                job = ContainerJob(
                    image=image.digest,
                    command=tuple(_translate(part, places) for part in parts),
                    tree=tree,
                    tree_at=tree_at,
                    scratch=scratch,
                    scratch_at=scratch_at,
                    own=own,
                    packer=_packer(self.user or image.user),
                    env=(home if self.own_home else {})
                    | NEUTRAL_ENVIRONMENT
                    | {name: _translate(value, places) for name, value in env.items()},
                    workdir=self.workdir or tree_at,
                    user=self.user,
                    shell=self.shell,
                    host=self._host(),
                    timeout_seconds=timeout_seconds,
                    output_limit=self.output_limit,
                )
                return execute(engine, job)
        except SandboxError as exc:
            raise SandboxError(exc.problem, parts) from exc
        except TestRunError as exc:
            raise TestRunError(exc.problem, parts) from exc
        except OSError as exc:
            raise SandboxError(f"its files cannot be copied ({exc})", parts) from exc

    def _host(self) -> dict[str, Any]:
        """Return the container's limits and permissions, as the SDK's host options."""
        options: dict[str, Any] = {
            "cap_drop": ["ALL"],
            "security_opt": ["no-new-privileges"],
            "mem_limit": self.memory_bytes,
            "memswap_limit": self.memory_bytes,
            "pids_limit": self.processes,
            "nano_cpus": round(self.cpus * 1e9) if self.cpus else None,
            # No log: a large output would fill the engine's disk.
            "log_config": {"Type": "none", "Config": {}},
        }
        return options if self.network else options | {"network_mode": "none"}


def _packer(user: str) -> Packer:
    """Return what packs a container's files, for a user as the engine takes it."""
    name, _, group = user.partition(":")
    if name in {"", "root"}:
        return Packer()
    if not name.isdecimal():
        return Packer(user=None)
    return Packer(user=int(name), group=int(group) if group.isdecimal() else 0)


@checked
def reap_containers(*, base_url: str | None = None) -> int:
    """Remove the containers of processes on this machine that have ended.

    A process removes its own containers; if it is killed, its watchdog does. Call this
    function if the watchdog was killed too, or could not reach the engine. It cannot check
    processes on another machine, in another process namespace, or from before the last
    boot; their containers stay, labelled `cooperbench_eval.owner`.

    Args:
        base_url: The address of the engine, if not `DOCKER_HOST`.

    Returns:
        How many containers were removed.

    Raises:
        SandboxError: The engine cannot be reached, or cannot remove a container.
    """
    with connect(base_url) as engine:
        found = engine.labelled(OWNER_LABEL)
        return sum(engine.remove(name) for name, owner in found.items() if is_gone(owner))
