"""Completes a citation whose form alone does not tell where its path begins."""

from __future__ import annotations

from dataclasses import replace
from urllib.parse import unquote

from openbook.verify.cited_folder import CitedFolder
from openbook.verify.history import History
from openbook.verify.mentions import Mention


def with_blanks(root: CitedFolder, text: str, mention: Mention, citing: str | None) -> Mention:
    """Extend a path to its backtick if there is a file of that name: `my notes/plan.md:3`."""
    start, end = mention.path_chars
    opened = text.rfind("`", text.rfind("\n", 0, start) + 1, start) + 1
    path = text[opened:end] if opened else ""
    if " " not in path or not root.find(path, citing, is_link=False).path:
        return mention
    return replace(mention, path=path, start_char=opened, path_chars=(opened, end))


def with_revision(root: CitedFolder, history: History, text: str, mention: Mention) -> Mention:
    """Split revision and path of a permalink: a branch may contain slashes."""
    start, end = mention.path_chars
    written = text[start:end].split("/")
    known, files = [], []
    for count in range(len(written)):
        revision, path = "/".join((mention.revision, *written[:count])), unquote("/".join(written[count:]))
        at = end - len("/".join(written[count:]))
        longer = replace(mention, revision=revision, path=path, path_chars=(at, end))
        if revision in history.names or (not count and history.is_commit(revision)):
            known.append(longer)
        if root.find("/" + path, None, is_link=True).path:
            files.append(longer)
    return (known or files or [mention])[0]
