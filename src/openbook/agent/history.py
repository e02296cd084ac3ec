"""What was said, as JSON: for a conversation that goes on in another process, or another day."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from typing import TYPE_CHECKING

from openbook.llm.messages import Message

if TYPE_CHECKING:
    from pydantic import TypeAdapter

    from openbook.agent.pruning import History


def history_to_json(history: Sequence[Message]) -> str:
    """Return a history as JSON: a list of messages with `role` and `parts`, each part with the fields of its class.

    It holds all that was said, results of tools and shown sources included.
    """
    return _histories().dump_json(tuple(history)).decode()


def history_from_json(text: str | bytes) -> History:
    """Read what `history_to_json` wrote.

    Raises:
        ValueError: It is no history.
    """
    return _histories().validate_json(text)


@cache
def _histories() -> TypeAdapter[History]:
    from pydantic import TypeAdapter

    return TypeAdapter(tuple[Message, ...])
