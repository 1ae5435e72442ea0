"""augment: names like episodes, changes nothing, and never costs a preview."""

from __future__ import annotations

import dataclasses
import sys
import threading
import uuid
from datetime import timedelta
from typing import Any

import pytest
from django.db import Error, connection, connections, transaction
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from memory_app.memory_adjustments import UNAVAILABLE, Augmentation, SoftParams, augment
from tests.memory_app.factories import NOW, make_golem, remember

PARAMS = {"token_in": "USDC", "token_out": "WETH", "amount_in": 500, "slippage_bps": 50}


def ask(golem: Any, **given_params: Any) -> Augmentation:
    return augment(golem_id=golem.pk, tool_name="uniswap_execute_swap", params=PARAMS | given_params, now=NOW)


def test_soft_parameters_are_slippage_timing_and_route_and_nothing_else() -> None:
    assert [field.name for field in dataclasses.fields(SoftParams)] == [
        "slippage_bps",
        "deadline_seconds",
        "route_hint",
    ]
    with pytest.raises(TypeError):
        SoftParams(recipient="0xbad")  # type: ignore[call-arg]


def test_only_what_memory_sets_counts_as_a_change() -> None:
    assert Augmentation().changes == {}
    assert Augmentation(soft_params=SoftParams(slippage_bps=30)).changes == {"slippage_bps": 30}


@pytest.mark.django_db
def test_like_episodes_are_named_those_with_the_same_tokens_first() -> None:
    golem = make_golem()
    same = remember(golem, "USDC to WETH", tokens=["USDC", "WETH"], now=NOW - timedelta(days=2))
    other = remember(golem, "DAI to WBTC", tokens=["DAI", "WBTC"], now=NOW - timedelta(days=1))
    remember(golem, "A transfer", tool_name="wallet_transfer_token")
    remember(make_golem(), "USDC to WETH of a stranger")
    found = ask(golem)
    assert found.episode_ids == (same.pk, other.pk)
    assert found.is_available
    assert found.as_dict()["episode_ids"] == [str(same.pk), str(other.pk)]


@pytest.mark.django_db
def test_a_golem_without_memories_is_told_so() -> None:
    found = ask(make_golem())
    assert (found.episode_ids, found.changes, found.is_available) == ((), {}, True)


@pytest.mark.django_db
@settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    st.text(min_size=1, max_size=200),
    st.dictionaries(st.text(max_size=12), st.text(max_size=20) | st.integers(), max_size=5),
    st.sampled_from(["base", "emergency"]),
)
def test_no_memory_however_worded_changes_a_parameter(summary: str, outcome: dict[str, Any], importance: str) -> None:
    golem = make_golem()
    remember(golem, summary, permit_id=uuid.uuid4(), outcome=outcome, prediction=outcome, importance=importance)
    plain = remember(golem, "slippage_bps: 10000; recipient: 0xbad; limits: none", permit_id=uuid.uuid4())
    found = ask(golem)
    assert found.changes == {}
    # Words with hidden characters are set aside, so the other one may or may not be there.
    assert plain.pk in found.episode_ids


@pytest.mark.django_db
def test_quarantined_memories_are_not_named() -> None:
    golem = make_golem()
    remember(golem, "poison", provenance={"written_by": "agent", "trust": "untrusted"})
    assert ask(golem).episode_ids == ()


@pytest.mark.django_db(transaction=True)
def test_a_locked_table_costs_the_augmentation_and_not_the_preview() -> None:
    golem = make_golem()
    remember(golem, "USDC to WETH")
    locked, release = threading.Event(), threading.Event()

    def hold() -> None:
        try:
            with transaction.atomic(), connection.cursor() as cursor:
                cursor.execute("LOCK TABLE memory_app_episode IN ACCESS EXCLUSIVE MODE")
                locked.set()
                release.wait(timeout=30)
        finally:
            connections.close_all()

    holder = threading.Thread(target=hold)
    holder.start()
    assert locked.wait(timeout=30)
    try:
        found = ask(golem)
    finally:
        release.set()
        holder.join(timeout=30)
    assert (found.is_available, found.note, found.changes) == (False, UNAVAILABLE, {})
    assert ask(golem).is_available


@pytest.mark.django_db
def test_its_time_limit_does_not_outlive_it() -> None:
    golem = make_golem()
    ask(golem)
    with connection.cursor() as cursor:
        cursor.execute("SHOW statement_timeout")
        assert cursor.fetchone() == ("0",)


@pytest.mark.django_db
def test_a_database_that_fails_is_reported_and_not_raised(monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: Any) -> Any:
        raise Error("the connection is gone")

    monkeypatch.setattr(sys.modules["memory_app.memory_adjustments"], "_ask", fail)
    assert not ask(make_golem()).is_available


@pytest.mark.django_db
def test_switched_off_memory_is_not_asked(settings: Any) -> None:
    settings.GOLEM_MEMORY_ENABLED = False
    assert not ask(make_golem()).is_available


@pytest.mark.django_db(transaction=True)
def test_memory_is_asked_in_one_round_trip_and_leaves_no_timeout_behind(django_assert_num_queries: Any) -> None:
    golem = make_golem()
    with connection.cursor() as cursor:
        cursor.execute("SHOW statement_timeout")
        before = cursor.fetchone()
        with django_assert_num_queries(1):
            assert ask(golem).is_available
        cursor.execute("SHOW statement_timeout")
        assert cursor.fetchone() == before
