"""Runs a delegate that plans: its own prompt, its own tools cut to the golem's, the golem's wallet, limits and budget.

The other end of `permits_app/reviewers/delegate_to_archetype.py::DelegateThinker`; wiring puts the two together.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final
from uuid import UUID

from django.conf import settings

from archetypes_app.models import Archetype, DecisionCycleRecord, Golem
from archetypes_app.models.archetype import InferenceTier
from archetypes_app.models.tick import Regime
from golem_project.heartbeat.thinking.model_client import ModelClient
from golem_project.heartbeat.thinking.prompt import DelegatedRequest
from golem_project.heartbeat.thinking.thinking_session import think
from golem_project.heartbeat.thinking.tool_selection import choose_loadout, classify_task, select_tools
from memory_app.poison import find_poison
from permits_app.reviewers.delegate_to_archetype import DelegateAnswer, DelegationHop
from tools_app.core.clock import Deadline
from tools_app.toolkit.enums import Category, Phase

_FRESH: Final = timedelta(minutes=10)


@dataclass(frozen=True, slots=True)
class ModelDelegateThinker:
    """Keeps the DelegateThinker interface."""

    client: ModelClient

    def think(
        self,
        *,
        hop: DelegationHop,
        delegate: Archetype,
        instruction: str,
        context: str,
        is_live: bool,
        actor: str,
        api_key_id: UUID | None,
        deadline: Deadline,
        now: datetime,
    ) -> DelegateAnswer:
        """Work on `instruction` with the tools of `hop`, within the house rules that no instruction loosens.

        Which of them it is shown follows from the instruction and from what the golem's last tick saw.
        """
        tier = InferenceTier(delegate.inference_tier)
        seen = _read_last_look(hop.golem, now)
        probes = seen.probes if seen is not None else {}
        anomalies = tuple(map(str, seen.anomalies)) if seen is not None else ()
        selected = select_tools(
            toolset=hop.toolset,
            task=classify_task(
                phase=Phase(hop.golem.phase),
                regime=seen.regime if seen is not None else Regime.NORMAL,
                probes=probes,
                anomalies=anomalies,
                interventions=(instruction,),
            ),
            interventions=(instruction,),
            probes=probes,
            anomalies=anomalies,
            most=settings.GOLEM_THINKING_TOOLS,
        )
        report = think(
            client=self.client,
            golem=hop.golem,
            archetype=delegate,
            toolset=hop.toolset,
            loadout=choose_loadout(
                toolset=hop.toolset,
                selected=selected,
                first=[Category(name) for name in delegate.tool_categories],
                most=settings.GOLEM_THINKING_TOOLS,
            ),
            tier=InferenceTier.T1 if tier is InferenceTier.T0 else tier,
            situation={
                "context": context,
                "chain": list(hop.chain),
                "heartbeat_tick": hop.heartbeat_tick,
                "is_halted": hop.golem.is_halted,
                "as_of": now.isoformat(),
            },
            asked=DelegatedRequest(by=hop.chain[-2], words=instruction, signs=find_poison(f"{instruction}\n{context}")),
            is_live=is_live,
            actor=actor,
            deadline=deadline,
            now=now,
            api_key_id=api_key_id,
        )
        transcript = report.transcript
        return DelegateAnswer(
            summary=transcript.summary,
            permits=tuple(
                {
                    "permit_id": str(permit.permit_id),
                    "action_type": permit.action_type,
                    "venue": permit.venue,
                    "step": permit.step.value,
                }
                for permit in report.touched
            ),
            refusals=tuple(transcript.refusals),
            stopped_by=transcript.stopped_by,
            cost_micro_usd=report.cost_micro_usd,
            input_llm_tokens=transcript.input_llm_tokens,
            output_llm_tokens=transcript.output_llm_tokens,
            model=report.model,
        )


def _read_last_look(golem: Golem, now: datetime) -> DecisionCycleRecord | None:
    """What the golem's last tick saw, unless that is long ago."""
    rows = DecisionCycleRecord.objects.filter(golem=golem, decided_at__gt=now - _FRESH, decided_at__lte=now)
    return rows.order_by("-heartbeat_tick").first()
