"""What a tick, its planner and its duties decide by a number, just below, at and just above it."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from types import SimpleNamespace
from typing import Any
from uuid import UUID, uuid4

import pytest

from archetypes_app.models import Artifact, DecisionCycleRecord, Heartbeat, VitalityRecord
from archetypes_app.models.tick import HeartbeatTick
from golem_project.heartbeat import liquidity_plan, observe_reads
from golem_project.heartbeat.debt_health import Alarm, WatchedDebt, _deleverage
from golem_project.heartbeat.duties import position_monitor, regular_valuation, sleepwalker
from golem_project.heartbeat.duties.monitor import read_pulse
from golem_project.heartbeat.duties.observer_measures import MEASURES, Counted, _count_fills, _count_looks
from golem_project.heartbeat.duties.sleepwalker import ObservedCount, _look_around, _publish, find_all
from golem_project.heartbeat.errors import SteersPending
from golem_project.heartbeat.owner_controls import steer_golem
from golem_project.heartbeat.permit_facts import read_permit_facts
from golem_project.heartbeat.recorded_probes import read_probes
from golem_project.heartbeat.steps import validate
from golem_project.heartbeat.steps.analyze import _measure_pressure
from golem_project.heartbeat.thinking.delegate_thinker import _read_last_look
from golem_project.heartbeat.thinking.model_exchange import _read_turn
from golem_project.heartbeat.thinking.tool_selection import (
    UNHEALTHY,
    TickTask,
    _list_reads,
    _list_signs,
    select_tools,
)
from golem_project.heartbeat.thinking.tools_by_words import _split
from permits_app.models import NavSnapshot
from permits_app.models.action_record import ActionRecord
from tests import factories
from tests.golem_project.heartbeat.thinking.test_tool_selection import toolset_of
from tools_app.toolkit.enums import Phase
from tools_app.toolkit.positions import PositionRef
from tools_app.toolkit.tooldef import ReadTool
from tools_app.toolkit.views import NATIVE

NOW = datetime(2026, 11, 26, tzinfo=UTC)
TICK = timedelta(microseconds=1)
MINUTES = timedelta(minutes=10)


def golem_of(name: str = "ana") -> Any:
    return factories.make_golem(owner=factories.make_owner(name=name))


# ---- liquidity -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("fees", "is_worth_it"), [(499, False), (500, True)])
def test_a_harvest_pays_its_gas_five_times(fees: int, is_worth_it: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(liquidity_plan, "harvest_gas_micro_usd", lambda _: 100)
    held: Any = SimpleNamespace(
        fees_micro_usd=fees, position=SimpleNamespace(position_id="7", pool=SimpleNamespace(protocol="uniswap"))
    )
    rule: Any = SimpleNamespace(harvest_micro_usd=1)
    seen: Any = None
    assert (liquidity_plan._harvest(held, seen, rule, Phase.THRIVING) is not None) is is_worth_it


@pytest.mark.parametrize(("there", "is_swapped_for"), [(9_500, False), (9_499, True)])
def test_what_is_missing_is_swapped_for_from_a_twentieth_on(
    there: int, is_swapped_for: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(liquidity_plan, "value_of", lambda raw, *_: raw)
    token = SimpleNamespace(address="0xA", symbol="A")
    short: Any = SimpleNamespace(raw=there, price=1, token=token)
    other: Any = SimpleNamespace(raw=10**6, token=token, raw_worth=lambda worth: worth)
    rule: Any = SimpleNamespace(slippage_bps=50)
    assert (liquidity_plan._fill_up("uniswap", short, other, 10_000, 0, rule) is not None) is is_swapped_for


@pytest.mark.parametrize(("range_bps", "told"), [(4_999, 4_999), (5_000, 5_000), (5_001, 5_000)])
def test_a_range_is_half_of_the_price_wide_to_each_side_at_most(
    range_bps: int, told: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(liquidity_plan, "_is_fair", lambda *_: True)
    monkeypatch.setattr(liquidity_plan, "_price_text", lambda *_: "1")
    side = SimpleNamespace(raw=10**9, price=1, raw_worth=lambda worth: worth)
    seen: Any = SimpleNamespace(holding=lambda _: side)
    pool: Any = SimpleNamespace(token0="0xA", token1="0xB", fee=500, protocol="uniswap")
    rule: Any = SimpleNamespace(target_micro_usd=1_000, half_width_bps=1, slippage_bps=50)
    wish = liquidity_plan._open(seen, pool, rule, range_bps)
    assert wish is not None and f"within {told} bps" in wish.reason


# ---- what a tick sees and checks -------------------------------------------------------------------------------------


@pytest.mark.parametrize(("registered", "read"), [(12, 13), (13, 1)])
def test_twelve_registered_tokens_are_read_and_of_more_those_that_are_named(registered: int, read: int) -> None:
    def token(number: int) -> Any:
        return SimpleNamespace(address=f"0x{number:040x}", symbol=f"T{number}")

    chain: Any = SimpleNamespace(
        chain_id=1,
        native=lambda: SimpleNamespace(address=NATIVE, symbol="ETH"),
        token=lambda _: SimpleNamespace(address=NATIVE, symbol="ETH"),
        registered_tokens=lambda: [token(number) for number in range(registered)],
    )
    assert len({each.address for each in observe_reads._list_tokens(chain, ["ETH"], [])} | {NATIVE}) == read


@pytest.mark.parametrize(("ticks", "pressure"), [(0, 0), (1, 333_333), (2, 666_666), (3, 10**6), (4, 10**6)])
def test_what_is_due_for_three_ticks_presses_whole(ticks: int, pressure: int) -> None:
    assert _measure_pressure(ticks) == pressure


@pytest.mark.django_db
@pytest.mark.parametrize(("tick", "predictions"), [(3_000, 1), (3_001, 0)])
def test_predictions_of_two_thousand_ticks_count(tick: int, predictions: int) -> None:
    golem = golem_of()
    permit = factories.make_committed_permit(golem=golem)
    # A permit's tick of life ends three ticks after the tick it was made in.
    type(permit).objects.filter(pk=permit.pk).update(expires_at_tick=1_003)
    assert read_permit_facts(golem_id=golem.pk, heartbeat_tick=tick).predictions == predictions


@pytest.mark.parametrize(("left", "code"), [(10**16, None), (10**16 - 1, "GAS_RESERVE")])
def test_a_hundredth_of_a_coin_is_kept_for_getting_out(
    left: int, code: str | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(validate, "pays_no_gas", lambda _: False)
    fee = 2 * 21_000 * 10**9
    coin = SimpleNamespace(raw=left + fee, token=SimpleNamespace(decimals=18, symbol="ETH"))
    state: Any = SimpleNamespace(
        permit={"calls": [{"gas_limit": "21000"}]},
        golem=None,
        observation=SimpleNamespace(holding=lambda _: coin, block=SimpleNamespace(base_fee=10**9)),
    )
    found = validate._judge_gas_reserve(state)
    assert (found and found[0]) == code


@pytest.mark.parametrize(("ms", "code"), [(2_000, None), (1_999, "TICK_OVER")])
def test_two_seconds_of_a_tick_are_left_for_a_commit(ms: int, code: str | None) -> None:
    state: Any = SimpleNamespace(
        permit={"status": "CREATED", "action_class": "CLOSE_POSITION"},
        deadline=SimpleNamespace(remaining_ms=lambda: ms),
    )
    found = validate._find_doubt(state)
    assert (found and found[0]) == code


def test_a_rescue_aims_at_a_health_of_a_hundred_at_most() -> None:
    debt = WatchedDebt("aave_v3:account:1:account", "a debt", 10_000, 2_000_000, Alarm.UNDER)
    held: Any = SimpleNamespace(
        ref=PositionRef("aave_v3", "account", 1, "account"), position=SimpleNamespace(health_bps=None)
    )
    wish = _deleverage(debt, held, "0x1")
    assert wish is not None and wish.params["target_health_factor"] == "100.0000"


# ---- what a model is shown -------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("bps", "reads"), [(199, []), (200, ["pool", "token_price"])])
def test_a_pool_two_percent_off_shows_its_reads(bps: int, reads: list[str]) -> None:
    assert list(_list_reads(read_probes({"deviation_bps": bps}), ())) == reads


@pytest.mark.parametrize(("health", "is_told"), [(13_000, False), (12_999, True)])
def test_a_debt_under_one_point_three_is_unhealthy(health: int, is_told: bool) -> None:
    assert (UNHEALTHY in list(_list_signs(read_probes({"held_elsewhere": [{"health_bps": health}]}), ()))) is is_told


def test_seven_tools_that_write_are_shown_in_a_tick() -> None:
    shown = select_tools(toolset=toolset_of("full"), task=TickTask.ENTER)
    assert len([tool for tool in shown if not isinstance(tool, ReadTool)]) == 7 and len(shown) == 12


def test_a_word_of_three_letters_names_a_tool_and_one_of_two_does_not() -> None:
    assert _split("ab abc") == ["abc"]


@pytest.mark.parametrize(("used", "told"), [(10**9, 10**9), (10**9 + 1, 10**9)])
def test_a_model_says_that_it_used_a_thousand_million_tokens_at_most(used: int, told: int) -> None:
    usage = SimpleNamespace(input_tokens=used, output_tokens=used, cache_write_tokens=0)
    response: Any = SimpleNamespace(parts=[], usage=usage)
    turn = _read_turn(response)
    assert (turn.input_llm_tokens, turn.output_llm_tokens) == (told, told)


# ---- owners ----------------------------------------------------------------------------------------------------------


@pytest.mark.django_db
@pytest.mark.parametrize(("waiting", "is_taken"), [(4, True), (5, False)])
def test_five_words_of_an_owner_wait_for_a_tick(waiting: int, is_taken: bool) -> None:
    golem = golem_of()
    Heartbeat.objects.create(golem=golem, is_on=True, pending_steers=[{"text": "a"}] * waiting)
    if is_taken:
        steer_golem(golem=golem, text="b", actor="a", now=NOW)
        assert len(Heartbeat.objects.get(golem=golem).pending_steers) == 5
        return
    with pytest.raises(SteersPending, match="5 words"):
        steer_golem(golem=golem, text="b", actor="a", now=NOW)


# ---- duties ----------------------------------------------------------------------------------------------------------


def add_tick(golem: Any, number: int, status: str = "FAILED") -> HeartbeatTick:
    return HeartbeatTick.objects.create(
        golem=golem, number=number, fence=number, status=status, scheduled_at=NOW, started_at=NOW, ended_at=NOW
    )


@pytest.mark.django_db
def test_a_pulse_counts_errors_of_ten_ticks_and_actions_of_twenty() -> None:
    golem = golem_of()
    heartbeat = Heartbeat.objects.create(golem=golem, is_on=True)
    ticks = [add_tick(golem, number) for number in range(1, 22)]
    for tick in ticks:
        ActionRecord.objects.create(
            golem=golem, tick=tick, position=0, action_type="swap", state="BLOCKED", block_reason="a rule"
        )
    pulse = read_pulse(heartbeat, now=NOW)
    assert (pulse.failed_ticks, len(pulse.actions)) == (10, 20)


@pytest.mark.django_db
@pytest.mark.parametrize(("age", "income"), [(timedelta(days=7) - TICK, 5), (timedelta(days=7), 0)])
def test_a_pulse_counts_what_was_earned_in_seven_days(age: timedelta, income: int) -> None:
    golem = golem_of()
    NavSnapshot.objects.create(
        golem=golem,
        at=NOW - age,
        chain_id=1,
        block_number=1,
        value_micro_usd=1,
        debt_micro_usd=0,
        parts={"fees_and_interest": 5},
        state={},
        holdings={},
    )
    assert read_pulse(Heartbeat.objects.create(golem=golem, is_on=True), now=NOW).income == income


@pytest.mark.django_db
@pytest.mark.parametrize(("age", "is_fresh"), [(MINUTES - TICK, True), (MINUTES, False)])
def test_what_a_tick_saw_ten_minutes_ago_is_told_to_nobody(
    age: timedelta, is_fresh: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    golem = golem_of()
    Heartbeat.objects.create(golem=golem, is_on=True)
    DecisionCycleRecord.objects.create(
        tick=add_tick(golem, 1), golem=golem, heartbeat_tick=1, decided_at=NOW - age, is_live=False, phase="THRIVING"
    )
    told: list[Any] = []

    def tell(*each: Any, **_: Any) -> bool:
        told.append(each)
        return False

    monkeypatch.setattr(position_monitor, "_tell", tell)
    position_monitor.monitor_positions(now=NOW)
    assert bool(told) is is_fresh
    assert (_read_last_look(golem, NOW) is not None) is is_fresh


@pytest.mark.django_db
@pytest.mark.parametrize(("age", "is_due"), [(MINUTES, True), (MINUTES - TICK, False)])
def test_a_golem_that_does_not_tick_is_valued_every_ten_minutes(
    age: timedelta, is_due: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    golem = golem_of()
    type(golem).objects.filter(pk=golem.pk).update(address="0x" + "1" * 40)
    full = dict.fromkeys(("economic", "epistemic", "stochastic", "value"), 1_000_000)
    VitalityRecord.objects.create(
        golem=golem, balance_micro_usd=1, since_tick=0, heartbeat_tick=0, measured_at=NOW - age, **full
    )
    valued: list[Any] = []

    def value(each: Any, _now: Any) -> bool:
        valued.append(each.pk)
        return True

    monkeypatch.setattr(regular_valuation, "_measure_life", value)
    regular_valuation.value_unattended(now=NOW)
    assert (golem.pk in valued) is is_due


class Rows(list[Any]):
    """A query that gives these, whatever is asked of it."""

    def filter(self, **_: Any) -> Rows:
        return self

    order_by = select_related = values_list = lambda self, *_, **__: self


@pytest.mark.parametrize(("bps", "holds"), [(200, True), (201, False)])
def test_a_price_is_near_its_feeds_within_two_percent(bps: int, holds: bool) -> None:
    rows = Rows([(1, {"pool": "0x1", "deviation_bps": bps})])
    assert [each.holds for each in _count_looks(rows)] == [holds]


@pytest.mark.parametrize(("bps", "holds"), [(10, True), (11, False)])
def test_a_fill_is_as_simulated_within_ten_basis_points(bps: int, holds: bool) -> None:
    row = SimpleNamespace(pk=1, permit=SimpleNamespace(venue="uniswap"), divergence_bps=bps, episode_id=None)
    assert [each.holds for each in _count_fills(Rows([row]))] == [holds]


def finding_of(rows: int, *, subject: str = "0x1") -> ObservedCount:
    measure = next(iter(MEASURES.values()))
    return ObservedCount(measure, subject, tuple(Counted(str(n), subject, True, uuid4()) for n in range(rows)))


@pytest.mark.parametrize(("rows", "found"), [(4, 0), (5, 1)])
def test_five_rows_are_enough_to_say_something(rows: int, found: int, monkeypatch: pytest.MonkeyPatch) -> None:
    measure: Any = SimpleNamespace(group=lambda **_: {"0x1": finding_of(rows).rows})
    monkeypatch.setattr(sleepwalker, "MEASURES", {"one": measure})
    listed = SimpleNamespace(exclude=lambda **_: SimpleNamespace(values_list=lambda *_, **__: []))
    monkeypatch.setattr(sleepwalker, "list_owned_golems", lambda _: listed)
    golem: Any = SimpleNamespace(owner=None, pk=1)
    assert len(find_all(golem, now=NOW)) == found


def test_fifty_episodes_stand_behind_what_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    sources: list[UUID] = []
    monkeypatch.setattr(sleepwalker, "find_all", lambda *_, **__: [finding_of(60)])

    def publish(_golem: Any, _finding: Any, given: list[UUID], _now: Any) -> bool:
        sources.extend(given)
        return True

    monkeypatch.setattr(sleepwalker, "_publish", publish)
    golem: Any = SimpleNamespace(is_memory_enabled=False)
    _look_around(golem, NOW)
    assert len(sources) == 50


@pytest.mark.django_db
@pytest.mark.parametrize(
    ("before", "age", "is_published"),
    [(99, timedelta(0), True), (100, timedelta(0), False), (100, timedelta(hours=1), True)],
)
def test_a_hundred_things_are_said_in_an_hour(before: int, age: timedelta, is_published: bool) -> None:
    golem = golem_of()
    Heartbeat.objects.create(golem=golem, is_on=True)
    Artifact.objects.bulk_create(
        Artifact(
            golem=golem,
            domain=finding_of(1).measure.domain,
            subject=f"s{number}",
            statement="s",
            support=1,
            total=1,
            confidence_percent=90,
            episode_sources=[uuid4()],
            validation_recipe={"measure": "other"},
            price_micro_usd=100_000,
            published_at=NOW - age,
        )
        for number in range(before)
    )
    assert _publish(golem, finding_of(60), [uuid4()], NOW) is is_published
