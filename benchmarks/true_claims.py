"""True claims with the units that carry them: sentences of prose and docstrings, comments, statements about code.

Nothing is written by a model. A claim is a sentence of a file, or is made from its syntax tree, and is then
said in slightly other words by rules, so that it seldom is the very text that it cites.
"""

from __future__ import annotations

import ast
import json
import random
import re
import sysconfig
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from openbook.text import sentences, units
from openbook.types import Chunk, Span

_ROOT = Path(__file__).resolve().parents[1]

# Pure Python with comments and docstrings, all installed by `make check`; none is kept for judging models.
_PACKAGES = (
    "anyio",
    "filelock",
    "fsspec",
    "hatchling",
    "markdown_it",
    "packaging",
    "pathspec",
    "platformdirs",
    "rich",
    "typer",
)
# More of the same. No rule of the judge was improved by looking at a claim of these.
_OTHER_PACKAGES = tuple("coverage grimp httpx2 huggingface_hub hypothesis importlinter mypy pluggy pygments".split())

# A claim says something, and one thing.
_MIN_CHARS, _MAX_CHARS, _MIN_WORDS = 40, 280, 6
_MAX_UNITS = 12
_MAX_VALUE_CHARS = 40

_PLAIN_SENTENCE = re.compile(r"[A-Z`“\"][^|{}<>=#\n]*[a-z][^|{}<>=#]*[.]")
_COMMENT = re.compile(r"^\s*#\s?")


@dataclass(frozen=True, slots=True)
class File:
    """A text as numbered units."""

    name: str
    text: str
    units: tuple[str, ...]
    starts: tuple[int, ...]
    """Offset of each unit in the text."""


@dataclass(frozen=True, slots=True)
class Claim:
    """A claim, and the half-open range of units that carries it."""

    kind: str
    """`prose`, `docstring`, `comment`, `statement` or `quote`."""
    text: str
    file: File
    first: int
    last: int
    symbol: str = ""
    source: str = ""
    """What it was made from, before it was said in other words."""

    @property
    def cited(self) -> tuple[str, ...]:
        """Return the text of each cited unit."""
        return self.file.units[self.first : self.last]


def read_files(data: Path) -> list[File]:
    """Read this project's pages and code, installed packages, and texts of the data, in a fixed order."""
    library = Path(sysconfig.get_path("purelib"))
    own = [_ROOT / "README.md", *sorted((_ROOT / "docs").glob("*.md")), *sorted((_ROOT / "src").rglob("*.py"))]
    packages = [path for name in _PACKAGES for path in sorted((library / name).rglob("*.py"))]
    found = [(path.relative_to(_ROOT).as_posix(), path) for path in own]
    found += [(path.relative_to(library).as_posix(), path) for path in packages]
    texts = [(name, path.read_text(encoding="utf-8")) for name, path in found]
    texts += [(path.name, path.read_text(encoding="utf-8")) for path in sorted((data / "courses").glob("*.txt"))]
    articles = json.loads((data / "span-qa" / "xquad-en.json").read_text(encoding="utf-8"))["data"]
    for number, article in enumerate(articles):
        texts.append((f"article-{number:02}.txt", "\n\n".join(part["context"] for part in article["paragraphs"])))
    sections: dict[str, list[str]] = {}
    for section in json.loads((data / "docs-qa" / "docs.json").read_text(encoding="utf-8")):
        sections.setdefault(section["chunk_link"].partition("#")[0], []).append(section["text"])
    texts += [(f"page-{number:03}.md", "\n\n".join(parts)) for number, parts in enumerate(sections.values())]
    return [file_of(name, text) for name, text in texts if text.strip()]


def read_other_files() -> list[File]:
    """Read installed packages that the judge was not improved with, and the descriptions of all packages."""
    library = Path(sysconfig.get_path("purelib"))
    code = [path for name in _OTHER_PACKAGES for path in sorted((library / name).rglob("*.py"))]
    texts = [(path.relative_to(library).as_posix(), path.read_text(encoding="utf-8")) for path in code]
    for path in sorted(library.glob("*.dist-info/METADATA")):
        _, _, description = path.read_text(encoding="utf-8").partition("\n\n")
        texts.append((f"{path.parent.name}.md", description))
    return [file_of(name, text) for name, text in texts if text.strip()]


def read_chinese_files(data: Path) -> list[File]:
    """Read articles in Chinese, one file each."""
    articles = json.loads((data / "span-qa" / "xquad-zh.json").read_text(encoding="utf-8"))["data"]
    texts = ("\n\n".join(part["context"] for part in article["paragraphs"]) for article in articles)
    return [file_of(f"article-zh-{number:02}.txt", text) for number, text in enumerate(texts)]


def chinese_claims(files: Sequence[File], seed: int) -> list[Claim]:
    """Take the sentences of Chinese texts as claims, as they are, shuffled."""
    found = [
        Claim("prose", file.text[start:end], file, *_range_of(file, start, end))
        for file in files
        for start, end in sentences(file.text)
        if end - start <= _MAX_CHARS
    ]
    random.Random(seed).shuffle(found)
    return found


def file_of(name: str, text: str) -> File:
    """Number the units of a text."""
    span = Span(name, 0, len(text), 1, text.count("\n") + 1)
    found = units(Chunk("s", span, text, "docs"))
    return File(name, text, tuple(unit.text for unit in found), tuple(unit.span.start_char for unit in found))


def make_claims(files: Sequence[File], count: int, seed: int) -> list[Claim]:
    """Make `count` claims: two fifths prose, a fifth each docstrings and statements, a tenth each comments and quotes.

    Files take turns, so that none gives more than its share.
    """
    draw = random.Random(seed)
    prose = [file for file in files if not file.name.endswith(".py")]
    code = [file for file in files if file.name.endswith(".py")]
    wanted: list[tuple[int, list[File], Callable[[File], Iterator[Claim]]]] = [
        (count * 4 // 10, prose, _prose),
        (count * 2 // 10, code, _docstrings),
        (count * 2 // 10, code, _statements),
        (count * 1 // 10, code, _comments),
        (count * 1 // 10, prose, _quotes),
    ]
    found = []
    for number, sources, make in wanted:
        pools = [list(make(file)) for file in sources]
        for pool in pools:
            draw.shuffle(pool)
        draw.shuffle(pools)
        turns = [pool[turn] for turn in range(max(map(len, pools))) for pool in pools if turn < len(pool)]
        found += turns[:number]
    return found


def _range_of(file: File, start: int, end: int) -> tuple[int, int]:
    touched = [
        number
        for number, (offset, unit) in enumerate(zip(file.starts, file.units, strict=True))
        if offset < end and offset + len(unit) > start
    ]
    return (touched[0], touched[-1] + 1) if touched else (0, 0)


def _is_claim(sentence: str) -> bool:
    return (
        _MIN_CHARS <= len(sentence) <= _MAX_CHARS
        and len(sentence.split()) >= _MIN_WORDS
        and _PLAIN_SENTENCE.fullmatch(sentence) is not None
    )


def _prose_ranges(file: File) -> Iterator[tuple[str, int, int]]:
    for match in re.finditer(
        r"(?:^[^\n`|#>\-* ][^\n]*\n?)+",
        re.sub(r"```.*?```", lambda m: " " * len(m.group()), file.text, flags=re.S),
        re.M,
    ):
        for start, end in sentences(file.text, *match.span()):
            sentence = " ".join(file.text[start:end].split())
            if _is_claim(sentence):
                yield sentence, start, end


def _prose(file: File) -> Iterator[Claim]:
    for sentence, start, end in _prose_ranges(file):
        yield Claim("prose", sentence, file, *_range_of(file, start, end), source=sentence)


def _quotes(file: File) -> Iterator[Claim]:
    for sentence, start, end in _prose_ranges(file):
        words = re.sub(r"[\"“”`*_]", "", sentence).rstrip(".").split()
        quoted = " ".join(words[len(words) // 4 : len(words) // 4 + 7])
        if '"' not in sentence and "*" not in sentence:
            text = f'It is said there: "{quoted}".'
            yield Claim("quote", text, file, *_range_of(file, start, end), source=sentence)


def _definitions(file: File) -> Iterator[tuple[str, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef]]:
    def walk(node: ast.AST, prefix: str) -> Iterator[tuple[str, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef]]:
        for child in ast.iter_child_nodes(node):
            if isinstance(child, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
                yield f"{prefix}{child.name}", child
                yield from walk(child, f"{prefix}{child.name}.")

    return walk(ast.parse(file.text), "")


def _offset(file: File, line: int) -> int:
    """Return the offset of the first character of a 1-based line; behind the text for the line behind the last."""
    starts = [0, *(match.end() for match in re.finditer("\n", file.text)), len(file.text)]
    return starts[min(line, len(starts)) - 1]


def _docstrings(file: File) -> Iterator[Claim]:
    for symbol, definition in _definitions(file):
        if ast.get_docstring(definition) is None:
            continue
        first = definition.body[0]
        start, end = _offset(file, first.lineno), _offset(file, (first.end_lineno or first.lineno) + 1)
        for a, b in sentences(file.text, start, end):
            sentence = " ".join(file.text[a:b].strip("\"' \n").split())
            places = _range_of(file, a, b)
            if _is_claim(sentence) and ":" not in sentence and places[1] - places[0] <= _MAX_UNITS:
                yield Claim("docstring", sentence, file, *places, symbol, sentence)


def _comments(file: File) -> Iterator[Claim]:
    for match in re.finditer(r"(?:^[ \t]*# [^\n]+\n)+", file.text, re.MULTILINE):
        lines = match.group().splitlines()
        text = " ".join(_COMMENT.sub("", line).strip() for line in lines)
        found = [text[a:b] for a, b in sentences(text)]
        if len(lines) <= _MAX_UNITS and len(found) == 1 and _is_claim(found[0]):
            yield Claim("comment", found[0], file, *_range_of(file, *match.span()), source=found[0])


def _statements(file: File) -> Iterator[Claim]:
    for symbol, definition in _definitions(file):
        if isinstance(definition, ast.ClassDef):
            continue
        head = _range_of(file, _offset(file, definition.lineno), _offset(file, definition.body[0].lineno))
        if head[1] - head[0] > _MAX_UNITS or head[0] == head[1]:
            continue
        arguments = [argument for argument in definition.args.args if argument.arg not in {"self", "cls"}]
        for text in _said_of(definition, arguments):
            yield Claim("statement", text, file, *head, symbol, text)
    yield from _constants(file)


def _constants(file: File) -> Iterator[Claim]:
    for node in ast.parse(file.text).body:
        if not (isinstance(node, ast.Assign) and isinstance(node.value, ast.Constant)):
            continue
        target, value = node.targets[0], ast.unparse(node.value)
        if isinstance(target, ast.Name) and node.value.value not in (None, ...) and len(value) <= _MAX_VALUE_CHARS:
            place = _range_of(file, _offset(file, node.lineno), _offset(file, (node.end_lineno or node.lineno) + 1))
            text = f"`{target.id}` is set to `{value}`."
            yield Claim("statement", text, file, *place, source=text)


def _said_of(definition: ast.FunctionDef | ast.AsyncFunctionDef, arguments: list[ast.arg]) -> Iterator[str]:
    name = definition.name
    if arguments:
        yield f"`{name}` takes `{arguments[-1].arg}`."
    if len(arguments) > 1:
        yield f"`{name}()` is called with `{arguments[0].arg}` and `{arguments[1].arg}`."
    for argument, default in zip(arguments[::-1], definition.args.defaults[::-1], strict=False):
        if isinstance(default, ast.Constant) and isinstance(default.value, int | float) and default.value is not True:
            yield f"In `{name}`, the default of `{argument.arg}` is {ast.unparse(default)}."
    if definition.returns is not None and len(ast.unparse(definition.returns)) <= 30:
        yield f"`{name}` returns `{ast.unparse(definition.returns)}`."


# Each rule says the same in other words. Code in ticks and quotes are left alone.
_REWORDINGS: tuple[tuple[str, str], ...] = (
    (r"^(?:However|Note that|Also|Finally|Then|Thus|Hence),?\s+(?=\w)", ""),
    (r"\b(is|are|was|were|do|does|did|has|have|can|could|should|would)n['’]t\b", r"\1 not"),
    (r"\bcannot\b", "can not"),
    (r"\bdoes not\b", "doesn't"),
    (r"\bis not\b", "isn't"),
    (r"^Returns?\b", "Gives back"),
    (r"^Gets?\b", "Retrieves"),
    (r"^Checks?\b", "Tests"),
    (r"^Creates?\b", "Makes"),
    (r"\bmust\b", "has to"),
    (r"\bbecause\b(?! of)", "since"),
    (r"\bin order to\b", "to"),
    (r"\bFor example\b|\bfor example\b", "for instance"),
    (r"\bmany\b", "a lot of"),
    (r"\bseveral\b", "a number of"),
    (r"\b(can|will|may|must|should|they|you|we) show\b|\bshow(?=s (?:the|a|an)\b)", r"\1 display"),
    (r"\b(can|will|may|must|should|they|you|we) use\b|\buse(?=s (?:the|a|an)\b)", r"\1 employ"),
    (r"\b(can|will|may|must|should|they|you|we) contain\b|\bcontain(?=s (?:the|a|an)\b)", r"\1 hold"),
    (r"\b(can|will|may|must|should|they|you|we) provide\b|\bprovide(?=s (?:the|a|an)\b)", r"\1 offer"),
    (r"\b(can|will|may|must|should|they|you|we) require\b|\brequire(?=s (?:the|a|an)\b)", r"\1 need"),
    (r"\b(can|will|may|must|should|they|you|we) help\b|\bhelp(?=s (?:the|a|an)\b)", r"\1 assist"),
    (r"\blarge\b", "big"),
    (r"\boften\b", "frequently"),
    (r"\bbegan\b", "started"),
    (r"\bcalled\b", "named"),
    (r"\bsuch as\b", "like"),
    (r"\beach\b", "every"),
    (r"(?<!\bno )(?<!\bnot )\bmore than\b", "over"),
    (r"\bcurrently\b", "now"),
    (r"\bapproximately\b|\broughly\b", "about"),
    (r"\b(?:very|also|just|simply) ", ""),
    (r"\bespecially\b", "above all"),
    (r"\ballows? (\w+) to\b", r"lets \1"),
    (r"\s*\([^()]{3,60}\)", ""),
    (r"(?<=\w{4}), (?:which|who|where|so that) [^,.]{10,}\.$", "."),
    (r"(?<=\w{4}); [^;.]{10,}\.$", "."),
    (r"^(In|On|At|During|After|Before|Since) ([^,]{3,40}), ([^,]+)\.$", r"\3 \1 \2."),
    (r"^(If|When) ([^,]+), ([^,]+)\.$", r"\3 \1 \2."),
)
_MAX_REWORDINGS = 5
_LITERAL = re.compile(r'(`[^`]*`|"[^"]{6,}")')
_GROUPED = re.compile(r"\b\d{1,3}(?:,\d{3})+\b")
_SMALL = re.compile(r"(?<=\s)(?:[2-9]|10)(?= [a-z]{4,})")
_FUNCTION_WORDS = frozenset(
    "the a an this these it if when there in on for each all no every any some they we you".split()
)
_OPENINGS = ("In short", "Here", "In this case", "As described")
_SPELLED = "zero one two three four five six seven eight nine ten".split()


def reworded(text: str, draw: random.Random) -> str:
    """Say a claim in other words: up to five rules, numbers spelled in another way, sometimes an opening."""
    literals = _LITERAL.findall(text)
    plain = _LITERAL.sub("\0", text)
    rules = list(_REWORDINGS)
    draw.shuffle(rules)
    changed = 0
    for pattern, replacement in rules:
        new = re.sub(pattern, replacement, plain, count=1)
        kept = new.count("\0") == len(literals) and len(new) >= _MIN_CHARS // 2
        if new != plain and kept and changed < _MAX_REWORDINGS:
            plain, changed = _recased(plain, new), changed + 1
    if draw.random() < 1 / 2:
        plain = _GROUPED.sub(lambda match: match.group().replace(",", ""), plain)
        plain = _SMALL.sub(lambda match: _SPELLED[int(match.group())], plain)
    first, _, rest = plain.partition(" ")
    if draw.random() < 1 / 4 and (first.lower() in _FUNCTION_WORDS or not first[:1].isalpha()):
        plain = f"{draw.choice(_OPENINGS)}, {first.lower()} {rest}"
    for literal in literals:
        plain = plain.replace("\0", literal, 1)
    return plain


def _recased(before: str, after: str) -> str:
    """Begin with a capital; a clause that has moved back begins without one, unless its first word is a name."""
    moved = re.search(r" (In|On|At|During|After|Before|Since|If|When) (\w)", after)
    if moved and moved.group() not in before:
        after = after[: moved.start() + 1] + after[moved.start() + 1].lower() + after[moved.start() + 2 :]
    return after[:1].upper() + after[1:]
