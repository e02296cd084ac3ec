"""Drafts that an agent has verified, by the code that they cite."""

from __future__ import annotations

from pathlib import Path

import pytest

from openbook.library import Library
from openbook.settings import Settings
from openbook.watched_library import WatchedLibrary
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


@pytest.mark.parametrize(
    ("draft", "told"),
    [
        pytest.param(
            "It returns an error (labels.go:3).",
            "unknown: It returns an error. (labels.go:3): no document has the path of labels.go:3; "
            "did you mean src/labels.go?",
            id="another-folder",
        ),
        pytest.param(
            "It returns an error (src/labels.go:30).",
            "unknown: It returns an error. (src/labels.go:30): there are no such lines: src/labels.go:30; "
            "the document has 3 lines",
            id="too-far-down",
        ),
        pytest.param(
            "It returns `other` (src\\labels.go:2).",
            "conflict: It returns `other`. (src/labels.go:2): `other` is not in the cited lines",
            id="backslashes",
        ),
        pytest.param(
            "It returns errOther (src\\gone.go:2).",
            "uncited: It returns errOther (src\\gone.go:2). (no place): it states facts and cites nothing",
            id="backslashes-of-no-path",
        ),
    ],
)
def test_a_place_that_is_not_there_is_told_from_one_that_is_written_otherwise(
    tmp_path: Path, draft: str, told: str
) -> None:
    (tmp_path / "src").mkdir()
    (tmp_path / "src" / "labels.go").write_text("func seal() error {\n\treturn err\n}\n", encoding="utf-8")
    with Library.open("labels", settings=Settings.from_env()) as assistant:
        result = call(WatchedLibrary(assistant, [tmp_path], watch=False), "verify_citations", text=draft)

    assert result.content[0].text == told


def test_similar_paths_are_looked_for_in_place_of_a_few_unknown_ones_and_each_is_told(tmp_path: Path) -> None:
    (tmp_path / "label.go").write_text("func seal() error {\n\treturn err\n}\n", encoding="utf-8")
    draft = " ".join(f"It returns an error (labels/{number}/label.go:3)." for number in range(200))
    with Library.open("labels", settings=Settings.from_env()) as assistant:
        result = call(WatchedLibrary(assistant, [tmp_path], watch=False), "verify_citations", text=draft)

    assert result.content[0].text.count("no document has the path of") == 200
    assert result.content[0].text.count("did you mean label.go?") == 10
