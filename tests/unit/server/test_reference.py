"""The description of the API for people: every field of every route and shape, in words."""

from __future__ import annotations

from typing import Annotated

from fastapi import FastAPI, File, Form, Query, UploadFile
from fastapi.responses import PlainTextResponse

from openbook.server.people_schemas import CallerResponse, LoginRequest
from openbook.server.reference import reference
from openbook.server.schemas import ErrorResponse


def test_routes_list_what_they_take_and_give_and_shapes_list_their_fields() -> None:
    app = FastAPI(responses={400: {"model": ErrorResponse}})

    @app.get("/me")
    async def me(format_: Annotated[str, Query(alias="format", description="Of `it`.")] = "a<b") -> CallerResponse:
        """Tell `who` asks."""
        raise NotImplementedError

    @app.post("/login", response_class=PlainTextResponse)
    async def login(sent: LoginRequest) -> None:
        raise NotImplementedError

    @app.post("/files", status_code=204)
    async def files(sent: Annotated[list[UploadFile], File()], course: Annotated[bool, Form()] = False) -> None:
        raise NotImplementedError

    page = reference(app.openapi())

    assert "<p>Tell <code>who</code> asks.</p>" in page
    assert (
        "<td><code>format</code></td><td>query</td><td>string; &quot;a&lt;b&quot; if not given</td>"
        "<td>Of <code>it</code>.</td>"
    ) in page
    assert '<p>Returns 200: <a href="#CallerResponse">CallerResponse</a></p>' in page
    assert "<td><code>key</code></td><td>body, JSON</td><td>string; &quot;&quot; if not given</td><td></td>" in page
    assert "<p>Returns 200: text/plain</p>" in page
    assert "<td><code>sent</code></td><td>form</td><td>list of file</td>" in page
    assert "<p>Returns 204</p>" in page
    assert "<td><code>key</code></td><td>string</td><td>Name of the key; empty without one.</td>" in page
    assert 'id="ErrorResponse"' in page
    assert "ValidationError" not in page
    assert "Body_" not in page
