"""An owner reads on the cage's page which of the places that a golem may call no cage counts, and why."""

from __future__ import annotations

import pytest
from django.test import Client

from permits_app.actions.allow_addresses import allow_addresses
from permits_app.limits.suggested_allowlist import AllowlistChoice
from permits_app.models.allowlist import AllowlistKind
from permits_app.policy_cage.suggested_rules import call_rules, list_uncaged
from tests.evm.world import CHAIN_ID
from tests.live_golem import LiveGolem
from tools_app.core import clock
from tools_app.toolkit.protocol import NOT_UNDER_A_CAGE, SHELF

NAMES = ("compound_v3", "curve", "eigenlayer", "erc4626", "liquid_restaking", "moonwell", "pendle")


@pytest.mark.parametrize("name", NAMES)
def test_why_a_protocol_is_under_no_cage_is_on_the_page(live_golem: LiveGolem, name: str) -> None:
    protocol, golem = SHELF.get(name), live_golem.golem
    assert protocol is not None and protocol.uncaged
    places = {
        str(protocol.address(CHAIN_ID, each.key)) for each in protocol.contracts if each.valued_at == NOT_UNDER_A_CAGE
    }
    choices = [AllowlistChoice(CHAIN_ID, AllowlistKind.CONTRACT, each, name) for each in sorted(places)]
    allow_addresses(golem=golem, choices=choices, actor="owner:1", now=clock.now())
    assert not call_rules(CHAIN_ID, places, valued=None)
    (words,) = (each for each in list_uncaged(golem, CHAIN_ID) if protocol.uncaged in each)
    assert words.startswith(SHELF.label_on(name, CHAIN_ID))
    live_golem.owner.is_superuser = True
    live_golem.owner.save()
    client = Client()
    client.force_login(live_golem.owner)
    page = client.get(f"/admin/cage/{golem.pk}/").content.decode()
    assert words in page.replace("&#x27;", "'")
