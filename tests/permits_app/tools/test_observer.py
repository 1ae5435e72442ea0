"""What golems of one owner did and left is counted from rows, and nothing of another owner's is in it."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest

from archetypes_app.models import Golem
from archetypes_app.toolset import view_golem
from memory_app.models import Episode
from memory_app.models.insight import Insight, Kind
from permits_app.models.death import Death, DeathState
from permits_app.tools.observer import LEAST_EPISODES, MOST_TESTAMENTS
from tests import factories
from tools_app.core import clock
from tools_app.core.errors import InvalidParams
from tools_app.runner import run_read
from tools_app.toolkit.registry import REGISTRY
from tools_app.toolkit.tooldef import ReadTool

pytestmark = pytest.mark.django_db


def ask(golem: Golem, name: str, **params: Any) -> Any:
    tool = REGISTRY.get(name)
    assert isinstance(tool, ReadTool)
    return run_read(tool=tool, params=params, golem=view_golem(golem), now=clock.now()).data


def act(golem: Golem, action: str, times: int, *, failed: int = 0, days_ago: int = 0) -> None:
    for number in range(times):
        row = factories.make_episode(golem=golem)
        Episode.objects.filter(pk=row.pk).update(
            action_type=action,
            outcome={"succeeded": number >= failed},
            occurred_at=clock.now() - timedelta(days=days_ago),
        )


def end(golem: Golem, *, reason: str = "no life left", left: int = 0, state: DeathState = DeathState.RETIRED) -> Death:
    now = clock.now()
    Golem.objects.filter(pk=golem.pk).update(
        retired_at=now if state == DeathState.RETIRED else None,
        created_at=now - timedelta(days=40),
        heartbeat_tick=900,
    )
    golem.refresh_from_db()
    return Death.objects.create(
        golem=golem,
        state=state,
        reason=reason,
        actor="system:death",
        announced_at=now,
        due_at=now,
        left=[{"position": str(number)} for number in range(left)],
        export_file="memory.tar",
        ended_at=now,
        ended_by="system:death",
    )


def test_golems_that_do_alike_are_one_cluster_and_what_came_out_is_counted() -> None:
    owner, other = factories.make_owner(name="ada"), factories.make_owner(name="bo")
    first, second, third = (factories.make_golem(owner=owner, name=name) for name in ("one", "two", "three"))
    stranger = factories.make_golem(owner=other, name="stranger")
    act(first, "swap", 8, failed=2)
    act(first, "add_liquidity", 1)
    act(second, "swap", 6)
    act(third, "lend", LEAST_EPISODES)
    act(stranger, "swap", 50)
    end(second)
    told = ask(first, "golem_cluster_archetypes")
    swaps, lends = told["clusters"]
    assert [each["golem"] for each in swaps["members"]] == ["one", "two"]
    assert [each["has_ended"] for each in swaps["members"]] == [False, True]
    assert (swaps["main_action"], swaps["episodes"], swaps["success_percent"]) == ("swap", 15, 13 * 100 // 15)
    assert swaps["actions"] == {"swap": 14, "add_liquidity": 1}
    assert (lends["main_action"], lends["success_percent"]) == ("lend", 100)
    assert (told["golems"], told["left_out"], told["confidence"]) == (3, 0, "low")
    assert "stranger" not in str(told)


def test_half_swaps_and_half_loans_are_a_cluster_of_their_own() -> None:
    owner = factories.make_owner(name="ada")
    first, second = (factories.make_golem(owner=owner, name=name) for name in ("one", "two"))
    act(first, "swap", 10)
    # The cosine is 10 * 10 / (10 * sqrt(100 + 25)) = 0.894, just under what is alike.
    act(second, "swap", 10)
    act(second, "lend", 5)
    assert len(ask(first, "golem_cluster_archetypes")["clusters"]) == 2
    # One loan fewer: 10 / sqrt(116) = 0.928.
    Episode.objects.filter(golem=second, action_type="lend").first().delete()  # type: ignore[union-attr]
    assert len(ask(first, "golem_cluster_archetypes")["clusters"]) == 1


def test_four_episodes_and_those_before_the_window_or_quarantined_make_no_cluster() -> None:
    owner = factories.make_owner(name="ada")
    golem = factories.make_golem(owner=owner)
    act(golem, "swap", LEAST_EPISODES - 1)
    act(golem, "swap", 20, days_ago=31)
    told = ask(golem, "golem_cluster_archetypes")
    assert (told["clusters"], told["left_out"], told["confidence"]) == ([], 1, "none")
    act(golem, "swap", 1)
    assert [each["episodes"] for each in ask(golem, "golem_cluster_archetypes")["clusters"]] == [LEAST_EPISODES]
    Episode.objects.filter(golem=golem).update(is_quarantined=True)
    assert ask(golem, "golem_cluster_archetypes")["clusters"] == []


def test_a_testament_tells_why_and_how_long_and_what_failed_last() -> None:
    owner, other = factories.make_owner(name="ada"), factories.make_owner(name="bo")
    golem, heir = (factories.make_golem(owner=owner, name=name) for name in ("old", "heir"))
    stranger = factories.make_golem(owner=other, name="stranger")
    act(golem, "swap", 5, failed=3)
    act(golem, "swap", 5, failed=5, days_ago=31)
    for percent, text, poisoned in ((90, "never at night", False), (40, "thin pools", False), (99, "poison", True)):
        row = factories.make_insight(golem=golem, text=text)
        Insight.objects.filter(pk=row.pk).update(kind=Kind.WARNING, confidence_percent=percent, is_quarantined=poisoned)
    end(golem, left=2)
    end(stranger, reason="a secret")
    told = ask(heir, "golem_mine_testaments")
    (one,) = told["testaments"]
    assert (one["golem"], one["reason"], one["lived_days"], one["ticks"]) == ("old", "no life left", 40, 900)
    assert (one["actions"], one["went_wrong"], one["positions_left"]) == (5, {"swap": 3}, 2)
    assert one["lessons"] == ["never at night", "thin pools"] and one["untrusted"]
    assert (told["total"], told["often_went_wrong"], one["archive"]) == (1, {"swap": 3}, "memory.tar")
    assert ask(stranger, "golem_mine_testaments")["testaments"][0]["golem"] == "stranger"


def test_an_end_that_was_stopped_left_nothing() -> None:
    golem = factories.make_golem(owner=factories.make_owner(name="ada"))
    end(golem, state=DeathState.STOPPED)
    assert ask(golem, "golem_mine_testaments") == {"testaments": [], "total": 0, "often_went_wrong": {}}


def test_twenty_testaments_are_the_most() -> None:
    golem = factories.make_golem(owner=factories.make_owner(name="ada"))
    ask(golem, "golem_mine_testaments", limit=MOST_TESTAMENTS)
    with pytest.raises(InvalidParams):
        ask(golem, "golem_mine_testaments", limit=MOST_TESTAMENTS + 1)
