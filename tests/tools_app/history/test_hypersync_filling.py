"""The past from a service outside is that of the own node, or it is not kept and the own node is read."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from datetime import timedelta
from typing import Any

import pytest

from tests.tools_app.history.followed import Followed, told_by_start
from tests.tools_app.history.hypersync import HyperSync, serve_hypersync
from tools_app.chain.abi import event_topic
from tools_app.history import hypersync_filling
from tools_app.models import FollowedChain, LogGap
from tools_app.protocols.uniswap.history import SWAP_V3

pytestmark = pytest.mark.django_db


@pytest.fixture
def service(followed: Followed, settings: Any) -> Iterator[HyperSync]:
    hypersync_filling.forget_silence()
    with serve_hypersync(followed.world, settings) as made:
        yield made
    hypersync_filling.forget_silence()


def trade_and_watch(followed: Followed) -> None:
    for amount in range(1, 5):
        followed.swap(amount * 10**8)
        followed.mine(3)
    followed.watch(followed.pool.address)


def fill_whole(followed: Followed) -> None:
    while followed.fill():
        pass
    assert not LogGap.objects.exists()
    assert followed.kept_places() == followed.node_places() != []
    assert told_by_start(followed.bars()) == followed.node_bars()


def test_the_past_comes_from_outside_and_a_sample_of_it_from_the_own_node(
    followed: Followed, service: HyperSync
) -> None:
    followed.mine(300)
    trade_and_watch(followed)
    fill_whole(followed)
    query, headers = service.got[0]
    assert headers["authorization"] == "Bearer a token that nobody else has"
    assert query["include_all_blocks"] and query["logs"][0]["address"] == [followed.pool.address]
    spent = FollowedChain.objects.get().spent
    assert spent < 300 < followed.head(), "the own node is asked for fewer blocks than there are"
    assert FollowedChain.objects.get().lies == 0


def test_an_answer_of_several_pages_is_one_stretch(followed: Followed, service: HyperSync) -> None:
    trade_and_watch(followed)
    service.most = followed.head() // 4 + 1
    fill_whole(followed)
    assert len(service.got) > 3


def test_without_a_token_nobody_outside_is_asked(followed: Followed, service: HyperSync, settings: Any) -> None:
    settings.GOLEM_HYPERSYNC_TOKEN = ""
    trade_and_watch(followed)
    fill_whole(followed)
    assert service.got == []


def _of_logs(change: Callable[[list[Any]], list[Any]]) -> Callable[[dict[str, Any]], Any]:
    def changed(answer: dict[str, Any]) -> dict[str, Any]:
        (part,) = answer["data"]
        return {**answer, "data": [{**part, "logs": change(part["logs"])}]}

    return changed


def _of_blocks(change: Callable[[list[Any]], list[Any]]) -> Callable[[dict[str, Any]], Any]:
    def changed(answer: dict[str, Any]) -> dict[str, Any]:
        (part,) = answer["data"]
        return {**answer, "data": [{**part, "blocks": change(part["blocks"])}]}

    return changed


LIES = {
    "a log left out": _of_logs(lambda logs: logs[1:]),
    "other amounts": _of_logs(lambda logs: [{**log, "data": log["data"][:-1] + "7"} for log in logs]),
    "one more in each block that has one": _of_logs(
        lambda logs: [*logs, *({**log, "log_index": 99 + place} for place, log in enumerate(logs))]
    ),
    "told twice": _of_logs(lambda logs: [*logs, *logs[-1:]]),
    "of another block": _of_logs(lambda logs: [{**log, "block_number": log["block_number"] + 1} for log in logs]),
    "another last block": _of_blocks(lambda blocks: [*blocks[:-1], {**blocks[-1], "hash": "0x" + "11" * 32}]),
    "another time": _of_blocks(lambda blocks: [*blocks[:-1], {**blocks[-1], "timestamp": "0x7fffffff"}]),
}


@pytest.mark.parametrize("lie", LIES)
def test_what_is_not_so_is_not_kept_it_is_told_and_the_own_node_is_read(
    followed: Followed, service: HyperSync, lie: str
) -> None:
    trade_and_watch(followed)
    service.change = LIES[lie]
    fill_whole(followed)
    row = FollowedChain.objects.get()
    assert row.lies == 1 and row.last_lie
    assert len(service.got) == 1, "it is not asked again for a while"


def test_sixteen_blocks_with_logs_are_asked_of_the_own_node_and_their_amounts_must_be_the_same(
    followed: Followed, service: HyperSync
) -> None:
    """Of as many blocks with logs as the sample has, one whose amounts are others is always met."""
    asked = {"address": followed.pool.address, "topics": [event_topic(SWAP_V3)], "fromBlock": "0x0"}
    there = len({log["blockNumber"] for log in followed.world.rpc.call("eth_getLogs", asked)})
    for number in range(hypersync_filling.SAMPLE - there):
        followed.swap((number + 1) * 10**7)
    followed.mine(2)
    followed.watch(followed.pool.address)
    service.change = _of_logs(lambda logs: [{**logs[0], "data": logs[0]["data"][:-1] + "7"}, *logs[1:]])
    fill_whole(followed)
    assert FollowedChain.objects.get().lies == 1


def _another_shape(_: Any) -> Any:
    return {"data": "a list would be here", "next_block": 5}


def _stands_still(answer: dict[str, Any]) -> Any:
    return {**answer, "next_block": 0}


def _leaves_a_block_out(answer: dict[str, Any]) -> Any:
    (part,) = answer["data"]
    return {**answer, "data": [{**part, "blocks": part["blocks"][:3] + part["blocks"][4:]}]}


def _far_too_long(answer: dict[str, Any]) -> Any:
    return b'{"data": ["' + b"x" * (40 * 1024 * 1024) + b'"]}'


@pytest.mark.parametrize("answer", [_another_shape, _stands_still, _leaves_a_block_out, _far_too_long])
def test_an_answer_that_is_none_leaves_the_past_to_the_own_node(
    followed: Followed, service: HyperSync, answer: Any
) -> None:
    trade_and_watch(followed)
    service.change = answer
    fill_whole(followed)
    assert FollowedChain.objects.get().lies == 0 and len(service.got) == 1


def test_a_refusal_is_waited_out_and_then_it_is_asked_again(followed: Followed, service: HyperSync) -> None:
    trade_and_watch(followed)
    service.status = 401
    fill_whole(followed)
    assert len(service.got) == 1
    service.status = 200
    LogGap.objects.all().delete()
    assert not hypersync_filling.is_on(31337, now=followed.now + timedelta(minutes=9))
    assert hypersync_filling.is_on(31337, now=followed.now + timedelta(minutes=10))
    assert hypersync_filling.is_on(31337, now=followed.now - timedelta(hours=1)), (
        "a clock that was set back ends the pause"
    )
