"""The golem's admin with its page, halt and resume, and the wizard's four pages."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime
from typing import Any
from uuid import UUID

from django.contrib import admin, messages
from django.core.exceptions import PermissionDenied
from django.db import transaction
from django.db.models import QuerySet
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseRedirect
from django.template.response import TemplateResponse
from django.urls import path, reverse
from django.utils.html import format_html
from django.utils.safestring import SafeString
from unfold.decorators import display

from archetypes_app.admin.golem import GolemFormAdmin as GolemFormAdmin
from archetypes_app.audit_actor_names import name_actor
from archetypes_app.models import Golem
from archetypes_app.pages.demo_mark import show_maker
from archetypes_app.roles import Power
from permits_app.actions.acknowledge_drawdown import acknowledge_drawdown
from permits_app.actions.keep_keys_from_spending import keep_keys_from_spending
from permits_app.actions.pin_builtin_tools import list_unseen, pin_definitions, see_definitions
from permits_app.actions.retire_golem import bring_back, retire_golem
from permits_app.admin.allowance_pages import AllowancePages
from permits_app.admin.cage_pages import CagePages
from permits_app.admin.compare_roles_pages import FencePages
from permits_app.admin.death_pages import DeathPages
from permits_app.admin.followed_pages import FollowedPages
from permits_app.admin.grant_pages import GrantPages
from permits_app.admin.live_tools import LiveToolsMixin
from permits_app.admin.payment_host_pages import PaymentHostPages
from permits_app.admin.people_pages import PeoplePages
from permits_app.admin.policy_pages import PolicyPages
from permits_app.admin.proposals import ProposalPages
from permits_app.admin.safe_configuration_page import SafePages
from permits_app.admin.statement_pages import StatementPages
from permits_app.admin.stop_pages import StopPages
from permits_app.admin.tab_pages import TabPages
from permits_app.admin.withdrawal_pages import WithdrawalPages
from permits_app.admin.wizard import WizardPages
from permits_app.approvals.operations.go_live import set_live
from permits_app.forms import GolemOfChainsForm, PinForm
from permits_app.pages.golem_state import read_states
from permits_app.safety.drawdown import read_fall
from tools_app.core import clock
from tools_app.core.errors import GolemError
from tools_app.core.transaction_retry import retry_aborted
from tools_app.pages.confirmation import ReasonForm, report_refusal, show_confirmation
from tools_app.wording.formats import format_bps


@admin.register(Golem)
class GolemAdmin(
    TabPages,
    StopPages,
    DeathPages,
    WithdrawalPages,
    PaymentHostPages,
    GrantPages,
    AllowancePages,
    StatementPages,
    FollowedPages,
    PeoplePages,
    ProposalPages,
    PolicyPages,
    CagePages,
    SafePages,
    FencePages,
    LiveToolsMixin,
    WizardPages,
    GolemFormAdmin,
):
    """One golem: a page in six tabs, of which the last is its form."""

    form = GolemOfChainsForm
    change_form_template = "admin/archetypes_app/golem/page.html"

    def get_queryset(self, request: HttpRequest) -> QuerySet[Golem]:
        """The list leaves retired ones out, unless it is asked for them; their own pages are there."""
        rows: QuerySet[Golem] = super().get_queryset(request)
        is_list = request.path.endswith("/archetypes_app/golem/") and "retired_at__isnull" not in request.GET
        return rows.filter(retired_at__isnull=True) if is_list else rows

    def lookup_allowed(self, lookup: str, value: object, request: HttpRequest) -> bool:
        """Retired ones may be asked for by the address alone."""
        return lookup == "retired_at__isnull" or super().lookup_allowed(lookup, value, request)

    @display(description="State")
    def state(self, obj: Any) -> SafeString:  # Any: a row of the page's model
        """Halted, here or on chain, or its phase; with the mark of one that the demo or a measurement made."""
        return format_html("{} {}", obj.state_in_list.show(), show_maker(obj))

    def get_changelist_instance(self, request: HttpRequest) -> object:
        """The list, with the states of its rows read together."""
        changelist = super().get_changelist_instance(request)
        changelist.result_list = list(changelist.result_list)
        states = read_states(changelist.result_list)
        for row in changelist.result_list:
            row.state_in_list = states[row.pk]
        return changelist

    def get_urls(self) -> Any:  # Any: as Django types it
        """Tabs, halt, what is asked of the owners, and the wizard, before the form's own addresses."""
        wrap = self.admin_site.admin_view
        name = "archetypes_app_golem"
        return [
            *self.list_tab_urls(wrap, name),
            *self.list_stop_urls(wrap, name),
            path("<uuid:golem_id>/retire/", wrap(self.retire_view), name=f"{name}_retire"),
            *self.list_death_urls(wrap, name),
            *self.list_withdrawal_urls(wrap, name),
            *self.list_payment_host_urls(wrap, name),
            *self.list_grant_urls(wrap, name),
            *self.list_allowance_urls(wrap, name),
            path("<uuid:golem_id>/rehearse/", wrap(self.rehearse_view), name=f"{name}_rehearse"),
            path("<uuid:golem_id>/keys-preview/", wrap(self.keys_preview_view), name=f"{name}_keys_preview"),
            path("<uuid:golem_id>/drawdown/", wrap(self.drawdown_view), name=f"{name}_drawdown"),
            path("<uuid:golem_id>/definitions/", wrap(self.definitions_view), name=f"{name}_definitions"),
            *self.list_people_urls(wrap, name),
            *self.list_statement_urls(wrap, name),
            *self.list_followed_urls(wrap, name),
            *self.list_proposal_urls(wrap, name),
            *self.list_policy_urls(wrap, name),
            *self.list_fence_urls(wrap, name),
            *self.list_cage_urls(wrap, name),
            *self.list_safe_urls(wrap, name),
            path("<uuid:golem_id>/set-up/wallet/", wrap(self.wallet_view), name=f"{name}_set_up_wallet"),
            path("<uuid:golem_id>/set-up/limits/", wrap(self.limits_view), name=f"{name}_set_up_limits"),
            path("<uuid:golem_id>/set-up/funds/", wrap(self.funds_view), name=f"{name}_set_up_funds"),
            path("<uuid:golem_id>/set-up/token/", wrap(self.token_view), name=f"{name}_set_up_token"),
            path("<uuid:golem_id>/set-up/try/<uuid:key_id>/", wrap(self.try_view), name=f"{name}_set_up_try"),
            *super().get_urls(),
        ]

    def drawdown_view(self, request: HttpRequest, golem_id: object) -> HttpResponse:
        """The owner has seen a fall of the holdings and lets the golem act again, with a reason."""
        golem = self.get_own_golem(request, golem_id, Power.ADMINISTER)
        fall = read_fall(golem.pk)
        seen = f"fell {format_bps(fall.violated_bps)}" if fall.violated_at else "did not fall beyond a limit"
        return self.act(
            request,
            golem,
            _acknowledge,
            title=f"Acknowledge the drawdown of {golem.name}",
            submit="I have seen it",
            is_dangerous=False,
            explanation=f"Its holdings {seen} from their high-water mark. Until it is acknowledged "
            "the golem only decreases and closes positions; afterwards the mark starts anew from what it holds then.",
            done=f"{golem.name} may open positions again.",
        )

    def rehearse_view(self, request: HttpRequest, golem_id: object) -> HttpResponse:
        """Back to rehearsal, at once and without anybody's leave."""
        golem = self.get_own_golem(request, golem_id)
        return self.act(
            request,
            golem,
            _rehearse,
            title=f"Let {golem.name} rehearse",
            submit="Rehearse from now on",
            is_dangerous=False,
            explanation="Its heartbeat goes on deciding and signs nothing. What its agents preview and commit goes on; "
            "Stop ends that too. Going live again needs your second factor.",
            done=f"The heartbeat of {golem.name} rehearses.",
        )

    def keys_preview_view(self, request: HttpRequest, golem_id: object) -> HttpResponse:
        """Keep agents from spending with their keys, at once and without anybody's leave."""
        golem = self.get_own_golem(request, golem_id)
        return self.act(
            request,
            golem,
            keep_keys_from_spending,
            title=f"Keep the keys of {golem.name} from spending",
            submit="Only preview from now on",
            is_dangerous=False,
            explanation="What agents ask for with API keys is judged and previewed, and nothing of it is signed. What"
            " was committed before goes on to its end; what you approve yourself is carried out; the heartbeat is a"
            " switch of its own. Letting them spend again needs your second factor.",
            done=f"The keys of {golem.name} only preview.",
        )

    def retire_view(self, request: HttpRequest, golem_id: object) -> HttpResponse:
        """Stop it for good and keep its history; or bring one back, still halted."""
        golem = self.get_own_golem(request, golem_id, Power.ADMINISTER)
        if golem.retired_at is not None:
            return self.act(
                request,
                golem,
                bring_back,
                title=f"Bring {golem.name} back",
                submit="Bring it back",
                is_dangerous=False,
                explanation="It is in the lists again, and halted until its owners resume it. Its keys stay revoked.",
                done=f"{golem.name} is back, halted.",
            )
        return self.act(
            request,
            golem,
            retire_golem,
            title=f"Retire {golem.name}",
            submit="Retire it",
            is_dangerous=True,
            explanation="It is halted, every key of it is revoked and its heartbeat is turned off. Its history stays. "
            "What is in its wallet and at protocols stays there: take it out before, or back its key up.",
            done=f"{golem.name} is retired.",
        )

    def definitions_view(self, request: HttpRequest, golem_id: object) -> HttpResponse:
        """Pin the golem to the built-in tools as they read now, or let it have them; agree to what reads otherwise."""
        golem = self.get_own_golem(request, golem_id, Power.ADMINISTER)
        # A box that is not ticked is an empty form, and an answer all the same.
        form = PinForm(
            request.POST if request.method == "POST" else None,
            initial={"is_pinned": golem.seen_definitions is not None},
        )
        if request.method == "POST" and request.POST.get("do") == "see":
            return self._see_definitions(request, golem)
        if request.method == "POST" and form.is_valid():
            is_pinned = form.cleaned_data["is_pinned"]
            pin_definitions(golem=golem, is_pinned=is_pinned, owner=request.user, now=clock.now())
            messages.success(
                request, f"{golem.name} has the tools you saw." if is_pinned else "It follows every change."
            )
            return HttpResponseRedirect(self.page_of(golem))
        context = {
            **self.admin_site.each_context(request),
            "opts": self.opts,
            "title": "Definitions of its tools",
            "golem": golem,
            "form": form,
            "back_url": self.page_of(golem),
            "unseen": list_unseen(golem),
        }
        return TemplateResponse(request, "admin/archetypes_app/golem/definitions.html", context)

    def _see_definitions(self, request: HttpRequest, golem: Golem) -> HttpResponse:
        """Agree to the chosen tools, by the hashes the page showed."""
        pairs = (chosen.partition(" ") for chosen in request.POST.getlist("seen"))
        back = reverse("admin:archetypes_app_golem_definitions", args=[golem.pk])
        try:
            shown = {name: fingerprint for name, _, fingerprint in pairs}
            see_definitions(golem=golem, shown=shown, owner=request.user, now=clock.now())
        except GolemError as error:
            return report_refusal(request, error, back)
        messages.success(request, f"{golem.name} has {', '.join(sorted(shown))} from now on.")
        return HttpResponseRedirect(back)

    def get_own_golem(self, request: HttpRequest, golem_id: object, power: Power = Power.OPERATE) -> Golem:
        """A golem with which this person may do that. Raises Http404 and PermissionDenied."""
        golem = self.find_golem_with(request, golem_id, power)
        if not self.has_change_permission(request, golem):
            raise PermissionDenied
        return golem

    def get_seen_golem(self, request: HttpRequest, golem_id: object) -> Golem:
        """A golem of which this person may read a page that only tells. Raises Http404 and PermissionDenied."""
        if request.method not in ("GET", "HEAD"):
            raise PermissionDenied("this page only tells")
        try:
            wanted = UUID(str(golem_id))
        except ValueError:
            raise Http404("no such golem") from None
        golem = self.find_golem_with(request, wanted, Power.SEE)
        if not self.has_view_or_change_permission(request, golem):
            raise PermissionDenied
        return golem

    def page_of(self, golem: Golem) -> str:
        """The golem's page."""
        return reverse("admin:archetypes_app_golem_change", args=[golem.pk])

    def act(
        self,
        request: HttpRequest,
        golem: Golem,
        call: Callable[..., object],
        *,
        done: str,
        **page: Any,  # Any: words of the page of confirmation
    ) -> HttpResponse:
        """Ask for a reason, then `call` with it as this person, and say `done`."""
        form = ReasonForm(request.POST or None)
        if request.method == "POST" and form.is_valid():
            reason = form.cleaned_data["reason"]
            try:
                call(golem=golem, reason=reason, actor=name_actor(request.user), now=clock.now())
            except GolemError as error:
                return report_refusal(request, error, self.page_of(golem))
            messages.success(request, done)
            return HttpResponseRedirect(self.page_of(golem))
        return show_confirmation(
            request=request, model_admin=self, form=form, back_url=self.page_of(golem), subject=golem, **page
        )


def _acknowledge(*, golem: Golem, reason: str, actor: str, now: datetime) -> None:
    acknowledge_drawdown(golem_id=golem.pk, actor=actor, reason=reason, now=now)


@retry_aborted
def _rehearse(*, golem: Golem, reason: str, actor: str, now: datetime) -> None:
    with transaction.atomic():
        set_live(golem=golem, is_live=False, actor=actor, reason=reason, now=now)
