"""The policy of a golem: versions, drafts tried on past decisions, the tightest rules that would do, the way back."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any
from uuid import UUID

from django.contrib import messages
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseRedirect
from django.template.response import TemplateResponse
from django.urls import path, reverse

from archetypes_app.audit_actor_names import name_actor, spell_actors
from archetypes_app.models import Golem
from permits_app.actions.change_policy import PolicyOutcome, change_policy, roll_back_policy
from permits_app.actions.try_policy import AT_ONCE, is_long, is_stuck, open_trial, run_trial
from permits_app.admin.golem_site import Wrap, as_golem_admin
from permits_app.approval_pages.draft_forms import DraftForms, PastForm, PeriodForm, TakeOverForm
from permits_app.approval_pages.views import page_of as page_of_request
from permits_app.approvals.policy_state import diff_policy, hash_policy_state, read_policy_state
from permits_app.backtest.past_decisions import count_decisions
from permits_app.backtest.policy_replay import ALLOWED
from permits_app.models import PolicyTrial, PolicyVersion
from permits_app.models.policy_trial import TrialState
from permits_app.tasks import try_policy_task
from tools_app.core import clock
from tools_app.core.errors import GolemError
from tools_app.core.events import EventType
from tools_app.core.json_types import JsonObject
from tools_app.core.worker_dispatch import enqueue
from tools_app.pages.confirmation import report_refusal

SHOWN_VERSIONS = 30
SHOWN_TRIALS = 8


class PolicyPages:
    """Pages of the golem's admin about its policy. Trying changes nothing; what is asked for is asked of the owners."""

    def list_policy_urls(self, wrap: Wrap, name: str) -> list[object]:
        """Their addresses."""
        own = "<uuid:golem_id>/policy/"
        return [
            path(own, wrap(self.policy_view), name=f"{name}_policy"),
            path(f"{own}<int:number>/", wrap(self.version_view), name=f"{name}_policy_version"),
            path(f"{own}trials/<uuid:trial_id>/", wrap(self.trial_view), name=f"{name}_policy_trial"),
        ]

    def policy_view(self, request: HttpRequest, golem_id: UUID) -> HttpResponse:
        """Versions, trials, and the forms that start one: a draft, or the least policy of a period."""
        golem = as_golem_admin(self).get_own_golem(request, golem_id)
        is_draft, is_least = "try" in request.POST, "least" in request.POST
        draft = DraftForms(golem, request.POST if is_draft else None)
        past = PastForm(request.POST if is_draft else None)
        period = PeriodForm(request.POST if is_least else None)
        if is_draft and draft.is_valid() and past.is_valid():
            return self._try(request, golem, policy=draft.make_policy(), last=past.cleaned_data["last"])
        if is_least and period.is_valid():
            given = period.cleaned_data
            return self._try(request, golem, days=given["days"], with_refused=given["with_refused"])
        trials = PolicyTrial.objects.filter(golem=golem).order_by("-created_at")[:SHOWN_TRIALS]
        versions = list(PolicyVersion.objects.filter(golem=golem).order_by("-number")[:SHOWN_VERSIONS])
        people = spell_actors(version.actor for version in versions)
        return self._show_policy(
            request,
            golem,
            "policy",
            title=f"Policy of {golem.name}",
            versions=[(version, people[version.actor]) for version in versions],
            draft=draft,
            past=past,
            period=period,
            trials=trials,
            decisions=count_decisions(golem),
            status=422 if is_draft or is_least else 200,
        )

    def trial_view(self, request: HttpRequest, golem_id: UUID, trial_id: UUID) -> HttpResponse:
        """How far a trial is; then what would have been decided otherwise, and the way to ask for its policy."""
        golem = as_golem_admin(self).get_own_golem(request, golem_id)
        trial = PolicyTrial.objects.filter(golem=golem, pk=trial_id).first()
        if trial is None:
            raise Http404("no such trial")
        differences = diff_policy(read_policy_state(golem), trial.policy) if trial.policy else ()
        form = TakeOverForm(request.POST or None, stored=_say_policy(golem))
        if request.method == "POST" and trial.state == TrialState.DONE and form.is_valid():
            return self._carry_out(
                request,
                golem,
                lambda: change_policy(
                    golem=golem,
                    changes=[each.as_dict() for each in differences],
                    owner=request.user,
                    reason=form.cleaned_data["reason"],
                    now=clock.now(),
                    title="Use the rules that were tried",
                ),
            )
        return self._show_policy(
            request,
            golem,
            "trial",
            title="The least policy" if trial.days else "A draft on past decisions",
            trial=trial,
            asked_by=spell_actors([trial.asked_by])[trial.asked_by],
            result=_spell_rules(trial.result),
            differences=differences,
            form=form,
            event=str(EventType.POLICY_TRIAL),
            is_stuck=is_stuck(trial, now=clock.now()),
            percent=100 * trial.done // max(trial.total, 1),
            is_running=trial.state == TrialState.RUNNING,
            is_done=trial.state == TrialState.DONE,
        )

    def version_view(self, request: HttpRequest, golem_id: UUID, number: int) -> HttpResponse:
        """One version beside the policy of now, and the ways to try it and to put it back."""
        golem = as_golem_admin(self).get_own_golem(request, golem_id)
        version = PolicyVersion.objects.filter(golem=golem, number=number).first()
        if version is None:
            raise Http404("no such version")
        if "try" in request.POST:
            return self._try(request, golem, policy=version.policy)
        form = TakeOverForm(request.POST or None, stored=_say_policy(golem))
        if request.method == "POST" and form.is_valid():
            return self._carry_out(
                request,
                golem,
                lambda: roll_back_policy(
                    golem=golem,
                    version=version,
                    owner=request.user,
                    reason=form.cleaned_data["reason"],
                    now=clock.now(),
                ),
            )
        previous = PolicyVersion.objects.filter(golem=golem, number=number - 1).first()
        return self._show_policy(
            request,
            golem,
            "version",
            title=f"Policy version {number}",
            version=version,
            form=form,
            actor=spell_actors([version.actor])[version.actor],
            differences=diff_policy(read_policy_state(golem), version.policy),
            made=diff_policy(previous.policy, version.policy) if previous is not None else (),
            previous=previous,
        )

    def _try(self, request: HttpRequest, golem: Golem, **wish: Any) -> HttpResponse:  # Any: what `start_trial` takes
        trial = open_trial(golem=golem, asked_by=name_actor(request.user), now=clock.now(), **wish)
        page = reverse("admin:archetypes_app_golem_policy_trial", args=[golem.pk, trial.pk])
        if not is_long(trial):
            run_trial(trial_id=trial.pk)
            return HttpResponseRedirect(page)
        try:
            enqueue(try_policy_task, trial_id=str(trial.pk))
        except GolemError as error:
            trial.delete()
            return report_refusal(request, error, reverse("admin:archetypes_app_golem_policy", args=[golem.pk]))
        return HttpResponseRedirect(page)

    def _carry_out(self, request: HttpRequest, golem: Golem, change: Callable[[], PolicyOutcome]) -> HttpResponse:
        try:
            outcome = change()
        except GolemError as error:
            return report_refusal(request, error, request.path)
        if outcome.applied:
            count = len(outcome.applied)
            words = "1 change that tightens holds" if count == 1 else f"{count} changes that tighten hold"
            messages.success(request, f"{words} from now on.")
        if outcome.request is not None:
            messages.info(request, "What loosens waits for the owners.")
            return HttpResponseRedirect(page_of_request(outcome.request.pk))
        return HttpResponseRedirect(reverse("admin:archetypes_app_golem_policy", args=[golem.pk]))

    def _show_policy(
        self,
        request: HttpRequest,
        golem: Golem,
        name: str,
        *,
        title: str,
        status: int = 200,
        **context: Any,  # Any: a template's context
    ) -> HttpResponse:
        admin = as_golem_admin(self)
        whole = {
            **admin.admin_site.each_context(request),
            "title": title,
            "opts": admin.opts,
            "golem": golem,
            "at_once": AT_ONCE,
            **context,
        }
        return TemplateResponse(request, f"permits_app/policy/{name}.html", whole, status=status)


def _say_policy(golem: Golem) -> dict[str, str]:
    """What a policy that is taken over is compared with on the page."""
    return {"policy_of_now": hash_policy_state(read_policy_state(golem))}


def _spell_rules(result: JsonObject) -> dict[str, object]:
    """The result with each rule in words: `spending_limiter.per_transaction` is `Spending limiter: per transaction`."""

    def spell(rule: str) -> str:
        words = rule.replace("_", " ").replace(".", ": ")
        return words if rule == ALLOWED else words[:1].upper() + words[1:]

    return {
        **result,
        "rules": [{**each, "rule": spell(each["rule"])} for each in result.get("rules", ())],
        "flipped": [
            {**line, "was": spell(line["was"]), "becomes": spell(line["becomes"])} for line in result.get("flipped", ())
        ],
    }
