"""Real swaps through the real routers: a quote is what happens, and odd tokens behave as their traits say."""

from __future__ import annotations

import pytest

from golem_project.embedded.world.rpc import RpcError, call_data, encode_arguments
from tests.evm.world import World

NO_DEADLINE = 2**256 - 1
UNLIMITED = 2**256 - 1
V2_PATH_CALL = "swapExactTokensForTokens(uint256,uint256,address[],address,uint256)"
V3_SINGLE = "exactInputSingle((address,address,uint24,address,uint256,uint256,uint256,uint160))"
V3_SINGLE_02 = "exactInputSingle((address,address,uint24,address,uint256,uint256,uint160))"
QUOTE_SINGLE = "quoteExactInputSingle((address,address,uint256,uint24,uint160))"
SLOT0 = "(uint160,int24,uint16,uint16,uint16,uint8,bool)"


def quote_v3(world: World, sold: str, bought: str, amount: int, fee_tier: int) -> int:
    tokens = (world.tokens[sold].address, world.tokens[bought].address)
    quoted = world.rpc.read(
        world.contracts["uniswap_v3_quoter_v2"],
        QUOTE_SINGLE,
        (*tokens, amount, fee_tier, 0),
        returns="(uint256,uint160,uint32,uint256)",
    )
    return int(quoted[0])


@pytest.mark.parametrize("router", ["uniswap_v3_swap_router", "uniswap_v3_swap_router_02"])
@pytest.mark.parametrize(
    ("sold", "bought", "fee_tier"),
    [
        ("USDC", "WETH", 500),
        ("WETH", "USDC", 3000),
        ("WBTC", "WETH", 3000),
        ("DAI", "USDC", 100),
        ("USDC", "WBTC", 3000),
    ],
)
def test_a_v3_quote_is_what_the_router_pays(chain: World, router: str, sold: str, bought: str, fee_tier: int) -> None:
    given, wanted = chain.tokens[sold], chain.tokens[bought]
    amount = given.units("0.01") if sold == "WBTC" else given.units(1 if sold == "WETH" else 500)
    trader = chain.new_account(tokens={sold: amount})
    chain.transact(trader, given.address, "approve(address,uint256)", chain.contracts[router], amount)
    quoted = quote_v3(chain, sold, bought, amount, fee_tier)

    head = (given.address, wanted.address, fee_tier, trader.address)
    if router.endswith("02"):
        chain.transact(trader, chain.contracts[router], V3_SINGLE_02, (*head, amount, quoted, 0))
    else:
        chain.transact(trader, chain.contracts[router], V3_SINGLE, (*head, NO_DEADLINE, amount, quoted, 0))

    assert chain.rpc.balance_of(wanted.address, trader.address) == quoted
    assert chain.rpc.balance_of(given.address, trader.address) == 0


@pytest.mark.parametrize(("sold", "bought"), [("USDC", "WETH"), ("WETH", "DAI"), ("USDT", "WETH"), ("WETH", "USDT")])
def test_a_v2_quote_is_what_the_router_pays(chain: World, sold: str, bought: str) -> None:
    given, wanted = chain.tokens[sold], chain.tokens[bought]
    router = chain.contracts["uniswap_v2_router"]
    amount = given.units("0.2") if sold == "WETH" else given.units(500)
    trader = chain.new_account(tokens={sold: amount})
    path = [given.address, wanted.address]
    chain.transact(trader, given.address, "approve(address,uint256)", router, amount)
    quoted = chain.rpc.read(router, "getAmountsOut(uint256,address[])", amount, path, returns="(uint256[])")[0][-1]

    chain.transact(trader, router, V2_PATH_CALL, amount, quoted, path, trader.address, NO_DEADLINE)

    assert chain.rpc.balance_of(wanted.address, trader.address) == quoted


def test_coins_swap_through_the_v2_router_without_wrapping_first(chain: World) -> None:
    trader = chain.new_account(eth_wei=3 * 10**18)
    path = [chain.tokens["WETH"].address, chain.tokens["USDC"].address]
    chain.transact(
        trader,
        chain.contracts["uniswap_v2_router"],
        "swapExactETHForTokens(uint256,address[],address,uint256)",
        0,
        path,
        trader.address,
        NO_DEADLINE,
        value=10**18,
    )
    received = chain.rpc.balance_of(chain.tokens["USDC"].address, trader.address)
    assert 2_950_000_000 < received < 3_000_000_000


def test_five_hundred_dollars_move_the_deep_pool_by_less_than_a_basis_point(chain: World) -> None:
    pool = chain.pool("v3", "USDC", "WETH", 500)
    before = chain.rpc.read(pool.address, "slot0()", returns=SLOT0)[0]
    usdc = chain.tokens["USDC"]
    trader = chain.new_account(tokens={"USDC": usdc.units(500)})
    router = chain.contracts["uniswap_v3_swap_router"]
    chain.transact(trader, usdc.address, "approve(address,uint256)", router, UNLIMITED)
    arguments = (usdc.address, chain.tokens["WETH"].address, 500, trader.address, NO_DEADLINE, usdc.units(500), 0, 0)
    chain.transact(trader, router, V3_SINGLE, arguments)
    after = chain.rpc.read(pool.address, "slot0()", returns=SLOT0)[0]
    assert before != after
    assert abs(after**2 - before**2) * 10_000 < before**2


def test_a_position_is_minted_changed_and_collected(chain: World) -> None:
    manager = chain.contracts["uniswap_v3_position_manager"]
    usdc, weth = chain.tokens["USDC"], chain.tokens["WETH"]
    maker = chain.new_account(tokens={"USDC": usdc.units(6_000), "WETH": weth.units(2)})
    for token in (usdc, weth):
        chain.transact(maker, token.address, "approve(address,uint256)", manager, UNLIMITED)
    pool = chain.pool("v3", "USDC", "WETH", 3000)
    tick = chain.rpc.read(pool.address, "slot0()", returns=SLOT0)[1]
    lower = (tick - 600) // 60 * 60
    amounts = {usdc.address: usdc.units(6_000), weth.address: weth.units(2)}
    parameters = (pool.token0, pool.token1, 3000, lower, lower + 1200, amounts[pool.token0], amounts[pool.token1])
    minted = chain.transact(
        maker,
        manager,
        "mint((address,address,uint24,int24,int24,uint256,uint256,uint256,uint256,address,uint256))",
        (*parameters, 0, 0, maker.address, NO_DEADLINE),
    )
    position_id = int(minted["logs"][-1]["topics"][1], 16)
    positions = "(uint96,address,address,address,uint24,int24,int24,uint128,uint256,uint256,uint128,uint128)"
    liquidity = chain.rpc.read(manager, "positions(uint256)", position_id, returns=positions)[7]
    assert liquidity > 0
    chain.transact(
        maker,
        manager,
        "decreaseLiquidity((uint256,uint128,uint256,uint256,uint256))",
        (position_id, liquidity, 0, 0, NO_DEADLINE),
    )
    before = chain.rpc.balance_of(weth.address, maker.address)
    largest = 2**128 - 1
    chain.transact(
        maker,
        manager,
        "collect((uint256,address,uint128,uint128))",
        (position_id, maker.address, largest, largest),
    )
    assert chain.rpc.read(manager, "positions(uint256)", position_id, returns=positions)[7] == 0
    assert chain.rpc.balance_of(weth.address, maker.address) > before


def test_one_percent_of_a_fee_token_burns_on_the_way(chain: World) -> None:
    fee = chain.tokens["FEE"]
    sender, receiver = chain.new_account(tokens={"FEE": fee.units(200)}), chain.new_account()
    assert chain.rpc.balance_of(fee.address, sender.address) == fee.units(200)
    supply = chain.rpc.read(fee.address, "totalSupply()", returns="(uint256)")[0]

    receipt = chain.transact(sender, fee.address, "transfer(address,uint256)", receiver.address, fee.units(100))

    assert chain.rpc.balance_of(fee.address, receiver.address) == fee.units(99)
    assert chain.rpc.balance_of(fee.address, sender.address) == fee.units(100)
    assert chain.rpc.read(fee.address, "totalSupply()", returns="(uint256)")[0] == supply - fee.units(1)
    moved = [int(log["data"], 16) for log in receipt["logs"]]
    assert moved == [fee.units(99), fee.units(1)]


def test_a_fee_token_swaps_only_through_the_call_made_for_it(chain: World) -> None:
    fee, weth = chain.tokens["FEE"], chain.tokens["WETH"]
    router = chain.contracts["uniswap_v2_router"]
    trader = chain.new_account(tokens={"FEE": fee.units(200)})
    chain.transact(trader, fee.address, "approve(address,uint256)", router, UNLIMITED)
    arguments = (fee.units(100), 0, [fee.address, weth.address], trader.address, NO_DEADLINE)
    refused = chain.send(trader, router, call_data(V2_PATH_CALL, *arguments))
    assert refused["status"] == "0x0"
    supporting = "swapExactTokensForTokensSupportingFeeOnTransferTokens(uint256,uint256,address[],address,uint256)"
    chain.transact(trader, router, supporting, *arguments)
    received = chain.rpc.balance_of(weth.address, trader.address)
    # 99 tokens of $2 arrive, less 0.3%: 0.0658 ETH of $3,000.
    assert 65_700_000_000_000_000 < received < 65_900_000_000_000_000


def test_a_token_without_return_values_moves_all_the_same(chain: World) -> None:
    usdt = chain.tokens["USDT"]
    owner, receiver = chain.new_account(tokens={"USDT": usdt.units(10)}), chain.new_account()
    data = call_data("transfer(address,uint256)", receiver.address, usdt.units(4))
    assert chain.rpc.call("eth_call", {"from": owner.address, "to": usdt.address, "data": data}, "latest") == "0x"
    chain.transact(owner, usdt.address, "transfer(address,uint256)", receiver.address, usdt.units(4))
    assert chain.rpc.balance_of(usdt.address, receiver.address) == usdt.units(4)
    chain.transact(owner, usdt.address, "approve(address,uint256)", receiver.address, usdt.units(6))
    again = chain.send(owner, usdt.address, call_data("approve(address,uint256)", receiver.address, usdt.units(5)))
    assert again["status"] == "0x0", "one allowance was changed into another without zero in between"
    chain.transact(receiver, usdt.address, "transferFrom(address,address,uint256)", owner.address, receiver.address, 1)
    assert chain.rpc.balance_of(usdt.address, receiver.address) == usdt.units(4) + 1


@pytest.mark.parametrize("symbol", ["USDC", "USDT", "DAI", "WBTC", "FEE"])
def test_only_the_owner_mints_and_nobody_spends_what_is_not_there(chain: World, symbol: str) -> None:
    token = chain.tokens[symbol].address
    stranger, other = chain.new_account(tokens={symbol: 1_000}), chain.new_account()
    for refused in (
        call_data("mint(address,uint256)", stranger.address, 1),
        call_data("transfer(address,uint256)", other.address, 1_001),
        call_data("transferFrom(address,address,uint256)", other.address, stranger.address, 1),
        call_data("transfer(address,uint256)", "0x" + "0" * 40, 1),
    ):
        assert chain.send(stranger, token, refused)["status"] == "0x0"
    assert chain.rpc.balance_of(token, stranger.address) == 1_000


def test_a_contract_can_fail_in_every_way(chain: World) -> None:
    owner = chain.new_account()
    reverter = chain.deploy(owner, "Reverter")
    expected = {
        call_data("withReason(string)", "no luck"): "0x08c379a0" + encode_arguments("(string)", "no luck").hex(),
        call_data("withCustomError(uint256,uint256)", 1, 2): call_data("TooLittle(uint256,uint256)", 1, 2),
        call_data("withPanic(uint256)", 0): call_data("Panic(uint256)", 0x12),
        call_data("withNothing()"): "0x",
    }
    for data, revert_data in expected.items():
        with pytest.raises(RpcError) as caught:
            chain.rpc.call("eth_call", {"to": reverter, "data": data}, "latest")
        assert caught.value.data == revert_data
    assert chain.send(owner, reverter, call_data("withInvalidOpcode()"), gas=100_000)["gasUsed"] == hex(100_000)
    assert chain.send(owner, reverter, call_data("afterWriting(uint256)", 7))["status"] == "0x0"
    assert chain.rpc.read(reverter, "stored()", returns="(uint256)") == (0,)
    chain.transact(owner, reverter, "succeed(uint256)", 9)
    assert chain.rpc.read(reverter, "stored()", returns="(uint256)") == (9,)


def test_a_contract_can_use_all_the_gas_it_is_given(chain: World) -> None:
    owner = chain.new_account()
    burner = chain.deploy(owner, "GasBurner")
    receipt = chain.send(owner, burner, call_data("burnAll()"), gas=200_000)
    assert (receipt["status"], receipt["gasUsed"]) == ("0x0", hex(200_000))
    little = int(chain.transact(owner, burner, "burn(uint256)", 10)["gasUsed"], 16)
    much = int(chain.transact(owner, burner, "burn(uint256)", 1_000)["gasUsed"], 16)
    assert much > little + 100_000
