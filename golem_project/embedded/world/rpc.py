"""A small JSON-RPC client over one kept-alive connection, and the few codings the world needs on top of it."""

from __future__ import annotations

import http.client
import json
import socket
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlsplit

from eth_abi.abi import decode, encode
from eth_abi.grammar import TupleType, parse
from eth_utils.address import to_checksum_address
from eth_utils.crypto import keccak

from golem_project.embedded.errors import EmbeddedError

REQUEST_TIMEOUT_SECONDS = 60
RECEIPT_TIMEOUT_SECONDS = 20


class RpcError(EmbeddedError):
    """The node answered with an error. `code` and `data` are the node's own."""

    def __init__(self, method: str, error: Mapping[str, object]) -> None:
        said, code, data = (error.get(name) for name in ("message", "code", "data"))
        super().__init__(f"{method}: {'no message' if 'message' not in error else said}")
        self.code = code if isinstance(code, int) else None
        self.data = data


@dataclass(frozen=True, slots=True)
class Log:
    """A log of a receipt; topics and data are 0x-hex."""

    topics: tuple[str, ...]
    data: str


@dataclass(frozen=True, slots=True)
class Receipt:
    """What became of a transaction; `created` is the address of the contract it created."""

    is_ok: bool
    block_number: int
    gas_used: int
    created: str | None
    logs: tuple[Log, ...]


@dataclass(frozen=True, slots=True)
class Block:
    """A block's number, Unix seconds and hash."""

    number: int
    timestamp: int
    hash: str


class JsonRpc:
    """Calls one node. Not for several threads at once: it holds one connection."""

    def __init__(self, url: str, *, timeout_seconds: float = REQUEST_TIMEOUT_SECONDS) -> None:
        parts = urlsplit(url)
        if parts.scheme != "http" or parts.hostname is None:
            raise EmbeddedError(f"{url!r} is no http address of a local chain. Fix: use http://127.0.0.1:PORT")
        self._path = parts.path or "/"
        self._connection = http.client.HTTPConnection(parts.hostname, parts.port or 80, timeout=timeout_seconds)
        self._next_id = 0

    def call(self, method: str, *params: object) -> Any:  # Any: every method of the node answers another type
        """The result of one method. Raises RpcError, EmbeddedError when the node does not answer."""
        self._next_id += 1
        body = json.dumps({"jsonrpc": "2.0", "id": self._next_id, "method": method, "params": params})
        return _read_result(method, self._post(body.encode()))

    def call_all(self, calls: Sequence[tuple[str, Sequence[object]]]) -> list[Any]:  # Any: as of `call`
        """The results of several methods in one exchange. Raises RpcError for the first that failed."""
        body = [
            {"jsonrpc": "2.0", "id": number, "method": method, "params": params}
            for number, (method, params) in enumerate(calls)
        ]
        answers: dict[object, object] = {}
        for answer in _list_answers(self._post(json.dumps(body).encode())):
            match answer:
                case {"id": number}:
                    answers[number] = answer
        return [_read_result(method, answers[number]) for number, (method, _) in enumerate(calls)]

    def _post(self, body: bytes) -> object:
        # A kept connection may have been closed by a restart of the node: then, and only then, once more.
        reused = self._connection.sock is not None
        try:
            return self._exchange(body)
        except (http.client.RemoteDisconnected, BrokenPipeError, ConnectionResetError) as error:
            self._connection.close()
            if not reused:
                raise EmbeddedError(f"The local chain hung up ({error}). Fix: start it again.") from error
        except (OSError, http.client.HTTPException, ValueError) as error:
            raise self._give_up(body, error) from error
        try:
            return self._exchange(body)
        except (OSError, http.client.HTTPException, ValueError) as error:
            raise self._give_up(body, error) from error

    def _give_up(self, body: bytes, error: Exception) -> EmbeddedError:
        """What to say of an exchange that failed. One that took too long was of a chain that may well be there."""
        self._connection.close()
        if not isinstance(error, TimeoutError):
            return EmbeddedError(f"The local chain does not answer ({error}). Fix: start it again.")
        match json.loads(body):
            case {"method": str(named)}:
                pass
            case [{"method": str(first)}, *_] as calls:
                named = f"{len(calls)} calls from {first} on"
        return EmbeddedError(
            f"The local chain did not answer {named} within {self._connection.timeout:g} seconds."
            " Fix: ask for less at a time, or start it again where it answers nothing."
        )

    def _exchange(self, body: bytes) -> object:
        if self._connection.sock is None:
            self._connection.connect()
            if isinstance(self._connection.sock, socket.socket):
                self._connection.sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self._connection.request("POST", self._path, body, {"Content-Type": "application/json"})
        answer = json.loads(self._connection.getresponse().read())
        if not isinstance(answer, dict | list):
            raise ValueError("not a JSON-RPC answer")
        return answer

    def close(self) -> None:
        """Close the connection."""
        self._connection.close()

    def read_block(self, block: str = "latest") -> Block:
        """A block, by number in 0x-hex or by name. Raises EmbeddedError."""
        match self.call("eth_getBlockByNumber", block, False):
            case {"number": str(number), "timestamp": str(timestamp), "hash": str(hash_)}:
                return Block(int(number, 16), int(timestamp, 16), hash_)
        raise EmbeddedError(f"The local chain knows no block {block}. Fix: start it again.")

    def find_receipt(self, transaction_hash: str) -> Receipt | None:
        """The receipt of a transaction; None while it is not mined. Raises EmbeddedError."""
        match self.call("eth_getTransactionReceipt", transaction_hash):
            case None:
                return None
            case {"status": str(status), "blockNumber": str(block), "gasUsed": str(gas), "logs": list(logs), **others}:
                read = tuple(_read_log(each) for each in logs)
                return Receipt(int(status, 16) == 1, int(block, 16), int(gas, 16), _read_created(others), read)
        raise EmbeddedError(f"The local chain told no receipt of {transaction_hash}. Fix: start it again.")

    def read(
        self,
        to: str,
        signature: str,
        *arguments: object,
        returns: str,
    ) -> tuple[Any, ...]:  # Any: values of whatever types `returns` names
        """`eth_call` at the latest block; `returns` is a tuple type such as `(uint256,address)`."""
        raw = self.call("eth_call", {"to": to, "data": call_data(signature, *arguments)}, "latest")
        return tuple(decode(tuple_members(returns), bytes.fromhex(raw[2:])))

    def send_raw(self, raw: bytes) -> str:
        """Hand over a signed transaction; returns its hash."""
        return str(self.call("eth_sendRawTransaction", "0x" + raw.hex()))

    def wait_for_receipt(self, transaction_hash: str) -> dict[str, Any]:  # Any: the receipt as the node tells it
        """The receipt of a transaction once it is mined. Raises EmbeddedError when it is not."""
        deadline = time.monotonic() + RECEIPT_TIMEOUT_SECONDS
        while time.monotonic() < deadline:
            receipt: dict[str, object] | None = self.call("eth_getTransactionReceipt", transaction_hash)
            if receipt is not None:
                return receipt
            time.sleep(0.001)
        raise EmbeddedError(f"{transaction_hash} was not mined. Fix: see whether the local chain mines.")

    def balance_of(self, token: str, account: str) -> int:
        """ERC-20 balance in base units."""
        return int(self.read(token, "balanceOf(address)", account, returns="(uint256)")[0])


def _list_answers(told: object) -> list[object]:
    return told if isinstance(told, list) else []


def _read_result(method: str, told: object) -> object:
    match told:
        case {"error": error}:
            raise RpcError(method, error if isinstance(error, dict) else {})
        case {"result": result}:
            return result
        case dict():
            return None
    raise EmbeddedError(f"The local chain answered {method} with no object. Fix: start it again.")


def _read_log(told: object) -> Log:
    match told:
        case {"topics": list(topics), "data": str(data)}:
            return Log(tuple(topics), data)
    raise EmbeddedError("The local chain told a receipt with a log that is none. Fix: start it again.")


def _read_created(told: object) -> str | None:
    match told:
        case {"contractAddress": str(created)}:
            return created
    return None


def tuple_members(tuple_type: str) -> list[str]:
    """`(a,(b,c)[])` -> the types at its top level."""
    if tuple_type == "()":
        return []
    parsed = parse(tuple_type)
    if not isinstance(parsed, TupleType):
        raise ValueError(f"{tuple_type!r} is no tuple type")
    return [component.to_type_str() for component in parsed.components]


def selector(signature: str) -> bytes:
    """The first four bytes of the hash of `name(types)`."""
    return bytes(keccak(text=signature)[:4])


def encode_arguments(types: str, *arguments: object) -> bytes:
    """Arguments of a call or a constructor; `types` is a tuple type."""
    return bytes(encode(tuple_members(types), arguments))


def call_data(signature: str, *arguments: object) -> str:
    """0x-prefixed calldata of `name(types)` with these arguments."""
    types = signature[signature.index("(") :]
    return "0x" + (selector(signature) + encode_arguments(types, *arguments)).hex()


def checksum(address: str | bytes) -> str:
    """EIP-55 spelling of an address."""
    return str(to_checksum_address(address))
