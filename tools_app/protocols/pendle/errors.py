"""Defines what can be wrong with a request to Pendle."""

from __future__ import annotations

from tools_app.core.errors import GolemError, Recovery


class MarketNotFound(GolemError):
    """No known market, or claim of one, has this address; `data.markets` are those that are known."""

    code = "PENDLE_MARKET_NOT_FOUND"
    http_status = 404
    recovery = Recovery.FIX_PARAMS
    title = "That market of Pendle is not known"


class ClaimsAreDue(GolemError):
    """The market is over since `data.expiry`: claims are redeemed, and nothing else is traded."""

    code = "PENDLE_MARKET_EXPIRED"
    http_status = 409
    recovery = Recovery.FIX_PARAMS
    cleared_by = "pendle_redeem, or pendle_remove_lp"
    title = "The market is over"


class YieldPaused(GolemError):
    """Whoever runs the yield behind the market paused it: its shares move nowhere, in or out."""

    code = "PENDLE_YIELD_PAUSED"
    http_status = 409
    recovery = Recovery.WAIT
    cleared_by = "the yield behind the market goes on"
    title = "The yield behind the market is paused"


class OracleNotReady(GolemError):
    """The market has no average price of `data.seconds` yet, so what is bought there could not be counted."""

    code = "PENDLE_ORACLE_NOT_READY"
    http_status = 409
    recovery = Recovery.WAIT
    cleared_by = "data.seconds after the market's observations were enlarged and somebody traded"
    title = "The market has no average price yet"


class WorseThanAverage(GolemError):
    """The market's price lies further from its average than the slippage allows: `data.off_bps`, `data.most_bps`."""

    code = "PENDLE_SLIPPAGE_TOO_HIGH"
    http_status = 409
    recovery = Recovery.FIX_PARAMS
    title = "The market would give too little"


class MarketRefuses(GolemError):
    """The market carries out no trade of that size."""

    code = "PENDLE_TRADE_IMPOSSIBLE"
    http_status = 409
    recovery = Recovery.FIX_PARAMS
    title = "The market does not carry that out"


class TooFewHeld(GolemError):
    """The account holds fewer of the market's tokens than asked: `data.held`, `data.asked`, both base units."""

    code = "PENDLE_TOKENS_MISSING"
    http_status = 422
    recovery = Recovery.FIX_PARAMS
    title = "The account does not hold that many"


class NothingToClaim(GolemError):
    """Yield tokens have earned nothing that is not paid, and no reward is owed."""

    code = "PENDLE_NOTHING_TO_CLAIM"
    http_status = 409
    recovery = Recovery.WAIT
    cleared_by = "interest on the yield tokens"
    title = "There is nothing to claim"


class OrderNeedsApproval(GolemError):
    """The limit router may not take what the order gives: `data` has token, allowed, needed, and the call to make."""

    code = "PENDLE_ORDER_NEEDS_APPROVAL"
    http_status = 422
    recovery = Recovery.FIX_PARAMS
    cleared_by = "pendle_approve_limit_orders of at least that amount"
    title = "Pendle's limit router may not take what the order gives"


class OrderRefused(GolemError):
    """The order's terms make no sense together, or outlive the market."""

    code = "PENDLE_ORDER_REFUSED"
    http_status = 422
    recovery = Recovery.FIX_PARAMS
    cleared_by = "terms that its reason names"
    title = "The limit order's terms cannot stand"


class OrderNotSigned(GolemError):
    """This golem signed no such order for Pendle on this chain."""

    code = "PENDLE_ORDER_UNKNOWN"
    http_status = 404
    recovery = Recovery.FIX_PARAMS
    cleared_by = "an order_hash that this golem's commit answered"
    title = "The golem signed no such limit order"


class OrderOver(GolemError):
    """Nobody fills the order any more: it was filled or taken back. `data.filled` is base units of what it gave."""

    code = "PENDLE_ORDER_OVER"
    http_status = 409
    recovery = Recovery.FIX_PARAMS
    title = "The limit order is over"
