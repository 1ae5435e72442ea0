"""Defines what can be wrong with a request to Curve."""

from __future__ import annotations

from tools_app.core.errors import GolemError, Recovery


class CurvePoolNotFound(
    GolemError,
    code="CURVE_POOL_NOT_FOUND",
    status=404,
    recovery=Recovery.FIX_PARAMS,
    title="That pool of Curve is not known",
):
    """No known pool of Curve has this address; `data.pools` are those that are known."""


class SlippageTooHigh(
    GolemError,
    code="CURVE_SLIPPAGE_TOO_HIGH",
    status=409,
    recovery=Recovery.FIX_PARAMS,
    title="The pool would keep too much",
):
    """The pool would give less than asked: `data.expected` LP tokens or coins, `data.least` asked, both base units."""


class CoinOffPeg(
    GolemError,
    code="CURVE_COIN_OFF_PEG",
    status=409,
    recovery=Recovery.WAIT,
    title="A coin of the pool lost its peg",
    cleared_by="the feeds of the pool's coins lie within data.most_bps of each other",
):
    """The feeds of the pool's coins lie too far apart, or one has none; `data.apart_bps`, `data.most_bps`."""


class TooFewShares(
    GolemError,
    code="CURVE_LP_MISSING",
    status=422,
    recovery=Recovery.FIX_PARAMS,
    title="The account does not hold that many LP tokens there",
):
    """The account holds fewer LP tokens than asked: `data.free` in the wallet, `data.staked` in the gauge."""


class NothingToClaim(
    GolemError,
    code="CURVE_NOTHING_TO_CLAIM",
    status=409,
    recovery=Recovery.WAIT,
    title="There is no reward to claim",
    cleared_by="rewards of the gauge",
):
    """The gauge has nothing for the account."""
