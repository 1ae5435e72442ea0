"""A person types the code of an agent in a real browser, and the agent acts."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import httpx
import pytest

from tests.browser.journeys import SIZES, Journey
from tests.browser.journeys import set_out as set_out
from tests.browser.owners import House, make_house

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]


@SIZES
def test_an_agent_is_signed_in_with_the_code_that_it_shows(set_out: Callable[..., Journey], size: str) -> None:
    house: House = make_house()
    journey = set_out(size, "ana")
    base, page = journey.visit.base_url, journey.page

    def ask(path: str, **body: str) -> dict[str, Any]:
        answer: dict[str, Any] = httpx.post(f"{base}/oauth/{path}", data={"client_id": "my-trader", **body}).json()
        return answer

    asked = ask("device_authorization")
    journey.go("/sign-in")
    journey.look("19-sign-in-code")
    page.get_by_label("Code").fill("BCDF-GHJK")
    assert "No agent waits with this code" in journey.press("Look it up")
    page.get_by_label("Code").fill(asked["user_code"].lower())
    assert "my-trader" in journey.press("Look it up")
    page.get_by_label("Golem").select_option(str(house.golem.pk))
    journey.look("19-sign-in-asked")
    page.get_by_label("I started this agent").check()
    assert "acts for Alpha as soon as it asks again" in journey.press("Sign it in", whole=True)
    grant = "urn:ietf:params:oauth:grant-type:device_code"
    token = ask("token", grant_type=grant, device_code=asked["device_code"])["access_token"]
    read = httpx.get(f"{base}/api/v1/pi/manifest", headers={"Authorization": f"Bearer {token}"}).json()
    assert read["golem"]["golem_id"] == str(house.golem.pk)
    assert "my-trader" in journey.go("/admin/archetypes_app/apikey/")
