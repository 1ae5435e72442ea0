"""One daily budget over all golems of an owner: set here, and held to in the transaction that reserves.

Its row is locked behind the golem's and its limits', always in that order, so that two golems of one owner wait for
each other and never both take what is left.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, Final
from uuid import UUID

from django.db import transaction
from django.db.models import Min, Q, Sum

from archetypes_app.models import Golem
from permits_app.errors import SpendingLimitExceeded
from permits_app.hook_rejection import Reject
from permits_app.models import OwnerBudget, SpendEntry
from permits_app.models.spending import SpendState
from tools_app.core import audit_log
from tools_app.core.compiled_query import CompiledQuery
from tools_app.core.errors import Recovery
from tools_app.core.transaction_retry import retry_aborted
from tools_app.core.units import format_micro_usd

_DAY: Final = timedelta(hours=24)
LOCKED_BUDGET: CompiledQuery[OwnerBudget] = CompiledQuery(
    lambda golem_id: OwnerBudget.objects.select_for_update(no_key=True, of=("self",)).filter(
        person__in=Golem.objects.filter(pk=golem_id).values("owner")
    ),
    UUID(int=0),
)
"""The budget of a golem's owner, locked."""


@dataclass(frozen=True, slots=True)
class GolemShare:
    """What one golem has of its owner's day, micro-USD; `held_micro_usd` is the part that open permits reserve, and
    `frees_at` when the oldest of what it spent leaves the day.
    """

    golem_id: UUID
    name: str
    used_micro_usd: int
    held_micro_usd: int
    frees_at: datetime | None


@dataclass(frozen=True, slots=True)
class BudgetView:
    """The day of one owner; `limit_micro_usd` is None without a budget. Golems that used most come first."""

    limit_micro_usd: int | None
    shares: tuple[GolemShare, ...]

    @property
    def used_micro_usd(self) -> int:
        """Of all golems together."""
        return sum(share.used_micro_usd for share in self.shares)

    @property
    def left_micro_usd(self) -> int:
        """What they may still spend together; 0 without a budget."""
        return max(0, (self.limit_micro_usd or 0) - self.used_micro_usd)

    @property
    def frees_at(self) -> datetime | None:
        """When some of it is free again."""
        return min((share.frees_at for share in self.shares if share.frees_at is not None), default=None)


def judge_budget(*, budget: OwnerBudget, used_micro_usd: int, amount_micro_usd: int, now: datetime) -> Reject | None:
    """What speaks against spending so much more; `used_micro_usd` is what all golems of the owner have without it."""
    if used_micro_usd + amount_micro_usd <= budget.per_day_micro_usd:
        return None
    remaining = max(0, budget.per_day_micro_usd - used_micro_usd)
    left, limit = format_micro_usd(remaining), format_micro_usd(budget.per_day_micro_usd)
    frees_at = _find_next(budget, now)
    return Reject(
        rule="spending_limiter.owner_day",
        reason=f"this could cost {format_micro_usd(amount_micro_usd)}; all golems of this owner may spend {limit}"
        f" in 24 hours, and {left} of it remains",
        observed=format_micro_usd(amount_micro_usd),
        limit=limit,
        remaining=left,
        resets_at=frees_at.isoformat() if frees_at is not None else "",
        would_pass=f"at most {left}, gas included" if remaining else "nothing until some of the budget is free again",
        error=SpendingLimitExceeded,
        data={"recovery": Recovery.FIX_PARAMS if remaining else Recovery.WAIT if frees_at else Recovery.ASK_OWNER},
    )


def list_golems_of(budget: OwnerBudget) -> list[UUID]:
    """Every golem whose spending counts in it."""
    return list_golems_of_person(budget.person_id)


def list_golems_of_person(person_id: int) -> list[UUID]:
    """Every golem that the person owns."""
    return list(Golem.objects.filter(owner_id=person_id).values_list("pk", flat=True))


@retry_aborted
def set_budget(
    *,
    person: Any,  # Any: whoever is signed in, of the project's user model
    per_day_micro_usd: int | None,
    actor: str,
    now: datetime,
) -> OwnerBudget | None:
    """Set it, or end it with None; each golem's log says so. What is reserved already stays."""
    with transaction.atomic():
        golems = list(Golem.objects.filter(owner=person).order_by("pk").values_list("pk", flat=True))
        budget = None
        if per_day_micro_usd is None:
            OwnerBudget.objects.filter(person=person).delete()
        else:
            budget, _ = OwnerBudget.objects.update_or_create(
                person=person, defaults={"per_day_micro_usd": per_day_micro_usd}
            )
        facts = {"per_day_micro_usd": "" if per_day_micro_usd is None else str(per_day_micro_usd)}
        for golem_id in golems:
            audit_log.append(golem_id=golem_id, event="OwnerBudgetSet", actor=actor, data=facts, now=now)
    return budget


def find_limit(person_id: int) -> int | None:
    """The budget of a person in micro-USD, None without one."""
    found = OwnerBudget.objects.filter(person_id=person_id).values_list("per_day_micro_usd", flat=True).first()
    return None if found is None else int(found)


def read_shares(*, person_id: int, used: dict[UUID, int], now: datetime) -> tuple[GolemShare, ...]:
    """Who of the person's golems has how much of the day. `used` is what `ledger.sum_days` says of them."""
    golems = dict(Golem.objects.filter(owner_id=person_id).values_list("pk", "name"))
    counted = {golem_id: (held, oldest) for golem_id, held, oldest in _sum_held(list(golems), now)}
    shares = []
    for golem_id, name in golems.items():
        held, oldest = counted.get(golem_id, (0, None))
        frees_at = oldest + _DAY if oldest is not None else None
        shares.append(GolemShare(golem_id, str(name), used.get(golem_id, 0), int(held or 0), frees_at))
    return tuple(sorted(shares, key=lambda share: (-share.used_micro_usd, share.name)))


def _sum_held(golem_ids: Sequence[UUID], now: datetime) -> list[tuple[UUID, int | None, datetime | None]]:
    """What open permits of each golem hold, and when the oldest of what it spent in the day was counted."""
    spent = Q(state=SpendState.SETTLED, counted_at__gt=now - _DAY, settled_micro_usd__gt=0, reversal__isnull=True)
    entries = SpendEntry.objects.filter(golem_id__in=golem_ids, counts_per_day=True).filter(
        spent | Q(state=SpendState.RESERVED)
    )
    return list(
        entries.values_list("golem_id").annotate(
            held=Sum("reserved_micro_usd", filter=Q(state=SpendState.RESERVED)),
            oldest=Min("counted_at", filter=spent),
        )
    )


def _find_next(budget: OwnerBudget, now: datetime) -> datetime | None:
    """When the oldest of what counts leaves the day."""
    counted = SpendEntry.objects.filter(
        ~Q(state=SpendState.RELEASED), golem__owner_id=budget.person_id, counts_per_day=True, counted_at__gt=now - _DAY
    ).aggregate(oldest=Min("counted_at"))["oldest"]
    return counted + _DAY if counted is not None else None
