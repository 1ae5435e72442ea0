"""The address book: names of one owner on the pages of their golems, and warnings where a request names an address."""

from __future__ import annotations

from typing import Any

import pytest
from django.test import Client
from django.urls import reverse

from archetypes_app.models import Golem
from archetypes_app.owner_group import ensure_owner_group
from golem_project.alerts.topics import tell_event
from permits_app.actions.change_policy import change_policy
from permits_app.admin.halt_forecast import foretell_halts
from permits_app.admin.story_facts import describe_plan
from permits_app.approvals.address_lines import MOST_FIRST_USED, split_warnings
from permits_app.approvals.request_digest import hash_request
from permits_app.models import ActionPermit, AllowlistEntry, ChangeRequest, KnownAddress
from permits_app.words.address_book import read_book
from tests import factories
from tests.permits_app.approvals.people import give_device
from tools_app.chain.abi import checksum
from tools_app.core import clock
from tools_app.core.models import OutboxEvent

CHAIN = 31337
FRIEND = checksum("0xabcd00000000000000000000000000000000ef01")
TWIN = checksum("0xabcd11111111111111111111111111111111ef01")


@pytest.fixture
def golem(db: None) -> Golem:
    owner = factories.make_owner(name="ana")
    owner.groups.add(ensure_owner_group())
    give_device(owner)
    golem = factories.make_golem(owner=owner, name="Alpha")
    factories.make_wallet(golem=golem)
    factories.make_limits(golem=golem)
    factories.make_cage(golem=golem)
    factories.make_api_key(golem=golem)
    return golem


def browse(person: Any) -> Client:
    client = Client()
    client.force_login(person)
    return client


def name_it(person: Any, address: str, name: str, **more: str) -> Any:
    add = reverse("admin:permits_app_knownaddress_add")
    return browse(person).post(add, {"address": address, "name": name, "chain_id": "", "note": "", **more})


def allow(golem: Golem, address: str) -> ChangeRequest:
    """Its owner asks to let it pay `address`."""
    change = {"row": "allowlist", "name": f"{CHAIN}:RECIPIENT:{address}", "after": ""}
    outcome = change_policy(golem=golem, changes=[change], owner=golem.owner, reason="pay", now=clock.now())
    assert outcome.request is not None
    return outcome.request


def test_an_owner_names_an_address_once_and_nobody_else_sees_it(golem: Golem) -> None:
    ben = factories.make_owner(name="ben")
    ben.groups.add(ensure_owner_group())
    assert name_it(golem.owner, FRIEND.lower(), "Treasury").status_code == 302
    row = KnownAddress.objects.get()
    assert (row.owner, row.address, row.chain_id) == (golem.owner, FRIEND, None)
    page = reverse("admin:permits_app_knownaddress_change", args=[row.pk])
    assert browse(golem.owner).get(page).status_code == 200
    assert browse(ben).get(page).status_code == 404
    listing = browse(ben).get(reverse("admin:permits_app_knownaddress_changelist")).content.decode()
    assert "Treasury" not in listing
    assert read_book(golem.owner_id).say(CHAIN, FRIEND) == "Treasury"
    assert read_book(ben.pk).say(CHAIN, FRIEND) == "unknown"


@pytest.mark.parametrize(
    ("address", "name", "field"),
    [
        ("0x12", "Short", "address"),
        (FRIEND.swapcase().replace("0X", "0x"), "Mistyped", "address"),
        (FRIEND, "Another", "address"),
        (TWIN, "TREASURY", "name"),
        (TWIN, "usdc", "name"),
        (TWIN, "\u202e", "name"),
    ],
)
def test_a_name_belongs_to_one_address_and_an_address_is_whole(
    golem: Golem, local_chain: Any, address: str, name: str, field: str
) -> None:
    name_it(golem.owner, FRIEND, "Treasury")
    answer = name_it(golem.owner, address, name)
    assert answer.status_code == 200 and list(answer.context["adminform"].form.errors) == [field]
    assert KnownAddress.objects.count() == 1


def test_naming_one_that_looks_like_another_says_so(golem: Golem) -> None:
    name_it(golem.owner, FRIEND, "Treasury")
    client = browse(golem.owner)
    add = reverse("admin:permits_app_knownaddress_add")
    told = client.post(add, {"address": TWIN, "name": "Copy", "chain_id": "", "note": ""}, follow=True)
    assert "LOOKS LIKE Treasury" in told.content.decode()


def test_a_request_names_its_addresses_and_warns_of_a_twin_and_of_a_first_use(golem: Golem) -> None:
    name_it(golem.owner, FRIEND, "Treasury")
    request = allow(golem, TWIN)
    [line] = [each for each in request.shown["addresses"] if each["address"] == TWIN]
    assert line["name"] == "unknown"
    assert line["warnings"][0].startswith(f"It LOOKS LIKE Treasury {FRIEND}")
    assert line["warnings"][1].startswith("First use")
    assert request.digest == hash_request(request), "what is warned of is bound by the digest"
    page = browse(golem.owner).get(reverse("admin:permits_app_changerequest_change", args=[request.pk]))
    text = page.content.decode()
    assert "LOOKS LIKE Treasury" in text and "First use" in text and "Name it" in text
    event = OutboxEvent.objects.get(golem_id=golem.pk, type="approval:requested")
    told, _ = tell_event(event.type, event.payload, golem="Alpha")
    assert "WARNING: 1 address made to look like a known one" in told


def test_many_first_uses_are_told_together_and_a_twin_by_itself() -> None:
    first = [
        {"address": f"0x{number:040x}", "name": "unknown", "warnings": ["First use: never"]} for number in range(4)
    ]
    twin = {"address": TWIN, "name": "unknown", "warnings": [f"It LOOKS LIKE Treasury {FRIEND}", "First use: never"]}
    plain = {"address": FRIEND, "name": "Treasury", "warnings": []}
    assert split_warnings({"addresses": [twin, *first[:MOST_FIRST_USED], plain]}) == ([twin, *first[:3]], [])
    assert split_warnings({"addresses": [twin, *first, plain]}) == ([twin], first)
    assert split_warnings({}) == ([], [])


def test_the_twin_of_an_address_that_another_request_asks_for_is_told_while_that_one_waits(golem: Golem) -> None:
    """Nobody has named or paid the first one yet, so that no book knows it."""
    other = factories.make_golem(owner=golem.owner, name="Beta")
    factories.make_wallet(golem=other)
    factories.make_limits(golem=other)
    factories.make_cage(golem=other)
    factories.make_api_key(golem=other)
    allow(golem, FRIEND)
    for asked in (allow(golem, TWIN), allow(other, TWIN)):
        [line] = [each for each in asked.shown["addresses"] if each["address"] == TWIN]
        assert f"It LOOKS LIKE {FRIEND} of a request that waits and is another address" in line["warnings"]
    ChangeRequest.objects.update(state="CANCELLED")
    stranger = factories.make_owner(name="ben")
    give_device(stranger)
    theirs = factories.make_golem(owner=stranger, name="Gamma")
    factories.make_wallet(golem=theirs)
    factories.make_limits(golem=theirs)
    factories.make_cage(golem=theirs)
    factories.make_api_key(golem=theirs)
    allow(theirs, FRIEND)
    again = allow(golem, checksum("0xabcd22222222222222222222222222222222ef01"))
    assert "LOOKS LIKE" not in str(again.shown["addresses"]), "what is over, and what others ask, warns of nothing"


def test_what_was_paid_before_is_no_first_use(golem: Golem) -> None:
    permit = factories.make_committed_permit(golem=golem)
    ActionPermit.objects.filter(pk=permit.pk).update(bounds={**permit.bounds, "recipients": [FRIEND]})
    name_it(golem.owner, FRIEND, "Treasury")
    request = allow(golem, FRIEND)
    [line] = [each for each in request.shown["addresses"] if each["address"] == FRIEND]
    assert (line["name"], line["warnings"]) == ("Treasury", [])


def test_another_owners_use_and_name_say_nothing_here(golem: Golem) -> None:
    ben = factories.make_owner(name="ben")
    other = factories.make_golem(owner=ben, name="Beta")
    permit = factories.make_committed_permit(golem=other)
    ActionPermit.objects.filter(pk=permit.pk).update(bounds={**permit.bounds, "recipients": [FRIEND]})
    KnownAddress.objects.create(owner=ben, address=FRIEND, name="Treasury")
    [line] = allow(golem, FRIEND).shown["addresses"]
    assert line["name"] == "unknown" and line["warnings"][0].startswith("First use")


def test_permits_halts_and_the_allowlist_use_the_name(golem: Golem) -> None:
    name_it(golem.owner, FRIEND, "<b>Treasury</b>")
    permit = factories.make_permit(golem=golem)
    permit.bounds = {**permit.bounds, "recipients": [FRIEND]}
    [fact] = [each for each in describe_plan(permit) if each.name == "Recipient"]
    assert "&lt;b&gt;Treasury" in str(fact.value), "a name is text"
    AllowlistEntry.objects.create(golem=golem, chain_id=CHAIN, kind="RECIPIENT", address=FRIEND)
    AllowlistEntry.objects.create(golem=golem, chain_id=CHAIN, kind="RECIPIENT", address=TWIN)
    listing = browse(golem.owner).get(reverse("admin:permits_app_allowlistentry_changelist")).content.decode()
    assert "&lt;b&gt;Treasury&lt;/b&gt;" in listing and "unknown" in listing
    own = browse(golem.owner).get(reverse("admin:archetypes_app_golem_rules", args=[golem.pk])).content.decode()
    assert "&lt;b&gt;Treasury&lt;/b&gt;" in own and f"unknown {TWIN[:6]}" in own


def test_a_halt_tells_whose_allowance_stays(golem: Golem) -> None:
    row = factories.make_standing_allowance(permit=factories.make_committed_permit(golem=golem), spender=FRIEND)
    assert foretell_halts([golem], now=clock.now())[golem.pk].allowances == (
        f"{row.symbol} to unknown {FRIEND[:6]}…{FRIEND[-4:]}",
    )
    KnownAddress.objects.create(owner=golem.owner, address=FRIEND, name="Treasury")
    [told] = foretell_halts([golem], now=clock.now())[golem.pk].allowances
    assert told.startswith(f"{row.symbol} to Treasury ")
