"""Questions for a project as a whole, and the pages that introduce it."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import PurePosixPath

from openbook.index.protocol import DocumentSummary, Index
from openbook.retrieval.roles import role_of
from openbook.types import Chunk, Filter, ResultRole, RetrievalResult

# Pages, and chunks of the first page and of each other one. A README says what it is in its first chunks.
_MOST_PAGES, _MOST_FIRST, _MOST_OTHER = 5, 3, 1
# A filter that leaves so few documents names what is to be summed up.
_FEW_DOCUMENTS = 3
_DEEPEST = 3

# What introduces, best first; each for a name without its ending.
_FRONT = (
    ("readme",),
    ("architecture", "design", "overview", "introduction", "about", "whatis"),
    ("index", "home", "start", "gettingstarted", "quickstart"),
    ("agents", "claude"),
)
_TOLD = 1  # names that others begin with: `architecture-overview`
_ARCHITECTURE = ("architec", "architek", "struct", "organi", "aufbau", "laid out", "component")
_MODULES = frozenset({"__init__.py", "lib.rs", "doc.go", "main.go", "main.py", "index.js", "index.ts", "mod.ts"})


def introduction(text: str, index: Index, where: Filter) -> list[RetrievalResult]:
    """Return the chunks that introduce what a filter lets through, best first; [] if no page does."""
    documents = index.documents(where)
    pages = list(_front_pages(documents, text))
    if not pages and len(documents) <= _FEW_DOCUMENTS:
        pages = documents
    results: list[RetrievalResult] = []
    chosen = [page for page, _ in zip(_unique(pages, text), range(_MOST_PAGES), strict=False)]
    for number, page in enumerate(chosen):
        telling = (chunk for chunk in index.chunks(page.source, page.path) if _tells(chunk))
        for chunk, _ in zip(telling, range(_MOST_FIRST if number == 0 else _MOST_OTHER), strict=False):
            results.append(RetrievalResult(chunk, 1 / (1 + len(results)), roles=frozenset([ResultRole.OVERVIEW])))
    return results


def _unique(pages: list[DocumentSummary], text: str) -> Iterator[DocumentSummary]:
    """Yield pages best first, of each kind and folder the first only."""
    seen: set[tuple[int, str]] = set()
    for page in sorted(pages, key=lambda page: (_worth(page, text), _place_of(page))):
        key = (_worth(page, text)[0], str(PurePosixPath(page.path).parent))
        if key not in seen:
            seen.add(key)
            yield page


def _front_pages(documents: list[DocumentSummary], text: str) -> Iterator[DocumentSummary]:
    for page in documents:
        if page.kind not in ("docs", "code"):
            continue
        depth = page.path.count("/")
        is_aside = role_of(page.path, page.kind) in {"test", "example", "changelog", "legal"}
        if depth <= _DEEPEST and not is_aside and _worth(page, text)[0] < len(_FRONT) + 1:
            yield page


def _worth(page: DocumentSummary, text: str) -> tuple[int, int]:
    """Order pages: what is asked for by its name, then by name and depth."""
    path = PurePosixPath(page.path)
    depth = page.path.count("/")
    if page.kind == "code":
        return (len(_FRONT) if path.name in _MODULES else len(_FRONT) + 1, depth)
    name = path.stem.lower().replace("-", "").replace("_", "")
    known = (n for n, names in enumerate(_FRONT) if name in names or (n == _TOLD and name.startswith(names)))
    rank = next(known, len(_FRONT) + 1)
    if rank == _TOLD and any(word in text.lower() for word in _ARCHITECTURE):
        rank = -1
    return (rank + (depth if rank == 0 else 0), depth)


def _place_of(page: DocumentSummary) -> tuple[int, str, str]:
    return (page.path.count("/"), page.source, page.path)


def _tells(chunk: Chunk) -> bool:
    """Check whether a chunk has a sentence; of code, a module's own words."""
    if chunk.kind == "code":
        return bool(chunk.docstring) and chunk.span.start_line == 1
    return len(re.findall(r"\b[a-zA-Z]{2,}\b(?![^\n<]*>)", re.sub(r"\]\([^)]*\)|<[^>]*>", "", chunk.text))) >= 8
