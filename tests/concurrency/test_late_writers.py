"""A writer that waited for a row looks at it again: what the first one wrote is not written over."""

from __future__ import annotations

from uuid import UUID

import pytest

from archetypes_app.models import Golem
from permits_app.actions.cancel import cancel_permit
from permits_app.actions.expire import expire_permit
from permits_app.models import ActionPermit, SpendEntry
from permits_app.models.permit import PermitStatus
from tests.concurrency.waiting import run_behind
from tests.factories.golems import make_golem, make_owner
from tests.factories.permits import make_permit, make_spend_entry
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
