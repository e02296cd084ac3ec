"""Checks the citations of texts against a folder and its history."""

from __future__ import annotations

from collections import Counter
from functools import cached_property

from openbook.text import LineIndex
from openbook.verify.citation_check import CitationCheck, CitingText
from openbook.verify.cited_folder import CitedFolder
from openbook.verify.finding import Finding
from openbook.verify.history import History
from openbook.verify.mentions import Mention, cited_words, find_mentions
from openbook.verify.nearby import nearby, without_margins
from openbook.verify.regions import is_code, parts_of, regions
from openbook.verify.remotes import repositories
from openbook.verify.written_paths import with_blanks, with_revision


class MentionChecker:
    """Checks the citations of texts against one folder and its history."""

    def __init__(self, root: CitedFolder, history: History) -> None:
        self._root = root
        self._history = history

    @cached_property
    def _repositories(self) -> frozenset[str]:
        return repositories(self._root.folder)

    def check(self, citing: CitingText) -> list[tuple[Mention, Finding]]:
        """Check the citations of a text in order. Text that only looks like a citation is skipped."""
        parts = regions(citing.path, citing.text)
        within = parts_of(citing.text, parts)
        mentions = find_mentions(citing.text, parts)
        lines = LineIndex(citing.text)
        checks = []
        prose = without_margins(citing.text, is_code=is_code(citing.path, citing.text))
        all_said = [
            (mention, nearby(prose, mentions, position, within(mention.start_char)))
            for position, mention in enumerate(mentions)
        ]
        for mention, near in all_said:
            if mention.page is not None:
                if mention.repository not in self._repositories:
                    continue
                mention = with_revision(self._root, self._history, citing.text, mention)
            elif mention.form == "plain":
                mention = with_blanks(self._root, citing.text, mention, citing.inside)
            blank = Finding(lines.line_at(mention.start_char), cited_words(citing.text, mention), "ok")
            checks.append((mention, CitationCheck(self._root, self._history, citing, mention, near, blank, all_said)))
        if citing.inside is not None:
            self._history.expect(citing.inside, filter(None, (each.dated_by() for _, each in checks)))
        leads = Counter[str]()
        for _, each in checks:
            leads.update(each.lead_of_parent())
        checked = ((mention, each.check(leads)) for mention, each in checks)
        return [(mention, finding) for mention, finding in checked if finding is not None]
