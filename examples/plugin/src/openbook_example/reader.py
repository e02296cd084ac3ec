"""A reader: `.srcinfo`, in which Arch Linux describes packages."""

import re

from openbook.sources.readers.reading import Reading, fill_gaps
from openbook.types import Block

_PACKAGE = re.compile(r"^pkg(?:base|name) = (.+)$", re.MULTILINE)


def read_srcinfo(raw: bytes, path: str) -> Reading:
    """Read UTF-8, with each package as a section. What is cited is a slice of this text, with its line numbers."""
    text = raw.decode("utf-8")
    headings = [
        Block(found.start(), found.end(), kind="heading", level=1, title=found[1]) for found in _PACKAGE.finditer(text)
    ]
    return Reading(text, kind="docs", language="srcinfo", blocks=fill_gaps(text, headings))
