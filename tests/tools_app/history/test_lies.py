"""A node that lies about a range, leaves a block or a log out, or answers in another order: nothing false is kept."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from golem_project import wiring
from tests.evm.world import CHAIN_ID, World
from tests.lying_chain import lying_node as lying_node
from tests.proof.lying_node import LyingNode, change_answers, serve_lying_node
from tests.tools_app.history.followed import Followed, told_by_start
from tools_app.models import ChainLog, FollowedChain

pytestmark = pytest.mark.django_db

Change = Callable[[dict[str, Any], Any], Any]


def _leave_one_out(_: Any, logs: list[Any]) -> list[Any]:
    return logs[1:]


def _tell_none(_: Any, logs: list[Any]) -> list[Any]:
    return []


def _tell_twice(_: Any, logs: list[Any]) -> list[Any]:
    return [*logs, *logs[-1:]]


def _move_block(_: Any, logs: list[Any]) -> list[Any]:
    return [{**log, "blockNumber": hex(int(log["blockNumber"], 16) + 1)} for log in logs]


def _out_of_range(_: Any, logs: list[Any]) -> list[Any]:
    return [{**log, "blockNumber": "0x1"} for log in logs]


def _other_contract(_: Any, logs: list[Any]) -> list[Any]:
    return [{**log, "address": "0x" + "11" * 20} for log in logs]


def _other_topic(_: Any, logs: list[Any]) -> list[Any]:
    return [{**log, "topics": ["0x" + "22" * 32, *log["topics"][1:]]} for log in logs]


def _other_hash(_: Any, logs: list[Any]) -> list[Any]:
    return [{**log, "blockHash": "0x" + "33" * 32} for log in logs]


def _made_up(_: Any, logs: list[Any]) -> list[Any]:
    """One swap more, in a block in which there was one."""
    return [*logs, {**logs[0], "logIndex": "0x63"}] if logs else logs


def _other_amounts(_: Any, logs: list[Any]) -> list[Any]:
    return [{**log, "data": log["data"][:2] + "0" * 63 + "1" + log["data"][66:]} for log in logs]


LOG_LIES: dict[str, Change] = {
    "a log left out": _leave_one_out,
    "every log left out": _tell_none,
    "a log twice": _tell_twice,
    "a log in another block": _move_block,
    "a log outside the range": _out_of_range,
    "a log of another contract": _other_contract,
    "a log of another topic": _other_topic,
    "a log of an orphaned block": _other_hash,
}


def _skip_block(request: dict[str, Any], block: Any) -> Any:
    return None if request["params"][0] != "latest" else block


def _other_block(request: dict[str, Any], block: Any) -> Any:
    return {**block, "number": hex(int(block["number"], 16) + 1)} if request["params"][0] != "latest" else block


def _no_child(request: dict[str, Any], block: Any) -> Any:
    return {**block, "parentHash": "0x" + "44" * 32} if request["params"][0] != "latest" else block


def _far_time(request: dict[str, Any], block: Any) -> Any:
    return {**block, "timestamp": hex(2**40)} if request["params"][0] != "latest" else block


def _empty_bloom(request: dict[str, Any], block: Any) -> Any:
    return {**block, "logsBloom": "0x" + "00" * 256} if request["params"][0] != "latest" else block


BLOCK_LIES: dict[str, Change] = {
    "a block left out": _skip_block,
    "another block": _other_block,
    "a block that is nobody's child": _no_child,
    "a block of a far time": _far_time,
    "a block whose bloom is empty": _empty_bloom,
}

LIES = {
    **{name: ("eth_getLogs", change) for name, change in LOG_LIES.items()},
    **{name: ("eth_getBlockByNumber", change) for name, change in BLOCK_LIES.items()},
}


@pytest.fixture
def index(followed: Followed, lying_node: LyingNode) -> Followed:
    """It follows a pool in which there are three swaps to read, through a node that may lie."""
    followed.watch(followed.pool.address)
    for amount in (10**9, 2 * 10**9, 3 * 10**9):
        followed.swap(amount)
    followed.mine(2)
    return followed


@pytest.mark.parametrize("name", LIES)
def test_a_node_that_keeps_to_its_lie_has_nothing_kept_and_it_is_told(
    index: Followed, lying_node: LyingNode, name: str
) -> None:
    method, change = LIES[name]
    begun = FollowedChain.objects.get().next_block
    with lying_node.lying(change_answers(method, change)):
        index.follow()
    assert not ChainLog.objects.exists()
    place = FollowedChain.objects.get()
    assert (place.next_block, place.failures) == (begun, 1)
    assert place.last_error.startswith("RPC_NONSENSE")
    index.follow()
    assert index.kept_places() == index.node_places(since=begun) != []
    assert told_by_start(index.bars()) == index.node_bars(since=begun)


@pytest.mark.parametrize("name", LIES)
def test_a_lie_is_found_backward_too(index: Followed, lying_node: LyingNode, name: str, settings: Any) -> None:
    settings.GOLEM_HISTORY_BLOCKS_PER_READ = 40
    begun = FollowedChain.objects.get().next_block
    index.mine(3)
    index.follow()
    settings.GOLEM_HISTORY_MOST_BLOCKS_BEHIND = 20
    index.swap(10**9)
    index.mine(30)
    index.follow()
    before = index.kept_places()
    method, change = LIES[name]
    with lying_node.lying(change_answers(method, change)):
        assert index.fill() == 0
    assert index.kept_places() == before
    assert FollowedChain.objects.get().last_error.startswith("RPC_NONSENSE")
    assert index.fill() > 0
    assert len(index.node_places(since=begun)) > len(before)
    assert index.kept_places() == index.node_places()


def test_logs_in_another_order_are_kept_in_the_chains_own(index: Followed, lying_node: LyingNode) -> None:
    begun = FollowedChain.objects.get().next_block
    with lying_node.lying(change_answers("eth_getLogs", lambda _, logs: logs[::-1])):
        index.follow()
    assert index.kept_places() == index.node_places(since=begun) != []
    assert told_by_start(index.bars()) == index.node_bars(since=begun)


@pytest.mark.parametrize("name", LIES)
def test_where_one_of_two_nodes_lies_the_other_is_asked_and_the_lie_is_told(
    index: Followed, local_chain: World, lying_node: LyingNode, settings: Any, name: str
) -> None:
    method, change = LIES[name]
    begun = FollowedChain.objects.get().next_block
    with serve_lying_node(local_chain.rpc_url) as honest:
        settings.GOLEM_RPC_URLS = {CHAIN_ID: (lying_node.url, honest.url)}
        wiring.configure_networks(settings.GOLEM_RPC_URLS)
        with lying_node.lying(change_answers(method, change)):
            index.follow()
    assert index.kept_places() == index.node_places(since=begun) != []
    place = FollowedChain.objects.get()
    assert (place.failures, place.lies > 0, bool(place.last_lie)) == (0, True, True)


@pytest.mark.parametrize("change", [_made_up, _other_amounts])
def test_where_two_nodes_say_different_logs_and_neither_contradicts_itself_nothing_is_kept(
    index: Followed, local_chain: World, lying_node: LyingNode, settings: Any, change: Change
) -> None:
    begun = FollowedChain.objects.get().next_block
    with serve_lying_node(local_chain.rpc_url) as honest:
        for urls in ((lying_node.url, honest.url), (honest.url, lying_node.url)):
            settings.GOLEM_RPC_URLS = {CHAIN_ID: urls}
            wiring.configure_networks(settings.GOLEM_RPC_URLS)
            with lying_node.lying(change_answers("eth_getLogs", change)):
                index.follow()
            assert not ChainLog.objects.exists()
        assert FollowedChain.objects.get().failures == 2
        index.follow()
    assert index.kept_places() == index.node_places(since=begun) != []


def test_a_node_that_says_the_chain_went_back_and_is_alone_with_it_has_nothing_taken_back(
    index: Followed, local_chain: World, lying_node: LyingNode, settings: Any
) -> None:
    index.follow()
    before = index.kept_places()
    with serve_lying_node(local_chain.rpc_url) as honest:
        settings.GOLEM_RPC_URLS = {CHAIN_ID: (lying_node.url, honest.url)}
        wiring.configure_networks(settings.GOLEM_RPC_URLS)

        def fork(request: dict[str, Any], block: Any) -> Any:
            return {**block, "hash": "0x" + "55" * 32} if request["params"][0] != "latest" else block

        with lying_node.lying(change_answers("eth_getBlockByNumber", fork)):
            index.follow()
    assert index.kept_places() == before
    assert FollowedChain.objects.get().rollbacks == 0
