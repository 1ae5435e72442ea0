"""The way into a contract from the browser: who may take it, what it refuses, what it hands out off the local chain."""

from __future__ import annotations

import json
from typing import Any

import pytest
from django.test import Client
from django.urls import reverse

from archetypes_app.owner_group import ensure_owner_group
from permits_app.models import CageMirror, ChangeRequest, SigningKey
from tests import factories
from tests.live_golem import LiveGolem


def browse(person: Any) -> Client:
    client = Client()
    client.force_login(person)
    return client


@pytest.fixture
def page(live_golem: LiveGolem) -> str:
    live_golem.owner.groups.add(ensure_owner_group())
    return reverse("cage_set_up", args=[live_golem.golem.pk])


def test_only_who_administers_the_golem_takes_the_way(live_golem: LiveGolem, page: str) -> None:
    stranger = factories.make_owner(name="stranger")
    assert browse(stranger).get(page).status_code == 404
    assert browse(stranger).post(page, {"do": "key"}).status_code == 404
    assert browse(factories.make_operator()).post(page, {"do": "key"}).status_code == 404
    assert Client().get(page).status_code == 302
    assert not SigningKey.objects.filter(golem=live_golem.golem, state="STAGED").exists()
    assert browse(live_golem.owner).post(page, {"do": "key"}).status_code == 302
    assert SigningKey.objects.filter(golem=live_golem.golem, state="STAGED").count() == 1


def test_a_golem_that_can_act_follows_no_contract_whose_rules_its_owners_never_saw(
    live_golem: LiveGolem, page: str
) -> None:
    client, given = browse(live_golem.owner), {"contract": live_golem.world.contracts["weth9"], "block": "1"}
    assert "Ask to follow it" in client.get(page).content.decode()
    assert client.post(page, {"do": "follow", **given}).status_code == 422
    told = client.post(page, {"do": "follow", **given, "reason": "ours"}, follow=True).content.decode()
    assert "Nothing was done" in told and not ChangeRequest.objects.exists() and not CageMirror.objects.exists()


def test_a_contract_that_stands_is_replaced_by_no_administrator_alone(live_golem: LiveGolem, page: str) -> None:
    stands = factories.make_cage_mirror(golem=live_golem.golem)
    client, given = browse(live_golem.owner), {"contract": live_golem.world.contracts["weth9"], "block": "1"}
    assert client.post(page, {"do": "follow", **given}).status_code == 422
    told = client.post(page, {"do": "follow", **given, "reason": "ours"}, follow=True).content.decode()
    assert "Nothing was done" in told
    assert CageMirror.objects.get().contract == stands.contract and not ChangeRequest.objects.exists()


def test_what_is_no_cage_is_not_followed(live_golem: LiveGolem, page: str) -> None:
    client = browse(live_golem.owner)
    page = reverse("cage_set_up", args=[factories.make_golem(owner=live_golem.owner, name="New").pk])
    wrong = live_golem.world.contracts["weth9"]
    told = client.post(page, {"do": "follow", "contract": wrong, "block": "1"}, follow=True).content.decode()
    assert "Nothing was done" in told and not CageMirror.objects.exists()
    assert client.post(page, {"do": "follow", "contract": "0x12", "block": "1"}).status_code == 422
    assert client.post(page, {"do": "no-such-step"}).status_code == 404


def test_off_the_local_chain_nothing_is_sent_and_the_owners_transactions_are_handed_out(
    live_golem: LiveGolem, page: str, settings: Any
) -> None:
    settings.GOLEM_RPC_URLS = {}
    client = browse(live_golem.owner)
    before = live_golem.world.rpc.call("eth_blockNumber")
    given = {"account": live_golem.golem.address, "mark": "26,000.50", "guardian": ""}
    assert client.post(page, {"do": "deploy", **given}).status_code == 404
    assert client.post(page, {"do": "safe", "owner": live_golem.golem.address}).status_code == 404
    answer = client.post(page, {"do": "plan", **given})
    plan = json.loads(answer.content)
    assert answer["Content-Disposition"].startswith("attachment")
    assert plan["account"] == live_golem.golem.address and plan["deploy_valuers_first"]
    assert live_golem.world.rpc.call("eth_blockNumber") == before and not CageMirror.objects.exists()
