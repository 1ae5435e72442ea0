"""finish: from receipts to a verified outcome, in one transaction with ledger, events and audit.

What is not seen yet makes the permit UNKNOWN; the sweep looks again with the same hashes.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from functools import partial
from typing import TypeVar

from django.db import InterfaceError, OperationalError, transaction

from permits_app.execution import allowances, calls_with_lost_nonce, infer_outcome_from_balances, outcome
from permits_app.execution.action_profit import Profit, measure_profit
from permits_app.execution.actual_cost import value_spent
from permits_app.execution.allowances import LeftOver
from permits_app.execution.balance_evidence import EvidenceReading, read_evidence
from permits_app.execution.executor import ExecutedCalls
from permits_app.execution.infer_outcome_from_balances import Unexplained
from permits_app.execution.outcome import Judgement
from permits_app.execution.payload_states import advance, doubt_receipt
from permits_app.execution.receipt_balance_contradictions import find_doubt, is_over
from permits_app.execution.revert_reasons import read_revert_reason
from permits_app.limits import ledger, pending_requests
from permits_app.models import ActionPermit, OutcomeRecord
from permits_app.models.permit import PermitStatus
from permits_app.models.transaction import IN_A_BLOCK, PayloadPurpose, TransactionState
from permits_app.permits import lifecycle
from permits_app.permits.plan_store import decode_plan
from permits_app.permits.row_locks import lock_action
from permits_app.permits.venue_trust import note_outcome
from permits_app.safety.position_rules import by_prices_or_lender
from permits_app.safety.position_words import describe_moved
from tools_app.core import clock
from tools_app.core.errors import GolemError
from tools_app.core.single_row_sql import insert_rows
from tools_app.core.transaction_retry import retry_aborted
from tools_app.portfolio.remembered_positions import remember_positions
from tools_app.portfolio.share_price_donation_guard import forget_shares, note_shares
from tools_app.standards.receipts import read_report
from tools_app.toolkit.context import ChainReader
from tools_app.toolkit.plan import PlanOutcome, TxPlan
from tools_app.toolkit.positions import PositionRef
from tools_app.toolkit.protocol import SHELF
from tools_app.toolkit.result import ToolResult, encode_result
from tools_app.toolkit.tooldef import WriteTool
from tools_app.toolkit.views import ReceiptView

logger = logging.getLogger(__name__)

_MORE_LOOKS = 2
_PAUSE_SECONDS = 0.05
S = PermitStatus
S_TX = TransactionState
Told = TypeVar("Told")


def finish(*, permit: ActionPermit, tool: WriteTool | None, execution: ExecutedCalls) -> None:
    """Close the permit as COMMITTED or REVERTED when every call is seen or lost, else leave it UNKNOWN.

    `tool` is None for the runtime's own revocations, which report nothing but their outcome.
    """
    seen = [receipt for receipt in execution.receipts if receipt is not None]
    if not execution.is_complete and not calls_with_lost_nonce.end_what_is_lost(
        permit, execution.list_unseen(), now=clock.now()
    ):
        _leave_unknown(permit)
        return
    plan = decode_plan(permit)
    nothing = EvidenceReading(None, None, is_away=True)
    found = _guard(permit, "balances", lambda: read_evidence(permit=permit, plan=plan, receipts=seen), nothing)
    doubt = _guard(permit, "doubts", lambda: find_doubt(permit=permit, plan=plan, receipts=seen, found=found), "")
    unexplained = _read_unexplained(permit, plan, execution)
    if unexplained is not None and unexplained.changes is None:
        doubt = doubt or infer_outcome_from_balances.UNREADABLE
    if doubt and not is_over(permit, clock.now()):
        _look_again(permit, doubt)
        return
    try:
        _settle(permit, tool, plan, execution, found, doubt, unexplained)
    except (OperationalError, InterfaceError, GolemError):
        # The database is away, or another worker was first: nothing is decided yet.
        raise
    except Exception:
        logger.exception("permit %s is settled by its receipts alone", permit.pk)
        reason = "the outcome could not be judged: it says only what the receipts say"
        judgement = outcome.leave_unjudged(permit=permit, plan=plan, receipts=seen, reason=reason)
        judgement = _add_lost(permit, plan, execution, judgement, unexplained)
        over = allowances.assume_left(plan=plan, succeeded=judgement.succeeded, block_number=_last_block(seen))
        _close(permit, seen, judgement, _wrap(permit, tool, plan, seen, judgement, over, None), clock.now(), over, None)


def _look_at_newest_again(
    permit: ActionPermit, plan: TxPlan, receipts: Sequence[ReceiptView], found: EvidenceReading, judgement: Judgement
) -> tuple[EvidenceReading, Judgement]:
    """A local node that mines while it answers for its newest block may answer from the next one's state, and more than
    once: what such a block does not verify is read again.
    """
    for _ in range(_MORE_LOOKS):
        if judgement.is_verified or not judgement.succeeded or not found.is_newest:
            break
        time.sleep(_PAUSE_SECONDS)
        read = partial(read_evidence, permit=permit, plan=plan, receipts=receipts)
        again = _guard(permit, "balances", read, EvidenceReading(None, None, is_away=True))
        if again.is_away:
            break
        found = again
        judgement = outcome.judge_outcome(permit=permit, plan=plan, receipts=receipts, evidence=found.evidence)
    return found, judgement


def _settle(
    permit: ActionPermit,
    tool: WriteTool | None,
    plan: TxPlan,
    execution: ExecutedCalls,
    found: EvidenceReading,
    doubt: str,
    unexplained: Unexplained | None,
) -> None:
    """Judge, measure and close. What one of the witnesses makes impossible to say is a finding."""
    seen = [receipt for receipt in execution.receipts if receipt is not None]
    judgement = outcome.judge_outcome(permit=permit, plan=plan, receipts=seen, evidence=found.evidence)
    found, judgement = _look_at_newest_again(permit, plan, seen, found, judgement)
    chain = found.chain
    judgement = _add_lost(permit, plan, execution, judgement, unexplained)
    if not judgement.succeeded:
        why = _guard(permit, "revert reason", partial(read_revert_reason, permit=permit, receipts=seen), "")
        judgement = replace(judgement, revert_reason=why)
    over = _find_left_over(permit, plan, seen, judgement, chain)
    judgement = _add_findings(judgement, [*([doubt] if doubt else []), *over.describe_beyond()])
    told, problem = _report(permit, tool, plan, seen, judgement)
    judgement = _add_findings(judgement, [problem] if problem else [])
    block_time = _block_time(chain, seen)
    is_shared = found.evidence is not None and bool(found.evidence.changes_beside)
    measure = partial(
        measure_profit,
        permit=permit,
        tool=tool,
        plan=plan,
        succeeded=judgement.succeeded,
        deltas=judgement.deltas,
        moved=found.evidence.moved if found.evidence is not None else None,
        fee_wei=judgement.fee_wei,
        # Of what several permits made of positions nobody can say who earned what.
        chain=chain if judgement.is_coin_known and not judgement.unshown and not is_shared else None,
    )
    pnl = _guard(permit, "profit", measure, None)
    none: list[dict[str, object]] = []
    changes = _guard(permit, "changes", partial(_tell_changes, found), none)
    result = _wrap(permit, tool, plan, seen, judgement, over, told, changes)
    # Before the end, which is looked for again until it is there: where a position may be is not forgotten.
    _guard(permit, "positions", partial(_remember_positions, permit, plan, seen, found), None)
    _guard(permit, "shares", partial(_mark_shares, permit, found), None)
    _close(permit, seen, judgement, result, block_time, over, pnl, chain)


def _tell_changes(found: EvidenceReading) -> list[dict[str, object]]:
    """What positions were before and after, as a permit tells it of its simulation; nothing where nobody could look, or
    where other permits changed them in the same blocks.
    """
    evidence, chain = found.evidence, found.chain
    if evidence is None or chain is None or not evidence.moved or evidence.changes_beside:
        return []
    moved = evidence.moved
    return by_prices_or_lender(chain, lambda value_of: describe_moved(moved, chain=chain, value_of=value_of))


def _remember_positions(
    permit: ActionPermit, plan: TxPlan, receipts: Sequence[ReceiptView], found: EvidenceReading
) -> None:
    """Where the account may have positions now: what the plan names and what the receipts tell is the golem's own; what
    else was read moved beside it.
    """
    now = clock.now()
    own = {change.ref for change in plan.changes if change.ref is not None}
    logs = [log for receipt in receipts for log in receipt.logs]
    for protocol in SHELF.on(permit.chain_id):
        if protocol.positions is not None:
            own |= set(protocol.positions.born(logs, permit.account, permit.chain_id))
    remember_positions(account=permit.account, refs=own, now=now, is_own=True)
    if found.evidence is not None:
        beside = {each.ref for each in found.evidence.moved or () if each.after is not None} - own
        remember_positions(account=permit.account, refs=beside, now=now)


def _mark_shares(permit: ActionPermit, found: EvidenceReading) -> None:
    """What the shares that moved stood for right after, before anybody can have made them dearer unseen."""
    moved = found.evidence.moved if found.evidence is not None else None
    if not moved or found.chain is None:
        return
    kept = [each.after for each in moved if each.after is not None]
    left = [
        each.before.share_index.token
        for each in moved
        if each.after is None and each.before and each.before.share_index
    ]
    forget_shares(chain_id=permit.chain_id, account=permit.account, tokens=left)
    at = found.chain.block.timestamp
    note_shares(chain_id=permit.chain_id, account=permit.account, positions=kept, at=at)


def _guard(permit: ActionPermit, what: str, call: Callable[[], Told], otherwise: Told) -> Told:
    """What `call` says; `otherwise` where it raises, so that nothing a chain answers keeps a permit from its end."""
    try:
        return call()
    except (OperationalError, InterfaceError):
        raise
    except Exception:
        logger.exception("%s of permit %s could not be told", what, permit.pk)
        return otherwise


def _read_unexplained(permit: ActionPermit, plan: TxPlan, execution: ExecutedCalls) -> Unexplained | None:
    """What balances say of calls that no node showed; None where every call that may have left was seen."""
    lost = execution.list_unseen()
    may_have_left = permit.transactions.filter(
        purpose=PayloadPurpose.CALL, call_index__in=lost, broadcast_count__gt=0
    ).values_list("call_index", flat=True)
    left = sorted(set(may_have_left))
    if not left:
        return None
    read = partial(infer_outcome_from_balances.read_unexplained, permit, plan, left)
    return _guard(permit, "what nobody saw", read, Unexplained(None))


def _add_lost(
    permit: ActionPermit, plan: TxPlan, execution: ExecutedCalls, judgement: Judgement, unexplained: Unexplained | None
) -> Judgement:
    lost = execution.list_unseen()
    if not lost:
        return judgement
    fills = permit.transactions.filter(purpose=PayloadPurpose.FILL, state__in=IN_A_BLOCK)
    told = replace(
        judgement,
        fee_wei=judgement.fee_wei + sum(int(row.fee_wei or 0) for row in fills),
        findings=(*judgement.findings, *calls_with_lost_nonce.explain(permit, lost)),
    )
    if unexplained is None:
        return told
    has_receipts = len(lost) < len(permit.calls)
    return infer_outcome_from_balances.judge_unseen(told, plan=plan, found=unexplained, has_receipts=has_receipts)


def _find_left_over(
    permit: ActionPermit,
    plan: TxPlan,
    receipts: Sequence[ReceiptView],
    judgement: Judgement,
    chain: ChainReader | None,
) -> LeftOver:
    if not receipts:
        return LeftOver({}, {}, 0)
    last = _last_block(receipts)
    succeeded = judgement.succeeded
    assumed = allowances.assume_left(plan=plan, succeeded=succeeded, block_number=last)
    read = partial(allowances.read_left, permit=permit, plan=plan, succeeded=succeeded, block_number=last, chain=chain)
    return _guard(permit, "allowances", read, assumed)


def _add_findings(judgement: Judgement, more: Sequence[str]) -> Judgement:
    return replace(judgement, findings=(*judgement.findings, *more), is_verified=judgement.is_verified and not more)


def _last_block(receipts: Sequence[ReceiptView]) -> int:
    return max((receipt.block_number for receipt in receipts), default=0)


@retry_aborted
def _look_again(permit: ActionPermit, doubt: str) -> None:
    """Forget what was answered and leave it UNKNOWN: receipts and balances that contradict each other end nothing."""
    now = clock.now()
    logger.warning("permit %s is looked at again: %s", permit.pk, doubt)
    since = permit.doubted_at or now
    with transaction.atomic():
        lock_action(golem_id=permit.golem_id, permit_id=permit.pk)
        for row in permit.transactions.filter(purpose=PayloadPurpose.CALL, state__in=[S_TX.MINED, S_TX.REVERTED]):
            doubt_receipt(row)
        if permit.status == S.UNKNOWN:
            ActionPermit.objects.filter(pk=permit.pk).update(updated_at=now, doubted_at=since)
            return
        lifecycle.transition(
            permit_id=permit.pk,
            leaving=PermitStatus(permit.status),
            to=S.UNKNOWN,
            actor="system:worker",
            now=now,
            reason=f"{doubt}; it is looked at again until they agree",
            doubted_at=since,
        )


def _leave_unknown(permit: ActionPermit) -> None:
    for row in permit.transactions.filter(is_live=True, state=S_TX.BROADCAST):
        advance(row, S_TX.UNKNOWN)
    refusal = calls_with_lost_nonce.tell_refusal(permit)
    if permit.status == S.UNKNOWN:
        # The sweep takes the longest untouched first and leaves a pause between two looks.
        said = {"status_reason": refusal} if refusal and permit.cancel_asked_at is None else {}
        ActionPermit.objects.filter(pk=permit.pk).update(updated_at=clock.now(), **said)
        return
    lifecycle.transition(
        permit_id=permit.pk,
        leaving=S.COMMITTING,
        to=S.UNKNOWN,
        actor="system:worker",
        now=clock.now(),
        reason=refusal or "sent, but the outcome is not seen yet; it is looked up until it is",
    )


def _block_time(chain: ChainReader | None, receipts: Sequence[ReceiptView]) -> datetime:
    if chain is None or not receipts:
        return clock.now()
    return datetime.fromtimestamp(chain.block.timestamp, tz=UTC)


def _is_cancelled(permit: ActionPermit, receipts: Sequence[ReceiptView], judgement: Judgement) -> bool:
    """Whether it ended because something else took its nonce, and no call of its own reverted."""
    return not judgement.succeeded and len(receipts) < len(permit.calls) and all(each.succeeded for each in receipts)


def _report(
    permit: ActionPermit, tool: WriteTool | None, plan: TxPlan, receipts: Sequence[ReceiptView], judgement: Judgement
) -> tuple[object, str]:
    """What the tool tells of its own success, and a finding where it cannot."""
    if not judgement.succeeded or tool is None:
        return None, ""
    told = PlanOutcome(plan=plan, account=permit.account, receipts=tuple(receipts), deltas=judgement.deltas)
    silence = object()
    data = _guard(permit, "report", lambda: encode_result(read_report(tool, told)), silence)
    return (None, f"what {tool.name} did could not be read from the receipts") if data is silence else (data, "")


def _wrap(
    permit: ActionPermit,
    tool: WriteTool | None,
    plan: TxPlan,
    receipts: Sequence[ReceiptView],
    judgement: Judgement,
    over: LeftOver,
    data: object,
    changes: Sequence[Mapping[str, object]] = (),
) -> dict[str, object]:
    return ToolResult(
        data=data,
        is_error=not judgement.succeeded,
        schema_version=tool.schema_version if tool is not None else permit.schema_version,
        expected_outcome=permit.expected_outcome,
        actual_outcome={
            **outcome.describe_actual(judgement=judgement, plan=plan, receipts=receipts),
            **({"positions": list(changes)} if changes else {}),
            **({"allowances_left": left} if (left := over.describe()) else {}),
        },
        ground_truth_source=judgement.ground_truth_source,
    ).as_dict()


@retry_aborted
def _close(
    permit: ActionPermit,
    receipts: Sequence[ReceiptView],
    judgement: Judgement,
    result: dict[str, object],
    block_time: datetime,
    over: LeftOver,
    pnl: Profit | None,
    chain: ChainReader | None = None,
) -> None:
    claim = permit.spend_entry
    reserved = int(claim.reserved_micro_usd) if claim is not None else 0
    # What cannot be summed up counts as all that was reserved; feeds are asked before the transaction begins.
    sum_up = partial(value_spent, permit=permit, judgement=judgement, chain_native_decimals=18, chain=chain)
    spent = _guard(permit, "cost", sum_up, reserved)
    # What really left counts whatever was reserved; what may still be taken counts within the reservation.
    spent += min(max(0, reserved - spent), allowances.value_beyond(permit=permit, over=over))
    plan = decode_plan(permit)
    list_born = partial(pending_requests.list_born, plan=plan, account=permit.account, receipts=receipts)
    nothing: tuple[PositionRef, ...] = ()
    born = _guard(permit, "requests", list_born, nothing)
    now = clock.now()
    to = S.COMMITTED if judgement.succeeded else S.REVERTED
    leaving = PermitStatus(permit.status)
    with transaction.atomic():
        done = lifecycle.transition(
            permit_id=permit.pk,
            leaving=leaving,
            to=to,
            actor="system:worker",
            now=now,
            reason="" if judgement.is_verified else "; ".join(judgement.findings),
            finished_at=now,
            result=result,
            doubted_at=None,
            known=permit,
            data={
                "tx_hashes": [receipt.tx_hash for receipt in receipts],
                "is_verified": judgement.is_verified,
                "gas_used": judgement.gas_used,
                "fee_wei": str(judgement.fee_wei),
            },
        )
        if not done:
            return
        # After a rollback of the chain it stands beside what had been judged before.
        judged = OutcomeRecord(
            permit=permit,
            is_verified=judgement.is_verified,
            is_cancelled=_is_cancelled(permit, receipts, judgement),
            expected=permit.expected_outcome,
            actual=result["actual_outcome"],
            divergence_bps=judgement.divergence_bps,
            gas_expected=judgement.gas_expected,
            gas_used=judgement.gas_used,
            fee_wei=str(judgement.fee_wei),
            pnl_micro_usd=pnl.total if pnl is not None else None,
            pnl_parts=pnl.as_parts() if pnl is not None else {},
            ground_truth_source=judgement.ground_truth_source,
            findings=list(judgement.findings),
        )
        insert_rows(judged)
        note_outcome(
            permit=permit,
            succeeded=judgement.succeeded,
            is_verified=judgement.is_verified,
            divergence_bps=judgement.divergence_bps,
            is_first=claim is None or claim.life == 1,
            now=now,
        )
        if is_standing := bool(pending_requests.list_orders(born)):
            # What others may still carry out stays reserved until it ends.
            ledger.hold(permit_id=permit.pk, least_micro_usd=spent)
        else:
            cost = max(0, -pnl.slippage) if pnl is not None else None
            ledger.settle(permit_id=permit.pk, spent_micro_usd=spent, counted_at=block_time, cost_micro_usd=cost)
        allowances.note_left(permit=permit, over=over, counted_at=block_time)
        pending_requests.look_soon(permit=permit, now=now)
        pending_requests.open_requests(
            permit=permit,
            plan=plan,
            refs=born,
            block=_last_block(receipts),
            now=now,
            holds_micro_usd=spent if is_standing else 0,
        )
