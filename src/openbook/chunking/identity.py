"""Names the chunking rules that an index was built with. Cheap to import, because it imports no rules."""

from __future__ import annotations

import re
from dataclasses import replace

from openbook.settings import STRATEGIES, Settings

# Increment with every change of chunk boundaries or names.
_RULES_VERSION = 21

_UNMASKED = "/unmasked"

# Left out of an identity, because libraries older than these settings have these values.
_COURSE_CHARS = (800, 150)


def chunks_identity(settings: Settings) -> str:
    """Return a string that identifies the chunking rules under these settings.

    Example:
        >>> chunks_identity(Settings(chunk_strategy="hybrid"))
        'rules-21/hybrid-500-50'
    """
    identity = f"rules-{_RULES_VERSION}/{settings.chunk_strategy}"
    if settings.chunk_strategy != "semantic":  # the only strategy that does not count words
        identity += f"-{settings.chunk_words}-{settings.chunk_overlap_words}"
    if (course := (settings.course_chunk_chars, settings.course_overlap_chars)) != _COURSE_CHARS:
        identity += f"/course-{course[0]}-{course[1]}"
    return identity if settings.mask_secrets else identity + _UNMASKED


def settings_of(identity: str, settings: Settings) -> Settings | None:
    """Return the settings that a library was chunked with; None if its rules have another version.

    Example:
        >>> settings_of("rules-21/hybrid-300-20", Settings()).chunk_words
        300
        >>> settings_of("rules-1/semantic", Settings()) is None
        True
    """
    found = re.fullmatch(
        rf"rules-{_RULES_VERSION}/(?P<strategy>{'|'.join(STRATEGIES)})(?:-(?P<words>\d+)-(?P<overlap>\d+))?"
        rf"(?:/course-(?P<chars>\d+)-(?P<course_overlap>\d+))?(?P<unmasked>{_UNMASKED})?",
        identity,
    )
    if found is None:
        return None
    strategy = next(known for known in STRATEGIES if known == found["strategy"])
    named = (found["chars"], found["course_overlap"])
    chars, course_overlap = _COURSE_CHARS if None in named else map(int, named)
    settings = replace(
        settings,
        chunk_strategy=strategy,
        mask_secrets=not found["unmasked"],
        course_chunk_chars=chars,
        course_overlap_chars=course_overlap,
    )
    if found["words"] is None:
        return settings
    return replace(settings, chunk_words=int(found["words"]), chunk_overlap_words=int(found["overlap"]))
