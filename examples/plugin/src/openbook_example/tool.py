"""A tool of `ask --agent`: a plain function."""

from datetime import datetime
from zoneinfo import ZoneInfo


def today(zone: str) -> str:
    """Tell today's date.

    Args:
        zone: Time zone, such as `Europe/Paris`.
    """
    return datetime.now(ZoneInfo(zone)).date().isoformat()
