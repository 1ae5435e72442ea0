"""A golem's end whose follower dies at any of its doors: it is announced, exported and retired once."""

from __future__ import annotations

from typing import Any

import pytest

from permits_app.actions.carry_out_deaths import carry_out_deaths
from permits_app.actions.halt import carry_out_halt
from permits_app.halts.deaths import announce_death
from permits_app.models import Death, HaltRecord
from tests.concurrency.doors import is_change, kill_at_each_door
from tests.evm.world import World
from tests.live_golem import LiveGolem, make_live_golem
from tools_app.core import clock
from tools_app.core.audit_checkpoints import verify_stored_chain
from tools_app.core.models import AuditEntry, OutboxEvent

pytestmark = [
    pytest.mark.django_db(transaction=True),
    pytest.mark.filterwarnings("ignore:.*multi-threaded, use of fork.*:DeprecationWarning"),
]


def follow(golem: LiveGolem) -> None:
    """The whole way, as the clock's task and a commit worker take it."""
    for _ in range(3):
        carry_out_deaths(now=clock.now())
        for record in HaltRecord.objects.filter(golem=golem.golem, completed_at=None):
            carry_out_halt(golem_id=golem.golem.pk, epoch=record.epoch, now=clock.now())


def count(golem: LiveGolem, event: str) -> int:
    return AuditEntry.objects.filter(golem_id=golem.golem.pk, event=event).count()


def test_an_end_whose_follower_dies_before_any_of_its_doors_happens_once(local_chain: World) -> None:
    def start(number: int) -> LiveGolem:
        golem = make_live_golem(local_chain, name=f"Ending {number}")
        announce_death(golem=golem.golem, reason="done", actor="owner:1", due_at=clock.now(), now=clock.now())
        return golem

    met: list[Any] = []
    for golem, door in kill_at_each_door(start, follow, is_door=is_change):
        where = f"door {len(met)}: {door}"
        met.append(door)
        follow(golem)
        golem.golem.refresh_from_db()
        golem.key.key.refresh_from_db()
        assert golem.golem.retired_at is not None and golem.key.key.revoked_at is not None, where
        death = Death.objects.get(golem=golem.golem)
        assert death.state == "RETIRED" and death.export_file, where
        for event in ("DeathInitiated", "HaltStarted", "GrimoireExported", "GolemRetired"):
            assert count(golem, event) == 1, f"{where}: {event}"
        told = OutboxEvent.objects.filter(golem_id=golem.golem.pk, type="death:completed")
        assert told.count() == 1, where
        assert verify_stored_chain(golem.golem.pk).broken is None, where
    assert len(met) > 5 and met[-1] is None
