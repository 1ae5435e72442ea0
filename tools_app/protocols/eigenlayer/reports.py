"""Writes what the tools of EigenLayer answer, and what their reports read from events and balances."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from tools_app.core.clock import tell_unix_time
from tools_app.protocols.eigenlayer.math import first_free_block, free_at
from tools_app.protocols.eigenlayer.operators import OperatorSlash
from tools_app.protocols.eigenlayer.reads import ENTERED, PUT_IN
from tools_app.standards.receipts import list_events, read_details
from tools_app.toolkit.answer import OfChain, Told
from tools_app.toolkit.plan import PlanOutcome
from tools_app.toolkit.report import Report, all_received, seen
from tools_app.toolkit.result import TokenAmount


class DepositReport(Told):
    """What a deposit gave. `slashing_risk` is none, low or medium by what the operator serves and has lost."""

    shares_received: str
    strategy: str
    delegated_to: str | None
    slashing_risk: str


class DelegateReport(Report):
    """To whom everything is delegated now: shares by strategy, how many services it serves, slashes of 90 days."""

    operator: str
    delegated_shares: Mapping[str, str] = seen(lambda outcome: dict(outcome.plan.details["delegated_shares"]))
    avs_count: int
    slashing_history: tuple[Mapping[str, Any], ...]  # Any: JSON of an answer


class Queued(Told):
    """One withdrawal that went into the queue: free from that block on, about at that time; slashable until then."""

    withdrawal_root: str
    free_block: int
    completion_time: str


class LeaveReport(Told):
    """What leaving queued: the first withdrawal, and all of them. `operator` is the new one where there is one."""

    operator: str | None
    withdrawal_root: str | None
    completion_time: str | None
    withdrawals: tuple[Queued, ...]


class CompleteReport(Report):
    """What came into the wallet."""

    withdrawal_root: str
    tokens_received: tuple[TokenAmount, ...] = all_received()


class OperatorRow(Told):
    """One operator. Figures that no contract tells are null: `why_null` says why."""

    address: str
    name: str | None
    is_open: bool
    total_delegated_eth: str | None
    delegator_count: int | None
    avs_participation: tuple[str, ...]
    slashing_history: tuple[OperatorSlash, ...]
    slashing_risk: str
    commission_rate: str | None
    reputation_score: str | None


class Operators(OfChain):
    """Operators to whom somebody delegated within `days`, most delegated first."""

    operators: tuple[OperatorRow, ...]
    days: int
    why_null: str


class ServiceRow(Told):
    """One service; what no contract tells is null."""

    address: str
    metadata_uri: str
    operator_count: int
    name: str | None
    category: str | None
    tvl: str | None
    slash_conditions: str | None
    restaker_rewards: str | None


class Services(OfChain):
    """Services that described themselves within `days`, newest first."""

    avs_services: tuple[ServiceRow, ...]
    days: int
    why_null: str


class DepositRow(Told):
    """What is in one strategy: shares as deposited, as slashes left them, and what those are."""

    strategy: str
    token: str
    shares: str
    withdrawable_shares: str
    amount: TokenAmount
    eth_value: str | None


class WaitingRow(Told):
    """A withdrawal in the queue, and what it would give by the slashes until now."""

    withdrawal_root: str
    free_block: int
    completion_time: str
    is_free: bool
    gives: tuple[TokenAmount, ...]


class Held(OfChain):
    """All an account has at EigenLayer."""

    strategies: tuple[DepositRow, ...]
    delegated_to: str | None
    pending_withdrawals: tuple[WaitingRow, ...]
    delay_blocks: int
    points_earned: str | None
    why_null: str


@dataclass(frozen=True, slots=True)
class _DepositDetails:
    deposits: str
    strategy: str
    delegated_to: str | None
    slashing_risk: str


@dataclass(frozen=True, slots=True)
class _LeaveDetails:
    delegation: str
    delay_blocks: int
    now: int
    operator: str | None = None


def report_deposit(outcome: PlanOutcome) -> DepositReport:
    """Shares from the contract's own event."""
    details = read_details(_DepositDetails, outcome)
    told = list_events(outcome, PUT_IN, contract=details.deposits)
    return DepositReport(
        shares_received=str(sum(each.shares for each in told)),
        strategy=details.strategy,
        delegated_to=details.delegated_to,
        slashing_risk=details.slashing_risk,
    )


def report_leave(outcome: PlanOutcome) -> LeaveReport:
    """Roots and blocks from the contract's own events."""
    details = read_details(_LeaveDetails, outcome)
    queued = []
    for told in list_events(outcome, ENTERED, contract=details.delegation):
        start = told.withdrawal.start_block
        free = first_free_block(start, details.delay_blocks)
        at = free_at(free, block=start, now=details.now)
        queued.append(Queued("0x" + told.withdrawal_root.hex(), free, tell_unix_time(at)))
    first = queued[0] if queued else None
    return LeaveReport(
        operator=details.operator,
        withdrawal_root=first.withdrawal_root if first else None,
        completion_time=first.completion_time if first else None,
        withdrawals=tuple(queued),
    )
