"""Judges by balances what became of calls that no node shows.

Read from the block the permit was judged at to the newest one. What other transactions of the account explain is taken
off; what is left of what the plan spends counts as spent by it, whoever took its nonce.
"""

from __future__ import annotations

import logging
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final

from django.db.models import Q

from permits_app.execution import confirm_transaction, payload_delivery, user_operations
from permits_app.execution.balance_evidence import list_expected, read_balances, sum_transfers
from permits_app.execution.outcome import Judgement
from permits_app.execution.payload_states import decode_receipt
from permits_app.models import ActionPermit, OutboundTransaction
from permits_app.models.transaction import IN_A_BLOCK, UNSETTLED, PayloadPurpose
from tools_app import runner
from tools_app.core import clock
from tools_app.core.clock import Deadline
from tools_app.core.errors import GolemError
from tools_app.toolkit.plan import TxPlan
from tools_app.toolkit.views import NATIVE, ReceiptView

logger = logging.getLogger(__name__)

_READ_BUDGET_MS: Final = 5_000
UNREADABLE: Final = "what became of its calls is shown by no block, and the balances could not be read"


@dataclass(frozen=True, slots=True)
class Unexplained:
    """By how much the account's holdings changed that nothing known explains, base units by token; None where nobody
    could read it. `is_coin_told` is off where other transactions may have moved the chain's coin unseen.
    """

    changes: Mapping[str, int] | None
    since_block: int = 0
    is_coin_told: bool = True


def read_unexplained(permit: ActionPermit, plan: TxPlan, lost: Sequence[int]) -> Unexplained:
    """Never raises for what a node answers."""
    if not permit.block_number:
        return Unexplained(None)
    now, deadline = clock.now(), Deadline.after_ms(_READ_BUDGET_MS)
    tokens = dict.fromkeys((*(token.address for token in plan.tokens if not token.is_native), *list_expected(permit)))
    holdings = [(permit.account, token) for token in tokens if token != NATIVE]
    try:
        after = runner.open_reader(permit.chain_id, now=now, deadline=deadline)
        before = runner.open_reader(
            permit.chain_id, now=now, deadline=deadline, block=after.block_at(permit.block_number)
        )
        was = read_balances(chain=before, permit=permit, holdings=holdings)
        held = read_balances(chain=after, permit=permit, holdings=holdings)
        own = _list_own(permit, first=permit.block_number + 1, last=after.block.number, deadline=deadline)
        strangers = _find_takers(permit, lost, deadline)
    except GolemError as error:
        logger.warning("balances around permit %s unread: %s", permit.pk, error.code)
        return Unexplained(None)
    told = sum_transfers(
        receipts=[*(receipt for _, receipt in own), *(each.receipt for each in strangers)], account=permit.account
    )
    changes = {
        token: held[permit.account, token] - was[permit.account, token] - told.moved.get(token, 0)
        for token in tokens
        if (permit.account, token) in held and (permit.account, token) in was
    }
    if permit.signer == permit.account:
        spent = sum(receipt.fee for _, receipt in own if not receipt.paid_by)
        spent += sum(each.receipt.fee + each.value for each in strangers)
        changes[NATIVE] = held[permit.account, NATIVE] - was[permit.account, NATIVE] + spent
    is_coin_told = all(row.purpose == PayloadPurpose.FILL or row.permit_id == permit.pk for row, _ in own)
    # What an operation of somebody else sent along is told by no receipt.
    is_coin_told = is_coin_told and not (permit.sends_operation and strangers)
    return Unexplained(changes, permit.block_number, is_coin_told)


def judge_unseen(judgement: Judgement, *, plan: TxPlan, found: Unexplained, has_receipts: bool) -> Judgement:
    """The judgement with what the balances say of calls that nobody saw."""
    if found.changes is None:
        return replace(
            judgement,
            findings=(*judgement.findings, f"{UNREADABLE}: all that was reserved for it counts as spent"),
            unshown=frozenset(flow.token.address for flow in plan.spends),
            is_coin_known=False,
            is_fee_known=False,
        )
    left = {
        flow.token.address: -change
        for flow in plan.spends
        if (change := found.changes.get(flow.token.address, 0)) < 0 and (not flow.token.is_native or found.is_coin_told)
    }
    if not left:
        return judgement
    symbols = {token.address: token.symbol for token in plan.tokens} | {NATIVE: "the chain's coin"}
    findings = [
        f"{symbols[token]}: {raw} left the account since block {found.since_block} and no transaction that a node shows"
        " explains it; it counts as spent"
        for token, raw in left.items()
    ]
    was_carried_out = not has_receipts and _was_carried_out(plan, found.changes)
    if was_carried_out:
        findings.append("the balances show that it was carried out, although no node shows its transactions")
    deltas = dict(judgement.deltas)
    for token, change in found.changes.items():
        if token in left or (was_carried_out and token != NATIVE and change):
            deltas[token] = deltas.get(token, 0) + change
    return replace(
        judgement,
        succeeded=judgement.succeeded or was_carried_out,
        deltas=deltas,
        findings=(*judgement.findings, *findings),
        ground_truth_source="balance_check",
        is_fee_known=False,
    )


def _was_carried_out(plan: TxPlan, changes: Mapping[str, int]) -> bool:
    """Whether everything the plan spends left, within its bounds, and everything it promises arrived."""
    if not plan.spends or not plan.receives:
        return False
    has_left = all(0 < -changes.get(flow.token.address, 0) <= flow.bound for flow in plan.spends)
    return has_left and all(changes.get(flow.token.address, 0) >= flow.bound for flow in plan.receives)


def _list_own(
    permit: ActionPermit, *, first: int, last: int, deadline: Deadline
) -> list[tuple[OutboundTransaction, ReceiptView]]:
    """What this server sent for the account and a block of these holds, written down or not. Raises the node errors."""
    rows = OutboundTransaction.objects.filter(
        Q(sender=permit.signer) | Q(sender=permit.account) | Q(permit__acts_for=permit.account),
        chain_id=permit.chain_id,
    )
    in_blocks = rows.filter(
        state__in=[str(state) for state in IN_A_BLOCK], block_number__gte=first, block_number__lte=last
    )
    found = [(row, decode_receipt(row.receipt)) for row in in_blocks if row.receipt]
    under_way: dict[tuple[str, int], list[OutboundTransaction]] = {}
    for row in rows.filter(broadcast_count__gt=0, state__in=[str(state) for state in UNSETTLED]).order_by("nonce"):
        under_way.setdefault((row.sender, row.nonce), []).append(row)
    mined = payload_delivery.look(list(under_way.values()), deadline=deadline) if under_way else []
    found += [each for each in mined if each is not None and first <= each[1].block_number <= last]
    return found


def _find_takers(permit: ActionPermit, lost: Iterable[int], deadline: Deadline) -> list[confirm_transaction.Taker]:
    """The transactions of others, or their operations, that took the nonces of the lost calls, as far as a node shows
    them.
    """
    rows = list(permit.transactions.filter(call_index__in=list(lost)))
    nonces = {row.nonce for row in rows}
    same = {
        row.tx_hash
        for row in OutboundTransaction.objects.filter(chain_id=permit.chain_id, sender=permit.signer, nonce__in=nonces)
    }
    if permit.sends_operation:
        by_nonce = {row.nonce: row for row in rows}
        receipts = (user_operations.find_taker(row, ours=same, deadline=deadline) for row in by_nonce.values())
        return [confirm_transaction.Taker(receipt, 0) for receipt in receipts if receipt is not None]
    found = (
        confirm_transaction.find_taker(
            chain_id=permit.chain_id,
            sender=permit.signer,
            nonce=nonce,
            tx_hashes=same,
            since_block=permit.block_number,
            deadline=deadline,
        )
        for nonce in nonces
    )
    return [each for each in found if each is not None]
