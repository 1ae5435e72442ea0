"""Planner: what a tick asks when it has something to decide; one call, from the situation to what is wanted.

A planner wants, it does not get: every action it wants goes through preview and commit with all hooks, whoever
planned it. Both the rule planner and the model planner keep this interface.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum
from typing import Any, Protocol
from uuid import UUID

from archetypes_app.models import Golem
from archetypes_app.models.archetype import InferenceTier
from golem_project.heartbeat.thinking.loop_values import AskedToolCall
from tools_app.core.clock import Deadline


@dataclass(frozen=True, slots=True)
class Situation:
    """What a tick knows when it decides. Everything JSON-ready but `golem`; figures as decimal strings.

    `probes` are the cheap reads of OBSERVE by name; `recalled` are the memories of RETRIEVE; `interventions` the
    owner's words since the last tick. `waiting` are actions somebody else decides about, which are not to be asked for
    again; `ended` is what became of actions of earlier ticks since a planner was last asked. `is_live` False is a dry
    run: previews are made, nothing is committed. With `is_gas_dear` what is not urgent is put off before it is sent.
    """

    golem: Golem
    heartbeat_tick: int
    tier: InferenceTier
    gating_reason: str
    regime: str
    is_live: bool
    is_gas_dear: bool = False
    observation: str = ""
    probes: Mapping[str, object] = field(default_factory=dict)
    anomalies: tuple[str, ...] = ()
    interventions: tuple[str, ...] = ()
    recalled: tuple[Mapping[str, object], ...] = ()
    waiting: tuple[Mapping[str, Any], ...] = ()  # Any: JSON, as models ask and see it
    ended: tuple[Mapping[str, object], ...] = ()


@dataclass(frozen=True, slots=True)
class WantedAction:
    """One action a planner wants previewed and, in a live golem, committed. `params` as preview_action takes them.

    `is_rescue` is the rules' alone: it lowers a debt in danger, whatever the golem's profiles hold.
    """

    action_type: str
    venue: str | None
    params: Mapping[str, Any]  # Any: a tool's parameters, read by its schema
    reason: str
    is_rescue: bool = False


class PermitStep(StrEnum):
    """How far a planner itself took a permit while it thought."""

    PREVIEWED = "PREVIEWED"
    COMMITTED = "COMMITTED"
    CANCELLED = "CANCELLED"


@dataclass(frozen=True, slots=True)
class TouchedPermit:
    """A permit made during the deliberation through the ordinary domain calls; its row tells the rest."""

    permit_id: UUID
    action_type: str
    venue: str
    step: PermitStep


@dataclass(frozen=True, slots=True)
class Deliberation:
    """What a planner came to. `wanted` is still to be done by the tick; `touched` was done while thinking.

    `refusals` are codes of errors the planner ran into (a limit, a veto, a budget), in order; `stopped_by` is the code
    that ended the thinking early, or empty. Costs are integer micro-USD;
    `doubted_bills` counts answers of a model whose bill was missing or could not be, `dearer_bills` those that were
    billed at more than their tokens come to. `directives` are the versions of
    STRATEGY and PLAYBOOK that were shown, `left_out` the titles of their sections for which there was no room. `told`
    are the sections of the request with about how many tokens each takes, and `asked` the first calls.
    """

    planner: str
    summary: str
    wanted: tuple[WantedAction, ...] = ()
    touched: tuple[TouchedPermit, ...] = ()
    refusals: tuple[str, ...] = ()
    stopped_by: str = ""
    cost_micro_usd: int = 0
    input_llm_tokens: int = 0
    output_llm_tokens: int = 0
    model: str = ""
    rounds: int = 0
    doubted_bills: int = 0
    dearer_bills: int = 0
    directives: Mapping[str, int] = field(default_factory=dict)
    left_out: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    told: tuple[tuple[str, int], ...] = ()
    asked: tuple[AskedToolCall, ...] = ()


class Planner(Protocol):
    """Decides what one golem wants in one tick. Never raises for what a model does: it answers `stopped_by`."""

    @property
    def name(self) -> str:
        """How the decision record names it."""
        ...

    def deliberate(self, *, situation: Situation, deadline: Deadline, now: datetime) -> Deliberation:
        """Think until `deadline` at most. Holds no database transaction while it waits."""
        ...
