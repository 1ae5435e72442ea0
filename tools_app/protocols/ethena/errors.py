"""Defines why staking or leaving is refused."""

from __future__ import annotations

from tools_app.core.errors import GolemError, Recovery


class InstantExitIsSale(GolemError):
    """While exits cool down the contract gives nothing at once. `data.cooldown_seconds` is how long they cool down."""

    code = "INSTANT_EXIT_IS_A_SALE"
    http_status = 409
    recovery = Recovery.FIX_PARAMS
    title = "sUSDe is not given back at once"


class CooldownWouldRestart(GolemError):
    """An earlier exit still cools down, and another starts the time of both anew. `data.cooling` waits until
    `data.cooldown_end`.
    """

    code = "COOLDOWN_WOULD_RESTART"
    http_status = 409
    recovery = Recovery.FIX_PARAMS
    title = "What cools down already would have to wait again"


class NothingCoolsDown(GolemError):
    """No exit of the account cools down."""

    code = "NOTHING_COOLS_DOWN"
    http_status = 404
    recovery = Recovery.FIX_PARAMS
    title = "Nothing cools down"


class CooldownNotOver(GolemError):
    """What cools down can be had at `data.cooldown_end`."""

    code = "COOLDOWN_NOT_OVER"
    http_status = 409
    recovery = Recovery.WAIT
    cleared_by = "the cooldown is over"
    title = "The cooldown is not over"


class StakerRestricted(GolemError):
    """The issuer's compliance has shut the account out."""

    code = "STAKER_RESTRICTED"
    http_status = 403
    recovery = Recovery.GIVE_UP
    title = "Ethena has restricted this account"
