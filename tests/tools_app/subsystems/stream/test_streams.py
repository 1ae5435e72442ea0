"""Streaming tools against the local chain: real swaps told once, with exact amounts, through restarts and reorgs."""

from __future__ import annotations

import threading
from datetime import datetime, timedelta
from typing import Any
from uuid import uuid4

import pytest
from django.db import connection
from eth_account.signers.local import LocalAccount

from tests.evm.world import CHAIN_ID, World, WorldPool
from tests.tools_app.factories import call_tool, find_tool, make_context
from tools_app.core import clock
from tools_app.core.errors import GolemError
from tools_app.core.models import OutboxEvent
from tools_app.core.units import format_units
from tools_app.models import StreamSubscription
from tools_app.protocols.uniswap.addresses import deployment_on
from tools_app.protocols.uniswap.pools import read_pool
from tools_app.protocols.uniswap.v3.positions import list_position_ids, read_position
from tools_app.standards.concentrated import sqrt_price_at_tick
from tools_app.subsystems.stream import serve_subscriptions
from tools_app.tasks import poll_subscriptions_task

pytestmark = pytest.mark.django_db(transaction=True)

SINGLE = "exactInputSingle((address,address,uint24,address,uint256,uint256,uint160))"
V2_SWAP = "swapExactTokensForTokens(uint256,uint256,address[],address,uint256)"
V2_BUY_ETH = "swapExactTokensForETH(uint256,uint256,address[],address,uint256)"
STREAM_TOOLS = (
    "stream_new_pools",
    "stream_pool_events",
    "stream_pool_state",
    "stream_position_alerts",
    "stream_price_feed",
    "stream_tokenjar",
    "stream_trades",
    "stream_unsubscribe",
)


class Follower:
    """One golem that subscribes, a trader, and the clock that lets polls come due."""

    def __init__(self, world: World) -> None:
        self.world = world
        self.golem_id = uuid4()
        self.now = clock.now()
        self.trader: LocalAccount = world.new_account(10**18, {"USDC": 400_000_000 * 10**6, "WETH": 500 * 10**18})
        for symbol in ("USDC", "WETH"):
            for router in ("uniswap_v3_swap_router_02", "uniswap_v2_router"):
                token, spender = world.tokens[symbol].address, world.contracts[router]
                world.transact(self.trader, token, "approve(address,uint256)", spender, 2**256 - 1)

    def call(self, name: str, **params: Any) -> Any:
        return call_tool(make_context(self.world, golem_id=self.golem_id), name, **params)

    def swap(self, amount: int, *, fee: int = 500, limit: int = 0) -> dict[str, Any]:
        usdc, weth = self.world.tokens["USDC"].address, self.world.tokens["WETH"].address
        order = (usdc, weth, fee, self.trader.address, amount, 0, limit)
        return self.world.transact(self.trader, self.world.contracts["uniswap_v3_swap_router_02"], SINGLE, order)

    def poll(self) -> int:
        self.now += timedelta(hours=1)
        return serve_subscriptions.poll_due(now=self.now)

    def events(self, kind: str) -> list[dict[str, Any]]:
        rows = OutboxEvent.objects.filter(golem_id=self.golem_id, type=kind).order_by("sequence")
        return list(rows.values_list("payload", flat=True))


@pytest.fixture
def follower(local_chain: World) -> Follower:
    return Follower(local_chain)


@pytest.fixture
def pool(local_chain: World) -> WorldPool:
    return local_chain.pool("v3", "USDC", "WETH", 500)


def test_a_swap_appears_once_with_exact_amounts_in_base_units_and_units(follower: Follower, pool: WorldPool) -> None:
    follower.swap(10**9)
    opened = follower.call("stream_pool_events", pool_address=pool.address, chain_id=CHAIN_ID)
    assert opened.event == "pool:event"
    follower.poll()
    receipt = follower.swap(123_456_789)
    for _ in range(3):
        follower.poll()
    [event] = follower.events("pool:event")
    weth, usdc = follower.world.tokens["WETH"], follower.world.tokens["USDC"]
    sold, bought = ("0", "1") if pool.token0 == usdc.address else ("1", "0")
    out = -int(event[f"amount{bought}"])
    assert (event["event"], event[f"amount{sold}"], event[f"amount{sold}_units"]) == ("swap", "123456789", "123.456789")
    assert out == weth_received(receipt, weth.address, follower.trader.address)
    assert event[f"amount{bought}_units"] == f"-{format_units(out, weth.decimals)}"
    assert event["transaction_hash"] == receipt["transactionHash"]
    assert event["block_hash"] == receipt["blockHash"]
    assert event["subscription_id"] == opened.subscription_id


def weth_received(receipt: dict[str, Any], token: str, account: str) -> int:
    topic = "0x" + account[2:].lower().rjust(64, "0")
    return sum(
        int(log["data"], 16)
        for log in receipt["logs"]
        if log["address"].lower() == token.lower() and len(log["topics"]) == 3 and log["topics"][2] == topic
    )


def test_only_the_wanted_events_come_and_v2_pools_are_read_too(follower: Follower) -> None:
    v2 = follower.world.pool("v2", "USDC", "WETH")
    follower.call("stream_pool_events", pool_address=v2.address, chain_id=CHAIN_ID, events=["mint"])
    follower.call("stream_pool_events", pool_address=v2.address, chain_id=CHAIN_ID, events=["swap"])
    follower.poll()
    path = [follower.world.tokens["USDC"].address, follower.world.tokens["WETH"].address]
    router = follower.world.contracts["uniswap_v2_router"]
    follower.world.transact(follower.trader, router, V2_SWAP, 5_000_000, 0, path, follower.trader.address, 2**63)
    follower.poll()
    [event] = follower.events("pool:event")
    assert event["event"] == "swap"
    assert {event["amount0"], event["amount1"]} & {"5000000"}
    assert event["venue"] == "uniswap v2"


def test_a_poller_that_dies_or_is_overtaken_tells_nothing_twice(
    follower: Follower, pool: WorldPool, monkeypatch: pytest.MonkeyPatch
) -> None:
    follower.call("stream_pool_events", pool_address=pool.address, chain_id=CHAIN_ID)
    follower.poll()
    follower.swap(10**8)
    with monkeypatch.context() as patch:
        patch.setattr(serve_subscriptions.event_bus, "emit_all", _die)
        with pytest.raises(SystemExit):
            follower.poll()
    assert follower.events("pool:event") == []
    row = StreamSubscription.objects.get()
    threads = [threading.Thread(target=_poll_row, args=(row, follower.now)) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(follower.events("pool:event")) == 1


def _die(**_: Any) -> None:
    raise SystemExit


def _poll_row(row: StreamSubscription, now: datetime) -> None:
    try:
        serve_subscriptions.poll(StreamSubscription.objects.get(pk=row.pk), now=now)
    finally:
        connection.close()


def test_a_reorganisation_takes_back_what_the_new_branch_lacks_and_tells_what_it_has(
    follower: Follower, pool: WorldPool
) -> None:
    follower.call("stream_pool_events", pool_address=pool.address, chain_id=CHAIN_ID)
    follower.poll()
    follower.swap(10**8)
    follower.poll()
    snapshot = follower.world.rpc.call("evm_snapshot")
    follower.swap(2 * 10**8)
    follower.poll()
    assert follower.world.rpc.call("evm_revert", snapshot)
    follower.swap(3 * 10**8)
    follower.swap(4 * 10**8)
    follower.poll()
    follower.poll()
    usdc = "amount0" if pool.token0 == follower.world.tokens["USDC"].address else "amount1"
    told = [(event[usdc], event.get("is_removed", False)) for event in follower.events("pool:event")]
    assert told == [
        ("100000000", False),
        ("200000000", False),
        ("200000000", True),
        ("300000000", False),
        ("400000000", False),
    ]


def test_after_a_long_outage_old_blocks_are_given_up_and_that_is_told(
    follower: Follower, pool: WorldPool, settings: Any
) -> None:
    settings.GOLEM_STREAM_MOST_BLOCKS_BEHIND = 20
    settings.GOLEM_STREAM_BLOCKS_PER_READ = 8
    follower.call("stream_pool_events", pool_address=pool.address, chain_id=CHAIN_ID)
    follower.poll()
    follower.swap(10**8)
    follower.world.rpc.call("anvil_mine", hex(30))
    follower.swap(2 * 10**8)
    for _ in range(5):
        follower.poll()
    [failed] = follower.events("stream:failed")
    assert failed["error_code"] == "BLOCKS_SKIPPED"
    assert failed["skipped_to_block"] - failed["skipped_from_block"] >= 10
    assert len(follower.events("pool:event")) == 1


def test_the_state_of_a_pool_and_the_price_of_a_pair_are_told_at_their_interval(
    follower: Follower, pool: WorldPool
) -> None:
    follower.call("stream_pool_state", pool_address=pool.address, chain_id=CHAIN_ID, interval_ms=5_000)
    follower.call("stream_price_feed", token_a="WETH", token_b="USDC", chain_id=CHAIN_ID, interval_ms=5_000)
    assert follower.poll() == 2
    assert serve_subscriptions.poll_due(now=follower.now + timedelta(seconds=4)) == 0
    assert serve_subscriptions.poll_due(now=follower.now + timedelta(seconds=5)) == 2
    follower.swap(1_000_000 * 10**6)
    follower.poll()
    states, prices = follower.events("pool:state"), follower.events("price:update")
    reader = make_context(follower.world).chain(CHAIN_ID)
    now = read_pool(reader, deployment_on(CHAIN_ID), pool.address)
    assert len(states) == len(prices) == 3
    assert states[-1]["sqrt_price_x96"] == str(now.sqrt_price)
    assert states[0]["sqrt_price_x96"] == states[1]["sqrt_price_x96"] != states[2]["sqrt_price_x96"]
    assert states[-1]["block_hash"] == reader.block.hash
    assert [price.get("change_bps") for price in prices[:2]] == [None, 0]
    assert "previous_price" in prices[-1]
    with pytest.raises(GolemError, match="interval_ms"):
        follower.call("stream_pool_state", pool_address=pool.address, chain_id=CHAIN_ID, interval_ms=4_999)


def test_a_position_is_told_to_leave_its_range_to_earn_and_to_come_back(follower: Follower) -> None:
    position_id = find_narrow_position(follower)
    opened = follower.call(
        "stream_position_alerts", position_id=position_id, chain_id=CHAIN_ID, fee_threshold_usd="0.01"
    )
    follower.poll()
    quiet = len(follower.events("position:alert"))
    reader = make_context(follower.world).chain(CHAIN_ID)
    position = read_position(reader, deployment_on(CHAIN_ID), position_id)
    sells_up = position.pool.token1 == follower.world.tokens["USDC"].address
    limit = sqrt_price_at_tick(position.tick_upper if sells_up else position.tick_lower - 1)
    follower.swap(200_000_000 * 10**6, fee=position.pool.fee, limit=limit)
    now = read_position(make_context(follower.world).chain(CHAIN_ID), deployment_on(CHAIN_ID), position_id)
    assert not now.is_in_range
    follower.poll()
    follower.poll()
    alerts = [event["alert"] for event in follower.events("position:alert")][quiet:]
    assert "out_of_range" in alerts
    assert alerts.count("out_of_range") == 1
    told = follower.events("position:alert")[-1]
    assert told["subscription_id"] == opened.subscription_id
    assert any(event["alert"] == "fees_above_threshold" for event in follower.events("position:alert"))
    assert told["fees0_units"] == format_units(int(told["fees0"]), told["token0"]["decimals"])


def find_narrow_position(follower: Follower) -> str:
    reader = make_context(follower.world).chain(CHAIN_ID)
    deployment = deployment_on(CHAIN_ID)
    weth, usdc = follower.world.tokens["WETH"].address, follower.world.tokens["USDC"].address
    best: tuple[int, str] | None = None
    for maker in follower.world.actors.makers:
        for each in list_position_ids(reader, deployment, maker.address, limit=60)[0]:
            position = read_position(reader, deployment, each)
            if {position.pool.token0, position.pool.token1} == {weth, usdc} and position.is_in_range:
                width = position.tick_upper - position.tick_lower
                best = min(best or (width, str(each)), (width, str(each)))
    assert best is not None
    return best[1]


def test_a_trade_of_a_wallet_is_told_with_what_it_paid_and_got(follower: Follower) -> None:
    follower.call("stream_trades", wallet_address=follower.trader.address)
    follower.poll()
    follower.world.new_account(10**18, {"USDC": 5})
    receipt = follower.swap(7_000_000)
    weth, usdc = follower.world.tokens["WETH"], follower.world.tokens["USDC"]
    follower.world.transact(follower.trader, usdc.address, "transfer(address,uint256)", usdc.address, 1)
    router = follower.world.contracts["uniswap_v2_router"]
    path = [usdc.address, weth.address]
    follower.world.transact(follower.trader, router, V2_BUY_ETH, 9_000_000, 0, path, follower.trader.address, 2**63)
    follower.poll()
    follower.poll()
    first, second = follower.events("trade:executed")
    assert (first["token_in"]["symbol"], first["amount_in"], first["amount_in_units"]) == ("USDC", "7000000", "7")
    assert first["amount_out"] == str(weth_received(receipt, weth.address, follower.trader.address))
    assert first["transaction_hash"] == receipt["transactionHash"]
    assert (second["amount_in"], second["token_out"]["symbol"], second["venue"]) == ("9000000", "WETH", "uniswap v2")
    assert int(second["amount_out"]) > 0


def test_asking_twice_renews_one_subscription_and_it_ends_when_it_is_not_renewed(
    follower: Follower, pool: WorldPool
) -> None:
    first = follower.call("stream_pool_events", pool_address=pool.address, chain_id=CHAIN_ID)
    again = follower.call("stream_pool_events", pool_address=pool.address, chain_id=CHAIN_ID)
    assert first.subscription_id == again.subscription_id
    assert len(follower.events("stream:subscribed")) == 1
    serve_subscriptions.poll_due(now=clock.now() + timedelta(hours=25))
    [ended] = follower.events("stream:ended")
    assert ended["reason"] == "expired"
    assert not StreamSubscription.objects.filter(ended_at__isnull=True).exists()


def test_unsubscribing_some_or_all_says_what_remains(follower: Follower, pool: WorldPool) -> None:
    events = follower.call("stream_pool_events", pool_address=pool.address, chain_id=CHAIN_ID)
    state = follower.call("stream_pool_state", pool_address=pool.address, chain_id=CHAIN_ID)
    other = Follower(follower.world)
    with pytest.raises(GolemError) as refused:
        other.call("stream_unsubscribe", subscription_ids=[events.subscription_id])
    assert refused.value.code == "SUBSCRIPTION_NOT_FOUND"
    answer = follower.call("stream_unsubscribe", subscription_ids=[events.subscription_id])
    assert (answer.unsubscribed, answer.remaining) == ((events.subscription_id,), (state.subscription_id,))
    answer = follower.call("stream_unsubscribe")
    assert (answer.unsubscribed, answer.remaining) == ((state.subscription_id,), ())
    assert follower.poll() == 0


def test_a_golem_has_only_so_many_subscriptions_even_when_it_asks_at_once(
    follower: Follower, pool: WorldPool, settings: Any
) -> None:
    settings.GOLEM_STREAM_MOST_SUBSCRIPTIONS_PER_GOLEM = 3
    codes: list[str] = []

    def subscribe(interval: int) -> None:
        try:
            serve_subscriptions.subscriptions.open_subscription(
                golem_id=follower.golem_id,
                kind=serve_subscriptions.SubscriptionKind.POOL_STATE,
                chain_ids=[CHAIN_ID],
                params={"pool_address": pool.address, "n": interval},
                interval_ms=5_000,
                now=clock.now(),
            )
        except GolemError as error:
            codes.append(error.code)
        finally:
            connection.close()

    threads = [threading.Thread(target=subscribe, args=(number,)) for number in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert codes == ["SUBSCRIPTION_LIMIT"] * 5
    assert StreamSubscription.objects.count() == 3


@pytest.mark.parametrize(
    ("name", "params", "code"),
    [
        ("stream_pool_events", {"pool_address": "0x" + "11" * 20}, "POOL_NOT_FOUND"),
        ("stream_pool_state", {"pool_address": "0x" + "11" * 20}, "POOL_NOT_FOUND"),
        ("stream_position_alerts", {"position_id": "999999999"}, "POSITION_NOT_FOUND"),
        ("stream_position_alerts", {"position_id": "1", "out_of_range_alert": False}, "INVALID_PARAMS"),
        ("stream_price_feed", {"token_a": "NOPE", "token_b": "USDC"}, "TOKEN_NOT_FOUND"),
        ("stream_trades", {"wallet_address": "0x" + "11" * 20, "chain_ids": [10]}, "INVALID_PARAMS"),
    ],
)
def test_what_is_not_there_cannot_be_followed(follower: Follower, name: str, params: dict[str, Any], code: str) -> None:
    chain = {} if name == "stream_trades" else {"chain_id": CHAIN_ID}
    with pytest.raises(GolemError) as refused:
        follower.call(name, **chain, **params)
    assert refused.value.code == code
    assert not StreamSubscription.objects.exists()


def test_a_node_that_is_away_is_told_once_waited_for_and_loses_nothing(
    follower: Follower, pool: WorldPool, settings: Any
) -> None:
    from golem_project import wiring

    follower.call("stream_pool_events", pool_address=pool.address, chain_id=CHAIN_ID)
    follower.poll()
    urls = settings.GOLEM_RPC_URLS
    wiring.configure_networks({CHAIN_ID: ("http://127.0.0.1:9",)})
    follower.poll()
    follower.poll()
    assert len(follower.events("stream:failed")) == 1
    follower.swap(10**8)
    wiring.configure_networks(urls)
    follower.poll()
    assert len(follower.events("pool:event")) == 1
    assert StreamSubscription.objects.get().failures == 0


def test_the_task_serves_what_is_due(follower: Follower, pool: WorldPool) -> None:
    follower.call("stream_pool_state", pool_address=pool.address, chain_id=CHAIN_ID)
    assert poll_subscriptions_task() == 1
    assert len(follower.events("pool:state")) == 1


@pytest.mark.protocols("firepit")
def test_a_jar_is_told_with_its_contents_and_how_often_it_was_emptied(follower: Follower) -> None:
    world = follower.world
    jar, releaser = (world.protocols["firepit"][key] for key in ("jar", "releaser"))
    opened = follower.call("stream_tokenjar", jar_address=jar, chain_id=CHAIN_ID)
    assert (opened.event, opened.interval_ms) == ("tokenjar:update", 60_000)
    follower.poll()
    who, dai, usdc = world.new_account(10**18, {"DAI": 4_000 * 10**18}), world.tokens["DAI"], world.tokens["USDC"]
    world.transact(who, dai.address, "approve(address,uint256)", releaser, 4_000 * 10**18)
    world.transact(who, releaser, "release(uint256,address[],address)", 0, [usdc.address], who.address)
    follower.poll()
    first, second = follower.events("tokenjar:update")
    assert {each["token"]["symbol"]: each["raw"] for each in first["balances"]} == {
        "ETH": str(10**18 // 2),
        "USDC": "1500000000",
        "WBTC": "5000000",
    }
    assert first.get("releases_since") is None and second["releases_since"] == 1
    assert [each["token"]["symbol"] for each in second["balances"]] == ["ETH", "WBTC"]
    assert (first["threshold"], second["nonce"]) == (str(4_000 * 10**18), "1")


def test_an_address_that_is_no_jar_is_refused_with_those_that_are(follower: Follower) -> None:
    with pytest.raises(GolemError) as refused:
        follower.call("stream_tokenjar", jar_address=follower.trader.address, chain_id=CHAIN_ID)
    assert refused.value.code == "JAR_NOT_FOUND" and len(refused.value.data["jars"]) == 1


def test_all_streaming_tools_of_the_list_are_there() -> None:
    for name in STREAM_TOOLS:
        assert find_tool(name).category.value == "streaming"
