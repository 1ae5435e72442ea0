"""An asset that retires lies in a position: what the session key may leave it by, on the real contracts."""

from __future__ import annotations

from permits_app.policy_cage.contract import AssetRule, AssetState, Rule, RuleKind, address_key
from tests.contracts.attackers import Lent, class_of, ran, refused
from tests.proof.caged.engines import Engine
from tests.proof.caged.safe import CagedSafe
from tests.proof.caged.uniswap import COLLECT, DECREASE, FOREVER, MOST, V3, WHOLE
from tools_app.toolkit.plan import Call

HOUR = 3_600
LEAVING = 0


def open_position(caged: CagedSafe) -> V3:
    """Position 1: ten thousand dollars and as much WETH."""
    usdc, weth = (caged.coins[symbol].address for symbol in ("USDC", "WETH"))
    v3 = V3(caged)
    v3.open_pool(usdc, weth, 3_000)
    ran(caged, caged.execute(*v3.open_position(usdc, weth, 3_000, 10_000)))
    return v3


def retire(caged: CagedSafe, symbol: str) -> None:
    coin = caged.coins[symbol]
    rule = AssetRule(coin.feed, HOUR, coin.decimals, 8, AssetState.RETIRING)
    assert caged.propose(Rule(RuleKind.ASSET, address_key(coin.address), rule.pack())).succeeded


def collect(v3: V3, symbol: str, most: int) -> Call:
    """Position 1's coins to the Safe: all of the others, at most so many base units of one."""
    usdc, weth = (v3.caged.coins[each].address for each in ("USDC", "WETH"))
    first, _, _, _ = v3.order(usdc, weth, 1)
    bounds = (most, MOST) if first == v3.caged.coins[symbol].address else (MOST, most)
    return v3.caged.call(v3.npm, COLLECT, (1, v3.caged.safe, *bounds))


def sell(caged: CagedSafe, symbol: str, amount: int) -> list[Call]:
    coin = caged.coins[symbol]
    return caged.trade(
        symbol, amount, "USDC", amount * coin.price * 10**6 // (10**8 * 10**coin.decimals) * 999 // 1_000
    )


def test_what_retires_leaves_a_position_in_one_batch_that_sells_exactly_what_came_out(caged: CagedSafe) -> None:
    v3 = open_position(caged)
    liquidity = v3.liquidity(1)
    retire(caged, "WETH")
    assert refused(caged, caged.execute(*v3.leave(1, liquidity // 10))) == "AssetNotApproved"
    out = caged.call(v3.npm, DECREASE, (1, liquidity // 10, 0, 0, FOREVER))
    weth = caged.coins["WETH"]
    amount = weth.units(1) * 10_000 // 3_000 // 10 * 99 // 100
    assert (
        class_of(ran(caged, caged.execute(out, collect(v3, "WETH", amount), *sell(caged, "WETH", amount)))) == LEAVING
    )
    over = caged.execute(collect(v3, "WETH", 1_000), *sell(caged, "WETH", 999))
    assert refused(caged, over) == "AssetNotApproved"


def test_of_what_no_outflow_is_allowed_nothing_leaves_a_position_in_one_batch_either(caged: CagedSafe) -> None:
    v3 = open_position(caged)
    weth = caged.coins["WETH"]
    assert caged.propose(Rule(RuleKind.OUTFLOW_PER_BATCH, address_key(weth.address), 0)).succeeded
    out = caged.call(v3.npm, DECREASE, (1, v3.liquidity(1) // 10, 0, 0, FOREVER))
    amount = weth.units(1) // 10
    sold = caged.execute(out, collect(v3, "WETH", amount), *sell(caged, "WETH", amount))
    assert refused(caged, sold) == "OutflowTooLarge"


def test_what_retires_leaves_a_lender_in_one_batch_that_sells_exactly_what_came_out(engine: Engine) -> None:
    snapshot = engine.snapshot()
    lent = Lent(engine)
    caged = lent.caged
    ran(caged, caged.execute(*lent.supply("WETH", WHOLE)))
    retire(caged, "WETH")
    assert refused(caged, caged.execute(lent.withdraw("WETH", WHOLE // 2))) == "AssetNotApproved"
    kept = caged.execute(lent.withdraw("WETH", WHOLE // 2), *sell(caged, "WETH", WHOLE // 2 - 1))
    assert refused(caged, kept) == "AssetNotApproved"
    sold = caged.execute(lent.withdraw("WETH", WHOLE // 2), *sell(caged, "WETH", WHOLE // 2))
    assert class_of(ran(caged, sold)) == LEAVING
    engine.revert(snapshot)
