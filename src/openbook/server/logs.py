"""One line of JSON for each event. No question, no text of a source and no key gets into a log."""

from __future__ import annotations

import json
import logging
import time
import traceback
from contextvars import ContextVar
from typing import Any

REQUEST_ID: ContextVar[str] = ContextVar("request_id", default="")
"""Of the request that is being answered; empty outside of one."""

# What a record has of itself; the rest was said by whoever logged.
_OWN = frozenset(vars(logging.makeLogRecord({}))) | {"message", "asctime", "taskName", "color_message"}


class JsonFormatter(logging.Formatter):
    """Format log records as JSON lines.

    Of an exception it keeps the type and the places: the message may quote what somebody asked.
    """

    def format(self, record: logging.LogRecord) -> str:
        fields: dict[str, Any] = {
            "time": time.strftime("%Y-%m-%dT%H:%M:%S", time.gmtime(record.created)) + f".{record.msecs:03.0f}Z",
            "level": record.levelname.lower(),
            "logger": record.name,
            "event": record.getMessage().strip(),
            "request_id": REQUEST_ID.get(),
        }
        fields |= {name: value for name, value in vars(record).items() if name not in _OWN}
        if record.exc_info and record.exc_info[0]:
            fields["error"] = record.exc_info[0].__name__
            frames = traceback.extract_tb(record.exc_info[2])
            fields["at"] = [f"{frame.filename}:{frame.lineno} {frame.name}" for frame in frames]
        return json.dumps(fields, ensure_ascii=False, default=str)


def log_as_json() -> None:
    """Write what is logged to standard error, from now on. For the process that serves and nothing else does."""
    stream = logging.StreamHandler()
    stream.setFormatter(JsonFormatter())
    root = logging.getLogger()
    root.handlers = [stream]
    root.setLevel(logging.INFO)
    # They would log addresses of providers and of what is asked.
    for noisy in ("httpx", "httpx2", "httpcore", "openai", "anthropic"):
        logging.getLogger(noisy).setLevel(logging.WARNING)
