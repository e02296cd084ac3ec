"""Exports of Notion and Confluence are read page by page; other zips are not."""

from __future__ import annotations

import pytest

from openbook.errors import SkippedFileError
from openbook.sources.documents import read_document
from openbook.types import Document
from tests.unit.sources.readers.zipped_files import zipped

HASH = "0123456789abcdef0123456789abcdef"


def read(raw: bytes) -> Document:
    return read_document(raw, source="s", path="export.zip")


def test_pages_of_notion_are_named_by_their_path_without_identifiers() -> None:
    pages: dict[str, str | bytes] = {
        f"Recipes {HASH}.md": "# Recipes\n\nAll of them.\n",
        f"Recipes {HASH}/Rye bread {HASH[::-1]}.md": "Rest for an hour.\n",
        f"Recipes {HASH}/oven.png": b"\x89PNG",
        f"Recipes {HASH}/.env.md": "hidden",
    }
    document = read(zipped(pages))
    nested = read(zipped({f"Export-{'1' * 36}-Part-1.zip": zipped(pages)}))

    assert document.text == "Recipes\n\n# Recipes\n\nAll of them.\n\n\nRecipes/Rye bread\n\nRest for an hour.\n"
    assert [anchor.label for anchor in document.anchors] == ["Recipes", "Recipes/Rye bread"]
    assert nested.text == document.text


def test_pages_of_confluence_are_read_without_their_index() -> None:
    document = read(
        zipped({"SPACE/index.html": "<p>Contents</p>", "SPACE/Rye-bread_1234567.html": "<p>Rest for an hour.</p>"})
    )

    assert document.text.split() == ["SPACE/Rye-bread", "Rest", "for", "an", "hour."]
    assert document.anchors[0].label == "SPACE/Rye-bread"


@pytest.mark.parametrize(
    ("raw", "reason"),
    [
        (zipped({"a.md": "# A\n"}), "binary; of zips, exports of Notion and Confluence are read"),
        (zipped({f"A {HASH}.md": " "}), "an export without pages"),
    ],
)
def test_other_zips_and_empty_exports_are_refused(raw: bytes, reason: str) -> None:
    with pytest.raises(SkippedFileError) as refused:
        read(raw)

    assert refused.value.reason == reason
