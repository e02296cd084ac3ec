"""Options choose files by patterns, and paths say what a document is for."""

from __future__ import annotations

from typing import Any

import pytest

from openbook.errors import QueryError
from openbook.sources.loading import LoadOptions, document_type
from openbook.types import Kind

OPTIONS = LoadOptions(
    include_paths=("docs", "/src/**"), exclude_paths=("internal",), file_patterns=("*.md", "*.py"), max_file_bytes=100
)


@pytest.mark.parametrize(
    ("path", "size_bytes", "reason"),
    [
        pytest.param("docs/a.md", 100, None, id="in-a-folder"),
        pytest.param("src/b/c.py", 1, None, id="below-a-pattern"),
        pytest.param("docs/internal/a.md", 1, "", id="excluded-wherever-it-is"),
        pytest.param("lib/src/a.py", 1, "", id="not-included"),
        pytest.param("docs/a.js", 1, "", id="of-another-pattern"),
        pytest.param("docs/a.md", 101, "too large", id="too-large"),
        pytest.param("docs/.ssh/a.md", 1, "secret", id="secret"),
    ],
)
def test_a_file_is_loaded_if_it_is_included_fits_a_pattern_and_is_not_excluded(
    path: str, size_bytes: int, reason: str | None
) -> None:
    assert OPTIONS.refusal(path, size_bytes) == reason


@pytest.mark.parametrize(
    ("path", "reason"),
    [("docs/a.PDF", None), ("docs/b.pptx", None), ("docs/a.md", "too large"), ("docs/a.ipynb", "too large")],
)
def test_what_text_is_extracted_from_has_a_limit_of_its_own(path: str, reason: str | None) -> None:
    size_bytes = 100 * 1024 * 1024

    assert LoadOptions().refusal(path, size_bytes, max_document_bytes=size_bytes) == reason
    assert LoadOptions().refusal(path, size_bytes, max_document_bytes=size_bytes - 1) == "too large"


@pytest.mark.parametrize(
    ("path", "kind", "expected"),
    [
        ("README.md", "docs", "readme"),
        ("pkg/readme.de.rst", "docs", "readme"),
        ("CLAUDE.md", "docs", "claude-md"),
        ("web/AGENTS.md", "docs", "claude-md"),
        ("docs/architecture.md", "docs", "architecture"),
        ("docs/adr/0001-queue.md", "docs", "architecture"),
        ("docs/api/rest.rst", "docs", "api-docs"),
        ("docs/rapid.md", "docs", "markdown"),
        ("docs/guide.rst", "docs", "docs"),
        ("src/api.py", "code", "code"),
        ("readme.py", "code", "code"),
    ],
)
def test_the_path_says_what_a_document_is_for(path: str, kind: Kind, expected: str) -> None:
    assert document_type(path, kind) == expected


@pytest.mark.parametrize("field", ["include_paths", "exclude_paths", "file_patterns"])
def test_an_invalid_pattern_is_refused_before_fetching(field: str) -> None:
    patterns: dict[str, Any] = {field: ("*.md", "[z-a]")}

    with pytest.raises(QueryError, match="is no pattern of paths"):
        LoadOptions(**patterns)
