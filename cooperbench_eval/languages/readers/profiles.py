"""Roles of the rules of each grammar: bodies, lists, statements, names."""

from collections.abc import Mapping
from enum import Enum, auto

from attrs import evolve, frozen

from cooperbench_eval.languages.readers.grammars import COMMENTS, Grammar, by_rule, rule_names
from cooperbench_eval.languages.tree import Mode


@frozen(kw_only=True)
class Profile:
    """How the syntax trees of a language are read, by the names of grammar rules.

    Attributes:
        modes: Constructs in brackets, with the relation of their contents.
        groups: Bracketed constructs that are always separate constructs.
        words: Constructs that are one token, such as strings.
        comments: Comments.
        kinds: Statements, definitions and clauses, with their kinds in the vocabulary
            that all languages share.
        wrappers: Statements that only wrap another statement, such as an export.
        functions: Anonymous functions and classes within expressions, and bounds of types.
        chains: Statements that continue with a statement of the same rule after `else`.
        clauses: The further clauses of the statements in *chains*.
        cases: Clauses with statements after a colon.
        prefixes: Decorators and attributes, which belong to the member after them.
        named: Items of lists that have names.
        elements: Tags with their contents.
        tags: Tags with attributes.
    """

    modes: Mapping[str, Mode]
    groups: frozenset[str]
    words: frozenset[str]
    comments: frozenset[str]
    kinds: Mapping[str, str]
    wrappers: frozenset[str]
    functions: frozenset[str]
    chains: frozenset[str]
    clauses: frozenset[str]
    cases: frozenset[str]
    prefixes: frozenset[str]
    named: frozenset[str]
    elements: frozenset[str]
    tags: frozenset[str]


class Role(Enum):
    """How a node within an expression is read."""

    WORD = auto()
    COMMENT = auto()
    STATEMENT = auto()
    FUNCTION = auto()
    BRACKETS = auto()
    ELEMENT = auto()


def _roles(profile: Profile) -> dict[str, Role]:
    return by_rule(
        (Role.BRACKETS, profile.modes),
        (Role.FUNCTION, profile.functions),
        (Role.ELEMENT, profile.elements),
        (Role.STATEMENT, profile.kinds),
        (Role.COMMENT, profile.comments),
        (Role.WORD, profile.words),
    )


def _modes(*, members: str, lists: str, sequences: str) -> dict[str, Mode]:
    return by_rule((Mode.MEMBERS, members), (Mode.LIST, lists), (Mode.SEQUENCE, sequences))


def _kinds(**names: str) -> dict[str, str]:
    """Turn kinds with their rules into rules with their kinds."""
    return by_rule(*((kind.rstrip("_"), rules) for kind, rules in names.items()))


# A rule that has the same name in several grammars has the same role in all of them; the
# exceptions are in PROFILES.
_COMMON = Profile(
    modes=_modes(
        members="""block statement_block class_body class_static_block interface_body
            interface_type object_type switch_body declaration_list match_block
            import_spec_list var_spec_list const_declaration type_declaration
            expression_switch_statement type_switch_statement select_statement""",
        lists="""arguments argument_list array array_expression array_pattern
            closure_parameters enum_body enum_variant_list export_clause
            field_initializer_list for_lifetimes formal_parameters import_attribute
            literal_value named_imports object object_pattern
            ordered_field_declaration_list parameter_list parameters slice_pattern
            struct_pattern token_tree tuple_expression tuple_pattern
            tuple_struct_pattern tuple_type type_arguments type_parameter_list
            type_parameters use_list""",
        sequences="parenthesized_expression parenthesized_type",
    ),
    groups=rule_names("object_type import_spec_list"),
    words=rule_names("""char_literal hash_bang_line interpreted_string_literal label lifetime
        raw_string_literal regex rune_literal string string_literal
        template_literal_type template_string"""),
    comments=COMMENTS,
    kinds=_kinds(
        arm="""match_arm expression_case default_case type_case communication_case
            switch_rule""",
        assignment="short_var_declaration assignment_statement",
        attribute="attribute_item inner_attribute_item",
        break_="break_statement break_expression",
        case="switch_case switch_default",
        class_="""class_declaration abstract_class_declaration module internal_module
            impl_item trait_item mod_item foreign_mod_item""",
        const="const_declaration const_item static_item",
        continue_="continue_statement continue_expression goto_statement",
        debugger="debugger_statement",
        declaration="""lexical_declaration variable_declaration ambient_declaration
            let_declaration""",
        def_="""function_declaration generator_function_declaration method_definition
            method_declaration function_item""",
        defer="defer_statement",
        do="do_statement",
        enum="enum_declaration enum_item",
        export="export_statement",
        expression="expression_statement inc_statement dec_statement send_statement",
        fallthrough="fallthrough_statement",
        field="""public_field_definition field_definition property_signature
            index_signature method_elem type_elem""",
        for_="for_statement for_in_statement for_expression",
        go="go_statement",
        if_="if_statement if_expression",
        import_="""import_statement import_alias import_declaration use_declaration
            extern_crate_declaration""",
        interface="interface_declaration",
        labeled="labeled_statement",
        loop="loop_expression",
        macro="macro_definition",
        match="match_expression",
        package="package_clause",
        raise_="throw_statement",
        return_="return_statement return_expression",
        signature="""function_signature method_signature abstract_method_signature
            call_signature construct_signature function_signature_item""",
        spec="const_spec var_spec import_spec",
        struct="struct_item union_item",
        switch="""switch_statement expression_switch_statement type_switch_statement
            select_statement""",
        try_="try_statement",
        type="""type_alias_declaration type_declaration type_spec type_alias type_item
            associated_type""",
        var="var_declaration",
        while_="while_statement while_expression",
        with_="with_statement",
    ),
    wrappers=rule_names("export_statement ambient_declaration expression_statement"),
    functions=rule_names("""arrow_function class closure_expression func_literal
        function_expression generator_function"""),
    chains=rule_names("if_statement if_expression try_statement"),
    clauses=rule_names("else_clause catch_clause finally_clause"),
    cases=rule_names("""switch_case switch_default expression_case default_case type_case
        communication_case"""),
    prefixes=rule_names("decorator attribute_item"),
    named=rule_names("""assignment_pattern enum_assignment enum_variant field_initializer
        keyed_element method_definition object_assignment_pattern optional_parameter pair
        pair_pattern parameter parameter_declaration required_parameter type_parameter
        type_parameter_declaration"""),
    elements=rule_names("jsx_element jsx_self_closing_element"),
    tags=rule_names("jsx_opening_element jsx_self_closing_element"),
)

PROFILES: Mapping[Grammar, Profile] = {
    Grammar.JAVASCRIPT: _COMMON,
    Grammar.TYPESCRIPT: _COMMON,
    Grammar.TSX: _COMMON,
    Grammar.GO: evolve(
        _COMMON,
        modes={**_COMMON.modes, "field_declaration_list": Mode.MEMBERS},
        kinds={**_COMMON.kinds, "field_declaration": "field"},
        wrappers=frozenset(),
    ),
    Grammar.JAVA: evolve(
        _COMMON,
        modes={
            **_COMMON.modes,
            **_modes(
                members="annotation_type_body constructor_body switch_block",
                lists="""annotation_argument_list array_initializer
                    element_value_array_initializer inferred_parameters""",
                sequences="resource_specification",
            ),
        },
        words=_COMMON.words | {"character_literal"},
        kinds={
            **_COMMON.kinds,
            **_kinds(
                assert_="assert_statement",
                break_="yield_statement",
                case="switch_block_statement_group",
                class_="annotation_type_declaration record_declaration",
                declaration="local_variable_declaration",
                def_="compact_constructor_declaration constructor_declaration",
                expression="explicit_constructor_invocation",
                field="""annotation_type_element_declaration constant_declaration
                    field_declaration""",
                for_="enhanced_for_statement",
                package="package_declaration",
                static="static_initializer",
                switch="switch_expression",
                try_="try_with_resources_statement",
                with_="synchronized_statement",
            ),
        },
        functions=frozenset({"lambda_expression"}),
        chains=_COMMON.chains | {"try_with_resources_statement"},
        cases=_COMMON.cases | {"switch_block_statement_group"},
        named=_COMMON.named
        | rule_names("""catch_formal_parameter element_value_pair enum_constant
            formal_parameter resource"""),
    ),
    Grammar.RUST: evolve(
        _COMMON,
        modes={**_COMMON.modes, "field_declaration_list": Mode.LIST},
        named=_COMMON.named | {"field_declaration"},
        functions=_COMMON.functions | {"trait_bounds"},
    ),
}

ROLES: Mapping[Grammar, Mapping[str, Role]] = {
    grammar: _roles(profile) for grammar, profile in PROFILES.items()
}
"""The roles of each grammar's rules; a rule that is not listed has none."""

EXPRESSIONS: Mapping[str, str] = {"class": "class", "trait_bounds": "bounds"}
"""The kinds of parts of expressions that are not functions."""
LISTS = by_rule(
    ("arguments", "arguments argument_list"),
    (
        "elements",
        """array array_expression array_pattern ordered_field_declaration_list slice_pattern
        token_tree tuple_expression tuple_pattern tuple_struct_pattern tuple_type
        type_arguments""",
    ),
)
"""The kinds of lists whose items may have no names."""
