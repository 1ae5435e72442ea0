"""What the contract does not do, as its page says: each bound is shown where it ends."""

from __future__ import annotations

import pytest

from permits_app.policy_cage.conditions import Condition, Must
from permits_app.policy_cage.contract import (
    Limit,
    Rule,
    RuleKind,
    address_key,
    conditional_call_rules,
    limit_rule,
    role_call_rule,
    sequencer_rule,
    spender_rule,
)
from tests.contracts.attackers import class_of, ran, refused
from tests.contracts.role_keys import HOUR, TRADER, Roles, pay
from tests.contracts.test_governance import inner_error
from tests.contracts.test_hostile import add_asset, allow_all
from tests.contracts.test_mended_positions import LEAVING, of
from tests.contracts.test_outcome_rules import expect
from tests.contracts.test_prices_that_jump import DOLLAR, FEED, asset_rule, bound, tell, touch
from tests.proof.caged.safe import APPROVE, TRADE, USD, CagedSafe, Coin, deploy, selector
from tests.proof.caged.uniswap import V3, WHOLE
from tools_app.chain.abi import encode_call
from tools_app.toolkit.views import NATIVE

ALLOWANCE = "function allowance(address owner, address spender) view returns (uint256)"
MULTICALL = "function multicall(bytes[] data)"
# Answers `decimals` with 18, `balanceOf` with the coins of the account, and `allowance` with 0.
MIRROR_OF_COINS = (
    "36600414601357" + "36602414601e57" + "60206000f3" + "5b601260005260206000f3" + "5b6004353160005260206000f3"
)
# Says the first argument of any call in a topic, and does nothing else.
TELLS = "60043560006000a100"


def create(caged: CagedSafe, code: str) -> str:
    """A contract of this runtime code."""
    runtime = bytes.fromhex(code)
    begin = bytes.fromhex(f"60{len(runtime):02x}80600b6000396000f3")
    sent = caged.engine.send(caged.deployer, None, begin + runtime)
    assert sent.created
    return sent.created


def test_what_counted_as_nothing_pays_for_a_loss_of_its_size_under_the_caps(caged: CagedSafe) -> None:
    """A claim of ETH comes in, and as many dollars go out for nothing."""
    weth, usdc = caged.coins["WETH"], caged.coins["USDC"]
    claimed = caged.call(caged.venue, TRADE, usdc.address, 0, weth.address, weth.units(1))
    assert refused(caged, caged.execute(*caged.take("USDC", 3_000 * USD))) == "LossTooLarge"
    ran(caged, caged.execute(claimed, *caged.take("USDC", 3_000 * USD)))
    assert caged.propose(Rule(RuleKind.OUTFLOW_PER_BATCH, address_key(usdc.address), 1_000 * USD)).succeeded
    assert refused(caged, caged.execute(claimed, *caged.take("USDC", 3_000 * USD))) == "OutflowTooLarge"
    # Of the same asset nothing left.
    dollars = caged.call(caged.venue, TRADE, weth.address, 0, usdc.address, 3_000 * USD)
    ran(caged, caged.execute(dollars, *caged.take("USDC", 3_000 * USD)))


def test_an_allowance_given_before_its_cap_was_lowered_stays_until_the_owners_revoke_it(caged: CagedSafe) -> None:
    usdc = caged.coins["USDC"].address
    ran(caged, caged.execute(caged.approve("USDC", 5_000 * USD)))
    assert caged.propose(spender_rule(caged.venue, most_micro_usd=USD)).succeeded
    assert refused(caged, caged.execute(caged.approve("USDC", 5_000 * USD))) == "AllowanceTooLarge"
    assert caged.read(usdc, ALLOWANCE, caged.safe, caged.venue) == (5_000 * USD,)
    assert caged.owner_call(usdc, encode_call(APPROVE, caged.venue, 0)).succeeded
    assert caged.read(usdc, ALLOWANCE, caged.safe, caged.venue) == (0,)


def test_what_leaves_a_pool_may_become_the_other_asset_of_its_pair_and_is_leaving(caged: CagedSafe) -> None:
    usdc, weth = of(caged, "USDC", "WETH")
    v3 = V3(caged)
    v3.open_pool(usdc, weth, 3_000)
    ran(caged, caged.execute(*v3.open_position(usdc, weth, 3_000, 5_000)))
    assert caged.propose(limit_rule(Limit.PHASE, 3)).succeeded
    tenth = v3.leave(1, v3.liquidity(1) // 10)
    price = caged.coins["WETH"].price
    bought = [caged.trade("USDC", dollars * USD, "WETH", WHOLE * dollars * DOLLAR // price) for dollars in (490, 2_500)]
    assert class_of(ran(caged, caged.execute(*tenth, *bought[0]))) == LEAVING
    assert refused(caged, caged.execute(*tenth, *bought[1])) == "PhaseForbids"


def test_a_role_has_the_accounts_conditions_and_none_of_its_own(roles: Roles) -> None:
    caged, trader, _ = roles
    bought = caged.trade("USDC", 300 * USD, "WETH", caged.coins["WETH"].units("0.1"))
    at_most = [Condition(Must.BE_AT_MOST, (1,), 200 * USD)]
    assert caged.propose(*conditional_call_rules(caged.venue, selector(TRADE), at_most)).succeeded
    for key in (trader, caged.session):
        assert refused(caged, caged.execute(*bought, key=key)) == "ConditionNotMet"
    own = role_call_rule(TRADER, caged.venue, selector(TRADE))
    sent = caged.propose(Rule(own.kind, own.key, 2))
    assert inner_error(sent)[0] == "OutOfRange"


def test_at_the_turn_of_a_period_an_allowance_and_what_comes_back_are_used_in_one_moment(roles: Roles) -> None:
    caged, trader, _ = roles
    price = caged.coins["WETH"].units("0.001")

    def buy_for(dollars: int) -> None:
        sent = caged.execute(*caged.trade("USDC", dollars * USD, "WETH", price * dollars // 3 + 1), key=trader)
        expect(caged, sent, None)

    began = caged.engine.now()
    buy_for(1)
    caged.engine.advance(HOUR - 3)
    buy_for(2_999)
    caged.engine.advance(began + HOUR + 2 - caged.engine.now())
    buy_for(750)
    assert caged.engine.now() - began < HOUR + 10


def test_coins_beside_a_token_that_mirrors_them_count_twice(caged: CagedSafe) -> None:
    token = create(caged, MIRROR_OF_COINS)
    feed = caged.coins["WETH"].feed
    caged.coins["COIN"] = Coin("COIN", token, feed, 18, caged.coins["WETH"].price)
    caged.engine.give_coins(caged.safe, 10**18)
    before = caged.ask("measure")[6]
    add_asset(caged, token, feed)
    assert caged.ask("measure")[6] - before == 3_000 * USD
    add_asset(caged, NATIVE, feed)
    assert caged.ask("measure")[6] - before == 6_000 * USD
    del caged.coins["COIN"]


def test_a_function_that_no_list_names_is_called_only_where_the_owners_allow_it(caged: CagedSafe) -> None:
    """Whom it made the keeper of what, the contract cannot know."""
    keeper = caged.stranger.address
    place = create(caged, TELLS)
    asked = caged.call(place, "function appointKeeperForever(address keeper)", keeper)
    assert refused(caged, caged.execute(asked)) == "CallNotAllowed"
    allow_all(caged)
    logs = ran(caged, caged.execute(asked)).logs
    assert any(log.address == place and log.topics[0].endswith(keeper[2:].lower()) for log in logs)


def test_the_first_batch_after_a_bound_was_set_has_no_price_to_be_held_against(caged: CagedSafe) -> None:
    bound(caged, asset_rule(caged, "WETH", jump=25))
    caged.set_price("WETH", 6_000 * DOLLAR)
    ran(caged, touch(caged))
    caged.set_price("WETH", 3_000 * DOLLAR)
    assert refused(caged, touch(caged)) == "PriceJumped"


@pytest.mark.parametrize("what", ["jump", "sequencer"])
def test_a_payout_asks_neither_for_a_jump_nor_for_the_sequencer(roles: Roles, what: str) -> None:
    caged, _, payer = roles
    if what == "jump":
        bound(caged, asset_rule(caged, "USDC", jump=5))
        ran(caged, touch(caged))
        caged.set_price("USDC", 80 * DOLLAR // 100)
        assert refused(caged, touch(caged)) == "PriceJumped"
    else:
        feed = deploy(caged, "LyingFeed", FEED, 0, 0)
        tell(caged, feed, 1, 2 * HOUR)
        bound(caged, sequencer_rule(feed, grace_seconds=HOUR))
        assert refused(caged, touch(caged)) == "SequencerNotUp"
    expect(caged, pay(caged, 1_000 * USD, key=payer), None)
    refused_by = caged.error(pay(caged, 1, key=payer))
    assert refused_by[0] == "AllowanceUsedUp"
