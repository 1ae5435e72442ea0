"""One message of an owner and the golem's answer to it: the tool loop with the golem's own prompt and tools.

Nothing takes effect: what is previewed gives its permit back at once, and what would last is refused. The page and the
terminal both call this. Browsing and loading begin anew with each message.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from datetime import datetime

from django.conf import settings

from archetypes_app.models import Golem
from archetypes_app.models.archetype import InferenceTier
from archetypes_app.tool_loadout import make_loadout
from archetypes_app.toolset import resolve_toolset
from golem_project.heartbeat.thinking.errors import ModelNotConfigured
from golem_project.heartbeat.thinking.loop_values import ConversationLimits, Exchange, Listener
from golem_project.heartbeat.thinking.model_client import ModelClient, read_limits
from golem_project.heartbeat.thinking.model_planner import get_model_planner
from golem_project.heartbeat.thinking.thinking_session import SessionReport, Talk, think
from tools_app.core.clock import Deadline
from tools_app.toolkit.enums import Category


def converse(
    *,
    client: ModelClient,
    golem: Golem,
    words: str,
    history: Sequence[Exchange],
    actor: str,
    listen: Listener,
    is_cancelled: Callable[[], bool],
    now: datetime,
) -> SessionReport:
    """The answer to `words`, within the limits of a conversation; what stopped it is in the report, never raised.

    `listen` hears every step as it happens; `is_cancelled` ends it, a few times a second asked.
    """
    toolset = resolve_toolset(golem)
    return think(
        client=client,
        golem=golem,
        archetype=golem.archetype,
        toolset=toolset,
        loadout=make_loadout(
            toolset=toolset,
            first=[Category(name) for name in golem.archetype.tool_categories],
            most=settings.GOLEM_THINKING_TOOLS,
        ),
        tier=InferenceTier.T2,
        situation={"conversation": "with an owner", "heartbeat_tick": golem.heartbeat_tick, "as_of": now.isoformat()},
        owners_words=(words,),
        is_live=False,
        actor=actor,
        deadline=Deadline.after_ms(settings.GOLEM_CHAT_SECONDS * 1000),
        now=now,
        talk=Talk(
            limits=read_chat_limits(),
            most_micro_usd=settings.GOLEM_CHAT_MOST_MICRO_USD,
            history=tuple(history)[-settings.GOLEM_CHAT_REMEMBERED :],
            listen=listen,
            is_cancelled=is_cancelled,
        ),
    )


def get_client() -> ModelClient:
    """The models this process asks. Raises ModelNotConfigured."""
    planner = get_model_planner()
    if planner is None:
        raise ModelNotConfigured("this server asks no language model; its operator sets GOLEM_MODEL_T1")
    return planner.client


def read_chat_limits() -> ConversationLimits:
    """The numbers of one message and its answer, from the settings."""
    return replace(
        read_limits(),
        rounds=settings.GOLEM_CHAT_ROUNDS,
        llm_tokens=settings.GOLEM_CHAT_LLM_TOKENS,
        beside=settings.GOLEM_CHAT_BESIDE,
        retries=settings.GOLEM_CHAT_RETRIES,
    )
