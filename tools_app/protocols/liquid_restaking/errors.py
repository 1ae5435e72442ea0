"""Defines why liquid restaking is refused."""

from __future__ import annotations

from tools_app.core.errors import GolemError, Recovery


class RestakingInputRefused(GolemError):
    """Issuers take the chain's coin here, and no other token. `data.takes` is its symbol."""

    code = "RESTAKING_INPUT_REFUSED"
    http_status = 422
    recovery = Recovery.FIX_PARAMS
    title = "That token is not taken for restaked ether"


class DepegRiskTooHigh(GolemError):
    """Nothing goes into a token whose market or whose way out is in trouble. `data.risk_factors` say what is."""

    code = "DEPEG_RISK_HIGH"
    http_status = 409
    recovery = Recovery.WAIT
    cleared_by = "the market's discount is small again, or the issuer's pause is over"
    title = "The token may be worth less than its ether"


class RestakingAmountRefused(GolemError):
    """The issuer takes no such amount: `data.least` or `data.most`, in base units."""

    code = "RESTAKING_AMOUNT_REFUSED"
    http_status = 422
    recovery = Recovery.FIX_PARAMS
    title = "The issuer takes no such amount"


class NothingPaidAtOnce(GolemError):
    """The issuer pays so much only after a wait. `data.at_once` is what it pays now; `data.market_eth` is what a sale
    on a market would bring, null where none trades it.
    """

    code = "RESTAKING_NOT_PAID_AT_ONCE"
    http_status = 409
    recovery = Recovery.FIX_PARAMS
    title = "The issuer does not pay so much at once"


class RestakingRequestUnknown(GolemError):
    """The account has no such request. `data.request_ids` are those it has."""

    code = "RESTAKING_REQUEST_UNKNOWN"
    http_status = 404
    recovery = Recovery.FIX_PARAMS
    title = "There is no such withdrawal request"


class RestakingRequestWaits(GolemError):
    """The request cannot be claimed yet; `data.resets_at` is when, null while nobody knows."""

    code = "RESTAKING_REQUEST_WAITS"
    http_status = 409
    recovery = Recovery.WAIT
    cleared_by = "the issuer pays the request"
    title = "The withdrawal request waits"
