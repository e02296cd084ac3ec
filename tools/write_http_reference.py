"""Writes docs/http.md from the OpenAPI description of the server: `python tools/write_http_reference.py`."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from http import HTTPStatus
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from openbook.library import Library
from openbook.server.app import create_app
from openbook.server.models import ModelRegistry
from openbook.settings import Settings

Json = dict[str, Any]

REFERENCE = Path(__file__).parents[1] / "docs" / "http.md"

_FIRST_ERROR = 400
_LIMITS = {
    "minLength": "length from {}",
    "maxLength": "length up to {}",
    "minItems": "entries from {}",
    "maxItems": "entries up to {}",
    "minimum": "from {}",
    "maximum": "up to {}",
    "pattern": "pattern `{}`",
}


def reference() -> str:
    """Return the whole page as Markdown, the same on every machine."""
    api = _description()
    schemas: Json = api["components"]["schemas"]
    routes = [
        (method.upper(), path, operation)
        for path, methods in api["paths"].items()
        for method, operation in methods.items()
    ]
    lines = [
        "# HTTP API",
        "",
        "<!-- Written by tools/write_http_reference.py from src/openbook/server/: change the texts there. -->",
        "",
        "The routes of `openbook serve`, as `GET /openapi.json` describes them.",
        "[The server](server.md#http-api) has examples, limits, and what an error means.",
        "A field with * is required in a request, and always there in a response.",
        "",
        "| route | what it does |",
        "|---|---|",
        *(
            f"| [`{method} {path}`](#{_anchor(method, path)}) | {_first(operation)} |"
            for method, path, operation in routes
        ),
    ]
    for method, path, operation in routes:
        lines += ["", f"## {method} {path}", "", *_route(operation, schemas)]
    lines += ["", "## Errors", "", *_errors(routes), "", "## Schemas"]
    for name, schema in _named(schemas):
        lines += ["", f"### {name}", "", _text(schema), "", *_fields(schema)]
    return "\n".join(lines) + "\n"


def _description() -> Json:
    with TemporaryDirectory() as home, Library.open(settings=Settings(home=Path(home))) as library:
        app = create_app(library, models=ModelRegistry((), "extractive"))
        app.state.keys.close()
        app.state.sessions.close()
        described: Json = app.openapi()
    return described


def _route(operation: Json, schemas: Json) -> Iterator[str]:
    yield from operation["description"].split("\n")
    if operation.get("parameters"):
        yield from ("", "| parameter | in | type | what it is |", "|---|---|---|---|")
        for each in operation["parameters"]:
            name = f"`{each['name']}`{' *' if each['required'] else ''}"
            yield f"| {name} | {each['in']} | {_type(each['schema'])} | {_about(each, each['schema'])} |"
    for media, content in operation.get("requestBody", {}).get("content", {}).items():
        named = content["schema"]["$ref"].rpartition("/")[2]
        if media == "application/json":
            yield from ("", f"Body: {_link(named)}, JSON.")
        else:
            yield from ("", f"Body: `{media}`.", "", *_fields(schemas[named]))
    for status, response in operation["responses"].items():
        if int(status) < _FIRST_ERROR:
            yield from ("", f"Response {status}: {_response(response)}.")


def _response(response: Json) -> str:
    kinds = [
        f"{_type(content['schema'])}, JSON" if "$ref" in content.get("schema", {}) else f"`{media}`"
        for media, content in response.get("content", {}).items()
    ]
    return " or ".join(kinds) or "no body"


def _errors(routes: Iterable[tuple[str, str, Json]]) -> Iterator[str]:
    statuses = {int(status) for _, _, operation in routes for status in operation["responses"]}
    yield f"An error is an {_link('ErrorResponse')}. [The server](server.md#errors) tells what each status means."
    yield from ("", "| status | name |", "|---|---|")
    yield from (f"| {each} | {HTTPStatus(each).phrase} |" for each in sorted(statuses) if each >= _FIRST_ERROR)


def _named(schemas: Json) -> Iterator[tuple[str, Json]]:
    """Yield what routes and fields refer to; the forms of uploads are shown at their routes."""
    return ((name, schema) for name, schema in sorted(schemas.items()) if not name.startswith("Body_"))


def _fields(schema: Json) -> Iterator[str]:
    yield from ("| field | type | what it is |", "|---|---|---|")
    for name, field in schema["properties"].items():
        required = " *" if name in schema.get("required", ()) else ""
        yield f"| `{name}`{required} | {_type(field)} | {_about(field, field)} |"


def _type(schema: Json) -> str:
    if "$ref" in schema:
        return _link(schema["$ref"].rpartition("/")[2])
    if "anyOf" in schema:
        return " or ".join(_type(each) for each in schema["anyOf"])
    if "enum" in schema:
        return ", ".join(f"`{value}`" for value in schema["enum"])
    if "prefixItems" in schema:
        return f"[{', '.join(_type(each) for each in schema['prefixItems'])}]"
    if schema.get("type") == "array":
        return f"list of {_type(schema['items'])}"
    if schema.get("contentMediaType"):
        return "file"
    return str(schema.get("type", "any"))


def _about(described: Json, schema: Json) -> str:
    """Tell what a field is, its limits and its default."""
    said = [_text(described)] if described.get("description") else []
    for each in (schema, *schema.get("anyOf", ())):
        limits = ", ".join(text.format(_plain(each[key])) for key, text in _LIMITS.items() if key in each)
        said += [f"{limits[0].upper()}{limits[1:]}."] if limits else []
    if schema.get("default") not in (None, []):
        said.append(f"Default: `{schema['default']}`.")
    return " ".join(said).replace("|", "\\|")


def _plain(value: float | str) -> str:
    return f"{value:.0f}" if isinstance(value, float) else str(value)


def _text(described: Json) -> str:
    return " ".join(described.get("description", "").split())


def _first(operation: Json) -> str:
    return str(operation["description"]).split("\n\n")[0].replace("\n", " ").replace("|", "\\|")


def _link(name: str) -> str:
    return f"[{name}](#{name.lower()})"


def _anchor(method: str, path: str) -> str:
    kept = "".join(letter for letter in f"{method} {path}".lower() if letter.isalnum() or letter in "_- ")
    return kept.replace(" ", "-")


if __name__ == "__main__":
    REFERENCE.write_text(reference(), encoding="utf-8")
