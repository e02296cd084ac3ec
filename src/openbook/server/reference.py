"""The API on one page for people, made from its OpenAPI description. Loads nothing from elsewhere."""

from __future__ import annotations

import json
from html import escape
from typing import Any

_PAGE = """<!doctype html>
<html lang="en">
<head><meta charset="utf-8"><meta name="viewport" content="width=device-width"><title>Openbook: HTTP API</title></head>
<body>
<h1>Openbook: HTTP API</h1>
<p><a href="/openapi.json">openapi.json</a> says the same for machines.
What changes something needs JSON or the header <code>X-Openbook: 1</code>.</p>
{routes}
<h2>Shapes</h2>
{shapes}
</body>
</html>
"""


def reference(openapi: dict[str, Any]) -> str:
    """Give the page."""
    routes = [
        _route(method.upper(), path, told)
        for path, methods in sorted(openapi["paths"].items())
        for method, told in methods.items()
    ]
    shapes = [_shape(name, told) for name, told in sorted(openapi["components"]["schemas"].items())]
    return _PAGE.format(routes="\n".join(routes), shapes="\n".join(shapes))


def _route(method: str, path: str, told: dict[str, Any]) -> str:
    fields = [f"{each['name']} ({each['in']})" for each in told.get("parameters", [])]
    sent = told.get("requestBody", {}).get("content", {}).values()
    fields += [f"body: {_name(content['schema'])}" for content in sent]
    for status, reply in told["responses"].items():
        content: dict[str, Any] = next(iter(reply.get("content", {}).values()), {})
        if status.startswith("2"):
            fields.append(f"{status}: {_name(content.get('schema', {}))}")
    items = "".join(f"<li>{escape(field)}</li>" for field in fields)
    about = escape(told.get("description", ""))
    return f"<h2><code>{method} {escape(path)}</code></h2>\n<p>{about}</p>\n<ul>{items}</ul>"


def _shape(name: str, told: dict[str, Any]) -> str:
    shown = escape(json.dumps(told.get("properties", {}), indent=2, ensure_ascii=False))
    about = escape(told.get("description", ""))
    return f'<h3 id="{escape(name)}">{escape(name)}</h3>\n<p>{about}</p>\n<details><summary>fields</summary>' + (
        f"<pre>{shown}</pre></details>"
    )


def _name(schema: dict[str, Any]) -> str:
    return str(schema.get("$ref", schema.get("title", schema.get("type", "nothing")))).rpartition("/")[2]
