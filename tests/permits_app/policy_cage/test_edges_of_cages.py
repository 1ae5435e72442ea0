"""What a cage, and who asks one for something, decides by a number, just below, at and just above it."""

from __future__ import annotations

import re
from datetime import timedelta
from types import SimpleNamespace
from typing import Any

import pytest

from permits_app.actions.apply_cage_changes import list_due
from permits_app.actions.top_up_gas import _find_amount
from permits_app.approvals.operations.cage import read_rules
from permits_app.policy_cage import call_rules
from permits_app.policy_cage.conditions import _are_assets, _is_path
from permits_app.policy_cage.contract import MOST_POSITIONS, BatchClass, Limit, RuleKind
from permits_app.policy_cage.forbidden_selectors import FORBIDDEN_SELECTORS
from permits_app.policy_cage.preflight import _judge_class
from permits_app.policy_cage.preflight_types import Refused
from permits_app.policy_cage.state import PendingChange
from permits_app.policy_cage.suggested_bounds import read_bounds
from tests.architecture.sources import ROOT
from tests.permits_app.safety.calls import NOW
from tools_app.core.errors import InvalidParams
from tools_app.toolkit.context import ReadOutcome
from tools_app.toolkit.plan import Call

TICK = timedelta(microseconds=1)
DAY = timedelta(days=1)
ME = "0x" + "1" * 40
COLUMN = 2**63 - 1


@pytest.mark.parametrize(("answer", "most"), [(2**95 - 2, 2**95 - 2), (2**95 - 1, 0), (0, 0)])
def test_a_feed_that_may_say_anything_has_no_bound(answer: int, most: int) -> None:
    chain: Any = SimpleNamespace(call_many=lambda reads: [ReadOutcome(True, (answer,)) for _ in reads])
    assert read_bounds(chain, ME)[1] == most


@pytest.mark.parametrize(
    ("phase", "batch_class", "is_fine"),
    [
        (1, BatchClass.OPENING, True),
        (2, BatchClass.OPENING, False),
        (2, BatchClass.REBALANCE, True),
        (3, BatchClass.REBALANCE, False),
        (3, BatchClass.LEAVING, True),
    ],
)
def test_a_cage_lets_nothing_open_from_its_second_phase_on_and_nothing_trade_from_its_third(
    phase: int, batch_class: BatchClass, is_fine: bool
) -> None:
    limits = {Limit.PHASE: phase, Limit.HIGH_WATER_MARK_MICRO_USD: 1}
    state: Any = SimpleNamespace(
        limit=lambda which: limits.get(which, 0),
        spent=lambda *_, **__: -1,
        is_drawdown_breached=False,
        last_rebalance_at=0,
    )
    observed: Any = SimpleNamespace(now=10**9)
    if is_fine:
        _judge_class(state, observed, batch_class, 10**9)
        return
    with pytest.raises(Refused, match="PhaseForbids"):
        _judge_class(state, observed, batch_class, 10**9)


@pytest.mark.parametrize(("count", "is_taken"), [(0, False), (1, True), (32, True), (33, False)])
def test_a_batch_has_one_to_thirty_two_calls(count: int, is_taken: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(call_rules, "_check_call", lambda *_: None)
    nothing: Any = None
    calls = [Call(ME, b"", 0, "call")] * count
    if is_taken:
        call_rules.check_calls(nothing, calls, nothing)
        return
    with pytest.raises(Refused, match="CallCount"):
        call_rules.check_calls(nothing, calls, nothing)


@pytest.mark.parametrize(("late", "is_due"), [(-1, False), (0, True), (7 * 86_400, True), (7 * 86_400 + 1, False)])
def test_a_change_of_a_cage_is_applied_within_a_week_of_its_time(late: int, is_due: bool) -> None:
    change = PendingChange(value=1, base=0, ready_at=10**9, bundle=1)
    rule = (RuleKind.LIMIT, bytes(32))
    state: Any = SimpleNamespace(pending={rule: change}, rules={})
    assert bool(list_due(state, at=10**9 + late)) is is_due


def test_a_cage_counts_positions_at_as_many_places_as_its_contract() -> None:
    source = (ROOT / "contracts/src/CageRules.sol").read_text(encoding="utf-8")
    assert f"POSITIONS_AT_MOST = {MOST_POSITIONS};" in source


@pytest.mark.parametrize(("count", "is_read"), [(0, False), (16, True), (17, False)])
def test_a_list_of_assets_in_a_call_has_sixteen(count: int, is_read: bool) -> None:
    data = bytes(4) + b"".join(word.to_bytes(32, "big") for word in (count, *range(1, count + 1)))
    assert _are_assets(data, 0, lambda _: True) is (True if is_read else None)


@pytest.mark.parametrize(("hops", "is_read"), [(15, True), (16, False)])
def test_a_path_in_a_call_has_sixteen_tokens(hops: int, is_read: bool) -> None:
    length = 20 + 23 * hops
    data = bytes(4) + length.to_bytes(32, "big") + bytes(length)
    assert _is_path(data, 0, lambda _: True) is (True if is_read else None)


@pytest.mark.parametrize(("count", "is_taken"), [(0, False), (1, True), (128, True), (129, False)])
def test_a_proposal_holds_one_to_a_hundred_and_twenty_eight_rules(count: int, is_taken: bool) -> None:
    given = [{"kind": str(int(RuleKind.LIMIT)), "key": "0x" + "00" * 32, "value": "1"}] * count
    if is_taken:
        assert len(read_rules(given)) == count
        return
    with pytest.raises(InvalidParams, match="1 to 128"):
        read_rules(given)


@pytest.mark.parametrize(("held", "taken"), [(19, 50), (20, 0), (21, 0)])
def test_a_key_with_a_fifth_of_a_days_coins_takes_none_and_below_it_takes_half(held: int, taken: int) -> None:
    balances = {"key": held, "safe": 10**18}
    chain: Any = SimpleNamespace(native_balance=lambda who: balances[who])
    state: Any = SimpleNamespace(
        limit=lambda _: 100,
        spent=lambda *_, **__: 0,
        asset=lambda _: None,
        session=SimpleNamespace(key="key"),
        account="safe",
    )
    own: Any = SimpleNamespace(state=state)
    assert _find_amount(own, chain, now=NOW) == taken


def test_the_contract_forbids_the_selectors_that_are_named_here_and_no_others() -> None:
    source = (ROOT / "contracts/src/CageGate.sol").read_text()
    listed = re.findall(r'hex"([0-9a-f]{8})"', source.partition("FORBIDDEN = ")[2].partition("function ")[0])
    assert len(listed) > 80 and listed == sorted(set(listed))
    assert {bytes.fromhex(each) for each in listed} == FORBIDDEN_SELECTORS
