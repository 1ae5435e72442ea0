"""What an owner does in the browser, on a golem that really swapped on the local chain."""

from __future__ import annotations

import re
from typing import Any

import httpx
import pytest

from archetypes_app.models import Golem
from tests import factories
from tests.browser.conftest import PHONE, press
from tests.live_golem import LiveGolem

pytestmark = pytest.mark.browser


def test_an_owner_logs_in_and_sees_what_their_golems_do(open_window: Any, demo: LiveGolem) -> None:
    visit = open_window()
    visit.log_in_by_hand("owner-a")
    text = visit.page.inner_text("#content")
    visit.shoot("dashboard")
    assert "Live" in text
    assert "Swap 500 USDC for WETH" in text
    assert "PermitConsumed" in text


def test_a_wrong_password_is_refused(open_window: Any, demo: LiveGolem) -> None:
    visit = open_window()
    visit.log_in_by_hand("owner-a", "not the password")
    assert "/login/" in visit.page.url


def test_the_permit_page_tells_the_whole_story_of_a_committed_swap(
    open_window: Any, demo: LiveGolem, swap_id: str
) -> None:
    visit = open_window()
    visit.log_in("owner-a")
    visit.open(f"/admin/permits_app/actionpermit/{swap_id}/change/")
    visit.shoot("permit")
    headings = visit.page.locator(".gx-story h2").all_inner_texts()
    text = visit.page.inner_text("#content")
    assert headings == [
        "Request",
        "Plan",
        "Simulation",
        "Seven safety hooks",
        "Risk and value",
        "Permit",
        "Commit",
        "Outcome",
        "Audit",
        "Memory",
    ]
    assert visit.page.locator(".gx-hooks li").count() == 7
    assert "exactInputSingle" in text or "swapExactTokensForTokens" in text
    assert visit.page.locator(".gx-compare .gx-badge", has_text="exact").count() >= 2
    assert "verified" in text


def test_the_golem_page_shows_its_balances_limits_and_tools(open_window: Any, demo: LiveGolem) -> None:
    visit = open_window()
    visit.log_in("owner-a")
    own = f"/admin/archetypes_app/golem/{demo.golem.pk}"
    assert "19,500" in visit.open(f"{own}/money/").inner_text("#content")
    assert "$100,000.00" in visit.open(f"{own}/rules/").inner_text("#content")
    visit.open(f"{own}/agent/")
    visit.page.get_by_text("Tools it has, and why").click()
    visit.shoot("golem")
    assert "uniswap_execute_swap" in visit.page.inner_text("#content")


def test_the_graph_the_matrix_and_the_diff_before_saving(open_window: Any, demo: LiveGolem) -> None:
    visit = open_window()
    visit.log_in("owner-a")
    page = visit.open("/admin/archetypes_app/archetype/graph/")
    page.get_by_label("From").select_option("safety-guardian")
    page.get_by_label("to", exact=True).select_option("trade-executor")
    press(page.get_by_role("button", name="Try it"))
    visit.shoot("graph")
    assert page.locator(".gx-edge-bad").count() == 1
    visit.open("/admin/archetypes_app/toolprofile/matrix/")
    visit.shoot("matrix")
    visit.open(f"/admin/archetypes_app/golem/{demo.golem.pk}/settings/")
    page.locator("input[name=profiles]:checked").first.uncheck()
    press(page.get_by_role("button", name="Save", exact=True))
    visit.shoot("diff")
    assert "Before it is saved" in page.inner_text("#content")
    press(page.get_by_role("button", name="Save it"))
    assert demo.golem.profiles.count() == 2


def test_the_pages_are_readable_in_the_dark(open_window: Any, demo: LiveGolem, swap_id: str) -> None:
    visit = open_window(is_dark=True)
    visit.log_in("owner-a")
    visit.open("/admin/")
    visit.shoot("dashboard-dark")
    visit.open(f"/admin/permits_app/actionpermit/{swap_id}/change/")
    visit.shoot("permit-dark")
    background = visit.page.evaluate("getComputedStyle(document.querySelector('.gx-card')).backgroundColor")
    ink = visit.page.evaluate("getComputedStyle(document.querySelector('.gx-card h2')).color")
    assert background != ink


def test_on_a_phone_nothing_scrolls_sideways(open_window: Any, demo: LiveGolem, swap_id: str) -> None:
    visit = open_window(viewport=PHONE)
    visit.log_in("owner-a")
    pages = {
        "phone-dashboard": "/admin/",
        "phone-permit": f"/admin/permits_app/actionpermit/{swap_id}/change/",
        "phone-golem": f"/admin/archetypes_app/golem/{demo.golem.pk}/change/",
        "phone-wizard": "/admin/archetypes_app/golem/add/",
        "phone-archetype": "/admin/archetypes_app/archetype/add/",
        "phone-graph": "/admin/archetypes_app/archetype/graph/",
        "phone-matrix": "/admin/archetypes_app/toolprofile/matrix/",
    }
    wide = {}
    for name, path in pages.items():
        visit.open(path)
        visit.shoot(name)
        wide[name] = visit.overflow()
    assert wide == dict.fromkeys(pages, 0)


def test_the_first_stop_of_the_keyboard_leads_past_the_sidebar(open_window: Any, demo: LiveGolem) -> None:
    visit = open_window()
    visit.log_in("owner-a")
    page = visit.open("/admin/")
    page.keyboard.press("Tab")
    page.keyboard.press("Enter")
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.closest('#content') !== null")


def test_the_wizard_makes_a_golem_a_wallet_and_a_token_that_works(
    open_window: Any, demo: LiveGolem, live_server: Any
) -> None:
    visit = open_window()
    visit.log_in("owner-a")
    token = walk_through_wizard(visit, name="Second golem")
    golem = Golem.objects.get(name="Second golem")
    answer = httpx.get(
        f"{live_server.url}/api/v1/pi/manifest", headers={"Authorization": f"Bearer {token}"}, timeout=30
    )
    assert golem.owner == demo.owner
    assert golem.wallet.address == golem.address
    assert golem.spending_limits.per_day_micro_usd == 2_500_000_000
    assert set(golem.allowlist.filter(kind="TOKEN").values_list("label", flat=True)) == {"USDC", "WETH"}
    assert answer.status_code == 200
    assert len(answer.json()["tools"]) == 8


def test_the_wizard_works_without_javascript(open_window: Any, demo: LiveGolem) -> None:
    visit = open_window(has_javascript=False)
    visit.log_in("owner-a")
    token = walk_through_wizard(visit, name="Plain golem", pictures=False)
    assert re.fullmatch(r"golem_[\w-]{40,}", token)
    assert Golem.objects.get(name="Plain golem").address.startswith("0x")


def walk_through_wizard(visit: Any, *, name: str, pictures: bool = True) -> str:
    """Fill in the four pages; returns the token of the last one."""
    page = visit.open("/admin/archetypes_app/golem/add/")
    page.get_by_label("Name").fill(name)
    page.get_by_role("radio", name=re.compile("^Custom")).check()
    page.get_by_label("Archetype", exact=True).select_option(label="golem-instance")
    for profile in ("trader", "lp"):
        page.locator("label", has_text=re.compile(rf"^\s*{profile}")).get_by_role("checkbox").first.check()
    if pictures:
        visit.shoot("wizard-1")
    press(page.get_by_role("button", name="Next: wallet"))
    if pictures:
        visit.shoot("wizard-2")
    press(page.get_by_role("button", name="Next: limits"))
    page.get_by_label("Per transaction").fill("$1,000.00")
    page.get_by_label("Per heartbeat tick").fill("$2,000.00")
    page.get_by_label("Per 24 hours", exact=True).fill("$2,500.00")
    if pictures:
        visit.shoot("wizard-3")
    press(page.get_by_role("button", name="Next: funds"))
    press(page.get_by_role("button", name="Next: token"))
    if pictures:
        visit.shoot("wizard-4")
    press(page.get_by_role("button", name="Create the golem's token"))
    if pictures:
        visit.shoot("wizard-5")
    return str(page.inner_text("#new-token")).strip()


def test_another_owner_cannot_open_the_golem_or_its_permit(open_window: Any, demo: LiveGolem, swap_id: str) -> None:
    factories.make_owner(name="ben")
    visit = open_window()
    visit.log_in("ben")
    golem = visit.page.goto(f"{visit.base_url}/admin/archetypes_app/golem/{demo.golem.pk}/change/")
    permit = visit.page.goto(f"{visit.base_url}/admin/permits_app/actionpermit/{swap_id}/change/")
    assert (golem.status, permit.status) == (404, 404)


def test_an_open_permit_is_cancelled_with_a_reason(open_window: Any, demo: LiveGolem) -> None:
    permit_id = demo.preview(amount="250000000")["permit_id"]
    visit = open_window()
    visit.log_in("owner-a")
    page = visit.open(f"/admin/permits_app/actionpermit/{permit_id}/change/")
    visit.shoot("permit-open", is_full=False)
    press(page.get_by_role("link", name="Cancel"))
    visit.shoot("permit-cancel")
    page.get_by_label("Reason").fill("not today")
    press(page.get_by_role("button", name="Cancel the permit"))
    permit = demo.permit(permit_id)
    assert (permit.status, permit.status_reason) == ("CANCELLED", "not today")
    assert "not today" in page.inner_text("#content")


def test_a_page_loads_without_errors_in_the_console(open_window: Any, demo: LiveGolem, swap_id: str) -> None:
    visit = open_window()
    complaints: list[str] = []
    visit.page.on("console", lambda message: complaints.append(message.text) if message.type == "error" else None)
    visit.page.on("pageerror", lambda error: complaints.append(str(error)))
    visit.log_in("owner-a")
    visit.open(f"/admin/permits_app/actionpermit/{swap_id}/change/")
    visit.open(f"/admin/archetypes_app/golem/{demo.golem.pk}/change/")
    assert complaints == []
