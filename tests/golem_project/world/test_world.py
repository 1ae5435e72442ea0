"""What the local world contains, read from the running node and compared with the committed table."""

from __future__ import annotations

import time
from collections import defaultdict
from dataclasses import asdict

import pytest
from eth_utils.crypto import keccak

from golem_project.embedded.world import deployments, seed_data
from golem_project.embedded.world.artifacts import fetch_artifacts
from golem_project.embedded.world.rpc import checksum, encode_arguments
from golem_project.embedded.world.solidity import load_contract
from tests.evm.world import BASE_FEE, World, WorldPool, as_before

MAINNET_PAIR_HASH = "0x96e8ac4277198ff8b6f785478aa9a39f403cb768dd02cbee326c3e7da348845f"
MAINNET_POOL_HASH = "0xe34f199b19b2b4f47f68442619d555527d244f78a3297ea89325f843f87b8b54"
V3_SWAP = "0x" + keccak(text="Swap(address,address,int256,int256,uint160,uint128,int24)").hex()
V2_SWAP = "0x" + keccak(text="Swap(address,uint256,uint256,uint256,uint256,address)").hex()
TWENTY_BPS = 500


def test_the_pools_creation_code_is_that_of_mainnet(world: World) -> None:
    assert world.deployments["init_code_hashes"] == {"uniswap_v2": MAINNET_PAIR_HASH, "uniswap_v3": MAINNET_POOL_HASH}
    assert asdict(deployments.hash_pool_code(fetch_artifacts())) == world.deployments["init_code_hashes"]


def test_every_contract_of_the_table_has_code(world: World) -> None:
    assert int(world.rpc.call("eth_chainId"), 16) == world.deployments["chain_id"]
    addresses = [*world.contracts.values(), *(token.address for token in world.tokens.values())]
    addresses += [token.feed for token in world.tokens.values()] + [pool.address for pool in world.pools]
    for address in addresses:
        assert address == checksum(address)
        assert len(world.rpc.call("eth_getCode", address, "latest")) > 100, address


def test_addresses_of_pools_follow_from_their_factories(world: World) -> None:
    for pool in world.pools:
        if pool.version == "v2":
            salt = keccak(bytes.fromhex(pool.token0[2:] + pool.token1[2:]))
            factory, code_hash = world.contracts["uniswap_v2_factory"], MAINNET_PAIR_HASH
        else:
            arguments = (pool.token0, pool.token1, pool.fee_tier)
            salt = keccak(encode_arguments("(address,address,uint24)", *arguments))
            factory, code_hash = world.contracts["uniswap_v3_factory"], MAINNET_POOL_HASH
        derived = keccak(b"\xff" + bytes.fromhex(factory[2:]) + salt + bytes.fromhex(code_hash[2:]))[12:]
        assert checksum(derived) == pool.address


def test_the_pools_of_the_brief_are_there(world: World) -> None:
    found = {(pool.version, pool.fee_tier, frozenset(symbols_of(world, pool))) for pool in world.pools}
    wanted = {
        ("v3", 500, frozenset({"USDC", "WETH"})),
        ("v3", 3000, frozenset({"USDC", "WETH"})),
        ("v3", 3000, frozenset({"WBTC", "WETH"})),
        ("v3", 100, frozenset({"DAI", "USDC"})),
        ("v3", 3000, frozenset({"DAI", "WETH"})),
        ("v2", 3000, frozenset({"USDC", "WETH"})),
        ("v2", 3000, frozenset({"DAI", "WETH"})),
        ("v2", 3000, frozenset({"FEE", "WETH"})),
        ("v2", 3000, frozenset({"USDT", "WETH"})),
    }
    assert wanted <= found


def test_tokens_answer_what_the_table_says(world: World) -> None:
    assert {symbol: token.decimals for symbol, token in world.tokens.items()} == {
        "WETH": 18,
        "USDC": 6,
        "USDT": 6,
        "DAI": 18,
        "WBTC": 8,
        "FEE": 18,
    }
    for token in world.tokens.values():
        assert world.rpc.read(token.address, "decimals()", returns="(uint8)") == (token.decimals,)
        assert world.rpc.read(token.address, "symbol()", returns="(string)") == (token.symbol,)
        assert world.rpc.read(token.address, "name()", returns="(string)") == (token.name,)
        assert token.simulated == (token.symbol != "WETH")
    assert world.tokens["FEE"].traits == ("fee_on_transfer",)
    assert world.tokens["USDT"].traits == ("no_return_value",)


def test_feeds_answer_dollars_as_fresh_as_the_block(world: World) -> None:
    prices = {"WETH": 3000, "WBTC": 60_000, "USDC": 1, "USDT": 1, "DAI": 1, "FEE": 2}
    for symbol, dollars in prices.items():
        feed = world.tokens[symbol].feed
        assert world.rpc.read(feed, "decimals()", returns="(uint8)") == (8,)
        _, answer, _, updated_at, _ = latest_round(world, feed)
        assert answer == dollars * 10**8
        assert updated_at == world.timestamp()
    assert world.deployments["native"] == {"symbol": "ETH", "decimals": 18, "feed": world.tokens["WETH"].feed}
    assert world.rpc.read(world.tokens["WETH"].feed, "description()", returns="(string)") == ("ETH / USD",)


def test_the_feeds_owner_sets_answer_and_age(chain: World) -> None:
    feed, deployer = chain.tokens["WBTC"].feed, chain.actors.deployer
    chain.transact(deployer, feed, "setAnswer(int256)", 50_000 * 10**8)
    chain.transact(deployer, feed, "setUpdatedAt(uint256)", 1_700_000_000)
    round_id, answer, _, updated_at, answered_in = latest_round(chain, feed)
    assert (answer, updated_at, round_id, answered_in) == (50_000 * 10**8, 1_700_000_000, 2, 2)
    first = chain.rpc.read(feed, "getRoundData(uint80)", 1, returns="(uint80,int256,uint256,uint256,uint80)")
    assert first[1] == 60_000 * 10**8

    chain.transact(deployer, feed, "setUpdatedAt(uint256)", 0)
    assert latest_round(chain, feed)[3] == chain.timestamp()
    assert chain.send(chain.new_account(), feed, "0x0a58a8a1" + "0" * 64)["status"] == "0x0"


def test_pool_prices_are_within_twenty_basis_points_of_the_feeds(world: World) -> None:
    for pool in world.pools:
        symbol0, symbol1 = symbols_of(world, pool)
        price_x192 = pool_price_x192(world, pool)
        wanted = seed_data.sqrt_price_x96(symbol0, symbol1) ** 2
        assert abs(price_x192 - wanted) * TWENTY_BPS <= wanted, (symbol0, symbol1, pool.version)


def test_pools_hold_what_realistic_pools_hold(world: World) -> None:
    for pool in world.pools:
        dollars = 0
        for symbol in symbols_of(world, pool):
            token = seed_data.TOKENS_BY_SYMBOL[symbol]
            balance = world.rpc.balance_of(world.tokens[symbol].address, pool.address)
            dollars += balance * token.price // 10 ** (token.decimals + seed_data.FEED_DECIMALS)
        assert 700_000 < dollars < 20_000_000, (symbols_of(world, pool), pool.version, dollars)


def test_liquidity_lies_in_several_ranges(world: World) -> None:
    pool = world.pool("v3", "USDC", "WETH", 500)
    tick = world.rpc.read(pool.address, "slot0()", returns="(uint160,int24,uint16,uint16,uint16,uint8,bool)")[1]
    edges = set()
    for band in (200, 950, 6_930):
        lower = (tick - band) // 10 * 10
        for edge in range(lower - 20, lower + 21, 10):
            gross = world.rpc.read(
                pool.address, "ticks(int24)", edge, returns="(uint128,int128,uint256,uint256,int56,uint160,uint32,bool)"
            )[0]
            if gross:
                edges.add(band)
    assert edges == {200, 950, 6_930}


def test_the_past_holds_more_than_a_day_of_trades_in_every_pool(world: World) -> None:
    now = world.timestamp()
    swaps: dict[str, list[int]] = defaultdict(list)
    senders: set[str] = set()
    times: dict[str, int] = {}
    logs = world.rpc.call("eth_getLogs", {"fromBlock": "0x0", "toBlock": "latest", "topics": [[V2_SWAP, V3_SWAP]]})
    for log in logs:
        number = log["blockNumber"]
        if number not in times:
            block = world.rpc.call("eth_getBlockByNumber", number, True)
            times[number] = int(block["timestamp"], 16)
            senders.update(transaction["from"] for transaction in block["transactions"])
        swaps[checksum(log["address"])].append(times[number])
    recent = world.pool("v3", "WBTC", "USDC")
    assert sum(len(moments) for moments in swaps.values()) >= 60
    assert len(senders) >= 4
    for pool in world.pools:
        moments = swaps[pool.address]
        assert len([moment for moment in moments if moment > now - 86_400]) >= 2
        if pool != recent:
            assert min(moments) < now - 25 * 3_600, symbols_of(world, pool)
    assert min(swaps[recent.address]) > now - 7 * 3_600


def test_the_past_ends_at_the_machines_time_and_goes_on_from_there(chain: World) -> None:
    latest = chain.timestamp()
    assert latest <= time.time() + 1
    before = int(time.time())
    chain.rpc.call("anvil_mine", "0x1")
    mined = chain.timestamp()
    # Between the looks at the clock before and after, however long the machine takes for them.
    assert max(latest, before - 1) <= mined <= time.time() + 1


def test_gas_that_one_test_made_dear_is_as_cheap_as_ever_for_the_next(chain: World) -> None:
    assert chain.fair_gas_price() <= 2 * BASE_FEE
    with as_before(chain.rpc):
        chain.rpc.call("anvil_setNextBlockBaseFeePerGas", hex(100 * BASE_FEE))
        chain.rpc.call("evm_mine")
        assert chain.fair_gas_price() > 50 * BASE_FEE
    with as_before(chain.rpc):
        assert chain.fair_gas_price() <= 2 * BASE_FEE
        chain.rpc.call("evm_mine")
        assert chain.fair_gas_price() <= 2 * BASE_FEE


def test_block_times_never_go_back(world: World) -> None:
    head = int(world.rpc.call("eth_blockNumber"), 16)
    times = [int(world.rpc.call("eth_getBlockByNumber", hex(n), False)["timestamp"], 16) for n in range(head + 1)]
    assert times == sorted(times)


def test_singletons_are_at_their_addresses_on_every_chain_and_work(world: World) -> None:
    assert world.contracts["permit2"] == "0x000000000022D473030F116dDEE9F6B43aC78BA3"
    assert world.contracts["multicall3"] == "0xcA11bde05977b3631167028862bE2a173976CA11"
    weth = world.tokens["WETH"].address
    calls = [(weth, False, bytes.fromhex("313ce567")), (weth, True, bytes.fromhex("deadbeef"))]
    results = world.rpc.read(
        world.contracts["multicall3"],
        "aggregate3((address,bool,bytes)[])",
        calls,
        returns="((bool,bytes)[])",
    )[0]
    assert [success for success, _ in results] == [True, True]
    assert int.from_bytes(results[0][1], "big") == 18
    chain_id = world.rpc.read(world.contracts["multicall3"], "getChainId()", returns="(uint256)")[0]
    assert chain_id == 31337
    type_hash = keccak(text="EIP712Domain(string name,uint256 chainId,address verifyingContract)")
    separator = keccak(
        encode_arguments(
            "(bytes32,bytes32,uint256,address)", type_hash, keccak(text="Permit2"), 31337, world.contracts["permit2"]
        )
    )
    found = world.rpc.read(world.contracts["permit2"], "DOMAIN_SEPARATOR()", returns="(bytes32)")[0]
    assert found == separator


def test_code_of_our_contracts_is_the_committed_one(world: World) -> None:
    """Immutable values are zero in the compiled code, so compare where it is not."""
    for symbol, name in (("USDC", "SimulatedToken"), ("USDT", "NoReturnToken"), ("FEE", "FeeOnTransferToken")):
        code = bytes.fromhex(world.rpc.call("eth_getCode", world.tokens[symbol].address, "latest")[2:])
        compiled = bytes.fromhex(load_contract(name).deployed_bytecode[2:])
        assert len(code) == len(compiled)
        assert all(byte in (0, code[index]) for index, byte in enumerate(compiled))


@pytest.mark.parametrize("package", ["uniswap_v3_swap_router", "uniswap_v3_swap_router_02", "uniswap_v3_quoter_v2"])
def test_periphery_points_at_this_worlds_factory_and_weth(world: World, package: str) -> None:
    address = world.contracts[package]
    assert world.rpc.read(address, "WETH9()", returns="(address)")[0] == world.contracts["weth9"].lower()
    assert world.rpc.read(address, "factory()", returns="(address)")[0] == world.contracts["uniswap_v3_factory"].lower()


def test_a_positions_picture_can_be_read(world: World) -> None:
    uri = world.rpc.read(world.contracts["uniswap_v3_position_manager"], "tokenURI(uint256)", 1, returns="(string)")[0]
    assert uri.startswith("data:application/json;base64,")


def symbols_of(world: World, pool: WorldPool) -> tuple[str, str]:
    symbols = {token.address: symbol for symbol, token in world.tokens.items()}
    return symbols[pool.token0], symbols[pool.token1]


def latest_round(world: World, feed: str) -> tuple[int, ...]:
    return world.rpc.read(feed, "latestRoundData()", returns="(uint80,int256,uint256,uint256,uint80)")


def pool_price_x192(world: World, pool: WorldPool) -> int:
    if pool.version == "v3":
        slot0 = world.rpc.read(pool.address, "slot0()", returns="(uint160,int24,uint16,uint16,uint16,uint8,bool)")
        return int(slot0[0]) ** 2
    reserve0, reserve1, _ = world.rpc.read(pool.address, "getReserves()", returns="(uint112,uint112,uint32)")
    return (int(reserve1) << 192) // int(reserve0)


def test_feeds_that_are_refreshed_after_time_was_let_pass_are_not_as_old_as_that_time(chain: World) -> None:
    chain.rpc.call("evm_increaseTime", 86_400)
    chain.refresh_feeds()
    feed = chain.tokens["USDC"].feed
    [updated_at] = chain.rpc.read(feed, "fixedUpdatedAt()", returns="(uint256)")
    assert chain.timestamp() - updated_at < 3_600
