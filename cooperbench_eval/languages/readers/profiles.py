"""Roles of the rules of each grammar: bodies, lists, statements, names."""

from collections.abc import Mapping

from attrs import evolve, frozen

from cooperbench_eval.languages.readers.grammars import Grammar, by_rule, rule_names
from cooperbench_eval.languages.tree import Mode


@frozen(kw_only=True)
class Profile:
    """Roles that rules of one name may have in one language and not in another.

    Attributes:
        modes: Constructs in brackets, with the relation of their contents.
        kinds: Statements, definitions and clauses, with their kinds in the vocabulary
            that all languages share.
        wrappers: Statements that only wrap another statement, such as an export.
        chains: Statements that may have further clauses, such as `else`.
    """

    modes: Mapping[str, Mode]
    kinds: Mapping[str, str]
    wrappers: frozenset[str]
    chains: frozenset[str]


def _kinds(**names: str) -> dict[str, str]:
    """Turn kinds with their rules into rules with their kinds."""
    return by_rule(*((kind.rstrip("_"), rules) for kind, rules in names.items()))


# A rule that has the same name in several grammars has the same role in all of them; the
# exceptions are in PROFILES.
_COMMON = Profile(
    modes=by_rule(
        (
            Mode.MEMBERS,
            """annotation_type_body block class_body class_static_block const_declaration
            constructor_body declaration_list expression_switch_statement
            field_declaration_list import_spec_list interface_body interface_type match_block
            object_type select_statement statement_block switch_block switch_body
            type_declaration type_switch_statement var_spec_list""",
        ),
        (
            Mode.LIST,
            """annotation_argument_list argument_list arguments array array_expression
            array_initializer array_pattern closure_parameters
            element_value_array_initializer enum_body enum_variant_list export_clause
            field_initializer_list for_lifetimes formal_parameters import_attribute
            inferred_parameters literal_value named_imports object object_pattern
            ordered_field_declaration_list parameter_list parameters slice_pattern
            struct_pattern token_tree tuple_expression tuple_pattern tuple_struct_pattern
            tuple_type type_arguments type_parameter_list type_parameters use_list""",
        ),
        (Mode.SEQUENCE, "parenthesized_expression parenthesized_type resource_specification"),
    ),
    kinds=_kinds(
        arm="""match_arm expression_case default_case type_case communication_case
            switch_rule""",
        assert_="assert_statement",
        assignment="short_var_declaration assignment_statement",
        attribute="attribute_item inner_attribute_item",
        break_="break_statement break_expression yield_statement",
        case="switch_case switch_default switch_block_statement_group",
        class_="""class_declaration abstract_class_declaration annotation_type_declaration
            foreign_mod_item impl_item internal_module mod_item module record_declaration
            trait_item""",
        const="const_declaration const_item static_item",
        continue_="continue_statement continue_expression goto_statement",
        debugger="debugger_statement",
        declaration="""lexical_declaration variable_declaration ambient_declaration
            let_declaration local_variable_declaration""",
        def_="""compact_constructor_declaration constructor_declaration function_declaration
            function_item generator_function_declaration method_declaration
            method_definition""",
        defer="defer_statement",
        do="do_statement",
        enum="enum_declaration enum_item",
        export="export_statement",
        expression="""expression_statement explicit_constructor_invocation inc_statement
            dec_statement send_statement""",
        fallthrough="fallthrough_statement",
        field="""annotation_type_element_declaration constant_declaration field_declaration
            field_definition index_signature method_elem property_signature
            public_field_definition type_elem""",
        for_="enhanced_for_statement for_statement for_in_statement for_expression",
        go="go_statement",
        if_="if_statement if_expression",
        import_="""import_statement import_alias import_declaration use_declaration
            extern_crate_declaration""",
        interface="interface_declaration",
        labeled="labeled_statement",
        loop="loop_expression",
        macro="macro_definition",
        match="match_expression",
        package="package_clause package_declaration",
        raise_="throw_statement",
        return_="return_statement return_expression",
        signature="""function_signature method_signature abstract_method_signature
            call_signature construct_signature function_signature_item""",
        spec="const_spec var_spec import_spec",
        static="static_initializer",
        struct="struct_item union_item",
        switch="""switch_statement switch_expression expression_switch_statement
            type_switch_statement select_statement""",
        try_="try_statement try_with_resources_statement",
        type="""type_alias_declaration type_declaration type_spec type_alias type_item
            associated_type""",
        var="var_declaration",
        while_="while_statement while_expression",
        with_="with_statement synchronized_statement",
    ),
    wrappers=rule_names("export_statement ambient_declaration expression_statement"),
    chains=rule_names("if_statement if_expression try_statement try_with_resources_statement"),
)

_PYTHON = Profile(
    modes=by_rule(
        (
            Mode.LIST,
            """argument_list class_pattern dict_pattern dictionary dictionary_comprehension
            generator_expression list list_comprehension list_pattern parameters
            parenthesized_expression set set_comprehension subscript tuple tuple_pattern
            type_parameter""",
        ),
    ),
    kinds=_kinds(
        arm="case_clause",
        assert_="assert_statement",
        break_="break_statement",
        class_="class_definition",
        continue_="continue_statement",
        def_="function_definition",
        del_="delete_statement",
        expression="expression_statement global_statement nonlocal_statement pass_statement",
        for_="for_statement",
        if_="if_statement",
        import_="future_import_statement import_from_statement import_statement",
        match="match_statement",
        raise_="raise_statement",
        return_="return_statement",
        try_="try_statement",
        type="type_alias_statement",
        while_="while_statement",
        with_="with_statement",
    ),
    wrappers=rule_names("expression_statement"),
    chains=rule_names("for_statement if_statement try_statement while_statement"),
)

PROFILES: Mapping[Grammar, Profile] = {
    **dict.fromkeys(Grammar, _COMMON),
    Grammar.PYTHON: _PYTHON,
    Grammar.GO: evolve(_COMMON, wrappers=frozenset()),
    Grammar.RUST: evolve(
        _COMMON,
        modes={**_COMMON.modes, "field_declaration_list": Mode.LIST},
        kinds={rule: kind for rule, kind in _COMMON.kinds.items() if rule != "field_declaration"},
    ),
}
GROUPS = rule_names("object_type import_spec_list")
"""Bracketed constructs that are always separate constructs."""
WORDS = rule_names("""char_literal character_literal hash_bang_line interpreted_string_literal
    label lifetime raw_string_literal regex rune_literal string string_literal
    template_literal_type template_string""")
"""Constructs that are one token, such as strings."""
FUNCTIONS = rule_names("""arrow_function class closure_expression func_literal
    function_expression generator_function lambda_expression""")
"""Anonymous functions and classes within expressions."""
CLAUSES = rule_names(
    "catch_clause elif_clause else_clause except_clause except_group_clause finally_clause"
)
"""The further clauses of statements."""
CASES = rule_names("""switch_case switch_default switch_block_statement_group expression_case
    default_case type_case communication_case""")
"""Clauses with statements after a colon."""
PREFIXES = rule_names("decorator attribute_item")
"""Decorators and attributes, which belong to the member after them."""
NAMED = rule_names("""aliased_import as_pattern assignment_pattern catch_formal_parameter
    default_parameter element_value_pair keyword_argument typed_default_parameter typed_parameter
    enum_assignment enum_constant enum_variant field_declaration field_initializer
    formal_parameter keyed_element method_definition object_assignment_pattern
    optional_parameter pair pair_pattern parameter parameter_declaration required_parameter
    resource type_parameter type_parameter_declaration""")
"""Items of lists that have names."""
ELEMENTS = rule_names("jsx_element jsx_self_closing_element")
"""Tags with their contents."""
TAGS = rule_names("jsx_opening_element jsx_self_closing_element")
"""Tags with attributes."""

LISTS = by_rule(
    (
        "arguments",
        """argument_list arguments class_pattern dict_pattern dictionary
        dictionary_comprehension generator_expression parenthesized_expression set
        set_comprehension tuple""",
    ),
    (
        "elements",
        """array array_expression array_pattern list list_comprehension list_pattern
        ordered_field_declaration_list slice_pattern subscript token_tree tuple_expression
        tuple_pattern tuple_struct_pattern tuple_type type_arguments type_parameter""",
    ),
)
"""The kinds of lists whose items may have no names."""


def list_kind(rule: str) -> str:
    """Return the kind of the list that a rule of a grammar describes."""
    return LISTS.get(rule) or ("parameters" if "parameter" in rule else "items")
