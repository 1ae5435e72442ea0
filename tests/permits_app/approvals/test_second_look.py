"""A request's page simulates the waiting plan again: owners see what moved since it was asked for."""

from __future__ import annotations

import re
from typing import Any

import pytest
from django.test import Client
from django.urls import reverse

from permits_app.actions.compare_with_approved import SAME_WITHIN, look_again
from permits_app.models import ActionPermit, ChangeRequest, OutboundTransaction, SpendingLimits
from tests import factories
from tests.live_golem import LiveGolem
from tests.permits_app.test_venue_trust import push_price
from tools_app.core import clock
from tools_app.core.required_value import require

Owners = tuple[LiveGolem, Any, Any]
pytestmark = pytest.mark.usefixtures("eager")


def open_page(request: ChangeRequest, person: Any) -> tuple[int, str]:
    browser = Client()
    browser.force_login(person)
    answer = browser.get(reverse("admin:permits_app_changerequest_change", args=[request.pk]))
    return answer.status_code, re.sub(r"\s+", " ", re.sub(r"<[^>]+>", " ", answer.content.decode()))


def ask(live: LiveGolem) -> ChangeRequest:
    return ChangeRequest.objects.get(permit_id=live.preview()["permit_id"])


def test_what_did_not_move_is_said_to_do_what_it_did(two_owners: Owners, critical_swap: None) -> None:
    live, owner, _ = two_owners
    request = ask(live)
    before = ActionPermit.objects.values().get(change_request=request)
    _, told = open_page(request, owner)
    assert "it does what it did when it was asked for" in told
    assert ActionPermit.objects.values().get(change_request=request) == before
    assert not OutboundTransaction.objects.exists()


def test_a_price_that_moved_since_is_shown_beside_what_was_asked(two_owners: Owners, critical_swap: None) -> None:
    live, owner, _ = two_owners
    request = ask(live)
    push_price(live.world, usdc=250_000 * 10**6)
    told = open_page(request, owner)[1]
    assert "What is different by now" in told and "WETH in its account" in told
    look = look_again(permit=require(request.permit), now=clock.now())
    assert look is not None and not look.refusal
    changed = {line.words: line for line in look.changed}
    assert set(changed) == {"WETH in its account", "Lost in the simulation"}
    bought, lost = changed["WETH in its account"], changed["Lost in the simulation"]
    then, now = (float(text.split()[0]) for text in (bought.then, bought.now))
    assert 0.99 < now / then < 0.999
    assert lost.then != lost.now and "$" in lost.now


def test_what_its_rules_would_refuse_by_now_is_said_before_anybody_approves(
    two_owners: Owners, critical_swap: None
) -> None:
    live, owner, _ = two_owners
    request = ask(live)
    push_price(live.world, usdc=3_000_000 * 10**6)
    told = open_page(request, owner)[1]
    assert "It would be refused now:" in told and "judged once more before it is sent" in told
    assert "it does what it did" not in told


def test_a_golem_that_spent_its_day_since_is_told(two_owners: Owners, critical_swap: None) -> None:
    live, owner, _ = two_owners
    request = ask(live)
    entry = factories.make_spend_entry(permit=factories.make_permit(golem=live.golem))
    limits = SpendingLimits.objects.get(golem=live.golem)
    type(entry).objects.filter(pk=entry.pk).update(reserved_micro_usd=limits.per_day_micro_usd)
    status, told = open_page(request, owner)
    assert status == 200 and "It would be refused now:" in told


def test_a_stranger_sees_no_page_and_a_closed_request_is_not_simulated(
    two_owners: Owners, critical_swap: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    live, owner, _ = two_owners
    request = ask(live)
    assert open_page(request, factories.make_owner(name="stranger"))[0] == 404
    ChangeRequest.objects.filter(pk=request.pk).update(state="REJECTED", closed_at=clock.now())
    ActionPermit.objects.filter(change_request=request).update(status="CANCELLED")
    told = open_page(request, owner)[1]
    assert "Simulated again" not in told and "It would be refused now" not in told


def test_what_cannot_be_approved_any_more_is_not_simulated_again_nor_said_to_pass_later(
    two_owners: Owners, critical_swap: None
) -> None:
    live, owner, _ = two_owners
    request = ask(live)
    type(live.golem.spending_limits).objects.filter(golem=live.golem).update(writes_per_hour=7)
    told = open_page(request, owner)[1]
    assert "It cannot be approved any more." in told
    assert "It may pass later" not in told and "imulated again" not in told


def test_amounts_that_differ_by_a_thousandth_are_the_same_and_by_more_are_not(
    two_owners: Owners, critical_swap: None
) -> None:
    permit = require(ask(two_owners[0]).permit)
    (received,) = [each for each in permit.expected_outcome["balance_deltas"] if each["symbol"] == "WETH"]
    last_like = int(received["raw"]) * SAME_WITHIN // (SAME_WITHIN - 1)
    for shown, changed in ((last_like, 0), (last_like + 2, 1)):
        received["raw"] = str(shown)
        look = look_again(permit=permit, now=clock.now())
        assert look is not None and len(look.changed) == changed, shown
