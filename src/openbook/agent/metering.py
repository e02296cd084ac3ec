"""How many tokens a request will be, on the high side, corrected by what providers report."""

from __future__ import annotations

import math

from openbook.llm.messages import Message, ReplyFinished, Request
from openbook.llm.request_tokens import estimate_messages, estimate_request

# Of the texts that `benchmarks/tokens.py` counts in four vocabularies, 99 in 100 are no more than this many
# times their estimate; of those in Chinese 94.
MARGIN = 1.3


class TokenEstimator:
    """Estimate the tokens of requests, calibrated by the usage that replies report.

    What a model has read or written in the call before counts as the provider reported it. The rest is
    estimated, with a margin, and with what the estimate was short by so far.
    """

    def __init__(self) -> None:
        self._read = Request(())
        self._seen: tuple[Message, ...] = ()
        self._seen_tokens = 0
        self._shortfall = 1.0
        self._estimate = (Request(()), estimate_request(Request(())))

    def most_tokens(self, request: Request) -> int:
        """Return the most input tokens that a request can be."""
        seen = len(self._seen)
        if seen and self._is_alike(request) and request.messages[:seen] == self._seen:
            return self._seen_tokens + self._safely(estimate_messages(request.messages[seen:]))
        return self._safely(self._estimated(request))

    def learn(self, request: Request, reply: ReplyFinished) -> None:
        """Take over what the provider counted for a request and its reply. What it did not count is left alone."""
        usage = reply.usage
        if not usage.known:
            return
        self._shortfall = max(1.0, usage.input_tokens / self._estimated(request))
        self._read = request
        self._seen = (*request.messages, reply.message)
        self._seen_tokens = usage.input_tokens + usage.output_tokens

    def _estimated(self, request: Request) -> int:
        # What is learned from is what was asked before, but for its limits. A context takes milliseconds.
        of, tokens = self._estimate
        if (request.system, request.tools, request.messages) != (of.system, of.tools, of.messages):
            tokens = estimate_request(request)
            self._estimate = (request, tokens)
        return tokens

    def _is_alike(self, request: Request) -> bool:
        return (request.system, request.tools) == (self._read.system, self._read.tools)

    def _safely(self, tokens: int) -> int:
        return math.ceil(tokens * MARGIN * self._shortfall)
