"""Hosts that owners list instead of addresses: asked whom they are paid at, held to caps, changed by approval."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import nullcontext
from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest
from django.test import Client
from django.urls import reverse

from archetypes_app.owner_group import ensure_owner_group
from permits_app.actions.execute_change import execute_change
from permits_app.actions.request_change import request_operation
from permits_app.approvals.operations.payment_host import MOST_HOSTS, MOST_RAW
from permits_app.models import ActionPermit, ChangeRequest, PaymentHost, SignedPromise
from tests import factories
from tests.evm.world import CHAIN_ID
from tests.permits_app.approvals.people import approve, give_device
from tests.tools_app.protocols.x402.host_server import Host, open_host
from tests.tools_app.protocols.x402.payee import USD, Payee
from tests.tools_app.protocols.x402.payer import Payer
from tools_app import runner
from tools_app.core import clock
from tools_app.core.errors import InvalidParams
from tools_app.core.models import AuditEntry
from tools_app.standards.x402.host_asking import HostAsker
from tools_app.toolkit.payment_hosts import read_origin
from tools_app.toolkit.registry import REGISTRY

pytestmark = pytest.mark.protocols("uniswap_x", "x402")
URL = "/paris"


@pytest.fixture
def host(stranger: Payer) -> Iterator[Host]:
    """A host of this machine, which is asked all the same."""
    environment = runner._get_environment()
    asker = HostAsker(allows_private=True, seconds=10.0)
    runner.configure(replace(environment, services={**environment.services, HostAsker: asker}))
    stranger.approve()
    try:
        with open_host(stranger.payee) as host:
            yield host
    finally:
        runner.configure(environment)


def list_host(payer: Payer, host: Host, *, most: int = 2 * USD, day: int = 5 * USD) -> PaymentHost:
    return PaymentHost.objects.create(
        golem=payer.live.golem,
        chain_id=CHAIN_ID,
        origin=host.origin,
        token=payer.payee.usdc,
        most_raw=most,
        most_a_day_raw=day,
        listed_at=clock.now(),
    )


def learn(payer: Payer, host: Host, **changes: Any) -> tuple[int, dict[str, Any]]:
    return payer.post("preview_action", action_type="learn_payee", venue="wallet", url=host.origin + URL, **changes)


def learned(payer: Payer, host: Host) -> None:
    status, permit = learn(payer, host)
    assert status == 200, permit
    _, done = payer.post("commit_action", permit_id=permit["permit_id"])
    assert done["status"] == "COMMITTED", done


def test_an_owner_lists_a_host_on_its_page_after_two_days_and_a_stranger_lists_none(stranger: Payer) -> None:
    golem, client = stranger.live.golem, Client()
    owner = golem.owner
    give_device(owner)
    owner.is_staff = True
    owner.save()
    owner.groups.add(ensure_owner_group())
    client.force_login(owner)
    page = reverse("admin:archetypes_app_golem_payment_hosts", args=[golem.pk])
    body = {
        "do": "set",
        "origin": "https://API.example/",
        "token": f"{CHAIN_ID}:{stranger.payee.usdc}",
        "reason": "maps",
    }
    for most, day in (("0", "1"), ("2", "1"), ("0.0000001", "1"), ("x", "1")):
        client.post(page, {**body, "most": most, "most_a_day": day})
    client.post(page, {**body, "origin": "https://api.example/path", "most": "1", "most_a_day": "2"})
    assert not ChangeRequest.objects.exists()
    client.post(page, {**body, "most": "0.25", "most_a_day": "2"})
    asked = ChangeRequest.objects.get(kind="payment_host")
    assert (asked.cooling_seconds, asked.needs_second_factor) == (172_800, True)
    approve(asked, owner)
    for hours, listed in ((47, 0), (49, 1)):
        execute_change(request_id=asked.pk, now=clock.now() + timedelta(hours=hours))
        assert PaymentHost.objects.count() == listed
    row = PaymentHost.objects.get()
    assert (row.origin, row.payee, row.most_raw, row.most_a_day_raw) == ("https://api.example", "", USD // 4, 2 * USD)
    assert "0.25 USDC at a time" in client.get(page).content.decode()
    other = factories.make_owner(name="stranger")
    other.is_staff = True
    other.save()
    other.groups.add(ensure_owner_group())
    client.force_login(other)
    assert (
        client.get(page).status_code == 404
        and client.post(page, {**body, "most": "1", "most_a_day": "2"}).status_code == 404
    )
    assert ChangeRequest.objects.count() == 1


def test_lower_caps_and_taking_a_host_off_wait_for_nothing_and_higher_ones_do(stranger: Payer, host: Host) -> None:
    list_host(stranger, host)
    give_device(stranger.live.golem.owner)

    def ask(act: str, most: int = 0, day: int = 0) -> ChangeRequest:
        arguments = {
            "act": act,
            "chain_id": CHAIN_ID,
            "origin": host.origin,
            "token": stranger.payee.usdc,
            "most_raw": str(most),
            "most_a_day_raw": str(day),
            "shown": "so much",
        }
        owner = stranger.live.golem.owner
        return request_operation(
            golem=stranger.live.golem,
            name="payment_host",
            arguments=arguments,
            owner=owner,
            reason="x",
            now=clock.now(),
        )

    assert ask("set", 2 * USD, 5 * USD + 1).cooling_seconds == 3_600
    assert ask("set", 4 * USD, 5 * USD).cooling_seconds == 86_400
    assert ask("set", 5 * USD, 15 * USD).cooling_seconds == 172_800
    for act, caps in (("set", (USD, 2 * USD)), ("remove", (0, 0))):
        asked = ask(act, *caps)
        assert asked.cooling_seconds == 0
        execute_change(request_id=approve(asked, stranger.live.golem.owner).pk, now=clock.now())
    row = PaymentHost.objects.get()
    assert (row.most_raw, row.removed_at is not None) == (USD, True)


def test_a_golem_has_so_many_hosts_and_no_more(stranger: Payer, host: Host) -> None:
    for number in range(MOST_HOSTS):
        list_host(stranger, Host(f"https://{number}.example", stranger.payee))
    with pytest.raises(InvalidParams, match="at most 20"):
        request_operation(
            golem=stranger.live.golem,
            name="payment_host",
            arguments={
                "act": "set",
                "chain_id": CHAIN_ID,
                "origin": "https://one-more.example",
                "token": stranger.payee.usdc,
                "most_raw": "1",
                "most_a_day_raw": "1",
                "shown": "a little",
            },
            owner=stranger.live.golem.owner,
            reason="x",
            now=clock.now(),
        )


@pytest.mark.parametrize(
    ("most", "day", "passes"),
    [(1, 1, True), (0, 1, False), (2, 1, False), (1, MOST_RAW, True), (1, MOST_RAW + 1, False), (-1, 1, False)],
)
def test_caps_stand_in_order_and_have_an_end(stranger: Payer, most: int, day: int, passes: bool) -> None:
    arguments = {
        "act": "set",
        "chain_id": CHAIN_ID,
        "origin": "https://api.example",
        "token": stranger.payee.usdc,
        "most_raw": str(most),
        "most_a_day_raw": str(day),
        "shown": "so much",
    }
    golem = stranger.live.golem
    with nullcontext() if passes else pytest.raises(InvalidParams):
        request_operation(
            golem=golem, name="payment_host", arguments=arguments, owner=golem.owner, reason="x", now=clock.now()
        )


def test_the_tools_of_hosts_are_of_the_wallet() -> None:
    assert {REGISTRY.get(name).prefix for name in ("wallet_get_payment_hosts", "wallet_learn_payee")} == {"wallet"}


def test_a_listed_host_is_asked_by_this_server_and_then_paid_where_it_said(stranger: Payer, host: Host) -> None:
    payer = stranger
    assert payer.refuse("SAFETY_ADDRESS_NOT_ALLOWED", host.ask())["code"]
    assert learn(payer, host)[1]["code"] == "PAYMENT_HOST_NOT_LISTED"
    list_host(payer, host)
    problem = payer.refuse("PAYMENT_TERMS_REFUSED", host.ask())
    assert problem["next"] == {"action_type": "learn_payee", "venue": "wallet", "url": host.origin + URL}
    learned(payer, host)
    assert host.asked == [("GET", URL, b"")]
    assert PaymentHost.objects.get().payee == payer.payee.address
    assert AuditEntry.objects.get(golem_id=payer.live.golem.pk, event="PayeeLearned").data["before"] == ""
    payment = payer.pay(host.ask())
    assert payer.payee.settle(payment) and payer.payee.balance() == 2 * USD
    told = payer.post("query_state", query="payment_hosts", venue="wallet")[1]["data"]["hosts"]
    assert [(each["host"], each["payee"], each["left"]) for each in told] == [
        (host.origin, payer.payee.address, str(3 * USD))
    ]


def test_who_hands_in_an_answer_of_their_own_is_not_believed(stranger: Payer, host: Host) -> None:
    """A stolen agent writes what it likes into the header, and a host of the list is paid where the host says."""
    list_host(stranger, host)
    thief = Payee(stranger.live.world)
    forged = thief.ask(thief.item(), url=host.origin + URL)
    stranger.refuse("PAYMENT_TERMS_REFUSED", forged, recipient=thief.address)
    learned(stranger, host)
    stranger.refuse("PAYMENT_TERMS_REFUSED", forged, recipient=thief.address)
    elsewhere = thief.ask(thief.item(), url="https://other.example/paris")
    stranger.refuse("SAFETY_ADDRESS_NOT_ALLOWED", elsewhere, recipient=thief.address)
    stranger.refuse("SAFETY_ADDRESS_NOT_ALLOWED", stranger.payee.ask(url="https://other.example/paris"))
    status, problem = stranger.post(
        "preview_action",
        action_type="transfer",
        venue="wallet",
        token="USDC",
        amount=str(USD),
        recipient=stranger.payee.address,
    )
    assert (status >= 400, problem["code"]) == (True, "SAFETY_ADDRESS_NOT_ALLOWED"), "a host's payee is no recipient"


def test_caps_of_a_host_hold_for_one_payment_and_for_the_day_also_at_once(stranger: Payer, host: Host) -> None:
    list_host(stranger, host, most=2 * USD, day=3 * USD)
    learned(stranger, host)
    problem = stranger.refuse("PAYMENT_TERMS_REFUSED", host.ask(amount=str(2 * USD + 1)))
    assert problem["left"] == str(2 * USD)
    permits = [stranger.preview(host.ask(f"/{city}"))[1]["permit_id"] for city in ("rome", "bern")]
    first, second = (stranger.post("commit_action", permit_id=each)[1] for each in permits)
    assert first["status"] == "COMMITTED"
    assert ActionPermit.objects.get(pk=permits[1]).problem["code"] == "PAYMENT_HOST_CAP", second
    assert SignedPromise.objects.count() == 1, "nothing was signed the second time"
    problem = stranger.refuse("PAYMENT_TERMS_REFUSED", host.ask("/oslo"))
    assert (problem["left"], problem["most"], problem["most_of_one_payment"]) == (str(USD), str(USD), str(2 * USD))
    assert stranger.preview(host.ask("/oslo", amount=str(USD)))[0] == 200
    SignedPromise.objects.update(created_at=clock.now() - timedelta(hours=24, seconds=1))
    assert stranger.preview(host.ask("/oslo"))[0] == 200


def test_another_payee_waits_for_the_owners_and_until_then_the_first_one_is_paid(stranger: Payer, host: Host) -> None:
    list_host(stranger, host)
    learned(stranger, host)
    first, host.payee = host.payee, Payee(stranger.live.world)
    stranger.refuse("PAYMENT_TERMS_REFUSED", host.ask(), recipient=host.payee.address)
    status, permit = learn(stranger, host)
    assert (status, permit["status"], permit["missing"]) == (200, "AWAITING_APPROVAL", ["approval"]), permit
    asked = ChangeRequest.objects.get(permit_id=permit["permit_id"])
    assert asked.cooling_seconds == 172_800 and host.payee.address in str(asked.shown)
    assert PaymentHost.objects.get().payee == first.address
    owner = stranger.live.golem.owner
    give_device(owner)
    execute_change(request_id=approve(asked, owner).pk, now=clock.now() + timedelta(hours=49))
    assert PaymentHost.objects.get().payee == host.payee.address


def test_a_host_that_says_nothing_of_use_is_learned_nothing_from(stranger: Payer, host: Host) -> None:
    list_host(stranger, host)
    other, own = Payee(stranger.live.world), stranger.live.golem.address
    dai = stranger.live.world.tokens["DAI"].address
    two = stranger.payee.ask(stranger.payee.item(), stranger.payee.item(payTo=other.address))
    host.status = 200
    assert "answers 200" in learn(stranger, host)[1]["detail"]
    host.status = 402
    for header, words in (
        ("", "no JSON"),
        ("e30=", "no payment of version"),
        (stranger.payee.ask(stranger.payee.item(asset=dai)), "nobody"),
        (stranger.payee.ask(stranger.payee.item(network="eip155:1")), "nobody"),
        (stranger.payee.ask(stranger.payee.item(payTo="0x12")), "nobody"),
        (two, "2 addresses"),
    ):
        host.header = header
        status, problem = learn(stranger, host)
        assert (status, problem["code"]) == (502, "PAYMENT_HOST_SILENT") and words in problem["detail"], problem
    host.header = stranger.payee.ask(stranger.payee.item(payTo=own))
    assert "own account" in learn(stranger, host)[1]["detail"]
    assert PaymentHost.objects.get().payee == ""


def test_private_addresses_are_asked_nothing_unless_the_operator_says_so() -> None:
    from tools_app.standards.x402.host_asking import HostNotAsked

    asker = HostAsker(allows_private=False, seconds=5.0)
    for url in ("https://127.0.0.1/a", "http://api.example/a", "https://user@api.example/"):
        with pytest.raises(HostNotAsked):
            asker.ask_payee(url, method="GET", chain_id=1, token="0x" + "11" * 20)


@pytest.mark.parametrize(
    ("url", "origin"),
    [
        ("https://API.example/x?y#z", "https://api.example"),
        ("https://api.example:443/", "https://api.example"),
        ("https://api.example:8443", "https://api.example:8443"),
        ("https://api.example./x", "https://api.example"),
        ("http://127.0.0.1:80/x", "http://127.0.0.1"),
        ("https://api.example@evil.example/", ""),
        ("https://api.exämple/", ""),
        ("ftp://api.example/", ""),
        ("https:///x", ""),
        ("https://api.example:x/", ""),
        ("api.example", ""),
    ],
)
def test_a_host_has_one_spelling_and_what_hides_one_has_none(url: str, origin: str) -> None:
    assert read_origin(url) == origin
