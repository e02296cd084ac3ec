"""The page about the server names every route, and no other."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from openbook.library import Library
from openbook.server.app import create_app
from openbook.server.models import ModelRegistry
from openbook.settings import Settings

PAGE = Path(__file__).parents[2] / "docs" / "server.md"
_ROUTE = re.compile(r"^\| `(GET|POST|PATCH|PUT|DELETE) (/\S+)` \|", re.MULTILINE)


@pytest.mark.slow
def test_every_route_is_documented_and_every_documented_route_is_one(tmp_path: Path) -> None:
    with Library.open(settings=Settings(home=tmp_path)) as assistant:
        app = create_app(assistant, models=ModelRegistry((), "extractive"))
    app.state.keys.close()
    app.state.sessions.close()

    routes = {(method.upper(), path) for path, methods in app.openapi()["paths"].items() for method in methods}

    assert set(_ROUTE.findall(PAGE.read_text(encoding="utf-8"))) == routes
