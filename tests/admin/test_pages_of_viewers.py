"""Every page there is, as a viewer opens it: nothing they cannot do, no raw field, and what is not out of a golem."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import timedelta
from html import unescape
from typing import Any, Final
from urllib.parse import urljoin, urlsplit

import pytest
from django.test import Client
from django.urls import Resolver404, resolve

from archetypes_app.models import Golem, GolemMember
from archetypes_app.roles import Role
from permits_app.halts.deaths import announce_death
from permits_app.models import Death, HaltRecord
from permits_app.models.death import DeathState
from permits_app.pages.death_lines import describe_death
from permits_app.pages.leftover_dust_lines import MOST_GOLEMS, TOLD_FOR, list_left_lines
from tests import factories
from tests.admin.members import golem as golem
from tests.admin.members import log_in, make_member
from tests.admin.rows import MAKERS
from tests.admin.test_roles import _MADE_ALREADY, _OWN_ACCOUNT, fill, list_pages
from tools_app.core import clock

pytestmark = pytest.mark.django_db

_RAW: Final = re.compile(r"\w+_(?:micro_usd|bps|wei)\b|\bmicro usd\b|\b\d+ bps\b", re.IGNORECASE)
_HIDDEN: Final = re.compile(r"<(script|style|template|head)\b.*?</\1>", re.DOTALL | re.IGNORECASE)
_FORM: Final = re.compile(r"<form\b([^>]*)>(.*?)</form>", re.DOTALL | re.IGNORECASE)
_SUBMIT: Final = re.compile(
    r"""<button\b(?![^>]*type=["'](?:button|reset))|<input\b[^>]*type=["']submit""", re.IGNORECASE
)
_LINK: Final = re.compile(r"""<a\b[^>]*\bhref=["']([^"'#][^"']*)["']""", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Seen:
    """One page as somebody saw it."""

    name: str
    url: str
    text: str

    @property
    def words(self) -> str:
        return " ".join(unescape(re.sub(r"<[^>]+>", " ", _HIDDEN.sub(" ", self.text))).split())

    def list_posts(self) -> Iterator[str]:
        """The paths that its forms post to, of those that can be sent."""
        for attributes, inside in _FORM.findall(_HIDDEN.sub(" ", self.text)):
            if re.search(r"""method=["']?post""", attributes, re.IGNORECASE) and _SUBMIT.search(inside):
                action = re.search(r"""\saction=["']([^"']*)["']""", attributes)
                yield urlsplit(urljoin(self.url, unescape(action.group(1)) if action else "")).path

    def list_links(self) -> Iterator[str]:
        for href in _LINK.findall(_HIDDEN.sub(" ", self.text)):
            target = urlsplit(urljoin(self.url, unescape(href)))
            if not target.netloc and target.path.startswith("/admin/"):
                yield target.path + (f"?{target.query}" if target.query else "")


def open_all(browser: Client, rows: dict[str, Any], golem: Golem) -> list[Seen]:
    """Every page of the product that opens with a row of each kind."""
    seen = []
    for name, route in list_pages():
        url = fill(name, route, rows, golem)
        if url is None:
            continue
        answer = browser.get(url)
        if answer.status_code == 200 and answer.headers["Content-Type"].startswith("text/html"):
            text = answer.content.decode()
            # What is no whole page is put into one.
            seen += [Seen(name, url, text)] if "<html" in text else []
    return seen


def make_rows(golem: Golem, person: Any) -> dict[str, Any]:
    """A row of each kind, of golems that the person may look at."""
    kinds = [label for label in MAKERS if label not in _MADE_ALREADY]
    owned = {label: factories.make_golem(owner=factories.make_owner(name=label), name=label) for label in kinds}
    rows = {label: MAKERS[label](owned[label]) for label in kinds}
    for each in owned.values():
        GolemMember.objects.create(golem=each, person=person, role=Role.VIEWER.value, since=clock.now())
    rows |= {"archetypes_app.golem": golem, "permits_app.spendinglimits": golem.spending_limits}
    return {**rows, "permits_app.policycage": golem.policy_cage}


# Alerts to this person, an agent they sign in, the budget over golems of their own, and names for what they filter by.
_OWN: Final = (*_OWN_ACCOUNT, "alerts", "sign_in_agent", "permits_app_ownerbudget_mine")
_FILTERS: Final = ("_keep_filter", "_remove_filter")


def is_own(path: str) -> bool:
    """Whether a form there is about the person's own account."""
    try:
        name = resolve(path).url_name or ""
    except Resolver404:
        return False
    return name in _OWN or name.endswith(_FILTERS)


@pytest.mark.slow
@pytest.mark.timeout(900)
def test_no_page_shows_a_viewer_what_they_cannot_do_nor_a_raw_field(golem: Golem) -> None:
    viewer = make_member(golem, Role.VIEWER, name="vera")
    browser = log_in(viewer)
    pages = open_all(browser, make_rows(golem, viewer), golem)
    assert len(pages) > 100
    posts = {(page.name, path) for page in pages for path in page.list_posts() if not is_own(path)}
    raw = {(page.name, found) for page in pages for found in _RAW.findall(page.words)}
    named: dict[str, str] = {}
    browser.raise_request_exception = False
    for page in pages:
        for link in page.list_links():
            named.setdefault(link, page.name)
    dead = {(page, link) for link, page in named.items() if browser.get(link).status_code in (403, 404, 500)}
    assert (sorted(posts), sorted(raw), sorted(dead)) == ([], [], [])


DUST: Final = {
    "position": "aave_v3/account/31337/0x1",
    "venue": "aave_v3",
    "label": "Account at Aave V3",
    "next": "its owner",
    "why": "no DAI is held to pay it",
    "holds": "0.00045 DAI owed",
}


def test_what_is_left_of_a_golem_that_is_taken_out_stands_under_needs_you_of_every_page(golem: Golem) -> None:
    now = clock.now()
    announce_death(golem=golem, reason="enough", actor="owner:1", due_at=now, now=now)
    Death.objects.filter(golem=golem).update(state=DeathState.UNDER_WAY, left=[DUST])
    Golem.objects.filter(pk=golem.pk).update(halted_at=now, halt_epoch=1)
    viewer = make_member(golem, Role.VIEWER, name="vera")
    stranger = make_member(
        factories.make_golem(owner=factories.make_owner(name="bo"), name="B"), Role.VIEWER, name="cy"
    )
    rows = make_rows(golem, golem.owner)
    told, why = "0.00045 DAI owed in Account at Aave V3", "only you can take it out: no DAI is held to pay it"
    golem.owner.refresh_from_db()
    for person in (golem.owner, viewer):
        pages = open_all(log_in(person), rows, golem)
        assert len(pages) > 60
        for page in pages:
            # The first page has a card of its own for what needs somebody.
            place = 'id="needs"' if page.name == "index" else 'id="left"'
            text = page.text.partition(place)[2].partition("</section>")[0]
            assert "Needs you" in text and "Golem of Ana" in text, page.name
            assert told in text and why in text and "<form" not in text and "<button" not in text, page.name
    assert all("Needs you Golem" not in page.words for page in open_all(log_in(stranger), {}, golem))


def test_a_stop_that_needs_its_owner_says_so_too_and_what_is_out_says_nothing(golem: Golem) -> None:
    halt = factories.make_halt(golem=golem)
    stuck = {"venue": "aave_v3", "label": "Account", "outcome": "its owner is needed", "reason": "it may not sell"}
    out = {"venue": "aave_v3", "label": "Shares", "outcome": "COMMITTED"}
    steps = [{"step": "positions unwound", "positions": [stuck, out]}]
    HaltRecord.objects.filter(pk=halt.pk).update(steps=steps)
    Golem.objects.filter(pk=golem.pk).update(halted_at=clock.now(), halt_epoch=halt.epoch)
    [page] = [page for page in open_all(log_in(golem.owner), {}, golem) if page.name == "index"]
    assert "Account at Aave V3" in page.words and "only you can take it out: it may not sell" in page.words
    assert "Shares" not in page.words


def test_dust_that_a_stop_left_is_named_with_how_much_and_why(golem: Golem) -> None:
    halt = factories.make_halt(golem=golem)
    interest = {
        "venue": "pendle",
        "label": "Pendle claims",
        "outcome": "COMMITTED",
        "stays": "0.000003 USDC",
        "why_it_stays": "so little that its way out does not take it, or costs more than it brings",
    }
    token = {"token": "DAI", "token_address": "0x1", "units": "0.3 DAI", "outcome": "stays", "reason": "below a dollar"}
    sold = {"token": "WETH", "token_address": "0x2", "units": "1 WETH", "outcome": "COMMITTED", "reason": "exchanged"}
    steps = [
        {"step": "positions unwound", "positions": [interest]},
        {"step": "exchanged for the base asset", "exchanges": [token, sold]},
    ]
    HaltRecord.objects.filter(pk=halt.pk).update(steps=steps)
    Golem.objects.filter(pk=golem.pk).update(halted_at=clock.now(), halt_epoch=halt.epoch)
    [page] = [page for page in open_all(log_in(golem.owner), {}, golem) if page.name == "index"]
    assert "0.000003 USDC in Pendle claims at Pendle" in page.words
    assert "it stays: so little that its way out does not take it, or costs more than it brings" in page.words
    assert "0.3 DAI in its wallet" in page.words and "it stays: below a dollar" in page.words
    assert "1 WETH" not in page.words


def test_dust_of_a_golem_that_was_retired_is_named_for_a_week(golem: Golem) -> None:
    now = clock.now()
    announce_death(golem=golem, reason="enough", actor="owner:1", due_at=now, now=now)
    dust = {**DUST, "next": "it stays", "why": "so little", "holds": "0.000003 USDC"}
    Death.objects.filter(golem=golem).update(state=DeathState.RETIRED, ended_at=now, left=[dust])
    Golem.objects.filter(pk=golem.pk).update(halted_at=now, halt_epoch=1, retired_at=now)
    for later, told in ((timedelta(0), 1), (TOLD_FOR - timedelta(seconds=1), 1), (TOLD_FOR, 0)):
        lines = list_left_lines(Golem.objects.all(), now=now + later)
        assert [(line.what, line.why) for line in lines] == [
            ("0.000003 USDC in Account at Aave V3 at Aave V3", "it stays: so little")
        ] * told, later
    assert "It left 0.000003 USDC" in describe_death(Golem.objects.get(pk=golem.pk), now=now)


def test_what_is_left_of_five_golems_is_told_and_of_a_sixth_not(golem: Golem) -> None:
    now = clock.now()
    for number in range(MOST_GOLEMS + 1):
        each = factories.make_golem(owner=golem.owner, name=f"ending {number}")
        announce_death(golem=each, reason="enough", actor="owner:1", due_at=now, now=now)
        Golem.objects.filter(pk=each.pk).update(halted_at=now + timedelta(seconds=number))
    Death.objects.update(state=DeathState.UNDER_WAY, left=[DUST])
    told = [line.golem_name for line in list_left_lines(Golem.objects.all(), now=now)]
    assert told == [f"ending {number}" for number in range(MOST_GOLEMS, 0, -1)]
