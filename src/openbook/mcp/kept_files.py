"""What was in the files of agents before `install`, kept so that `uninstall` gives every byte back."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable
from contextlib import suppress
from dataclasses import asdict, dataclass, replace
from pathlib import Path

from openbook.permissions import make_private_file, make_private_folder

Editor = Callable[[str, str], str]
"""Takes a server, by its name, out of a text. Raises ValueError if it cannot."""

Comparer = Callable[[str, str], bool]
"""Whether two texts say the same."""


@dataclass(frozen=True, slots=True)
class Record:
    """A file with servers of ours, and what it is without them."""

    path: str
    before: str | None
    """What it is without any of them; None if it was not there."""
    after: str
    """What was written last."""
    names: tuple[str, ...]
    """Of the servers."""

    def with_server(self, name: str, after: str) -> Record:
        """Return the record once a server was put in."""
        return replace(self, after=after, names=tuple(sorted({*self.names, name})))

    def without_server(self, name: str, after: str) -> Record | None:
        """Return the record once a server was taken out; None if it was the last one."""
        names = tuple(each for each in self.names if each != name)
        return replace(self, after=after, names=names) if names else None

    def seen_with(self, text: str, edit: Editor, is_same: Comparer | None) -> Record:
        """Return the record of a file that the person may have changed since: what it is without ours is made anew."""
        return self if text == self.after else replace(self, before=self._undone_in(text, edit, is_same), after=text)

    def _undone_in(self, text: str, edit: Editor, is_same: Comparer | None) -> str:
        """Undo what was written where it stands as it was written; take the servers out one by one where not."""
        edited = text
        for name in self.names:
            with suppress(ValueError):  # the person has written the entry in a way of their own: then it is theirs
                edited = edit(edited, name)
        before, after = self.before or "", self.after
        start = _common_start(before, after)
        end = _common_start(before[start:][::-1], after[start:][::-1])
        gone, added = before[start : len(before) - end], after[start : len(after) - end]
        if is_same is None or not added or text.count(added) != 1:
            return edited
        exact = text.replace(added, gone)
        return exact if is_same(exact, edited) else edited


def read_record(path: Path, kept: Path) -> Record | None:
    """Read the record of a file; None if there is none."""
    try:
        found = json.loads(_file_of(path, kept).read_text(encoding="utf-8"))
        return Record(**{**found, "names": tuple(found["names"])})
    except (OSError, ValueError, TypeError, KeyError):
        return None


def write_record(path: Path, record: Record | None, kept: Path) -> None:
    """Write the record of a file, or delete it. Nobody else can read it."""
    file = _file_of(path, kept)
    if record is None:
        file.unlink(missing_ok=True)
        return
    make_private_folder(kept)
    make_private_file(file)
    file.write_text(json.dumps(asdict(record)), encoding="utf-8")


def _common_start(one: str, other: str) -> int:
    """Return how many characters two texts begin with together."""
    return next((at for at, (a, b) in enumerate(zip(one, other, strict=False)) if a != b), min(len(one), len(other)))


def _file_of(path: Path, kept: Path) -> Path:
    return kept / f"{hashlib.sha256(str(path).encode('utf-8', 'surrogatepass')).hexdigest()[:32]}.json"
