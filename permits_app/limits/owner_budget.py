"""One daily budget over all golems of an owner: set here, and held to in the transaction that reserves.

Its row is locked behind the golem's and its limits', always in that order, so that two golems of one owner wait for
each other and never both take what is left.
"""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Any, Final
from uuid import UUID

from django.db import transaction
from django.db.models import Min, Q

from archetypes_app.models import Golem
from permits_app.errors import SpendingLimitExceeded
from permits_app.models import OwnerBudget, SpendEntry
from permits_app.models.spending import SpendState
from permits_app.rejection import Reject
from tools_app.core import audit_log
from tools_app.core.compiled_query import CompiledQuery
from tools_app.core.errors import Recovery
from tools_app.core.units import format_micro_usd
from tools_app.core.whole import whole

_DAY: Final = timedelta(hours=24)
LOCKED_BUDGET: CompiledQuery[OwnerBudget] = CompiledQuery(
    lambda golem_id: OwnerBudget.objects.select_for_update(no_key=True, of=("self",)).filter(
        person__in=Golem.objects.filter(pk=golem_id).values("owner")
    ),
    UUID(int=0),
)
"""The budget of a golem's owner, locked."""


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
    return list(Golem.objects.filter(owner_id=budget.person_id).values_list("pk", flat=True))


@whole
def set_budget(*, person: Any, per_day_micro_usd: int | None, actor: str, now: datetime) -> OwnerBudget | None:
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


def _find_next(budget: OwnerBudget, now: datetime) -> datetime | None:
    """When the oldest of what counts leaves the day."""
    counted = SpendEntry.objects.filter(
        ~Q(state=SpendState.RELEASED), golem__owner_id=budget.person_id, counts_per_day=True, counted_at__gt=now - _DAY
    ).aggregate(oldest=Min("counted_at"))["oldest"]
    return counted + _DAY if counted is not None else None
