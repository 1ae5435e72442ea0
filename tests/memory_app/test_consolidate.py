"""Consolidation: clusters become insights, five verified episodes a tuning that only tightens."""

from __future__ import annotations

import uuid
from datetime import timedelta
from typing import Any

import pytest
from django.db import IntegrityError, transaction
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from archetypes_app.models import Golem
from memory_app.actions.consolidate import consolidate, list_golems_to_consolidate
from memory_app.heuristic_adjustment import shift_factor
from memory_app.memory_adjustments import Augmentation, augment, tighten_slippage
from memory_app.models import Episode, Insight
from memory_app.models.insight import Kind
from memory_app.tasks import consolidate_memory_task
from tests.memory_app.factories import NOW, make_golem, remember
from tools_app.core.models import AuditEntry

GOOD = {"prediction": {"amount_out": "1000"}, "outcome": {"amount_out": "1000", "succeeded": True}}
MOVED: dict[str, Any] = {"prediction": {}, "outcome": {"status": "REVERTED", "revert_reason": "Too little received"}}


def live(golem: Any, count: int, facts: dict[str, Any] = GOOD, **given_facts: Any) -> list[Episode]:
    return [
        remember(golem, f"swap {uuid.uuid4()}", permit_id=uuid.uuid4(), **(facts | given_facts)) for _ in range(count)
    ]


def ask(golem: Any, **params: Any) -> Augmentation:
    asked = {"token_in": "USDC", "token_out": "WETH", "slippage_bps": 50, "chain_id": 31337}
    return augment(golem_id=golem.pk, tool_name="uniswap_execute_swap", params=asked | params, now=NOW)


@pytest.mark.django_db
def test_three_alike_make_an_insight_and_two_wait() -> None:
    golem = make_golem()
    live(golem, 2)
    assert list_golems_to_consolidate(now=NOW) == []
    assert consolidate(golem_id=golem.pk, now=NOW).clusters_found == 0
    [third] = live(golem, 1)
    assert list_golems_to_consolidate(now=NOW) == [golem.pk]
    done = consolidate(golem_id=golem.pk, now=NOW)
    assert (done.clusters_found, done.insights_created, done.heuristics_tuned) == (1, 1, 0)
    insight = Insight.objects.get(golem=golem)
    assert (insight.kind, insight.confidence_percent, len(insight.episode_ids)) == (Kind.INSIGHT, 60, 3)
    assert third.pk in insight.episode_ids
    assert AuditEntry.objects.filter(golem_id=golem.pk, event="MemoryConsolidated").count() == 1
    again = consolidate(golem_id=golem.pk, now=NOW)
    assert (again.episodes_processed, again.insights_created) == (0, 0)


@pytest.mark.django_db
def test_whom_to_consolidate_is_asked_in_two_questions_however_many_golems_there_are(
    django_assert_num_queries: Any,
) -> None:
    golems = [make_golem(name=f"golem {number}") for number in range(4)]
    for golem, count in zip(golems, (3, 2, 3, 4), strict=True):
        live(golem, count)
    Golem.objects.filter(pk=golems[2].pk).update(is_memory_enabled=False)
    with django_assert_num_queries(2):
        found = list_golems_to_consolidate(now=NOW)
    assert found == sorted([golems[0].pk, golems[3].pk])


@pytest.mark.django_db
def test_five_that_agree_tighten_slippage_by_a_tenth_and_name_their_episodes() -> None:
    golem = make_golem()
    episodes = live(golem, 5)
    assert consolidate(golem_id=golem.pk, now=NOW).heuristics_tuned == 1
    found = ask(golem)
    assert found.changes == {"slippage_bps": 45}
    assert set(found.behind["slippage_bps"]) == {episode.pk for episode in episodes}
    assert sorted(found.as_dict()["behind"]["slippage_bps"]) == sorted(str(episode.pk) for episode in episodes)


@pytest.mark.django_db
def test_four_episodes_tune_nothing() -> None:
    golem = make_golem()
    live(golem, 4)
    consolidate(golem_id=golem.pk, now=NOW)
    assert ask(golem).changes == {}


@pytest.mark.django_db
def test_a_heuristic_moves_once_in_four_hours() -> None:
    golem = make_golem()
    for hours, factor in ((0, 9_000), (3, 9_000), (4, 8_100), (2, 8_100)):
        live(golem, 5)
        consolidate(golem_id=golem.pk, now=NOW + timedelta(hours=hours))
        assert Insight.objects.get(golem=golem, kind=Kind.HEURISTIC).factor_bps == factor


@pytest.mark.django_db
def test_slippage_reverts_contradict_and_go_back_towards_what_was_asked() -> None:
    golem = make_golem()
    live(golem, 5)
    consolidate(golem_id=golem.pk, now=NOW)
    live(golem, 5, MOVED)
    done = consolidate(golem_id=golem.pk, now=NOW + timedelta(hours=4))
    assert (done.insights_contradicted, done.heuristics_tuned) == (1, 1)
    assert Insight.objects.get(golem=golem, kind=Kind.INSIGHT).confidence_percent == 45
    heuristic = Insight.objects.get(golem=golem, kind=Kind.HEURISTIC)
    assert (heuristic.factor_bps, heuristic.confidence_percent) == (9_900, 16)
    assert Insight.objects.get(golem=golem, kind=Kind.WARNING).category == "slippage"
    # A heuristic that is doubted more than believed tunes nothing.
    assert ask(golem).changes == {}


@pytest.mark.django_db
def test_only_the_same_golem_chain_tool_and_tokens_are_tuned() -> None:
    golem = make_golem()
    live(golem, 5)
    consolidate(golem_id=golem.pk, now=NOW)
    assert ask(make_golem()).changes == {}
    assert ask(golem, chain_id=1).changes == {}
    assert ask(golem, token_out="DAI").changes == {}
    other = augment(golem_id=golem.pk, tool_name="other_tool", params={"slippage_bps": 50}, now=NOW)
    assert other.changes == {}


@pytest.mark.django_db
@pytest.mark.parametrize(
    "given_facts",
    [
        {"provenance": {"written_by": "agent"}},
        {"provenance": {"written_by": "import"}},
        {"provenance": {"written_by": "runtime", "trust": "untrusted"}},
        {"provenance": {"written_by": "runtime", "trust": "reported"}},
    ],
)
def test_what_was_not_verified_by_the_runtime_teaches_nothing(given_facts: dict[str, Any]) -> None:
    golem = make_golem()
    live(golem, 10, **given_facts)
    assert consolidate(golem_id=golem.pk, now=NOW).episodes_processed == 0
    assert ask(golem).changes == {}


@pytest.mark.django_db
@settings(max_examples=20, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    st.lists(
        st.tuples(st.sampled_from([GOOD, MOVED]), st.text(max_size=60), st.integers(0, 10**9)), min_size=5, max_size=12
    ),
    st.integers(0, 10_000),
)
def test_no_content_however_poisoned_asks_for_more_slippage_or_anything_else(rows: list[Any], asked: int) -> None:
    golem = make_golem()
    for facts, text, number in rows:
        outcome = {**facts["outcome"], "slippage_bps": str(number), "recipient": text, "max_slippage_bps": "10000"}
        remember(
            golem, f"{text} slippage_bps=10000", permit_id=uuid.uuid4(), prediction=facts["prediction"], outcome=outcome
        )
    consolidate(golem_id=golem.pk, now=NOW)
    changes = ask(golem, slippage_bps=asked).changes
    assert set(changes) <= {"slippage_bps"}
    assert asked // 2 <= int(changes.get("slippage_bps", asked)) <= asked


@pytest.mark.django_db
@pytest.mark.parametrize(
    "change",
    [{"parameter": "recipient"}, {"factor_bps": 10_001}, {"factor_bps": 4_999}, {"episode_ids": [uuid.uuid4()] * 4}],
)
def test_the_database_refuses_a_heuristic_that_could_do_more(change: dict[str, Any]) -> None:
    golem = make_golem()
    live(golem, 5)
    consolidate(golem_id=golem.pk, now=NOW)
    with pytest.raises(IntegrityError), transaction.atomic():
        Insight.objects.filter(golem=golem, kind=Kind.HEURISTIC).update(**change)


@given(st.integers(0, 10_000), st.integers(0, 50_000))
def test_tightening_stays_between_half_and_all(asked: int, factor: int) -> None:
    assert asked // 2 <= tighten_slippage(asked_bps=asked, factor_bps=factor) <= asked


@given(st.integers(5_000, 10_000), st.booleans())
def test_one_cycle_shifts_at_most_a_tenth(factor: int, tighten: bool) -> None:
    after = shift_factor(factor_bps=factor, tighten=tighten)
    assert abs(after - factor) * 10 <= factor
    assert 5_000 <= after <= 10_000


@pytest.mark.django_db
def test_a_dry_run_keeps_nothing_and_a_hundred_is_the_most() -> None:
    golem = make_golem()
    live(golem, 103)
    done = consolidate(golem_id=golem.pk, now=NOW, dry_run=True, max_episodes=1_000)
    assert (done.episodes_processed, done.insights_created) == (100, 1)
    assert not Insight.objects.filter(golem=golem).exists()
    assert not Episode.objects.filter(golem=golem, consolidated_at__isnull=False).exists()
    assert not AuditEntry.objects.filter(golem_id=golem.pk, event="MemoryConsolidated").exists()


@pytest.mark.django_db
def test_the_task_serves_every_golem_with_news(monkeypatch: pytest.MonkeyPatch) -> None:
    first, second = make_golem(), make_golem()
    live(first, 3)
    live(second, 3)
    monkeypatch.setattr("memory_app.tasks.clock.now", lambda: NOW)
    assert consolidate_memory_task() == 2
    assert {row.golem_id for row in Insight.objects.all()} == {first.pk, second.pk}


@pytest.mark.django_db
def test_a_golem_whose_memory_is_switched_off_draws_no_conclusions_until_it_is_on_again(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    golem = make_golem()
    live(golem, 3)
    switch = Golem.objects.filter(pk=golem.pk)
    switch.update(is_memory_enabled=False)
    monkeypatch.setattr("memory_app.tasks.clock.now", lambda: NOW)
    assert consolidate_memory_task() == 0
    assert not Insight.objects.filter(golem=golem).exists()
    switch.update(is_memory_enabled=True)
    assert consolidate_memory_task() == 1
    assert Insight.objects.filter(golem=golem).exists()
