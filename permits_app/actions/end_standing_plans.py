"""end_standing_plans: plans of a golem are carried out no more. Appends StandingPlanEnded for each."""

from __future__ import annotations

from collections.abc import Collection
from datetime import datetime
from uuid import UUID

from django.db import transaction

from permits_app.models.standing_plan import StandingPlan, list_open_plans
from tools_app.core import audit_log
from tools_app.core.transaction_retry import retry_aborted


@retry_aborted
def end_standing_plans(
    *, golem_id: UUID, actor: str, now: datetime, plan_ids: Collection[UUID] | None = None
) -> list[str]:
    """The words of those that ended: all of the golem's, or those of `plan_ids`. Joins a caller's transaction."""
    with transaction.atomic():
        rows = list_open_plans(golem_id).select_for_update(no_key=True)
        ended = list(rows if plan_ids is None else rows.filter(pk__in=list(plan_ids)))
        for row in ended:
            StandingPlan.objects.filter(pk=row.pk).update(ended_at=now, ended_by=actor)
            data = {"plan_id": str(row.pk), "words": row.words}
            audit_log.append(golem_id=golem_id, event="StandingPlanEnded", actor=actor, data=data, now=now)
    return [row.words for row in ended]
