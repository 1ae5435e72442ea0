"""The HTTP client of thinking: it reaches the model's endpoint and nothing else, and reads only so much.

The address is checked at every request and connected to as checked; the certificate is still the name's.
"""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import Any

import httpx2

from golem_project.heartbeat.thinking.endpoint import DEFAULT_PORTS, Endpoint, choose_address


def make_client(endpoint: Endpoint, *, most_bytes: int) -> httpx2.AsyncClient:
    """A client for `endpoint` alone, without redirects, proxies or retries, reading at most `most_bytes` an answer."""
    return httpx2.AsyncClient(
        transport=_CheckedTransport(endpoint, most_bytes), follow_redirects=False, trust_env=False
    )


class _CappedStream(httpx2.AsyncByteStream):
    def __init__(self, stream: Any, most_bytes: int) -> None:
        self._stream = stream
        self._most_bytes = most_bytes

    async def __aiter__(self) -> AsyncIterator[bytes]:
        taken = 0
        async for chunk in self._stream:
            taken += len(chunk)
            if taken > self._most_bytes:
                raise httpx2.ReadError(f"the answer is longer than {self._most_bytes} bytes")
            yield chunk

    async def aclose(self) -> None:
        await self._stream.aclose()


class _CheckedTransport(httpx2.AsyncHTTPTransport):
    def __init__(self, endpoint: Endpoint, most_bytes: int) -> None:
        super().__init__(retries=0)
        self._endpoint = endpoint
        self._most_bytes = most_bytes

    async def handle_async_request(self, request: httpx2.Request) -> httpx2.Response:
        endpoint = self._endpoint
        port = request.url.port or DEFAULT_PORTS.get(request.url.scheme, 0)
        if (request.url.scheme, request.url.host, port) != (endpoint.scheme, endpoint.host, endpoint.port):
            raise httpx2.ConnectError("the request is for another host than the model's")
        request.extensions = {**request.extensions, "sni_hostname": endpoint.host}
        request.url = request.url.copy_with(host=await choose_address(endpoint))
        response = await super().handle_async_request(request)
        return httpx2.Response(
            response.status_code,
            headers=response.headers,
            stream=_CappedStream(response.stream, self._most_bytes),
            extensions=response.extensions,
        )
