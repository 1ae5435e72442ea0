"""Finds what other permits of an account promised exactly for the same blocks.

Balances and positions tell what all of them did together. The coin that the others promised to spend is taken off, and
what they promised of positions stands beside what this one promised: the sum of the promises is held against the sum
of what happened.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from uuid import UUID

from permits_app.models import ActionPermit, OutboundTransaction
from permits_app.models.transaction import PayloadPurpose
from permits_app.permits.plan_store import decode_plan
from permits_app.permits.stored_calls import SentCall, read_signed_calls
from permits_app.policy_cage.contract import APPROVE
from tools_app.core.required_value import require
from tools_app.toolkit.plan import TxPlan
from tools_app.toolkit.positions import PositionChange
from tools_app.toolkit.views import ReceiptView

Mined = tuple[OutboundTransaction, ReceiptView]


@dataclass(frozen=True, slots=True)
class Beside:
    """The others together. `coin` is what they move of the account's coin, in wei and without fees, None where one of
    them promises no exact amount; `changes` is what they promise of positions.
    """

    coin: int | None = 0
    changes: tuple[PositionChange, ...] = ()

    def list_changes(self, protocols: frozenset[str]) -> tuple[PositionChange, ...]:
        """Those at these protocols."""
        return tuple(change for change in self.changes if change.protocol in protocols)


def read_beside(*, account: str, mined: Sequence[Mined]) -> Beside | None:
    """What the permits of `mined`, the account's other transactions in some blocks, were to do there.

    None where that cannot be told: a permit of which only a part lies in these blocks, or reverted after some of it
    ran, or one that acts for another account.
    """
    ran_of: dict[UUID, set[int]] = defaultdict(set)
    permits: dict[UUID, ActionPermit] = {}
    for row, receipt in mined:
        if receipt.succeeded and row.purpose == PayloadPurpose.CALL:
            permit = require(row.permit)
            permits[permit.pk] = permit
            ran_of[permit.pk].add(row.call_index)
    plans = []
    for key, ran in ran_of.items():
        permit = permits[key]
        wanted = {index for index, call in enumerate(read_signed_calls(permit)) if not _moves_nothing(call)}
        if not wanted & ran:
            continue
        if permit.account != account or not wanted <= ran:
            return None
        plans.append(decode_plan(permit))
    return _add_up(plans)


def _moves_nothing(call: SentCall) -> bool:
    """Of a plain approval: nothing moves and nothing is opened."""
    return call.value == 0 and call.data.startswith("0x" + APPROVE.hex())


def _add_up(plans: Sequence[TxPlan]) -> Beside:
    coins = [_read_coin(plan) for plan in plans]
    return Beside(
        None if None in coins else sum(coin for coin in coins if coin is not None),
        tuple(change for plan in plans for change in plan.changes),
    )


def _read_coin(plan: TxPlan) -> int | None:
    """Wei that a plan moves, when it says so to the last one; a plan that does not speak of the coin moves none."""
    spends = [flow for flow in plan.spends if flow.token.is_native]
    receives = [flow for flow in plan.receives if flow.token.is_native]
    if any(flow.expected != flow.bound for flow in (*spends, *receives)):
        return None
    return sum(flow.bound for flow in receives) - sum(flow.bound for flow in spends)
