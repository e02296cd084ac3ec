"""Drafts that an agent has verified, by the code that they cite."""

from __future__ import annotations

from pathlib import Path

import pytest

from openbook.library import Library
from openbook.mcp.watched_library import WatchedLibrary
from openbook.settings import Settings
from tests.integration.support_mcp import call


@pytest.mark.parametrize(
    ("name", "verdict"),
    [
        pytest.param("splitLabel", "unverified", id="the-definition-around-the-lines"),
        pytest.param("weigh", "conflict", id="the-one-beside-it"),
    ],
)
def test_lines_within_a_definition_count_as_its_own(tmp_path: Path, name: str, verdict: str) -> None:
    code = (
        "func seal(p Parcel) bool {\n\treturn p.shut\n}\n\nfunc weigh(p Parcel) bool {\n\treturn p.heavy\n}\n\n"
        "func splitLabel(text string) error {\n\tif long(text) {\n\t\treturn fmt.Errorf(text)\n\t}\n\treturn nil\n}\n"
    )
    (tmp_path / "labels.go").write_text(code, encoding="utf-8")
    draft = f"`{name}` returns an error that names the text (labels.go:10-12)."
    with Library.open("labels", settings=Settings.from_env()) as assistant:
        result = call(WatchedLibrary(assistant, [tmp_path], watch=False), "verify_citations", text=draft)

    assert result.content[0].text.startswith(f"{verdict}: ")
    assert (f"`{name}` is not in the cited lines" in result.content[0].text) is (verdict == "conflict")
