"""Defines what can be wrong with a request to Curve."""

from __future__ import annotations

from tools_app.core.errors import GolemError, Recovery


class PoolNotFound(GolemError):
    """No known pool of Curve has this address; `data.pools` are those that are known."""

    code = "CURVE_POOL_NOT_FOUND"
    http_status = 404
    recovery = Recovery.FIX_PARAMS
    title = "That pool of Curve is not known"


class SlippageTooHigh(GolemError):
    """The pool would give less than asked: `data.expected` LP tokens or coins, `data.least` asked, both base units."""

    code = "CURVE_SLIPPAGE_TOO_HIGH"
    http_status = 409
    recovery = Recovery.FIX_PARAMS
    title = "The pool would keep too much"


class CoinOffPeg(GolemError):
    """The feeds of the pool's coins lie too far apart, or one has none; `data.apart_bps`, `data.most_bps`."""

    code = "CURVE_COIN_OFF_PEG"
    http_status = 409
    recovery = Recovery.WAIT
    cleared_by = "the feeds of the pool's coins lie within data.most_bps of each other"
    title = "A coin of the pool lost its peg"


class TooFewShares(GolemError):
    """The account holds fewer LP tokens than asked: `data.free` in the wallet, `data.staked` in the gauge."""

    code = "CURVE_LP_MISSING"
    http_status = 422
    recovery = Recovery.FIX_PARAMS
    title = "The account does not hold that many LP tokens there"


class NothingToClaim(GolemError):
    """The gauge has nothing for the account."""

    code = "CURVE_NOTHING_TO_CLAIM"
    http_status = 409
    recovery = Recovery.WAIT
    cleared_by = "rewards of the gauge"
    title = "There is no reward to claim"
