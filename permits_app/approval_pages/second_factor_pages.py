"""A person's own second factors: the authenticator that shows codes, and passkeys. Nobody sees another's."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from django.contrib import messages
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseRedirect, JsonResponse, QueryDict
from django.urls import reverse
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods, require_POST

from permits_app.approval_pages.passkey_answers import find_problem, read_answer, read_site
from permits_app.approval_pages.second_factor_forms import (
    AddPasskeyForm,
    ChallengeForm,
    EnrolForm,
    FactorForm,
    RenamePasskeyForm,
)
from permits_app.approval_pages.views import INBOX, page_of, render_page
from permits_app.approvals import second_factor
from permits_app.approvals.passkey_challenges import FactorUse, make_challenge, name_action
from permits_app.approvals.passkeys import (
    add_passkey,
    ask_for_answer,
    ask_for_new,
    list_passkeys,
    remove_passkey,
    rename_passkey,
)
from tools_app.core import clock
from tools_app.core.errors import GolemError
from tools_app.pages.form_values import read_cleaned

LIST = "admin:permits_app_changerequest_second_factors"


@never_cache
@require_http_methods(["GET", "POST"])
def show_factors(request: HttpRequest, *, model_admin: object) -> HttpResponse:
    """What there is; a POST adds a passkey, with the password and a second factor where there is one."""
    held = second_factor.find_held(request.user)
    form = AddPasskeyForm(_posted(request), user=request.user, held=held)
    refusal: GolemError | None = None
    if request.method == "POST" and form.is_valid():
        try:
            _prove(request, form, name_action(FactorUse.ADD_PASSKEY))
            added = _add(request, form)
        except GolemError as error:
            refusal = error
        else:
            messages.success(request, f"The passkey {added} is added.")
            return HttpResponseRedirect(_find_way_back(request, reverse(LIST)))
    return render_page(
        request,
        model_admin,
        "second_factors",
        title="Your second factors",
        held=held,
        passkeys=[(each, RenamePasskeyForm(called=each.name)) for each in list_passkeys(request.user)],
        form=form,
        refusal=refusal,
        problem=find_problem(request),
        back=request.GET.urlencode(),
        http_status=refusal.http_status if refusal else 200,
    )


@dataclass(frozen=True, slots=True)
class _NewCode:
    """The first code of a new authenticator."""

    code: str


@dataclass(frozen=True, slots=True)
class _FactorAsked:
    """What a second factor is asked for, and about what."""

    use: str
    subject: str


@dataclass(frozen=True, slots=True)
class _Name:
    """What a passkey is called."""

    name: str


@dataclass(frozen=True, slots=True)
class _NewPasskey(_Name):
    """The same with its browser's answer."""

    new_passkey: str


@never_cache
@require_http_methods(["GET", "POST"])
def enrol(request: HttpRequest, *, model_admin: object) -> HttpResponse:
    """Set up the authenticator: scan, type the first code, prove who you are."""
    held = second_factor.find_held(request.user)
    form = EnrolForm(_posted(request), user=request.user, held=held)
    refusal: GolemError | None = None
    if request.method == "POST" and form.is_valid():
        try:
            _prove(request, form, name_action(FactorUse.SET_UP_CODE))
            code = read_cleaned(_NewCode, form).code
            second_factor.finish_enrolment(user=request.user, code=code, now=clock.now())
        except GolemError as error:
            refusal = error
        else:
            messages.success(request, "Your second factor is set up.")
            return HttpResponseRedirect(_find_way_back(request, reverse(INBOX)))
    device = second_factor.find_enrolment(user=request.user)
    if device is None or request.method == "GET":
        device = second_factor.start_enrolment(user=request.user)
    answer = render_page(
        request,
        model_admin,
        "second_factor",
        title="Second factor",
        form=form,
        refusal=refusal,
        picture=second_factor.draw_code(device),
        secret=second_factor.spell_secret(device),
        held=held,
        problem=find_problem(request),
        http_status=refusal.http_status if refusal else 200,
    )
    answer["Cache-Control"] = "no-store"
    return answer


@require_POST
def ask_passkey(request: HttpRequest, *, model_admin: object) -> HttpResponse:
    """What a passkey of this person is asked next, as JSON: for one action, this session and three minutes."""
    form = ChallengeForm(request.POST)
    if not form.is_valid():
        return JsonResponse({"title": "Not understood", "detail": "Load the page again and try once more."}, status=422)
    about = read_cleaned(_FactorAsked, form)
    use = FactorUse(about.use)
    try:
        site = read_site(request)
        challenge = make_challenge(
            user=request.user,
            session_key=request.session.session_key or "",
            action=name_action(use, about.subject),
            now=clock.now(),
        )
        ask = ask_for_new if use is FactorUse.REGISTER else ask_for_answer
        asked = ask(user=request.user, site=site, challenge=challenge)
    except GolemError as error:
        return JsonResponse(
            {"title": error.title, "detail": f"{error.title}: {error.detail}."}, status=error.http_status
        )
    answer = HttpResponse(asked, content_type="application/json")
    answer["Cache-Control"] = "no-store"
    return answer


@require_POST
def rename(request: HttpRequest, passkey_id: int, *, model_admin: object) -> HttpResponse:
    """Call a passkey otherwise."""
    form = RenamePasskeyForm(request.POST)
    if not form.is_valid():
        messages.error(request, "A passkey has a name of at most 60 letters.")
    elif not rename_passkey(user=request.user, passkey_id=passkey_id, name=read_cleaned(_Name, form).name):
        raise Http404("no such passkey")
    else:
        messages.success(request, f"It is called {form.cleaned_data['name']} now.")
    return HttpResponseRedirect(reverse(LIST))


@never_cache
@require_http_methods(["GET", "POST"])
def remove(request: HttpRequest, passkey_id: int, *, model_admin: object) -> HttpResponse:
    """Take a passkey away, with a second factor; of the last one it says what that means."""
    passkeys = list_passkeys(request.user)
    passkey = next((each for each in passkeys if each.pk == passkey_id), None)
    if passkey is None:
        raise Http404("no such passkey")
    held = second_factor.find_held(request.user)
    return _remove(
        request,
        model_admin,
        held,
        use=FactorUse.REMOVE_PASSKEY,
        subject=str(passkey_id),
        remove=lambda: remove_passkey(user=request.user, passkey_id=passkey_id, now=clock.now()),
        done=f"The passkey {passkey.name} is removed.",
        title="Remove a passkey",
        passkey=passkey,
        is_last=not held.has_code and all(each.suspected_at for each in passkeys if each.pk != passkey_id),
    )


@never_cache
@require_http_methods(["GET", "POST"])
def remove_code(request: HttpRequest, *, model_admin: object) -> HttpResponse:
    """Take the authenticator away, with a second factor; where it is the last one it says what that means."""
    held = second_factor.find_held(request.user)
    if not held.has_code:
        raise Http404("no authenticator")
    return _remove(
        request,
        model_admin,
        held,
        use=FactorUse.REMOVE_CODE,
        subject="",
        remove=lambda: second_factor.remove_authenticator(user=request.user, now=clock.now()),
        done="Your authenticator is removed.",
        title="Remove your authenticator",
        passkey=None,
        is_last=not held.has_passkey,
    )


def _remove(
    request: HttpRequest,
    model_admin: object,
    held: second_factor.HeldFactors,
    *,
    use: FactorUse,
    subject: str,
    remove: Callable[[], object],
    done: str,
    **shown: Any,  # Any: what a page shows
) -> HttpResponse:
    """Prove who asks, then `remove` and say that it is `done`; else the page, with what is `shown` on it."""
    form = FactorForm(_posted(request), held=held)
    refusal: GolemError | None = None
    if request.method == "POST" and form.is_valid():
        try:
            _prove(request, form, name_action(use, subject))
        except GolemError as error:
            refusal = error
        else:
            remove()
            messages.success(request, done)
            return HttpResponseRedirect(reverse(LIST))
    return render_page(
        request,
        model_admin,
        "factor_remove",
        use=use.value,
        subject=subject,
        held=held,
        form=form,
        refusal=refusal,
        problem=find_problem(request),
        http_status=refusal.http_status if refusal else 200,
        **shown,
    )


def _posted(request: HttpRequest) -> QueryDict | None:
    """What was sent; also of a form without a field."""
    return request.POST if request.method == "POST" else None


def _prove(request: HttpRequest, form: FactorForm, action: str) -> None:
    """A second factor that is there already; the first one is set up with the password alone."""
    if not second_factor.has_second_factor(request.user):
        return
    second_factor.check_second_factor(
        user=request.user,
        code=form.cleaned_data.get("old_code", ""),
        passkey=read_answer(request, form.cleaned_data["passkey"]),
        action=action,
        now=clock.now(),
    )


def _add(request: HttpRequest, form: AddPasskeyForm) -> str:
    given = read_cleaned(_NewPasskey, form)
    answer = read_answer(request, given.new_passkey, is_needed=True)
    assert answer is not None
    action = name_action(FactorUse.REGISTER)
    return str(add_passkey(user=request.user, name=given.name, answer=answer, action=action, now=clock.now()))


def _find_way_back(request: HttpRequest, default: str) -> str:
    """The request that asked for a second factor, else `default`."""
    try:
        return page_of(UUID(request.GET.get("request", "")))
    except ValueError:
        return default
