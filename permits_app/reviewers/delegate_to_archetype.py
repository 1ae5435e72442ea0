"""One archetype asks another, inside the same golem, wallet and limits; every hop is a line in the audit log.

A hop is refused when its target does not exist, the asking archetype does not list it, it would close a circle, or
the chain would be longer than three hops. The runtime's own review (hook 3, risk tier ELEVATED) needs no edge: it
may ask a reviewer for every archetype, since no archetype may escape it. Appends DelegationHop, DelegationEnded or
DelegationRefused. Delegates that plan are run by a DelegateThinker, which wiring hands down where a language model is
set up.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum
from typing import Final, Protocol
from uuid import UUID, uuid4

from archetypes_app.delegation import MAX_HOPS
from archetypes_app.models import Archetype, Golem
from archetypes_app.toolset import cut_toolset, read_archetype_rule, read_inputs
from permits_app.errors import (
    DelegateNeedsModel,
    DelegationCycleDetected,
    DelegationNotAllowed,
    DelegationTargetNotFound,
    DelegationTooDeep,
)
from permits_app.reviewers import risk_assessor, safety_guardian
from permits_app.reviewers.advisers_without_model import RULED, RULES, work_by_rules
from permits_app.reviewers.review import Review
from permits_app.safety.hook import HookCall
from tools_app.core import audit_log
from tools_app.core.clock import Deadline
from tools_app.core.errors import GolemError
from tools_app.toolkit.golem_toolset import Toolset

REVIEWERS: Final[Mapping[str, Callable[[HookCall], Review]]] = {
    safety_guardian.REVIEWER: safety_guardian.review,
    risk_assessor.REVIEWER: risk_assessor.review,
}
"""Delegates that run without a language model."""


class DelegationEntry(StrEnum):
    """The way in by which a hop came to be."""

    REVIEW = "review"
    AGENT = "agent"
    HEARTBEAT = "heartbeat"


@dataclass(frozen=True, slots=True)
class DelegationHop:
    """One delegation that is under way: who asked whom, the whole chain so far, and the tools the delegate has.

    `parent_id` is the hop this one was made in; None at the golem itself.
    """

    id: UUID
    parent_id: UUID | None
    golem: Golem
    chain: tuple[str, ...]
    entry: DelegationEntry
    toolset: Toolset
    heartbeat_tick: int

    @property
    def target(self) -> str:
        """The delegate."""
        return self.chain[-1]


@dataclass(frozen=True, slots=True)
class DelegateAnswer:
    """What a delegate that plans came to. `permits` are those it made or used, with how far it took each.

    `stopped_by` is the code of what ended it early, or empty; `refusals` the codes it ran into. Micro-USD.
    """

    summary: str
    permits: tuple[Mapping[str, str], ...] = ()
    refusals: tuple[str, ...] = ()
    stopped_by: str = ""
    cost_micro_usd: int = 0
    input_llm_tokens: int = 0
    output_llm_tokens: int = 0
    model: str = ""


class DelegateThinker(Protocol):
    """Runs a delegate that plans with a language model. Made by wiring; its other end is the heartbeat's thinking."""

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
        """The delegate's work with the tools of `hop` alone. Never raises for what a model does."""
        ...


@dataclass(frozen=True, slots=True)
class _Scope:
    """Under whom the present code runs: what it asks becomes a hop of `parent`."""

    entry: DelegationEntry = DelegationEntry.AGENT
    parent: DelegationHop | None = None


_scope: ContextVar[_Scope] = ContextVar("delegation_scope", default=_Scope())  # noqa: B039  (frozen)


@dataclass(slots=True)
class _DelegationRouter:
    thinker: DelegateThinker | None = field(default=None)


_router = _DelegationRouter()


def configure(thinker: DelegateThinker | None) -> None:
    """Who runs delegates that plan; None where no language model is set up."""
    _router.thinker = thinker


@contextmanager
def delegation_scope(*, entry: DelegationEntry, parent: DelegationHop | None = None) -> Iterator[None]:
    """Everything asked inside is asked by `parent`'s delegate (None: by the golem itself) and came in by `entry`."""
    token = _scope.set(_Scope(entry, parent))
    try:
        yield
    finally:
        _scope.reset(token)


def current_entry() -> DelegationEntry:
    """The way in by which the present code was reached; an agent's unless a scope says otherwise."""
    return _scope.get().entry


def current_chain(golem: Golem) -> tuple[str, ...]:
    """Who asked whom so far, the golem's own archetype first."""
    parent = _parent_of(golem)
    return parent.chain if parent is not None else (golem.archetype.name,)


def open_hop(
    *,
    golem: Golem,
    target: str,
    entry: DelegationEntry,
    actor: str,
    now: datetime,
    parent: DelegationHop | None = None,
    instruction: str = "",
) -> DelegationHop:
    """Check one hop, note it in the audit log, and give the delegate's tools cut to the golem's.

    Starts at the golem's own archetype, or at the delegate of `parent`, which is the scope's when it is not given. A
    refusal is noted too. Raises DelegationTargetNotFound, DelegationCycleDetected, DelegationNotAllowed,
    DelegationTooDeep.
    """
    parent = parent or _parent_of(golem)
    chain = parent.chain if parent is not None else (golem.archetype.name,)
    facts = {
        "from": chain[-1],
        "to": target,
        "parent_hop_id": str(parent.id) if parent is not None else None,
        "entry": entry.value,
    }
    try:
        delegate = check_hop(chain=chain, target=target, entry=entry)
    except GolemError as error:
        _note(golem, "DelegationRefused", {**facts, "code": error.code, "reason": error.detail}, actor, now)
        raise
    hop = DelegationHop(
        id=uuid4(),
        parent_id=parent.id if parent is not None else None,
        golem=golem,
        chain=(*chain, target),
        entry=entry,
        toolset=cut_toolset(delegate=read_archetype_rule(delegate), golem=read_inputs(golem)),
        heartbeat_tick=golem.heartbeat_tick,
    )
    more = {"hop_id": str(hop.id), "chain": list(hop.chain), "tools": len(hop.toolset)}
    if instruction:
        more["instruction"] = instruction
    _note(golem, "DelegationHop", {**facts, **more}, actor, now)
    return hop


def close_hop(*, hop: DelegationHop, outcome: Mapping[str, object], actor: str, now: datetime) -> None:
    """Note how a hop ended. `outcome` is JSON-ready: a verdict and its reasons, or the code of an error."""
    facts = {"hop_id": str(hop.id), "to": hop.target, **outcome}
    _note(hop.golem, "DelegationEnded", facts, actor, now)


def check_hop(*, chain: tuple[str, ...], target: str, entry: DelegationEntry) -> Archetype:
    """The target's row when the hop keeps every rule; raises the rule it breaks, the circle before the missing edge."""
    delegate = Archetype.objects.prefetch_related("profiles", "tool_overrides").filter(name=target).first()
    if delegate is None:
        raise DelegationTargetNotFound(f"there is no archetype {target!r} to delegate to", target=target)
    if target in chain:
        circle = [*chain[chain.index(target) :], target]
        raise DelegationCycleDetected(f"{' → '.join(circle)} would be a circle", cycle=circle)
    if not _may_ask(chain[-1], target, entry):
        allowed = sorted(Archetype.objects.filter(delegated_from__name=chain[-1]).values_list("name", flat=True))
        raise DelegationNotAllowed(
            f"{chain[-1]!r} may not delegate to {target!r}", frm=chain[-1], to=target, allowed=allowed
        )
    if len(chain) > MAX_HOPS:
        raise DelegationTooDeep(
            f"{' → '.join((*chain, target))} is {len(chain)} hops long; at most {MAX_HOPS} are allowed",
            chain=[*chain, target],
            depth=len(chain),
            max_depth=MAX_HOPS,
        )
    return delegate


def review_call(*, call: HookCall, reviewer: str, actor: str, parent: DelegationHop | None = None) -> Review:
    """The runtime's review of one call, noted as a hop. The reviewer itself never raises; it vetoes.

    Raises what `open_hop` raises: a reviewer that cannot be asked lets nothing pass.
    """
    if reviewer == call.golem.archetype.name and (parent or _parent_of(call.golem)) is None:
        # A golem that is itself the reviewer is judged by the same checks; it has no hop to itself.
        return REVIEWERS[reviewer](call)
    hop = open_hop(
        golem=call.golem, target=reviewer, entry=DelegationEntry.REVIEW, actor=actor, now=call.now, parent=parent
    )
    return _run_reviewer(hop, call, actor)


def delegate_review(
    *, golem: Golem, target: str, call: HookCall, instruction: str, actor: str, now: datetime
) -> tuple[DelegationHop, Review]:
    """An agent asks the reviewer `target` to judge a call. Raises what `open_hop` raises, and DelegateNeedsModel."""
    hop = open_hop(golem=golem, target=target, entry=current_entry(), actor=actor, now=now, instruction=instruction)
    try:
        check_runnable(target)
    except DelegateNeedsModel as error:
        close_hop(hop=hop, outcome={"code": error.code}, actor=actor, now=now)
        raise
    return hop, _run_reviewer(hop, call, actor)


def delegate_work(
    *,
    golem: Golem,
    target: str,
    instruction: str,
    context: str = "",
    entry: DelegationEntry | None = None,
    is_live: bool = True,
    actor: str,
    deadline: Deadline,
    now: datetime,
    api_key_id: UUID | None = None,
) -> tuple[DelegationHop, DelegateAnswer]:
    """Let the delegate `target` work for `golem`, with its own tools cut to the golem's, until `deadline`.

    What it previews and commits counts as the golem's own and is reviewed as such; what it asks others becomes a hop of
    this one. `is_live` False: it previews only. Raises what `open_hop` raises, and DelegateNeedsModel.
    """
    hop = open_hop(
        golem=golem, target=target, entry=entry or current_entry(), actor=actor, now=now, instruction=instruction
    )
    thinker = _router.thinker
    if thinker is None and target in RULED:
        return hop, _work_by_rules(hop, f"{instruction} {context}", actor, now)
    if thinker is None:
        close_hop(hop=hop, outcome={"code": DelegateNeedsModel.code}, actor=actor, now=now)
        raise _needs_model(target)
    delegate = Archetype.objects.get(name=target)
    outcome: dict[str, object] = {"code": "DELEGATE_FAILED"}
    try:
        with delegation_scope(entry=hop.entry, parent=hop):
            answer = thinker.think(
                hop=hop,
                delegate=delegate,
                instruction=instruction,
                context=context,
                is_live=is_live,
                actor=actor,
                api_key_id=api_key_id,
                deadline=deadline,
                now=now,
            )
        outcome = {
            "permits": [dict(permit) for permit in answer.permits],
            "refusals": list(answer.refusals[:20]),
            "stopped_by": answer.stopped_by,
            "cost_micro_usd": str(answer.cost_micro_usd),
            "input_llm_tokens": answer.input_llm_tokens,
            "output_llm_tokens": answer.output_llm_tokens,
            "model": answer.model,
        }
    finally:
        close_hop(hop=hop, outcome=outcome, actor=actor, now=now)
    return hop, answer


def _work_by_rules(hop: DelegationHop, words: str, actor: str, now: datetime) -> DelegateAnswer:
    outcome: dict[str, object] = {"code": "DELEGATE_FAILED"}
    try:
        done = work_by_rules(golem=hop.golem, target=hop.target, words=words, toolset=hop.toolset, now=now)
        outcome = {"refusals": list(done.refusals), "model": RULES}
    finally:
        close_hop(hop=hop, outcome=outcome, actor=actor, now=now)
    return DelegateAnswer(summary=done.summary, refusals=done.refusals, model=RULES)


def is_reviewer(target: str) -> bool:
    """Whether `target` judges permits by itself, without a language model."""
    return target in REVIEWERS


def check_runnable(target: str) -> None:
    """Whether this server can run `target`: reviewers and advisers that read by rules always, others with a model.

    Raises DelegateNeedsModel.
    """
    if target not in REVIEWERS and target not in RULED and _router.thinker is None:
        raise _needs_model(target)


def _needs_model(target: str) -> DelegateNeedsModel:
    return DelegateNeedsModel(
        f"{target!r} plans with a language model, and this server has none: its operator can set GOLEM_MODEL_T1 and"
        " GOLEM_MODEL_T2 (.env.example). The delegate's tools are the golem's own, so do the step yourself, or ask one"
        " of those that run here",
        runnable=sorted({*REVIEWERS, *RULED}),
        settings=["GOLEM_MODEL_T1", "GOLEM_MODEL_T2"],
    )


def _parent_of(golem: Golem) -> DelegationHop | None:
    """The hop the present code runs in, if it is one of this golem."""
    parent = _scope.get().parent
    return parent if parent is not None and parent.golem.pk == golem.pk else None


def _run_reviewer(hop: DelegationHop, call: HookCall, actor: str) -> Review:
    review = REVIEWERS[hop.target](call)
    close_hop(
        hop=hop, outcome={"verdict": review.verdict.value, "reasons": list(review.reasons)}, actor=actor, now=call.now
    )
    return review


def _may_ask(asking: str, target: str, entry: DelegationEntry) -> bool:
    if entry is DelegationEntry.REVIEW and target in REVIEWERS:
        return True
    return Archetype.objects.filter(name=asking, delegates_to__name=target).exists()


def _note(golem: Golem, event: str, data: dict[str, object], actor: str, now: datetime) -> None:
    audit_log.append(
        golem_id=golem.pk, event=event, actor=actor, data=data, now=now, heartbeat_tick=golem.heartbeat_tick
    )
