"""Answers that have a price while their token stands still, or who carries payments out is away: nobody pays for
nothing, and what was signed stays good.
"""

from __future__ import annotations

from typing import Any

import pytest

from permits_app.models import SoldAnswer
from tests.evm.world import CHAIN_ID
from tests.golem_project.a2a.buyer import PRICE, Buyer
from tests.golem_project.a2a.test_paid_reads import buyer as buyer
from tests.golem_project.pi.conftest import Agent
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
