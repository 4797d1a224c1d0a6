"""Walks over a syntax tree and notes what its scopes declare, define, import and use.

`Walk` is the same for all languages. A subclass for each language has a table: which nodes
are names, paths and calls, and a rule for each kind of node that opens a scope, declares
names, or contains words that are not uses of names.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import ClassVar, NamedTuple

from cooperbench_eval.languages.model import (
    Arguments,
    Clash,
    Declaration,
    Definition,
    Import,
    Names,
    Signature,
    Use,
)
from cooperbench_eval.languages.readers.grammars import COMMENTS, SyntaxNode, rule_names
from cooperbench_eval.languages.scopes.blocks import BlockRules
from cooperbench_eval.languages.scopes.nodes import fields, innermost, text_of, words
from cooperbench_eval.languages.scopes.order import Event, Paths
from cooperbench_eval.languages.scopes.scope import Scope
from cooperbench_eval.languages.scopes.sharing import Sharing

_DEEPEST = 100
"""Scopes in more scopes than this are not read, since a name is looked up in each."""
_LONGEST_ARGUMENT = 200
_MOST_FOLLOWED = 100_000
"""Paths are not followed in a longer piece; that takes seconds for each megabyte."""
_ANYWHERE = 2**62
"""The place of a use for which the order of statements does not matter, such as a type's."""
_SPREAD = rule_names("dictionary_splat list_splat spread_element variadic_argument")
_NO_PARAMETERS = COMMENTS | rule_names("attribute_item receiver_parameter self_parameter")
_OPTIONAL = rule_names("assignment_pattern optional_parameter")
_REST = rule_names(
    "rest_pattern spread_parameter variadic_parameter variadic_parameter_declaration"
)

Rule = Callable[..., None]
Origin = Import | tuple[str, bool] | None


class _TooDeepError(Exception):
    """A scope is nested too deeply."""


class _Place(NamedTuple):
    """A place that uses a name, before the name is looked up."""

    chain: tuple[str, ...]
    start: int
    scope: Scope
    line: int
    end_line: int
    call: Arguments | None


class Walk:
    """One pass over a piece of a file: a statement with what belongs to it."""

    rules: ClassVar[Mapping[str, Rule]]
    """The rule for each kind of node; of all others, only the children are read."""
    uses: ClassVar[frozenset[str]]
    """The nodes that use a name."""
    paths: ClassVar[Mapping[str, tuple[str, str]]] = {}
    """The nodes of an attribute, with the fields of its object and of its name.

    The first field is empty for a node that only wraps a name or a path.
    """
    implicit: ClassVar[str] = ""
    """The object of a path that does not begin with one."""
    calls: ClassVar[Mapping[str, tuple[str, str]]] = {}
    """The nodes of a call, with the fields of the function and of the arguments."""
    receivers: ClassVar[Mapping[str, bool]] = {}
    """Words for the enclosing class, and whether they mean an instance of it."""
    roots: ClassVar[frozenset[str]] = frozenset()
    """Keywords with which a path may begin."""
    may_give_several: ClassVar[bool] = False
    """Whether a call that is the only argument may supply several arguments."""
    opaque: ClassVar[frozenset[str]] = frozenset()
    """The functions whose results have an unknown class."""
    package_clause: ClassVar[str] = ""
    """The node with the name of the package whose files share their names."""
    attributes: ClassVar[frozenset[str]] = frozenset()
    """The nodes that name an attribute."""
    assignments: ClassVar[frozenset[str]] = frozenset()
    """The nodes that may set an attribute."""
    sharing: ClassVar[Sharing] = Sharing()
    """Which declarations may share a name in one scope."""
    hides_members: ClassVar[bool] = False
    """Whether functions in a class do not see the names of its members."""
    in_order: ClassVar[bool] = False
    """Whether a name that is not yet declared may mean one of an outer scope."""
    is_ordered: ClassVar[bool] = False
    """Whether each path must bind a name before it reads it."""
    known: ClassVar[frozenset[str] | None] = None
    """The names that every file has; `None` if other files may declare names for it."""
    common: ClassVar[frozenset[str]] = frozenset()
    """The names of the attributes of built-in types."""
    blocks: ClassVar[BlockRules]

    def __init__(self, nodes: Sequence[SyntaxNode], owner: str = "") -> None:
        """Prepare to read *nodes*, which follow each other at the top level of a file.

        If an *owner* is given, they are a function in the class of that name.
        """
        self.file = Scope()
        self.owner = owner
        self.apart: list[tuple[str, SyntaxNode]] = []
        self._start = nodes[0].start_point.row
        self._nodes = nodes
        self._stack: list[tuple[SyntaxNode, Scope]] = []
        self._scopes = [self.file]
        self._places: list[_Place] = []
        self._declaring: set[int] = set()
        self._clashes: list[Clash] = []
        self._definitions: list[Definition] = []
        self._imports: list[Import] = []
        self._taken: list[Use] = []
        self.members: set[str] = set()
        self._sets: set[str] = set()
        self.functions: list[tuple[Scope, SyntaxNode]] = []
        self.slips: dict[str, int] = {}
        self.may_bind_any = False
        self.is_module = False

    def read(self) -> Names:
        """Read the nodes, except for the functions *apart*, each with the name of its class."""
        rules, uses, paths, calls, stack = (
            self.rules,
            self.uses,
            self.paths,
            self.calls,
            self._stack,
        )
        self.begin(self._nodes)
        while stack:
            node, scope = stack.pop()
            kind = node.type
            if kind in uses and kind not in paths:
                self._plain_name(node, scope)
            elif (rule := rules.get(kind)) is not None:
                try:
                    rule(self, node, scope)
                except _TooDeepError:
                    continue
            elif kind in calls:
                self._call(node, scope)
            elif kind in paths or kind in self.roots:
                self._chain(node, scope)
            elif kind in self.attributes:
                self.members.add(text_of(node))
            elif node.child_count:
                if kind in self.assignments:
                    self.set_attributes(fields(node, "left"))
                stack += [(each, scope) for each in reversed(node.named_children)]
        return self._names()

    def begin(self, nodes: Sequence[SyntaxNode]) -> None:
        """Begin with the nodes."""
        self.push(nodes, self.file)

    def _names(self) -> Names:
        free, local = set[str](), set[str]()
        uses = [found for place in self._places if (found := self._used(place, free, local))]
        early = self._follow() if self.is_ordered else frozenset()
        self._definitions.sort(key=lambda each: each.line)
        return Names(
            declared=tuple(
                (name, each) for name, found in self.file.names.items() for each in found
            ),
            definitions=tuple(self._definitions),
            imports=tuple(self._imports),
            uses=(*uses, *self._taken),
            clashes=(*self._clashes, *self._scope_clashes()),
            free=frozenset(free),
            local=frozenset(local),
            bound=frozenset(name for scope in self._scopes for name in scope.names),
            members=frozenset(self.members),
            sets=frozenset(self._sets),
            early=early,
            slips=self.slips,
            may_bind_any=self.may_bind_any,
            is_module=self.is_module,
        )

    def _follow(self) -> frozenset[str]:
        """Note the names that functions read too early; return those of the file itself."""
        if self._nodes[-1].end_byte - self._nodes[0].start_byte > _MOST_FOLLOWED:
            return frozenset()
        foreign = frozenset[str]().union(*(scope.foreign for scope in self._scopes))
        for scope, body in self.functions:
            names = scope.names.keys() - foreign
            paths = Paths(self.blocks, scope.events, names)
            paths.follow(body.named_children)
            for name in paths.maybe:
                often = "" if name in paths.never else " on each path"
                slip = f"{name!r} would be used in {scope.label!r} before it is bound{often}"
                self.slips[slip] = 1
        paths = Paths(self.blocks, self.file.events, {each.name for each in self.file.events})
        paths.follow(self._nodes)
        return frozenset(paths.never - (self.known or frozenset()) - foreign)

    # --- uses ---

    def _plain_name(self, node: SyntaxNode, scope: Scope) -> None:
        """Note the use of a name without attributes."""
        start, name = node.start_byte, text_of(node)
        if name and start not in self._declaring:
            line = self.line(node)
            place = _ANYWHERE if node.type == "type_identifier" else start
            self._places.append(_Place((name,), place, scope, line, line, None))

    def _chain(self, node: SyntaxNode, scope: Scope, call: SyntaxNode | None = None) -> None:
        """Note the use of a name with its attributes, and read the rest of the path."""
        names: list[str] = []
        root: SyntaxNode | None = node
        while root is not None and root.type in self.paths:
            if root is not node and root.type in self.calls:
                break  # what follows are attributes of its result
            outer, inner = self.paths[root.type]
            name = root.child_by_field_name(inner) if inner else root.named_children[0]
            of = root.child_by_field_name(outer) if outer else name
            if outer:
                names.append(text_of(name) if name else "")
            taken = {each.id for each in (name, of) if each is not None}
            if root.named_child_count > len(taken):
                self.push((each for each in root.named_children if each.id not in taken), scope)
            root = of
        if root is None or not (root.type in self.uses or root.type in self.roots):
            if root is not None:
                self._stack.append((root, scope))
                if self._is_opaque(root):
                    return
            names.append("" if root is not None else self.implicit)
        elif root.start_byte in self._declaring:
            return
        else:
            names.append(text_of(root))
        if names != [""]:
            place = _ANYWHERE if node.type == "type_identifier" else node.start_byte
            arguments = self.arguments(call) if call else None
            end = (call or node).end_point.row - self._start + 1
            found = _Place(tuple(reversed(names)), place, scope, self.line(node), end, arguments)
            self._places.append(found)

    def _call(self, node: SyntaxNode, scope: Scope) -> None:
        """Note the call of a named function, and read its parts."""
        if node.type in self.paths:
            self._chain(node, scope, node)
            return
        role, _ = self.calls[node.type]
        callee = node.child_by_field_name(role)
        if callee is not None and (callee.type in self.uses or callee.type in self.paths):
            start = callee.start_byte
            self.push((each for each in node.named_children if each.start_byte != start), scope)
            self._chain(callee, scope, node)
        else:
            self.push(node.named_children, scope)

    def arguments(self, call: SyntaxNode) -> Arguments | None:
        """Return the arguments of a call."""
        given = call.child_by_field_name(self.calls[call.type][1])
        if given is None or given.type not in {"arguments", "argument_list"}:
            return None
        positional: list[bytes] = []
        keywords: list[str] = []
        is_open = False
        for each in given.named_children:
            kind = each.type
            if kind in _SPREAD:
                is_open = True
            elif kind == "keyword_argument":
                keywords += map(text_of, fields(each, "name"))
            elif kind not in COMMENTS:
                positional.append(_argument(each))
        if self.may_give_several and given.named_child_count == 1:
            is_open = is_open or given.named_children[0].type in self.calls
        return Arguments(
            positional=tuple(positional), keywords=frozenset(keywords), is_open=is_open
        )

    def _is_opaque(self, node: SyntaxNode) -> bool:
        """Whether nothing is known about the attributes of what an expression returns."""
        if not self.opaque or node.type not in self.calls:
            return False
        return any(text_of(each) in self.opaque for each in fields(node, "function"))

    def set_attributes(self, targets: Iterable[SyntaxNode]) -> None:
        """Note the attributes that a statement sets."""
        stack = list(targets)
        while stack:
            left = stack.pop()
            if left.type in self.paths and self.paths[left.type][0]:
                self._sets.update(map(text_of, fields(left, self.paths[left.type][1])))
            elif left.type not in self.calls:
                stack += left.named_children

    def _used(self, place: _Place, free: set[str], local: set[str]) -> Use | None:
        """Return the use at a place; `None` if its name is declared in the piece itself."""
        chain, start, scope, line, end_line, call = place
        name, owner, is_instance, via = chain[0], "", False, None
        is_free = False
        if name in self.receivers and scope.owner:
            owner, is_instance = scope.owner, self.receivers[name]
        elif name and name not in self.roots:
            found, is_later = self._look_up(name, start, scope)
            if self.is_ordered and not is_later:
                (found or self.file).events.append(Event(start, name, binds=False))
            if found is None:
                is_free = True
                free.add(name)
            elif found is self.file:
                is_free = True
            else:
                local.add(name)
                origins = [each.origin for each in found.names[name]]
                origin = origins[0] if len(origins) == 1 else None
                if isinstance(origin, Import):
                    via = origin
                elif origin is not None:
                    owner, is_instance = origin
                elif len(chain) == 1:
                    return None
                else:
                    chain = ("", *chain[1:])
        return Use(chain, line, end_line, call, owner, is_instance, via, is_free)

    def _look_up(self, name: str, place: int, start: Scope) -> tuple[Scope | None, bool]:
        """Return the scope whose declaration a use refers to, if there is one.

        The second value is whether the use is executed later than that scope's statements.
        """
        scope: Scope | None = start
        is_later = start.is_later
        while scope is not None:
            if name in scope.foreign:
                scope = scope.foreign[name]
            found = scope.names.get(name)
            is_hidden = self.hides_members and scope.has_members
            if found and not (is_hidden and scope.names is not start.names):
                is_file = scope.parent is None
                if is_file or is_later or any(each.visible_from <= place for each in found):
                    return (self.file if is_file else scope), is_later
                if not self.in_order:
                    return None, is_later
            if not self.in_order:
                is_later = is_later or scope.is_function
            scope = scope.parent
        return None, is_later

    # --- declarations ---

    def _scope_clashes(self) -> Iterator[Clash]:
        for scope in self._scopes[1:]:
            for name, found in scope.names.items():
                if len(found) > 1 and (clash := self.sharing.clash(name, scope.label, found)):
                    yield clash

    def push(self, nodes: Iterable[SyntaxNode], scope: Scope) -> None:
        """Read *nodes* next, as parts of a scope."""
        self._stack += [(node, scope) for node in nodes if node.is_named][::-1]

    def open(
        self,
        parent: Scope,
        label: str = "",
        *,
        is_function: bool = False,
        has_members: bool = False,
    ) -> Scope:
        """Open a scope; if it is too deep, end the rule without reading what is in it."""
        if parent.depth >= _DEEPEST:
            raise _TooDeepError
        scope = Scope(parent, label, is_function=is_function, has_members=has_members)
        self._scopes.append(scope)
        return scope

    def declare(
        self,
        scope: Scope,
        node: SyntaxNode,
        kind: str,
        *,
        visible_from: int = 0,
        origin: Origin = None,
        is_used: bool = False,
        is_set: bool = True,
    ) -> None:
        """Declare the name in a node, which may be a use too, or get no value."""
        if not is_used:
            self._declaring.add(node.start_byte)
        if is_set and self.is_ordered:
            scope.events.append(Event(node.start_byte, text_of(node), binds=True))
        place = Declaration(kind, self.line(node), visible_from, scope.branch, origin)
        scope.add(text_of(node), place)

    def define(
        self,
        scope: Scope,
        name: str,
        node: SyntaxNode,
        *,
        line: int = 0,
        is_class: bool = False,
        is_function: bool = False,
        signature: Signature | None = None,
        takes_instance: bool = False,
        bases: tuple[str, ...] = (),
        body: bytes = b"",
    ) -> None:
        """Note the definition that a node consists of."""
        found = Definition(
            name=f"{scope.label}.{name}" if scope.label else name,
            line=line or self.line(node),
            first=self.line(node),
            last=node.end_point.row - self._start + 1,
            is_class=is_class,
            is_function=is_function,
            signature=signature,
            takes_instance=takes_instance,
            bases=bases,
            body=hash(body) if body else 0,
        )
        self._definitions.append(found)

    def define_function(
        self,
        scope: Scope,
        name: str,
        node: SyntaxNode,
        function: SyntaxNode | None = None,
        *,
        takes_instance: bool = False,
    ) -> None:
        """Note the definition of a function; the name may come from a node around it."""
        function = function or node
        self.define(
            scope,
            name,
            node,
            is_function=True,
            signature=self._signature(function, takes_instance=takes_instance),
            takes_instance=takes_instance,
            body=b" ".join(map(words, fields(function, "body"))),
        )

    def _signature(self, function: SyntaxNode, *, takes_instance: bool) -> Signature:
        """Return the parameters of a function, none of which can be given by name."""
        names = [""] if takes_instance else []
        required, takes_more = len(names), False
        lists = fields(function, "parameters")
        for each in lists[0].named_children if lists else fields(function, "parameter"):
            pattern = each.child_by_field_name("pattern") or each
            if each.type in _NO_PARAMETERS or pattern.type == "this":
                continue
            if {each.type, pattern.type} & _REST:
                takes_more = True
                continue
            found = fields(each, "name") or fields(pattern, "left") or [innermost(pattern)]
            if text_of(each) == "void":
                continue
            names += [text_of(one) if one.type == "identifier" else "" for one in found]
            is_optional = each.type in _OPTIONAL or each.child_by_field_name("value") is not None
            required = required if is_optional else len(names)
        number = len(names)
        return Signature(
            positional=tuple(names), unnamed=number, required=required, takes_more=takes_more
        )

    def take(
        self,
        scope: Scope,
        node: SyntaxNode,
        name: str,
        module: str,
        attribute: str = "",
        *,
        taken: str = "",
    ) -> Import:
        """Note an import; *taken* is the module if the name is only its first part."""
        line = self.line(node)
        found = Import(name, module, attribute, line, scope is self.file)
        self._imports.append(found)
        if name != "*":
            via = Import(taken, taken, "", line) if taken else found
            end = node.end_point.row - self._start + 1
            self._taken.append(Use((via.name,), line, end, via=via))
        return found

    def once(self, scope: Scope, named: Iterable[tuple[str, SyntaxNode]]) -> None:
        """Note members whose names must not repeat."""
        found: dict[str, list[int]] = {}
        for name, node in named:
            found.setdefault(name, []).append(self.line(node))
        self._clashes += (
            Clash(name, scope.label, tuple(lines))
            for name, lines in found.items()
            if len(lines) > 1
        )

    def statements(self, nodes: Sequence[SyntaxNode]) -> None:
        """Note the probable mistakes in a block."""
        nodes = [node for node in nodes if node.is_named and node.type not in COMMENTS]
        for slip in self.blocks.slips(nodes):
            self.slips[slip] = self.slips.get(slip, 0) + 1

    # --- rules that several languages share ---

    def inner(self, node: SyntaxNode, scope: Scope) -> None:
        """Read the children of a node in a scope of their own."""
        self.push(node.children, self.open(scope))

    def block(self, node: SyntaxNode, scope: Scope) -> None:
        """Read a block of statements, which has a scope of its own."""
        self.statements(node.children)
        self.inner(node, scope)

    def branches(self, node: SyntaxNode, scope: Scope) -> None:
        """Read a node and its alternatives, of which only one is executed."""
        others = {each.id for each in fields(node, "alternative")}
        for each in node.named_children:
            self.push([each], scope.branched(node.start_byte, int(each.id in others)))

    def only(self, node: SyntaxNode, scope: Scope, *, role: str = "") -> None:
        """Read only the children in one field; none by default."""
        self.push(node.children_by_field_name(role) if role else (), scope)

    def named(self, node: SyntaxNode, scope: Scope, *, kind: str) -> None:
        """Declare the name of a node, and read the node."""
        for name in fields(node, "name"):
            self.declare(scope, name, kind)
        self.push(node.children, scope)

    def line(self, node: SyntaxNode) -> int:
        """Return the line of a node, counted from the first line of the piece."""
        return node.start_point.row - self._start + 1


def _argument(node: SyntaxNode) -> bytes:
    """Return the text of an argument, or its length if it is long, since arguments nest."""
    length = node.end_byte - node.start_byte
    return words(node) if length <= _LONGEST_ARGUMENT else b"%d bytes" % length
