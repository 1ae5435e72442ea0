"""New pools are told as they are made: each once, with its hook, of one token where asked, and so many at a time."""

from __future__ import annotations

from typing import Any

import pytest

from tests.evm.world import CHAIN_ID, World
from tests.tools_app.protocols.uniswap.v4_hooks import POOL_KEY, THIEF, contracts, install
from tests.tools_app.subsystems.stream.test_streams import Follower
from tools_app.core.errors import GolemError
from tools_app.models import StreamSubscription
from tools_app.protocols.uniswap.v4.keys import make_key

pytestmark = pytest.mark.django_db(transaction=True)

V3_POOL = "createPool(address,address,uint24)"
V2_PAIR = "createPair(address,address)"


@pytest.fixture
def follower(local_chain: World) -> Follower:
    return Follower(local_chain)


def make_token(world: World, symbol: str) -> str:
    return world.deploy(world.actors.deployer, "SimulatedToken", "(string,string,uint8)", symbol, symbol, 9)


def make_pair(world: World, token: str, other: str = "DAI") -> dict[str, Any]:
    beside = world.tokens[other].address
    factory = world.contracts["uniswap_v2_factory"]
    return world.transact(world.actors.deployer, factory, V2_PAIR, token, beside, gas=8_000_000)


def make_v3_pool(world: World, token: str, fee: int) -> dict[str, Any]:
    beside = world.tokens["DAI"].address
    factory = world.contracts["uniswap_v3_factory"]
    return world.transact(world.actors.deployer, factory, V3_POOL, token, beside, fee, gas=12_000_000)


def test_each_pool_that_is_made_is_told_once_with_its_pair_and_fee(follower: Follower) -> None:
    world = follower.world
    early = make_token(world, "EARLY")
    make_pair(world, early)
    opened = follower.call("stream_new_pools", chain_id=CHAIN_ID)
    assert (opened.event, opened.interval_ms) == ("pool:created", 2_000)
    follower.poll()
    token = make_token(world, "NEW")
    receipts = [make_pair(world, token), make_v3_pool(world, token, 10_000)]
    for _ in range(3):
        follower.poll()
    told = follower.events("pool:created")
    assert [(each["venue"], each["fee_pips"]) for each in told] == [("uniswap v2", 3_000), ("uniswap v3", 10_000)]
    dai = world.tokens["DAI"].address
    pair = sorted((token, dai), key=lambda address: int(address, 16))
    for each, receipt in zip(told, receipts, strict=True):
        assert [each["token0"]["address"], each["token1"]["address"]] == pair
        known = {side["address"]: side["is_registered"] for side in (each["token0"], each["token1"])}
        assert known == {token: False, dai: True}
        assert each["transaction_hash"] == receipt["transactionHash"]
        assert each["block_hash"] == receipt["blockHash"]
        assert each["subscription_id"] == opened.subscription_id
        assert "hook" not in each
        # The address is the one that the pool's own contract answers from.
        tokens = [world.rpc.call("eth_call", {"to": each["pool_address"], "data": data}, "latest") for data in READS]
        assert [int(word, 16) for word in tokens] == [int(address, 16) for address in pair]


READS = ("0x0dfe1681", "0xd21220a7")
"""token0() and token1()."""


@pytest.mark.protocols("uniswap_v4")
def test_a_pool_of_v4_is_told_with_its_hook_and_what_that_could_do(follower: Follower) -> None:
    world, v4 = follower.world, contracts()
    follower.call("stream_new_pools", chain_id=CHAIN_ID)
    follower.poll()
    install(world, THIEF)
    key = make_key(world.tokens["DAI"].address, world.tokens["USDC"].address, 3_000, 60, THIEF.address)
    receipt = world.transact(
        follower.trader, v4.positions, f"initializePool({POOL_KEY},uint160)", key.as_tuple, 2**96, gas=8_000_000
    )
    follower.poll()
    [event] = follower.events("pool:created")
    [log] = [each for each in receipt["logs"] if each["address"].lower() == v4.manager.lower()]
    assert (event["pool_address"], event["manager"]) == (log["topics"][1], v4.manager)
    assert (event["venue"], event["hook"]) == ("uniswap v4", THIEF.address)
    # The lowest four bits of a hook's address are those that may change amounts.
    assert event["hook_powers"] == ["AMOUNTS", "TRADES"]
    listed = follower.call("data_get_new_pools").pools[0]
    assert (listed.pool_address, listed.manager) == (log["topics"][1], v4.manager)
    assert listed.hook.address == THIEF.address and listed.hook.is_risky


def test_only_pools_of_the_named_token_come(follower: Follower) -> None:
    world = follower.world
    wanted, other = make_token(world, "WANTED"), make_token(world, "OTHER")
    follower.call("stream_new_pools", chain_id=CHAIN_ID, token=wanted)
    follower.call("stream_new_pools", chain_id=CHAIN_ID, token="USDC")
    follower.poll()
    make_pair(world, other)
    make_pair(world, wanted)
    follower.poll()
    [event] = follower.events("pool:created")
    assert wanted in (event["token0"]["address"], event["token1"]["address"])


def test_a_pool_in_a_block_that_a_reorganisation_took_is_taken_back(follower: Follower) -> None:
    world = follower.world
    lost, kept = make_token(world, "LOST"), make_token(world, "KEPT")
    follower.call("stream_new_pools", chain_id=CHAIN_ID)
    follower.poll()
    snapshot = world.rpc.call("evm_snapshot")
    make_pair(world, lost)
    follower.poll()
    assert world.rpc.call("evm_revert", snapshot)
    make_pair(world, kept, "USDC")
    make_pair(world, kept)
    for _ in range(2):
        follower.poll()
    told = [
        (next(iter({lost, kept} & {each["token0"]["address"], each["token1"]["address"]})), each.get("is_removed"))
        for each in follower.events("pool:created")
    ]
    assert told == [(lost, None), (lost, True), (kept, None), (kept, None)]


def test_a_flood_of_pools_is_told_over_several_looks_and_none_is_told_twice(follower: Follower, settings: Any) -> None:
    settings.GOLEM_STREAM_NEW_POOLS_PER_READ = 2
    world = follower.world
    follower.call("stream_new_pools", chain_id=CHAIN_ID)
    follower.poll()
    token = make_token(world, "MANY")
    sent = [make_v3_pool(world, token, fee)["transactionHash"] for fee in (500, 3_000, 10_000)]
    sent += [make_pair(world, token)["transactionHash"], make_pair(world, token, "USDC")["transactionHash"]]
    after = []
    for _ in range(4):
        follower.poll()
        after.append(len(follower.events("pool:created")))
    assert after == [2, 4, 5, 5]
    assert [each["transaction_hash"] for each in follower.events("pool:created")] == sent
    assert follower.events("stream:failed") == []


def test_of_one_block_with_too_many_pools_part_is_told_and_the_rest_is_counted(
    follower: Follower, settings: Any
) -> None:
    settings.GOLEM_STREAM_NEW_POOLS_PER_READ = 2
    world = follower.world
    follower.call("stream_new_pools", chain_id=CHAIN_ID)
    follower.poll()
    token = make_token(world, "MANY")
    block = make_in_one_block(world, token, (500, 3_000, 10_000))
    later = make_pair(world, token)["transactionHash"]
    for _ in range(3):
        follower.poll()
    told = follower.events("pool:created")
    assert [each["block_number"] == block for each in told] == [True, True, False]
    assert told[-1]["transaction_hash"] == later
    [failed] = follower.events("stream:failed")
    assert (failed["error_code"], failed["skipped_pools"]) == ("POOLS_SKIPPED", 1)
    assert failed["skipped_from_block"] == failed["skipped_to_block"] == block


def make_in_one_block(world: World, token: str, fees: tuple[int, ...]) -> int:
    """Each by an account of its own, which the node lets send without its key."""
    from golem_project.embedded.world.rpc import call_data

    makers = [world.new_account(10**18).address for _ in fees]
    world.rpc.call("evm_setAutomine", False)
    try:
        for maker, fee in zip(makers, fees, strict=True):
            world.rpc.call("anvil_impersonateAccount", maker)
            data = call_data(V3_POOL, token, world.tokens["DAI"].address, fee)
            factory = world.contracts["uniswap_v3_factory"]
            world.rpc.call("eth_sendTransaction", {"from": maker, "to": factory, "data": data, "gas": hex(8_000_000)})
        world.rpc.call("evm_mine")
    finally:
        world.rpc.call("evm_setAutomine", True)
    return int(world.rpc.call("eth_blockNumber"), 16)


def test_a_pool_of_what_is_no_token_is_left_out_and_stops_nothing(follower: Follower) -> None:
    world = follower.world
    follower.call("stream_new_pools", chain_id=CHAIN_ID)
    follower.poll()
    make_pair(world, "0x" + "ab" * 20)
    token = make_token(world, "GOOD")
    make_pair(world, token)
    follower.poll()
    [event] = follower.events("pool:created")
    assert token in (event["token0"]["address"], event["token1"]["address"])
    assert follower.events("stream:failed") == []
    assert StreamSubscription.objects.get().failures == 0


def test_a_token_that_is_not_there_cannot_be_followed(follower: Follower) -> None:
    for token in ("NOPE", "0x12"):
        with pytest.raises(GolemError) as refused:
            follower.call("stream_new_pools", chain_id=CHAIN_ID, token=token)
        assert refused.value.code == "TOKEN_NOT_FOUND"
    assert not StreamSubscription.objects.exists()
