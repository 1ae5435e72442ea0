"""Answers an open page whether what it shows of a person's golems is out of date, and when they were measured last."""

from __future__ import annotations

from django.http import HttpRequest, JsonResponse
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_safe

from archetypes_app.ownership import list_seen_golems
from permits_app.pages.freshness import read_freshness
from tools_app.core import clock


@never_cache
@require_safe
def show_freshness(request: HttpRequest) -> JsonResponse:
    """`is_behind` and `measured_at` of all golems that the person sees; nothing of anybody else's."""
    golems = list_seen_golems(request.user)
    found = read_freshness(golems, now=clock.now())
    return JsonResponse({"is_behind": found.is_behind, "measured_at": found.mark})
