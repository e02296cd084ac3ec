"""Code names and proper names in questions."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

_QUOTED = re.compile(r"`([^`\s][^`]*)`")
# Matches only from the first part of a dotted name; otherwise long ones would take quadratic time.
_CALL = re.compile(r"(?<!\w)(?<!\w\.)([A-Za-z_][\w.]*)\(\)?")
_IDENTIFIER = re.compile(
    # Dotted, but not a setting such as `server.read.max-age`, nor a prefix of it, nor `Node.js` or `ASP.NET`.
    r"\b(?:(?<!\w[.#])(?<!\w(?:::|->))(?>[A-Za-z_]\w*(?:(?:\.|::|#|->)[A-Za-z_]\w*)+)(?!-\w)"
    r"(?<!\.js)(?<!\.NET)"
    r"|[a-zA-Z]\w*_\w+|_\w+"  # snake_case
    r"|[A-Z][a-z0-9]+(?:[A-Z][a-z0-9]*)+|[a-z][a-z0-9]*(?:[A-Z][a-z0-9]*)+)\b"  # CamelCase and camelCase
)
# A name that is also a word: "the Error class", "struct Error".
_KIND = (
    r"(?:class|struct|enum|trait|interface|protocol|method|function|macro|constructor|decorator|type|object|mixin"
    r"|union|namespace|module)"
)
_NAME_BESIDE_KIND = re.compile(rf"\b[Tt]he (?P<before>[A-Z]\w*) {_KIND}\b|\b{_KIND} (?P<behind>[A-Z]\w*)")
ONE_WORD = re.compile(r"[A-Za-z_]\w*(?:(?:\.|::|#|->)[A-Za-z_]\w*)*")


def identifiers(text: str) -> list[str]:
    """Return the code names of a text in order, with their qualifiers.

    Example:
        >>> identifiers("Does `send` use Client.retry_after?")
        ['send', 'Client.retry_after']
    """
    found: list[tuple[int, str]] = []
    for pattern in (_QUOTED, _CALL, _IDENTIFIER):
        for match in pattern.finditer(text):
            name = match.group(match.lastindex or 0).rstrip("()")
            if ONE_WORD.fullmatch(name):
                found.append((match.start(), name))
    found += [(match.start(), match["before"] or match["behind"]) for match in _NAME_BESIDE_KIND.finditer(text)]
    return [name for _, name in sorted(found)]


# `moor!`, `moor->quay` and `set-quay` are names in Lisp, `moor!` in Ruby as well, but `moor->quay` is not one in C.
_SIGNED = re.compile(
    r"(?<![\w*<>=+./-])(?:(?P<module>[A-Za-z][\w.-]*)/)?(?P<name>(?=[*<>=+-]*\w)[\w*<>=+-]++[!?]?)(?![\w/-]|\.\w)"
)
# `CV06`, `SC2086`: the code of a rule, which defines `CV06` or `Rule_CV06`; not `UTF8`, `S3` and `HTTP2`.
# In lower case, the name itself: `slot0`, but not `v3`.
_CODE = re.compile(r"\b(?:[A-Z]{1,6}\d{2,6}|[a-z]{2,12}\d{1,6})\b")
_IN_MODULE = re.compile(r"\b(?:in|of|from)\s+`?([A-Za-z][\w-]*(?:\.[A-Za-z][\w-]*)+)")


class SignedName(NamedTuple):
    """A word of a question with signs that are part of a name in some languages only."""

    name: str
    owners: tuple[str, ...]
    """The words of its module."""
    parts: frozenset[str]
    """What it and its module may look like in other languages."""


def signed_names(text: str) -> list[SignedName]:
    """Return the words of a text with signs that are names in some languages only; the code that defines them tells.

    Example:
        >>> [each.name for each in signed_names("does set-quay or harbour.ropes/moor! call quay->rope?")]
        ['set-quay', 'moor!', 'quay->rope', 'quay->rope?']
        >>> signed_names("what does moor! do in harbour.ropes")[0].owners
        ('harbour', 'ropes')
    """
    found: list[SignedName] = []
    module = _IN_MODULE.search(text)
    for match in _SIGNED.finditer(text):
        owners = tuple(re.findall(r"\w+", match["module"] or (module[1] if module else "")))
        parts = frozenset((*re.findall(r"\w+", match["name"]), *owners))
        spelled = dict.fromkeys((match["name"].rstrip("?"), match["name"]))
        found += [SignedName(name, owners, parts) for name in spelled if not name.isidentifier()]
    return found


# "on Kubernetes", "over HTTP/3", "in S3": capitalized within a sentence, or with a capital letter within the word.
_PROPER = re.compile(r"(?<=[\w,;:)] )[A-Z]\w+|\b\w*[a-z][A-Z]\w*|\b[A-Z]\w*[A-Z0-9]\w*|\b\d[A-Z]\w*")
# "two-factor", "HTTP/3".
_COMPOUND = re.compile(r"(?<![\w-])(?:[a-z]{2,}(?:-[a-z]{2,})+|[A-Z]{2,}/\d+(?:\.\d+)?)(?![\w-])")


def proper_names(text: str) -> list[str]:
    """Return the proper names of an English question in order, such as products: `Kafka`, `S3`.

    Headings, in which most words are capitalized, have none.

    Example:
        >>> proper_names("Can Harbour keep its logs in S3 or on Kafka?"), proper_names("How To Moor A Ship")
        (['Harbour', 'S3', 'Kafka'], [])
    """
    words = text.split()
    is_heading = sum(len(word) > 1 and word[0].isupper() for word in words) * 2 > len(words)
    return [] if is_heading else [found.group() for found in _PROPER.finditer(text)]


def compounds(text: str) -> list[str]:
    """Return the compounds of a question in order, whose parts mean something else: hyphenated words, HTTP/3.

    Example:
        >>> compounds("How do I turn on two-factor authentication over HTTP/3 with --no-color?")
        ['two-factor', 'HTTP/3']
    """
    return _COMPOUND.findall(text)


_SEPARATOR = re.compile(r"\.|::|->|#|\\|(?<=\w)[@:/](?=\w)")
_QUOTES = ("`", "'", '"')

# Words that stand before a name where it is declared, made or passed on.
_LEADING = re.compile(
    r"(?:[&*!?~^@$%:#.\\\s]|'\w+\s|(?:abstract|async|await|class|const|def|dyn|enum|export|final|fn|fun|func|function|impl"
    r"|import|interface|internal|let|mod|module|mut|namespace|new|override|package|private|protected|pub|public"
    r"|readonly|record|sealed|static|struct|trait|type|typedef|unsafe|use|using|val|var|virtual)\s+(?=\S))*+"
)
_BEHIND = "*&^%.,;:\\ \t"
# What is declared of a name: its type, its value, what it returns.
_DECLARED = re.compile(r"\s(?:->|=>|=|where)(?=\s)|:(?=\s)")
_OPERATOR = re.compile(r"\boperator\s*(?:\(\)|\[\]|[^\w\s()\[\]]{1,3})")

# `int/2` in Erlang and Elixir.
_ARITY = re.compile(r"(?<=\w)/\d{1,3}$")
_OPENING, _CLOSING = "([{<", ")]}>"
_BRACKETS = re.compile(r"->|=>|[()\[\]{}<>]")

# `Client::class` is the class itself, as are `Client.class` and `Client::class.java`.
_ITSELF = (("class",), ("class", "java"))
_RECEIVERS = frozenset({"this", "self", "Self", "super", "cls", "static", "parent"})

# A call of `save!` is one in Ruby; in Rust, it is one of the macro `save`.
_SIGNS = "!?="
_LISPS = frozenset({"clojure", "elisp", "lisp", "racket", "scheme"})
_SYMBOL_OF_LISP = re.compile(r"(?:[\w.-]+[/:])?((?=[\d*<>=+!?-]*[^\W\d])[\w*<>=+!?-]++)")
_SIGNS_BEHIND = {"elixir": "!?", "julia": "!", "ruby": "!?="}
_SIGNS_BEFORE = {"javascript": "$#", "ruby": "@$", "tsx": "$#", "typescript": "$#"}
_WITH_SIGN_BEFORE = re.compile(r"(?:^|[.>:\s])([$#@]{1,2}\w+)[!?=]?$")

_PATTERN = re.compile(r"\.[*+]|\w\*\w|\\[dswb][*+]|\||\^.|\(\?|\[\^|\][*+]")


class WrittenName(NamedTuple):
    """A name as it was written, in its parts."""

    owners: tuple[str, ...]
    """Its qualifiers, outermost first."""
    last: str
    """The name itself. At its end, it may have a sign that is part of it in some languages: `save!`."""
    signed: str = ""
    """The name with the sign before it, which is part of it in some languages: `$scope`, `#limit`."""
    text: str = ""
    """The name with all signs, which are part of it in Lisp: `moor->quay`, `*tides*`."""

    @property
    def bare(self) -> str:
        """The name without signs."""
        return self.last.rstrip(_SIGNS) or self.last

    def in_language(self, language: str, *, is_code: bool = True) -> str:
        """Return the name as it is spelled in a language.

        Example:
            >>> name = read_name("save!()")
            >>> name.in_language("ruby"), name.in_language("rust")
            ('save!', 'save')
        """
        if language in _LISPS:
            return self.text or self.last
        if not is_code:
            return self.last
        if self.signed and self.signed[0] in _SIGNS_BEFORE.get(language, ""):
            return self.signed
        if not self.last.endswith(tuple(_SIGNS)) or self.last[-1] in _SIGNS_BEHIND.get(language, ""):
            return self.last
        return self.bare if self.bare.isidentifier() else self.last


def read_name(name: str) -> WrittenName:
    r"""Read a name in the notation of any language. Receivers, arguments and type arguments are no part of it.

    Example:
        >>> read_name(r"\App\Jobs\Mail::class")[:2], read_name("Query<D, F>::get_mut(&self)")[:2]
        ((('App', 'Jobs'), 'Mail'), (('Query',), 'get_mut'))
        >>> read_name("$this->limiter->hit($limit->key)")[:2], read_name("&'a mut Vec<T>")[:2]
        ((('limiter',), 'hit'), ((), 'Vec'))
    """
    written = _unquoted(name.strip())
    if not re.search(r"\w", written) or (written.startswith("-") and not written.startswith("->")):
        sign = written.strip("()") if re.search(r"[^.:#()\s]", written) else ""
        return WrittenName((), sign, sign, sign)
    operator = _OPERATOR.search(written)
    if operator:
        return WrittenName(tuple(_split(_without_groups(written[: operator.start()]))), operator[0])
    text = _DECLARED.split(_without_groups(written).strip(), maxsplit=1)[0]
    text = _ARITY.sub("", text.rstrip(_BEHIND))
    signed = _WITH_SIGN_BEFORE.search(text)
    parts = _split(text[_leading(text) :]) or [text]
    for itself in _ITSELF:
        if len(parts) > len(itself) and tuple(parts[-len(itself) :]) == itself:
            del parts[-len(itself) :]
    *owners, last = parts
    owners = [bare for owner in owners if (bare := owner.strip("$@&*!?")) and bare not in _RECEIVERS]
    symbol = _SYMBOL_OF_LISP.fullmatch(written)
    return WrittenName(tuple(owners), last, signed[1] if signed else last, symbol[1] if symbol else last)


def name_parts(name: str) -> list[str]:
    """Split a qualified name of any language: `Client.send`, `Client::send`, `Client#send`.

    Example:
        >>> name_parts("http::Client.send()")
        ['http', 'Client', 'send']
    """
    read = read_name(name)
    return [part for part in (*read.owners, read.last) if part]


def is_pattern(name: str) -> bool:
    r"""Return whether a text is a pattern, and no name: `.*Depth`, `get|set`. `Max*` may be a pointer.

    Example:
        >>> is_pattern(".*Depth"), is_pattern("Max*"), is_pattern(r"App\Depth")
        (True, False, False)
    """
    return _PATTERN.search(name) is not None


def _unquoted(name: str) -> str:
    return name[1:-1].strip() if len(name) > 1 and name[0] == name[-1] and name[0] in _QUOTES else name


def _leading(text: str) -> int:
    """Return the length of what stands before a name; 0 if nothing would be left of it."""
    found = _LEADING.match(text)
    end = found.end() if found else 0
    return end if re.search(r"\w", text[end : end + 1]) else 0


def _split(text: str) -> list[str]:
    return [part for part in (each.strip() for each in _SEPARATOR.split(text)) if part]


def _without_groups(name: str) -> str:
    """Leave out arguments: what stands in brackets, and all behind one that is never closed, except a lone `<`."""
    kept, at = list[str](), 0
    for start, end in _groups(name):
        kept.append(name[at:start])
        at = end
    rest = "".join((*kept, name[at:]))
    return rest if re.search(r"\w", rest) else re.split(r"[(\[{<]", name.strip("#()[]{}<>"), maxsplit=1)[0]


def _groups(name: str) -> Iterator[tuple[int, int]]:
    """Yield the ranges of the outermost brackets, in order."""
    opened: list[tuple[str, int]] = []
    pairs: list[tuple[int, int]] = []
    for found in _BRACKETS.finditer(name):
        sign, at = found.group(), found.start()
        if sign in _OPENING:
            opened.append((sign, at))
        elif sign in _CLOSING:
            opening = _OPENING[_CLOSING.index(sign)]
            # A sign of comparison is never closed.
            while opened and opened[-1][0] == "<" != opening:
                opened.pop()
            if opened and opened[-1][0] == opening:
                pairs.append((opened.pop()[1], found.end()))
    pairs += [(at, len(name)) for sign, at in opened if sign != "<" and at]
    behind = 0
    for start, end in sorted(pairs):
        if start >= behind:
            yield start, end
            behind = end


def coded_names(text: str, defined: Iterable[str]) -> list[SignedName]:
    """Return the names among `defined` that words with digits in a text stand for, unless one stands for several.

    Example:
        >>> [each.name for each in coded_names("Does CV06 use slot0?", ["Rule_CV05", "Rule_CV06", "slot0"])]
        ['Rule_CV06', 'slot0']
    """
    codes = dict.fromkeys(_CODE.findall(text))
    meant = {code: {name for name in defined if _stands_for(code, name)} for code in codes}
    return [SignedName(name, (), frozenset()) for names in meant.values() if len(names) == 1 for name in names]


def _stands_for(code: str, name: str) -> bool:
    return name == code or (code.isupper() and name.endswith(f"_{code}"))


def stands_in(owners: Sequence[str], *places: str) -> bool:
    """Return whether all `owners` are words of `places`, in any case. Places are headings, paths and enclosing names.

    Example:
        >>> stands_in(["Client"], "class Client:", "http/api.py"), stands_in(["Server"], "class Client:")
        (True, False)
    """
    words = {word.lower() for place in places for word in re.findall(r"\w+", place)}
    return all(owner.lower() in words for owner in owners)
