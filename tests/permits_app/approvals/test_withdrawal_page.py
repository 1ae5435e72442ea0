"""The page of withdrawals, the bound of its addresses, and what a statement tells of what left."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest
from django.test import Client
from django.urls import reverse

from archetypes_app.owner_group import ensure_owner_group
from permits_app.actions.request_change import request_operation
from permits_app.actions.value_golem import value_golem
from permits_app.approvals.operations.withdrawal_address import MOST_ADDRESSES
from permits_app.models import ChangeRequest, NavSnapshot, WithdrawalAddress
from permits_app.performance.nav_parts import Parts
from tests import factories
from tests.evm.world import CHAIN_ID
from tests.live_golem import LiveGolem
from tests.permits_app.approvals.people import approve, give_device
from tests.permits_app.approvals.withdrawing import HOME, Two, approved, register, run
from tools_app.chain.abi import checksum
from tools_app.core import clock
from tools_app.core.errors import InvalidParams


def browser(live: LiveGolem, person: Any) -> Client:
    person.is_staff = True
    person.save()
    person.groups.add(ensure_owner_group())
    client = Client()
    client.force_login(person)
    return client


def test_an_owner_registers_and_withdraws_on_the_page_and_a_stranger_does_not(two_owners: Two) -> None:
    live, owner, other = two_owners
    url = reverse("admin:archetypes_app_golem_withdraw", args=[live.golem.pk])
    client = browser(live, owner)
    body = {"do": "register", "register-label": "Cold wallet", "register-address": HOME.lower()}
    answer = client.post(url, {**body, "register-chain_id": str(CHAIN_ID), "register-reason": "mine"}, follow=True)
    asked = ChangeRequest.objects.get(kind="withdrawal_address")
    assert HOME in answer.content.decode() and asked.change["address"] == HOME
    approve(asked, other)
    assert run(asked, after=timedelta(hours=49)).state == "EXECUTED"
    row = WithdrawalAddress.objects.get()
    form = {"do": "withdraw", "withdraw-to": str(row.pk), "withdraw-token": "USDC", "withdraw-amount": "1500.25"}
    page = client.post(url, {**form, "withdraw-reason": "rent"}, follow=True).content.decode()
    assert "simulated at block" in page and "1500.25 USDC" in page.replace(",", "")
    assert run(approve(ChangeRequest.objects.get(kind="withdraw"), other)).state == "EXECUTED"
    assert "Executed" in client.get(url).content.decode()
    stranger = factories.make_owner(name="stranger")
    give_device(stranger)
    assert browser(live, stranger).post(url, {**form, "withdraw-reason": "mine"}).status_code == 404
    assert ChangeRequest.objects.filter(kind="withdraw").count() == 1


def test_a_withdrawal_is_told_as_moved_and_its_gas_alone_as_a_cost(two_owners: Two) -> None:
    live, _, _ = two_owners
    value_golem(golem=live.golem, now=clock.now())
    assert run(approved(two_owners)).state == "EXECUTED"
    value_golem(golem=live.golem, now=clock.now() + timedelta(minutes=11))
    parts = Parts.from_json(NavSnapshot.objects.latest("at").parts)
    assert -1_501_000_000 < parts.moved < -1_499_000_000
    assert (parts.slippage, parts.fees_and_interest) == (0, 0) and parts.gas < 0
    assert abs(parts.profit) < 10_000_000


def test_a_golem_has_so_many_withdrawal_addresses_and_no_more(two_owners: Two) -> None:
    live, owner, _ = two_owners
    for number in range(1, MOST_ADDRESSES):
        register(live.golem, checksum(f"0x{number:040x}"))
    arguments = {"act": "register", "chain_id": CHAIN_ID, "address": HOME, "label": "Cold wallet"}

    def ask_for(**changes: Any) -> ChangeRequest:
        return request_operation(
            golem=live.golem,
            name="withdrawal_address",
            arguments={**arguments, **changes},
            owner=owner,
            reason="mine",
            now=clock.now(),
        )

    assert ask_for().state == "OPEN"
    register(live.golem, checksum(f"0x{MOST_ADDRESSES:040x}"))
    with pytest.raises(InvalidParams, match="take one out first"):
        ask_for(label="Another")
