"""Reads the help pages of R (Rd): rewrites them as Markdown, in the same lines."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from itertools import islice

from openbook.sources.readers.markdown import read_markdown
from openbook.sources.readers.reading import Reading, read_plain_text

_TOKEN = re.compile(
    r"\\(?P<macro>[A-Za-z]+[0-9]?)(?P<option>\[[^\]\n]*\](?=\{))?|\\(?P<escaped>[\\%{}])|(?P<comment>%[^\n]*)"
    r"|\n|[{}\\]|[^\\%{}\n]+"
)
_BRACE = re.compile(r"\\.|%[^\n]*|[{}]", re.DOTALL)
# Every page has one of these. Ruby has another format with this suffix.
_OF_PAGE = re.compile(r"^\\(?:name|title)\{([^{}\n]*)", re.MULTILINE)
_ALIAS = re.compile(r"^\\alias\{([^{}\\\n]+)\}", re.MULTILINE)
_NAMES = re.compile(r"[\w.]+(?:\s*,\s*[\w.]+)*")
# What is left of a line whose text is computed when the page is shown.
_COMPUTED = re.compile(r"\s*(?:- .*:\s*)?\.\s*")
# What may follow a listing in its last line.
_BEHIND_LISTING = re.compile(r"(?:\}|\\if\{html\}\{\\out\{[^{}\n]*\}\}|[ \t])*$", re.MULTILINE)

_HEADED: Mapping[str, str] = {
    **{each: each.capitalize() for each in "arguments author details examples format note references".split()},
    **{each: each.capitalize() for each in "source usage description".split()},
    "seealso": "See also",
    "value": "Return value",
}
# These need no label.
_NO_LABELS = frozenset(("Arguments", "Description"))
_SECTIONS: Mapping[str, str] = {"section": "## ", "subsection": "### "}
_LISTINGS = frozenset(("examples", "preformatted", "usage"))
_HIDDEN = frozenset(
    "alias concept docType dontshow encoding figure keyword newcommand out renewcommand RdOpts Rdversion Sexpr"
    " testonly".split()
)
_AS_CODE = frozenset("code command env kbd option samp verb".split())
# In code, the others are names with a backslash, such as the `\n` of a string.
_IN_CODE = frozenset(("code", "dontrun", "donttest", "emph", "link", "special", "strong", "var"))
_METHODS = frozenset(("method", "S3method", "S4method"))
_SIGNS: Mapping[str, str] = {"cr": "", "dots": "...", "ldots": "...", "R": "R", "tab": " | "}
# Macros that take another number of arguments than one. `\item` takes none in a list.
_ARITY: Mapping[str, int] = {
    **dict.fromkeys("deqn enc eqn figure href if item newcommand renewcommand section subsection tabular".split(), 2),
    **dict.fromkeys(_METHODS, 2),
    **dict.fromkeys(_SIGNS, 0),
    "ifelse": 3,
}
# The argument that is shown of several.
_CHOSEN: Mapping[str, int] = {"deqn": -1, "enc": 0, "eqn": -1, "href": -1, "tabular": -1}

# Deeper markup is shown without being read.
_MAX_DEPTH = 40

# Pages on classes have hundreds of names, mostly of methods.
_MAX_NAMES = 20

_Range = tuple[int, int]


def read_rd(text: str, path: str) -> Reading:
    r"""Read a help page as Markdown. Line numbers do not change.

    Example:
        >>> page = "\\name{moor}\n\\title{Tie a \\emph{ship}}\n\\arguments{\n\\item{rope}{What \\code{moor()} ties.}\n}"
        >>> read_rd(page, "man/moor.Rd").text.split("\n")
        ['# moor', 'Tie a ship', '## Arguments', '- `rope`: What `moor()` ties.', '']
    """
    if not _OF_PAGE.search(text):
        return read_plain_text(text, path)
    return read_markdown(_Page(text).as_markdown())


class _Page:
    """Writes a page line by line."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._closing = dict(_pairs(text))
        self._lines = [""]
        self._depth = 0
        self._indent = 0
        """The column of the text of a list item."""

    def as_markdown(self) -> str:
        self._prose(0, len(self._text))
        return "\n".join("" if _COMPUTED.fullmatch(line) else line.rstrip() for line in self._lines)

    def _prose(self, start: int, end: int) -> None:
        self._depth += 1
        while start < end and (found := _TOKEN.match(self._text, start, end)):
            macro, start = found["macro"], found.end()
            if macro and self._depth <= _MAX_DEPTH:
                arguments = self._arguments(macro, start)
                start = arguments[-1][1] + 1 if arguments else start
                lines = len(self._lines) + self._text.count("\n", found.start(), start)
                self._macro(macro, arguments)
                self._lines += [""] * (lines - len(self._lines))
            elif found["comment"] is None and found[0] not in ("{", "}"):
                self._write(found["escaped"] or found[0])
        self._depth -= 1

    def _arguments(self, macro: str, at: int) -> list[_Range]:
        """Return the arguments of a macro that begin at an offset."""
        found: list[_Range] = []
        while len(found) < _ARITY.get(macro, 1) and at in self._closing:
            found.append((at + 1, self._closing[at]))
            at = self._closing[at] + 1
        return found if macro != "item" or len(found) > 1 else []

    def _write(self, text: str) -> None:
        if text == "\n":
            self._lines.append("")
        elif not self._lines[-1].strip():
            self._lines[-1] = " " * self._indent + text.lstrip() if text.strip() else ""
        else:
            self._lines[-1] += text.lstrip() if self._lines[-1].endswith("- ") else text

    def _macro(self, name: str, arguments: Sequence[_Range]) -> None:
        if name in _SIGNS:
            self._write(_SIGNS[name])
        elif name == "item":
            self._item(arguments)
        elif name in _HIDDEN:
            return
        elif not arguments:
            self._write(f"\\{name}")
        elif name in _LISTINGS:
            self._listing(name, *arguments[0])
        elif name in _AS_CODE:
            self._write_code(self._code(*arguments[0]))
        elif self._depth == 1:
            self._part(name, arguments)
        else:
            self._phrase(name, arguments)

    def _part(self, name: str, arguments: Sequence[_Range]) -> None:
        """Write the title or a section of the page."""
        start, end = arguments[-1]
        if name == "name":
            self._write("# ")
            self._prose(start, end)
            self._write("".join(f", {each}" for each in islice(self._other_names(self._text[start:end]), _MAX_NAMES)))
            return
        if name in _HEADED:
            self._head("## ", _HEADED[name], start)
        self._phrase(name, arguments)

    def _other_names(self, name: str) -> Iterator[str]:
        """Yield what else the page describes, without the methods for a class: `moor.ship` of `moor`."""
        others = [found[1] for found in _ALIAS.finditer(self._text)]
        for each in dict.fromkeys(others):
            if each != name and not any(each.startswith(f"{other}.") for other in (name, *others)):
                yield each

    def _phrase(self, name: str, arguments: Sequence[_Range]) -> None:
        if name in ("if", "ifelse"):
            is_shown = "text" in self._text[slice(*arguments[0])]
            for each in arguments[1:2] if is_shown else arguments[2:]:
                self._prose(*each)
            return
        if name in _SECTIONS:
            self._head(_SECTIONS[name], arguments[0], arguments[-1][0])
        outer, self._indent = self._indent, self._indent + 2 * (name in ("itemize", "enumerate"))
        self._prose(*arguments[_CHOSEN.get(name, -1)])
        self._indent = outer

    def _head(self, mark: str, title: str | _Range, start: int) -> None:
        """Write a heading; one whose text begins in the same line stands before it as a label."""
        is_apart = not self._text[start : self._end_of_line(start)].strip()
        if not is_apart and title in _NO_LABELS:
            return
        self._write(mark if is_apart else "")
        if isinstance(title, str):
            self._write(title)
        else:
            self._prose(*title)
        self._write("" if is_apart else ": ")

    def _end_of_line(self, at: int) -> int:
        found = self._text.find("\n", at)
        return len(self._text) if found < 0 else found

    def _item(self, arguments: Sequence[_Range]) -> None:
        """Write the mark of an item, and the term and description of one that has them."""
        outer = self._indent if arguments else self._indent - 2
        line = self._lines[-1]
        self._lines[-1] = f"{line}- " if line.strip() else " " * outer + "- "
        if not arguments:
            return
        term = self._text[slice(*arguments[0])].replace("\\dots", "...").replace("\\ldots", "...")
        if _NAMES.fullmatch(term):
            self._write(", ".join(f"`{each.strip()}`" for each in term.split(",")))
        else:
            self._prose(*arguments[0])
        self._write(": ")
        self._indent += 2
        self._prose(*arguments[1])
        self._indent -= 2

    def _write_code(self, code: str) -> None:
        mark = "" if "`" in code or not code.strip() else "`"
        first, *below = f"{mark}{code}{mark}".split("\n")
        self._write(first)
        for line in below:
            self._lines.append("")
            self._write(line)

    def _listing(self, name: str, start: int, end: int) -> None:
        """Write a listing between fences in the lines of its braces or above, or indented where there is no room."""
        pad, lines = " " * self._indent, self._code(start, end).split("\n")
        has_line_above = len(self._lines) > 1 and not self._lines[-2].strip()
        begins_line, is_empty = not self._lines[-1].strip(), not lines[0].strip()
        is_closed = len(lines) > 1 and not lines[-1].strip() and _BEHIND_LISTING.match(self._text, end) is not None
        if not begins_line or len(lines) == 1:
            self._write_code("\n".join(lines).strip(" "))
        elif is_closed and (is_empty or has_line_above):
            fence = pad + ("```" if name == "preformatted" else "```r")
            above = f"## {_HEADED[name]}" if name in _HEADED else ""
            if has_line_above:
                self._lines[-2] = above if is_empty else fence
            self._lines[-1] = fence if is_empty else pad + lines[0]
            self._lines += [*(pad + line for line in lines[1:-1]), f"{pad}```"]
        else:
            self._lines[-1:] = [f"{pad}    {line}" for line in lines]

    def _code(self, start: int, end: int) -> str:
        """Return a part of the page that is code or verbatim, in as many lines."""
        shown, aside = "", ""
        self._depth += 1
        while start < end and (found := _TOKEN.match(self._text, start, end)):
            macro, at = found["macro"] or "", found.end()
            arguments = self._arguments(macro, at)
            start = arguments[-1][1] + 1 if arguments else at
            if macro in _METHODS and len(arguments) > 1:
                shown += self._text[slice(*arguments[0])]
                kind = "S4" if macro == "S4method" else "S3"
                aside = f"  # {kind} method for class '{self._text[slice(*arguments[1])]}'"
            elif macro in _SIGNS:
                shown += _SIGNS[macro]
            elif macro in _IN_CODE and arguments and self._depth <= _MAX_DEPTH:
                shown += self._code(*arguments[0])
            elif macro in _HIDDEN and arguments:
                shown += "\n" * self._text.count("\n", at, start)
            else:
                start = at
                shown += aside * (found[0] == "\n") + ("" if found["comment"] else found["escaped"] or found[0])
                aside = "" if found[0] == "\n" else aside
        self._depth -= 1
        return shown + aside


def _pairs(text: str) -> Iterator[_Range]:
    """Yield the offsets of braces that enclose something, without escaped ones and those in comments."""
    opened: list[int] = []
    for found in _BRACE.finditer(text):
        if found[0] == "{":
            opened.append(found.start())
        elif found[0] == "}" and opened:
            yield opened.pop(), found.start()
