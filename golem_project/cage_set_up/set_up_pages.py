"""The way into a contract from the browser: a Safe, the deployment, following it, and the golem's session key.

On the local chain the server sends what no owner has to sign; anywhere else it hands out what the owner's wallet sends.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, TypeAlias
from uuid import UUID

from django import forms
from django.conf import settings
from django.contrib import admin, messages
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseRedirect
from django.template.response import TemplateResponse
from django.urls import reverse
from django.views.decorators.http import require_http_methods
from unfold.widgets import UnfoldAdminIntegerFieldWidget, UnfoldAdminTextInputWidget

from archetypes_app.audit_actor_names import name_actor
from archetypes_app.models import Golem
from archetypes_app.ownership import has_power
from archetypes_app.roles import Power
from golem_project.cage_set_up.checklist import build_checklist
from golem_project.cage_set_up.deployment import (
    BUDGET_MS,
    deploy_locally,
    follow,
    plan_owner_transactions,
    tell_left_out,
)
from golem_project.cage_set_up.local_safe import make_safe
from golem_project.embedded.errors import EmbeddedError
from golem_project.embedded.world.fund import fund
from golem_project.embedded.world.node import CHAIN_ID
from golem_project.embedded.world.rpc import RpcError
from permits_app.actions.request_change import request_operation
from permits_app.actions.stage_key import stage_key
from permits_app.approval_pages.cage_forms import AddressField
from permits_app.approvals.golem_setup import is_in_setup
from permits_app.approvals.operations.cage import find_mirror
from permits_app.forms import UsdField
from permits_app.models import NavSnapshot, SigningKey
from permits_app.models.signing_key import KeyState
from permits_app.policy_cage.suggested_rules import list_uncaged
from tools_app import runner
from tools_app.core import clock
from tools_app.core.clock import Deadline
from tools_app.core.errors import GolemError
from tools_app.pages.form_values import read_cleaned
from tools_app.toolkit.context import ChainReader
from tools_app.wording.formats import format_chain, shorten_hex

GIFT_WEI = 10**18
"""What a key is given on the local chain."""


class SafeForm(forms.Form):
    """Whose Safe it becomes."""

    owner = AddressField(label="Owner of the Safe", help_text="An address of your own wallet; it alone signs")


@dataclass(frozen=True, slots=True)
class _Deployment:
    """A Safe, the mark in micro-USD, and who may halt the contract."""

    account: str
    mark: int
    guardian: str


class DeployForm(forms.Form):
    """What the contract stands over."""

    account = AddressField(label="Safe", help_text="It holds the funds; its owners keep their keys")
    mark = UsdField(label="High-water mark", help_text="US dollars from which a drawdown is measured")
    guardian = AddressField(required=False, label="Guardian", help_text="May halt the contract and nothing else")

    def as_options(self) -> dict[str, object]:
        """As the command takes them."""
        given = read_cleaned(_Deployment, self)
        dollars, rest = divmod(given.mark, 10**6)
        return {
            "account": given.account,
            "high_water_mark_usd": f"{dollars}.{rest:06d}",
            "guardian": given.guardian or None,
            "valuer": [],
        }


@dataclass(frozen=True, slots=True)
class _ContractGiven:
    """A contract, and the block of its deployment."""

    contract: str
    block: int


@dataclass(frozen=True, slots=True)
class _FollowWish(_ContractGiven):
    """The same, and why."""

    reason: str


class FollowForm(forms.Form):
    """Which contract was deployed, and in which block."""

    contract = AddressField(label="Contract")
    block = forms.IntegerField(label="Block of its deployment", min_value=0, widget=UnfoldAdminIntegerFieldWidget())


class AskToFollowForm(FollowForm):
    """The same, of a golem that can act already: its owners decide."""

    reason = forms.CharField(
        label="Why", max_length=500, help_text="Shown to who decides", widget=UnfoldAdminTextInputWidget()
    )


_Act: TypeAlias = Callable[[HttpRequest, Golem, Any], HttpResponse]  # Any: each act takes its own form


@require_http_methods(["GET", "POST"])
def set_up_cage(request: HttpRequest, golem_id: UUID) -> HttpResponse:
    """The steps, each a form. Raises Http404 for a golem that is not theirs to administer."""
    golem = Golem.objects.select_related("archetype").filter(pk=golem_id).first()
    if golem is None or not has_power(golem, request.user, Power.ADMINISTER):
        raise Http404("no golem of yours")
    acts: dict[str, tuple[Callable[..., forms.Form], _Act]] = {"key": (forms.Form, _stage)}
    # What a contract says becomes what is enforced. One that stands is changed by its owners' requests; following any
    # other is decided by the owners once one stands or something can act as the golem: its rules may be looser.
    acts["deploy" if _is_local(golem) else "plan"] = (DeployForm, _deploy if _is_local(golem) else _plan)
    acts["follow"] = (AskToFollowForm, _ask_to_follow) if _asks_owners(golem) else (FollowForm, _follow)
    if _is_local(golem):
        acts["safe"] = (SafeForm, _make_safe)
        acts["gas"] = (forms.Form, _give_gas)
    bound: dict[str, forms.Form] = {}
    if request.method == "POST":
        did = str(request.POST.get("do", ""))
        if did not in acts:
            raise Http404("no such step")
        form = bound[did] = acts[did][0](request.POST)
        if form.is_valid():
            try:
                return acts[did][1](request, golem, form)
            except (GolemError, EmbeddedError, RpcError) as error:
                messages.error(request, f"Nothing was done: {error}")
                return HttpResponseRedirect(page_of(golem))
    return _show(request, golem, {name: bound.get(name) or _begin(golem, name, request) for name in acts}, bool(bound))


def page_of(golem: Golem) -> str:
    """The page's address."""
    return reverse("cage_set_up", args=[golem.pk])


def _is_local(golem: Golem) -> bool:
    return golem.home_chain_id == CHAIN_ID and bool(settings.GOLEM_RPC_URLS.get(CHAIN_ID))


def _asks_owners(golem: Golem) -> bool:
    return find_mirror(golem) is not None or not is_in_setup(golem)


def _begin(golem: Golem, name: str, request: HttpRequest) -> forms.Form:
    if name in ("deploy", "plan"):
        mirror = find_mirror(golem)
        account = request.GET.get("safe") or (mirror.account if mirror is not None else "")
        seen = NavSnapshot.objects.filter(golem=golem, chain_id=golem.home_chain_id).order_by("-at").first()
        mark = seen.value_micro_usd if seen is not None and seen.value_micro_usd > 0 else None
        return DeployForm(initial={"account": account, "mark": mark})
    if name == "follow":
        given = {name: request.GET.get(name, "") for name in ("contract", "block")}
        return AskToFollowForm(initial=given) if _asks_owners(golem) else FollowForm(initial=given)
    return SafeForm() if name == "safe" else forms.Form()


def _show(request: HttpRequest, golem: Golem, given: dict[str, forms.Form], is_refused: bool) -> HttpResponse:
    mirror = find_mirror(golem)
    checklist = build_checklist(golem, mirror, _try_to_open(golem), safe=request.GET.get("safe", ""))
    context = {
        **admin.site.each_context(request),
        "title": f"A contract for {golem.name}",
        "golem": golem,
        "mirror": mirror,
        "checklist": checklist,
        "is_deployed": bool(request.GET.get("contract")),
        "chain": format_chain(golem.home_chain_id),
        "given": given,
        "is_local": _is_local(golem),
        "uncaged": list_uncaged(golem, golem.home_chain_id),
    }
    return TemplateResponse(request, "golem_project/cage_set_up/steps.html", context, status=422 if is_refused else 200)


def _make_safe(request: HttpRequest, golem: Golem, form: SafeForm) -> HttpResponse:
    safe = make_safe(settings.GOLEM_RPC_URLS[CHAIN_ID][0], [form.cleaned_data["owner"]], 1)
    messages.success(request, f"The Safe {shorten_hex(safe)} stands on the local chain, with funds to try it.")
    return HttpResponseRedirect(f"{page_of(golem)}?safe={safe}")


def _deploy(request: HttpRequest, golem: Golem, form: DeployForm) -> HttpResponse:
    options = {**form.as_options(), "send_locally": settings.GOLEM_RPC_URLS[CHAIN_ID][0]}
    contract, block, left_out = deploy_locally(golem, _open(golem), options)
    if left_out:
        messages.warning(request, tell_left_out(left_out))
    if find_mirror(golem) is not None:
        messages.success(request, f"The contract {shorten_hex(contract)} stands, and nobody follows it yet.")
        return HttpResponseRedirect(f"{page_of(golem)}?contract={contract}&block={block}#follow")
    follow(golem, contract, block)
    messages.success(request, f"The contract {shorten_hex(contract)} stands. Its owners let it act for the Safe below.")
    return HttpResponseRedirect(reverse("admin:archetypes_app_golem_cage", args=[golem.pk]))


def _plan(request: HttpRequest, golem: Golem, form: DeployForm) -> HttpResponse:
    answer = HttpResponse(
        json.dumps(plan_owner_transactions(golem, _open(golem), form.as_options()), indent=2),
        content_type="application/json",
    )
    answer["Content-Disposition"] = f'attachment; filename="cage-{golem.pk}.json"'
    return answer


def _follow(request: HttpRequest, golem: Golem, form: FollowForm) -> HttpResponse:
    place = read_cleaned(_ContractGiven, form)
    follow(golem, place.contract, place.block)
    messages.success(request, "The contract is followed.")
    return HttpResponseRedirect(reverse("admin:archetypes_app_golem_cage", args=[golem.pk]))


def _ask_to_follow(request: HttpRequest, golem: Golem, form: AskToFollowForm) -> HttpResponse:
    wish = read_cleaned(_FollowWish, form)
    asked = request_operation(
        golem=golem,
        name="follow",
        arguments={"contract": wish.contract, "deployed_block": str(wish.block)},
        owner=request.user,
        reason=wish.reason,
        now=clock.now(),
    )
    messages.success(request, "Its owners were asked. Nothing is followed until they approve.")
    return HttpResponseRedirect(reverse("admin:permits_app_changerequest_change", args=[asked.pk]))


def _stage(request: HttpRequest, golem: Golem, form: forms.Form) -> HttpResponse:
    reason = "a session key asked for in the browser"
    key = stage_key(golem=golem, reason=reason, actor=name_actor(request.user), now=clock.now())
    messages.success(
        request,
        f"The key {shorten_hex(key.address)} has no rights yet. It pays gas from its own coins: give it some.",
    )
    return HttpResponseRedirect(page_of(golem))


def _give_gas(request: HttpRequest, golem: Golem, form: forms.Form) -> HttpResponse:
    """Coins of no value for the key that waits, on the local chain. Raises RpcError, EmbeddedError."""
    staged = SigningKey.objects.filter(golem=golem, state__in=(KeyState.STAGED, KeyState.ACTIVE)).order_by("-state")
    key = staged.first()
    if key is None:
        raise Http404("no key waits for gas")
    fund(settings.GOLEM_RPC_URLS[CHAIN_ID][0], key.address, GIFT_WEI, {})
    messages.success(request, f"The key {shorten_hex(key.address)} has 1 ETH of no value for gas.")
    return HttpResponseRedirect(page_of(golem))


def _try_to_open(golem: Golem) -> ChainReader | None:
    """The chain, or None where no node of it answers: the checklist is shown all the same."""
    try:
        return _open(golem)
    except GolemError:
        return None


def _open(golem: Golem) -> ChainReader:
    return runner.open_reader(golem.home_chain_id, now=clock.now(), deadline=Deadline.after_ms(BUDGET_MS))
