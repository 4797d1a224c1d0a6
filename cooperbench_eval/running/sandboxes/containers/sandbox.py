"""The sandbox that is a container, fresh for each run."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Self

from attrs import field, frozen, validators

from cooperbench_eval.errors import SandboxError, TestRunError
from cooperbench_eval.running.sandboxes.containers.archives import Owner
from cooperbench_eval.running.sandboxes.containers.engine import connect
from cooperbench_eval.running.sandboxes.containers.images import PREFIX, REGISTRY, task_image
from cooperbench_eval.running.sandboxes.containers.owners import OWNER_LABEL, is_gone
from cooperbench_eval.running.sandboxes.containers.run import ContainerJob, execute
from cooperbench_eval.running.sandboxes.hosting import (
    NEUTRAL_ENVIRONMENT,
    POSITIVE,
    check,
)
from cooperbench_eval.running.sandboxes.protocol import Execution

__all__ = ["ContainerSandbox", "reap_containers"]


@frozen(kw_only=True)
class ContainerSandbox:
    """Runs commands in containers, each made for one run and removed after it.

    The engine is Docker or podman's service, whichever `DOCKER_HOST` names. A
    container has no network, no capabilities and no way to gain any; it sees of
    this machine the tree and the scratch directory, as copies, and what its image
    holds. The files of the scratch directory come back: plain ones, 10,000 of
    them or 256 MiB at most. Whatever becomes of a run or of this process, the
    container is removed; see `reap_containers` for the rest.

    The command sees the image's own environment, with a fresh `HOME` and
    `TMPDIR`, a UTF-8 locale, no byte code written and a fixed hash seed. Its
    standard input is empty. An exit status is what a shell makes of it: 128 and
    the signal's number where a signal ended it.

    Attributes:
        image: The image, by name or digest.
        base_url: Where the engine is, if not at `DOCKER_HOST`.
        pull: Whether an image that is absent is fetched from its registry.
        network: Whether the engine's default network can be reached.
        memory_bytes: Of all processes together, swap included.
        cpus: How many processors' time they may take.
        processes: How many there may be at a time.
        user: Who they run as, as a number or `number:number` or a name of the
            image's; the image's own choice if not given.
        tree_at: Where the container has the tree, if not where the host has it.
        workdir: Where the command starts, if not in the tree.
        own_home: Whether `HOME` and `TMPDIR` are fresh; else they are the
            image's, where its tools may be installed.
        shell: A shell of the image, which joins the two streams of output in
            order and tells a command that is not there from one that fails.
            `None` for an image that has none: then the engine joins the streams
            as it reads them, and the command is the container's first process,
            which is deaf to its own signals.
        output_limit: How many bytes of output to keep at each end; what lies
            between is counted and dropped.

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
    def for_task(
        cls,
        repo_name: str,
        task_id: int | str,
        *,
        registry: str = REGISTRY,
        prefix: str = PREFIX,
        **options: Any,
    ) -> Self:
        """Return a sandbox for one of the benchmark's task images, as it is.

        Such an image holds the repository at `/workspace/repo` and a script,
        `runner.sh`, that takes patches from `/patches`: so the tree goes there, and
        the command starts in the repository. Nearly all of these scripts install
        packages while they run, and fail without `network=True`.

        Args:
            repo_name: The repository's name in the dataset.
            task_id: The task's number.
            registry: Where the image is.
            prefix: What its name begins with.
            options: Of the sandbox itself.
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
            TestRunError: There is no such image.
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
        """Run *command* as `Sandbox.run` says.

        Raises:
            TestRunError: There is no such image, or it has no such command, or
                nothing can be given it.
            SandboxError: The engine or the registry cannot be reached, or fails.
        """
        parts = check(command, env)
        tree_at = self.tree_at or str(tree)
        own = f"{scratch}.own"
        try:
            with connect(self.base_url) as engine:
                image = engine.image(self.image, pull=self.pull)
                job = ContainerJob(
                    image=image.digest,
                    command=tuple(part.replace(str(tree), tree_at) for part in parts),
                    tree=tree,
                    tree_at=tree_at,
                    scratch=scratch,
                    own=own,
                    owner=_owner(self.user or image.user),
                    env=self._environment(own)
                    | {name: value.replace(str(tree), tree_at) for name, value in env.items()},
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

    def _environment(self, own: str) -> dict[str, str]:
        home = {"HOME": f"{own}/home", "TMPDIR": f"{own}/temporary"} if self.own_home else {}
        return home | NEUTRAL_ENVIRONMENT

    def _host(self) -> dict[str, Any]:
        """Return what the container may do, as the SDK's host options."""
        options: dict[str, Any] = {
            "cap_drop": ["ALL"],
            "security_opt": ["no-new-privileges"],
            "mem_limit": self.memory_bytes,
            "memswap_limit": self.memory_bytes,
            "pids_limit": self.processes,
            "nano_cpus": round(self.cpus * 1e9) if self.cpus else None,
            # Kept nowhere: half a gigabyte of output is nobody's disk's business.
            "log_config": {"Type": "none", "Config": {}},
        }
        return options if self.network else options | {"network_mode": "none"}


def _owner(user: str) -> Owner:
    """Whose a container's files are, given as the engine takes its user."""
    name, _, group = user.partition(":")
    if name in {"", "root"}:
        return Owner()
    if not name.isdecimal():
        return Owner(user=None)
    return Owner(user=int(name), group=int(group) if group.isdecimal() else 0)


def reap_containers(*, base_url: str | None = None) -> int:
    """Remove the containers of processes of this machine that have ended.

    A process sees to its own containers, also if it is killed. This is for the
    rest: its watchdog was killed with it, or could not reach the engine. Owners
    on another machine, in another process namespace or before the last boot
    cannot be judged; their containers stay, labelled `cooperbench_eval.owner`.

    Args:
        base_url: Where the engine is, if not at `DOCKER_HOST`.

    Returns:
        How many were removed.

    Raises:
        SandboxError: The engine cannot be reached, or a container not removed.
    """
    with connect(base_url) as engine:
        found = engine.labelled(OWNER_LABEL)
        return sum(engine.remove(name) for name, owner in found.items() if is_gone(owner))
