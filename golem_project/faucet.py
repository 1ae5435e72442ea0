"""Test money for a golem of the local chain, from its page: what a person would otherwise send from a terminal."""

from __future__ import annotations

from typing import Any
from uuid import UUID

from django.conf import settings
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
from golem_project.embedded.world.node import CHAIN_ID
from golem_project.embedded.world.rpc import RpcError

GIFT_WEI = 10**18
GIFT = {"USDC": 15_000 * 10**6}


@require_POST
def give_test_money(request: HttpRequest, golem_id: UUID) -> HttpResponse:
    """One ether and some tokens to the golem's account, for its owner. Raises Http404 off the local chain."""
    person: Any = request.user
    if not person.is_staff or not person.has_perm("archetypes_app.change_golem"):
        raise PermissionDenied
    golem = Golem.objects.filter(pk=golem_id, home_chain_id=CHAIN_ID).exclude(address="").first()
    urls = settings.GOLEM_RPC_URLS.get(CHAIN_ID, ())
    if golem is None or not urls or not has_power(golem, person, Power.OPERATE):
        raise Http404("no golem of yours on the local chain")
    try:
        fund(urls[0], golem.address, GIFT_WEI, GIFT)
    except (EmbeddedError, RpcError) as error:
        messages.error(request, f"The local chain gave nothing: {error}")
    else:
        messages.success(request, f"{golem.name} got 1 ETH and 15,000 USDC of the local chain.")
    return HttpResponseRedirect(reverse("admin:archetypes_app_golem_set_up_funds", args=[golem.pk]))
