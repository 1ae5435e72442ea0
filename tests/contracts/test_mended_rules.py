"""Holes that an attack found in classes, governance and targets: each of them is closed."""

from __future__ import annotations

import pytest

from permits_app.policy_cage import contract as cage_contract
from permits_app.policy_cage.contract import (
    AssetRule,
    Limit,
    Rule,
    RuleKind,
    address_key,
    asset_rules,
    call_rule,
    guardian_rule,
    limit_rule,
    valuer_rule,
)
from tests.contracts.attackers import class_of, ran, refused
from tests.contracts.test_governance import inner_error
from tests.contracts.test_hostile import add_asset
from tests.proof.caged.aave import Deployer
from tests.proof.caged.safe import USD, CagedSafe, deploy, selector, set_session
from tests.proof.caged.uniswap import WHOLE
from tools_app.chain.abi import encode_call
from tools_app.toolkit.views import NATIVE

HOUR, DAY = 3_600, 86_400
SET_POSITION = "function setPosition(uint256 gross, uint256 debt, uint256 largest, uint256 newest)"
LEAVING = 0


def test_in_defensive_positions_grow_by_nothing_that_the_wallet_pays(caged: CagedSafe) -> None:
    other = deploy(caged, "FuzzVenue")
    caged.change(valuer_rule(other, other), call_rule(other, selector(SET_POSITION)))
    set_session(caged)
    gross = 10_000 * USD
    ran(caged, caged.execute(caged.position(gross), *caged.take("USDC", gross)))
    opened = caged.call(other, SET_POSITION, 100 * USD, 0, 100 * USD, 0)
    ran(caged, caged.execute(opened, *caged.take("USDC", 100 * USD)))
    assert caged.propose(limit_rule(Limit.PHASE, 2)).succeeded
    caged.engine.advance(HOUR)
    shrunk = caged.call(other, SET_POSITION, 100 * USD - 1, 0, 100 * USD - 1, 0)
    grown = [caged.position(gross + 300 * USD), shrunk, *caged.take("USDC", 300 * USD)]
    assert refused(caged, caged.execute(*grown)) == "PhaseForbids"
    # Moving from one position to the other is allowed, and may round up as a position does.
    away = caged.call(other, SET_POSITION, 50 * USD, 0, 50 * USD, 0)
    ran(caged, caged.execute(caged.position(gross + 50 * USD + 1), away))


def test_an_asset_that_broke_is_taken_off_the_list_and_the_cage_goes_on(caged: CagedSafe) -> None:
    token = deploy(caged, "FragileToken")
    add_asset(caged, token, caged.coins["USDC"].feed)
    set_session(caged)
    assert caged.engine.send(caged.stranger, token, encode_call("function breakDown()")).succeeded
    assert refused(caged, caged.execute(caged.approve("USDC", 1))) == "BalanceUnreadable"
    assert caged.propose(Rule(RuleKind.ASSET, address_key(token), 0)).succeeded
    ran(caged, caged.execute(caged.approve("USDC", 1)))


def test_the_stale_feed_of_what_is_not_held_stops_nothing(caged: CagedSafe) -> None:
    ran(caged, caged.execute(*caged.trade("WBTC", 25_000_000, "USDC", 15_000 * USD)))
    assert caged.propose(limit_rule(Limit.PHASE, 4)).succeeded
    data = encode_call("function setUpdatedAt(uint256 unixSeconds)", caged.engine.now() - 3_700)
    assert caged.engine.send(caged.deployer, caged.coins["WBTC"].feed, data).succeeded
    ran(caged, caged.execute(*caged.trade("WETH", WHOLE, "USDC", 3_000 * USD)))
    # What would be held afterwards needs its price.
    assert refused(caged, caged.execute(*caged.trade("USDC", 60 * USD, "WBTC", 100_000))) == "PriceStale"


def test_a_drawdown_is_acknowledged_though_no_feed_answers(caged: CagedSafe) -> None:
    assert caged.propose(limit_rule(Limit.HIGH_WATER_MARK_MICRO_USD, 200_000 * USD)).succeeded
    assert caged.engine.send(caged.stranger, caged.cage, encode_call("function recordDrawdown()")).succeeded
    for coin in caged.coins.values():
        data = encode_call("function setUpdatedAt(uint256 unixSeconds)", caged.engine.now() - 3_700)
        assert caged.engine.send(caged.deployer, coin.feed, data).succeeded
    assert caged.owner_call(caged.cage, cage_contract.encode_acknowledge_drawdown()).succeeded
    assert not caged.ask("isDrawdownBreached")


def test_a_fee_earned_in_the_same_batch_leaves_an_exit_an_exit(caged: CagedSafe) -> None:
    ran(caged, caged.execute(caged.position(10_000 * USD), *caged.take("USDC", 10_000 * USD)))
    assert caged.propose(limit_rule(Limit.PHASE, 4)).succeeded
    sell = caged.trade("WETH", WHOLE, "USDC", 3_000 * USD)
    # The dearest pool takes 1%, and all of it may have come to this position.
    assert class_of(ran(caged, caged.execute(*sell, caged.position(10_030 * USD)))) == LEAVING
    assert refused(caged, caged.execute(*sell, caged.position(10_061 * USD))) == "PhaseForbids"


def test_dust_keeps_no_asset_on_the_list(caged: CagedSafe) -> None:
    wbtc = caged.coins["WBTC"].address
    gone = Rule(RuleKind.ASSET, address_key(wbtc), 0)
    ran(caged, caged.execute(*caged.trade("WBTC", 25_000_000, "USDC", 15_000 * USD)))
    caged.mint("WBTC", caged.safe, 1_667)
    assert inner_error(caged.propose(gone)) == ("StillHeld", (wbtc, 1_667))
    ran(caged, caged.execute(*caged.trade("WBTC", 1, "USDC", 600)))
    assert caged.propose(gone).succeeded
    assert wbtc not in caged.ask("assets")


def test_what_nobody_can_price_goes_after_two_days_with_what_is_held(caged: CagedSafe) -> None:
    wbtc = caged.coins["WBTC"]
    gone = Rule(RuleKind.ASSET, address_key(wbtc.address), 0)
    assert inner_error(caged.propose(gone))[0] == "StillHeld"
    data = encode_call("function setUpdatedAt(uint256 unixSeconds)", caged.engine.now() - 3_700)
    assert caged.engine.send(caged.deployer, wbtc.feed, data).succeeded
    assert caged.propose(gone).succeeded
    assert caged.rule(gone) != 0
    caged.engine.advance(48 * HOUR)
    apply = cage_contract.encode_apply_change(gone.kind, gone.key)
    assert caged.engine.send(caged.stranger, caged.cage, apply).succeeded
    assert wbtc.address not in caged.ask("assets")


def test_a_guardian_is_dismissed_at_once(caged: CagedSafe) -> None:
    assert caged.engine.send(caged.guardian, caged.cage, cage_contract.encode_halt()).succeeded
    assert caged.propose(guardian_rule("0x" + "00" * 20)).succeeded
    assert caged.owner_call(caged.cage, cage_contract.encode_resume()).succeeded
    assert refused(caged, caged.engine.send(caged.guardian, caged.cage, cage_contract.encode_halt())) == "MayNotHalt"
    ran(caged, caged.execute(caged.approve("USDC", 1)))


def test_a_key_that_became_an_owner_is_no_session_key_any_more(caged: CagedSafe) -> None:
    ran(caged, caged.execute(caged.approve("USDC", 1)))
    add = "function addOwnerWithThreshold(address owner, uint256 threshold)"
    assert caged.owner_call(caged.safe, encode_call(add, caged.session.address, 2)).succeeded
    assert refused(caged, caged.execute(caged.approve("USDC", 1))) == "KeyIsOwner"


def test_what_the_safe_owns_is_no_target(caged: CagedSafe) -> None:
    owned = Deployer(caged).deploy("PoolAddressesProvider", "(string,address)", "owned", caged.safe)
    change = "function setAddress(bytes32 id, address newAddress)"
    caged.change(call_rule(owned, selector(change)))
    call = caged.call(owned, change, bytes(32), caged.stranger.address)
    assert caged.error(caged.execute(call)) == ("TargetForbidden", {"target": owned})


@pytest.mark.parametrize("is_asset", [True, False])
def test_even_where_all_calls_are_allowed_assets_and_places_of_positions_need_a_listing(
    caged: CagedSafe, is_asset: bool
) -> None:
    caged.change(limit_rule(Limit.ALLOWS_ARBITRARY_CALLS, 1))
    target = caged.coins["USDC"].address if is_asset else caged.lender
    touch = "function touch()"
    call = caged.call(target, touch)
    assert refused(caged, caged.execute(call)) == "CallNotAllowed"


def test_coins_for_gas_count_as_coins_that_left(caged: CagedSafe) -> None:
    weth = caged.coins["WETH"]
    caged.engine.give_coins(caged.safe, 10**18)
    asset = AssetRule(weth.feed, 3_600, 18, 8)
    caged.change(*asset_rules(NATIVE, asset, per_batch=10**16, per_window=10**16))
    set_session(caged)
    top_up = cage_contract.encode_top_up_gas(2 * 10**16)
    assert refused(caged, caged.engine.send(caged.session, caged.cage, top_up)) == "OutflowTooLarge"
    assert caged.engine.send(caged.session, caged.cage, cage_contract.encode_top_up_gas(10**16)).succeeded
    assert caged.ask("spent", NATIVE) == 10**16
