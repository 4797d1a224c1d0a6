"""Finds plug-ins by name among the installed distributions.

Built-in and third-party plug-ins are registered in the same way: in one entry-point
group for each kind. Listing only reads names; a plug-in is imported when it is requested.

Reading the entry points of all installed distributions takes milliseconds. So they are read
again only if something on `sys.path` changed. Checking that takes microseconds.

The name of a built-in plug-in always means the built-in one. If another distribution registers
it too, that plug-in is ignored.
"""

import importlib
import inspect
import os
import sys
import time
import warnings
from collections.abc import Callable, Iterable, Mapping
from typing import TYPE_CHECKING, Generic, NamedTuple, Protocol, TypeGuard, TypeVar

from attrs import field, frozen

from cooperbench_eval.errors import (
    CooperBenchEvalError,
    DuplicatePluginError,
    PluginLoadError,
    UnknownPluginError,
)

if TYPE_CHECKING:
    from importlib.metadata import EntryPoint


PluginT = TypeVar("PluginT")

_OWN = "cooperbench-eval"
"""The distribution of this library, whose names no other one can take."""
_PACKAGE = __name__.partition(".")[0]
_COARSEST_CLOCK_NS = 2_000_000_000
"""No file system rounds the times of its directories to more than two seconds."""


_State = tuple[tuple[object, ...], ...]


def _state() -> _State:
    """Return what decides which distributions are installed.

    This is each existing item of `sys.path` with the times of its last change, and the import
    system's finders. If an item changed just now, the names in it are there too, since the next
    change may get the same time.
    """
    now = time.time_ns()
    items: list[tuple[object, ...]] = []
    for item in sys.path:
        try:
            found = os.stat(item or os.curdir)  # noqa: PTH116 - an item may be a string
        except (OSError, ValueError):
            continue
        # An unpacked archive may restore the times of its directories, but not those of
        # their inodes.
        changed, inode_changed = found.st_mtime_ns, found.st_ctime_ns
        is_new = min(abs(now - changed), abs(now - inode_changed)) < _COARSEST_CLOCK_NS
        names = _names_in(item) if is_new else None
        items.append((item, changed, inode_changed, found.st_ino, found.st_size, names))
    return (*items, tuple(sys.meta_path))


def _names_in(folder: str) -> frozenset[str]:
    try:
        return frozenset(os.listdir(folder or os.curdir))  # noqa: PTH208 - as above
    except OSError:  # an archive, whose size is known
        return frozenset()


class _EntryPoints(Protocol):
    def select(self, *, group: str) -> Iterable["EntryPoint"]: ...


class _Found(NamedTuple):
    """The entry point of a name.

    Attributes:
        distribution: The distribution that registers it, with its version.
        ignored: Other distributions that register it, although it is built in.
    """

    distribution: str
    point: "EntryPoint"
    ignored: tuple[str, ...]


@frozen
class _Installed:
    """The entry points of all distributions that are installed at one moment.

    Attributes:
        state: The state just before they were read.
        found: What was looked up, by group and name.
    """

    state: _State
    points: _EntryPoints
    found: dict[tuple[str, str], _Found] = field(factory=dict)

    @classmethod
    def read(cls, state: _State) -> "_Installed":
        """Read the entry points of every distribution."""
        # Imported late because it takes much of the time of importing the library.
        from importlib.metadata import MetadataPathFinder, entry_points  # noqa: PLC0415

        # The import system has caches of directories, which may miss a change within a clock tick.
        importlib.invalidate_caches()
        MetadataPathFinder().invalidate_caches()  # Python 3.11 does not include it
        return cls(state, entry_points())


_last: _Installed | None = None


def _installed() -> _Installed:
    """Return what is installed now; threads may read it at the same time, with equal results."""
    global _last  # noqa: PLW0603 - one environment, one cache
    state = _state()
    last = _last
    if last is None or last.state != state:
        _last = last = _Installed.read(state)
    return last


@frozen(kw_only=True)
class PluginGroup(Generic[PluginT]):
    """The registry of one kind of plug-in.

    Attributes:
        group: The entry-point group.
        is_plugin: Whether an object is a plug-in of this kind; the check may raise anything.
        needs: The attributes of a plug-in of this kind, for error messages.
        errors: The errors for a name that no distribution registers, for a name that
            several register, and for an object that cannot be loaded or is of another kind.
    """

    group: str
    is_plugin: Callable[[object], TypeGuard[PluginT]] = field(repr=False)
    needs: str
    errors: tuple[type[UnknownPluginError], type[DuplicatePluginError], type[PluginLoadError]]

    def names(self) -> tuple[str, ...]:
        """Return the registered names, sorted; imports no plug-in."""
        return tuple(sorted({p.name for p in _installed().points.select(group=self.group)}))

    def build(self, name: str, options: Mapping[str, object]) -> PluginT:
        """Build the plug-in registered as *name*, with *options* as its arguments.

        If other distributions register the name of a built-in plug-in, a warning names them. An
        error is one of `errors`.
        """
        distribution, point, ignored = self._find(name)
        if ignored:
            text = (
                f"{self._broken.kind} {name!r} is built in, so the one of {' and '.join(ignored)} "
                "is ignored; register it under another name"
            )
            warnings.warn(text, stacklevel=_depth_of_caller())
        origin = f"{distribution} ({point.value})"
        try:
            factory = point.load()
        # The plug-in's module may raise anything while it is imported.
        except Exception as exc:
            raise self._broken(name, origin, f"cannot be imported: {_in_words(exc)}") from exc
        try:
            plugin = factory(**options)
        except Exception as exc:
            raise self._broken(name, origin, f"cannot be built: {_in_words(exc)}") from exc
        return self._checked(plugin, name, origin)

    def accept(self, given: object) -> PluginT:
        """Return *given* itself, or, if it is a name, the plug-in that `build` builds."""
        if isinstance(given, str):
            return self.build(given, {})
        name, origin = f"{given!r:.80}", type(given).__qualname__
        if isinstance(given, type):
            problem = f"is a class; pass an instance, as {given.__name__}()"
            raise self._broken(name, origin, problem)
        return self._checked(given, name, origin, advice="; pass an instance or a name")

    def _checked(self, candidate: object, name: str, origin: str, advice: str = "") -> PluginT:
        try:
            if not isinstance(candidate, type) and self.is_plugin(candidate):
                return candidate
        except Exception as exc:
            raise self._broken(name, origin, f"cannot be inspected: {exc!r}") from exc
        problem = f"is not a {self._broken.kind}: it needs {self.needs}{advice}"
        raise self._broken(name, origin, problem)

    @property
    def _broken(self) -> type[PluginLoadError]:
        return self.errors[2]

    def _find(self, name: str) -> "_Found":
        """Return the entry point with this name, and who else registers it."""
        installed, key = _installed(), (self.group, name)
        if key in installed.found:
            return installed.found[key]
        points = installed.points.select(group=self.group)
        unknown, duplicate, _ = self.errors
        # A distribution may be found twice: in its checkout and where it is installed.
        named = [p for p in points if p.name == name]
        own = list(filter(_is_own, named))
        found = {(_distribution(p), p.value): p for p in own or named}
        if not found:
            origins = tuple(sorted({_distribution(p) for p in points}))
            raise unknown(name, tuple(sorted({p.name for p in points})), origins)
        if len(found) > 1:
            raise duplicate(name, tuple(sorted(origin for origin, _ in found)))
        ((distribution, _), point), *_ = found.items()
        others = {_distribution(p) for p in named if not _is_own(p)} if own else ()
        return installed.found.setdefault(key, _Found(distribution, point, tuple(sorted(others))))


def _depth_of_caller() -> int:
    """Return how many calls are between this library's caller and the caller of this function."""
    depth, frame = 0, inspect.currentframe()
    while frame is not None:
        # The constructors that attrs writes have no module of their own.
        if frame.f_globals.get("__name__", __name__).partition(".")[0] != _PACKAGE:
            break
        depth, frame = depth + 1, frame.f_back
    return depth


def _in_words(exc: Exception) -> str:
    """Return the message of an error; with its type, unless the message was written for users."""
    speaks = isinstance(exc, CooperBenchEvalError | ImportError) and str(exc)
    return speaks or repr(exc)


def _is_own(point: "EntryPoint") -> bool:
    return point.dist is not None and point.dist.name.lower().replace("_", "-") == _OWN


def _distribution(point: "EntryPoint") -> str:
    return f"{point.dist.name} {point.dist.version}" if point.dist else "an unknown distribution"
