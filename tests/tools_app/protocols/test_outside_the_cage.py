"""What no cage counts is named with its reason on the page where owners set one up."""

from __future__ import annotations

import pytest
from django.test import Client
from django.urls import reverse
from django.utils.html import escape

from permits_app.actions.allow_addresses import allow_addresses
from permits_app.limits.suggested_allowlist import suggest_allowlist
from permits_app.models import AllowlistEntry
from permits_app.policy_cage.suggested_rules import call_rules, list_subjects
from tests.evm.world import CHAIN_ID, World
from tests.live_golem import make_live_golem
from tools_app.core import clock
from tools_app.protocols.compound_v3.protocol import PROTOCOL as COMPOUND
from tools_app.protocols.pendle.protocol import PROTOCOL as PENDLE
from tools_app.toolkit.protocol import ProtocolDef


@pytest.mark.protocols("pendle", "compound_v3")
@pytest.mark.parametrize("protocol", [PENDLE, COMPOUND], ids=["pendle", "compound_v3"])
def test_the_page_of_the_cage_says_why_it_stays_outside_and_the_cage_suggests_none_of_its_calls(
    local_chain: World, transactional_db: None, protocol: ProtocolDef
) -> None:
    live = make_live_golem(local_chain)
    live.owner.is_superuser = True
    live.owner.save()
    client = Client()
    client.force_login(live.owner)
    page, where = reverse("cage_set_up", args=[live.golem.pk]), protocol.deployments(CHAIN_ID) or {}
    places = [where[each.key] for each in protocol.contracts if each.is_place and each.key in where]
    AllowlistEntry.objects.filter(golem=live.golem).delete()
    before = client.get(page).content.decode()
    why = escape(f"{protocol.label} (simulated contract): {protocol.uncaged}")
    assert why not in before, "it may not be called, so there is nothing to say"
    allow_addresses(golem=live.golem, choices=suggest_allowlist(CHAIN_ID), actor="system:test", now=clock.now())
    assert why in client.get(page).content.decode()
    assert not set(places) & set(list_subjects(live.golem, CHAIN_ID))
    assert not call_rules(CHAIN_ID, set(places), valued=None)
