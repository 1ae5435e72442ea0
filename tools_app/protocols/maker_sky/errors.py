"""Defines what can be wrong with an action at Maker, each with the next step for its reader."""

from __future__ import annotations

from tools_app.core.errors import GolemError, Recovery


class VaultNotFound(GolemError):
    """No vault of this number belongs to the account; another's is answered alike."""

    code = "MAKER_VAULT_NOT_FOUND"
    http_status = 404
    recovery = Recovery.FIX_PARAMS
    title = "This account has no such Maker vault"


class DebtTooSmall(GolemError):
    """A vault owes nothing or at least `data.least` wads of DAI."""

    code = "MAKER_DEBT_TOO_SMALL"
    http_status = 422
    recovery = Recovery.FIX_PARAMS
    title = "A Maker vault cannot owe that little"


class PriceDisagrees(GolemError):
    """What Maker last wrote as the collateral's price is far from the price feeds; `data` has both."""

    code = "MAKER_PRICE_DISAGREES"
    http_status = 409
    recovery = Recovery.WAIT
    cleared_by = "somebody pokes Maker's price, or the price feeds agree with it again"
    title = "Maker's price cannot be relied on"
