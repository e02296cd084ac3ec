"""Renders the lines of man pages like `man`: expands man and mdoc macros, and marks the heads of list items."""

from __future__ import annotations

import re
import sys
from collections import deque
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from openbook.entries import END_OF_HEAD

# Fonts, sizes, colors, thin spaces, and motions by half a line or back. A motion forward is a space.
_FONT = re.compile(r"\\f(?:\[\w*\]|\(..|.)|\\s[+-]?\d|\\m(?:\[\w*\]|\(..|.)|\\[&|^%/,ud:)]|\\h'-[^'\n]*'|\\c$")
_FORWARD = re.compile(r"\\h'[^'\n]*'")
_CODE_POINT = re.compile(r"\\\[u([0-9A-F]{4,6})\]")
_SIGNS: Mapping[str, str] = {
    r"\-": "-",
    r"\.": ".",
    r"\e": "\\",
    r"\(em": "—",
    r"\(en": "–",
    r"\(bu": "•",
    r"\(aq": "'",
    r"\(dq": '"',
    r"\*(Aq": "'",  # strings that most pages define: of DocBook and asciidoctor
    r"\*(lq": "“",
    r"\*(rq": "”",
    r"\(cq": "’",
    r"\(oq": "‘",
    r"\(ga": "`",
    r"\(lq": "“",
    r"\(rq": "”",
    r"\(co": "©",
    r"\(rg": "®",
    r"\(tm": "™",
    r"\(mu": "×",
    r"\(->": "→",
    r"\(<=": "≤",
    r"\(>=": "≥",
    r"\(la": "⟨",
    r"\(ra": "⟩",
    r"\(ti": "~",
    r"\(ha": "^",
    r"\(rs": "\\",
    r"\ ": " ",
    r"\~": " ",
    r"\'": "'",
    r"\`": "`",
}
# `\[aq]` is another spelling of `\(aq`.
_SIGNS = {**_SIGNS, **{f"\\[{sign[2:]}]": shown for sign, shown in _SIGNS.items() if sign[1] == "("}}
_SIGN = re.compile("|".join(map(re.escape, sorted(_SIGNS, key=len, reverse=True))))

_MACRO = re.compile(r"^[.']\s*(?P<name>\\?[\w\"#]+)?\s*(?P<arguments>.*)$")
_ARGUMENT = re.compile(r'"((?:[^"]|"")*)"|((?:\\.|\S)+)')
_ALTERNATING = frozenset({"BI", "BR", "IB", "IR", "RB", "RI"})
_SHOWN = _ALTERNATING | {"B", "I", "R", "SM", "SB", "SH", "SS", "TH", "Sh", "Ss", "Dt", "UR", "MT"}
# The title with its section, before date, program and author.
_TITLES = frozenset({"TH", "Dt"})
_ENDS_ITEM = frozenset({"SH", "SS", "PP", "LP", "P"})
# mdoc macros that take words and other macros as arguments: `.Op Fl n Ar count`.
_MDOC = frozenset(
    "Ad An Aq Ar Bq Brq Cd Cm D1 Dl Dq Dv Em Er Ev Fa Fl Fn Ft Ic In It Li Lk Ms Mt Nd Nm No Ns Oc Oo Op Pa Pc Pf Po Pq"
    " Ql Qq Sq Sx Sy Tn Va Vt Xc Xo Xr Ux Fx Ox Nx Bx Dx At".split()
)
_OPENS, _CLOSES = frozenset({"Oo", "Po"}), frozenset({"Oc", "Pc"})
_SIGNS_OF: Mapping[str, str] = {
    "Oo": "[", "Oc": "]", "Po": "(", "Pc": ")", "Ux": "UNIX", "Fx": "FreeBSD", "Ox": "OpenBSD", "Nx": "NetBSD",
    "Bx": "BSD", "Dx": "DragonFly", "At": "AT&T UNIX",
}  # fmt: skip
_BEFORE, _BEHIND = frozenset("(["), frozenset(".,:;?!)]")

_KINDS = frozenset("-bullet -column -dash -diag -enum -hang -hyphen -inset -item -ohang -tag".split())

# `.de NAME END` and `.ig END`: the body ends at `.END`, by default `..`.
_DEFINES = frozenset({"de", "de1", "am", "am1", "ig"})
# Interpolations in a macro body: arguments, registers and strings.
_INTERPOLATED = re.compile(r"\\\\[$*n]")

# A tbl table: options up to a semicolon, formats up to a full stop, then rows. `T{` and `T}` enclose a cell.
_SEPARATOR = re.compile(r"\btab\s*\(\s*(\S)\s*\)", re.IGNORECASE)
_CELL = re.compile(r"\bT\{\s*|\s*\bT\}")
_RULE = re.compile(r"\s*[_=]\s*")

# `.PP`, a line in bold or with an option, `.RS`.
_OPENS_BLOCK, _ENDS_BLOCK = re.compile(r"\.RS\b"), re.compile(r"$|\.(?:PP|LP|P|sp|RE|SH|SS)\b")
_TAG = re.compile(r"(?:\.B[IR]?\s|\\f(?:\[?B\]?|3)|\\?-)")

# The bullet or number of an item without a name.
_MARKER = re.compile(r"[\W_]*+\d*+[\W_]*+")
_BULLET = "•"


def man_lines(lines: Iterable[str]) -> list[str]:
    r"""Render each line of a man page. The head of an item is followed by the mark of `openbook.entries`.

    Example:
        >>> man_lines([r'.BI \-\-strands " N"', ".PP", ".Op Fl n Ar count ,", ".Ql [ti]", r"\fIx\fP"])
        ['--strands N', '', '-n count,', '[ti]', 'x']
        >>> man_lines([".Nm moor", ".Sh USE", ".Nm", ".Bl -tag", r".It Fl s , Fl Fl ship Ns = Ns Ar \[ti]/x", "Sails."])
        ['moor', 'USE', 'moor', '', '-s, --ship=~/x\x0c', 'Sails.']
        >>> man_lines([".TP", r".B \-s", "Sails.", r".IP \(bu 2", "One."])
        ['', '-s\x0c', 'Sails.', '•', 'One.']
        >>> man_lines([".PP", r"\fB\-s\fR", ".RS 4", "Sails.", ".RE"])
        ['', '-s\x0c', '', 'Sails.', '']
        >>> man_lines([".TS", "tab(|);", "l l.", "Knot|Use", "_", "Bowline|T{", "A loop.", "T}", ".TE"])
        ['', '', '', '| Knot | Use', '', '| Bowline |', 'A loop.', '', '']
    """
    page, every = _Page(), [line.rstrip() for line in lines]
    tags = _tags_of_blocks(every)
    shown = []
    for place, line in enumerate(every):
        if place in tags:
            page.is_tagged, page.is_hanging = True, False
        shown.append(page.shown(line))
    return shown


@dataclass(slots=True)
class _Page:
    """The state of a page after the lines so far."""

    name: str = ""
    """The documented name, which a bare `.Nm` refers to."""
    lists: list[str] = field(default_factory=list)
    """Kinds of the open mdoc lists."""
    numbers: list[int] = field(default_factory=list)
    """Number of items so far of each."""
    is_tagged: bool = False
    """Whether the next line with text is the head of an item."""
    is_hanging: bool = False
    """Whether it opens a hanging paragraph, which is an item only if it begins with an option."""
    ends_at: re.Pattern[str] | None = None
    """The end of the macro definition or ignored text that is open."""
    is_ignored: bool = False
    """Whether that text is ignored, not a definition."""
    separator: str = ""
    """Cell separator of the open table."""
    is_format: bool = False
    """Whether the following lines are table formats."""

    def shown(self, line: str) -> str:
        if self.ends_at is not None and self._is_hidden(line, self.ends_at):
            return ""
        found = _MACRO.match(line)
        if found is None:
            return self._row(line) if self.separator else self._maybe_head(roff(line))
        name, words = found["name"] or "", _words(found["arguments"])
        if name in _DEFINES:
            return self._opens_definition(name, words)
        if not name and _is_text(found["arguments"]):
            return self._maybe_head(roff(line))
        if name in {"TP", "TQ", "HP"} | _ENDS_ITEM:
            self.is_tagged, self.is_hanging = name not in _ENDS_ITEM, name == "HP"
        if name in _BLOCKS:
            return _BLOCKS[name](self, words)
        if name in _MDOC:
            return self._maybe_head(roff(self._mdoc([name, *words])))
        if name not in _SHOWN:
            return ""
        if name in _TITLES:
            return roff(words[0] + "".join(f"({section})" for section in words[1:2])) if words else ""
        return self._maybe_head(roff(("" if name in _ALTERNATING else " ").join(words)))

    def _opens_definition(self, macro: str, words: Sequence[str]) -> str:
        self.is_ignored = macro == "ig"
        told = words[:1] if self.is_ignored else words[1:2]
        end = told[0] if told and not told[0].startswith("\\") else "."
        self.ends_at = re.compile(r"[.']\s*" + re.escape(end) + r"(?!\w)")
        return ""

    def _is_hidden(self, line: str, end: re.Pattern[str]) -> bool:
        """Return whether a line of a definition is hidden.

        Other words are kept in place, because macros are not expanded where they are used.
        """
        if end.match(line):
            self.ends_at, self.is_tagged = None, False
            return True
        return self.is_ignored or _INTERPOLATED.search(line) is not None or not re.search(r"\w", line)

    def _row(self, line: str) -> str:
        """Render a line of a table."""
        if self.is_format:
            if chosen := _SEPARATOR.search(line):
                self.separator = chosen[1]
            self.is_format = not line.endswith(".")
            return ""
        if _RULE.fullmatch(line):
            return ""
        cells = (roff(_CELL.sub("", cell)).strip() for cell in line.split(self.separator))
        return " | ".join(("", *cells)).strip() if self.separator in line else roff(_CELL.sub("", line))

    def table(self, words: Sequence[str]) -> str:
        """Start a table, or change its formats: `.TS`, `.T&`."""
        self.separator, self.is_format = (self.separator if words == ["&"] else "\t"), True
        return ""

    def behind_table(self, _words: Sequence[str]) -> str:
        self.separator, self.is_format = "", False
        return ""

    def _maybe_head(self, text: str) -> str:
        if not self.is_tagged or not text.strip():
            return text
        self.is_tagged = False
        is_text = self.is_hanging and not text.startswith("-")
        return text if is_text or _MARKER.fullmatch(text) else text + END_OF_HEAD

    def opened(self, words: Sequence[str]) -> str:
        self.lists.append(next((word for word in words if word in _KINDS), ""))
        self.numbers.append(0)
        return ""

    def closed(self, _words: Sequence[str]) -> str:
        if self.lists:
            self.lists.pop()
            self.numbers.pop()
        return ""

    def item_of_man(self, words: Sequence[str]) -> str:
        tag = roff(words[0]) if words else ""
        # Without a tag, it is another paragraph of the previous item.
        self.is_tagged, self.is_hanging = bool(tag.strip()), False
        return self._maybe_head(tag)

    def item(self, words: Sequence[str]) -> str:
        kind = self.lists[-1] if self.lists else "-tag"
        text = roff(self._mdoc(words))
        if kind == "-enum":
            self.numbers[-1] += 1
            return f"{self.numbers[-1]}. {text}".rstrip()
        if kind in {"-bullet", "-dash", "-hyphen"}:
            return f"{_BULLET} {text}".rstrip()
        if kind in {"-item", "-column"} or not text.strip():
            return text
        # `Xo` begins the arguments of the item, as in a synopsis: its name is on this line.
        return text + END_OF_HEAD

    def _mdoc(self, words: Sequence[str]) -> str:
        """Render the arguments of mdoc macros."""
        self._set_name(words)
        shown: list[str] = []
        left = deque(words)
        dash, glued = "", True
        while left:
            word = left.popleft()
            joins = word in _BEHIND or word in _CLOSES
            if word == "Fl":
                dash += "-"
                if left and left[0] not in _BEHIND and (left[0] == "Fl" or left[0] not in _MDOC):
                    continue
                text, dash = dash, ""
            elif word in _MDOC:
                text, dash = self._callable(word, left), ""
                glued = glued or word == "Ns"
            else:
                text, dash = ("" if joins else dash) + word, ""
            if text:
                shown.append(text if glued or joins else f" {text}")
                glued = word in _BEFORE or word in _OPENS
        return "".join(shown)

    def _callable(self, macro: str, left: deque[str]) -> str:
        """Render one macro. Consumes its arguments from `left`."""
        if macro == "Xr" and len(left) > 1 and left[1][:1].isdigit():
            return f"{left.popleft()}({left.popleft()})"
        if macro == "Nm" and (not left or left[0] in _BEHIND or left[0] in _MDOC):
            return self.name
        return _SIGNS_OF.get(macro, "")

    def _set_name(self, words: Sequence[str]) -> None:
        if not self.name and len(words) > 1 and words[0] == "Nm" and words[1] not in _MDOC | _BEHIND:
            self.name = words[1]


def _tags_of_blocks(lines: Sequence[str]) -> frozenset[int]:
    """Return the places of lines of their own above a block, in bold or with an option, as DocBook writes items."""
    return frozenset(
        place
        for place in range(1, len(lines) - 1)
        if _OPENS_BLOCK.match(lines[place + 1])
        and _ENDS_BLOCK.match(lines[place - 1])
        and _TAG.match(lines[place])
        and not lines[place].endswith((".", ":"))
    )


_BLOCKS: Mapping[str, Callable[[_Page, Sequence[str]], str]] = {
    "Bl": _Page.opened,
    "El": _Page.closed,
    "It": _Page.item,
    "IP": _Page.item_of_man,
    "TS": _Page.table,
    "T": _Page.table,
    "TE": _Page.behind_table,
}


def _is_text(arguments: str) -> bool:
    """Return whether a line only looks like a macro: `./configure`, `...`."""
    return not arguments.startswith("\\") and re.search(r"\w", arguments) is not None


def _words(arguments: str) -> list[str]:
    return [(quoted.replace('""', '"') or bare) for quoted, bare in _ARGUMENT.findall(arguments)]


def roff(text: str) -> str:
    r"""Remove fonts and motions, and replace special characters.

    Example:
        >>> roff(r"\h'-04'\(bu\h'+03'\m[blue]Moors\m[]\[u2026] the pilot\(cqs \fBrope\fP\u1\d")
        '• Moors… the pilot’s rope1'
    """
    shown = _CODE_POINT.sub(_code_point, _FORWARD.sub(" ", _FONT.sub("", text)))
    return _SIGN.sub(lambda found: _SIGNS[found[0]], shown)


def _code_point(found: re.Match[str]) -> str:
    number = int(found[1], 16)
    return chr(number) if number <= sys.maxunicode and not 0xD800 <= number <= 0xDFFF else found[0]
