"""From nothing to a token in the browser: intents, limits that fit, where to send money, a token shown once."""

from __future__ import annotations

import json
import re
from typing import Any

import httpx
import pytest
from django.contrib.sessions.models import Session

from archetypes_app.actions.sync_builtins import sync_builtins
from archetypes_app.models import ApiKey, Archetype, Golem
from permits_app.models import ActionPermit, SpendingLimits
from tests.browser.conftest import PHONE, WIDE, go_to, press
from tests.browser.owners import House, make_house
from tests.evm.world import World
from tests.permits_app.approvals.conftest import eager as eager

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]


@pytest.fixture
def house(transactional_db: None, local_chain: World, eager: None) -> House:
    sync_builtins()
    return make_house()


def begin(visit: Any, *, intent: str, name: str, base_asset: str | None = None, works_with: str = "29,000") -> Any:
    page = visit.open("/admin/archetypes_app/golem/add/")
    page.get_by_label("Name").fill(name)
    page.get_by_role("radio", name=re.compile(f"^{intent}")).check()
    page.get_by_label("What it works with").fill(works_with)
    if base_asset is not None:
        page.get_by_label("Base asset").fill(base_asset)
    press(page.get_by_role("button", name="Next: wallet"))
    return page


def try_it(visit: Any, block: str, *, permit_id: str = "PERMIT_ID") -> httpx.Response:
    """Send what a printed curl says."""
    url = re.search(r"curl -s (\S+)", block)
    token = re.search(r"Bearer (\S+)'", block)
    body = re.search(r"-d '(.*)'", block.replace("PERMIT_ID", permit_id))
    assert url is not None and token is not None
    headers = {"Authorization": f"Bearer {token[1]}"}
    if body is None:
        return httpx.get(url[1], headers=headers, timeout=60)
    return httpx.post(url[1], headers=headers, json=json.loads(body[1]), timeout=60)


def test_a_trader_ends_with_a_funded_address_and_a_token_that_is_shown_once(open_window: Any, house: House) -> None:
    visit = open_window(viewport=WIDE)
    visit.log_in("ana")
    page = begin(visit, intent="Trade", name="Trader")
    visit.shoot("wizard-wallet")
    press(page.get_by_role("button", name="Next: limits"))
    press(page.get_by_role("button", name="Next: funds"))
    golem = Golem.objects.get(name="Trader")
    assert [profile.name for profile in golem.profiles.all()] == ["trader"]
    assert golem.address in page.inner_text("#funding-address")
    assert page.locator(".gx-qr svg").count() == 1
    press(page.get_by_role("button", name="Take test money"))
    visit.shoot("wizard-funds")
    assert "15,000" in page.inner_text("#content")
    press(page.get_by_role("button", name="Next: token"))
    press(page.get_by_role("button", name="Create the golem's token"))
    visit.shoot("wizard-token")
    examples = page.locator("[data-try]").all_inner_texts()
    assert len(examples) == 2
    for block in examples:
        answer = try_it(visit, block)
        assert answer.status_code == 200, answer.text
    page.reload()
    assert page.locator("#new-token").count() == 0 and "was shown once" in page.inner_text("#content")
    assert ApiKey.objects.filter(golem=golem).count() == 1


@pytest.mark.protocols("aave_v3", "erc4626")
@pytest.mark.parametrize(
    ("intent", "profile", "most", "first"),
    [
        ("Trade", "trader", "2,900.00", "swap"),
        ("Lend", "lender", "10,000.00", "supply"),
        ("Keep liquidity", "lp", "7,250.00", "add_liquidity"),
        ("Use vaults", "vault", "10,000.00", "deposit"),
    ],
)
@pytest.mark.parametrize("viewport", [WIDE, PHONE], ids=["wide", "phone"])
def test_limits_allowlist_cage_and_sample_calls_follow_what_it_is_for(
    open_window: Any,
    house: House,
    viewport: Any,
    intent: str,
    profile: str,
    most: str,
    first: str,
) -> None:
    visit = open_window(viewport=viewport)
    visit.log_in("ana")
    page = begin(visit, intent=intent, name="Sample")
    press(page.get_by_role("button", name="Next: limits"))
    golem = Golem.objects.get(name="Sample")
    assert [each.name for each in golem.profiles.all()] == [profile]
    assert page.get_by_label("Per transaction").input_value() == most, "it fits 29,000 dollars"
    named = visit.page.locator("input[name=allowlist]:checked").count()
    offered = visit.page.locator("input[name=allowlist]").count()
    assert 3 <= named <= 24 < offered, "only what it needs is ticked"
    assert "at one venue" in page.inner_text("#content") and visit.overflow() == 0
    visit.shoot(f"wizard-limits-{profile}-{viewport['width']}")
    press(page.get_by_role("button", name="Next: funds"))
    press(page.get_by_role("button", name="Take test money"))
    press(page.get_by_role("button", name="Next: token"))
    press(page.get_by_role("button", name="Create the golem's token"))
    visit.shoot(f"wizard-token-{profile}-{viewport['width']}")
    assert visit.overflow() == 0
    preview = try_it(visit, page.locator("[data-try]").nth(1).inner_text())
    assert preview.status_code == 200, preview.text
    permit = ActionPermit.objects.get(pk=preview.json()["permit_id"])
    assert permit.action_type == first and permit.golem == golem
    commit = try_it(visit, page.locator("[data-then]").inner_text(), permit_id=str(permit.pk))
    assert commit.status_code == 200, commit.text


def test_what_a_person_chooses_alone_shows_only_to_who_chooses_alone(open_window: Any, house: House) -> None:
    visit = open_window(viewport=PHONE)
    visit.log_in("ana")
    page = visit.open("/admin/archetypes_app/golem/add/")
    assert not page.get_by_label("Archetype", exact=True).is_visible()
    assert page.evaluate("document.documentElement.scrollHeight") <= 2_500
    visit.shoot("wizard-who-phone")
    page.get_by_role("radio", name=re.compile("^Custom")).check()
    assert page.get_by_label("Archetype", exact=True).is_visible()


def test_a_key_that_only_reads_is_not_said_to_spend(open_window: Any, house: House) -> None:
    visit = open_window(viewport=WIDE)
    visit.log_in("ana")
    page = begin(visit, intent="Only watch", name="Eyes")
    press(page.get_by_role("button", name="Create the golem's token"))
    told = page.inner_text("#content")
    assert "may spend that limit once more" not in told and "It commits nothing by itself" in told


def test_a_new_golem_ends_with_a_first_previewed_action_and_its_funds_are_seen_as_they_come(
    open_window: Any, house: House, local_chain: World
) -> None:
    visit = open_window(viewport=PHONE)
    visit.log_in("ana")
    page = begin(visit, intent="Trade", name="First")
    press(page.get_by_role("button", name="Next: limits"))
    press(page.get_by_role("button", name="Next: funds"))
    golem = Golem.objects.get(name="First")
    assert "15,000" not in page.inner_text("#there-now")
    # From somewhere else, as an owner sends it.
    local_chain.fund(golem.address, 10**18, {"USDC": 15_000 * 10**6})
    page.wait_for_function("document.querySelector('#there-now').innerText.includes('15,000')")
    press(page.get_by_role("button", name="Next: token"))
    press(page.get_by_role("button", name="Create the golem's token"))
    press(page.get_by_role("button", name="Preview it here"))
    page.wait_for_url("**/actionpermit/**")
    assert "Swap USDC for WETH" in page.inner_text("#content")
    visit.shoot("wizard-first-preview")
    assert golem.permits.count() == 1


def test_one_that_only_watches_gets_no_wallet_no_limits_and_a_curl_that_works(open_window: Any, house: House) -> None:
    visit = open_window(viewport=PHONE)
    visit.log_in("ana")
    page = begin(visit, intent="Only watch", name="Watcher")
    assert page.url.endswith("/set-up/token/")
    assert page.get_by_role("checkbox").count() == 1
    press(page.get_by_role("button", name="Create the golem's token"))
    for block in page.locator("[data-try]").all_inner_texts():
        assert try_it(visit, block).status_code == 200, block
    assert Golem.objects.get(name="Watcher").address == ""
    assert "1 only read" in visit.open("/admin/").inner_text("#owned")


def test_a_base_asset_the_chain_does_not_know_is_refused_by_name(open_window: Any, house: House) -> None:
    visit = open_window(viewport=WIDE)
    visit.log_in("ana")
    page = begin(visit, intent="Trade", name="Wrong", base_asset="NOPE")
    assert "No token 'NOPE' is registered" in page.inner_text("#content")
    assert not Golem.objects.filter(name="Wrong").exists()


def test_limits_that_contradict_each_other_are_refused(open_window: Any, house: House) -> None:
    visit = open_window(viewport=WIDE)
    visit.log_in("ana")
    page = begin(visit, intent="Trade", name="Bold")
    press(page.get_by_role("button", name="Next: limits"))
    page.get_by_label("Per transaction").fill("20,000")
    page.get_by_label("Per 24 hours", exact=True).fill("2,000")
    press(page.get_by_role("button", name="Next: funds"))
    assert "More than per 24 hours allows ($2,000.00)" in page.inner_text("#content")
    assert SpendingLimits.objects.get(golem__name="Bold").per_transaction_micro_usd != 20_000 * 10**6


def test_each_archetype_is_told_in_a_sentence(open_window: Any, house: House) -> None:
    visit = open_window(viewport=WIDE)
    visit.log_in("ana")
    page = visit.open("/admin/archetypes_app/golem/add/")
    builtin = Archetype.objects.filter(is_builtin=True).values_list("name", flat=True)
    page.get_by_role("radio", name=re.compile("^Custom")).check()
    page.get_by_text("What each archetype is").click()
    told = page.locator("details dl > div").all_inner_texts()
    described = {each.splitlines()[0] for each in told if "no description" not in each}
    assert len(described) > 30 and set(builtin) <= described


def test_getting_started_ends_with_live(open_window: Any, house: House) -> None:
    visit = open_window(viewport=WIDE)
    visit.log_in("ana")
    page = visit.open("/admin/")
    steps = page.locator("#getting-started li").all_inner_texts()
    assert steps[-1].endswith("Let the heartbeat act") and steps[0].startswith("done")
    press(page.get_by_role("link", name="Let the heartbeat act"))
    assert "Ask to let it act" in page.inner_text("#content")


def test_the_sidebar_has_twelve_lines_at_most_and_each_is_called_like_its_page(open_window: Any, house: House) -> None:
    visit = open_window(viewport=WIDE)
    visit.log_in("ana")
    page = visit.open("/admin/")
    links = page.locator("#nav-sidebar-apps a").evaluate_all(
        "all => all.map(each => [each.innerText.split('\\n').pop().trim(), each.getAttribute('href')])"
    )
    named = {href: name for name, href in links if href and href.startswith("/admin/") and name}
    assert 8 <= len(named) <= 12, named
    go_to(page, visit.base_url + "/admin/machinery/")
    behind = page.locator(".gx-links a").evaluate_all("all => all.map(each => [each.innerText, each.href])")
    assert len(behind) > 20
    wrong = {}
    for name, href in [*((name, visit.base_url + href) for href, name in named.items()), *behind]:
        go_to(page, href)
        title = page.title().split("|")[0].strip()
        if name.lower() not in title.lower():
            wrong[name] = title
    assert wrong == {}


def test_a_form_of_an_ended_session_keeps_what_was_typed(open_window: Any, house: House) -> None:
    visit = open_window(viewport=WIDE)
    visit.log_in("ana")
    page = visit.open(f"/admin/archetypes_app/golem/{house.golem.pk}/halt/")
    page.get_by_label("Reason").fill("a long explanation")
    Session.objects.all().delete()
    press(page.get_by_role("button", name="Stop now"))
    told = page.inner_text("main")
    assert "You were logged out" in told and "a long explanation" in told
    house.golem.refresh_from_db()
    assert not house.golem.is_halted


def test_a_form_without_its_mark_keeps_what_was_typed_and_no_secret(open_window: Any, house: House) -> None:
    visit = open_window(viewport=WIDE)
    visit.log_in("ana")
    page = visit.open(f"/admin/archetypes_app/golem/{house.golem.pk}/halt/")
    page.get_by_label("Reason").fill("a long explanation")
    page.context.clear_cookies(name="csrftoken")
    press(page.get_by_role("button", name="Stop now"))
    told = page.inner_text("main")
    assert "This form is out of date" in told and "a long explanation" in told and "csrf" not in told.lower()
