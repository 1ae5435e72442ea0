"""Ages and times to come on a page go on while it is open."""

from __future__ import annotations

import re
from typing import Any

import pytest
from playwright.sync_api import expect

from archetypes_app.owner_group import ensure_owner_group
from tests import factories
from tests.factories.golems import PASSWORD

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]


def test_a_request_that_is_due_counts_down_and_an_age_grows(open_window: Any, settings: Any) -> None:
    settings.GOLEM_APPROVAL_HOURS = 75 / 3_600
    owner = factories.make_owner(name="ana", password=PASSWORD)
    owner.groups.add(ensure_owner_group())
    request = factories.make_change_request(golem=factories.make_golem(owner=owner, name="Alpha"))
    ends = request.deadline_at
    visit = open_window()
    visit.log_in("ana")
    page = visit.open("/admin/permits_app/changerequest/inbox/")
    due = page.locator(f'time[datetime="{ends.isoformat()}"]').first
    first = due.inner_text()
    expect(due).to_have_text(re.compile(r"^in \d+ s$"), timeout=60_000)
    told = due.inner_text()
    expect(due).not_to_have_text(told)
    assert first != due.inner_text()
