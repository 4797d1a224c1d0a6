"""The scopes of Rust."""

from collections.abc import Iterator
from functools import partial
from typing import ClassVar

from cooperbench_eval.languages.model import Declaration
from cooperbench_eval.languages.readers.grammars import COMMENTS, SyntaxNode, by_rule, rule_names
from cooperbench_eval.languages.scopes.blocks import BlockRules
from cooperbench_eval.languages.scopes.nodes import fields, text_of, words
from cooperbench_eval.languages.scopes.scope import Scope
from cooperbench_eval.languages.scopes.sharing import Sharing, pairs
from cooperbench_eval.languages.scopes.walk import Walk

_ITEMS = {
    "associated_type": "type",
    "const_item": "constant",
    "enum_item": "type",
    "extern_crate_declaration": "module",
    "function_item": "function",
    "function_signature_item": "function",
    "macro_definition": "macro",
    "mod_item": "module",
    "static_item": "constant",
    "struct_item": "type",
    "trait_item": "type",
    "type_item": "type",
    "union_item": "type",
}


class RustWalk(Walk):
    """One pass over items of Rust."""

    uses = rule_names("identifier type_identifier")
    paths: ClassVar = {
        "field_expression": ("value", "field"),
        "generic_function": ("", "function"),
        "generic_type": ("", "type"),
        "scoped_identifier": ("path", "name"),
        "scoped_type_identifier": ("path", "name"),
    }
    calls: ClassVar = {"call_expression": ("function", "arguments")}
    receivers: ClassVar = {"self": True, "Self": False}
    roots = rule_names("crate self super Self")
    attributes = rule_names("field_identifier shorthand_field_identifier")
    assignments = rule_names("assignment_expression compound_assignment_expr")
    in_order = True
    # A macro or variable hides an earlier one.
    sharing = Sharing(
        with_all=rule_names("conditional local macro"),
        pairs=pairs("!type: function constant\n!module: function constant use"),
    )
    blocks = BlockRules(
        leaving=rule_names("return_expression break_expression continue_expression"),
        hoisted=rule_names("attribute_item empty_statement macro_definition use_declaration")
        | _ITEMS.keys()
        | {"impl_item"},
        ifs=rule_names("if_expression"),
        loops=rule_names("for_expression loop_expression while_expression"),
    )

    def _macro(self, _: SyntaxNode, scope: Scope) -> None:
        """Skip a macro call: the macro decides what the names in it mean."""
        self.may_bind_any = self.may_bind_any or scope is self.file

    def _item(self, node: SyntaxNode, scope: Scope) -> None:
        name = node.child_by_field_name("alias") or node.child_by_field_name("name")
        if name is None:
            return
        self._declaring.add(name.start_byte)
        if text_of(name) != "_":
            owner, shown = _owner(node), text_of(name)
            around = scope.parent or scope if owner else scope
            declaration = Declaration(_kind(node), self.line(name))
            around.add(f"{owner}.{shown}" if owner else shown, declaration)
        if node.type == "macro_definition":
            self.may_bind_any = self.may_bind_any or scope is self.file
            return
        has_members = node.type in {"enum_item", "mod_item", "struct_item", "trait_item"}
        inner = self.open(scope, text_of(name), is_function=True, has_members=has_members)
        if node.type == "function_item":
            self._function(node, scope, text_of(name))
        elif node.type in _DEFINED and text_of(name) != "_":
            has_functions = node.type in {"mod_item", "trait_item"}
            self.define(scope, text_of(name), node, is_class=has_functions)
        self.push((each for each in node.children if each != name), inner)

    def _function(self, node: SyntaxNode, scope: Scope, name: str) -> None:
        """Define a function with its parameters."""
        given = [each for found in fields(node, "parameters") for each in found.children]
        is_method = any(each.type == "self_parameter" for each in given)
        self.define_function(scope, name, node, takes_instance=is_method)

    def _impl(self, node: SyntaxNode, scope: Scope) -> None:
        label = "".join(map(text_of, fields(node, "type")))
        for trait in fields(node, "trait"):
            label = f"<{label} as {text_of(trait)}>"
        self.push(node.children, self.open(scope, label, has_members=True))

    def _fields(self, node: SyntaxNode, scope: Scope) -> None:
        """Read the fields of a struct or its value, or the variants of an enum."""
        named = list(self._named(node))
        self.once(scope, named)
        for name, each in named if node.type != "field_initializer_list" else ():
            self.define(scope, f"{{{name}}}", each)
        self.push(node.children, scope)

    def _named(self, node: SyntaxNode) -> Iterator[tuple[str, SyntaxNode]]:
        for each in _unconditional(node):
            if each.type == "shorthand_field_initializer":
                names = each.named_children[-1:]
            else:
                names = fields(each, "name", "field")
            if names:
                yield text_of(names[0]), each

    def _variant(self, node: SyntaxNode, scope: Scope) -> None:
        self.push((each for each in node.children if each not in fields(node, "name")), scope)

    def _use(self, node: SyntaxNode, scope: Scope) -> None:
        kind = "conditional" if is_conditional(node) else "use"
        stack = [(each, "") for each in fields(node, "argument")]
        while stack:
            each, path = stack.pop()
            if each.type == "use_list":
                stack += ((child, path) for child in reversed(each.named_children))
            elif each.type == "scoped_use_list":
                inner = _joined(path, "".join(map(text_of, fields(each, "path"))))
                stack += ((child, inner) for child in fields(each, "list"))
            elif each.type == "use_wildcard":
                self.may_bind_any = True
                self.take(scope, each, "*", _joined(path, text_of(each)))
            elif each.type not in COMMENTS:
                self._import(each, scope, path, kind)

    def _import(self, node: SyntaxNode, scope: Scope, path: str, kind: str) -> None:
        """Import one name; `self` stands for the module that a list belongs to."""
        alias = node.child_by_field_name("alias")
        whole = node.child_by_field_name("path") if alias is not None else node
        shown = _joined(path, text_of(whole or node))
        module, _, attribute = shown.removesuffix("::self").rpartition("::")
        name = text_of(alias) if alias is not None else attribute
        if name != "_":
            is_module = shown.endswith("::self") and kind == "use"
            declaration = Declaration("module" if is_module else kind, self.line(node))
            scope.add(name, declaration)
        self.take(scope, node, name, module, attribute)

    def _bind(self, scope: Scope, node: SyntaxNode, visible_from: int = 0) -> None:
        """Declare the variables in the pattern of a node."""
        for pattern in fields(node, "pattern"):
            for name in _bound(pattern):
                self.declare(scope, name, "local", visible_from=visible_from)

    def _let(self, node: SyntaxNode, scope: Scope) -> None:
        self._bind(scope, node, node.end_byte)
        self.push(node.children, scope)

    def _parameters(self, node: SyntaxNode, scope: Scope) -> None:
        for each in node.children:
            patterns = fields(each, "pattern") if each.type == "parameter" else [each]
            for pattern in patterns if each.is_named else ():
                for name in _bound(pattern):
                    self.declare(scope, name, "parameter")
        self.push(node.children, scope)

    def _branch(self, node: SyntaxNode, scope: Scope) -> None:
        """Read an `if` or `while`; what its condition binds is visible in its body only."""
        self.push(fields(node, "alternative"), scope)
        self.push(fields(node, "condition", "consequence", "body"), self.open(scope))

    def _for(self, node: SyntaxNode, scope: Scope) -> None:
        self.push(fields(node, "value"), scope)
        inner = self.open(scope)
        self._bind(inner, node)
        self.push(fields(node, "pattern", "body"), inner)

    def _arms(self, node: SyntaxNode, scope: Scope) -> None:
        patterns = [
            (f"arm {words(pattern).decode('utf-8', 'replace')}", pattern)
            for arm in _unconditional(node)
            for pattern in fields(arm, "pattern")
            if pattern.child_by_field_name("condition") is None
        ]
        self.once(scope, patterns)
        self.push(node.children, scope)

    def _arm(self, node: SyntaxNode, scope: Scope) -> None:
        inner = self.open(scope)
        self._bind(inner, node)
        self.push(node.children, inner)

    rules: ClassVar = by_rule(
        (_item, _ITEMS),
        (partial(Walk.named, kind="generic"), "const_parameter type_parameter"),
        (_fields, "enum_variant_list field_declaration_list field_initializer_list"),
        (_let, "let_condition let_declaration"),
        (_parameters, "closure_parameters parameters"),
        (_branch, "if_expression while_expression"),
        (_macro, "macro_invocation"),
        (Walk.only, "attribute_item inner_attribute_item visibility_modifier"),
        (Walk.block, "block"),
        (Walk.inner, "closure_expression function_type"),
        (_variant, "enum_variant"),
        (_for, "for_expression"),
        (_impl, "impl_item"),
        (_arm, "match_arm"),
        (_arms, "match_block"),
        (_use, "use_declaration"),
    )


_DEFINED = frozenset(_ITEMS) - {
    "extern_crate_declaration",
    "function_signature_item",
    "macro_definition",
}


def _joined(path: str, name: str) -> str:
    return f"{path}::{name}" if path else name


def _kind(node: SyntaxNode) -> str:
    block = node.parent
    is_inside = block is not None and block.parent is not None and is_conditional(block.parent)
    return "conditional" if is_inside or is_conditional(node) else _ITEMS[node.type]


def _owner(node: SyntaxNode) -> str:
    """Return the header of the `impl` that an item is in; empty if it is in none."""
    block = node.parent
    owner = block.parent if block is not None and block.type == "declaration_list" else None
    if owner is None or owner.type != "impl_item":
        return ""
    body = owner.child_by_field_name("body")
    parts = [words(each) for each in owner.children if each != body]
    return b" ".join(parts[1:]).decode("utf-8", "replace")


def _unconditional(node: SyntaxNode) -> Iterator[SyntaxNode]:
    """Yield the children of a list that are always compiled."""
    is_open = True
    for each in node.children:
        if each.type == "attribute_item":
            is_open = is_open and not _is_cfg(each)
        elif each.is_named and not each.type.endswith("_comment"):
            if is_open and not any(map(_is_cfg, each.children[:8])):
                yield each
            is_open = True


def _is_cfg(node: SyntaxNode) -> bool:
    return node.type == "attribute_item" and b"cfg" in (node.text or b"")


def is_conditional(node: SyntaxNode) -> bool:
    """Whether an attribute makes the compilation of an item conditional."""
    before = node.prev_named_sibling
    while before is not None and before.type in {"attribute_item", "line_comment", "block_comment"}:
        if _is_cfg(before):
            return True
        before = before.prev_named_sibling
    return False


def _bound(pattern: SyntaxNode) -> Iterator[SyntaxNode]:
    """Yield the variables that a pattern binds; a capitalized name is a constant."""
    stack = [pattern]
    while stack:
        node = stack.pop()
        match node.type:
            case "identifier":
                if not (node.text or b"")[:1].isupper():
                    yield node
            case "shorthand_field_identifier":
                yield node
            case "match_pattern":
                stack += [each for each in node.children[:1] if each.is_named]
            case "scoped_identifier" | "scoped_type_identifier" | "type_identifier":
                pass
            case "tuple_struct_pattern" | "struct_pattern":
                kind = node.child_by_field_name("type")
                stack += [each for each in reversed(node.children) if each != kind]
            case kind if kind.endswith("_pattern"):
                stack += reversed(node.children)
