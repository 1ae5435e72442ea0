"""A writer that waited for a row looks at it again: what the first one wrote is not written over."""

from __future__ import annotations

from typing import Any
from uuid import UUID

import pytest
from django.contrib import admin
from django.contrib.auth import get_user_model
from django.test import Client, RequestFactory
from django.urls import reverse

from archetypes_app.models import Golem
from memory_app.actions.link_memories import link_memories
from memory_app.actions.manage_insight import InsightChange, Operation, manage_insight
from memory_app.errors import InsightNotFound
from memory_app.models import Insight
from memory_app.models.provenance import Source, Trust
from memory_app.provenance import Provenance
from permits_app.actions.cancel import cancel_permit
from permits_app.actions.expire import expire_permit
from permits_app.models import ActionPermit, PolicyCage, SpendEntry, SpendingLimits
from permits_app.models.permit import PermitStatus
from tests.concurrency.waiting import run_behind
from tests.factories.golems import make_golem, make_operator, make_owner
from tests.factories.permits import make_permit, make_spend_entry
from tests.factories.records import make_insight
from tools_app.core import clock
from tools_app.core.models import AuditEntry

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def permit() -> ActionPermit:
    """An open permit whose three ticks are over, not its minute."""
    golem = make_golem(owner=make_owner())
    permit = make_permit(golem=golem, expires_at_tick=3)
    make_spend_entry(permit=permit)
    Golem.objects.filter(pk=golem.pk).update(heartbeat_tick=3)
    return permit


def cancel(permit: ActionPermit) -> None:
    cancel_permit(golem=permit.golem, permit_id=permit.pk, reason="x", actor="t", now=clock.now())


def expire(permit_id: UUID) -> bool:
    return expire_permit(permit_id=permit_id, now=clock.now())


def test_a_permit_cancelled_meanwhile_does_not_expire_by_its_ticks(permit: ActionPermit) -> None:
    assert run_behind(lambda: cancel(permit), lambda: expire(permit.pk)) is False
    permit.refresh_from_db()
    assert permit.status == PermitStatus.CANCELLED
    assert not AuditEntry.objects.filter(event="PermitExpired").exists()
    assert SpendEntry.objects.get().state == "RELEASED"


def test_a_permit_nobody_touched_expires_by_its_ticks(permit: ActionPermit) -> None:
    Golem.objects.update(heartbeat_tick=2)
    assert expire(permit.pk) is False
    Golem.objects.update(heartbeat_tick=3)
    assert expire(permit.pk) is True
    permit.refresh_from_db()
    assert permit.status == PermitStatus.EXPIRED


# ---- forms of the admin: an edit writes what was edited, never the rest as it was when the page was asked for --------


def post(path: str, fields: dict[str, Any]) -> int:
    """Save a form of the admin as an operator; the status."""
    client = Client()
    client.force_login(get_user_model().objects.get(username="root"))
    return client.post(path, fields).status_code


def test_a_form_of_a_golem_that_was_opened_before_a_halt_does_not_take_it_back() -> None:
    golem = make_golem(owner=make_owner())
    request = RequestFactory().post("/")
    request.user = make_operator()
    page = admin.site.get_model_admin(Golem)
    opened = page.get_object(request, str(golem.pk))
    assert opened is not None
    Golem.objects.filter(pk=golem.pk).update(
        halted_at=clock.now(), halt_reason="stop", halt_epoch=1, phase="TERMINAL", heartbeat_tick=1
    )
    opened.name = "Renamed"
    page.save_model(request, opened, form=None, change=True)
    golem.refresh_from_db()
    assert golem.name == "Renamed"
    assert (golem.is_halted, golem.halt_epoch, golem.phase, golem.heartbeat_tick) == (True, 1, "TERMINAL", 1)


def test_an_owner_who_tightens_one_limit_does_not_loosen_another_that_falls_meanwhile() -> None:
    make_operator()
    golem = make_golem(owner=make_owner())
    limits = SpendingLimits.objects.create(golem=golem)
    PolicyCage.objects.create(golem=golem)
    page = reverse("admin:permits_app_spendinglimits_change", args=[limits.pk])
    shown = Client()
    shown.force_login(get_user_model().objects.get(username="root"))
    form = shown.get(page).context["adminform"].form
    fields = {name: field.widget.format_value(form[name].value()) for name, field in form.fields.items()}
    fields = {name: value if not isinstance(value, list) else value[0] for name, value in fields.items()}
    fields |= {"writes_per_hour": "3"}

    def tighten() -> None:
        SpendingLimits.objects.filter(pk=limits.pk).update(per_day_micro_usd=1_000_000)

    assert run_behind(tighten, lambda: post(page, {k: v for k, v in fields.items() if v is not None})) == 302
    limits.refresh_from_db()
    assert (limits.writes_per_hour, limits.per_day_micro_usd) == (3, 1_000_000)


# ---- memories: whoever confirms or links one looks at it again after a scan, an owner or a purge ---------------------


def upvote(golem: Golem, insight: Insight) -> InsightChange:
    return manage_insight(
        golem_id=golem.pk,
        operation=Operation.UPVOTE,
        insight_id=insight.pk,
        content=None,
        category=None,
        chain_id=None,
        tokens=(),
        reason="x",
        actor="t",
        now=clock.now(),
        source=Source.OWNER,
    )


def test_a_memory_that_a_scan_sets_aside_meanwhile_is_not_taken_back() -> None:
    golem = make_golem(owner=make_owner())
    insight = make_insight(golem=golem)

    def set_aside() -> None:
        Insight.objects.filter(pk=insight.pk).update(is_quarantined=True, quarantine_reason="gives orders")

    with pytest.raises(InsightNotFound):
        run_behind(set_aside, lambda: upvote(golem, insight))
    insight.refresh_from_db()
    assert (insight.is_quarantined, insight.confidence_percent, insight.upvotes) == (True, 60, 0)


def test_a_memory_that_its_owner_archives_meanwhile_stays_archived_and_is_confirmed() -> None:
    golem, now = make_golem(owner=make_owner()), clock.now()
    insight = make_insight(golem=golem)
    run_behind(lambda: Insight.objects.filter(pk=insight.pk).update(archived_at=now), lambda: upvote(golem, insight))
    insight.refresh_from_db()
    assert (insight.archived_at, insight.confidence_percent, insight.upvotes) == (now, 70, 1)


def test_a_memory_that_is_purged_meanwhile_does_not_come_back() -> None:
    golem = make_golem(owner=make_owner())
    insight = make_insight(golem=golem)
    with pytest.raises(InsightNotFound):
        run_behind(lambda: Insight.objects.filter(pk=insight.pk).delete(), lambda: upvote(golem, insight))
    assert not Insight.objects.exists()


def test_a_link_that_a_scan_sets_aside_meanwhile_is_confirmed_and_stays_aside() -> None:
    golem = make_golem(owner=make_owner())
    cause, effect = make_insight(golem=golem), make_insight(golem=golem, text="Blocks are empty at night")

    def link() -> Insight:
        return link_memories(
            golem_id=golem.pk,
            cause_id=cause.pk,
            effect_id=effect.pk,
            reason="the one comes after the other",
            provenance=Provenance("t", Source.AGENT, Trust.REPORTED),
            now=clock.now(),
        )[0]

    first = link()
    run_behind(lambda: Insight.objects.filter(pk=first.pk).update(is_quarantined=True), link)
    first.refresh_from_db()
    assert (first.is_quarantined, first.confidence_percent) == (True, 30)
