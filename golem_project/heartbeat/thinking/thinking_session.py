"""Runs one conversation of an archetype with the golem's model, for planners and delegates, and records it.

Appends InferenceCall to the golem's audit log: model, tier, tokens, cost, how it ended; never what was said.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from uuid import UUID

from django.conf import settings

from archetypes_app.models import Archetype, Golem
from archetypes_app.models.archetype import InferenceTier
from archetypes_app.tool_loadout import Loadout
from golem_project.heartbeat.thinking.loop_values import (
    ConversationLimits,
    Exchange,
    Listener,
    ManualTool,
    Transcript,
    never,
)
from golem_project.heartbeat.thinking.model_client import GolemPurse, ModelClient, read_limits
from golem_project.heartbeat.thinking.owner_instructions import StandingWords, read_standing_words
from golem_project.heartbeat.thinking.planner import TouchedPermit
from golem_project.heartbeat.thinking.prompt import (
    DelegatedRequest,
    list_parts,
    weigh_parts,
    write_instructions,
    write_opening,
)
from golem_project.heartbeat.thinking.tool_calls import ToolDesk
from golem_project.heartbeat.thinking.tool_loop import hold_conversation
from permits_app.safety.hooks.result_filter import clean_text
from tools_app.core import audit_log
from tools_app.core.clock import Deadline
from tools_app.core.errors import GolemError
from tools_app.core.json_types import JsonObject
from tools_app.toolkit.enums import Phase
from tools_app.toolkit.golem_toolset import Toolset


@dataclass(frozen=True, slots=True)
class SessionReport:
    """What one conversation came to, with what it cost in micro-USD."""

    transcript: Transcript
    touched: tuple[TouchedPermit, ...]
    cost_micro_usd: int
    model: str
    standing: StandingWords = field(default_factory=StandingWords)
    told: tuple[tuple[str, int], ...] = ()
    """What it was told at first: sections with about how many tokens each takes."""


@dataclass(frozen=True, slots=True)
class Talk:
    """What a conversation with a person has beyond a deliberation; costs in micro-USD."""

    limits: ConversationLimits
    most_micro_usd: int
    history: Sequence[Exchange] = ()
    listen: Listener | None = None
    is_cancelled: Callable[[], bool] = never


def think(
    *,
    client: ModelClient,
    golem: Golem,
    archetype: Archetype,
    toolset: Toolset,
    loadout: Loadout,
    tier: InferenceTier,
    situation: Mapping[str, object],
    is_live: bool,
    actor: str,
    deadline: Deadline,
    now: datetime,
    owners_words: Iterable[str] = (),
    asked: DelegatedRequest | None = None,
    api_key_id: UUID | None = None,
    talk: Talk | None = None,
) -> SessionReport:
    """Let `archetype` think for `golem`: it is shown `loadout` and may load the rest of `toolset`.

    `talk` makes it a conversation with a person, in which nothing takes effect. Raises no GolemError: what stopped it
    is in the report.
    """
    transcript, spent, name, standing = Transcript(), 0, "", StandingWords()
    told: tuple[tuple[str, int], ...] = ()
    touched: tuple[TouchedPermit, ...] = ()
    try:
        model = client.choose_model(tier)
        name = model.name
        has_memory = bool(golem.is_memory_enabled and settings.GOLEM_MEMORY_ENABLED)

        def write_tools(shown: Toolset) -> Sequence[ManualTool]:
            return client.write(
                toolset=shown,
                permit_ttl_seconds=golem.permit_ttl_seconds,
                has_memory=has_memory,
                has_writes=toolset.has_writes,
            )

        desk = ToolDesk(
            golem=golem,
            toolset=toolset,
            loadout=loadout,
            write_tools=write_tools,
            cost_little=client.cost_little,
            actor=actor,
            is_live=is_live,
            only_rehearses=talk is not None,
            api_key_id=api_key_id,
        )
        tools = desk.tools
        purse = GolemPurse(
            golem_id=golem.pk,
            price=model.price,
            most_output_llm_tokens=settings.GOLEM_MODEL_OUTPUT_LLM_TOKENS,
            cap_micro_usd=settings.GOLEM_MODEL_DAILY_CAP_MICRO_USD,
            most_micro_usd=talk.most_micro_usd if talk is not None else None,
        )
        standing = read_standing_words(golem=golem, most_characters=settings.GOLEM_THINKING_STANDING_CHARACTERS)

        def describe() -> JsonObject:
            return {
                "archetype": archetype,
                "golem_name": golem.name,
                "phase": Phase(golem.phase),
                "is_live": is_live,
                "tools": desk.tools,
                "toolset": desk.shown,
                "standing": standing,
                "is_halted": golem.is_halted,
            }

        def instruct() -> str:
            return write_instructions(**describe())

        opening = write_opening(
            situation=situation,
            owners_words=owners_words,
            asked=asked,
            most_characters=settings.GOLEM_THINKING_RESULT_CHARACTERS,
        )
        told = weigh_parts([*list_parts(**describe()), *opening.split("\n\n")])
        with client.open(
            model=model,
            instructions=instruct(),
            opening=opening,
            tools=tools,
            history=talk.history if talk is not None else (),
        ) as dialogue:
            transcript = hold_conversation(
                dialogue=dialogue,
                desk=desk,
                purse=purse,
                instruct=instruct,
                limits=talk.limits if talk is not None else read_limits(),
                deadline=deadline,
                listen=talk.listen if talk is not None else None,
                is_cancelled=talk.is_cancelled if talk is not None else never,
            )
        transcript.summary = clean_text(transcript.summary)
        touched, spent = desk.touched, purse.spent_micro_usd
    except GolemError as error:
        transcript.stopped_by = str(error.as_problem()["code"])
    audit_log.append(
        golem_id=golem.pk,
        event="InferenceCall",
        actor=actor,
        now=now,
        heartbeat_tick=golem.heartbeat_tick,
        data={
            "archetype": archetype.name,
            "tier": tier.value,
            "model": name,
            "rounds": transcript.rounds,
            "calls": transcript.calls,
            "input_llm_tokens": transcript.input_llm_tokens,
            "output_llm_tokens": transcript.output_llm_tokens,
            "doubted_bills": transcript.doubted_bills,
            "dearer_bills": transcript.dearer_bills,
            "directives": {name: str(version) for name, version in standing.versions.items()},
            "cost_micro_usd": str(spent),
            "refusals": transcript.refusals[:20],
            "stopped_by": transcript.stopped_by,
            "permit_ids": [str(permit.permit_id) for permit in touched],
        },
    )
    return SessionReport(
        transcript=transcript, touched=touched, cost_micro_usd=spent, model=name, standing=standing, told=told
    )
