"""How high each page is on a phone: what an owner opens in a day and each page of a row, none above HIGHEST_PX.

Lists are records and as long as what happened; guides are texts to read. The run writes what it measured to
`var/screenshots/journeys/heights.json`, highest first, with the time from the request to the end of the load event on
the machine that ran it. How long the server takes is the bench's to judge (`tests/bench/pages.py`).
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from typing import Any, Final

import pytest
from django.contrib.auth import get_user_model

from tests import factories
from tests.admin.owner_day import MOST, add_rows, name_rows
from tests.admin.rows import MAKERS, form_page, page
from tests.browser.conftest import PHONE, SCREENSHOTS, Visit
from tests.browser.owners import House, make_house

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True), pytest.mark.timeout(900)]
HIGHEST_PX: Final = 2_500
WRITTEN: Final = SCREENSHOTS / "journeys" / "heights.json"
TO_READ: Final = ("/admin/help/",)
"""Guides, which are texts and no pages of the product's own."""
PLACES: Final = (
    "/admin/chat/{golem}/",
    "/admin/permits_app/changerequest/{request}/short/",
    "/admin/services/",
    "/admin/sign-in-agent/",
    "/admin/cockpit/{golem}/risks/",
    "/admin/archetypes_app/golem/{golem}/withdraw/",
    "/admin/archetypes_app/golem/{golem}/grant/",
    "/admin/archetypes_app/golem/{golem}/payment-hosts/",
    "/admin/archetypes_app/golem/{golem}/definitions/",
    "/admin/archetypes_app/golem/{golem}/end/",
    "/admin/archetypes_app/golem/{golem}/phase/",
    "/admin/archetypes_app/golem/{golem}/on-halt/",
    "/admin/archetypes_app/golem/{golem}/set-up/funds/",
)
"""Of our own, beside those of `owner_day`."""
LONGER: Final[dict[str, str]] = {}
"""Pages that are higher, each with the reason."""
_TIMES = "() => { const seen = performance.getEntriesByType('navigation')[0]; return Math.round(seen.loadEventEnd); }"


@pytest.fixture
def house(transactional_db: None) -> House:
    """An owner with three golems, each with what is set and what happened."""
    found = make_house()
    add_rows(found.owner, found.golem, 2)
    return found


def list_paths(house: House) -> Iterator[str]:
    """Each page of an owner's day that is no list, and the page of a row of each model an owner sees."""
    fill = name_rows(house.golem)
    lists = {page(model, "changelist") for model in MAKERS}
    for path in (*MOST, *PLACES):
        if path not in lists and not path.startswith(TO_READ):
            yield fill(path)
    for model, make in MAKERS.items():
        # Some have one row a golem.
        yield form_page(model, make(factories.make_golem(owner=house.owner, name=f"Of {model}")).pk)


def measure(visit: Visit, path: str) -> dict[str, Any]:
    shown = visit.open(path)
    return {
        "path": path,
        "height": shown.evaluate("document.documentElement.scrollHeight"),
        "wider_by": visit.overflow(),
        "milliseconds": shown.evaluate(_TIMES),
    }


def test_no_page_but_records_is_higher_on_a_phone_than_three_screens(
    open_window: Callable[..., Visit], house: House
) -> None:
    assert get_user_model().objects.filter(pk=house.owner.pk, is_superuser=False).exists()
    visit = open_window(viewport=PHONE)
    visit.log_in(house.owner.username)
    measured = []
    for path in list_paths(house):
        measured.append(measure(visit, path))
        # What a page's own policy refuses is judged by `test_page_headers`; here heights are.
        visit.violations.clear()
        if measured[-1]["height"] > HIGHEST_PX or measured[-1]["wider_by"]:
            visit.shoot(f"high-{path.strip('/').replace('/', '_')[:90]}")
    measured.sort(key=lambda each: -int(each["height"]))
    WRITTEN.parent.mkdir(parents=True, exist_ok=True)
    WRITTEN.write_text(json.dumps(measured, indent=1) + "\n", encoding="utf-8")
    assert len(measured) > 80
    high = {each["path"]: each["height"] for each in measured if each["height"] > HIGHEST_PX}
    assert {path: height for path, height in high.items() if not any(words in path for words in LONGER)} == {}
    assert {each["path"]: each["wider_by"] for each in measured if each["wider_by"]} == {}
