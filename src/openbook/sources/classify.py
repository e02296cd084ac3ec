"""Decide what a file is from its name and, where names are shared, from its text."""

from __future__ import annotations

import re
from collections.abc import Sequence

from openbook.sources.languages import BY_NAME, BY_PROGRAM, BY_SUFFIX, Format

# A JSON or XML file above this size is a data set or generated: settings that people write are
# smaller (the largest of 220 package.json, tsconfig and pom.xml files looked at has 27 kB).
_LARGEST_CONFIG_CHARS = 100_000

# Enough to meet the first declarations below a licence header, and cheap on large headers.
_HEADER_CHARS = 20_000

_CPP = re.compile(
    r"^[ \t]*(?:template\s*<|namespace\b|class\s+\w|using\s+\w|(?:public|private|protected)\s*:"
    r"|#\s*include\s*<[a-z_]+>)|\w::\w",
    re.MULTILINE,
)
_OBJC = re.compile(r"^[ \t]*(?:@(?:interface|implementation|protocol|class|import|end)\b|#\s*import\b)", re.MULTILINE)

# Five words in a row, or letters of scripts without spaces. Of 17,800 files without a known name in 111 repositories,
# 13,000 have these in less than a quarter of their lines: snapshots, output of tools, settings and code. Those that
# have more are pages. A note of few lines is a note.
_SAYS = re.compile(r"(?:\b[^\W\d_]+(?:['’][^\W\d_]*)?[,;:]?[ \t]+){4}[^\W\d_]+|[\u0e00-\u0eff\u3040-\u9fff]{8}")
_FEWEST_LINES, _LEAST_SAID = 5, 0.25
# A `.txt` is a page unless hardly a line of many says anything: of 18,000 in 185 repositories, 2,070 are so, most of
# them lists of words or numbers, output, and what programs write. Other scripts are not recognized as surely.
_MANY_LINES, _HARDLY_SAID, _OTHER_SCRIPTS = 20, 0.05, 0.1
_LATIN = 0x24F
# `README`, `LICENSE.python`, `NOTES.2019`
_PAGE = re.compile(r"[A-Z][A-Z_-]+(?:\.|$)")

# `#!/usr/bin/env -S python3 -u` and `#!/bin/sh -e`.
_SHEBANG = re.compile(r"#!\s*(?:\S*/)?(?:env\s+(?:-\S+\s+|\w+=\S*\s+)*(?:\S*/)?)?([A-Za-z]+)")

_MAN_NAME = re.compile(r"\.[1-9][a-z]{0,4}$")
_MAN_PAGE = re.compile(r"^\.(?:TH|Dd|Dt)\s", re.MULTILINE)

# Directives, labels and roles. Of 17,800 `.txt` files in 111 repositories 723 have one, Django's documentation among
# them; in all that were read, the text is reStructuredText.
_RST = re.compile(r"^\.\. (?:[a-zA-Z][\w:-]*::(?:\s|$)|_[^:\n]+:\s*$)|:[a-z][a-z:-]{0,60}:`[^`\n]+`", re.MULTILINE)

# Titles of sections, and macros. In 185 repositories, 27 of 25,700 files without a suffix, or with `.txt` or `.man`,
# have two: all are AsciiDoc, some of them manual pages.
_ASCIIDOC = re.compile(
    r"^={2,5} \S[^=\n]*$|^(?:include|ifdef|ifndef|image)::\S*\[[^\n]*\]$|\b(?:link|linkgit|xref):[^\s\[]+\[[^\]\n]*\]",
    re.MULTILINE,
)
_FEWEST_MARKS = 2

_REQUIREMENTS = re.compile(r"(?:.*[-_.])?(?:requirements|constraints)(?:[-_.].*)?\.txt")


def classify(path: str, text: str) -> Format:
    """Return kind and language of a file.

    The name decides first, then a `#!` line. Any other file is `docs` if it has sentences, else `data`.

    Example:
        >>> classify("src/app.py", "")
        ('code', 'python')
        >>> classify("bin/run", "#!/usr/bin/env node")
        ('code', 'javascript')
        >>> classify("LICENSE", "MIT")
        ('docs', 'text')
    """
    name = path.rpartition("/")[2].lower()
    found = BY_NAME.get(name) or BY_SUFFIX.get(name.rpartition(".")[2]) if "." in name else BY_NAME.get(name)
    if found is None:
        found = _by_shebang(text) or _by_first_part(name) or _as_man_page(name, text) or _by_lines(path, text)
        return ("docs", "asciidoc") if found == ("docs", "text") and _is_asciidoc(text) else found
    kind, language = found
    if language == "text":
        if _REQUIREMENTS.fullmatch(name):
            return "config", "text"
        if _RST.search(text[:_HEADER_CHARS]):
            return "docs", "rst"
        if _is_list(path, text):
            return "data", "text"
    if language in {"text", "man"} and _is_asciidoc(text):
        return "docs", "asciidoc"
    if language in {"json", "xml"} and len(text) > _LARGEST_CONFIG_CHARS:
        return "data", language
    if name.endswith((".h", ".m")):
        return kind, _c_dialect(text, language)
    return found


def _by_shebang(text: str) -> Format | None:
    if not text.startswith("#!"):
        return None
    match = _SHEBANG.match(text)
    language = BY_PROGRAM.get(match.group(1).lower()) if match else None
    return ("code", language) if language else None


def _by_first_part(name: str) -> Format | None:
    """Classify `Dockerfile.dev` and `Makefile.am` by the part before the first full stop."""
    first = name.partition(".")[0]
    return BY_NAME.get(first) if first in {"containerfile", "dockerfile", "jenkinsfile", "makefile"} else None


def _as_man_page(name: str, text: str) -> Format | None:
    """Recognize `git-log.1` by its section and its first request."""
    return ("docs", "man") if _MAN_NAME.search(name) and _MAN_PAGE.search(text[:_HEADER_CHARS]) else None


def _is_asciidoc(text: str) -> bool:
    beginning = text[:_HEADER_CHARS]
    return not _MAN_PAGE.search(beginning) and len(_ASCIIDOC.findall(beginning)) >= _FEWEST_MARKS


def _is_list(path: str, text: str) -> bool:
    beginning = text[:_HEADER_CHARS]
    lines = [line for line in beginning.splitlines() if line.strip()]
    is_other = sum(ord(sign) > _LATIN for sign in beginning) > _OTHER_SCRIPTS * len(beginning)
    return len(lines) >= _MANY_LINES and not is_other and not _says(path, lines, _HARDLY_SAID)


def _by_lines(path: str, text: str) -> Format:
    """Tell prose from output, snapshots and unknown languages, which have no sentences."""
    lines = [line for line in text[:_HEADER_CHARS].splitlines() if line.strip()]
    return ("docs" if len(lines) < _FEWEST_LINES or _says(path, lines, _LEAST_SAID) else "data"), "text"


def _says(path: str, lines: Sequence[str], share: float) -> bool:
    """Return whether at least a share of the lines say something, or the name is that of a page."""
    if _PAGE.match(path.rpartition("/")[2]):
        return True
    return sum(_SAYS.search(line) is not None for line in lines) >= share * len(lines)


def _c_dialect(text: str, default: str) -> str:
    beginning = text[:_HEADER_CHARS]
    if _OBJC.search(beginning):
        return "objc"
    return "cpp" if default == "c" and _CPP.search(beginning) else default
