"""Exports of Notion and Confluence are read page by page; other zips are not."""

from __future__ import annotations

import pytest

from openbook.errors import SkippedFileError
from openbook.sources.documents import DocumentReader, ReadFile
from tests.unit.sources.readers.zipped_files import zipped

HASH = "0123456789abcdef0123456789abcdef"


def read_all(raw: bytes) -> ReadFile:
    return DocumentReader("s").read_all(raw, "export.zip")


def test_pages_of_notion_are_documents_named_by_their_path_without_identifiers() -> None:
    pages: dict[str, str | bytes] = {
        f"Recipes {HASH}.md": "# Recipes\n\nAll of them.\n",
        f"Recipes {HASH}/Rye bread {HASH[::-1]}.md": "Rest for an hour.\n",
        f"Recipes {HASH}/oven.png": b"\x89PNG",
        f"Recipes {HASH}/.env.md": "hidden",
        f"Costs {HASH}.csv": "item,euro\nrye,3\n",
    }
    found = read_all(zipped(pages))
    nested = read_all(zipped({f"Export-{'1' * 36}-Part-1.zip": zipped(pages)}))

    assert found.document.text == "Costs.csv\nRecipes.md\nRecipes/Rye bread.md"
    assert {one.path: (one.kind, one.text) for one in found.attached} == {
        "export.zip/Costs.csv": ("data", "item,euro\nrye,3\n"),
        "export.zip/Recipes.md": ("docs", "# Recipes\n\nAll of them.\n"),
        "export.zip/Recipes/Rye bread.md": ("docs", "Rest for an hour.\n"),
    }
    assert [one.text for one in nested.attached] == [one.text for one in found.attached]


def test_pages_of_confluence_are_read_without_their_index() -> None:
    (page,) = read_all(
        zipped({"SPACE/index.html": "<p>Contents</p>", "SPACE/Rye-bread_1234567.html": "<p>Rest for an hour.</p>"})
    ).attached

    assert (page.path, page.text.split()) == ("export.zip/SPACE/Rye-bread.html", ["Rest", "for", "an", "hour."])


def test_a_page_that_cannot_be_read_or_is_a_secret_leaves_the_others() -> None:
    key = "-----BEGIN RSA PRIVATE KEY-----\nMIIE\n"
    found = read_all(zipped({f"A {HASH}.md": "# A\n", f"B {HASH}.md": key, f"C {HASH}.pdf": "no PDF"}))

    assert [one.path for one in found.attached] == ["export.zip/A.md"]
    assert found.skipped == (("export.zip/B.md", "secret"), ("export.zip/C.pdf", "not a PDF file"))


@pytest.mark.parametrize(
    ("raw", "reason"),
    [
        (zipped({"a.md": "# A\n"}), "binary; of zips, exports of Notion and Confluence are read"),
        (zipped({f"A {HASH}.md": " "}), "an export without pages"),
    ],
)
def test_other_zips_and_empty_exports_are_refused(raw: bytes, reason: str) -> None:
    with pytest.raises(SkippedFileError) as refused:
        read_all(raw)

    assert refused.value.reason == reason
