"""Derives the role of a file from its path and kind."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from functools import lru_cache
from pathlib import PurePosixPath
from typing import TYPE_CHECKING, Literal

from openbook.types import Chunk, Kind

if TYPE_CHECKING:
    from openbook.index.protocol import Outline

Role = Literal[
    "source",
    "test",
    "example",
    "documentation",
    "configuration",
    "changelog",
    "contributing",
    "legal",
    "generated",
    "vendored",
    "migration",
]

ASIDE: frozenset[Role] = frozenset({"test", "changelog", "contributing", "legal", "generated", "vendored", "migration"})
"""Roles of files that questions are rarely about."""

_FOLDERS: Mapping[str, Role] = {
    **dict.fromkeys(
        ("test", "tests", "spec", "specs", "__tests__", "testcases", "testdata", "fixtures", "e2e"), "test"
    ),
    **dict.fromkeys("example examples docs_src samples demo demos playground".split(), "example"),
    **dict.fromkeys(("doc", "docs", "man", "manual", "documentation", "guide", "guides"), "documentation"),
    # Copies of other projects, pages included.
    **dict.fromkeys(
        ("vendor", "_vendor", "vendored", "third_party", "third-party", "thirdparty", "3rdparty"), "vendored"
    ),
    # Forms to fill in: they name the subjects of a project and answer nothing.
    **dict.fromkeys(("issue_template", "pull_request_template"), "contributing"),
}
# `tests2`, `test-d`, `e2e-win`, `testing` and `integration` at the top: test code in 150 repositories.
_TEST_FOLDER = re.compile(r"(?:tests?|testing|e2e|integration)(?:[-_.\d].*)?")
# `crates/cargo-test-support`, `src/test_utils`, `testutil`: what tests are written with. `integration_tests`,
# `storetests`, `Moor.Tests.Helpers`, `Moor.Benchmarks`. Not `tokio-test` and `httptest`, which are libraries for tests.
_TESTS = re.compile(
    r"(?:.*[-_])?tests?[-_]?(?:support|utils?|helpers?|fixtures)"
    r"|.+(?:(?<!con)(?<!pro)(?<!at)tests(?:\..+)?|[-_.]benchmarks)"
)
# What tests use instead of the real thing, unless another folder says more: `contracts/mocks/docs`.
_MOCK_FOLDERS = frozenset({"mocks", "__mocks__", "harnesses"})
# Code there calls what it measures, as tests do. `src/benchmark` may be the source of a tool for benchmarks.
_BENCHMARK_FOLDERS = frozenset({"bench", "benches", "benchmark", "benchmarks", "asv_bench", "asv_benchmarks"})
# Folders with change notes, posts, and plans of what may come.
_CHANGE_FOLDERS = frozenset(
    "changelog changelogs .changelog .changes .changeset newsfragments whatsnew releasenotes release-notes"
    " release_notes changes mockups proposals rfc rfcs".split()
) | {"release notes", "_posts"}
# The documentation of earlier versions in Docusaurus, perhaps with the name of one of its parts before.
_EARLIER_FOLDERS = ("versioned_docs", "versioned_sidebars")
# A blog, decisions or audits at the top or on a site. In an example, `blog` is the example program.
_REPORTS = re.compile(
    r"^(?:.*/)?(?:docs?|website|site|www|content|pages|readme)/(?:architecture/)?(?:blog|news|adr|decisions|audits)(?:/|$)"
    r"|^(?:blog|news|adr|decisions|audits)(?:/|$)"
)
# Not `history.py` or `authors.rb`.
_PROSE_SUFFIXES = frozenset({"", ".md", ".mdx", ".markdown", ".rst", ".txt", ".adoc", ".html", ".org"})
# Translations and lock files, which name everything and explain nothing; manuals for Info, made from other formats.
_GENERATED_SUFFIXES = frozenset({".po", ".pot", ".xlf", ".xliff", ".lock", ".info"})
# What code generators name their files: `hoist.pb.go`, `hoist_pb2.py`, `schema.gen.ts`, `zz_generated.deepcopy.go`.
_GENERATED_STEM = re.compile(
    r"[._]pb(?:[._]\w+)?$|_pb2(?:_grpc)?$|[._-]gen(?:erated)?$|\.g$|\.designer$|^zz_generated|modelsnapshot$",
    re.IGNORECASE,
)
# Message catalogs, one file or folder per language: `config/locales/de.yml`, `i18n/pt-BR.json`, `i18n/en/sub.php`,
# `messages_de.properties`, and for Android `values-de/strings.xml`.
_CATALOG = re.compile(
    r"(?:^|/)(?:locales?|translations|i18n|l10n|langs?)/(?:[^/]+/)?(?:(?:locale|messages|lang|app|intl)[-_.])?"
    r"[a-z]{2,3}([-_]\w{2,4})?(?:\.(?:json|ya?ml|toml|properties|ini|arb|ftl|resx)|(?:/[^/]+)?\.php)$"
    r"|(?:^|/)(?:messages|\w+_[a-z]{2}(?:_[a-z]{2,4})?)\.properties$|(?:^|/)values(?:-[a-z-]+)?/strings\.xml$",
    re.IGNORECASE,
)
# Changes of a schema or of stored data, which run once: `db/migrate/20240101_add_rope.rb`, `MigrationTo82.kt`.
_MIGRATION = re.compile(
    r"(?:^|/)(?:(?:\w+_)?migrat(?:ions?|e)|upgraders?)/(?:[^/]+/)*[^/]*\d[^/]*$|(?:^|/)\w*Migration(?:To)?\d+\.\w+$"
)
# Libraries among the files that a web server sends: `public/v1/lib/fc/fullcalendar.js`.
_SERVED_LIBRARY = re.compile(
    r"(?:^|/)(?:public|static|wwwroot|webapp|assets|scripts)/(?:[^/]+/)*(?:libs?|jquery|plugins?)/.*\.(?:js|css|html)$"
)
# What is shown rather than done: components and templates of pages, and style sheets.
_VIEWS = tuple(
    ".html .html.erb .text.erb .haml .slim .blade.php .twig .ejs .hbs .cshtml .razor .jsp .css .scss .sass .less .tsx"
    " .jsx .vue .svelte".split()
)
_TEST_STEM = re.compile(r"^test_|^conftest$|[._-](test|tests|spec)$|(?<=[a-z0-9])(Tests?|Spec|Benchmark)$")
# Also `CHANGELOG-2021`, `2021-news`, `whatsnew-4.4` and `changelog-rc`, but not `changelog-generator`. A page whose
# whole name is a version number is on that release.
_CHANGELOG_STEM = re.compile(
    r"^(?:\d{4}[-_])?(changelog|whatsnew|rel(?:ease)?[-_]?notes|changes|history|news|releases?|todos?|roadmap|mockups?)"
    r"([-_.]?v?\d[\d._-]*)?([-_.]?(rc|alpha|beta|next|dev|unreleased|archive|old)[\d.]*)?$"
    r"|^(?:version[-_])?v?\d+(?:\.\d+)+$",
    re.IGNORECASE,
)
# Texts of licences, as for a new repository: `conf/license/MIT License`.
_LICENSE_FOLDERS = frozenset({"license", "licenses", "licence", "licences"})
_FRONT_STEMS = frozenset({"readme", "index", "_index"})
# Pages for those who take part in the project, programs among them, wherever these lie.
_AGENT_STEMS = frozenset({"AGENTS", "CLAUDE", "GEMINI"})
# Others, beside its legal texts: also `OPEN-SANS-LICENSE.txt`, but not `create-new-license.md`.
_ASIDE_STEM = re.compile(
    r"(?i:^(?P<contributing>contributing|hacking$|security|code[-_]of[-_]conduct|issue_template|pull_request_template)"
    r"|^(?:licen[sc]e|copying|notice|authors|contributors))"
    r"|[-_ ](?:LICEN[SC]ES?|COPYING|NOTICES)$"
)

_A_TEST = r"(?:tests?(?:\s+(?:case|function|method|file|class)(?:e?s)?)?|fixtures?|benchmarks?)"
_COVERS = r"(?:covers?|checks?|exercises?|verif(?:y|ies)|calls?|uses?)\b"
_ASKS_FOR: Mapping[Role, re.Pattern[str]] = {
    # Most who speak of tests ask how to run or write them, and want documentation: of 75 questions, three are answered
    # by files of tests. `TestFX` is a product.
    "test": re.compile(
        r"\b[Tt]est_\w|\bTest[A-Z]\w*[a-z]"
        r"|(?i:(?:\A|\b(?:where|how)\s+)(?:is|are|gets?)\s[^?\n]{0,80}\b(?:tested|benchmarked)\b)"
        r"|(?i:\b(?:in the tests|the tests say)\b)"
        r"|(?i:\A(?![^?]*\b(?:run|write|how (?:do i|can|to))\b)"
        rf"[^?]*?\b{_A_TEST}\s+(?:for|of|{_COVERS}|that\s+{_COVERS}))"
        rf"|(?i:\b(?:which|what|(?:where are|how do)(?:\s+the)?)\s+{_A_TEST}\b(?!\s+(?:run|library|framework)))"
        r"|(?i:\A(?!(?:re)?run|skip|write)(?:[\w.-]+\s+){1,3}tests?\Z)"
    ),
    "example": re.compile(r"\b(example|sample|demo)s?\b", re.IGNORECASE),
    "changelog": re.compile(
        r"\b(change ?log|changed|release|deprecated|since (v|version)|to-?dos?|roadmap|mockups?|proposals?|rfcs?"
        r"|blog|decisions?|audit(?:s|ed)?)\b",
        re.IGNORECASE,
    ),
    "legal": re.compile(r"\blicen[sc](?:es?|ed|ing)\b|\bcopyright|\bpatents?\b|\bcontributors\b", re.IGNORECASE),
    "migration": re.compile(r"\b(?:migrat|upgrad|schema|column|table)", re.IGNORECASE),
    "vendored": re.compile(r"\bvendor(?:ed|ing|s)?\b|\bthird[- ]part(?:y|ies)\b", re.IGNORECASE),
}

_ASKS_FOR_VIEWS = re.compile(
    r"\b(?:view|page|template|component|styl|css|colou?r|button|layout|html|font|screen|show|display)", re.IGNORECASE
)

# A search reads the paths of a hundred candidates, mostly the same again. About 1 KB each.
_CACHED_PATHS = 1 << 13


def role_of_part(part: Chunk | Outline) -> Role:
    """Return the role of a part of a file: modules named `tests` are test code in Rust, and a header can say more."""
    if part.kind == "code" and part.symbol.partition(".")[0] in ("test", "tests"):
        return "test"
    role = role_of(part.span.path, part.kind)
    return "generated" if part.is_generated and role == "source" else role


@lru_cache(maxsize=_CACHED_PATHS)
def role_of(path: str, kind: Kind) -> Role:
    """Return the role of a file.

    Example:
        >>> role_of("pkg/tests/conftest.py", "code"), role_of("src/testing.py", "code"), role_of("guide.md", "docs")
        ('test', 'source', 'documentation')
        >>> role_of(".github/SECURITY.md", "docs"), role_of("docs/settings/security.md", "docs")
        ('contributing', 'documentation')
    """
    if kind == "course":
        return "source"
    pure = PurePosixPath(path)
    named = _role_of_name(pure, kind)
    if named is not None:
        return named
    folder = pure.parent.as_posix().lower()
    folders = folder.split("/")
    role = _role_of_folders(folders, kind)
    is_news = (
        is_of_earlier_version(path.lower())
        or not _CHANGE_FOLDERS.isdisjoint(folders)
        or _REPORTS.match(folder) is not None
    )
    if kind != "code" and role not in ("test", "example") and is_news:
        return "changelog"
    aside = _role_aside(pure, kind, role) if kind != "code" else None
    if aside is not None:
        return aside
    if role == "documentation" and kind == "code":
        return "example"
    if role != "source":
        return role
    if kind == "code":
        return "source"
    return "documentation" if kind == "docs" else "configuration"


def _role_aside(path: PurePosixPath, kind: Kind, role: Role) -> Role | None:
    """Return the role of a page that is aside by its name or its place, if it is; `role` is that of its folders."""
    if role == "source" and not _LICENSE_FOLDERS.isdisjoint(part.lower() for part in path.parts[:-1]):
        return "legal"
    # `NEWS.28`, but not `history.3`, a manual page.
    is_numbered = path.suffix[1:].isdigit() and path.name[0].isupper()
    if not is_numbered and path.suffix.lower() not in _PROSE_SUFFIXES:
        return None
    stem = path.name if is_numbered else path.stem
    if _CHANGELOG_STEM.match(stem):
        return "changelog"
    # In a documentation folder, these are pages on that subject.
    if role != "documentation" and (found := _ASIDE_STEM.search(stem)):
        return "contributing" if found["contributing"] else "legal"
    # `.github/instructions`, `.claude/skills`: the pages for those who use a project are not hidden.
    is_hidden = kind == "docs" and any(part.startswith(".") for part in path.parts[:-1])
    is_hidden = is_hidden and not is_home_page(path.as_posix(), kind)
    is_inside = role in ("source", "documentation") and (is_hidden or stem in _AGENT_STEMS)
    return "contributing" if is_inside else None


def _role_of_name(path: PurePosixPath, kind: Kind) -> Role | None:
    """Return the role by the name of the file alone, if it has one."""
    if path.suffix.lower() in _GENERATED_SUFFIXES or _CATALOG.search(path.as_posix()):
        return "generated"
    if kind == "code" and _MIGRATION.search(path.as_posix()):
        return "migration"
    if _SERVED_LIBRARY.search(path.as_posix()):
        return "vendored"
    # Pages that a tool writes are documentation like others: `generated/commands.md`.
    is_code = kind == "code" and path.suffix.lower() not in _PROSE_SUFFIXES
    if is_code and (_GENERATED_STEM.search(path.stem) or "generated" in path.parts[:-1]):
        return "generated"
    is_perl_test = kind == "code" and path.suffix.lower() == ".t"
    # `.snap` holds what a test expects, and `test_dir.Rd` is the help page of a function.
    is_named_so = path.suffix != ".Rd" and _TEST_STEM.search(path.stem)
    # Source sets of Gradle: `src/commonTest`, `src/androidTest`.
    is_of_test_sources = any(part.endswith("Test") for part in path.parts[:-1])
    is_test = is_perl_test or path.suffix == ".snap" or is_named_so or is_of_test_sources
    return "test" if is_test else None


def _role_of_folders(folders: Sequence[str], kind: Kind) -> Role:
    is_measuring = folders[0] in _BENCHMARK_FOLDERS or "benches" in folders
    is_for_tests = _TEST_FOLDER.fullmatch(folders[0]) or any(map(_TESTS.fullmatch, folders))
    # `test_moor_expected`: what is in there, pages included, is data of tests.
    is_data = folders[0].startswith(("test-", "test_"))
    if is_data or (kind == "code" and (is_measuring or is_for_tests)):
        return "test"
    unnamed: Role = "source" if _MOCK_FOLDERS.isdisjoint(folders) else "test"
    return next((_FOLDERS[part] for part in folders if part in _FOLDERS), unnamed)


def is_of_earlier_version(path: str) -> bool:
    """Return whether a file is of an earlier version of a documentation, as Docusaurus keeps them.

    Example:
        >>> [is_of_earlier_version(f"site/{folder}/v1/moor.md") for folder in ("versioned_docs", "docs")]
        [True, False]
    """
    return any(part.endswith(_EARLIER_FOLDERS) for part in path.split("/"))


@lru_cache(maxsize=_CACHED_PATHS)
def is_home_page(path: str, kind: Kind) -> bool:
    """Return whether a page is the README at the top, where GitHub looks for one, or the index of the documentation.

    Example:
        >>> [is_home_page(path, "docs") for path in (".github/README.md", "docs/index.rst", "docs/api/index.rst")]
        [True, True, False]
    """
    pure = PurePosixPath(path)
    folder = pure.parent.as_posix().lower()
    is_at_top = folder in (".", ".github") or _FOLDERS.get(folder) == "documentation"
    return kind == "docs" and is_at_top and pure.stem.lower() in _FRONT_STEMS


def is_aside(path: str) -> bool:
    """Return whether a file has a role of `ASIDE`: a test, changelog, licence, generated or copied file.

    Example:
        >>> [is_aside(path) for path in ("tests/test_wait.py", "CHANGES.rst", "locale/de.po", "src/wait.py")]
        [True, True, True, False]
    """
    # The path decides, so try both kinds.
    return not ASIDE.isdisjoint((role_of(path, "code"), role_of(path, "docs")))


def is_view(path: str) -> bool:
    """Return whether a file is shown rather than run by a server: a component, a template of a page, a style sheet.

    Example:
        >>> [is_view(path) for path in ("app/views/rope.html.erb", "ui/Rope.tsx", "ui/rope.ts")]
        [True, True, False]
    """
    return path.lower().endswith(_VIEWS)


def asks_for_views(text: str) -> bool:
    """Return whether a question may be about what is shown.

    Example:
        >>> asks_for_views("Where is the button drawn?"), asks_for_views("Who may cut a rope?")
        (True, False)
    """
    return _ASKS_FOR_VIEWS.search(text) is not None


@lru_cache(maxsize=_CACHED_PATHS)
def asks_for(role: Role, text: str) -> bool:
    """Return whether a question asks for files of a role, which are penalized otherwise.

    Example:
        >>> asks_for("test", "where is retry tested?"), asks_for("test", "the test client")
        (True, False)
    """
    return role in _ASKS_FOR and _ASKS_FOR[role].search(text) is not None


def is_unasked(part: Chunk | Outline, text: str) -> bool:
    """Return whether a part of a file has a role of `ASIDE` that a question does not ask for."""
    role = role_of_part(part)
    return role in ASIDE and not asks_for(role, text)


# Documentation comments: Rust, Swift, C# (`///`, `//!`), Java, PHP, Kotlin (`/**`), Haskell (`-- |`), Nim (`##`), Lisp
# (`;;;`), R (`#'`), Elixir (`@doc`).
_DOCUMENTS = re.compile(
    r"^[ \t]*(?:///|//!|/\*\*|\*(?![\w(*])|-- ?\||##|;;;|#'|@(?:module|type)?doc\b).*", re.MULTILINE
)


# Comments of configuration files, but not settings that are commented out: `#timeout = 5`.
_EXPLAINS = re.compile(r"^[ \t]*(?:#|;|//)[ \t]*[^\s=:]+[ \t]+[^\s=:].*", re.MULTILINE)


def explained_share(chunk: Chunk) -> float:
    """Return the share of a chunk of a configuration file that is comments, from 0 to 1."""
    if chunk.kind != "config" or role_of_part(chunk) != "configuration":
        return 0.0
    return sum(map(len, _EXPLAINS.findall(chunk.text))) / max(1, len(chunk.text) - chunk.text.count("\n"))


def documented_share(chunk: Chunk) -> float:
    """Return the share of a chunk of source code that is documentation comments or a docstring, from 0 to 1."""
    if chunk.kind != "code" or role_of_part(chunk) != "source":
        return 0.0
    documentation = sum(map(len, _DOCUMENTS.findall(chunk.text)))
    return min(1.0, max(documentation, len(chunk.docstring)) / (len(chunk.text) - chunk.text.count("\n")))
