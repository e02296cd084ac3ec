"""Cited answers about your code, documentation and courses.

from openbook import Assistant

with Assistant.of("docs", "src") as assistant:
    print(assistant.query("How do I start the server?").format_for_display())
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from openbook.assistant import Assistant
    from openbook.errors import OpenbookError
    from openbook.settings import Settings
    from openbook.types import (
        Chunk,
        Citation,
        Document,
        Filter,
        GenerationResult,
        RetrievalResult,
        Span,
        Unit,
    )

__all__ = [
    "Assistant",
    "Chunk",
    "Citation",
    "Document",
    "Filter",
    "GenerationResult",
    "OpenbookError",
    "RetrievalResult",
    "Settings",
    "Span",
    "Unit",
]

# Only these live outside `types`. Nothing is imported before it is asked for.
_HOMES = {
    "Assistant": "openbook.assistant",
    "OpenbookError": "openbook.errors",
    "Settings": "openbook.settings",
}


def __getattr__(name: str) -> Any:
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(_HOMES.get(name, "openbook.types")), name)


def __dir__() -> list[str]:
    return __all__
