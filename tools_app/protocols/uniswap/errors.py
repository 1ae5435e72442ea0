"""What can be wrong with a swap or a position, each with the next step for its reader."""

from __future__ import annotations

from tools_app.core.errors import GolemError, Recovery


class NoRoute(GolemError):
    """No pool leads from one token to the other, directly or through a hub token."""

    code = "ROUTING_NO_ROUTE"
    http_status = 422
    recovery = Recovery.FIX_PARAMS
    title = "No pool leads from this token to that one"


class RouteNotTaken(GolemError):
    """The route that was asked for does not exist, cannot take the amount, or gives less than the slippage allows."""

    code = "ROUTING_ROUTE_NOT_TAKEN"
    http_status = 422
    recovery = Recovery.FIX_PARAMS
    title = "The swap cannot go the way that was asked for"


class InsufficientLiquidity(GolemError):
    """Pools exist, but none can take this amount."""

    code = "ROUTING_INSUFFICIENT_LIQUIDITY"
    http_status = 422
    recovery = Recovery.FIX_PARAMS
    title = "The pools do not hold enough for this amount"


class AmountTooSmall(GolemError):
    """The amount is so small that nothing would come out."""

    code = "ROUTING_AMOUNT_TOO_SMALL"
    http_status = 422
    recovery = Recovery.FIX_PARAMS
    title = "Nothing would come out for this amount"


class SameToken(GolemError):
    """Both sides are one asset, or a coin and its wrapped form."""

    code = "ROUTING_SAME_TOKEN"
    http_status = 422
    recovery = Recovery.FIX_PARAMS
    title = "A swap needs two different tokens"


class TransferFeeUnknown(GolemError):
    """The token takes a fee on transfer that cannot be read from its contract, so no quote can be exact."""

    code = "ROUTING_TRANSFER_FEE_UNKNOWN"
    http_status = 422
    recovery = Recovery.GIVE_UP
    title = "The token's transfer fee cannot be read"


class PositionEmpty(GolemError):
    """The position holds nothing of what was asked for."""

    code = "POSITION_EMPTY"
    http_status = 409
    recovery = Recovery.CHECK_STATE
    title = "The position holds nothing to take out"


class InvalidRange(GolemError):
    """The price range is reversed, empty, or outside what a pool can have."""

    code = "INVALID_RANGE"
    http_status = 422
    recovery = Recovery.FIX_PARAMS
    title = "The price range is not a range"


class PositionStaked(GolemError):
    """The position lies at the staker of rewards, and comes back before anything else is done with it."""

    code = "POSITION_STAKED"
    http_status = 409
    recovery = Recovery.CHECK_STATE
    title = "The position is staked for rewards"


class IncentiveNotFound(GolemError):
    """No incentive is known for the position, or the one that was named does not run."""

    code = "INCENTIVE_NOT_FOUND"
    http_status = 422
    recovery = Recovery.FIX_PARAMS
    title = "No such incentive pays for this position"


class NoRewards(GolemError):
    """Nothing is owed for the positions that were asked about."""

    code = "NO_REWARDS"
    http_status = 409
    recovery = Recovery.WAIT
    cleared_by = "a staked position earns while the price is in its range"
    title = "There are no rewards to claim"


class RewardContractUnknown(GolemError):
    """The contract that was named pays no rewards that can be read here."""

    code = "REWARD_CONTRACT_UNKNOWN"
    http_status = 422
    recovery = Recovery.FIX_PARAMS
    title = "This contract of rewards is not known"


class ClaimNotListed(GolemError):
    """The list of claims does not have this claim under its root, or it was claimed already."""

    code = "CLAIM_NOT_LISTED"
    http_status = 422
    recovery = Recovery.FIX_PARAMS
    title = "The list of claims has no such claim"
