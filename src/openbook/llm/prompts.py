"""Prompt templates in files, with placeholders such as `{question}`."""

from __future__ import annotations

import hashlib
import re
from functools import cached_property, lru_cache
from importlib.resources import files

_HOLE = re.compile(r"\{(\w+)\}")


class Prompts:
    """The prompt files of a package, read on first use."""

    def __init__(self, package: str) -> None:
        """`package` contains the prompts as `*.md` files."""
        self._package = package

    @cached_property
    def _texts(self) -> dict[str, str]:
        found = {
            file.name: file.read_text(encoding="utf-8")
            for file in files(self._package).iterdir()
            if file.name.endswith(".md")
        }
        return {name.removesuffix(".md"): text.strip() for name, text in sorted(found.items())}

    def fill(self, prompt: str, **holes: str) -> str:
        """Fill the placeholders of a prompt. Placeholders in the values are not replaced.

        Raises:
            KeyError: There is no such prompt, or a value is missing.
        """
        return _HOLE.sub(lambda hole: holes[hole[1]], self._texts[prompt])

    @cached_property
    def version(self) -> str:
        """Twelve digits of a hash of all prompt files."""
        joined = "\0".join(part for pair in self._texts.items() for part in pair)
        return hashlib.sha256(joined.encode()).hexdigest()[:12]


@lru_cache
def prompts_of(package: str) -> Prompts:
    """Return the prompts of a package, cached.

    Example:
        >>> prompts_of("openbook.answering.prompts").fill("question", question="Why {x}?").splitlines()[-1]
        'Why {x}?'
    """
    return Prompts(package)
