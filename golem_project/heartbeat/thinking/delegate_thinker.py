"""Runs a delegate that plans: its own prompt, its own tools cut to the golem's, the golem's wallet, limits and budget.

The other end of `permits_app/reviewers/delegation_router.py::DelegateThinker`; wiring puts the two together.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from django.conf import settings

from archetypes_app.loadout import Loadout
from archetypes_app.models import Archetype
from archetypes_app.models.archetype import InferenceTier
from golem_project.heartbeat.thinking.model_client import ModelClient
from golem_project.heartbeat.thinking.thinking_session import think
from golem_project.heartbeat.thinking.tool_selection import TickTask, select_tools
from permits_app.reviewers.delegation_router import DelegateAnswer, Hop
from tools_app.core.clock import Deadline


@dataclass(frozen=True, slots=True)
class ModelDelegateThinker:
    """Keeps the DelegateThinker interface."""

    client: ModelClient

    def think(
        self,
        *,
        hop: Hop,
        delegate: Archetype,
        instruction: str,
        context: str,
        is_live: bool,
        actor: str,
        api_key_id: UUID | None,
        deadline: Deadline,
        now: datetime,
    ) -> DelegateAnswer:
        """Work on `instruction` with the tools of `hop`, within the house rules that no instruction loosens."""
        tier = InferenceTier(delegate.inference_tier)
        selected = select_tools(
            toolset=hop.toolset,
            task=TickTask.OBSERVE,
            interventions=(instruction,),
            most=settings.GOLEM_THINKING_TOOLS,
        )
        report = think(
            client=self.client,
            golem=hop.golem,
            archetype=delegate,
            toolset=hop.toolset,
            loadout=Loadout(loaded=tuple(selected.tools), most=settings.GOLEM_THINKING_TOOLS),
            tier=InferenceTier.T1 if tier is InferenceTier.T0 else tier,
            situation={
                "context": context,
                "asked_by": hop.chain[-2],
                "chain": list(hop.chain),
                "heartbeat_tick": hop.heartbeat_tick,
                "as_of": now.isoformat(),
            },
            task=f"{hop.chain[-2]} of this same golem asks you: {instruction}",
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
            model=report.model,
        )
