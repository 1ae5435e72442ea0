"""Takes an owner's requests on a golem's page: resume, another phase, strategy, co-owners, the Warden, policy."""

from __future__ import annotations

from collections.abc import Callable
from uuid import UUID

from django.contrib import messages
from django.forms import Form
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.urls import path

from archetypes_app.actions.change_phase import worsen_phase
from archetypes_app.audit_actor_names import name_actor
from archetypes_app.models import Golem
from archetypes_app.phases import is_worse
from archetypes_app.roles import Power
from permits_app.actions.announce_warden_actions import turn_warden_on
from permits_app.actions.request_change import request_operation
from permits_app.admin.golem_site import Wrap, as_golem_admin
from permits_app.approval_pages.forms import OwnersForm, PhaseWishForm, ResumeForm, StrategyForm, WhyForm
from permits_app.approval_pages.views import page_of as page_of_request
from permits_app.approvals.warden_announcements import is_warden_on
from tools_app.core import clock
from tools_app.core.errors import GolemError
from tools_app.core.json_types import JsonObject
from tools_app.pages.confirmation import report_refusal, show_confirmation
from tools_app.toolkit.enums import Phase


class ProposalPages:
    """Pages of the golem's admin that open a request to its owners."""

    def list_proposal_urls(self, wrap: Wrap, name: str) -> list[object]:
        """Their addresses."""
        return [
            path("<uuid:golem_id>/resume/", wrap(self.resume_view), name=f"{name}_resume"),
            path("<uuid:golem_id>/live/", wrap(self.live_view), name=f"{name}_live"),
            path("<uuid:golem_id>/keys-spend/", wrap(self.keys_spend_view), name=f"{name}_keys_spend"),
            path("<uuid:golem_id>/phase/", wrap(self.phase_view), name=f"{name}_phase"),
            path("<uuid:golem_id>/strategy/", wrap(self.strategy_view), name=f"{name}_strategy"),
            path("<uuid:golem_id>/owners/", wrap(self.owners_view), name=f"{name}_owners"),
            path("<uuid:golem_id>/warden/", wrap(self.warden_view), name=f"{name}_warden"),
        ]

    def resume_view(self, request: HttpRequest, golem_id: UUID) -> HttpResponse:
        """Ask to let a halted golem act again."""
        golem = as_golem_admin(self).get_own_golem(request, golem_id)
        stays = " Its heartbeat was live; it rehearses afterwards unless you tick it." if golem.is_live else ""
        return self._ask(
            request,
            golem_id,
            ResumeForm(request.POST or None, was_live=golem.is_live),
            lambda golem, given: ("resume", {"live": bool(given.get("live"))}),
            title="Resume after the halt",
            submit="Ask to resume",
            explanation="It needs a second factor, and another owner where there is one. What was cancelled stays"
            f" cancelled; its keys get back what the halt took.{stays}",
        )

    def live_view(self, request: HttpRequest, golem_id: UUID) -> HttpResponse:
        """Ask to let the heartbeat act instead of rehearsing."""
        return self._ask(
            request,
            golem_id,
            WhyForm(request.POST or None),
            lambda golem, given: ("live", {}),
            title="Let the heartbeat act",
            submit="Ask to let it act",
            explanation="Its heartbeat will sign and spend by itself. The next page sums up what may be lost in a day;"
            " it is approved there with a second factor. What agents do with their keys is a switch of its own.",
        )

    def keys_spend_view(self, request: HttpRequest, golem_id: UUID) -> HttpResponse:
        """Ask to let agents spend with their keys."""
        return self._ask(
            request,
            golem_id,
            WhyForm(request.POST or None),
            lambda golem, given: ("keys_spend", {}),
            title="Let agent keys spend",
            submit="Ask to let them spend",
            explanation="What agents commit with API keys will be signed, within limits, phase and cage. The next page"
            " sums up what may be spent in a day; it is approved there with a second factor.",
        )

    def phase_view(self, request: HttpRequest, golem_id: UUID) -> HttpResponse:
        """A worse phase holds at once; a better one is asked for."""
        golem = as_golem_admin(self).get_own_golem(request, golem_id)
        form = PhaseWishForm(request.POST or None, initial={"to": golem.phase})
        if (
            request.method == "POST"
            and form.is_valid()
            and is_worse(Phase(form.cleaned_data["to"]), Phase(golem.phase))
        ):
            return self._worsen(request, golem, form.cleaned_data)
        return self._ask(
            request,
            golem_id,
            form,
            lambda golem, given: ("phase", {"to": given["to"]}),
            title="Reset the phase",
            submit="Reset it",
            explanation="A phase only gets worse by itself. A worse one holds at once; a better one waits for the"
            " owners' approval. Both are kept in the golem's audit log with the reason.",
        )

    def strategy_view(self, request: HttpRequest, golem_id: UUID) -> HttpResponse:
        """Ask for another text of the strategy."""
        return self._ask(
            request,
            golem_id,
            StrategyForm(request.POST or None),
            lambda golem, given: ("strategy", {"section": given["section"], "text": given["text"]}),
            title="Write the strategy",
            submit="Ask for it",
            explanation="Its agent reads the strategy and cannot change it. Nothing in it can loosen a limit.",
        )

    def owners_view(self, request: HttpRequest, golem_id: UUID) -> HttpResponse:
        """Ask for other co-owners."""
        golem = as_golem_admin(self).get_own_golem(request, golem_id, Power.ADMINISTER)
        names = ", ".join(sorted(person.get_username() for person in golem.co_owners.all()))
        return self._ask(
            request,
            golem_id,
            OwnersForm(request.POST or None, initial={"co_owners": names}, stored={"co_owners": names}),
            lambda golem, given: ("owners", {"co_owners": given["co_owners"]}),
            title="Change the co-owners",
            submit="Ask for it",
            explanation="Co-owners see and do what the owner does, and approve what the owner asks for.",
        )

    def warden_view(self, request: HttpRequest, golem_id: UUID) -> HttpResponse:
        """On holds at once; off is asked for."""
        golem = as_golem_admin(self).get_own_golem(request, golem_id, Power.ADMINISTER)
        form = WhyForm(request.POST or None)
        if is_warden_on(golem):
            return self._ask(
                request,
                golem_id,
                form,
                lambda golem, given: ("warden", {}),
                title="Turn the Warden off",
                submit="Ask to turn it off",
                explanation="Its actions would be executed at once, without being"
                " announced. This waits for the owners' approval and then cools off.",
            )
        if request.method == "POST" and form.is_valid():
            actor, reason = name_actor(request.user), form.cleaned_data["reason"]
            try:
                turn_warden_on(golem=golem, actor=actor, reason=reason, now=clock.now())
            except GolemError as error:
                return report_refusal(request, error, self._page(golem))
            messages.success(request, "The Warden is on.")
            return HttpResponseRedirect(self._page(golem))
        return self._confirm(
            request,
            golem,
            form,
            title="Turn the Warden on",
            submit="Turn it on",
            explanation="Each action is announced and waits: 10 minutes for a standard one, 1 h elevated, 24 h high,"
            " 48 h critical. An owner may cancel it meanwhile.",
        )

    def _worsen(self, request: HttpRequest, golem: Golem, given: JsonObject) -> HttpResponse:
        to, actor = Phase(given["to"]), name_actor(request.user)
        try:
            worsen_phase(golem=golem, to=to, reason=given["reason"], actor=actor, now=clock.now())
        except GolemError as error:
            return report_refusal(request, error, self._page(golem))
        messages.success(request, f"{golem.name} is {to.value.lower()} now.")
        return HttpResponseRedirect(self._page(golem))

    def _ask(
        self,
        request: HttpRequest,
        golem_id: UUID,
        form: Form,
        wish: Callable[[Golem, JsonObject], tuple[str, dict[str, object]]],
        *,
        title: str,
        submit: str,
        explanation: str,
    ) -> HttpResponse:
        golem = as_golem_admin(self).get_own_golem(request, golem_id)
        if request.method == "POST" and form.is_valid():
            name, arguments = wish(golem, form.cleaned_data)
            try:
                opened = request_operation(
                    golem=golem,
                    name=name,
                    arguments=arguments,
                    owner=request.user,
                    reason=form.cleaned_data["reason"],
                    now=clock.now(),
                )
            except GolemError as error:
                return report_refusal(request, error, self._page(golem))
            messages.info(request, "It waits for the owners.")
            return HttpResponseRedirect(page_of_request(opened.pk))
        return self._confirm(request, golem, form, title=title, submit=submit, explanation=explanation)

    def _confirm(
        self, request: HttpRequest, golem: Golem, form: Form, *, title: str, submit: str, explanation: str
    ) -> HttpResponse:
        return show_confirmation(
            request=request,
            model_admin=self,
            form=form,
            back_url=self._page(golem),
            subject=golem,
            title=title,
            explanation=explanation,
            submit=submit,
        )

    def _page(self, golem: Golem) -> str:
        admin = as_golem_admin(self)
        return str(admin.page_of(golem))
