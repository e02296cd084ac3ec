"""Finds the occurrences of a name in code, and their use: definition, call, import or mention."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Literal, NamedTuple

from tree_sitter import Node, Tree

from openbook.chunking.code import parse_code
from openbook.chunking.definitions import DefinitionFinder
from openbook.chunking.outline import Definition, flatten
from openbook.chunking.rules import RULES, LanguageRules
from openbook.text import LineIndex
from openbook.types import USES, Use

# Call nodes, in all grammars with rules. Decorators and JSX elements call what they name.
_CALLS = frozenset(
    """call call_expression invocation_expression method_invocation function_call_expression member_call_expression
    nullsafe_member_call_expression scoped_call_expression function_call method_call object_creation_expression
    new_expression instance_expression explicit_constructor_invocation constructor_invocation macro_invocation command
    constructor_expression type_conversion_expression decorator attribute_item jsx_opening_element
    jsx_self_closing_element list_lit emit_statement revert_statement modifier_invocation broadcast_call_expression
    macrocall_expression application_expression""".split()
)

# Fields with the called expression. In grammars without such a field, it is the first child.
_CALLEES = ("function", "method", "name", "constructor", "type", "macro", "target")

# Nodes around the last name of `a.b`, `a::b` and `a<T>`, which is the called name.
_QUALIFIED = frozenset(
    """attribute member_expression selector_expression field_expression scoped_identifier qualified_identifier
    member_access_expression conditional_access_expression member_binding_expression navigation_expression
    navigation_suffix generic_name generic_type generic_function template_function template_method qualified_name
    scoped_type_identifier qualified_type instantiation_expression dot_index_expression method_index_expression
    command_name user_type stable_identifier nested_identifier dot parenthesized_expression non_null_expression
    simple_user_type variable constructor type_identifier index_expression sym_lit expression struct_expression
    type_name user_defined_type macro_identifier value_path""".split()
)

# `client.get::<T>`, `box.move{value: 1}`
_BEHIND_NAME = re.compile("argument|struct_field_assignment")

# In Go, `newQueue[int](a, b)` is parsed as the call of an element. These cannot be types, so they are elements.
_ELEMENTS = frozenset({"int_literal", "interpreted_string_literal", "raw_string_literal"})

_IMPORTS = frozenset(
    """import_statement import_from_statement future_import_statement import_declaration import_spec import_header
    import_list use_declaration using_directive using_declaration namespace_use_declaration preproc_include
    extern_crate_declaration export_clause import import_directive selected_import open_module""".split()
)

# Arguments of Rust macros are tokens, without call nodes: `assert_eq!(send(1), 2)`. The text after a name decides.
_TOKENS = "token_tree"
_CALLED_IN_TOKENS = re.compile(rb"\s*(?:!\s*[(\[{]|(?:::\s*<[^(){};]{0,200}>\s*)?\()")
_DEFINED_IN_TOKENS = re.compile(rb"\bfn\s+$")
_MAX_BEFORE = 40

# The body of `#define` in C is text. A word before a name declares it: `void send(`, but not `return send(`.
_MACRO_BODY = "preproc_arg"
# A comment within ends the definition for the parser, often with an error.
_AROUND_MACRO_BODY = frozenset({"preproc_def", "preproc_function_def", "ERROR"})
_STRINGS_IN_C = re.compile(rb""" "(?:[^"\\]|\\.)*+" | '(?:[^'\\]|\\.)*+' """, re.VERBOSE)
_BEGINS_NO_CODE = re.compile(rb"[\"']|//")
_CALLED_IN_C = re.compile(rb"\s*\(")
_DECLARED_IN_C = re.compile(
    rb"(?:\b(?!(?:return|else|do|case|throw|new|and|or|not|co_\w+)\b)[a-zA-Z_]\w*[ \t]+|#[ \t]*)$"
)
_MAX_BEFORE_IN_C = 1_000

# Parents of a macro around items, whose name was hidden from the parser.
_AROUND_ITEMS = frozenset({"source_file", "declaration_list", "block"})

# Nodes whose whole text can be the name without being one. Shell arguments are words, like any text.
_NO_CODE = re.compile("comment|string|content|fragment|text|heredoc|regex|char|^word$")

# What declares a member: a field, a property, a value of an enumeration. The name is a field of it, or its first child.
_MEMBERS = frozenset(
    """class_parameter column_definition constructor_declaration container_field enum_assignment enum_body enum_case
    enum_constant enum_entry enum_member_declaration enum_variant enumerator field field_declaration full_enum_case
    prefix property_element property_promotion_parameter property_signature required_parameter simple_enum_case
    struct_member""".split()
)
_NAMES_OF_MEMBERS = ("name", "declarator", "pattern")
_AROUND_NAME = frozenset(
    """array_declarator constructor_name field_name function_declarator parenthesized_declarator pointer_declarator
    reference_declarator variable_name""".split()
)
# A parameter that is a property as well: of a record, and in a constructor of TypeScript.
_OF_RECORDS = frozenset({"formal_parameter", "parameter"})
_MAKES_PROPERTY = frozenset({"accessibility_modifier", "override_modifier", "readonly"})
_CONSTRUCTORS = (["constructor"], ["__construct"])
_MODIFIERS = re.compile("modifier|attribute|annotation")

# Maximum levels between an import and a name in it, as in `use a::{b::{c, d}}`.
_MAX_PARENTS = 8

# Maximum comments and attributes above a member.
_MAX_LEADING = 100


Rank = Literal["outer", "member", "local"]
RANKS: tuple[Rank, ...] = ("outer", "member", "local")
"""What a definition defines: a type or a function, a constant or a member, something within a function."""


class Extent(NamedTuple):
    """The lines of a definition, 1-based and inclusive, from its comment on."""

    rank: Rank
    first_line: int
    last_line: int


@dataclass(frozen=True, slots=True)
class Occurrence:
    """A line that contains a name."""

    line: int
    """1-based."""
    use: Use
    within: str
    """The innermost definition around it, qualified; empty at the top level. Of a definition, its own name."""
    is_code: bool = True
    """Whether it is in code, rather than in a comment, a string or text without a grammar."""
    defined: Extent | None = None
    """What a definition consists of."""


class _Said(NamedTuple):
    """What the place of a name says of it."""

    use: Use
    is_code: bool
    defined: Extent | None = None


def find_occurrences(text: str, language: str, name: str) -> list[Occurrence]:
    """Return the lines of a text that contain a name as a whole word, in order.

    Without a grammar, and in comments and strings, the use is a mention. `language` is the name of its grammar, or any
    other for text that is not code; `name` is unqualified.
    """
    source = text.encode("utf-8")
    places = list(_places(source, name))
    if not places:
        return []
    lines = _lines_of(source, [start for start, _ in places])
    parsed = parse_code(text, language)
    if parsed is None:
        return _by_line((line, _Said("mention", False)) for line in lines)
    tree, language = parsed
    rules = RULES[language]
    finder = DefinitionFinder(text, source, LineIndex(text), rules, only_places=True)
    definitions = list(flatten(finder.find(tree)))
    found = _by_line((line, _use_at(tree, source, place, rules)) for line, place in zip(lines, places, strict=True))
    return _with_definitions(found, definitions, name)


def _places(source: bytes, name: str) -> Iterator[tuple[int, int]]:
    """Yield the byte ranges of a name."""
    word = re.escape(name.encode("utf-8"))
    for found in re.finditer(rb"(?<![\w\x80-\xff])" + word + rb"(?![\w\x80-\xff])", source):
        yield found.span()


def _lines_of(source: bytes, starts: Sequence[int]) -> list[int]:
    """Return the lines of byte offsets, which must be sorted."""
    lines, line, at = [], 1, 0
    for start in starts:
        line += source.count(b"\n", at, start)
        at = start
        lines.append(line)
    return lines


def _use_at(tree: Tree, source: bytes, place: tuple[int, int], rules: LanguageRules) -> _Said:
    """Return what the place of a name says of it."""
    node = tree.root_node.descendant_for_byte_range(*place)
    parent = node.parent if node is not None and node.type == _MACRO_BODY else None
    if node is not None and parent is not None and parent.type in _AROUND_MACRO_BODY:
        return _used_in_macro(source, node, place)
    if node is None or (node.start_byte, node.end_byte) != place:
        is_item = node is not None and node.type in _AROUND_ITEMS
        use = _used_in_tokens(source, *place) if is_item else "mention"
        return _Said(use, use != "mention")
    member = _declaring(node)
    use = "definition" if member is not None else _used(node, source, place, rules)
    if use == "definition":
        return _Said(use, True, _extent_of(member or node.parent or node, "member" if member else "local", rules))
    return _Said(use, use != "mention" or not _NO_CODE.search(node.type))


def _used(node: Node, source: bytes, place: tuple[int, int], rules: LanguageRules) -> Use:
    if _is_imported(node):
        return "import"
    parent = node.parent
    if parent is not None and parent.type in rules.defining and parent.child_by_field_name("name") == node:
        return "definition"
    if parent is not None and parent.type == _TOKENS:
        return _used_in_tokens(source, *place)
    return "call" if _is_called(node, rules.calls) else "mention"


def _declaring(node: Node) -> Node | None:
    """Return what declares a member, if the node is the name of one."""
    if node.type == "enum_value":
        return node
    name, parent = node, node.parent
    while parent is not None and parent.type in _AROUND_NAME and _is_name(name, parent):
        name, parent = parent, parent.parent
    if parent is None or not _is_name(name, parent):
        return None
    if parent.type in _OF_RECORDS:
        around = parent.parent.parent if parent.parent is not None else None
        return parent if around is not None and around.type == "record_declaration" else None
    if parent.type not in _MEMBERS or (
        parent.type == "required_parameter" and _MAKES_PROPERTY.isdisjoint(each.type for each in parent.children)
    ):
        return None
    return name if parent.type == "enum_body" else parent


def _is_name(node: Node, parent: Node) -> bool:
    """Return whether a node is the name of what its parent declares."""
    named = [each for field in _NAMES_OF_MEMBERS for each in parent.children_by_field_name(field)]
    if not named and parent.type != "enum_body":
        named = [each for each in parent.named_children if not _MODIFIERS.search(each.type)][:1]
    return node in named


def _extent_of(node: Node, rank: Rank, rules: LanguageRules) -> Extent:
    """Return the lines of a declaration with the comments and attributes directly above it."""
    first, above = node.start_point.row, node.prev_named_sibling
    leading: list[Node] = []
    while above is not None and above.type in rules.leading and len(leading) < _MAX_LEADING:
        leading.append(above)
        above = above.prev_named_sibling
    floor = above.end_point.row + 1 if above is not None else 0
    for each in leading:
        end = each.end_point.row - (each.end_point.column == 0)
        if each.start_point.row < floor or end < first - 1:
            break
        first = each.start_point.row
    return Extent(rank, first + 1, node.end_point.row + 1)


def _used_in_tokens(source: bytes, start: int, end: int) -> Use:
    if not _CALLED_IN_TOKENS.match(source, end):
        return "mention"
    is_defined = _DEFINED_IN_TOKENS.search(source, max(0, start - _MAX_BEFORE), start)
    return "definition" if is_defined else "call"


def _used_in_macro(source: bytes, body: Node, place: tuple[int, int]) -> _Said:
    """Return what the place of a name in the body of a macro of C says of it."""
    start, end = place
    first = max(body.start_byte, start - _MAX_BEFORE_IN_C - 1)  # a long line must not be read for each name in it
    before = source[first:start].rpartition(b"\n")[2]
    if len(before) > _MAX_BEFORE_IN_C or _BEGINS_NO_CODE.search(_STRINGS_IN_C.sub(b"", before)):
        return _Said("mention", False)
    is_called = _CALLED_IN_C.match(source, end) and not _DECLARED_IN_C.search(before)
    return _Said("call" if is_called else "mention", True)


def _is_imported(node: Node) -> bool:
    parent = node.parent
    for _ in range(_MAX_PARENTS):
        if parent is None:
            return False
        if parent.type in _IMPORTS and parent.is_named:
            return True
        parent = parent.parent
    return False


def _is_called(node: Node, calls: frozenset[str]) -> bool:
    parent = node.parent
    while parent is not None:
        if parent.type in _CALLS or parent.type in calls:
            return _callee_of(parent) == node
        if parent.type not in _QUALIFIED or _last_name(parent) != node:
            return False
        node, parent = parent, parent.parent
    return False


def _callee_of(call: Node) -> Node | None:
    for field in _CALLEES:
        child = call.child_by_field_name(field)
        if child is not None:
            return child
    return next(iter(call.named_children), None)


def _last_name(qualified: Node) -> Node | None:
    if qualified.type == "index_expression":
        index = qualified.child_by_field_name("index")
        return qualified.child_by_field_name("operand") if index and index.type not in _ELEMENTS else None
    names = [child for child in qualified.named_children if not _BEHIND_NAME.search(child.type)]
    return names[-1] if names else None


def _by_line(said: Iterable[tuple[int, _Said]]) -> list[Occurrence]:
    """Keep the most informative use per line."""
    best: dict[int, _Said] = {}
    for line, one in said:
        best[line] = min(best.get(line, one), one, key=lambda each: (USES.index(each.use), not each.is_code))
    return [Occurrence(line, one.use, "", one.is_code, one.defined) for line, one in sorted(best.items())]


def _with_definitions(found: Sequence[Occurrence], definitions: Sequence[Definition], name: str) -> list[Occurrence]:
    """Add the definition around each line, and mark definitions that only the rules recognize."""
    lines = [occurrence.line for occurrence in found]
    defining = {
        next((line for line in lines if definition.line <= line <= definition.last_line), 0): definition
        for definition in reversed(definitions)
        if name in definition.names
    }
    return [
        _defined_by(defining.get(each.line), replace(each, within=_around(each.line, definitions)), name)
        for each in found
    ]


def _defined_by(definition: Definition | None, found: Occurrence, name: str) -> Occurrence:
    if definition is not None:
        rank: Rank = "member" if definition.role == "constant" else "outer"
        extent = Extent(rank, definition.first_line, definition.last_line)
        return replace(found, use="definition", within=".".join((*definition.path[:-1], name)), defined=extent)
    if found.use != "definition":
        return found
    around = found.within.split(".") if found.within else []
    if found.defined is not None and found.defined.rank == "member" and around[-1:] in _CONSTRUCTORS:
        around.pop()
    return found if around[-1:] == [name] else replace(found, within=".".join((*around, name)))


def _around(line: int, definitions: Sequence[Definition]) -> str:
    """Name the innermost definition around a line: the last that has begun and not ended."""
    around = [each for each in definitions if each.path and each.line <= line <= each.last_line]
    return ".".join(around[-1].path) if around else ""
