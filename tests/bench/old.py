"""What two hundred thousand permits of a past cost a golem: its previews, its ticks and its owner's first page."""

from __future__ import annotations

from collections.abc import Iterator
from uuid import UUID, uuid4

from django.contrib.auth import get_user_model
from django.db import connection, transaction
from django.test import Client

from archetypes_app.models import Golem, Heartbeat
from golem_project.demo.seed import seed_demo
from golem_project.heartbeat.cycle import run_heartbeat_tick
from permits_app.actions.cancel import cancel_permit
from permits_app.actions.preview import preview_action
from permits_app.models import ActionPermit, SpendingLimits
from tests.bench.figures import Figure, measure, percentile, time_calls
from tests.bench.heartbeat import claim_of, make_like
from tests.bench.profiles import profile_calls
from tests.old_life import give_life
from tools_app.core import clock

PERMITS = 200_000
PERMITS_OF_OTHERS = 800_000
_FULL = 1_000
_BESIDE_PERMITS = {
    "permits_app.OutboundTransaction",
    "permits_app.OutcomeRecord",
    "permits_app.SpendEntry",
    "permits_app.NonceReservation",
    "archetypes_app.HeartbeatTick",
    "permits_app.NavSnapshot",
    "permits_app.DeniedCall",
    "memory_app.Episode",
}
_SEEDS = 20
_TICKS = 8
_COUNT = 40
_MOST_PAGE_MS = 1_000
_SWAP = {"action_type": "swap", "token_in": "USDC", "token_out": "WETH"}
_MOST = 1.15
"""An old golem's time over a new one's."""


@measure("old")
def measure_old() -> Iterator[Figure]:
    """On throw-away servers: the rows of a long life are written beside those of the demo golem."""
    golem = seed_demo(now=clock.now(), with_token=False).golem
    SpendingLimits.objects.filter(golem=golem).update(writes_per_hour=1_000_000)
    pulse, young_pulse = _make_pulse(golem), _make_pulse(golem)
    _turn_on_alone(pulse)
    # Fewer than ten, so that no copy has the number of another.
    time_calls(lambda: run_heartbeat_tick(claim=claim_of(pulse)), count=_TICKS, warm_up=0)
    for number in range(2 * _SEEDS):
        _preview_and_cancel(golem, 3_000_000 + number)
    others = _part_with(golem)
    young = _measure(golem, young_pulse)
    with transaction.atomic():
        give_life(golem, PERMITS // _SEEDS, without={"memory_app.Episode"}, full=_FULL)
        give_life(pulse, PERMITS // _TICKS, without={"memory_app.Episode"}, full=_FULL)
        give_life(others, PERMITS_OF_OTHERS // _SEEDS, without=_BESIDE_PERMITS, full=0)
    with connection.cursor() as cursor:
        # As PostgreSQL did long ago with the rows of a real life; beside it, it would be measured.
        cursor.execute("VACUUM (ANALYZE)")
    count = ActionPermit.objects.filter(golem=golem).count()
    everybody_s = ActionPermit.objects.count()
    for (name, before), after in zip(young.items(), _measure(golem, pulse).values(), strict=True):
        told = f"{after:g} ms with {count} of {everybody_s} permits and as long a pulse, {before:g} ms without"
        what = f"{name} of an old golem over that of a new one"
        profile = _profile(name, golem, pulse) if after > _MOST * before else ()
        yield Figure(f"old.{name}", what, round(after / before, 2), "times", _MOST, told, profile=profile)
    Heartbeat.objects.filter(golem__in=(pulse, young_pulse)).update(is_on=False)
    browser = Client()
    browser.force_login(get_user_model().objects.get(pk=golem.owner_id))
    pages = time_calls(lambda: browser.get("/admin/"), count=5, warm_up=1)
    p50 = percentile(pages, 50)
    profile = profile_calls(lambda: browser.get("/admin/"), count=3) if p50 > _MOST_PAGE_MS else ()
    what = "its owner's first page, median of 5"
    yield Figure("old.overview", what, p50, "ms", target=_MOST_PAGE_MS, profile=profile)


def _part_with(golem: Golem) -> Golem:
    """Another golem, which has half of what this one acted."""
    others = make_like(golem, f"old {uuid4().hex[:8]}")
    others.save(force_insert=True)
    newest = ActionPermit.objects.filter(golem=golem).order_by("-created_at").values_list("pk", flat=True)[:_SEEDS]
    ActionPermit.objects.filter(pk__in=list(newest)).update(golem=others)
    return others


def _make_pulse(golem: Golem) -> Golem:
    pulse = make_like(golem, f"old {uuid4().hex[:8]}")
    # Its copied ticks have lower numbers, ten for each copy.
    pulse.heartbeat_tick = 10 * PERMITS
    pulse.save(force_insert=True)
    Heartbeat.objects.create(golem=pulse, is_on=False)
    return pulse


def _turn_on_alone(pulse: Golem) -> None:
    """A claim takes who is due longest, and nobody else ticks here."""
    Heartbeat.objects.exclude(golem=pulse).filter(is_on=True).update(is_on=False)
    Heartbeat.objects.filter(golem=pulse).update(is_on=True)


def _profile(name: str, golem: Golem, pulse: Golem) -> tuple[str, ...]:
    amounts = iter(range(9_000_000, 10_000_000))
    if name == "tick":
        return profile_calls(lambda: run_heartbeat_tick(claim=claim_of(pulse)), count=10)
    return profile_calls(lambda: _preview_and_cancel(golem, next(amounts)), count=10)


def _measure(golem: Golem, pulse: Golem) -> dict[str, float]:
    """Medians in milliseconds."""
    _turn_on_alone(pulse)
    amounts = iter(range(5_000_000, 9_000_000))
    previews = []
    for _ in range(_COUNT):
        started = clock.monotonic_ms()
        permit_id = _preview(golem, next(amounts))
        previews.append(clock.monotonic_ms() - started)
        _cancel(golem, permit_id)
    ticks = time_calls(lambda: run_heartbeat_tick(claim=claim_of(pulse)), count=_COUNT, warm_up=8)
    return {"preview": percentile(previews[5:], 50), "tick": percentile(ticks, 50)}


def _preview(golem: Golem, amount: int) -> str:
    body = {**_SWAP, "amount": str(amount)}
    return str(preview_action(golem_id=golem.pk, api_key_id=None, body=body, now=clock.now())["permit_id"])


def _cancel(golem: Golem, permit_id: str) -> None:
    cancel_permit(golem=golem, permit_id=UUID(permit_id), reason="measured only", actor="system:bench", now=clock.now())


def _preview_and_cancel(golem: Golem, amount: int) -> None:
    _cancel(golem, _preview(golem, amount))
