"""Defines what can be wrong with a request to Pendle."""

from __future__ import annotations

from tools_app.core.errors import GolemError, Recovery


class PendleMarketNotFound(
    GolemError,
    code="PENDLE_MARKET_NOT_FOUND",
    status=404,
    recovery=Recovery.FIX_PARAMS,
    title="That market of Pendle is not known",
):
    """No known market, or claim of one, has this address; `data.markets` are those that are known."""


class ClaimsAreDue(
    GolemError,
    code="PENDLE_MARKET_EXPIRED",
    status=409,
    recovery=Recovery.FIX_PARAMS,
    title="The market is over",
    cleared_by="pendle_redeem, or pendle_remove_lp",
):
    """The market is over since `data.expiry`: claims are redeemed, and nothing else is traded."""


class YieldPaused(
    GolemError,
    code="PENDLE_YIELD_PAUSED",
    status=409,
    recovery=Recovery.WAIT,
    title="The yield behind the market is paused",
    cleared_by="the yield behind the market goes on",
):
    """Whoever runs the yield behind the market paused it: its shares move nowhere, in or out."""


class OracleNotReady(
    GolemError,
    code="PENDLE_ORACLE_NOT_READY",
    status=409,
    recovery=Recovery.WAIT,
    title="The market has no average price yet",
    cleared_by="data.seconds after the market's observations were enlarged and somebody traded",
):
    """The market has no average price of `data.seconds` yet, so what is bought there could not be counted."""


class WorseThanAverage(
    GolemError,
    code="PENDLE_SLIPPAGE_TOO_HIGH",
    status=409,
    recovery=Recovery.FIX_PARAMS,
    title="The market would give too little",
):
    """The market's price lies further from its average than the slippage allows: `data.off_bps`, `data.most_bps`."""


class MarketRefuses(
    GolemError,
    code="PENDLE_TRADE_IMPOSSIBLE",
    status=409,
    recovery=Recovery.FIX_PARAMS,
    title="The market does not carry that out",
):
    """The market carries out no trade of that size."""


class TooFewHeld(
    GolemError,
    code="PENDLE_TOKENS_MISSING",
    status=422,
    recovery=Recovery.FIX_PARAMS,
    title="The account does not hold that many",
):
    """The account holds fewer of the market's tokens than asked: `data.held`, `data.asked`, both base units."""


class NothingToClaim(
    GolemError,
    code="PENDLE_NOTHING_TO_CLAIM",
    status=409,
    recovery=Recovery.WAIT,
    title="There is nothing to claim",
    cleared_by="interest on the yield tokens",
):
    """Yield tokens have earned nothing that is not paid, and no reward is owed."""


class OrderNeedsApproval(
    GolemError,
    code="PENDLE_ORDER_NEEDS_APPROVAL",
    status=422,
    recovery=Recovery.FIX_PARAMS,
    title="Pendle's limit router may not take what the order gives",
    cleared_by="pendle_approve_limit_orders of at least that amount",
):
    """The limit router may not take what the order gives: `data` has token, allowed, needed, and the call to make."""


class OrderRefused(
    GolemError,
    code="PENDLE_ORDER_REFUSED",
    status=422,
    recovery=Recovery.FIX_PARAMS,
    title="The limit order's terms cannot stand",
    cleared_by="terms that its reason names",
):
    """The order's terms make no sense together, or outlive the market."""


class OrderNotSigned(
    GolemError,
    code="PENDLE_ORDER_UNKNOWN",
    status=404,
    recovery=Recovery.FIX_PARAMS,
    title="The golem signed no such limit order",
    cleared_by="an order_hash that this golem's commit answered",
):
    """This golem signed no such order for Pendle on this chain."""


class OrderOver(
    GolemError, code="PENDLE_ORDER_OVER", status=409, recovery=Recovery.FIX_PARAMS, title="The limit order is over"
):
    """Nobody fills the order any more: it was filled or taken back. `data.filled` is base units of what it gave."""
