"""Finds plug-ins by name among the installed distributions.

Built-in and third-party plug-ins are registered in the same way: in one entry-point
group for each kind. Listing only reads names; a plug-in is imported when it is requested.
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
        return tuple(sorted({point.name for point in self._points()}))

    def build(self, name: str, options: Mapping[str, object]) -> PluginT:
        """Build the plug-in registered as *name*, with *options* as its arguments.

        Raises:
            UnknownPluginError: No distribution registers the name.
            DuplicatePluginError: Several distributions register it.
            PluginLoadError: The plug-in cannot be imported or built, or is of another kind.
        """
        point = self._find(name)
        origin = f"{_distribution(point)} ({point.value})"
        try:
            factory = point.load()
        # The plug-in's module may raise anything while it is imported.
        except Exception as exc:
            raise self._broken(name, origin, f"cannot be imported: {exc!r}") from exc
        try:
            plugin = factory(**options)
        except Exception as exc:
            raise self._broken(name, origin, f"cannot be built: {exc!r}") from exc
        return self._checked(plugin, name, origin)

    def accept(self, given: object) -> PluginT:
        """Return *given* itself, or, if it is a name, the plug-in registered under it.

        Raises:
            UnknownPluginError: No distribution registers the name.
            DuplicatePluginError: Several distributions register it.
            PluginLoadError: The object is of another kind, or is a class.
        """
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

    def _points(self) -> Iterable["EntryPoint"]:
        # Imported late because it takes much of the time of importing the library.
        from importlib.metadata import entry_points  # noqa: PLC0415

        return entry_points(group=self.group)

    def _find(self, name: str) -> "EntryPoint":
        unknown, duplicate, _ = self.errors
        points = self._points()
        # A distribution may be found twice: in its checkout and where it is installed.
        found = {(_distribution(p), p.value): p for p in points if p.name == name}
        if not found:
            origins = tuple(sorted({_distribution(p) for p in points}))
            raise unknown(name, self.names(), origins)
        if len(found) > 1:
            raise duplicate(name, tuple(sorted(origin for origin, _ in found)))
        return next(iter(found.values()))


def _distribution(point: "EntryPoint") -> str:
    return f"{point.dist.name} {point.dist.version}" if point.dist else "an unknown distribution"
