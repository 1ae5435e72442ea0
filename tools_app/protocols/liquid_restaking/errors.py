"""Defines why liquid restaking is refused."""

from __future__ import annotations

from tools_app.core.errors import GolemError, Recovery


class RestakingInputRefused(
    GolemError, status=422, recovery=Recovery.FIX_PARAMS, title="That token is not taken for restaked ether"
):
    """Issuers take the chain's coin here, and no other token. `data.takes` is its symbol."""


class DepegRiskTooHigh(
    GolemError,
    code="DEPEG_RISK_HIGH",
    status=409,
    recovery=Recovery.WAIT,
    title="The token may be worth less than its ether",
    cleared_by="the market's discount is small again, or the issuer's pause is over",
):
    """Nothing goes into a token whose market or whose way out is in trouble. `data.risk_factors` say what is."""


class RestakingAmountRefused(
    GolemError, status=422, recovery=Recovery.FIX_PARAMS, title="The issuer takes no such amount"
):
    """The issuer takes no such amount: `data.least` or `data.most`, in base units."""


class NothingPaidAtOnce(
    GolemError,
    code="RESTAKING_NOT_PAID_AT_ONCE",
    status=409,
    recovery=Recovery.FIX_PARAMS,
    title="The issuer does not pay so much at once",
):
    """The issuer pays so much only after a wait. `data.at_once` is what it pays now; `data.market_eth` is what a sale
    on a market would bring, null where none trades it.
    """


class RestakingRequestUnknown(
    GolemError, status=404, recovery=Recovery.FIX_PARAMS, title="There is no such withdrawal request"
):
    """The account has no such request. `data.request_ids` are those it has."""


class RestakingRequestWaits(
    GolemError,
    status=409,
    recovery=Recovery.WAIT,
    title="The withdrawal request waits",
    cleared_by="the issuer pays the request",
):
    """The request cannot be claimed yet; `data.resets_at` is when, null while nobody knows."""
