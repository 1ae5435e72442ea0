"""What a golem leaves behind: audit entries, events, episodes, playbooks, phases."""

from __future__ import annotations

import uuid
from typing import Any

from archetypes_app.models import Golem, PhaseTransition
from memory_app.models import Directive, Episode
from tools_app.core import audit_log, clock, event_bus
from tools_app.core.events import Event, EventType
from tools_app.core.models import AuditEntry, OutboxEvent


def make_audit_entry(*, golem: Golem, event: str = "PermitCreated", data: dict[str, Any] | None = None) -> AuditEntry:
    """One link of the golem's chain."""
    return audit_log.append(golem_id=golem.pk, event=event, actor="system:test", data=data or {}, now=clock.now())


def make_event(*, golem: Golem, kind: EventType = EventType.POLICY_VIOLATION) -> OutboxEvent:
    """One event in the outbox."""
    return event_bus.emit(golem_id=golem.pk, event=Event(kind, {"reason": "made by a test"}), now=clock.now())


def make_episode(*, golem: Golem, permit_id: uuid.UUID | None = None, summary: str | None = None) -> Episode:
    """An episode without a vector."""
    now = clock.now()
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
        golem=golem, from_phase="THRIVING", to_phase="CAUTIOUS", reason="v fell to 0.6", actor="system:test",
        occurred_at=clock.now(),
    )  # fmt: skip
