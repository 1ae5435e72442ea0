"""Whose rows every page of the admin shows, in each of its queries, and in which order every list shows them.

Two owners stand side by side, and of one of them three golems; each has a row of every model. A page is found in the
resolver of addresses and a list in the admin's registry, so that what is added tomorrow is asked tomorrow. What a page
shows of whom is told by texts that one golem's rows have and no other row: names, keys, hashes, notes.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from datetime import datetime, timedelta
from typing import Any, Final
from uuid import UUID

import pytest
from django.apps import apps
from django.contrib import admin
from django.utils import timezone

from archetypes_app.models import Golem
from archetypes_app.owner_group import ensure_owner_group
from archetypes_app.roles import Role
from permits_app.models import Announcement
from permits_app.models.permit import PermitStatus
from tests import factories
from tests.admin.members import log_in, make_member
from tests.admin.rows import MAKERS, SEEN_BY_OPERATORS_ALONE, page
from tests.admin.rows_beside import BESIDE, PERSONAL, SAYS_NOTHING
from tests.admin.test_roles import fill, list_pages
from tests.architecture.sources import ROOT
from tests.permits_app.approvals.people import give_device
from tools_app.core import clock

pytestmark = pytest.mark.django_db
NEWEST, OF_GOLEMS, OF_NAMES, LAST_KEPT = "newest first", "by the golem's name", "by its own name", "last kept first"
OF_PERSONS: Final = "by the person's name"
ONE_OF_A_PERSON: Final = frozenset({"permits_app.ownerbudget"})
"""Of which nobody has a second row: `test_owner_budget_page` asks in which order operators read theirs."""
ORDERS: Final[dict[str, str]] = {
    **dict.fromkeys(
        [
            "archetypes_app.codingworkspace",
            "archetypes_app.golem",
            "archetypes_app.heartbeat",
            "archetypes_app.vitalityrecord",
            "permits_app.allowlistentry",
            "permits_app.cagemirror",
            "permits_app.declaredpeg",
            "permits_app.haltsetting",
            "permits_app.policycage",
            "permits_app.signingkey",
            "permits_app.spendinglimits",
            "permits_app.wallet",
        ],
        OF_GOLEMS,
    ),
    **dict.fromkeys(
        [
            "archetypes_app.archetype",
            "archetypes_app.toolprofile",
            "permits_app.knownaddress",
            "tools_app.tooldefinition",
        ],
        OF_NAMES,
    ),
    "permits_app.noncereservation": LAST_KEPT,
    "tools_app.auditcheckpoint": LAST_KEPT,
    "tools_app.auditentry": LAST_KEPT,
    "permits_app.ownerbudget": OF_PERSONS,
    **dict.fromkeys(
        [
            "a2a.openedread",
            "a2a.task",
            "archetypes_app.alertbatch",
            "archetypes_app.apikey",
            "archetypes_app.artifact",
            "archetypes_app.decisioncyclerecord",
            "archetypes_app.definitionapproval",
            "archetypes_app.heartbeattick",
            "archetypes_app.modelspendday",
            "archetypes_app.phasetransition",
            "memory_app.directive",
            "memory_app.dreamjournal",
            "memory_app.episode",
            "memory_app.execution",
            "memory_app.insight",
            "memory_app.strategy",
            "permits_app.actionpermit",
            "permits_app.actionrecord",
            "permits_app.capabilitygrant",
            "permits_app.changerequest",
            "permits_app.haltrecord",
            "permits_app.highwatermark",
            "permits_app.idempotencyrecord",
            "permits_app.outboundtransaction",
            "permits_app.outcomerecord",
            "permits_app.pendingrequest",
            "permits_app.receivedright",
            "permits_app.rightuse",
            "permits_app.safeopening",
            "permits_app.signedpromise",
            "permits_app.spendentry",
            "permits_app.standingplan",
            "permits_app.standingallowance",
            "permits_app.venuetrust",
            "stream.webhookdelivery",
            "stream.webhookendpoint",
            "tools_app.outboxevent",
            "tools_app.wasmrun",
        ],
        NEWEST,
    ),
}
"""In which order a list is read where nobody chose another; each model's list has its line."""
HOURS: Final = {"Zeta": 48, "Alpha": 96, "Mid": 24, "Nil": 72}
"""When each golem's rows were made, in the order in which they are made; names stand in another order than times."""
# A shorter text stands on a page by chance.
_LEAST_LETTERS: Final = 9
_NOT_A_PAGE: Final = {
    "logout": "it ends the session of who looks",
    "jsi18n": "texts of the theme",
    "autocomplete": "it answers a chooser, and test_owner_scope asks it",
    "view_on_site": "nothing here has a page of its own outside",
    "": "it sends on to the page of a row",
    "app_list": "the first page shows the same",
}
_OFFERS_GOLEMS: Final = {
    "cockpit": "it names the accounts of the owner's other golems, and addresses by the owner's book",
    "tools_app_tooldefinition_approve": "it asks for which golem",
    "tools_app_tooldefinition_try_out": "it asks for which golem",
    "archetypes_app_archetype_change": "it offers what the owner made",
    "archetypes_app_golem_settings": "it offers what the owner made",
    "permits_app_ownerbudget_change": "it is about a person, and names all of their golems",
}
_OF_NOBODY: Final = {
    "help": "a guide",
    "archetypes_app_archetype_remove_filter": "a filter is its person's, whatever the list",
}


def set_clock(patch: pytest.MonkeyPatch, at: datetime) -> None:
    """The product's clock, and the one that fills columns by themselves."""
    patch.setattr(clock, "now", lambda: at)
    patch.setattr(timezone, "now", lambda: at)


def make_person(name: str) -> Any:
    person = factories.make_owner(name=name)
    person.groups.add(ensure_owner_group())
    give_device(person)
    return person


@pytest.mark.parametrize("model", sorted(set(MAKERS) - ONE_OF_A_PERSON))
def test_a_list_shows_ones_own_rows_in_the_order_that_is_written_down(
    model: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    ana, ben, root = make_person("ana"), make_person("ben"), factories.make_operator()
    now, made = clock.now(), {}
    for name, hours in HOURS.items():
        set_clock(monkeypatch, now - timedelta(days=5) + timedelta(hours=hours))
        made[name] = MAKERS[model](factories.make_golem(owner=ben if name == "Nil" else ana, name=name))
    set_clock(monkeypatch, now)
    by: dict[str, Callable[[str], Any]] = {
        NEWEST: lambda name: -HOURS[name],
        OF_GOLEMS: lambda name: name,
        OF_NAMES: lambda name: made[name].name,
        LAST_KEPT: lambda name: -list(HOURS).index(name),
    }
    names = {row.pk: name for name, row in made.items()}
    for person, seen in ((ana, {"Zeta", "Alpha", "Mid"}), (ben, {"Nil"}), (root, set(HOURS))):
        answer = log_in(person).get(page(model, "changelist"))
        shown = [names[row.pk] for row in answer.context["cl"].result_list if row.pk in names]
        assert set(shown) == seen, person.username
        keys = [by[ORDERS[model]](name) for name in shown]
        assert keys == sorted(keys), (person.username, shown)
        text = answer.content.decode()
        places = [text.find(page(model, "change", made[name].pk)) for name in shown]
        assert places == sorted(places) and -1 not in places, "the page shows them as they are listed"
        assert not [name for name in set(HOURS) - seen if page(model, "change", made[name].pk) in text]


def test_every_list_of_the_admin_has_an_order_of_its_own_and_its_line_here() -> None:
    ours = {"tools_app", "archetypes_app", "memory_app", "permits_app", "stream", "a2a"}
    registered = {model._meta.label_lower: each for model, each in admin.site._registry.items()}
    lists = {label for label in registered if label.partition(".")[0] in ours}
    assert lists == set(ORDERS) | {label for label in SEEN_BY_OPERATORS_ALONE if label.partition(".")[0] in ours}
    unordered = [label for label in lists if not (registered[label].ordering or registered[label].model._meta.ordering)]
    assert unordered == [], "without one the database's keys decide, and they are drawn by chance"


def test_every_model_that_belongs_to_a_golem_or_a_person_has_a_row_to_be_looked_for() -> None:
    whose = {"golem", "golem_id", "owner", "person"}
    of_somebody = {
        model._meta.label_lower
        for model in apps.get_models()
        if model._meta.managed and whose & {field.name for field in model._meta.fields}
        if model.__module__.partition(".")[0] in {path.name for path in ROOT.glob("*_*") if path.is_dir()}
    }
    assert sorted(of_somebody - MAKERS.keys() - BESIDE.keys() - PERSONAL.keys() - SAYS_NOTHING.keys()) == []
    assert sorted((BESIDE.keys() | PERSONAL.keys() | SAYS_NOTHING.keys()) - of_somebody) == [], "it is gone"


class Side:
    """A golem of Ana, another one of hers, and one of Ben, each with a row of every model; and whose text is whose."""

    def __init__(self) -> None:
        self.ana, self.ben = make_person("ana-anabel-9"), make_person("ben-benedikt-9")
        self.mine, self.rows = self._fill("Zeta of Ana-9", self.ana)
        for make in PERSONAL.values():
            make(self.ana)
        known = read_texts()
        self.beside, self.rows_beside = self._fill("Alpha of Ana-9", self.ana)
        self.of_beside = read_texts() - known
        known = read_texts()
        self.theirs, self.their_rows = self._fill("Golem of Ben-9", self.ben)
        for make in PERSONAL.values():
            make(self.ben)
        self.of_theirs = (read_texts() - known) | {"ben-benedikt-9"}

    def _fill(self, name: str, owner: Any) -> tuple[Golem, dict[str, Any]]:
        kind = factories.make_archetype(name=f"kind of {name}", owner=owner)
        golem = factories.make_golem(owner=owner, name=name, archetype=kind)
        rows: dict[str, Any] = {}
        # Others take these where they are there, and make them where they are not.
        first = ("permits_app.policycage", "permits_app.spendinglimits", "permits_app.wallet")
        for label in sorted(MAKERS, key=lambda label: (label not in first, label)):
            rows[label] = MAKERS[label](golem)
        for make in dict.fromkeys(BESIDE.values()):
            make(golem)
        now = clock.now()
        for status in PermitStatus:
            permit = factories.make_permit(golem=golem, status=status)
            if status == PermitStatus.CREATED:
                later, latest = now + timedelta(hours=1), now + timedelta(hours=2)
                Announcement.objects.create(permit=permit, announced_at=now, executes_at=later, expires_at=latest)
        return golem, rows


def read_texts() -> set[str]:
    """Every text of some length that any row holds."""
    found: set[str] = set()
    for model in apps.get_models():
        if model._meta.managed:
            for values in model._default_manager.values_list():
                found.update(text for value in values for text in _list_texts(value))
    return found


def _list_texts(value: Any) -> Iterator[str]:
    if isinstance(value, UUID):
        yield str(value)
    elif isinstance(value, str) and len(value) >= _LEAST_LETTERS:
        yield value
    elif isinstance(value, dict):
        for each in value.values():
            yield from _list_texts(each)
    elif isinstance(value, list | tuple):
        for each in value:
            yield from _list_texts(each)


def list_addresses(golem: Golem, rows: dict[str, Any]) -> Iterator[tuple[str, str, str]]:
    """Name, route and address of every page, with rows of that golem."""
    for name, route in list_pages():
        url = fill(name, route, rows, golem)
        if url is not None and name not in _NOT_A_PAGE:
            yield name, route, url


def look(browser: Any, url: str) -> tuple[int, str]:
    answer = browser.get(url)
    body = b"".join(answer.streaming_content) if answer.streaming else answer.content
    return answer.status_code, body.decode(errors="replace")


def test_no_page_shows_rows_of_another_owner_or_of_another_golem_than_it_is_about() -> None:
    side = Side()
    assert min(len(side.of_beside), len(side.of_theirs)) > 100
    wrong: list[tuple[Any, ...]] = []
    seen = 0
    browser = log_in(side.ana)
    questions = [("find", "find", f"/admin/find/?q={word}") for word in ("Golem", "swap", "ben-benedikt")]
    for name, route, url in [*list_addresses(side.mine, side.rows), *questions]:
        status, text = look(browser, url)
        seen += status == 200
        if status >= 500:
            wrong.append((url, status))
        asked = {"ben-benedikt"} if "q=ben" in url else set()
        wrong += [(url, "Ben's", each) for each in side.of_theirs - asked if each in text]
        if "<" in route and name not in _OFFERS_GOLEMS:
            wrong += [(url, "the other golem's", each) for each in side.of_beside if each in text]
    assert wrong == []
    assert seen > 240


def test_no_page_about_another_owners_rows_is_shown() -> None:
    side = Side()
    browser = log_in(side.ana)
    shown, asked = [], 0
    for name, route, url in list_addresses(side.theirs, side.their_rows):
        if "<" in route and name not in _OF_NOBODY:
            status, _ = look(browser, url)
            asked += 1
            # Of a row that one may not see, Django's own pages send back to the first page.
            if status not in (302, 403, 404, 405):
                shown.append((name, url, status))
    assert shown == []
    assert asked > 250


def test_whoever_has_a_part_in_one_golem_sees_nothing_of_its_owners_others() -> None:
    side = Side()
    viewer = log_in(make_member(side.mine, Role.VIEWER, name="vera"))
    wrong, seen = [], 0
    for _, _, url in list_addresses(side.mine, side.rows):
        status, text = look(viewer, url)
        seen += status == 200
        wrong += [(url, each) for each in side.of_beside | side.of_theirs if each in text]
    assert wrong == []
    assert seen > 100
