"""The page of a golem's contract: its rules, what waits, and a form for each thing an owner may ask of it."""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import Any
from uuid import UUID

from django.contrib import messages
from django.core.exceptions import PermissionDenied
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseRedirect
from django.template.response import TemplateResponse
from django.urls import path, reverse
from django.utils.safestring import SafeString

from archetypes_app.audit_actor_names import name_actor
from archetypes_app.models import Golem
from archetypes_app.ownership import has_power
from archetypes_app.roles import Power
from permits_app.actions.note_safe import note_safe
from permits_app.actions.request_change import request_operation
from permits_app.admin.cage_mirrors import show_enforcement
from permits_app.admin.golem_site import Wrap, as_golem_admin
from permits_app.admin.safe_card import SafeCard, build_safe_card
from permits_app.approval_pages.cage_forms import ACTS, RULE_FORMS, ActForm, CageForm, describe_limits
from permits_app.approval_pages.feed_forms import FEED_FORMS
from permits_app.approval_pages.forms import WhyForm
from permits_app.approval_pages.role_forms import ROLE_FORMS
from permits_app.approval_pages.views import page_of as page_of_request
from permits_app.approvals.cage_rules_text import name_rule, say_session, show_rule
from permits_app.approvals.operations.cage import find_mirror
from permits_app.approvals.roles_text import RoleLine, list_roles
from permits_app.custody.safe_view import open_chain
from permits_app.models import CageMirror, SigningKey
from permits_app.models.signing_key import KeyState
from permits_app.policy_cage.contract import GRACE_SECONDS, RuleKind
from permits_app.policy_cage.state import CageState
from permits_app.words.address_book import AddressBook, read_book
from tools_app.core import clock
from tools_app.core.errors import GolemError
from tools_app.pages.confirmation import report_refusal
from tools_app.wording.formats import format_age, format_chain

_GROUPS = {
    RuleKind.ASSET: "Assets",
    RuleKind.OUTFLOW_PER_BATCH: "What may leave in one batch",
    RuleKind.OUTFLOW_PER_WINDOW: "What may leave within 24 h",
    RuleKind.CALL: "Functions it may call",
    RuleKind.SPENDER: "Spenders",
    RuleKind.VALUER: "Valuers",
    RuleKind.GUARDIAN: "Guardian",
    RuleKind.RECIPIENT: "Recipients of payouts",
    RuleKind.SEQUENCER: "Sequencer",
}
FORMS = {**RULE_FORMS, **FEED_FORMS, **ROLE_FORMS}


@dataclass(frozen=True, slots=True)
class WaitingLine:
    """One loosening that waits in the contract."""

    words: str
    becomes: str
    ready: str
    is_ready: bool
    kind: int
    key: str


@dataclass(frozen=True, slots=True)
class CagePage:
    """Everything the page shows."""

    mirror: CageMirror
    enforcement: SafeString
    chain: str
    session: str
    limits: tuple[tuple[str, str], ...]
    rules: tuple[tuple[str, tuple[tuple[str, str], ...]], ...]
    """By kind, each with its name and what it allows."""
    roles: tuple[RoleLine, ...]
    waiting: tuple[WaitingLine, ...]
    is_halted: bool
    is_breached: bool
    settles: str
    """When batches run again after prices that jumped were noted; empty when they run."""
    safe: SafeCard | None


def build_cage_page(mirror: CageMirror, *, now: datetime) -> CagePage:
    """The contract as the mirror knows it, in words, with addresses as its golem's owner calls them."""
    state, chain_id = CageState.from_dict(mirror.state), mirror.chain_id
    book = read_book(mirror.cage.golem.owner_id)
    listed = sorted((rule, value) for rule, value in state.rules.items() if rule[0] in _GROUPS and value)
    return CagePage(
        mirror=mirror,
        enforcement=show_enforcement(mirror),
        chain=format_chain(chain_id),
        session=book.in_text(chain_id, say_session(state)),
        limits=tuple(describe_limits(state, chain_id=chain_id)),
        rules=_group_rules(listed, chain_id, book),
        roles=tuple(
            replace(line, words=book.in_full(chain_id, line.words), allows=book.in_full(chain_id, line.allows))
            for line in list_roles(state, chain_id=chain_id, now=now)
        ),
        waiting=tuple(_list_waiting(state, chain_id, book, now)),
        is_halted=state.is_halted,
        is_breached=state.is_drawdown_breached,
        settles=_say_settling(state, now),
        safe=build_safe_card(mirror, book),
    )


def _say_settling(state: CageState, now: datetime) -> str:
    if state.settled_at <= now.timestamp():
        return ""
    at = datetime.fromtimestamp(state.settled_at, UTC)
    return f"{at:%Y-%m-%d %H:%M:%S} UTC, {format_age(at, now=now)}"


class CagePages:
    """Pages of the golem's admin about its contract."""

    def list_cage_urls(self, wrap: Wrap, name: str) -> list[object]:
        """Their addresses."""
        return [
            path("<uuid:golem_id>/cage/", wrap(self.cage_view), name=f"{name}_cage"),
            path("<uuid:golem_id>/cage/note-safe/", wrap(self.note_safe_view), name=f"{name}_note_safe"),
            path("<uuid:golem_id>/cage/<slug:act>/", wrap(self.cage_act_view), name=f"{name}_cage_act"),
        ]

    def cage_view(self, request: HttpRequest, golem_id: UUID) -> HttpResponse:
        """The contract, and the forms."""
        golem, mirror = get_caged(self, request, golem_id)
        return self._show_cage(request, golem, mirror)

    def cage_act_view(self, request: HttpRequest, golem_id: UUID, act: str) -> HttpResponse:
        """One thing asked of it; opens a request to the owners."""
        golem, mirror = get_caged(self, request, golem_id)
        form = self._make_form(act, mirror, request.POST if request.method == "POST" else None)
        if form is None:
            raise Http404("a cage knows no such act")
        if request.method != "POST":
            return HttpResponseRedirect(reverse("admin:archetypes_app_golem_cage", args=[golem.pk]))
        if not form.is_valid():
            return self._show_cage(request, golem, mirror, refused={act: form}, http_status=422)
        now = clock.now()
        try:
            arguments = form.build_arguments(chain=open_chain(mirror.chain_id, now=now), now=now)
            opened = request_operation(
                golem=golem,
                name="cage",
                arguments=arguments,
                owner=request.user,
                reason=form.cleaned_data["reason"],
                now=now,
            )
        except GolemError as error:
            return report_refusal(request, error, reverse("admin:archetypes_app_golem_cage", args=[golem.pk]))
        messages.info(request, "It waits for the owners' signature.")
        return HttpResponseRedirect(page_of_request(opened.pk))

    def note_safe_view(self, request: HttpRequest, golem_id: UUID) -> HttpResponse:
        """An owner has looked at the Safe as it is; nothing is sent."""
        golem, _ = get_caged(self, request, golem_id)
        admin = as_golem_admin(self)
        page = reverse("admin:archetypes_app_golem_cage", args=[golem.pk])
        if request.method != "POST":
            return HttpResponseRedirect(page)
        if not admin.has_change_permission(request, golem):
            raise PermissionDenied
        form = WhyForm(request.POST, prefix="note-safe")
        if not form.is_valid():
            messages.error(request, "Say why the Safe is as it should be.")
            return HttpResponseRedirect(page)
        try:
            note_safe(
                golem_id=golem.pk, actor=name_actor(request.user), reason=form.cleaned_data["reason"], now=clock.now()
            )
        except GolemError as error:
            return report_refusal(request, error, page)
        messages.info(request, "Noted. The next change of the Safe is told again.")
        return HttpResponseRedirect(page)

    def _make_form(self, act: str, mirror: CageMirror, data: object) -> CageForm | None:
        prefix = act
        if act in FORMS:
            initial = {"key": _find_staged(mirror)} if act == "session" else None
            return FORMS[act](data, mirror=mirror, prefix=prefix, initial=initial)
        return ActForm(data, mirror=mirror, act=act, prefix=prefix) if act in ACTS else None

    def _show_cage(
        self,
        request: HttpRequest,
        golem: Golem,
        mirror: CageMirror,
        *,
        refused: dict[str, CageForm] | None = None,
        http_status: int = 200,
    ) -> HttpResponse:
        admin = as_golem_admin(self)
        forms = {act: (refused or {}).get(act) or self._make_form(act, mirror, None) for act in (*FORMS, *ACTS)}
        context = {
            **admin.admin_site.each_context(request),
            "title": f"The cage of {golem.name}",
            "opts": admin.opts,
            "golem": golem,
            "page": build_cage_page(mirror, now=clock.now()),
            "refused": list(refused or ()),
            "forms": [(act, forms[act], FORMS[act].title) for act in FORMS],
            "acts": forms,
            "note_safe": WhyForm(prefix="note-safe"),
            "may_act": admin.has_change_permission(request, golem),
            "may_replace": has_power(golem, request.user, Power.ADMINISTER),
        }
        return TemplateResponse(request, "permits_app/approvals/cage.html", context, status=http_status)


def get_caged(
    admin: Any,  # Any: the admin that it is mixed into
    request: HttpRequest,
    golem_id: UUID,
) -> tuple[Golem, CageMirror]:
    """A golem that who asks may see, with its contract. Raises Http404 where there is none."""
    golem = admin.get_own_golem(request, golem_id)
    mirror = find_mirror(golem)
    if mirror is None:
        raise Http404("this golem's cage has no contract")
    return golem, mirror


def _find_staged(mirror: CageMirror) -> str:
    """The key that was made for this golem and waits to be appointed; empty where there is none."""
    keys = SigningKey.objects.filter(golem_id=mirror.cage.golem_id, state=KeyState.STAGED)
    return keys.values_list("address", flat=True).first() or ""


def _group_rules(
    listed: list[tuple[tuple[int, str], int]], chain_id: int, book: AddressBook
) -> tuple[tuple[str, tuple[tuple[str, str], ...]], ...]:
    found: dict[str, list[tuple[str, str]]] = {}
    for (kind, key), value in listed:
        raw = bytes.fromhex(key[2:])
        name, allows = name_rule(kind, raw, chain_id=chain_id), show_rule(kind, raw, value, chain_id=chain_id)
        line = book.in_text(chain_id, name), book.in_text(chain_id, allows)
        found.setdefault(_GROUPS[RuleKind(kind)], []).append(line)
    return tuple((name, tuple(lines)) for name, lines in found.items())


def _list_waiting(state: CageState, chain_id: int, book: AddressBook, now: datetime) -> list[WaitingLine]:
    lines = []
    for (kind, key), change in sorted(state.pending.items(), key=lambda each: each[1].ready_at):
        raw, ready = bytes.fromhex(key[2:]), datetime.fromtimestamp(change.ready_at, UTC)
        is_late = now.timestamp() > change.ready_at + GRACE_SECONDS
        lines.append(
            WaitingLine(
                words=book.in_text(chain_id, name_rule(kind, raw, chain_id=chain_id)),
                becomes=book.in_text(chain_id, show_rule(kind, raw, change.value, chain_id=chain_id)),
                ready="too late to be applied"
                if is_late
                else f"{ready:%Y-%m-%d %H:%M:%S} UTC, {format_age(ready, now=now)}",
                is_ready=ready <= now and not is_late,
                kind=kind,
                key=key,
            )
        )
    return lines
