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
from tests.tools_app.protocols.erc4626.people import VAULT, settle
from tests.tools_app.protocols.liquid_restaking.issuers import as_admin as as_issuer
from tests.tools_app.protocols.liquid_restaking.issuers import at as of_issuer
from tests.tools_app.protocols.liquid_restaking.issuers import of_kind, pass_time
from tests.tools_app.protocols.measured import Golem
from tests.tools_app.protocols.moonwell.test_markets import at as of_moonwell
from tests.tools_app.protocols.moonwell.test_markets import set_feed
from tests.tools_app.protocols.pendle.test_market import MARKET, forget_past, spot_price
from tests.tools_app.protocols.pendle.test_market import PROTOCOL as PENDLE
from tests.tools_app.protocols.pendle.test_market import push as push_market
from tools_app.apps import load_registry
from tools_app.chain.abi import encode_call
from tools_app.portfolio.holdings import measure_holdings
from tools_app.protocols.compound_v3.protocol import PROTOCOL as COMPOUND
from tools_app.protocols.compound_v3.signatures import WITHDRAW
from tools_app.protocols.eigenlayer.protocol import PROTOCOL as EIGENLAYER
from tools_app.protocols.erc4626.protocol import PROTOCOL as VAULTS
from tools_app.protocols.liquid_restaking.protocol import PROTOCOL as RESTAKED_ETHER
from tools_app.protocols.moonwell.protocol import PROTOCOL as MOONWELL

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


@pytest.mark.protocols("erc4626")
def test_what_was_asked_of_a_vault_is_in_no_balance_of_shares_until_it_is_claimed(chain: World) -> None:
    load_registry()
    assert "request" in VAULTS.uncaged
    golem = Golem(chain, VAULTS, chain.new_account(WAD, {"USDC": 2_000 * USD}))
    golem.act("vault_deposit", vault=VAULT, amount=str(1_000 * USD))
    for _ in ("while it waits", "once it is settled"):
        assert chain.rpc.balance_of(VAULT, golem.address) == 0
        assert sum(leg.raw for each in golem.positions() for leg in each.legs) == 1_000 * USD
        settle(chain)
    golem.act("vault_claim_request", vault=VAULT, request="deposit")
    golem.act("vault_withdraw", vault=VAULT, shares="max")
    assert chain.rpc.balance_of(VAULT, golem.address) == 0
    assert sum(leg.raw for each in golem.positions() for leg in each.legs) == 1_000 * USD


@pytest.mark.django_db
@pytest.mark.protocols("liquid_restaking")
def test_what_is_asked_back_of_an_issuer_is_in_no_balance_and_a_slash_makes_less_of_it(chain: World) -> None:
    load_registry()
    assert "no balance" in RESTAKED_ETHER.uncaged and "slash" in RESTAKED_ETHER.uncaged
    golem = Golem(chain, RESTAKED_ETHER, chain.new_account(40 * WAD))
    golem.act("lrt_deposit", protocol="kelp", amount=str(10 * WAD))
    golem.act("lrt_withdraw", protocol="kelp", amount="max", mode="queue")
    assert chain.rpc.balance_of(of_issuer("rseth"), golem.address) == 0, "a valuer of balances would count nothing"
    asked = of_kind(golem, "request")
    before = asked.legs[0].raw
    assert abs(before - 10 * WAD) < WAD // 1_000
    # A fifth is slashed, and the issuer tells it.
    as_issuer(chain, "kelp_oracle", "setPrice(uint256)", 106 * WAD // 100 * 80 // 100)
    left = of_kind(golem, "request")
    assert left.legs[0].raw * BPS < before * (BPS - 100), "what was asked for is more than what comes"
    assert left.facts["asked"] == asked.facts["asked"]


@pytest.mark.protocols("moonwell")
def test_a_view_tells_less_than_is_owed_and_a_call_that_is_refused_goes_on(chain: World) -> None:
    load_registry()
    assert "last accrual" in MOONWELL.uncaged and "answers a number" in MOONWELL.uncaged
    golem = Golem(chain, MOONWELL, chain.new_account(WAD, {"WETH": 10 * WAD}))
    golem.act("moonwell_supply", asset="WETH", amount=str(4 * WAD))
    golem.act("moonwell_borrow", asset="USDC", amount=str(5_000 * USD))
    pass_time(chain, 300 * 86_400)
    market = of_moonwell("market_usdc")
    told = read(chain, market, "borrowBalanceStored(address)", golem.address)
    owed = read(chain, market, "borrowBalanceCurrent(address)", golem.address)
    assert told == 5_000 * USD and owed > told + 20 * USD, "what a valuer may ask is what was owed long ago"
    set_feed(chain, "WETH", 1_500)
    data = "0x" + encode_call("function borrow(uint256 amount) returns (uint256)", 4_000 * USD).hex()
    before = chain.rpc.balance_of(chain.tokens["USDC"].address, golem.address)
    assert chain.send(golem.account, market, data)["status"] == "0x1", "a batch would not end with it"
    assert chain.rpc.balance_of(chain.tokens["USDC"].address, golem.address) == before
