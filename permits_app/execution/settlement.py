"""finish: from receipts to a verified outcome, in one transaction with ledger, events and audit.

What is not seen yet makes the permit UNKNOWN; the sweep looks again with the same hashes.
Seed: decisions, "Permits" (UNKNOWN); 002, "OutcomeRecord".
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

from django.db import transaction
from django.db.models import Q

from permits_app import ledger, lifecycle
from permits_app.execution import allowances, delivery, outcome
from permits_app.execution.allowances import LeftOver
from permits_app.execution.executor import Execution
from permits_app.execution.outcome import Judgement
from permits_app.execution.profit import measure_profit
from permits_app.execution.transaction_lives import advance
from permits_app.models import ActionPermit, OutboundTransaction, OutcomeRecord
from permits_app.models.permit import PermitStatus
from permits_app.models.transaction import IN_A_BLOCK, UNSETTLED, PayloadPurpose, TransactionState
from permits_app.plan_store import decode_plan
from permits_app.policy_cage import safe_tx
from permits_app.venue_trust import note_outcome
from tools_app import runner
from tools_app.chain.node_errors import RpcNonsense
from tools_app.core import clock
from tools_app.core.clock import Deadline
from tools_app.core.errors import GolemError
from tools_app.standards.user_operation import read_next_nonce
from tools_app.toolkit.context import ChainReader
from tools_app.toolkit.plan import PlanOutcome, TxPlan
from tools_app.toolkit.result import ToolResult, encode_result
from tools_app.toolkit.tooldef import WriteTool
from tools_app.toolkit.views import ReceiptView

logger = logging.getLogger(__name__)

_READ_BUDGET_MS = 5_000
_MOST_READINGS = 6
S = PermitStatus
S_TX = TransactionState
_IN_FLIGHT = [str(state) for state in UNSETTLED]


def finish(*, permit: ActionPermit, tool: WriteTool | None, execution: Execution) -> None:
    """Close the permit as COMMITTED or REVERTED when every call is seen or lost, else leave it UNKNOWN.

    `tool` is None for the runtime's own revocations, which report nothing but their outcome.
    """
    seen = [receipt for receipt in execution.receipts if receipt is not None]
    if not execution.is_complete and not _is_hopeless(permit, execution):
        _leave_unknown(permit)
        return
    plan = decode_plan(permit)
    balances, chain = _read_around(permit, plan, seen)
    judgement = outcome.judge_outcome(permit=permit, plan=plan, receipts=seen, balances=balances)
    judgement = _add_lost(permit, execution, judgement)
    over = _find_left_over(permit, plan, seen, judgement, chain)
    judgement = _add_left_over(judgement, over)
    result = _report(permit, tool, plan, seen, judgement, over)
    block_time = _block_time(chain, seen)
    pnl = measure_profit(
        permit=permit, tool=tool, succeeded=judgement.succeeded, deltas=judgement.deltas, fee_wei=judgement.fee_wei,
        chain=chain if judgement.is_coin_known else None,
    )  # fmt: skip
    _close(permit, seen, judgement, result, block_time, over, pnl)


def _is_hopeless(permit: ActionPermit, execution: Execution) -> bool:
    """Whether every unseen call can never be mined: its nonce was used by another transaction."""
    unseen = [index for index, receipt in enumerate(execution.receipts) if receipt is None]
    calls = permit.transactions.filter(purpose=PayloadPurpose.CALL, call_index__in=unseen)
    waiting = [row for row in calls if row.state != S_TX.DROPPED]
    if not waiting:
        return True
    deadline = Deadline.after_ms(_READ_BUDGET_MS)
    try:
        mined = delivery.read_used_nonce(
            chain_id=permit.chain_id, address=permit.signer, is_of_operations=permit.sends_operation, deadline=deadline
        )
        lost = [row for row in waiting if row.nonce < mined and not delivery.is_known(row, deadline=deadline)]
    except GolemError:
        return False
    dropped = [row for row in lost if advance(row, S_TX.DROPPED)]
    return len(dropped) == len(waiting)


def _add_lost(permit: ActionPermit, execution: Execution, judgement: Judgement) -> Judgement:
    lost = [index for index, receipt in enumerate(execution.receipts) if receipt is None]
    if not lost:
        return judgement
    fills = permit.transactions.filter(purpose=PayloadPurpose.FILL, state__in=IN_A_BLOCK)
    return replace(
        judgement,
        fee_wei=judgement.fee_wei + sum(int(row.fee_wei or 0) for row in fills),
        findings=(
            *judgement.findings,
            *(f"call {index + 1} will never run: its nonce was used by another transaction" for index in lost),
        ),
    )


def _find_left_over(
    permit: ActionPermit,
    plan: TxPlan,
    receipts: Sequence[ReceiptView],
    judgement: Judgement,
    chain: ChainReader | None,
) -> LeftOver:
    if not receipts:
        return LeftOver({}, {}, 0)
    last = max(receipt.block_number for receipt in receipts)
    return allowances.read_left(permit=permit, plan=plan, succeeded=judgement.succeeded, block_number=last, chain=chain)


def _add_left_over(judgement: Judgement, over: LeftOver) -> Judgement:
    beyond = over.describe_beyond()
    return replace(judgement, findings=(*judgement.findings, *beyond), is_verified=judgement.is_verified and not beyond)


def _leave_unknown(permit: ActionPermit) -> None:
    for row in permit.transactions.filter(is_live=True, state=S_TX.BROADCAST):
        advance(row, S_TX.UNKNOWN)
    if permit.status == S.UNKNOWN:
        # The sweep takes the longest untouched first and leaves a pause between two looks.
        ActionPermit.objects.filter(pk=permit.pk).update(updated_at=clock.now())
        return
    lifecycle.transition(
        permit_id=permit.pk, leaving=S.COMMITTING, to=S.UNKNOWN, actor="system:worker", now=clock.now(),
        reason="sent, but the outcome is not seen yet; it is looked up until it is",
    )  # fmt: skip


def _read_around(
    permit: ActionPermit, plan: TxPlan, receipts: Sequence[ReceiptView]
) -> tuple[tuple[Mapping[str, int], Mapping[str, int]] | None, ChainReader | None]:
    """Balances before the first and after the last block of the receipts; None when no node tells them."""
    if not receipts:
        return None, None
    first = min(receipt.block_number for receipt in receipts)
    last = max(receipt.block_number for receipt in receipts)
    now = clock.now()
    deadline = Deadline.after_ms(_READ_BUDGET_MS)
    try:
        head = runner.open_reader(permit.chain_id, now=now, deadline=deadline)

        def open_at(number: int) -> ChainReader:
            return runner.open_reader(permit.chain_id, now=now, deadline=deadline, block=head.block_at(number))

        after_chain, before_chain = open_at(last), open_at(first - 1)
        if _shares_blocks(permit, first, last, before=before_chain, after=after_chain, count=len(receipts)):
            return None, after_chain
        before = outcome.read_balances(chain=before_chain, permit=permit, tokens=plan.tokens)
        if head.block.number > last:
            after = outcome.read_balances(chain=after_chain, permit=permit, tokens=plan.tokens)
        else:
            after = _read_settled(lambda: open_at(last), permit, plan)
    except GolemError as error:
        logger.warning("balances around permit %s unread: %s", permit.pk, error.code)
        return None, None
    return (before, after), after_chain


def _read_settled(open_reader: Callable[[], ChainReader], permit: ActionPermit, plan: TxPlan) -> dict[str, int]:
    """Balances after the node's newest block. Raises RpcNonsense when no two readings agree.

    A local node that mines while it answers for its newest block may answer with the next one's state. A reader keeps
    what it read, hence a new one each time.
    """
    found: dict[str, int] | None = None
    for _ in range(_MOST_READINGS):
        again = outcome.read_balances(chain=open_reader(), permit=permit, tokens=plan.tokens)
        if again == found:
            return again
        found = again
    raise RpcNonsense("the node's answers about one block do not agree")


def _shares_blocks(
    permit: ActionPermit, first: int, last: int, *, before: ChainReader, after: ChainReader, count: int
) -> bool:
    """Whether another transaction of the account lies in these blocks; then balances say nothing about one permit."""
    others = OutboundTransaction.objects.filter(chain_id=permit.chain_id, sender=permit.signer).exclude(permit=permit)
    is_there = Q(block_number__range=(first, last))
    # One that was sent and whose receipt is not written down yet may lie there too: the chain's own count decides.
    may_be_there = Q(broadcast_count__gt=0, state__in=_IN_FLIGHT)
    # An owner's transaction of the Safe moves its funds too, and no row of ours tells of it.
    if permit.sends_operation:
        # The EntryPoint counts whatever the account's key signed, here or elsewhere.
        told = [read_next_nonce(chain, permit.signer) for chain in (before, after)]
        return told[1] - told[0] != count
    if permit.acts_for and _safe_nonce(after, permit) - _safe_nonce(before, permit) != _count_of_safe(permit):
        return True
    # Both in one statement: a receipt written between two would be in neither.
    found = set(others.filter(is_there | may_be_there).values_list("block_number", flat=True))
    if not found:
        return False
    if any(number is not None and first <= number <= last for number in found):
        return True
    return after.mined_nonce(permit.signer) - before.mined_nonce(permit.signer) != count


def _count_of_safe(permit: ActionPermit) -> int:
    """How many nonces of the Safe the permit itself uses: a cage acts as its module and uses none."""
    return sum(bool(call["to"] == permit.acts_for) for call in permit.calls)


def _safe_nonce(chain: ChainReader, permit: ActionPermit) -> int:
    [nonce] = chain.call(permit.acts_for, safe_tx.NONCE)
    return int(nonce)


def _block_time(chain: ChainReader | None, receipts: Sequence[ReceiptView]) -> datetime:
    if chain is None or not receipts:
        return clock.now()
    return datetime.fromtimestamp(chain.block.timestamp, tz=UTC)


def _report(
    permit: ActionPermit,
    tool: WriteTool | None,
    plan: TxPlan,
    receipts: Sequence[ReceiptView],
    judgement: Judgement,
    over: LeftOver,
) -> dict[str, Any]:
    data: Any = None
    if judgement.succeeded and tool is not None:
        told = PlanOutcome(plan=plan, account=permit.account, receipts=tuple(receipts), deltas=judgement.deltas)
        data = encode_result(tool.report(told))
    return ToolResult(
        data=data,
        is_error=not judgement.succeeded,
        schema_version=tool.schema_version if tool is not None else permit.schema_version,
        expected_outcome=permit.expected_outcome,
        actual_outcome={
            **outcome.describe_actual(judgement=judgement, plan=plan, receipts=receipts),
            **({"allowances_left": left} if (left := over.describe()) else {}),
        },
        ground_truth_source=judgement.ground_truth_source,
    ).as_dict()


def _close(
    permit: ActionPermit,
    receipts: Sequence[ReceiptView],
    judgement: Judgement,
    result: dict[str, Any],
    block_time: datetime,
    over: LeftOver,
    pnl: int | None,
) -> None:
    now = clock.now()
    to = S.COMMITTED if judgement.succeeded else S.REVERTED
    leaving = PermitStatus(permit.status)
    with transaction.atomic():
        done = lifecycle.transition(
            permit_id=permit.pk, leaving=leaving, to=to, actor="system:worker", now=now,
            reason="" if judgement.is_verified else "; ".join(judgement.findings),
            finished_at=now, result=result,
            data={"tx_hashes": [receipt.tx_hash for receipt in receipts], "is_verified": judgement.is_verified,
                  "gas_used": judgement.gas_used, "fee_wei": str(judgement.fee_wei)},
        )  # fmt: skip
        if not done:
            return
        # After a reorganisation the outcome is judged again, and the new judgement replaces the old one.
        judged = {
            "is_verified": judgement.is_verified,
            "expected": permit.expected_outcome,
            "actual": result["actual_outcome"],
            "divergence_bps": judgement.divergence_bps,
            "gas_expected": judgement.gas_expected,
            "gas_used": judgement.gas_used,
            "fee_wei": str(judgement.fee_wei),
            "pnl_micro_usd": pnl,
            "ground_truth_source": judgement.ground_truth_source,
            "findings": list(judgement.findings),
        }
        OutcomeRecord.objects.bulk_create(
            [OutcomeRecord(permit=permit, **judged)], update_conflicts=True, unique_fields=["permit"],
            update_fields=[*judged, "updated_at"],
        )  # fmt: skip
        note_outcome(
            permit=permit, succeeded=judgement.succeeded, is_verified=judgement.is_verified,
            divergence_bps=judgement.divergence_bps, now=now,
        )  # fmt: skip
        spent = outcome.value_spent(permit=permit, judgement=judgement, chain_native_decimals=18)
        spent += allowances.value_beyond(permit=permit, over=over)
        ledger.settle(permit_id=permit.pk, spent_micro_usd=spent, counted_at=block_time)
        allowances.note_left(permit=permit, over=over, counted_at=block_time)
