"""The scopes of C."""

from collections.abc import Iterable
from functools import partial
from typing import ClassVar

from cooperbench_eval.languages.readers.grammars import SyntaxNode, by_rule, rule_names
from cooperbench_eval.languages.scopes.blocks import BlockRules
from cooperbench_eval.languages.scopes.nodes import fields, innermost, text_of
from cooperbench_eval.languages.scopes.scope import Scope
from cooperbench_eval.languages.scopes.sharing import Sharing, pairs
from cooperbench_eval.languages.scopes.walk import Walk

_FUNCTION, _VARIABLE, _DECLARED, _MACRO = "function", "variable", "declared", "macro"


class CWalk(Walk):
    """One pass over declarations of C; the names of structs, unions and enums are separate."""

    uses = rule_names("identifier type_identifier")
    paths: ClassVar = {"field_expression": ("argument", "field")}
    calls: ClassVar = {"call_expression": ("function", "arguments")}
    attributes = rule_names("field_identifier")
    assignments = rule_names("assignment_expression")
    in_order = True
    sharing = Sharing(
        pairs=pairs(f"""{_DECLARED}: {_FUNCTION} {_VARIABLE} parameter
        {_MACRO}: {_FUNCTION} {_VARIABLE} parameter {_DECLARED}""")
    )
    blocks = BlockRules(
        leaving=rule_names("return_statement break_statement continue_statement goto_statement"),
        ifs=rule_names("if_statement"),
        loops=rule_names("for_statement while_statement do_statement"),
    )

    def _declare(self, nodes: Iterable[SyntaxNode], scope: Scope, kind: str) -> None:
        """Declare the names in declarators."""
        for node in nodes:
            name, at = innermost(node), node
            while at != name and at.type != "function_declarator":
                at = fields(at, "declarator")[0]
            if name.type in self.uses:
                shown = kind if kind == _FUNCTION or at == name else _DECLARED
                self.declare(scope, name, shown, visible_from=name.start_byte)

    def _function(self, node: SyntaxNode, scope: Scope) -> None:
        """Read a function; its parameters and the variables of its body share a scope."""
        self._declare(fields(node, "declarator"), scope, _FUNCTION)
        found = fields(node, "declarator")
        while found and found[0].type != "function_declarator":
            found = fields(found[0], "declarator")
        for function in found:
            self.define_function(scope, text_of(fields(function, "declarator")[0]), node, function)
            inner = self._prototype(function, scope)
            for each in node.children:
                if each.type == "declaration":  # of the types of parameters, in older C
                    names = map(innermost, fields(each, "declarator"))
                    self._declaring.update(name.start_byte for name in names)
                    self.push(each.children, inner)
            for body in fields(node, "body"):
                self.statements(body.children)
                self.push(body.children, inner)

    def _declarator(self, node: SyntaxNode, scope: Scope) -> None:
        self._prototype(node, scope)

    def _prototype(self, node: SyntaxNode, scope: Scope) -> Scope:
        inner = self.open(scope, text_of(fields(node, "declarator")[0]), is_function=True)
        for each in (one for given in fields(node, "parameters") for one in given.children):
            named = [each] if each.type == "identifier" else fields(each, "declarator")
            self._declare(named, inner, "parameter")
        self.push(fields(node, "parameters"), inner)
        return inner

    def _variables(self, node: SyntaxNode, scope: Scope, *, kind: str = _VARIABLE) -> None:
        """Read a declaration; at the top level, one without a value may be repeated."""
        for each in fields(node, "declarator"):
            is_open = scope is self.file and each.type != "init_declarator"
            self._declare([each], scope, _DECLARED if is_open else kind)
        self.push(node.children, scope)

    def _members(self, node: SyntaxNode, scope: Scope) -> None:
        inner = self.open(scope, "".join(map(text_of, fields(node, "name"))), has_members=True)
        for body in fields(node, "body"):
            members = [one for each in body.children for one in fields(each, "declarator")]
            self.once(inner, ((text_of(name), name) for name in map(innermost, members)))
        self.push(fields(node, "body"), inner)

    rules: ClassVar = by_rule(
        (_function, "function_definition"),
        (_declarator, "function_declarator"),
        (_variables, "declaration"),
        (partial(_variables, kind=_DECLARED), "type_definition"),
        (_members, "struct_specifier union_specifier"),
        (partial(Walk.named, kind=_VARIABLE), "enumerator"),
        (partial(Walk.only, role="body"), "enum_specifier"),
        (partial(Walk.named, kind=_MACRO), "preproc_def preproc_function_def"),
        (Walk.branches, "preproc_if preproc_ifdef preproc_else preproc_elif"),
        (Walk.block, "compound_statement"),
        (Walk.inner, "for_statement"),
        (Walk.only, "ERROR preproc_params"),
    )
