"""Speaks HTTP/1.1 with a bound on every wait: heads, slow readers, bodies nobody wants.

uvicorn's parser takes headers of any size and number, waits for them for ever, and goes on reading a body after its
request was answered. `--http golem_project.front.connections:BoundedHttp` puts this in its place.
"""

from __future__ import annotations

import asyncio
from collections import Counter
from typing import Any, ClassVar

from django.conf import settings
from uvicorn.protocols.http.httptools_impl import STATUS_LINE, HttpToolsProtocol

from golem_project.front.addresses import is_trusted, name_address
from golem_project.front.admission import TOLD_TO_WAIT
from golem_project.front.errors import HeadTooLarge, RequestTooSlow, TooManyConnections
from golem_project.front.raw_error_responses import write_refusal
from golem_project.front.shutdown_responses import ENDS_WITH_SERVER
from golem_project.pi.errors import BadRequest
from tools_app.core.errors import GolemError

_LINGERED_BYTES = 1_048_576


class BoundedHttp(HttpToolsProtocol):
    """One connection. It counts among those of its address from its first moment to its last."""

    of_address: ClassVar[Counter[str]] = Counter()

    def __init__(self, *args: Any, **kwargs: Any) -> None:  # Any: whatever the library hands over
        super().__init__(*args, **kwargs)
        self._address: str | None = None
        self._is_in_head, self._head_bytes, self._header_count = True, 0, 0
        self._parsed_bytes = 0
        self._refusal: GolemError | None = None
        self._is_over, self._thrown_away = False, 0
        self._head_timer: asyncio.TimerHandle | None = None
        self._write_timer: asyncio.TimerHandle | None = None
        self._last_timer: asyncio.TimerHandle | None = None
        self._pause_timer: asyncio.TimerHandle | None = None

    # --- the connection ---

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        super().connection_made(transport)
        peer = self.client[0] if self.client else ""
        address = name_address(peer)
        most, most_of_one = settings.GOLEM_MOST_CONNECTIONS, settings.GOLEM_MOST_CONNECTIONS_PER_ADDRESS
        is_one_too_many = not is_trusted(peer) and self.of_address[address] >= most_of_one
        if is_one_too_many or self.of_address.total() >= most:
            whose = "from your address" if is_one_too_many else "to this server"
            self._refuse(
                TooManyConnections(
                    f"as many connections {whose} are open as may be; close one",
                    limit=most_of_one if is_one_too_many else most,
                    retry_after_seconds=5,
                )
            )
            return
        self._address = address
        self.of_address[address] += 1
        self._await_head()

    def connection_lost(self, exc: Exception | None) -> None:
        self._leave()
        super().connection_lost(exc)

    def shutdown(self) -> None:
        """The server stops: a stream without an end would keep it from that."""
        super().shutdown()
        end = self.cycle.scope.get("state", {}).get(ENDS_WITH_SERVER) if self.cycle is not None else None
        if end is not None:
            end()

    def handle_websocket_upgrade(self) -> None:
        """What comes next is another protocol's, which refuses it in words."""
        self._leave()
        super().handle_websocket_upgrade()

    def _leave(self) -> None:
        if self._address is not None:
            self.of_address[self._address] -= 1
            if self.of_address[self._address] <= 0:
                del self.of_address[self._address]
            self._address = None
        for timer in (self._head_timer, self._write_timer, self._last_timer, self._pause_timer):
            if timer is not None:
                timer.cancel()

    # --- reading ---

    def data_received(self, data: bytes) -> None:
        if self._is_over:
            self._thrown_away += len(data)
            if self._thrown_away > _LINGERED_BYTES:
                self.transport.abort()
            return
        if self._is_in_head:
            self._head_bytes += len(data)
            if self._head_timer is None:
                self._await_head()
        super().data_received(data)
        if self._is_in_head and self._head_bytes > settings.GOLEM_MOST_HEAD_BYTES:
            self._refuse(_head_too_large())

    def on_message_begin(self) -> None:
        super().on_message_begin()
        self._is_in_head, self._header_count, self._parsed_bytes = True, 0, 0

    def on_url(self, url: bytes) -> None:
        self._count(len(url))
        super().on_url(url)

    def on_header(self, name: bytes, value: bytes) -> None:
        self._header_count += 1
        self._count(len(name) + len(value) + 4)
        super().on_header(name, value)

    def on_headers_complete(self) -> None:
        self._is_in_head, self._head_bytes = False, 0
        if self._head_timer is not None:
            self._head_timer.cancel()
            self._head_timer = None
        super().on_headers_complete()

    def on_message_complete(self) -> None:
        super().on_message_complete()
        self._is_in_head, self._head_bytes = True, 0

    def _count(self, size: int) -> None:
        """Raises ValueError, which the parser takes for a request it cannot read.

        What is raised holds this connection by its traceback, so it is not what the connection keeps: the two would
        wait together, with all that was read, until garbage is collected.
        """
        self._parsed_bytes += size
        if self._parsed_bytes > settings.GOLEM_MOST_HEAD_BYTES or self._header_count > settings.GOLEM_MOST_HEADERS:
            self._refusal = _head_too_large()
            raise ValueError("the head is too large")

    def _await_head(self) -> None:
        self._head_timer = self.loop.call_later(settings.GOLEM_HEAD_SECONDS, self._end_slow_head)

    def _end_slow_head(self) -> None:
        self._head_timer = None
        if self._head_bytes:
            self._refuse(RequestTooSlow(f"headers come within {settings.GOLEM_HEAD_SECONDS:g} seconds"))
        elif not self.transport.is_closing():
            self.transport.close()

    # --- answering ---

    def send_400_response(self, msg: str) -> None:
        """What the parser could not read is answered as every refusal, and the connection ended."""
        self._refuse(self._refusal or BadRequest("this is no request of HTTP/1.1"))

    def on_response_complete(self) -> None:
        """An answer before the end of its body ends the connection: nothing more of it is parsed."""
        if self.cycle is not None and self.cycle.more_body and not self.transport.is_closing():
            self.server_state.total_requests += 1
            self._end_softly()
            return
        super().on_response_complete()
        told = self.cycle is not None and self.cycle.scope.get("state", {}).get(TOLD_TO_WAIT)
        if told and not self.pipeline and not self.transport.is_closing():
            # Whoever heeds Retry-After asks nothing before; whoever does not costs nothing meanwhile.
            self.flow.pause_reading()
            self._pause_timer = self.loop.call_later(settings.GOLEM_PAUSE_SECONDS, self.flow.resume_reading)

    def pause_writing(self) -> None:
        super().pause_writing()
        if self._write_timer is None:
            self._write_timer = self.loop.call_later(settings.GOLEM_WRITE_SECONDS, self._hang_up)

    def resume_writing(self) -> None:
        super().resume_writing()
        if self._write_timer is not None:
            self._write_timer.cancel()
            self._write_timer = None

    def _hang_up(self) -> None:
        self.transport.abort()

    def _refuse(self, error: GolemError) -> None:
        """Answer `error` where no answer has begun, and end the connection."""
        if self._is_over or self.transport.is_closing():
            return
        if self.cycle is not None and not self.cycle.response_complete:
            # The answer to the request before is under way.
            self.transport.abort()
            return
        refusal = write_refusal(error, instance="/")
        head = b"".join(name + b": " + value + b"\r\n" for name, value in refusal.headers)
        self.transport.write(STATUS_LINE[refusal.status] + head + b"\r\n" + refusal.body)
        self._end_softly()

    def _end_softly(self) -> None:
        """Say no more, and throw away for a moment what still comes, so that a caller who writes reads the answer."""
        self._is_over = True
        self._unset_keepalive_if_required()
        self.flow.resume_reading()
        if self.transport.can_write_eof():
            self.transport.write_eof()
        self._last_timer = self.loop.call_later(settings.GOLEM_LINGER_SECONDS, self._hang_up)


def _head_too_large() -> HeadTooLarge:
    return HeadTooLarge(
        f"headers are at most {settings.GOLEM_MOST_HEAD_BYTES} bytes and {settings.GOLEM_MOST_HEADERS} lines",
        limit_bytes=settings.GOLEM_MOST_HEAD_BYTES,
        limit_lines=settings.GOLEM_MOST_HEADERS,
    )
