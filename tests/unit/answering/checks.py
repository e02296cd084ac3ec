"""What the tests of checking share: two documents, and everything that checks an answer from them."""

from __future__ import annotations

from openbook.answering.context import build_context
from openbook.answering.verdicts import Checker
from openbook.grounding.judge import Judge
from openbook.testing import HashEmbedder
from openbook.types import Chunk
from tests.unit.retrieval.material import chunk_of, result_of

PAGE = chunk_of(
    "The retry policy waits 30 seconds.\nAfter 5 attempts it gives up.\n\nSessions end after one hour.", "a.md"
)
CODE = chunk_of(
    "def wait(self, seconds):\n    time.sleep(seconds)\n    return True",
    "wait.py",
    kind="code",
    symbol="Retry.wait",
    signature="def wait(self, seconds):",
    defines=("wait",),
)
CONTEXT = build_context([result_of(PAGE), result_of(CODE)], 1_000)
JUDGE = Judge(HashEmbedder(), {})


def unchanged(chunk: Chunk) -> str:
    return chunk.text


def page_changed(chunk: Chunk) -> str:
    return chunk.text.replace("30", "90").replace("one hour", "two days")


def checker() -> Checker:
    return Checker(CONTEXT, JUDGE, unchanged)
