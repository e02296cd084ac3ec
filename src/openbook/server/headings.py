"""Turns headings into questions that a newcomer would ask."""

from __future__ import annotations

import re
from collections import Counter
from typing import Literal

Form = Literal["overview", "how", "lesson", "setting", "topic", "type", "function"]
"""What a suggested question asks for: a way to do something, what a setting or a name does, or a topic."""

# A heading of one letter says nothing, one of a paragraph fits on no button.
_HEADING_CHARS = range(4, 61)

# With its markup and its number. The patterns below take the square of the length, and some headings are whole pages.
_LONGEST_RAW_CHARS = 200

# How a project is kept, which is for those who keep it, and translations of its front page.
_FOR_MAINTAINERS = re.compile(
    r"\b(?:licen[cs](?:e|ing)|copyright|change ?log|releases?|releasing|tests?|testing|contribut(?:ing|ors?|ions?)"
    r"|development|developing|maintain(?:ers?|ing)|syncing|governance|code of conduct|sponsors?|backers|credits|thanks?"
    r"|acknowledgements?|acknowledgments?|roadmap|templates?|agents|claude|checklist|404|news|archived?|deprecated"
    r"|guidelines|homework|see also|readme [a-z]{2}(?: [a-z]{2})?)\b",
    re.IGNORECASE,
)

# "Building from source" and "Build from source" ask how one builds from source, "Build status" does not.
_VERBS = (
    "add avoid build call change choose combine compare compile configure connect convert create customize debug"
    " define delete deploy detect disable edit embed enable exclude export extend filter find format generate get"
    " group handle implement import improve include install integrate join list load make manage measure merge"
    " migrate monitor open organize override parse process protect publish query read reduce register remove"
    " rename render replace restore retry run save schedule search secure select send serve set share skip sort"
    " split start stop store submit subscribe switch test track transform understand uninstall update upgrade use"
    " validate visualize work wrap write"
).split()
_ACTIONS = {
    "installation": "install",
    "usage": "use",
    **{stem + "ing": verb for verb in _VERBS for stem in (verb, verb.removesuffix("e"), verb + verb[-1])},
}
_OBJECT = re.compile(r"(?:an?|the|your|my|our|its|from|to|with|in|into|on|for|up|multiple|new|own)\b", re.IGNORECASE)

_MARKUP = re.compile(r"\[([^]\n]*)\]\([^)\n]*\)|\s*\{[^}\n]*\}$|[`*~]")
_NUMBER = re.compile(r"(?:(?:chapter|part|step|section|q)\b[ .:]*)?(?:\d+(?:\.\d+)*)?[.:)]*\s*", re.IGNORECASE)
_SETTING = re.compile(r"(--[a-z][\w-]+|[A-Za-z]\w*_\w+)(?:=\S*|\(.*\))?|([A-Za-z]\w+)\(.*\)")
_QUESTION = re.compile(r"(?:how|what|why|when|where|which|who|can|do|does|is|are|should)(?: \S+){2,}\?", re.IGNORECASE)

# What points at something that is only in the page, and what makes a heading a sentence.
_POINTS = re.compile(
    r"\b(?:it|its|this|that|these|those|they|them|he|she|here|there|else|happen\w*|above|below|same|other)\b",
    re.IGNORECASE,
)
_SENTENCE = re.compile(
    r"[:!;]|\b(?:is|are|was|not|does|do|can|cannot|must|should|fails|contains|i|we|you|your|our|my)\b|^(?:and|or)\b",
    re.IGNORECASE,
)
_CAPITALIZED = re.compile(r"\b[A-Z][a-z]+\b")


def is_for_maintainers(title: str) -> bool:
    """Return whether a heading or path is about how a project is kept, tested, licensed or paid for.

    Example:
        >>> is_for_maintainers("docs/release-checklist.md"), is_for_maintainers("How to use")
        (True, False)
    """
    return _FOR_MAINTAINERS.search(re.sub(r"[\W_]+", " ", title)) is not None


def question_on_heading(heading: str, text: str, project: str = "") -> tuple[str, Form, str] | None:
    """Return a question that a section may answer, its form and its subject; None if none comes to mind.

    Args:
        heading: Of the section.
        text: Of the section. It tells which words of the heading are names.
        project: What a page is about that says "Installation" and no more; empty if that is not known.

    Example:
        >>> question_on_heading("Installation", "", "fd")
        ('How do I install fd?', 'how', 'fd')
        >>> question_on_heading("3.1 Writing a Serializer", "A serializer writes JSON.")
        ('How do I write a serializer?', 'how', 'a serializer')
        >>> question_on_heading("`pool_mode` {#pool}", "")
        ('What does pool_mode do?', 'setting', 'pool_mode')
        >>> question_on_heading("STATUS LINE", "Each line of the status line has a format.")
        ('What can you tell me about the status line?', 'topic', 'status line')
    """
    if len(heading) > _LONGEST_RAW_CHARS:
        return None
    heading = " ".join(_MARKUP.sub(r"\1", heading).strip(":# ").split())
    heading = heading[match.end() if (match := _NUMBER.match(heading)) else 0 :]
    if setting := _SETTING.fullmatch(heading):
        name = setting[1] or setting[2]
        return f"What does {name} do?", "setting", name
    if len(heading) not in _HEADING_CHARS or not heading[0].isalpha():
        return None
    if heading.endswith("?"):
        return (heading, "how", heading) if _QUESTION.fullmatch(heading) and not _POINTS.search(heading) else None
    if heading.isupper():
        heading = heading.lower() if heading.lower() in text.lower() else heading.title()
    words = Counter(re.findall(r"\w+", text))
    heading = _CAPITALIZED.sub(lambda found: _as_written(found[0], words), heading)
    action, wanted = _action_of(heading)
    said = wanted if action else heading
    if _SENTENCE.search(said) or _POINTS.search(said):
        return None
    if action:
        subject = wanted or project
        return (f"How do I {action} {subject}?", "how", subject) if subject else None
    if heading.partition(" ")[0].lower() in _VERBS:
        return None
    told = f" {' '.join(text.split())}".lower()
    half = max(1, told.count(heading.lower()) / 2)
    article = next((each for each in ("the ", "a ", "an ") if told.count(f" {each}{heading.lower()}") >= half), "")
    return f"What can you tell me about {article}{heading}?", "topic", heading


def _action_of(heading: str) -> tuple[str, str]:
    """Return what a heading says how to do, and with what; two empty strings if it does not."""
    first, _, rest = heading.removeprefix("How to ").removeprefix("how to ").partition(" ")
    if rest and heading.lower().startswith("how to "):
        return first.lower(), rest
    if action := _ACTIONS.get(first.lower()):
        return action, rest
    return (first.lower(), rest) if first.lower() in _VERBS and (not rest or _OBJECT.match(rest)) else ("", "")


def _as_written(word: str, words: Counter[str]) -> str:
    """Write a word of a heading as its section mostly does, which has no capitals for what is no name.

    A name that stands in the heading alone loses its capital, since many headings have capitals throughout.
    """
    return word.lower() if words[word] <= max(1, words[word.lower()]) else word
