"""Reserve the worst case of what was judged and open its permit, in one short transaction."""

from __future__ import annotations

from datetime import UTC, datetime
from uuid import UUID

from django.db import transaction

from archetypes_app.models import Golem
from permits_app.actions.request_change import request_permit_approval
from permits_app.approvals.safe_proposals import draft_plan
from permits_app.limits import ledger, received_rights
from permits_app.limits.policy import Policy
from permits_app.limits.trading_costs import measure_trade
from permits_app.models import ActionPermit
from permits_app.models.permit import PermitStatus
from permits_app.previews.judged_call import JudgedCall
from permits_app.previews.new_permit import make_permit
from permits_app.safety.hook import HookCall
from permits_app.safety.hooks.spending_limiter import counts_per_day
from tools_app.core import audit_log, event_bus
from tools_app.core.events import Event, EventType
from tools_app.core.transaction_retry import retry_aborted


@retry_aborted
def open_permit(
    *,
    golem: Golem,
    policy: Policy,
    judged: JudgedCall,
    action_hash: str,
    api_key_id: UUID | None,
    actor: str,
    now: datetime,
    why: str,
    wished_by: dict[str, object],
) -> ActionPermit:
    """Open the permit, or ask its owners where they have to agree first. Emits permit:created.

    Raises RateLimited, SpendingLimitExceeded, TradingCostsExceeded, TooManyChanges, RightNotReceived,
    RightLimitExceeded.
    """
    call = judged.call
    permit = make_permit(
        golem=golem, policy=policy, judged=judged, action_hash=action_hash, api_key_id=api_key_id, now=now
    )
    permit.wished_by = wished_by
    flows = call.plan.principals if call.plan else ()
    trade = measure_trade(plan=call.plan, value=call.value, venue=permit.venue, chain=call.chain)
    with transaction.atomic():
        uses = received_rights.claim(permit=permit, flows=flows, now=now, at=_moment(call, now)) if flows else []
        (head,) = ledger.reserve(
            permit=permit,
            value=call.value,
            counts_per_day=counts_per_day(call),
            heartbeat_tick=golem.heartbeat_tick,
            now=now,
            trade=trade,
            along=[audit_log.fill_lock(golem.pk)],
        )
        received_rights.note_uses(uses)
        facts = {
            "permit_id": str(permit.pk),
            "tool_name": permit.tool_name,
            "action_type": permit.action_type,
            "risk_tier": permit.risk_tier,
            "value_micro_usd": str(permit.value_micro_usd),
            "simulation_hash": permit.simulation_hash,
            "expires_at": permit.expires_at.isoformat(),
        }
        created = Event(EventType.PERMIT_CREATED, {**facts, "verdicts": list(permit.hook_decisions)})
        audit_log.append(
            golem_id=golem.pk,
            event="PermitCreated",
            actor=actor,
            data={
                **facts,
                "plan_hash": permit.plan_hash,
                "policy_hash": permit.policy_hash,
                **({"wished_by": wished_by} if wished_by else {}),
            },
            now=now,
            head=head,
            along=[event_bus.fill_events(golem_id=golem.pk, events=[created], now=now)],
        )
        if permit.status == PermitStatus.AWAITING_APPROVAL:
            request_permit_approval(
                permit=permit,
                actor=actor,
                now=now,
                why=why,
                safe_tx=draft_plan(permit, call.sent_by) if call.plan else None,
            )
    return permit


def _moment(call: HookCall, now: datetime) -> datetime:
    """When rights are used as their contracts count: by the chain's time, where that is ahead of ours."""
    block = call.chain.block.timestamp if call.chain is not None else 0
    return max(now, datetime.fromtimestamp(block, UTC))
