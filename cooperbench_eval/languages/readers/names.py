"""Finds the kind and the name of each construct in a syntax tree."""

from collections.abc import Callable, Mapping
from typing import ClassVar, NamedTuple

from cooperbench_eval.languages.readers.grammars import COMMENTS, SyntaxNode, by_rule, rule_names
from cooperbench_eval.languages.readers.profiles import FUNCTIONS, NAMED, PREFIXES, WORDS, Profile

_KEYED = rule_names("arm class const def enum field interface macro signature spec struct type var")
"""The kinds whose names are unique among siblings."""
_PATTERN = b"{}"
"""The name of a parameter that is a pattern: its members may differ between versions."""


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
        return next(iter(self._named(node)), None)

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
        if not is_keyed and node.type not in NAMED:
            return b""
        roles = ("alias", "name", "key", "field", "pattern", "left")
        return next((key for role in roles if (key := self._text(node, role))), b"")

    def _receiver(self, node: SyntaxNode) -> bytes:
        """Name a method by its receiver, or if it has none, by the types of its parameters."""
        name = self._text(node, "name")
        if node.child_by_field_name("receiver") is None:
            return name + self._types(node)
        return self._text(node, "receiver") + b"." + name

    def _types(self, node: SyntaxNode) -> bytes:
        parameters = node.child_by_field_name("parameters")
        given = self._named(parameters) if parameters else []
        types = [self._text(each, "type") or self.text(each.children[0]) for each in given]
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

    def _several(self, node: SyntaxNode) -> bytes:
        """Name a construct that may have several names, such as a field."""
        names = node.children_by_field_name("name") or [
            name
            for each in node.children_by_field_name("declarator")
            for name in each.children_by_field_name("name")
        ]
        return b",".join(map(self.text, names)) or self._text(node, "type")

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
        return Description("declaration", b",".join(self._text(each, "name") for each in found))

    def _field(self, node: SyntaxNode) -> Description:
        return self._variable(node, "field")

    def _variable(self, node: SyntaxNode, kind: str) -> Description:
        key = self._text(node, "name") or self._text(node, "property")
        value = node.child_by_field_name("value")
        if value and value.type in FUNCTIONS and value.type != "class":
            return Description("def", key, value)
        return Description("assignment" if value and kind != "field" else kind, key)

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
            (_export, "export_statement"),
            (_field, "field_definition public_field_definition"),
            (_imports, "import_declaration"),
            (_import, "import_statement"),
            (_let, "let_declaration"),
            (_variables, "lexical_declaration local_variable_declaration variable_declaration"),
            (_use, "use_declaration"),
            (_names_imported, "future_import_statement import_from_statement"),
            (_first_only, "assignment string"),
            (_yield, "yield"),
        )
    )
    _NAMES: ClassVar[Mapping[str, Callable[["ConstructNamer", SyntaxNode], bytes]]] = by_rule(
        (text, "attribute_item import_spec inner_attribute_item type_elem"),
        (
            _case,
            """case_clause communication_case expression_case
            switch_block_statement_group switch_case type_case""",
        ),
        (_only, "const_declaration type_declaration var_declaration"),
        (
            _several,
            """const_spec constant_declaration field_declaration parameter_declaration
            var_spec""",
        ),
        (_typed, "typed_parameter"),
        (_default, "default_case switch_default"),
        (_implementation, "impl_item"),
        (_receiver, "constructor_declaration method_declaration"),
        (_method, "method_definition"),
    )


def is_long_string(node: SyntaxNode) -> bool:
    """Whether a string in Python has three quotes on each side."""
    opening = node.children[0] if node.children else None
    return opening is not None and (opening.text or b"").endswith((b'"""', b"'''"))
