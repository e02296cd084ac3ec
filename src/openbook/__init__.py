"""Cited answers about your code, documentation and courses.

from openbook import Library

with Library.of("docs", "src") as library:
    print(library.query("How do I start the server?").format_for_display())
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from openbook.agent.tools import Tool
    from openbook.answering.options import AnswerOptions
    from openbook.answering.prompting import format_prompt_for_display
    from openbook.answering.reporting import check_citations, extract_code_blocks, format_generation_stats
    from openbook.answering.results_at_hand import generate_answer
    from openbook.answers import (
        Answered,
        Citation,
        Claim,
        Exchange,
        GenerationResult,
        Repair,
        Stage,
        ToolUsed,
        Written,
    )
    from openbook.codebase import CodebaseAssistant, create_assistant
    from openbook.costs import Budget, estimate_cost
    from openbook.errors import OpenbookError
    from openbook.grounding.entailment import JudgedClaim, judge_claims
    from openbook.grounding.protocol import CitedClaim, Entailment, Judge, SourceText
    from openbook.ingest.text_chunks import chunk
    from openbook.libraries.repositories import Repository
    from openbook.library import Assistant, Library
    from openbook.llm.choose import open_model, require_model
    from openbook.settings import Settings
    from openbook.sources.loading import LoadOptions
    from openbook.study.guide import StudyGuide, StudyItem
    from openbook.types import Chunk, Document, Filter, RetrievalResult, Span, Unit

    __version__: str
    """Version of the installed package; `unknown` if the package is not installed."""

__all__ = [
    "AnswerOptions",
    "Answered",
    "Assistant",
    "Budget",
    "Chunk",
    "Citation",
    "CitedClaim",
    "Claim",
    "CodebaseAssistant",
    "Document",
    "Entailment",
    "Exchange",
    "Filter",
    "GenerationResult",
    "Judge",
    "JudgedClaim",
    "Library",
    "LoadOptions",
    "OpenbookError",
    "Repair",
    "Repository",
    "RetrievalResult",
    "Settings",
    "SourceText",
    "Span",
    "Stage",
    "StudyGuide",
    "StudyItem",
    "Tool",
    "ToolUsed",
    "Unit",
    "Written",
    "check_citations",
    "chunk",
    "create_assistant",
    "estimate_cost",
    "extract_code_blocks",
    "format_generation_stats",
    "format_prompt_for_display",
    "generate_answer",
    "judge_claims",
    "open_model",
    "require_model",
]

# Names defined outside `types`. They are imported lazily.
_HOMES = {
    **dict.fromkeys(("Assistant", "Library"), "openbook.library"),
    "Budget": "openbook.costs",
    **dict.fromkeys(
        ("Answered", "Citation", "Claim", "Exchange", "GenerationResult", "Repair", "Stage", "ToolUsed", "Written"),
        "openbook.answers",
    ),
    "CodebaseAssistant": "openbook.codebase",
    **dict.fromkeys(("CitedClaim", "Entailment", "Judge", "SourceText"), "openbook.grounding.protocol"),
    **dict.fromkeys(("JudgedClaim", "judge_claims"), "openbook.grounding.entailment"),
    "LoadOptions": "openbook.sources.loading",
    "OpenbookError": "openbook.errors",
    "Repository": "openbook.libraries.repositories",
    "Settings": "openbook.settings",
    **dict.fromkeys(("StudyGuide", "StudyItem"), "openbook.study.guide"),
    "Tool": "openbook.agent.tools",
    "AnswerOptions": "openbook.answering.options",
    "chunk": "openbook.ingest.text_chunks",
    "check_citations": "openbook.answering.reporting",
    "create_assistant": "openbook.codebase",
    "estimate_cost": "openbook.costs",
    "extract_code_blocks": "openbook.answering.reporting",
    "format_generation_stats": "openbook.answering.reporting",
    "format_prompt_for_display": "openbook.answering.prompting",
    "generate_answer": "openbook.answering.results_at_hand",
    **dict.fromkeys(("open_model", "require_model"), "openbook.llm.choose"),
}


def __getattr__(name: str) -> Any:
    if name == "__version__":
        return _installed_version()
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(_HOMES.get(name, "openbook.types")), name)


def __dir__() -> list[str]:
    return __all__


def _installed_version() -> str:
    from importlib.metadata import PackageNotFoundError, version

    try:
        return version("openbook")
    except PackageNotFoundError:
        return "unknown"
