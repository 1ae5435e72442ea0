"""Defines what can be wrong with staking through Rocket Pool and leaving again, each with the next step for its
reader.
"""

from __future__ import annotations

from tools_app.core.errors import GolemError, Recovery


class DeploymentMoved(GolemError):
    """The network was upgraded: another contract takes deposits than the one owners allowed."""

    code = "DEPLOYMENT_MOVED"
    http_status = 409
    recovery = Recovery.ASK_OWNER
    title = "The protocol has moved to other contracts"


class DepositsDisabled(GolemError):
    """The network takes no deposits now."""

    code = "DEPOSITS_DISABLED"
    http_status = 409
    recovery = Recovery.WAIT
    cleared_by = "the network enables deposits again"
    title = "The network takes no deposits now"


class DepositRefused(GolemError):
    """Below the least deposit. `data.least` is it, in wei."""

    code = "DEPOSIT_TOO_SMALL"
    http_status = 422
    recovery = Recovery.FIX_PARAMS
    title = "The network takes no deposit as small as that"


class DepositPoolFull(GolemError):
    """The pool takes less than that at the moment. `data.remaining` is what it still takes, in wei."""

    code = "DEPOSIT_POOL_FULL"
    http_status = 409
    recovery = Recovery.WAIT
    cleared_by = "node operators take ether out of the pool, or a smaller amount"
    title = "The deposit pool does not take that much now"


class DepositPoolDry(GolemError):
    """Not enough ether behind rETH to burn so much, and no market pays enough. `data.available` is wei that are."""

    code = "DEPOSIT_POOL_DRY"
    http_status = 409
    recovery = Recovery.WAIT
    cleared_by = "deposits of others or validators that leave, or a smaller amount"
    title = "There is not enough ether to burn that much against"
