"""Adds or removes an entry of a table in JSON, TOML or YAML text. The rest of the text keeps its bytes.

TOML is edited by tomlkit, and PyYAML says where the nodes of YAML are. No maintained package edits JSON with comments
in place: comments and trailing commas are replaced by blanks, so that `json` reads it and every offset stays.
"""

from __future__ import annotations

import json
import re
import tomllib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from itertools import takewhile
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from openbook.errors import MissingExtraError

if TYPE_CHECKING:
    from tomlkit import TOMLDocument
    from yaml import Node

Table = dict[str, Any]

_BLANKS = re.compile(r"[ \t\r\n]*")
_INDENT = re.compile(r"\{[ \t]*\r?\n([ \t]+)")

# Keys of servers on the network, which are not merged with an entry for a program.
_REMOTE = ("url", "serverUrl", "httpUrl", "uri")

_COMMENT = re.compile(r'"(?:[^"\\\n]|\\.)*"|//[^\n]*|/\*.*?\*/', re.DOTALL)
_LAST_COMMA = re.compile(r'"(?:[^"\\\n]|\\.)*"|,(?=\s*[}\]])')

_BESIDE = re.compile(r"([ \t]*,)?([ \t]*(?://[^\r\n]*|/\*(?:[^\r\n*]|\*(?!/))*\*/)?)(?=[\r\n])")

_DECODER = json.JSONDecoder()

_LAST_COMMENTS = re.compile(r"(?:\n[ \t\r]*(?:#[^\n]*)?)+\Z")


@dataclass(frozen=True, slots=True)
class Format:
    """A format of configuration files."""

    parse: Callable[[str], Any]
    """Raises ValueError if a text is not of this format."""
    put: Callable[[str, str, str, Table], str]
    """Sets an entry, by table and name."""
    remove: Callable[[str, str, str], str]
    """Removes an entry that is there, and its table if that is empty then."""

    def read(self, text: str) -> Any:
        """Parse a text, which may begin with a byte order mark.

        Raises:
            ValueError: It is not of this format.
        """
        return self.parse(text.removeprefix("\ufeff"))

    def edit(self, text: str, table: str, name: str, entry: Mapping[str, Any] | None) -> str:
        """Set an entry, or remove it if it is None, and return the text.

        Other keys of an existing entry stay. If nothing changes, the text is returned as it is.

        Raises:
            ValueError: The text is not of this format, or has another structure; the message says why.
        """
        bare = text.removeprefix("\ufeff")
        before = self.parse(bare)
        servers = _servers(before, table)
        is_there, old = name in servers, servers.pop(name, None)
        wanted = None if entry is None else _merged(old, entry)
        if old == wanted and is_there == (wanted is not None):
            return text
        try:
            after = self.remove(bare, table, name) if wanted is None else self.put(bare, table, name, wanted)
        except (LookupError, TypeError):  # of tomlkit, for tables that stand apart, or where an entry is no table
            after = ""
        expected = servers if wanted is None else {**servers, name: wanted}
        if not self._says(after, {**before, table: expected}, table):
            raise ValueError("its entry is written in a way that cannot be replaced")
        return text[: len(text) - len(bare)] + after

    def says_same(self, text: str, other: str, table: str) -> bool:
        """Return whether two texts are equivalent; a missing table equals an empty one."""
        try:
            return self._says(text, self.read(other), table)
        except ValueError:
            return False

    def _says(self, text: str, wanted: Table, table: str) -> bool:
        try:
            return bool(_with_table(self.read(text), table) == _with_table(wanted, table))
        except (RecursionError, ValueError):
            return False


def _with_table(settings: Any, table: str) -> Any:
    return {**settings, table: settings.get(table) or {}} if isinstance(settings, dict) else settings


def _servers(settings: Any, table: str) -> Table:
    there = settings.get(table) if isinstance(settings, dict) else 0
    if there is not None and not isinstance(there, dict):
        raise ValueError(f"its {table!r} is not a table of servers")
    return dict(there or {})


def _merged(old: Any, entry: Mapping[str, Any]) -> Table:
    is_local = isinstance(old, dict) and not any(key in old for key in _REMOTE)
    return (old if is_local else {}) | dict(entry)


def _parse_json(text: str) -> Any:
    """Parse JSON with comments and trailing commas; {} for an empty text."""
    try:
        return json.loads(_plain(text)) if text.strip() else {}
    except RecursionError as exc:
        raise ValueError("it is nested too deeply") from exc
    except ValueError as exc:
        raise ValueError(f"it is not valid JSON ({exc})") from exc


def _put_json(text: str, table: str, name: str, wanted: Table) -> str:
    text = text if text.strip() else "{}\n"
    plain = _plain(text)
    root = _Object.at(plain, _skip(plain, 0))
    place = root.last(table)
    if place is None or plain[place.value] != "{":
        return root.put(text, table, {name: wanted}, depth=1)
    return _Object.at(plain, place.value).put(text, name, wanted, depth=2)


def _remove_json(text: str, table: str, name: str) -> str:
    while True:
        plain = _plain(text)
        root = _Object.at(plain, _skip(plain, 0))
        place = root.last(table)
        assert place is not None
        inner = _Object.at(plain, place.value)
        if inner.last(name) is None:
            break
        text = inner.without(text, name)  # one of several of that name
    is_empty = not text[inner.start + 1 : inner.end - 1].strip()
    return root.without(text, table) if is_empty else text


def _plain(text: str) -> str:
    """Replace comments and trailing commas by blanks."""
    return _LAST_COMMA.sub(lambda found: found[0] if found[0][0] == '"' else " ", _uncommented(text))


def _uncommented(text: str) -> str:
    return _COMMENT.sub(lambda found: found[0] if found[0][0] == '"' else re.sub(r"[^\n]", " ", found[0]), text)


@dataclass(frozen=True, slots=True)
class _Member:
    """The offsets of a name and its value."""

    name: str
    start: int
    value: int
    end: int


@dataclass(frozen=True, slots=True)
class _Object:
    """The offsets of an object and its members in valid JSON."""

    start: int
    end: int
    members: tuple[_Member, ...]

    @classmethod
    def at(cls, text: str, start: int) -> _Object:
        members = []
        at = _skip(text, start + 1)
        while text[at] != "}":
            name, end = _DECODER.raw_decode(text, at)
            value = _skip(text, _skip(text, end) + 1)  # past the colon
            _, end = _DECODER.raw_decode(text, value)
            members.append(_Member(name, at, value, end))
            at = _skip(text, end)
            if text[at] == ",":
                at = _skip(text, at + 1)
        return cls(start, at + 1, tuple(members))

    def last(self, name: str) -> _Member | None:
        """Return the effective member of a name: the last of several."""
        return next((member for member in reversed(self.members) if member.name == name), None)

    def put(self, text: str, name: str, value: Any, *, depth: int) -> str:
        """Set a member, in the layout of the text."""
        found = _INDENT.search(text)
        indent = found[1] if found else "  "
        written = json.dumps({name: value}, indent=indent, ensure_ascii=False)[1:]  # with the closing brace
        written = written.replace("\n", _line_end(text) + indent * (depth - 1))
        member = written[:-1].rstrip()
        there = self.last(name)
        if there is not None:
            key = f"{json.dumps(name, ensure_ascii=False)}: "
            return text[: there.value] + member.lstrip().removeprefix(key) + text[there.end :]
        if self.members:
            end = self.members[-1].end
            # A comment beside the last member stays there, and a comma after that member is the one that is needed.
            beside = _BESIDE.match(text, end)
            comma, comment = (beside[1] or "", beside[2]) if beside else ("", "")
            rest = text[end + len(comma) + len(comment) :]
            return f"{text[:end]},{comment.rstrip()}{member}{',' if comma else ''}{rest}"
        inside = text[self.start + 1 : self.end - 1].rstrip()
        return f"{text[: self.start]}{{{inside}{written}{text[self.end :]}"

    def without(self, text: str, name: str) -> str:
        """Remove the last member of a name and a comma. Comments stay."""
        position = max(at for at, member in enumerate(self.members) if member.name == name)
        start, end = self.members[position].start, self.members[position].end
        bare = _uncommented(text)
        comma = _skip(bare, end)
        lead = len(text[:start].rstrip())
        if bare[comma] == ",":
            end = comma + 1
            if "\n" in text[lead:start]:
                return _joined(text[:lead], text[end:])
            return text[:start] + text[end:].lstrip(" \t")
        if position:
            before = bare.index(",", self.members[position - 1].end)
            text = text[:before] + text[before + 1 :]
            start, end = start - 1, end - 1
            lead = len(text[:start].rstrip())
        return _joined(text[:lead], text[end:])


def _joined(left: str, right: str) -> str:
    """Join texts, with a line break after a line comment."""
    is_in_comment = bool(left) and _uncommented(left)[-1] != left[-1]
    return f"{left}\n{right}" if is_in_comment and not right.startswith(("\n", "\r")) else left + right


def _skip(text: str, at: int) -> int:
    found = _BLANKS.match(text, at)
    return found.end() if found else at


def _parse_toml(text: str) -> Table:
    try:
        return tomllib.loads(text)
    except tomllib.TOMLDecodeError as exc:
        raise ValueError(f"it is not valid TOML ({exc})") from exc


def _put_toml(text: str, table: str, name: str, wanted: Table) -> str:
    end = _line_end(text)
    if name not in _parse_toml(text).get(table, {}):
        rest = text.rstrip()
        header = f"[{table}.{_on_one_line(name)}]"
        rows = [header, *(f"{key} = {_on_one_line(value)}" for key, value in wanted.items())]
        return f"{rest}{end * 2 if rest else ''}{end.join(rows)}{end}"
    document = _toml_document(text if text.endswith("\n") else text + end)
    there = document[table][name]
    for key in set(there) - set(wanted):
        del there[key]
    for key, value in wanted.items():
        if there.get(key) != value:
            there[key] = value
    edited = document.as_string()
    return _with_comments(text, edited if "\n" in text.replace("\r\n", "") else re.sub(r"\r?\n", end, edited))


def _remove_toml(text: str, table: str, name: str) -> str:
    document = _toml_document(text)
    del document[table][name]
    left = _with_comments(text, document.as_string())
    is_at_end = left.strip() and text.startswith(left.rstrip())
    return left.rstrip() + _line_end(text) if is_at_end else left


def _with_comments(text: str, edited: str) -> str:
    """Return an edited text with the comments behind the last key of a table where they were, before what follows.

    To tomlkit, they belong to that table.
    """
    lines, new = text.splitlines(keepends=True), edited.splitlines(keepends=True)
    kept: list[str] = []
    for change, first, last, start, end in SequenceMatcher(None, lines, new, autojunk=False).get_opcodes():
        comments = _last_comments({"delete": lines[first:last], "insert": kept}.get(change, []))
        if change == "insert":
            del kept[len(kept) - len(comments) :]
        kept += new[start:end] + comments
    return "".join(kept)


def _last_comments(lines: Sequence[str]) -> list[str]:
    """Return the comments at the end of some lines, with the blank lines around them."""
    last = list(takewhile(lambda line: not line.strip() or line.lstrip().startswith("#"), reversed(lines)))[::-1]
    return last if any(map(str.strip, last)) else []


def _toml_document(text: str) -> TOMLDocument:
    try:
        import tomlkit
    except ImportError as exc:
        raise MissingExtraError("tomlkit is not installed", hint="pip install 'openbook[mcp]'") from exc
    document = tomlkit.parse(text)
    if document.as_string() != text:  # tables of an array that stand apart
        raise ValueError("editing it would reorder its tables")
    return document


def common_start(one: str, other: str) -> int:
    """Return the length of the common prefix of two texts."""
    return next((at for at, (a, b) in enumerate(zip(one, other, strict=False)) if a != b), min(len(one), len(other)))


def _parse_yaml(text: str) -> Any:
    """Parse YAML; {} for an empty text."""
    import yaml

    try:
        return yaml.safe_load(text) or {}
    except (RecursionError, yaml.YAMLError) as exc:
        raise ValueError(f"it is not valid YAML ({' '.join(str(exc).split())})") from exc


def _put_yaml(text: str, table: str, name: str, wanted: Table) -> str:
    end, indent = _line_end(text), 2
    found = _find(_root(text), table)
    if found is None:
        text += f"{end if text and not text.endswith(chr(10)) else ''}{table}:{end}"
        first = last = len(text)
    elif found[1].tag.endswith(":null") or not found[1].value:
        start = found[1].start_mark.index
        text = text[:start] + text[found[1].end_mark.index :]
        first = last = _next_line(text, start)
    else:
        first, last = _lines_of(text, found[1], name)
        indent = found[1].start_mark.column
    rows = [f"{' ' * indent}{name}:", *(f"{' ' * indent * 2}{key}: {_on_one_line(wanted[key])}" for key in wanted)]
    head = text[:first] if text[:first].endswith("\n") else text[:first] + end
    return f"{head}{end.join(rows)}{end}{text[last:]}"


def _remove_yaml(text: str, table: str, name: str) -> str:
    found = _find(_root(text), table)
    if found is None:  # merged from elsewhere
        return text
    key, block = found
    first, last = _lines_of(text, block, name)
    if len(block.value) > 1:
        return text[:first] + text[last:]
    top = key.start_mark.index - key.start_mark.column
    return text[:top] + text[_next_line(text, key.end_mark.index) : first] + text[last:]


def _root(text: str) -> Node | None:
    import yaml

    root: Node | None = yaml.compose(text)
    return root


def _find(node: Node | None, name: str) -> tuple[Node, Node] | None:
    """Return the last key of a name and its value."""
    pairs = node.value if node is not None and isinstance(node.value, list) else []
    return next(((key, value) for key, value in reversed(pairs) if key.value == name), None)


def _lines_of(text: str, block: Node, name: str) -> tuple[int, int]:
    """Return the offsets of the lines of an entry; of none, at the end of the block, if it has none of that name."""
    found = _find(block, name)
    node = block if found is None else found[1]
    # The last lines are those of the last value, or of an alias, whose node is elsewhere.
    end = len(_LAST_COMMENTS.sub("", text[: node.end_mark.index]))
    while node.value and isinstance(node.value, list) and not node.flow_style:
        node = node.value[-1][1] if isinstance(node.value[-1], tuple) else node.value[-1]
    last = _next_line(text, max(end, len(text[: node.end_mark.index].rstrip())))
    return (last, last) if found is None else (found[0].start_mark.index - found[0].start_mark.column, last)


def _next_line(text: str, at: int) -> int:
    return text.find("\n", at) + 1 or len(text)


def _on_one_line(value: Any) -> str:
    """Write a string or a list as JSON, which is valid TOML and YAML too."""
    return json.dumps(value, ensure_ascii=False)


def _line_end(text: str) -> str:
    return "\r\n" if "\r\n" in text else "\n"


FORMATS: Mapping[str, Format] = MappingProxyType(
    {
        **dict.fromkeys((".json", ".jsonc"), Format(_parse_json, _put_json, _remove_json)),
        ".toml": Format(_parse_toml, _put_toml, _remove_toml),
        ".yaml": Format(_parse_yaml, _put_yaml, _remove_yaml),
    }
)
"""Formats by the suffix of files."""
