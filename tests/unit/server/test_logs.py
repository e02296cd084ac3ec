"""Lines of the log of a server."""

from __future__ import annotations

import json
import logging
from collections.abc import Iterator
from typing import Any

import pytest

from openbook.server.logs import REQUEST_ID, JsonFormatter, log_as_json


@pytest.fixture
def restored() -> Iterator[None]:
    """Bring logging back to what it was."""
    root = logging.getLogger()
    handlers, level = root.handlers, root.level
    noisy = {name: logging.getLogger(name).level for name in ("httpx", "httpx2", "httpcore", "openai", "anthropic")}
    yield
    root.handlers, root.level = handlers, level
    for name, before in noisy.items():
        logging.getLogger(name).setLevel(before)


def logged(record: logging.LogRecord) -> Any:
    return json.loads(JsonFormatter().format(record))


def test_a_line_has_the_request_and_what_was_said_of_it() -> None:
    token = REQUEST_ID.set("r-17")
    try:
        record = logging.makeLogRecord(
            {"name": "openbook.server", "levelname": "INFO", "msg": " answered %s\n", "args": ("é",), "created": 0.25}
        )
        record.status = 200
        line = logged(record)
    finally:
        REQUEST_ID.reset(token)

    assert line["event"] == "answered é"
    assert (line["level"], line["logger"]) == ("info", "openbook.server")
    assert line["request_id"] == "r-17"
    assert line["status"] == 200
    assert line["time"].startswith("1970-01-01T00:00:00.")


def test_of_an_error_the_place_is_logged_and_not_its_words() -> None:
    with pytest.raises(ValueError, match="student") as caught:
        int("what the student asked")
    error = caught.value
    record = logging.makeLogRecord({"msg": "failed", "exc_info": (type(error), error, error.__traceback__)})

    line = JsonFormatter().format(record)

    assert "what the student asked" not in line
    assert json.loads(line)["error"] == "ValueError"
    assert f"{__file__}:" in json.loads(line)["at"][0]


@pytest.mark.usefixtures("restored")
def test_addresses_that_clients_ask_are_not_logged(capsys: pytest.CaptureFixture[str]) -> None:
    log_as_json()

    logging.getLogger("httpx").info("GET /search?q=a+question")
    logging.getLogger("openbook.server").info("started")

    lines = capsys.readouterr().err.splitlines()
    assert [json.loads(line)["event"] for line in lines] == ["started"]
