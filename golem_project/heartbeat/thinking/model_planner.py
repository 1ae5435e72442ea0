"""The planner that asks a language model: the golem's own archetype thinks, with at most twelve of its tools.

It previews and commits by itself through the ordinary domain calls, so what it wants is done or refused when it
returns; `wanted` is empty and `touched` names the permits.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Final

from django.conf import settings

from archetypes_app.toolset import resolve_toolset
from golem_project.heartbeat.thinking.model_client import ModelClient
from golem_project.heartbeat.thinking.planner import Deliberation, Situation
from golem_project.heartbeat.thinking.thinking_session import think
from golem_project.heartbeat.thinking.tool_selection import choose_loadout, classify_task, select_tools
from permits_app.reviewers.delegate_to_archetype import DelegationEntry, delegation_scope
from tools_app.core.clock import Deadline
from tools_app.toolkit.enums import Category, Phase

ACTOR: Final = "system:heartbeat"


@dataclass(slots=True)
class _Configured:
    planner: ModelPlanner | None = None


_configured = _Configured()


def configure(client: ModelClient | None) -> None:
    """Which models this process asks; None where no model is set up. Called by wiring."""
    _configured.planner = ModelPlanner(client) if client is not None else None


def get_model_planner() -> ModelPlanner | None:
    """The planner that asks a model; None where no model is set up, and then rules manage the golem."""
    return _configured.planner


@dataclass(frozen=True, slots=True)
class ModelPlanner:
    """Keeps the Planner interface."""

    client: ModelClient

    @property
    def name(self) -> str:
        """How the decision record names it."""
        return "model"

    def deliberate(self, *, situation: Situation, deadline: Deadline, now: datetime) -> Deliberation:
        """Think until `deadline` at most; a model that fails leaves `stopped_by` and a consistent golem."""
        golem = situation.golem
        task = classify_task(
            phase=Phase(golem.phase),
            regime=situation.regime,
            probes=situation.probes,
            anomalies=situation.anomalies,
            interventions=situation.interventions,
        )
        toolset = resolve_toolset(golem)
        selected = select_tools(
            toolset=toolset,
            task=task,
            interventions=situation.interventions,
            probes=situation.probes,
            anomalies=situation.anomalies,
            most=settings.GOLEM_THINKING_TOOLS,
        )
        with delegation_scope(entry=DelegationEntry.HEARTBEAT):
            report = think(
                client=self.client,
                golem=golem,
                archetype=golem.archetype,
                toolset=toolset,
                loadout=choose_loadout(
                    toolset=toolset,
                    selected=selected,
                    first=[Category(name) for name in golem.archetype.tool_categories],
                    most=settings.GOLEM_THINKING_TOOLS,
                ),
                tier=situation.tier,
                situation={
                    "heartbeat_tick": situation.heartbeat_tick,
                    "task": task.value,
                    "why_you_are_asked": situation.gating_reason,
                    "regime": situation.regime,
                    "gas_is_dear": situation.is_gas_dear,
                    "observation": situation.observation,
                    "probes": dict(situation.probes),
                    "anomalies": list(situation.anomalies),
                    "recalled": [dict(memory) for memory in situation.recalled],
                    "waiting_for_somebody": [dict(action) for action in situation.waiting],
                    "ended_since_you_were_asked": [dict(action) for action in situation.ended],
                    "as_of": now.isoformat(),
                },
                owners_words=situation.interventions,
                is_live=situation.is_live,
                actor=ACTOR,
                deadline=deadline,
                now=now,
            )
        transcript = report.transcript
        return Deliberation(
            planner=self.name,
            summary=transcript.summary,
            touched=report.touched,
            refusals=tuple(transcript.refusals),
            stopped_by=transcript.stopped_by,
            cost_micro_usd=report.cost_micro_usd,
            input_llm_tokens=transcript.input_llm_tokens,
            output_llm_tokens=transcript.output_llm_tokens,
            model=report.model,
            rounds=transcript.rounds,
            doubted_bills=transcript.doubted_bills,
            dearer_bills=transcript.dearer_bills,
            directives=report.standing.versions,
            left_out=report.standing.left_out,
            told=report.told,
            asked=tuple(transcript.asked),
        )
