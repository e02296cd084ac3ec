"""Recognizes questions for required versions, as "minimum go version", and the lines that state them."""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import cached_property

from openbook.questions.phrases import Phrases
from openbook.questions.words import STOP_WORDS
from openbook.text import lines
from openbook.tokens import tokenize

# Names of one thing in questions, pages and manifests.
_SYNONYMS = (
    ("go", "golang"),
    ("node", "nodejs", "node.js"),
    ("postgres", "postgresql"),
    ("rust", "rustc"),
    ("java", "jdk", "jre"),
    ("kubernetes", "k8s"),
    ("erlang", "otp"),
)
# What needs no "version" beside it: "which node do I need".
RUNTIMES = "python|node(?:\\.?js)?|go(?:lang)?|rust|ruby|php|java|jdk|jre|elixir|erlang|kotlin|scala|swift|perl"

_NEEDS = re.compile(
    r"\b(?:need|require|support|run|work|compatib|minim|oldest|lowest|earliest|least|build|built|compil|install|use\b|develop)",
    re.IGNORECASE,
)
# "Which version introduced the flag?" and "which code checks the version?" ask for something else.
_OTHER = re.compile(
    r"\b(?:introduc|added|since|remov|chang|released?\b|upgrad|code\b|function|file\b|where\b|how\b|hook|command)",
    re.IGNORECASE,
)
_LEAST = r"(?:minimum|oldest|lowest|earliest)"
_THINGS = r"(?P<things>[\w.+#-]+(?:(?:\s*,\s*|\s+)[\w.+#-]+){0,4}?)"
_BEHIND = r"(?:\s+(?:is|are|it|that|do|does|can|should|must|to|for|needed|required|supported|level)\b|$)"
_ASKS = Phrases(
    rf"\bversions?\s+of\s+{_THINGS}{_BEHIND}",
    rf"\b(?:which|what|{_LEAST}|required|supported)\s+{_THINGS}\s+versions?\b",
    rf"^{_THINGS}\s+versions?\s+(?:require|need|support)",
    rf"\b{_LEAST}\s+{_THINGS}{_BEHIND}",
    r"^(?:does|do|can|is|are|will)\b.*\b(?:on|with|under|using)\s+(?P<things>[\w.+#-]*[a-z])[ -]"
    r"v?\d+(?:\.\d+)*(?![\w-])",
    rf"\b(?:which|what)\s+(?P<things>{RUNTIMES})\s+(?:do|should|must|can|is|does)\b",
)
_NOT_THINGS = STOP_WORDS | frozenset("version versions minimum oldest lowest earliest required supported".split())

# Not a year, and no part of an address or a date.
_NUMBER = r"(?<![\w./#])v?(?!(?:19|20)\d\d\b)\d+(?:\.\d+|\.x)*\b(?![/%]|[.,]?\d)"
# A thing and its version are this near.
_MOST_BETWEEN_CHARS = 48
_BOUNDS = re.compile(
    r"[<>≥]=?\s*v?\d|\d\+|\b(?:require|requiring|at\s+least|minim|(?:or|and)\s+(?:newer|later|higher|above|greater|up)\b)",
    re.IGNORECASE,
)
# These may be said of a version in passing: "first-class support for the streaming of React 18". With .7, no answer to
# `version_questions` and `version_questions_aside` changes.
_TELLS = re.compile(r"\b(?:need|support|compatible|tested|works?\s|runs?\s)", re.IGNORECASE)
_TOLD = 0.7
_BESIDE = "minimum required supported version"
_REVOKES = r"\b(?:not|no\s+longer|drop\w*|remov\w*)\b"
_MANIFEST = re.compile(
    r"(?:^|/)(?:setup\.(?:py|cfg)|pyproject\.toml|package\.json|composer\.json|go\.mod|Cargo\.toml|[\w.-]+\.gemspec"
    r"|Gemfile|mix\.exs|pom\.xml|build\.gradle(?:\.kts)?|build\.sbt|Package\.swift|[\w.-]+\.csproj|pubspec\.yaml"
    r"|dune-project|[\w.-]+\.(?:opam|cabal|rockspec|nimble)|[\w.-]+-pkg\.el|DESCRIPTION|Project\.toml|project\.clj"
    r"|rebar\.config|shard\.yml|meta/runtime\.yml)$"
)
_OF_PART = 0.5


class AskedVersions:
    """The things of which a question asks for the required versions."""

    def __init__(self, things: Sequence[str]) -> None:
        self.things = tuple(things)
        self._names = [next((names for names in _SYNONYMS if thing in names), (thing,)) for thing in things]

    @property
    def tokens(self) -> tuple[str, ...]:
        """What to search for: the tokens of all names, which may be in every page, and of what stands beside them."""
        words = (*(name for names in self._names for name in names), _BESIDE)
        return tuple(dict.fromkeys(token for each in words for token in tokenize(each)))

    def share_in(self, text: str, path: str) -> float:
        """Return the share of the things of which a text in a file states a required version, from 0 to 1.

        All versions in a manifest are required; elsewhere, the line has a sign or a word for it, and counts less if
        that is no bound. The manifest in a subfolder is mostly that of a part, an example or a test, and counts half.

        Example:
            >>> versions = versions_of("Which versions of Ruby and Rails are supported?")
            >>> [versions.share_in(text, "README.md") for text in ("Ruby 3.2+", "Ruby 3.2", "It runs on Rails 8")]
            [0.5, 0.0, 0.35]
        """
        of_manifest = is_manifest(path)
        held = [0.0] * len(self.things)
        for start, end in lines(text):
            is_bound = of_manifest or _BOUNDS.search(text, start, end) is not None
            if not is_bound and not _TELLS.search(text, start, end):
                continue
            line = text[start:end]
            line = line.replace("(", " ") if of_manifest else line  # a list in Lisp
            for n, (states, revokes) in enumerate(self._patterns):
                if states.search(line) and not revokes.search(line):
                    held[n] = max(held[n], 1.0 if is_bound else _TOLD)
        return sum(held) / len(held) * (_OF_PART if of_manifest and "/" in path else 1.0)

    @cached_property
    def _patterns(self) -> list[tuple[re.Pattern[str], re.Pattern[str]]]:
        """For each thing, what states a version of it, and what says that one is not supported, or not any more."""
        found = []
        for names in self._names:
            # `requires-python`, `python_requires`, `go-version`, not `phpunit/php-timer`. "(Python 3.6+)" is a remark
            # on something else.
            begins = r"(?<![\w/@(-])(?:(?:requires|required|minimum|min)[-_])?"
            name = rf"{begins}(?:{'|'.join(map(re.escape, names))})(?:_requires)?(?![^\W\d]|[-/.](?!version)[^\W\d])"
            states = rf"{name}(?:[^\n\d.;!?]|\.(?=\S)){{0,{_MOST_BETWEEN_CHARS}}}?{_NUMBER}"
            near = rf"(?:[^\n.;!?]|\.(?=\S)){{0,{_MOST_BETWEEN_CHARS}}}?"
            revokes = rf"{_REVOKES}{near}{name}|{states}{near}{_REVOKES}"
            found.append((re.compile(states, re.IGNORECASE), re.compile(revokes, re.IGNORECASE)))
        return found


def versions_of(text: str) -> AskedVersions | None:
    """Return the things of which a question asks for the required versions; None if it asks for something else."""
    found = _ASKS.search(text)
    if found is None or _OTHER.search(text) or not _NEEDS.search(text):
        return None
    things = re.findall(r"[\w.+#-]+", found["things"].lower())
    things = [thing for thing in things if thing not in _NOT_THINGS and not thing[0].isdigit()]
    return AskedVersions(things) if things else None


def is_manifest(path: str) -> bool:
    """Return whether a file declares what a project needs, as `package.json` does."""
    return _MANIFEST.search(path) is not None
