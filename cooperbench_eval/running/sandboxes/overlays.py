"""Prepared caches: directories of which each command may change a private, temporary version.

The version is an overlay, which costs nothing until something is written, or a copy where
the system does not allow overlays. Either way, the prepared cache is never written to, and
what the command wrote is discarded when it ends.
"""

import os
import subprocess
import sys
from collections.abc import Iterable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from pathlib import Path, PurePosixPath

from cooperbench_eval.errors import ArgumentError, SandboxError, TestRunError
from cooperbench_eval.running.processes.supervision import SupervisedCommand
from cooperbench_eval.running.processes.temporary import temporary_folder
from cooperbench_eval.running.sandboxes.local import listed

_SCRIPT = Path(__file__).with_name("overlay_mounts.py")
_COPY_LIMIT_BYTES = 4 << 30
_REFUSED: set[str] = set()
"""The directories of which this process could not make an overlay."""

Binds = tuple[tuple[str, str], ...]
Caches = tuple[tuple[str, str], ...]
"""For each prepared cache, where the command sees it, and its directory."""
Words = tuple[str, ...]
CachesLike = Iterable[str | os.PathLike[str] | tuple[str, str]] | Mapping[str, str | Path]


class OverlayError(Exception):
    """An overlay of a directory cannot be mounted here."""


def as_caches(given: CachesLike) -> Caches:
    """Return an option that lists prepared caches, or that maps places to them.

    A single path, and a place that is relative and not below the tree, are an `ArgumentError`.
    """
    try:
        items = tuple(given.items() if isinstance(given, Mapping) else listed(given))
    except TypeError as exc:
        raise ArgumentError("writable_cache", str(exc)) from exc
    return tuple(
        (_normal(item[0]), os.path.abspath(item[1]))  # noqa: PTH100 - does not resolve links
        if isinstance(item, tuple)
        else (os.path.abspath(item), os.path.abspath(item))  # noqa: PTH100
        for item in items
    )


def _normal(where: str) -> str:
    place = PurePosixPath(where)
    if not place.is_absolute() and (not place.parts or ".." in place.parts):
        raise ArgumentError("writable_cache", f"has {where!r}, which is not below the tree")
    return str(place)


@contextmanager
def lent_caches(caches: Caches, supervised: SupervisedCommand) -> Iterator[tuple[Words, Binds]]:
    """Make private versions of prepared caches for one run of *supervised*; remove them at the end.

    Yields:
        What starts a command that sees them, before that command's own words; and the path of
        each version, with the place where the command should see it.

    Raises:
        TestRunError: A prepared cache does not exist, or the tree has something else
            in its place.
        SandboxError: A private version cannot be made.
        OverlayError: An overlay could not be mounted, so the command was not started. From now
            on, this process copies these directories.
    """
    if not caches:
        yield (), ()
        return
    prepared = tuple(path for _, path in caches)
    overlays = _REFUSED.isdisjoint(prepared)
    with ExitStack() as stack:
        try:
            places = [_place(where, supervised) for where, _ in caches]
            folder = stack.enter_context(temporary_folder())
            for number, path in enumerate(prepared):
                if not Path(path).is_dir():
                    problem = f"cannot be started (`writable_cache` {path} is not a directory)"
                    raise TestRunError(problem, supervised.command)
                _lay(folder / str(number), path, with_copy=not overlays)
        except OSError as exc:
            problem = f"writable_cache cannot be prepared ({exc})"
            raise SandboxError(problem, supervised.command) from exc
        words = (sys.executable, "-I", "-S", "-X", "utf8", str(_SCRIPT), str(folder))
        merged = (str(folder / str(number) / "merged") for number in range(len(prepared)))
        yield (
            (*words, str(len(prepared))) if overlays else (),
            tuple(zip(merged, places, strict=True)),
        )
        refusal = folder / "problem"
        if refusal.exists():
            _REFUSED.update(prepared)
            raise OverlayError(refusal.read_text(encoding="utf-8"))


def _place(where: str, supervised: SupervisedCommand) -> str:
    """Return the absolute place of a version; make it, if it is in the tree."""
    if os.path.isabs(where):  # noqa: PTH117
        return where
    place = supervised.folder
    for part in PurePosixPath(where).parts:
        place /= part
        # A link in the tree could lead bubblewrap to any place of this machine.
        if place.is_symlink() or (place.exists() and not place.is_dir()):
            problem = f"`writable_cache` {where}: the tree has a file or a link there"
            path = place.relative_to(supervised.folder).as_posix()
            raise TestRunError(f"cannot be started ({problem})", supervised.command, path)
        place.mkdir(exist_ok=True)
    return str(place)


def _lay(folder: Path, prepared: str, *, with_copy: bool) -> None:
    folder.mkdir()
    for name in () if with_copy else ("lower", "upper", "work", "merged"):
        (folder / name).mkdir()
    (folder / "prepared").symlink_to(prepared)
    if with_copy:
        _copy(prepared, folder / "merged")


def _copy(source: str, target: Path) -> None:
    size = 0
    for place, _, names in os.walk(source):
        size += sum(os.lstat(f"{place}/{name}").st_size for name in names)
        if size > _COPY_LIMIT_BYTES:
            problem = f"writable_cache: {source} has more than {_COPY_LIMIT_BYTES >> 30} GiB, and"
            raise SandboxError(f"{problem} this system does not allow an overlay of it")
    command = ("cp", "-a", "--reflink=auto", "--", source + "/.", str(target))
    done = subprocess.run(command, check=False, capture_output=True)  # noqa: S603
    if done.returncode:
        problem = done.stderr.decode(errors="backslashreplace").strip()[:200]
        raise SandboxError(f"writable_cache: {source} cannot be copied ({problem})")
