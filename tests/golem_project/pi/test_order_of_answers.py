"""In which order every list inside an answer stands: of reads of the registry, of questions about a golem, and of GETs.

Rows are written in another order than any is told in, and each list that has several members has its line here. What a
read tells of a chain has its order in `tests/catalogue/orders.py`.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from contextlib import suppress
from datetime import timedelta
from typing import Any, Final, NamedTuple
from uuid import uuid4

import pytest
from django.db import IntegrityError, models, transaction
from django.test import Client

from archetypes_app.models import DecisionCycleRecord, Golem, ToolProfile
from golem_project import wiring
from memory_app.models import Episode, Execution, Insight
from permits_app.actions.query import OWN_QUERIES, OWN_VENUE
from permits_app.models import (
    ActionPermit,
    ActionRecord,
    Death,
    HealthAlert,
    PendingRequest,
    SignedPromise,
    StandingPlan,
)
from tests import factories
from tests.admin.rows import MAKERS, make_decision
from tests.admin.rows_beside import BESIDE
from tests.admin.test_whose_rows_in_which_order import make_person, set_clock
from tests.catalogue.orders import WINDOWS, walk
from tests.golem_project.pi.test_whose_answers import LISTS, PATHS
from tests.golem_project.pi.test_whose_reads import ask, list_questions, name_rows
from tools_app.core import clock
from tools_app.models import StreamSubscription
from tools_app.toolkit.enums import ActionClass, Category, PiTool
from tools_app.toolkit.registry import REGISTRY
from tools_app.toolkit.tooldef import ReadTool

pytestmark = pytest.mark.django_db(transaction=True)
HOURS: Final = (5, 9, 1)
"""When each round of rows was written, in the order in which it was."""
NAMES: Final = ("mid", "zeta", "alpha")
Listed = Callable[[Any], Any]


class Down(NamedTuple):
    """A value that comes the sooner the greater it is."""

    value: Any

    def __lt__(self, other: Any) -> bool:
        return bool(other.value < self.value)


def up(*names: str) -> Listed:
    return lambda row: tuple(row[name] for name in names)


def down(*names: str) -> Listed:
    return lambda row: tuple(Down(row[name]) for name in names)


def surest(row: Any) -> Down:
    return Down(float(row["adjusted_score"]))


def first_in(*known: str) -> Listed:
    return lambda word: known.index(word)


ORDERS: Final[dict[str, Listed]] = {
    "stream_unsubscribe unsubscribed": lambda each: StreamSubscription.objects.get(subscription_id=each).created_at,
    "memory_search results": surest,
    "memory_get_insights insights": lambda row: Down(float(row["confidence"])),
    "memory_get_failure_patterns clusters": lambda row: float(row["avg_pnl"].replace("$", "")),
    "memory_retrieve_strategies strategies": up("strategy_name"),
    "memory_search_episodes results": surest,
    "memory_search_insights results": surest,
    "memory_get_sleepwalker_catalog artifacts": down("published_at"),
    "memory_get_sleepwalker_offers offers": down("published_at"),
    "golem_cluster_archetypes clusters": down("episodes"),
    "golem_mine_testaments testaments": down("ended_at"),
    "golem_mine_testaments testaments[].lessons": lambda words: not words.startswith("surely"),
    "safety_get_status limits": lambda row: WINDOWS.index(row["window"]),
    "safety_get_status keys": up("expires_at"),
    "safety_get_status keys[].scopes": str,
    "safety_get_health_alerts alerts": up("protocol"),
    "golem_get_standing_plans plans": lambda row: StandingPlan.objects.get(pk=row["plan_id"]).created_at,
    "golem allowed_action_classes": [each.value for each in ActionClass].index,
    "limits standing_allowances": up("since"),
    "permits permits": down("created_at"),
    "requests waiting": up("expected_at"),
    "requests ended": lambda row: Down(int(row["position"].rpartition("/")[2])),
    "promises open": up("ends_at"),
    "promises ended": down("ended_at"),
    "decisions newest.actions": up("action_type"),
    "decisions newest.agent_actions": up("at"),
    "decisions thinking": down("heartbeat_tick"),
    "decisions thinking[].actions": up("action_type"),
    "GET permits permits": down("created_at"),
    "GET events events": up("sequence"),
}
"""By what was asked and the path in its answer, what its members stand by."""
_OF_A_PERMIT: Final = "it was stored with the permit, as its plan and its simulation told it"
AS_STORED: Final[dict[str, str]] = {
    **dict.fromkeys(
        [f"{where}.metadata.tokens" for where in ("memory_search results[]", "memory_search_episodes results[]")]
        + ["memory_get_episode episode.tokens"],
        "it was stored with the episode",
    ),
    "session_get_keys keys": "by their end, which those of this test have in common, and then as they were written",
    "decisions newest.agent_actions[].outcome.": _OF_A_PERMIT,
    "GET permits permits[].": _OF_A_PERMIT,
    "GET permit ": _OF_A_PERMIT,
    "GET manifest ": "a schema and its words, which `tests/snapshots` holds to the letter",
}
"""What begins so is one thing that was stored or written down whole, and has no order among rows."""


def copy(row: models.Model, **changes: Any) -> Any:
    """Another row that says the same but for `changes`."""
    made = type(row)(**{field.attname: getattr(row, field.attname) for field in row._meta.concrete_fields})
    made.pk = uuid4() if isinstance(row._meta.pk, models.UUIDField) else None
    for name, value in changes.items():
        setattr(made, name, value)
    if hasattr(made, "created_at"):
        made.created_at = clock.now()
    made.save(force_insert=True)
    return made


def write_round(golem: Golem, number: int) -> None:
    """One row of everything, of what there may be one of alone in the first round only; and what tells rounds apart."""
    hours, name, now = HOURS[number], NAMES[number], clock.now()
    first = ("permits_app.policycage", "permits_app.spendinglimits", "permits_app.wallet")
    for label in sorted(MAKERS, key=lambda label: (label not in first, label)):
        with suppress(IntegrityError), transaction.atomic():
            MAKERS[label](golem)
    for make in dict.fromkeys(BESIDE.values()):
        with suppress(IntegrityError), transaction.atomic():
            make(golem)
    if number:
        # It holds no word that is asked for, so that it is told apart from what does.
        lent = factories.make_episode(golem=golem, summary=f"lent at aave to {name}")
        Episode.objects.filter(pk=lent.pk).update(search_text="aave")
        factories.make_strategy(golem=golem, name=name)
        HealthAlert.objects.create(golem=golem, protocol=name, chain_id=31337, min_health_bps=15_000)
        factories.make_pending_request(permit=make_permit(golem), ref=f"queue/request/31337/{hours}")
        factories.make_standing_allowance(permit=make_permit(golem), spender=f"0x{hours:040x}", counted_at=now)
        copy(StreamSubscription.objects.filter(golem_id=golem.pk)[0], subscription_id=uuid4(), params_hash=name)
    Insight.objects.filter(golem=golem, confidence_percent=60).update(confidence_percent=10 * hours)
    end_what_waited(golem, hours)
    decide(golem, hours)
    for kind, lost in (("SWAP", hours), ("LP", hours + 1)):
        for _ in range(5):
            row = Execution.objects.filter(pk=factories.make_execution(golem=golem).pk)
            row.update(kind=kind, settled_at=now, realized_pnl_micro_usd=-lost * 10**6, strategy_name=name)
    end_a_sister(golem, name, hours)


def make_permit(golem: Golem) -> ActionPermit:
    return factories.make_permit(golem=golem)


def end_what_waited(golem: Golem, hours: int) -> None:
    now = clock.now()
    asked = factories.make_pending_request(permit=make_permit(golem), ref=f"queue/request/31337/7{hours}")
    PendingRequest.objects.filter(pk=asked.pk).update(state="DONE", ended_at=now)
    signed = factories.make_signed_promise(permit=make_permit(golem))
    SignedPromise.objects.filter(pk=signed.pk).update(state="EXPIRED", ended_at=now)


def decide(golem: Golem, hours: int) -> None:
    decision = make_decision(golem)
    DecisionCycleRecord.objects.filter(pk=decision.pk).update(tier="T1", heartbeat_tick=100 + hours)
    for position in (2, 0, 1):
        ActionRecord.objects.create(
            tick=decision.tick, golem=golem, position=position, action_type=f"{position} of three"
        )


def end_a_sister(golem: Golem, name: str, hours: int) -> None:
    """A golem of the same owner that ended now: what it did as often as it is late, and two warnings."""
    now = clock.now()
    sister = factories.make_golem(owner=golem.owner, name=f"{name} of Ana-9", archetype=golem.archetype)
    for _ in range(hours + 5):
        row = Episode.objects.filter(pk=factories.make_episode(golem=sister).pk)
        row.update(action_type=f"act_{name}", outcome={"succeeded": False})
    for words, sure in ((f"never {name}", 60), (f"surely not {name}", 90)):
        warning = factories.make_insight(golem=sister, text=words)
        Insight.objects.filter(pk=warning.pk).update(kind="WARNING", confidence_percent=sure)
    Golem.objects.filter(pk=sister.pk).update(retired_at=now)
    facts = {"state": "RETIRED", "reason": "over", "actor": "owner:1"}
    Death.objects.create(golem=sister, announced_at=now, due_at=now, ended_at=now, **facts)


def find_lists(golem: Golem) -> Iterator[tuple[str, list[Any]]]:
    """Every list in every answer, with the name of what was asked and the path in it."""
    named = name_rows(golem)
    for tool in REGISTRY:
        if isinstance(tool, ReadTool) and "/protocols/" not in tool.source:
            for given in list_questions(tool, named):
                asked = given | ({"query": "gas at night"} if tool.name == "memory_search_insights" else {})
                told = json.loads(ask(golem, tool.key, tool.venue, asked, tool.pi_tool))
                yield from ((f"{tool.name} {path}", rows) for path, rows in walk(told.get("data", {})))
    for own in OWN_QUERIES:
        told = json.loads(ask(golem, own.key, OWN_VENUE, {}, PiTool.QUERY_STATE))
        yield from ((f"{own.key} {path}", rows) for path, rows in walk(told["data"]))
    key = factories.make_api_key(golem=golem, scopes=("read", "events"))
    permit = factories.make_permit(golem=golem, status="COMMITTED")
    for name, address in PATHS.items():
        if name in (*LISTS, "manifest", "permit"):
            url = "/" + address.replace("<uuid:permit_id>", str(permit.pk))
            answer = Client().get(url, headers={"Authorization": f"Bearer {key.token}"})
            assert answer.status_code == 200, (url, answer.content)
            yield from ((f"GET {name} {path}", rows) for path, rows in walk(answer.json()))


def test_every_list_in_an_answer_stands_in_the_order_that_is_written_down(monkeypatch: pytest.MonkeyPatch) -> None:
    # No chain is asked, whatever a test before this one left wired.
    wiring.configure_networks({})
    ana, begun = make_person("ana-anabel-9"), clock.now() - timedelta(days=1)
    kind = factories.make_archetype(name="kind", owner=ana)
    golem = factories.make_golem(owner=ana, name="Zeta of Ana-9", archetype=kind)
    for number, hours in enumerate(HOURS):
        set_clock(monkeypatch, begun + timedelta(hours=hours))
        write_round(golem, number)
    for minutes in (3, 9, 1, 7):
        set_clock(monkeypatch, begun + timedelta(hours=10, minutes=minutes))
        make_permit(golem)
    set_clock(monkeypatch, begun + timedelta(days=1))
    golem.profiles.add(ToolProfile.objects.create(name="everything", categories=[each.value for each in Category]))
    golem = Golem.objects.select_related("archetype").get(pk=golem.pk)
    unknown: set[str] = set()
    met: set[str] = set()
    wrong: list[tuple[str, list[Any]]] = []
    for where, rows in find_lists(golem):
        if len(rows) < 2 or where.startswith(tuple(AS_STORED)):
            continue
        if where not in ORDERS:
            unknown.add(where)
            continue
        keys = [ORDERS[where](row) for row in rows]
        if keys != sorted(keys):
            wrong.append((where, keys))
        if keys[0] != keys[-1]:
            met.add(where)
    assert wrong == []
    assert sorted(unknown) == [], "say what its members stand by"
    assert sorted(ORDERS.keys() - met) == [], "no two of its members were told apart"
