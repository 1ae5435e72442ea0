from __future__ import annotations

from contextlib import nullcontext
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.evm.world import World
from tests.tools_app.chain.conftest import OpenReader
from tests.tools_app.chain.nodes import Answer, serve
from tools_app.chain import chains, networks
from tools_app.chain.abi import encode_call
from tools_app.chain.chains import ChainSettings
from tools_app.chain.deployments import Feed
from tools_app.chain.feeds import (
    LATEST_ROUND,
    PriceStale,
    PriceUnavailable,
    SequencerDown,
    judge_price,
    judge_sequencer,
    sequencer_call,
)
from tools_app.chain.reader import PinnedReader
from tools_app.core.clock import Deadline
from tools_app.toolkit.context import ReadOutcome
from tools_app.toolkit.views import TokenMeta

TOKEN = TokenMeta(31337, "0x" + "11" * 20, "ABC", 18, "Abc", is_registered=True)
EIGHT = ReadOutcome(ok=True, values=(8,))


def _feed_address(chain: World, symbol: str) -> str:
    return chain.tokens[symbol].feed


def _now(chain: World) -> int:
    """Unix seconds of a block mined now: the world's newest one may be of another day."""
    chain.rpc.call("evm_mine")
    return chain.timestamp()


def test_the_price_is_the_feeds_answer_at_the_pinned_block(reader: PinnedReader, chain: World) -> None:
    price = reader.price(reader.token("WBTC"))

    assert (price.answer, price.decimals, price.round_id) == (60_000 * 10**8, 8, 1)
    assert price.feed == _feed_address(chain, "WBTC")
    assert price.updated_at == reader.block.timestamp - price.age_seconds


def test_the_coin_and_its_wrapped_token_share_a_price(reader: PinnedReader) -> None:
    assert reader.price(reader.native()) == reader.price(reader.wrapped_native())


def test_a_new_round_shows_in_a_new_reader_only(open_reader: OpenReader, chain: World) -> None:
    before = open_reader()
    old = before.price(before.token("DAI"))
    chain.transact(chain.actors.deployer, _feed_address(chain, "DAI"), "setAnswer(int256)", 97_000_000)

    assert before.price(before.token("DAI")) == old
    after = open_reader()
    assert after.price(after.token("DAI")).answer == 97_000_000


def test_a_stale_feed_is_refused_with_its_age_and_the_bound(open_reader: OpenReader, chain: World) -> None:
    chain.transact(chain.actors.deployer, _feed_address(chain, "DAI"), "setUpdatedAt(uint256)", _now(chain) - 4_000)
    reader = open_reader()
    with pytest.raises(PriceStale) as stale:
        reader.price(reader.token("DAI"))

    assert stale.value.data["max_age_seconds"] == 3_600
    assert stale.value.data["age_seconds"] >= 4_000
    assert stale.value.code == "PRICE_STALE"


def _rollup(open_reader: OpenReader, feed: str) -> PinnedReader:
    reader = open_reader()
    reader.deployment = replace(reader.deployment, sequencer_feed=feed)
    return reader


def test_prices_of_a_rollup_wait_until_its_sequencer_was_up_for_an_hour(open_reader: OpenReader, chain: World) -> None:
    maker = chain.actors.makers[0]
    feed = chain.deploy(maker, "SimulatedFeed", "(string,uint8,int256)", "up", 0, 0)

    def refusal() -> SequencerDown | None:
        reader = _rollup(open_reader, feed)
        reader.preload(prices_of=[reader.token("DAI")])
        try:
            reader.price(reader.token("DAI"))
        except SequencerDown as error:
            return error
        return None

    fresh = refusal()
    assert fresh is not None and fresh.as_problem()["recovery"] == "WAIT" and "up again for" in fresh.detail
    assert 3_500 < fresh.data["retry_after_seconds"] <= 3_600
    [[_, _, since, *_]] = [read.values for read in open_reader().call_many([sequencer_call(feed)])]
    chain.rpc.call("evm_increaseTime", 3_590 - (chain.timestamp() - since))
    chain.rpc.call("evm_mine")
    assert refusal() is not None
    chain.rpc.call("evm_increaseTime", 20)
    chain.rpc.call("evm_mine")
    assert refusal() is None
    chain.transact(maker, feed, "setAnswer(int256)", 1)
    chain.rpc.call("evm_increaseTime", 10_000)
    chain.rpc.call("evm_mine")
    down = refusal()
    assert down is not None and "is down" in down.detail and "retry_after_seconds" not in down.data


@pytest.mark.parametrize(
    ("answer", "since", "now", "passes"),
    [(0, 1_000, 4_599, False), (0, 1_000, 4_600, True), (1, 1_000, 9_999, False), (0, 0, 9_999, False)],
)
def test_the_hour_of_a_sequencer_ends_to_the_second(answer: int, since: int, now: int, passes: bool) -> None:
    told = ReadOutcome(ok=True, values=(1, answer, since, since, 1))
    with nullcontext() if passes else pytest.raises(SequencerDown):
        judge_sequencer(feed="0x1", round_data=told, block_time=now)


def test_a_sequencers_feed_that_does_not_answer_lets_no_price_through(open_reader: OpenReader, chain: World) -> None:
    reader = _rollup(open_reader, chain.tokens["USDC"].address)
    with pytest.raises(SequencerDown, match="does not answer"):
        reader.price(reader.token("DAI"))


def test_the_bound_comes_from_the_settings(open_reader: OpenReader, chain: World) -> None:
    chain.transact(chain.actors.deployer, _feed_address(chain, "DAI"), "setUpdatedAt(uint256)", _now(chain) - 4_000)
    chains.configure_chains(networks.configured_networks(), ChainSettings(max_price_age_seconds=10_000))
    reader = open_reader()

    assert reader.price(reader.token("DAI")).age_seconds >= 4_000


@pytest.mark.parametrize("answer", [0, -1])
def test_an_answer_that_is_not_positive_is_no_price(open_reader: OpenReader, chain: World, answer: int) -> None:
    chain.transact(chain.actors.deployer, _feed_address(chain, "DAI"), "setAnswer(int256)", answer)
    reader = open_reader()
    with pytest.raises(PriceUnavailable):
        reader.price(reader.token("DAI"))


def test_a_feed_dated_in_the_future_is_no_price(open_reader: OpenReader, chain: World) -> None:
    chain.transact(chain.actors.deployer, _feed_address(chain, "DAI"), "setUpdatedAt(uint256)", _now(chain) + 5_000)
    reader = open_reader()
    with pytest.raises(PriceUnavailable, match="after the block"):
        reader.price(reader.token("DAI"))


def _mining_meanwhile(chain: World, *, times: int) -> Answer:
    """The node, answering the first `times` questions to the feed of DAI with the state of a block that is to come."""
    node, left = chain.connect(), [times]

    def answer(requests: list[dict[str, Any]]) -> list[dict[str, Any]]:
        replies = []
        for request in requests:
            params = request["params"]
            is_round = request["method"] == "eth_call" and params[0] == {
                "to": _feed_address(chain, "DAI").lower(),
                "data": "0x" + encode_call(LATEST_ROUND).hex(),
            }
            if is_round and left[0]:
                left[0] -= 1
                params = [params[0], "latest"]
            replies.append({"jsonrpc": "2.0", "id": request["id"], "result": node.call(request["method"], *params)})
        return replies

    return answer


@pytest.mark.parametrize(("times", "is_read"), [(0, True), (1, True), (3, True), (4, False)])
def test_a_node_that_mines_while_it_answers_is_asked_again(
    open_reader: OpenReader, chain: World, times: int, is_read: bool
) -> None:
    pinned = open_reader()
    expected = pinned.price(pinned.token("DAI"))
    chain.transact(chain.actors.deployer, _feed_address(chain, "DAI"), "setAnswer(int256)", 97_000_000)
    assert chain.timestamp() > pinned.block.timestamp

    with serve(_mining_meanwhile(chain, times=times)) as node:
        chains.configure_chains([networks.with_rpc_urls(networks.KNOWN_NETWORKS[31337], [node.url])])
        reader = chains.open_reader(
            31337, now=datetime.now(tz=UTC), deadline=Deadline.after_ms(10_000), block=pinned.block
        )
        if is_read:
            assert reader.price(reader.token("DAI")) == expected
        else:
            with pytest.raises(PriceUnavailable, match="after the block"):
                reader.price(reader.token("DAI"))


def test_a_token_without_a_feed_has_no_price(reader: PinnedReader, chain: World) -> None:
    address = chain.deploy(chain.actors.deployer, "SimulatedToken", "(string,string,uint8)", "Some", "SOME", 18)
    with pytest.raises(PriceUnavailable, match="No price feed"):
        reader.price(reader.token(address))


def _judge(values: tuple[int, ...], *, block_time: int, max_age: int = 3_600, feed_bound: int | None = None) -> int:
    price = judge_price(
        token=TOKEN,
        feed=Feed("0x" + "22" * 20, max_age_seconds=feed_bound),
        round_data=ReadOutcome(ok=True, values=values),
        decimals=EIGHT,
        block_time=block_time,
        max_age=max_age,
    )
    return price.age_seconds


def test_an_unfinished_round_is_no_price() -> None:
    with pytest.raises(PriceUnavailable):
        _judge((5, 1, 0, 0, 5), block_time=100)
    with pytest.raises(PriceUnavailable):
        _judge((5, 1, 50, 50, 4), block_time=100)


def test_a_reverting_feed_is_no_price() -> None:
    with pytest.raises(PriceUnavailable, match="paused"):
        judge_price(
            token=TOKEN,
            feed=Feed("0x" + "22" * 20),
            round_data=ReadOutcome(ok=False, values=(), revert_reason="paused"),
            decimals=EIGHT,
            block_time=1,
            max_age=1,
        )


@given(st.integers(0, 10**6), st.integers(0, 10**6), st.one_of(st.none(), st.integers(0, 10**6)))
def test_a_price_passes_exactly_up_to_its_bound(age: int, settings_bound: int, feed_bound: int | None) -> None:
    block_time = 10**9
    values = (1, 1, 1, block_time - age, 1)
    bound = settings_bound if feed_bound is None else feed_bound
    if age <= bound:
        assert _judge(values, block_time=block_time, max_age=settings_bound, feed_bound=feed_bound) == age
    else:
        with pytest.raises(PriceStale):
            _judge(values, block_time=block_time, max_age=settings_bound, feed_bound=feed_bound)
