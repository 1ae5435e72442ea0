"""Nodes that answer anything at all: what they say is told as an error, and the second node is asked."""

from __future__ import annotations

import contextlib
import gzip
import json
import socket
import struct
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import pytest

from tests.tools_app.chain.nodes import block_json, closed_port_url, serve, serve_drip, serve_silence
from tools_app.chain.networks import KNOWN_NETWORKS, with_rpc_urls
from tools_app.chain.rpc import READ_METHODS, RpcLimits
from tools_app.chain.rpc_pool import RpcPool
from tools_app.core.clock import Deadline
from tools_app.core.errors import GolemError

_HASH = "0x" + "11" * 32
_ADDRESS = "0x" + "22" * 20
_LOG = {
    "address": _ADDRESS,
    "topics": [_HASH],
    "data": "0x",
    "blockNumber": "0x7",
    "transactionHash": _HASH,
    "logIndex": "0x0",
    "blockHash": _HASH,
}
_RECEIPT = {"transactionHash": _HASH, "blockNumber": "0x7", "blockHash": _HASH, "status": "0x1", "gasUsed": "0x1"}
GOOD: dict[str, Any] = {
    "debug_traceCall": {"pre": {}},
    "eth_blockNumber": "0x7",
    "eth_call": "0x" + "00" * 32,
    "eth_chainId": "0x7a69",
    "eth_createAccessList": {"accessList": [], "gasUsed": "0x5208"},
    "eth_estimateGas": "0x5208",
    "eth_feeHistory": {"baseFeePerGas": ["0x1", "0x1"], "reward": [["0x1"]], "oldestBlock": "0x1"},
    "eth_gasPrice": "0x1",
    "eth_getBalance": "0x1",
    "eth_getBlockByHash": block_json(7),
    "eth_getBlockByNumber": block_json(7),
    "eth_getCode": "0x6000",
    "eth_getLogs": [_LOG],
    "eth_getProof": {"accountProof": []},
    "eth_getStorageAt": "0x" + "00" * 32,
    "eth_getTransactionByHash": {"hash": _HASH, "nonce": "0x1", "blockNumber": "0x7"},
    "eth_getTransactionCount": "0x1",
    "eth_getTransactionReceipt": {**_RECEIPT, "logs": [_LOG]},
    "eth_maxPriorityFeePerGas": "0x1",
    "eth_simulateV1": [{"calls": []}],
    "eth_syncing": False,
    "net_version": "31337",
    "web3_clientVersion": "node/1",
}
JSON_VALUES: tuple[Any, ...] = (
    None,
    True,
    False,
    0,
    -1,
    1.5,
    10**400,
    "",
    "words",
    "0x",
    "0xzz",
    "0x" + "f" * 65,
    "\u0000",
    [],
    [[]],
    [None],
    {},
    {"a": {"b": []}},
)
MAY_BE_NULL = {"eth_getBlockByHash", "eth_getBlockByNumber", "eth_getTransactionByHash", "eth_getTransactionReceipt"}
Respond = Callable[[list[dict[str, Any]]], Any]


def good(requests: list[dict[str, Any]]) -> list[dict[str, Any]]:
    return [{"jsonrpc": "2.0", "id": request["id"], "result": GOOD[request["method"]]} for request in requests]


def pool_of(*urls: str, milliseconds: int = 10_000) -> RpcPool:
    limits = RpcLimits(request_ms=milliseconds, response_bytes=4 * 1024 * 1024)
    return RpcPool.of_network(with_rpc_urls(KNOWN_NETWORKS[31337], urls), limits=limits)


def places(value: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """The path of a value and of everything inside it."""
    yield path
    if isinstance(value, dict):
        for key, inner in value.items():
            yield from places(inner, (*path, key))
    elif isinstance(value, list):
        for position, inner in enumerate(value):
            yield from places(inner, (*path, position))


def replaced(value: Any, path: tuple[Any, ...], other: Any) -> Any:
    """A copy of `value` with `other` at `path`."""
    if not path:
        return other
    copied = dict(value) if isinstance(value, dict) else list(value)
    copied[path[0]] = replaced(copied[path[0]], path[1:], other)
    return copied


def test_every_method_that_may_be_asked_is_asked_here() -> None:
    assert set(GOOD) == READ_METHODS


@pytest.mark.parametrize("method", sorted(READ_METHODS))
def test_a_result_of_another_type_at_any_place_is_an_error_or_an_answer_and_never_a_crash(method: str) -> None:
    """At its top another type is no answer: the second node is asked. Further inside, it is read or refused."""
    told: list[Any] = [None]

    def lie(requests: list[dict[str, Any]]) -> Any:
        return [
            {
                "jsonrpc": "2.0",
                "id": each["id"],
                "result": told[0] if each["method"] == method else GOOD[each["method"]],
            }
            for each in requests
        ]

    with serve(lie) as liar, serve(good) as honest:
        for path in places(GOOD[method]):
            for value in JSON_VALUES:
                told[0] = replaced(GOOD[method], path, value)
                before = len(honest.asked)
                try:
                    answer = pool_of(liar.url, honest.url).call(method)
                except GolemError as error:
                    raise AssertionError(f"{path} {value!r}: the second node was not believed: {error}") from None
                if len(honest.asked) > before:
                    assert answer == GOOD[method]
                elif not path:
                    expected = (bool, dict) if method == "eth_syncing" else type(GOOD[method])
                    assert isinstance(answer, expected) or (answer is None and method in MAY_BE_NULL), value


@pytest.mark.parametrize("method", sorted(READ_METHODS - {"eth_syncing", "net_version", "web3_clientVersion"}))
@pytest.mark.parametrize("value", [True, 7, 1.5, [[]], "words"])
def test_a_result_of_another_type_is_asked_of_the_second_node(method: str, value: Any) -> None:
    def lie(requests: list[dict[str, Any]]) -> Any:
        return [
            {"jsonrpc": "2.0", "id": each["id"], "result": value if each["method"] == method else GOOD[each["method"]]}
            for each in requests
        ]

    with serve(lie) as liar, serve(good) as honest:
        assert pool_of(liar.url, honest.url).call(method) == GOOD[method]
        with pytest.raises(GolemError) as told:
            pool_of(liar.url).call(method)
        assert (told.value.code, bool(told.value.detail)) in {("RPC_NONSENSE", True), ("RPC_WRONG_CHAIN", True)}


@pytest.mark.parametrize("value", [*JSON_VALUES, 99, "0", 0.0], ids=lambda value: repr(value)[:20])
@pytest.mark.parametrize("count", [1, 3])
def test_an_id_of_any_type_is_told_and_the_second_node_is_asked(value: Any, count: int) -> None:
    def lie(requests: list[dict[str, Any]]) -> Any:
        return [{**reply, "id": value} for reply in good(requests)]

    with serve(lie) as liar, serve(good) as honest:
        pool = pool_of(liar.url, honest.url)
        for _ in range(count):
            assert pool.call("eth_blockNumber") == "0x7"


@pytest.mark.parametrize(
    "value", [value for value in JSON_VALUES if value is not None], ids=lambda value: repr(value)[:20]
)
def test_an_error_of_any_type_is_told_and_the_second_node_is_asked(value: Any) -> None:
    def lie(requests: list[dict[str, Any]]) -> Any:
        return [{"jsonrpc": "2.0", "id": each["id"], "error": value} for each in requests]

    with serve(lie) as liar, serve(good) as honest:
        assert pool_of(liar.url, honest.url).call("eth_blockNumber") == "0x7"


@pytest.mark.parametrize("member", ["code", "message", "data"])
@pytest.mark.parametrize("value", JSON_VALUES, ids=lambda value: repr(value)[:20])
def test_a_member_of_an_error_of_any_type_is_told_and_the_second_node_is_asked(member: str, value: Any) -> None:
    error = {"code": -32603, "message": "internal", "data": None, member: value}

    def lie(requests: list[dict[str, Any]]) -> Any:
        chain, *rest = good([{"id": 0, "method": "eth_chainId"}, *requests])
        return [
            {**reply, "error": error, "result": None} if each["method"] == "eth_getBalance" else reply
            for each, reply in zip(requests, rest, strict=True)
        ]

    with serve(lie) as liar, serve(good) as honest:
        assert pool_of(liar.url, honest.url).call("eth_getBalance") == "0x1"
        with pytest.raises(GolemError):
            pool_of(liar.url).call("eth_getBalance")


@pytest.mark.parametrize("value", JSON_VALUES, ids=lambda value: repr(value)[:20])
def test_a_document_of_any_type_is_told_and_the_second_node_is_asked(value: Any) -> None:
    with serve(lambda _: json.dumps(value).encode()) as liar, serve(good) as honest:
        assert pool_of(liar.url, honest.url).call("eth_blockNumber") == "0x7"
    with serve(lambda _: json.dumps([value, value]).encode()) as liar, serve(good) as honest:
        assert pool_of(liar.url, honest.url).call("eth_blockNumber") == "0x7"


_OK = b"HTTP/1.1 200 OK\r\n"
_BOMB = gzip.compress(b"[" * 50_000_000)
_DEEP = b'{"jsonrpc":"2.0","id":0,"result":' + b"[" * 200_000 + b"]" * 200_000 + b"}"
_RAW: dict[str, bytes] = {
    "a page instead of JSON": _OK + b"Content-Type: text/html\r\nContent-Length: 13\r\n\r\n<html></html>",
    "too many requests": b"HTTP/1.1 429 Too Many Requests\r\nContent-Length: 0\r\n\r\n",
    "too many requests, until a year that no calendar has": (
        b"HTTP/1.1 429 Too Many Requests\r\nRetry-After: Mon, 01 Jan 99999999999999999999 00:00:00 GMT\r\n"
        b"Content-Length: 0\r\n\r\n"
    ),
    "too many requests, as a page": b"HTTP/1.1 429 Too Many Requests\r\nContent-Length: 13\r\n\r\n<html></html>",
    "a gateway's page": b"HTTP/1.1 502 Bad Gateway\r\nContent-Length: 13\r\n\r\n<html></html>",
    "forbidden": b"HTTP/1.1 403 Forbidden\r\nContent-Length: 0\r\n\r\n",
    "not found": b"HTTP/1.1 404 Not Found\r\nContent-Length: 9\r\n\r\nnot found",
    "sent on": b"HTTP/1.1 302 Found\r\nLocation: http://127.0.0.1:1/\r\nContent-Length: 0\r\n\r\n",
    "a compressed bomb": _OK + b"Content-Encoding: gzip\r\nContent-Length: %d\r\n\r\n" % len(_BOMB) + _BOMB,
    "a hundred megabytes announced": _OK + b"Content-Length: 104857600\r\n\r\n",
    "more bytes than a number is read of": _OK + b"Content-Length: " + b"9" * 5_000 + b"\r\n\r\n",
    "a chunk of more bytes than there are": _OK + b"Transfer-Encoding: chunked\r\n\r\n" + b"f" * 900 + b"\r\n",
    "deep nesting": _OK + b"Content-Length: %d\r\n\r\n" % len(_DEEP) + _DEEP,
    "half an answer": _OK + b'Content-Length: 100\r\n\r\n{"jsonrpc":"2.0","id":0,',
    "half a head": b"HTTP/1.1 200 OK\r\nContent-Le",
    "no HTTP": b"SSH-2.0-OpenSSH_9.6\r\n\r\n",
    "no length and no end of a number": _OK + b"\r\n" + b'{"jsonrpc":"2.0","id":0,"result":' + b"1" * 100_000,
    "bytes that are no text": _OK + b"Content-Length: 4\r\n\r\n\xff\xfe\x00\x01",
    "two lengths": _OK + b"Content-Length: 2\r\nContent-Length: 3\r\n\r\n{}",
    "a wrong type and no answer": _OK + b"Content-Type: image/png\r\nContent-Length: 0\r\n\r\n",
}


@contextmanager
def serve_raw(raw: bytes, *, resets: bool = False, endless: bool = False) -> Iterator[str]:
    """The url of a server that says these bytes to whoever asks, and hangs up."""
    listener = socket.create_server(("127.0.0.1", 0), backlog=16)

    def talk(line: socket.socket) -> None:
        with contextlib.suppress(OSError), line:
            line.recv(65_536)
            line.sendall(raw)
            while endless:
                line.sendall(b" " * 65_536)
            if resets:
                line.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))

    def accept() -> None:
        with contextlib.suppress(OSError):
            while True:
                line, _ = listener.accept()
                threading.Thread(target=talk, args=(line,), daemon=True).start()

    thread = threading.Thread(target=accept, daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{listener.getsockname()[1]}"
    finally:
        listener.shutdown(socket.SHUT_RDWR)
        thread.join()
        listener.close()


@pytest.mark.parametrize("what", _RAW)
def test_whatever_a_node_says_over_http_is_told_and_the_second_node_is_asked(what: str) -> None:
    with serve_raw(_RAW[what]) as liar, serve(good) as honest:
        assert pool_of(liar, honest.url).call("eth_blockNumber") == "0x7"
        with pytest.raises(GolemError) as told:
            pool_of(liar).call("eth_blockNumber")
        assert told.value.detail


@pytest.mark.parametrize("raw", [b"", _OK, _OK + b"Content-Length: 90\r\n\r\n{"])
def test_a_node_that_resets_the_connection_is_told_and_the_second_node_is_asked(raw: bytes) -> None:
    with serve_raw(raw, resets=True) as liar, serve(good) as honest:
        assert pool_of(liar, honest.url).call("eth_blockNumber") == "0x7"


def test_a_node_that_never_stops_talking_is_cut_off_and_the_second_node_is_asked() -> None:
    with serve_raw(_OK + b"\r\n", endless=True) as liar, serve(good) as honest:
        assert pool_of(liar, honest.url).call("eth_blockNumber") == "0x7"


def test_nodes_that_are_silent_drip_or_are_not_there_leave_the_last_one_its_time() -> None:
    with serve_silence() as silent, serve_drip() as dripping, serve(good) as honest:
        pool = pool_of(silent, dripping, closed_port_url(), honest.url, milliseconds=1_000)
        assert pool.call("eth_blockNumber", deadline=Deadline.after_ms(30_000)) == "0x7"


@pytest.mark.parametrize("error", [{"code": 429, "message": "slow"}, {"code": -32005, "message": "limit exceeded"}])
@pytest.mark.parametrize("is_whole", [True, False])
def test_a_quota_in_words_of_json_rpc_is_told_and_the_second_node_is_asked(error: Any, is_whole: bool) -> None:
    def refuse(requests: list[dict[str, Any]]) -> Any:
        if is_whole:
            return json.dumps({"jsonrpc": "2.0", "id": None, "error": error}).encode()
        return [{"jsonrpc": "2.0", "id": each["id"], "error": error} for each in requests]

    with serve(refuse) as liar, serve(good) as honest:
        assert pool_of(liar.url, honest.url).call("eth_blockNumber") == "0x7"
        with pytest.raises(GolemError) as told:
            pool_of(liar.url).call("eth_blockNumber")
        assert told.value.code == "RPC_RATE_LIMITED"


@pytest.mark.parametrize("value", [value for value in JSON_VALUES if value != {}], ids=lambda value: repr(value)[:20])
def test_a_newest_block_of_any_type_is_asked_of_the_second_node(value: Any) -> None:
    for path in places(block_json(7)):
        wrong = replaced(block_json(7), path, value)

        def lie(requests: list[dict[str, Any]], wrong: Any = wrong) -> Any:
            return [
                {**reply, "result": wrong} if each["method"] == "eth_getBlockByNumber" else reply
                for each, reply in zip(requests, good(requests), strict=True)
            ]

        with serve(lie) as liar, serve(good) as honest:
            block = pool_of(liar.url, honest.url).latest_block()
            assert int(block["number"], 16) == 7
