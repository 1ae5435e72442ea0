"""One golem sells an answer and another one's agent buys it, with the standard's own HTTP client; two owners."""

from __future__ import annotations

import base64
from dataclasses import dataclass
from typing import Any

import pytest
import requests
from django.test import Client
from x402 import x402ClientSync
from x402.http.clients.requests import x402_requests
from x402.schemas import PaymentCreationContext, PaymentRequirements

from archetypes_app.models import ToolOverride
from archetypes_app.models.override import OverrideMode
from archetypes_app.owner_group import ensure_owner_group
from golem_project.a2a.models import OpenedRead
from permits_app.models import SoldAnswer
from tests.admin.rows import page
from tests.evm.world import CHAIN_ID, World
from tests.golem_project.a2a.buyer import PRICE, USD, read_receipt
from tests.golem_project.pi.conftest import Agent
from tests.live_golem import make_live_golem
from tests.tools_app.protocols.x402.payee import Payee
from tests.tools_app.protocols.x402.payer import Payer
from tools_app.core import clock
from tools_app.core.models import AuditEntry
from tools_app.protocols.x402.addresses import NAME
from tools_app.toolkit.registry import REGISTRY

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.protocols("uniswap_x", "x402")]


@dataclass
class GolemPays:
    """What the client asks for a signature: its agent previews and commits, and the server signs under its limits.

    Whom it pays and how much at most it knows beforehand, and not from the answer that asks for money.
    """

    payer: Payer
    most: int
    header: str = ""
    scheme: str = "exact"

    def remember(self, context: PaymentCreationContext) -> None:
        """Before the client asks: the whole answer that asks for money."""
        told = context.payment_required.model_dump_json(by_alias=True, exclude_none=True)
        self.header = base64.b64encode(told.encode()).decode()

    def create_payment_payload(self, requirements: PaymentRequirements) -> dict[str, Any]:
        """The payment as the golem's commit answers it."""
        payload: dict[str, Any] = self.payer.pay(self.header, most=str(self.most))["payload"]
        return payload


@pytest.fixture
def buyer(live: Agent, local_chain: World, eager_work: None) -> Payer:
    """A golem of another owner, who listed the seller's account as one to be paid."""
    golem = make_live_golem(local_chain, name="Buyer", owner_name="owner-b")
    for tool in [tool for tool in REGISTRY if tool.venue == NAME]:
        ToolOverride.objects.get_or_create(
            golem=golem.golem, tool_name=tool.name, defaults={"mode": OverrideMode.INCLUDE}
        )
    payee = Payee(local_chain)
    payee.account = type("Seller", (), {"address": str(live.golem.address)})()
    payer = Payer(golem, Agent(golem=golem.golem, key=golem.key, client=Client()), payee)
    payer.list_payee()
    payer.approve()
    return payer


@pytest.fixture
def url(live: Agent, web_port: int) -> str:
    """A read of the seller that costs five cents."""
    OpenedRead.objects.create(
        golem=live.golem, query="limits", venue="golem", price_micro_usdc=PRICE, created_at=clock.now()
    )
    return f"http://127.0.0.1:{web_port}/a2a/{live.golem.pk}/paid/golem/limits"


def ask(buyer: Payer, url: str, *, most: int = USD, **params: Any) -> requests.Response:
    """One request of the standard's client, which pays where it is asked to."""
    pays = GolemPays(buyer, most)
    client = x402ClientSync().register(f"eip155:{CHAIN_ID}", pays)
    client.set_spend_controls(False)
    client.on_before_payment_creation(pays.remember)
    with x402_requests(client) as session:
        return session.post(url, json=params, timeout=60)


def test_an_agent_pays_and_is_paid_from_end_to_end(buyer: Payer, live: Agent, url: str) -> None:
    before = buyer.payee.balance()
    answer = ask(buyer, url)
    assert answer.status_code == 200 and "per_day" in answer.json()["data"], answer.text
    assert read_receipt(answer).payer == buyer.live.golem.address
    assert buyer.payee.balance() - before == PRICE
    sold, bought = (AuditEntry.objects.filter(golem_id=each.pk) for each in (live.golem, buyer.live.golem))
    assert sold.filter(event="AnswerSold").count() == 1 and not bought.filter(event="AnswerSold").exists()
    month = {"month": f"{clock.now():%Y-%m}"}
    owner, other = Client(), Client()
    for person in (live.golem.owner, buyer.live.owner):
        person.groups.add(ensure_owner_group())
    owner.force_login(live.golem.owner)
    other.force_login(buyer.live.owner)
    shown = owner.get(page("archetypes_app.golem", "statement", live.golem.pk), month).content.decode()
    assert str(buyer.live.golem.address) in shown and "0.05 USDC" in shown
    theirs = other.get(page("archetypes_app.golem", "statement", buyer.live.golem.pk), month).content.decode()
    assert "What strangers paid for answers" not in theirs
    assert other.get(page("archetypes_app.golem", "statement", live.golem.pk), month).status_code in (302, 403, 404)


def test_what_costs_more_than_the_agent_said_is_not_signed(buyer: Payer, url: str) -> None:
    with pytest.raises(Exception, match="PAYMENT_TERMS_REFUSED"):
        ask(buyer, url, most=PRICE - 1)
    assert not SoldAnswer.objects.exists()


def test_a_second_purchase_of_the_same_address_is_not_signed_while_the_first_is_its(
    buyer: Payer, live: Agent, url: str
) -> None:
    before = buyer.payee.balance()
    assert ask(buyer, url).status_code == 200
    with pytest.raises(Exception, match="PAYMENT_SIGNED_ALREADY"):
        ask(buyer, url)
    assert buyer.payee.balance() - before == PRICE
