"""What carrying a plan out may cost in gas: a limit for each call, and on rollups the fee for layer one."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from django.conf import settings

from permits_app.errors import PolicyChanged
from permits_app.models import ActionPermit
from tools_app.chain.node_errors import FeeTooLow
from tools_app.core.units import apply_bps_up
from tools_app.simulation.engine import CallOutcome
from tools_app.simulation.rollup_fee import estimate_l1_charges
from tools_app.toolkit.context import ChainReader
from tools_app.toolkit.plan import Call
from tools_app.toolkit.views import FeeQuote

# Where an engine tells only gas after refunds: a refund is at most a fifth of what was used before it (EIP-3529).
_REFUND_NUMERATOR, _REFUND_DENOMINATOR = 5, 4
# A write that changes nothing in a full slot takes 2,200 gas, one that fills an empty slot 22,100 (EIP-2929).
_SLOT_SET_ANEW = 20_000
# Not known before the commit; a nonce of three bytes is more than most accounts ever reach.
_LARGE_NONCE = 0xFF_FF_00


@dataclass(frozen=True, slots=True)
class GasBudget:
    """The most a plan's calls may burn. Limits in gas units by call, prices in wei per gas, fees in wei.

    `l1_fee_expected` is the oracle's own estimate, `l1_fee` the most that is kept for it. `l1_gas` is what layer one
    takes out of each limit now, before the call itself has any.
    """

    limits: tuple[int, ...]
    max_fee_per_gas: int
    l1_fee_expected: int = 0
    l1_fee: int = 0
    l1_gas: tuple[int, ...] = ()

    @property
    def wei(self) -> int:
        """Everything at its worst."""
        return sum(self.limits) * self.max_fee_per_gas + self.l1_fee


@dataclass(frozen=True, slots=True)
class Promised:
    """How a permit says its calls are signed: limits by call in gas units, prices in wei per gas."""

    gas_limits: tuple[int, ...]
    max_fee_per_gas: int
    max_priority_fee_per_gas: int


def read_promised(permit: ActionPermit) -> Promised | None:
    """What `permit` says; None for a write that sends nothing."""
    if not permit.calls:
        return None
    return Promised(
        gas_limits=tuple(int(call["gas_limit"]) for call in permit.calls),
        max_fee_per_gas=int(permit.max_fee_per_gas),
        max_priority_fee_per_gas=int(permit.max_priority_fee_per_gas),
    )


def budget_gas(*, chain: ChainReader, calls: Sequence[Call], outcomes: Sequence[CallOutcome]) -> GasBudget:
    """The budget of simulated `calls` at the fees of the reader's block. Raises what the reader raises.

    A rollup's charge gets the same margin as gas: its price moves from block to block and no field of a transaction
    caps it.
    """
    fees = chain.fees()
    limits = tuple(limit_gas(outcome) for outcome in outcomes)
    charges = estimate_l1_charges(
        chain,
        calls=calls,
        gas_limits=limits,
        nonce=_LARGE_NONCE,
        max_fee_per_gas=fees.max_fee,
        max_priority_fee_per_gas=fees.priority_fee,
    )
    expected = sum(charge.fee_wei for charge in charges)
    return GasBudget(
        limits=tuple(limit + _with_margin(charge.gas) for limit, charge in zip(limits, charges, strict=True)),
        max_fee_per_gas=fees.max_fee,
        l1_fee_expected=expected,
        l1_fee=_with_margin(expected),
        l1_gas=tuple(charge.gas for charge in charges),
    )


def list_l1_gas(*, chain: ChainReader, calls: Sequence[Call], limits: Sequence[int], fees: FeeQuote) -> tuple[int, ...]:
    """What layer one takes out of each limit now, in gas units. Raises what the reader raises."""
    charges = estimate_l1_charges(
        chain,
        calls=calls,
        gas_limits=limits,
        nonce=_LARGE_NONCE,
        max_fee_per_gas=fees.max_fee,
        max_priority_fee_per_gas=fees.priority_fee,
    )
    return tuple(charge.gas for charge in charges)


def check_gas_fits(
    *,
    permit: ActionPermit,
    chain: ChainReader,
    calls: Sequence[Call],
    outcomes: Sequence[CallOutcome],
    has_run_within: bool = False,
) -> None:
    """Whether a newer simulation of the permit's calls still fits what was kept for gas and for layer one.

    `has_run_within` is a simulation with exactly the permit's limits. Raises PolicyChanged, and what the reader raises.
    """
    limits = tuple(int(call["gas_limit"]) for call in permit.calls)
    charges = estimate_l1_charges(
        chain,
        calls=calls,
        gas_limits=limits,
        nonce=_LARGE_NONCE,
        max_fee_per_gas=int(permit.max_fee_per_gas),
        max_priority_fee_per_gas=int(permit.max_priority_fee_per_gas),
    )
    for call, limit, outcome, charge in zip(permit.calls, limits, outcomes, charges, strict=True):
        # A run within the very limits showed that they suffice; of any other run its peak must fit.
        need = 0 if has_run_within else peak_gas(outcome) + charge.gas
        if need > limit:
            raise PolicyChanged(
                f"{call['label']} now needs {need} gas, more than the {limit} it may use", permit_id=str(permit.pk)
            )
    fee, most = sum(charge.fee_wei for charge in charges), int(permit.expected_outcome.get("l1_fee_most_wei", 0))
    if fee > most:
        raise PolicyChanged(
            f"layer one now takes {fee} wei, more than the {most} kept for it", permit_id=str(permit.pk)
        )


def check_fee_fits(*, permit: ActionPermit, chain: ChainReader) -> None:
    """Whether the next block would take what the permit pays for gas. A permit that sends nothing pays nothing.

    Raises FeeTooLow, and what the reader raises.
    """
    base_fee, cap = chain.fees().base_fee, int(permit.max_fee_per_gas)
    if permit.calls and base_fee > cap:
        raise FeeTooLow(
            f"a unit of gas now costs {base_fee} wei, more than the {cap} wei that the permit may pay;"
            " nothing was signed, and a new preview is priced at the fees of now",
            permit_id=str(permit.pk),
            base_fee_wei=str(base_fee),
            max_fee_per_gas_wei=str(cap),
        )


def limit_gas(outcome: CallOutcome) -> int:
    """The gas limit to sign, in gas units: the peak with the margin, and at least with room for one slot set anew.

    A slot that was full when the call was simulated, such as an allowance or the balance of who receives, may be
    empty when it is mined.
    """
    peak = peak_gas(outcome)
    return max(_with_margin(peak), peak + _SLOT_SET_ANEW)


def peak_gas(outcome: CallOutcome) -> int:
    """What a limit must cover at least: gas before refunds, at its worst where it is not known."""
    if outcome.gas_before_refunds is not None:
        return outcome.gas_before_refunds
    return -(-outcome.gas_used * _REFUND_NUMERATOR // _REFUND_DENOMINATOR)


def _with_margin(amount: int) -> int:
    return apply_bps_up(amount, settings.GOLEM_GAS_LIMIT_MARGIN_BPS)
