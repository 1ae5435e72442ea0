"""What can be wrong with a swap or a position, each with the next step for its reader."""

from __future__ import annotations

from tools_app.core.errors import GolemError, Recovery


class NoRoute(
    GolemError,
    code="ROUTING_NO_ROUTE",
    status=422,
    recovery=Recovery.FIX_PARAMS,
    title="No pool leads from this token to that one",
):
    """No pool leads from one token to the other, directly or through a hub token."""


class RouteNotTaken(
    GolemError,
    code="ROUTING_ROUTE_NOT_TAKEN",
    status=422,
    recovery=Recovery.FIX_PARAMS,
    title="The swap cannot go the way that was asked for",
):
    """The route that was asked for does not exist, cannot take the amount, or gives less than the slippage allows."""


class InsufficientLiquidity(
    GolemError,
    code="ROUTING_INSUFFICIENT_LIQUIDITY",
    status=422,
    recovery=Recovery.FIX_PARAMS,
    title="The pools do not hold enough for this amount",
):
    """Pools exist, but none can take this amount."""


class AmountTooSmall(
    GolemError,
    code="ROUTING_AMOUNT_TOO_SMALL",
    status=422,
    recovery=Recovery.FIX_PARAMS,
    title="Nothing would come out for this amount",
):
    """The amount is so small that nothing would come out."""


class SameToken(
    GolemError,
    code="ROUTING_SAME_TOKEN",
    status=422,
    recovery=Recovery.FIX_PARAMS,
    title="A swap needs two different tokens",
):
    """Both sides are one asset, or a coin and its wrapped form."""


class TransferFeeUnknown(
    GolemError,
    code="ROUTING_TRANSFER_FEE_UNKNOWN",
    status=422,
    recovery=Recovery.GIVE_UP,
    title="The token's transfer fee cannot be read",
):
    """The token takes a fee on transfer that cannot be read from its contract, so no quote can be exact."""


class PositionEmpty(
    GolemError, status=409, recovery=Recovery.CHECK_STATE, title="The position holds nothing to take out"
):
    """The position holds nothing of what was asked for."""


class InvalidRange(GolemError, status=422, recovery=Recovery.FIX_PARAMS, title="The price range is not a range"):
    """The price range is reversed, empty, or outside what a pool can have."""


class PositionStaked(GolemError, status=409, recovery=Recovery.CHECK_STATE, title="The position is staked for rewards"):
    """The position lies at the staker of rewards, and comes back before anything else is done with it."""


class IncentiveNotFound(
    GolemError, status=422, recovery=Recovery.FIX_PARAMS, title="No such incentive pays for this position"
):
    """No incentive is known for the position, or the one that was named does not run."""


class NoRewards(
    GolemError,
    status=409,
    recovery=Recovery.WAIT,
    title="There are no rewards to claim",
    cleared_by="a staked position earns while the price is in its range",
):
    """Nothing is owed for the positions that were asked about."""


class RewardContractUnknown(
    GolemError, status=422, recovery=Recovery.FIX_PARAMS, title="This contract of rewards is not known"
):
    """The contract that was named pays no rewards that can be read here."""


class ClaimNotListed(
    GolemError, status=422, recovery=Recovery.FIX_PARAMS, title="The list of claims has no such claim"
):
    """The list of claims does not have this claim under its root, or it was claimed already."""
