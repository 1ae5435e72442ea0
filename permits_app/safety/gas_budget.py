"""How much gas a call may use when it is signed, from what its simulation used."""

from __future__ import annotations

from django.conf import settings

# The simulation tells gas after refunds, and a refund is at most a fifth of what was used before it (EIP-3529).
_REFUND_NUMERATOR, _REFUND_DENOMINATOR = 5, 4


def limit_gas(gas_used: int) -> int:
    """The gas limit to sign: gas before refunds at its worst, with the margin of the settings, in gas units."""
    before_refunds = -(-gas_used * _REFUND_NUMERATOR // _REFUND_DENOMINATOR)
    return -(-before_refunds * (10_000 + settings.GOLEM_GAS_LIMIT_MARGIN_BPS) // 10_000)
