"""Parses tables of contents of sites and books: the order of pages, and their titles.

Supported files: `_toc.yml` and `myst.yml` (Jupyter Book), `_toctree.yml` (Hugging Face), `mkdocs.yml`, `_quarto.yml`,
`_bookdown.yml`, `sidebars.js` (Docusaurus), `SUMMARY.md` (mdBook, GitBook), and the `config.yaml` of the Carpentries.
"""

from __future__ import annotations

import posixpath
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from openbook.sources.front_matter import front_matter, read_toml, read_yaml
from openbook.sources.lesson_names import number_in, readable

_SUFFIXES = ("", ".md", ".mdx", ".ipynb", ".rst", ".qmd", ".Rmd", ".markdown", ".txt", ".html")
_INDEXES = ("index", "README", "intro")

# Indentation of a link outside of a list.
_UNNUMBERED = -1

# Keys of file, title and children in Jupyter Book, MyST, Hugging Face and Quarto.
_NAMED = ("file", "href", "local")
_TITLED = ("title", "text", "section")
_INNER = ("sections", "children", "chapters", "contents")

# No course has a deeper table of contents.
_MAX_DEPTH = 30

_LINK = re.compile(r"^(\s*+)([-*+]|\d+[.)])?\s*\[([^\]]*)\]\(([^()\s]*)\)")
_HEADING = re.compile(r"#{1,6}\s+(.*?)\s*#*$")


@dataclass(frozen=True, slots=True)
class Entry:
    """An entry of a table of contents."""

    title: str = ""
    path: str = ""
    """Path of the file in the source; empty for a heading alone."""
    children: tuple[Entry, ...] = ()


@dataclass(frozen=True, slots=True)
class Contents:
    """A table of contents."""

    entries: tuple[Entry, ...]
    title: str = ""
    """Title of the site or book."""
    instructor: str = ""
    link: str = ""


@dataclass(frozen=True, slots=True)
class Pages:
    """The files of a source: their paths, and a function that returns the text of a file, or "" if that fails."""

    paths: frozenset[str]
    text_of: Callable[[str], str]

    def read(self, path: str) -> str:
        """Return the text of a page; empty if there is no such page."""
        return self.text_of(path) if path in self.paths else ""

    def find(self, folder: str, name: str) -> str:
        """Find a page by its path without suffix, or by its folder; empty if there is none."""
        place = posixpath.normpath(posixpath.join(folder, name.split("#")[0].strip().lstrip("/")))
        if place.startswith(".."):
            return ""
        stems = (place, *(posixpath.join(place, index) for index in _INDEXES))
        return next((f"{stem}{end}" for stem in stems for end in _SUFFIXES if f"{stem}{end}" in self.paths), "")

    def below(self, folder: str) -> list[str]:
        """Return the paths of files in a folder and below it, in order."""
        start = "" if folder in ("", ".") else f"{folder}/"
        return sorted(path for path in self.paths if path.startswith(start))


def read_contents(path: str, pages: Pages) -> Contents | None:
    """Parse a table of contents by its file name; None if it is not one, or is damaged."""
    folder, name = posixpath.split(path)
    reader = _READERS.get(name.lower())
    if reader is None:
        return None
    try:
        found = reader(pages.read(path), folder, pages)
    except (AttributeError, TypeError, ValueError, RecursionError):  # the file has another structure
        return None
    entries = _kept(found.entries) if found else ()
    return replace(found, entries=entries) if found and (entries or found.title) else None


def is_contents(path: str) -> bool:
    """Return whether a file is a table of contents by its name."""
    return posixpath.basename(path).lower() in _READERS


def _kept(entries: Sequence[Entry]) -> tuple[Entry, ...]:
    """Drop entries without a file in them."""
    pruned = (replace(entry, children=_kept(entry.children)) for entry in entries)
    return tuple(entry for entry in pruned if entry.path or entry.children)


def _jupyter_book(text: str, folder: str, pages: Pages) -> Contents | None:
    values = read_yaml(text)
    config = _mapping(read_yaml(pages.read(posixpath.join(folder, "_config.yml"))))
    title, author = str(config.get("title") or ""), str(config.get("author") or "")
    if isinstance(values, list):  # format before 2021: the first entry is the front page
        return Contents(_entries(values[1:], folder, pages), title, author)
    parts = values.get("parts") or [{"chapters": values.get("chapters") or values.get("sections") or []}]
    # Chapters are numbered consecutively across parts.
    chapters = [chapter for part in parts for chapter in part.get("chapters") or part.get("sections") or ()]
    return Contents(_entries(chapters, folder, pages), title, author)


def _entries(values: Any, folder: str, pages: Pages, depth: int = 0) -> tuple[Entry, ...]:
    """Parse entries that are mappings with a title, a file and children."""
    found = []
    for value in _listed(values) if depth < _MAX_DEPTH else ():
        entry = {"file": value} if isinstance(value, str) else _mapping(value)
        if glob := entry.get("glob"):
            found += [Entry("", path) for path in pages.below(folder) if _matches(path, folder, str(glob))]
            continue
        inner, named, title = (_first(entry, names) for names in (_INNER, _NAMED, _TITLED))
        path = pages.find(folder, str(named)) if named else ""
        found.append(Entry(_word(title), path, _entries(inner, folder, pages, depth + 1)))
    return tuple(found)


def _first(entry: Mapping[str, Any], names: Sequence[str]) -> Any:
    return next((entry[name] for name in names if entry.get(name)), None)


def _matches(path: str, folder: str, glob: str) -> bool:
    from fnmatch import fnmatchcase

    place = posixpath.join(folder, glob)
    return fnmatchcase(path, place) or fnmatchcase(path, f"{place}.*")


def _myst(text: str, folder: str, pages: Pages) -> Contents | None:
    project = _mapping(_mapping(read_yaml(text)).get("project"))
    entries = _entries(_listed(project.get("toc"))[1:], folder, pages)
    return Contents(entries, _word(project.get("title")), _names(project.get("authors")))


def _toctree(text: str, folder: str, pages: Pages) -> Contents | None:
    return Contents(_entries(read_yaml(text), folder, pages))


def _mkdocs(text: str, folder: str, pages: Pages) -> Contents | None:
    values = _mapping(read_yaml(text))
    docs = _in(folder, str(values.get("docs_dir") or "docs"))

    def entries(navigation: Any, depth: int = 0) -> Iterator[Entry]:
        for value in _listed(navigation) if depth < _MAX_DEPTH else ():
            if isinstance(value, str):
                yield Entry("", pages.find(docs, value))
            for title, inner in _mapping(value).items():
                if isinstance(inner, str):
                    yield Entry(_word(title), "" if "://" in inner else pages.find(docs, inner))
                else:
                    yield Entry(_word(title), "", tuple(entries(inner, depth + 1)))

    return Contents(
        tuple(entries(values.get("nav"))),
        _word(values.get("site_name")),
        _word(values.get("site_author")),
        _word(values.get("site_url")),
    )


def _quarto(text: str, folder: str, pages: Pages) -> Contents | None:
    values = _mapping(read_yaml(text))
    book, site = _mapping(values.get("book")), _mapping(values.get("website"))
    sidebar = site.get("sidebar")
    sidebar = _mapping(sidebar[0] if isinstance(sidebar, list) and sidebar else sidebar)

    def without_parts(listed: Any, depth: int = 0) -> Iterator[Any]:
        """Replace parts by their chapters, because chapter numbers continue across parts."""
        for value in _listed(listed) if depth < _MAX_DEPTH else ():
            inner = _first(_mapping(value), _INNER)
            if not inner:
                yield value
            elif "part" in value:
                page = _word(value["part"])
                yield from [page] if pages.find(folder, page) and page and not depth and not book else []
                yield from without_parts(inner, depth + 1)
            else:
                yield {**value, **dict.fromkeys(_INNER), _INNER[0]: list(without_parts(inner, depth + 1))}

    chapters = _entries(list(without_parts(book.get("chapters"))), folder, pages)
    of_book = tuple(entry for entry in chapters if _has_number(entry.path, pages))
    return Contents(
        of_book or _entries(list(without_parts(sidebar.get("contents"))), folder, pages),
        _word(book.get("title") or site.get("title")),
        _names(book.get("author")),
        _word(book.get("site-url") or site.get("site-url")),
    )


def _bookdown(text: str, folder: str, pages: Pages) -> Contents | None:
    listed = _mapping(read_yaml(text)).get("rmd_files")
    files = listed.get("html") if isinstance(listed, dict) else listed
    entries = (Entry("", pages.find(folder, str(name))) for name in _listed(files))
    return Contents(tuple(entry for entry in entries if _has_number(entry.path, pages)))


def _has_number(path: str, pages: Pages) -> bool:
    """Return whether a page of a book is a numbered chapter, not the front page or an unnumbered one."""
    heading = first_heading(pages.read(path)) if path else ""
    return posixpath.basename(path)[:6] != "index." and not heading.endswith((".unnumbered}", "{-}"))


def _carpentries(text: str, folder: str, pages: Pages) -> Contents | None:
    values = _mapping(read_yaml(text))
    if "carpentry" not in values:
        return None
    episodes = posixpath.join(folder, "episodes")
    listed = [pages.find(episodes, str(name)) for name in _listed(values.get("episodes"))]
    every = listed or [path for path in pages.below(episodes) if path.endswith((".md", ".Rmd"))]
    entries = tuple(Entry("", path) for path in every if posixpath.dirname(path) == episodes)
    return Contents(entries, _word(values.get("title")), "", _word(values.get("url")))


def _summary(text: str, folder: str, pages: Pages) -> Contents | None:
    book = _mapping(read_toml(pages.read(posixpath.join(folder, "..", "book.toml").replace("src/../", ""))).get("book"))
    root: list[tuple[int, Entry]] = []
    for line in text.splitlines():
        found = _LINK.match(line)
        if found:
            path = pages.find(folder, found[4]) if found[4] and "://" not in found[4] else ""
            root.append((len(found[1].expandtabs(4)) if found[2] else _UNNUMBERED, Entry(found[3].strip(), path)))
    # A foreword is outside of the list, and has no number.
    root = [one for one in root if one[0] != _UNNUMBERED] or [(0, entry) for _, entry in root]
    return Contents(_nested(root), _word(book.get("title")), _names(book.get("authors")))


def _nested(entries: Sequence[tuple[int, Entry]]) -> tuple[Entry, ...]:
    """Build a tree of entries by indentation."""
    found: list[Entry] = []
    position = 0
    while position < len(entries):
        depth, entry = entries[position]
        end = position + 1
        while end < len(entries) and entries[end][0] > depth:
            end += 1
        found.append(replace(entry, children=_nested(entries[position + 1 : end])))
        position = end
    return tuple(found)


# Docusaurus sidebars are JavaScript, whose object literal is parsed as YAML. This matches comments, but not `//` within
# a string such as a URL.
_COMMENT = re.compile(r"(\"(?:\\.|[^\"\\])*\"|'(?:\\.|[^'\\])*'|`[^`]*`)|/\*.*?\*/|//[^\n]*", re.DOTALL)
_OBJECT = re.compile(r"(?:module\.exports\s*=|const\s+sidebars\b[^=]*=|export\s+default)\s*(\{.*)", re.DOTALL)
_KEY = re.compile(r"([{,\s][\w-]+)\s*:(?=\S)")
_CONFIG_TITLE = re.compile(r"^\s*title:\s*([\"'])(.+?)\1", re.MULTILINE)
_NUMBER_PREFIX = re.compile(r"^\d+\s*[-_.]+\s*")
_PAGE = (".md", ".mdx")


def _docusaurus(text: str, folder: str, pages: Pages) -> Contents | None:
    """Parse `sidebars.js`, `.ts` or `.json`. Only literals are read; computed values are left out."""
    plain = _COMMENT.sub(lambda found: found[1] or "", text)
    found = _OBJECT.search(plain)
    written = plain if found is None else _balanced(found[1])
    values = read_yaml(_KEY.sub(r"\1: ", written).replace("\t", " "))
    if not isinstance(values, dict):
        return None
    docs = next((docs for docs in ("docs", "../docs") if pages.below(_in(folder, docs))), "docs")
    reader = _Sidebar(_in(folder, docs), pages)
    sidebars = {str(name): tuple(reader.entries(sidebar)) for name, sidebar in values.items()}
    config = (pages.read(posixpath.join(folder, f"docusaurus.config.{end}")) for end in ("js", "ts", "mjs"))
    title = next((found[2] for found in map(_CONFIG_TITLE.search, config) if found), "")
    return Contents(tuple(_joined({name: entries for name, entries in sidebars.items() if entries})), title)


def _in(folder: str, name: str) -> str:
    return posixpath.normpath(posixpath.join(folder, name))


def _joined(sidebars: Mapping[str, tuple[Entry, ...]]) -> Iterator[Entry]:
    """Yield the entries of all sidebars. If there are several, each one without categories becomes an entry itself."""
    for name, entries in sidebars.items():
        if len(sidebars) > 1 and not any(entry.children for entry in entries):
            yield Entry(readable(name), "", entries)
        else:
            yield from entries


def _balanced(text: str) -> str:
    """Return the balanced object literal at the beginning of a text."""
    depth = 0
    for position, sign in enumerate(text):
        depth += (sign in "{[") - (sign in "}]")
        if depth == 0:
            return text[: position + 1]
    return text


class _Sidebar:
    def __init__(self, docs: str, pages: Pages) -> None:
        self._docs = docs
        self._pages = pages
        self._ids = {self._id(path): path for path in reversed(pages.below(docs)) if path.endswith(_PAGE)}

    def entries(self, items: Any) -> Iterator[Entry]:
        if isinstance(items, dict) and "type" not in items:
            for label, inner in items.items():
                yield Entry(str(label), "", tuple(self.entries(inner)))
            return
        for item in items if isinstance(items, list) else [items]:
            if isinstance(item, str):
                yield Entry("", self._page(item))
            elif isinstance(item, dict):
                yield from self._entry(item)

    def _entry(self, item: dict[str, Any]) -> Iterator[Entry]:
        kind, label = item.get("type"), str(item.get("label") or "")
        if kind == "doc":
            yield Entry(label, self._page(str(item.get("id"))))
        elif kind == "autogenerated":
            yield from self._generated(_in(self._docs, str(item.get("dirName") or ".")))
        elif kind == "category":
            link = item.get("link")
            own = self._page(str(link.get("id"))) if isinstance(link, dict) and link.get("type") == "doc" else ""
            yield Entry(label, own, tuple(self.entries(item.get("items") or [])))
        elif kind is None:
            yield from self.entries(item)

    def _generated(self, folder: str) -> Iterator[Entry]:
        """List a folder as Docusaurus does: by `sidebar_position`, else by number and name."""
        start = f"{folder}/"
        inside = [path for path in self._pages.below(folder) if path.endswith(_PAGE)]
        files = [path for path in inside if "/" not in path.removeprefix(start)]
        folders = sorted({path.removeprefix(start).split("/")[0] for path in inside if path not in files})
        found = [(self._position(path), path, Entry("", path)) for path in files]
        for name in folders:
            category = read_yaml(self._pages.read(f"{start}{name}/_category_.json"))
            category = category if isinstance(category, dict) else {}
            position = category.get("position")
            order = position if isinstance(position, (int, float)) else _numbered(name)
            label = str(category.get("label") or "")
            found.append((order, name, Entry(label, "", tuple(self._generated(f"{start}{name}")))))
        for _, _, entry in sorted(found, key=lambda each: each[:2]):
            yield entry

    def _position(self, path: str) -> float:
        position = front_matter(self._pages.read(path)).get("sidebar_position")
        return position if isinstance(position, (int, float)) else _numbered(posixpath.basename(path))

    def _page(self, name: str) -> str:
        return self._ids.get(name) or self._pages.find(self._docs, name)

    def _id(self, path: str) -> str:
        """Return the id of a page in sidebars: its path without suffix and number prefixes, or the `id` in it."""
        *folders, name = path.removeprefix(f"{self._docs}/").split("/")
        given = front_matter(self._pages.read(path)).get("id") if path.endswith(_PAGE) else None
        stem = str(given) if given else _NUMBER_PREFIX.sub("", posixpath.splitext(name)[0])
        return "/".join([*(_NUMBER_PREFIX.sub("", folder) for folder in folders), stem])


def _numbered(name: str) -> float:
    found = number_in(posixpath.splitext(name)[0])
    return float(found.number) if found else float("inf")


def linked_pages(text: str, folder: str, pages: Pages) -> list[str]:
    """Return the pages of a source that an index page links to, in the order of their first links."""
    targets = re.findall(r"\]\(\s*+<?([^()\s<>]++)>?[^()]*+\)|href=[\"']([^\"']+)[\"']", text)
    places = (target for pair in targets for target in pair if target and "://" not in target)
    found = (pages.find(folder, place) for place in places)
    return list(dict.fromkeys(path for path in found if path))


def first_heading(text: str) -> str:
    """Return the first heading of a Markdown page, as written; empty without one."""
    return next((found[1] for found in map(_HEADING.match, text.splitlines()[:200]) if found), "")


def _mapping(value: Any) -> Mapping[str, Any]:
    return value if isinstance(value, dict) else {}


def _listed(value: Any) -> list[Any]:
    return value if isinstance(value, list) else []


def _names(people: Any) -> str:
    """Return the names of one author or several."""
    names = (_mapping(one).get("name", one) for one in (people if isinstance(people, list) else [people]))
    return ", ".join(filter(None, map(_word, names)))


def _word(value: Any) -> str:
    return " ".join(str(value).split()) if isinstance(value, (str, int, float)) else ""


_READERS: Mapping[str, Callable[[str, str, Pages], Contents | None]] = {
    "_toc.yml": _jupyter_book,
    "myst.yml": _myst,
    "_toctree.yml": _toctree,
    "mkdocs.yml": _mkdocs,
    "mkdocs.yaml": _mkdocs,
    "_quarto.yml": _quarto,
    "_bookdown.yml": _bookdown,
    "summary.md": _summary,
    "sidebars.js": _docusaurus,
    "sidebars.ts": _docusaurus,
    "sidebars.json": _docusaurus,
    "config.yaml": _carpentries,
}
"""In order of precedence, for courses with several."""

CONTENTS_NAMES = tuple(_READERS)
