"""Reads made ahead: learned from what golems read, used at their block, measured, switched off when they are waste."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from datetime import timedelta
from typing import Any, get_type_hints
from uuid import uuid4

import pytest
from django.conf import settings as configured

from archetypes_app.toolset import resolve_toolset, view_golem
from golem_project.heartbeat.duties.learn_read_order import learn_habits
from permits_app.actions.query import query_state
from tests.live_golem import LiveGolem
from tools_app import read_ahead, runner
from tools_app.chain.node_errors import RpcUnavailable
from tools_app.core import clock
from tools_app.core.clock import Deadline
from tools_app.core.models import OutboxEvent
from tools_app.models import SpeculationRecord, ToolCooccurrence
from tools_app.models.tool_cooccurrence import load_predictions, record_outcome
from tools_app.toolkit.chained_read_params import list_from_answer
from tools_app.toolkit.registry import REGISTRY
from tools_app.toolkit.tooldef import LocalWriteTool, ReadTool, WriteTool

FIRST, SECOND = "data_get_token_price", "data_get_pools_by_token"
TOKEN = {"token": "WETH"}


@pytest.fixture(autouse=True)
def _nothing_known(db: None) -> Iterator[None]:
    read_ahead.forget_all()
    yield
    read_ahead.forget_all()


@pytest.fixture
def ahead(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The names of the tools that were read ahead."""
    names: list[str] = []
    original = runner.read_ahead

    def note(**given: Any) -> Any:
        names.append(given["tool"].name)
        return original(**given)

    monkeypatch.setattr(runner, "read_ahead", note)
    return names


def _know(golem: LiveGolem, first: str = FIRST, second: str = SECOND, *, together: int = 30, runs: int = 30) -> str:
    archetype = golem.golem.archetype.name
    ToolCooccurrence.objects.create(archetype=archetype, first=first, second=first, together=runs)
    ToolCooccurrence.objects.create(archetype=archetype, first=first, second=second, together=together)
    return str(archetype)


def _ask(golem: LiveGolem, query: str, **params: Any) -> dict[str, Any]:
    return query_state(golem=golem.golem, query=query, venue=None, params=params or TOKEN, now=clock.now())


def _close(golem: LiveGolem, archetype: str) -> tuple[int, int]:
    read_ahead.forget_all()
    row = SpeculationRecord.objects.get(archetype=archetype)
    return row.used, row.wasted


def _write_history(golem: LiveGolem, *tools: str, sessions: int) -> None:
    start = clock.now() - timedelta(days=1)
    rows = []
    for number in range(sessions):
        for step, tool in enumerate(tools):
            place = 10**9 + number * len(tools) + step
            at = start + timedelta(seconds=number * 60 + step)
            rows.append(
                OutboxEvent(
                    golem_id=golem.golem.pk,
                    sequence=place,
                    position=place,
                    type="tool:end",
                    occurred_at=at,
                    payload={"tool_name": tool, "call_id": str(uuid4())},
                )
            )
    OutboxEvent.objects.bulk_create(rows)


def _load(golem: LiveGolem, threshold_bps: int = 7_000) -> dict[str, tuple[str, ...]]:
    name = golem.golem.archetype.name
    return dict(load_predictions(archetype=name, threshold_bps=threshold_bps, enough_runs=20, most=3))


def test_a_read_that_usually_follows_is_answered_from_what_was_read_ahead(
    shared_golem: LiveGolem, ahead: list[str]
) -> None:
    plain = _ask(shared_golem, "pools_by_token")
    archetype = _know(shared_golem)
    read_ahead.forget_all()
    _ask(shared_golem, "token_price")
    found = _ask(shared_golem, "pools_by_token")
    assert ahead == [SECOND]
    assert found["data"].keys() == plain["data"].keys() and found["schema_version"] == plain["schema_version"]
    assert _close(shared_golem, archetype) == (1, 0)


def test_a_read_from_ahead_tells_its_start_and_end_once(shared_golem: LiveGolem, ahead: list[str]) -> None:
    _know(shared_golem)
    _ask(shared_golem, "token_price")
    assert set(OutboxEvent.objects.values_list("payload__tool_name", flat=True)) >= {FIRST}
    assert not OutboxEvent.objects.filter(payload__tool_name=SECOND).exists()
    _ask(shared_golem, "pools_by_token")
    told = OutboxEvent.objects.filter(payload__tool_name=SECOND).order_by("sequence")
    assert list(told.values_list("type", flat=True)) == ["tool:start", "tool:end"] and ahead == [SECOND]


def test_other_parameters_are_read_anew_and_the_answer_ahead_is_waste(
    shared_golem: LiveGolem, ahead: list[str]
) -> None:
    archetype = _know(shared_golem)
    _ask(shared_golem, "token_price")
    _ask(shared_golem, "pools_by_token", token="USDC")
    assert ahead == [SECOND] and _close(shared_golem, archetype) == (0, 1)


def test_prices_of_a_pools_tokens_are_read_ahead_from_what_the_pool_answered(
    shared_golem: LiveGolem, ahead: list[str]
) -> None:
    archetype = _know(shared_golem, first="data_get_pool_info", second="data_get_token_price")
    address = re.findall(r'"pool_address": "(0x\w+)"', json.dumps(_ask(shared_golem, "pools_by_token")["data"]))[0]
    _ask(shared_golem, "pool", pool_address=address)
    # By its symbol or its address, it is one read.
    found = [
        _ask(shared_golem, "token_price", token=each) for each in ("WETH", shared_golem.world.tokens["WETH"].address)
    ]
    assert found[0]["data"]["price"] == found[1]["data"]["price"]
    used, wasted = _close(shared_golem, archetype)
    assert ahead == ["data_get_token_price"] * 2
    assert (used, wasted) == (1, 1)


def test_two_tokens_of_an_answer_are_followed_and_no_third() -> None:
    tool = REGISTRY.get("data_get_token_price")
    three = {"rows": [{"token": symbol} for symbol in ("WETH", "USDC", "DAI")]}
    found = list_from_answer({}, three)(tool)
    assert found == [[{"token": "WETH"}], [{"token": "USDC"}]]
    # What the parameters alone make was read before the answer came.
    assert list_from_answer({"token": "WETH"}, three)(tool) == []


def test_the_price_of_what_is_sold_is_read_ahead_of_a_quote_by_what_its_parameter_means(
    shared_golem: LiveGolem, ahead: list[str]
) -> None:
    archetype = _know(shared_golem, first="uniswap_get_quote", second="data_get_token_price")
    _ask(shared_golem, "quote", token_in="WETH", token_out="USDC", amount="1000000000000000000")
    assert ahead == ["data_get_token_price"]
    _ask(shared_golem, "token_price", token="WETH")
    assert _close(shared_golem, archetype) == (1, 0)


def test_nothing_is_read_ahead_whose_required_parameters_are_unknown(shared_golem: LiveGolem, ahead: list[str]) -> None:
    _know(shared_golem, second="data_get_pool_info")
    _ask(shared_golem, "token_price")
    read_ahead.forget_all()
    assert ahead == [] and not SpeculationRecord.objects.exists()


def test_after_the_golem_acted_nothing_from_before_is_answered(shared_golem: LiveGolem, ahead: list[str]) -> None:
    archetype = _know(shared_golem)
    permit = shared_golem.preview()
    _ask(shared_golem, "token_price")
    shared_golem.commit(permit["permit_id"])
    _ask(shared_golem, "pools_by_token")
    assert ahead == [SECOND] and _close(shared_golem, archetype) == (0, 1)


def test_a_failure_ahead_leaves_the_ordinary_read(shared_golem: LiveGolem, monkeypatch: pytest.MonkeyPatch) -> None:
    archetype = _know(shared_golem)

    def fail(**_: Any) -> None:
        raise RpcUnavailable("the node is away")

    monkeypatch.setattr(runner, "read_ahead", fail)
    _ask(shared_golem, "token_price")
    assert "pools" in _ask(shared_golem, "pools_by_token")["data"]
    assert _close(shared_golem, archetype) == (0, 1)


def test_an_answer_ahead_is_over_with_its_session(shared_golem: LiveGolem, ahead: list[str], settings: Any) -> None:
    settings.GOLEM_SPECULATION_SESSION_SECONDS = 0
    archetype = _know(shared_golem)
    _ask(shared_golem, "token_price")
    _ask(shared_golem, "pools_by_token")
    assert ahead == [SECOND] and _close(shared_golem, archetype) == (0, 1)


def test_inside_a_tick_it_lives_as_long_as_the_tick(shared_golem: LiveGolem, ahead: list[str], settings: Any) -> None:
    settings.GOLEM_SPECULATION_SESSION_SECONDS = 0
    archetype = _know(shared_golem)
    with runner.bounded_by(Deadline.after_ms(20_000)):
        _ask(shared_golem, "token_price")
        _ask(shared_golem, "pools_by_token")
    assert ahead == [SECOND] and _close(shared_golem, archetype) == (1, 0)


def test_a_read_at_a_newer_block_ends_what_was_read_at_the_older(shared_golem: LiveGolem, ahead: list[str]) -> None:
    archetype = _know(shared_golem)
    _ask(shared_golem, "token_price")
    shared_golem.world.rpc.call("evm_mine")
    _ask(shared_golem, "token_price")
    _ask(shared_golem, "pools_by_token")
    assert ahead == [SECOND, SECOND] and _close(shared_golem, archetype) == (1, 1)


def test_another_golem_is_never_given_the_answer(shared_golem: LiveGolem, ahead: list[str]) -> None:
    archetype = _know(shared_golem)
    _ask(shared_golem, "token_price")
    other = view_golem(shared_golem.golem)
    reading = read_ahead.ReadingAgent(
        golem=type(other)(uuid4(), "other", other.address, other.home_chain_id, other.base_asset, other.phase),
        archetype=archetype,
        toolset=resolve_toolset(shared_golem.golem),
        acted_since=lambda _: False,
        now=clock.now(),
    )
    tool = REGISTRY.get(SECOND)
    assert isinstance(tool, ReadTool)
    assert read_ahead.run_read(tool=tool, params=TOKEN, reading=reading).data["pools"]
    assert _close(shared_golem, archetype) == (0, 1)


@pytest.mark.parametrize("name", ["uniswap_execute_swap", "testnet_stop_local", "stream_price_feed", "memory_search"])
def test_what_leaves_a_trace_cannot_be_read_ahead(shared_golem: LiveGolem, name: str) -> None:
    tool: Any = REGISTRY.get(name)
    chain = runner.open_reader(31337, now=clock.now(), deadline=Deadline.after_ms(5_000))
    golem = view_golem(shared_golem.golem)
    with pytest.raises(TypeError, match=name):
        read_ahead.prefetch(tool=tool, params={}, golem=golem, chain_id=31337, block=chain.block, now=clock.now())


@pytest.mark.parametrize("function", [read_ahead.prefetch, read_ahead.run_read, runner.read_ahead])
def test_every_way_to_read_ahead_is_typed_for_reads(function: Any) -> None:
    tool = get_type_hints(function)["tool"]
    assert tool is ReadTool and not issubclass(WriteTool, tool) and not issubclass(LocalWriteTool, tool)


def test_a_write_is_refused_by_the_reader_too(live_golem: LiveGolem) -> None:
    tool: Any = REGISTRY.get("uniswap_execute_swap")
    reading = read_ahead.ReadingAgent(view_golem(live_golem.golem), "any", (), lambda _: False, clock.now())
    with pytest.raises(TypeError, match="no read"):
        read_ahead.run_read(tool=tool, params={}, reading=reading)


def test_what_follows_within_a_session_is_learned_from_the_event_log_once(live_golem: LiveGolem) -> None:
    _write_history(live_golem, FIRST, SECOND, sessions=25)
    assert _load(live_golem) == {}
    assert learn_habits(now=clock.now()) == 50
    assert learn_habits(now=clock.now()) == 0
    assert _load(live_golem) == {FIRST: (SECOND,)}
    assert ToolCooccurrence.objects.get(first=FIRST, second=SECOND).together == 25


def test_reads_a_minute_apart_and_tools_that_write_are_not_learned(live_golem: LiveGolem) -> None:
    _write_history(live_golem, FIRST, sessions=12)
    assert learn_habits(now=clock.now()) == 12
    OutboxEvent.objects.all().delete()
    SpeculationRecord.objects.update(learned_to=0)
    _write_history(live_golem, "stream_price_feed", "uniswap_execute_swap", sessions=25)
    assert learn_habits(now=clock.now()) == 0
    assert list(ToolCooccurrence.objects.values_list("first", "second", "together")) == [(FIRST, FIRST, 12)]


@pytest.mark.parametrize(("together", "is_predicted"), [(69, False), (70, True)])
def test_seventy_of_a_hundred_is_the_threshold(live_golem: LiveGolem, together: int, is_predicted: bool) -> None:
    _know(live_golem, together=together, runs=100)
    assert (_load(live_golem) == {FIRST: (SECOND,)}) is is_predicted


def test_the_three_reads_that_follow_most_often_are_made_ahead(shared_golem: LiveGolem) -> None:
    archetype = _know(shared_golem, together=30)
    for together, name in ((29, "fourth"), (32, "first"), (31, "second")):
        ToolCooccurrence.objects.create(archetype=archetype, first=FIRST, second=name, together=together)
    assert read_ahead._predict(archetype)[FIRST] == ("first", "second", SECOND)


def test_more_than_half_wasted_switches_off_until_enough_is_learned_anew(live_golem: LiveGolem) -> None:
    archetype = _know(live_golem)
    most = {"most_waste_bps": 5_000, "enough_reads": 20}
    assert record_outcome(archetype=archetype, used=0, wasted=10, **most), "ten are too few to judge"
    assert record_outcome(archetype=archetype, used=10, wasted=0, **most), "half is allowed"
    assert not record_outcome(archetype=archetype, used=0, wasted=1, **most)
    assert _load(live_golem) == {}
    row = SpeculationRecord.objects.get(archetype=archetype)
    assert (row.used, row.wasted, row.hit_rate_bps) == (10, 11, 4_761)
    _write_history(live_golem, FIRST, SECOND, sessions=9)
    learn_habits(now=clock.now())
    assert _load(live_golem) == {}, "eighteen runs are not enough"
    OutboxEvent.objects.all().delete()
    SpeculationRecord.objects.update(learned_to=0)
    _write_history(live_golem, FIRST, SECOND, sessions=1)
    learn_habits(now=clock.now())
    assert _load(live_golem) == {FIRST: (SECOND,)}
    assert configured.GOLEM_SPECULATION_MOST_WASTE_BPS == most["most_waste_bps"]


def test_switched_off_in_settings_nothing_is_read_ahead(
    shared_golem: LiveGolem, ahead: list[str], settings: Any
) -> None:
    settings.GOLEM_SPECULATION_IS_ON = False
    _know(shared_golem)
    _ask(shared_golem, "token_price")
    _ask(shared_golem, "pools_by_token")
    assert ahead == []
