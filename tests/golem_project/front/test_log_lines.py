"""Nobody without a token writes a log full: what says the same again and again is counted and not written."""

from __future__ import annotations

import ast
import copy
import io
import logging
import logging.config
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from django.conf import settings
from uvicorn.config import LOGGING_CONFIG

import tests
from tests.golem_project.front.conftest import Served, write_head
from tools_app.core.log_rate_limit import MOST_A_MINUTE, PaceFilter
from tools_app.core.log_redaction import LONGEST, RedactingFormatter

REQUESTS = 3 * MOST_A_MINUTE
FORM = "Content-Type: application/x-www-form-urlencoded"


@pytest.fixture
def written() -> Iterator[io.StringIO]:
    """What goes into the log from here on, by the product's own handler, which has written nothing yet."""
    loggers = [logging.getLogger(), *(logging.getLogger(name) for name in ("uvicorn", "django", "axes"))]
    handlers = {
        handler
        for logger in loggers
        for handler in logger.handlers
        if isinstance(handler, logging.StreamHandler) and isinstance(handler.formatter, RedactingFormatter)
    }
    assert handlers
    out = io.StringIO()
    before = {handler: (handler.setStream(out), list(handler.filters)) for handler in handlers}
    for handler in handlers:
        handler.filters = [PaceFilter() if isinstance(each, PaceFilter) else each for each in handler.filters]
    yield out
    for handler, (stream, filters) in before.items():
        handler.setStream(stream)
        handler.filters = filters


@pytest.mark.parametrize(
    "said",
    [
        pytest.param(write_head("GET /admin/login/ HTTP/1.1", host=f"{'x' * 15_000}.example"), id="wrong host"),
        pytest.param(write_head("GET /healthz HTTP/1.1", *(f"X-{number}: 1" for number in range(200))), id="long head"),
        pytest.param(write_head("BREW /healthz HTTP/1.1"), id="no method"),
        pytest.param(write_head("GET /healthz HTTP/1.1", "Connection: Upgrade", "Upgrade: h2c"), id="upgrade"),
        pytest.param(write_head("POST /admin/login/ HTTP/1.1", FORM, "Content-Length: 3") + b"a=b", id="no csrf"),
        pytest.param(
            write_head(
                "GET /api/v1/events HTTP/1.1",
                "Connection: Upgrade",
                "Upgrade: websocket",
                "Sec-WebSocket-Version: 13",
                "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==",
            ),
            id="websocket",
        ),
    ],
)
def test_what_a_stranger_asks_again_and_again_is_written_so_many_times_and_counted(
    served: Served, written: io.StringIO, said: bytes
) -> None:
    for _ in range(REQUESTS):
        with served.call() as caller:
            caller.say(said)
            assert caller.hear().status
    told = written.getvalue()
    lines = [line for line in told.splitlines() if " WARNING " in line or " ERROR " in line]
    assert 0 < len(lines) <= MOST_A_MINUTE
    assert len(told) <= MOST_A_MINUTE * (LONGEST + 200)


def test_the_next_minute_tells_how_many_were_not_written(written: io.StringIO, monkeypatch: pytest.MonkeyPatch) -> None:
    now = 1_000_000.0
    monkeypatch.setattr("tools_app.core.log_rate_limit.clock.monotonic_ms", lambda: now)
    for number in range(MOST_A_MINUTE + 7):
        _say_again(number)
    logging.getLogger("somebody").warning("another place in the code")
    now += 60_000
    _say_again(100)
    _say_again(101)
    said = written.getvalue().splitlines()
    assert len(said) == MOST_A_MINUTE + 3
    assert said[MOST_A_MINUTE].endswith("another place in the code")
    assert said[-2].endswith("again 100 (7 more of this kind were not written)") and said[-1].endswith("again 101")


def _say_again(number: int) -> None:
    logging.getLogger("somebody").warning("again %s", number)


def test_a_line_of_any_length_has_an_end_and_keeps_its_last_words(written: io.StringIO) -> None:
    logging.getLogger("somebody").error("begin %s end", "x" * 100_000)
    [line] = written.getvalue().splitlines()
    assert len(line) < LONGEST + 100 and "begin" in line and line.endswith("end") and "left out" in line


def test_no_web_server_of_a_test_takes_the_log_of_its_process_for_itself() -> None:
    """It would keep it beyond its end: what a later test looks for in the log would be written elsewhere."""
    calls = [
        (path.name, call)
        for path in Path(tests.__file__).parent.rglob("*.py")
        for call in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(call, ast.Call) and ast.unparse(call.func) == "uvicorn.Config"
    ]
    assert len(calls) >= 4
    assert [name for name, call in calls if "log_config" not in {each.arg for each in call.keywords}] == []


def test_what_the_web_server_says_goes_where_everything_goes() -> None:
    """Its own settings come first, as when its command starts the application."""
    kept: dict[str, Any] = {name: list(logging.getLogger(name).handlers) for name in ("uvicorn", "uvicorn.error")}
    try:
        logging.config.dictConfig(copy.deepcopy(LOGGING_CONFIG))
        logging.config.dictConfig(copy.deepcopy(settings.LOGGING))
        [handler] = logging.getLogger("uvicorn").handlers
        assert isinstance(handler.formatter, RedactingFormatter)
        assert any(isinstance(each, PaceFilter) for each in handler.filters)
        assert not logging.getLogger("uvicorn.error").handlers and logging.getLogger("uvicorn.error").propagate
    finally:
        for name, handlers in kept.items():
            logging.getLogger(name).handlers = handlers
