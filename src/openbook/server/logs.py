"""JSON logs. Questions, text of sources and keys are never logged."""

from __future__ import annotations

import json
import logging
import time
import traceback
from contextvars import ContextVar
from typing import Any

REQUEST_ID: ContextVar[str] = ContextVar("request_id", default="")
"""Id of the current request; empty outside of requests."""

# Standard attributes of a record. All others come from `extra`.
_OWN = frozenset(vars(logging.makeLogRecord({}))) | {"message", "asctime", "taskName", "color_message"}


class JsonFormatter(logging.Formatter):
    """Format log records as JSON lines.

    Of an exception only the type and the locations are logged: the message may quote a question.
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
    """Log to standard error as JSON from now on. Only for server processes."""
    stream = logging.StreamHandler()
    stream.setFormatter(JsonFormatter())
    root = logging.getLogger()
    root.handlers = [stream]
    root.setLevel(logging.INFO)
    # These would log request URLs.
    for noisy in ("httpx", "httpx2", "httpcore", "openai", "anthropic"):
        logging.getLogger(noisy).setLevel(logging.WARNING)
