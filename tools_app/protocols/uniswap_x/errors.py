"""What speaks against an order before it is signed."""

from __future__ import annotations

from tools_app.core.errors import GolemError, Recovery


class OrderNeedsApproval(GolemError):
    """Permit2 may not take what the order gives. `data` has token, allowed, needed and the call that mends it."""

    code = "ORDER_NEEDS_APPROVAL"
    http_status = 422
    recovery = Recovery.FIX_PARAMS
    cleared_by = "uniswap_approve_uniswapx of at least that amount"
    title = "Permit2 may not take what the order gives"


class OrderRefused(GolemError):
    """The order could not be filled as it is asked for, or its terms make no sense together."""

    code = "ORDER_TERMS_REFUSED"
    http_status = 422
    recovery = Recovery.FIX_PARAMS
    cleared_by = "terms that its reason names"
    title = "The order's terms cannot stand"


class OrderDeskMissing(GolemError):
    """Orders of this kind are co-signed where they are handed in, and no such place is set. `data` has chain_id."""

    code = "ORDER_DESK_MISSING"
    http_status = 503
    recovery = Recovery.ASK_OWNER
    cleared_by = "an operator who sets GOLEM_ORDER_DESKS, or a limit order"
    title = "Nobody co-signs orders on this chain"


class OrderUnknown(GolemError):
    """This golem signed no such order on this chain."""

    code = "ORDER_UNKNOWN"
    http_status = 404
    recovery = Recovery.FIX_PARAMS
    cleared_by = "an order hash or digest that this golem's commit answered"
    title = "The golem signed no such order"
