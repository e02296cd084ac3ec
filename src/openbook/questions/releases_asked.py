"""Recognizes questions for what a release changed, as "what changed in 4.0.0", and the sections on it.

Who asks how to upgrade to a release asks for the same sections.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from openbook.entries import END_OF_HEADING
from openbook.questions.phrases import Phrases
from openbook.questions.versions_asked import RUNTIMES

_RELEASE = r"v?(?P<number>\d+(?:\.\d+)+)(?![\w.]*\d)"
# Before it, the name of the project: "in Quay Master 4.0". A release of Python mostly is what a project runs on.
_NAME = rf"(?:(?!(?:a|an|the|{RUNTIMES})\b)[\w-]+\s+){{0,2}}"
_ASKS = Phrases(
    rf"\W*{_RELEASE}\W*",
    rf".*\b(?:chang(?:ed?|es)|new|notes|fixed|fixes|broke|breaking|added|removed|deprecated)\b.*\b(?:in|for|of|since|with)"
    rf"\s+{_NAME}{_RELEASE}.*",
    rf".*(?<![\w.]){_RELEASE}\s+(?:changes|changelog|release\s+notes|upgrad\w*|migrati\w*)\b.*",
    rf".*\b(?:up(?:grad|dat)|migrat|mov)\w*\b.*\b(?:to|for)\s+{_NAME}{_RELEASE}.*",
)
_ZEROS = re.compile(r"(?<=\d\.\d)(?:\.0)+$")


class AskedRelease:
    """The release of which a question asks for the changes."""

    def __init__(self, number: str) -> None:
        self.number = number
        # 4.0 is 4.0.0.
        named = rf"(?<![\w.])v?{re.escape(_ZEROS.sub('', number))}(?:\.0)*(?![\w.]*\d)"
        underlined = rf".*?{named}.*\n([=\-~^\"'`*+.])\1{{2,}}[ \t]*$"
        marked = rf".*?{named}.*?{END_OF_HEADING}"  # by a reader
        self._named = re.compile(named, re.IGNORECASE)
        self._heading = re.compile(
            rf"^(?:[#=]{{1,6}}[ \t].*?{named}|{underlined}|{marked})", re.IGNORECASE | re.MULTILINE
        )

    def is_in(self, headings: Sequence[str], path: str) -> bool:
        """Return whether the headings above a text, or the name of its file, name the release.

        Example:
            >>> release = AskedRelease("4.0.0")
            >>> release.is_in(["Changes", "v4.0.0"], "NEWS.md"), release.is_in([], "notes/v4.0.0.md")
            (True, True)
        """
        return any(map(self._named.search, (*headings, path.rpartition("/")[2])))

    def is_heading_in(self, text: str) -> bool:
        """Return whether a text has a heading that names the release.

        Example:
            >>> release = AskedRelease("4.0.0")
            >>> [release.is_heading_in(text) for text in ("## 4.0.0 (May)", "See 4.0.0.", "## 14.0.0")]
            [True, False, False]
        """
        return self._heading.search(text) is not None


def release_of(text: str) -> AskedRelease | None:
    """Return the release of which a question asks for the changes; None if it asks for something else."""
    found = _ASKS.fullmatch(text)
    return AskedRelease(found["number"]) if found else None
