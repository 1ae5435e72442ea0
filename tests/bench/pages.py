"""The pages of an owner's day over HTTP, with a day's rows behind them and all of the product's processes running.

The time of a page is what a browser waits for its document; the processor time beside it holds on a busy machine too.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import closing
from datetime import timedelta
from uuid import uuid4

import httpx

from archetypes_app.models import Golem, Heartbeat
from archetypes_app.owner_group import ensure_owner_group
from golem_project.demo.seed import CHAIN_ID
from golem_project.embedded.product_process_plans import WEB_HOST
from permits_app.models import NavSnapshot
from tests import factories
from tests.admin.owner_day import MOST, Fill, add_rows, name_rows
from tests.bench.everything import Everything, run_everything
from tests.bench.figures import Figure, measure, percentile, time_calls
from tests.factories.golems import PASSWORD
from tools_app.core import clock

_PROMISED_MS = 1_000
_LOOKS = 20
_GOLEMS = 12
_DEEP = 200
_DAYS = 30
_USD = 10**6


@measure("pages")
def measure_pages() -> Iterator[Figure]:
    """Each page, 95th percentile; and the slowest of all."""
    username, fill = make_day()
    with run_everything() as running, closing(log_in(running.port, username)) as browser:
        found = [_measure(running, browser, path, fill) for path in MOST]
    yield from sorted(found, key=lambda each: -each.value)
    yield Figure(
        "pages.slowest",
        f"the slowest of {len(found)} pages, 95th percentile",
        max(each.value for each in found),
        "ms",
        target=_PROMISED_MS,
        reference=max(found, key=lambda each: each.value).id,
    )


def make_day() -> tuple[str, Fill]:
    """An owner of a dozen golems, one of which acted for a month; their name, and what fills the addresses."""
    owner = factories.make_owner(name=f"owner-{uuid4().hex[:8]}")
    owner.groups.add(ensure_owner_group())
    golem = factories.make_golem(owner=owner, name="First")
    factories.make_wallet(golem=golem)
    factories.make_limits(golem=golem)
    factories.make_cage_mirror(golem=golem)
    Heartbeat.objects.create(golem=golem, is_on=False)
    add_rows(owner, golem, _GOLEMS)
    deepen(golem)
    return str(owner.get_username()), name_rows(golem)


def deepen(golem: Golem) -> None:
    """A month of it: permits that went the whole way, what it remembers, what it was worth each hour."""
    now = clock.now()
    for number in range(1, 1 + _DEEP):
        factories.make_committed_permit(golem=golem, now=now - timedelta(hours=number), first_nonce=2 * number)
        factories.make_insight(golem=golem, text=f"Gas is cheap in hour {number}")
    parts = {"price": str(_USD), "fees_and_interest": str(_USD), "gas": str(-_USD), "slippage": "0", "moved": "0"}
    NavSnapshot.objects.bulk_create(
        NavSnapshot(
            golem=golem,
            at=now - timedelta(hours=number),
            chain_id=CHAIN_ID,
            block_number=10_000_000 - number,
            value_micro_usd=(20_000 + number % 97) * _USD,
            parts=parts,
        )
        for number in range(24 * _DAYS)
    )


def log_in(port: int, username: str) -> httpx.Client:
    """A browser of that person, through the login page."""
    browser = httpx.Client(base_url=f"http://{WEB_HOST}:{port}", timeout=60)
    found = re.search(r'name="csrfmiddlewaretoken" value="(\w+)"', browser.get("/admin/login/").text)
    assert found is not None
    given = {"username": username, "password": PASSWORD, "csrfmiddlewaretoken": found[1], "next": "/admin/"}
    answer = browser.post("/admin/login/", data=given)
    assert answer.status_code == 302, answer.text

    return browser


def _measure(running: Everything, browser: httpx.Client, path: str, fill: Fill) -> Figure:
    address = fill(path)

    def look() -> None:
        answer = browser.get(address)
        assert answer.status_code == 200, (path, answer.status_code)

    time_calls(look, count=1, warm_up=2)
    before = running.processor_ms()
    times = time_calls(look, count=_LOOKS, warm_up=0)
    after = running.processor_ms()
    spent = {name: (after[name] - before[name]) / _LOOKS for name in ("web", "postgres")}
    told = ", ".join(f"{name} {each:.0f}" for name, each in spent.items())
    return Figure(
        f"pages.{name_page(path)}.p95",
        path,
        percentile(times, 95),
        "ms",
        target=_PROMISED_MS,
        reference=f"median {percentile(times, 50):.0f} ms; processor ms of each: {told}",
    )


def name_page(path: str) -> str:
    """Words of an address: `archetypes_app-golem-change`; `first` for the first page."""
    words = [word for word in re.split(r"[/?=&]", path.removeprefix("/admin/")) if word and not word.startswith("{")]
    return "-".join(words) or "first"
