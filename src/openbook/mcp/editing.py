"""Adds or removes an entry of a table in JSON, TOML or YAML text. The rest of the text stays unchanged.

JSON may have comments and trailing commas: they are read as blanks, so that every offset stays. The
grammar of tree-sitter takes such a comma for an error, and json-five keeps bytes but leaves the layout of a new member
to the caller, which is what most of this is about.
Of YAML only the layout that agents write is understood, a key at the beginning of a line and its entries below it:
everything else is refused, so that nothing is written that means something else.
"""

from __future__ import annotations

import json
import re
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

Entry = Mapping[str, Any]

_LINES = re.compile(r"[^\n]*\n|[^\n]+")
_BLANKS = re.compile(r"[ \t\r\n]*")
_INDENT = re.compile(r"\{[ \t]*\r?\n([ \t]+)")

# Keys of servers on the network, which are not merged with an entry for a program.
_ELSEWHERE = ("url", "serverUrl", "httpUrl")

_COMMENT = re.compile(r'"(?:[^"\\\n]|\\.)*"|//[^\n]*|/\*.*?\*/', re.DOTALL)
_LAST_COMMA = re.compile(r'"(?:[^"\\\n]|\\.)*"|,(?=\s*[}\]])')

_BESIDE = re.compile(r"([ \t]*,)?([ \t]*(?://[^\r\n]*|/\*(?:[^\r\n*]|\*(?!/))*\*/)?)(?=[\r\n])")

_DECODER = json.JSONDecoder()


def edit_json(text: str, table: str, name: str, entry: Entry | None) -> str:
    r"""Set an entry of an object, or remove it if it is None, and return the text.

    Other keys of an existing entry stay. If nothing changes, the text is returned as it is.

    Raises:
        ValueError: It is not JSON, or has another structure; the message says why.

    Example:
        >>> edit_json('{"a": 1.10, // mine\n    "servers": {"x": {}, "y": {}}}', "servers", "x", None)
        '{"a": 1.10, // mine\n    "servers": {"y": {}}}'
    """
    bare = text.removeprefix("\ufeff")
    mark, bare = text[: len(text) - len(bare)], bare if bare.strip() else "{}\n"
    plain = _plain(bare)
    try:
        settings = json.loads(plain)
    except RecursionError as exc:
        raise ValueError("it is nested too deeply") from exc
    except ValueError as exc:
        raise ValueError(f"it is no JSON ({exc})") from exc
    servers = _servers(settings, table)
    old = servers.get(name)
    wanted = None if entry is None else _merged(old, entry)
    if wanted == old and (name in servers) == (wanted is not None):
        return text
    root = _Object.at(plain, _skip(plain, 0))
    place = root.last(table)
    if wanted is None:
        return mark + _without(bare, table, name)
    style = _Style.of(bare)
    if place is None:
        return mark + root.put(bare, table, {name: wanted}, style, depth=1)
    return mark + _Object.at(plain, place.value).put(bare, name, wanted, style, depth=2)


def _plain(text: str) -> str:
    """Replace comments and trailing commas by blanks."""
    return _LAST_COMMA.sub(lambda found: found[0] if found[0][0] == '"' else " ", _uncommented(text))


def _uncommented(text: str) -> str:
    return _COMMENT.sub(lambda found: found[0] if found[0][0] == '"' else re.sub(r"[^\n]", " ", found[0]), text)


def _without(text: str, table: str, name: str) -> str:
    """Remove an entry, and the table if it is empty then, without a comment."""
    while True:
        plain = _plain(text)
        root = _Object.at(plain, _skip(plain, 0))
        place = root.last(table)
        assert place is not None
        inner = _Object.at(plain, place.value)
        if inner.last(name) is None:
            break
        text = inner.without(text, name)
    is_empty = not text[inner.start + 1 : inner.end - 1].strip()
    return root.without(text, table) if is_empty else text


def read_json(text: str) -> dict[str, Any]:
    """Parse a JSON object with comments; {} for anything else."""
    try:
        found = json.loads(_plain(text.removeprefix("\ufeff")))
    except (RecursionError, ValueError):
        return {}
    return found if isinstance(found, dict) else {}


def says_same_json(text: str, other: str, table: str) -> bool:
    """Return whether two JSON texts are equivalent; a missing table equals an empty one."""
    try:
        return _with_table(json.loads(_plain(text.removeprefix("\ufeff"))), table) == _with_table(
            read_json(other), table
        )
    except (RecursionError, ValueError):
        return False


def says_same_toml(text: str, other: str, table: str) -> bool:
    """Return whether two TOML texts are equivalent; a missing table equals an empty one."""
    try:
        said, wanted = (_read_toml(each.removeprefix("\ufeff")) for each in (text, other))
    except ValueError:
        return False
    return _with_table(said, table) == _with_table(wanted, table)


def _with_table(settings: dict[str, Any], table: str) -> dict[str, Any]:
    return {**settings, table: settings.get(table) or {}}


def edit_toml(text: str, table: str, name: str, entry: Entry | None) -> str:
    """Set a table of TOML, or remove it if the entry is None, and return the text.

    Raises:
        ValueError: It is not TOML, or the present entry cannot be replaced; the message says why.
    """
    bare = text.removeprefix("\ufeff")
    mark = text[: len(text) - len(bare)]
    before = _read_toml(bare)
    old = _servers(before, table).get(name)
    if entry is None:
        if old is None:
            return text
        kept, _ = _kept(bare, (table, name), (), whole=True)
        kept = _without_blank_end(kept)
    else:
        kept = _put_toml(bare, (table, name), entry, is_new=_is_elsewhere(old))
    after = "".join(kept)
    if not _differs_only(before, after, table, name, None if entry is None else _merged(old, entry)):
        raise ValueError("its entry is written in a way that cannot be replaced")
    return mark + after


def _without_blank_end(lines: Sequence[str]) -> list[str]:
    """Remove the blank lines before a removed entry at the end."""
    kept = list(lines)
    while len(kept) > 1 and not kept[-1].strip():
        kept.pop()
    return kept


def _put_toml(text: str, table: tuple[str, str], entry: Entry, *, is_new: bool) -> list[str]:
    line_end = "\r\n" if "\r\n" in text else "\n"
    whole_lines = text if not text or text.endswith("\n") else text + line_end
    kept, at = _kept(whole_lines, table, tuple(entry), whole=is_new)
    if at is None:
        rest = "".join(kept).rstrip()
        header = f"[{table[0]}.{json.dumps(table[1], ensure_ascii=False)}]{line_end}"
        kept = [*([rest, line_end * 2] if rest else []), header]
        at = len(kept)
    added = (f"{key} = {json.dumps(value, ensure_ascii=False)}{line_end}" for key, value in entry.items())
    return [*kept[:at], *added, *kept[at:]]


def _servers(settings: Any, table: str) -> dict[str, Any]:
    there = settings.get(table, {}) if isinstance(settings, dict) else None
    servers: dict[str, Any] | None = there if isinstance(there, dict) else None
    if servers is None:
        raise ValueError(f"its {table!r} is no list of servers")
    return servers


def _is_elsewhere(old: Any) -> bool:
    return isinstance(old, dict) and any(key in old for key in _ELSEWHERE)


def _merged(old: Any, entry: Entry) -> dict[str, Any]:
    return (dict(old) if isinstance(old, dict) and not _is_elsewhere(old) else {}) | dict(entry)


@dataclass(frozen=True, slots=True)
class _Style:
    """The layout of a file."""

    indent: str
    line_end: str

    @classmethod
    def of(cls, text: str) -> _Style:
        found = _INDENT.search(text)
        return cls(found[1] if found else "  ", "\r\n" if "\r\n" in text else "\n")

    def written(self, value: Any, depth: int) -> str:
        """Format a value after the beginning of its first line."""
        told = json.dumps(value, indent=self.indent, ensure_ascii=False)
        return told.replace("\n", self.line_end + self.indent * depth)


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

    def put(self, text: str, name: str, value: Any, style: _Style, *, depth: int) -> str:
        there = self.last(name)
        if there is not None:
            return text[: there.value] + style.written(value, depth) + text[there.end :]
        member = f"{style.line_end}{style.indent * depth}{json.dumps(name)}: {style.written(value, depth)}"
        if self.members:
            end = self.members[-1].end
            # What is said of the last member on its line stays there, and a comma behind it is the one that is needed.
            beside = _BESIDE.match(text, end)
            comma, comment = (beside[1] or "", beside[2]) if beside else ("", "")
            rest = text[end + len(comma) + len(comment) :]
            return f"{text[:end]},{comment.rstrip()}{member}{',' if comma else ''}{rest}"
        inside = text[self.start + 1 : self.end - 1].rstrip()
        close = f"{style.line_end}{style.indent * (depth - 1)}}}"
        return f"{text[: self.start]}{{{inside}{member}{close}{text[self.end :]}"

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


def _read_toml(text: str) -> dict[str, Any]:
    try:
        return tomllib.loads(text)
    except tomllib.TOMLDecodeError as exc:
        raise ValueError(f"it is no TOML ({exc})") from exc


def _statements(text: str) -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield the statements of valid TOML with their lines and values."""
    lines = ""
    for line in _LINES.findall(text):
        lines += line
        try:
            said = tomllib.loads(lines)
        except tomllib.TOMLDecodeError:
            continue
        yield lines, said
        lines = ""


def _kept(text: str, table: tuple[str, ...], keys: tuple[str, ...], *, whole: bool) -> tuple[list[str], int | None]:
    """Return the statements that stay, and how many there are up to the header of the table, None if it has none.

    With `whole`, the table goes, with those below it. Comments behind it belong to what follows.
    """
    kept: list[str] = []
    comments: list[str] = []
    begin: int | None = None
    path: tuple[str, ...] = ()
    for lines, said in _statements(text):
        is_header = lines.lstrip().startswith("[")
        path = _path(said) if is_header else path
        named = path == table and not is_header and not said.keys().isdisjoint(keys)
        goes = path[: len(table)] == table if whole else named
        if not goes:
            kept += (*comments, lines)
        comments = [*comments, lines] if goes and not said else []
        if is_header and path == table and not whole:
            begin = len(kept)
    return kept + comments, begin


def _path(said: dict[str, Any]) -> tuple[str, ...]:
    """Parse the path of a table header."""
    path = []
    inner: Any = said
    while inner:
        inner = inner[0] if isinstance(inner, list) else inner
        if inner:
            key, inner = next(iter(inner.items()))
            path.append(key)
    return tuple(path)


def _differs_only(before: dict[str, Any], after: str, table: str, name: str, wanted: Entry | None) -> bool:
    """Return whether two texts differ only in one entry."""
    try:
        now = tomllib.loads(after)
    except tomllib.TOMLDecodeError:
        return False
    servers = {**before.get(table, {}), name: wanted}
    expected = {**before, table: {key: value for key, value in servers.items() if value is not None}}
    return {**now, table: now.get(table, {})} == expected


_TOP = re.compile(r"(?P<key>[\w.-]+):[ \t]*(?P<value>[^#\s][^#\r\n]*?)?[ \t]*(?:#[^\r\n]*)?\r?\n?")


def edit_yaml(text: str, table: str, name: str, entry: Mapping[str, Any] | None) -> str:
    r"""Set an entry of a block of YAML, or remove it if it is None, and return the text.

    Raises:
        ValueError: The block has another layout; the message says which.

    Example:
        >>> edit_yaml("extensions:\n  a:\n    x: 1\nz: 2\n", "extensions", "b", {"cmd": "run"})
        'extensions:\n  a:\n    x: 1\n  b:\n    cmd: "run"\nz: 2\n'
    """
    lines = text.splitlines(keepends=True)
    if any(line.lstrip(" ").startswith("\t") for line in lines):
        raise ValueError("it is indented with tabs")
    tops = [at for at, line in enumerate(lines) if (found := _TOP.fullmatch(line)) and found["key"] == table]
    if len(tops) > 1:
        raise ValueError(f"it has {table!r} twice")
    if not tops:
        return text if entry is None else _appended(text, table, name, entry)
    top = tops[0]
    found = _TOP.fullmatch(lines[top])
    if found is not None and found["value"] and found["value"] != "{}":
        raise ValueError(f"its {table!r} is not a block of lines")
    end = _end_of(lines, top, 0)
    indent = next((_indent(line) for line in lines[top + 1 : end] if _says(line)), 2)
    old = [at for at in range(top + 1, end) if _indent(lines[at]) == indent and _is_named(lines[at], name)]
    if entry is None and not old:
        return text
    first = old[0] if old else end
    last = _end_of(lines, first, indent) if old else end
    new = [] if entry is None else _written(name, entry, indent, _line_end(text))
    head = lines[:first]
    if new and found is not None and found["value"]:
        head[top] = lines[top].replace("{}", "", 1)
    if new and head and not head[-1].endswith("\n"):
        head[-1] += _line_end(text)
    left = [*head, *new, *lines[last:]]
    if entry is None and not any(map(_says, left[top + 1 : end - (last - first)])):
        del left[top]
    return "".join(left)


def _appended(text: str, table: str, name: str, entry: Mapping[str, Any]) -> str:
    end = _line_end(text)
    before = text if not text or text.endswith("\n") else text + end
    return "".join([before, f"{table}:{end}", *_written(name, entry, 2, end)])


def _written(name: str, entry: Mapping[str, Any], indent: int, end: str) -> list[str]:
    # JSON on one line is valid YAML.
    inner = " " * indent * 2
    rows = (f"{inner}{key}: {json.dumps(value, ensure_ascii=False)}{end}" for key, value in entry.items())
    return [f"{' ' * indent}{name}:{end}", *rows]


def _end_of(lines: Sequence[str], first: int, indent: int) -> int:
    """Return the line after a block: blank lines and comments at its end belong to the next one."""
    end = first + 1
    for at in range(first + 1, len(lines)):
        if _says(lines[at]):
            if _indent(lines[at]) <= indent:
                break
            end = at + 1
    return end


def _says(line: str) -> bool:
    return bool(line.strip()) and not line.lstrip().startswith("#")


def _indent(line: str) -> int:
    return len(line) - len(line.lstrip(" "))


def _is_named(line: str, name: str) -> bool:
    return re.fullmatch(rf"""["']?{re.escape(name)}["']?:(?:\s.*)?""", line.strip()) is not None


def _line_end(text: str) -> str:
    return "\r\n" if "\r\n" in text else "\n"
