"""What an index remembers of how its chunks were cut. Imports no rules, so that asking is cheap."""

from __future__ import annotations

import re
from dataclasses import replace

from openbook.settings import STRATEGIES, Settings

# Raised by one with every change that cuts some document elsewhere, or names a chunk otherwise.
_RULES_VERSION = 8

_UNMASKED = "/unmasked"

# What is not named in an identity: libraries from before these were settings have them.
_COURSE_CHARS = (800, 150)


def chunks_identity(settings: Settings) -> str:
    """Name the rules that cut documents under these settings.

    Example:
        >>> chunks_identity(Settings(chunk_strategy="hybrid"))
        'rules-8/hybrid-500-50'
    """
    identity = f"rules-{_RULES_VERSION}/{settings.chunk_strategy}"
    if settings.chunk_strategy != "semantic":  # the only one that counts no words
        identity += f"-{settings.chunk_words}-{settings.chunk_overlap_words}"
    if (course := (settings.course_chunk_chars, settings.course_overlap_chars)) != _COURSE_CHARS:
        identity += f"/course-{course[0]}-{course[1]}"
    return identity if settings.mask_secrets else identity + _UNMASKED


def settings_of(identity: str, settings: Settings) -> Settings | None:
    """Return settings that cut as a library was cut; None if its rules are of another version.

    Example:
        >>> settings_of("rules-8/hybrid-300-20", Settings()).chunk_words
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
