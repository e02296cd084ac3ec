"""Every route, asked what its description allows: no fault of ours, and no reply that the description does not name.

Few examples of each kind: the whole takes seconds, and finds what a route does with what nobody thought of.
"""

from __future__ import annotations

from typing import Any

import pytest
import schemathesis
from fastapi.routing import APIRoute
from fastapi.testclient import TestClient
from hypothesis import HealthCheck, Phase, given, settings
from schemathesis.checks import not_a_server_error
from schemathesis.specs.openapi.checks import (
    content_type_conformance,
    response_headers_conformance,
    response_schema_conformance,
    status_code_conformance,
)

from tests.server.conftest import Serve

_CHECKS = [
    not_a_server_error,
    status_code_conformance,
    content_type_conformance,
    response_headers_conformance,
    response_schema_conformance,
]


_HEADERS = {"X-Openbook": "1", "Host": "localhost"}

_FEW = settings(
    max_examples=12,
    deadline=None,
    derandomize=True,
    phases=[Phase.explicit, Phase.generate],
    database=None,
    suppress_health_check=list(HealthCheck),
)


@pytest.mark.slow
def test_every_route_keeps_to_its_description(client: TestClient) -> None:
    api: Any = schemathesis.openapi.from_asgi("/openapi.json", client.app, headers=_HEADERS)
    asked = []

    for found in api.get_all_operations():
        operation = found.ok()
        if operation.path.endswith("/events"):
            continue  # of jobs that do not exist; test_contents.py follows those that do

        @_FEW
        @given(case=operation.as_strategy())
        def keeps_to_its_description(case: Any) -> None:
            response = case.call(headers=_HEADERS)
            case.validate_response(response, checks=_CHECKS)

        keeps_to_its_description()
        asked.append(operation.label)

    assert len(asked) >= 20


def test_servers_of_one_process_share_their_routes_which_take_long_to_build(serve: Serve) -> None:
    apps: list[Any] = [serve().app, serve().app]

    one, other = (
        {id(route) for route in app.routes if isinstance(route, APIRoute) and route.include_in_schema} for app in apps
    )

    assert len(one) > 40
    assert one == other
