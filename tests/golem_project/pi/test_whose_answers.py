"""Whose rows each answer to a GET of the agents' interface holds, in which order: two owners, two golems of one."""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta
from typing import Any, Final

import pytest
from django.test import Client
from django.urls import URLPattern, URLResolver, get_resolver

from archetypes_app.models import Golem
from tests import factories
from tests.admin.rows import MAKERS
from tests.admin.test_whose_rows_in_which_order import make_person, read_texts, set_clock
from tools_app.core import clock

HOURS: Final = (5, 9, 1)
"""When what is listed was made, in the order in which it is made."""
Listed = Callable[[Any], list[Any]]
LISTS: Final[dict[str, tuple[Listed, bool]]] = {
    "permits": (lambda body: [each["created_at"] for each in body["permits"]], True),
    "events": (lambda body: [each["sequence"] for each in body["events"]], False),
}
"""By name of the path: what its lines are ordered by, and whether the newest comes first."""
OTHERS: Final = {
    "permit": "one row",
    "manifest": "the golem's own tools",
    "schema": "of all alike",
    "docs": "of all alike",
    **dict.fromkeys(
        [
            "preview_action",
            "commit_action",
            "cancel_action",
            "query_state",
            "search_context",
            "query_grimoire",
            "update_directive",
            "emergency_halt",
            "unknown_tool",
        ],
        "it is posted to; tests of each say whose it is",
    ),
}


def list_paths(patterns: list[Any], before: str = "") -> dict[str, str]:
    found: dict[str, str] = {}
    for each in patterns:
        route = before + str(each.pattern)
        if isinstance(each, URLResolver):
            found |= list_paths(each.url_patterns, route)
        elif isinstance(each, URLPattern) and route.startswith("api/"):
            found[str(each.name)] = route
    return found


PATHS: Final = list_paths(get_resolver().url_patterns)


def test_every_path_of_the_interface_has_its_line_here() -> None:
    assert set(PATHS) == set(LISTS) | set(OTHERS)


def make_golem(owner: Any, name: str) -> Golem:
    golem = factories.make_golem(
        owner=owner, name=name, archetype=factories.make_archetype(name=f"kind of {name}", owner=owner)
    )
    first = ("permits_app.policycage", "permits_app.spendinglimits", "permits_app.wallet")
    for label in sorted(MAKERS, key=lambda label: (label not in first, label)):
        MAKERS[label](golem)
    return golem


# The log of events shows what was committed.
@pytest.mark.django_db(transaction=True)
def test_an_agent_is_answered_with_its_golems_rows_alone_in_the_order_that_is_written_down(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    ana, ben = make_person("ana-anabel-9"), make_person("ben-benedikt-9")
    now = clock.now()
    mine = make_golem(ana, "Zeta of Ana-9")
    made = []
    for hours in HOURS:
        set_clock(monkeypatch, now - timedelta(days=1) + timedelta(hours=hours))
        made.append(factories.make_permit(golem=mine))
        factories.make_event(golem=mine)
    set_clock(monkeypatch, now)
    key = factories.make_api_key(golem=mine, scopes=("read", "events"))
    known = read_texts()
    theirs = [make_golem(ana, "Alpha of Ana-9"), make_golem(ben, "Golem of Ben-9")]
    foreign = read_texts() - known
    client, headers = Client(), {"Authorization": f"Bearer {key.token}"}
    for name, (list_lines, is_newest_first) in LISTS.items():
        answer = client.get(f"/{PATHS[name]}", headers=headers)
        assert answer.status_code == 200, name
        lines = list_lines(answer.json())
        assert len(lines) >= 3 and lines == sorted(lines, reverse=is_newest_first), name
        text = answer.content.decode()
        assert [each for each in foreign if each in text] == [], name
        asked = client.get(f"/{PATHS[name]}?golem={theirs[0].pk}", headers=headers)
        assert [each for each in foreign - {str(theirs[0].pk)} if each in asked.content.decode()] == [], name
    shown = [each["permit_id"] for each in client.get(f"/{PATHS['permits']}", headers=headers).json()["permits"]]
    in_time = [str(made[at].pk) for at in sorted(range(len(HOURS)), key=HOURS.__getitem__, reverse=True)]
    assert [each for each in shown if each in in_time] == in_time
    for golem in theirs:
        permit = factories.make_permit(golem=golem)
        assert client.get(f"/api/v1/pi/permits/{permit.pk}", headers=headers).status_code == 404
