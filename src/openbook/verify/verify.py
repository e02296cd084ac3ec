"""Which files are checked, and each from bytes to findings, and back to bytes where citations moved."""

from __future__ import annotations

import json
import posixpath
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from openbook.errors import SourceError
from openbook.sources.decode import decode
from openbook.sources.languages import BY_SUFFIX
from openbook.sources.walk import scan_folder
from openbook.text import LineIndex
from openbook.verify.answers import CitationFields, SavedAnswer, check_saved_answer, read_answers, with_moves
from openbook.verify.check import MentionChecker
from openbook.verify.citation_check import CitingText
from openbook.verify.cited_folder import MAX_FILE_BYTES, CitedFolder, read_file
from openbook.verify.finding import Finding
from openbook.verify.history import History
from openbook.verify.regions import markdown_cells
from openbook.verify.rewriting import Edit, apply, edits_for, encoded_like, replace_file

_OF_ANSWERS = {".json", ".jsonl"}
_SETTLED = {"ok", "unknown"}
_UNSETTLED = "the check would not find it there again"
_UNSURE_ENCODING = "the encoding of the file is not certain"
_OTHER_NOTATION = "its notation cannot be kept"
_OTHER_STYLE = "its JSON is formatted in a way that cannot be kept"

NOT_REWRITTEN = "not rewritten: "
"""How a reason begins why `--fix` leaves lines alone whose new place is certain."""


# What each citation has. Most documents have none, and their history need not be read.
_NUMBERED = re.compile(rb"[:#](?:L|lines-)?\d")


@dataclass(frozen=True, slots=True)
class FileReport:
    """What was found in one file."""

    file: str
    """As it was given."""
    findings: tuple[Finding, ...] = ()
    """In the order of their places."""
    fixed: frozenset[int] = frozenset()
    """Positions of the findings that were put right in the file."""
    path: str = ""
    """POSIX path relative to the root; as it was given for a file elsewhere."""
    known: frozenset[int] = frozenset()
    """Positions of the findings that a baseline has."""

    @property
    def wrong(self) -> list[Finding]:
        """What somebody still has to look at."""
        done = self.fixed | self.known
        return [finding for number, finding in enumerate(self.findings) if finding.is_wrong and number not in done]

    def to_dict(self) -> dict[str, Any]:
        """Return the report as JSON values, in the shape that `verify --json` prints."""
        findings = [
            finding.to_dict() | {"fixed": number in self.fixed, "known": number in self.known}
            for number, finding in enumerate(self.findings)
        ]
        return {"file": self.file, "findings": findings}


@dataclass(slots=True)
class _Rewriting:
    """Findings of a text, and how to put right those that moved."""

    findings: list[Finding] = field(default_factory=list)
    edits: dict[int, list[Edit]] = field(default_factory=dict)

    def leave(self, at: int, reason: str) -> None:
        """Do not rewrite a finding, and say why. A permalink to a commit is right as it is."""
        if not self.findings[at].pinned:
            self.findings[at] = replace(self.findings[at], reason=NOT_REWRITTEN + reason)
        self.edits.pop(at, None)


def _may_cite(path: Path) -> bool:
    try:
        return _NUMBERED.search(path.read_bytes()) is not None
    except OSError:
        return False


class FileVerifier:
    """Checks files against one folder."""

    def __init__(self, folder: Path, *, unsafe_fixes: bool = False) -> None:
        """Take the folder that paths are relative to, and whether a fix writes places that are not certain, too."""
        self._unsafe = unsafe_fixes
        self._root = CitedFolder(folder)
        self._history = History(self._root.folder)
        self._checker = MentionChecker(self._root, self._history)

    @property
    def gap(self) -> str:
        """Why the history of the folder cannot tell about all citations, for people; empty if it can."""
        return self._history.gap

    def prepare(self, files: Sequence[str]) -> None:
        """Read the history of files that are going to be checked, which is much faster than one by one."""
        inside = (self._root.relative(Path(file)) for file in files if _may_cite(Path(file)))
        self._history.prepare([path for path in inside if path is not None])

    def verify(self, file: str, *, fix: bool = False) -> FileReport:
        """Check the citations of a file, and put those right that moved if asked."""
        path = Path(file)
        raw = read_file(path, file)
        text = decode(raw, file)
        answers = read_answers(text, file)
        if path.suffix.lower() in _OF_ANSWERS and not answers:
            raise SourceError(file, "contains no saved answer", hint="save answers with: openbook ask --json")
        found = self._found(text, path, answers)
        if encoded_like(raw, text, text) is None:
            for at in [*found.edits]:
                found.leave(at, _UNSURE_ENCODING)
        fixed: frozenset[int] = frozenset()
        if fix and found.edits:
            new = apply(text, [edit for edits in found.edits.values() for edit in edits])
            content = encoded_like(raw, text, new)
            if content is not None:
                replace_file(path, raw, content)
                fixed = frozenset(found.edits)
        return FileReport(file, tuple(found.findings), fixed, self.path_of(file))

    def path_of(self, file: str) -> str:
        """Return the path of a file relative to the root; as it was given if it lies elsewhere."""
        return self._root.relative(Path(file)) or Path(file).as_posix()

    def _found(self, text: str, path: Path, answers: Sequence[SavedAnswer]) -> _Rewriting:
        if answers:
            return self._in_answers(text, answers)
        return self._in_notebook(text, path) if path.suffix.lower() == ".ipynb" else self._in_text(text, path)

    def _in_notebook(self, text: str, path: Path) -> _Rewriting:
        """Check the Markdown cells, and write nothing but the citations in the strings of the file."""
        cells = markdown_cells(text, str(path))
        found = self._in_text(cells.text, path, f"{path.stem}.md")
        shown, lines = LineIndex(cells.text), LineIndex(text)
        for number, finding in enumerate(found.findings):
            at = shown.start_of(finding.line)
            found.findings[number] = replace(finding, line=lines.line_at(cells.starts[at]))
        for number, edits in found.edits.items():
            spans = [(cells.span(start, end), words) for start, end, words in edits]
            found.edits[number] = [(start, end, json.dumps(words)[1:-1]) for (start, end), words in spans]
        return found

    def _in_text(self, text: str, path: Path, shown_as: str = "") -> _Rewriting:
        inside = self._root.relative(path)
        citing = CitingText(text, shown_as or path.name, inside)
        found = self._checker.check(citing)
        edits = edits_for(text, found, inside, self._pin(found), unsafe=self._unsafe)
        rewriting = _Rewriting([finding for _, finding in found], edits)
        for at, (_, finding) in enumerate(found):
            if finding.is_fixable(unsafe=self._unsafe) and at not in edits:
                rewriting.leave(at, _OTHER_NOTATION)
        return self._settled(citing, rewriting, [mention.lines_chars[0] for mention, _ in found])

    def _settled(self, citing: CitingText, found: _Rewriting, starts: Sequence[int]) -> _Rewriting:
        """Drop the edits after which a citation would be found wrong again, given where its lines are written."""
        while found.edits:
            edits = {edit for edits in found.edits.values() for edit in edits}
            checked = self._checker.check(replace(citing, text=apply(citing.text, [*edits])))
            again = {mention.lines_chars[0]: finding for mention, finding in checked}
            unsure = {}
            for at in found.edits:
                pushed = sum(len(words) - (end - start) for start, end, words in edits if end <= starts[at])
                finding = again.get(starts[at] + pushed)
                if finding is None or finding.verdict not in _SETTLED:
                    unsure[at] = finding.reason if finding and finding.reason else _UNSETTLED
            if not unsure:
                break
            for at, reason in unsure.items():
                found.leave(at, reason)
        return found

    def _pin(self, found: Sequence[tuple[object, Finding]]) -> str:
        """Return the commit for permalinks, if in it the lines stand where they stand in the folder."""
        for _, finding in found:
            if finding.pinned and finding.now is not None:
                page = self._history.page(self._history.head, finding.now.path)
                if page is None or page.lines != self._root.page(finding.now.path).lines:
                    return ""
        return self._history.head

    def _in_answers(self, text: str, answers: Sequence[SavedAnswer]) -> _Rewriting:
        all_found = _Rewriting()
        for answer in answers:
            checked = check_saved_answer(answer, self._root, self._history)
            moves: list[CitationFields | None] = [move for _, move in checked]
            new = with_moves(text, answer, moves) if any(moves) else None
            for finding, move in checked:
                if move is not None and new is None:
                    finding = replace(finding, reason=NOT_REWRITTEN + _OTHER_STYLE)
                elif move is not None and new is not None:
                    all_found.edits[len(all_found.findings)] = [(answer.start_char, answer.end_char, new)]
                all_found.findings.append(finding)
        return all_found


DOCUMENT_SUFFIXES = (".md", ".mdx", ".markdown", ".rst", ".adoc", ".asciidoc", ".ipynb")


def files_to_check(
    named: Sequence[str], *, with_comments: bool = False, is_excluded: Callable[[Path], bool] = lambda path: False
) -> list[str]:
    """List files in the order in which they are named, each once, those of a folder by path.

    A file that does not exist stays in the list: whoever reads it reports it. `is_excluded` also leaves out files that
    are named.
    """
    found = [file for name in named for file in (_of_folder(name, with_comments) if Path(name).is_dir() else [name])]
    return [file for file in dict.fromkeys(found) if not is_excluded(Path(file))]


def _of_folder(name: str, with_comments: bool) -> Iterator[str]:
    for file in scan_folder(Path(name).resolve(), MAX_FILE_BYTES).files:
        suffix = posixpath.splitext(file.path)[1].lower()
        is_code = suffix.removeprefix(".") in BY_SUFFIX and suffix not in _OF_ANSWERS  # JSON has no comments
        if suffix in DOCUMENT_SUFFIXES or (with_comments and is_code):
            yield (Path(name) / file.path).as_posix()
