from __future__ import annotations

from contextlib import ExitStack
from typing import Any

import pytest

from tests.tools_app.chain.nodes import Answer, answering, block_json, closed_port_url, serve, serve_silence
from tools_app.chain.blocks import parse_block
from tools_app.chain.networks import KNOWN_NETWORKS, with_rpc_urls
from tools_app.chain.node_errors import (
    AlreadyKnown,
    BlockUnavailable,
    RpcLagging,
    RpcMethodRefused,
    RpcTimeout,
    RpcUnavailable,
    RpcWrongChain,
)
from tools_app.chain.rpc import READ_METHODS, RpcRequest
from tools_app.chain.rpc_pool import PoolRules, RpcPool
from tools_app.core import clock
from tools_app.core.clock import Deadline
from tools_app.simulation.engine import SimulationRequest, SimulationUnavailable
from tools_app.simulation.rpc import RpcSimulationEngine
from tools_app.simulation.select import check_head

FAR = Deadline.after_ms(10**9)
SENDING = READ_METHODS | {"eth_sendRawTransaction"}


def _pool(*urls: str, allowed_methods: frozenset[str] = READ_METHODS, rules: PoolRules | None = None) -> RpcPool:
    network = with_rpc_urls(KNOWN_NETWORKS[31337], urls)
    return RpcPool.of_network(network, allowed_methods=allowed_methods, rules=rules)


def _head(number: int) -> Answer:
    return answering({"eth_getBlockByNumber": block_json(number), "eth_blockNumber": hex(number)})


def test_a_read_goes_to_the_next_node_when_the_first_is_down() -> None:
    with serve(_head(7)) as node:
        assert _pool(closed_port_url(), node.url).call("eth_blockNumber") == "0x7"


def test_a_second_opinion_is_another_node_s_where_one_answers() -> None:
    with serve(_head(7)) as first, serve(_head(8)) as other:
        pool = _pool(first.url, other.url)
        assert pool.call("eth_blockNumber") == "0x7"
        assert pool.second_opinion().call("eth_blockNumber") == "0x8"
        assert pool.call("eth_blockNumber") == "0x7"
        down = _pool(first.url, closed_port_url())
        assert down.second_opinion().call("eth_blockNumber") == "0x7"
        assert down.health()[1].failures == 1
        alone = _pool(first.url)
        assert alone.second_opinion() is alone


@pytest.mark.parametrize(("seconds", "stands"), [(60, True), (61, False), (-300, True)])
def test_a_block_is_a_minute_older_at_most_than_what_another_node_has(seconds: int, stands: bool) -> None:
    ours = parse_block({**block_json(7), "gasLimit": "0x1"})
    other = answering({"eth_getBlockByNumber": block_json(8 if seconds > 0 else 6, timestamp=ours.timestamp + seconds)})
    with serve(_head(7)) as first, serve(other) as second:
        pool = _pool(first.url, second.url)
        if stands:
            check_head(pool, ours, FAR)
        else:
            with pytest.raises(RpcLagging, match="61 s older"):
                check_head(pool, ours, FAR)
        check_head(_pool(first.url), ours, FAR)


def test_a_read_goes_on_when_the_first_node_serves_another_chain() -> None:
    with serve(answering({"eth_blockNumber": "0x1"}, chain_id=1)) as wrong, serve(_head(7)) as right:
        pool = _pool(wrong.url, right.url)

        assert pool.call("eth_blockNumber") == "0x7"
        assert pool.health()[0].last_error == "RPC_WRONG_CHAIN"


def test_a_silent_node_leaves_the_next_one_time_to_answer() -> None:
    with serve_silence() as silent, serve(_head(7)) as node:
        # Its deadline is for both of them: had the silent one all of it, there would be no answer.
        answer = _pool(silent, node.url).call("eth_blockNumber", deadline=Deadline.after_ms(6_000))

    assert answer == "0x7"


def test_a_node_that_said_when_to_ask_again_is_not_asked_first_before() -> None:
    with serve(lambda requests: (429, {"Retry-After": "30"})) as busy, serve(_head(7)) as node:
        pool = _pool(busy.url, node.url, rules=PoolRules(failures=100, rest_ms=1))
        begun = clock.monotonic_ms()
        assert [pool.call("eth_blockNumber") for _ in range(3)] == ["0x7"] * 3
        rests_until = pool.health()[0].resting_until_ms

    # Asked once, for its chain and the block, and no more.
    assert busy.asked == ["eth_chainId", "eth_blockNumber"]
    assert begun + 30_000 <= rests_until <= clock.monotonic_ms() + 30_000


def test_an_agent_is_told_when_the_only_node_takes_requests_again() -> None:
    request = SimulationRequest(chain_id=31337, sender="0x" + "11" * 20, calls=())
    with serve(lambda requests: (429, {"Retry-After": "30"})) as busy:
        network = with_rpc_urls(KNOWN_NETWORKS[31337], [busy.url])
        engine = RpcSimulationEngine(network=network, pool=RpcPool.of_network(network))
        with pytest.raises(SimulationUnavailable) as refused:
            engine.run(request, deadline=Deadline.after_ms(5_000))

    assert refused.value.data["retry_after_seconds"] == 30


def test_a_node_that_failed_twice_rests_and_is_not_asked_first() -> None:
    down = [True]

    def moody(requests: list[dict[str, Any]]) -> Any:
        return 503 if down[0] else _head(1)(requests)

    with serve(moody) as first, serve(_head(7)) as second:
        pool = _pool(first.url, second.url, rules=PoolRules(failures=2, rest_ms=60_000))
        for _ in range(2):
            pool.call("eth_blockNumber")
        asked_of_first = len(first.asked)
        pool.call("eth_blockNumber")

        assert len(first.asked) == asked_of_first
        assert pool.health()[0].failures == 2

        down[0] = False
        rested = _pool(first.url, second.url, rules=PoolRules(failures=1, rest_ms=0))
        assert rested.call("eth_blockNumber") == "0x1"


def test_an_answer_clears_a_nodes_failures_so_the_next_one_is_the_first_in_a_row() -> None:
    down = [True]

    def moody(requests: list[dict[str, Any]]) -> Any:
        return 503 if down[0] else _head(1)(requests)

    with serve(moody) as first, serve(_head(7)) as second:
        pool = _pool(first.url, second.url, rules=PoolRules(failures=2, rest_ms=60_000))
        for _ in range(3):
            down[0] = True
            assert pool.call("eth_blockNumber") == "0x7"
            assert pool.health()[0].failures == 1
            down[0] = False
            assert pool.call("eth_blockNumber") == "0x1", "a node that failed once is still asked first"
            health = pool.health()[0]
            assert (health.failures, health.resting_until_ms, health.last_error) == (0, 0.0, None)


def test_a_node_that_rests_and_answers_where_no_other_does_rests_no_longer() -> None:
    down = [True]

    def moody(requests: list[dict[str, Any]]) -> Any:
        return 503 if down[0] else _head(1)(requests)

    with serve(moody) as first:
        pool = _pool(first.url, closed_port_url(), rules=PoolRules(failures=1, rest_ms=60_000))
        with pytest.raises(RpcUnavailable):
            pool.call("eth_blockNumber")
        assert pool.health()[0].resting_until_ms > clock.monotonic_ms()
        down[0] = False
        assert pool.call("eth_blockNumber") == "0x1"
        health = pool.health()[0]
        assert (health.failures, health.resting_until_ms, health.last_error) == (0, 0.0, None)


def test_when_every_node_fails_the_first_failure_is_told_and_how_many_were_tried() -> None:
    elsewhere = answering({"eth_blockNumber": "0x1"}, chain_id=1)
    with serve(elsewhere) as wrong, pytest.raises(RpcWrongChain) as failed:
        _pool(wrong.url, closed_port_url()).call("eth_blockNumber")

    assert failed.value.data["nodes_tried"] == 2


def test_a_connection_the_node_closed_meanwhile_costs_a_second_try_and_no_error() -> None:
    answers = iter([_head(7), _head(7)])
    hung_up = [False]

    def once_closed(requests: list[dict[str, Any]]) -> Any:
        if not hung_up[0]:
            hung_up[0] = True
            return 502
        return next(answers)(requests)

    with serve(once_closed) as node:
        assert _pool(node.url).call("eth_blockNumber") == "0x7"


def test_a_transaction_that_may_have_left_is_never_sent_to_a_second_node() -> None:
    sent: list[str] = []

    def swallow(name: str) -> Answer:
        def answer(requests: list[dict[str, Any]]) -> Any:
            if requests[0]["method"] == "eth_sendRawTransaction":
                sent.append(name)
                return 502
            return answering({})(requests)

        return answer

    with serve(swallow("first")) as first, serve(swallow("second")) as second, pytest.raises(RpcUnavailable):
        _pool(first.url, second.url, allowed_methods=SENDING).call("eth_sendRawTransaction", "0x02")

    assert sent == ["first"]


def test_a_transaction_goes_to_the_second_node_when_the_first_was_never_reached() -> None:
    with serve(answering({"eth_sendRawTransaction": "0xabcd"})) as node:
        pool = _pool(closed_port_url(), node.url, allowed_methods=SENDING)

        assert pool.call("eth_sendRawTransaction", "0x02") == "0xabcd"


def test_what_the_node_says_of_a_transaction_is_typed_for_the_sender() -> None:
    refusal = {"code": -32000, "message": "already known"}
    with serve(answering({"eth_sendRawTransaction": refusal})) as node, pytest.raises(AlreadyKnown):
        _pool(node.url, allowed_methods=SENDING).call("eth_sendRawTransaction", "0x02")


def test_the_default_pool_refuses_to_send() -> None:
    with serve(_head(1)) as node, pytest.raises(RpcMethodRefused):
        _pool(node.url).send([RpcRequest("eth_sendRawTransaction", ("0x02",))])

    assert node.asked == []


def test_a_node_that_lacks_the_block_is_passed_over() -> None:
    missing = {"code": -32000, "message": "header not found"}
    with serve(answering({"eth_call": missing})) as behind, serve(answering({"eth_call": "0x01"})) as good:
        assert _pool(behind.url, good.url).call("eth_call", {}, {"blockHash": "0x"}) == "0x01"
        with pytest.raises(BlockUnavailable):
            _pool(behind.url).call("eth_call", {}, {"blockHash": "0x"})


def test_a_node_behind_the_best_head_is_passed_over() -> None:
    with serve(_head(100)) as behind, serve(_head(110)) as ahead:
        pool = _pool(ahead.url, behind.url)
        pool.latest_block()
        swapped = _pool(behind.url, ahead.url)
        swapped._best_head = 110

        assert swapped.latest_block()["number"] == hex(110)


def test_when_only_a_lagging_node_is_left_reading_is_refused() -> None:
    with ExitStack() as stack:
        behind = stack.enter_context(serve(_head(100)))
        ahead = stack.enter_context(serve(_head(110)))
        pool = _pool(ahead.url, behind.url)
        pool.latest_block()
        ahead.answer = lambda requests: 503
        with pytest.raises(RpcLagging) as lagging:
            pool.latest_block()

    assert lagging.value.data["node_block"] == 100


def test_a_chain_that_went_back_on_every_node_is_believed() -> None:
    with serve(_head(5)) as node:
        pool = _pool(node.url)
        pool._best_head = 500

        assert pool.latest_block()["number"] == "0x5"
        assert pool._best_head == 5


def test_a_timeout_of_the_only_node_is_a_timeout() -> None:
    with serve_silence() as url, pytest.raises(RpcTimeout):
        _pool(url).call("eth_blockNumber", deadline=Deadline.after_ms(100))


def test_a_pool_and_its_network_show_no_url() -> None:
    network = with_rpc_urls(KNOWN_NETWORKS[1], ["https://node.example/v3/0123456789abcdef"])

    assert "example" not in repr(network) + repr(RpcPool.of_network(network)) + repr(network.rpc_urls)
