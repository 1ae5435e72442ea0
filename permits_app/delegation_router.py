"""One archetype asks another, inside the same golem, wallet and limits; every hop is a line in the audit log.

A hop is refused when its target does not exist, the asking archetype does not list it, it would close a circle, or
the chain would be longer than three hops. The runtime's own review (hook 3, risk tier ELEVATED) needs no edge: it
may ask a reviewer for every archetype, since no archetype may escape it. Appends DelegationHop, DelegationEnded or
DelegationRefused. Seed: 000, "Delegation graph"; decisions, "Archetypes".
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import Any, Final
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
from permits_app.reviewers.review import Review
from permits_app.safety.hook import HookCall
from tools_app.core import audit_log
from tools_app.core.errors import GolemError
from tools_app.toolkit.toolset import Toolset

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
class Hop:
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


def open_hop(
    *,
    golem: Golem,
    target: str,
    entry: DelegationEntry,
    actor: str,
    now: datetime,
    parent: Hop | None = None,
    instruction: str = "",
) -> Hop:
    """Check one hop, note it in the audit log, and give the delegate's tools cut to the golem's.

    Starts at the golem's own archetype, or at `parent`'s delegate. A refusal is noted too. Raises
    DelegationTargetNotFound, DelegationCycleDetected, DelegationNotAllowed, DelegationTooDeep.
    """
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
    hop = Hop(
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


def close_hop(*, hop: Hop, outcome: Mapping[str, Any], actor: str, now: datetime) -> None:
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


def review_call(*, call: HookCall, reviewer: str, actor: str, parent: Hop | None = None) -> Review:
    """The runtime's review of one call, noted as a hop. The reviewer itself never raises; it vetoes.

    Raises what `open_hop` raises: a reviewer that cannot be asked lets nothing pass.
    """
    if reviewer == call.golem.archetype.name and parent is None:
        # A golem that is itself the reviewer is judged by the same checks; it has no hop to itself.
        return REVIEWERS[reviewer](call)
    hop = open_hop(
        golem=call.golem, target=reviewer, entry=DelegationEntry.REVIEW, actor=actor, now=call.now, parent=parent
    )
    return _run_reviewer(hop, call, actor)


def delegate_review(
    *, golem: Golem, target: str, call: HookCall, instruction: str, actor: str, now: datetime
) -> tuple[Hop, Review]:
    """An agent asks `target` to judge a call. Raises what `open_hop` raises, and DelegateNeedsModel."""
    hop = open_hop(
        golem=golem, target=target, entry=DelegationEntry.AGENT, actor=actor, now=now, instruction=instruction
    )
    try:
        check_runnable(target)
    except DelegateNeedsModel as error:
        close_hop(hop=hop, outcome={"code": error.code}, actor=actor, now=now)
        raise
    return hop, _run_reviewer(hop, call, actor)


def check_runnable(target: str) -> None:
    """Whether this server can run `target` by itself. Raises DelegateNeedsModel."""
    if target not in REVIEWERS:
        raise DelegateNeedsModel(
            f"{target!r} plans with a language model, and this server runs none; its tools are the golem's own,"
            " so do the step yourself, or ask one of those that run here",
            runnable=sorted(REVIEWERS),
        )


def _run_reviewer(hop: Hop, call: HookCall, actor: str) -> Review:
    review = REVIEWERS[hop.target](call)
    close_hop(
        hop=hop, outcome={"verdict": review.verdict.value, "reasons": list(review.reasons)}, actor=actor, now=call.now
    )  # fmt: skip
    return review


def _may_ask(asking: str, target: str, entry: DelegationEntry) -> bool:
    if entry is DelegationEntry.REVIEW and target in REVIEWERS:
        return True
    return Archetype.objects.filter(name=asking, delegates_to__name=target).exists()


def _note(golem: Golem, event: str, data: dict[str, Any], actor: str, now: datetime) -> None:
    audit_log.append(
        golem_id=golem.pk, event=event, actor=actor, data=data, now=now, heartbeat_tick=golem.heartbeat_tick
    )  # fmt: skip
