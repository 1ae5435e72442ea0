"""Defines what speaks against a payment before it is signed."""

from __future__ import annotations

from tools_app.core.errors import GolemError, Recovery


class PaymentRefused(GolemError):
    """What is asked for is not what the agent said, or cannot be paid by a signature that is taken here."""

    code = "PAYMENT_TERMS_REFUSED"
    http_status = 422
    recovery = Recovery.FIX_PARAMS
    cleared_by = "terms that its reason names"
    title = "What is asked for is not what would be paid"


class PaymentSigned(GolemError):
    """It was signed before and may be settled any moment, or was settled. `data` has payment_id and what differs."""

    code = "PAYMENT_SIGNED_ALREADY"
    http_status = 409
    recovery = Recovery.CHECK_STATE
    cleared_by = "the end of the first payment, or another reference for a second one"
    title = "This payment was signed already"


class PaymentNeedsApproval(GolemError):
    """Permit2 may not take what would be paid. `data` has token, allowed, needed and the call that mends it."""

    code = "PAYMENT_NEEDS_APPROVAL"
    http_status = 422
    recovery = Recovery.FIX_PARAMS
    cleared_by = "x402_approve of at least that amount"
    title = "Permit2 may not take what would be paid"


class PaymentUnknown(GolemError):
    """This golem signed no such payment on this chain."""

    code = "PAYMENT_UNKNOWN"
    http_status = 404
    recovery = Recovery.FIX_PARAMS
    cleared_by = "a payment id that this golem's commit answered"
    title = "The golem signed no such payment"
