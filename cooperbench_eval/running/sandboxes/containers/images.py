"""The benchmark's task images: what they are called, and the repository inside."""

import hashlib
import tempfile
from pathlib import Path, PurePosixPath

from cooperbench_eval.errors import RepositoryError
from cooperbench_eval.running.sandboxes.containers.archives import Bounds, Unpacked, unpack
from cooperbench_eval.running.sandboxes.containers.engine import Engine, MissingError, connect
from cooperbench_eval.running.sandboxes.containers.run import container

__all__ = ["PREFIX", "REGISTRY", "repository_from_image", "task_image"]

REGISTRY = "akhatua"
PREFIX = "cooperbench"

_BOUNDS = Bounds(files=2_000_000, size=16 << 30)
_NAMES = {"HEAD", "packed-refs", "shallow"}
_FOLDERS = {"objects", "refs"}
_BARE = "[core]\n\trepositoryformatversion = 0\n\tbare = true\n"


def task_image(
    repo_name: str, task_id: int | str, *, registry: str = REGISTRY, prefix: str = PREFIX
) -> str:
    """Return the name of a task's image, built as the benchmark builds it.

    Args:
        repo_name: The repository's name in the dataset.
        task_id: The task's number.
        registry: Where the image is; empty for images of this machine.
        prefix: What its name begins with.

    Example:
        >>> task_image("pallets_click_task", 2068)
        'akhatua/cooperbench-pallets-click:task2068'
    """
    name = repo_name.removesuffix("_task").replace("_", "-")
    place = f"{registry}/" if registry else ""
    return f"{place}{prefix}-{name}:task{task_id}"


def repository_from_image(
    image: str,
    destination: Path | str,
    *,
    path: str = "/workspace/repo",
    pull: bool = True,
    base_url: str | None = None,
) -> Path:
    """Take the history of a repository out of an image, once.

    What is kept is a bare repository: `HEAD`, the references and the objects, for
    `Snapshot.from_repo`. Configuration, hooks, links, the work tree and borrowed
    objects are left in the image, since they could lead elsewhere. The image is
    not run.

    Args:
        image: The image, by name or digest.
        destination: A directory for such repositories, made if it is absent. One
            is kept for each image's digest and path, and found again.
        path: Where the image has the repository.
        pull: Whether an image that is absent is fetched from its registry.
        base_url: Where the engine is, if not at `DOCKER_HOST`.

    Returns:
        The repository's directory.

    Raises:
        RepositoryError: The image has no repository there, or one that is too
            large, or it cannot be written.
        TestRunError: There is no such image.
        SandboxError: The engine or the registry cannot be reached, or fails.
    """
    with connect(base_url) as engine:
        digest = engine.image(image, pull=pull).digest
        place = hashlib.sha256(path.encode()).hexdigest()[:8]
        kept = Path(destination) / f"{digest.removeprefix('sha256:')}-{place}.git"
        try:
            if not kept.is_dir():
                kept.parent.mkdir(parents=True, exist_ok=True)
                with tempfile.TemporaryDirectory(prefix=".taking-", dir=kept.parent) as part:
                    fresh = Path(part) / "git"
                    _take(engine, digest, f"{path.rstrip('/')}/.git", fresh)
                    _move(fresh, kept)
        except MissingError as exc:
            raise RepositoryError(f"{image}:{path}", "holds no git repository") from exc
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
        how = unpack(archive, fresh, _BOUNDS, wanted=_is_history)
    if how is not Unpacked.COMPLETE:
        raise RepositoryError(git, "is damaged, or larger than 16 GiB or two million files")
    if not (fresh / "HEAD").is_file():
        raise MissingError(f"{git} is no git repository")
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
        # Somebody was faster.
        if not kept.is_dir():
            raise
