"""`lending_*` reads across lenders: a loop's health, rates side by side, everything an account lends and owes."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from tools_app.standards.format_loan_figures import percent, show_health
from tools_app.subsystems.lending.family import Lender, find_lender, lending, list_lenders, read_at, read_loop, worth
from tools_app.subsystems.lending.loop_plan import show_leverage
from tools_app.toolkit.context import ChainReader, ReadContext
from tools_app.toolkit.enums import TickBudget
from tools_app.toolkit.lending import LendingMarket, LendingPair, risk_level
from tools_app.toolkit.params import Address, Token
from tools_app.toolkit.positions import Position, drive, side_by_side
from tools_app.toolkit.protocol import SHELF
from tools_app.toolkit.result import TokenAmount, UsdAmount
from tools_app.toolkit.views import TokenMeta

RateType = Annotated[
    Literal["supply", "borrow"], Field(description="supply: what lending earns; borrow: what a debt costs.")
]
YEAR_SECONDS = 31_536_000


@lending.read(
    budget=TickBudget.FAST,
    snippet="lending_get_loop_health: health, leverage, liquidation price and yield of an account's largest loan.",
    guidelines=(
        "A loop whose debt costs more than its collateral earns is ended and not watched; unwind it before the "
        "health nears the floor.",
    ),
)
def lending_get_loop_health(ctx: ReadContext, account: Address, protocol: Lender) -> dict[str, object]:
    """Health, leverage and liquidation price of an account's largest loan at a lender.

    Use to watch a loop. The time to liquidation, in seconds, supposes that prices stand still and interest goes on; it
    is absent where the collateral earns more than the debt costs.
    Does not look at other lenders; lending_get_health_dashboard does.
    """
    chain = ctx.chain()
    lender, offer = find_lender(chain, protocol)
    pair = read_loop(chain, account, lender, offer)
    health = pair.health_bps(collateral=pair.collateral_raw, debt=pair.debt_raw) or 0
    collateral = worth(chain, pair.collateral, pair.collateral_raw)
    owed = worth(chain, pair.debt, pair.debt_raw)
    level = risk_level(health)
    advice = {"danger": "lending_auto_deleverage now", "warning": "repay a part or add collateral", "safe": None}
    net = collateral - owed
    earned = collateral * pair.supply_ppm - owed * pair.borrow_ppm
    return {
        "account": account,
        "protocol": lender.name,
        "is_simulated": lender.is_simulated(chain.chain_id),
        "health_factor": show_health(health),
        "total_collateral_usd": UsdAmount(collateral),
        "total_debt_usd": UsdAmount(owed),
        "leverage_ratio": show_leverage(pair, pair.collateral_raw, pair.debt_raw),
        "liquidation_price": _liquidation_price(chain, pair, health),
        "time_to_liquidation": _time_left(pair, health),
        "net_apy": percent(earned // net) if net > 0 else None,
        "risk_level": level,
        "recommended_action": advice[level],
    }


@lending.read(
    snippet="lending_compare_rates: what every lender of the chain pays or asks for one asset, best first.",
    guidelines=(
        "A very high rate often means that a lender is nearly empty and cannot be left at once: look at its "
        "liquidity before you lend.",
    ),
)
def lending_compare_rates(ctx: ReadContext, asset: Token, rate_type: RateType) -> dict[str, object]:
    """What every lender of a chain pays for an asset, or asks for a loan of it, best first.

    Use to choose where to lend or borrow. Markets that are closed or have no room are left out.
    Does not include rewards in other tokens, and does not judge a lender's risks.
    """
    chain = ctx.chain()
    token = chain.token(asset)
    asked = [each.lending.markets(chain.chain_id, token.address) for each in list_lenders(chain) if each.lending]
    found = [market for some in drive(side_by_side(asked), chain.call_many) for market in some]
    rows = sorted(
        ((rate, market) for market in found if (rate := _rate(market, rate_type)) is not None),
        key=lambda row: (row[0] if rate_type == "borrow" else -row[0], row[1].protocol, row[1].market),
    )
    best = rows[0][1] if rows else None
    return {
        "asset": token.address,
        "symbol": token.symbol,
        "chain": chain.chain_id,
        "rate_type": rate_type,
        "rates": [_describe(market, rate, token, chain.chain_id) for rate, market in rows],
        "recommendation": f"{best.protocol}, {best.label}" if best else "no lender has room for it",
    }


@lending.read(
    snippet="lending_get_health_dashboard: all an account supplied and owes at every lender, with rates and health.",
    guidelines=(
        "Begin with the worst position: collateral at one lender covers no debt at another, so each health factor "
        "stands alone.",
    ),
)
def lending_get_health_dashboard(ctx: ReadContext, account: Address) -> dict[str, object]:
    """All that an account supplied and owes, at every lender of a chain.

    Use to see where risk is: the overall health factor is that of the worst position. Dollars are those of our feeds.
    Does not include tokens in the wallet or positions that are no loans.
    """
    chain = ctx.chain()
    lenders = {each.name: each for each in list_lenders(chain)}
    positions = read_at(chain, account, tuple(lenders.values()))
    offers = [(position, lenders[position.ref.protocol].lending) for position in positions]
    rates = drive(side_by_side([offer.leg_rates(each) for each, offer in offers if offer]), chain.call_many)
    rows, supplied, owed, earned, costs = [], 0, 0, 0, 0
    for position, ppms in zip(positions, rates, strict=True):
        for leg, ppm in zip(position.legs, ppms, strict=True):
            value = worth(chain, leg.token, abs(leg.raw))
            supplied, earned = (supplied + value, earned + value * ppm) if leg.raw > 0 else (supplied, earned)
            owed, costs = (owed + value, costs + value * ppm) if leg.raw < 0 else (owed, costs)
        rows.append(_row(chain, position, ppms))
    worst: int | None = min((each.health_bps for each in positions if each.health_bps is not None), default=None)
    net = supplied - owed
    return {
        "account": account,
        "chain": chain.chain_id,
        "total_supplied_usd": UsdAmount(supplied),
        "total_borrowed_usd": UsdAmount(owed),
        "net_position_usd": UsdAmount(net),
        "weighted_supply_apy": percent(earned // supplied) if supplied else None,
        "weighted_borrow_apy": percent(costs // owed) if owed else None,
        "net_apy": percent((earned - costs) // net) if net > 0 else None,
        "positions": rows,
        "overall_health_factor": None if worst is None else show_health(worst),
    }


def _row(chain: ChainReader, position: Position, ppms: tuple[int, ...]) -> dict[str, object]:
    return {
        "position": str(position.ref),
        "label": position.label,
        "is_simulated": SHELF.is_simulated(position.ref.protocol, position.ref.chain_id),
        "health_factor": None if position.health_bps is None else show_health(position.health_bps),
        "legs": [
            {
                "asset": leg.token,
                "symbol": (token := chain.token(leg.token)).symbol,
                "side": "supplied" if leg.raw > 0 else "owed",
                "amount": TokenAmount(abs(leg.raw), token),
                "value_usd": UsdAmount(worth(chain, leg.token, abs(leg.raw))),
                "apy": percent(ppm),
                "is_collateral": bool(leg.cover_bps),
            }
            for leg, ppm in zip(position.legs, ppms, strict=True)
        ],
    }


def _rate(market: LendingMarket, rate_type: str) -> int | None:
    if rate_type == "supply":
        return None if market.supply_room == 0 else market.supply_ppm
    has_room = market.liquidity > 0 and market.borrow_room != 0
    return market.borrow_ppm if has_room else None


def _describe(market: LendingMarket, ppm: int, token: TokenMeta, chain_id: int) -> dict[str, object]:
    return {
        "protocol": market.protocol,
        "is_simulated": SHELF.is_simulated(market.protocol, chain_id),
        "market": market.market,
        "label": market.label,
        "apy": percent(ppm),
        "tvl": TokenAmount(market.supplied, token),
        "utilization": percent(100 * market.utilization_bps),
        "available_liquidity": TokenAmount(market.liquidity, token),
    }


def _liquidation_price(chain: ChainReader, pair: LendingPair, health: int) -> dict[str, object]:
    """What the collateral may fall to at our feed, everything else standing still."""
    cover = pair.collateral_raw * pair.rate * pair.threshold_bps / 10_000
    missing = pair.debt_raw + pair.other_debt - pair.other_cover
    token = chain.token(pair.collateral)
    unit: int = 10**token.decimals
    now = worth(chain, pair.collateral, unit)
    price = int(now * missing / cover) if cover and missing > 0 else 0
    return {"asset": token.address, "symbol": token.symbol, "price_usd": UsdAmount(price), "now_usd": UsdAmount(now)}


def _time_left(pair: LendingPair, health: int) -> int | None:
    """Seconds until interest alone eats the room; None where it never does."""
    drift = pair.borrow_ppm - pair.supply_ppm
    if drift <= 0 or health <= 10_000:
        return 0 if health and health <= 10_000 else None
    return (health - 10_000) * 100 * YEAR_SECONDS // drift
