"""The journeys of owners that begin when a golem is there, in one served product, each at a desk and on a phone.

Lend, borrow, look a second time, be refused and raise the limit, turn both switches, invite somebody who only looks,
type numbers, bring a tool, choose alerts, read a year, take everything out. Of the sixteen the others stand beside
them: fund, live, halt and resume in `test_twelve_journeys.py`, the cage from nothing to the first caged swap in
`test_journeys_of_rules.py`, withdrawing in `test_withdrawing.py`, a push and its decision in `test_phone_approval.py`.
"""

from __future__ import annotations

import re
from datetime import timedelta
from pathlib import Path
from typing import Any

import httpx
import pytest

from archetypes_app.models import Golem, GolemMember
from permits_app import tasks
from permits_app.actions.halt import list_unfinished_halts
from permits_app.models import ActionPermit, ChangeRequest, Death, DeniedCall, SpendingLimits
from tests.browser.conftest import press
from tests.browser.holder import ETH, USDC, borrow, do
from tests.browser.journeys import SIZES, Journey, approve_it, own
from tests.browser.one_product import Product, live_a_while
from tests.browser.one_product import db as db
from tests.browser.one_product import product as product
from tests.factories.golems import PASSWORD
from tests.golem_project.heartbeat.pulses import turn_on
from tests.live_golem import SWAP, LiveGolem
from tests.permits_app.approvals.withdrawing import HOME, held, register, run
from tools_app.core import clock

pytestmark = [pytest.mark.browser, pytest.mark.usefixtures("db")]
TEMPLATE = Path("tools_app/sandbox/template/coin_lookup.toml")


@pytest.fixture(autouse=True)
def no_page_had_a_fault(product: Product) -> Any:
    """What a journey's pages were found wrong in is told at its end, all of it together."""
    product.pulse()
    yield
    found = [problem for journey in product.journeys for problem in journey.problems]
    for journey in product.journeys:
        journey.page.context.close()
    product.journeys.clear()
    assert found == [], "\n".join(found)


def request_page(request: ChangeRequest) -> str:
    return f"/admin/permits_app/changerequest/{request.pk}/change/"


def loan(usdc: int) -> dict[str, Any]:
    return {"action_type": "borrow", "asset": "USDC", "amount": str(usdc * USDC)}


@SIZES
def test_lending_begins_with_nothing_and_ends_with_what_is_lent_on_the_money_page(product: Product, size: str) -> None:
    name = f"Lender {size}"
    product.make(f"lena-{size}", f"Other of {name}")
    journey = product.set_out(size, f"lena-{size}")
    page = journey.page
    journey.go("/admin/archetypes_app/golem/add/")
    page.get_by_label("Name").fill(name)
    page.get_by_role("radio", name=re.compile("^Lend")).check()
    page.get_by_label("What it works with").fill("15,000")
    journey.look("21-lend-intent")
    journey.press("Next: wallet")
    journey.press("Next: limits")
    journey.look("21-lend-limits")
    journey.press("Next: funds")
    journey.press("Take test money")
    journey.press("Next: token")
    journey.press("Create the golem's token")
    token = page.inner_text("#new-token").strip()
    journey.look("21-lend-token")
    journey.press("Preview it here")
    page.wait_for_url("**/actionpermit/**")
    assert "Supply" in journey.look("21-lend-preview")
    golem = Golem.objects.get(name=name)
    permit = golem.permits.get()
    answer = httpx.post(
        f"{journey.visit.base_url}/api/v1/pi/commit_action",
        json={"permit_id": str(permit.pk)},
        timeout=60,
        headers={"Authorization": f"Bearer {token}"},
    )
    assert answer.status_code == 200, answer.text
    assert "Aave V3" in journey.go(own(golem, "money"))
    journey.look("21-lend-money")


@SIZES
def test_a_loan_that_an_agent_asks_for_is_decided_by_its_owner_and_seen_with_its_health(
    product: Product, size: str
) -> None:
    live = product.make(f"bo-{size}", f"Borrower {size}")
    do(live, "supply", None, asset="WETH", amount=str(ETH))
    request = product.wait_for_owner(live, **loan(900))
    journey = product.set_out(size, live.owner.username)
    assert "Borrow 900 USDC" in journey.go("/admin/")
    journey.look("22-loan-overview")
    journey.go(request_page(request))
    told = journey.look("22-loan-request")
    assert "900 USDC" in told and "liquidat" in told
    journey.go(request_page(request).replace("/change/", "/short/"))
    journey.look("22-loan-short")
    approve_it(journey, live.owner)
    journey.go(request_page(request))
    assert "xecuted" in journey.look("22-loan-done")
    told = journey.go(own(live.golem, "money"))
    assert "900 USDC" in told and "2.75" in told
    journey.look("22-loan-money")
    journey.go(f"/admin/cockpit/{live.golem.pk}/risks/")
    journey.look("22-loan-risks")


@SIZES
def test_a_request_is_looked_at_again_once_another_loan_was_taken_out(product: Product, size: str) -> None:
    live = product.make(f"seb-{size}", f"Second look {size}")
    borrow(live)
    request = product.wait_for_owner(live, **loan(300))
    do(live, "borrow", None, asset="USDC", amount=str(200 * USDC))
    journey = product.set_out(size, live.owner.username)
    told = journey.go(request_page(request))
    journey.look("23-second-look-moved")
    assert "different by now" in told
    journey.page.get_by_label("Reason").fill("one loan is enough")
    assert "one loan is enough" in journey.press("Reject")
    journey.look("23-second-look-rejected")
    request.refresh_from_db()
    assert request.state == "REJECTED"


@SIZES
def test_who_is_refused_raises_the_limit_and_the_same_wish_passes(product: Product, size: str) -> None:
    live = product.make(f"rob-{size}", f"Refused {size}")
    wish = {**SWAP, "amount": str(12_000 * USDC)}
    assert product.ask(live, **wish)["code"] == "SAFETY_SPENDING_LIMIT_EXCEEDED"
    journey = product.set_out(size, live.owner.username)
    page = journey.page
    journey.go("/admin/")
    journey.look("24-refused-overview")
    refused = DeniedCall.objects.get(golem=live.golem)
    journey.go(own(live.golem, f"refused/{refused.pk}"))
    told = journey.look("24-refused-why")
    assert "the limit of one transaction" in told and "$12,000.00" in told
    journey.follow("Raise this limit")
    page.locator("#id_per_transaction_micro_usd").fill("15,000")
    journey.look("24-refused-raise")
    assert "cools off for 1 d" in journey.press("Save")
    journey.look("24-refused-asked")
    page.get_by_label("Why").fill("it was refused a good swap")
    journey.press("Ask the owners")
    journey.look("24-refused-request")
    approve_it(journey, live.owner)
    journey.look("24-refused-cools-off")
    run(ChangeRequest.objects.get(golem=live.golem), after=timedelta(hours=25))
    assert SpendingLimits.objects.get(golem=live.golem).per_transaction_micro_usd == 15_000 * 10**6
    assert product.ask(live, **wish).get("code") is None, "it passes"


@SIZES
def test_both_switches_are_told_alike_on_each_page_and_turned_one_by_one(product: Product, size: str) -> None:
    live = product.make(f"sven-{size}", f"Switches {size}")
    turn_on(live.golem, is_live=False, rule={})
    journey = product.set_out(size, live.owner.username)
    page = journey.page
    journey.go(own(live.golem))
    journey.follow("Keep keys from spending")
    journey.look("25-switches-keys-asked")
    page.get_by_label("Reason").fill("look first")
    journey.press("Only preview from now on")
    told = journey.go(own(live.golem))
    assert "agent keys only preview" in told
    journey.look("25-switches-keys-off")
    journey.follow("Let keys spend")
    page.get_by_label("Why").fill("looked long enough")
    journey.press("Ask to let them spend")
    journey.look("25-switches-keys-request")
    approve_it(journey, live.owner)
    journey.go(own(live.golem))
    journey.follow("Let the heartbeat act")
    page.get_by_label("Why").fill("it rehearsed well")
    journey.press("Ask to let it act")
    approve_it(journey, live.owner)
    assert "heartbeat acts" in journey.go(own(live.golem))
    journey.look("25-switches-both-on")
    journey.go(f"/admin/cockpit/{live.golem.pk}/")
    journey.look("25-switches-cockpit", is_record=True)
    live.golem.refresh_from_db()
    assert live.golem.may_keys_spend and live.golem.is_live


@SIZES
def test_somebody_is_invited_joins_and_only_looks(product: Product, size: str) -> None:
    live = product.make(f"ida-{size}", f"Seen {size}")
    journey, guest = product.set_out(size, live.owner.username), product.set_out(size)
    journey.go(own(live.golem, "people"))
    journey.page.get_by_label("For whom").fill("Vera of accounting")
    found = re.search(r"/join/#[\w-]+", journey.press("Make a link"))
    journey.look("26-viewer-link")
    assert found is not None
    guest.go(found[0])
    guest.page.get_by_label("Username").fill(f"vera-{size}")
    guest.page.get_by_label("Password", exact=False).first.fill(PASSWORD)
    guest.page.get_by_label("Password confirmation").fill(PASSWORD)
    guest.look("26-viewer-join")
    guest.press("Make the account and join")
    guest.look("26-viewer-cockpit", is_record=True)
    for tab in ("change", "money", "rules", "records"):
        guest.go(own(live.golem, tab))
        guest.look(f"26-viewer-{tab}")
    assert GolemMember.objects.get(golem=live.golem).person.username == f"vera-{size}"
    journey.go(own(live.golem, "people"))
    assert f"vera-{size}" in journey.look("26-viewer-people")


@SIZES
def test_numbers_are_told_as_they_are_read_and_none_is_taken_for_another(product: Product, size: str) -> None:
    live = product.make(f"nora-{size}", f"Numbers {size}")
    limits = live.golem.spending_limits
    journey = product.set_out(size, live.owner.username)
    page = journey.page
    journey.go(f"/admin/permits_app/spendinglimits/{limits.pk}/change/")
    field = page.locator("#id_per_day_micro_usd")
    for typed, told in (("50,000", "Read as $50,000.00"), ("500,00", "has a comma where none can be")):
        field.fill(typed)
        page.get_by_text(told).first.wait_for()
        journey.look(f"27-numbers-{typed.replace(',', '-')}")
    assert "Write 500.00" in journey.press("Save")
    journey.look("27-numbers-refused")
    before = limits.per_day_micro_usd
    limits.refresh_from_db()
    assert limits.per_day_micro_usd == before
    page.locator("#id_per_day_micro_usd").fill("50,000")
    journey.press("Save")
    limits.refresh_from_db()
    assert limits.per_day_micro_usd == 50_000 * 10**6


def find_action(journey: Journey, name: str) -> None:
    """In the page's header, where a phone keeps it behind three dots."""
    if journey.size == "phone":
        journey.page.get_by_text("more_horiz").locator("visible=true").first.click()
    press(journey.page.get_by_role("link", name=name, exact=True).locator("visible=true").first)


@SIZES
def test_a_tool_of_an_owner_is_brought_tried_and_given_to_a_golem(product: Product, size: str) -> None:
    live = product.make(f"tom-{size}", f"Tools {size}")
    journey = product.set_out(size, live.owner.username)
    page = journey.page
    journey.go("/admin/machinery/")
    journey.look("28-tools-machinery")
    journey.follow("Own tools")
    journey.look("28-tools-none")
    find_action(journey, "Upload a tool")
    page.locator("input[type=file]").first.set_input_files(TEMPLATE)
    journey.look("28-tools-upload")
    journey.press("Upload")
    assert "not approved" in journey.look("28-tools-uploaded")
    find_action(journey, "Try it")
    page.get_by_label("Golem").select_option(label=live.golem.name)
    journey.look("28-tools-try")
    page.go_back()
    find_action(journey, "Approve")
    page.get_by_label(live.golem.name).check()
    journey.look("28-tools-approve")
    journey.press("Approve")
    journey.look("28-tools-approved")
    journey.go(own(live.golem, "agent"))
    journey.look("28-tools-agent")


@SIZES
def test_alerts_are_chosen_and_none_that_cannot_be_sent_is_green(product: Product, size: str) -> None:
    live = product.make(f"al-{size}", f"Alerts {size}")
    journey = product.set_out(size, live.owner.username)
    page = journey.page
    journey.go("/admin/alerts/")
    journey.look("29-alerts-none")
    page.get_by_label("Label").fill("my mail")
    page.get_by_label("Kind").select_option(label="E-mail")
    page.get_by_label("Address", exact=True).fill("al@example.org")
    told = journey.press("Make the channel", whole=True)
    journey.look("29-alerts-mail")
    assert "Alerts go to" not in told
    if not page.get_by_label("Label").is_visible():
        page.get_by_text("New channel", exact=True).click()
    page.get_by_label("Label").fill("chat")
    page.get_by_label("Kind").select_option(value="WEBHOOK")
    page.get_by_label("Webhook", exact=True).fill("http://127.0.0.1:9/none")
    journey.press("Make the channel", whole=True)
    if size == "phone":
        page.get_by_text("New channel", exact=True).click()
    row = page.locator("tr", has_text="chat")
    press(row.get_by_role("button", name="Send a test"))
    journey.look("29-alerts-failing")


@SIZES
def test_a_year_is_read_on_one_page_and_saved_as_csv(product: Product, size: str) -> None:
    live = product.make(f"yan-{size}", f"Year {size}")
    live_a_while(product, live)
    journey = product.set_out(size, live.owner.username)
    page = journey.page
    journey.go(own(live.golem, "records"))
    journey.look("30-year-records")
    journey.follow("Statement")
    journey.look("30-year-month")
    year = clock.now().year
    told = journey.follow(f"Statement of {year}")
    journey.look("30-year-year")
    assert f"the year {year}" in told and "Gas" in told and "profit or loss" in told
    with page.expect_download() as download:
        page.get_by_role("link", name=f"Outcomes of {year}").click()
    rows = download.value.path().read_text().splitlines()
    assert len(rows) == 1 + ActionPermit.objects.filter(golem=live.golem, status="COMMITTED").count()
    journey.go(own(live.golem))
    journey.look("30-year-now")
    journey.go(f"/admin/cockpit/{live.golem.pk}/")
    journey.look("30-year-cockpit", is_record=True)


@SIZES
def test_everything_is_taken_out_and_what_stays_is_named(product: Product, size: str) -> None:
    live = product.make(f"eve-{size}", f"Leaving {size}")
    borrow(live)
    journey = product.set_out(size, live.owner.username)
    page = journey.page
    journey.go(own(live.golem, "money"))
    journey.look("31-exit-money")
    journey.follow("Take everything out")
    journey.look("31-exit-asked")
    page.get_by_label("Reason").fill("its work is done")
    journey.press("Take out and retire", whole=True)
    journey.look("31-exit-begun")
    work_out(live)
    journey.go(own(live.golem))
    journey.look("31-exit-golem")
    journey.go("/admin/")
    journey.look("31-exit-overview")
    journey.go(own(live.golem, "money"))
    journey.look("31-exit-left")
    live.golem.refresh_from_db()
    death = Death.objects.get(golem=live.golem)
    assert (live.golem.retired_at is not None, death.left) == (True, [])
    before, whole = held(live, HOME), live.balance("USDC")
    register(live.golem)
    journey.go(own(live.golem, "withdraw"))
    page.get_by_label("Token").fill("USDC")
    page.locator("#withdraw").get_by_label("Why").fill("all of it home")
    journey.press("Simulate and ask")
    journey.look("31-exit-withdraw")
    approve_it(journey, live.owner)
    assert (live.balance("USDC"), held(live, HOME) - before) == (0, whole)


def work_out(live: LiveGolem) -> None:
    """What beat and workers do meanwhile."""
    for _ in range(6):
        tasks.commit_deaths_task.run()
        for golem_id, epoch in list_unfinished_halts():
            tasks.commit_halt_task.run(golem_id=str(golem_id), epoch=epoch)
