"""Finds the kind and the name of each construct in a syntax tree."""

import re
from collections.abc import Callable, Mapping
from typing import ClassVar, NamedTuple

from cooperbench_eval.languages.readers.grammars import COMMENTS, SyntaxNode, by_rule, rule_names
from cooperbench_eval.languages.readers.profiles import (
    FUNCTIONS,
    HOLDERS,
    NAMED,
    PREFIXES,
    WORDS,
    Profile,
)

_KEYED = rule_names("arm class const def enum field interface macro signature spec struct type var")
"""The kinds whose names are unique among siblings."""
_PATTERN = b"{}"
"""The name of a parameter that is a pattern: its members may differ between versions."""


_ROLES = ("key", "designator", "field", "pattern", "left", "type")
"""The roles of the part that names a construct."""
_LOADING = frozenset({b"load", b"require", b"require_relative"})


class Description(NamedTuple):
    """The kind and name of a member.

    Attributes:
        kind: Its kind, in the vocabulary that all languages share.
        key: Its name among its siblings; empty if it has none.
        body: The anonymous function that the member names, if there is one.
    """

    kind: str
    key: bytes = b""
    body: SyntaxNode | None = None


class ConstructNamer:
    """Names the constructs of a file."""

    def __init__(self, profile: Profile, source: bytes) -> None:
        self._profile = profile
        self._source = source

    def describe(self, node: SyntaxNode) -> Description:
        """Describe a statement, a definition or a clause."""
        inner = self.unwrap(node)
        if describe := self._DESCRIBED.get(inner.type):
            return describe(self, inner)
        kind = self._profile.kinds.get(inner.type, "expression")
        if inner is not node and inner.type in {"arrow_function", "function_expression"}:
            return Description("def", b"default", inner)
        return Description(kind, self._key(inner))

    def item(self, nodes: list[SyntaxNode]) -> bytes:
        """Return the name of a list's item, or its whole text if it has no name."""
        for node in nodes:
            if node.type in COMMENTS or node.type in PREFIXES:
                continue
            if node.type in NAMED:
                key = self._key(node) or self.text(node)
                return _PATTERN if key.startswith(b"{") else key
            break
        return b" ".join(map(self.text, nodes))

    def unwrap(self, node: SyntaxNode) -> SyntaxNode:
        """Return the innermost statement that a statement wraps, such as an exported one."""
        return self.path(node)[-1]

    def path(self, node: SyntaxNode) -> list[SyntaxNode]:
        """Return a statement, the statement that it wraps, and so on inwards."""
        found = [node]
        while (inner := self._wrapped(found[-1])) is not None:
            found.append(inner)
        return found

    def _wrapped(self, node: SyntaxNode) -> SyntaxNode | None:
        if node.type not in self._profile.wrappers:
            return None
        if node.type == "export_statement":
            return node.child_by_field_name("declaration") or node.child_by_field_name("value")
        return next(reversed(self._named(node)), None)

    def text(self, node: SyntaxNode) -> bytes:
        """Return the source text of a construct, with single spaces."""
        return b" ".join(self._source[node.start_byte : node.end_byte].split())

    def _text(self, node: SyntaxNode, role: str) -> bytes:
        found = node.child_by_field_name(role)
        return self.text(found) if found else b""

    def _named(self, node: SyntaxNode) -> list[SyntaxNode]:
        return [each for each in node.children if each.is_named and each.type not in COMMENTS]

    def _key(self, node: SyntaxNode) -> bytes:
        if name := self._NAMES.get(node.type):
            return name(self, node)
        is_keyed = self._profile.kinds.get(node.type) in _KEYED
        return self._name(node) if is_keyed or node.type in NAMED else b""

    def _name(self, node: SyntaxNode) -> bytes:
        """Name a construct by its parts: the names that it declares, or another part."""
        key = self._text(node, "alias") or b",".join(self._declared(node))
        key = key or next((key for role in _ROLES if (key := self._text(node, role))), b"")
        if node.type in self._profile.overloaded:
            key += self._types(node)
        if node.type in self._profile.folded:
            key = key.lower()
        receiver = self._text(node, "receiver")
        return receiver + b"." + key if receiver else key

    def _declared(self, node: SyntaxNode) -> list[bytes]:
        """Return the names that a declaration or a part of it declares."""
        if named := node.children_by_field_name("name"):
            return list(map(self.text, named))
        names: list[bytes] = []
        stack = [node]
        while stack:
            holder = stack.pop()
            roles = [
                (each, holder.field_name_for_child(i)) for i, each in enumerate(holder.children)
            ]
            inner = [each for each, _ in roles if each.type in HOLDERS]
            found = [e for e, role in roles if role in {"name", "declarator"} and e not in inner]
            if not (found or inner or any(role in _ROLES for _, role in roles)):
                found = [each for each, _ in roles if each.type in {"identifier", "constant"}][:1]
            names += map(self.text, found)
            stack += reversed(inner)
        return names

    def _types(self, node: SyntaxNode) -> bytes:
        """Return the types of the parameters; empty if it has no list of parameters."""
        parameters = _parameters(node)
        if parameters is None:
            return b""
        given = self._named(parameters)
        types = [self._text(each, "type") or self.text(_type(each)) for each in given]
        return b"(" + b", ".join(types) + b")"

    def _implementation(self, node: SyntaxNode) -> bytes:
        trait = self._text(node, "trait")
        return (trait + b" for " if trait else b"") + self._text(node, "type")

    def _only(self, node: SyntaxNode) -> bytes:
        """Name a declaration of exactly one thing after that thing."""
        specs = self._named(node)
        return self._key(specs[0]) if len(specs) == 1 else b""

    def _default(self, _node: SyntaxNode) -> bytes:
        return b"default"

    def _case(self, node: SyntaxNode) -> bytes:
        return self._text(node, "value") or self.text(node).partition(b":")[0]

    def _typed(self, node: SyntaxNode) -> bytes:
        return self.text(node.children[0])

    def _before_arrow(self, node: SyntaxNode) -> bytes:
        key = re.split(rb"->|=>", self.text(node))[0].strip()
        is_php = node.type == "array_element_initializer"
        return re.sub(rb'\A"([^"\\$]*)"\Z', rb"'\1'", key) if is_php else key

    def _using(self, node: SyntaxNode) -> bytes:
        """Name a `using` of C# by its alias."""
        alias = self._text(node, "name")
        return b"using " + alias if alias else self.text(node)

    def _pair(self, node: SyntaxNode) -> bytes:
        """Name an entry by its key; `b: 1` and `:b => 1` have the same one in Ruby."""
        name, key = self._name(node), node.child_by_field_name("key")
        is_symbol = key is not None and key.type == "simple_symbol"
        return name.removeprefix(b":") if is_symbol else name

    def _selected(self, node: SyntaxNode) -> bytes:
        """Name a rule of a style sheet by what it selects."""
        return self._outside(node, "block")

    def _method(self, node: SyntaxNode) -> bytes:
        """Name a method; a getter and a setter of one property get different names."""
        words = [self.text(node.child_by_field_name("name") or node)]
        for child in node.children:
            if child.type in {"get", "set", "static"}:
                words.insert(-1, child.type.encode())
        return b" ".join(words)

    def _let(self, node: SyntaxNode) -> Description:
        kind = "assignment" if node.child_by_field_name("value") else "declaration"
        return Description(kind, self._text(node, "pattern"))

    def _variables(self, node: SyntaxNode) -> Description:
        found = [each for each in self._named(node) if each.type == "variable_declarator"]
        if len(found) == 1:
            return self._variable(found[0], "declaration")
        return Description("declaration", b",".join(self._declared(node)))

    def _field(self, node: SyntaxNode) -> Description:
        return self._variable(node, "field")

    def _variable(self, node: SyntaxNode, kind: str) -> Description:
        key = self._text(node, "name") or self._text(node, "property")
        value = node.child_by_field_name("value") or _assigned(node)
        if value and value.type in FUNCTIONS and value.type != "class":
            return Description("def", key, value)
        return Description("assignment" if value and kind != "field" else kind, key)

    def _declaration(self, node: SyntaxNode) -> Description:
        """Describe a declaration of variables or a function, or one in a style sheet."""
        if node.children[0].type == "property_name":
            return Description("field", self.text(node.children[0]))
        if _parameters(node) is not None:
            return Description("signature", self._name(node))
        has_value = any(child.type == "init_declarator" for child in node.children)
        return Description("assignment" if has_value else "declaration", self._name(node))

    def _property(self, node: SyntaxNode) -> Description:
        """Describe a property, or a variable of a function in Kotlin."""
        is_local = node.parent is not None and node.parent.type == "block" and _assigned(node)
        return Description("assignment" if is_local else "field", b",".join(self._declared(node)))

    def _assignment(self, node: SyntaxNode) -> Description:
        operator = node.child_by_field_name("operator")
        is_plain = operator is None or self.text(operator) == b"="
        return Description("assignment" if is_plain else "expression", self._text(node, "left"))

    def _call(self, node: SyntaxNode) -> Description:
        """Name a call that takes a string and a function, such as `test("adds", () => …)`."""
        arguments = node.child_by_field_name("arguments")
        given = self._named(arguments) if arguments else []
        takes_function = any(each.type in FUNCTIONS for each in given[1:])
        if not takes_function or given[0].type not in WORDS:
            return Description("expression")
        return Description("expression", self._text(node, "function") + b" " + self.text(given[0]))

    def _sent(self, node: SyntaxNode) -> Description:
        """Describe a call in Ruby; some calls load files, and some name a block."""
        arguments = node.child_by_field_name("arguments")
        given = self._named(arguments) if arguments else []
        name = self._text(node, "method")
        if name in _LOADING:
            return Description("import", self.text(node))
        is_named = bool(given) and node.child_by_field_name("block") is not None
        return Description("expression", name + b" " + self.text(given[0]) if is_named else b"")

    def _export(self, node: SyntaxNode) -> Description:
        """Describe an export; re-exports from one module merge like imports."""
        source = self._text(node, "source")
        clause = any(child.type == "export_clause" for child in node.children)
        if source and clause:
            return Description("import", self._outside(node, "export_clause"))
        return Description("export", source and self.text(node))

    def _import(self, node: SyntaxNode) -> Description:
        """Name an import by its module; a type import gets a name of its own."""
        kinds = [child.type.encode() for child in node.children if child.type in {"type", "typeof"}]
        source = self._text(node, "source") or self.text(node)
        return Description("import", b" ".join([*kinds, source]))

    def _names_imported(self, node: SyntaxNode) -> Description:
        """Name an import in Python by the text before the imported names."""
        return Description("import", self.text(node).partition(b" import ")[0])

    def _yield(self, _node: SyntaxNode) -> Description:
        return Description("yield")

    def _first_only(self, node: SyntaxNode) -> Description:
        """Describe an assignment, or a string as a statement: a long one is a docstring."""
        if node.type == "string":
            is_long = is_long_string(node)
            return Description(*("docstring", b"docstring") if is_long else ("expression",))
        return Description("assignment", self._text(node, "left"))

    def _imports(self, node: SyntaxNode) -> Description:
        spec = next(iter(self._named(node)), node)
        is_block = spec.type == "import_spec_list"
        if is_block:
            return Description("import", b"import")
        is_go = spec.type == "import_spec"
        return Description("import", self.text(spec if is_go else node))

    def _use(self, node: SyntaxNode) -> Description:
        """Name a `use` by its text outside of the braces."""
        head, brace, rest = self.text(node).partition(b"{")
        return Description("import", head + brace + rest.rpartition(b"}")[2])

    def _outside(self, node: SyntaxNode, rule: str) -> bytes:
        return b" ".join(self.text(child) for child in node.children if child.type != rule)

    _DESCRIBED: ClassVar[Mapping[str, Callable[["ConstructNamer", SyntaxNode], Description]]] = (
        by_rule(
            (_assignment, "assignment_expression assignment_statement short_var_declaration"),
            (_call, "call_expression"),
            (_declaration, "declaration"),
            (_export, "export_statement"),
            (_field, "field_definition public_field_definition"),
            (_imports, "import_declaration"),
            (_import, "import_statement"),
            (_let, "let_declaration"),
            (_property, "property_declaration"),
            (_sent, "call"),
            (_variables, "lexical_declaration local_variable_declaration variable_declaration"),
            (_use, "use_declaration"),
            (_names_imported, "future_import_statement import_from_statement"),
            (_first_only, "assignment string"),
            (_yield, "yield"),
        )
    )
    _NAMES: ClassVar[Mapping[str, Callable[["ConstructNamer", SyntaxNode], bytes]]] = by_rule(
        (
            text,
            """attribute_item charset_statement import import_spec inner_attribute_item
            linkage_specification namespace_statement namespace_use_declaration preproc_include
            type_elem using_declaration""",
        ),
        (
            _before_arrow,
            """array_element_initializer match_conditional_expression match_default_expression
            when_entry""",
        ),
        (
            _selected,
            """at_rule keyframe_block keyframes_statement media_statement rule_set
            supports_statement""",
        ),
        (
            _case,
            """case_clause case_statement communication_case default_statement expression_case
            switch_block_statement_group switch_case switch_section type_case""",
        ),
        (_only, "const_declaration type_declaration var_declaration"),
        (_pair, "pair"),
        (_using, "using_directive"),
        (_typed, "typed_parameter"),
        (_default, "default_case switch_default"),
        (_implementation, "impl_item"),
        (_method, "method_definition"),
    )


def _parameters(node: SyntaxNode) -> SyntaxNode | None:
    """Return the parameters of a function, which may belong to its declarator."""
    if found := node.child_by_field_name("parameters"):
        return found
    inner: SyntaxNode | None = node
    while inner is not None:
        for i, child in enumerate(inner.children):
            role = inner.field_name_for_child(i)
            if role == "parameters" or child.type == "function_value_parameters":
                return child
        inner = next((child for child in inner.children if child.type in HOLDERS), None)
    return None


def _type(parameter: SyntaxNode) -> SyntaxNode:
    """Return the type of a parameter: its last part after a colon, otherwise the first one."""
    parts = parameter.children
    if not parts:
        return parameter
    return parts[-1] if any(each.type == ":" for each in parts) else parts[0]


def _assigned(node: SyntaxNode) -> SyntaxNode | None:
    """Return what follows the equals sign of a declaration."""
    children = node.children
    return children[-1] if any(child.type == "=" for child in children[:-1]) else None


def is_long_string(node: SyntaxNode) -> bool:
    """Whether a string in Python has three quotes on each side."""
    opening = node.children[0] if node.children else None
    return opening is not None and (opening.text or b"").endswith((b'"""', b"'''"))
