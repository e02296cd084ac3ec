"""Decides whether the lines of one citation are unchanged, moved, changed or gone."""

from __future__ import annotations

from collections.abc import Mapping, Sequence, Set
from dataclasses import dataclass, replace
from functools import cached_property
from urllib.parse import unquote

from openbook.errors import SourceError
from openbook.text import counted
from openbook.verify.cited_folder import OUTSIDE, CitedFolder, Target
from openbook.verify.finding import Basis, Finding, LineRange, Outcome, why_out_of_range
from openbook.verify.history import History, is_commit_name
from openbook.verify.line_tracking import PastFile
from openbook.verify.meant_paths import is_meant_as_file, last_named, leads_out, listed
from openbook.verify.mentions import Mention, full_names, linked_revision
from openbook.verify.names import NameEvidence, by_names, is_mostly_in, lost_words, stands_elsewhere, word
from openbook.verify.namesakes import LEAD_OF_FIT, SEVERAL_FILES, Statement, best_fitting, fit, is_guessed
from openbook.verify.nearby import Nearby, listings_beside
from openbook.verify.relocation import ComparedText, NotRelocated, Relocation, likeness
from openbook.verify.relocation_search import RelocatedLines, RelocationSearch
from openbook.verify.versions import differ_in_versions

# From 0 to 1: edited lines of at least this likeness, with all that the page says about them, are still what was
# cited. A new argument in a function of ten lines costs .02, a rewritten body .5.
_MIN_LIKENESS = 0.8

# The same for blocks of three or more lines. Below the above, `--fix` leaves them alone. Of 30 that keep less than that
# and more than this, and are known by their text alone, readers call 27 moved (`benchmarks.citations`, seven rounds).
_MIN_BLOCK_LIKENESS = 0.7

# For blocks of three or more lines in a permalink to a commit.
_MIN_PINNED_LIKENESS = 0.9

# Files that a short path can mean are read up to this number.
_MAX_NAMESAKES = 20

# What all citations of a page must show together before one that shows nothing itself is read by them: as much as two.
_MIN_LEAD_OF_PAGE = 2 * LEAD_OF_FIT

NOT_IN_CLONE = "its commit or branch is not in this clone"


@dataclass(frozen=True, slots=True)
class CitingText:
    """A text with citations."""

    text: str
    path: str
    """File name, which determines its format."""
    inside: str | None
    """Path within the root; None if it lies elsewhere."""


class CitationCheck:
    """Checks one citation."""

    def __init__(
        self,
        root: CitedFolder,
        history: History,
        citing: CitingText,
        mention: Mention,
        near: Nearby,
        blank: Finding,
        all_said: Sequence[Statement],
    ) -> None:
        self._root, self._history, self._citing = root, history, citing
        self._mention = mention
        self._near = near
        self._blank = blank
        self._all_said = all_said
        self._search = RelocationSearch(root, history, citing.inside)
        self._pin = history.pin(mention.revision) if mention.revision else ""
        linked = linked_revision(citing.text, mention, [each for each, _ in all_said])
        self._linked = history.pin(linked) if is_commit_name(linked) else ""
        self._full_names: Set[str] | None = None  # if several files end with the path
        self._leads: Mapping[str, int] = {}

    def dated_by(self) -> tuple[str, str] | None:
        """Return the words and the line that tell since when the page cites; None if its commit is known without."""
        return None if self._pin or self._linked else (self._cited_words(), self._line())

    @cached_property
    def _target(self) -> Target:
        mention = self._mention
        written = mention.path if mention.form != "permalink" else "/" + mention.path
        target = self._root.find(written, self._citing.inside, is_link=mention.form != "plain")
        if mention.form == "plain" and len(target.namesakes) > 1 and not target.path:
            target = self._named_before(target)
        return target

    def lead_of_parent(self) -> Mapping[str, int]:
        """Return how much better the lines fit before the commit that wrote the citation than after it, by that commit.

        Empty if the commit did not edit the file.
        """
        try:
            past = None if self._target.refused else self._past(self._target)
            before = self._before(past) if past else None
        except SourceError:
            return {}
        return {past.commit: self._fit_of(before) - self._fit_of(past)} if past and before else {}

    def check(self, leads: Mapping[str, int]) -> Finding | None:
        """Return the finding; None if this is not a citation.

        `leads`: the sums of `lead_of_parent` of all citations of the page. A page that was committed together with a
        change usually describes the code before it.
        """
        self._leads = leads
        target = self._target
        if target.refused:
            is_meant = self._is_meant(target) or self._is_outside_path(target)
            return self._finding("refused", reason=target.refused) if is_meant else None
        try:
            return self._check_target(target)
        except SourceError as exc:
            return self._finding("refused", reason=exc.reason)

    def _named_before(self, target: Target) -> Target:
        """Resolve a short path to the file that the text last named with a longer path, if there is one."""
        text, start = self._citing.text, self._mention.start_char
        now = {name: self._history.renamed("", name) or name for name in full_names(text, self._mention.path)}
        self._full_names = set(now.values())
        path = last_named(text[:start], target.namesakes, now)
        return self._root.find("/" + path, None, is_link=True) if path else target

    def _check_target(self, target: Target) -> Finding | None:
        branch = self._mention.revision if self._mention.form == "permalink" and not self._pin else ""
        if branch and self._history.is_apart(branch, self._mention.path):
            return self._finding("unknown", reason=f"it is to the branch {branch!r}, which is not checked out")
        if not self._pin and self._is_unknown_revision(target):
            return self._finding("unknown", reason=NOT_IN_CLONE)
        if not target.path and any(map(self._root.is_absent, target.tried)):
            return self._finding("unknown", reason="its file is not checked out")
        past = self._past(target)
        if past is not None:
            path = target.path or past.path
            return self._check_by_history(path if self._root.has_file(path) else "", past)
        if self._pin:
            return self._invalid_permalink(target)
        if path := target.path or self._only_fitting(target):
            return self._check_by_names(path, self._root.page(path))
        return self._check_missing_file(target) if self._is_meant(target) else None

    def _only_fitting(self, target: Target) -> str:
        """Return the only file of that name that is long enough; empty if there are several."""
        if self._mention.form != "plain" or len(target.namesakes) > _MAX_NAMESAKES:
            return ""
        first, last = self._range
        fitting = [path for path in target.namesakes if 1 <= first <= last <= self._length(path)]
        return fitting[0] if len(fitting) == 1 else ""

    def _length(self, path: str) -> int:
        try:
            return len(self._root.page(path))
        except SourceError:
            return 0

    def _check_missing_file(self, target: Target) -> Finding:
        """Classify a path without a file: deleted, misspelt, or of another repository."""
        is_plain = self._mention.form == "plain"
        had = self._history.had(self._mention.path.removeprefix("./").lstrip("/"))
        for path in target.tried if had else ():
            if new := self._history.renamed("", path):
                return self._finding("missing file", reason=f"it was renamed to {new}")
        if target.namesakes and is_plain:
            return self._finding("unknown", reason=f"several files have that name: {listed(target.namesakes)}")
        meant = "" if had else self._root.spelled_like(target.tried)
        # A broken link is wrong, whatever it was meant to show, and so is a typo, whatever there was before.
        if is_plain and not (had or meant) and self._history.head:
            if had is None:
                return self._finding("unknown", reason="there is no such file")
            return self._finding("foreign", reason="the repository never had such a file")
        # A file with the same names is a suggestion only: it need not be the successor of the missing file.
        elsewhere = self._in_other_file()
        meant = str(elsewhere.lines) if elsewhere else meant or listed(target.namesakes)
        reason = f"perhaps {meant}" if meant else ""
        return self._finding("missing file", basis="names" if elsewhere else "", now=elsewhere, reason=reason)

    def _is_unknown_revision(self, target: Target) -> bool:
        """Return whether the revision of a permalink is missing here, as in a shallow clone."""
        mention, names = self._mention, self._history.names
        if mention.form != "permalink" or mention.revision in names:
            return False
        # A shallow clone has few branches, and another one may have the file.
        is_branch = "/" in mention.revision if target.path else bool(self._history.cut_at)
        return is_branch or is_commit_name(mention.revision)

    def _finding(
        self,
        verdict: Outcome,
        path: str = "",
        *,
        basis: Basis = "",
        now: RelocatedLines | None = None,
        reason: str = "",
    ) -> Finding:
        return replace(
            self._blank,
            verdict=verdict,
            basis=basis,
            place=LineRange(path, self._mention.first_line, self._mention.last_line) if path else None,
            now=now.lines if now else None,
            reason=reason,
            pinned=bool(self._pin),
        )

    # What was cited when the citation was written.

    def _past(self, target: Target) -> PastFile | None:
        if self._pin:
            return self._past_at(self._pin, target)
        if self._linked and (past := self._past_at(self._linked, target)):
            return past
        if self._citing.inside is None or not self._history.head:
            return None
        text, mention, words = self._citing.text, self._mention, self._cited_words()
        first = self._history.written_first(self._citing.inside, words, self._line())
        citing = self._history.below_folder(first[0].path) if first else None
        if first and (first[1] != words or citing != self._citing.inside):
            path = first[1].removesuffix(text[mention.path_chars[1] : mention.lines_chars[1]])
            if mention.form != "plain":  # without the query and fragment of a link
                path = path.partition("#")[0].partition("?")[0]
            path = unquote(path)
            written = path if mention.form != "permalink" else "/" + path
            # The page may have been renamed, and its links are relative to it.
            then = self._root.find(written, citing, is_link=mention.form != "plain")
            # An absolute path of another machine resolves only in its current form.
            past = self._past_at(first[0].commit, then) or self._past_at(first[0].commit, target)
            if past is not None:
                return past
        revision = self._history.written(self._citing.inside, words, self._line())
        if revision is None:
            return None
        return self._past_at(revision.commit, target) or self._taken_away(revision.commit, target)

    def _taken_away(self, commit: str, target: Target) -> PastFile | None:
        """Return the cited file before a commit that left it with fewer lines than are cited."""
        paths = [*filter(None, [target.path]), *self._short_for(commit, target)[:_MAX_NAMESAKES]]
        pages = ((path, self._history.page(f"{commit}^", path)) for path in paths)
        fitting = [fits for path, page in pages if page and (fits := self._fitting(PastFile(page, f"{commit}^", path)))]
        return fitting[0] if len(fitting) == 1 or (fitting and fitting[0].path == target.path) else None

    def _past_of_line(self, target: Target) -> PastFile | None:
        """Return the file when the line of the citation was last edited, and perhaps reviewed."""
        if self._pin or self._linked or self._citing.inside is None:
            return None
        revision = self._history.line_written(self._citing.inside, self._cited_words(), self._line())
        return None if revision is None else self._past_at(revision.commit, target)

    def _past_at(self, commit: str, target: Target) -> PastFile | None:
        for path in dict.fromkeys((target.path, *target.tried)):
            page = self._history.page(commit, path) if path else None
            if page is not None:
                return self._fitting(PastFile(page, commit, path))
        paths = self._short_for(commit, target)
        pages = ((path, self._history.page(commit, path)) for path in paths[:_MAX_NAMESAKES])
        fitting = [fits for path, page in pages if page and (fits := self._fitting(PastFile(page, commit, path)))]
        if len(paths) > _MAX_NAMESAKES:
            return None
        if len(fitting) > 1:
            self._full_names = self._full_names or frozenset()  # several files end with the path
        own = self._mention, self._near
        return fitting[0] if len(fitting) == 1 else best_fitting(self._citing.text, own, self._all_said, fitting)

    def _short_for(self, commit: str, target: Target) -> list[str]:
        """Return the files of a commit that a short path may have named, which may have been renamed since."""
        if self._mention.form != "plain":
            return []
        paths = self._history.ending(commit, self._mention.path.removeprefix("./").lstrip("/"))
        # Beside the file of that path, one that still exists is another one.
        return [path for path in paths if not (target.path and self._root.has_file(path))]

    def _fitting(self, past: PastFile) -> PastFile | None:
        return past if 1 <= self._range[0] <= self._range[1] <= len(past.page) else None

    def _invalid_permalink(self, target: Target) -> Finding:
        page = self._history.page(self._pin, target.tried[0])
        if page is None:
            finding = self._finding("missing file", basis="history", reason="its commit has no such file")
            return replace(finding, pinned=False)
        reason = why_out_of_range(*self._range, f"it has {counted(len(page), 'line')} there")
        finding = self._finding("out of range", target.tried[0], basis="history", reason=reason)
        return replace(finding, pinned=False)

    def _check_by_history(self, path: str, past: PastFile) -> Finding:
        first, last = self._range
        page = self._root.page(path) if path else None
        before = self._before(past)
        if before and self._fits_better(before, past):
            past = before
        if page and self._near.label and not self._pin and self._never_fitted(past.page):
            # The lines never fitted the link, so where they went is no evidence.
            named = self._check_by_names(path, page)
            if named.verdict != "changed" or not is_mostly_in(past.page, first, last, self._near.subject):
                return named
        return self._verdict(path, past, self._search.find(past, first, last, self._meant_then(path, past)))

    def _before(self, past: PastFile) -> PastFile | None:
        """Return the file before the commit that wrote the citation, if that edited it: it may be meant."""
        if past.commit.endswith("^"):
            return None
        commit = f"{past.commit}^"
        # If the commit changed the numbers of the citation, these are about the edited file.
        is_followed = self._history.had_form(commit, self._citing.inside or "", self._line())
        page = None if self._pin or self._linked or is_followed else self._history.page(commit, past.path)
        return self._fitting(PastFile(page, commit, past.path)) if page and page.text != past.page.text else None

    def _fits_better(self, before: PastFile, past: PastFile) -> bool:
        """Return whether a citation means the file before the commit that wrote it, by its sentence or by its page."""
        fit_after = self._fit_of(past)
        lead = self._fit_of(before) - fit_after
        is_open = lead > 0 or lead == 0 >= fit_after
        return lead >= LEAD_OF_FIT or (is_open and self._leads.get(past.commit, 0) >= _MIN_LEAD_OF_PAGE)

    def _fit_of(self, past: PastFile) -> int:
        return fit(past.page, *self._range, self._near, listings_beside(self._citing.text, self._mention))

    def _meant_then(self, path: str, past: PastFile) -> str:
        """Return the past path if the current one names another file, as when the page has moved."""
        is_other = past.path != path and self._history.page(past.commit, path) is not None if path else False
        return past.path if is_other and self._root.has_file(past.path) else path

    def _never_fitted(self, page: ComparedText) -> bool:
        """Return whether lines contradict the sentence and contain none of its names."""
        names = by_names(page, *self._range, self._near)
        return names.is_strong and not self._contains_a_name(page.text_of(*self._range))

    def _verdict(self, path: str, past: PastFile, found: RelocatedLines | NotRelocated) -> Finding:
        """Return the verdict on lines by where they were found again."""
        first, last = self._range
        stays, is_here = isinstance(found, RelocatedLines) and self._stays(path, past, found), bool(path)
        path = path or (self._search.renamed(past) if isinstance(found, NotRelocated) else "")
        had_words = any(map(str.isalnum, past.page.text_of(first, last)))
        # A blank line was not meant if the file had the name of the link elsewhere.
        is_empty = not had_words and (not stays or stands_elsewhere(past.page, first, last, self._link_names()))
        if is_empty and (path or isinstance(found, RelocatedLines)):
            return self._finding("unknown", path, reason="the cited lines were blank, or brackets alone")
        if isinstance(found, NotRelocated):
            if is_here and self._differs_in_versions(past, path):
                return self._finding("ok", path, basis="history", reason="edited since")
            verdict: Outcome = "changed" if path else "missing file"
            return self._finding(verdict, path or past.path, basis="history", reason=found.reason)
        spot = found.spot
        reason = ""
        is_wrapped = bool(self._pin) and first == last and spot.first_line < spot.last_line
        if spot.likeness < 1.0 or found.is_same or is_wrapped:
            now_there = self._root.page(found.path).text_of(spot.first_line, spot.last_line)
            gone = lost_words(self._near, past.page.text_of(first, last), now_there)
            # A permalink to a commit cites the exact text, such as the value of a constant.
            is_pinned = bool(self._pin) and not stays and (spot.likeness < _MIN_PINNED_LIKENESS or last - first < 2)
            is_raised = stays and self._differs_in_versions(past, path)
            is_like = spot.likeness >= self._least_likeness() or found.is_same or is_raised
            if gone or is_pinned or not is_like:
                likeness = "the line is wrapped now" if is_wrapped else f"{spot.likeness:.0%} of the text is the same"
                reason = f"{gone!r} is no longer there" if gone else likeness
                now = None if stays else found
                return self._finding("changed", path or past.path, basis="history", now=now, reason=reason)
            reason = "edited since"
        if stays:
            return self._finding("ok", path, basis="history", reason=reason)
        if name := self._missing_link_name(past, found):
            reason = f"{name!r}, which the link names, is at other lines"
            return self._finding("changed", path or past.path, basis="names", reason=reason)
        moved = self._finding("moved", path or past.path, basis="history", now=found)
        return replace(moved, doubt=self._why_unsure(path, past, found))

    def _stays(self, path: str, past: PastFile, found: RelocatedLines) -> bool:
        """Return whether lines are still at their place: the same range, or the same first line with small edits."""
        first, last = self._range
        if found.path != path or found.spot.first_line != first or not first < last <= len(self._root.page(path)):
            return found.lines == LineRange(path, first, last)
        keys, spot = self._root.page(path).keys, found.spot
        kept = likeness(past.page.keys[first - 1 : last], keys[first - 1 : last])
        return spot.last_line == last or kept >= self._least_likeness()

    def _least_likeness(self) -> float:
        first, last = self._range
        return _MIN_BLOCK_LIKENESS if last - first >= 2 else _MIN_LIKENESS

    def _why_unsure(self, path: str, past: PastFile, found: RelocatedLines) -> str:
        """Return why somebody should look at the new place of lines before it is written; empty if it is certain.

        Of 1,522 places that `--fix` wrote on weaker evidence, 69 were wrong; most of these lines had been edited.
        """
        if is_guessed(self._full_names, past.path, found.path):
            return SEVERAL_FILES
        first, last = self._range
        now = self._root.page(found.path).lines[found.spot.first_line - 1 : found.spot.last_line]
        # Lines that are indented otherwise stand in another block.
        if [*map(str.rstrip, past.page.lines[first - 1 : last])] != [*map(str.rstrip, now)]:
            return "the lines were edited"
        before = self._before(past)
        if past.commit.endswith("^") or (before and self._leads_elsewhere(before, path, found)):
            return "the commit that wrote the citation edited its file as well, and either version may be meant"
        newer = self._past_of_line(Target(path or found.path))
        # An edit that left a citation of brackets alone was no review of it.
        is_review = newer and any(map(str.isalnum, newer.page.text_of(*self._range)))
        if newer and is_review and self._leads_elsewhere(newer, path, found):
            return "the citing line was edited when other lines stood there"
        return ""

    def _leads_elsewhere(self, past: PastFile, path: str, found: RelocatedLines) -> bool:
        """Return whether another version of the cited file leads to another place."""
        other = self._search.find(past, *self._range, path)
        return not isinstance(other, RelocatedLines) or other.lines != found.lines

    def _differs_in_versions(self, past: PastFile, path: str) -> bool:
        """Return whether lines differ only in version numbers, as in `go.mod`, and the sentence states no number."""
        then, now = (page.text_of(*self._range) for page in (past.page, self._root.page(path)))
        return not (self._near.numbers or self._pin) and differ_in_versions(then, now)

    def _link_names(self) -> tuple[str, ...]:
        return (*self._near.label, *filter(None, (self._near.subject,)))

    def _contains_a_name(self, lines: str) -> bool:
        return any(word(name).search(lines) for name in self._near.names)

    def _missing_link_name(self, past: PastFile, found: RelocatedLines) -> str:
        """Return a name of the link text that is elsewhere in the file; empty if the lines contain one of its names."""
        page, spot, label = self._root.page(found.path), found.spot, self._near.label
        # The text of a permalink to a commit may name what the lines implement.
        if self._pin and stands_elsewhere(past.page, *self._range, label):
            return ""
        strange = [stands_elsewhere(page, spot.first_line, spot.last_line, (name,)) for name in label]
        return strange[0] if strange and all(strange) else ""

    def _check_by_names(self, path: str, page: ComparedText) -> Finding:
        first, last = self._mention.first_line, self._mention.last_line
        said = by_names(page, first, last, self._near)
        if path == self._citing.inside and said.spot and self._blank.line in range(*said.spot.lines):
            said = NameEvidence()  # the evidence is the citing line itself
        now = RelocatedLines(path, said.spot) if said.spot and said.spot != Relocation(first, last) else None
        if said.is_certain:
            doubt = SEVERAL_FILES if is_guessed(self._full_names, path) else ""
            return replace(self._finding("moved", path, basis="names", now=now), doubt=doubt)
        if not 1 <= first <= last <= len(page):
            reason = why_out_of_range(first, last, f"the file has {counted(len(page), 'line')}")
            return self._finding("out of range", path, basis="range", reason=reason)
        # The author of a new citation has seen the lines, and may name other things as well.
        if said.is_elsewhere and (said.is_strong or not self._is_new()):
            return self._finding("changed", path, basis="names", now=now, reason=said.reason)
        if said.is_here:
            return self._finding("ok", path, basis="names")
        return (
            self._finding("ok", path, basis="new")
            if self._is_new()
            else self._finding("unknown", path, reason=self._why_unknown())
        )

    @property
    def _range(self) -> tuple[int, int]:
        return self._mention.first_line, self._mention.last_line

    def _is_new(self) -> bool:
        return self._citing.inside is not None and self._history.is_new(
            self._citing.inside, self._cited_words(), self._line()
        )

    def _cited_words(self) -> str:
        return self._citing.text[self._mention.path_chars[0] : self._mention.lines_chars[1]]

    def _line(self) -> str:
        start = self._citing.text.rfind("\n", 0, self._mention.start_char) + 1
        end = self._citing.text.find("\n", self._mention.start_char)
        return self._citing.text[start : end if end >= 0 else None]

    def _why_unknown(self) -> str:
        """Return why the original lines of a citation are unknown, unless it is for lack of history."""
        if self._history.gap:
            return ""
        if self._citing.inside is None or not self._history.page(self._history.head, self._citing.inside):
            return "the file that cites it is not committed here"
        return "when this was written, no file had these lines"

    def _in_other_file(self) -> RelocatedLines | None:
        """Find what the names and quotes describe in other files, if only one of them has it."""
        size = self._mention.last_line - self._mention.first_line
        found = [
            (path, said)
            for path, page in self._root.same_format(self._mention.path, self._citing.inside)
            if (said := by_names(page, 0, size, self._near)).is_elsewhere
        ]
        path, said = found[0] if len(found) == 1 else ("", NameEvidence())
        return RelocatedLines(path, said.spot) if said.spot and said.is_certain else None

    def _is_outside_path(self, target: Target) -> bool:
        """Return whether a refused path is meant as a path, although the root has no such file."""
        path = self._mention.path
        return leads_out(path) if target.refused == OUTSIDE else path.startswith(".") or "/" in path

    def _is_meant(self, target: Target) -> bool:
        """Return whether text that matches no file is meant as a path in the root."""
        path = self._mention.path
        if "/" in path and "path/to" not in path and self._root.has_folder(path):
            return True
        return is_meant_as_file(self._citing.text, self._mention, is_name_known=bool(target.namesakes))
