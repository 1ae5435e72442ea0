"""Dreams in simulated time: which nights of a month a golem dreams in, and of what."""

from __future__ import annotations

import uuid
from datetime import datetime, timedelta
from functools import partial
from itertools import pairwise

import pytest

from memory_app.dreams.run_dream import AGAIN_AFTER, dream, list_golems_to_dream
from memory_app.models import DreamJournal
from tests.memory_app.factories import NOW, make_golem, remember
from tests.memory_app.test_run_dream import fake_imagine, four_runs, surprise


def _stand_still(at: datetime) -> datetime:
    return at


@pytest.mark.django_db
def test_over_a_month_of_nights_a_golem_dreams_after_each_surprise_and_of_the_same_again_after_a_week(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Thirty simulated days, four looks a night; every third day something missed its prediction."""
    golem = make_golem()
    fake_imagine(monkeypatch, four_runs)
    nights: list[int] = []
    for day in range(30):
        noon = NOW + timedelta(days=day)
        if day % 3 == 0:
            surprise(golem, now=noon)
        else:
            remember(golem, f"day {day} went as predicted", permit_id=uuid.uuid4(), now=noon)
        for look in range(4):
            night = noon + timedelta(hours=10 + look)
            if golem.pk in list_golems_to_dream(now=night):
                assert dream(golem_id=golem.pk, clock_now=partial(_stand_still, night)) is not None
                nights.append(day)
    assert [day for day in nights if day < 7] == [0, 3, 6], "nothing on a night after a day that surprised nobody"
    assert set(range(0, 30, 3)) <= set(nights)
    replays: dict[str, list[datetime]] = {}
    for journal in DreamJournal.objects.filter(phase="NREM").order_by("started_at"):
        for each in journal.entries:
            replays.setdefault(each["episode_id"], []).append(journal.started_at)
    assert len(replays) == 10
    for times in replays.values():
        assert all(later - earlier > AGAIN_AFTER for earlier, later in pairwise(times))
