"""Parses front matter of pages, and the YAML and TOML files of courses and sites."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Mapping
from functools import cache
from typing import Any

# Longer text is data, and YAML takes a second per megabyte.
_MAX_CHARS = 256 * 1024

# The text between its fences. The look-ahead excludes a horizontal rule at the top of the page.
FRONT_MATTER = re.compile(
    r"\A\ufeff?(---|\+\+\+)[ \t]*\r?\n(?=(?:\s*#.*\n)*[\w\"'-]+[ \t]*[:=])((?:.*\n)*?)\1[ \t]*(?:\r?\n|\Z)"
)

# A title on one line. Not parsed as YAML, which takes as long as the page itself.
_TITLE = re.compile(r"^title[ \t]*[:=][ \t]*(?:\"([^\"\r\n]+)\"|'([^'\r\n]+)'|(\w[^\r\n]*?))[ \t]*\r?$", re.MULTILINE)


def stated_title(front: str) -> str:
    r"""Return the title that the text of front matter states on one line; empty without one.

    Example:
        >>> stated_title("weight: 3\ntitle: 'The Shell'\n")
        'The Shell'
    """
    found = _TITLE.search(front)
    return " ".join((found[1] or found[2] or found[3]).split()) if found else ""


def front_matter(text: str) -> Mapping[str, Any]:
    r"""Return the front matter of a page, in YAML or TOML; empty without one, or if it is damaged.

    Example:
        >>> front_matter("---\ntitle: 'The Shell'\nweight: 3\n---\n# Hello\n")
        {'title': 'The Shell', 'weight': 3}
    """
    found = FRONT_MATTER.match(text[:_MAX_CHARS])
    if found is None:
        return {}
    values = read_toml(found[2]) if found[1] == "+++" else read_yaml(found[2])
    return values if isinstance(values, dict) else {}


def read_yaml(text: str) -> Any:
    """Parse YAML; None if it is damaged, or longer than 256 KiB.

    Only plain values are built. A tag such as `!!python/name:...` becomes None.
    """
    if len(text) > _MAX_CHARS:
        return None
    import yaml

    try:
        return yaml.load(text, Loader=_loader())
    except (yaml.YAMLError, ValueError, RecursionError, AttributeError, LookupError):  # the last two: `!!bool maybe`
        return None


def read_toml(text: str) -> Mapping[str, Any]:
    """Parse TOML; empty if it is damaged."""
    try:
        return tomllib.loads(text)
    except (tomllib.TOMLDecodeError, RecursionError):
        return {}


@cache
def _loader() -> Any:
    # Lazy: 15 ms, needed only for folders of courses.
    import yaml

    class Loader(yaml.SafeLoader):  # type: ignore[misc]
        """A loader that ignores tags and refuses aliases, which can expand to a gigabyte (billion laughs)."""

        def compose_node(self, parent: Any, index: Any) -> Any:
            if self.check_event(yaml.AliasEvent):
                raise yaml.YAMLError("aliases are not read")
            return super().compose_node(parent, index)

    Loader.add_multi_constructor("!", lambda loader, suffix, node: None)
    Loader.add_multi_constructor("tag:yaml.org,2002:python/", lambda loader, suffix, node: None)
    return Loader
