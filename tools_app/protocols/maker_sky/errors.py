"""Defines what can be wrong with an action at Maker, each with the next step for its reader."""

from __future__ import annotations

from tools_app.core.errors import GolemError, Recovery


class VaultNotFound(
    GolemError,
    code="MAKER_VAULT_NOT_FOUND",
    status=404,
    recovery=Recovery.FIX_PARAMS,
    title="This account has no such Maker vault",
):
    """No vault of this number belongs to the account; another's is answered alike."""


class DebtTooSmall(
    GolemError,
    code="MAKER_DEBT_TOO_SMALL",
    status=422,
    recovery=Recovery.FIX_PARAMS,
    title="A Maker vault cannot owe that little",
):
    """A vault owes nothing or at least `data.least` wads of DAI."""


class PriceDisagrees(
    GolemError,
    code="MAKER_PRICE_DISAGREES",
    status=409,
    recovery=Recovery.WAIT,
    title="Maker's price cannot be relied on",
    cleared_by="somebody pokes Maker's price, or the price feeds agree with it again",
):
    """What Maker last wrote as the collateral's price is far from the price feeds; `data` has both."""
