"""The one Stop: a golem, some, or all; this server and the contract together; what it ends is told before."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from django.contrib import messages
from django.core.exceptions import PermissionDenied
from django.forms import BooleanField
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.template.response import TemplateResponse
from django.urls import path, reverse
from django.utils.html import format_html
from unfold.widgets import UnfoldBooleanWidget

from archetypes_app.audit_actor_names import name_actor
from archetypes_app.models import Golem
from archetypes_app.ownership import list_golems_with
from archetypes_app.roles import Power
from permits_app.actions.choose_halt import choose_halt
from permits_app.actions.halt import halt_golem
from permits_app.actions.request_change import request_operation
from permits_app.admin.golem_site import Wrap, as_golem_admin
from permits_app.admin.halt_forecast import Forecast, foretell_halts
from permits_app.admin.halts import show_steps
from permits_app.approval_pages.views import page_of as page_of_request
from permits_app.forms import HaltChoiceForm, HaltForm
from permits_app.halts.halt_choices import SAYS, HaltChoice, read_chosen, read_most_loss
from permits_app.pages.exit_lines import ExitLine, foretell_exits
from permits_app.pages.golem_state import GolemState, read_states
from permits_app.words.address_book import read_book
from tools_app.core import clock
from tools_app.core.errors import GolemError
from tools_app.core.stored_json import read_stored

MOST_READ = 3
"""So many golems' positions are read from the chain before a stop; the rest is told after it."""


class StopForm(HaltForm):
    """Why, whether it is a drill, and whether the contracts stop too."""

    on_chain = BooleanField(
        label="Halt their contracts too",
        required=False,
        initial=True,
        widget=UnfoldBooleanWidget(),
        help_text="Asks the owners of each Safe for their signature; this server stops at once in any case",
    )


@dataclass(frozen=True, slots=True)
class StopLine:
    """One golem that may be stopped."""

    golem: Golem
    state: GolemState
    forecast: Forecast
    exits: tuple[ExitLine, ...]
    exits_problem: str
    is_chosen: bool


@dataclass(frozen=True, slots=True)
class _WantedChoice:
    """What a halt shall do, and the most that it may lose."""

    on_halt: str
    most_loss_bps: int | None


@dataclass(frozen=True, slots=True)
class _WantedHalt:
    """Why, whether it is a drill, and whether the contracts stop too."""

    reason: str
    is_drill: bool
    on_chain: bool


class StopPages:
    """Pages of the golem's admin that halt."""

    def list_stop_urls(self, wrap: Wrap, name: str) -> list[object]:
        """Their addresses."""
        return [
            path("stop/", wrap(self.stop_view), name=f"{name}_stop"),
            path("<uuid:golem_id>/halt/", wrap(self.halt_view), name=f"{name}_halt"),
            path("<uuid:golem_id>/on-halt/", wrap(self.on_halt_view), name=f"{name}_on_halt"),
        ]

    def stop_view(self, request: HttpRequest) -> HttpResponse:
        """All golems of this person, each with a tick."""
        if not request.user.has_perm("archetypes_app.change_golem"):
            raise PermissionDenied
        owned = list_golems_with(request.user, Power.OPERATE).filter(retired_at__isnull=True)
        golems = list(owned.select_related("archetype").order_by("name"))
        return self._stop(request, golems, reverse("fleet"))

    def halt_view(self, request: HttpRequest, golem_id: UUID) -> HttpResponse:
        """One golem."""
        admin = as_golem_admin(self)
        golem = admin.get_own_golem(request, golem_id)
        return self._stop(request, [golem], str(admin.page_of(golem)))

    def on_halt_view(self, request: HttpRequest, golem_id: UUID) -> HttpResponse:
        """What a halt of one golem does."""
        admin = as_golem_admin(self)
        golem = admin.get_own_golem(request, golem_id)
        initial = {"on_halt": read_chosen(golem).value, "most_loss_bps": read_most_loss(golem)}
        form = HaltChoiceForm(request.POST or None, initial=initial)
        if request.method == "POST" and form.is_valid():
            given = read_stored(_WantedChoice, form.cleaned_data)
            choose_halt(
                golem=golem,
                choice=HaltChoice(given.on_halt or read_chosen(golem)),
                most_loss_bps=given.most_loss_bps,
                actor=name_actor(request.user),
                now=clock.now(),
            )
            messages.success(request, f"If {golem.name} is stopped: {SAYS[read_chosen(golem)]}")
            return HttpResponseRedirect(str(admin.page_of(golem)))
        context = {
            **admin.admin_site.each_context(request),
            "title": f"What a stop of {golem.name} does",
            "explanation": "It holds from the next stop on, and for the steps of one that is under way that are not"
            " signed yet. Agents are told the same words in the answer of emergency_halt.",
            "opts": admin.opts,
            "form": form,
            "submit": "Choose",
            "back_url": str(admin.page_of(golem)),
        }
        return TemplateResponse(request, "admin/golem/confirm.html", context)

    def _stop(self, request: HttpRequest, golems: Sequence[Golem], back_url: str) -> HttpResponse:
        form = StopForm(request.POST if request.method == "POST" else None)
        wanted = set(request.POST.getlist("golems")) if request.method == "POST" else None
        # On the page of one golem there is nothing to choose.
        chosen = [golem for golem in golems if wanted is None or len(golems) == 1 or str(golem.pk) in wanted]
        if request.method == "POST" and not chosen:
            form.add_error(None, "Tick at least one golem.")
        elif request.method == "POST" and form.is_valid():
            given = read_stored(_WantedHalt, form.cleaned_data)
            for golem in chosen:
                if given.is_drill:
                    _rehearse(request, golem, given.reason, clock.now())
                else:
                    _halt(request, golem, given.reason, on_chain=given.on_chain, now=clock.now())
            return HttpResponseRedirect(back_url)
        admin = as_golem_admin(self)
        context = {
            **admin.admin_site.each_context(request),
            "title": f"Stop {golems[0].name}" if len(golems) == 1 else "Stop golems",
            "opts": admin.opts,
            "form": form,
            "back_url": back_url,
            "lines": _list_lines(golems, {golem.pk for golem in chosen}, now=clock.now()),
            "has_contract": any(state.contract is False for state in read_states(golems).values()),
        }
        return TemplateResponse(request, "admin/golem/stop.html", context)


def _list_lines(golems: Sequence[Golem], chosen: Collection[object], *, now: datetime) -> list[StopLine]:
    states, forecasts = read_states(golems), foretell_halts(golems, now=now)
    lines = []
    for number, golem in enumerate(golems):
        has_account = bool(golem.address) and number < MOST_READ
        exits, problem = foretell_exits(golem, now=now) if has_account else ((), "")
        lines.append(StopLine(golem, states[golem.pk], forecasts[golem.pk], exits, problem, golem.pk in chosen))
    return lines


def _rehearse(request: HttpRequest, golem: Golem, reason: str, now: datetime) -> None:
    report = halt_golem(golem=golem, reason=reason, actor=name_actor(request.user), now=now, is_drill=True)
    steps = show_steps(report["steps"], book=read_book(golem.owner_id))
    messages.info(request, format_html("A drill for {}: nothing was changed. {}", golem, steps))


def _halt(request: HttpRequest, golem: Golem, reason: str, *, on_chain: bool, now: datetime) -> None:
    try:
        halt_golem(golem=golem, reason=reason, actor=name_actor(request.user), now=now)
    except GolemError as error:
        messages.error(request, f"{golem.name} is not halted: {error.detail}")
        return
    messages.success(request, f"{golem.name} is halted: this server signs nothing for it any more.")
    state = read_states([golem])[golem.pk]
    if state.contract is not False:
        return
    if not on_chain:
        messages.warning(request, f"The contract of {golem.name} stays open, as you chose.")
        return
    try:
        asked = request_operation(
            golem=golem, name="cage", arguments={"act": "halt"}, owner=request.user, reason=reason, now=now
        )
    except GolemError as error:
        messages.error(request, f"The contract of {golem.name} stays open: {error.detail}")
        return
    told = "The contract of {} is still open until the owners of its Safe sign: <a href='{}'>sign the halt</a>."
    messages.warning(request, format_html(told, golem, page_of_request(asked.pk)))
