"""Shows the people of a golem with their roles and invitations; a change is made at once or requested."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final
from uuid import UUID

from django import forms
from django.contrib import messages
from django.contrib.auth import get_user_model
from django.core.exceptions import PermissionDenied
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.template.response import TemplateResponse
from django.urls import path, reverse
from django.utils.cache import add_never_cache_headers
from unfold.widgets import UnfoldAdminSelectWidget, UnfoldAdminTextInputWidget

from archetypes_app.actions.change_role import lower_role
from archetypes_app.actions.invite_person import invite_person, list_open, take_back
from archetypes_app.models import Golem
from archetypes_app.ownership import find_role, list_people
from archetypes_app.roles import ROLE_WORDS, Power, Role, holds_at_once
from permits_app.actions.request_change import request_operation
from permits_app.admin.golem_site import Wrap, as_golem_admin
from permits_app.approval_pages.forms import WhyForm
from permits_app.approval_pages.views import page_of as page_of_request
from permits_app.approvals.operations.role import NO_ROLE
from tools_app.core import clock
from tools_app.core.errors import GolemError
from tools_app.core.plain_text import PlainTextField
from tools_app.core.stored_json import read_stored
from tools_app.pages.confirmation import report_refusal

LINK_COOKIE: Final = "new_invitation"
LINK_SECONDS: Final = 120
_CHOICES = [*((role.value, role.value.capitalize()) for role in Role), (NO_ROLE, "No role: sees nothing any more")]


class InviteForm(forms.Form):
    """Whom a link is for."""

    label = PlainTextField(
        label="For whom",
        max_length=60,
        widget=UnfoldAdminTextInputWidget(),
        help_text="In your words. Whoever opens the link first becomes a viewer; a higher role is asked for afterwards",
    )


class RoleForm(WhyForm):
    """Another role of one person."""

    person = forms.ChoiceField(widget=UnfoldAdminSelectWidget())
    role = forms.ChoiceField(choices=_CHOICES, widget=UnfoldAdminSelectWidget())
    field_order = ("person", "role", "reason")

    def __init__(self, *args: Any, names: list[str], **kwargs: Any) -> None:  # Any: Django's own
        super().__init__(*args, **kwargs)
        self.fields["person"].choices = [(name, name) for name in names]  # type: ignore[attr-defined]
        # The page holds more than this form; it opens at its beginning.
        self.fields["reason"].widget.attrs.pop("autofocus", None)


@dataclass(frozen=True, slots=True)
class PersonLine:
    """One person with a role."""

    name: str
    role: str
    words: str
    is_owner: bool


@dataclass(frozen=True, slots=True)
class _WantedRole:
    """Whose role becomes which."""

    person: str
    role: str
    reason: str


class PeoplePages:
    """The page of the golem's admin about its people."""

    def list_people_urls(self, wrap: Wrap, name: str) -> list[object]:
        """Its address."""
        return [path("<uuid:golem_id>/people/", wrap(self.people_view), name=f"{name}_people")]

    def people_view(self, request: HttpRequest, golem_id: UUID) -> HttpResponse:
        """Whoever sees the golem sees its people; its administrators change them."""
        admin = as_golem_admin(self)
        power = Power.ADMINISTER if request.method == "POST" else Power.SEE
        golem = admin.find_golem_with(request, golem_id, power)
        if not request.user.has_perm("archetypes_app.view_golem"):
            raise PermissionDenied
        lines = _list_lines(golem)
        names = [line.name for line in lines if not line.is_owner]
        forms_shown = {
            "invite": InviteForm(prefix="invite"),
            "role": RoleForm(prefix="role", names=names),
        }
        if request.method == "POST":
            answer = self._carry_out_wish(request, golem, forms_shown, names)
            if answer is not None:
                return answer
        return self._show_people(request, golem, lines, forms_shown)

    def _carry_out_wish(
        self, request: HttpRequest, golem: Golem, shown: dict[str, forms.Form], names: list[str]
    ) -> HttpResponse | None:
        """The answer to what was posted; None where a form has to be shown again."""
        did = request.POST.get("do", "")
        own = reverse("admin:archetypes_app_golem_people", args=[golem.pk])
        if did == "take_back":
            wanted = request.POST.get("invitation", "")
            invitation = next((each for each in list_open(golem, now=clock.now()) if str(each.pk) == wanted), None)
            if invitation is not None:
                take_back(invitation=invitation, by=request.user, now=clock.now())
                messages.success(request, "The link is useless now.")
            return HttpResponseRedirect(own)
        if did not in shown:
            return HttpResponseRedirect(own)
        form = shown[did] = (
            InviteForm(request.POST, prefix="invite")
            if did == "invite"
            else RoleForm(request.POST, prefix="role", names=names)
        )
        if not form.is_valid():
            return None
        try:
            if did == "invite":
                return _invite(request, golem, form.cleaned_data["label"], own)
            return _change(request, golem, read_stored(_WantedRole, form.cleaned_data), own)
        except GolemError as error:
            return report_refusal(request, error, own)

    def _show_people(
        self, request: HttpRequest, golem: Golem, lines: list[PersonLine], shown: dict[str, forms.Form]
    ) -> HttpResponse:
        admin = as_golem_admin(self)
        own = reverse("admin:archetypes_app_golem_people", args=[golem.pk])
        secret = request.COOKIES.get(LINK_COOKIE, "")
        role = find_role(golem, request.user)
        context = {
            **admin.admin_site.each_context(request),
            "title": f"People of {golem.name}",
            "opts": admin.opts,
            "golem": golem,
            "lines": lines,
            "own_role": "owner" if golem.owner_id == request.user.pk else role.value.lower() if role else "",
            "invitations": list_open(golem, now=clock.now()),
            "may_administer": role is Role.ADMINISTRATOR or request.user.is_superuser,
            "link": f"{request.build_absolute_uri(reverse('join'))}#{secret}" if secret else "",
            "back_url": admin.page_of(golem),
            "has_members": any(not line.is_owner for line in lines),
            "roles": [(each.value.capitalize(), words) for each, words in ROLE_WORDS.items()],
            **{f"{name}_form": form for name, form in shown.items()},
        }
        response = TemplateResponse(request, "admin/golem/people.html", context)
        if secret:
            response.delete_cookie(LINK_COOKIE, path=own)
        add_never_cache_headers(response)
        return response


def _list_lines(golem: Golem) -> list[PersonLine]:
    lines = []
    for person in list_people(golem, Power.SEE):
        role = find_role(golem, person)
        if role is not None:
            is_owner = person.pk == golem.owner_id
            word = "owner" if is_owner else role.value.lower()
            lines.append(PersonLine(person.get_username(), word, "owns it" if is_owner else ROLE_WORDS[role], is_owner))
    return lines


def _invite(request: HttpRequest, golem: Golem, label: str, own: str) -> HttpResponse:
    _, secret = invite_person(golem=golem, label=label, invited_by=request.user, now=clock.now())
    response = HttpResponseRedirect(own)
    # Shown once, by the page this leads to: a reload makes no second link and shows none.
    response.set_cookie(
        LINK_COOKIE,
        secret.reveal(),
        max_age=LINK_SECONDS,
        path=own,
        secure=request.is_secure(),
        httponly=True,
        samesite="Strict",
    )
    add_never_cache_headers(response)
    return response


def _change(request: HttpRequest, golem: Golem, given: _WantedRole, own: str) -> HttpResponse:
    person = get_user_model()._default_manager.get(username=given.person)
    to = None if given.role == NO_ROLE else Role(given.role)
    if holds_at_once(find_role(golem, person), to):
        ended = lower_role(golem=golem, person=person, to=to, by=request.user, now=clock.now())
        messages.success(request, f"{person} {'is ' + to.value.lower() if to else 'has no role'} from now on.")
        if ended:
            messages.warning(request, f"{ended} API keys that {person} made are revoked: make new ones for the agent.")
        return HttpResponseRedirect(own)
    asked = request_operation(
        golem=golem,
        name="role",
        arguments={"person": given.person, "role": given.role},
        owner=request.user,
        reason=given.reason,
        now=clock.now(),
    )
    messages.info(request, "It waits for the owners.")
    return HttpResponseRedirect(page_of_request(asked.pk))
