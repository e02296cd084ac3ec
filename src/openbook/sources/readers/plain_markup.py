"""Takes the markup out of LaTeX, AsciiDoc, Org, man pages and POD: pure functions."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping

_TEXT_COMMANDS = (
    "emph|text(?:bf|it|tt|sc|sf|rm|sl|up|md|normal)|underline|uline|enquote|mbox|hbox|text|title|author|date|caption"
    "|part|chapter|(?:sub){0,2}section|(?:sub)?paragraph|url|path|nolinkurl|textquote|code|file|pkg|cs|opt|env|cmd"
)
_SETTINGS = (
    "centering|noindent|maketitle|clearpage|newpage|newline|bigskip|medskip|smallskip|par|small|footnotesize|large|bf|it"
    "|tt|em"
)
_NOT_SHOWN = "cite\\w*|nocite|label|index|vspace|hspace|pagestyle|thispagestyle"
_KEPT = "equation|align|eqnarray|gather|multlin|tabular|array|math|displaymath|tikz"
_LATEX_FIRST = (
    (re.compile(r"(?<!\\)%.*"), ""),
    (
        re.compile(
            r"~?\\(?:cite\w*|nocite|label|index|vspace|hspace|pagestyle|thispagestyle)\*?(?:\[[^\]]{0,300}\])*\{[^{}]*\}"
        ),
        "",
    ),
    (re.compile(r"\\href\{[^{}]*\}\{([^{}]*)\}"), r"\1"),
    (re.compile(r" ?\\footnote\{([^{}]*)\}"), r" (\1)"),
)
_IN_TEXT = re.compile(rf"\\(?:{_TEXT_COMMANDS})\*?(?:\[[^\]]{{0,300}}\])?\{{([^{{}}]*)\}}")
_LATEX_LAST = (
    (re.compile(r"\\item\s?\[([^\]]{0,300})\]"), r"\1:"),
    (re.compile(r"\\item\b"), "-"),
    (re.compile(rf"\\(?:begin|end)\{{(?!{_KEPT})[^{{}}]*\}}(?:\[[^\]]{{0,300}}\])?"), ""),
    (re.compile(rf"\\(?:{_SETTINGS})\b ?"), ""),
    (re.compile(r"\\(?:ldots|dots)\b(?:\{\})?"), "…"),
    (re.compile(r"\\((?:La)?TeX)\b(?:\{\})?"), r"\1"),
    (re.compile(r"\\verb\*?([^\w\s])([^\n]{0,300}?)\1"), r"\2"),
    (re.compile("``"), "“"),
    (re.compile("''"), "”"),
    (re.compile(r"(?<!-)---(?!-)"), "—"),
    (re.compile(r"(?<!-)--(?!-)"), "–"),
    (re.compile(r"(?<!\\)~|\\[ ,;]"), " "),
    (re.compile(r"\\([%&#$_{}])"), r"\1"),
)  # fmt: skip
_PASSES = 3  # one command in another

_ASCIIDOC = (
    (re.compile(r"^//(?!/).*|^:[\w-]+!?:.*|^\[[^\]]{0,300}\]\s*$|^={4,}$|^\*{4,}$|^_{4,}$"), ""),
    (re.compile(r"^={1,6}\s+(.*?)(?:\s+=+)?$"), r"\1"),
    (re.compile(r"\[\[[^\]]{0,300}\]\]"), ""),
    (re.compile(r"(?:https?://|link:|xref:|mailto:)[^\s\[\]]+\[([^\]^]{1,300})\^?\]"), r"\1"),
    (re.compile(r"<<[^,<>]*,\s*([^<>]*)>>"), r"\1"),
    (re.compile(r"^\s*(?:\*{1,5}|\.{1,5})\s+"), "- "),
)  # fmt: skip

_ORG = (
    (re.compile(r"^#(?:\s.*|$)"), ""),
    (re.compile(r"^#\+(?:title|subtitle|author|caption):\s*(.*)", re.IGNORECASE), r"\1"),
    (re.compile(r"^\s*#\+\w+.*"), ""),
    (re.compile(r"^\s*:[A-Za-z_-]+:(?:\s.*)?$"), ""),
    (re.compile(r"^\*+\s+(?:(?:TOD[O]|DONE|WAITING|NEXT)\s+)?(?:\[#[A-Z]\]\s*)?(.*?)(?:\s:[\w@:]{1,200}:)?$"), r"\1"),
    (re.compile(r"\[\[(?:[^\]]{0,500}\]\[)?([^\]]{0,500})\]\]"), r"\1"),
)
_EMPHASIS = re.compile(r"(?<![\w/*_=~`+])([*_/=~`+]{1,2})(?=[^\s*_/=~`+])([^\n]{0,300}?)(?<=\S)\1(?![\w*_/=~`+])")

_FONT = re.compile(r"\\f(?:\[\w*\]|\(..|.)|\\s[+-]?\d|\\[&|^%/,]|\\c$")
_ROFF_SIGNS: Mapping[str, str] = {
    r"\-": "-",
    r"\e": "\\",
    r"\(em": "—",
    r"\(en": "–",
    r"\(bu": "•",
    r"\(aq": "'",
    r"\(dq": '"',
    r"\(lq": "“",
    r"\(rq": "”",
    r"\(co": "©",
    r"\ ": " ",
    r"\~": " ",
    r"\'": "'",
    r"\`": "`",
}
_ROFF_SIGN = re.compile("|".join(map(re.escape, sorted(_ROFF_SIGNS, key=len, reverse=True))))
_MACRO = re.compile(r"^[.']\s*(?P<name>\\?[\w\"#]+)?\s*(?P<arguments>.*)$")
_ARGUMENT = re.compile(r'"((?:[^"]|"")*)"|(\S+)')
_ALTERNATING = frozenset({"BI", "BR", "IB", "IR", "RB", "RI"})
_SHOWN = frozenset({"B", "I", "R", "SM", "SB", "SH", "SS", "TH", "Sh", "Ss", "Dt", "IP", "UR", "MT"})
# Those of mdoc that take words, and other macros: `.Op Fl n Ar count`.
_MDOC = frozenset(
    "Ad An Aq Ar Bq Cm Dq Dv Em Er Ev Fl Fn Ft In It Li Nd Nm Op Pa Pq Ql Qq Sq Sy Tn Va Vt Xr No Ic Cd Ns".split()
)
_OF_MDOC = re.compile(rf"(?<!\S)(?:{'|'.join(sorted(_MDOC))})(?=\s|$)\s*")

_POD_MARK = re.compile(r"\b[BCFILSX](?:<([^<>|]{0,300})(?:\|[^<>]{0,300})?>|<<+\s(.{0,300}?)\s>>+)")
_POD = (
    (re.compile(r"^=(?:over|back|cut|pod|encoding|for|begin|end)\b.*"), ""),
    (re.compile(r"^=(?:head[1-6]|item)\s+"), ""),
)


def latex(text: str) -> str:
    r"""Return a text without commands that only set it, citations and comments. Formulas and line ends stay.

    Example:
        >>> latex(r"The \emph{spring} tide~\cite{a} rises 50\,\%. % why")
        'The spring tide rises 50 %. '
    """
    for pattern, plain in _LATEX_FIRST:
        text = _without(pattern, plain, text)
    for _ in range(_PASSES):
        text = _IN_TEXT.sub(r"\1", text)
    for pattern, plain in _LATEX_LAST:
        text = pattern.sub(plain, text)
    return text


def _without(pattern: re.Pattern[str], plain: str, text: str) -> str:
    """Replace a pattern, and keep the line ends that stand in it."""

    def replaced(found: re.Match[str]) -> str:
        shown = found.expand(plain)
        return shown + "\n" * (found[0].count("\n") - shown.count("\n"))

    return pattern.sub(replaced, text)


def asciidoc(line: str) -> str:
    """Return a line without marks, attributes and addresses that have words.

    Example:
        >>> asciidoc("The *kiln* of `1200` degrees: https://example.org[the manual].")
        'The kiln of 1200 degrees: the manual.'
    """
    return _unmarked(line, _ASCIIDOC)


def org(line: str) -> str:
    """Return a line without marks, tags and keywords.

    Example:
        >>> org("** DONE The /loom/, see [[https://example.org][the plan]] :tools:")
        'The loom, see the plan'
    """
    return _unmarked(line, _ORG)


def man(line: str) -> str:
    r"""Return what a line of a man page shows.

    Example:
        >>> man(r'.BI \-\-strands " N"'), man(".TP"), man(".Op Fl n Ar count")
        ('--strands N', '', '-n count')
    """
    found = _MACRO.match(line)
    if found is None:
        return _roff(line)
    name, arguments = found["name"] or "", found["arguments"]
    if name in _MDOC:
        shown = re.sub(r"(?<!\S)Fl(?=\s|$)\s*", "-", f"{'Fl ' if name == 'Fl' else ''}{arguments}")
        return _roff(_OF_MDOC.sub("", shown))
    words = [(quoted.replace('""', '"') or bare) for quoted, bare in _ARGUMENT.findall(arguments)]
    if name == "IP":
        words = words[:1]
    return _roff(("" if name in _ALTERNATING else " ").join(words)) if name in _ALTERNATING | _SHOWN else ""


def pod(line: str) -> str:
    """Return a line without commands and formatting codes.

    Example:
        >>> pod("=head1 An B<anchor>"), pod("See L<this|that>, C<< a > b >>, E<gt>.")
        ('An anchor', 'See this, a > b, >.')
    """
    for pattern, plain in _POD:
        line = pattern.sub(plain, line)
    for _ in range(_PASSES):
        line = _POD_MARK.sub(lambda found: found[1] or found[2] or "", line)
    return line.replace("E<lt>", "<").replace("E<gt>", ">").replace("Z<>", "")


def _unmarked(line: str, rules: tuple[tuple[re.Pattern[str], str], ...]) -> str:
    for pattern, plain in rules:
        line = pattern.sub(plain, line)
    for _ in range(2):  # one mark in another
        line = _EMPHASIS.sub(r"\2", line)
    return line


def _roff(text: str) -> str:
    return _ROFF_SIGN.sub(lambda found: _ROFF_SIGNS[found[0]], _FONT.sub("", text))


PLAIN: Mapping[str, Callable[[str], str]] = {
    "asciidoc": asciidoc,
    "org": org,
    "man": man,
    "pod": pod,
}
"""What takes the markup out of a line, by language."""
