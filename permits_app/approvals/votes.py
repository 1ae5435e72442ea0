"""Which approvals count: those of people who decide for the golem today; when a role ends, so do its approvals."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from django.db.models import Count

from archetypes_app.ownership import match_pairs
from archetypes_app.roles import Power
from permits_app.models import ChangeRequest, OwnerApproval
from permits_app.models.approval import Verdict


def count_given(request: ChangeRequest) -> int:
    """How many approvals of `request` count."""
    return count_all([request.pk]).get(request.pk, 0)


def count_all(request_ids: Iterable[Any]) -> dict[Any, int]:
    """The same by request, in one reading; a request without any is left out."""
    rows = OwnerApproval.objects.filter(request_id__in=list(request_ids), verdict=Verdict.APPROVE)
    rows = rows.filter(match_pairs(Power.DECIDE, golem="request__golem", person="owner"))
    return dict(rows.values_list("request_id").annotate(n=Count("pk")))
