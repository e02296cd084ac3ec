"""Syntax highlighting in a process that is killed if it takes too long, because not all lexers are linear."""

from __future__ import annotations

from collections import OrderedDict
from functools import cache
from typing import Any

from openbook.process_pool import JobFailure, SharedProcess, took_longer

# 100,000 characters of ordinary code take 150 ms, and the process half a second to start.
_TIMEOUT_S = 2.0

# Longest wait for the process; then code is shown without colours.
_MAX_WAIT_S = 2.0

_MEMORY_BYTES = 1024**3

# A stream highlights the same growing code repeatedly: slow code is remembered by its beginning.
_BEGINNING_CHARS = 1_000
_MAX_SLOW = 200

Job = tuple[str, str]
"""Code and the name of its language."""


def highlight_code(job: Job) -> str:
    """Return code as HTML with a class per token type, with newlines unchanged; empty without a lexer."""
    from pygments import highlight
    from pygments.lexers import get_lexer_by_name
    from pygments.util import ClassNotFound

    code, language = job
    try:
        lexer = get_lexer_by_name(language, stripnl=False, ensurenl=False)
    except ClassNotFound:
        return ""
    return str(highlight(code, lexer, _formatter()))


@cache
def _formatter() -> Any:
    from pygments.formatters.html import HtmlFormatter

    return HtmlFormatter(nowrap=True, classprefix="hl-")


class Colourer:
    """A process that highlights code, started on first use. Thread-safe."""

    def __init__(self, timeout_s: float = _TIMEOUT_S) -> None:
        self._timeout_s = timeout_s
        self._slow: OrderedDict[Job, None] = OrderedDict()
        self._process = SharedProcess(
            highlight_code,
            timeout_s=timeout_s,
            max_wait_s=_MAX_WAIT_S,
            memory_bytes=_MEMORY_BYTES,
            first=("", "text"),  # loads the lexers, which must not count as time of the code
        )

    def colour(self, code: str, language: str) -> str:
        """Return code as HTML; empty if its language has no lexer, or if it takes too long."""
        beginning = (code[:_BEGINNING_CHARS], language)
        html = None if beginning in self._slow else self._process.ask((code, language))
        if isinstance(html, JobFailure):
            if html.reason == took_longer(self._timeout_s):
                self._slow[beginning] = None
                while len(self._slow) > _MAX_SLOW:
                    self._slow.popitem(last=False)
            return ""
        return html or ""

    def close(self) -> None:
        """Stop the process. The next code starts another one."""
        self._process.close()


COLOURER = Colourer()
"""The colourer of this process."""
