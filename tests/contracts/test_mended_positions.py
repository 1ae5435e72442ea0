"""Holes that an attack found around Uniswap V3 positions, on the real contracts: each of them is closed."""

from __future__ import annotations

from permits_app.policy_cage.conditions import Condition, Must
from permits_app.policy_cage.contract import (
    Limit,
    Rule,
    RuleKind,
    address_key,
    call_rule,
    conditional_call_rules,
    limit_rule,
)
from tests.contracts.attackers import class_of, ran, refused
from tests.proof.caged.safe import APPROVE, TAKE, USD, CagedSafe, selector, set_session
from tests.proof.caged.uniswap import COLLECT, DECREASE, INCREASE, MINT_V3, MOST, V3, WHOLE

LEAVING = 0


def of(caged: CagedSafe, *symbols: str) -> tuple[str, ...]:
    return tuple(caged.coins[symbol].address for symbol in symbols)


def test_a_feed_that_is_too_low_lets_nothing_out_of_a_position(caged: CagedSafe) -> None:
    usdc, weth = of(caged, "USDC", "WETH")
    v3 = V3(caged)
    v3.open_pool(usdc, weth, 3_000)
    ran(caged, caged.execute(*v3.open_position(usdc, weth, 3_000, 10_000)))
    for coin in (usdc, weth):
        assert caged.propose(Rule(RuleKind.OUTFLOW_PER_BATCH, address_key(coin), 0)).succeeded
    caged.set_price("WETH", 30 * 10**8)
    taken = WHOLE * 33 // 10
    theft = [
        *v3.leave(1, v3.liquidity(1)),
        *caged.take("USDC", 8_000 * USD),
        caged.approve("WETH", taken),
        caged.call(caged.venue, TAKE, weth, taken),
    ]
    assert refused(caged, caged.execute(*theft)) == "OutflowTooLarge"


def test_liquidity_moved_to_another_pair_is_no_leaving(caged: CagedSafe) -> None:
    usdc, weth, wbtc = of(caged, "USDC", "WETH", "WBTC")
    v3 = V3(caged)
    v3.open_pool(usdc, weth, 3_000)
    v3.open_pool(weth, wbtc, 3_000)
    for one, other, dollars in ((usdc, weth, 5_000), (weth, wbtc, 50)):
        ran(caged, caged.execute(*v3.open_position(one, other, 3_000, dollars)))
    assert caged.propose(limit_rule(Limit.PHASE, 4)).succeeded
    first, second, amount0, amount1 = v3.order(weth, wbtc, 4_900)
    moved = [
        *v3.leave(1, v3.liquidity(1) * 99 // 100),
        *caged.trade("USDC", 4_900 * USD, "WBTC", caged.coins["WBTC"].units(1) * 4_900 // 60_000),
        caged.call(first, APPROVE, v3.npm, amount0),
        caged.call(second, APPROVE, v3.npm, amount1),
        caged.call(v3.npm, INCREASE, (2, amount0, amount1, 0, 0, 2**40)),
        caged.call(first, APPROVE, v3.npm, 0),
        caged.call(second, APPROVE, v3.npm, 0),
    ]
    assert refused(caged, caged.execute(*moved)) == "PhaseForbids"
    assert class_of(ran(caged, caged.execute(*v3.leave(1, v3.liquidity(1))))) == LEAVING


def give_pennies(v3: V3, count: int) -> None:
    """The thief gives the Safe positions of a cent each."""
    usdc, weth = of(v3.caged, "USDC", "WETH")
    for symbol in ("USDC", "WETH"):
        coin = v3.caged.coins[symbol]
        v3.caged.mint(symbol, v3.thief.address, coin.units(1))
        v3.as_thief(coin.address, APPROVE, v3.npm, 2**255)
    for _ in range(count):
        v3.as_thief(v3.npm, MINT_V3, v3.minting(usdc, weth, 3_000, 0.01, v3.caged.safe))


def test_a_penny_in_another_pair_makes_no_exit_of_a_purchase(caged: CagedSafe) -> None:
    usdc, weth, wbtc = of(caged, "USDC", "WETH", "WBTC")
    v3 = V3(caged)
    v3.open_pool(usdc, weth, 3_000)
    v3.open_pool(weth, wbtc, 3_000)
    # As small as what somebody may give to the Safe.
    for one, other, dollars in ((usdc, weth, 5_000), (weth, wbtc, 1)):
        ran(caged, caged.execute(*v3.open_position(one, other, 3_000, dollars)))
    assert caged.propose(limit_rule(Limit.PHASE, 3)).succeeded
    half = v3.leave(1, v3.liquidity(1) // 2)
    penny = v3.leave(2, v3.liquidity(2))
    bought = caged.trade("USDC", 2_000 * USD, "WBTC", caged.coins["WBTC"].units(1) // 30)
    assert refused(caged, caged.execute(*half, *penny, *bought)) == "PhaseForbids"
    assert class_of(ran(caged, caged.execute(*half, *penny))) == LEAVING


def test_pennies_given_to_the_safe_hide_no_position(caged: CagedSafe) -> None:
    usdc, weth = of(caged, "USDC", "WETH")
    v3 = V3(caged)
    v3.open_pool(usdc, weth, 3_000)
    before = ran(caged, caged.execute(caged.approve("USDC", 1))).gas_used
    give_pennies(v3, 16)
    # The owners open one of 10,000 + 10,000 USD from the Safe; it counts though sixteen came before it.
    asked = v3.minting(usdc, weth, 3_000, 10_000, caged.safe)
    for place in (0, 1):
        assert caged.owner_call(
            asked[place], caged.call(asked[place], APPROVE, v3.npm, asked[5 + place]).data
        ).succeeded
    assert caged.owner_call(v3.npm, caged.call(v3.npm, MINT_V3, asked).data).succeeded
    assert caged.ask("measure")[6] > 99_990 * USD
    assert caged.propose(limit_rule(Limit.PHASE, 4)).succeeded
    had = v3.wealth()
    stolen = v3.leave(17, v3.liquidity(17), v3.thief.address)
    assert refused(caged, caged.execute(*stolen)) == "LossTooLarge"
    assert v3.wealth() == had
    after = ran(caged, caged.execute(caged.approve("USDC", 2))).gas_used
    assert after - before < 2_500_000
    ran(caged, caged.execute(*v3.leave(17, v3.liquidity(17))))


def test_without_a_valuer_positions_are_given_to_nobody_under_conditions(caged: CagedSafe) -> None:
    usdc, weth = of(caged, "USDC", "WETH")
    npm_calls: list[Rule] = []
    v3 = V3(caged, is_valued=False, calls=npm_calls)
    bound = [Condition(Must.BE_ACCOUNT, (1,))]
    caged.change(call_rule(v3.npm, selector(DECREASE)), *conditional_call_rules(v3.npm, selector(COLLECT), bound))
    set_session(caged)
    v3.open_pool(usdc, weth, 3_000)
    asked = v3.minting(usdc, weth, 3_000, 10_000, caged.safe)
    for place in (0, 1):
        assert caged.owner_call(
            asked[place], caged.call(asked[place], APPROVE, v3.npm, asked[5 + place]).data
        ).succeeded
    assert caged.owner_call(v3.npm, caged.call(v3.npm, MINT_V3, asked).data).succeeded
    stolen = v3.leave(1, v3.liquidity(1), v3.thief.address)
    assert refused(caged, caged.execute(*stolen)) == "ConditionNotMet"
    collected = caged.call(v3.npm, COLLECT, (1, caged.safe, MOST, MOST))
    ran(caged, caged.execute(stolen[0], collected))


def test_positions_count_one_by_one_and_what_is_in_them_together(caged: CagedSafe) -> None:
    usdc, weth = of(caged, "USDC", "WETH")
    v3 = V3(caged)
    v3.open_pool(usdc, weth, 3_000)
    # Each is 12% of everything, and no single one may be more than 25%.
    for _ in range(2):
        ran(caged, caged.execute(*v3.open_position(usdc, weth, 3_000, 6_200)))
    # 15,000 of ETH lie mostly in positions: with 16,000 more it would be more than 30% of everything.
    assert caged.balance("WETH") < WHOLE
    bought = caged.trade("USDC", 16_000 * USD, "WETH", WHOLE * 16 // 3)
    assert refused(caged, caged.execute(*bought)) == "ConcentrationTooLarge"
    ran(caged, caged.execute(*caged.trade("USDC", 14_000 * USD, "WETH", WHOLE * 14 // 3)))
