"""Names the definitions in a syntax tree: one small function per kind of syntax."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import NamedTuple

from tree_sitter import Node

from openbook.chunking.outline import Role


class DefinitionName(NamedTuple):
    """The name of a definition, and where its header ends."""

    path: tuple[str, ...]
    """Its name, after the qualifiers in its own header: `("Server", "Serve")`."""
    role: Role
    body: Node | None = None
    also: tuple[str, ...] = ()
    """Other names that it defines."""
    docstring: Node | None = None
    """The string in its header that describes it."""


TextOf = Callable[[Node | None], str]
"""Returns the source of a node; empty for None."""

Rule = Callable[[Node, TextOf], DefinitionName | None]
"""Names one type of node; None if it defines nothing."""

_MAX_NAME_CHARS = 120  # a longer "name" is an expression

_SEPARATORS = re.compile(r"::|[.:\\]")
_ARGUMENTS = re.compile(r"<[^<>]*>|\[[^\[\]]*\]")
_QUOTES = "\"'`#$&*@() \t"
_BODIES = frozenset(
    "block body_statement class_body function_body enum_class_body do_block statement_block declaration_list".split()
)
# `TEST(Pool, GivesBack) {` and similar macros in GoogleTest, Boost, Unity and Criterion.
_C_TEST = re.compile(r"(?:[A-Z]+_)*TEST(?:_[A-Z]+)*")
# Where the grammar does not understand a macro, it takes the next word for a name: `if (LIKELY(x))`, `MY_API int f()`.
_C_RESERVED = frozenset(
    """if else for while do switch case return goto sizeof struct union enum class typedef const static extern inline
    int char void float double long short unsigned signed namespace template using public private protected virtual
    try catch""".split()
)
_C_SHELLS = frozenset({"parenthesized_declarator", "reference_declarator", "attributed_declarator"})


def parts(name: str) -> tuple[str, ...]:
    """Split a qualified name in the notation of any language, without type arguments.

    Example:
        >>> parts("ns::Cls<T>::run"), parts("a.b:c"), parts("'key'")
        (('ns', 'Cls', 'run'), ('a', 'b', 'c'), ('key',))
    """
    if len(name) > _MAX_NAME_CHARS:
        return ()
    found = 1
    while found:
        name, found = _ARGUMENTS.subn("", name)
    words = (word.strip(_QUOTES) for word in _SEPARATORS.split(name))
    return tuple(word for word in words if word)


def body_of(node: Node) -> Node | None:
    """Return the node where the header of a definition ends."""
    body = node.child_by_field_name("body")
    if body is not None:
        return body
    children = node.named_children
    return children[-1] if children and children[-1].type in _BODIES else None


def by_field(role: Role, name: str = "name") -> Rule:
    """Build a rule for nodes whose name is a field."""

    def rule(node: Node, text: TextOf) -> DefinitionName | None:
        path = parts(text(node.child_by_field_name(name)))
        return DefinitionName(path, role, body_of(node)) if path else None

    return rule


def by_child(role: Role, *types: str) -> Rule:
    """Build a rule for nodes whose name is their first child of one of these types."""

    def rule(node: Node, text: TextOf) -> DefinitionName | None:
        path = parts(text(next((each for each in node.named_children if each.type in types), None)))
        return DefinitionName(path, role, body_of(node)) if path else None

    return rule


def fixed(role: Role, name: str) -> Rule:
    """Build a rule for nodes with a constant name, such as constructors."""
    return lambda node, _: DefinitionName((name,), role, body_of(node))


def operator(node: Node, text: TextOf) -> DefinitionName:
    """Name a C# operator by its sign, a conversion by its type."""
    sign = node.child_by_field_name("operator") or node.child_by_field_name("type")
    return DefinitionName((f"operator {text(sign)}",), "function", body_of(node))


def declarators(node: Node, text: TextOf) -> DefinitionName | None:
    """Name the fields that one Java or C# declaration declares."""
    lists = [each for each in node.named_children if each.type == "variable_declaration"]
    held = [each for holder in (lists or [node]) for each in holder.named_children]
    return _constants([text(each.child_by_field_name("name")) for each in held if each.type == "variable_declarator"])


def python_assignment(node: Node, text: TextOf) -> DefinitionName | None:
    """Name the targets of an assignment statement, if they are plain names."""
    assignment = node.named_children[0] if node.named_child_count == 1 else None
    left = assignment.child_by_field_name("left") if assignment is not None else None
    if left is None or (assignment is not None and assignment.type != "assignment"):
        return None
    targets = left.named_children if left.type == "pattern_list" else [left]
    return _constants([text(each) for each in targets]) if all(each.type == "identifier" for each in targets) else None


def go_method(node: Node, text: TextOf) -> DefinitionName | None:
    """Name a method, qualified by the type of its receiver."""
    receiver = re.sub(r"^\(\s*(?:\w+\s+(?=[\w*]))?|\)$", "", text(node.child_by_field_name("receiver")))
    path = (*parts(receiver)[-1:], *parts(text(node.child_by_field_name("name"))))
    return DefinitionName(path, "function", body_of(node)) if path else None


def go_names(node: Node, text: TextOf) -> DefinitionName | None:
    """Name all the constants or variables of one specification; the blank identifier `_` names nothing."""
    written = [text(each) for each in node.children_by_field_name("name") if each.is_named]
    return _constants([each for each in written if each != "_"]) or DefinitionName(("",), "element")


def rust_constant(node: Node, text: TextOf) -> DefinitionName | None:
    """Name a constant; `const _` only checks something, and names nothing."""
    named = by_field("constant")(node, text)
    return DefinitionName(("",), "element") if named is not None and named.path == ("_",) else named


def rust_impl(node: Node, text: TextOf) -> DefinitionName | None:
    """Name an `impl` by its implementing type."""
    written = text(node.child_by_field_name("type"))
    path = parts(re.sub(r"'\w+\s*|\b(?:dyn|mut|impl)\s+", "", written))
    return DefinitionName(path[-1:], "scope", body_of(node)) if path else None


def c_function(node: Node, text: TextOf) -> DefinitionName | None:
    """Name a function by its declarator, qualified by its class; a test by the arguments of its macro."""
    declarator = node.child_by_field_name("declarator")
    path = _c_name(declarator, text)
    if declarator is not None and node.child_by_field_name("type") is None and _C_TEST.fullmatch("".join(path)):
        given = declarator.child_by_field_name("parameters")
        words = [word for each in (given.named_children if given is not None else ()) for word in parts(text(each))]
        path = tuple(words) if words and all(map(str.isidentifier, words)) else path
    return DefinitionName(path[-2:], "function", body_of(node)) if path else None


def c_declaration(node: Node, text: TextOf) -> DefinitionName | None:
    """Name variables, prototypes and typedefs; data members and macros have no name."""
    declared = node.children_by_field_name("declarator")
    if node.type == "field_declaration":
        declared = [each for each in declared if "(" in text(each)]
    paths = [path for path in (_c_name(each, text) for each in declared) if path]
    if not paths or (node.child_by_field_name("type") is None and paths[0][-1].isupper()):
        return None
    kind = node.child_by_field_name("type")
    body = kind.child_by_field_name("body") if kind is not None else None
    tag = parts(text(kind.child_by_field_name("name"))) if kind is not None and body is not None else ()
    also = tuple(name for name in (*(path[-1] for path in paths[1:]), *tag) if name != paths[0][-1])
    is_type = body is not None and node.type == "type_definition"
    return DefinitionName(paths[0][-2:], "type" if is_type else "constant", body, also)


def c_type(node: Node, text: TextOf) -> DefinitionName | None:
    """Name a class, struct, union or enum that has a body."""
    return by_field("type")(node, text) if node.child_by_field_name("body") is not None else None


def c_macro(node: Node, text: TextOf) -> DefinitionName | None:
    """Name a macro with a value; an include guard has none."""
    return by_field("constant")(node, text) if node.child_by_field_name("value") is not None else None


def _c_name(node: Node | None, text: TextOf) -> tuple[str, ...]:
    """Unwrap pointers, arrays, parameters and initialisers down to the name."""
    qualifiers: tuple[str, ...] = ()
    while node is not None:
        if node.type == "operator_name":
            return (*qualifiers, " ".join(text(node).split()))
        if node.type == "operator_cast":
            return (*qualifiers, f"operator {text(node.child_by_field_name('type'))}")
        if node.type == "qualified_identifier":
            qualifiers += parts(text(node.child_by_field_name("scope")))
            node = node.child_by_field_name("name")
            continue
        inner = node.child_by_field_name("declarator")
        if inner is None and node.type in _C_SHELLS:
            inner = next(iter(node.named_children), None)
        if inner is None:
            name = parts(text(node))[-1:] if not node.type.endswith("declarator") else ()
            return (*qualifiers, *name) if _C_RESERVED.isdisjoint(name) and name else ()
        node = inner
    return ()


def _constants(names: list[str]) -> DefinitionName | None:
    return DefinitionName((names[0],), "constant", None, tuple(names[1:])) if names and names[0] else None
