"""Writes what the tools of Pendle tell of a plan that was mined."""

from __future__ import annotations

from dataclasses import dataclass

from tools_app.core.units import format_units
from tools_app.protocols.pendle.plan_parts import percent
from tools_app.standards import erc20
from tools_app.standards.receipts import list_events, read_details
from tools_app.toolkit.answer import Told
from tools_app.toolkit.plan import PlanOutcome
from tools_app.toolkit.report import Report, seen
from tools_app.toolkit.result import TokenAmount


@dataclass(frozen=True, slots=True)
class _OfMarket:
    market: str
    pt: str
    yt: str
    asset: str


@dataclass(frozen=True, slots=True)
class _TradeDetails(_OfMarket):
    amount: int
    implied_apy: str


@dataclass(frozen=True, slots=True)
class _BuyDetails(_TradeDetails):
    maturity: int
    days_to_maturity: int
    spot_price: str


class BoughtPt(Told):
    """Claims that were bought. Rates are yearly percent; `discount` is percent under what a claim is due, and
    `spot_price` what a claim cost in the market before.
    """

    pt_received: str
    pt_address: str
    underlying: str
    maturity: int
    days_to_maturity: int
    implied_apy: str
    discount: str
    spot_price: str


class SoldPt(Told):
    """Claims that were sold. `pnl_vs_par` is percent of what they would have been due, below 0 where less came."""

    underlying_received: TokenAmount
    pnl_vs_par: str
    implied_apy: str


class BoughtYt(Told):
    """Yield tokens that were bought. `leverage` is of how many assets each asset paid earns the yield."""

    yt_received: str
    yt_address: str
    implied_yield: str
    leverage: str
    maturity: int


class SoldYt(Report):
    """Yield tokens that were sold. What they were bought for is not on the chain: `pnl_vs_entry` is null."""

    underlying_received: TokenAmount = seen(lambda outcome: _asset_delta(outcome))
    pnl_vs_entry: None = None
    untold: str = "pnl_vs_entry: what was paid is not on the chain"


class AddedLp(Report):
    """A part of the market. What fees and rewards bring in a year no contract tells: `apy` is null."""

    lp_received: str = seen(lambda outcome: str(_received(outcome, read_details(_OfMarket, outcome).market)))
    sy_deposited: str
    pt_deposited: str
    apy: None = None
    untold: str = "apy: no contract tells what fees and rewards bring in a year"


class RemovedLp(Report):
    """What a part of the market gave: shares, which were paid as their asset, and claims."""

    sy_received: str
    pt_received: str = seen(lambda outcome: str(_received(outcome, read_details(_OfMarket, outcome).pt)))
    underlying_value: TokenAmount = seen(lambda outcome: _asset_delta(outcome))


class Redeemed(Told):
    """What came. When claims were bought is not on the chain: `realized_apy` is null."""

    underlying_received: TokenAmount | None
    reward_received: TokenAmount | None
    realized_apy: None
    untold: str


def _received(outcome: PlanOutcome, token: str) -> int:
    moved = list_events(outcome, erc20.MOVED, contract=token)
    return sum(each.value for each in moved if each.to == outcome.account)


def _asset_delta(outcome: PlanOutcome) -> TokenAmount:
    flow = outcome.plan.receives[0]
    return TokenAmount(outcome.deltas.get(flow.token.address, 0), flow.token)


def report_buy_pt(outcome: PlanOutcome) -> BoughtPt:
    """Claims from their own transfers; rates as they were when it was planned."""
    details = read_details(_BuyDetails, outcome)
    got, paid = _received(outcome, details.pt), details.amount
    return BoughtPt(
        pt_received=str(got),
        pt_address=details.pt,
        underlying=details.asset,
        maturity=details.maturity,
        days_to_maturity=details.days_to_maturity,
        implied_apy=details.implied_apy,
        discount=percent(got - paid, got),
        spot_price=details.spot_price,
    )


def report_sell_pt(outcome: PlanOutcome) -> SoldPt:
    """What came from balances."""
    details, came = read_details(_TradeDetails, outcome), _asset_delta(outcome)
    return SoldPt(came, percent(came.raw - details.amount, details.amount), details.implied_apy)


def report_buy_yt(outcome: PlanOutcome) -> BoughtYt:
    """Yield tokens from their own transfers."""
    details = read_details(_BuyDetails, outcome)
    got = _received(outcome, details.yt)
    leverage = format_units(got * 100 // details.amount, 2)
    return BoughtYt(str(got), details.yt, details.implied_apy, leverage, details.maturity)


def report_redeem(outcome: PlanOutcome) -> Redeemed:
    """What came from balances."""
    (flow,) = outcome.plan.receives
    came = TokenAmount(outcome.deltas.get(flow.token.address, 0), flow.token)
    is_asset = flow.token.symbol == read_details(_OfMarket, outcome).asset
    untold = "realized_apy: when they were bought is not on the chain"
    return Redeemed(came if is_asset else None, None if is_asset else came, None, untold)
