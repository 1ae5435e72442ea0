"""The owner's pages of the A2A door in a real browser: tasks of other agents, and reads opened to strangers."""

from __future__ import annotations

from typing import Any

import pytest
from playwright.sync_api import expect

from golem_project.a2a.models import OpenedRead, TaskState
from tests import factories
from tests.browser.conftest import press
from tests.live_golem import LiveGolem

pytestmark = pytest.mark.browser


def test_the_pages_of_the_a2a_door_load_without_errors_in_the_console(open_window: Any, demo: LiveGolem) -> None:
    task = factories.make_a2a_task(golem=demo.golem, state=TaskState.INPUT_REQUIRED)
    visit = open_window()
    complaints: list[str] = []
    visit.page.on("console", lambda message: complaints.append(message.text) if message.type == "error" else None)
    visit.page.on("pageerror", lambda error: complaints.append(str(error)))
    visit.log_in(demo.owner.username)
    listed = visit.open("/admin/a2a/task/")
    expect(listed.get_by_text("waits for owners").first).to_be_visible()
    told = visit.open(f"/admin/a2a/task/{task.pk}/change/")
    expect(told.get_by_text("query_state").first).to_be_visible()
    form = visit.open("/admin/a2a/openedread/add/")
    form.select_option("select[name=golem]", str(demo.golem.pk))
    form.fill("[name=query]", "limits")
    form.fill("[name=venue]", "golem")
    press(form.get_by_role("button", name="Save", exact=True))
    expect(visit.open("/admin/a2a/openedread/").get_by_text("limits").first).to_be_visible()
    assert OpenedRead.objects.get().golem_id == demo.golem.pk
    assert complaints == []
    assert visit.violations == []
