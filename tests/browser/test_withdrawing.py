"""Owners take money out in a real browser: an address, two days, an amount, the other owner's code, and it has left."""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta

import pytest

from permits_app.models import ChangeRequest
from tests import factories
from tests.browser.journeys import SIZES, Journey, approve_it, make_person, own
from tests.browser.journeys import set_out as set_out
from tests.live_golem import LiveGolem
from tests.permits_app.approvals.conftest import eager as eager
from tests.permits_app.approvals.people import give_device
from tests.permits_app.approvals.withdrawing import HOME, held, run

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]


@SIZES
def test_money_leaves_to_an_owners_address_through_the_pages_alone_also_while_halted(
    set_out: Callable[..., Journey], shared_golem: LiveGolem, eager: None, size: str
) -> None:
    golem, owner = shared_golem.golem, make_person(shared_golem)
    other = factories.make_owner(name="owner-b")
    give_device(other)
    golem.co_owners.add(other)
    asking, deciding = set_out(size, owner.username), set_out(size, other.username)
    before = held(shared_golem, HOME)

    asking.go(own(golem, "money"))
    assert "No address is registered yet" in asking.follow("Withdraw")
    asking.look("18-withdraw-empty")
    asking.page.get_by_label("Name").fill("Cold wallet")
    asking.page.get_by_label("Address").fill(HOME)
    asking.page.locator("#register").get_by_label("Why").fill("mine")
    assert HOME in asking.press("Ask to register it")
    asking.look("18-withdraw-address-asked")
    asked = ChangeRequest.objects.get(kind="withdrawal_address")
    deciding.go(f"/admin/permits_app/changerequest/{asked.pk}/change/")
    approve_it(deciding, other)
    deciding.look("18-withdraw-address-approved")
    assert run(asked, after=timedelta(hours=49)).state == "EXECUTED"

    asking.go(own(golem, "halt"))
    asking.page.get_by_label("Reason").fill("we take everything out")
    asking.press("Stop now")
    asking.go(own(golem, "withdraw"))
    page = asking.page
    page.get_by_label("Token").fill("USDC")
    page.get_by_label("Amount").fill("1,500.25")
    asking.look("18-withdraw-form")
    page.locator("#withdraw").get_by_label("Why").fill("rent")
    assert "1500.25 USDC" in asking.press("Simulate and ask")
    asking.look("18-withdraw-asked")
    assert page.get_by_role("button", name="Approve").count() == 0
    asked = ChangeRequest.objects.get(kind="withdraw")
    deciding.go(f"/admin/permits_app/changerequest/{asked.pk}/change/")
    told = deciding.look("18-withdraw-decision")
    assert "1500.25 USDC" in told and "Cold wallet" in told and "unknown" not in told
    approve_it(deciding, other)
    assert "Executed" in asking.go(own(golem, "withdraw"))
    asking.look("18-withdraw-left")
    assert held(shared_golem, HOME) - before == 1_500_250_000
