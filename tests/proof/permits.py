"""The permit lifecycle and the ledger against a naive reference: random walks on real rows in PostgreSQL.

The reference is a few dictionaries that know nothing of SQL; after every step rows and reference must agree, no limit
may be passed, and no reservation may be counted twice or lost.
"""

from __future__ import annotations

import random
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any
from uuid import UUID, uuid4

from django.contrib.auth import get_user_model
from django.db import transaction

from archetypes_app.models import Archetype, Golem
from archetypes_app.models.golem import Maker
from permits_app.actions.cancel import block_permit, cancel_permit
from permits_app.actions.expire import expire_lapsed
from permits_app.actions.start_commit import start_commit
from permits_app.limits import ledger
from permits_app.limits.valuation import PlanValue
from permits_app.models import ActionPermit, SpendEntry, SpendingLimits
from permits_app.models.permit import PermitStatus
from permits_app.models.spending import SpendState
from tests.proof.registry import Progress, proof
from tests.proof.walks import WALKS, WALKS_PER_ROUND, require, walk_rounds
from tools_app.core import clock
from tools_app.core.audit_checkpoints import verify_stored_chain
from tools_app.core.errors import GolemError

DAY_LIMIT = 1_000
TRANSACTION_LIMIT = 400
TTL = timedelta(seconds=60)
_STEPS_PER_WALK = 40
S = PermitStatus


@dataclass
class Claim:
    """The reference's idea of one permit: amounts in micro-USD."""

    status: PermitStatus
    amount: int
    expires_at: datetime
    counted_at: datetime
    settled: int | None = None

    @property
    def counts(self) -> int:
        """What it takes of the day's limit."""
        if self.status in (S.CANCELLED, S.BLOCKED, S.EXPIRED):
            return 0
        return self.amount if self.settled is None else self.settled


@dataclass
class Reference:
    """The whole model, in memory."""

    claims: dict[UUID, Claim] = field(default_factory=dict)

    def used(self, now: datetime) -> int:
        """Micro-USD of the rolling 24 h before `now`."""
        since = now - timedelta(hours=24)
        return sum(claim.counts for claim in self.claims.values() if claim.settled is None or claim.counted_at > since)

    def fits(self, amount: int, now: datetime) -> bool:
        """Whether a reservation of `amount` may be made."""
        return amount <= TRANSACTION_LIMIT and self.used(now) + amount <= DAY_LIMIT


class PermitWalk:
    """One golem walked step by step, in rows and in the reference at once. Each step says whether it was allowed."""

    def __init__(self, *, now: datetime) -> None:
        self.now = now
        self.reference = Reference()
        owner, _ = get_user_model().objects.get_or_create(username="walker")
        archetype = Archetype.objects.get(name="golem-instance")
        self.golem = Golem.objects.create(
            name=f"walk {uuid4().hex[:12]}", owner=owner, archetype=archetype, made_by=Maker.MEASUREMENT
        )
        SpendingLimits.objects.create(
            golem=self.golem,
            per_transaction_micro_usd=TRANSACTION_LIMIT,
            per_day_micro_usd=DAY_LIMIT,
            per_tick_micro_usd=10**12,
            per_session_micro_usd=10**12,
            writes_per_hour=10**6,
        )

    def reserve(self, amount: int) -> bool:
        """Open a permit of `amount`; both sides must agree whether it fits."""
        self.expire()
        expected = self.reference.fits(amount, self.now)
        permit = ActionPermit(
            id=uuid4(),
            golem=self.golem,
            tool_name="walk",
            action_type="walk",
            venue="walk",
            chain_id=31337,
            action_hash=f"0x{uuid4().hex}",
            action_class="REBALANCE",
            risk_tier="STANDARD",
            plan_hash="0x",
            policy_hash="0x",
            value_micro_usd=amount,
            expires_at=self.now + TTL,
            expires_at_tick=3,
        )
        try:
            with transaction.atomic():
                ledger.lock_limits(self.golem.pk)
                permit.save(force_insert=True)
                ledger.reserve(
                    permit=permit,
                    value=PlanValue(gas_micro_usd=amount),
                    counts_per_day=True,
                    heartbeat_tick=0,
                    now=self.now,
                )
            done = True
        except GolemError:
            done = False
        if done:
            self.reference.claims[permit.pk] = Claim(S.CREATED, amount, permit.expires_at, self.now)
        return self._agree(done, expected, f"reserve {amount}")

    def start(self, permit_id: UUID) -> bool:
        """Start a commit: only a living CREATED permit goes."""
        claim = self.reference.claims[permit_id]
        expected = claim.status == S.CREATED and self.now < claim.expires_at
        done = self._try(lambda: start_commit(golem=self.golem, permit_id=permit_id, actor="walk", now=self.now))
        if claim.status == S.CREATED:
            claim.status = S.COMMITTING if done else S.EXPIRED
        return self._agree(done, expected, "start")

    def end(self, permit_id: UUID, *, blocks: bool) -> bool:
        """Cancel or block: only an open permit goes."""
        claim = self.reference.claims[permit_id]
        expected = claim.status == S.CREATED
        act: Any = block_permit if blocks else cancel_permit
        done = self._try(lambda: act(golem=self.golem, permit_id=permit_id, reason="walk", actor="walk", now=self.now))
        if done:
            claim.status = S.BLOCKED if blocks else S.CANCELLED
        return self._agree(done, expected, "end")

    def settle(self, permit_id: UUID, spent: int) -> bool:
        """Settle once, at whatever was spent, and only what is still reserved."""
        claim = self.reference.claims[permit_id]
        expected = claim.settled is None and claim.status == S.COMMITTING
        if claim.status != S.COMMITTING:
            return True
        done = ledger.settle(permit_id=permit_id, spent_micro_usd=spent, counted_at=self.now)
        if done:
            claim.settled, claim.counted_at = spent, self.now
        return self._agree(done, expected, "settle")

    def reopen(self, permit_id: UUID) -> bool:
        """A reorganisation: the whole reservation counts again."""
        claim = self.reference.claims[permit_id]
        expected = claim.settled is not None
        with transaction.atomic():
            ledger.lock_limits(self.golem.pk)
            done = ledger.reopen(permit_id=permit_id, now=self.now)
        if done:
            claim.amount, claim.settled, claim.counted_at = max(claim.amount, claim.settled or 0), None, self.now
        return self._agree(done, expected, "reopen")

    def expire(self) -> bool:
        """The sweep: expires exactly what has lapsed."""
        lapsed = [c for c in self.reference.claims.values() if c.status == S.CREATED and c.expires_at <= self.now]
        count = expire_lapsed(golem_id=self.golem.pk, now=self.now)
        for claim in lapsed:
            claim.status = S.EXPIRED
        return self._agree(count == len(lapsed), True, "expire")

    def pass_time(self, delta: timedelta) -> None:
        """Let the clock go on."""
        self.now += delta

    def check(self) -> None:
        """Rows and reference agree, and no limit is passed. Raises AssertionError."""
        rows = {permit.pk: permit.status for permit in ActionPermit.objects.filter(golem=self.golem)}
        told = {pk: str(claim.status) for pk, claim in self.reference.claims.items()}
        require(rows == told, f"statuses differ: {rows} and {told}")
        usage = ledger.read_usage(golem_id=self.golem.pk, api_key_id=None, heartbeat_tick=0, now=self.now)
        used = self.reference.used(self.now)
        require(usage.day_micro_usd == used, f"{usage.day_micro_usd} in the ledger, {used} in the reference")
        newest = {
            entry.permit_id: entry for entry in SpendEntry.objects.filter(golem=self.golem).order_by("life", "-pk")
        }
        require(len(newest) == len(rows), "a permit has no ledger entry of its own")
        for entry in newest.values():
            is_settled = entry.state == SpendState.SETTLED
            require(
                not is_settled or entry.settled_micro_usd == self.reference.claims[entry.permit_id].settled,
                "settled otherwise",
            )
        broken = verify_stored_chain(self.golem.pk).broken
        require(broken is None, f"the audit chain broke: {broken}")

    def _try(self, call: Any) -> bool:
        try:
            call()
        except GolemError:
            return False
        return True

    def _agree(self, done: bool, expected: bool, step: str) -> bool:
        require(done == expected, f"{step}: rows say {done}, the reference says {expected}")
        return done


@proof(
    id="permits.walks",
    what="1,000 random walks of 40 steps over permits and ledger, in step with a naive reference",
    rounds=WALKS // WALKS_PER_ROUND,
)
def prove_permits(progress: Progress) -> None:
    """Steps at random on rows and reference; the first disagreement ends a walk."""
    walk_rounds(progress, walk_at_random)


def walk_at_random(seed: int) -> None:
    """One walk. Raises AssertionError where rows and reference part."""
    chance = random.Random(seed)
    walk = PermitWalk(now=clock.now())
    for _ in range(_STEPS_PER_WALK):
        known = list(walk.reference.claims)
        step = chance.choice(("reserve", "reserve", "start", "end", "settle", "expire", "time", "reopen"))
        if step == "reserve" or not known:
            walk.reserve(chance.choice((1, 50, 150, TRANSACTION_LIMIT - 1, TRANSACTION_LIMIT, TRANSACTION_LIMIT + 1)))
        elif step == "start":
            walk.start(chance.choice(known))
        elif step == "end":
            walk.end(chance.choice(known), blocks=chance.random() < 0.5)
        elif step == "settle":
            walk.settle(chance.choice(known), chance.choice((0, 1, 100, 10_000)))
        elif step == "reopen":
            walk.reopen(chance.choice(known))
        elif step == "expire":
            walk.expire()
        else:
            walk.pass_time(chance.choice((timedelta(seconds=59), timedelta(seconds=60), timedelta(hours=23))))
        walk.check()
