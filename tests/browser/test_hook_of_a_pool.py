"""A position in a pool with a stranger's code, as its owner sees it: what that could do, drawn and in words."""

from __future__ import annotations

from typing import Any

import pytest

from archetypes_app.owner_group import ensure_owner_group
from tests.browser.axe import find_serious
from tests.browser.conftest import PHONE, WIDE
from tests.factories.golems import PASSWORD
from tests.live_golem import LiveGolem
from tests.permits_app.approvals.conftest import eager as eager
from tests.permits_app.approvals.test_turning_hooks_of_v4_pools import enter
from tests.tools_app.protocols.uniswap.v4_hooks import EXIT_TAXER

pytestmark = [pytest.mark.browser, pytest.mark.protocols("uniswap_v4"), pytest.mark.timeout(400)]


def test_what_a_hook_could_do_is_drawn_beside_the_range_and_the_fees(
    open_window: Any, shared_golem: LiveGolem, eager: None
) -> None:
    shared_golem.owner.set_password(PASSWORD)
    shared_golem.owner.save()
    shared_golem.owner.groups.add(ensure_owner_group())
    enter(shared_golem, EXIT_TAXER)
    for viewport in (WIDE, PHONE):
        visit = open_window(viewport=viewport, is_dark=viewport is PHONE)
        visit.log_in("owner-a")
        page = visit.open(f"/admin/archetypes_app/golem/{shared_golem.golem.pk}/money/")
        visit.shoot(f"hook-{viewport['width']}")
        drawn = page.locator(".gx-hook")
        said = "can change what goes in or comes out and stop or tax a withdrawal"
        assert drawn.get_attribute("aria-label") == f"Of what a hook could do, this one {said}"
        fields = [each.get_attribute("class") for each in drawn.locator("rect").all()]
        assert fields == ["gx-hook-bad", "gx-hook-line", "gx-hook-bad", "gx-hook-line", "gx-hook-line"]
        assert page.locator(".gx-range:not(.gx-range-fees):not(.gx-hook)").count() == 1
        text = page.inner_text("#content")
        assert said in text and "In range" in text and "Fees waiting" in text
        assert find_serious(page) == [] and visit.overflow() == 0
