"""Classifies files as code, docs or data, by name and, where that is ambiguous, by text."""

from __future__ import annotations

import re
from collections.abc import Sequence

from openbook.sources.languages import BY_NAME, BY_PROGRAM, BY_SUFFIX, Format, format_of_name, name_of

# JSON and XML above this size are data sets or generated. Hand-written configuration is smaller: the largest of 220
# package.json, tsconfig and pom.xml files has 27 kB.
_MAX_CONFIG_CHARS = 100_000

# Enough to reach the first declarations after a licence header, and cheap on large headers.
_HEADER_CHARS = 20_000

_CPP = re.compile(
    r"^[ \t]*(?:template\s*<|namespace\b|class\s+\w|using\s+\w|(?:public|private|protected)\s*:"
    r"|#\s*include\s*<[a-z_]+>)|\w::\w",
    re.MULTILINE,
)
_OBJC = re.compile(r"^[ \t]*(?:@(?:interface|implementation|protocol|class|import|end)\b|#\s*import\b)", re.MULTILINE)

# A sentence: five words in a row, or letters of scripts without spaces. Of 17,800 files without a known name in 111
# repositories, 13,000 have one in less than a quarter of their lines: snapshots, program output, configuration and
# code. The others are prose.
_SENTENCE = re.compile(r"(?:\b[^\W\d_]+(?:['’][^\W\d_]*)?[,;:]?[ \t]+){4}[^\W\d_]+|[\u0e00-\u0eff\u3040-\u9fff]{8}")
_MIN_LINES, _MIN_PROSE_SHARE = 5, 0.25
# A phrase: two words in a row, as in captions, steps and lists of keys. The second word is in lower case, so that names
# do not match.
_PHRASE = re.compile(r"(?<![^\s(])[^\W\d_]+(?:['’][^\W\d_]*)? [^\W\d_A-ZÀ-ÖØ-Þ][^\W\d_]+(?=[\s,.;:!?)'’]|$)")
# A `.txt` file is prose unless it is long, hardly any line has a sentence, and few have a phrase. Of 20,000 in 185
# repositories, 2,039 are not prose: mostly lists of words or numbers, and program output. Text in other scripts is
# recognized less reliably.
_MANY_LINES, _FEW_SENTENCES, _FEW_PHRASES, _OTHER_SCRIPTS = 20, 0.05, 0.5, 0.1
_LATIN = 0x24F
# `README`, `LICENSE.python`, `NOTES.2019`
_PAGE = re.compile(r"[A-Z][A-Z_-]+(?:\.|$)")

# `#!/usr/bin/env -S python3 -u` and `#!/bin/sh -e`.
_SHEBANG = re.compile(r"#!\s*(?:\S*/)?(?:env\s+(?:-\S+\s+|\w+=\S*\s+)*(?:\S*/)?)?([A-Za-z]+)")

# `-*- mode: org -*-` and `-*- python -*-`, in one of the first lines.
_MODE = re.compile(r"-\*-(?:[^\n]*\bmode:)?[ \t]*([\w+]+)[ \t]*(?:;|-\*-)", re.IGNORECASE)
_MODE_CHARS = 200

_MAN_NAME = re.compile(r"\.[1-9][a-z]{0,4}$")
_MAN_PAGE = re.compile(r"^\.(?:TH|Dd|Dt)\s", re.MULTILINE)
# `.t` is the suffix of troff chapters and of Perl tests; only troff begins with a request or a comment of this form.
_ROFF = (".", "'\\\"")

# Directives, labels and roles. Of 17,800 `.txt` files in 111 repositories, 723 have one, such as Django's
# documentation; all that were checked by hand are reStructuredText.
_RST = re.compile(r"^\.\. (?:[a-zA-Z][\w:-]*::(?:\s|$)|_[^:\n]+:\s*$)|:[a-z][a-z:-]{0,60}:`[^`\n]+`", re.MULTILINE)

# Section titles after a blank line or an anchor, and macros. RDoc and logs have such titles too, so one construct that
# only AsciiDoc has is also required: an underlined document title, one with attributes or of a manual page, a block
# attribute, or a macro. In 185 repositories, 35 files with an ambiguous name (`.txt`, `.man`) have both: all are
# AsciiDoc, one of them a template of it.
_ASCIIDOC_TITLE = re.compile(r"(?:\A|(?<=\n\n)|(?<=\]\n))={2,5} \S[^=\n]*$", re.MULTILINE)
_ASCIIDOC_ALONE = re.compile(
    r"\A\s*(?:\w[^\n]*\n={4,}|= [\w.-]+\(\d\w?\))[ \t]*$"
    r"|\A\s*= \S[^\n]*\n(?:[^\n:][^\n]*\n){0,3}:[\w-]+!?:(?:\s|$)"
    r"|^\[(?:(?:source|listing|quote|verse)[,%]|(?:cols|options|role|subs)=)[^\]\n]*\]$"
    r"|^(?:include|image)::[^\s\[]*\[[^\n]*\]$"
    r"|\b(?:link|linkgit|xref):[^\s\[\]]{1,300}\[[^\]\n]{0,300}\]",
    re.MULTILINE,
)
_MIN_MARKS = 2

# A help file of Vim: `*moor.txt*` at its beginning, or its modeline at its end.
_VIM_HELP = re.compile(r"\A\*[\w.-]+\.txt\*(?:\s|$)|\bvim?:[^\n]*\bf(?:ile)?t(?:ype)?=help\b[^\n]*\s*\Z")
_FOOTER_CHARS = 500

_REQUIREMENTS = re.compile(r"(?:.*[-_.])?(?:requirements|constraints)(?:[-_.].*)?\.txt")


def classify(path: str, text: str) -> Format:
    """Return the kind and language of a file.

    The name decides first, then a `#!` line or the mode of Emacs. Other files are `docs` if they have sentences, else
    `data`.

    Example:
        >>> classify("src/app.py", "")
        ('code', 'python')
        >>> classify("bin/run", "#!/usr/bin/env node")
        ('code', 'javascript')
        >>> classify("LICENSE", "MIT")
        ('docs', 'text')
    """
    name = name_of(path)
    found = format_of_name(path)
    if found is None:
        found = _by_shebang(text) or _by_mode(text) or _by_first_part(name) or _as_man_page(name, text)
        return found or (("docs", "asciidoc") if _is_asciidoc(text) else _by_lines(path, text))
    kind, language = found
    if found == ("docs", "text"):
        return _of_text(path, name, text)
    if language == "man" and _is_asciidoc(text):
        return "docs", "asciidoc"
    if name.endswith(".t") and text.startswith(_ROFF):
        return "docs", "man"
    if language in {"json", "xml"} and len(text) > _MAX_CONFIG_CHARS:
        return "data", language
    if name.endswith((".h", ".m")):
        return kind, _c_dialect(text, language)
    return found


def _of_text(path: str, name: str, text: str) -> Format:
    """Distinguish requirements, reStructuredText, AsciiDoc and lists from other text."""
    if _REQUIREMENTS.fullmatch(name):
        return "config", "text"
    if _VIM_HELP.match(text) or _VIM_HELP.search(text[-_FOOTER_CHARS:]):
        return "docs", "vimhelp"
    if _RST.search(text[:_HEADER_CHARS]):
        return "docs", "rst"
    if _is_asciidoc(text):
        return "docs", "asciidoc"
    return ("data" if _is_list(path, text) else "docs"), "text"


def _by_shebang(text: str) -> Format | None:
    if not text.startswith("#!"):
        return None
    match = _SHEBANG.match(text)
    language = BY_PROGRAM.get(match.group(1).lower()) if match else None
    return ("code", language) if language else None


def _by_mode(text: str) -> Format | None:
    match = _MODE.search(text[:_MODE_CHARS])
    mode = match.group(1).lower() if match else ""
    return ("code", BY_PROGRAM[mode]) if mode in BY_PROGRAM else BY_SUFFIX.get(mode)


def _by_first_part(name: str) -> Format | None:
    """Classify `Dockerfile.dev` and `Makefile.am` by the part before the first full stop."""
    first = name.partition(".")[0]
    return BY_NAME.get(first) if first in {"containerfile", "dockerfile", "jenkinsfile", "makefile"} else None


def _as_man_page(name: str, text: str) -> Format | None:
    """Recognize `git-log.1` by its section and its first request."""
    return ("docs", "man") if _MAN_NAME.search(name) and _MAN_PAGE.search(text[:_HEADER_CHARS]) else None


def _is_asciidoc(text: str) -> bool:
    beginning = text[:_HEADER_CHARS].replace("\r\n", "\n")
    if _MAN_PAGE.search(beginning):
        return False
    own = len(_ASCIIDOC_ALONE.findall(beginning))
    return own > 0 and own + len(_ASCIIDOC_TITLE.findall(beginning)) >= _MIN_MARKS


def _is_list(path: str, text: str) -> bool:
    beginning = text[:_HEADER_CHARS]
    lines = [line for line in beginning.splitlines() if line.strip()]
    is_other = sum(ord(sign) > _LATIN for sign in beginning) > _OTHER_SCRIPTS * len(beginning)
    if len(lines) < _MANY_LINES or is_other or _is_prose(path, lines, _FEW_SENTENCES):
        return False
    return sum(_PHRASE.search(line) is not None for line in lines) < _FEW_PHRASES * len(lines)


def _by_lines(path: str, text: str) -> Format:
    """Distinguish prose from output, snapshots and unknown languages, which have no sentences."""
    lines = [line for line in text[:_HEADER_CHARS].splitlines() if line.strip()]
    return ("docs" if len(lines) < _MIN_LINES or _is_prose(path, lines, _MIN_PROSE_SHARE) else "data"), "text"


def _is_prose(path: str, lines: Sequence[str], share: float) -> bool:
    """Return whether at least a share of the lines are prose, or the file name is that of a page."""
    if _PAGE.match(path.rpartition("/")[2]):
        return True
    return sum(_SENTENCE.search(line) is not None for line in lines) >= share * len(lines)


def _c_dialect(text: str, default: str) -> str:
    beginning = text[:_HEADER_CHARS]
    if _OBJC.search(beginning):
        return "objc"
    return "cpp" if default == "c" and _CPP.search(beginning) else default
