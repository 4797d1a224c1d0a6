"""The scopes of a file while it is read."""

from cooperbench_eval.languages.model import Branch, Declaration
from cooperbench_eval.languages.scopes.order import Event


class Scope:
    """A part of a file in which names are declared.

    Attributes:
        parent: The scope around it; `None` for the file.
        label: The names of the named scopes up to this one, with dots.
        owner: The label of the class around it; empty if there is none.
        is_function: Whether its statements run later than those around it.
        has_members: Whether its names are members, as in a class.
        is_local: Whether it is in a function or in a block.
        is_later: Whether what is being read may be executed later than the statement it is in.
        names: The declarations of each name.
        events: The places at which its own statements read or bind names.
        branch: The branches that are being read.
        depth: The number of scopes around it.
    """

    __slots__ = (
        *("branch", "depth", "events", "foreign", "has_members", "is_function"),
        *("is_later", "is_local", "label", "names", "owner", "parent"),
    )

    def __init__(
        self,
        parent: "Scope | None" = None,
        label: str = "",
        *,
        is_function: bool = False,
        has_members: bool = False,
    ) -> None:
        self.parent = parent
        self.is_function = is_function
        self.has_members = has_members
        self.is_local: bool = parent is not None and (parent.is_local or not has_members)
        self.names: dict[str, list[Declaration]] = {}
        self.foreign: dict[str, Scope] = {}
        self.events: list[Event] = []
        self.branch: Branch = ()
        self.is_later = False
        around = parent.label if parent else ""
        self.label: str = f"{around}.{label}" if around and label else label or around
        self.owner: str = self.label if has_members else parent.owner if parent else ""
        self.depth: int = parent.depth + 1 if parent else 0

    def branched(self, start: int, number: int) -> "Scope":
        """Return the same scope, for reading one branch of the statement that begins there."""
        scope = self._again()
        scope.branch = (*self.branch, (start, number))
        return scope

    def later(self) -> "Scope":
        """Return the same scope, for reading something that is executed later."""
        scope = self._again()
        scope.is_later = True
        return scope

    def _again(self) -> "Scope":
        scope = Scope(self.parent, is_function=self.is_function, has_members=self.has_members)
        scope.names, scope.foreign, scope.is_local = self.names, self.foreign, self.is_local
        scope.events = self.events
        scope.label, scope.owner = self.label, self.owner
        scope.branch, scope.is_later = self.branch, self.is_later
        return scope

    def add(self, name: str, declaration: Declaration) -> None:
        """Declare a name here, or in the scope that a `global` or `nonlocal` names."""
        names = self.foreign[name].names if name in self.foreign else self.names
        names.setdefault(name, []).append(declaration)
