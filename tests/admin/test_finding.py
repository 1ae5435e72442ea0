"""One question across golems, permits, requests, addresses and hashes; of others nothing is found."""

from __future__ import annotations

from typing import Any

import pytest
from django.test import Client

from archetypes_app.owner_group import ensure_owner_group
from archetypes_app.roles import Role
from permits_app.models import ActionPermit, KnownAddress, OutboundTransaction, PolicyCage, SpendingLimits
from tests import factories
from tests.admin.members import make_member
from tools_app.chain.abi import checksum

FRIEND = checksum("0xabcd00000000000000000000000000000000ef01")


@pytest.fixture
def house(db: None) -> dict[str, Any]:
    owner = factories.make_owner(name="ana")
    golem = factories.make_golem(owner=owner, name="Alpha")
    permit = factories.make_committed_permit(golem=golem)
    ActionPermit.objects.filter(pk=permit.pk).update(bounds={**permit.bounds, "recipients": [FRIEND]})
    KnownAddress.objects.create(owner=owner, address=FRIEND, name="Treasury")
    return {"owner": owner, "permit": permit, "golem": golem, "request": factories.make_change_request(golem=golem)}


def ask(person: Any, words: str) -> str:
    person.groups.add(ensure_owner_group())
    client = Client()
    client.force_login(person)
    answer = client.get("/admin/find/", {"q": words})
    assert answer.status_code == 200
    text = answer.content.decode()
    return text[text.index('id="found"') :] if 'id="found"' in text else ""


def test_each_kind_is_found_by_what_an_owner_has_of_it(house: dict[str, Any]) -> None:
    permit = f"/admin/permits_app/actionpermit/{house['permit'].pk}/change/"
    golem = f"/admin/archetypes_app/golem/{house['golem'].pk}/change/"
    request = f"/admin/permits_app/changerequest/{house['request'].pk}/change/"
    sent = OutboundTransaction.objects.filter(permit=house["permit"]).values_list("tx_hash", flat=True)[0]
    for words, expected in (
        ("alph", golem),
        ("swap", permit),
        (str(house["permit"].pk), permit),
        (house["permit"].plan_hash, permit),
        (sent, permit),
        (FRIEND.lower(), permit),
        (FRIEND, "Treasury"),
        ("treas", FRIEND),
        (str(house["request"].pk), request),
        (house["request"].digest, request),
    ):
        assert expected in ask(house["owner"], words), words


def test_another_owner_finds_nothing_of_it(house: dict[str, Any]) -> None:
    ben = factories.make_owner(name="ben")
    for words in ("alpha", "swap", "treasury", house["permit"].plan_hash, str(house["permit"].pk), FRIEND):
        told = ask(ben, words)
        assert "Treasury" not in told and "Alpha" not in told and "/change/" not in told, words


def test_words_are_words(house: dict[str, Any]) -> None:
    assert ask(house["owner"], "<script>alert(1)</script>") == ""
    assert ask(house["owner"], "' or 1=1 --") == ""


def test_pages_settings_and_guides_are_found_by_their_names(house: dict[str, Any]) -> None:
    limits = SpendingLimits.objects.get_or_create(golem=house["golem"])[0].pk
    PolicyCage.objects.get_or_create(golem=house["golem"])
    for words, expected in (
        ("api keys", "/admin/archetypes_app/apikey/"),
        ("second factors", "/admin/permits_app/changerequest/second-factors/"),
        ("per transaction", f"/admin/permits_app/spendinglimits/{limits}/change/#id_per_transaction_micro_usd"),
        ("drawdown", "#id_max_drawdown_bps"),
        ("approve a change", "/admin/help/how-to/approve-a-change/#"),
    ):
        assert expected in ask(house["owner"], words), words
    ben = factories.make_owner(name="ben")
    told = ask(ben, "per transaction")
    assert "spendinglimits" not in told and "Alpha" not in told


def test_a_page_that_is_not_ones_own_to_see_is_not_found(house: dict[str, Any]) -> None:
    viewer = make_member(house["golem"], Role.VIEWER, name="vera")
    client = Client()
    client.force_login(viewer)
    told = client.get("/admin/find/", {"q": "nonce cursors"}).content.decode()
    assert "/admin/permits_app/noncecursor/" not in told and "Nothing of yours is called that" in told


@pytest.mark.parametrize(("asked", "is_there"), [("31337", True), ("1", False)])
def test_a_list_is_filtered_by_a_number_that_its_newest_rows_have(
    house: dict[str, Any], asked: str, is_there: bool
) -> None:
    house["owner"].groups.add(ensure_owner_group())
    client = Client()
    client.force_login(house["owner"])
    answer = client.get("/admin/permits_app/outboundtransaction/", {"chain_id": asked})
    assert answer.status_code == 200 and bool(answer.context["cl"].result_count) is is_there
