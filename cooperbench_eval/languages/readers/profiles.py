"""Roles of the rules of each grammar: bodies, lists, statements, names.

A rule with the same name in several grammars usually has the same role in all of them. The
table of a language has only the exceptions.
"""

from collections.abc import Mapping

from attrs import frozen

from cooperbench_eval.languages.readers.grammars import Grammar, by_rule, rule_names
from cooperbench_eval.languages.tree import Mode


@frozen(kw_only=True)
class Profile:
    """The roles of the rules in a language that may differ from those in others.

    Attributes:
        modes: Constructs in brackets, each with how its contents relate.
        open: Constructs with members that no brackets enclose.
        kinds: Statements, definitions and clauses, each with its kind, of which all
            languages share the names.
        wrappers: Statements that only wrap another statement, such as an export.
        chains: Statements that may have further clauses, such as `else`.
        clauses: The further clauses of statements.
        overloaded: Definitions that may share a name if their parameter types differ.
        folded: Definitions whose names ignore case.
        giving: Functions that return the value of their last statement.
    """

    modes: Mapping[str, Mode]
    kinds: Mapping[str, str]
    wrappers: frozenset[str]
    chains: frozenset[str]
    clauses: frozenset[str]
    open: frozenset[str] = frozenset()
    overloaded: frozenset[str] = frozenset()
    folded: frozenset[str] = frozenset()
    giving: frozenset[str] = frozenset()


def _kinds(**names: str) -> dict[str, str]:
    """Return the kind of each rule, given the rules of each kind."""
    return by_rule(*((kind.rstrip("_"), rules) for kind, rules in names.items()))


def _profile(
    kinds: Mapping[str, str] | None = None,
    *,
    members: str = "",
    lists: str = "",
    leaves_out: str = "",
    **names: str,
) -> Profile:
    """Return the roles that most languages share, with those of one language.

    Args:
        kinds: Its own statements.
        members: Constructs in brackets whose members are statements or definitions.
        lists: Constructs in brackets with items.
        leaves_out: Rules that do not have their usual role.
        **names: Other attributes that differ.
    """
    left_out = rule_names(leaves_out)
    given = {name: rule_names(rules) for name, rules in names.items()}
    modes = {**_MODES, **by_rule((Mode.MEMBERS, members), (Mode.LIST, lists))}
    roles: dict[str, frozenset[str]] = {"wrappers": _WRAPPERS, "chains": _CHAINS, **given}
    return Profile(
        modes={rule: mode for rule, mode in modes.items() if rule not in left_out},
        kinds={
            rule: kind for rule, kind in {**_KINDS, **(kinds or {})}.items() if rule not in left_out
        },
        clauses=_CLAUSES | roles.pop("clauses", frozenset()),
        **roles,
    )


_MODES = by_rule(
    (
        Mode.MEMBERS,
        """accessor_list annotation_type_body block class_body class_static_block
        compound_statement const_declaration constructor_body declaration_list
        enum_declaration_list expression_switch_statement field_declaration_list
        import_spec_list interface_body interface_type match_block object_type
        select_statement statement_block switch_block switch_body type_declaration
        type_switch_statement var_spec_list""",
    ),
    (
        Mode.LIST,
        """annotation_argument_list argument_list arguments array array_expression
        array_initializer array_pattern attribute_argument_list bracketed_argument_list
        bracketed_parameter_list closure_parameters element_value_array_initializer enum_body
        enum_member_declaration_list enum_variant_list enumerator_list export_clause
        field_initializer_list for_lifetimes formal_parameters import_attribute
        inferred_parameters initializer_expression initializer_list literal_value
        named_imports object object_pattern ordered_field_declaration_list parameter_list
        parameters preproc_params slice_pattern struct_pattern template_argument_list
        template_parameter_list token_tree tuple_expression tuple_pattern
        tuple_struct_pattern tuple_type type_argument_list type_arguments type_parameter_list
        type_parameters use_list""",
    ),
    (Mode.SEQUENCE, "parenthesized_expression parenthesized_type resource_specification"),
)
_KINDS = _kinds(
    arm="""case_clause communication_case default_case expression_case match_arm
        match_conditional_expression match_default_expression switch_rule type_case""",
    assert_="assert_statement",
    assignment="assignment_statement short_var_declaration",
    attribute="attribute_item inner_attribute_item",
    break_="break_expression break_statement yield_statement",
    case="""case_statement default_statement switch_block_statement_group switch_case
        switch_default switch_section""",
    class_="""abstract_class_declaration annotation_type_declaration class_declaration
        class_definition class_specifier companion_object
        file_scoped_namespace_declaration foreign_mod_item impl_item internal_module
        linkage_specification mod_item module namespace_declaration namespace_definition
        object_declaration record_declaration trait_declaration trait_item""",
    const="const_declaration const_item static_item",
    continue_="continue_expression continue_statement goto_statement",
    debugger="debugger_statement",
    declaration="""ambient_declaration let_declaration lexical_declaration
        local_declaration_statement local_variable_declaration variable_declaration""",
    def_="""compact_constructor_declaration constructor_declaration
        conversion_operator_declaration destructor_declaration function_declaration
        function_definition function_item generator_function_declaration
        local_function_statement method_declaration method_definition operator_declaration""",
    defer="defer_statement",
    del_="delete_statement unset_statement",
    do="do_statement",
    enum="enum_declaration enum_item enum_specifier",
    export="export_statement",
    expression="""dec_statement echo_statement explicit_constructor_invocation
        expression_statement global_statement inc_statement nonlocal_statement
        pass_statement send_statement""",
    fallthrough="fallthrough_statement",
    field="""annotation_type_element_declaration constant_declaration enum_case
        event_declaration event_field_declaration field_declaration field_definition
        index_signature indexer_declaration method_elem property_declaration
        property_signature public_field_definition type_elem""",
    for_="""enhanced_for_statement for_expression for_in_statement for_range_loop
        for_statement foreach_statement""",
    go="go_statement",
    if_="if_expression if_statement",
    import_="""extern_crate_declaration future_import_statement import_alias
        import_declaration import_from_statement import_statement
        namespace_use_declaration preproc_include use_declaration using_directive""",
    interface="interface_declaration",
    labeled="labeled_statement",
    loop="loop_expression",
    macro="macro_definition preproc_def preproc_function_def",
    match="match_expression match_statement",
    package="package_clause package_declaration package_header",
    raise_="raise_statement throw_statement",
    return_="return_expression return_statement",
    signature="""abstract_method_signature call_signature construct_signature
        function_signature function_signature_item method_signature""",
    spec="const_spec import_spec var_spec",
    static="anonymous_initializer static_initializer",
    struct="struct_declaration struct_item struct_specifier union_item union_specifier",
    switch="""expression_switch_statement select_statement switch_expression
        switch_statement type_switch_statement""",
    try_="try_statement try_with_resources_statement",
    type="""alias_declaration associated_type delegate_declaration type_alias
        type_alias_declaration type_alias_statement type_declaration type_definition
        type_item type_spec""",
    var="var_declaration",
    while_="while_expression while_statement",
    with_="""fixed_statement lock_statement synchronized_statement using_statement
        with_statement""",
)
_WRAPPERS = rule_names("""ambient_declaration export_statement expression_statement
    local_declaration_statement template_declaration""")
_CHAINS = rule_names("if_expression if_statement try_statement try_with_resources_statement")
_CLAUSES = rule_names("""catch_block catch_clause elif_clause else_clause else_if_clause
    except_clause except_group_clause finally_block finally_clause""")

_PYTHON = _profile(
    lists="""class_pattern dict_pattern dictionary dictionary_comprehension
        generator_expression list list_comprehension list_pattern parenthesized_expression
        set set_comprehension subscript tuple type_parameter""",
    leaves_out="""array array_expression arguments block type_parameters object
        object_pattern""",
    wrappers="expression_statement",
    chains="for_statement if_statement try_statement while_statement",
)
_C = _profile(
    _kinds(
        condition="preproc_if preproc_ifdef",
        declaration="declaration",
        import_="using_declaration",
    ),
    open="preproc_elif preproc_elifdef preproc_else preproc_if preproc_ifdef",
    chains="if_statement preproc_if preproc_ifdef try_statement",
    clauses="preproc_elif preproc_elifdef preproc_else",
    overloaded="declaration field_declaration function_definition",
)
_CSHARP = _profile(
    leaves_out="switch_expression",
    open="preproc_elif preproc_else preproc_if",
    overloaded="""constructor_declaration indexer_declaration method_declaration
        operator_declaration""",
)
_KOTLIN = _profile(
    _kinds(
        arm="when_entry",
        assignment="assignment",
        def_="secondary_constructor",
        import_="import",
        raise_="throw_expression",
        try_="try_expression",
        switch="when_expression",
    ),
    members="lambda_literal when_expression",
    lists="""class_parameters collection_literal enum_class_body function_value_parameters
        value_arguments""",
    chains="if_expression try_expression",
    overloaded="function_declaration secondary_constructor",
    giving="lambda_literal",
)
_PHP = _profile(
    _kinds(import_="use_declaration"),
    lists="array_creation_expression namespace_use_group",
    folded="""class_declaration enum_declaration function_definition interface_declaration
        method_declaration trait_declaration""",
)
_RUBY = _profile(
    _kinds(
        arm="in_clause when",
        assignment="assignment operator_assignment",
        break_="break",
        case="case case_match",
        class_="class module singleton_class",
        continue_="next redo retry",
        def_="method singleton_method",
        for_="for",
        if_="if unless",
        return_="return",
        try_="begin",
        while_="until while",
        yield_="yield",
    ),
    members="block",
    lists="block_parameters hash hash_pattern method_parameters",
    open="""begin block_body body_statement do else ensure then""",
    chains="begin case case_match if unless",
    clauses="else elsif ensure in_clause rescue when",
    giving="block method singleton_method",
)
_HTML = _profile()
_CSS = _profile(
    _kinds(
        class_="""at_rule keyframe_block keyframes_statement media_statement rule_set
            supports_statement""",
        field="declaration",
        import_="charset_statement import_statement namespace_statement",
    ),
    members="keyframe_block_list",
)

PROFILES: Mapping[Grammar, Profile] = {
    **dict.fromkeys(Grammar, _profile()),
    Grammar.C: _C,
    Grammar.CPP: _C,
    Grammar.CSHARP: _CSHARP,
    Grammar.CSS: _CSS,
    Grammar.GO: _profile(wrappers=""),
    Grammar.JAVA: _profile(overloaded="constructor_declaration method_declaration"),
    Grammar.KOTLIN: _KOTLIN,
    Grammar.PHP: _PHP,
    Grammar.PYTHON: _PYTHON,
    Grammar.RUBY: _RUBY,
    Grammar.RUST: _profile(
        lists="field_declaration_list", leaves_out="field_declaration", giving="function_item"
    ),
}
GROUPS = rule_names("object_type import_spec_list")
"""Bracketed constructs that are always separate constructs."""
WORDS = rule_names("""bare_string bare_symbol char_literal character_literal encapsed_string
    hash_bang_line heredoc heredoc_body instance_variable interpolated_string_expression
    interpreted_string_literal label lifetime multiline_string_literal nowdoc quoted_attribute_value
    raw_string_literal raw_text regex rune_literal string string_literal string_value subshell
    system_lib_string template_literal_type template_string text_interpolation variable_name
    verbatim_string_literal""")
"""Constructs that are one token, such as strings."""
FUNCTIONS = rule_names("""anonymous_function anonymous_method_expression arrow_function class
    closure_expression func_literal function_expression generator_function lambda_expression""")
"""Anonymous functions and classes within expressions."""
CASES = rule_names("""case_statement communication_case default_case default_statement
    expression_case switch_block_statement_group switch_case switch_default switch_section
    type_case""")
"""Clauses with statements after a colon."""
PREFIXES = rule_names("decorator attribute_item")
"""Decorators and attributes, which belong to the member after them."""
NAMED = rule_names("""aliased_import array_element_initializer as_pattern assignment_pattern
    catch_formal_parameter class_parameter default_parameter element_value_pair enum_assignment
    enum_constant enum_entry enum_member_declaration enum_variant enumerator field_declaration
    field_initializer formal_parameter initializer_pair keyed_element keyword_argument
    keyword_parameter method_definition object_assignment_pattern optional_parameter
    optional_parameter_declaration pair pair_pattern parameter parameter_declaration
    property_promotion_parameter required_parameter resource simple_parameter type_parameter
    type_parameter_declaration typed_default_parameter typed_parameter variadic_parameter""")
"""Items of lists that have names."""
ELEMENTS = rule_names("""element jsx_element jsx_self_closing_element script_element
    style_element""")
"""Tags with their contents."""
CLOSING = rule_names("end_tag jsx_closing_element")
"""Tags that end an element."""
ATTRIBUTES = rule_names("attribute jsx_attribute jsx_expression")
"""What a tag may have besides its name."""
TEXTS = rule_names("jsx_text text")
"""Text between tags."""
HOLDERS = rule_names("""array_declarator attributed_declarator const_element destructor_name
    field_declarator function_declarator init_declarator parenthesized_declarator
    pointer_declarator property_element reference_declarator variable_declaration
    variable_declarator""")
"""What holds the name of the declaration around it."""
SPECIFIERS = rule_names("class_specifier enum_specifier struct_specifier union_specifier")
"""Definitions of types if they have a body; otherwise they only name a type."""
BOUNDS = rule_names("""catch_type class_interface_clause delegation_specifiers throws
    trait_bounds type_bound type_list""")
"""Sets of types with signs between, such as the interfaces of a class."""
SECTIONS = rule_names("access_specifier")
"""What begins a section of a class, which continues up to the next one."""

LISTS = by_rule(
    (
        "arguments",
        """argument_list arguments attribute_argument_list bracketed_argument_list
        class_pattern dict_pattern dictionary dictionary_comprehension generator_expression
        parenthesized_expression set set_comprehension tuple value_arguments""",
    ),
    (
        "elements",
        """array array_creation_expression array_expression array_pattern collection_literal
        initializer_expression initializer_list list list_comprehension list_pattern
        ordered_field_declaration_list slice_pattern subscript template_argument_list
        token_tree tuple_expression tuple_pattern tuple_struct_pattern tuple_type
        type_argument_list type_arguments type_parameter""",
    ),
)
"""The kinds of lists whose items may have no names."""


def list_kind(rule: str) -> str:
    """Return the kind of the list that a rule of a grammar describes."""
    return LISTS.get(rule) or ("parameters" if "parameter" in rule else "items")
