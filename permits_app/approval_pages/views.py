"""The pages of approvals inside the admin: inbox, one request, decide, comment, cancel, export.

Every page is a plain form and works without JavaScript. A page calls one action and shows what it refused.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from django.contrib import messages
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseRedirect, JsonResponse
from django.template.response import TemplateResponse
from django.urls import reverse
from django.views.decorators.http import require_GET, require_http_methods, require_POST

from permits_app.actions.announce_warden_actions import cancel_announced
from permits_app.actions.compare_with_approved import look_again
from permits_app.actions.relay_owner_transaction import build_raw_call
from permits_app.actions.request_change import request_operation
from permits_app.approval_pages.forms import CommentForm, DecisionForm, SignatureForm
from permits_app.approval_pages.inbox import build_decision_page, build_inbox
from permits_app.approval_pages.passkey_answers import find_problem, read_answer
from permits_app.approval_pages.signing_page import build_signing_page
from permits_app.approvals.operations.nonce import USE_UP_NONCE
from permits_app.approvals.operations.signer import takes_empty_account
from permits_app.approvals.owner_states import find_owner_transaction, is_plan
from permits_app.approvals.request_digest import export_request
from permits_app.custody.safe_view import open_chain, read_safe
from permits_app.custody.safe_warnings import look_at_safe
from permits_app.doors.decide_change import cancel_change, comment_change, decide_change, sign_change
from permits_app.models import Announcement, ChangeRequest
from permits_app.models.approval import ChangeState, Verdict
from permits_app.models.owner_transaction import OwnerTransactionState
from tools_app.core import clock
from tools_app.core.errors import GolemError
from tools_app.pages.confirmation import ReasonForm, report_refusal, show_confirmation
from tools_app.pages.form_values import read_cleaned

INBOX = "admin:permits_app_changerequest_inbox"
PAGE = "admin:permits_app_changerequest_change"


def page_of(request_id: object) -> str:
    """The address of one request's page."""
    return reverse(PAGE, args=[request_id])


@require_GET
def show_inbox(request: HttpRequest, *, model_admin: object) -> HttpResponse:
    """Everything that waits for this person."""
    inbox = build_inbox(request.user, now=clock.now())
    return render_page(request, model_admin, "inbox", title="Approvals", inbox=inbox)


@require_GET
def show_request(request: HttpRequest, object_id: str, *, model_admin: object) -> HttpResponse:
    """One request, with the forms that decide it."""
    return _show(request, model_admin, _get(request, model_admin, object_id))


@require_GET
def show_short(request: HttpRequest, object_id: str, *, model_admin: object) -> HttpResponse:
    """One request on one screen of a phone, where alerts lead: what it does, what can be lost, the decision."""
    return _show(request, model_admin, _get(request, model_admin, object_id), template="short")


@dataclass(frozen=True, slots=True)
class _Signature:
    """An owner's signature, and the digest of what they saw."""

    signature: str
    digest: str


@dataclass(frozen=True, slots=True)
class _Decision(_Signature):
    """A decision, with its proof: a code or a passkey's answer."""

    verdict: str
    reason: str
    code: str
    passkey: str
    is_empty_wanted: bool


@dataclass(frozen=True, slots=True)
class _Why:
    """Why, in words."""

    reason: str


@require_POST
def decide(request: HttpRequest, object_id: UUID, *, model_admin: object) -> HttpResponse:
    """Approve or reject."""
    change = _get(request, model_admin, object_id)
    form = DecisionForm(request.POST)
    if form.is_valid() and takes_empty_account(change):
        # Asked a second time: a whole fortune was once left behind by a kind that was ticked already.
        asked = read_cleaned(_Decision, form)
        if asked.verdict == Verdict.APPROVE and not asked.is_empty_wanted:
            form.add_error("is_empty_wanted", "Say that you want it so, or reject this and name the account you meant.")
    if not form.is_valid():
        return _show(request, model_admin, change, form=form, http_status=422)
    given = read_cleaned(_Decision, form)
    verdict = Verdict(given.verdict)
    try:
        decide_change(
            request_id=change.pk,
            owner=request.user,
            verdict=verdict,
            reason=given.reason,
            code=given.code,
            passkey=read_answer(request, given.passkey),
            seen_digest=given.digest,
            signature=given.signature,
            now=clock.now(),
        )
    except GolemError as error:
        change.refresh_from_db()
        return _show(request, model_admin, change, form=form, refusal=error, http_status=error.http_status)
    messages.success(request, "Approved." if verdict is Verdict.APPROVE else "Rejected.")
    return HttpResponseRedirect(page_of(change.pk))


@require_POST
def sign(request: HttpRequest, object_id: UUID, *, model_admin: object) -> HttpResponse:
    """Hand in a signature without deciding."""
    change = _get(request, model_admin, object_id)
    form = SignatureForm(request.POST)
    if not form.is_valid():
        return _show(request, model_admin, change, sign_form=form, http_status=422)
    given = read_cleaned(_Signature, form)
    try:
        sign_change(
            request_id=change.pk,
            owner=request.user,
            signature=given.signature,
            seen_digest=given.digest,
            now=clock.now(),
        )
    except GolemError as error:
        change.refresh_from_db()
        return _show(request, model_admin, change, sign_form=form, refusal=error, http_status=error.http_status)
    messages.success(request, "Your signature is kept.")
    return HttpResponseRedirect(page_of(change.pk))


@require_GET
def raw_call(request: HttpRequest, object_id: UUID, *, model_admin: object) -> HttpResponse:
    """The signed call of the Safe as a file, for whoever sends it in this server's place."""
    change = _get(request, model_admin, object_id)
    asked = find_owner_transaction(change)
    if asked is None:
        raise Http404("nothing of this request is signed for a Safe")
    if is_plan(change):
        raise Http404("a golem's plan is sent by its own key, after its hooks and limits judged it again")
    try:
        safe = read_safe(open_chain(asked.chain_id, now=clock.now()), asked.safe)
        data = build_raw_call(asked, safe, now=clock.now())
        document = {"chain_id": asked.chain_id, "to": asked.safe, "value": "0", "data": data, **_tell_safe(change)}
    except GolemError as error:
        return report_refusal(request, error, page_of(change.pk))
    answer = JsonResponse(document, json_dumps_params={"indent": 2})
    answer["Content-Disposition"] = f'attachment; filename="execute-{change.pk}.json"'
    answer["Cache-Control"] = "no-store"
    return answer


@require_POST
def use_up_nonce(request: HttpRequest, object_id: UUID, *, model_admin: object) -> HttpResponse:
    """Ask for an empty transaction under the nonce that keeps this request from its turn, or that it failed under."""
    change = _get(request, model_admin, object_id)
    asked = find_owner_transaction(change)
    if asked is None:
        raise Http404("nothing of this request is signed for a Safe")
    try:
        opened = request_operation(
            golem=change.golem,
            name=USE_UP_NONCE,
            owner=request.user,
            now=clock.now(),
            arguments={"chain_id": asked.chain_id, "safe": asked.safe},
            reason=f"{change.title} failed, and what was signed stays good until this nonce is used"
            if asked.state == OwnerTransactionState.FAILED
            else f"nothing is asked under this nonce any more, and {change.title} waits behind it",
        )
    except GolemError as error:
        return report_refusal(request, error, page_of(change.pk))
    return HttpResponseRedirect(page_of(opened.pk))


@require_POST
def comment(request: HttpRequest, object_id: UUID, *, model_admin: object) -> HttpResponse:
    """Say something to the other owners."""
    change = _get(request, model_admin, object_id)
    form = CommentForm(request.POST)
    if not form.is_valid():
        return _show(request, model_admin, change, comment_form=form, http_status=422)
    try:
        comment_change(request_id=change.pk, owner=request.user, text=form.cleaned_data["text"], now=clock.now())
    except GolemError as error:
        return report_refusal(request, error, page_of(change.pk))
    return HttpResponseRedirect(page_of(change.pk) + "#comments")


@require_http_methods(["GET", "POST"])
def cancel(request: HttpRequest, object_id: UUID, *, model_admin: object) -> HttpResponse:
    """Withdraw a request, with a reason; who only looks does not open the page."""
    change = _get(request, model_admin, object_id, to_act=True)
    form = ReasonForm(request.POST or None)
    if request.method == "POST" and form.is_valid():
        try:
            cancel_change(
                request_id=change.pk, owner=request.user, reason=read_cleaned(_Why, form).reason, now=clock.now()
            )
        except GolemError as error:
            return report_refusal(request, error, page_of(change.pk))
        messages.success(request, "Cancelled.")
        return HttpResponseRedirect(page_of(change.pk))
    return show_confirmation(
        request=request,
        model_admin=model_admin,
        title="Cancel this request",
        form=form,
        submit="Cancel the request",
        explanation="It is not executed, also when it is approved already and still waits.",
        back_url=page_of(change.pk),
        is_dangerous=True,
        subject=change,
    )


@require_http_methods(["GET", "POST"])
def cancel_announcement(
    request: HttpRequest,
    permit_id: UUID,
    *,
    model_admin: Any,  # Any: the admin of requests, which imports these pages
) -> HttpResponse:
    """Cancel an announced action, with a reason."""
    row = Announcement.objects.select_related("permit__golem").filter(permit_id=permit_id).first()
    golems = model_admin.list_golems(request)
    if row is None or not golems.filter(pk=row.permit.golem_id).exists():
        raise Http404("no such announcement")
    form = ReasonForm(request.POST or None)
    if request.method == "POST" and form.is_valid():
        actor = f"owner:{request.user.pk}"
        reason = read_cleaned(_Why, form).reason
        try:
            cancel_announced(golem=row.permit.golem, permit_id=permit_id, reason=reason, actor=actor, now=clock.now())
        except GolemError as error:
            return report_refusal(request, error, reverse(INBOX))
        messages.success(request, "Cancelled.")
        return HttpResponseRedirect(reverse(INBOX))
    return show_confirmation(
        request=request,
        model_admin=model_admin,
        title="Cancel this announced action",
        form=form,
        submit="Cancel the action",
        explanation="It is not executed when its delay is over.",
        back_url=reverse(INBOX),
        is_dangerous=True,
        subject=row.permit,
    )


@require_GET
def export(request: HttpRequest, object_id: UUID, *, model_admin: object) -> HttpResponse:
    """The request as a file for `manage.py verify_request`."""
    change = _get(request, model_admin, object_id)
    answer = JsonResponse(
        {**export_request(change), **_tell_safe(change)}, json_dumps_params={"indent": 2, "sort_keys": True}
    )
    answer["Content-Disposition"] = f'attachment; filename="change-{change.pk}.json"'
    answer["Cache-Control"] = "no-store"
    return answer


def _tell_safe(change: ChangeRequest) -> dict[str, object]:
    """What acts for the Safe in this moment, beside what the digest binds; nothing where no Safe signs."""
    asked = find_owner_transaction(change)
    if asked is None:
        return {}
    looked = look_at_safe(change.golem, chain_id=asked.chain_id, safe=asked.safe, now=clock.now())
    return {"safe_now": looked.as_dict()}


def _get(
    request: HttpRequest,
    model_admin: Any,  # Any: the admin of requests, which imports these pages
    object_id: UUID | str,
    *,
    to_act: bool = False,
) -> ChangeRequest:
    find = model_admin.get_row_to_act_on if to_act else model_admin.get_row
    found: ChangeRequest = find(request, object_id)
    return found


def _show(
    request: HttpRequest,
    model_admin: object,
    change: ChangeRequest,
    *,
    form: DecisionForm | None = None,
    comment_form: CommentForm | None = None,
    sign_form: SignatureForm | None = None,
    refusal: GolemError | None = None,
    http_status: int = 200,
    template: str = "detail",
) -> HttpResponse:
    page = build_decision_page(change, request.user, now=clock.now())
    # What cannot be approved any more is not simulated again: nothing of it is carried out.
    permit = change.permit if change.state == ChangeState.OPEN and not page.stale else None
    return render_page(
        request,
        model_admin,
        template,
        title=change.title,
        page=page,
        refusal=refusal,
        problem=find_problem(request),
        http_status=http_status,
        second_look=look_again(permit=permit, now=clock.now()) if permit is not None else None,
        signing=build_signing_page(change, request.user, now=clock.now()),
        sign_form=sign_form or SignatureForm(initial={"digest": change.digest}),
        form=form or DecisionForm(initial={"digest": change.digest}),
        comment_form=comment_form or CommentForm(),
        raw=json.dumps(change.change, indent=2, sort_keys=True),
        takes_empty=takes_empty_account(change),
        subject=change,
    )


def render_page(
    request: HttpRequest,
    model_admin: Any,  # Any: the admin of requests, which imports these pages
    name: str,
    *,
    title: str,
    http_status: int = 200,
    **context: object,
) -> HttpResponse:
    """The template `name` of approvals inside the admin."""
    whole = {
        **model_admin.admin_site.each_context(request),
        "title": title,
        "subtitle": None,
        "opts": model_admin.opts,
        **context,
    }
    return TemplateResponse(request, f"permits_app/approvals/{name}.html", whole, status=http_status)
