"""Loads what a golem asked for and was answered, with the facts that each was judged on."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Final
from uuid import UUID

from django.db.models import Prefetch, QuerySet

from archetypes_app.models import Golem
from permits_app.models import ActionPermit, DeniedCall
from permits_app.models.spending import SpendState
from permits_app.permits.plan_store import decode_plan
from permits_app.safety.hook_inputs_json import JudgedFacts, decode_facts
from tools_app.toolkit.enums import ActionClass
from tools_app.toolkit.plan import TxPlan

LAST_DECISIONS: Final = 100
MOST_DECISIONS: Final = 10_000

_PERMIT_COLUMNS: Final = (
    "id",
    "created_at",
    "tool_name",
    "action_type",
    "venue",
    "chain_id",
    "action_class",
    "api_key_id",
    "signer",
    "acts_for",
    "calls",
    "batch",
    "bounds",
    "value_micro_usd",
    "facts",
    "committing_at",
    "finished_at",
)


@dataclass(frozen=True, slots=True)
class LimitClaim:
    """What an allowed call held of the limits: all of it until `ended_at`, then `settled_micro_usd`, or nothing."""

    reserved_micro_usd: int
    ended_at: datetime | None = None
    settled_micro_usd: int = 0
    settled_at: datetime | None = None

    def amount_at(self, time: datetime) -> int:
        """Micro-USD held at `time`."""
        return self.reserved_micro_usd if self.ended_at is None or time < self.ended_at else self.settled_micro_usd

    def is_held_at(self, time: datetime) -> bool:
        """Whether it still counts as a write and as a spend at `time`: released, it counts as neither."""
        return self.settled_at is not None or self.ended_at is None or time < self.ended_at


@dataclass(frozen=True, slots=True)
class PastDecision:
    """One decision as it was: allowed, or refused by `rule`. Value in micro-USD: gas included where it was known.

    `rebalanced_at` are the times under which it counted as a rebalance. `facts` is None in rows before they were kept.
    """

    id: UUID | int
    at: datetime
    tool_name: str
    action_type: str
    venue: str
    action_class: ActionClass
    key_id: UUID | None
    account: str
    plan: TxPlan
    value_micro_usd: int
    rule: str
    claim: LimitClaim
    facts: JudgedFacts | None
    rebalanced_at: frozenset[datetime] = frozenset()

    @property
    def is_allowed(self) -> bool:
        """Whether it got a permit."""
        return not self.rule


def list_decisions(*, golem: Golem, last: int, since: datetime | None = None) -> list[PastDecision]:
    """The golem's last `last` decisions about transactions, allowed and refused, oldest first; none before `since`."""
    permits, denied = _decisions_of(golem)
    if since is not None:
        permits, denied = permits.filter(created_at__gte=since), denied.filter(denied_at__gte=since)
    entries = Prefetch("spend_entries", to_attr="known_spend_entries")
    rows = permits.prefetch_related(entries).only(*_PERMIT_COLUMNS).order_by("-created_at")[:last]
    found = [*map(_of_permit, rows), *map(_of_denial, denied.order_by("-denied_at")[:last])]
    return sorted(found, key=lambda each: each.at)[-last:]


def count_decisions(golem: Golem) -> int:
    """How many there are, in both tables: MOST_DECISIONS at most of each, for no more are tried."""
    permits, denied = _decisions_of(golem)
    return permits[:MOST_DECISIONS].count() + denied[:MOST_DECISIONS].count()


def _decisions_of(golem: Golem) -> tuple[QuerySet[ActionPermit], QuerySet[DeniedCall]]:
    permits = ActionPermit.objects.filter(golem=golem, is_local=False, halt_epoch__isnull=True)
    return permits, DeniedCall.objects.filter(golem=golem)


def _of_permit(permit: ActionPermit) -> PastDecision:
    times = (permit.created_at, permit.committing_at, permit.finished_at)
    return PastDecision(
        id=permit.pk,
        at=permit.created_at,
        tool_name=permit.tool_name,
        action_type=permit.action_type,
        venue=permit.venue,
        action_class=ActionClass(permit.action_class),
        key_id=permit.api_key_id,
        account=permit.account,
        plan=decode_plan(permit),
        value_micro_usd=permit.value_micro_usd,
        rule="",
        claim=_claim_of(permit),
        facts=decode_facts(permit.facts, at=permit.created_at),
        rebalanced_at=frozenset(each for each in times if each is not None),
    )


def _claim_of(permit: ActionPermit) -> LimitClaim:
    entry = permit.spend_entry
    if entry is None or entry.state == SpendState.RESERVED:
        return LimitClaim(permit.value_micro_usd)
    if entry.state == SpendState.RELEASED:
        return LimitClaim(permit.value_micro_usd, ended_at=permit.finished_at or permit.created_at)
    return LimitClaim(
        permit.value_micro_usd,
        ended_at=permit.finished_at,
        settled_micro_usd=entry.settled_micro_usd or 0,
        settled_at=entry.counted_at,
    )


def _of_denial(row: DeniedCall) -> PastDecision:
    return PastDecision(
        id=row.pk,
        at=row.denied_at,
        tool_name=row.tool_name,
        action_type=row.action_type,
        venue=row.venue,
        action_class=ActionClass(row.action_class),
        key_id=row.api_key_id,
        account=row.signer,
        plan=decode_plan(row),
        value_micro_usd=row.value_micro_usd,
        rule=row.rule or row.code,
        claim=LimitClaim(row.value_micro_usd),
        facts=decode_facts(row.facts, at=row.denied_at),
        rebalanced_at=frozenset({row.denied_at}),
    )
