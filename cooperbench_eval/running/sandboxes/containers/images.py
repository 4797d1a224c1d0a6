"""The benchmark's task images: their names, and the repository in them."""

import hashlib
from pathlib import Path, PurePosixPath

from cooperbench_eval.errors import RepositoryError
from cooperbench_eval.running.processes.temporary import temporary_folder
from cooperbench_eval.running.sandboxes.containers.archives import Unpacked, unpack
from cooperbench_eval.running.sandboxes.containers.engine import Engine, MissingError, connect
from cooperbench_eval.running.sandboxes.containers.run import container
from cooperbench_eval.support.arguments import checked

REGISTRY = "akhatua"
PREFIX = "cooperbench"

_MOST_FILES = 2_000_000
_MOST_BYTES = 16 << 30
_NAMES = {"HEAD", "packed-refs", "shallow"}
_FOLDERS = {"objects", "refs"}
_BARE = "[core]\n\trepositoryformatversion = 0\n\tbare = true\n"


@checked
def task_image(
    repo_name: str, task_id: int | str, *, registry: str = REGISTRY, prefix: str = PREFIX
) -> str:
    """Return the name of a task's image, as the benchmark forms it.

    Args:
        repo_name: The repository's name in the dataset.
        task_id: The task's number.
        registry: The registry of the image; empty for images on this machine.
        prefix: The beginning of its name.

    Example:
        >>> task_image("pallets_click_task", 2068)
        'akhatua/cooperbench-pallets-click:task2068'
    """
    name = repo_name.removesuffix("_task").replace("_", "-")
    place = f"{registry}/" if registry else ""
    return f"{place}{prefix}-{name}:task{task_id}"


@checked
def repository_from_image(
    image: str,
    destination: Path | str,
    *,
    path: str = "/workspace/repo",
    pull: bool = True,
    base_url: str | None = None,
) -> Path:
    """Copy the history of a repository out of an image, unless that was done before.

    The copy is a bare repository with `HEAD`, the references and the objects, for
    `Snapshot.from_repo`. Configuration, hooks, links, the working tree and borrowed
    objects are not copied, because they could refer to other files. No container is
    started.

    Args:
        image: The image, by name or digest.
        destination: A directory for copied repositories, created if it is missing. It
            holds one copy for each image digest and path; later calls return that copy.
        path: The path of the repository in the image.
        pull: Whether to fetch a missing image from its registry.
        base_url: The address of the engine, if not `DOCKER_HOST`.

    Returns:
        The repository's directory.

    Raises:
        RepositoryError: The image has no repository at *path*, the repository is too large,
            or it cannot be written.
        TestRunError: The image does not exist.
        SandboxError: The engine or the registry cannot be reached, or fails.
    """
    with connect(base_url) as engine:
        digest = engine.image(image, pull=pull).digest
        place = hashlib.sha256(path.encode()).hexdigest()[:8]
        kept = Path(destination) / f"{digest.removeprefix('sha256:')}-{place}.git"
        try:
            if not kept.is_dir():
                kept.parent.mkdir(parents=True, exist_ok=True)
                with temporary_folder("copy-", kept.parent) as part:
                    fresh = part / "git"
                    _take(engine, digest, f"{path.rstrip('/')}/.git", fresh)
                    _move(fresh, kept)
        except MissingError as exc:
            raise RepositoryError(f"{image}:{path}", "has no git repository") from exc
        except OSError as exc:
            raise RepositoryError(str(destination), f"cannot be written ({exc})") from exc
    return kept


def _take(engine: Engine, digest: str, git: str, fresh: Path) -> None:
    for folder in (fresh, *(fresh / each for each in _FOLDERS)):
        folder.mkdir()
    host = {"network_mode": "none"}
    with (
        container(engine, digest, host=host, entrypoint=["never-started"]) as (name, _),
        engine.get(name, git) as archive,
    ):
        how = unpack(archive, fresh, files=_MOST_FILES, size=_MOST_BYTES, is_wanted=_is_history)
    if how is not Unpacked.COMPLETE:
        raise RepositoryError(git, "is damaged, or larger than 16 GiB or two million files")
    if not (fresh / "HEAD").is_file():
        raise MissingError(f"{git} is not a git repository")
    (fresh / "config").write_text(_BARE, encoding="ascii")


def _is_history(path: PurePosixPath) -> bool:
    top, *rest = path.parts
    if top in _FOLDERS:
        # Alternates borrow objects from anywhere.
        return rest[:1] != ["info"]
    return not rest and top in _NAMES


def _move(fresh: Path, kept: Path) -> None:
    try:
        fresh.rename(kept)
    except OSError:
        # Fine if another process has copied it in the meantime.
        if not kept.is_dir():
            raise
