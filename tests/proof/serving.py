"""A server in a thread of this process, for as long as somebody plays with it."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from socketserver import BaseServer

_POLL_SECONDS = 0.01


@contextmanager
def serving(server: BaseServer) -> Iterator[None]:
    """Serves until the block ends; then its socket is closed and its thread is over."""
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": _POLL_SECONDS}, daemon=True)
    thread.start()
    try:
        yield
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
