"""The cockpit of one golem and the fleet: whole pages, and their changing parts alone for the page's script."""

from __future__ import annotations

from typing import Any
from uuid import UUID

from django.contrib import admin
from django.core.exceptions import PermissionDenied
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods, require_safe

from archetypes_app.demo_golems import APART, link_to
from archetypes_app.ownership import has_power, is_operator, list_seen_golems
from archetypes_app.roles import Power
from golem_project.cockpit.chart_spans import Span, read_span
from golem_project.cockpit.live_feed import TELLING
from golem_project.cockpit.page_contents import build_cockpit, build_fleet
from golem_project.cockpit.risks import build_risks
from golem_project.cockpit.strategy_page import DaysForm, build_trial, list_sentences
from tools_app.core import clock
from tools_app.core.events import EventType

EVENT_TYPES = ",".join(str(kind) for kind in EventType)
TELLING_FIELDS = ",".join(TELLING)


@never_cache
@require_safe
def show_cockpit(request: HttpRequest, golem_id: UUID) -> HttpResponse:
    """One golem of this person's. Raises Http404 for any other."""
    return _render(request, "golem", **_build_cockpit(request, golem_id))


@never_cache
@require_safe
def show_cockpit_parts(request: HttpRequest, golem_id: UUID) -> HttpResponse:
    """The parts of that page which change."""
    return render(request, "golem_project/cockpit/_golem_parts.html", _build_cockpit(request, golem_id))


@never_cache
@require_safe
def show_risks(request: HttpRequest, golem_id: UUID) -> HttpResponse:
    """The risk board of one golem of this person's, measured now. Raises Http404 for any other."""
    _check_may_see(request)
    golem = list_seen_golems(request.user).select_related("archetype").filter(pk=golem_id).first()
    if golem is None:
        raise Http404("no such golem")
    board = build_risks(golem, now=clock.now())
    may_act = golem.owner_id == request.user.pk or has_power(golem, request.user, Power.OPERATE)
    page = {"title": f"Risks of {golem.name}", "board": board, "may_act": may_act}
    context = {**admin.site.each_context(request), **page}
    return render(request, "golem_project/cockpit/risks.html", context)


@never_cache
@require_http_methods(["GET", "HEAD", "POST"])
def show_strategies(request: HttpRequest, golem_id: UUID) -> HttpResponse:
    """A form of how many days; once it is sent, what the golem's strategies would have done in them. Raises Http404."""
    _check_may_see(request)
    golem = list_seen_golems(request.user).select_related("heartbeat").filter(pk=golem_id).first()
    heartbeat = getattr(golem, "heartbeat", None)
    if golem is None or heartbeat is None:
        raise Http404("no such golem, or it has no heartbeat")
    form = DaysForm(request.POST or None)
    board = None
    if request.method == "POST" and form.is_valid():
        board = build_trial(heartbeat, days=int(form.cleaned_data["days"]), now=clock.now())
    context = {
        **admin.site.each_context(request),
        "title": f"Strategies of {golem.name} over the past",
        "golem": golem,
        "form": form,
        "board": board,
        "sentences": list_sentences(heartbeat),
    }
    return render(request, "golem_project/cockpit/strategies.html", context)


@never_cache
@require_safe
def show_fleet(request: HttpRequest) -> HttpResponse:
    """Every golem of this person's."""
    _check_may_see(request)
    return _render(request, "fleet", **_build_fleet(request))


@never_cache
@require_safe
def show_fleet_parts(request: HttpRequest) -> HttpResponse:
    """The parts of that page which change."""
    _check_may_see(request)
    return render(request, "golem_project/cockpit/_fleet_parts.html", _build_fleet(request))


def _build_fleet(request: HttpRequest) -> dict[str, object]:
    is_with_apart = APART in request.GET
    fleet = build_fleet(request.user, now=clock.now(), is_with_apart=is_with_apart)
    asked = link_to(request.GET, is_with_apart=is_with_apart)
    return {"fleet": fleet, "asked": asked, "apart_url": link_to(request.GET, is_with_apart=not is_with_apart)}


def _build_cockpit(request: HttpRequest, golem_id: UUID) -> dict[str, object]:
    _check_may_see(request)
    golem = (
        list_seen_golems(request.user)
        .select_related("archetype", "heartbeat", "vitality_record")
        .filter(pk=golem_id)
        .first()
    )
    if golem is None:
        raise Http404("no such golem")
    has_book = golem.owner_id == request.user.pk or is_operator(request.user)
    board = build_cockpit(golem, now=clock.now(), span=read_span(request.GET), has_book=has_book)
    may_act = golem.owner_id == request.user.pk or has_power(golem, request.user, Power.OPERATE)
    return {"cockpit": board, "spans": list(Span), "may_act": may_act}


def _check_may_see(request: HttpRequest) -> None:
    if not request.user.has_perm("archetypes_app.view_golem"):
        raise PermissionDenied


def _render(request: HttpRequest, page: str, **context: Any) -> HttpResponse:  # Any: a template takes any value
    title = context["cockpit"].golem.name if "cockpit" in context else "Fleet"
    return render(
        request,
        f"golem_project/cockpit/{page}.html",
        {
            **admin.site.each_context(request),
            "title": title,
            "event_types": EVENT_TYPES,
            "telling": TELLING_FIELDS,
            **context,
        },
    )
