"""Docstrings as the site shows them."""

from __future__ import annotations

import re
from typing import Any

from griffe import Extension, Object

_EXAMPLE = re.compile(r"^Example:$", re.MULTILINE)


class Examples(Extension):
    """Has the parser see a section in `Example:`: it knows the plural alone, and takes the other for a remark."""

    def on_object(self, *, obj: Object, **_: Any) -> None:
        """Change the heading before the docstring is parsed."""
        if obj.docstring:
            obj.docstring.value = _EXAMPLE.sub("Examples:", obj.docstring.value)
