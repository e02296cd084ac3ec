"""The Python on the page about repositories runs as it stands."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tests.repositories import Repository

PAGE = Path(__file__).parents[2] / "docs" / "repositories.md"


def test_the_example_loads_two_repositories_and_asks_them(github: Path, capsys: pytest.CaptureFixture[str]) -> None:
    Repository(github / "octo" / "shop").commit({"README.md": "# Shop\n\nRefunds are booked by the till.\n"})
    Repository(github / "octo" / "door").commit(
        {"docs/a.md": "# Door\n\nRefunds are announced at the door.\n", "b.md": "no\n"}
    )
    (example,) = re.findall(r"^```python\n(.*?)^```", PAGE.read_text(encoding="utf-8"), re.MULTILINE | re.DOTALL)

    exec(compile(example, str(PAGE), "exec"), {})

    out = capsys.readouterr().out
    assert "Refunds are booked by the till." in out
    assert "[('README.md', 'readme')]" in out
