"""What strangers trade, send or log as often as they like: a stream tells so much at a time, and nothing stops it."""

from __future__ import annotations

from typing import Any, Final

import pytest

from golem_project.embedded.world.deploy import MULTICALL3
from golem_project.embedded.world.rpc import call_data
from tests.bench.shelf import counted
from tests.evm.world import CHAIN_ID, World, WorldPool
from tests.tools_app.subsystems.stream.test_streams import SINGLE, Follower
from tests.tools_app.subsystems.stream.test_streams import follower as follower
from tests.tools_app.subsystems.stream.test_streams import pool as pool
from tools_app.chain.abi import event_topic
from tools_app.models import StreamSubscription
from tools_app.protocols.uniswap.history import SWAP_V4
from tools_app.standards.erc20 import TRANSFER_EVENT
from tools_app.subsystems.stream.event_block_windows import EventTurn, take_turn

pytestmark = pytest.mark.django_db(transaction=True)

AGGREGATE: Final = "aggregate3((address,bool,bytes)[])"
LOGGER: Final = "0x" + "1e" * 20
_LOG3: Final = "0x60603603806060600037604035602035600035836000a300"
"""Logs whatever it is called with: three topics, and the rest as data. As a token it answers nothing."""


def log_call(event: str, first: str, second: str, data: str) -> tuple[str, bool, bytes]:
    words = (event_topic(event), first, second)
    text = "".join(word.removeprefix("0x").lower().rjust(64, "0") for word in words) + data
    return LOGGER, False, bytes.fromhex(text)


def do_at_once(world: World, *calls: tuple[str, bool, bytes]) -> dict[str, Any]:
    """Several calls in one transaction, by a stranger."""
    world.rpc.call("anvil_setCode", LOGGER, _LOG3)
    return world.transact(world.new_account(10**18), MULTICALL3, AGGREGATE, list(calls), gas=20_000_000)


def swap_calls(world: World, *amounts: int, to: str) -> list[tuple[str, bool, bytes]]:
    """Swaps by whoever calls together, whose dollars are given beforehand, for somebody else."""
    usdc, weth = world.tokens["USDC"].address, world.tokens["WETH"].address
    router = world.contracts["uniswap_v3_swap_router_02"]
    giver = world.new_account(10**18, {"USDC": sum(amounts)})
    world.transact(giver, usdc, "transfer(address,uint256)", MULTICALL3, sum(amounts))
    orders = [call_data(SINGLE, (usdc, weth, 500, to, amount, 0, 0)) for amount in amounts]
    allowing = call_data("approve(address,uint256)", router, sum(amounts))
    return [(usdc, False, bytes.fromhex(allowing[2:])), *((router, False, bytes.fromhex(each[2:])) for each in orders)]


@pytest.mark.parametrize("kind", ["pool:event", "trade:executed"])
def test_a_flood_is_told_over_several_looks_each_once_and_in_order(
    follower: Follower, pool: WorldPool, settings: Any, kind: str
) -> None:
    settings.GOLEM_STREAM_EVENTS_PER_READ = 2
    if kind == "pool:event":
        follower.call("stream_pool_events", pool_address=pool.address, chain_id=CHAIN_ID, events=["swap"])
    else:
        follower.call("stream_trades", wallet_address=follower.trader.address)
    follower.poll()
    sent = [follower.swap(10**8 + each)["transactionHash"] for each in range(5)]
    after = []
    for _ in range(4):
        follower.poll()
        after.append(len(follower.events(kind)))
    assert after == [2, 4, 5, 5]
    assert [each["transaction_hash"] for each in follower.events(kind)] == sent
    assert follower.events("stream:failed") == []


def test_of_one_block_with_too_many_trades_part_is_told_and_the_rest_is_counted(
    follower: Follower, pool: WorldPool, settings: Any
) -> None:
    settings.GOLEM_STREAM_EVENTS_PER_READ = 2
    follower.call("stream_pool_events", pool_address=pool.address, chain_id=CHAIN_ID, events=["swap"])
    follower.poll()
    at_once = do_at_once(follower.world, *swap_calls(follower.world, 10**6, 10**6, 10**6, to=LOGGER))
    later = follower.swap(10**8)["transactionHash"]
    for _ in range(3):
        follower.poll()
    told = [each["transaction_hash"] for each in follower.events("pool:event")]
    assert told == [at_once["transactionHash"]] * 2 + [later]
    [failed] = follower.events("stream:failed")
    assert (failed["error_code"], failed["skipped_events"]) == ("EVENTS_SKIPPED", 1)
    assert failed["skipped_from_block"] == failed["skipped_to_block"] == int(at_once["blockNumber"], 16)


def test_a_contract_that_logs_a_movement_and_is_no_token_stops_no_trade_from_being_told(follower: Follower) -> None:
    """A stranger gives the wallet something in a swap and logs that it paid with what is no token."""
    world, wallet = follower.world, follower.trader.address
    follower.call("stream_trades", wallet_address=wallet)
    follower.poll()
    paid = log_call(TRANSFER_EVENT, wallet, LOGGER, f"{10**30:064x}")
    do_at_once(world, *swap_calls(world, 10**6, to=wallet), paid)
    sent = follower.swap(10**8)["transactionHash"]
    follower.poll()
    assert [each["transaction_hash"] for each in follower.events("trade:executed")] == [sent]
    assert follower.events("stream:failed") == [] and StreamSubscription.objects.get().failures == 0


@pytest.mark.protocols("uniswap_v4")
def test_pools_that_a_stranger_makes_up_cost_a_look_no_more_than_one(follower: Follower) -> None:
    """One transaction logs two hundred swaps of pools that are none, and sends the wallet a little."""
    world, wallet = follower.world, follower.trader.address
    follower.call("stream_trades", wallet_address=wallet)
    follower.poll()

    def look(made_up: int) -> int:
        given = swap_calls(world, 10**6, to=wallet)
        swaps = [log_call(SWAP_V4, f"{2**255 + (each << 200):064x}", LOGGER, "00" * 192) for each in range(made_up)]
        do_at_once(world, *swaps, *given)
        with counted() as exchanges:
            follower.poll()
        return len(exchanges)

    assert look(200) <= look(1)
    assert follower.events("stream:failed") == []


@pytest.mark.parametrize(
    ("blocks", "wanted"),
    [
        ([], EventTurn(0, 9, 0)),
        ([1, 2], EventTurn(2, 9, 0)),
        ([1, 2, 3], EventTurn(2, 2, 0)),
        # The third would be of a block that is begun already: it waits whole.
        ([1, 2, 2], EventTurn(1, 1, 0)),
        ([1, 1, 1], EventTurn(2, 1, 1)),
        ([1, 1, 1, 1, 5], EventTurn(2, 1, 2)),
    ],
)
def test_a_turn_ends_before_the_block_with_which_there_are_too_many(blocks: list[int], wanted: EventTurn) -> None:
    assert take_turn(blocks, most=2, to_block=9) == wanted
