"""Defines why staking or leaving is refused."""

from __future__ import annotations

from tools_app.core.errors import GolemError, Recovery


class InstantExitIsSale(
    GolemError,
    code="INSTANT_EXIT_IS_A_SALE",
    status=409,
    recovery=Recovery.FIX_PARAMS,
    title="sUSDe is not given back at once",
):
    """While exits cool down the contract gives nothing at once. `data.cooldown_seconds` is how long they cool down."""


class CooldownWouldRestart(
    GolemError, status=409, recovery=Recovery.FIX_PARAMS, title="What cools down already would have to wait again"
):
    """An earlier exit still cools down, and another starts the time of both anew. `data.cooling` waits until
    `data.cooldown_end`.
    """


class NothingCoolsDown(GolemError, status=404, recovery=Recovery.FIX_PARAMS, title="Nothing cools down"):
    """No exit of the account cools down."""


class CooldownNotOver(
    GolemError, status=409, recovery=Recovery.WAIT, title="The cooldown is not over", cleared_by="the cooldown is over"
):
    """What cools down can be had at `data.cooldown_end`."""


class StakerRestricted(GolemError, status=403, recovery=Recovery.GIVE_UP, title="Ethena has restricted this account"):
    """The issuer's compliance has shut the account out."""
