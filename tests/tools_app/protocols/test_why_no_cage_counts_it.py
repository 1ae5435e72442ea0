"""Why no valuer of a cage counts some places: what a valuer that exists would have to believe, and who moves that."""

from __future__ import annotations

import pytest
from eth_account.signers.local import LocalAccount

from golem_project.embedded.world.rpc import RpcError
from tests.evm.world import CHAIN_ID, World
from tests.tools_app.factories import make_context
from tests.tools_app.protocols.compound_v3.test_markets import COMET
from tests.tools_app.protocols.curve.test_stable_pool import GAUGE, LP, POOL, PUT, price, push
from tests.tools_app.protocols.curve.test_stable_pool import PROTOCOL as CURVE
from tests.tools_app.protocols.eigenlayer.test_restaked import AT, DAI, positions, queue_all, restaked, slash
from tests.tools_app.protocols.eigenlayer.test_restaked import staker as staker
from tests.tools_app.protocols.measured import Golem
from tests.tools_app.protocols.pendle.test_market import MARKET, forget_past, spot_price
from tests.tools_app.protocols.pendle.test_market import PROTOCOL as PENDLE
from tests.tools_app.protocols.pendle.test_market import push as push_market
from tools_app.apps import load_registry
from tools_app.chain.abi import encode_call
from tools_app.portfolio.holdings import measure_holdings
from tools_app.protocols.compound_v3.protocol import PROTOCOL as COMPOUND
from tools_app.protocols.compound_v3.words import WITHDRAW
from tools_app.protocols.eigenlayer.protocol import PROTOCOL as EIGENLAYER

WAD, USD = 10**18, 10**6
BPS = 10_000


def read(chain: World, at: str, signature: str, *args: object) -> int:
    return int(chain.rpc.read(at, signature, *args, returns="(uint256)")[0])


def worth(golem: Golem) -> int:
    reader = make_context(golem.chain, address=golem.address).chain()
    found = measure_holdings(chain=reader, account=golem.address).nav_micro_usd
    assert found is not None
    return found


@pytest.fixture
def lender(chain: World) -> Golem:
    """Owns LP tokens of the pool of three dollars and little else."""
    load_registry()
    golem = Golem(chain, CURVE, chain.new_account(WAD, {"DAI": 10_000 * WAD, "USDC": 10_000 * USD}))
    golem.act("curve_add_liquidity", **PUT)
    return golem


@pytest.mark.django_db
@pytest.mark.protocols("curve")
def test_one_trade_moves_what_an_lp_token_brings_in_a_coin_and_not_what_it_counts_as(
    chain: World, lender: Golem
) -> None:
    assert "one trade" in CURVE.uncaged
    held = chain.rpc.balance_of(LP, lender.address)
    brings = "calc_withdraw_one_coin(uint256,int128)"
    in_dai, counts = read(chain, POOL, brings, held, 0), worth(lender)
    push(chain, usd=2_000_000)
    assert read(chain, POOL, brings, held, 0) * BPS < in_dai * (BPS - 20), "who asks for a coin is told less"
    assert abs(worth(lender) - counts) * BPS <= counts * 5


@pytest.mark.django_db
@pytest.mark.protocols("curve")
def test_a_valuer_that_knows_one_feed_of_a_share_would_not_see_another_of_its_dollars_fall(
    chain: World, lender: Golem
) -> None:
    assert "lowest of its coins' feeds" in CURVE.uncaged
    held, counts = chain.rpc.balance_of(LP, lender.address), worth(lender)
    virtual = read(chain, POOL, "get_virtual_price()")
    price(chain, "DAI", 70_000_000)
    # At the virtual price in USDC, which did not fall, a share is worth what it was.
    assert read(chain, POOL, "get_virtual_price()") == virtual and held * virtual // WAD > 19_900 * WAD
    assert counts - worth(lender) > 5_900 * USD, "of 20,000 dollars three tenths are gone"


@pytest.mark.django_db
@pytest.mark.protocols("curve")
def test_of_what_is_staked_no_balance_of_lp_tokens_tells(chain: World, lender: Golem) -> None:
    assert "staked" in CURVE.uncaged
    counts = worth(lender)
    lender.act("convex_stake_lp", pool=POOL, amount="max")
    assert chain.rpc.balance_of(LP, lender.address) == chain.rpc.balance_of(GAUGE, lender.address) == 0
    assert abs(worth(lender) - counts) * BPS <= counts


@pytest.mark.protocols("eigenlayer")
def test_what_shares_of_a_strategy_stand_for_does_not_fall_with_a_slash(chain: World, staker: LocalAccount) -> None:
    assert "slash" in EIGENLAYER.uncaged
    (held,) = restaked(chain, staker).deposits
    told = "sharesToUnderlyingView(uint256)"
    before = read(chain, AT["strategy_dai"], told, held.deposited)
    slash(chain, WAD // 4)
    assert read(chain, AT["strategy_dai"], told, held.deposited) == before, "a share valuer would count all of it"
    (after,) = positions(chain, staker)
    assert sum(leg.raw for leg in after.legs) <= DAI * 3 // 4 + 1


@pytest.mark.protocols("eigenlayer")
def test_what_waits_in_the_queue_is_in_no_balance_of_shares(chain: World, staker: LocalAccount) -> None:
    assert "queue" in EIGENLAYER.uncaged
    queue_all(chain, staker)
    assert restaked(chain, staker).deposits == ()
    (waiting,) = positions(chain, staker)
    assert sum(leg.raw for leg in waiting.legs) > 0


@pytest.mark.protocols("compound_v3")
def test_the_same_bytes_take_out_for_one_and_borrow_for_another(chain: World) -> None:
    load_registry()
    assert "same call" in COMPOUND.uncaged
    golems = [Golem(chain, COMPOUND, chain.new_account(WAD, {"USDC": 5_000 * USD, "WETH": 4 * WAD})) for _ in (1, 2)]
    lends, owes = golems
    lends.act("compound_v3_supply", market="USDC", asset="USDC", amount=str(5_000 * USD))
    owes.act("compound_v3_supply", market="USDC", asset="WETH", amount=str(4 * WAD))
    data = "0x" + encode_call(WITHDRAW, chain.tokens["USDC"].address, 2_000 * USD).hex()
    for golem in golems:
        assert chain.send(golem.account, COMET, data)["status"] == "0x1"
    owed = "borrowBalanceOf(address)"
    assert read(chain, COMET, owed, lends.address) == 0
    assert read(chain, COMET, owed, owes.address) >= 2_000 * USD


@pytest.mark.protocols("pendle")
def test_one_block_moves_the_price_of_a_claim_and_not_the_average_that_claims_count_at(chain: World) -> None:
    load_registry()
    assert "average" in PENDLE.uncaged
    golem = Golem(chain, PENDLE, chain.new_account(WAD, {"DAI": 1_000 * WAD}))
    oracle, asked = str(PENDLE.address(CHAIN_ID, "oracle")), "getPtToAssetRate(address,uint32)"
    spot, average = spot_price(golem), read(chain, oracle, asked, MARKET, 900)
    push_market(chain, "pendle_buy_pt", 400_000 * WAD)
    assert abs(spot_price(golem) - spot) * BPS > spot * 50
    assert abs(read(chain, oracle, asked, MARKET, 900) - average) * BPS <= average


@pytest.mark.protocols("pendle")
def test_a_market_whose_memory_is_short_tells_no_average_and_a_valuer_that_asks_would_stop_every_batch(
    chain: World,
) -> None:
    assert "memory" in PENDLE.uncaged
    forget_past(chain)
    with pytest.raises(RpcError):
        read(chain, str(PENDLE.address(CHAIN_ID, "oracle")), "getPtToAssetRate(address,uint32)", MARKET, 900)
