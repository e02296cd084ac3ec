"""Renders the OpenAPI description as one HTML page, without scripts or external files."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable
from html import escape
from typing import Any

STYLE = """:root { color-scheme: light dark; }
body { font: 16px/1.5 system-ui, sans-serif; max-width: 56rem; margin: 2rem auto; padding: 0 1rem; }
h2 { margin-top: 3rem; }
h3 { margin-top: 2rem; border-top: 1px solid #8886; padding-top: 1rem; }
code { font-family: ui-monospace, monospace; overflow-wrap: anywhere; }
table { border-collapse: collapse; width: 100%; }
th, td { text-align: left; vertical-align: top; padding: .25rem 1rem .25rem 0; border-bottom: 1px solid #8883; }
"""

_PAGE = """<!doctype html>
<html lang="en">
<head><meta charset="utf-8"><meta name="viewport" content="width=device-width"><title>Openbook: HTTP API</title>
<link rel="stylesheet" href="docs.css"></head>
<body>
<h1>Openbook: HTTP API</h1>
<p><a href="openapi.json">openapi.json</a> says the same for machines.
What changes something needs JSON or the header <code>X-Openbook: 1</code>.
Every error has the shape <a href="#ErrorReply">ErrorReply</a>.</p>
<h2>Routes</h2>
{routes}
<h2>Shapes</h2>
{shapes}
</body>
</html>
"""

_CODE = re.compile(r"`([^`]+)`")

# Models of the framework for errors whose format differs here, or which are shown with their route.
_UNSEEN = ("HTTPValidationError", "ValidationError")


def reference(openapi: dict[str, Any]) -> str:
    """Return the page."""
    schemas = openapi["components"]["schemas"]
    routes = [
        _route(method.upper(), path, operation, schemas)
        for path, methods in sorted(openapi["paths"].items())
        for method, operation in methods.items()
    ]
    shapes = [
        _shape(name, schema) for name, schema in sorted(schemas.items()) if name not in _UNSEEN and _is_named(name)
    ]
    return _PAGE.format(routes="\n".join(routes), shapes="\n".join(shapes))


def _route(method: str, path: str, operation: dict[str, Any], schemas: dict[str, Any]) -> str:
    rows = [
        _row(each["name"], each["in"], each["schema"], each.get("required", False), each.get("description", ""))
        for each in operation.get("parameters", [])
    ]
    for kind, content in operation.get("requestBody", {}).get("content", {}).items():
        name = _name(content["schema"])
        where = "body, JSON" if kind == "application/json" else "form"
        rows += _fields(schemas[name], where)
    gives = [
        f"{status}: {_type(content['schema']) if kind == 'application/json' and 'schema' in content else escape(kind)}"
        for status, reply in operation["responses"].items()
        for kind, content in reply.get("content", {"": {}}).items()
        if status.startswith("2")
    ]
    return (
        f"<h3><code>{method} {escape(path)}</code></h3>\n<p>{_words(operation.get('description', ''))}</p>\n"
        f"{_table(rows, 'in')}<p>Returns {', '.join(gives).rstrip(': ')}</p>"
    )


def _shape(name: str, schema: dict[str, Any]) -> str:
    about = _words(schema.get("description", ""))
    return f'<h3 id="{escape(name)}">{escape(name)}</h3>\n<p>{about}</p>\n{_table(_fields(schema), "")}'


def _fields(schema: dict[str, Any], where: str = "") -> list[str]:
    required = schema.get("required", [])
    return [
        _row(name, where, field, name in required, field.get("description", ""))
        for name, field in schema.get("properties", {}).items()
    ]


def _row(name: str, where: str, schema: dict[str, Any], is_required: bool, about: str) -> str:
    default = schema.get("default")
    given = "" if default is None else f"; {escape(json.dumps(default))} if not given"
    need = "" if is_required or given or not where else "; optional"
    cells = [f"<code>{escape(name)}</code>", *([escape(where)] if where else []), f"{_type(schema)}{need}{given}"]
    return f"<tr>{''.join(f'<td>{cell}</td>' for cell in (*cells, _words(about)))}</tr>"


def _table(rows: Iterable[str], where: str) -> str:
    listed = "\n".join(rows)
    place = f"<th>{where}</th>" if where else ""
    return (
        f"<table>\n<tr><th>field</th>{place}<th>type</th><th>meaning</th></tr>\n{listed}\n</table>\n" if listed else ""
    )


def _type(schema: dict[str, Any]) -> str:
    """Return the type of a value, with links to its models."""
    if "$ref" in schema:
        name = _name(schema)
        return f'<a href="#{escape(name)}">{escape(name)}</a>'
    if "anyOf" in schema:
        return " or ".join(map(_type, schema["anyOf"]))
    if "enum" in schema or "const" in schema:
        return " or ".join(f"<code>{escape(str(each))}</code>" for each in schema.get("enum", [schema.get("const")]))
    kind = "file" if "contentMediaType" in schema else schema.get("type", "anything")
    if kind == "array":
        if "prefixItems" in schema:
            return f"[{', '.join(map(_type, schema['prefixItems']))}]"
        return f"list of {_type(schema['items'])}"
    if kind == "object" and isinstance(schema.get("additionalProperties"), dict):
        return f"object of {_type(schema['additionalProperties'])}"
    return escape(schema.get("format", kind))


def _name(schema: dict[str, Any]) -> str:
    return str(schema["$ref"]).rpartition("/")[2]


def _is_named(name: str) -> bool:
    return not name.startswith("Body_")  # a form, whose fields are listed with its route


def _words(text: str) -> str:
    """Render the backticks of a docstring as code."""
    return _CODE.sub(r"<code>\1</code>", escape(" ".join(text.split())))
