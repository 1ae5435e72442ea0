"""One node over kept-alive HTTP: batches, an allow-list of methods, a bound on time and on size.

The default allow-list reads. `permits_app/execution/broadcast.py` builds endpoints with its own list and is the only
place that does. The url is a secret, because providers put keys into it: it appears in no error, log or repr.
"""

from __future__ import annotations

import base64
import os
import threading
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final, NamedTuple
from urllib.parse import SplitResult, unquote, urlsplit

from pydantic_core import from_json, to_json

from tools_app.chain.abi import clean_text
from tools_app.chain.answer_shapes import has_shape, is_quantity
from tools_app.chain.http_pool import AnswerTooLarge, HttpFailure, HttpPool
from tools_app.chain.node_errors import (
    RpcMethodRefused,
    RpcNonsense,
    RpcRateLimited,
    RpcTimeout,
    RpcUnavailable,
    RpcWrongChain,
    build_node_error,
)
from tools_app.core import clock, trace_spans
from tools_app.core.clock import Deadline
from tools_app.core.errors import GolemError
from tools_app.core.stored_json import read_stored
from tools_app.core.taint import Secret
from tools_app.toolkit.context import AbiValues

READ_METHODS: Final[frozenset[str]] = frozenset(
    {
        "eth_blockNumber",
        "eth_call",
        "eth_chainId",
        "eth_createAccessList",
        "eth_estimateGas",
        "eth_feeHistory",
        "eth_gasPrice",
        "eth_getBalance",
        "eth_getBlockByHash",
        "eth_getBlockByNumber",
        "eth_getCode",
        "eth_getLogs",
        "eth_getProof",
        "eth_getStorageAt",
        "eth_getTransactionByHash",
        "eth_getTransactionCount",
        "eth_getTransactionReceipt",
        "eth_maxPriorityFeePerGas",
        "eth_simulateV1",
        "eth_syncing",
        "debug_traceCall",
        "net_version",
        "web3_clientVersion",
    }
)
"""Methods that change nothing, so that asking twice does no harm."""

MOST_WAIT_SECONDS: Final = 60
"""A node that asks to be left alone for longer is asked again by then: what it says is no more than its word."""


@dataclass(frozen=True, slots=True)
class RpcLimits:
    """Bounds on one request: milliseconds to connect, milliseconds in all, bytes of answer, requests per batch.

    `chain_id_ms` is how long an answer to "which chain are you" is believed.
    """

    connect_ms: int = 2_000
    request_ms: int = 10_000
    response_bytes: int = 32 * 1024 * 1024
    batch_size: int = 100
    connections: int = 16
    chain_id_ms: int = 1_000


# Tuples, of which a decision makes hundreds: a frozen dataclass takes twice as long to make.
class RpcRequest(NamedTuple):
    """One method and its positional parameters."""

    method: str
    params: AbiValues = ()


@dataclass(frozen=True, slots=True)
class _Answered:
    """What a node answers to one request, none of it looked at yet; so is what stands below."""

    result: object = None
    error: object = None


@dataclass(frozen=True, slots=True)
class _NodeError:
    code: object = None
    message: object = ""
    data: object = None


class RpcReply(NamedTuple):
    """A node's answer to one request: `result`, or `error` as the typed error to raise."""

    result: Any = None  # Any: a node's JSON
    error: GolemError | None = None

    def unwrap(self) -> Any:  # Any: a node's JSON
        """The result. Raises the error."""
        if self.error is not None:
            raise self.error
        return self.result


class RpcEndpoint:
    """One url of one chain. Thread-safe; survives a fork by opening connections of its own."""

    def __init__(
        self,
        url: Secret,
        *,
        chain_id: int,
        name: str = "",
        allowed_methods: frozenset[str] = READ_METHODS,
        limits: RpcLimits | None = None,
    ) -> None:
        self.chain_id = chain_id
        self.name = name or f"chain {chain_id}"
        self._url = url
        self._allowed = allowed_methods
        self._limits = limits or RpcLimits()
        self._lock = threading.Lock()
        self._pool: HttpPool | None = None
        self._pool_pid = 0
        self._verified_until_ms = 0.0
        parts = urlsplit(url.reveal())
        if not _is_http(parts):
            raise ValueError(f"the node url of {self.name} is no http(s) url")
        self._headers = {"Content-Type": "application/json", "Accept": "application/json", "User-Agent": "golem"}
        if parts.username:
            basic = f"{unquote(parts.username)}:{unquote(parts.password or '')}".encode()
            self._headers["Authorization"] = f"Basic {base64.b64encode(basic).decode()}"
        pieces = [*parts.path.split("/"), parts.query, *parts.query.split("&"), parts.username, parts.password]
        values = [piece.partition("=")[2] for piece in pieces if piece and "=" in piece]
        self._private = sorted({p for p in [*pieces, *values, parts.netloc] if p and len(p) > 5}, key=len, reverse=True)

    def __repr__(self) -> str:
        return f"<RpcEndpoint {self.name}>"

    def check_allowed(self, requests: Sequence[RpcRequest]) -> None:
        """Raises RpcMethodRefused for a method outside the allow-list; nothing has left by then."""
        for method in {request.method for request in requests} - self._allowed:
            raise RpcMethodRefused(f"{method!r} is not allowed on this connection", method=method)

    def call(self, method: str, *params: Any, deadline: Deadline | None = None) -> Any:  # Any: a node's JSON
        """One result. Raises the typed node error, RpcUnavailable, RpcTimeout, RpcNonsense, RpcMethodRefused."""
        return self.send([RpcRequest(method, params)], deadline=deadline)[0].unwrap()

    def send(self, requests: Sequence[RpcRequest], *, deadline: Deadline | None = None) -> list[RpcReply]:
        """Replies in order, the requests in as few POSTs as the batch size allows.

        The first contact, and the first after a while, also asks for the chain id: beside reads in the same POST,
        before anything else in its own. Behind an address another chain may begin to answer at any time.
        """
        self.check_allowed(requests)
        if not requests:
            return []
        replies: list[RpcReply] = []
        if not self._is_verified() and not all(request.method in READ_METHODS for request in requests):
            self._verify(deadline)
        for start in range(0, len(requests), self._limits.batch_size):
            replies += self._send_chunk(requests[start : start + self._limits.batch_size], deadline)
        return replies

    def _is_verified(self) -> bool:
        return clock.monotonic_ms() < self._verified_until_ms

    def _verify(self, deadline: Deadline | None) -> None:
        self._check_chain(self._post([RpcRequest("eth_chainId")], deadline)[0])

    def _send_chunk(self, requests: Sequence[RpcRequest], deadline: Deadline | None) -> list[RpcReply]:
        if self._is_verified():
            return self._post(requests, deadline)
        replies = self._post([RpcRequest("eth_chainId"), *requests], deadline)
        self._check_chain(replies[0])
        return replies[1:]

    def _check_chain(self, reply: RpcReply) -> None:
        if reply.error is not None and not isinstance(reply.error, RpcUnavailable | RpcTimeout | RpcRateLimited):
            # Whatever it says instead, it is no node of this chain as long as it does not say which it is.
            raise RpcNonsense(f"The node of {self.name} does not say which chain it serves: {reply.error.detail}")
        found = parse_quantity(reply.unwrap())
        if found != self.chain_id:
            self._verified_until_ms = 0.0
            raise RpcWrongChain(
                f"The node configured for {self.name} serves chain {found}", expected=self.chain_id, found=found
            )
        self._verified_until_ms = clock.monotonic_ms() + self._limits.chain_id_ms

    def _post(self, requests: Sequence[RpcRequest], deadline: Deadline | None) -> list[RpcReply]:
        bodies = [
            {"jsonrpc": "2.0", "id": index, "method": request.method, "params": request.params}
            for index, request in enumerate(requests)
        ]
        try:
            with trace_spans.step(
                "node", chain_id=self.chain_id, node=self.name, method=requests[0].method, requests=len(requests)
            ):
                raw = self._exchange(to_json(bodies if len(bodies) > 1 else bodies[0]), deadline)
        except GolemError:
            # Whoever answers next at this url may be another node, so it is asked for its chain again.
            self._verified_until_ms = 0.0
            raise
        try:
            # Not the standard library's parser: under a raised recursion limit, which py-evm sets, nesting crashes it.
            answer = from_json(raw, allow_inf_nan=False)
        except ValueError:
            raise RpcNonsense(f"The node of {self.name} did not answer JSON") from None
        return self._match(answer, requests)

    def _match(self, answer: object, requests: Sequence[RpcRequest]) -> list[RpcReply]:
        count = len(requests)
        if isinstance(answer, dict) and (count == 1 or "error" in answer):
            if count > 1:
                # A whole batch refused as one: the same error is every request's.
                return [self._reply(answer, requests[0])] * count
            answer = [answer]
        if not isinstance(answer, list) or len(answer) != count:
            raise RpcNonsense(f"The node of {self.name} answered another number of replies than requests")
        if count == 1 and isinstance(answer[0], dict):
            return [self._reply(answer[0], requests[0])]
        # An id may come back as anything: as a list, which is no key, or as `true`, which is one like 1.
        by_id = {item["id"]: item for item in answer if isinstance(item, dict) and type(item.get("id")) is int}
        if set(by_id) != set(range(count)):
            raise RpcNonsense(f"The node of {self.name} answered with other ids than were asked")
        return [self._reply(by_id[index], request) for index, request in enumerate(requests)]

    def _reply(self, item: dict[str, object], request: RpcRequest) -> RpcReply:
        told = read_stored(_Answered, item)
        if told.error is None:
            if "result" not in item:
                raise RpcNonsense(f"The node of {self.name} answered neither a result nor an error")
            if not has_shape(request.method, told.result):
                raise RpcNonsense(f"The node of {self.name} answered {request.method} with something of another shape")
            return RpcReply(result=told.result)
        if not isinstance(told.error, dict):
            raise RpcNonsense(f"The node of {self.name} answered an error of the wrong shape")
        error = read_stored(_NodeError, told.error)
        code, message = error.code, self._redact(str(error.message))
        return RpcReply(error=build_node_error(code if type(code) is int else None, message, error.data))

    def _exchange(self, body: bytes, deadline: Deadline | None) -> bytes:
        budget_ms = float(self._limits.request_ms)
        if deadline is not None:
            budget_ms = min(budget_ms, deadline.remaining_ms())
        if budget_ms <= 0:
            raise RpcTimeout(f"No time was left to ask the node of {self.name}", maybe_sent=False)
        limits = self._limits
        try:
            answer = self._connections().post(
                body,
                connect_ms=limits.connect_ms,
                deadline=Deadline.after_ms(budget_ms),
                most_bytes=limits.response_bytes,
            )
        except AnswerTooLarge:
            raise RpcNonsense(f"The node of {self.name} answered more than {limits.response_bytes} bytes") from None
        except HttpFailure as failure:
            if failure.is_timeout:
                raise RpcTimeout(f"The node of {self.name} did not answer in time", maybe_sent=True) from None
            words = "broke the connection" if failure.maybe_sent else "cannot be reached"
            raise RpcUnavailable(f"The node of {self.name} {words}", maybe_sent=failure.maybe_sent) from None
        if answer.status == 429:
            wait = answer.retry_after_seconds
            told: dict[str, Any] = {}  # Any: data of the error
            if wait is not None:
                told = {"retry_after_seconds": min(max(1, wait), MOST_WAIT_SECONDS)}
            raise RpcRateLimited(f"The node of {self.name} asks us to slow down", **told)
        if answer.status >= 500 and not answer.body.lstrip().startswith((b"{", b"[")):
            raise RpcUnavailable(f"The node of {self.name} answered HTTP {answer.status}", maybe_sent=True)
        if answer.status in (401, 403):
            raise RpcUnavailable(f"The node of {self.name} refuses our credentials", maybe_sent=False)
        return answer.body

    def _connections(self) -> HttpPool:
        pid = os.getpid()
        if self._pool is None or self._pool_pid != pid:
            with self._lock:
                if self._pool is None or self._pool_pid != pid:
                    self._pool = HttpPool(
                        urlsplit(self._url.reveal()), headers=self._headers, most_connections=self._limits.connections
                    )
                    self._pool_pid = pid
        return self._pool

    def _redact(self, text: str) -> str:
        for piece in self._private:
            text = text.replace(piece, "…")
        return clean_text(text)


def _is_http(parts: SplitResult) -> bool:
    try:
        return parts.scheme in ("http", "https") and bool(parts.hostname) and parts.port != 0
    except ValueError:
        return False


def parse_quantity(value: Any) -> int:  # Any: a node's JSON
    """The integer of a hex quantity. Raises RpcNonsense."""
    if is_quantity(value):
        return int(value, 16)
    raise RpcNonsense("The node answered something that is no hex number")


def parse_bytes(value: Any) -> bytes:  # Any: a node's JSON
    """The bytes of a hex string. Raises RpcNonsense."""
    if isinstance(value, str) and value.startswith("0x"):
        try:
            return bytes.fromhex(value[2:])
        except ValueError:
            pass
    raise RpcNonsense("The node answered something that is no hex data")
