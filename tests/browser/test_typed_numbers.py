"""A person types an amount and sees what it is read as before it is saved."""

from __future__ import annotations

from typing import Any

import pytest

from tests.browser.conftest import PHONE, press
from tests.browser.owners import make_house

pytestmark = pytest.mark.browser


@pytest.mark.parametrize("viewport", [None, PHONE], ids=["wide", "phone"])
def test_what_is_typed_is_told_beside_its_field_and_a_decimal_comma_saves_nothing(
    open_window: Any, viewport: Any
) -> None:
    house = make_house()
    limits = house.golem.spending_limits
    visit = open_window(**({"viewport": viewport} if viewport else {}))
    visit.log_in(house.owner.username)
    page = visit.open(f"/admin/permits_app/spendinglimits/{limits.pk}/change/")
    field = page.locator("#id_hot_lane_micro_usd")
    for typed, told in (
        ("50,000", "Read as $50,000.00"),
        ("500,00", "“500,00” has a comma where none can be. Write 500.00 if the comma stands before decimals."),
    ):
        field.fill(typed)
        page.get_by_text(told).wait_for()
    assert page.locator("output[for=id_hot_lane_micro_usd]").count() == 1
    visit.shoot("typed-number")
    assert visit.overflow() == 0
    press(page.get_by_role("button", name="Save", exact=True))
    assert "Write 500.00" in page.inner_text(".errorlist, [id*=error]")
    limits.refresh_from_db()
    assert limits.hot_lane_micro_usd != 50_000 * 10**6
