"""Separates the content of a page from boilerplate: menus, headers, footers, cookie banners.

Footnote links are removed too.
"""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import accumulate, pairwise
from urllib.parse import unquote

from openbook.sources.readers.html_marks import MarkupSpan, unescape

_CONTAINERS = frozenset(
    {"article", "aside", "div", "dialog", "footer", "form", "header", "main", "nav", "section", "ul"}
)

# Collected besides containers, because a page may have its title above the content.
_TITLES = frozenset({"title", "h1"})

# Elements and roles. Menus are dropped anywhere. Headers, footers and asides are dropped only outside of articles: an
# article has a header of its own, and notes in documentation are asides.
_MENUS = frozenset({"nav", "navigation", "search", "menubar"})
_EDGES = frozenset({"header", "footer", "aside", "banner", "contentinfo", "complementary"})

# Names of cookie consent widgets. A section about cookies does not match.
_COOKIE_BANNER = re.compile(
    r"(?:cookie|consent|gdpr)s?[-_]?(?:banner|bar|consent|dialog|law|message|modal|notice|overlay|popup)"
    r"|cookieconsent|onetrust-|cybot|cc-(?:window|banner)",
    re.IGNORECASE,
)

_ATTRIBUTE = re.compile(r"""([^\s"'<>/=]+)(?:\s*=\s*(?:"([^"]*)"|'([^']*)'|([^\s"'=<>`]+)))?""")


# Footnote marks: a number, a letter, a small Roman numeral, or a sign. Brackets distinguish them from words.
_NOTE_SIGN = re.compile(r"\s*(?:\d{1,4}|[a-z]|[ivx]{1,5}|[*†‡§]{1,3})\s*", re.IGNORECASE)
_RAISED_LINKS = (("sup", "a", "a", "sup"), ("a", "sup", "sup", "a"))

_HEADINGS = frozenset({"h1", "h2", "h3", "h4", "h5", "h6"})

# Permalink text that documentation generators append to headings. A heading's own id, as `#options`, counts too.
_PERMALINK_SIGNS = frozenset({"#", "¶", "§", "🔗"})
_NO_WORD = re.compile(r"[\W_]+")

# Elements that a heading cannot contain: an unclosed heading ends before them.
_BELOW_HEADINGS = frozenset(
    "article aside blockquote dl figure footer form header hr main nav ol p pre section table ul".split()
)


@dataclass(frozen=True, slots=True)
class _Element:
    start_char: int
    end_char: int
    name: str
    role: str
    is_banner: bool


class _Group:
    """Elements of a page, with binary search, because pages can have a hundred thousand."""

    def __init__(self, elements: Iterable[_Element]) -> None:
        self.elements = sorted(elements, key=lambda element: element.start_char)
        self._starts = [element.start_char for element in self.elements]
        ends = [element.end_char for element in self.elements]
        self._last_end = list(accumulate(ends, max))
        self._first_end = list(accumulate(reversed(ends), min))[::-1]

    def holds(self, element: _Element) -> bool:
        """Return whether the element is inside one of these."""
        at = bisect_right(self._starts, element.start_char)
        return at > 0 and self._last_end[at - 1] >= element.end_char

    def is_in(self, element: _Element) -> bool:
        """Return whether one of these is inside the element."""
        at = bisect_left(self._starts, element.start_char)
        return at < len(self._starts) and self._first_end[at] <= element.end_char


def attributes(tag: str) -> dict[str, str]:
    """Parse the attributes of an opening tag. Names are in lower case; the first of two equal ones counts.

    Example:
        >>> attributes('<h2 ID=a class="x y" hidden>')
        {'id': 'a', 'class': 'x y', 'hidden': ''}
    """
    found: dict[str, str] = {}
    for match in _ATTRIBUTE.finditer(tag, re.match(r"<[^\s/>]*", tag).end()):  # type: ignore[union-attr]  # it is a tag
        found.setdefault(match.group(1).lower(), unescape(match.group(2) or match.group(3) or match.group(4) or ""))
    return found


def content_marks(text: str, marks: Sequence[MarkupSpan]) -> list[MarkupSpan]:
    """Replace the markup of boilerplate by hidden marks, which also hide its text.

    If there is a `main` element, only it and the page title are content. Menus never are; headers, footers, asides and
    cookie banners are not, outside of articles. Elements that are never closed, or contain the main heading, are kept.
    """
    found = list(_elements(text, marks))
    mains = [element for element in found if "main" in {element.name, element.role}]
    heads = [element for element in found if element.name == "h1"]
    articles = _Group([*mains, *(element for element in found if element.name == "article")])
    inner = _Group(mains or heads)
    menus = [element for element in found if _MENUS & {element.name, element.role} and not inner.is_in(element)]
    edges = [
        element
        for element in found
        if (element.is_banner or _EDGES & {element.name, element.role})
        and not articles.holds(element)
        and not inner.is_in(element)
    ]
    ranges = [(element.start_char, element.end_char) for element in menus + edges]
    if mains:
        titles = [element for element in found if element.name == "title"][:1]
        if not any(map(_Group(mains).holds, heads)):
            aside = _Group(menus)
            titles += [head for head in heads if not aside.holds(head)]
            ranges = [(element.start_char, element.end_char) for element in menus]
        ranges += _around(_Group(mains + titles).elements, len(text))
    return list(_hidden(marks, ranges, "div"))


def without_notes(text: str, marks: Sequence[MarkupSpan]) -> list[MarkupSpan]:
    """Hide footnote links, which are not text: `2<sup><a href="#n1">1</a></sup>` is not 21."""
    return list(_hidden(marks, list(_notes(text, marks))))


def _notes(text: str, marks: Sequence[MarkupSpan]) -> Iterator[tuple[int, int]]:
    for at, first in enumerate(marks):
        if first.kind != "open" or first.name not in {"a", "sup"}:
            continue
        is_raised = tuple(mark.name for mark in marks[at : at + 4]) in _RAISED_LINKS
        inner = marks[at + is_raised : at + is_raised + 2]
        around = marks[at : at + 4] if is_raised else inner
        if len(inner) < 2 or inner[0].kind != "open" or inner[1].kind != "close":
            continue
        if at and marks[at - 1].kind == "open" and not text[marks[at - 1].end_char : first.start_char].strip():
            continue  # a footnote begins with its own mark
        link = (
            text[first.start_char : first.end_char]
            if first.name == "a"
            else text[inner[0].start_char : inner[0].end_char]
        )
        is_linked = "#" in attributes(link).get("href", "") if is_raised else first.name == "a" and "noteref" in link
        signs = [text[before.end_char : behind.start_char] for before, behind in pairwise(around)]
        if is_linked and _NOTE_SIGN.fullmatch(signs.pop(len(signs) // 2)) and not any(map(str.strip, signs)):
            yield first.start_char, around[-1].end_char


def without_title(text: str, marks: Sequence[MarkupSpan]) -> list[MarkupSpan]:
    """Hide the title of a page that has a heading of level 1, which says the same without the name of the site.

    A title that a template fills in is kept, as a sign of one.
    """
    title = _text_of_first("title", text, marks)
    if title is None or "{" in text[slice(*title)] or _text_of_first("h1", text, marks) is None:
        return list(marks)
    return list(_hidden(marks, [title]))


def _text_of_first(name: str, text: str, marks: Sequence[MarkupSpan]) -> tuple[int, int] | None:
    """Return the range between the tags of the first element of a name that has text; None without one."""
    start, has_text = -1, False
    for before, mark in pairwise(marks):
        if before.name == name:
            start, has_text = before.end_char, False
        has_text |= mark.kind == "character" or text[before.end_char : mark.start_char].strip() != ""
        if start >= 0 and mark.name == name and mark.kind == "close" and has_text:
            return start, mark.start_char
    return None


def without_permalinks(text: str, marks: Sequence[MarkupSpan]) -> list[MarkupSpan]:
    """Hide the text of links from headings to themselves. The only text of a heading is kept.

    Example:
        >>> from openbook.sources.readers.html_marks import MarkupScanner
        >>> page = "<h2>OPTIONS<a href='#OPTIONS'>#OPTIONS</a></h2>"
        >>> marks = list(MarkupScanner(page).marks())
        >>> [page[each.start_char : each.end_char] for each in without_permalinks(page, marks) if each.kind == "hidden"]
        ['#OPTIONS']
    """
    ranges: list[tuple[int, int]] = []
    start = -1
    for at, mark in enumerate(marks):
        if start >= 0 and (mark.name in _HEADINGS or mark.name in _BELOW_HEADINGS):
            ranges += _permalinks(text, marks[max(0, start - 2) : start], marks[start : at + 1])
            start = -1
        if mark.name in _HEADINGS and mark.kind == "open":
            start = at
    return list(_hidden(marks, ranges))


def _permalinks(text: str, before: Sequence[MarkupSpan], heading: Sequence[MarkupSpan]) -> list[tuple[int, int]]:
    """Return the ranges of the permalink text in a heading.

    `before` are the marks before the heading, which may have its id; `heading` are its own, and the following one.
    """
    links: list[tuple[str, str, tuple[int, int]]] = []
    words, said, link = list[str](), list[str](), heading[0]
    for opened, mark in pairwise(heading):
        said.append(text[opened.end_char : mark.start_char])
        if mark.kind == "character":
            said.append(text[mark.start_char : mark.end_char])
        elif mark.name == "a" or mark is heading[-1]:
            label = unescape("".join(said)).strip()
            if label and link.name == "a" and link.kind == "open":
                href = attributes(text[link.start_char : link.end_char]).get("href", "")
                links.append((label, href, (link.end_char, mark.start_char)))
            else:
                words.append(label)
            link, said = mark, []
    tags = [attributes(text[tag.start_char : tag.end_char]) for tag in (*before, *heading[:-1]) if tag.kind == "open"]
    own = {values.get(key, "") for values in tags for key in ("id", "name")}
    # Without an explicit id, generators derive it from the words.
    made = _slug(" ".join(words))
    found = []
    for label, href, chars in links:
        name = unquote(href[1:])
        is_own = href.startswith("#") and label[1:] in {name, href[1:]} and (name in own or _slug(name) == made)
        is_sign = label in _PERMALINK_SIGNS and (not href or "#" in href)
        if is_sign or (label.startswith("#") and is_own):
            found.append(chars)
        else:
            words.append(label)
    return found if any(map(str.isalnum, "".join(words))) else []


def _slug(words: str) -> str:
    return _NO_WORD.sub("-", words.casefold()).strip("-")


def _around(elements: Sequence[_Element], length: int) -> Iterator[tuple[int, int]]:
    """Yield the ranges between elements, which are sorted by start."""
    reached = 0
    for element in elements:
        if element.start_char > reached:
            yield reached, element.start_char
        reached = max(reached, element.end_char)
    if reached < length:
        yield reached, length


def _elements(text: str, marks: Iterable[MarkupSpan]) -> Iterator[_Element]:
    """Yield closed containers and titles, sorted by end."""
    opened: defaultdict[str, list[MarkupSpan]] = defaultdict(list)
    for mark in marks:
        if mark.name not in _CONTAINERS and mark.name not in _TITLES:
            continue
        if mark.kind == "open":
            opened[mark.name].append(mark)
        elif mark.kind == "close" and opened[mark.name]:
            start = opened[mark.name].pop()
            values = attributes(text[start.start_char : start.end_char])
            marked = _COOKIE_BANNER.search(f"{values.get('id', '')} {values.get('class', '')}")
            role = values.get("role", "").lower()
            yield _Element(start.start_char, mark.end_char, mark.name, role, marked is not None)


def _hidden(marks: Iterable[MarkupSpan], ranges: Iterable[tuple[int, int]], name: str = "") -> Iterator[MarkupSpan]:
    """Yield the marks outside of ranges, and a hidden mark for each range. Ranges begin and end at marks."""
    waiting = iter(marks)
    mark = next(waiting, None)
    reached = 0
    for start, end in sorted(ranges):
        while mark is not None and mark.start_char < max(start, reached):
            if mark.start_char >= reached:
                yield mark
            mark = next(waiting, None)
        if end > reached:
            yield MarkupSpan(max(start, reached), end, "hidden", name)
            reached = end
    while mark is not None:
        if mark.start_char >= reached:
            yield mark
        mark = next(waiting, None)
