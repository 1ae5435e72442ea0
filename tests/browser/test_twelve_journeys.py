"""The twelve journeys of an owner, each at a desk and on a phone, from page to page and without a terminal.

First minute, second golem, fund, rehearse, live; approve, reject; halt and resume, retire. The cage, back-test and
loosening, and memory are in `test_journeys_of_rules.py`.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import httpx
import pytest

from archetypes_app.models import Golem
from permits_app.models import ChangeRequest
from tests import factories
from tests.browser.conftest import press
from tests.browser.journeys import SIZES, Journey, approve_it, make_person, own
from tests.browser.journeys import set_out as set_out
from tests.browser.owners import House, make_house
from tests.golem_project.heartbeat.pulses import tick
from tests.live_golem import SWAP, LiveGolem
from tests.permits_app.approvals.conftest import critical_swap as critical_swap
from tests.permits_app.approvals.conftest import eager as eager
from tests.permits_app.approvals.people import give_device

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]


@SIZES
def test_the_first_day_ends_with_a_second_golem_that_is_funded_rehearsed_and_live(
    set_out: Callable[..., Journey], demo: LiveGolem, eager: None, size: str
) -> None:
    give_device(demo.owner)
    journey = set_out(size)
    journey.go("/admin/login/")
    journey.look("01-first-minute-login")
    journey.enter("owner-a")
    if size == "phone":
        journey.page.locator("#permits > summary").click()
    assert "Swap 500 USDC for WETH" in journey.look("01-first-minute-overview")
    journey.follow("Swap 500 USDC for WETH")
    assert "Seven safety hooks" in journey.look("01-first-minute-permit")
    journey.go(f"/admin/cockpit/{demo.golem.pk}/")
    journey.look("01-first-minute-cockpit")
    journey.follow("Find")
    journey.page.get_by_label("Find").fill("swap")
    assert "Swap 500 USDC for WETH" in journey.press("Find")
    journey.look("01-first-minute-find")
    journey.go(f"/admin/cockpit/{demo.golem.pk}/")
    journey.follow("Help")
    assert "What waits for you" in journey.look("01-first-minute-help", is_record=True)

    page = journey.page
    journey.go("/admin/archetypes_app/golem/add/")
    journey.look("02-second-golem-intent")
    page.get_by_label("Name").fill("Beta")
    page.get_by_role("radio", name=re.compile("^Keep liquidity")).check()
    journey.press("Next: wallet")
    journey.press("Next: limits")
    journey.look("02-second-golem-limits")
    journey.press("Next: funds")
    golem = Golem.objects.get(name="Beta")
    assert golem.address in journey.look("03-fund-address")
    assert "15,000" in journey.press("Take test money")
    journey.press("Next: token")
    journey.press("Create the golem's token")
    journey.look("02-second-golem-token")

    journey.go(own(golem, "agent"))
    journey.look("04-rehearse-golem")
    journey.follow("Heartbeat")
    journey.look("04-rehearse-heartbeat")
    page.get_by_label("Is on").check()
    page.get_by_label("One token").fill("WETH")
    page.get_by_label("Other token").fill("USDC")
    page.get_by_label("Worth of the position").fill("400")
    journey.press("Save")
    rehearsed = tick(golem)
    assert not rehearsed.is_live and not golem.permits.filter(status="COMMITTED").exists()
    journey.go(f"/admin/cockpit/{golem.pk}/")
    journey.look("04-rehearse-cockpit")
    journey.go(f"/admin/archetypes_app/decisioncyclerecord/{rehearsed.pk}/change/")
    journey.look("04-rehearse-decision")

    journey.go(own(golem))
    journey.follow("Let the heartbeat act")
    page.get_by_label("Why").fill("it rehearsed well")
    journey.press("Ask to let it act")
    journey.look("05-live-request")
    approve_it(journey, demo.owner)
    journey.look("05-live-approved")
    golem.refresh_from_db()
    assert golem.is_live
    tick(golem)
    assert "heartbeat acts" in journey.go(own(golem))
    journey.look("05-live-golem")
    assert golem.permits.filter(status="COMMITTED").exists()
    journey.go("/admin/")


def ask(live: LiveGolem, base_url: str, **changes: Any) -> ChangeRequest:
    """The agent asks over REST."""
    answer = httpx.post(
        f"{base_url}/api/v1/pi/preview_action",
        json={**SWAP, **changes},
        timeout=60,
        headers={"Authorization": f"Bearer {live.key.token}"},
    )
    assert answer.json()["status"] == "AWAITING_APPROVAL", answer.text
    return ChangeRequest.objects.get(permit_id=answer.json()["permit_id"])


@SIZES
def test_of_two_wishes_of_an_agent_one_is_approved_and_one_rejected(
    set_out: Callable[..., Journey], shared_golem: LiveGolem, eager: None, critical_swap: None, size: str
) -> None:
    owner = make_person(shared_golem)
    journey = set_out(size, owner.username)
    good = ask(shared_golem, journey.visit.base_url)
    bad = ask(shared_golem, journey.visit.base_url, amount="900000000")
    assert "Swap 500 USDC" in journey.go("/admin/")
    journey.go("/admin/permits_app/changerequest/inbox/")
    journey.look("06-approve-inbox")
    press(journey.page.get_by_role("link", name=re.compile("Swap 500 USDC")).first)
    journey.page.wait_for_url(f"**/{good.pk}/change/")
    journey.look("06-approve-request")
    approve_it(journey, owner)
    journey.go(f"/admin/permits_app/changerequest/{good.pk}/change/")
    assert "xecuted" in journey.look("06-approve-done")
    journey.go(f"/admin/permits_app/changerequest/{bad.pk}/change/")
    journey.page.get_by_label("Reason").fill("too much for this week")
    assert "too much for this week" in journey.press("Reject")
    told = journey.look("07-reject-done")
    assert "owner:" not in told and owner.username in told
    good.refresh_from_db()
    bad.refresh_from_db()
    assert (good.state, bad.state) == ("EXECUTED", "REJECTED")


@SIZES
def test_a_golem_is_halted_resumed_into_rehearsal_and_retired(
    set_out: Callable[..., Journey], eager: None, size: str
) -> None:
    house: House = make_house()
    Golem.objects.filter(pk=house.golem.pk).update(is_live=True)
    factories.make_permit(golem=house.golem)
    journey = set_out(size, "ana")
    page = journey.page
    journey.go("/admin/")
    journey.follow("Stop")
    assert "Cancels" in journey.look("09-halt-asked")
    page.get_by_label("Reason").fill("something smells")
    journey.press("Stop now")
    journey.go(own(house.golem))
    assert "Halted" in journey.look("09-halt-golem")
    journey.follow("Resume")
    page.get_by_label("Why").fill("it was nothing")
    journey.press("Ask to resume")
    journey.look("09-resume-request")
    approve_it(journey, house.owner)
    house.golem.refresh_from_db()
    assert (house.golem.is_halted, house.golem.is_live) == (False, False)
    journey.go(own(house.golem, "halt"))
    page.get_by_label("Reason").fill("its work is done")
    journey.press("Stop now")
    journey.go(own(house.golem, "settings"))
    journey.follow("Retire")
    journey.look("12-retire-asked")
    page.get_by_label("Reason").fill("its work is done")
    assert "retired" in journey.press("Retire it")
    journey.look("12-retire-done")
    assert "Alpha" not in journey.go("/admin/archetypes_app/golem/")
