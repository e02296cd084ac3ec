"""The examples on the page about models are correct."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from openbook.llm.choose import parse_name
from openbook.llm.providers import PROVIDERS

PAGE = (Path(__file__).parents[2] / "docs" / "models.md").read_text(encoding="utf-8")


@pytest.mark.parametrize("name", list(PROVIDERS))
def test_every_provider_is_in_the_table_with_its_key_and_the_model_it_means(name: str) -> None:
    row = re.search(rf"^\| `{name}:(?P<model>[^`]+)` \| `(?P<key>[A-Z_]+)`(?P<optional>, if)?", PAGE, re.MULTILINE)
    provider = PROVIDERS[name]

    assert row is not None
    assert row["key"] == provider.key
    assert (row["optional"] is None) == provider.needs_key
    assert parse_name(f"{name}:{row['model']}") == (provider, row["model"])
    assert row["model"] == (provider.model or "NAME")
