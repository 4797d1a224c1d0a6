"""What the constructs of each grammar are: bodies, lists, statements, names."""

from collections.abc import Mapping

from attrs import field, frozen

from cooperbench_eval.structure.grammars import Grammar
from cooperbench_eval.structure.tree import Mode

__all__ = ["PROFILES", "Profile"]


@frozen(kw_only=True)
class Profile:
    """How the syntax trees of a language are understood. All are names of rules.

    Attributes:
        modes: Constructs in brackets, with how what is between these stands together.
        groups: Those of them that are a construct by themselves wherever they stand.
        words: Constructs that are one token, such as strings.
        comments: Comments.
        kinds: Statements, definitions and clauses with what they are called here.
        wrappers: Statements that are what the statement in them is.
        functions: Functions without names, as in expressions.
        chains: Statements of which the next may follow behind `else`.
        clauses: Their further parts.
        cases: Clauses with statements behind their colon.
        prefixes: What stands before a member and belongs to it.
        named: Items of lists that have names.
        elements: Tags with what is between them.
        tags: Tags with attributes.
    """

    modes: Mapping[str, Mode]
    groups: frozenset[str] = frozenset()
    words: frozenset[str]
    comments: frozenset[str]
    kinds: Mapping[str, str]
    wrappers: frozenset[str] = frozenset()
    functions: frozenset[str]
    chains: frozenset[str]
    clauses: frozenset[str] = frozenset()
    cases: frozenset[str] = frozenset()
    prefixes: frozenset[str] = frozenset()
    named: frozenset[str] = field(factory=frozenset)
    elements: frozenset[str] = frozenset()
    tags: frozenset[str] = frozenset()


def _modes(*, members: str, lists: str, sequences: str) -> dict[str, Mode]:
    names = {Mode.MEMBERS: members, Mode.LIST: lists, Mode.SEQUENCE: sequences}
    return {rule: mode for mode, rules in names.items() for rule in rules.split()}


def _kinds(**rules: str) -> dict[str, str]:
    """Turn kinds with their rules into rules with their kinds."""
    return {rule: kind.rstrip("_") for kind, names in rules.items() for rule in names.split()}


def _set(names: str) -> frozenset[str]:
    return frozenset(names.split())


_JAVASCRIPT = Profile(
    modes=_modes(
        members="""statement_block class_body interface_body object_type switch_body
            class_static_block""",
        lists="""arguments formal_parameters type_parameters type_arguments array object
            named_imports export_clause enum_body array_pattern object_pattern tuple_type
            import_attribute""",
        sequences="parenthesized_expression parenthesized_type",
    ),
    groups=_set("object_type"),
    words=_set("string template_string template_literal_type regex hash_bang_line"),
    comments=_set("comment html_comment"),
    kinds=_kinds(
        def_="function_declaration generator_function_declaration method_definition",
        class_="class_declaration abstract_class_declaration module internal_module",
        signature="""function_signature method_signature abstract_method_signature
            call_signature construct_signature""",
        interface="interface_declaration",
        enum="enum_declaration",
        type="type_alias_declaration",
        import_="import_statement import_alias",
        declaration="lexical_declaration variable_declaration ambient_declaration",
        field="public_field_definition field_definition property_signature index_signature",
        export="export_statement",
        expression="expression_statement",
        return_="return_statement",
        raise_="throw_statement",
        break_="break_statement",
        continue_="continue_statement",
        if_="if_statement",
        for_="for_statement for_in_statement",
        while_="while_statement",
        do="do_statement",
        try_="try_statement",
        switch="switch_statement",
        case="switch_case switch_default",
        labeled="labeled_statement",
        with_="with_statement",
        debugger="debugger_statement",
    ),
    wrappers=_set("export_statement ambient_declaration expression_statement"),
    functions=_set("arrow_function function_expression generator_function class"),
    chains=_set("if_statement try_statement"),
    clauses=_set("else_clause catch_clause finally_clause"),
    cases=_set("switch_case switch_default"),
    prefixes=_set("decorator"),
    named=_set("""pair method_definition required_parameter optional_parameter
        enum_assignment type_parameter pair_pattern assignment_pattern
        object_assignment_pattern"""),
    elements=_set("jsx_element jsx_self_closing_element"),
    tags=_set("jsx_opening_element jsx_self_closing_element"),
)

_GO = Profile(
    modes=_modes(
        members="""block field_declaration_list interface_type import_spec_list var_spec_list
            const_declaration type_declaration expression_switch_statement
            type_switch_statement select_statement""",
        lists="""parameter_list argument_list literal_value type_parameter_list
            type_arguments""",
        sequences="parenthesized_expression parenthesized_type",
    ),
    groups=_set("import_spec_list"),
    words=_set("interpreted_string_literal raw_string_literal rune_literal"),
    comments=_set("comment"),
    kinds=_kinds(
        def_="function_declaration method_declaration",
        import_="import_declaration",
        package="package_clause",
        type="type_declaration type_spec type_alias",
        const="const_declaration",
        var="var_declaration",
        spec="const_spec var_spec import_spec",
        field="field_declaration method_elem type_elem",
        assignment="short_var_declaration assignment_statement",
        expression="expression_statement inc_statement dec_statement send_statement",
        return_="return_statement",
        break_="break_statement",
        continue_="continue_statement goto_statement",
        go="go_statement",
        defer="defer_statement",
        if_="if_statement",
        for_="for_statement",
        switch="expression_switch_statement type_switch_statement select_statement",
        case="expression_case default_case type_case communication_case",
        labeled="labeled_statement",
        fallthrough="fallthrough_statement",
    ),
    functions=_set("func_literal"),
    chains=_set("if_statement"),
    cases=_set("expression_case default_case type_case communication_case"),
    named=_set("keyed_element parameter_declaration type_parameter_declaration"),
)

_RUST = Profile(
    modes=_modes(
        members="block declaration_list match_block",
        lists="""arguments parameters type_parameters type_arguments use_list
            field_declaration_list ordered_field_declaration_list enum_variant_list
            field_initializer_list struct_pattern tuple_struct_pattern tuple_pattern
            slice_pattern tuple_expression array_expression tuple_type
            closure_parameters token_tree for_lifetimes""",
        sequences="parenthesized_expression",
    ),
    words=_set("string_literal raw_string_literal char_literal lifetime label"),
    comments=_set("line_comment block_comment"),
    kinds=_kinds(
        def_="function_item",
        signature="function_signature_item",
        class_="impl_item trait_item mod_item foreign_mod_item",
        struct="struct_item union_item",
        enum="enum_item",
        type="type_item associated_type",
        import_="use_declaration extern_crate_declaration",
        const="const_item static_item",
        macro="macro_definition",
        declaration="let_declaration",
        expression="expression_statement",
        attribute="attribute_item inner_attribute_item",
        return_="return_expression",
        break_="break_expression",
        continue_="continue_expression",
        if_="if_expression",
        for_="for_expression",
        while_="while_expression",
        loop="loop_expression",
        match="match_expression",
        arm="match_arm",
    ),
    wrappers=_set("expression_statement"),
    functions=_set("closure_expression"),
    chains=_set("if_expression"),
    clauses=_set("else_clause"),
    prefixes=_set("attribute_item"),
    named=_set("field_declaration enum_variant field_initializer parameter type_parameter"),
)

PROFILES: Mapping[Grammar, Profile] = {
    Grammar.JAVASCRIPT: _JAVASCRIPT,
    Grammar.TYPESCRIPT: _JAVASCRIPT,
    Grammar.TSX: _JAVASCRIPT,
    Grammar.GO: _GO,
    Grammar.RUST: _RUST,
}
