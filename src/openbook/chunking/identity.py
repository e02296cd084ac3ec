"""What an index remembers of how its chunks were cut. Imports no rules, so that asking is cheap."""

from __future__ import annotations

from openbook.settings import Settings

# Raised by one with every change that cuts some document elsewhere, or names a chunk otherwise.
_RULES_VERSION = 4


def chunks_identity(settings: Settings) -> str:
    """Name the rules that cut documents under these settings.

    Example:
        >>> chunks_identity(Settings(chunk_strategy="hybrid"))
        'rules-4/hybrid-500-50'
    """
    identity = f"rules-{_RULES_VERSION}/{settings.chunk_strategy}"
    if settings.chunk_strategy == "semantic":  # the only one that counts no words
        return identity
    return f"{identity}-{settings.chunk_words}-{settings.chunk_overlap_words}"
