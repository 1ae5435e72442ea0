"""What a golem leaves behind: audit entries, events, episodes, playbooks, phases."""

from __future__ import annotations

import uuid
from typing import Any

from archetypes_app.models import Golem, PhaseTransition
from memory_app.models import Directive, DreamJournal, Episode, Execution, Insight, Strategy
from tests.factories.recorded import recorded
from tools_app.core import audit_log, clock, event_bus
from tools_app.core.events import Event, EventType
from tools_app.core.models import AuditEntry, OutboxEvent


def make_audit_entry(*, golem: Golem, event: str = "PermitCreated", data: dict[str, Any] | None = None) -> AuditEntry:
    """One link of the golem's chain."""
    return audit_log.append(golem_id=golem.pk, event=event, actor="system:test", data=data or {}, now=clock.now())


def make_event(*, golem: Golem, kind: EventType = EventType.POLICY_VIOLATION) -> OutboxEvent:
    """One event in the outbox."""
    event_bus.emit(golem_id=golem.pk, event=Event(kind, {"reason": "made by a test"}), now=clock.now())
    return OutboxEvent.objects.filter(golem_id=golem.pk).latest("sequence")


def make_episode(
    *, golem: Golem, permit_id: uuid.UUID | None = None, summary: str | None = None, account: str = ""
) -> Episode:
    """An episode without a vector; one of a permit says what a real one says."""
    now = clock.now()
    told: dict[str, Any] = {}
    if permit_id is not None:
        names = ("params", "prediction", "outcome", "reflection")
        told = {name: recorded(Episode, name, account=account or golem.address) for name in names}
        told |= {"recorded_permit_id": permit_id, "recorded_tool": "uniswap_execute_swap", "scanned_at": now}
        told |= {"block_number": 1_205, "prediction_error_bps": 0}
    return Episode.objects.create(
        golem=golem,
        permit_id=permit_id,
        chain_id=golem.home_chain_id,
        tool_name="uniswap_execute_swap",
        action_type="swap",
        venue="uniswap",
        tokens=["USDC", "WETH"],
        summary=summary or "swap at uniswap with USDC and WETH: -500 USDC, +0.186712 WETH; went as predicted",
        stability_days=7,
        last_accessed_at=now,
        occurred_at=now,
        recorded_by="system:test",
        content_hash="0x" + uuid.uuid4().hex * 2,
        search_text="swap uniswap usdc weth",
        **told,
    )


def make_directive(*, golem: Golem, version: int = 1) -> Directive:
    """One version of a playbook."""
    return Directive.objects.create(
        golem=golem,
        version=version,
        section="Sizing",
        text="## Sizing\nHalf of what seems right.\n",
        diff="+## Sizing\n+Half of what seems right.\n",
        reason="two losses in a row",
        actor="system:test",
        created_at=clock.now(),
    )


def make_phase_transition(*, golem: Golem) -> PhaseTransition:
    """One change of phase."""
    return PhaseTransition.objects.create(
        golem=golem,
        from_phase="THRIVING",
        to_phase="CAUTIOUS",
        reason="v fell to 0.6",
        actor="system:test",
        occurred_at=clock.now(),
    )


def make_insight(*, golem: Golem, text: str = "Gas is cheap at night") -> Insight:
    """An insight without a vector."""
    return Insight.objects.create(
        golem=golem,
        text=text,
        confidence_percent=60,
        recorded_by="system:test",
        last_accessed_at=clock.now(),
        identity_hash="0x" + uuid.uuid4().hex * 2,
    )


def make_strategy(*, golem: Golem, name: str = "eth-range", version: int = 1) -> Strategy:
    """One version of a strategy."""
    return Strategy.objects.create(
        golem=golem,
        name=name,
        version=version,
        parameters={"fee": 500},
        description="Wide range",
        recorded_by="system:test",
        created_at=clock.now(),
    )


def make_execution(*, golem: Golem) -> Execution:
    """An execution that has not settled."""
    return Execution.objects.create(
        golem=golem,
        execution_id=uuid.uuid4().hex,
        strategy_name="eth-range",
        kind="SWAP",
        recorded_by="system:test",
        recorded_at=clock.now(),
    )


def make_dream(*, golem: Golem) -> DreamJournal:
    """One finished phase of a dream."""
    now = clock.now()
    return DreamJournal.objects.create(
        golem=golem,
        dream_id=uuid.uuid4(),
        phase="NREM",
        state="DONE",
        trigger="schedule",
        started_at=now,
        finished_at=now,
        entries=[{"episode_id": str(uuid.uuid4()), "prediction_error_bps": 40}],
    )
