"""Reads the text of an issue: its title, what people say in it, and the places that tracebacks and code name."""

from __future__ import annotations

import re
from dataclasses import dataclass

from openbook.questions.names import identifiers, name_parts

# A question is shorter, and has no code of several lines. Of the questions on repositories that rankings are fitted
# to, none has both.
_FEWEST_CHARS = 200

_FENCE = re.compile(r"^[ \t]*(`{3,}|~{3,})[^\n]*\n(.*?)(?:^[ \t]*\1[^\n]*$|\Z)", re.MULTILINE | re.DOTALL)
_COMMENT = re.compile(r"<!--.*?(?:-->|\Z)", re.DOTALL)
_URL = re.compile(r"https?://\S+")

# Sections of templates that say what machine it was, and not what is wrong.
_ENVIRONMENT = re.compile(
    r"^(?:#+[ \t]*|\*\*)?(?:your )?(?:environment|versions?|configuration|system info\w*|output of `?[\w.]+|setup"
    r"|package versions|os(?: / environment)?|python version|pylint version|additional dependencies|are you willing\b"
    r"|code of conduct|installed versions|env info\w*|extra tools|os info)\b[^\n]*\n(?:(?!^#|^\*\*)[^\n]*(?:\n|\Z))*",
    re.IGNORECASE | re.MULTILINE,
)

# Where a program stood: Python, then what compilers, Go, Rust and test runners print, then Java and JavaScript.
_FRAMES = (
    re.compile(r'File "(?P<path>[^"\n]+)", line (?P<line>\d+)(?:, in (?P<name>[\w<>.]+))?'),
    re.compile(r"^[ \t]*(?:-->[ \t]*)?(?P<path>[\w./\\@+~-]+\.[A-Za-z]\w{0,7}):(?P<line>\d+)(?P<name>)", re.MULTILINE),
    re.compile(r"\bat (?P<name>[\w.$<>]+) ?\((?P<path>[^():\n]+):(?P<line>\d+)"),
)
_PATH = re.compile(
    r"(?<![\w:/.])(?:[\w.+-]+/)+[\w.+-]+\.[A-Za-z]\w{0,5}\b|\b[a-z_]\w+\.(?:py|js|ts|go|rs|rb|java|c|cpp|h)\b"
)
_MODULE = re.compile(r"(?<![\w./])[a-z_]\w*(?:\.[a-z_]\w*){1,6}(?![\w(/])")


@dataclass(frozen=True, slots=True)
class Frame:
    """Where a program stood, or a file that a text names."""

    path: str
    """As it is written: absolute, relative, or of another machine."""
    line: int = 0
    """0 if it is not told."""
    name: str = ""
    """Of the function, if it is told."""


@dataclass(frozen=True, slots=True)
class Issue:
    """The text of an issue, read."""

    title: str
    """Its first line."""
    frames: tuple[Frame, ...]
    """Of tracebacks, innermost first, each place once."""
    paths: tuple[str, ...]
    """Files and modules that are named outside of tracebacks, in order."""
    names: tuple[str, ...]
    """Names as code spells them: those of the prose first, then those of code, unqualified."""


def read_issue(text: str) -> Issue | None:
    r"""Read a text as an issue; None for one that is a question.

    Example:
        >>> text = "Send fails\n\nSince 2.0 `send` fails:\n\n" + "It worked before. " * 12
        >>> issue = read_issue(f'{text}\n```\n  File "a/box.py", line 3, in send\nValueError: no\n```')
        >>> issue.title, issue.names[0], issue.frames
        ('Send fails', 'send', (Frame(path='a/box.py', line=3, name='send'),))
    """
    text = text.strip()
    if len(text) < _FEWEST_CHARS or "\n" not in text:
        return None
    text = _COMMENT.sub("", text).replace("\r", "")
    title = next((line.strip("# \t*") for line in text.splitlines() if line.strip("# \t*")), "")
    code = "\n".join(found[2] for found in _FENCE.finditer(text))
    prose, loose = _without_output(_ENVIRONMENT.sub("", _FENCE.sub("\n", text)))
    frames = _frames(text)
    told = _URL.sub(" ", prose)
    paths = tuple(dict.fromkeys(found[0] for pattern in (_PATH, _MODULE) for found in pattern.finditer(told)))
    spelled = [*identifiers(told), *(frame.name for frame in frames if frame.name), *identifiers(f"{code}\n{loose}")]
    names = tuple(dict.fromkeys(part for name in spelled for part in name_parts(name)[-1:]))
    return Issue(title, frames, paths, names)


def _without_output(text: str) -> tuple[str, str]:
    """Split what people wrote from code and output that stands without a fence."""
    prose, output = list[str](), list[str]()
    for line in text.split("\n"):
        is_output = re.match(r"\s{4,}\S|\t|\s*(?:>>>|\.\.\.|\$|In \[|Out\[|File \"|Traceback|E\s{2,})", line)
        (output if is_output else prose).append(line)
    return "\n".join(prose), "\n".join(output)


def _frames(text: str) -> tuple[Frame, ...]:
    """Return the places of tracebacks, innermost first."""
    found = [
        (match.start(), Frame(match["path"].replace("\\", "/"), int(match["line"]), match["name"] or ""))
        for pattern in _FRAMES
        for match in pattern.finditer(text)
    ]
    return tuple(dict.fromkeys(frame for _, frame in sorted(found, key=lambda each: each[0], reverse=True)))
