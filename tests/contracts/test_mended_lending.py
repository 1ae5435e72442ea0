"""Holes that an attack found around lending, on the real Aave V3: each of them is closed."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from permits_app.policy_cage import contract as cage_contract
from permits_app.policy_cage.conditions import Condition, Must
from permits_app.policy_cage.contract import (
    Limit,
    Rule,
    RuleKind,
    address_key,
    conditional_call_rules,
    limit_rule,
)
from tests.contracts.attackers import LOSSES, RESERVES, Lent, ran, refused
from tests.proof.caged.aave import REPAY, WITHDRAW
from tests.proof.caged.engines import Engine
from tests.proof.caged.safe import USD, deploy, selector, set_session
from tests.proof.caged.uniswap import WHOLE
from tools_app.chain.abi import encode_call

HOUR = 3_600


@pytest.fixture(scope="module")
def lender(engine: Engine) -> Lent:
    return Lent(engine)


@pytest.fixture
def lent(lender: Lent) -> Iterator[Lent]:
    snapshot = lender.caged.engine.snapshot()
    yield lender
    lender.caged.engine.revert(snapshot)


def test_what_lies_in_a_position_leaves_under_the_caps_of_its_asset(lent: Lent) -> None:
    caged = lent.caged
    key = address_key(caged.coins["WETH"].address)
    ran(caged, caged.execute(*lent.supply("WETH", 4 * WHOLE)))
    assert caged.propose(Rule(RuleKind.OUTFLOW_PER_BATCH, key, 0), Rule(RuleKind.OUTFLOW_PER_WINDOW, key, 0)).succeeded
    caged.set_price("WETH", 30 * 10**8)  # a hundredth of the truth
    sale = [lent.withdraw("WETH", 4 * WHOLE), *caged.trade("WETH", 4 * WHOLE, "USDC", 120 * USD)]
    assert refused(caged, caged.execute(*sale)) == "OutflowTooLarge"
    # Taking it back into the wallet is no outflow.
    ran(caged, caged.execute(lent.withdraw("WETH", 4 * WHOLE)))


def test_turning_over_what_lies_in_a_position_costs_budget_outflow_and_a_rebalance(lent: Lent) -> None:
    caged = lent.caged
    ran(caged, caged.execute(*lent.supply("WETH", 4 * WHOLE)))
    turn = [
        lent.withdraw("WETH", 4 * WHOLE),
        *caged.trade("WETH", 4 * WHOLE, "USDC", 12_000 * USD),
        *lent.supply("USDC", 12_000 * USD),
    ]
    set_session(caged, budget=0)
    assert refused(caged, caged.execute(*turn)) == "SessionBudgetExceeded"
    set_session(caged, budget=50_000 * USD)
    spent = caged.ask("spent", caged.coins["WETH"].address)
    ran(caged, caged.execute(*turn))
    assert caged.ask("session")[3] == 38_000 * USD
    assert caged.ask("spent", caged.coins["WETH"].address) == spent + 4 * WHOLE
    back = [
        lent.withdraw("USDC", 12_000 * USD),
        *caged.trade("USDC", 12_000 * USD, "WETH", 4 * WHOLE),
        *lent.supply("WETH", 4 * WHOLE),
    ]
    assert refused(caged, caged.execute(*back)) == "RebalanceTooSoon"


def test_half_of_a_proposal_is_never_applied(engine: Engine) -> None:
    snapshot = engine.snapshot()
    lent = Lent(engine, is_valued=False)
    caged = lent.caged
    lent.owners_supply("WETH", 4 * WHOLE)
    assert caged.propose(*lent.rules, *lent.calls).succeeded
    caged.engine.advance(48 * HOUR)
    set_session(caged)
    caged.set_price("USDC", 10**8)
    borrow = lent.calls[1]
    data = cage_contract.encode_apply_change(borrow.kind, borrow.key)
    assert caged.engine.send(caged.session, caged.cage, data).succeeded
    # The thief applied the right to borrow, and the valuer that sees the debt came with it.
    assert all(caged.rule(rule) == rule.value for rule in (*lent.rules, *lent.calls))
    theft = [lent.borrow("USDC", 9_000 * USD), *caged.take("USDC", 9_000 * USD)]
    assert refused(caged, caged.execute(*theft)) == "LossTooLarge"
    engine.revert(snapshot)


def test_a_position_that_turns_from_dollars_into_another_asset_is_no_leaving(lent: Lent) -> None:
    caged = lent.caged
    ran(caged, caged.execute(*lent.supply("USDC", 12_000 * USD)))
    mark = limit_rule(Limit.HIGH_WATER_MARK_MICRO_USD, 200_000 * USD)
    calls = [
        lent.withdraw("USDC", 12_000 * USD),
        *caged.trade("USDC", 11_970 * USD, "WETH", 399 * WHOLE // 100),
        *lent.supply("WETH", 399 * WHOLE // 100),
    ]
    assert caged.propose(mark).succeeded
    assert refused(caged, caged.execute(*calls)) == "DrawdownExceeded"
    assert caged.propose(limit_rule(Limit.PHASE, 4)).succeeded
    assert refused(caged, caged.execute(*calls)) == "PhaseForbids"
    ran(caged, caged.execute(calls[0]))


def test_what_is_withdrawn_and_turned_into_a_third_asset_is_no_leaving(lent: Lent) -> None:
    caged = lent.caged
    ran(caged, caged.execute(*lent.supply("WETH", 4 * WHOLE)))
    assert caged.propose(limit_rule(Limit.PHASE, 3)).succeeded
    turned = [lent.withdraw("WETH", WHOLE), *caged.trade("WETH", WHOLE, "WBTC", 5_000_000)]
    assert refused(caged, caged.execute(*turned)) == "PhaseForbids"
    ran(caged, caged.execute(lent.withdraw("WETH", WHOLE), *caged.trade("WETH", WHOLE, "USDC", 3_000 * USD)))


def test_a_gift_of_dust_to_a_lender_makes_no_exit_of_a_purchase(lent: Lent) -> None:
    caged = lent.caged
    lent.owners_supply("USDC", 5_000 * USD)
    # Anyone may supply for the Safe: a dollar of ETH now lies beside its dollars.
    lent.give("WETH", WHOLE // 3_000)
    assert caged.propose(limit_rule(Limit.PHASE, 3)).succeeded
    bought = [lent.withdraw("USDC", 300 * USD), *caged.trade("USDC", 300 * USD, "WETH", WHOLE // 10)]
    assert refused(caged, caged.execute(*bought)) == "PhaseForbids"
    ran(caged, caged.execute(lent.withdraw("WETH", 2**256 - 1), lent.withdraw("USDC", 300 * USD)))


def test_collateral_goes_to_the_account_and_only_what_is_valued_is_withdrawn(lent: Lent) -> None:
    caged = lent.caged
    lent.owners_supply("WBTC", 20_000_000)
    pool = lent.market.pool
    valued = [int(caged.coins[symbol].address, 16) for symbol in ("USDC", "WETH")]
    conditions = [
        Condition(Must.BE_ACCOUNT, (2,)),
        *(Condition(Must.EQUAL, (0,), asset, group=1) for asset in valued),
    ]
    rules = conditional_call_rules(pool, selector(WITHDRAW), conditions)
    # Conditions where there were none are tighter: they hold at once.
    assert caged.propose(*rules).succeeded
    assert all(caged.rule(rule) == rule.value for rule in rules)
    stolen = lent.withdraw("WBTC", 2**256 - 1, caged.stranger.address)
    assert refused(caged, caged.execute(stolen)) == "ConditionNotMet"
    assert refused(caged, caged.execute(lent.withdraw("WBTC", 2**256 - 1))) == "ConditionNotMet"
    ran(caged, caged.execute(*lent.supply("WETH", WHOLE)))
    assert refused(caged, caged.execute(lent.withdraw("WETH", WHOLE, caged.stranger.address))) == "ConditionNotMet"
    ran(caged, caged.execute(lent.withdraw("WETH", WHOLE)))


def test_a_debt_is_not_driven_to_the_edge_where_liquidators_wait(lent: Lent) -> None:
    caged, pool = lent.caged, lent.market.pool
    weth, usdc = caged.coins["WETH"], caged.coins["USDC"]
    [provider] = caged.read(pool, "function ADDRESSES_PROVIDER() view returns (address)")
    [configurator] = caged.read(provider, "function getPoolConfigurator() view returns (address)")
    # What Aave asks of WBTC on mainnet: 73% and 78%.
    collateral = "function configureReserveAsCollateral(address asset, uint256 ltv, uint256 threshold, uint256 bonus)"
    data = encode_call(collateral, weth.address, 7_300, 7_800, 10_500)
    assert caged.engine.send(caged.deployer, configurator, data).succeeded
    held = 4 * WHOLE
    edge = held * 3_000 * 7_299 // 10_000 // 10**12
    at_edge = [*lent.supply("WETH", held), lent.borrow("USDC", edge)]
    assert refused(caged, caged.execute(*at_edge)) == "CoverTooLow"
    # 12,000 at a threshold of 78% cover 8,139 by 115%.
    ran(caged, caged.execute(*lent.supply("WETH", held), lent.borrow("USDC", 8_100 * USD)))
    assert refused(caged, caged.execute(lent.withdraw("WETH", WHOLE // 10))) == "CoverTooLow"
    assert caged.ask("spent", LOSSES) < USD
    # Paying back needs no leave.
    repaid = lent.call(REPAY, usdc.address, 100 * USD, 2, caged.safe)
    ran(caged, caged.execute(caged.approve("USDC", 100 * USD, pool), repaid))


def test_a_reserve_that_is_listed_twice_is_not_counted_twice(lent: Lent) -> None:
    caged = lent.caged
    row = lent.market.reserves["USDC"]
    rows = [(row.underlying, row.a_token, row.debt_token)] * 2
    with pytest.raises(AssertionError, match="was not deployed"):
        deploy(caged, "LendingValuer", RESERVES, lent.market.pool, rows)


def test_a_second_valuer_of_the_same_place_is_refused(lent: Lent) -> None:
    caged = lent.caged
    row = lent.market.reserves["USDC"]
    rows = [(row.underlying, row.a_token, row.debt_token)]
    other = deploy(caged, "LendingValuer", RESERVES, lent.market.pool, rows)
    rule = cage_contract.valuer_rule(caged.venue, other)
    assert caged.propose(rule).succeeded
    caged.engine.advance(48 * HOUR)
    sent = caged.engine.send(caged.stranger, caged.cage, cage_contract.encode_apply_change(rule.kind, rule.key))
    assert caged.error(sent) == ("ValuerOfAnother", {"target": caged.venue, "subject": lent.market.pool})
