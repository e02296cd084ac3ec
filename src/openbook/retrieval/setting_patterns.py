"""Patterns of lines that describe a setting or an option: rows, items, titles, keys, and calls that define one.

A null character stands for the name.
"""

import re

# A directive has at most as many values.
_MAX_VALUES = 6

_SIGN = r"[ \t]*(?:#+|/{2,}|;+|\*)?[ \t]*"
_SHORT = r"(?:-\w[`\s,/|]+)?`*"  # "-q, --quiet"
_WITH_VALUE = r"(?: (?:<[^<>`]*>|\[[^\[\]`]*\]|[\w.|]+)(?=`))?"  # "- `--load <tonnes>` - ..."
_CELL = r"(?:<tr\b[^>]*>)?[ \t]*<t[hd]\b[^>]*>(?:<code>)?\0(?=<)"  # of a table in HTML
# A form feed ends the first line of a row of several lines.
ROW = re.compile(rf"[ \t]*(?:\|[ \t]*[`*\[]*{_SHORT}\0[`*\]]*[ \t]*(?:[(<,/{{][^|]*)?[|\f]|{_CELL})(?P<said>[\s\S]*)")
# In columns, as in the help of a command: "~q <text>    Text of a request".
COLUMN = re.compile(rf"[ \t]*(?:[#*/;]+[ \t]+)?{_SHORT}:?\0(?:[ \t]\S+){{0,2}}[ \t]{{2,}}(?P<said>[A-Za-z(].*)")
# Without markup: "- name: ..." and "- name is ...", but not "- NAME variable was added". In Org: "- Option: name ::".
ITEM = re.compile(
    rf"{_SIGN}[-*+][ \t]+(?:[A-Z]\w*(?: \w+)?:[ \t]++(?=.*[ \t]::[ \t]*$))?[`*_\"\[]*{_SHORT}\0{_WITH_VALUE}(?P<said>"
    r"(?:[`*_\"\]]+(?=[\s:,(=–—]|$)|(?=[ \t]*[:,(=–—]|[ \t]+-\s|[ \t]+(?:\w+s|can|may|must|will)\b)).*)"
)
# `:param int limit:`, `@param {int} limit`, `limit (int):`, `limit: so many boats`
PARAMETER = re.compile(
    r"[\s*/#!']*(?:[@\\:]\w+(?:\[[\w,]+\])?[ \t]+(?:\{[^}]*\}[ \t]*|[\w.\[\]|]+[ \t]+)?\[?[`*]*\0"
    r"|[`*]*\0[`*]*[ \t]*(?:\([^)]*\)[ \t]*:|:[ \t]+(?=\w+ \w+ \w)))(?P<said>.*)"
)
# With its description indented below: `limit : int`, `limit (int):`, `limit:`.
PARAMETER_HEAD = re.compile(r"[ \t]*[`*]*\0[`*]*(?:[ \t]*\([^)]*\))?[ \t]*(?::|[ \t]:[ \t].*[^\s=,;({\[])[ \t]*$")
# A term in plain text, with its description indented below: "retry_limit <value>", "*focus_wrapping* yes|no|force".
TERM = re.compile(rf"[`*\"]*{_SHORT}\0[`*\"]*(?:[ \t]*[(\[<{{].*|[ \t]+[\w|]+(?:[ \t]+[(\[<{{].*)?)?[ \t]*$")
TITLE = re.compile(rf"[`*\"\[(]*{_SHORT}\0[`*\"\])]*[ \t]*(?:(?:[({{=:\\\[<—–]|-\s).*|\w+)?$")
# A line of text that opens nothing.
GOES_ON = re.compile(r"[ \t]*(?!\d{1,3}[.)]\s)[\w`'\"(]")
# Opens or closes an example or a signature in Markdown.
FENCE = re.compile(r"[ \t]*(`{3,}|~{3,})")
OPENS = re.compile(r"(?P<heading>#{1,6})[ \t]+|[ \t]*(?:\.\. [\w:+-]+::|:::+\{[\w-]+\})[ \t]+")
KEY = re.compile(
    rf"{_SIGN}(?:\[[ \t]*)?(?:(?:pub|public|private|readonly|static|final|const|let|var|val)[ \t]+)*"
    r"[\"'`]?\0[\"'`]?\??[ \t]*(?P<sign>[:=])(?![:=>])(?P<value>.*)"
)
# `timeout 0` in a configuration file without signs between names and values, also commented out: `# timeout 0`. The
# line of a sentence is longer, or ends with a sign of punctuation.
DIRECTIVE = re.compile(
    rf"[ \t]*(?P<aside>[#;]+[ \t]*)?\0(?P<value>(?:[ \t]+\S+){{0,{_MAX_VALUES - 1}}}[ \t]+\S*[^\s.,:])[ \t]*"
)
SENTENCE_END = re.compile(r"[.:!?)>\]][ \t]*$")
FIELD = re.compile(
    r"[ \t]+(?:(?:[\w<>\[\],.*&?:]+[ \t]+){1,4}\0[ \t]*(?:;|=(?![=>]))|\0[ \t]+[*\[\]\w.{}]+(?=[ \t]*(?:[`/]|$)))"
    r"(?P<value>.*)"
)
# Not within a string: "You gave '--quiet', but no ...".
FLAG = re.compile(r"""(?:[^"']|"[^"]*"|'[^']*')*["'](?:--?)?\0["'][ \t]*,(?P<value>.*)""")
# `.long("quiet")` in a chain of calls.
LINK = re.compile(r"""(?:[^"']|"[^"]*"|'[^']*')*\w\(["'](?:--)?\0["']\)(?P<value>.*)""")
# What marks a field as an option, in an attribute or a tag: `#[arg(long)]`, `@Option(...)`, `help:"..."`.
OPTION_MARK = re.compile(r"\b(?:long|arg|argh|clap|structopt|bpaf|options?|flags?|help|usage|desc\w*)\b", re.IGNORECASE)
ATTRIBUTE = re.compile(r"[ \t]*(?:#\[|@[A-Za-z])")

COMMENT = re.compile(r"[ \t]*(?:#(?!\[)|//|;|/\*|\*|--\s|<!--)")
BESIDE = re.compile(r"(?<=\s)(?:#|//|;|--|<!--)\s*(?P<said>\S.*)")
PARENT = re.compile(r"[\s\"'`-]*(?P<name>[\w.-]+)[\"'`]?\??[ \t]*(?::|=|\{)[ \t]*[{\[|>]?[ \t]*(?:#.*)?$")
# Three backticks end an example.
UNDERLINE = re.compile(r"(?:([=\-~^\"'#*+.:_])\1{2,}|`{4,})[ \t]*$")
# A string on its own, or labelled as a description: not a placeholder, a class, a message.
STRING = re.compile(
    r"(?:^\s*|[(,]\s*|\b(?:\w*help|usage|\w*desc\w*|text|label|summary)[\s:=(]+)"
    r"(?P<said>\"(?:\\[\s\S]|[^\"\\])*\"|'(?:\\[\s\S]|[^'\\])*'|`[^`]*`)",
    re.IGNORECASE | re.MULTILINE,
)
CHOICES = re.compile(r"\benum|\bone of\b|\beither\b|\b(?:values|options|modes)\b|[`\"'\w] \| [`\"'\w]", re.IGNORECASE)
SAYS_SO = re.compile(
    r"(?:\"(?:markdownDescription|description|title|enum|default)s?\"|^\s*description)\s*:", re.MULTILINE
)
MARGIN = re.compile(r"[ \t]*(?:(?:#+'?|/{2,}|;+|\*(?!/)(?=\s{2}))[ \t]*)?")
# Values of fields of classes and modules, unlike expressions that a function computes.
FIXED = re.compile(r"[ \t]*(?:$|[\"'`\d\[{]|-\d|[A-Z]|\w+\.[A-Z]|(?:true|false|none|nil|null|new|lambda|field|attr)\b)")
