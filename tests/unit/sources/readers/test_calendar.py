"""Calendars are read event by event."""

from __future__ import annotations

from openbook.sources.documents import read_document

CALENDAR = """BEGIN:VCALENDAR
VERSION:2.0
BEGIN:VEVENT
SUMMARY:Bake\\, then eat
DTSTART;TZID=Europe/Berlin:20260301T100000
DTEND:20260301T110000Z
LOCATION;LANGUAGE=en:Kitchen
ORGANIZER;CN="Ada: Miller":mailto:ada@example.org
DESCRIPTION:Bring rye\\nand salt. It is a long
  line.
BEGIN:VALARM
DESCRIPTION:Ring
END:VALARM
END:VEVENT
BEGIN:VTODO
DUE;VALUE=DATE:20260302
not a property
END:VTODO
END:VCALENDAR
"""


def test_events_have_their_times_places_and_words() -> None:
    document = read_document(CALENDAR.encode(), source="s", path="plan.ics")

    assert document.text == (
        "Bake, then eat\f\f\n\nStart: 2026-03-01 10:00 Europe/Berlin\nEnd: 2026-03-01 11:00 UTC\nPlace: Kitchen\n"
        "Organizer: ada@example.org\n\nBring rye\nand salt. It is a long line.\n\n(no title)\f\f\n\nDue: 2026-03-02"
    )
    assert [(anchor.start_char, anchor.label) for anchor in document.anchors] == [
        (0, "event 1"),
        (document.text.index("(no title)"), "event 2"),
    ]


def test_an_invalid_calendar_is_read_as_text() -> None:
    assert read_document(b"Hello.\n", source="s", path="plan.ics").text == "Hello.\n"


def test_a_value_is_read_to_the_end_of_its_line_whatever_separators_are_in_it() -> None:
    raw = "BEGIN:VEVENT\r\nSUMMARY:Tides\r\nDESCRIPTION:High\u2028low\x0bnone\r\nEND:VEVENT\r\n".encode()

    assert read_document(raw, source="s", path="plan.ics").text == "Tides\f\f\n\nHigh\u2028low\x0bnone"


def test_an_option_may_have_several_quoted_values() -> None:
    raw = b'BEGIN:VEVENT\nATTENDEE;MEMBER="mailto:a@example.org","mailto:b@example.org";CN=Ada:mailto:ada@example.org\n'

    assert "Attendee: ada@example.org" in read_document(raw + b"END:VEVENT\n", source="s", path="plan.ics").text


def test_a_line_of_many_options_without_a_value_is_soon_passed_over() -> None:
    raw = b"BEGIN:VEVENT\nSUMMARY:Tides\nATTENDEE" + b";x" * 20_000 + b"\nEND:VEVENT\n"

    assert read_document(raw, source="s", path="plan.ics").text == "Tides\f\f"
