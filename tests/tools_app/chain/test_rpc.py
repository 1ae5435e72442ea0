from __future__ import annotations

import logging
import pickle
import time
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest

from tests.evm.world import World
from tests.tools_app.chain.nodes import answering, block_json, closed_port_url, serve, serve_drip, serve_silence
from tools_app.chain.node_errors import (
    RpcMethodMissing,
    RpcMethodRefused,
    RpcNonsense,
    RpcRateLimited,
    RpcTimeout,
    RpcUnavailable,
    RpcWrongChain,
)
from tools_app.chain.rpc import READ_METHODS, RpcEndpoint, RpcLimits, RpcRequest, parse_bytes, parse_quantity
from tools_app.core.clock import Deadline
from tools_app.core.errors import GolemError
from tools_app.core.taint import Secret

SENDING = READ_METHODS | {"eth_sendRawTransaction"}


def _endpoint(url: str, *, chain_id: int = 31337, **options: Any) -> RpcEndpoint:
    return RpcEndpoint(Secret(url), chain_id=chain_id, **options)


def test_a_batch_is_answered_in_order_by_a_real_node(world: World) -> None:
    endpoint = _endpoint(world.rpc_url)
    replies = endpoint.send([RpcRequest("eth_chainId"), RpcRequest("eth_blockNumber")])

    assert parse_quantity(replies[0].unwrap()) == 31337
    assert parse_quantity(replies[1].unwrap()) > 0


def test_one_failing_request_of_a_batch_does_not_spoil_the_others(world: World) -> None:
    endpoint = _endpoint(world.rpc_url, allowed_methods=READ_METHODS | {"eth_noSuchMethod"})
    good, bad = endpoint.send([RpcRequest("eth_chainId"), RpcRequest("eth_noSuchMethod")])

    assert good.error is None
    with pytest.raises(RpcMethodMissing):
        bad.unwrap()


@pytest.mark.parametrize(
    "method",
    [
        "eth_sendRawTransaction",
        "eth_sendTransaction",
        "eth_sign",
        "personal_unlockAccount",
        "anvil_setBalance",
        "evm_mine",
    ],
)
def test_the_read_pool_refuses_to_send_before_anything_leaves(method: str) -> None:
    with serve(answering({})) as node, pytest.raises(RpcMethodRefused) as refused:
        _endpoint(node.url).send([RpcRequest("eth_chainId"), RpcRequest(method, ("0x02",))])

    assert node.asked == []
    assert refused.value.data["method"] == method


def test_no_method_of_the_read_list_changes_anything() -> None:
    assert not {method for method in READ_METHODS if "send" in method.lower() or "sign" in method.lower()}
    assert not {
        method for method in READ_METHODS if method.split("_")[0] in {"anvil", "evm", "personal", "miner", "admin"}
    }


def test_a_node_of_another_chain_is_refused_before_anything_is_sent_to_it() -> None:
    with serve(answering({"eth_sendRawTransaction": "0x00"}, chain_id=5)) as node:
        endpoint = _endpoint(node.url, allowed_methods=SENDING)
        with pytest.raises(RpcWrongChain) as wrong:
            endpoint.call("eth_sendRawTransaction", "0x02")

    assert node.asked == ["eth_chainId"]
    assert wrong.value.data == {"expected": 31337, "found": 5}


def test_the_chain_id_is_asked_once_and_beside_the_first_read() -> None:
    with serve(answering({"eth_blockNumber": "0x1"})) as node:
        endpoint = _endpoint(node.url)
        for _ in range(3):
            endpoint.call("eth_blockNumber")

    assert node.asked == ["eth_chainId", "eth_blockNumber", "eth_blockNumber", "eth_blockNumber"]


def test_a_node_that_is_down_is_unavailable() -> None:
    with pytest.raises(RpcUnavailable) as down:
        _endpoint(closed_port_url()).call("eth_blockNumber")

    assert down.value.data["maybe_sent"] is False


def test_a_node_that_never_answers_times_out_within_the_deadline() -> None:
    with serve_silence() as url:
        started = time.perf_counter()
        with pytest.raises(RpcTimeout) as slow:
            _endpoint(url).call("eth_blockNumber", deadline=Deadline.after_ms(1_500))

    # The node says nothing for ever.
    assert time.perf_counter() - started < 30.0
    assert slow.value.data["maybe_sent"] is True


def test_a_passed_deadline_asks_nothing() -> None:
    with serve(answering({})) as node, pytest.raises(RpcTimeout):
        _endpoint(node.url).call("eth_blockNumber", deadline=Deadline.after_ms(0))

    assert node.asked == []


@pytest.mark.parametrize(
    "body",
    [
        b"",
        b"<html>busy</html>",
        b"[]",
        b"{}",
        b"null",
        b"17",
        b'{"jsonrpc":"2.0","id":0}',
        b'[{"id":7,"result":"0x1"}]',
        b'{"id":0,"error":"words"}',
        b"[" * 100_000,
    ],
)
def test_an_answer_that_is_no_json_rpc_is_nonsense(body: bytes) -> None:
    with serve(lambda requests: body) as node, pytest.raises(RpcNonsense):
        _endpoint(node.url).send([RpcRequest("eth_blockNumber"), RpcRequest("eth_gasPrice")])


def test_an_answer_larger_than_the_cap_is_not_read() -> None:
    with serve(lambda requests: b"x" * 200_000) as node, pytest.raises(RpcNonsense, match="more than"):
        _endpoint(node.url, limits=RpcLimits(response_bytes=50_000)).call("eth_blockNumber")


@pytest.mark.parametrize(("status", "kind"), [(429, RpcRateLimited), (502, RpcUnavailable), (401, RpcUnavailable)])
def test_http_statuses_are_typed(status: int, kind: type[GolemError]) -> None:
    with serve(lambda requests: status) as node, pytest.raises(kind):
        _endpoint(node.url).call("eth_blockNumber")


@pytest.mark.parametrize(
    ("said", "told"),
    [
        ("7", 7),
        ("0", 1),
        ("86400", 60),
        ("Wed, 21 Oct 2015 07:28:00 GMT", 1),
        ("Fri, 31 Dec 2088 23:59:59 GMT", 60),
        ("soon", None),
        ("-5", None),
        ("9" * 4_000, None),
        ("Wed, 99 Oct 2015 07:28:00 GMT", None),
        ("", None),
    ],
)
def test_a_node_that_says_when_to_ask_again_is_heard_within_bounds(said: str, told: int | None) -> None:
    with serve(lambda requests: (429, {"Retry-After": said})) as node, pytest.raises(RpcRateLimited) as refused:
        _endpoint(node.url).call("eth_blockNumber")

    assert refused.value.data.get("retry_after_seconds") == told


def test_replies_in_another_order_are_put_in_order() -> None:
    def backwards(requests: list[dict[str, Any]]) -> Any:
        return answering({"eth_blockNumber": "0x1", "eth_gasPrice": "0x2"})(requests)[::-1]

    with serve(backwards) as node:
        replies = _endpoint(node.url).send([RpcRequest("eth_blockNumber"), RpcRequest("eth_gasPrice")])

    assert [reply.unwrap() for reply in replies] == ["0x1", "0x2"]


def test_an_answer_that_drips_is_cut_off_at_the_deadline() -> None:
    with serve_drip() as url:
        started = time.perf_counter()
        with pytest.raises(RpcTimeout):
            _endpoint(url).call("eth_blockNumber", deadline=Deadline.after_ms(1_500))

    # A byte came every hundredth of a second: a limit on silence alone would never be met.
    assert time.perf_counter() - started < 30.0


def test_after_a_failure_the_node_is_asked_for_its_chain_again() -> None:
    chain_ids = iter(["0x7a69", "0x1"])

    def swapped(requests: list[dict[str, Any]]) -> Any:
        if node.asked[-1:] == ["eth_gasPrice"]:
            return 502
        return answering({"eth_chainId": lambda: next(chain_ids), "eth_blockNumber": "0x1"})(requests)

    with serve(swapped) as node:
        endpoint = _endpoint(node.url)
        endpoint.call("eth_blockNumber")
        with pytest.raises(RpcUnavailable):
            endpoint.call("eth_gasPrice")
        with pytest.raises(RpcWrongChain):
            endpoint.call("eth_blockNumber")


def test_many_threads_share_an_endpoint(world: World) -> None:
    endpoint = _endpoint(world.rpc_url, limits=RpcLimits(connections=4))

    def ask(number: int) -> int:
        found = endpoint.call("eth_getBlockByNumber", hex(number % 50), False)
        return parse_quantity(found["number"])

    with ThreadPoolExecutor(16) as threads:
        assert list(threads.map(ask, range(200))) == [number % 50 for number in range(200)]


def test_a_large_batch_is_cut_to_the_batch_size(world: World) -> None:
    endpoint = _endpoint(world.rpc_url, limits=RpcLimits(batch_size=7))

    assert [reply.unwrap() for reply in endpoint.send([RpcRequest("eth_chainId")] * 30)] == ["0x7a69"] * 30


SECRET_URLS = [
    "http://127.0.0.1:{port}/v3/0123456789abcdefkey",
    "http://127.0.0.1:{port}/rpc?apikey=0123456789abcdefkey",
    "http://someuser:0123456789abcdefkey@127.0.0.1:{port}/",
]


@pytest.mark.parametrize("pattern", SECRET_URLS)
@pytest.mark.parametrize("kind", ["down", "html", "echo", "silent", "status"])
def test_a_key_in_the_url_is_in_no_error_log_or_repr(pattern: str, kind: str, caplog: pytest.LogCaptureFixture) -> None:
    def echo(requests: list[dict[str, Any]]) -> Any:
        message = "invalid project id 0123456789abcdefkey for /v3/0123456789abcdefkey apikey=0123456789abcdefkey"
        return [{"id": request["id"], "error": {"code": -32000, "message": message}} for request in requests]

    answers: dict[str, Any] = {"html": lambda requests: b"<html>", "echo": echo, "status": lambda requests: 503}
    caplog.set_level(logging.DEBUG)
    with serve(answers.get(kind, echo)) as node, serve_silence() as silent:
        url = {"down": closed_port_url(), "silent": silent}.get(kind, node.url)
        endpoint = _endpoint(pattern.format(port=url.rpartition(":")[2]))
        with pytest.raises(GolemError) as failed:
            endpoint.call("eth_blockNumber", deadline=Deadline.after_ms(150))

    error = failed.value
    chained = [error, error.__cause__, None if error.__suppress_context__ else error.__context__]
    shown = " ".join(str((repr(item), str(item), getattr(item, "data", ""))) for item in [endpoint, *chained])
    assert "0123456789abcdefkey" not in shown
    assert "0123456789abcdefkey" not in str(error.as_problem())
    assert "0123456789abcdefkey" not in caplog.text


def test_an_endpoint_cannot_be_pickled_into_a_task() -> None:
    with pytest.raises(TypeError):
        pickle.dumps(_endpoint("http://127.0.0.1:1/key"))


def test_a_forked_process_opens_connections_of_its_own(monkeypatch: pytest.MonkeyPatch) -> None:
    with serve(answering({"eth_blockNumber": "0x1"})) as node:
        endpoint = _endpoint(node.url)
        endpoint.call("eth_blockNumber")
        before = endpoint._connections()
        monkeypatch.setattr("tools_app.chain.rpc.os.getpid", lambda: -1)

        assert endpoint._connections() is not before
        assert endpoint.call("eth_blockNumber") == "0x1"


@pytest.mark.parametrize("value", [None, 5, "5", "0x", "0xzz", {}])
def test_what_is_no_hex_number_is_nonsense(value: Any) -> None:
    with pytest.raises(RpcNonsense):
        parse_quantity(value)


@pytest.mark.parametrize("value", [None, "00", "0xz", "0x1"])
def test_what_is_no_hex_data_is_nonsense(value: Any) -> None:
    with pytest.raises(RpcNonsense):
        parse_bytes(value)


def test_block_json_of_the_tests_is_what_the_reader_reads() -> None:
    assert parse_quantity(block_json(5)["number"]) == 5
