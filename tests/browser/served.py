"""The product's own server behind the pages: ASGI, static files and event streams, in a thread of the test."""

from __future__ import annotations

import threading
from typing import Any, cast

import uvicorn
from django.contrib.staticfiles.handlers import ASGIStaticFilesHandler

from golem_project.asgi import application
from tests.golem_project.stream.conftest import free_port


class Server:
    """uvicorn on a port that stays the same while it is stopped and started again."""

    def __init__(self) -> None:
        self.port = free_port()
        self.url = f"http://127.0.0.1:{self.port}"

    def start(self) -> None:
        config = uvicorn.Config(
            ASGIStaticFilesHandler(cast("Any", application)),
            host="127.0.0.1",
            port=self.port,
            log_level="warning",
            log_config=None,
            lifespan="off",
            timeout_graceful_shutdown=1,
            ws="none",
        )
        self._server = uvicorn.Server(config)
        self._thread = threading.Thread(target=self._server.run, daemon=True)
        self._thread.start()
        while not self._server.started:
            self._thread.join(0.01)

    def stop(self) -> None:
        self._server.should_exit = True
        self._thread.join(10)
        assert not self._thread.is_alive()
