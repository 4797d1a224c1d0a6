"""Finds plug-ins by name among the installed distributions.

What is built in stands in the same table as anybody's: an entry-point group for
each kind. Listing reads names only; a plug-in is imported when it is asked for.
"""

from collections.abc import Callable, Iterable, Mapping
from typing import TYPE_CHECKING, Generic, TypeGuard, TypeVar

from attrs import field, frozen

from cooperbench_eval.errors import DuplicatePluginError, PluginLoadError, UnknownPluginError

if TYPE_CHECKING:
    from importlib.metadata import EntryPoint

__all__ = ["PluginGroup"]

PluginT = TypeVar("PluginT")


@frozen(kw_only=True)
class PluginGroup(Generic[PluginT]):
    """One kind of plug-in, and how to get one by its name.

    Attributes:
        group: The entry-point group in which distributions register theirs.
        keeps: Tells whether an object is one of this kind.
        lacks: What an object lacks that is none, as a clause.
        unknown: Raised where no distribution registers a name.
        duplicate: Raised where several do.
        broken: Raised where a plug-in cannot be imported, built, or is none.
    """

    group: str
    keeps: Callable[[object], TypeGuard[PluginT]] = field(repr=False)
    lacks: str
    unknown: type[UnknownPluginError] = UnknownPluginError
    duplicate: type[DuplicatePluginError] = DuplicatePluginError
    broken: type[PluginLoadError] = PluginLoadError

    def names(self) -> tuple[str, ...]:
        """Return the registered names, sorted; imports nothing of theirs."""
        return tuple(sorted({point.name for point in self._points()}))

    def build(self, name: str, options: Mapping[str, object]) -> PluginT:
        """Build the plug-in registered as *name*, with *options* as its arguments.

        Raises:
            UnknownPluginError: No distribution registers the name.
            DuplicatePluginError: Several do.
            PluginLoadError: It cannot be imported, built, or is of another kind.
        """
        point = self._find(name)
        origin = f"{_distribution(point)} ({point.value})"
        try:
            factory = point.load()
        # A plug-in may raise anything at import; that is a fact about the plug-in.
        except Exception as exc:
            raise self.broken(name, origin, f"cannot be imported: {exc!r}") from exc
        try:
            plugin = factory(**options)
        except Exception as exc:
            raise self.broken(name, origin, f"cannot be built: {exc!r}") from exc
        if not self._is_kept(plugin, name, origin):
            raise self.broken(name, origin, self.lacks)
        return plugin

    def accept(self, given: object, needs: str) -> PluginT:
        """Return *given* itself if it is of this kind, or what it names.

        Args:
            given: An instance, or a registered name.
            needs: What an object needs to be one, as a clause for the error.

        Raises:
            UnknownPluginError: No distribution registers the name.
            DuplicatePluginError: Several do.
            PluginLoadError: It is of another kind; a class is none either.
        """
        if isinstance(given, str):
            return self.build(given, {})
        name, origin = f"{given!r:.80}", type(given).__qualname__
        if isinstance(given, type):
            problem = f"is a class; pass an instance, as {given.__name__}()"
            raise self.broken(name, origin, problem)
        if not self._is_kept(given, name, origin):
            raise self.broken(name, origin, needs)
        return given

    def _is_kept(self, candidate: object, name: str, origin: str) -> TypeGuard[PluginT]:
        try:
            return self.keeps(candidate)
        # Its attributes may be computed, and raise anything.
        except Exception as exc:
            raise self.broken(name, origin, f"cannot be looked at: {exc!r}") from exc

    def _points(self) -> Iterable["EntryPoint"]:
        # Imported here because it is a good part of what importing the library costs.
        from importlib.metadata import entry_points  # noqa: PLC0415

        return entry_points(group=self.group)

    def _find(self, name: str) -> "EntryPoint":
        points = self._points()
        # One distribution may be found twice, by its checkout and as installed.
        found = {(_distribution(p), p.value): p for p in points if p.name == name}
        if not found:
            origins = tuple(sorted({_distribution(p) for p in points}))
            raise self.unknown(name, self.names(), origins)
        if len(found) > 1:
            raise self.duplicate(name, tuple(sorted(origin for origin, _ in found)))
        return next(iter(found.values()))


def _distribution(point: "EntryPoint") -> str:
    return f"{point.dist.name} {point.dist.version}" if point.dist else "an unknown distribution"
