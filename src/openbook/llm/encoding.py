"""Makes arbitrary text safe to send as JSON in UTF-8."""

from __future__ import annotations

import re
from typing import Any

# Characters that neither API allows in tool names, nor Anthropic in call ids.
_NOT_IN_NAMES = re.compile(r"[^A-Za-z0-9_-]")
_MAX_NAME_CHARS = 64


def json_safe(value: Any) -> Any:
    r"""Return a string or JSON value with surrogate pairs joined, and lone surrogates replaced by U+FFFD.

    Example:
        >>> json_safe({"said": ["\ud83d\ude00", "half: \ud83d"]})
        {'said': ['😀', 'half: �']}
    """
    if isinstance(value, str):
        return value if value.isascii() else value.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    if isinstance(value, dict):
        return {json_safe(name): json_safe(part) for name, part in value.items()}
    return [json_safe(part) for part in value] if isinstance(value, list) else value


def name_to_send(name: str) -> str:
    """Convert the name of a called tool to one that the API accepts: models can call tools that do not exist.

    Example:
        >>> name_to_send("functions.search"), name_to_send("")
        ('functions_search', '_')
    """
    return id_to_send(name)[:_MAX_NAME_CHARS]


def id_to_send(call_id: str) -> str:
    """Convert a call id, which may come from another provider, to one that Anthropic accepts.

    Example:
        >>> id_to_send("functions.search:0")
        'functions_search_0'
    """
    return _NOT_IN_NAMES.sub("_", call_id) or "_"
