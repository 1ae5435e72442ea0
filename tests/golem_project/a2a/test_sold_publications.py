"""What a golem published: strangers see what is offered for nothing, and pay each its own price to read it."""

from __future__ import annotations

from dataclasses import replace
from typing import Any
from uuid import uuid4

import pytest

from archetypes_app.models import Artifact, Golem
from golem_project.a2a.models import OpenedRead
from permits_app.models import SoldAnswer
from tests import factories
from tests.evm.world import World
from tests.golem_project.a2a.buyer import USD, Buyer
from tests.golem_project.a2a.real_usdc import mint, put_real_usdc
from tests.golem_project.pi.conftest import Agent
from tools_app.core import clock

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.protocols("uniswap_x", "x402")]
ASKED = USD // 10
WORDS = "fills of this pool are within ten basis points of their simulation"


def publish(golem: Golem, *, price: int, words: str = WORDS) -> Artifact:
    return Artifact.objects.create(
        golem=golem,
        domain="mev",
        subject="uniswap",
        statement=words,
        support=9,
        total=10,
        confidence_percent=83,
        episode_sources=[uuid4()],
        validation_recipe={"rule": "count"},
        price_micro_usd=price,
        published_at=clock.now(),
    )


@pytest.fixture
def buyer(live: Agent, local_chain: World, web_port: int, eager_work: None) -> Buyer:
    """A stranger with ten USDC before a golem whose publications are sold, for ten cents at least."""
    assert local_chain.protocols["x402"]
    put_real_usdc(local_chain)
    for query, price in (("sleepwalker_offers", 1), ("sleepwalker_artifact", ASKED)):
        OpenedRead.objects.create(
            golem=live.golem, query=query, venue="memory", price_micro_usdc=price, created_at=clock.now()
        )
    account = local_chain.new_account()
    mint(local_chain, account.address, 10 * USD)
    url = f"http://127.0.0.1:{web_port}/a2a/{live.golem.pk}/paid/memory/sleepwalker_artifact"
    return Buyer(local_chain, account, url)


def read_asked(answer: Any) -> int:
    return int(answer.json()["x402"]["accepts"][0]["amount"])


def test_a_publication_is_found_without_its_words_and_bought_for_its_own_price(buyer: Buyer, live: Agent) -> None:
    dear, cheap = publish(live.golem, price=400_000), publish(live.golem, price=50_000, words="another statement")
    offers = replace(buyer, url=buyer.url.replace("_artifact", "_offers")).buy()
    assert offers.status_code == 200 and WORDS not in offers.text
    listed = {each["artifact_id"] for each in offers.json()["data"]["offers"]}
    assert listed == {str(dear.pk), str(cheap.pk)}
    assert read_asked(buyer.ask(artifact_id=str(dear.pk))) == 400_000
    assert read_asked(buyer.ask(artifact_id=str(cheap.pk))) == ASKED, "the owner's price is the least"
    before = buyer.balance(str(live.golem.address))
    answer = buyer.buy(artifact_id=str(dear.pk))
    assert answer.status_code == 200 and answer.json()["data"]["statement"] == WORDS
    assert buyer.balance(str(live.golem.address)) - before == 400_000


def test_what_was_paid_for_one_publication_buys_no_other(buyer: Buyer, live: Agent) -> None:
    dear, cheap = publish(live.golem, price=400_000), publish(live.golem, price=50_000)
    payment = buyer.sign(artifact_id=str(cheap.pk))
    refused = buyer.ask(payment, artifact_id=str(dear.pk))
    assert refused.status_code == 402 and "amount" in refused.json()["detail"]
    assert buyer.ask(payment, artifact_id=str(cheap.pk)).status_code == 200
    again = buyer.ask(payment, artifact_id=str(dear.pk))
    assert (again.status_code, again.json()["code"]) == (409, "PAYMENT_USED_ALREADY")


@pytest.mark.parametrize("wanted", ["no id", "nobody's", "another golem's", None])
def test_what_this_golem_did_not_publish_costs_nothing(buyer: Buyer, wanted: str | None) -> None:
    other = factories.make_golem(owner=factories.make_owner(name="ben"))
    ids = {"nobody's": str(uuid4()), "another golem's": str(publish(other, price=400_000).pk)}
    params = {} if wanted is None else {"artifact_id": ids.get(wanted, wanted)}
    payment = buyer.sign(**params)
    refused = buyer.ask(payment, **params)
    assert (refused.status_code, refused.json()["code"]) == (422, "INVALID_PARAMS")
    assert not SoldAnswer.objects.exists()
