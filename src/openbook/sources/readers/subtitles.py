"""Reads subtitles (SRT, WebVTT, SBV) as running text with times as anchors."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import pairwise

from openbook.sources.readers.composing import Composer
from openbook.sources.readers.html_marks import unescape
from openbook.sources.readers.reading import Reading, read_plain_text

_TIME = r"(?:(\d{1,4}):)?(\d{1,2}):(\d{1,2})(?:[.,](\d{1,3}))?"
_TIMING = re.compile(rf"\s*{_TIME}\s*-->\s*{_TIME}")
# SBV, the format of YouTube.
_TIMING_OF_SBV = re.compile(rf"{_TIME},{_TIME}[ \t]*$")
# Windows programs can turn "\r\n" into "\r\r\n".
_LINE_END = re.compile(r"\r{0,2}\n|\r")
_COMMENT = re.compile(r"(?:NOTE|STYLE|REGION)\b")

# Tags of WebVTT and SRT, times within a cue, and positions in the syntax of another format.
_TAG = re.compile(r"</?(?:b|c|font|i|lang|rt|ruby|s|u|v)(?:[.\s][^<>]*)?>|<[\d:.]+>|\{\\an?\d\}", re.IGNORECASE)
_VOICE = re.compile(r"<v(?:\.[^\s<>]*)?\s([^<>]+)>")
_BEFORE_VOICE = re.compile(r"(?=<v[.\s])")
_INNER_TIME = re.compile(r"<\d\d:[\d:.]+>")

# Marks of a new speaker at the beginning of a line.
_NEXT_SPEAKER = re.compile(r"\s*(?:>>|[-–—]\s)")
_SENTENCE_END = re.compile(r"[.!?…。！？][\"'”’)\]]*$")

# Continuous speech leaves less than a second between cues; 2 s of silence end a paragraph.
_PAUSE_S = 2.0

# Without punctuation, as in automatic subtitles, lines and paragraphs end at cues.
_LINE_CHARS = 300

# About 45 s of speech, and half a chunk. Without pauses, it is the precision of a cited time.
_PARAGRAPH_CHARS = 700


@dataclass(frozen=True, slots=True)
class Cue:
    """The text spoken between two times, in seconds."""

    start_s: float
    end_s: float
    lines: tuple[str, ...]
    """As in the file, none of them blank."""


def read_subtitles(text: str, path: str = "") -> Reading:
    r"""Read SRT, WebVTT or SBV.

    Cues are fragments of sentences, so they are joined: a line is one or more sentences; a paragraph ends at a pause,
    at a change of speakers, or after about 700 characters. A voice's name precedes its first words, as `Ada: `. Anchors
    are times such as `00:12:05`, at the cues that begin paragraphs. Numbers, tags, comments and styles are left out. A
    file without cues is plain text.

    Example:
        >>> reading = read_subtitles("1\n00:01:02,500 --> 00:01:04,000\nBread needs\n\n"
        ...     "2\n00:01:04,000 --> 00:01:05,000\n<i>time</i>.\n")
        >>> reading.text, reading.anchors
        ('Bread needs time.', (Anchor(start_char=0, label='00:01:02'),))
    """
    name = path.lower()
    language = "vtt" if text.lstrip("\ufeff").startswith("WEBVTT") or name.endswith(".vtt") else "srt"
    if name.endswith(".sbv"):
        language, text = "sbv", text.lstrip("\ufeff").replace("[br]", "\n")
    cues = list(_cues(_LINE_END.split(text), _TIMING_OF_SBV if language == "sbv" else _TIMING))
    if not cues:
        return read_plain_text(text, path)
    rolls = _INNER_TIME.search(text) is not None or _is_rolling(cues)
    return spoken(cues, language, rolls=rolls)


def spoken(cues: Iterable[Cue], language: str, remarks: Iterable[str] = (), *, rolls: bool = False) -> Reading:
    """Join cues into a reading: see `read_subtitles`.

    `rolls`: roll-up captions, where a line is repeated in two or three cues. Only its first time counts.
    """
    composer = Composer()
    for start_s, lines in _paragraphs(_utterances(cues, rolls)):
        composer.anchor(_clock(start_s))
        composer.text("\n".join(lines))
    return composer.reading(language, remarks)


def _clock(seconds: float) -> str:
    minutes, second = divmod(int(seconds), 60)
    return f"{minutes // 60:02}:{minutes % 60:02}:{second:02}"


def _cues(lines: list[str], timing: re.Pattern[str]) -> Iterator[Cue]:
    found = [(at, match) for at, line in enumerate(lines) if (match := timing.match(line))]
    ends = [*(at for at, _ in found), len(lines)]
    for (at, match), end in zip(found, ends[1:], strict=True):
        body = lines[at + 1 : end]
        # The number or name of the next cue is directly before its time.
        if end < len(lines) and body and (body[-1].strip().isdecimal() or (len(body) > 1 and not body[-2].strip())):
            body.pop()
        rows = range(1, len(body))
        comment = next((row for row in rows if not body[row - 1].strip() and _COMMENT.match(body[row])), None)
        times = [part or "0" for part in match.groups()]
        yield Cue(_seconds(times[:4]), _seconds(times[4:]), tuple(line for line in body[:comment] if line.strip()))


def _seconds(parts: list[str]) -> float:
    hours, minutes, seconds = map(int, parts[:3])
    return hours * 3600 + minutes * 60 + seconds + float(f"0.{parts[3]}")


def _is_rolling(cues: list[Cue]) -> bool:
    """Return whether most cues begin with the last line of the previous one."""
    edges = [(_words(cue.lines[0]), _words(cue.lines[-1])) for cue in cues if cue.lines]
    return 2 * sum(before[1] == after[0] for before, after in pairwise(edges)) > len(edges)


def _words(line: str) -> str:
    return " ".join(unescape(_TAG.sub("", line)).split())


@dataclass(frozen=True, slots=True)
class _Utterance:
    """A line of a cue, without markup, with the name of a new speaker."""

    start_s: float
    text: str
    is_apart: bool
    """Whether a new speaker begins, or a pause precedes it."""


def _utterances(cues: Iterable[Cue], rolls: bool) -> Iterator[_Utterance]:
    """Yield the spoken lines in order."""
    voice, silent_since, before = "", 0.0, ""
    for cue in cues:
        is_apart = cue.start_s - silent_since >= _PAUSE_S
        silent_since = max(silent_since, cue.end_s)
        for line in (part for whole in cue.lines for part in _BEFORE_VOICE.split(whole)):
            named = _VOICE.match(line)
            words = _words(line)
            if not words or (rolls and words == before):
                continue
            before = words
            speaks = _words(named.group(1)) if named else voice
            if speaks != voice:
                words = f"{speaks}: {words}"
            is_apart |= speaks != voice or _NEXT_SPEAKER.match(words) is not None
            voice = speaks
            yield _Utterance(cue.start_s, words, is_apart)
            is_apart = False


def _paragraphs(utterances: Iterator[_Utterance]) -> Iterator[tuple[float, list[str]]]:
    """Yield paragraphs as lines of whole sentences, each with its start in seconds."""
    start_s = 0.0
    lines: list[str] = []
    size, is_open = 0, False
    for said in utterances:
        is_full = size >= _PARAGRAPH_CHARS + (_LINE_CHARS if is_open else 0)
        if lines and (said.is_apart or is_full):
            yield start_s, lines
            lines, size, is_open = [], 0, False
        start_s = start_s if lines else said.start_s
        if is_open and len(lines[-1]) < _LINE_CHARS:
            lines[-1] += f" {said.text}"
        else:
            lines.append(said.text)
        size += len(said.text) + 1
        is_open = _SENTENCE_END.search(said.text) is None
    if lines:
        yield start_s, lines
