"""Finds pairs in documentation, manuals, reference books and dictionaries."""

from __future__ import annotations

import html
import json
import random
import re
from collections.abc import Callable, Iterator

from tools.static_model.pairs import MAX_CHARS, MAX_QUERY_CHARS, Pair, dice, says_something

_MIN_SECTION = 120
_MIN_PARAGRAPH = 200

_HTML_NOISE = re.compile(r"<(script|style|nav|header|footer|head|pre class=\"rust)\b.*?</\1>|<!--.*?-->", re.S | re.I)
_HTML_HEADING = re.compile(r"<h([1-6])\b[^>]*>(.*?)</h\1>", re.S | re.I)
_HTML_BLOCK = re.compile(r"</?(p|div|li|ul|ol|dl|dt|dd|tr|table|pre|blockquote|section|br|h[1-6])\b[^>]*>", re.I)
_TAG = re.compile(r"<[^>]{0,400}>")
_ATX = re.compile(r"^(#{1,6})\s+(.+?)\s*#*\s*$", re.M)
_UNDERLINED = re.compile(r"^(?=\S)(.{3,100})\n([=\-~^*+\"'`#])\2{2,}\s*$", re.M)
_ROFF_HEADING = re.compile(r"^\.S([HS])\s+\"?(.+?)\"?\s*$", re.M)
_ROFF_MACRO = re.compile(
    r"^[.'](\\\"|TH|PP|IP|TP|RS|RE|nf|fi|sp|br|EX|EE|P|LP|ad|hy|in|ti|de|ds|if|ie|el|nr|rm|so).*$", re.M
)
_ROFF_STYLE = re.compile(r"^\.(B|I|BR|BI|IR|RB|RI|IB|SM|SB|Nm|Ar|Fl|Op|Pa|Xr|Fn|Ft|Fa|Dv|It)\b\s?", re.M)
_ROFF_ESCAPE = re.compile(r"\\f[A-Z]|\\f\([A-Z]{2}|\\&|\\[,/|^]|\\\(..|\\\*\(..|\\s[-+]?\d")
_SENTENCE = re.compile(r"(?<=[.!?])\s+(?=[A-Z\"(])")
_SPACE = re.compile(r"\s+")
_NUMBER = re.compile(r"^\s*([A-Z]|\d+)?(\.\d+)*\.?\s+(?=\S)")


def prose_pairs(path: str, text: str) -> Iterator[Pair]:
    """Yield what a document offers: headings with their sections, sentences with their paragraphs."""
    sections = list(_sections(path, text))
    for headings, body in sections:
        yield from _section_pairs(path, headings, body)
        yield from _paragraph_pairs(path, body)


def dictionary_pairs(index: str, text: str) -> Iterator[Pair]:
    """Yield the entries of a dictd dictionary: head word and definition."""
    content = text.encode("utf-8")
    for line in index.splitlines():
        head, _, place = line.partition("\t")
        start, _, size = place.partition("\t")
        if len(head) < 3 or not head[0].isalpha() or not size:
            continue
        entry = content[_base64(start) : _base64(start) + _base64(size)].decode("utf-8", "replace")
        definition = _squash(re.sub(r"\\[^\\]*\\|\[(1913 Webster|[^]]{0,30}PJC)\]|[{}]", " ", entry.partition("\n")[2]))
        if says_something(definition, 5):
            yield Pair("dictionary", head, definition[:MAX_CHARS])
            if dice(head).random() < 0.3:
                sentence = definition.split(";")[0][:MAX_QUERY_CHARS]
                yield Pair("definition", sentence, f"{head} {definition[len(sentence) :]}"[:MAX_CHARS])


def factbook_pairs(text: str) -> Iterator[Pair]:
    """Yield fields of a country profile, asked by the name of the country and of the field."""
    profile = json.loads(text)
    names = profile.get("Government", {}).get("Country name", {})
    country = names.get("conventional short form", {}).get("text", "")
    for section, fields in profile.items():
        for field, value in fields.items() if isinstance(fields, dict) else ():
            body = _squash(" ".join(_leaves(value)))
            if country and says_something(body, 8):
                yield Pair("heading", f"{field} of {country}", body[:MAX_CHARS])
                yield from _paragraph_pairs(f"{country}/{section}/{field}", body)


def _leaves(value: object) -> Iterator[str]:
    if isinstance(value, dict):
        for inner in value.values():
            yield from _leaves(inner)
    elif isinstance(value, str):
        yield value


def _sections(path: str, text: str) -> Iterator[tuple[list[str], str]]:
    """Yield the headings above a section, outermost first, and its plain text with paragraphs apart."""
    if "<html" in text[:2000].lower() or "<!doctype html" in text[:200].lower() or path.endswith(".page"):
        found = _cut(_HTML_NOISE.sub(" ", text), _HTML_HEADING, lambda m: (int(m[1]), _untagged(m[2])))
        yield from ((headings, _untagged(_HTML_BLOCK.sub("\n\n", body))) for headings, body in found)
    elif _ROFF_HEADING.search(text):
        title = path.rpartition("/")[2].rpartition(".")[0]
        for headings, body in _cut(text, _ROFF_HEADING, lambda m: (1 if m[1] == "H" else 2, m[2])):
            yield [title, *headings], _unroffed(body)
    elif path.endswith((".md", ".markdown")) or (_ATX.search(text) and not _UNDERLINED.search(text)):
        yield from _cut(text, _ATX, lambda m: (len(m[1]), m[2]))
    else:
        yield from _cut(text, _UNDERLINED, lambda m: ("=-~^*+\"'`#".index(m[2]) + 1, m[1]))


def _cut(
    text: str, pattern: re.Pattern[str], heading: Callable[[re.Match[str]], tuple[int, str]]
) -> Iterator[tuple[list[str], str]]:
    trail: list[tuple[int, str]] = []
    start = 0
    for match in pattern.finditer(text):
        yield [title for _, title in trail], text[start : match.start()]
        level, title = heading(match)
        title = _NUMBER.sub("", _squash(title)).strip("¶#*` ")
        trail = [*(above for above in trail if above[0] < level), (level, title)]
        start = match.end()
    yield [title for _, title in trail], text[start:]


def _section_pairs(path: str, headings: list[str], body: str) -> Iterator[Pair]:
    body = body.strip()
    if not headings or len(body) < _MIN_SECTION or not says_something(body, 12):
        return
    # A heading alone is often too little ("Options"), so half of them bring what they stand under.
    shown = headings[-2:] if dice(path, body).random() < 0.5 else headings[-1:]
    query = " ".join(shown)
    if 3 < len(query) < MAX_QUERY_CHARS and says_something(query, 1):
        yield Pair("question" if query.endswith("?") else "heading", query, body[:MAX_CHARS])


def _paragraph_pairs(path: str, body: str) -> Iterator[Pair]:
    for paragraph in re.split(r"\n\s*\n", body):
        plain = _squash(paragraph)
        sentences = _SENTENCE.split(plain[: 2 * MAX_CHARS])
        if len(plain) < _MIN_PARAGRAPH or len(sentences) < 3 or not says_something(plain, 25):
            continue
        rng = dice(path, plain)
        chosen = rng.randrange(len(sentences))
        if not 5 <= len(sentences[chosen].split()) <= 50:
            continue
        # With its sentence, the text teaches which words to trust; without, what else belongs to them.
        rest = sentences if rng.random() < 0.5 else sentences[:chosen] + sentences[chosen + 1 :]
        query = sentences[chosen] if rng.random() < 0.3 else _asked(sentences[chosen], rng)
        yield Pair("cloze", query[:MAX_QUERY_CHARS], " ".join(rest)[:MAX_CHARS])


_WH = ("what", "which", "who", "when", "where", "how many", "why", "how", "what is", "what did", "what does")


def _asked(sentence: str, rng: random.Random) -> str:
    """Make something like a question of a sentence: a window of it, a part taken out, a question word before it."""
    words = sentence.strip(" .").split()
    size = max(4, min(len(words), rng.randint(5, 14)))
    start = rng.randrange(len(words) - size + 1) if len(words) > size else 0
    window = words[start : start + size]
    gap = rng.randrange(len(window))
    kept = [word for place, word in enumerate(window) if place != gap]
    return f"{rng.choice(_WH)} {' '.join(kept)}?"


def _base64(number: str) -> int:
    value = 0
    for letter in number:
        value = value * 64 + "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/".index(letter)
    return value


def _squash(text: str) -> str:
    return _SPACE.sub(" ", text).strip()


def _untagged(text: str) -> str:
    return html.unescape(_TAG.sub("", text))


def _unroffed(text: str) -> str:
    plain = _ROFF_STYLE.sub("", _ROFF_MACRO.sub("", text))
    return _ROFF_ESCAPE.sub("", plain.replace("\\-", "-"))
