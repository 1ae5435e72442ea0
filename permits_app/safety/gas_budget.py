"""What carrying a plan out may cost in gas: a limit for each call, and on rollups the fee for layer one."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from django.conf import settings

from permits_app.errors import PolicyChanged
from permits_app.models import ActionPermit
from tools_app.core.units import apply_bps_up
from tools_app.simulation.engine import CallOutcome
from tools_app.simulation.rollup_fee import estimate_l1_charges
from tools_app.toolkit.context import ChainReader
from tools_app.toolkit.plan import Call

# Where an engine tells only gas after refunds: a refund is at most a fifth of what was used before it (EIP-3529).
_REFUND_NUMERATOR, _REFUND_DENOMINATOR = 5, 4
# Not known before the commit; a nonce of three bytes is more than most accounts ever reach.
_LARGE_NONCE = 0xFF_FF_00


@dataclass(frozen=True, slots=True)
class GasBudget:
    """The most a plan's calls may burn. Limits in gas units by call, prices in wei per gas, fees in wei.

    `l1_fee_expected` is the oracle's own estimate, `l1_fee` the most that is kept for it.
    """

    limits: tuple[int, ...]
    max_fee_per_gas: int
    l1_fee_expected: int = 0
    l1_fee: int = 0

    @property
    def wei(self) -> int:
        """Everything at its worst."""
        return sum(self.limits) * self.max_fee_per_gas + self.l1_fee


def budget_gas(*, chain: ChainReader, calls: Sequence[Call], outcomes: Sequence[CallOutcome]) -> GasBudget:
    """The budget of simulated `calls` at the fees of the reader's block. Raises what the reader raises.

    A rollup's charge gets the same margin as gas: its price moves from block to block and no field of a transaction
    caps it.
    """
    fees = chain.fees()
    limits = tuple(limit_gas(outcome) for outcome in outcomes)
    charges = estimate_l1_charges(
        chain, calls=calls, gas_limits=limits, nonce=_LARGE_NONCE, max_fee_per_gas=fees.max_fee,
        max_priority_fee_per_gas=fees.priority_fee,
    )  # fmt: skip
    expected = sum(charge.fee_wei for charge in charges)
    return GasBudget(
        limits=tuple(limit + _with_margin(charge.gas) for limit, charge in zip(limits, charges, strict=True)),
        max_fee_per_gas=fees.max_fee,
        l1_fee_expected=expected,
        l1_fee=_with_margin(expected),
    )


def check_gas_fits(
    *, permit: ActionPermit, chain: ChainReader, calls: Sequence[Call], outcomes: Sequence[CallOutcome]
) -> None:
    """Whether a newer simulation of the permit's calls still fits what was kept for gas and for layer one.

    Raises PolicyChanged, and what the reader raises.
    """
    limits = tuple(int(call["gas_limit"]) for call in permit.calls)
    charges = estimate_l1_charges(
        chain, calls=calls, gas_limits=limits, nonce=_LARGE_NONCE, max_fee_per_gas=int(permit.max_fee_per_gas),
        max_priority_fee_per_gas=int(permit.max_priority_fee_per_gas),
    )  # fmt: skip
    for call, limit, outcome, charge in zip(permit.calls, limits, outcomes, charges, strict=True):
        if outcome.gas_used + charge.gas > limit:
            raise PolicyChanged(
                f"{call['label']} now needs {outcome.gas_used + charge.gas} gas, more than the {limit} it may use",
                permit_id=str(permit.pk),
            )
    fee, most = sum(charge.fee_wei for charge in charges), int(permit.expected_outcome.get("l1_fee_most_wei", 0))
    if fee > most:
        raise PolicyChanged(
            f"layer one now takes {fee} wei, more than the {most} kept for it", permit_id=str(permit.pk)
        )


def limit_gas(outcome: CallOutcome) -> int:
    """The gas limit to sign: gas before refunds, at its worst where unknown, with the margin, in gas units."""
    before_refunds = outcome.gas_before_refunds
    if before_refunds is None:
        before_refunds = -(-outcome.gas_used * _REFUND_NUMERATOR // _REFUND_DENOMINATOR)
    return _with_margin(before_refunds)


def _with_margin(amount: int) -> int:
    return apply_bps_up(amount, settings.GOLEM_GAS_LIMIT_MARGIN_BPS)
