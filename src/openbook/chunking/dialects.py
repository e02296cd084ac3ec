"""Names definitions in languages where a call, an assignment or a keyword creates them."""

from __future__ import annotations

import re

from tree_sitter import Node

from openbook.chunking.naming import DefinitionName, TextOf, body_of, by_child, by_field, parts
from openbook.chunking.outline import Role

_JS_FUNCTIONS = frozenset({"arrow_function", "function_expression", "generator_function", "function"})

# Objects that exports are assigned to, which are not part of a qualified name.
_JS_HOLDERS = frozenset({"module", "exports", "window", "globalThis", "global", "self", "this", "prototype", "default"})

_ELIXIR_ROLES: dict[str, Role] = {
    "defmodule": "type",
    "defprotocol": "type",
    "defimpl": "scope",
    **dict.fromkeys(
        "def defp defmacro defmacrop defguard defguardp defdelegate defn defnp".split(),
        "function",
    ),
}

_ELIXIR_ATTRIBUTES: dict[str, Role] = {
    **dict.fromkeys("callback macrocallback".split(), "function"),
    **dict.fromkeys("type typep opaque".split(), "type"),
}

_CLOJURE_ROLES: dict[str, Role] = {
    **dict.fromkeys("def defonce".split(), "constant"),
    **dict.fromkeys("defn defn- defmacro defmulti defmethod deftest".split(), "function"),
    **dict.fromkeys("defprotocol definterface defrecord deftype".split(), "type"),
    **dict.fromkeys("extend-protocol extend-type".split(), "scope"),
    **dict.fromkeys("comment do let when when-not".split(), "element"),
}

_ZIG_TYPES = frozenset(
    "struct_declaration enum_declaration union_declaration opaque_declaration error_set_declaration".split()
)

_CLOJURE_ASIDE = frozenset({"comment", "dis_expr", "meta_lit"})

# `cl-defun`, `define-minor-mode`, `transient-define-prefix`, `deftest`, `define/contract`, but not `define-key`.
_LISP_FORM = re.compile(r"(?:[\w.:/+-]*[-:])?def(?!ault|er)[\w*/?!:+-]*(?<!-key)(?<!-keys)|struct|class\*?")
_LISP_TYPE = re.compile(r"class|struct|record|deftype|type$")
_LISP_CONSTANT = re.compile(r"def(?:var|const|custom|face|group|param)|alias$|(?:\b|-)define(?:-local-var|-error)?$")
_LISP_AROUND = frozenset(
    """progn let let* when unless if eval-when eval-when-compile eval-and-compile with-eval-after-load begin module
    module+""".split()
)
OCAML_VALUES = ("value_name", "parenthesized_operator")
"""Nodes that name values of OCaml."""

_FORM_CHARS = 80  # the time to match grows with the square of the length
_LISP_ASIDE = frozenset({"comment", "block_comment", "directive"})

_SELECTOR_CHARS = 80  # limit for a CSS selector as the name of its rule


def js_variable(node: Node, text: TextOf) -> DefinitionName | None:
    """Name a variable, a field or a key by its value; patterns have no name."""
    name = node.child_by_field_name("name") or node.child_by_field_name("property")
    if name is None or name.type.endswith("pattern"):
        return None
    path = parts(text(name))
    return _js_holding(path, node.child_by_field_name("value"), "constant") if path else None


def js_pair(node: Node, text: TextOf) -> DefinitionName | None:
    """Name a key of an object if it holds a function or a class."""
    path = parts(text(node.child_by_field_name("key")))
    return _js_holding(path[-1:], node.child_by_field_name("value"), None) if path else None


def js_assignment(node: Node, text: TextOf) -> DefinitionName | None:
    """Name the target to which a function or a class is assigned: `A.prototype.run` is `A.run`."""
    left, right = node.child_by_field_name("left"), node.child_by_field_name("right")
    path = tuple(part for part in parts(text(left)) if part not in _JS_HOLDERS)
    if not path and right is not None:
        path = parts(text(right.child_by_field_name("name")))
    return _js_holding(path[-2:], right, None) if path else None


def js_export(node: Node, text: TextOf) -> DefinitionName | None:
    """Name a function or class that is the default export, `default` if it has no name."""
    value = node.child_by_field_name("value")
    path = parts(text(value.child_by_field_name("name"))) if value is not None else ()
    return _js_holding(path or ("default",), value, None)


def js_call(node: Node, text: TextOf) -> DefinitionName | None:
    """Keep a call with a title and a function whole: `test("...", () => {})`."""
    arguments = node.child_by_field_name("arguments")
    given = arguments.named_children if arguments is not None else []
    is_block = len(given) > 1 and given[0].type.endswith("string") and given[-1].type in _JS_FUNCTIONS
    return DefinitionName(("",), "element") if is_block else None


def js_namespace(node: Node, text: TextOf) -> DefinitionName | None:
    """Name a namespace; a module that is named by a string is a file, not a namespace."""
    name = node.child_by_field_name("name")
    return by_field("type")(node, text) if name is not None and name.type != "string" else None


def ts_property(node: Node, text: TextOf) -> DefinitionName | None:
    """Name a member of an interface whose type is that of a function."""
    kind = node.child_by_field_name("type")
    is_function = kind is not None and [each.type for each in kind.named_children] == ["function_type"]
    return by_field("function")(node, text) if is_function else None


def _js_holding(path: tuple[str, ...], value: Node | None, otherwise: Role | None) -> DefinitionName | None:
    if value is not None and value.type in _JS_FUNCTIONS:
        return DefinitionName(path, "function", body_of(value))
    if value is not None and value.type == "class":
        return DefinitionName(path, "type", body_of(value))
    return DefinitionName(path, otherwise) if otherwise is not None else None


def ruby_constant(node: Node, text: TextOf) -> DefinitionName | None:
    """Name an assigned constant; lower-case names are variables."""
    left = node.child_by_field_name("left")
    return DefinitionName((text(left),), "constant") if left is not None and left.type == "constant" else None


def ruby_call(node: Node, _: TextOf) -> DefinitionName | None:
    """Keep a call with a block of several lines whole: `it "..." do`."""
    block = node.child_by_field_name("block")
    return DefinitionName(("",), "element") if block is not None and block.type == "do_block" else None


def php_property(node: Node, text: TextOf) -> DefinitionName | None:
    """Name the property that a declaration declares."""
    element = next((each for each in node.named_children if each.type == "property_element"), None)
    path = parts(text(element.child_by_field_name("name"))) if element is not None else ()
    return DefinitionName(path, "constant") if path else None


def kotlin_function(node: Node, text: TextOf) -> DefinitionName | None:
    """Name a function, qualified by the type that it extends."""
    name = node.child_by_field_name("name")
    own = parts(text(name))
    types = [each for each in node.named_children if name is not None and each.end_byte <= name.start_byte]
    receiver = [each for each in types if each.type in {"user_type", "nullable_type", "parenthesized_type"}]
    path = (*parts(text(receiver[-1]).rstrip("?"))[-1:], *own) if receiver else own
    return DefinitionName(path, "function", body_of(node)) if own else None


def kotlin_property(node: Node, text: TextOf) -> DefinitionName | None:
    """Name a property; destructuring has no name."""
    declared = next((each for each in node.named_children if each.type == "variable_declaration"), None)
    path = parts(text(declared.named_children[0])) if declared is not None and declared.named_children else ()
    return DefinitionName(path, "constant") if path else None


def swift_type(node: Node, text: TextOf) -> DefinitionName | None:
    """Name a class, struct, enum, actor or extension; an extension defines nothing."""
    role: Role = "scope" if text(node.child_by_field_name("declaration_kind")) == "extension" else "type"
    return by_field(role)(node, text)


def swift_function(node: Node, text: TextOf) -> DefinitionName | None:
    """Name a function; the name of an operator is plain text after `func`."""
    name = node.child_by_field_name("name")
    if name is not None and name.type == "simple_identifier":
        return by_field("function")(node, text)
    sign = re.search(r"\bfunc\s+([^\s\w(]+)", text(node)[:300])
    return DefinitionName((sign[1],), "function", body_of(node)) if sign else None


def swift_property(node: Node, text: TextOf) -> DefinitionName | None:
    """Name a property; a computed one is a function."""
    name = node.child_by_field_name("name")
    bound = name.child_by_field_name("bound_identifier") if name is not None else None  # in a protocol, beside `var`
    path = parts(text(bound or name))
    computed = node.child_by_field_name("computed_value")
    return (
        DefinitionName(path, "function" if computed is not None else "constant", computed) if len(path) == 1 else None
    )


def scala_value(node: Node, text: TextOf) -> DefinitionName | None:
    """Name a value; destructuring has no name."""
    name = node.child_by_field_name("pattern")
    return DefinitionName((text(name),), "constant") if name is not None and name.type == "identifier" else None


def lua_assignment(node: Node, text: TextOf) -> DefinitionName | None:
    """Name an assigned function, table or constant."""
    names, values = [*node.named_children, None, None][:2]
    name = names.named_children[0] if names is not None and names.named_children else None
    path = parts(re.sub(r"\[[\"'](\w+)[\"']\]", r".\1", text(name)))
    value = values.named_children[0] if values is not None and values.named_children else None
    is_function = value is not None and value.type == "function_definition"
    return (
        DefinitionName(path, "function" if is_function else "constant", body_of(value) if value else None)
        if path
        else None
    )


def lua_field(node: Node, text: TextOf) -> DefinitionName | None:
    """Name a field of a table if it holds a function."""
    value = node.child_by_field_name("value")
    path = parts(text(node.child_by_field_name("name")))
    if value is None or value.type != "function_definition" or not path:
        return None
    return DefinitionName(path, "function", body_of(value))


def elixir_call(node: Node, text: TextOf) -> DefinitionName | None:
    """Name the definition of a `defmodule`, `def` or similar call; other calls define nothing."""
    role = _ELIXIR_ROLES.get(text(node.child_by_field_name("target")))
    arguments = next((each for each in node.named_children if each.type == "arguments"), None)
    head = arguments.named_children[0] if role and arguments is not None and arguments.named_children else None
    body = body_of(node)
    if role is None or head is None:
        return DefinitionName(("",), "element") if body is not None and body.type == "do_block" else None
    if role != "function":
        path = parts(text(head))
        return DefinitionName(path, role, body) if path else None
    return _elixir_head(head, role, body, text)


def elixir_attribute(node: Node, text: TextOf) -> DefinitionName | None:
    """Name what `@callback`, `@type` and similar attributes define; others lead the definition below."""
    call = node.child_by_field_name("operand")
    named = call.child_by_field_name("target") if call is not None and call.type == "call" else None
    role = _ELIXIR_ATTRIBUTES.get(text(named))
    given = call.named_children[-1].named_children if call is not None and role is not None else []
    return _elixir_head(given[0], role, None, text) if given and role is not None else None


def _elixir_head(head: Node, role: Role, body: Node | None, text: TextOf) -> DefinitionName | None:
    """Name the head `lift(crane)` of `lift(crane) :: type when type: any` or `lift(crane) when is_map(crane)`."""
    sign = head.child_by_field_name("operator") if head.type == "binary_operator" else None
    while sign is not None and text(sign) in {"when", "::"}:
        head = head.child_by_field_name("left") or head
        sign = head.child_by_field_name("operator") if head.type == "binary_operator" else None
    if sign is not None:
        return DefinitionName((text(sign),), role, body)
    name = text(head.child_by_field_name("target")) if head.type == "call" else text(head)
    return DefinitionName((name,), role, body) if re.fullmatch(r"\w+[?!]?", name) else None


def clojure_list(node: Node, text: TextOf) -> DefinitionName | None:
    """Name what a form such as `defn` defines, and the methods of types and protocols."""
    values = [each for each in node.named_children if each.type not in _CLOJURE_ASIDE]
    form, name = next(iter(values), None), next(iter(values[1:]), None)
    around = node.parent.named_children if node.parent is not None else []
    is_member = bool(around) and _CLOJURE_ROLES.get(_clojure_symbol(around[0], text), "") in {"type", "scope"}
    role = "function" if is_member else _CLOJURE_ROLES.get(_clojure_symbol(form, text))
    if role is None or role == "element":
        return DefinitionName(("",), "element") if role else None
    written = _clojure_symbol(form if is_member else name, text)
    if not written:
        return None
    said = values[1:] if is_member else values[2:]
    strings = [each for each in said if each.type == "str_lit"]
    parameters = next((place for place, each in enumerate(said) if each.type == "vec_lit"), -1)
    # The last string of a constant or a function is its value; that of a method is not, if it has no other.
    is_told = bool(strings) and (strings[0] != said[-1] or is_member or role == "type")
    body = next(iter(said[parameters + 1 :]), None) if role == "function" else None
    return DefinitionName((written,), role, body, docstring=strings[0] if is_told else None)


def _clojure_symbol(node: Node | None, text: TextOf) -> str:
    """Return a symbol without its metadata and its namespace; empty for anything else."""
    return text(node.child_by_field_name("name")) if node is not None and node.type == "sym_lit" else ""


def erlang_clause(node: Node, text: TextOf) -> DefinitionName | None:
    """Name a clause of a function."""
    clause = node.child_by_field_name("clause")
    return by_field("function")(clause, text) if clause is not None else None


def erlang_macro(node: Node, text: TextOf) -> DefinitionName | None:
    """Name a macro without its parameters."""
    head = node.child_by_field_name("lhs")
    return by_field("constant")(head, text) if head is not None else None


def lisp_list(node: Node, text: TextOf) -> DefinitionName | None:
    """Name what a form such as `defun`, `cl-defmethod` or `define` defines; it says of itself what a string says."""
    values = [each for each in node.named_children if each.type not in _LISP_ASIDE]
    form = text(values[0])[:_FORM_CHARS] if values and values[0].type == "symbol" else ""
    if form in _LISP_AROUND:
        return DefinitionName(("",), "element")
    name = _lisp_name(values[1], text) if len(values) > 1 and _LISP_FORM.fullmatch(form) else ""
    if not name:
        return None
    is_value = values[1].type != "list" and _LISP_CONSTANT.search(form) is not None
    is_value = is_value and not any(text(each).startswith("(lambda") for each in values[2:3])
    role: Role = "type" if _LISP_TYPE.search(form) else "constant" if is_value else "function"
    said = values[2 + is_value : 5]
    strings = [each for each in said if each.type == "string" and " " in text(each)]
    given = 2 + (values[1].type != "list")  # the parameters of Scheme are in the list with the name
    body = values[given] if role == "function" and len(values) > given else None
    return DefinitionName((name,), role, body, docstring=max(strings, key=lambda each: len(text(each)), default=None))


def _lisp_name(node: Node, text: TextOf) -> str:
    """Return the symbol that is defined: `moor`, `'moor`, `(moor ship)` and `(setf moor)`."""
    while node.type in {"list", "quote"} and node.named_children:
        opening = node.named_children[0]
        is_place = opening.type == "symbol" and text(opening) == "setf" and node.named_child_count > 1
        node = node.named_children[1] if is_place else opening
    name = text(node).lstrip(":#") if node.type in {"symbol", "keyword"} else ""
    return "" if name.endswith((":", "_")) else name  # a field or a gap of a query of tree-sitter, not of Scheme


def haskell_function(node: Node, text: TextOf) -> DefinitionName | None:
    """Name an equation or a type signature; operators keep their sign."""
    names = [text(each).strip("() ") for each in _haskell_names(node)]
    match = node.child_by_field_name("match")
    return DefinitionName((names[0],), "function", match, tuple(names[1:])) if names and names[0] else None


def _haskell_names(node: Node) -> list[Node]:
    """Find the names of `a, b :: T`, of `f x = y`, or the operator of `x <+> y = z`."""
    listed = node.child_by_field_name("names")
    if listed is not None:
        return listed.children_by_field_name("name")
    infix = next((each for each in node.named_children if each.type == "infix"), None)
    name = node.child_by_field_name("name") if infix is None else infix.child_by_field_name("operator")
    return [name] if name is not None else []


def ocaml_value(node: Node, text: TextOf) -> DefinitionName | None:
    """Name a `let`; patterns have no name, and a test that a string names is kept whole."""
    name, body = node.child_by_field_name("pattern"), node.child_by_field_name("body")
    if name is None or name.type == "string":
        return DefinitionName(("",), "element") if name is not None else None
    if name.type not in OCAML_VALUES:
        return None
    is_function = body is not None and body.type in {"function_expression", "fun_expression"}
    is_function = is_function or any(each.type == "parameter" for each in node.named_children)
    return DefinitionName((text(name).strip("() "),), "function" if is_function else "constant", body)


def ocaml_module(node: Node, text: TextOf) -> DefinitionName | None:
    """Name a module; one that is only another name for one, or what a functor makes, is a constant."""
    named = by_child("type", "module_name")(node, text)
    body = node.child_by_field_name("body") or node.child_by_field_name("module_type")
    if named is None or body is None:
        return named
    holds = body.type in {"structure", "signature"} or any(each.type == "structure" for each in body.named_children)
    return named._replace(role="type" if holds else "constant", body=body if holds else None)


def ocaml_exception(node: Node, text: TextOf) -> DefinitionName | None:
    """Name an exception by its constructor."""
    return by_child("type", "constructor_name")(node.named_children[0], text) if node.named_children else None


def zig_function(node: Node, text: TextOf) -> DefinitionName | None:
    """Name a function; one that returns a type is a generic type."""
    gives_type = text(node.child_by_field_name("type")) == "type"
    return by_field("type" if gives_type else "function")(node, text)


def zig_variable(node: Node, text: TextOf) -> DefinitionName | None:
    """Name a constant; one whose value is a struct, enum or union is a type."""
    children = node.named_children
    name = next((each for each in children if each.type == "identifier"), None)
    held = children[-1] if children and children[-1].type in _ZIG_TYPES else None
    return DefinitionName((text(name),), "type" if held is not None else "constant", None) if name is not None else None


def solidity_fallback(node: Node, text: TextOf) -> DefinitionName:
    """Name the function without a name that a contract runs by its keyword: `receive` or `fallback`."""
    return DefinitionName((text(node).partition("(")[0].strip(),), "function", body_of(node))


def julia_function(node: Node, text: TextOf) -> DefinitionName | None:
    """Name a function or a macro by its signature."""
    signature = next((each for each in node.named_children if each.type == "signature"), None)
    path = _julia_name(signature, text)
    return DefinitionName(path, "function", body_of(node)) if path else None


def julia_assignment(node: Node, text: TextOf) -> DefinitionName | None:
    """Name a function of one expression, as in `area(x) = x^2`, and a constant; variables have no name."""
    left, right = node.named_children[0], node.named_children[-1]
    path = _julia_name(left, text)
    if path and left.type != "identifier":
        return DefinitionName(path, "function", right) if _is_julia_call(left) else None
    is_constant = node.parent is not None and node.parent.type == "const_statement"
    return DefinitionName(path, "constant") if path and is_constant else None


def julia_type(node: Node, text: TextOf) -> DefinitionName | None:
    """Name a type by its head, without its parameters and its supertype."""
    head = next((each for each in node.named_children if each.type == "type_head"), None)
    path = parts(re.split(r"<:|\{", text(head), maxsplit=1)[0])
    return DefinitionName(path[-1:], "type", body_of(node)) if path else None


def julia_macro_call(node: Node, text: TextOf) -> DefinitionName | None:
    """Name the type of an `@enum`, and keep a call with a block whole: `@testset "..." begin`."""
    called, given = text(node.named_children[0]), node.named_children[-1].named_children
    if called == "@enum" and given:
        path = parts(text(given[0]).partition("::")[0])
        return DefinitionName(path, "type") if path else None
    is_block = bool(given) and given[-1].type in {"compound_statement", "for_statement", "let_statement"}
    return DefinitionName(("",), "element") if is_block else None


# What is around the name in the head of a function of Julia: `Base.push!(df::Frame) where {T}`.
_JULIA_SHELLS = frozenset(
    "signature where_expression typed_expression call_expression curly_expression parametrized_type_expression".split()
)


def _is_julia_call(node: Node) -> bool:
    while node.type in _JULIA_SHELLS - {"call_expression"} and node.named_children:
        node = node.named_children[0]
    return node.type == "call_expression"


def _julia_name(node: Node | None, text: TextOf) -> tuple[str, ...]:
    while node is not None and node.type in _JULIA_SHELLS and node.named_children:
        node = node.named_children[0]
    if node is None or node.type not in {"identifier", "field_expression", "operator", "quote_expression"}:
        return ()
    owner, _, name = text(node).rpartition(".")
    return (*parts(owner)[-1:], name.lstrip(":").strip("()")) if name else ()


def sql_object(node: Node, text: TextOf) -> DefinitionName | None:
    """Name the object that a `CREATE` statement creates, without its schema."""
    reference = next((each for each in node.named_children if each.type == "object_reference"), None)
    name = node.child_by_field_name("column") if node.type == "create_index" else None
    path = parts(text(name or reference))
    return DefinitionName(path[-1:], "type", None) if path else None


def css_rule(node: Node, text: TextOf) -> DefinitionName | None:
    """Name a rule by its selectors."""
    children = node.named_children
    selectors = " ".join(text(children[0]).split()) if children else ""
    return DefinitionName((selectors[:_SELECTOR_CHARS],), "scope", children[-1]) if selectors else None
