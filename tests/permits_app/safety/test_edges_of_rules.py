"""Rules of several hooks at their edges, on plain values: an announcement, a cap, a slash, a permit beside."""

from __future__ import annotations

import json
from types import SimpleNamespace
from typing import Any

import pytest

from permits_app.models.permit import PermitStatus
from permits_app.safety import calldata_rules, load_call_records
from permits_app.safety.hooks import allowlist_guard
from permits_app.safety.hooks.hallucination_detector import judge_code
from permits_app.safety.hooks.result_filter import MOST_CHARACTERS, filter_result
from permits_app.safety.hooks.spending_limiter import counts_per_day
from permits_app.safety.position_rules import pair_up, sum_slashed
from tests.evm.world import CHAIN_ID
from tests.permits_app.safety.calls import ACCOUNT, OTHER, ROUTER, USDC, plain_call
from tools_app.chain.abi import encode_call
from tools_app.standards import loan_callback
from tools_app.toolkit.enums import ActionClass, RiskLayer
from tools_app.toolkit.others_money import PrincipalFlow, RightLimit
from tools_app.toolkit.plan import AllowanceLeft, Call, TokenFlow, TxPlan
from tools_app.toolkit.positions import Leg, Position, PositionRef, Slashable
from tools_app.toolkit.registry import REGISTRY
from tools_app.toolkit.tooldef import WriteTool

ANY: Any = object()


def plan(**changes: Any) -> TxPlan:
    return TxPlan(chain_id=CHAIN_ID, calls=(Call(ROUTER, b"\x01\x02\x03\x04", 0, "do"),), **changes)


def test_an_announcement_of_a_loan_is_held_to_the_golems_own_account(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[str] = []
    monkeypatch.setattr(loan_callback, "check_announcement", lambda made, *, account, chain: asked.append(account))
    announced = Call(ROUTER, encode_call(loan_callback.ANNOUNCE, OTHER, b""), 0, "announce")
    assert calldata_rules._is_declared(announced, plain_call(plan(), chain=ANY))
    assert asked == [ACCOUNT]


def test_what_a_golem_once_touched_is_asked_of_its_own_account(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[str] = []

    def find(*, account: str, **_: Any) -> tuple[()]:
        asked.append(account)
        return ()

    monkeypatch.setattr(allowlist_guard, "find_unlisted", find)
    assert allowlist_guard.read_once_touched(plain_call(plan()), None) == frozenset()
    assert asked == [ACCOUNT]


@pytest.mark.parametrize(("granted", "left", "passes"), [(0, 0, True), (5, 0, False), (0, 5, False), (5, 5, False)])
def test_a_spender_without_code_is_refused_whether_the_right_is_used_up_or_left(
    granted: int, left: int, passes: bool
) -> None:
    chain: Any = SimpleNamespace(code=lambda address: b"" if address == OTHER else b"\x60")
    given = plan(allowances=(AllowanceLeft(USDC, OTHER, granted, left),))
    refused = judge_code(plan=given, chain=chain)
    assert (refused is None) is passes
    if refused is not None:
        assert OTHER in refused.reason and "spender" in refused.reason


@pytest.mark.parametrize(("length", "is_whole"), [(MOST_CHARACTERS, True), (MOST_CHARACTERS + 1, False)])
def test_an_answer_of_a_hundred_thousand_characters_goes_back_whole_and_one_more_is_cut(
    length: int, is_whole: bool
) -> None:
    assert MOST_CHARACTERS == 100_000
    empty = len(json.dumps({"text": ""}, separators=(",", ":")))
    value = {"text": "a" * (length - empty)}
    assert len(json.dumps(value, separators=(",", ":"))) == length
    assert (filter_result(value) == value) is is_whole
    assert len(json.dumps(filter_result(value), ensure_ascii=False, separators=(",", ":"))) <= MOST_CHARACTERS


@pytest.mark.parametrize(
    ("action_class", "to", "others", "counts"),
    [
        (ActionClass.DECREASE_POSITION, ACCOUNT, False, False),
        (ActionClass.DECREASE_POSITION, OTHER, False, True),
        (ActionClass.NEW_POSITION, ACCOUNT, False, True),
        (ActionClass.DECREASE_POSITION, ACCOUNT, True, True),
    ],
)
def test_others_money_counts_in_the_day_also_where_a_position_is_left(
    action_class: ActionClass, to: str, others: bool, counts: bool
) -> None:
    flow = PrincipalFlow("metamask", "1", OTHER, USDC, 5, RightLimit(5, 0, 0, 10**10))
    given = plan(recipients=(to,), principals=(flow,) if others else ())
    assert counts_per_day(plain_call(given, action_class=action_class)) is counts


REF = PositionRef("eigenlayer", "shares", CHAIN_ID, ACCOUNT)
LATER = PositionRef("eigenlayer", "queued", CHAIN_ID, "7")
WAD = 10**18


def held(raw: int, kept: int, *, ref: PositionRef = REF) -> Position:
    return Position(ref, "Restaked", (Leg(USDC.address, raw),), slashable=(Slashable(USDC.address, raw, "op", kept),))


def lost(before: list[Position], after: list[Position]) -> dict[tuple[str, str], int]:
    return {(slot, kind): raw for (slot, kind, *_), raw in sum_slashed(pair_up(before, after)).items()}


def test_a_slash_takes_what_was_there_at_the_old_rate_less_what_is_left() -> None:
    assert lost([held(100, WAD)], [held(90, WAD * 9 // 10)]) == {(str(REF), "shares"): 10}


def test_where_no_slash_was_nothing_is_said_to_be_lost() -> None:
    assert lost([held(100, WAD)], [held(100, WAD)]) == {}


def test_what_was_taken_whole_before_cannot_be_lost_again_by_what_opens_later() -> None:
    assert lost([held(10, 0)], [held(10, 0), held(10, 0, ref=LATER)]) == {}


def test_of_a_keeper_that_nobody_knew_before_nothing_is_lost() -> None:
    assert lost([], [held(10, 0)]) == {}


@pytest.mark.parametrize("action_class", [ActionClass.NEW_POSITION, ActionClass.DECREASE_POSITION])
def test_a_call_without_a_chain_asks_for_what_ended_after_no_block(action_class: ActionClass) -> None:
    call = plain_call(plan(spends=(TokenFlow(USDC, 1, 1),)), action_class=action_class)
    assert load_call_records.asks_beside(call)
    assert load_call_records._list_arguments(call)["block"] == 0


def test_a_call_on_a_chain_asks_for_what_ended_after_its_block_and_only_where_that_matters() -> None:
    chain: Any = SimpleNamespace(block=SimpleNamespace(number=77))
    spends = plain_call(plan(spends=(TokenFlow(USDC, 1, 1),)), chain=chain)
    assert load_call_records._list_arguments(spends)["block"] == 77
    leaves = plain_call(plan(), chain=chain, action_class=ActionClass.DECREASE_POSITION)
    assert not load_call_records.asks_beside(leaves)
    assert load_call_records._list_arguments(leaves)["block"] == 0


def first_tool(layer: RiskLayer) -> str:
    return next(tool.name for tool in REGISTRY if isinstance(tool, WriteTool) and tool.risk_layer is layer)


@pytest.mark.parametrize("layer", list(RiskLayer))
def test_what_is_under_way_keeps_its_venue_and_borrows_where_its_tool_does(layer: RiskLayer) -> None:
    kept: dict[str, Any] = {
        "tool": first_tool(layer),
        "status": PermitStatus.COMMITTING,
        "venue": "aave_v3",
        "position": None,
        "permit": "1",
        "bounds": {},
    }
    decoded = load_call_records._decode_under_way(kept)
    assert decoded.protocol == "aave_v3"
    assert decoded.is_borrowing is (layer is RiskLayer.UNBOUNDED)
    assert load_call_records._decode_under_way({**kept, "venue": None}).protocol == ""
    assert load_call_records._decode_under_way({**kept, "tool": "gone_since"}).is_borrowing is False
