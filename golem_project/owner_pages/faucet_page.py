"""Gives a golem of the local chains test money from its page."""

from __future__ import annotations

from typing import Any
from uuid import UUID

from django.contrib import messages
from django.core.exceptions import PermissionDenied
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseRedirect
from django.urls import reverse
from django.views.decorators.http import require_POST

from archetypes_app.models import Golem
from archetypes_app.ownership import has_power
from archetypes_app.roles import Power
from golem_project.embedded.errors import EmbeddedError
from golem_project.embedded.world.fund import fund
from golem_project.embedded.world.node import CHAIN_ID, SECOND_CHAIN_ID
from golem_project.embedded.world.rpc import RpcError
from tools_app.chain.networks import Network, configured_networks
from tools_app.toolkit.golem_chains import list_chains
from tools_app.wording.formats import format_chain

GIFT_WEI = 10**18
GIFT = {"USDC": 15_000 * 10**6}


@require_POST
def give_test_money(request: HttpRequest, golem_id: UUID) -> HttpResponse:
    """One ether and some tokens to the golem's account on each local chain that it has, for its owner.

    Raises Http404 where it has none.
    """
    person: Any = request.user  # Any: which model accounts have is a setting
    if not person.is_staff or not person.has_perm("archetypes_app.change_golem"):
        raise PermissionDenied
    golem = Golem.objects.filter(pk=golem_id).exclude(address="").first()
    networks = _list_local(golem) if golem is not None else []
    if golem is None or not networks or not has_power(golem, person, Power.OPERATE):
        raise Http404("no golem of yours on a local chain")
    for network in networks:
        name = format_chain(network.chain_id)
        try:
            fund(network.rpc_urls[0].reveal(), str(golem.address), GIFT_WEI, GIFT)
        except (EmbeddedError, RpcError) as error:
            messages.error(request, f"{name} gave nothing: {error}")
        else:
            messages.success(request, f"{golem.name} got 1 ETH and 15,000 USDC on {name}.")
    return HttpResponseRedirect(reverse("admin:archetypes_app_golem_set_up_funds", args=[golem.pk]))


def _list_local(golem: Golem) -> list[Network]:
    """The local chains of the golem that run."""
    known = {CHAIN_ID, SECOND_CHAIN_ID} & set(list_chains(golem))
    return [network for network in configured_networks() if network.chain_id in known]
