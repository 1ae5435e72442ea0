"""Answers that have a price while their token stands still, or who carries payments out is away: nobody pays for
nothing, and what was signed stays good.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from golem_project.a2a import payment_gas_account
from golem_project.a2a.models import OpenedRead
from golem_project.a2a.tasks import watch_sales_task
from golem_project.a2a.unsettled_sale_alert import SOURCE, watch_sales
from permits_app.models import SoldAnswer
from tests import factories
from tests.evm.world import CHAIN_ID
from tests.golem_project.a2a.buyer import PRICE, Buyer
from tests.golem_project.a2a.test_x402_endpoint import buyer as buyer
from tests.golem_project.a2a.test_x402_endpoint import open_read
from tests.golem_project.heartbeat.pulses import tick, turn_on
from tests.golem_project.pi.conftest import Agent
from tests.tools_app.protocols.looks import told
from tools_app.chain.networks import get_network
from tools_app.chain.rpc import RpcEndpoint
from tools_app.core import clock
from tools_app.core.models import OutboxEvent
from tools_app.core.taint import Secret
from tools_app.standards.paused_tokens import OF_CIRCLE, SWITCHES
from tools_app.standards.x402.facilitator import Facilitator

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.protocols("uniswap_x", "x402")]


def refused(answer: Any) -> str:
    """It waits, and nothing was paid; its reason."""
    problem = answer.json()
    assert (answer.status_code, problem["code"], problem["recovery"]) == (503, "SALE_NOT_POSSIBLE", "WAIT"), problem
    return str(problem["detail"])


@pytest.mark.parametrize(("stop", "go"), [("pause()", "unpause()"), ("blacklist(address)", "unBlacklist(address)")])
def test_while_its_issuer_stops_the_token_nothing_is_asked_for_or_taken_and_what_was_signed_stays_good(
    buyer: Buyer, live: Agent, stop: str, go: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(SWITCHES, (CHAIN_ID, buyer.usdc), OF_CIRCLE)
    world, seller = buyer.world, str(live.golem.address)
    maker: Any = world.real_usdc_maker  # type: ignore[attr-defined]
    payment, had = buyer.sign(), buyer.balance(buyer.account.address)
    given = [seller] if "address" in stop else []
    world.transact(maker, buyer.usdc, stop, *given)
    for answer in (buyer.ask(), buyer.ask(payment), buyer.buy()):
        assert "paused or frozen" in refused(answer)
    assert buyer.balance(buyer.account.address) == had and not SoldAnswer.objects.exists()
    world.transact(maker, buyer.usdc, go, *given)
    assert buyer.ask(payment).status_code == 200
    assert had - buyer.balance(buyer.account.address) == PRICE == buyer.balance(seller)


def away(*_: Any) -> Any:
    raise ConnectionError("nobody answers")


def test_while_who_carries_payments_out_is_away_nothing_is_taken_and_what_was_signed_stays_good(
    buyer: Buyer, live: Agent, monkeypatch: pytest.MonkeyPatch
) -> None:
    payment, had = buyer.sign(), buyer.balance(buyer.account.address)
    with monkeypatch.context() as patched:
        patched.setattr(Facilitator, "verify", away)
        assert "nothing was paid" in refused(buyer.ask(payment))
    assert not SoldAnswer.objects.exists()
    with monkeypatch.context() as patched:
        patched.setattr(Facilitator, "settle", away)
        answer = buyer.ask(payment)
        assert (answer.status_code, answer.json()["code"], answer.json()["recovery"]) == (
            409,
            "PAYMENT_IN_WORK",
            "WAIT",
        )
    assert buyer.balance(buyer.account.address) == had, "nobody was told anything for nothing"
    assert buyer.ask(payment).status_code == 200
    assert had - buyer.balance(buyer.account.address) == PRICE and SoldAnswer.objects.count() == 1


def spend_its_coins(buyer: Buyer, monkeypatch: pytest.MonkeyPatch) -> None:
    """Its account can pay for no transaction, and nobody gives it anything."""
    monkeypatch.setattr(payment_gas_account, "_fill", lambda reader: None)
    buyer.world.rpc.call("anvil_setBalance", payment_gas_account.find_address(), hex(10**9))


@pytest.mark.parametrize("why", ["nobody answers", "no coins for gas"])
def test_within_a_tick_owners_are_told_that_nobody_carries_payments_out_and_that_somebody_does_again(
    buyer: Buyer, live: Agent, why: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    golem = live.golem
    other = factories.make_golem(owner=live.golem.owner, name="it sells nothing")
    watch_sales_task.run()
    assert told(golem, SOURCE) == []
    with monkeypatch.context() as patched:
        if why == "nobody answers":
            nowhere = replace(get_network(CHAIN_ID), rpc_urls=(Secret("http://127.0.0.1:1"),))
            patched.setattr(payment_gas_account, "get_network", lambda chain_id: nowhere)
        else:
            spend_its_coins(buyer, patched)
        watch_sales_task.run()
        assert told(golem, SOURCE) == ["payments are not carried out"]
        [event] = OutboxEvent.objects.filter(golem_id=golem.pk, type="heartbeat:alert", payload__source=SOURCE)
        expected = {"nobody answers": "does not answer", "no coins for gas": "no coins left for gas"}[why]
        assert expected in event.payload["alerts"][0]["observed"]
        # Nobody signs for nothing meanwhile.
        assert expected in refused(buyer.ask())
        watch_sales_task.run()
        assert len(told(golem, SOURCE)) == 1, "told once"
    for _ in range(2):
        watch_sales_task.run()
        assert told(golem, SOURCE) == ["payments are not carried out", "well again"]
    assert told(other, SOURCE) == []
    assert buyer.buy().status_code == 200


def test_nothing_is_asked_where_nothing_is_sold_and_one_question_where_something_is_and_none_by_a_tick(
    buyer: Buyer, live: Agent, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked, original = list[int](), RpcEndpoint.send

    def count(self: Any, requests: Any, *args: Any, **kwargs: Any) -> Any:
        asked.append(len(requests))
        return original(self, requests, *args, **kwargs)

    monkeypatch.setattr(RpcEndpoint, "send", count)
    watch_sales(now=clock.now())
    OpenedRead.objects.all().delete()
    asked.clear()
    watch_sales(now=clock.now())
    assert asked == []
    open_read(live.golem, price=None)
    watch_sales(now=clock.now())
    assert asked == [], "it is free"
    open_read(live.golem, query="status")
    open_read(live.golem, query="positions")
    watch_sales(now=clock.now())
    assert len(asked) <= 3
    turn_on(live.golem, is_live=False, rule={})
    tick(live.golem)
    tick(live.golem)
    asked.clear()
    tick(live.golem)
    with_sales = len(asked)
    OpenedRead.objects.all().delete()
    asked.clear()
    tick(live.golem)
    assert len(asked) == with_sales
