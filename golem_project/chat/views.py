"""The page on which an owner talks to a golem: whole, and its changing part alone for the page's script."""

from __future__ import annotations

from typing import Any
from uuid import UUID

from django.contrib import admin
from django.core.exceptions import PermissionDenied
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseRedirect
from django.shortcuts import render
from django.urls import reverse
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_POST, require_safe

from archetypes_app.models import ChatTurn, Golem
from archetypes_app.models.chat import OPEN_CHAT_STATES
from archetypes_app.ownership import has_power, list_golems_with
from archetypes_app.roles import Power
from golem_project.chat.converse import get_client
from golem_project.chat.forms import WordsForm
from golem_project.chat.tasks import answer_turn_task
from golem_project.chat.turn_states import ask_golem, end_turn, stop_turn
from golem_project.heartbeat.thinking.errors import ModelNotConfigured
from tools_app.core import clock, event_log
from tools_app.core.errors import BrokerUnavailable, GolemError
from tools_app.core.events import EventType
from tools_app.core.units import format_micro_usd
from tools_app.core.worker_dispatch import enqueue
from tools_app.pages.confirmation import report_refusal

SHOWN_TURNS = 20
_TYPES = (EventType.CHAT_TURN, EventType.TOOL_START, EventType.TOOL_UPDATE, EventType.TOOL_END, EventType.TOOL_ERROR)


@never_cache
@require_safe
def show_chat(request: HttpRequest, golem_id: UUID) -> HttpResponse:
    """The conversation with one golem of this person's. Raises Http404 for any other."""
    return _render(request, _get_golem(request, golem_id), WordsForm())


@never_cache
@require_safe
def show_chat_parts(request: HttpRequest, golem_id: UUID) -> HttpResponse:
    """The part of that page which changes."""
    golem = _get_golem(request, golem_id)
    return render(request, "golem_project/chat/_turns.html", _describe(golem))


@require_POST
def say_words(request: HttpRequest, golem_id: UUID) -> HttpResponse:
    """A message for the golem, answered by a worker."""
    golem = _get_golem(request, golem_id)
    form = WordsForm(request.POST)
    if not form.is_valid():
        return _render(request, golem, form)
    page = reverse("chat", args=[golem.pk])
    try:
        get_client()
        turn = ask_golem(
            golem=golem,
            owner=request.user,
            words=form.cleaned_data["words"],
            begins_anew=form.cleaned_data["begins_anew"],
            now=clock.now(),
        )
    except GolemError as error:
        return report_refusal(request, error, page)
    try:
        enqueue(answer_turn_task, turn_id=str(turn.pk))
    except BrokerUnavailable as error:
        end_turn(turn=turn, report=None, stopped_by=error.code, now=clock.now())
        return report_refusal(request, error, page)
    return HttpResponseRedirect(f"{page}#newest")


@require_POST
def stop_answer(request: HttpRequest, golem_id: UUID) -> HttpResponse:
    """End the answer under way."""
    golem = _get_golem(request, golem_id)
    stop_turn(golem=golem, now=clock.now())
    return HttpResponseRedirect(f"{reverse('chat', args=[golem.pk])}#newest")


def _get_golem(request: HttpRequest, golem_id: UUID) -> Golem:
    person: Any = request.user  # Any: which model accounts have is a setting
    if not person.has_perm("archetypes_app.change_golem"):
        raise PermissionDenied
    power = Power.OPERATE if request.method == "POST" else Power.SEE
    golem = list_golems_with(person, power).select_related("archetype").filter(pk=golem_id).first()
    if golem is None:
        raise Http404("no golem of yours")
    return golem


def _describe(golem: Golem) -> dict[str, object]:
    # Before the rows are read: an event in between is seen twice, never lost.
    cursor = event_log.read_head().cursor()
    newest = ChatTurn.objects.filter(golem=golem).select_related("owner").prefetch_related("steps")
    turns = list(newest.order_by("-asked_at")[:SHOWN_TURNS])[::-1]
    return {
        "golem": golem,
        "cursor": cursor,
        "turns": [{"row": turn, "cost": format_micro_usd(turn.spent_micro_usd)} for turn in turns],
        "is_open": any(turn.state in OPEN_CHAT_STATES for turn in turns),
    }


def _render(request: HttpRequest, golem: Golem, form: WordsForm) -> HttpResponse:
    try:
        get_client()
        problem = ""
    except ModelNotConfigured as error:
        problem = error.detail
    return render(
        request,
        "golem_project/chat/chat.html",
        {
            **admin.site.each_context(request),
            "title": f"Talk to {golem.name}",
            "form": form,
            "problem": problem,
            "may_ask": has_power(golem, request.user, Power.OPERATE),
            "event_types": ",".join(map(str, _TYPES)),
            **_describe(golem),
        },
    )
