"""Renders Markdown of answers as safe HTML: sanitised, with chips for marks and without external content.

Text of sources and models never becomes markup. Nothing is loaded: images are replaced by their alternative text.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, MutableMapping, Sequence
from dataclasses import dataclass
from functools import cache
from html import escape
from typing import Any, Final

import nh3
from markdown_it import MarkdownIt
from markdown_it.renderer import RendererHTML
from markdown_it.rules_core import StateCore
from markdown_it.token import Token
from markdown_it.utils import OptionsDict

from openbook.answers import Claim, GenerationResult, Verdict
from openbook.containers import OPENS_BODY
from openbook.grounding.blocks import Fence, read_line
from openbook.grounding.marks import CitationMark, find_marks
from openbook.server.colouring import COLOURER
from openbook.types import shown_text

# Placeholder for a chip or the boundary of a claim. It counts as punctuation, like the brackets of a mark, so that
# emphasis around it is parsed the same. In a text that contains it, it becomes U+FFFD.
_SIGN = "\N{SIGNWRITING PARENTHESIS}"
_SIGNED = re.compile(f"{_SIGN}(\\d+){_SIGN}")

# A row with insets behind its last cell, perhaps with where the table goes on.
_PIPE = re.compile(r"(?<!\\)\|")
_DELIMITER_ROW = re.compile(r"(?=[^|]*\|)[|:\- \t]*-[|:\- \t]*")
_BEHIND_ROW = re.compile(rf"(.*?)[ \t]*\|[ \t]*((?:{_SIGN}\d+{_SIGN}[ \t]*)+(?:\(goes on[^()|]*\))?)[ \t]*")

# Bidirectional controls can disguise text, and control characters are invisible. Joiners are kept, because whole
# scripts need them.
_INVISIBLE = re.compile("[\x00-\x08\x0b\x0e-\x1f\x7f-\x9f\u061c\u200b\u200e\u200f\u2028-\u202e\u2060-\u2069\ufeff]")
_SURROGATE = re.compile("[\ud800-\udfff]")

_SAFE_LINK = re.compile(r"(?:https?://|mailto:)\S+", re.IGNORECASE)
# Punctuation stays on the line of the preceding chip.
_ENDS = re.compile(r"[.,;:!?…。，；：！？]*")
# Neither scheme nor host: `scale.md#growth`.
_TO_PLACE = re.compile(r"(?![a-z][a-z0-9+.-]*:|//|\\)", re.IGNORECASE)
_CHIP_LINK = re.compile(r"#cite-\d+")
_ALIGNED = re.compile(r"text-align:(left|center|right)")

# The beginning of a list item, heading, fence or rule, or a line that makes the previous one a heading.
_OPEN_LINE = re.compile(r"[\s>]*(?:[-=+*_#|:`~ \t]+|\d{1,9}[.)]?)\s*")

# Longer code is not highlighted: 20,000 characters take 30 ms.
_MAX_COLOURED_CHARS = 20_000

# Documents are highlighted as a whole, since strings and comments span lines: 100,000 characters take 150 ms.
_MAX_COLOURED_LINES_CHARS = 100_000
_MAX_RENDERED_CHARS = 200_000

# Elements that can be marked as cited: the smallest ones with line numbers.
_CITED = {"paragraph_open", "heading_open", "tr_open", "list_item_open", "fence", "code_block"}

# Headings of an answer are below the question, which is a heading of level 2.
_HEADINGS: Final = {"h1": "h3", "h2": "h4", "h3": "h5", "h4": "h6", "h5": "h6", "h6": "h6"}

# Icon, text of the chip, and text for screen readers, which begins with that of the chip.
_CHIPS: Final = {
    "exact": ("=", "", "the source says it in these words"),
    "confirmed": ("✓", "", "confirmed: the source says this"),
    "conflict": ("×", "conflict", "conflict with the source"),
    "unverified": ("", "", "not verified"),
    "unknown": ("?", "no such source", "no such source was shown"),
    "stale": ("!", "changed since", "changed since it was indexed"),
}
_WRONG: Final = {
    "conflict": "in conflict with the source",
    "unknown": "no such source",
    "stale": "source changed",
}

_TAGS = set(
    "a blockquote br code div em h3 h4 h5 h6 hr li ol p pre s span strong table tbody td th thead tr ul".split()
)
_ATTRIBUTES: Final = {
    "a": {"aria-label", "class", "data-cite", "href", "target"},
    "code": {"class"},
    "div": {"class", "tabindex"},
    "ol": {"start"},
    "pre": {"class", "tabindex"},
    "span": {"aria-hidden", "class", "title"},
    **{tag: {"class"} for tag in ("h3", "h4", "h5", "h6", "li", "p", "tr")},
    "td": {"class"},
    "th": {"class"},
}


@dataclass(frozen=True, slots=True)
class _Inset:
    """HTML that replaces a range of a text, possibly empty."""

    start_char: int
    end_char: int
    html: str
    opens: int = 0
    """1 at the beginning of a claim, -1 at its end."""
    claim: int = 0


def render_answer(answer: GenerationResult) -> str:
    r"""Return an answer as HTML, with marks as chips, and doubtful claims highlighted with the reason.

    The chip of a citation has `data-cite`: its position in `answer.citations`, from 1. A mark with several ranges
    becomes several chips.

    Example:
        >>> render_answer(GenerationResult("?", "It <b>waits</b>."))
        '<p>It &lt;b&gt;waits&lt;/b&gt;.</p>\n'
    """
    marks = find_marks(answer.answer)
    # In an answer without a model, only brackets between quotes are marks. Others are part of the quotes.
    is_quoted = answer.model == "extractive"
    if is_quoted:
        ends = {claim.end_char for claim in answer.claims}
        marks = [mark for mark in marks if mark.end_char in ends]
    insets = list(_chips(marks, answer))
    if not (is_quoted or answer.refused):
        insets += _wrong(answer.claims)
    return _render(answer.answer, insets)


def render_block(markdown: str) -> str:
    r"""Return an unchecked part of an answer as HTML. Marks are shown unchanged.

    Example:
        >>> render_block("It *waits* [2:14].")
        '<p>It <em>waits</em> <span class="mark">[2:14]</span>.</p>\n'
    """
    marks = find_marks(markdown)
    return _render(markdown, [_Inset(mark.start_char, mark.end_char, _plain(mark)) for mark in marks])


class BlockReader:
    r"""Splits a streamed answer into Markdown blocks.

    A block ends with a blank line outside of fences.

    Example:
        >>> reader = BlockReader()
        >>> reader.feed("One.\n\nTw"), reader.feed("o."), reader.close()
        (['One.\n\n'], [], ['Two.'])
    """

    def __init__(self) -> None:
        self._line = ""
        self._block: list[str] = []
        self._fence: Fence | None = None

    def feed(self, delta: str) -> list[str]:
        """Add a piece, and return the blocks that are now complete."""
        *lines, self._line = (self._line + delta).split("\n")
        blocks = []
        for line in lines:
            self._block.append(f"{line}\n")
            kind, self._fence = read_line(line, self._fence)
            if kind == "blank" and "".join(self._block).strip():
                blocks.append("".join(self._block))
                self._block = []
        return blocks

    def draft(self) -> tuple[str, str]:
        r"""Return the incomplete block, and separately its last line, whose type is still open.

        Example:
            >>> reader = BlockReader()
            >>> reader.feed("- One\n- T"), reader.draft(), reader.feed("wo\n--"), reader.draft()
            ([], ('- One\n- T', ''), [], ('- One\n- Two\n', '--'))
        """
        is_open = self._fence is None and _OPEN_LINE.fullmatch(self._line) is not None
        return "".join([*self._block, "" if is_open else self._line]), self._line if is_open else ""

    def close(self) -> list[str]:
        """Return the rest, if there is one. The reader cannot be fed again."""
        rest = "".join([*self._block, self._line])
        return [rest] if rest else []


def _chips(marks: Iterable[CitationMark], answer: GenerationResult) -> Iterator[_Inset]:
    """Replace marks by chips. A mark without a citation is not changed."""
    numbers: defaultdict[str, list[int]] = defaultdict(list)
    for number, citation in enumerate(answer.citations, start=1):
        numbers[citation.mark].append(number)
    for mark in marks:
        named = _nearest(mark, numbers[mark.text], answer)
        cited = ((number, answer.citations[number - 1]) for number in named)
        *chips, last = [chip(number, each.verdict, each.place) for number, each in cited] or [_plain(mark)]
        ends = _ENDS.match(answer.answer, mark.end_char)
        behind = ends.group() if ends else ""
        html = f'{"".join(chips)}<span class="hold">{last}{behind}</span>'
        yield _Inset(mark.start_char, mark.end_char + len(behind), html)


def _plain(mark: CitationMark) -> str:
    return f'<span class="mark">{mark.text}</span>'


def _nearest(mark: CitationMark, numbers: Sequence[int], answer: GenerationResult) -> list[int]:
    """Choose the citations of the claim around a mark, else of the previous claim; else those without a claim."""
    of_claim: defaultdict[int, list[int]] = defaultdict(list)
    for number in numbers:
        claim = answer.citations[number - 1].claim
        of_claim[-1 if claim is None else claim].append(number)
    # A claim begins before its marks; later claims are considered only if there is no other.
    before = [at for at in of_claim if at >= 0 and answer.claims[at].start_char <= mark.start_char]
    inside = [at for at in before if mark.start_char < answer.claims[at].end_char]
    for choice in (inside, [-1] if -1 in of_claim else [], before, list(of_claim)):
        if choice:
            return of_claim[max(choice)]
    return []


def chip(number: int, verdict: Verdict, place: str) -> str:
    """Return the chip of a citation: its number from 1, the icon of its verdict, and a label if it is wrong.

    Example:
        >>> chip(2, "unverified", "a.py:3")
        '<a class="cite cite-unverified" href="#cite-2" data-cite="2" aria-label="Source 2: not verified, a.py:3">2</a>'
    """
    sign, words, spoken = _CHIPS[verdict]
    shown = f' <span class="cite-words">{words}</span>' if words else ""
    shown_sign = f'<span class="cite-sign" aria-hidden="true">{sign}</span>' if sign else ""
    spoken = ", ".join(filter(None, (f"Source {number}: {spoken}", place)))
    return (
        f'<a class="cite cite-{verdict}" href="#cite-{number}" data-cite="{number}"'
        f' aria-label="{escape(visible(spoken))}">{shown_sign}{number}{shown}</a>'
    )


def _wrong(claims: Sequence[Claim]) -> Iterator[_Inset]:
    """Return the insets that highlight doubtful claims."""
    for at, claim in enumerate(claims):
        words = _WRONG.get(claim.verdict)
        if words is None:
            continue
        reason = escape(visible(claim.reason))
        begin = f'<span class="claim claim-{claim.verdict}" title="{reason}">'
        end = f'<span class="unseen"> ({words}: {reason})</span>'
        yield _Inset(claim.start_char, claim.start_char, begin, 1, at)
        yield _Inset(claim.end_char, claim.end_char, end, -1, at)


def visible(text: str) -> str:
    r"""Replace invisible characters, and those that change the writing direction, by their code points.

    Example:
        >>> visible("a\u202eb")
        'a‹U+202E›b'
    """
    text = _SURROGATE.sub("\N{REPLACEMENT CHARACTER}", shown_text(text))
    return _INVISIBLE.sub(lambda match: f"‹U+{ord(match.group()):04X}›", text)


def _render(markdown: str, insets: Sequence[_Inset], *, cited: tuple[int, int] | None = None) -> str:
    parts, at = [], 0
    markdown = markdown.replace(_SIGN, "\N{REPLACEMENT CHARACTER}")
    # At the same position, ends come before chips, and chips before beginnings.
    order = sorted(range(len(insets)), key=lambda index: (insets[index].start_char, insets[index].opens))
    for index in order:
        parts += [markdown[at : insets[index].start_char], f"{_SIGN}{index}{_SIGN}"]
        at = max(at, insets[index].end_char)
    text = _within_tables(visible("".join([*parts, markdown[at:]])))
    originals = [markdown[inset.start_char : inset.end_char] for inset in insets]
    env = {"insets": insets, "originals": originals, "cited": cited or (0, 0)}
    # Without these extensions, admonitions and tabs of a site would be code.
    is_page = cited is not None
    parser = _markdown(any_link=is_page, has_indented_code=is_page and not OPENS_BODY.search(markdown))
    html = parser.render(text, env)
    return nh3.clean(
        html,
        tags=_TAGS,
        attributes=_ATTRIBUTES,
        attribute_filter=_checked,
        link_rel="noopener noreferrer nofollow",
        url_schemes={"http", "https", "mailto"},
    )


def _within_tables(text: str) -> str:
    """Move the insets behind the last cell of a row into it: Markdown drops what a table has no column for."""
    if _SIGN not in text or "|" not in text:
        return text
    lines, columns = text.split("\n"), 0
    for at, line in enumerate(lines):
        bare = line.strip(" \t>")
        if _DELIMITER_ROW.fullmatch(bare):
            columns = len(_PIPE.split(bare.strip("|")))
        elif "|" not in bare:
            columns = 0
        elif columns and (found := _BEHIND_ROW.fullmatch(line)):
            cells = len(_PIPE.split(found[1].strip(" \t>|")))
            lines[at] = f"{found[1]} {found[2]} |" if cells >= columns else line
    return "\n".join(lines)


def _checked(tag: str, name: str, value: str) -> str | None:
    """Allow only links of chips, absolute web addresses and mail addresses."""
    if name == "href":
        return value if _CHIP_LINK.fullmatch(value) or _SAFE_LINK.fullmatch(value) else None
    return value


@cache
def _markdown(*, any_link: bool, has_indented_code: bool) -> MarkdownIt:
    """Return a parser. With `any_link` it parses all links; unsafe ones lose their address."""
    markdown = MarkdownIt("commonmark", {"html": False, "maxNesting": 20}, renderer_cls=_Renderer)
    # Reference definitions would disappear from quotes, and marks in indented text would not be recognized.
    markdown.enable(["table", "strikethrough"]).disable(["html_block", "html_inline", "reference"])
    if not has_indented_code:
        markdown.disable("code")
    markdown.core.ruler.push("insets", _place_insets)
    markdown.validateLink = lambda url: any_link or _is_link(url)  # type: ignore[method-assign]
    return markdown


def _is_link(url: str) -> bool:
    """Return whether to parse a link: an absolute web address, a mail address, or a relative path.

    Relative paths are shown as text without a link. Links with another scheme, or that look like a chip, are shown as
    written.
    """
    is_to_place = _TO_PLACE.match(url) is not None and not _CHIP_LINK.fullmatch(url)
    return is_to_place or _SAFE_LINK.fullmatch(url) is not None


def _place_insets(state: StateCore) -> None:
    """Replace placeholders in text by their insets, or by the original if HTML is not allowed there."""
    insets, originals = state.env["insets"], state.env["originals"]
    _mark_cited(state.tokens, *state.env["cited"])

    def restored(text: str) -> str:
        return _SIGNED.sub(lambda match: originals[int(match[1])], text)

    for token in state.tokens:
        if token.children is None:
            token.content = restored(token.content)
            continue
        children: list[Token] = []
        for child in token.children:
            if child.type == "text":
                children += _split(child, insets)
            else:
                child.content = restored(child.content)
                children.append(child)
        token.children = _paired(children)


def _mark_cited(tokens: Sequence[Token], first: int, end: int) -> None:
    """Add a class to the innermost blocks that contain one of the lines."""
    inner: list[tuple[Token, int]] = []
    for token in tokens:
        # The hidden paragraph of a tight list item has no element.
        if token.type not in _CITED or token.map is None or token.hidden:
            continue
        begins, ends = token.map
        if begins < end and first < ends:
            inner = [(outer, its_end) for outer, its_end in inner if its_end <= begins]
            inner.append((token, ends))
    for token, _ in inner:
        token.attrSet("class", "cited")


def _split(token: Token, insets: Sequence[_Inset]) -> Iterator[Token]:
    """Split a text at its placeholders into texts and insets, alternating."""
    for position, piece in enumerate(_SIGNED.split(token.content)):
        if position % 2:
            yield Token("inset", "", 0, meta={"inset": insets[int(piece)]})
        elif piece:
            yield token.copy(content=piece)


def _paired(tokens: Sequence[Token]) -> list[Token]:
    """Wrap claims that begin and end in the same element; for others, add only the label at their end."""
    depth = 0
    open_claims: dict[int, tuple[Token, int]] = {}
    for token in tokens:
        depth += token.nesting
        # An inset that begins inside an element cannot end outside of it.
        open_claims = {claim: place for claim, place in open_claims.items() if place[1] <= depth}
        inset = token.meta.get("inset")
        if inset is not None and inset.opens == 1:
            open_claims[inset.claim] = (token, depth)
        elif inset is not None and inset.opens == -1:
            begin, at = open_claims.pop(inset.claim, (None, -1))
            if begin is not None and at == depth:
                begin.meta["wraps"] = token.meta["wraps"] = True
    return list(tokens)


class _Renderer(RendererHTML):
    """An HTML renderer for pages that load nothing and have no inline styles."""

    def inset(self, tokens: Sequence[Token], index: int, _options: OptionsDict, _env: MutableMapping[str, Any]) -> str:
        inset: _Inset = tokens[index].meta["inset"]
        wraps = "wraps" in tokens[index].meta
        if inset.opens == 1:
            return inset.html if wraps else ""
        return f"{inset.html}</span>" if wraps else inset.html

    def image(self, tokens: Sequence[Token], index: int, options: OptionsDict, env: MutableMapping[str, Any]) -> str:
        words = self.renderInlineAsText(tokens[index].children or [], options, env)
        words = _SIGNED.sub(lambda match: env["originals"][int(match[1])], words)
        return f'<span class="image-words">image: {escape(words or "no description")}</span>'

    def fence(self, tokens: Sequence[Token], index: int, _options: OptionsDict, _env: MutableMapping[str, Any]) -> str:
        token = tokens[index]
        name = token.info.split(maxsplit=1)[0] if token.info.strip() else ""
        cited = ' class="cited"' if "class" in token.attrs else ""
        return f'<pre{cited} tabindex="0"><code class="code">{_coloured(token.content, name)}</code></pre>\n'

    def code_block(self, tokens: Sequence[Token], idx: int, options: OptionsDict, env: MutableMapping[str, Any]) -> str:
        return self.fence(tokens, idx, options, env)

    def link_open(
        self, tokens: Sequence[Token], index: int, options: OptionsDict, env: MutableMapping[str, Any]
    ) -> str:
        tokens[index].attrSet("target", "_blank")
        return self.renderToken(tokens, index, options, env)

    def table_open(self, *_: object) -> str:
        return '<div class="table" tabindex="0"><table>\n'

    def table_close(self, *_: object) -> str:
        return "</table></div>\n"

    def renderToken(  # noqa: N802 - the name that is called
        self, tokens: Sequence[Token], idx: int, options: OptionsDict, env: MutableMapping[str, Any]
    ) -> str:
        token = tokens[idx]
        token.tag = _HEADINGS.get(token.tag, token.tag)
        aligned = _ALIGNED.fullmatch(str(token.attrs.pop("style", "")))
        if aligned:
            token.attrSet("class", f"align-{aligned[1]}")
        return super().renderToken(tokens, idx, options, env)


def _coloured(code: str, language: str) -> str:
    """Return highlighted code as HTML; plain if it is long, has no lexer or takes too long."""
    if not language or len(code) > _MAX_COLOURED_CHARS:
        return escape(code)
    return COLOURER.colour(code, language) or escape(code)


def coloured_lines(code: str, language: str) -> list[str]:
    """Return the highlighted lines of code as safe HTML; [] if it is too long or cannot be highlighted."""
    if len(code) > _MAX_COLOURED_LINES_CHARS or "\r" in code:
        return []
    html = COLOURER.colour(visible(code), language)
    lines = nh3.clean(html, tags={"span"}, attributes={"span": {"class"}}).split("\n")
    return lines if len(lines) == code.count("\n") + 1 else []


def render_document(markdown: str, first: int, last: int) -> str:
    r"""Return a Markdown document as HTML, with lines `first` to `last` in elements of the class `cited`.

    Empty if it is too long. Relative links are shown as text.

    Example:
        >>> render_document("# Tides\n\n- high\n- *low*\n", 4, 4)
        '<h3>Tides</h3>\n<ul>\n<li>high</li>\n<li class="cited"><em>low</em></li>\n</ul>\n'
    """
    if len(markdown) > _MAX_RENDERED_CHARS:
        return ""
    return _render(markdown, [], cited=(first - 1, last))
