"""The pages of an owner's day, what each may ask the database, and rows that make them as full as a day makes them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from archetypes_app.models import Golem, Heartbeat
from tests import factories
from tests.admin.rows import make_decision

OWN = "/admin/archetypes_app/golem/{golem}"
MOST = {
    "/admin/": 54,
    "/admin/cockpit/": 20,
    "/admin/cockpit/{golem}/": 33,
    f"{OWN}/change/": 54,
    f"{OWN}/money/": 40,
    f"{OWN}/rules/": 40,
    f"{OWN}/agent/": 30,
    f"{OWN}/records/": 20,
    f"{OWN}/settings/": 30,
    f"{OWN}/refused/{{refusal}}/": 20,
    f"{OWN}/people/": 15,
    f"{OWN}/statement/": 19,
    f"{OWN}/followed/": 17,
    f"{OWN}/policy/": 18,
    f"{OWN}/cage/": 17,
    f"{OWN}/halt/": 26,
    f"{OWN}/live/": 15,
    f"{OWN}/retire/": 15,
    f"{OWN}/strategy/": 15,
    "/admin/cage/{golem}/": 16,
    "/admin/archetypes_app/heartbeat/{golem}/change/": 18,
    "/admin/archetypes_app/golem/": 15,
    "/admin/archetypes_app/golem/add/": 15,
    "/admin/permits_app/actionpermit/": 15,
    "/admin/permits_app/actionpermit/{permit}/change/": 24,
    "/admin/permits_app/changerequest/inbox/": 18,
    "/admin/permits_app/changerequest/": 15,
    "/admin/permits_app/changerequest/{request}/change/": 28,
    "/admin/memory_app/episode/": 15,
    "/admin/memory_app/episode/memory/": 15,
    "/admin/memory_app/insight/": 15,
    "/admin/tools_app/auditentry/": 15,
    "/admin/permits_app/haltrecord/": 15,
    "/admin/permits_app/allowlistentry/": 15,
    "/admin/permits_app/spendinglimits/": 15,
    "/admin/permits_app/wallet/": 15,
    "/admin/archetypes_app/apikey/": 15,
    "/admin/find/?q=swap": 15,
    f"{OWN}/resume/": 15,
    "/admin/archetypes_app/golem/stop/": 26,
    "/admin/archetypes_app/decisioncyclerecord/{decision}/change/": 23,
    "/admin/permits_app/changerequest/second-factors/": 15,
    "/admin/permits_app/actionpermit/{permit}/trace/": 15,
    "/admin/memory_app/episode/{episode}/change/": 15,
    "/admin/permits_app/knownaddress/": 15,
    "/admin/permits_app/pendingrequest/": 15,
    "/admin/permits_app/ownerbudget/mine/": 15,
    "/admin/alerts/": 15,
    "/admin/sign-ins/": 15,
    "/admin/machinery/": 15,
    "/admin/help/how-to/approve-a-change/": 15,
}
"""A page and the questions it may ask."""
Fill = Callable[[str], str]


def add_rows(owner: Any, golem: Golem, many: int) -> None:
    """`many` more golems, each with what is set and what happened, and as much again of `golem`."""
    for number in range(many):
        each = factories.make_golem(owner=owner, name=f"one of {many}, {number}")
        factories.make_limits(golem=each)
        factories.make_cage(golem=each)
        factories.make_allowlist_entry(golem=each)
        factories.make_halt(golem=each)
        Heartbeat.objects.create(golem=each, is_on=False)
        for one in (golem, each):
            permit = factories.make_permit(golem=one)
            factories.make_signed_promise(permit=permit)
            factories.make_change_request(golem=one)
            factories.make_episode(golem=one)
            factories.make_insight(golem=one)
            factories.make_audit_entry(golem=one)
            factories.make_event(golem=one)
            factories.make_api_key(golem=one)
            factories.make_denied_call(golem=one)
            for _ in range(2):
                factories.make_nav_snapshot(golem=one)


def name_rows(golem: Golem) -> Fill:
    """What fills the braces of an address: the golem, and a row of it of each kind."""
    names = {
        "golem": golem.pk,
        "permit": factories.make_committed_permit(golem=golem).pk,
        "request": factories.make_change_request(golem=golem).pk,
        "decision": make_decision(golem).pk,
        "episode": factories.make_episode(golem=golem).pk,
        "refusal": factories.make_denied_call(golem=golem).pk,
    }
    return lambda path: path.format(**names)
