"""Random walks over the pulse: beats, workers, deaths, late deliveries and clocks that jump, against plain rules.

A walk has three golems and several workers that may stop anywhere between claim and end. After every step the rows must
say: no number twice or left out, one tick at a time, a decision for each that ended, and nobody waits for ever.
"""

from __future__ import annotations

import random
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from uuid import UUID, uuid4

from django.contrib.auth import get_user_model

from archetypes_app.models import Archetype, DecisionCycleRecord, Golem, Heartbeat, HeartbeatTick
from archetypes_app.models.golem import Maker
from archetypes_app.models.tick import TickStatus
from golem_project.heartbeat.cycle import run_heartbeat_tick
from golem_project.heartbeat.schedule import plan_next_tick
from golem_project.heartbeat.tick_claims import BegunTick, TickClaim, TickEnd, begin_tick, claim_due, end_tick
from tests.proof.registry import Progress, proof
from tests.proof.walks import WALKS, WALKS_PER_ROUND, require, walk_rounds
from tools_app.core import clock

LEASE_SECONDS = 90
THETA_SECONDS = 60
JITTER_BPS = 500
_GOLEMS = 3
_STEPS = 40
_SETTLING_STEPS = 8


@dataclass
class PulseWalk:
    """One walk: the rows, the claims that are under way, and a clock that the walk moves."""

    now: datetime
    golems: list[Golem] = field(default_factory=list)
    claims: list[TickClaim] = field(default_factory=list)
    begun: list[BegunTick] = field(default_factory=list)
    last_fence: dict[UUID, int] = field(default_factory=dict)

    def __post_init__(self) -> None:
        owner, _ = get_user_model().objects.get_or_create(username="walker")
        Heartbeat.objects.filter(golem__owner=owner).update(is_on=False)
        if Heartbeat.objects.filter(is_on=True).exists():
            # Its beats would claim them and never tick them.
            raise RuntimeError("golems live on this database; walk on throw-away servers")
        archetype = Archetype.objects.get(name="golem-instance")
        for _ in range(_GOLEMS):
            golem = Golem.objects.create(
                name=f"walk {uuid4().hex[:12]}", owner=owner, archetype=archetype, made_by=Maker.MEASUREMENT
            )
            Heartbeat.objects.create(golem=golem, is_on=True, next_tick_at=self.now)
            self.golems.append(golem)

    def beat(self, limit: int) -> None:
        """One look for golems that are due; what is claimed may be begun now, later, twice or never."""
        for claim in claim_due(now=self.now, limit=limit, lease_seconds=LEASE_SECONDS, jitter_bps=JITTER_BPS):
            if claim.golem_id not in {golem.pk for golem in self.golems}:
                continue
            require(claim.fence > self.last_fence.get(claim.golem_id, 0), "a fence did not rise")
            self.last_fence[claim.golem_id] = claim.fence
            self.claims.append(claim)

    def begin(self, claim: TickClaim) -> None:
        """A worker begins what it was given."""
        begun = begin_tick(claim=claim, lease_seconds=LEASE_SECONDS, now=self.now)
        is_newest = claim.fence == self.last_fence[claim.golem_id]
        require(begun is None or is_newest, "an older claim began a tick")
        if begun is not None:
            require(all(each.fence != begun.fence or each.golem.pk != claim.golem_id for each in self.begun), "twice")
            self.begun.append(begun)

    def end(self, begun: BegunTick) -> None:
        """A worker ends its tick, however late."""
        is_newest = begun.fence == self.last_fence[begun.golem.pk]
        planned = plan_next_tick(
            golem_id=begun.golem.pk,
            heartbeat_tick=begun.number,
            scheduled_at=begun.scheduled_at,
            theta_seconds=THETA_SECONDS,
            jitter_bps=JITTER_BPS,
            now=self.now,
        )
        record = DecisionCycleRecord(
            tick_id=begun.id,
            golem_id=begun.golem.pk,
            heartbeat_tick=begun.number,
            decided_at=self.now,
            is_live=False,
            phase=begun.golem.phase,
        )
        end = TickEnd(TickStatus.COMPLETE, 1, planned.at, planned.missed, begun.regime, {}, 0)
        done = end_tick(begun=begun, end=end, record=record, now=self.now)
        require(done == is_newest, "a tick ended that another one had taken over, or its own holder could not end it")

    def tick_whole(self, claim: TickClaim) -> None:
        """The real cycle, on a golem without a wallet."""
        run_heartbeat_tick(claim=claim, now=lambda: self.now)

    def settle(self) -> None:
        """However it was left, within six minutes of an honest clock (interval, lease, slack) every golem ticks."""
        before = dict(HeartbeatTick.objects.filter(golem__in=self.golems).values_list("golem_id", "number"))
        for _ in range(_SETTLING_STEPS):
            self.now += timedelta(seconds=40)
            self.claims.clear()
            self.beat(_GOLEMS)
            for claim in self.claims:
                self.tick_whole(claim)
        for golem in self.golems:
            newest = HeartbeatTick.objects.filter(golem=golem).order_by("-number").first()
            require(newest is not None and newest.number > before.get(golem.pk, 0), "a golem did not tick again")
        self.check()

    def check(self) -> None:
        """The rules, on the rows. Raises AssertionError."""
        for golem in self.golems:
            golem.refresh_from_db()
            ticks = list(HeartbeatTick.objects.filter(golem=golem).order_by("number"))
            require([tick.number for tick in ticks] == list(range(1, golem.heartbeat_tick + 1)), "numbers of ticks")
            running = [tick for tick in ticks if tick.status == TickStatus.RUNNING]
            require(len(running) <= 1 and all(tick is ticks[-1] for tick in running), "two ticks run")
            decided = set(DecisionCycleRecord.objects.filter(golem=golem).values_list("heartbeat_tick", flat=True))
            done = {tick.number for tick in ticks if tick.status == TickStatus.COMPLETE}
            require(done <= decided, "a tick ended without a decision")


@proof(
    id="heartbeat.walks",
    what="1,000 random walks of 40 steps over claims, deaths, late deliveries and clock jumps, and each ticks again",
    rounds=WALKS // WALKS_PER_ROUND,
)
def prove_heartbeat(progress: Progress) -> None:
    """Beats, workers and clocks at random on rows of three golems a walk."""
    walk_rounds(progress, walk_at_random)


def walk_at_random(seed: int) -> None:
    """One walk. Raises AssertionError where a rule does not hold."""
    chance = random.Random(seed)
    walk = PulseWalk(now=clock.now())
    for _ in range(_STEPS):
        step = chance.choice(("beat", "beat", "begin", "begin", "whole", "end", "end", "die", "time", "time", "jump"))
        if step == "beat":
            walk.beat(chance.choice((1, 2, _GOLEMS)))
        elif step == "begin" and walk.claims:
            walk.begin(chance.choice(walk.claims))
        elif step == "whole" and walk.claims:
            walk.tick_whole(chance.choice(walk.claims))
        elif step == "end" and walk.begun:
            walk.end(walk.begun.pop(chance.randrange(len(walk.begun))))
        elif step == "die" and walk.begun:
            walk.begun.pop(chance.randrange(len(walk.begun)))
        elif step == "time":
            walk.now += timedelta(seconds=chance.choice((1, 20, 59, 61, LEASE_SECONDS + 1)))
        elif step == "jump":
            walk.now += chance.choice((timedelta(hours=6), timedelta(hours=-6), timedelta(minutes=-3)))
        walk.check()
    walk.settle()
