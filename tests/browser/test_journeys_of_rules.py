"""Three more of the twelve journeys, by themselves: cage; back-test and loosen; learn from memory."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from permits_app.models import CageCheckpoint, CageMirror, ChangeRequest, SigningKey
from permits_app.policy_cage.state import CageState
from tests import factories
from tests.browser.conftest import press
from tests.browser.journeys import SIZES, Journey, approve_it, make_person, own
from tests.browser.journeys import set_out as set_out
from tests.browser.test_policy import lived as lived
from tests.browser.test_safe_signature import TestWallet
from tests.live_golem import LiveGolem
from tests.permits_app.approvals.conftest import eager as eager
from tests.permits_app.approvals.people import carry_out, give_device, next_code
from tests.permits_app.approvals.safes import OwnedSafe, make_relayer

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]


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
    journey.go(own(golem, "rules"))
    journey.follow("Put it into a contract")
    journey.look("08-cage-steps")
    page.get_by_label("Owner of the Safe").fill(wallet.account.address)
    assert "stands on the local chain" in journey.press("Make a Safe", whole=True)
    page.get_by_label("High-water mark").fill("23,000")
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
    journey.go(own(golem, "cage"))
    assert "9.50%" in str(page.locator("#limits").text_content()), "also where it is folded"
    journey.go(f"/admin/cage/{golem.pk}/")
    assert "343,200 gas" in journey.text(), "what a caged swap takes is told before there is a key"
    journey.press("Make its session key")
    assert "next: Gas for the key" in journey.look("08-cage-session-key")
    journey.press("Give it test coins")
    assert "next: The key is appointed" in journey.text()
    key = SigningKey.objects.get(golem=golem, state="STAGED").address
    journey.follow("The key is appointed")
    form = page.locator("form", has=page.locator("[name=session-key]"))
    assert form.locator("[name=session-key]").input_value() == key, "the key that waits is filled in"
    form.locator("[name=session-budget]").fill("20,000")
    form.locator("[name=session-reason]").fill("it may begin")
    press(form.get_by_role("button"))
    sign_and_approve(journey, owner)
    journey.go(f"/admin/cage/{golem.pk}/")
    assert "next: The golem acts through it" in journey.look("08-cage-appointed")
    journey.follow("The golem acts through it")
    page.get_by_label("Act with").select_option(label="The Safe behind its cage, with the session key the chain names")
    page.get_by_label("Why").fill("enforced on chain")
    journey.press("Ask the owners")
    approve_it(journey, owner)
    carry_out(ChangeRequest.objects.get(kind="signer"))
    golem.refresh_from_db()
    assert golem.address == mirror.account
    shared_golem.commit(shared_golem.preview()["permit_id"])
    journey.go(f"/admin/cage/{golem.pk}/")
    assert "all done" in journey.look("08-cage-enforced")


@SIZES
def test_a_contract_that_stands_is_replaced_from_the_browser_alone(
    set_out: Callable[..., Journey], shared_golem: LiveGolem, eager: None, settings: Any, size: str
) -> None:
    owner, golem = make_person(shared_golem), shared_golem.golem
    make_relayer(shared_golem, settings)
    safe = OwnedSafe(shared_golem)
    journey = set_out(size, owner.username, wallet=TestWallet(safe.owners[0]))
    page, before = journey.page, safe.mirror.contract

    def act(name: str) -> None:
        journey.go(own(golem, "cage"))
        page.locator(f"#ask-{name} > summary").click()
        page.locator(f"[name={name}-reason]").fill("the other contract takes its place")
        with page.expect_navigation():
            page.locator("form", has=page.locator(f"[name={name}-reason]")).get_by_role("button").click()
        sign_and_approve(journey, owner)

    journey.go(own(golem, "cage"))
    journey.follow("Checklist")
    journey.look("08-cage-another")
    page.get_by_text("Deploy another", exact=True).click()
    page.get_by_label("High-water mark").fill("26,000")
    journey.press("Deploy it")
    assert CageMirror.objects.get().contract == before
    page.get_by_label("Why").fill("stricter")
    journey.look("08-cage-another-deployed")
    journey.press("Ask to follow it")
    assert "instead of" in journey.look("08-cage-another-request")
    approve_it(journey, owner)
    request = ChangeRequest.objects.get(kind="follow")
    carry_out(request)
    mirror = CageMirror.objects.get()
    assert (mirror.contract != before, mirror.replaced, mirror.is_enforced) == (True, before, False)
    assert "goes on until its owners end that" in journey.go(own(golem, "cage"))
    journey.look("08-cage-another-followed")
    act("enable")
    act("disable")
    mirror.refresh_from_db()
    assert (mirror.replaced, mirror.is_enforced) == ("", True)
    journey.go(f"/admin/cage/{golem.pk}/")
    journey.press("Make its session key")
    key = SigningKey.objects.get(golem=golem, state="STAGED").address
    journey.go(own(golem, "cage"))
    page.locator("#ask-session > summary").click()
    form = page.locator("form", has=page.locator("[name=session-key]"))
    for name, value in (("key", key), ("hours", "24"), ("operations", "10"), ("budget", "500")):
        form.locator(f"[name=session-{name}]").fill(value)
    form.locator("[name=session-reason]").fill("as before")
    press(form.get_by_role("button"))
    sign_and_approve(journey, owner)
    journey.go(own(golem, "cage"))
    journey.look("08-cage-another-done")
    mirror.refresh_from_db()
    assert CageState.from_dict(mirror.state).session.key == key


@SIZES
def test_a_contract_that_somebody_deployed_is_followed_once_its_owner_saw_what_gets_looser(
    set_out: Callable[..., Journey], shared_golem: LiveGolem, eager: None, size: str
) -> None:
    owner, golem = make_person(shared_golem), shared_golem.golem
    mirror = OwnedSafe(shared_golem).mirror
    CageCheckpoint.objects.all().delete()
    CageMirror.objects.all()._raw_delete("default")  # as if nobody had followed it
    journey = set_out(size, owner.username)
    page = journey.page
    journey.go(f"/admin/cage/{golem.pk}/")
    page.get_by_text("Follow one that is deployed", exact=True).click()
    page.get_by_label("Contract", exact=True).fill(mirror.contract)
    page.get_by_label("Block of its deployment").fill(str(mirror.deployed_block))
    page.get_by_label("Why").fill("it was made for this golem")
    journey.press("Ask to follow it")
    told = journey.look("08-cage-follow-request")
    assert "nobody refuses them until it does" in told and "Conditions of calls" in told
    approve_it(journey, owner)
    journey.look("08-cage-follow-waits")
    request = ChangeRequest.objects.get(kind="follow")
    assert (request.state, request.cooling_seconds) == ("APPROVED", 172_800) and not CageMirror.objects.exists()


@SIZES
def test_a_draft_is_tried_on_the_past_and_a_limit_loosened_by_its_approval(
    set_out: Callable[..., Journey], lived: LiveGolem, eager: None, size: str
) -> None:
    give_device(lived.owner)
    journey = set_out(size, lived.owner.username)
    page = journey.page
    journey.go(own(lived.golem, "rules"))
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
