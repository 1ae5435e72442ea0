"""Defines what speaks against a payment before it is signed."""

from __future__ import annotations

from tools_app.core.errors import GolemError, Recovery


class PaymentRefused(
    GolemError,
    code="PAYMENT_TERMS_REFUSED",
    status=422,
    recovery=Recovery.FIX_PARAMS,
    title="What is asked for is not what would be paid",
    cleared_by="terms that its reason names",
):
    """What is asked for is not what the agent said, or cannot be paid by a signature that is taken here."""


class PaymentSigned(
    GolemError,
    code="PAYMENT_SIGNED_ALREADY",
    status=409,
    recovery=Recovery.CHECK_STATE,
    title="This payment was signed already",
    cleared_by="the end of the first payment, or another reference for a second one",
):
    """It was signed before and may be settled any moment, or was settled. `data` has payment_id and what differs."""


class PaymentNeedsApproval(
    GolemError,
    status=422,
    recovery=Recovery.FIX_PARAMS,
    title="Permit2 may not take what would be paid",
    cleared_by="x402_approve of at least that amount",
):
    """Permit2 may not take what would be paid. `data` has token, allowed, needed and the call that mends it."""


class PaymentUnknown(
    GolemError,
    status=404,
    recovery=Recovery.FIX_PARAMS,
    title="The golem signed no such payment",
    cleared_by="a payment id that this golem's commit answered",
):
    """This golem signed no such payment on this chain."""
