"""Questions for a project as a whole, and the pages that introduce it."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import PurePosixPath

from openbook.index.protocol import Index, Listed
from openbook.retrieval.roles import role_of
from openbook.types import Chunk, Filter, RetrievalResult

OVERVIEW = "introduces it"
"""Signal of results that no words were looked for."""

# Pages, and chunks of the first page and of each other one. A README says what it is in its first chunks.
_MOST_PAGES, _MOST_FIRST, _MOST_OTHER = 5, 3, 1
# A filter that leaves so few documents names what is to be summed up.
_FEW_DOCUMENTS = 3
_DEEPEST = 3

_WHOLE = (
    r"(?:th(?:is|e)|these|your|our|dies\w+|das|der|die|cet?(?:te)?|le|la|este|esta|el)\s+(?:\w+\s+)?"
    r"(?:projects?|repo(?:sitory)?|code(?:\s?base)?|librar(?:y|ies)|package|program|tool|app(?:lication)?|software"
    r"|system|framework|documentation|docs|pages?|files?|document|chapter|section|projekte?s?|bibliothek|programms?|seite"
    r"|kapitels?|projet|d[eé]p[oô]t|biblioth[eè]que|logiciel|proyecto|biblioteca|repositorio)"
)
_OF = rf"(?:\s+(?:of|for|in|von|des|der|de|du|del)\s+(?:{_WHOLE}|(?P<name>[\w.-]+)))?"
_OPENS = (
    r"(?:(?:please|can|could|would|you|bitte|me|us|i|want|need|give|show|write|tell|about|describe|explain"
    r"|what(?:'s| is| does)|look like|the|its|an?|high[- ]level|quick|short|brief|general|overall"
    r"|gib|mir|was ist|wie ist|die|der|das|ein(?:en)?"
    r"|quelle? est|une?|l['’]|la|cu[aá]l es)[\s,]*)*"
)
_PATTERNS = tuple(
    re.compile(pattern, re.IGNORECASE)
    for pattern in (
        rf"{_OPENS}\s*(?:architecture|overview|big picture|code structure|project structure|introduction|summary"
        rf"|[üu]berblick(?: [üu]ber)?|architektur|aufbau|vue d['’]ensemble|arquitectura|resumen){_OF}(?:\s+look like)?",
        rf"how (?:is|are) {_WHOLE} (?:structured|organi[sz]ed|laid out|built|architected)",
        rf"what (?:does|do|is|are) {_WHOLE}(?:\s+(?:do|about|for|good for|all about|used for))*",
        rf"what problems? (?:does|do) {_WHOLE} solve|why does {_WHOLE} exist|what can i do with {_WHOLE}",
        rf"how (?:does|do) (?:{_WHOLE}|it|th(?:is|e whole thing|e parts|e pieces)|everything)(?: all)?"
        r" (?:work|(?:hang|fit|work|come) together)",
        rf"what(?:'s| is) (?:the )?(?:purpose|point|goal|idea){_OF}",
        rf"what are (?:the )?(?:main|major|key|most important) (?:components?|parts?|modules?|pieces|concepts?){_OF}",
        rf"(?:please )?(?:summari[sz]e|sum up|introduce|explain|describe) {_WHOLE}(?: (?:to|for) me)?",
        rf"where (?:do|should|can) (?:i|we|one|a newcomer) (?:start|begin)(?: (?:reading|with|in) ?(?:{_WHOLE})?)?",
        rf"(?:was macht|worum geht es in|wozu dient|was ist|wie ist) {_WHOLE}(?: (?:aufgebaut|strukturiert))?",
        r"worum geht es(?: hier)?|wo (?:fange ich|soll ich) an(?:fangen)?|par o[uù] commencer|por d[oó]nde empiezo",
        rf"(?:que fait|[aà] quoi sert|qu['’]est-ce que|comment est (?:structur|organis)[eé]e?|qu[eé] hace) {_WHOLE}"
        r"(?: structur[eé]e?| organis[eé]e?)?",
    )
)
_GREETING = re.compile(
    r"^(?:hi|hello|i['’]?a?m new(?: here| to this)?|in (?:short|a few words|one sentence))[,.!:]\s*", re.IGNORECASE
)
_ENDS = " \t?？!.。¿"

# What introduces, best first; each for a name without its ending.
_FRONT = (
    re.compile(r"^readme$", re.IGNORECASE),
    re.compile(r"^(architecture|design|overview|introduction|about|what[-_]is)", re.IGNORECASE),
    re.compile(r"^(index|home|_index|start|getting[-_]?started|quick[-_]?start)$", re.IGNORECASE),
    re.compile(r"^(agents|claude)$", re.IGNORECASE),
)
_ARCHITECTURE = re.compile(r"archite[ck]t|struct|organi[sz]|aufbau|laid out|components?", re.IGNORECASE)
_MODULES = frozenset({"__init__.py", "lib.rs", "doc.go", "main.go", "main.py", "index.js", "index.ts", "mod.ts"})


def asks_for_overview(text: str, names: frozenset[str] = frozenset()) -> bool:
    """Check whether a question asks for a project, or a page, as a whole.

    Args:
        text: The question.
        names: Names of projects in lower case, one of which may stand in it.

    Example:
        >>> asks_for_overview("What is the architecture of this project?"), asks_for_overview("What is a job?")
        (True, False)
        >>> asks_for_overview("overview of harbour"), asks_for_overview("overview of harbour", frozenset({"harbour"}))
        (False, True)
    """
    asked = _GREETING.sub("", text.strip(_ENDS))
    for pattern in _PATTERNS:
        if found := pattern.fullmatch(asked):
            name = found.groupdict().get("name")
            return name is None or name.lower() in names
    return False


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
            results.append(RetrievalResult(chunk, 1 / (1 + len(results)), {OVERVIEW: 1 / (1 + len(results))}))
    return results


def _unique(pages: list[Listed], text: str) -> Iterator[Listed]:
    """Yield pages best first, of each kind and folder the first only."""
    seen: set[tuple[int, str]] = set()
    for page in sorted(pages, key=lambda page: (_worth(page, text), _place_of(page))):
        key = (_worth(page, text)[0], str(PurePosixPath(page.path).parent))
        if key not in seen:
            seen.add(key)
            yield page


def _front_pages(documents: list[Listed], text: str) -> Iterator[Listed]:
    for page in documents:
        if page.kind not in ("docs", "code"):
            continue
        depth = page.path.count("/")
        is_aside = role_of(page.path, page.kind) in {"test", "example", "changelog", "legal"}
        if depth <= _DEEPEST and not is_aside and _worth(page, text)[0] < len(_FRONT) + 1:
            yield page


def _worth(page: Listed, text: str) -> tuple[int, int]:
    """Order pages: what is asked for by its name, then by name and depth."""
    path = PurePosixPath(page.path)
    depth = page.path.count("/")
    if page.kind == "code":
        return (len(_FRONT) if path.name in _MODULES else len(_FRONT) + 1, depth)
    rank = next((n for n, front in enumerate(_FRONT) if front.search(path.stem)), len(_FRONT) + 1)
    if rank == 1 and _ARCHITECTURE.search(text):
        rank = -1
    return (rank + (depth if rank == 0 else 0), depth)


def _place_of(page: Listed) -> tuple[int, str, str]:
    return (page.path.count("/"), page.source, page.path)


def _tells(chunk: Chunk) -> bool:
    """Check whether a chunk has a sentence; of code, a module's own words."""
    if chunk.kind == "code":
        return bool(chunk.docstring) and chunk.span.start_line == 1
    return len(re.findall(r"\b[a-zA-Z]{2,}\b(?![^\n<]*>)", re.sub(r"\]\([^)]*\)|<[^>]*>", "", chunk.text))) >= 8
