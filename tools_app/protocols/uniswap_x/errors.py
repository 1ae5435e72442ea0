"""What speaks against an order before it is signed."""

from __future__ import annotations

from tools_app.core.errors import GolemError, Recovery


class OrderNeedsApproval(
    GolemError,
    status=422,
    recovery=Recovery.FIX_PARAMS,
    title="Permit2 may not take what the order gives",
    cleared_by="uniswap_approve_uniswapx of at least that amount",
):
    """Permit2 may not take what the order gives. `data` has token, allowed, needed and the call that mends it."""


class OrderRefused(
    GolemError,
    code="ORDER_TERMS_REFUSED",
    status=422,
    recovery=Recovery.FIX_PARAMS,
    title="The order's terms cannot stand",
    cleared_by="terms that its reason names",
):
    """The order could not be filled as it is asked for, or its terms make no sense together."""


class OrderDeskMissing(
    GolemError,
    status=503,
    recovery=Recovery.ASK_OWNER,
    title="Nobody co-signs orders on this chain",
    cleared_by="an operator who sets GOLEM_ORDER_DESKS, or a limit order",
):
    """Orders of this kind are co-signed where they are handed in, and no such place is set. `data` has chain_id."""


class OrderIsOver(
    GolemError,
    status=409,
    recovery=Recovery.CHECK_STATE,
    title="The order can no longer be filled",
    cleared_by="nothing: its nonce is used up",
):
    """Permit2 takes its nonce from nobody any more: it was filled, or cancelled. `data` has the nonce."""


class OrderUnknown(
    GolemError,
    status=404,
    recovery=Recovery.FIX_PARAMS,
    title="The golem signed no such order",
    cleared_by="an order hash or digest that this golem's commit answered",
):
    """This golem signed no such order on this chain."""
