"""Tables of the node types of definitions, by grammar."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType

from openbook.chunking import dialects, naming
from openbook.chunking.naming import Rule, by_child, by_field, fixed


@dataclass(frozen=True, slots=True, kw_only=True)
class LanguageRules:
    """Which node types of a grammar are definitions, containers and comments."""

    defining: Mapping[str, Rule]
    """Nodes that may define something, with the rule that names them."""
    containers: frozenset[str]
    """Always searched for definitions."""
    wrappers: frozenset[str] = frozenset()
    """Belong to the one definition that they contain, such as `export` and decorators."""
    fillers: frozenset[str] = frozenset()
    """Searched only if they are larger than a chunk: expressions that contain closures."""
    leading: frozenset[str] = frozenset()
    """Precede a definition and belong to it: attributes that define nothing, and comments between them."""
    comments: tuple[str, ...] = ("//",)
    """Beginnings of comment lines. Block comments need not be listed."""
    calls: frozenset[str] = frozenset()
    """Call their first child, in this language only."""
    grouped: bool = False
    """Whether neighbours with the same name are one definition: equations, clauses, overloads."""


_COMMENTS = frozenset("comment line_comment block_comment multiline_comment haddock".split())


def _rules(
    defining: dict[str, Rule],
    *,
    functions: str = "",
    types: str = "",
    containers: str = "",
    wrappers: str = "",
    fillers: str = "",
    leading: str = "",
    calls: str = "",
    comments: str = "//",
    grouped: bool = False,
) -> LanguageRules:
    named: dict[str, Rule] = {word: by_field("function") for word in functions.split()}
    named.update({word: by_field("type") for word in types.split()})
    return LanguageRules(
        defining=MappingProxyType({**named, **defining}),
        # An unparsable range can still contain whole definitions.
        containers=frozenset(containers.split()) | {"ERROR"},
        wrappers=frozenset(wrappers.split()),
        fillers=frozenset(fillers.split()),
        leading=frozenset(leading.split()) | _COMMENTS,
        calls=frozenset(calls.split()),
        comments=tuple(comments.split()),
        grouped=grouped,
    )


_PYTHON = _rules(
    {"expression_statement": naming.python_assignment, "type_alias_statement": by_field("type", "left")},
    functions="function_definition",
    types="class_definition",
    containers="""block if_statement elif_clause else_clause try_statement except_clause except_group_clause
        finally_clause with_statement for_statement while_statement match_statement case_clause""",
    wrappers="decorated_definition",
    comments="#",
)

_JAVASCRIPT = _rules(
    {
        "assignment_expression": dialects.js_assignment,
        "call_expression": dialects.js_call,
        "class": by_field("type"),
        "export_statement": dialects.js_export,
        "field_definition": dialects.js_variable,
        "internal_module": dialects.js_namespace,
        "module": dialects.js_namespace,
        "pair": dialects.js_pair,
        "property_signature": dialects.ts_property,
        "public_field_definition": dialects.js_variable,
        "variable_declarator": dialects.js_variable,
    },
    functions="""function_declaration generator_function_declaration function_signature method_definition
        method_signature abstract_method_signature""",
    types="""class_declaration abstract_class_declaration interface_declaration enum_declaration
        type_alias_declaration""",
    containers="""class_body statement_block interface_body object assignment_expression module if_statement
        else_clause try_statement catch_clause finally_clause for_statement for_in_statement while_statement
        switch_statement switch_body switch_case switch_default""",
    wrappers="export_statement expression_statement lexical_declaration variable_declaration ambient_declaration",
    fillers="""call_expression arguments arrow_function function_expression parenthesized_expression
        return_statement unary_expression binary_expression sequence_expression await_expression new_expression
        ternary_expression augmented_assignment_expression pair array""",
    leading="decorator",
    grouped=True,
)

_GO = _rules(
    {
        "const_spec": naming.go_names,
        "method_declaration": naming.go_method,
        "var_spec": naming.go_names,
    },
    functions="function_declaration method_elem",
    types="type_spec type_alias",
    containers="interface_type var_spec_list",
    wrappers="type_declaration const_declaration var_declaration",
)

_RUST = _rules(
    {
        "const_item": naming.rust_constant,
        "impl_item": naming.rust_impl,
        "static_item": by_field("constant"),
    },
    functions="function_item function_signature_item macro_definition",
    types="struct_item enum_item union_item trait_item mod_item type_item associated_type",
    containers="declaration_list foreign_mod_item block",
    leading="attribute_item",
)

_JAVA = _rules(
    {"constant_declaration": naming.declarators, "field_declaration": naming.declarators},
    functions="""method_declaration constructor_declaration compact_constructor_declaration
        annotation_type_element_declaration""",
    types="class_declaration interface_declaration enum_declaration record_declaration annotation_type_declaration",
    containers="class_body interface_body enum_body enum_body_declarations annotation_type_body",
)

_C_DEFINING: dict[str, Rule] = {
    "declaration": naming.c_declaration,
    "enum_specifier": naming.c_type,
    "field_declaration": naming.c_declaration,
    "function_definition": naming.c_function,
    "preproc_def": naming.c_macro,
    "preproc_function_def": naming.c_macro,
    "struct_specifier": naming.c_type,
    "type_definition": naming.c_declaration,
    "union_specifier": naming.c_type,
}
_C_CONTAINERS = """preproc_ifdef preproc_if preproc_else preproc_elif preproc_elifdef linkage_specification
    declaration_list field_declaration_list"""
# After a class, what follows a closing bracket too many is taken for a function that returns the class.
_C_WRAPPERS = "type_definition declaration field_declaration function_definition"

_C = _rules(_C_DEFINING, containers=_C_CONTAINERS, wrappers=_C_WRAPPERS)

_CPP = _rules(
    {**_C_DEFINING, "class_specifier": naming.c_type},
    types="alias_declaration concept_definition",
    containers=f"{_C_CONTAINERS} namespace_definition",
    wrappers=f"template_declaration {_C_WRAPPERS}",
)

_CSHARP = _rules(
    {
        "conversion_operator_declaration": naming.operator,
        "event_field_declaration": naming.declarators,
        "field_declaration": naming.declarators,
        "indexer_declaration": fixed("function", "this"),
        "operator_declaration": naming.operator,
    },
    functions="""method_declaration constructor_declaration destructor_declaration property_declaration
        event_declaration local_function_statement""",
    types="""class_declaration struct_declaration interface_declaration enum_declaration record_declaration
        delegate_declaration""",
    containers="""namespace_declaration file_scoped_namespace_declaration declaration_list preproc_if preproc_else
        preproc_elif block""",
)

_RUBY = _rules(
    {
        "assignment": dialects.ruby_constant,
        "call": dialects.ruby_call,
        "operator_assignment": dialects.ruby_constant,
    },
    functions="method singleton_method",
    types="class module",
    containers="body_statement singleton_class do_block block if unless then else begin",
    wrappers="call argument_list",
    comments="#",
)

_PHP = _rules(
    {"const_element": by_child("constant", "name"), "property_declaration": dialects.php_property},
    functions="function_definition method_declaration",
    types="class_declaration interface_declaration trait_declaration enum_declaration",
    containers="""namespace_definition declaration_list enum_declaration_list compound_statement if_statement
        else_clause""",
    wrappers="const_declaration",
    comments="// #",
)

_KOTLIN = _rules(
    {
        "function_declaration": dialects.kotlin_function,
        "property_declaration": dialects.kotlin_property,
        "secondary_constructor": fixed("function", "constructor"),
        "type_alias": by_field("type", "type"),
    },
    types="class_declaration object_declaration",
    containers="class_body enum_class_body companion_object",
    # Where two annotations are above a definition, the grammar may take them for an expression.
    leading="annotated_expression",
)

_SWIFT = _rules(
    {
        "class_declaration": dialects.swift_type,
        "deinit_declaration": fixed("function", "deinit"),
        "function_declaration": dialects.swift_function,
        "init_declaration": fixed("function", "init"),
        "property_declaration": dialects.swift_property,
        "protocol_property_declaration": dialects.swift_property,
        "subscript_declaration": fixed("function", "subscript"),
    },
    functions="protocol_function_declaration",
    types="protocol_declaration typealias_declaration associatedtype_declaration",
    containers="class_body enum_class_body protocol_body",
)

_SCALA = _rules(
    {"val_definition": dialects.scala_value, "var_definition": dialects.scala_value},
    functions="function_definition function_declaration given_definition",
    types="class_definition object_definition trait_definition enum_definition type_definition",
    containers="package_clause template_body with_template_body enum_body extension_definition block",
)

_BASH = _rules(
    {"variable_assignment": by_field("constant")},
    functions="function_definition",
    containers="if_statement elif_clause else_clause case_statement case_item compound_statement",
    wrappers="declaration_command",
    comments="#",
)

_LUA = _rules(
    {"assignment_statement": dialects.lua_assignment, "field": dialects.lua_field},
    functions="function_declaration",
    containers="return_statement expression_list table_constructor if_statement do_statement block",
    wrappers="variable_declaration",
    fillers="field function_call arguments function_definition",
    comments="--",
)

_ELIXIR = _rules(
    {"call": dialects.elixir_call, "unary_operator": dialects.elixir_attribute},
    containers="do_block",
    fillers="call arguments",
    leading="unary_operator",
    comments="#",
    grouped=True,
)

_CLOJURE = _rules(
    {"list_lit": dialects.clojure_list},
    containers="read_cond_lit splicing_read_cond_lit",
    comments=";",
)

_ERLANG = _rules(
    {
        "callback": by_field("function", "fun"),
        "fun_decl": dialects.erlang_clause,
        "pp_define": dialects.erlang_macro,
        "record_decl": by_field("type"),
    },
    types="type_alias opaque nominal module_attribute",
    leading="spec",
    comments="%",
    grouped=True,
)

_LISP = _rules(
    {"list": dialects.lisp_list},
    calls="list",
    comments=";",
)

_HASKELL = _rules(
    {
        "bind": dialects.haskell_function,
        "function": dialects.haskell_function,
        "instance": by_field("scope"),
        "signature": dialects.haskell_function,
    },
    types="data_type newtype type_synomym class type_family data_family",
    containers="declarations class_declarations instance_declarations",
    leading="pragma",
    comments="--",
    grouped=True,
)

_OCAML = _rules(
    {
        "class_binding": by_child("type", "class_name"),
        "class_type_binding": by_child("type", "class_type_name"),
        "exception_definition": dialects.ocaml_exception,
        "external": by_child("function", *dialects.OCAML_VALUES),
        "let_binding": dialects.ocaml_value,
        "method_definition": by_child("function", "method_name"),
        "method_specification": by_child("function", "method_name"),
        "module_binding": dialects.ocaml_module,
        "module_type_definition": by_child("type", "module_type_name"),
        "value_specification": by_child("function", *dialects.OCAML_VALUES),
    },
    types="type_binding",
    containers="structure signature include_module object_expression class_body_type class_function_type",
    wrappers="value_definition type_definition module_definition class_definition class_type_definition",
    comments="(*",
)

_ZIG = _rules(
    {"function_declaration": dialects.zig_function, "variable_declaration": dialects.zig_variable},
    containers="""struct_declaration enum_declaration union_declaration opaque_declaration block expression_statement
        return_expression""",
)

_SOLIDITY = _rules(
    {
        "constant_variable_declaration": by_field("constant"),
        "constructor_definition": fixed("function", "constructor"),
        "error_declaration": by_field("constant"),
        "event_definition": by_field("constant"),
        "fallback_receive_definition": dialects.solidity_fallback,
        "state_variable_declaration": by_field("constant"),
    },
    functions="function_definition modifier_definition",
    types="""contract_declaration interface_declaration library_declaration struct_declaration enum_declaration
        user_defined_type_definition""",
    containers="contract_body",
)

_JULIA = _rules(
    {
        "assignment": dialects.julia_assignment,
        "function_definition": dialects.julia_function,
        "macro_definition": dialects.julia_function,
        "macrocall_expression": dialects.julia_macro_call,
        **dict.fromkeys("abstract_definition primitive_definition struct_definition".split(), dialects.julia_type),
    },
    types="module_definition",
    containers="""block compound_statement if_statement elseif_clause else_clause let_statement for_statement
        try_statement catch_clause""",
    wrappers="const_statement global_statement macro_argument_list macrocall_expression",
    leading="string_literal",
    comments="#",
)

_SQL = _rules(
    dict.fromkeys(
        """create_table create_view create_materialized_view create_function create_procedure create_index
        create_trigger create_type create_schema create_sequence""".split(),
        dialects.sql_object,
    ),
    wrappers="statement",
    containers="transaction block",
    comments="--",
)

_CSS = _rules(
    {"rule_set": dialects.css_rule},
    containers="block media_statement supports_statement",
)

_HTML = _rules(
    dict.fromkeys(("element", "script_element", "style_element"), fixed("element", "")),
    comments="",
)

RULES: Mapping[str, LanguageRules] = MappingProxyType(
    {
        "bash": _BASH,
        "c": _C,
        "clojure": _CLOJURE,
        "cpp": _CPP,
        "csharp": _CSHARP,
        "css": _CSS,
        "elisp": _LISP,
        "elixir": _ELIXIR,
        "erlang": _ERLANG,
        "go": _GO,
        "haskell": _HASKELL,
        "html": _HTML,
        "java": _JAVA,
        "javascript": _JAVASCRIPT,
        "julia": _JULIA,
        "kotlin": _KOTLIN,
        "lisp": _LISP,
        "lua": _LUA,
        "ocaml": _OCAML,
        "php": _PHP,
        "python": _PYTHON,
        "racket": _LISP,
        "ruby": _RUBY,
        "rust": _RUST,
        "scala": _SCALA,
        "scheme": _LISP,
        "scss": _CSS,
        "solidity": _SOLIDITY,
        "sql": _SQL,
        "starlark": _PYTHON,
        "swift": _SWIFT,
        "tsx": _JAVASCRIPT,
        "typescript": _JAVASCRIPT,
        "zig": _ZIG,
    }
)
"""By name of the grammar. Other languages are chunked by lines."""
