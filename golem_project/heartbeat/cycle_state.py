"""Holds what one tick knows so far. Each step adds its part; it lives for one tick in one worker."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from uuid import UUID

from archetypes_app.actions.update_vitality import VitalityUpdate
from archetypes_app.models import Golem
from archetypes_app.models.archetype import InferenceTier
from archetypes_app.models.tick import Regime
from golem_project.heartbeat.debt_health import ToldDebt, WatchedDebt
from golem_project.heartbeat.ended_actions import tell_answers
from golem_project.heartbeat.entry_caution import Doubted
from golem_project.heartbeat.frozen_token_watch import StillToken
from golem_project.heartbeat.gate_formulas import GateVerdict, Surprise, Temper
from golem_project.heartbeat.liquidity_plan import RuleWish
from golem_project.heartbeat.liquidity_rule import LiquidityRule
from golem_project.heartbeat.memory_caution import HeldBack
from golem_project.heartbeat.mood import Mood
from golem_project.heartbeat.observation import Observation
from golem_project.heartbeat.refused_wish_backoff import WishBackoff, is_waiting
from golem_project.heartbeat.regime import is_gas_dear
from golem_project.heartbeat.strategies.strategy import RuleStrategy
from golem_project.heartbeat.thinking.planner import Deliberation, Planner, Situation, WantedAction
from golem_project.heartbeat.tick_claims import BegunTick
from memory_app.insights_for_situation import RecalledInsight
from memory_app.redact_unverified_facts import is_only_said, leave_out_claims
from permits_app.models import NavSnapshot
from permits_app.models.action_record import ActionRecord
from tools_app.core.clock import Deadline
from tools_app.core.json_types import JsonObject
from tools_app.core.storable_text import make_plain
from tools_app.portfolio.pegs import OffPeg, Peg
from tools_app.subsystems.intel.indexed_market import KnownMarket
from tools_app.toolkit.context import ChainReader
from tools_app.toolkit.yields import YieldOffer

ACTOR = "system:heartbeat"

Work = Callable[[UUID, float], None]
"""Has a permit that is COMMITTING worked on, and returns when its outcome is known or after some seconds."""


@dataclass(frozen=True, slots=True)
class PermitFacts:
    """What the database says of the golem's permits: how many are under way, and how predictions came out; and which
    tokens its owners declare to stand for a dollar or an ether. `awaited` are the tokens, each with its chain, that
    come for what it signed once somebody carries that out, or by rights over others' money. `stuck_rights` are those of
    these rights that stand and give nothing now: whose money, of which token, and why.
    """

    unfinished: int = 0
    open_actions: int = 0
    predictions: int = 0
    correct_predictions: int = 0
    declared_pegs: tuple[Peg, ...] = ()
    awaited: frozenset[tuple[int, str]] = frozenset()
    stuck_rights: tuple[tuple[str, str, str], ...] = ()


@dataclass(frozen=True, slots=True)
class Analysis:
    """What ANALYZE made of the observation. `due` are wishes that wait for nothing, by key; `news` what became of
    actions of earlier ticks that a planner has not heard yet.
    """

    regime: Regime = Regime.NORMAL
    range_bps: int = 0
    surprise: Surprise = field(default_factory=Surprise)
    temper: Temper = field(default_factory=Temper)
    prices: tuple[int, ...] = ()
    base_fees: tuple[int, ...] = ()
    health: int = 1_000_000
    pressure_ticks: int = 0
    wishes: tuple[RuleWish, ...] = ()
    held_back: tuple[HeldBack, ...] = ()
    entries_held: tuple[Doubted, ...] = ()
    due: tuple[str, ...] = ()
    news: tuple[str, ...] = ()


@dataclass
class CycleState:
    """One tick under way."""

    begun: BegunTick
    golem: Golem
    now: Callable[[], datetime]
    deadline: Deadline
    work: Work
    choose_planner: Callable[[CycleState], Planner]
    observation: Observation = field(default_factory=Observation)
    reader: ChainReader | None = None
    rule: LiquidityRule | None = None
    strategies: tuple[RuleStrategy, ...] = ()
    last_done: Mapping[str, datetime] | None = None
    offers: tuple[YieldOffer, ...] | None = None
    known_market: KnownMarket | None = None
    off_peg: tuple[OffPeg, ...] = ()
    still: tuple[StillToken, ...] = ()
    permits: PermitFacts = field(default_factory=PermitFacts)
    anomalies: list[str] = field(default_factory=list)
    recalled: tuple[RecalledInsight, ...] = ()
    analysis: Analysis = field(default_factory=Analysis)
    verdict: GateVerdict = field(default_factory=lambda: GateVerdict(InferenceTier.T0, 0, 0, ""))
    deliberations: list[Deliberation] = field(default_factory=list)
    queue: list[WantedAction] = field(default_factory=list)
    actions: list[ActionRecord] = field(default_factory=list)
    waiting_actions: list[ActionRecord] = field(default_factory=list)
    followed: list[ActionRecord] = field(default_factory=list)
    unheard: list[dict[str, object]] = field(default_factory=list)
    current: ActionRecord | None = None
    permit: JsonObject | None = None
    waits: dict[str, WishBackoff] = field(default_factory=dict)
    debts: tuple[WatchedDebt, ...] = ()
    told: dict[str, ToldDebt] = field(default_factory=dict)
    mutations: list[str] = field(default_factory=list)
    kept_values: tuple[NavSnapshot, ...] = ()
    vitality: VitalityUpdate | None = None
    mood: Mood = field(default_factory=Mood)
    mood_after: Mood = field(default_factory=Mood)
    is_stopped: bool = False

    @property
    def is_quiet(self) -> bool:
        """Whether the tick ends after the gate."""
        return self.verdict.tier is InferenceTier.T0

    @property
    def steers(self) -> tuple[str, ...]:
        """The owner's words since the last tick."""
        return tuple(str(each.get("text", "")) for each in self.begun.steers)

    @property
    def waiting(self) -> frozenset[str]:
        """Keys of wishes that were refused and wait, or whose action waits for somebody."""
        at = self.now()
        refused = {key for key, wait in self.waits.items() if is_waiting(wait, now=at)}
        return frozenset(refused | {each.wish_key for each in self.waiting_actions})

    def as_probes(self) -> dict[str, object]:
        """What was seen, and what is known of the market where something was to be entered; JSON-ready."""
        known = self.known_market
        off = [{"token": each.peg.token, "name": each.peg.name, "words": each.words} for each in self.off_peg]
        still = [{"token": each.token, "name": each.name, "words": each.words} for each in self.still]
        rights = [{"principal": one, "name": name, "words": why} for one, name, why in self.permits.stuck_rights]
        return {
            **self.observation.as_probes(),
            **({"known_market": known.as_json()} if known is not None else {}),
            **({"off_peg": off} if off else {}),
            **({"standing_still": still} if still else {}),
            **({"stuck_rights": rights} if rights else {}),
        }

    def as_situation(self) -> Situation:
        """What a planner is told."""
        return Situation(
            golem=self.golem,
            heartbeat_tick=self.begun.number,
            tier=self.verdict.tier,
            gating_reason=self.verdict.reason,
            regime=self.analysis.regime.value,
            is_live=self.golem.is_live,
            is_gas_dear=is_gas_dear(self.analysis.base_fees),
            observation=describe_observation(self),
            probes=self.as_probes(),
            anomalies=tuple(self.anomalies),
            interventions=self.steers,
            recalled=tuple(describe_recalled(each) for each in self.recalled),
            waiting=tuple(describe_waiting(each) for each in self.waiting_actions),
            ended=tell_answers(self.unheard),
        )


def describe_recalled(insight: RecalledInsight) -> dict[str, object]:
    """An insight for a planner: data, with who wrote it."""
    return {
        "kind": insight.kind,
        "tool_name": insight.tool_name,
        "text": make_plain(_tell(insight)),
        "confidence_percent": insight.confidence_percent,
        "trust": insight.trust,
        "source": insight.source,
    }


def _tell(insight: RecalledInsight) -> str:
    """What it says; without accounts and amounts where somebody only said it."""
    if is_only_said(trust=insight.trust, source=insight.source):
        return leave_out_claims(insight.text)
    return insight.text


def describe_waiting(action: ActionRecord) -> dict[str, object]:
    """An action that waits for somebody, for a planner."""
    return {
        "action_type": action.action_type,
        "venue": action.venue or None,
        "params": action.params,
        "permit_id": str(action.permit_id),
        "waits": action.block_reason,
    }


def describe_observation(state: CycleState) -> str:
    """One line for the record and for a planner."""
    seen = state.observation
    if seen.block is None:
        return "the chain could not be read"
    held = sum(1 for each in seen.positions if each.position.liquidity)
    out = sum(1 for each in seen.positions if each.position.liquidity and not each.position.is_in_range)
    worth = seen.as_probes()["total_usd"] or "unknown worth"
    positions = f"{held} positions, {out} out of range" if held else "no position"
    waiting = f", {len(state.waiting_actions)} waiting" if state.waiting_actions else ""
    return f"block {seen.block.number}: {worth}, {positions}, {state.permits.unfinished} actions under way{waiting}"
