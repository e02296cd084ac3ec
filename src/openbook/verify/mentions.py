"""Finds citations of lines in a text: `path:12-18`, `path#L12-L18`, `path` (lines 12-18), links. Opens no file."""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Literal
from urllib.parse import unquote

from openbook.sources.repository_urls import PAGE_FORMS, PageForm

Form = Literal["plain", "link", "permalink"]

_PATH = r"\w@+~$.\-/"
# What routes of web frameworks and templates are called: `app/(shop)/[id]/page.tsx`, `{{cookiecutter.name}}/setup.py`.
_NAME = r"[\w@~=+.\-]++"
_ROUTE = rf"(?:\[(?:{_NAME}|\[{_NAME}\])\]|\({_NAME}\)|\{{(?:{_NAME}|\{{{_NAME}\}})\}})"
_WORD = rf"(?:{_ROUTE}(?=[/.\-]))?+(?:[{_PATH}]|%[\dA-Fa-f]{{2}}|(?<=[/.\-\])}}]){_ROUTE})*+"
# So long that the numbers of any file fit, and so short that no text makes arithmetic slow.
_LINES = r"L?\d{1,12}(?:C\d{1,6})?(?:[-–]L?\d{1,12}(?:C\d{1,6})?)?"
_NUMBER = r"\d{1,12}(?:C\d{1,6})?"
_HASH = rf"L{_NUMBER}(?:(?:[-–]L?|:L){_NUMBER})?"
# A file of a commit, as git takes it: `1a2b3c4:src/app.py`. Digits alone may be a date, and letters alone a word.
_OF_COMMIT = r"(?:(?=[a-f]*\d)(?=\d*[a-f])(?P<revision>[0-9a-f]{7,40}):(?=[^:\s]*[/.]))?"
# Of a range in a notation that is not read, such as `9..11`, one end must not be taken for all of it.
_END = r"(?![\w])(?![-–—]\w)(?!\.+L?\d)"


def _of_form(form: PageForm) -> re.Pattern[str]:
    more = "+?" if form.has_groups else ""
    return re.compile(
        rf"https?://(?P<host>[\w.\-]+(?::\d+)?)/(?>(?P<repository>[\w.~\-]+(?:/[\w.~\-]+){more})/(?:{'|'.join(form.views)})/)"
        rf"(?P<kind>{'|'.join(form.kinds)})(?>(?P<revision>[\w.\-]+(?:/[\w.\-]+)*?){form.below})"
        rf"(?P<path>(?:[^\s#?<>()\[\]\"'`:]|:(?!//)|(?<=/){_ROUTE})++)(?:\?(?:[^\s#:]|:(?!//))*+)?"
        rf"\#(?P<lines>{form.first}{_NUMBER}(?:(?:{form.until}|[-–]L?|:L){_NUMBER})?+){_END}(?!,\d)"
    )


# Each of these stops where the next one can begin, or begins where no other can: all are linear on any text.
_PERMALINKS = [(form, _of_form(form)) for form in PAGE_FORMS]
_URL = re.compile(r"(?<![\w+.\-])[0-9+.\-]*+[a-zA-Z][a-zA-Z0-9+.\-]*+://[^\s<>\"'`]*")
_LINK = re.compile(
    r"(?:\]\([ \t]*|^ {0,3}\[[^\]\n]+\]:[ \t]*)"
    r"(?:<(?P<angled>[^<>\n#?]+)(?:\?[^<>\n#]*)?|(?P<path>(?:[^\s()<>#?]|\([^\s()<>#?]*\))++)(?:\?[^\s()<>#]*)?)"
    rf"\#(?P<lines>{_HASH})"
    r"(?=[\s)>]|$)",
    re.MULTILINE,
)
# Of AsciiDoc: `link:src/app.py#L3[it]`.
_MACRO = re.compile(rf"(?<![\w:])(?:link|xref):(?P<path>[^\s#\[\]<>:]++)\#(?P<lines>{_HASH})(?=\[)")
# Tried from the start of a run of path characters only, not behind brackets, and the run taken whole: always linear.
# A drive, a scheme or a host before it means that it is no path of this place. Behind a blank, only a range is
# one more place: in `a.py:1, 30` the 30 may be anything.
_PLAIN = re.compile(
    rf"(?<![{_PATH}:\\\])}}]){_OF_COMMIT}(?=[{_PATH}\[({{])(?P<path>{_WORD})"
    rf"(?::(?P<lines>{_LINES})(?P<more>(?:,\d{{1,12}}(?:-\d{{1,12}})?|, \d{{1,12}}-\d{{1,12}})*)(?::\d{{1,6}})?"
    rf"|\#(?P<hash>{_HASH})){_END}"
)
# In words: `a.py` (lines 3-9), [a](a.py) line 3. Without code, link or brackets, only of a range: `a.py line 3` is how
# interpreters say where a program has failed. "lines 3 to 9" is not read, and not half of it either.
_IN_WORDS = re.compile(
    rf"(?<![{_PATH}:\\\])}}]){_OF_COMMIT}(?=[{_PATH}\[({{])(?P<path>{_WORD})(?P<mark>[`*)]{{0,4}})"
    rf",? (?:at |on )?(?P<open>[(\[]?)(?:Lines?|lines?) (?P<lines>\d{{1,12}}(?:[-–]\d{{1,12}})?)"
    rf"(?P<more>(?:,\d{{1,12}}(?:[-–]\d{{1,12}})?|(?:,|,? and) \d{{1,12}}[-–]\d{{1,12}})*)"
    rf"{_END}(?!,? ?(?:[-–—~&,+/]|and|or|to|through|until) ?\d)"
)
_FILE_NAME = re.compile(r".*\.(?=\w*[^\W\d])\w+")
# What stands before the place in a stack trace of Java or Kotlin, behind a class loader and a module or without them:
# `at app//shop.Cart.add(` and `at java.base@17.0.1/java.lang.Thread.run(`.
_FRAME = re.compile(r"\s*at\s+(?:[\w.$@\-]*+/)*+[\w$<>]+(?:\.[\w$<>]+)+\(")
# Of Markdown, in `my\_app.py`. Behind other backslashes stand parts of a path, as in `..\app.py`.
_ESCAPE = re.compile(r"\\(?=[_*~\[\]])")
_PATH_WORD = re.compile(rf"(?<![{_PATH}\])}}])(?=[{_PATH}\[({{]){_WORD}")
_MORE = re.compile(r"\d+(?:[-–]\d+)?")
_NUMBERS = re.compile(r"(L?|lines-)(\d+)(?:C\d+)?(?:(\D)(L?)(\d+)(?:C\d+)?)?")

# What people put on a line that must not be checked: an example, or a line of a log.
_IGNORED_LINE = re.compile(r"^.*openbook: ignore.*", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class Mention:
    """A citation as it stands in a text, not yet checked."""

    start_char: int
    end_char: int
    """Half-open, path and lines."""
    form: Form
    path: str
    """As written, with escapes of links decoded."""
    first_line: int
    """1-based; 0 if written so."""
    last_line: int
    """Inclusive. May be smaller than `first_line`."""
    path_chars: tuple[int, int]
    lines_chars: tuple[int, int]
    """Half-open, of the numbers with their `L`."""
    revision: str = ""
    """Branch, tag or commit of a permalink; the commit of `1a2b3c4:src/app.py:3`."""
    repository: str = ""
    """Host, owner and name that a permalink is of, in lower case: `github.com/owner/name`."""
    page: PageForm | None = None
    """How the host of a permalink writes it; None for that of git, `1a2b3c4:src/app.py:3`."""
    revision_char: int = 0
    """Where its revision begins, with what says of which kind that is."""

    @property
    def revision_chars(self) -> tuple[int, int]:
        """Half-open."""
        return self.revision_char, self.path_chars[0] - len(self.page.below if self.page else "")


def find_mentions(text: str, allowed: Sequence[tuple[int, int]] | None = None) -> list[Mention]:
    """Find citations in order of their place.

    Only their form is looked at. What looks like one may still be something else, such as a host
    and its port: whether the path is one is for whoever knows the files.

    Args:
        text: Any text.
        allowed: Half-open ranges outside of which nothing counts, in order; None for all of it.

    Example:
        >>> [(m.path, m.first_line, m.last_line) for m in find_mentions("See `a/b.py:12-18` at 12:30.")]
        [('a/b.py', 12, 18)]
    """
    taken: list[tuple[int, int]] = []
    found: list[Mention] = []
    permalinks = ((pattern, partial(_permalink, form)) for form, pattern in _PERMALINKS)
    others = ((_URL, None), (_LINK, _link), (_MACRO, _macro), (_PLAIN, _plain), (_IN_WORDS, _in_words))
    for pattern, make in (*permalinks, *others):
        free = _outside(taken)
        for match in pattern.finditer(text):
            if free(match.start(), match.end()):
                found += make(match) if make else ()
                taken.append(match.span())
        taken.sort()
    inside = (lambda start: True) if allowed is None else _inside(allowed)
    # Found once: a line can be as long as the text, and hold thousands of citations.
    ignored = _inside([line.span() for line in _IGNORED_LINE.finditer(text)])
    kept = [mention for mention in found if inside(mention.start_char) and not ignored(mention.start_char)]
    return sorted(kept, key=lambda mention: (mention.start_char, mention.lines_chars))


def _permalink(page: PageForm, match: re.Match[str]) -> Iterator[Mention]:
    yield replace(
        _mention(match, "permalink", "path", "lines"),
        repository=f"{match['host']}/{match['repository']}".lower().removeprefix("www."),
        page=page,
        revision_char=match.start("kind"),
    )


def _link(match: re.Match[str]) -> Iterator[Mention]:
    mention = _mention(match, "link", "path" if match["path"] is not None else "angled", "lines")
    yield replace(mention, path=_ESCAPE.sub("", mention.path).replace("\\", "/"))


def _macro(match: re.Match[str]) -> Iterator[Mention]:
    yield _mention(match, "link", "path", "lines")


def _plain(match: re.Match[str]) -> Iterator[Mention]:
    is_escaped = "%" in match["path"]  # in an attribute of HTML, or between `<` and `>`
    if not is_path_like(match["path"]) or _is_logged(match) or (is_escaped and not match["hash"]):
        return
    form: Form = "permalink" if match["revision"] else "link" if is_escaped else "plain"
    yield _mention(match, form, "path", "lines" if match["lines"] else "hash")
    yield from _further(match, form)


def _in_words(match: re.Match[str]) -> Iterator[Mention]:
    is_range = not match["lines"].isdigit()
    if not (match["mark"] or match["open"] or is_range) or not _FILE_NAME.fullmatch(match["path"]):
        return
    is_link = match.string.endswith("](", 0, match.start("path")) and match["mark"].startswith(")")
    form: Form = "permalink" if match["revision"] else "link" if is_link else "plain"
    yield _mention(match, form, "path", "lines")
    yield from _further(match, form)


def _further(match: re.Match[str], form: Form) -> Iterator[Mention]:
    for more in _MORE.finditer(match.string, *match.span("more")) if match["more"] else ():
        yield _mention(match, form, "path", more.span())


def _is_logged(match: re.Match[str]) -> bool:
    """Return whether a place is the source of a line of a log or of a stack trace.

    Such as `I0302 08:28:59 1 schedule_one.go:314] Bound` and `at shop.Cart.add(Cart.java:12)`.
    """
    text, start = match.string, match.start()
    if not text.startswith(("]", ")"), match.end()):
        return False
    line = text.rfind("\n", 0, start) + 1
    if text.startswith("]", match.end()):
        return text.find("[", line, start) < 0
    return _FRAME.fullmatch(text, line, start) is not None


def _mention(match: re.Match[str], form: Form, path: str, lines: str | tuple[int, int]) -> Mention:
    start, end = match.span(lines) if isinstance(lines, str) else lines
    numbers = _NUMBERS.fullmatch(match.string, start, end)
    assert numbers is not None
    first = int(numbers[2])
    written = match[path] if form == "plain" else unquote(match[path])
    begin = match.start() if form == "permalink" else match.start(path)
    last = int(numbers[5] or first)
    revision = match["revision"] if form == "permalink" else ""
    return Mention(begin, end, form, written, first, last, match.span(path), (start, end), revision)


def is_path_like(path: str) -> bool:
    """Return whether a word can be the path of a file: a name with letters, and not a number or a host with a port.

    Example:
        >>> [is_path_like(word) for word in ("src/app.py", "Makefile", "12", "127.0.0.1", "v1.2", "~/notes.md")]
        [True, True, False, False, False, False]
    """
    name = path.rpartition("/")[2]
    suffix = name.rpartition(".")[2]
    return not (path.startswith("~") or name in {"", ".", ".."} or suffix.isdigit() or not re.search(r"[^\W\d_]", name))


def full_names(text: str, path: str) -> set[str]:
    """Return the longer paths in a text that end with a path.

    Example:
        >>> sorted(full_names("Of `src/app.py` and [lib](../lib/app.py#L3), see app.py:1.", "app.py"))
        ['lib/app.py', 'src/app.py']
    """
    words = (word.rstrip(".").lstrip("./") for word in _PATH_WORD.findall(text))
    return {word for word in words if word.endswith("/" + path)}


def cited_words(text: str, mention: Mention) -> str:
    """Return a citation as it is written; of several ranges behind one path, and in words, as `path:lines`.

    Example:
        >>> text = "[app](src/app.py), lines 3-9"
        >>> cited_words(text, *find_mentions(text))
        'src/app.py:3-9'
    """
    words = text[mention.start_char : mention.end_char]
    start, end = mention.path_chars[1], mention.lines_chars[0]
    if end - start > 1 and text[start] != "?":  # one of several ranges, or in words: `a.py:3,7`, `a.py` (line 3)
        return f"{text[mention.start_char : mention.path_chars[0]]}{mention.path}:{text[end : mention.lines_chars[1]]}"
    return words


def linked_revision(text: str, mention: Mention, others: Sequence[Mention]) -> str:
    """Return the revision of the permalink to the same lines whose text a citation is; empty if there is none.

    `others`: the citations of the text, in order.

    Example:
        >>> text = "[`src/app.py:3`](https://github.com/acme/shop/blob/1a2b3c4/src/app.py#L3)"
        >>> mentions = find_mentions(text)
        >>> linked_revision(text, mentions[0], mentions)
        '1a2b3c4'
    """
    at = bisect_left(others, mention.end_char, key=lambda other: other.start_char)
    for other in others[at : at + 1]:
        between = text[mention.end_char : other.start_char]  # the end of code, or of lines in brackets, and of the text
        is_target = between.lstrip("`)") == "](" and other.form == "permalink"
        if is_target and (other.first_line, other.last_line) == (mention.first_line, mention.last_line):
            return other.revision
    return ""


def with_lines(written: str, first: int, last: int, until: str = "") -> str:
    """Replace the line numbers of a citation and keep its notation.

    `until`: what its notation has between two numbers.

    Example:
        >>> with_lines("L12-L18", 20, 26), with_lines("12", 7, 7), with_lines("L3", 4, 5)
        ('L20-L26', '7', 'L4-L5')
    """
    numbers = _NUMBERS.fullmatch(written)
    assert numbers is not None
    if first == last and not numbers[5]:
        return f"{numbers[1]}{first}"
    between = numbers[3] + numbers[4] if numbers[5] else until or f"-{numbers[1]}"
    return f"{numbers[1]}{first}{between}{last}"


def _inside(ranges: Sequence[tuple[int, int]]) -> Callable[[int], bool]:
    starts = [start for start, _ in ranges]

    def inside(offset: int) -> bool:
        at = bisect_right(starts, offset) - 1
        return at >= 0 and offset < ranges[at][1]

    return inside


def _outside(ranges: Sequence[tuple[int, int]]) -> Callable[[int, int], bool]:
    """Return whether a range overlaps none of the sorted ranges."""
    known = list(ranges)
    starts = [start for start, _ in known]

    def outside(start: int, end: int) -> bool:
        at = bisect_right(starts, start) - 1
        return (at < 0 or known[at][1] <= start) and (at + 1 >= len(known) or known[at + 1][0] >= end)

    return outside
