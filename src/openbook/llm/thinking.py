"""Leaves out what a model thinks before it speaks, where its server sends that as words of its answer."""

from __future__ import annotations

import re

# As Qwen, DeepSeek and those made of them write it.
_OPEN, _CLOSE = "<think>", "</think>"

# Some templates open the thoughts in the prompt: then only their end is there, on a line of its own.
_CLOSED_ALONE = re.compile(r"\A(?!\s*<think>).*?^</think>[ \t]*(?:\n\s*|\Z)", re.DOTALL | re.MULTILINE)


class ThinkingFilter:
    r"""Filter the thinking out of a streamed reply.

    Example:
        >>> thoughts = ThinkingFilter()
        >>> [thoughts.leave_out(piece) for piece in ("<thi", "nk>Hm.</thi", "nk>\n\n", "At", " nine.")]
        ['', '', '', 'At', ' nine.']
    """

    def __init__(self) -> None:
        self._held = ""
        self._is_over = False

    def leave_out(self, text: str) -> str:
        """Take words, and give what can be shown of all by now."""
        if self._is_over:
            return text
        self._held += text
        begun = self._held.lstrip()
        if begun.startswith(_OPEN):
            without_thinking = begun.partition(_CLOSE)[2].lstrip()
            self._is_over = bool(without_thinking)
            return without_thinking
        if _OPEN.startswith(begun):
            return ""
        self._is_over = True
        return self._held

    def close(self) -> str:
        """Return what was held back and is no thought: the reply is over."""
        held = "" if self._is_over or self._held.lstrip().startswith(_OPEN) else self._held
        self._is_over = True
        return held


def without_thinking(text: str) -> str:
    r"""Remove thinking whose opening tag was never sent.

    Example:
        >>> without_thinking("So they ask when.\n</think>\n\nAt nine."), without_thinking("Write `</think>` behind it.")
        ('At nine.', 'Write `</think>` behind it.')
    """
    return _CLOSED_ALONE.sub("", text, count=1)
