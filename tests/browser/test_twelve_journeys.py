"""The twelve journeys of an owner, each at a desk and on a phone, from page to page and without a terminal.

First minute, second golem, fund, rehearse, live; approve, reject; cage; halt and resume, retire; back-test and loosen;
learn from memory.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from typing import Any

import httpx
import pytest
from playwright.sync_api import Browser

from archetypes_app.models import Golem
from archetypes_app.owner_group import ensure_owner_group
from permits_app.models import CageMirror, ChangeRequest
from tests import factories
from tests.browser.conftest import PHONE, WIDE, Visit
from tests.browser.journeys import Journey
from tests.browser.owners import House, make_house
from tests.browser.served import Server
from tests.browser.test_policy import lived as lived
from tests.browser.test_safe_signature import TestWallet
from tests.factories.golems import PASSWORD
from tests.golem_project.heartbeat.pulses import tick
from tests.live_golem import SWAP, LiveGolem
from tests.permits_app.approvals.conftest import critical_swap as critical_swap
from tests.permits_app.approvals.conftest import eager as eager
from tests.permits_app.approvals.people import give_device, next_code
from tests.permits_app.approvals.safes import make_relayer

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]

SIZES = pytest.mark.parametrize("size", ["wide", "phone"])


@pytest.fixture
def set_out(browser: Browser) -> Iterator[Callable[..., Journey]]:
    """`set_out(size, username)`: a journey that is logged in. At the end nothing was found on any page."""
    server = Server()
    server.start()
    contexts, journeys = [], []

    def begin(size: str, username: str = "", *, wallet: TestWallet | None = None) -> Journey:
        context = browser.new_context(viewport=WIDE if size == "wide" else PHONE)  # type: ignore[arg-type]
        contexts.append(context)
        page = context.new_page()
        page.set_default_timeout(8_000)
        if wallet is not None:
            wallet.enter(page)
        journeys.append(Journey(Visit(page, server.url), size))
        if username:
            journeys[-1].enter(username)
        return journeys[-1]

    yield begin
    for context in contexts:
        context.close()
    server.stop()
    assert [problem for journey in journeys for problem in journey.problems] == []


def own(golem: Golem, page: str = "change") -> str:
    return f"/admin/archetypes_app/golem/{golem.pk}/{page}/"


def approve_it(journey: Journey, person: Any) -> str:
    """The request that is open, with a code."""
    journey.page.get_by_label("Code of your authenticator").fill(next_code(person))
    return journey.press("Approve")


@SIZES
def test_the_first_day_ends_with_a_second_golem_that_is_funded_rehearsed_and_live(
    set_out: Callable[..., Journey], demo: LiveGolem, eager: None, size: str
) -> None:
    give_device(demo.owner)
    journey = set_out(size)
    journey.go("/admin/login/")
    journey.look("01-first-minute-login")
    journey.enter("owner-a")
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
    assert "What waits for you" in journey.look("01-first-minute-help")

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

    journey.go(own(golem))
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
    journey.follow("Go live")
    page.get_by_label("Why").fill("it rehearsed well")
    journey.press("Ask to go live")
    journey.look("05-live-request")
    approve_it(journey, demo.owner)
    journey.look("05-live-approved")
    golem.refresh_from_db()
    assert golem.is_live
    tick(golem)
    assert "heartbeat live" in journey.go(own(golem))
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


def make_person(live: LiveGolem) -> Any:
    """The golem's owner, who can log in and has a second factor."""
    owner = live.owner
    owner.set_password(PASSWORD)
    owner.save()
    owner.groups.add(ensure_owner_group())
    give_device(owner)
    return owner


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
    journey.page.get_by_role("link", name=re.compile("Swap 500 USDC")).first.click()
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


def sign_and_approve(journey: Journey, owner: Any) -> None:
    """With the wallet of the window, and a code where one is asked for."""
    page = journey.page
    page.get_by_role("button", name="Sign with your wallet").click()
    page.wait_for_function("!document.querySelector('[data-wallet] button').disabled")
    code = page.get_by_label("Code of your authenticator")
    if code.count():
        code.fill(next_code(owner))
    journey.press("Approve")


@SIZES
def test_a_policy_becomes_a_contract_that_its_owner_tightens_from_the_browser_alone(
    set_out: Callable[..., Journey], shared_golem: LiveGolem, eager: None, settings: Any, size: str
) -> None:
    owner, golem = make_person(shared_golem), shared_golem.golem
    make_relayer(shared_golem, settings)
    wallet = TestWallet(shared_golem.world.new_account())
    journey = set_out(size, owner.username, wallet=wallet)
    page = journey.page
    journey.go(own(golem))
    journey.follow("Put it into a contract")
    journey.look("08-cage-steps")
    page.get_by_label("Owner of the Safe").fill(wallet.account.address)
    assert "stands on the local chain" in journey.press("Make a Safe", whole=True)
    page.get_by_label("High-water mark").fill("26,000")
    journey.press("Deploy it")
    mirror = CageMirror.objects.get(cage__golem=golem)
    assert mirror.contract in journey.look("08-cage-contract") and not mirror.is_enforced
    page.get_by_text("Let the cage act for the Safe", exact=True).first.click()
    page.locator("[name=enable-reason]").fill("from now on")
    with page.expect_navigation():
        page.locator("form", has=page.locator("[name=enable-reason]")).get_by_role("button").click()
    sign_and_approve(journey, owner)
    journey.go(own(golem, "cage"))
    mirror.refresh_from_db()
    assert mirror.is_enforced
    page.get_by_text("A limit", exact=True).click()
    page.locator("[name=limit-limit]").select_option(label="Drawdown at most")
    page.locator("[name=limit-value]").fill("9.5")
    page.locator("[name=limit-reason]").fill("calmer")
    with page.expect_navigation():
        page.locator("form", has=page.locator("[name=limit-value]")).get_by_role("button").click()
    journey.look("08-cage-request")
    sign_and_approve(journey, owner)
    page.reload()
    journey.look("08-cage-done")
    assert "9.50%" in journey.go(own(golem, "cage"))
    journey.go(f"/admin/cage/{golem.pk}/")
    journey.press("Make its session key")
    assert "has no rights yet" in journey.look("08-cage-session-key")


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
    journey.go(own(house.golem))
    journey.follow("Retire")
    journey.look("12-retire-asked")
    page.get_by_label("Reason").fill("its work is done")
    assert "retired" in journey.press("Retire it")
    journey.look("12-retire-done")
    assert "Alpha" not in journey.go("/admin/archetypes_app/golem/")


@SIZES
def test_a_draft_is_tried_on_the_past_and_a_limit_loosened_by_its_approval(
    set_out: Callable[..., Journey], lived: LiveGolem, eager: None, size: str
) -> None:
    give_device(lived.owner)
    journey = set_out(size, lived.owner.username)
    page = journey.page
    journey.go(own(lived.golem))
    journey.follow("Policy")
    journey.look("10-loosen-policy")
    page.get_by_label("Per transaction").fill("700")
    assert "newly allowed" in journey.press("Try it on past decisions")
    journey.look("10-loosen-trial")
    page.get_by_label("Why").fill("it was refused a good swap")
    journey.press("Take it over")
    request = ChangeRequest.objects.get()
    journey.go(f"/admin/permits_app/changerequest/{request.pk}/change/")
    approve_it(journey, lived.owner)
    journey.look("10-loosen-waits")
    request.refresh_from_db()
    assert request.state == "APPROVED"


@SIZES
def test_what_a_golem_remembers_is_asked_read_and_kept(
    set_out: Callable[..., Journey], demo: LiveGolem, size: str
) -> None:
    insight, dream = factories.make_insight(golem=demo.golem), factories.make_dream(golem=demo.golem)
    journey = set_out(size, "owner-a")
    page = journey.page
    journey.go("/admin/")
    journey.go("/admin/memory_app/episode/")
    journey.look("11-memory-episodes")
    journey.go("/admin/memory_app/episode/memory/")
    page.get_by_label("Question").fill("swap of USDC for WETH")
    assert "by words" in journey.press("Ask")
    journey.look("11-memory-asked")
    page.locator(".gx-ranked a").first.click()
    page.wait_for_url("**/change/")
    assert "Predicted and seen" in journey.look("11-memory-episode")
    journey.follow("Pin")
    page.get_by_label("Reason").fill("worth keeping")
    journey.press("Pin")
    journey.go(f"/admin/memory_app/insight/{insight.pk}/change/")
    assert "Gas is cheap at night" in journey.look("11-memory-insight")
    journey.go(f"/admin/memory_app/dreamjournal/{dream.pk}/change/")
    journey.look("11-memory-dream")
