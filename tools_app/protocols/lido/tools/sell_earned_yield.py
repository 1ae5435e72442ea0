"""`lido_harvest_yield`: sell what was earned since the last harvest, and nothing of what was put in."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Final

from tools_app.core.units import BPS, apply_bps_down, format_units
from tools_app.protocols.lido import plans
from tools_app.protocols.lido.addresses import deployment_on
from tools_app.protocols.lido.errors import NoSecondaryMarket, NothingToHarvest
from tools_app.protocols.lido.history import read_past
from tools_app.protocols.lido.math import measure_earned
from tools_app.protocols.lido.positions import WSTETH
from tools_app.protocols.lido.reads import read_staking
from tools_app.protocols.lido.tools.family import check_oracle, lido, rate_text, time_text
from tools_app.standards.erc20 import MOVED
from tools_app.standards.market_orders import find_swap
from tools_app.standards.receipts import list_events, read_details
from tools_app.toolkit.answer import Told
from tools_app.toolkit.context import ChainReader, WriteContext
from tools_app.toolkit.enums import ActionClass, RiskLayer, TickBudget
from tools_app.toolkit.params import OwnAccount, PercentWhole, RawAmount
from tools_app.toolkit.plan import PlanOutcome, TxPlan
from tools_app.toolkit.result import TokenAmount
from tools_app.toolkit.views import TokenMeta

INTO: Final = "USDC"
FAIR_BPS: Final = 9_800
"""What must arrive at least where nobody said: 98% of what feeds and the share's rate make it worth."""
_WIDEST_BPS: Final = 1_000
_LOOK_BACK_DAYS: Final = 90


class HarvestReport(Told):
    """What a harvest sold. `share_rate_delta_used` is the ETH by which a share grew over the time it was earned in."""

    wst_eth_sold: TokenAmount
    usdc_received: TokenAmount
    share_rate_delta_used: str
    harvest_date: str | None
    cumulative_yield_since_last_harvest: TokenAmount


@dataclass(frozen=True, slots=True)
class _HarvestDetails:
    wsteth: str
    share_rate_delta: str
    harvested_at: str | None
    earned: int


def report_harvest(outcome: PlanOutcome) -> HarvestReport:
    """What left, from the wrapped token's own events; what arrived, from balances."""
    details = read_details(_HarvestDetails, outcome)
    chain_id = outcome.plan.chain_id
    wsteth = TokenMeta(chain_id, details.wsteth, "wstETH", 18, "", is_registered=False)
    coin = TokenMeta(chain_id, "", "ETH", 18, "", is_registered=True)
    left = list_events(outcome, MOVED, contract=wsteth.address)
    got = outcome.plan.receives[0].token
    return HarvestReport(
        wst_eth_sold=TokenAmount(sum(each.value for each in left if each.from_ == outcome.account), wsteth),
        usdc_received=TokenAmount(outcome.deltas.get(got.address, 0), got),
        share_rate_delta_used=details.share_rate_delta,
        harvest_date=details.harvested_at,
        cumulative_yield_since_last_harvest=TokenAmount(details.earned, coin),
    )


@lido.write(
    risk=RiskLayer.BOUNDED,
    budget=TickBudget.SLOW,
    report=report_harvest,
    action_class=ActionClass.DECREASE_POSITION,
    snippet="harvest_yield at lido: sell the wstETH that was earned since the last harvest for USDC, and no principal.",
    guidelines=(
        "Compare the yield with gas and the market's discount; small harvests cost more than they bring.",
        "A loss since the last harvest is made good first: then there is nothing to harvest.",
    ),
)
def lido_harvest_yield(
    ctx: WriteContext,
    account: OwnAccount | None = None,
    harvest_pct: PercentWhole = 100,
    min_usdc_out: RawAmount | None = None,
) -> TxPlan:
    """Sell the yield earned with Lido for USDC, for operating reserves.

    Use when costs are due and yield has gathered. Yield is what the golem's shares grew by in the last 90 days, since
    the last time wstETH was sold. `min_usdc_out` is in base units of USDC; without it, 98% of what feeds say is fair.
    Does not sell principal, does not unwrap, and works for the golem's own account alone.
    """
    if account is not None and account != ctx.account:
        raise NothingToHarvest("only the golem's own yield can be harvested", account=account)
    reader = ctx.begin("Reading the past")
    at = deployment_on(reader)
    state = read_staking(reader, at, ctx.account)
    check_oracle(state.oracle)
    past = read_past(reader, at, ctx.account, days=_LOOK_BACK_DAYS)
    earned = measure_earned(shares_now=state.shares + state.wrapped, moves=past.moves, rebases=past.rebases)
    sold = state.pool.shares_of(max(0, earned.wei) * harvest_pct // 100)
    if not sold or state.wrapped < sold:
        raise NothingToHarvest(
            f"{format_units(max(0, earned.wei), 18, 'ETH')} was earned since the last harvest and "
            f"{format_units(state.wrapped, 18, 'wstETH')} is held, which is the form that is sold",
            earned=str(earned.wei),
            wrapped=str(state.wrapped),
        )
    ctx.step("Asking markets")
    into = reader.token(INTO)
    ether = state.pool.ether_of(sold)
    least = min_usdc_out if min_usdc_out is not None else _fair(reader, ether, into) * FAIR_BPS // BPS
    plan = _sell(ctx, reader, wsteth=at.wsteth, into=into, amount=sold, least=least)
    ctx.step("Building calls")
    change = plans.shrinks(reader.chain_id, WSTETH, ether, pool=state.pool, in_shares=True)
    return replace(
        plan,
        # What leaves is a claim on the pool, told as a change of the position and not as a token of its own.
        spends=(),
        changes=(*plan.changes, change),
        action_class=ActionClass.DECREASE_POSITION,
        details={
            **plan.details,
            "venue": "lido",
            "wsteth": at.wsteth,
            "amount": str(sold),
            "amount_units": format_units(sold, 18, "wstETH"),
            "earned": str(earned.wei),
            "share_rate": rate_text(state.pool.rate),
            "share_rate_delta": rate_text(earned.rate_delta),
            "harvested_at": time_text(reader.block.timestamp),
            "least_usdc": str(least),
        },
    )


def _fair(reader: ChainReader, ether: int, into: TokenMeta) -> int:
    """Base units of `into` that so many wei are worth by the feeds. Raises PriceUnavailable, PriceStale."""
    coin, dollar = reader.price(reader.native()), reader.price(into)
    above = ether * coin.answer * 10 ** (dollar.decimals + into.decimals)
    return int(above // (dollar.answer * 10 ** (coin.decimals + 18)))


def _slippage_of(expected: int, least: int) -> int:
    """Basis points that `least` is below what is expected, rounded down; never more than a tenth."""
    return min(_WIDEST_BPS, (expected - least) * BPS // expected)


def _sell(ctx: WriteContext, reader: ChainReader, *, wsteth: str, into: TokenMeta, amount: int, least: int) -> TxPlan:
    """The best market's plan with exactly `least` as what must arrive, as near as a slippage in basis points says."""
    found = find_swap(ctx, chain_id=reader.chain_id, sold=wsteth, bought=into.address, amount=amount, slippage_bps=0)
    if found is None or found.receives[0].expected < least:
        offered = "none" if found is None else format_units(found.receives[0].expected, into.decimals, into.symbol)
        raise NoSecondaryMarket(
            f"at least {format_units(least, into.decimals, into.symbol)} is asked for"
            f" {format_units(amount, 18, 'wstETH')}, and the best offer is {offered}",
            least=str(least),
            offered=None if found is None else str(found.receives[0].expected),
        )
    expected = found.receives[0].expected
    slippage = _slippage_of(expected, least)
    plan = find_swap(
        ctx, chain_id=reader.chain_id, sold=wsteth, bought=into.address, amount=amount, slippage_bps=slippage
    )
    if plan is None or plan.receives[0].bound < min(least, apply_bps_down(expected, slippage)):
        raise NoSecondaryMarket("the market's offer went away while it was asked", least=str(least))
    return plan
