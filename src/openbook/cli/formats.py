"""The command for what is read: `formats`."""

from __future__ import annotations

from openbook.cli import options, printing


def formats(*, as_json: options.AsJson = False) -> None:
    """List the formats that are read, by what, and what to do about others."""
    from openbook.cli.opening import settings
    from openbook.sources.known_formats import known_formats, unread_formats

    here = settings()
    known, unread = known_formats(here), unread_formats(here)
    if as_json:
        printing.print_json(
            {"formats": [one.to_dict() for one in known], "unread": [one.to_dict() for one in unread]},
        )
        return
    for kind in dict.fromkeys(one.kind for one in known):
        printing.say(kind, style={"bold": True})
        for one in (one for one in known if one.kind == kind):
            by = "" if one.reader == "openbook" else f"  ({one.reader})"
            printing.say(f"  {one.name}: {' '.join(f'.{suffix}' for suffix in one.suffixes)}{by}")
    printing.say("not read", style={"bold": True})
    for left in unread:
        printing.say(f"  {' '.join(f'.{suffix}' for suffix in left.suffixes)}: {left.remedy}")
