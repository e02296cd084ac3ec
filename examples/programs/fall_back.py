"""Ask a second model where the first one fails, and pay for no reply twice."""

from __future__ import annotations

import sys

from openbook.errors import ModelError
from openbook.llm.fallback import fallback
from openbook.llm.messages import Message, Request, Sampling
from openbook.llm.protocol import complete
from openbook.llm.reply_cache import CachedModel


def main(first: str, second: str, question: str) -> None:
    model = CachedModel(fallback(first, second), "replies")
    request = Request((Message.user(question),), max_tokens=200, sampling=Sampling(stop=("END",)))
    try:
        reply = complete(model, request)
    except ModelError as error:
        sys.exit(f"{error} ({error.hint})")
    print(reply.message.text, reply.stop, reply.usage.output_tokens)


if __name__ == "__main__":
    if len(sys.argv) != 4:
        sys.exit("usage: python fall_back.py MODEL MODEL QUESTION")
    main(*sys.argv[1:])
