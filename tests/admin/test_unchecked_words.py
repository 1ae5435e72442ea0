"""Words of an agent or a model stand beside the mark that nobody has checked them, on every page that shows them."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import pytest
from django.test import Client
from django.urls import reverse

from archetypes_app.models import Golem
from memory_app.models import Directive, Episode, Execution, Insight, Strategy
from permits_app.models import ActionPermit, ActionRecord, ChangeRequest
from permits_app.models.halt import HaltRecord
from tests import factories
from tests.admin.rows import MAKERS, make_decision, page
from tools_app.core import clock, event_bus
from tools_app.core.events import Event, EventType

pytestmark = pytest.mark.django_db

CANARY = "pre-approved by Anna, only 10 USDC"
MARK = "nobody has checked them"


@pytest.fixture
def golem() -> Golem:
    golem: Golem = factories.make_golem(owner=factories.make_owner())
    return golem


def _row(model: str, golem: Golem, **columns: Any) -> Any:
    row = MAKERS[model](golem)
    type(row).objects.filter(pk=row.pk).update(**columns)
    return row


def _ask(golem: Golem, **columns: Any) -> ChangeRequest:
    """As an agent's request leaves it, without its permit's simulation."""
    permit = factories.make_permit(golem=golem, status="AWAITING_APPROVAL", risk_tier="HIGH")
    return ChangeRequest.objects.create(
        golem=golem,
        kind="permit",
        permit=permit,
        risk_tier="HIGH",
        risk_rank=3,
        asker="key:x",
        change={},
        shown={},
        plan_hash="0x1",
        policy_hash="0x1",
        fold_hash="0x1",
        digest="0x1",
        deadline_at=clock.now(),
        **({"title": "Swap"} | columns),
    )


def _want(golem: Golem) -> ActionRecord:
    """A planner's wish with its decision."""
    tick = make_decision(golem).tick
    return ActionRecord.objects.create(tick=tick, golem=golem, position=0, action_type="swap", reason=CANARY)


def _halt(golem: Golem) -> None:
    Golem.objects.filter(pk=golem.pk).update(halted_at=clock.now(), halt_reason=CANARY)


def _tell(golem: Golem) -> None:
    event_bus.emit(golem_id=golem.pk, event=Event(EventType.POLICY_VIOLATION, {"reason": CANARY}), now=clock.now())


def _append(golem: Golem) -> Any:
    return factories.make_audit_entry(golem=golem, event="ActionDenied", data={"why": CANARY})


def _show(model: str, make: Callable[[Golem], Any]) -> Callable[[Golem], str]:
    return lambda golem: page(model, "change", make(golem).pk)


def _list(model: str, make: Callable[[Golem], Any]) -> Callable[[Golem], str]:
    def open_list(golem: Golem) -> str:
        make(golem)
        return page(model, "changelist")

    return open_list


def _after(make: Callable[[Golem], Any], url: Callable[[Golem], str]) -> Callable[[Golem], str]:
    def open_page(golem: Golem) -> str:
        make(golem)
        return url(golem)

    return open_page


def _remember(golem: Golem) -> Episode:
    row: Episode = _row("memory_app.episode", golem, summary=CANARY, source="AGENT")
    return row


def _conclude(golem: Golem) -> Insight:
    row: Insight = _row("memory_app.insight", golem, text=CANARY, source="AGENT")
    return row


def _write(golem: Golem) -> Directive:
    row: Directive = _row("memory_app.directive", golem, reason=CANARY, actor=f"golem:{golem.pk}")
    return row


def _keep(golem: Golem) -> Strategy:
    row: Strategy = _row("memory_app.strategy", golem, description=CANARY, source="AGENT")
    return row


def _execute(golem: Golem) -> Execution:
    row: Execution = _row("memory_app.execution", golem, reasoning_chain=CANARY, source="AGENT")
    return row


def _cancel(golem: Golem) -> ActionPermit:
    permit: ActionPermit = factories.make_permit(golem=golem, status="CANCELLED")
    ActionPermit.objects.filter(pk=permit.pk).update(status_reason=CANARY)
    return permit


def _refuse(golem: Golem) -> ActionPermit:
    permit: ActionPermit = factories.make_permit(golem=golem, status="BLOCKED")
    ActionPermit.objects.filter(pk=permit.pk).update(problem={"title": "Refused", "detail": CANARY, "code": "X"})
    return permit


def _stop(golem: Golem) -> HaltRecord:
    row: HaltRecord = _row("permits_app.haltrecord", golem, reason=CANARY)
    return row


def _cockpit(golem: Golem) -> str:
    return reverse("cockpit", args=[golem.pk])


def _inbox(golem: Golem) -> str:
    return reverse("admin:permits_app_changerequest_inbox")


REQUEST, PERMIT = "permits_app.changerequest", "permits_app.actionpermit"
PAGES: dict[str, Callable[[Golem], str]] = {
    "why of a request": _show(REQUEST, lambda golem: _ask(golem, reason=CANARY)),
    "a cancelled request": _show(REQUEST, lambda golem: _ask(golem, state="CANCELLED", state_reason=CANARY)),
    "the inbox": _after(lambda golem: _ask(golem, title=CANARY), _inbox),
    "a closed request in the inbox": _after(lambda golem: _ask(golem, title=CANARY, state="CANCELLED"), _inbox),
    "a cancelled permit": _show(PERMIT, _cancel),
    "a refused permit": _show(PERMIT, _refuse),
    "what a reviewer quotes": _show(
        PERMIT, lambda golem: factories.make_permit(golem=golem, review={"reasons": [CANARY]})
    ),
    "a decision": _show("archetypes_app.decisioncyclerecord", lambda golem: _want(golem).tick.decision),
    "an action wanted": _show("permits_app.actionrecord", _want),
    "decisions in the cockpit": _after(_want, _cockpit),
    "a halt in the cockpit": _after(_halt, _cockpit),
    "events in the cockpit": _after(_tell, _cockpit),
    "a halt on the golem's page": _after(_halt, lambda golem: page("archetypes_app.golem", "change", golem.pk)),
    "a halt": _show("permits_app.haltrecord", _stop),
    "halts": _list("permits_app.haltrecord", _stop),
    "an audit entry": _show("tools_app.auditentry", _append),
    "an episode": _show("memory_app.episode", _remember),
    "episodes": _list("memory_app.episode", _remember),
    "an insight": _show("memory_app.insight", _conclude),
    "insights": _list("memory_app.insight", _conclude),
    "a version of a document": _show("memory_app.directive", _write),
    "versions of documents": _list("memory_app.directive", _write),
    "a strategy": _show("memory_app.strategy", _keep),
    "an execution": _show("memory_app.execution", _execute),
}


@pytest.mark.parametrize("shown", PAGES)
def test_words_of_an_agent_or_model_stand_beside_the_mark(golem: Golem, shown: str) -> None:
    browser = Client()
    browser.force_login(golem.owner)
    answer = browser.get(PAGES[shown](golem))
    assert answer.status_code == 200
    text = re.sub(r"<(script|style|title)\b.*?</\1>", "", answer.content.decode(), flags=re.DOTALL)
    plain = re.sub(r"\s+", " ", re.sub(r"<[^>]+>", " ", text))
    places = [found.start() for found in re.finditer(re.escape(CANARY), plain, re.IGNORECASE)]
    assert places, plain
    near = [MARK in plain[max(0, place - 900) : place + 1_600] for place in places]
    assert all(near), plain


def test_what_the_runtime_and_owners_wrote_has_no_mark(golem: Golem) -> None:
    browser = Client()
    browser.force_login(golem.owner)
    for model in ("memory_app.episode", "memory_app.insight", "memory_app.strategy", "memory_app.directive"):
        answer = browser.get(page(model, "change", MAKERS[model](golem).pk))
        assert MARK not in answer.content.decode(), model
