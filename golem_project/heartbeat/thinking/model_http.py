"""The HTTP client of thinking: it reaches the model's endpoint and nothing else, and reads only so much.

The address is checked at every request and connected to as checked; the certificate is still the name's. A body is
read here, within bounds, and handed on as JSON of our own writing: the provider's client parses nothing that was not
read before, neither nesting that ends a process nor a text that no database keeps. The body of a refusal, which nobody
needs, is not handed on.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from decimal import Decimal
from typing import Any, Final

import httpx2
from pydantic_core import to_json

from golem_project.heartbeat.thinking.endpoint import DEFAULT_PORTS, Endpoint, choose_address
from golem_project.heartbeat.thinking.errors import ModelAnswerInvalid
from tools_app.core.bounded_parsing import OutsideTextRefused, read_json

_OK: Final = range(200, 300)
_MOST_MICRO_USD: Final = 10**12  # a million dollars: fills any day's cap, and every column
_OF_THE_BODY: Final = frozenset({"content-length", "content-encoding", "transfer-encoding"})


NoteBill = Callable[[int | None], None]
"""Told what each answer says that it costs, in micro-USD; None where it says nothing of money."""


def make_client(endpoint: Endpoint, *, most_bytes: int, note_bill: NoteBill) -> httpx2.AsyncClient:
    """A client for `endpoint` alone, without redirects, proxies or retries, reading at most `most_bytes` an answer."""
    return httpx2.AsyncClient(
        transport=_CheckedTransport(endpoint, most_bytes, note_bill), follow_redirects=False, trust_env=False
    )


class _CheckedTransport(httpx2.AsyncHTTPTransport):
    def __init__(self, endpoint: Endpoint, most_bytes: int, note_bill: NoteBill) -> None:
        super().__init__(retries=0)
        self._endpoint = endpoint
        self._most_bytes = most_bytes
        self._note_bill = note_bill

    async def handle_async_request(self, request: httpx2.Request) -> httpx2.Response:
        endpoint = self._endpoint
        port = request.url.port or DEFAULT_PORTS.get(request.url.scheme, 0)
        if (request.url.scheme, request.url.host, port) != (endpoint.scheme, endpoint.host, endpoint.port):
            raise httpx2.ConnectError("the request is for another host than the model's")
        request.extensions = {**request.extensions, "sni_hostname": endpoint.host}
        request.url = request.url.copy_with(host=await choose_address(endpoint))
        # Only what is sent plainly can be bounded before it is unpacked.
        request.headers["Accept-Encoding"] = "identity"
        response = await super().handle_async_request(request)
        try:
            body = await self._read(response) if response.status_code in _OK else b"{}"
        finally:
            await response.aclose()
        kept = [(name, value) for name, value in response.headers.multi_items() if name not in _OF_THE_BODY]
        return httpx2.Response(response.status_code, headers=kept, content=body, extensions=response.extensions)

    async def _read(self, response: httpx2.Response) -> bytes:
        """The body, read, bounded and written anew. Raises ModelAnswerInvalid."""
        if response.headers.get("Content-Encoding", "identity").lower() != "identity":
            raise ModelAnswerInvalid("the endpoint's answer is packed although it was asked not to be")
        if "json" not in response.headers.get("Content-Type", "").lower():
            raise ModelAnswerInvalid("the endpoint's answer is not said to be JSON")
        taken = bytearray()
        async for chunk in response.aiter_raw():
            taken += chunk
            if len(taken) > self._most_bytes:
                raise ModelAnswerInvalid(f"the endpoint's answer is longer than {self._most_bytes} bytes")
        try:
            answer = read_json(bytes(taken), most_bytes=self._most_bytes)
        except OutsideTextRefused as refusal:
            raise ModelAnswerInvalid(f"the endpoint's answer cannot be read: {refusal}") from None
        self._note_bill(_read_bill(answer))
        return to_json(_doubt_usage(answer))


def _read_bill(answer: Any) -> int | None:  # Any: what a provider answers
    """Micro-USD, rounded up, that the answer says it costs: `cost` of its usage in dollars, as OpenRouter tells it, and
    where the maker bills the owner's own key what the maker takes. None where nothing is said; what is no amount is 0.
    """
    usage = answer.get("usage") if isinstance(answer, dict) else None
    cost = usage.get("cost") if isinstance(usage, dict) else None
    if not isinstance(usage, dict) or cost is None:
        return None
    details = usage.get("cost_details")
    is_own_key = usage.get("is_byok") is True
    makers = details.get("upstream_inference_cost") if is_own_key and isinstance(details, dict) else 0
    return min(_MOST_MICRO_USD, _read_micro_usd(cost) + _read_micro_usd(makers))


def _read_micro_usd(dollars: Any) -> int:  # Any: what a provider answers
    if isinstance(dollars, bool) or not isinstance(dollars, int | float) or dollars <= 0:
        return 0
    return math.ceil(Decimal(str(min(dollars, _MOST_MICRO_USD))) * 1_000_000)


def _doubt_usage(answer: Any) -> object:  # Any: JSON, as models ask and see it
    """`answer` with a bill of nothing where its own cannot be: the providers' clients stumble over such."""
    usage = answer.get("usage") if isinstance(answer, dict) else None
    if not isinstance(usage, dict):
        return answer
    counts = {name: found for name, found in usage.items() if isinstance(found, int | float) and "token" in name}
    if any(isinstance(found, bool) or not isinstance(found, int) or found < 0 for found in counts.values()):
        return {**answer, "usage": dict.fromkeys(counts, 0)}
    # Seconds, dollars and marks that some providers put beside their counts are no counts.
    further = {name: found for name, found in usage.items() if found is None or isinstance(found, dict | str | list)}
    return {**answer, "usage": {**further, **counts}}
