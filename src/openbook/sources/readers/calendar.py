"""Reads calendars (ICS): one paragraph for each event or task."""

from __future__ import annotations

import re
from collections.abc import Iterator

from openbook.sources.readers.composing import Composer
from openbook.sources.readers.reading import Reading

_FOLD = re.compile(r"\r?\n[ \t]")
# Other separators, such as U+2028, may be part of a value.
_LINE_END = re.compile(r"\r\n?|\n")
# Possessive: this runs without a time limit, and a line without a colon would take exponential time.
_LINE = re.compile(r"(?P<name>[A-Za-z-]+)(?P<options>(?:;(?:[^:\"]|\"[^\"]*\")*+)?):(?P<value>.*)")
_ESCAPED = re.compile(r"\\([\\;,nN])")
_KINDS = frozenset({"VEVENT", "VTODO", "VJOURNAL"})
_TIME = re.compile(r"(\d{4})(\d{2})(\d{2})(?:T(\d{2})(\d{2})\d{2}(Z?))?")
_ZONE = re.compile(r"TZID=\"?([^;:\"]+)")
_SHOWN = {
    "DTSTART": "Start",
    "DTEND": "End",
    "DUE": "Due",
    "RRULE": "Repeats",
    "LOCATION": "Place",
    "ORGANIZER": "Organizer",
    "ATTENDEE": "Attendee",
    "STATUS": "Status",
    "URL": "Link",
}
_TIMES = frozenset({"DTSTART", "DTEND", "DUE"})


def read_calendar(text: str, path: str) -> Reading:
    """Read a calendar. Summaries are headings; times are written as `2026-03-01 10:00 Europe/Berlin`.

    Anchors are `event 1`, `event 2` ... Text that is not a calendar is read without structure.
    """
    composer = Composer()
    for number, entry in enumerate(_entries(_FOLD.sub("", text)), start=1):
        composer.anchor(f"event {number}")
        composer.heading(next((value for name, value in entry if name == "SUMMARY"), "(no title)"), 1)
        composer.text("\n".join(f"{_SHOWN[name]}: {value}" for name, value in entry if name in _SHOWN))
        for name, value in entry:
            if name in ("DESCRIPTION", "COMMENT"):
                composer.text(value)
    return composer.reading("ics") if len(composer) else Reading(text, "docs", "text")


def _entries(text: str) -> Iterator[list[tuple[str, str]]]:
    """Yield the properties of each event, without those of its alarms."""
    entry: list[tuple[str, str]] | None = None
    inner = 0
    for line in _LINE_END.split(text):
        found = _LINE.fullmatch(line.strip())
        if found is None:
            continue
        name, value = found["name"].upper(), found["value"]
        if name == "BEGIN":
            entry, inner = ([], 0) if value.upper() in _KINDS else (entry, inner + 1)
        elif name == "END":
            if entry is not None and value.upper() in _KINDS:
                yield entry
                entry = None
            inner -= 1
        elif entry is not None and inner <= 0:
            entry.append((name, _value(name, found["options"], value)))


def _value(name: str, options: str, value: str) -> str:
    time = _TIME.fullmatch(value) if name in _TIMES else None
    if time is None:
        plain = _ESCAPED.sub(lambda match: "\n" if match[1] in "nN" else match[1], value)
        return plain.removeprefix("mailto:").removeprefix("MAILTO:")
    year, month, day, hour, minute, universal = time.groups()
    zone = _ZONE.search(options)
    clock = f" {hour}:{minute}" if hour else ""
    where = " UTC" if universal else f" {zone[1]}" if zone and hour else ""
    return f"{year}-{month}-{day}{clock}{where}"
