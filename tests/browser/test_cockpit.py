"""The cockpit in Chromium: renews itself without a reload, and goes on after the server was away."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any
from uuid import UUID

import pytest
from playwright.sync_api import APIResponse, Browser, Page, Route, expect

from archetypes_app.models import Golem
from archetypes_app.owner_group import ensure_owner_group
from permits_app.models import KnownAddress
from tests import factories
from tests.browser.conftest import DESKTOP, PHONE, Visit, go_to
from tests.browser.served import Server
from tests.factories.golems import PASSWORD
from tools_app.chain.abi import checksum
from tools_app.core import clock, event_bus, event_log
from tools_app.core.events import Event, EventType

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]

CALL = "00000000-0000-4000-8000-00000000000a"


@pytest.fixture
def server() -> Iterator[Server]:
    running = Server()
    running.start()
    yield running
    running.stop()


@pytest.fixture
def golem() -> Golem:
    owner = factories.make_owner(name="ana")
    owner.set_password(PASSWORD)
    owner.save()
    owner.groups.add(ensure_owner_group())
    return factories.make_golem(owner=owner, name="Watched")


@pytest.fixture
def open_page(browser: Browser, server: Server, golem: Golem) -> Iterator[Callable[..., Visit]]:
    contexts = []

    def open_one(path: str, *, viewport: Any = DESKTOP, has_javascript: bool = True) -> Visit:
        context = browser.new_context(viewport=viewport, java_script_enabled=has_javascript)
        contexts.append(context)
        visit = Visit(context.new_page(), server.url)
        visit.log_in("ana")
        go_to(visit.page, server.url + path)
        return visit

    yield open_one
    for context in contexts:
        context.close()


def emit(golem_id: UUID, kind: EventType, **payload: Any) -> None:
    event_bus.emit(golem_id=golem_id, event=Event(kind, payload), now=clock.now())


def start_and_step(golem: Golem, tool: dict[str, str]) -> None:
    """A call that begins and reaches the second of its four steps."""
    named = {name: tool[name] for name in ("tool_name", "call_id")}
    emit(golem.pk, EventType.TOOL_START, **named, params_hash="0xab", sprite_trigger="THINKING", budget_ms=5_000)
    emit(golem.pk, EventType.TOOL_UPDATE, **tool, step_index=2, total_steps=4)


def change_phase(golem: Golem, before: str, after: str) -> None:
    Golem.objects.filter(pk=golem.pk).update(phase=after)
    told = {"from": before, "to": after, "reason": "low", "is_reset": False}
    emit(golem.pk, EventType.PHASE_TRANSITION, **told)


def wait_for(page: Page, is_true: Callable[[], bool]) -> None:
    """Until it is so; half a minute at most, in which the browser's driver goes on."""
    for _ in range(600):
        if is_true():
            return
        page.wait_for_timeout(50)
    raise AssertionError("it never came to be")


def wait_until_live(page: Page) -> None:
    expect(page.locator("[data-live]")).to_have_attribute("data-state", "live")


def numbers_in_feed(page: Page) -> list[str]:
    """The steps named in the feed, oldest first."""
    return [text for text in page.locator("[data-feed] li span").all_inner_texts()[::-1] if "step" in text]


def test_events_and_progress_appear_without_a_reload(open_page: Callable[..., Visit], golem: Golem) -> None:
    visit = open_page(f"/admin/cockpit/{golem.pk}/")
    wait_until_live(visit.page)
    visit.page.evaluate("window.sameDocument = true")
    tool = {"tool_name": "uniswap_get_quote", "call_id": CALL}
    emit(golem.pk, EventType.TOOL_START, **tool, params_hash="0xab", sprite_trigger="THINKING", budget_ms=5_000)
    emit(golem.pk, EventType.TOOL_UPDATE, **tool, step_name="Asking pools", step_index=2, total_steps=4)
    bar = visit.page.locator(f'[data-call="{CALL}"] [role="progressbar"]')
    expect(bar).to_have_attribute("aria-valuenow", "50")
    expect(visit.page.locator(f'[data-call="{CALL}"] small')).to_have_text("thinking, at most 5 s")
    visit.shoot("cockpit")
    emit(golem.pk, EventType.TOOL_END, **tool, success=True, duration_ms=40)
    expect(bar).to_have_count(0)
    change_phase(golem, "THRIVING", "DEFENSIVE")
    expect(visit.page.locator(".gx-figure", has_text="phase").first).to_contain_text("defensive")
    assert visit.page.evaluate("window.sameDocument") is True
    assert visit.overflow() == 0


def test_what_happens_while_the_page_renews_itself_is_neither_taken_back_nor_missed(
    open_page: Callable[..., Visit], golem: Golem
) -> None:
    page = open_page(f"/admin/cockpit/{golem.pk}/").page
    wait_until_live(page)
    under_way: list[tuple[Route, APIResponse]] = []

    def hold_the_first(route: Route) -> None:
        """The server has answered, and the answer is under way."""
        if under_way:
            route.continue_()
        else:
            under_way.append((route, route.fetch()))

    page.route("**/parts/*", hold_the_first)
    change_phase(golem, "THRIVING", "CAUTIOUS")
    wait_for(page, lambda: bool(under_way))
    ended, running = (
        {"tool_name": "uniswap_get_quote", "call_id": f"{CALL[:-1]}{number}", "step_name": "Asking pools"}
        for number in (1, 2)
    )
    for tool in (ended, running):
        start_and_step(golem, tool)
    emit(golem.pk, EventType.TOOL_END, tool_name="t", call_id=ended["call_id"], success=True, duration_ms=40)
    change_phase(golem, "CAUTIOUS", "DEFENSIVE")
    expect(page.locator("[data-feed] li").first).to_contain_text("DEFENSIVE")
    page.evaluate("document.querySelector('[data-part]').dataset.old = ''")
    [(route, answer)] = under_way
    route.fulfill(response=answer)
    expect(page.locator("[data-part]:not([data-old])")).to_have_count(1)
    calls = page.locator("[data-running] [data-call]").evaluate_all("all => all.map(each => each.dataset.call)")
    assert calls == [running["call_id"]]
    assert page.locator('[data-running] [role="progressbar"]').get_attribute("aria-valuenow") == "50"
    expect(page.locator(".gx-figure", has_text="phase").first).to_contain_text("defensive")


def test_the_feed_calls_addresses_by_their_names_before_and_after_it_loads(
    open_page: Callable[..., Visit], golem: Golem
) -> None:
    friend, stranger = checksum("0xabcd00000000000000000000000000000000ef01"), checksum(f"0x{'5a' * 20}")
    KnownAddress.objects.create(owner=golem.owner, address=friend, name="Treasury")
    words = f"paid {friend} and {stranger}"
    told = f"paid Treasury {friend} and unknown {stranger}"
    emit(golem.pk, EventType.PHASE_TRANSITION, **{"from": "A", "to": "B", "reason": words, "is_reset": False})
    visit = open_page(f"/admin/cockpit/{golem.pk}/")
    lines = visit.page.locator("[data-feed] li span", has_text=told)
    expect(lines).to_have_count(1)
    wait_until_live(visit.page)
    emit(golem.pk, EventType.PHASE_TRANSITION, **{"from": "B", "to": "C", "reason": words, "is_reset": False})
    expect(lines).to_have_count(2)
    assert visit.overflow() == 0


def test_after_a_restart_of_the_server_no_event_is_lost_or_shown_twice(
    open_page: Callable[..., Visit], golem: Golem, server: Server
) -> None:
    visit = open_page(f"/admin/cockpit/{golem.pk}/")
    wait_until_live(visit.page)
    tool = {"tool_name": "t", "call_id": CALL, "total_steps": 9}
    for number in (1, 2):
        emit(golem.pk, EventType.TOOL_UPDATE, **tool, step_name=f"step {number}", step_index=number)
    expect(visit.page.locator("[data-feed]")).to_contain_text("step 2")
    server.stop()
    expect(visit.page.locator("[data-live]")).to_have_attribute("data-state", "away")
    assert "nothing is lost" in visit.page.inner_text("[data-link]")
    for number in (3, 4, 5):
        emit(golem.pk, EventType.TOOL_UPDATE, **tool, step_name=f"step {number}", step_index=number)
    server.start()
    wait_until_live(visit.page)
    emit(golem.pk, EventType.TOOL_UPDATE, **tool, step_name="step 6", step_index=6)
    expect(visit.page.locator("[data-feed]")).to_contain_text("step 6")
    assert numbers_in_feed(visit.page) == [f"t · step {number}" for number in range(1, 7)]


def test_a_page_that_comes_back_after_its_place_was_forgotten_says_so_and_goes_on(
    open_page: Callable[..., Visit], golem: Golem, server: Server
) -> None:
    visit = open_page(f"/admin/cockpit/{golem.pk}/")
    wait_until_live(visit.page)
    tool = {"tool_name": "t", "call_id": CALL, "total_steps": 9}
    emit(golem.pk, EventType.TOOL_UPDATE, **tool, step_name="step 1", step_index=1)
    expect(visit.page.locator("[data-feed]")).to_contain_text("step 1")
    server.stop()
    for number in (2, 3):
        emit(golem.pk, EventType.TOOL_UPDATE, **tool, step_name=f"step {number}", step_index=number)
    event_log.forget_until(2)
    server.start()
    expect(visit.page.locator("[data-gap]")).to_contain_text("no longer kept")
    expect(visit.page.locator("[data-feed]")).to_contain_text("step 3")
    assert numbers_in_feed(visit.page) == ["t · step 1", "t · step 3"]


def test_the_fleet_fits_a_phone_and_leads_to_the_cockpit_by_keyboard(
    open_page: Callable[..., Visit], golem: Golem
) -> None:
    visit = open_page("/admin/cockpit/", viewport=PHONE)
    wait_until_live(visit.page)
    visit.shoot("fleet-phone")
    assert visit.overflow() == 0
    link = visit.page.get_by_role("link", name="Watched")
    link.focus()
    visit.page.keyboard.press("Enter")
    visit.page.wait_for_url(f"**/admin/cockpit/{golem.pk}/")
    visit.shoot("cockpit-phone")
    assert visit.overflow() == 0


def test_without_a_script_the_page_is_whole_and_renews_itself(open_page: Callable[..., Visit], golem: Golem) -> None:
    emit(golem.pk, EventType.TOOL_ERROR, tool_name="t", error_code="RPC_UNAVAILABLE", error_message="away")
    visit = open_page(f"/admin/cockpit/{golem.pk}/", has_javascript=False)
    text = visit.page.inner_text("#content")
    assert "RPC_UNAVAILABLE" in text and "Spent and reserved in 24 h" in text
    assert visit.page.locator('meta[http-equiv="refresh"]').get_attribute("content") == "30"
