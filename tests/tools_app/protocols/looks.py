"""What a golem's tick tells of what it holds or may draw: the alerts of one source, in their order."""

from __future__ import annotations

from archetypes_app.models import Golem
from permits_app.actions.check_received_rights import check_received_rights
from permits_app.models import ReceivedRight
from tests.evm.world import World
from tests.golem_project.heartbeat.pulses import tick
from tools_app.core import clock
from tools_app.core.models import OutboxEvent


def told(golem: Golem, source: str) -> list[str]:
    """The rules of its alerts."""
    rows = OutboxEvent.objects.filter(golem_id=golem.pk, type="heartbeat:alert", payload__source=source)
    return [alert["rule"] for row in rows.order_by("sequence") for alert in row.payload["alerts"]]


def look(golem: Golem) -> None:
    """What the clock asks for within a tick: rights over others' money are looked at, and then the tick runs."""
    now = clock.now()
    ReceivedRight.objects.filter(next_look_at__isnull=False).update(next_look_at=now)
    check_received_rights(now=now)
    tick(golem)


def set_feed(world: World, symbol: str, function: str, value: int) -> None:
    """The price of a token, or when it was told."""
    world.transact(world.actors.deployer, world.tokens[symbol].feed, function, value)


def fall(world: World, symbol: str) -> None:
    """A dollar is worth 93 cents."""
    set_feed(world, symbol, "setAnswer(int256)", 93 * 10**6)


def grow_stale(world: World, symbol: str) -> None:
    """Nobody told its price for more than a day."""
    set_feed(world, symbol, "setUpdatedAt(uint256)", world.timestamp() - 100_000)
