"""Hands the screening worker what it meets of the chain and was not given: one block, read through a fork's own source.

It speaks the few methods by which revm reads a node, on loopback, at an address that only the worker is told, for as
long as the worker lives. So nothing a candidate looks at is taken for empty.
"""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from secrets import token_urlsafe
from typing import Any, Final

from pydantic_core import from_json, to_json

from tools_app.core.errors import GolemError
from tools_app.core.json_types import JsonObject

_NO_HASH: Final = "0x" + "00" * 32


class StateServer(ThreadingHTTPServer):
    """Answers for the block of one fork. `failure` is the first error of its source, which no worker may hide."""

    daemon_threads = True

    def __init__(self, fork: Any) -> None:  # Any: JSON between two processes
        super().__init__(("127.0.0.1", 0), _Handler)
        self.failure: GolemError | None = None
        self.path = "/" + token_urlsafe(24)
        self._base, self._source = fork.state.base, fork.state.source
        self._parent = fork.state.env.number - 1
        self._parent_hash = fork.state.env.parent_hash
        self._lock = threading.Lock()

    @property
    def url(self) -> str:
        """Where the worker asks."""
        return f"http://127.0.0.1:{self.server_address[1]}{self.path}"

    def check(self) -> None:
        """Raises what the node raised when it was asked for something."""
        if self.failure is not None:
            raise self.failure

    def answer(self, request: JsonObject) -> JsonObject:
        """A JSON-RPC answer; an error where the node has none."""
        head = {"jsonrpc": "2.0", "id": request.get("id")}
        try:
            with self._lock:
                return {**head, "result": self._read(str(request.get("method")), request.get("params") or [])}
        except GolemError as error:
            self.failure = self.failure or error
            return {**head, "error": {"code": -32000, "message": error.code}}

    def _read(self, method: str, params: list[Any]) -> Any:  # Any: JSON between two processes
        if method == "eth_getBlockByNumber":
            return _describe_block(int(params[0], 16), self._hash_of(int(params[0], 16)))
        address = bytes.fromhex(params[0][2:])
        if method == "eth_getStorageAt":
            return f"0x{self._base.slot(address, int(params[1], 16), self._source):064x}"
        account = self._base.account(address, self._source)
        return {
            "eth_getBalance": lambda: hex(account.balance),
            "eth_getTransactionCount": lambda: hex(account.nonce),
            "eth_getCode": lambda: "0x" + account.code.hex(),
        }[method]()

    def _hash_of(self, number: int) -> str:
        known = self._parent_hash if number == self._parent else self._base.block_hash(number, self._source)
        return "0x" + bytes(known).hex()


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server: StateServer

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers.get("Content-Length", "0")))
        if self.path != self.server.path:
            self.send_error(404)
            return
        answer = to_json(self.server.answer(from_json(body)))
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(answer)))
        self.end_headers()
        self.wfile.write(answer)

    def log_message(self, *_: object) -> None:
        return


@contextmanager
def serve_state(fork: object) -> Iterator[StateServer]:
    """A server for the length of a block."""
    server = StateServer(fork)
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True)
    thread.start()
    try:
        yield server
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


def _describe_block(number: int, block_hash: str) -> dict[str, object]:
    """A block with nothing but its hash: what revm asks of earlier blocks."""
    return {
        "number": hex(number),
        "hash": block_hash,
        "parentHash": _NO_HASH,
        "timestamp": "0x0",
        "gasLimit": "0x0",
        "gasUsed": "0x0",
        "miner": "0x" + "00" * 20,
        "difficulty": "0x0",
        "baseFeePerGas": "0x0",
        "mixHash": _NO_HASH,
        "nonce": "0x" + "00" * 8,
        "sha3Uncles": _NO_HASH,
        "logsBloom": "0x" + "00" * 256,
        "transactionsRoot": _NO_HASH,
        "stateRoot": _NO_HASH,
        "receiptsRoot": _NO_HASH,
        "extraData": "0x",
        "size": "0x0",
        "uncles": [],
        "transactions": [],
        "totalDifficulty": "0x0",
    }
