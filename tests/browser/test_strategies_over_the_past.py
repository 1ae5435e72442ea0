"""An owner sets a strategy, tries it over the recorded past, and sees what it would have been worth beside holding."""

from __future__ import annotations

from math import sin
from typing import Any

import pytest
from playwright.sync_api import expect

from archetypes_app.owner_group import ensure_owner_group
from tests.browser.axe import find_serious
from tests.browser.conftest import PHONE, WIDE, press
from tests.factories.golems import PASSWORD
from tests.golem_project.cockpit.test_strategy_page import keep, record
from tests.live_golem import LiveGolem

pytestmark = [pytest.mark.browser, pytest.mark.protocols("compound_v3", "moonwell")]
USD = 10**6


@pytest.fixture
def owned(shared_golem: LiveGolem) -> LiveGolem:
    """A golem whose owner can log in, and what feeds told of ether in a month: between 2,400 and 3,300 dollars."""
    shared_golem.owner.set_password(PASSWORD)
    shared_golem.owner.save()
    shared_golem.owner.groups.add(ensure_owner_group())
    record(shared_golem, {"USDC": lambda ago: 1, "WETH": lambda ago: 2_850 + 450 * sin(ago / 60)}, hours=740)
    keep(
        shared_golem.golem,
        regular_purchase={"sold": "USDC", "bought": "WETH", "amount_micro_usd": 200 * USD, "every_hours": 24},
        stop_orders={"token": "WETH", "into": "USDC", "stop_micro_usd": 2_450 * USD, "goal_micro_usd": 3_200 * USD},
    )
    return shared_golem


def test_an_owner_adds_a_rotation_and_tries_everything_over_a_month(open_window: Any, owned: LiveGolem) -> None:
    visit = open_window(viewport=WIDE)
    visit.log_in("owner-a")
    page = visit.open(f"/admin/archetypes_app/heartbeat/{owned.golem.pk}/change/")
    page.locator("[name=yield_rotation__token]").fill("USDC")
    for place in ("compound_v3", "moonwell"):
        page.locator(f"[name=yield_rotation__places][value={place}]").check()
    page.locator("[name=yield_rotation__most_micro_usd]").fill("4000")
    visit.shoot("strategies-form")
    press(page.get_by_role("button", name="Save and continue editing"))
    visit.shoot("strategies-saved")
    press(page.get_by_role("link", name="Try over the past"))
    expect(page.get_by_text("Up to $4,000.00 of USDC lie where they earn most")).to_be_visible()
    page.get_by_label("30 days").check()
    press(page.get_by_role("button", name="Try"))
    expect(page.get_by_role("heading", name="All of them together")).to_be_visible()
    expect(page.get_by_role("heading", name="Earns where it pays most")).to_be_visible()
    assert page.locator("svg.gx-plot .gx-beside").count() == 4
    page.get_by_text("The last", exact=False).first.click()
    visit.shoot("strategies-tried")
    assert find_serious(page) == []
    assert visit.violations == []
    dark, phone = open_window(viewport=WIDE, is_dark=True), open_window(viewport=PHONE)
    for name, other in (("dark", dark), ("phone", phone)):
        other.log_in("owner-a")
        seen = other.open(f"/admin/cockpit/{owned.golem.pk}/strategies/")
        press(seen.get_by_role("button", name="Try"))
        other.shoot(f"strategies-tried-{name}")
        assert other.overflow() == 0
