"""Puts moved citations right in the text that holds them, and writes files whole or not at all."""

from __future__ import annotations

import codecs
import contextlib
import os
import posixpath
import re
import shutil
import tempfile
from collections import defaultdict
from collections.abc import Sequence
from pathlib import Path
from urllib.parse import quote

from openbook.errors import SourceError
from openbook.verify.finding import Finding
from openbook.verify.mentions import Mention, with_lines

# What a link may ask for besides its lines. `?s=10:20` of Go's documentation is none of these: it names the bytes.
# GitLab adds `ref_type` to links to a branch, and Bitbucket `at`.
_QUERIES = ("?plain=", "?raw=", "?display=", "?ref_type=heads", "?at=")

# Behind a single number: "`a.py:12` to 18", "a.py:12 bis 18", "[a](a.py#L12), lines 12 to 18". The second number would
# stay as it was, and where it belongs is not known.
_LINES_WORD = r"(?:lines?|zeilen?|lignes?|l[íi]neas?) "
_GOES_ON = re.compile(
    rf"[`*)\]]{{0,4}}(?:,? \(?{_LINES_WORD}\d+)?"
    r" (?:to|through|thru|until|till|and|or|bis|und|oder|à|et|ou|al?|hasta|y|o|&)"
    rf" (?:{_LINES_WORD})?[`*]{{0,2}}L?\d",
    re.IGNORECASE,
)

Edit = tuple[int, int, str]
"""Half-open range of characters, and what comes in its place."""

_ENCODINGS = (
    (codecs.BOM_UTF8, "utf-8"),
    (codecs.BOM_UTF32_LE, "utf-32-le"),
    (codecs.BOM_UTF32_BE, "utf-32-be"),
    (codecs.BOM_UTF16_LE, "utf-16-le"),
    (codecs.BOM_UTF16_BE, "utf-16-be"),
    (b"", "utf-8"),
    (b"", "cp1252"),
)


def edits_for(
    text: str, findings: Sequence[tuple[Mention, Finding]], citing: str | None, head: str, *, unsafe: bool = False
) -> dict[int, list[Edit]]:
    """Return how to rewrite the moved citations of a text, by position in `findings`.

    Several ranges behind one path, as in `a.py:3,7`, are left alone if they would need several paths. So are the first
    of two numbers in words, and `1a2b3c4:src/app.py:3`, which git shows as it was.

    Args:
        text: The citing text.
        findings: All its citations, in order.
        citing: Its path within the root, if it has one.
        head: Commit that a permalink to a commit names from now on; empty to leave such links alone.
        unsafe: Whether to write places that are not certain, too.
    """
    by_path: dict[tuple[int, int], list[int]] = defaultdict(list)
    for position, (mention, _) in enumerate(findings):
        by_path[mention.path_chars].append(position)
    edits = {}
    for positions in by_path.values():
        paths = {_path_now(text, findings[position], citing) for position in positions}
        if len(paths) > 1:
            continue
        for position in positions:
            mention, finding = findings[position]
            asks = text[mention.path_chars[1] : mention.lines_chars[0] - 1]
            is_plain = not asks.startswith("?") or asks.startswith(_QUERIES)
            is_plain &= mention.first_line != mention.last_line or not _GOES_ON.match(text, mention.end_char)
            if finding.is_fixable(unsafe=unsafe) and ((head and mention.page) or not finding.pinned) and is_plain:
                edits[position] = _edits(text, mention, finding, paths.copy().pop(), head)
    return edits


def _edits(text: str, mention: Mention, finding: Finding, path: str, head: str) -> list[Edit]:
    assert finding.now is not None
    start, end = mention.lines_chars
    until = mention.page.until if mention.page else ""
    edits = [(start, end, with_lines(text[start:end], finding.now.first_line, finding.now.last_line, until))]
    if finding.now.first_line != finding.now.last_line and text.endswith(("line ", "Line "), 0, start):
        edits.append((start - 1, start - 1, "s"))
    if path != text[slice(*mention.path_chars)]:
        edits.append((*mention.path_chars, path))
    if finding.pinned and mention.page:
        edits.append((*mention.revision_chars, mention.page.kinds[0] + head))
    return edits


def _path_now(text: str, found: tuple[Mention, Finding], citing: str | None) -> str:
    """Write the path of a finding as its author writes paths: from the root, or from the citing file."""
    mention, finding = found
    old, new = finding.place, finding.now
    if finding.verdict != "moved" or old is None or new is None or old.path == new.path:
        return text[slice(*mention.path_chars)]
    written = mention.path
    here = posixpath.dirname(citing or "")
    from_root = posixpath.normpath(written.lstrip("/")) == old.path or mention.form == "permalink"
    beside = posixpath.normpath(posixpath.join(here, written)) == old.path
    prefers_beside = beside and (mention.form == "link" or not from_root) and not written.startswith("/")
    slash = "/" if written.startswith("/") and mention.form == "link" else ""
    written = posixpath.relpath(new.path, here or ".") if prefers_beside else slash + new.path
    return written if mention.form == "plain" else quote(written, safe="/@+~:,")


def apply(text: str, edits: Sequence[Edit]) -> str:
    """Apply edits that do not overlap, each once.

    Example:
        >>> apply("a.py:1", [(5, 6, "20"), (0, 4, "b.py")])
        'b.py:20'
    """
    for start, end, words in sorted(set(edits), reverse=True):
        text = text[:start] + words + text[end:]
    return text


def encoded_like(raw: bytes, old: str, new: str) -> bytes | None:
    """Encode text as the bytes it came from were, mark included; None if their encoding is not sure."""
    for mark, encoding in _ENCODINGS:
        if raw.startswith(mark):
            with contextlib.suppress(UnicodeError):
                if mark + old.encode(encoding) == raw:
                    return mark + new.encode(encoding)
    return None


def replace_file(path: Path, old: bytes, new: bytes) -> None:
    """Replace the bytes of a file atomically.

    The mode stays, and a link stays a link.
    """
    target = path.resolve()
    written = ""
    try:
        descriptor, written = tempfile.mkstemp(dir=target.parent, prefix=f".{target.name}.")
        with os.fdopen(descriptor, "wb") as file:
            file.write(new)
        shutil.copymode(target, written)
        if target.read_bytes() != old:
            raise SourceError(str(path), "it changed while it was checked", hint="run the command again")
        Path(written).replace(target)
    except OSError as exc:
        raise SourceError(str(path), f"cannot be written: {exc.strerror}", hint="check its permissions") from exc
    finally:
        if written:
            Path(written).unlink(missing_ok=True)
