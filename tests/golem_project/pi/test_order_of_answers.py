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
from golem_project.pi import urls
from memory_app.models import Episode, Execution, Insight
from permits_app.actions.query import OWN_QUERIES, OWN_VENUE
from permits_app.models import ActionRecord, Death, PendingRequest, SignedPromise
from permits_app.models.permit import PermitStatus
from tests import factories
from tests.admin.rows import MAKERS, make_decision
from tests.admin.rows_beside import BESIDE
from tests.admin.test_whose_rows_in_which_order import make_person, set_clock
from tests.golem_project.pi.test_whose_reads import ask, list_questions, name_rows
from tools_app.core import clock
from tools_app.models import StreamSubscription
from tools_app.toolkit.enums import Category, PiTool
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


ITSELF: Final[Listed] = lambda row: row  # noqa: E731
ORDERS: Final[dict[str, Listed]] = {}
AS_GIVEN: Final[dict[str, str]] = {}


def copy(row: models.Model, **changes: Any) -> Any:
    """Another row that says the same but for `changes`."""
    made = type(row)(**{field.attname: getattr(row, field.attname) for field in row._meta.concrete_fields})
    made.pk = uuid4() if isinstance(row._meta.pk, models.UUIDField) else None
    for name, value in changes.items():
        setattr(made, name, value)
    made.save(force_insert=True)
    return made


def walk(value: Any, path: str = "") -> Iterator[tuple[str, list[Any]]]:
    """Every list in an answer with the path to it; members of a list of lists stand under one path."""
    if isinstance(value, dict):
        for name, each in value.items():
            yield from walk(each, f"{path}.{name}" if path else name)
    elif isinstance(value, list):
        yield path, value
        for each in value:
            yield from walk(each, f"{path}[]")


def write_round(golem: Golem, number: int, patch: pytest.MonkeyPatch, begun: Any) -> None:
    """One row of everything, and of what there may be one of alone in the first round only; then what differs."""
    hours, name = HOURS[number], NAMES[number]
    set_clock(patch, begun + timedelta(hours=hours))
    first = ("permits_app.policycage", "permits_app.spendinglimits", "permits_app.wallet")
    for label in sorted(MAKERS, key=lambda label: (label not in first, label)):
        with suppress(IntegrityError), transaction.atomic():
            MAKERS[label](golem)
    for make in dict.fromkeys(BESIDE.values()):
        with suppress(IntegrityError), transaction.atomic():
            make(golem)
    for status in PermitStatus:
        factories.make_permit(golem=golem, status=status)
    if number:
        factories.make_strategy(golem=golem, name=name)
        factories.make_pending_request(permit=factories.make_permit(golem=golem), ref=f"queue/request/31337/{hours}")
        factories.make_standing_allowance(permit=factories.make_permit(golem=golem), spender=f"0x{hours:040x}", counted_at=clock.now())
    for state, model, make in (
        ("DONE", PendingRequest, lambda permit: factories.make_pending_request(permit=permit, ref=f"queue/request/31337/7{hours}")),
        ("OVER", SignedPromise, lambda permit: factories.make_signed_promise(permit=permit)),
    ):
        row = make(factories.make_permit(golem=golem))
        if model is SignedPromise:
            state = next(value for value, _ in model._meta.get_field("state").choices if value != "OPEN")
        else:
            state = "CLAIMED" if "CLAIMED" in dict(model._meta.get_field("state").choices) else state
        model.objects.filter(pk=row.pk).update(state=state, ended_at=clock.now())
    decision = make_decision(golem)
    DecisionCycleRecord.objects.filter(pk=decision.pk).update(tier="T1", heartbeat_tick=100 + hours)
    for position in (2, 0, 1):
        ActionRecord.objects.create(tick=decision.tick, golem=golem, position=position, action_type="swap")
    Insight.objects.filter(golem=golem, confidence_percent=60).update(confidence_percent=10 * hours)
    for kind, settled in (("SWAP", hours), ("LP", hours + 1)):
        for _ in range(5):
            execution = factories.make_execution(golem=golem)
            Execution.objects.filter(pk=execution.pk).update(
                kind=kind, settled_at=clock.now(), realized_pnl_micro_usd=-settled * 10**6, strategy_name=name
            )
    sister = factories.make_golem(owner=golem.owner, name=f"{name} of Ana-9", archetype=golem.archetype)
    for _ in range(hours + 5):
        episode = factories.make_episode(golem=sister)
        Episode.objects.filter(pk=episode.pk).update(action_type=f"act_{name}", outcome={"succeeded": False})
    insight = factories.make_insight(golem=sister, text=f"never {name}")
    Insight.objects.filter(pk=insight.pk).update(kind="WARNING")
    warned = factories.make_insight(golem=sister, text=f"never ever {name}")
    Insight.objects.filter(pk=warned.pk).update(kind="WARNING", confidence_percent=90)
    Golem.objects.filter(pk=sister.pk).update(retired_at=clock.now())
    now = clock.now()
    Death.objects.create(
        golem=sister, state="RETIRED", reason="over", actor="owner:1", announced_at=now, due_at=now, ended_at=now
    )
    with suppress(StreamSubscription.DoesNotExist):
        row = StreamSubscription.objects.filter(golem_id=golem.pk)[0:1].get()
        copy(row, subscription_id=uuid4(), params_hash=f"0x{hours}", created_at=now)


def find_lists(golem: Golem) -> Iterator[tuple[str, list[Any]]]:
    """Every list in every answer, with the name of what was asked and the path in it."""
    named = name_rows(golem)
    for tool in REGISTRY:
        if isinstance(tool, ReadTool) and "/protocols/" not in tool.source:
            for given in list_questions(tool, named):
                yield from ((f"{tool.name} {path}", rows) for path, rows in walk(json.loads(ask(golem, tool.key, tool.venue, given, tool.pi_tool)).get("data", {})))
    for own in OWN_QUERIES:
        told = json.loads(ask(golem, own.key, OWN_VENUE, {}, PiTool.QUERY_STATE))
        yield from ((f"{own.key} {path}", rows) for path, rows in walk(told.get("data", {})))
    key = factories.make_api_key(golem=golem, scopes=("read", "events"))
    permit = golem.permits.filter(status="COMMITTED").first()
    for path in ("permits", f"permits/{permit.pk}", "events", "manifest"):
        answer = Client().get(f"/api/v1/{'' if path == 'events' else 'pi/'}{path}", headers={"Authorization": f"Bearer {key.token}"})
        assert answer.status_code == 200, (path, answer.content)
        yield from ((f"GET {path.partition('/')[0] + ('/…' if '/' in path else '')} {each}", rows) for each, rows in walk(answer.json()))


def test_explore(monkeypatch: pytest.MonkeyPatch) -> None:
    ana = make_person("ana-anabel-9")
    now = clock.now()
    golem = factories.make_golem(owner=ana, name="Zeta of Ana-9", archetype=factories.make_archetype(name="kind", owner=ana))
    for number in range(len(HOURS)):
        write_round(golem, number, monkeypatch, now - timedelta(days=1))
    set_clock(monkeypatch, now)
    golem.profiles.add(ToolProfile.objects.create(name="everything", categories=[each.value for each in Category]))
    golem = Golem.objects.select_related("archetype").get(pk=golem.pk)
    import collections
    def sorted_by(rows):
        out = []
        if rows and isinstance(rows[0], dict):
            for k in rows[0]:
                vals = [r.get(k) if isinstance(r, dict) else None for r in rows]
                try:
                    if len(set(map(str, vals))) == 1: continue
                    if vals == sorted(vals): out.append(k)
                    elif vals == sorted(vals, reverse=True): out.append("-" + k)
                except TypeError: pass
        elif rows:
            try:
                if rows == sorted(rows): out.append("asc")
                elif rows == sorted(rows, reverse=True): out.append("desc")
            except TypeError: pass
        return out
    seen = {}
    for where, rows in find_lists(golem):
        if len(rows) > 1:
            seen.setdefault(where, []).append((len(rows), sorted_by(rows), json.dumps(rows[0])[:160]))
    with open("/tmp/t/explore2.txt", "w") as out:
        for where, each in seen.items():
            print(where, len(each), each[0], file=out)
