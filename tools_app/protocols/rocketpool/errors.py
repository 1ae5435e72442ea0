"""Defines what can be wrong with staking through Rocket Pool and leaving again, each with the next step for its
reader.
"""

from __future__ import annotations

from tools_app.core.errors import GolemError, Recovery


class DeploymentMoved(
    GolemError, status=409, recovery=Recovery.ASK_OWNER, title="The protocol has moved to other contracts"
):
    """The network was upgraded: another contract takes deposits than the one owners allowed."""


class DepositsDisabled(
    GolemError,
    status=409,
    recovery=Recovery.WAIT,
    title="The network takes no deposits now",
    cleared_by="the network enables deposits again",
):
    """The network takes no deposits now."""


class DepositRefused(
    GolemError,
    code="DEPOSIT_TOO_SMALL",
    status=422,
    recovery=Recovery.FIX_PARAMS,
    title="The network takes no deposit as small as that",
):
    """Below the least deposit. `data.least` is it, in wei."""


class DepositPoolFull(
    GolemError,
    status=409,
    recovery=Recovery.WAIT,
    title="The deposit pool does not take that much now",
    cleared_by="node operators take ether out of the pool, or a smaller amount",
):
    """The pool takes less than that at the moment. `data.remaining` is what it still takes, in wei."""


class DepositPoolDry(
    GolemError,
    status=409,
    recovery=Recovery.WAIT,
    title="There is not enough ether to burn that much against",
    cleared_by="deposits of others or validators that leave, or a smaller amount",
):
    """Not enough ether behind rETH to burn so much, and no market pays enough. `data.available` is wei that are."""
