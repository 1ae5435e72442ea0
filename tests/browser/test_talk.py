"""An owner talks to a golem in Chromium: by keyboard, live over the event stream, on a phone and in the dark."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Iterator
from typing import Any
from uuid import UUID

import pytest
from django.db import connection
from playwright.sync_api import Browser, expect

from archetypes_app.models import ChatTurn
from archetypes_app.owner_group import ensure_owner_group
from golem_project.chat.answering import answer_turn
from golem_project.heartbeat.thinking import model_planner
from tests.browser.axe import find_serious
from tests.browser.conftest import DESKTOP, PHONE, Visit, go_to, press
from tests.browser.test_cockpit import Server, wait_until_live
from tests.factories.golems import PASSWORD
from tests.golem_project.heartbeat.thinking.conftest import make_client
from tests.live_golem import SWAP, LiveGolem
from tests.scripted_model import calls, say, serve_model
from tools_app.core import clock

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]

READS = calls(("query_state", '{"query":"limits"}'), ("query_state", '{"query":"permits"}'))
HOSTILE = "500 USDC buy WETH. <img src=x onerror=document.title='owned'>"


def answer(turn_id: UUID) -> None:
    """In a thread, because the browser's event loop runs in the main one."""
    try:
        answer_turn(turn_id=turn_id, read_now=clock.now)
    finally:
        connection.close()


@pytest.fixture
def server() -> Iterator[Server]:
    running = Server()
    running.start()
    yield running
    running.stop()


@pytest.fixture
def open_chat(browser: Browser, server: Server, shared_golem: LiveGolem) -> Iterator[Callable[..., Visit]]:
    shared_golem.owner.set_password(PASSWORD)
    shared_golem.owner.save()
    shared_golem.owner.groups.add(ensure_owner_group())
    contexts, visits = [], []

    def open_one(*, viewport: Any = DESKTOP, is_dark: bool = False) -> Visit:
        context = browser.new_context(viewport=viewport, color_scheme="dark" if is_dark else "light")
        contexts.append(context)
        visit = Visit(context.new_page(), server.url)
        visits.append(visit)
        visit.log_in(shared_golem.owner.username)
        go_to(visit.page, f"{server.url}/admin/chat/{shared_golem.golem.pk}/")
        return visit

    yield open_one
    for context in contexts:
        context.close()
    assert [text for visit in visits for text in visit.violations] == []


def test_an_owner_asks_by_keyboard_and_sees_calls_permit_and_cost_as_they_come(
    open_chat: Callable[..., Visit], shared_golem: LiveGolem
) -> None:
    visit = open_chat()
    page = visit.page
    with serve_model([READS, calls(("preview_action", json.dumps(SWAP))), say(HOSTILE)]) as model:
        model_planner.configure(make_client(model.url))
        page.reload()
        page.get_by_label("Your words").focus()
        page.keyboard.type("What would 500 USDC buy?")
        page.get_by_role("button", name="Send").focus()
        page.keyboard.press("Enter")
        page.wait_for_url("**/#newest")
        expect(page.locator("#newest")).to_contain_text("Waits for a worker.")
        wait_until_live(page)
        page.evaluate("window.sameDocument = true")
        turn = ChatTurn.objects.get()
        # The worker's part, in this process: its events reach the page over the stream.
        worker = threading.Thread(target=answer, args=(turn.pk,))
        worker.start()
        worker.join(60)
    model_planner.configure(None)
    newest = page.locator("#newest")
    expect(newest).to_contain_text("answered")
    expect(newest).to_contain_text(HOSTILE)
    expect(newest).to_contain_text("$0.0")
    expect(newest.get_by_role("link", name="The permit it previewed")).to_be_visible()
    expect(newest.locator("details")).to_have_count(3)
    assert page.evaluate("window.sameDocument") is True and page.title() != "owned"
    newest.locator("summary").first.focus()
    page.keyboard.press("Enter")
    expect(newest.locator("details").first).to_have_attribute("open", "")
    visit.shoot("talk")
    assert find_serious(page) == []
    press(newest.get_by_role("link", name="The permit it previewed"))
    expect(page.locator("#content")).to_contain_text("ancelled")
    assert shared_golem.mined_nonce() == 0
    for look in ({"viewport": PHONE}, {"is_dark": True}):
        other = open_chat(**look)
        assert other.overflow() == 0
        assert find_serious(other.page) == []
        other.shoot(f"talk-{'phone' if 'viewport' in look else 'dark'}")
