"""Tells a citation in a version of its page from the others that the page has, and had."""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import lru_cache
from posixpath import basename

from openbook.verify.mentions import Mention, find_mentions
from openbook.verify.relocation import ComparedText, agreement

# Texts that are kept squeezed or by lines.
_MOST_TEXTS = 500

# Of 1: lines of one form that stand in surroundings this much alike are the same line.
_SAME_PLACE = 0.9

_DIGITS = re.compile(r"\d+")


def _stands_in(words: str, text: str) -> bool:
    """Return whether a text contains words, not just as the beginning of a longer number."""
    at = text.find(words)
    while at >= 0 and text[at + len(words) : at + len(words) + 1].isdecimal():
        at = text.find(words, at + 1)
    return at >= 0


def has_citation(text: str, words: str, line: str, newer: str = "") -> bool:
    """Return whether a text contains words, not just in another line than the one that they were written into.

    A line that the `newer` version has as well is not an earlier form of that one.
    """
    if not _stands_in("".join(words.split()), _squeezed(text)):
        return False
    if line and line not in text:
        shape = _DIGITS.sub("0", line)
        same = {each for each in text.split("\n") if _DIGITS.sub("0", each) == shape}
        same -= {*newer.split("\n")}
        if same and not any(words in each for each in same):
            return False
    return not newer or _keeps_its_place(words, newer, text)


def _keeps_its_place(words: str, newer: str, older: str) -> bool:
    """Return whether the line with some words is not the new form of another line of the older version.

    In a generated page many lines differ in nothing but numbers, and one gets by chance those that another had.
    """
    new, old = _page(newer), _page(older)
    here = [number for number, each in enumerate(new.lines, start=1) if words in each]
    own = [number for number, each in enumerate(old.lines, start=1) if words in each]
    shapes = {_DIGITS.sub("0", old.lines[number - 1]) for number in own}
    others = [number for number, each in enumerate(old.lines, start=1) if _DIGITS.sub("0", each) in shapes]
    if len(here) != 1 or len(others) <= len(own):
        return True

    def fit(there: int) -> float:
        return agreement(old, (there, there), new, (here[0], here[0]))

    best = max(map(fit, own))
    return best >= _SAME_PLACE or all(fit(number) <= best for number in others if number not in own)


def lines_with(words: str, text: str) -> set[str]:
    """Return the lines of a text that contain words."""
    return {line for line in text.split("\n") if words in line}


@lru_cache(maxsize=_MOST_TEXTS)
def _page(text: str) -> ComparedText:
    return ComparedText(text)


@lru_cache(maxsize=_MOST_TEXTS)
def _squeezed(text: str) -> str:
    return "".join(text.split())


def words_before(newer: str, older: str, words: str) -> str:
    """Return the wording of a citation before a change of paths alone.

    Args:
        newer: A text that has the citation.
        older: The version before, which has not.
        words: Path and lines, as they stand in the newer text.

    Returns:
        Path and lines as they stand in the line of the older text that differs in nothing but paths; empty if there is
        no such line, if several have different ones, or if the newer text cites the old path as well.

    Example:
        >>> words_before("See [`A`](lib/a.py#L3).", "See [`A`](src/a.py#L3).", "lib/a.py#L3")
        'src/a.py#L3'
    """
    lines = words[max(words.rfind("#"), words.rfind(":")) :]
    skeletons = dict[str, list[str]]()
    for line in older.split("\n"):
        if lines in line:
            mentions = find_mentions(line)
            skeletons.setdefault(_without_paths(line, mentions), [_words(line, mention) for mention in mentions])
    found = set[str]()
    for line in newer.split("\n"):
        if words in line:
            mentions = find_mentions(line)
            before = skeletons.get(_without_paths(line, mentions), [])
            found |= {old for old, new in zip(before, mentions, strict=False) if _words(line, new) == words}
    old = found.pop() if len(found) == 1 else ""
    return old if _is_rewritten(_path(old, lines), _path(words, lines), newer) else ""


def _path(words: str, lines: str) -> str:
    return words.removesuffix(lines).partition("?")[0]


def _is_rewritten(old: str, new: str, newer: str) -> bool:
    """Return whether a file has got another path, and is not another file whose citation has the same form.

    Either only its folder is another one, or the page has no citation of the old path any more.
    """
    return basename(old) == basename(new) or old not in newer


def _words(text: str, mention: Mention) -> str:
    return text[mention.path_chars[0] : mention.lines_chars[1]]


def _without_paths(line: str, mentions: Sequence[Mention]) -> str:
    parts, at = [], 0
    for mention in mentions:
        parts.append(line[at : mention.path_chars[0]])
        behind = mention.path_chars[1]
        # A page may be asked for in another view, `a.md?plain=1#L3`, and names the same lines.
        at = max(at, mention.lines_chars[0] - len("#") if line[behind : behind + 1] == "?" else behind)
    return "\0".join([*parts, line[at:]])
