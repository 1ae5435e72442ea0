"""How much gas a call may use when it is signed, from what its simulation used."""

from __future__ import annotations

from django.conf import settings

from tools_app.simulation.engine import CallOutcome

# Where an engine tells only gas after refunds: a refund is at most a fifth of what was used before it (EIP-3529).
_REFUND_NUMERATOR, _REFUND_DENOMINATOR = 5, 4


def limit_gas(outcome: CallOutcome) -> int:
    """The gas limit to sign: gas before refunds, at its worst where unknown, with the margin, in gas units."""
    before_refunds = outcome.gas_before_refunds
    if before_refunds is None:
        before_refunds = -(-outcome.gas_used * _REFUND_NUMERATOR // _REFUND_DENOMINATOR)
    return -(-before_refunds * (10_000 + settings.GOLEM_GAS_LIMIT_MARGIN_BPS) // 10_000)
