"""Which files to check: those that are named, and in folders the documents."""

from __future__ import annotations

import posixpath
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

from openbook.sources.languages import BY_SUFFIX
from openbook.sources.walk import scan_folder
from openbook.verify.cited_folder import MAX_FILE_BYTES

DOCUMENT_SUFFIXES = (".md", ".mdx", ".markdown", ".rst", ".adoc", ".asciidoc", ".ipynb")


def files_to_check(
    named: Sequence[str], *, with_comments: bool = False, is_excluded: Callable[[Path], bool] = lambda path: False
) -> list[str]:
    """List files in the order in which they are named, each once, those of a folder by path.

    Args:
        named: Files and folders. A file that does not exist stays in the list: whoever reads it reports it.
        with_comments: Whether code counts in folders, beside documents.
        is_excluded: Leaves out files, also those that are named.

    Raises:
        SourceError: A folder cannot be listed.
    """
    found = [file for name in named for file in (_of_folder(name, with_comments) if Path(name).is_dir() else [name])]
    return [file for file in dict.fromkeys(found) if not is_excluded(Path(file))]


def _of_folder(name: str, with_comments: bool) -> Iterator[str]:
    for file in scan_folder(Path(name).resolve(), MAX_FILE_BYTES).files:
        suffix = posixpath.splitext(file.path)[1].lower()
        if suffix in DOCUMENT_SUFFIXES or (with_comments and suffix.removeprefix(".") in BY_SUFFIX):
            yield (Path(name) / file.path).as_posix()
