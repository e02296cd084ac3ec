"""Where a name is used: called, thrown, tested, rather than what it is."""

from __future__ import annotations

import re

from openbook.questions.question import Question

# Statements that only make a name known: it is used below.
_IMPORT = re.compile(
    r"^[ \t]*(?:from[ \t]+\S+[ \t]+import\b|import\b|export\b[^\n]{0,200}\bfrom\b|use[ \t]+[\w:\\]+"
    r"|using[ \t]+[\w.]+;|#[ \t]*include\b|require)(?:[ \t]*[({][^)}]{0,4000}[)}])?[^\n]*",
    re.MULTILINE,
)


def without_imports(question: Question, code: str) -> str:
    """Return code without its imports, unless a question asks for these."""
    return code if "import" in question.text.lower() else _IMPORT.sub("", code)


def has_name(question: Question, text: str) -> bool:
    """Return whether a name that a question spells stands in a text, but for imports that it does not ask for."""
    text = without_imports(question, text)
    return any(re.search(rf"\b{re.escape(name)}\b", text) for name in question.identifiers)
