"""Hook 1 at the edge of its rules over holdings, on plain values."""

from __future__ import annotations

from typing import Any

import pytest

from permits_app.permits.other_chain_holdings import ChainNotCounted, Elsewhere, Unread
from permits_app.safety.assets import Portfolio
from permits_app.safety.call_records import Records
from permits_app.safety.drawdown import Fall
from permits_app.safety.hooks import policy_cage
from permits_app.safety.hooks.policy_cage import (
    CageReads,
    CageRows,
    judge_dependences,
    load_holdings,
    measure_portfolio,
)
from permits_app.safety.predicted_holdings import Dependent, Share
from tests.evm.world import CHAIN_ID
from tests.permits_app.safety.calls import ACCOUNT, ROUTER, USDC, WETH, plain_call
from tools_app.portfolio.issuer_and_bridge_risk import Dependence, DependenceKind, Failure, depends_of_token
from tools_app.toolkit.plan import Call, TokenFlow, TxPlan

ANY: Any = object()
USD = 10**6


def plan(*, receives: tuple[TokenFlow, ...] = ()) -> TxPlan:
    return TxPlan(chain_id=CHAIN_ID, calls=(Call(ROUTER, b"\x01\x02\x03\x04", 0, "do"),), receives=receives)


def portfolio(before: int = 100 * USD, **changes: Any) -> Portfolio:
    return Portfolio({USDC.address: before}, {USDC.address: before}, {}, USDC.address, **changes)


@pytest.mark.parametrize(("most_bps", "passes"), [(9_999, False), (10_000, True)])
def test_the_whole_portfolio_is_no_limit_on_what_depends_on_one(most_bps: int, passes: bool) -> None:
    call = plain_call(plan())
    call.cage.max_issuer_bps = call.cage.max_bridge_bps = call.cage.max_oracle_bps = most_bps
    depending = [Dependent(kind.value, "Somebody", 0, 101 * USD) for kind in DependenceKind]
    for each in depending:
        refused = judge_dependences(call, [each], total_micro_usd=100 * USD)
        assert (refused is None) is passes, each.kind


@pytest.mark.parametrize(("after", "passes"), [(30 * USD, True), (30 * USD + 1, False)])
def test_the_second_of_two_shares_may_be_the_one_that_is_too_large(after: int, passes: bool) -> None:
    call = plain_call(plan())
    call.cage.max_position_bps = 3_000
    shares = (Share("aave_v3", USDC.address, 0, 1), Share("aave_v3", WETH.address, 0, after))
    refused = policy_cage._judge_shares(call, CageRows(), portfolio(shares=shares))
    assert (refused is None) is passes
    if refused is not None:
        assert refused.rule == "policy_cage.max_position" and refused.data["asset"] == WETH.address


def failed(token: str) -> Failure:
    (dependence, *_) = depends_of_token(CHAIN_ID, token)
    return Failure(dependence, "it keeps what it should give out")


def test_nothing_more_of_a_failed_issuer_is_bought_but_the_base_asset_may_be() -> None:
    holdings = CageReads(is_known=True, portfolio=portfolio(), failed=(failed(USDC.address),))
    into_base = plain_call(plan(receives=(TokenFlow(USDC, 1, 1),)))
    assert policy_cage._judge_failures(into_base, holdings) is None
    other = Portfolio({}, {}, {}, WETH.address)
    refused = policy_cage._judge_failures(
        into_base, CageReads(is_known=True, portfolio=other, failed=(failed(USDC.address),))
    )
    assert refused is not None and refused.data["kind"] == failed(USDC.address).dependence.kind.value


@pytest.mark.parametrize(
    ("has_plan", "has_portfolio", "has_failed"),
    [(False, True, True), (True, False, True), (False, False, True), (True, True, False)],
)
def test_without_a_plan_a_portfolio_or_a_failure_no_failure_refuses(
    monkeypatch: pytest.MonkeyPatch, has_plan: bool, has_portfolio: bool, has_failed: bool
) -> None:
    monkeypatch.setattr(policy_cage, "judge_failures", lambda **_: pytest.fail("there was nothing to judge"))
    failures = (Failure(Dependence(DependenceKind.ISSUER, "Somebody"), "it failed"),) if has_failed else ()
    call = plain_call(plan(receives=(TokenFlow(USDC, 1, 1),)) if has_plan else None)
    holdings = CageReads(is_known=True, portfolio=portfolio() if has_portfolio else None, failed=failures)
    assert policy_cage._judge_failures(call, holdings) is None


@pytest.fixture
def read(monkeypatch: pytest.MonkeyPatch) -> dict[str, Any]:
    """A chain that answers what this says, and what was asked of it: nothing is read."""
    told: dict[str, Any] = {"elsewhere": Elsewhere(), "portfolio": portfolio(), "values": [], "accounts": []}
    monkeypatch.setattr(policy_cage, "_look_elsewhere", lambda *_: told["elsewhere"])
    monkeypatch.setattr(policy_cage, "find_wrapped_native", lambda *_: WETH.address)
    monkeypatch.setattr(policy_cage, "preload_chain_facts", lambda *_, **__: None)
    monkeypatch.setattr(policy_cage, "_read_held", lambda *_: ANY)
    monkeypatch.setattr(policy_cage, "list_failures", lambda *_: ())
    monkeypatch.setattr(policy_cage, "records_of", lambda *_: Records)
    monkeypatch.setattr(policy_cage, "add_elsewhere", lambda found, *_, **__: found)

    def read_portfolio(**given: Any) -> Portfolio:
        told["accounts"].append(given["account"])
        found: Portfolio = told["portfolio"]
        return found

    def record(**given: Any) -> Fall:
        told["values"].append(given["value_micro_usd"])
        return Fall()

    monkeypatch.setattr(policy_cage, "read_portfolio", read_portfolio)
    monkeypatch.setattr(policy_cage, "record_value", record)
    monkeypatch.setattr(Records, "under_way", (), raising=False)
    monkeypatch.setattr(Records, "positions", (), raising=False)
    monkeypatch.setattr(Records, "mark", None, raising=False)
    return told


@pytest.mark.parametrize(("worth", "recorded"), [(-5, 0), (0, 0), (1, 1), (7, 7)])
def test_what_is_owed_beyond_what_is_held_is_recorded_as_nothing(
    read: dict[str, Any], worth: int, recorded: int
) -> None:
    read["portfolio"] = portfolio(worth)
    load_holdings(plain_call(plan(), chain=ANY))
    assert read["values"] == [recorded]


def test_a_portfolio_is_that_of_the_golems_own_account(read: dict[str, Any]) -> None:
    call = plain_call(plan(), chain=ANY)
    assert measure_portfolio(call, plan(), ANY, ACCOUNT) is read["portfolio"]
    assert read["accounts"] == [ACCOUNT]


def test_a_portfolio_is_not_measured_while_a_chain_cannot_be_counted(read: dict[str, Any]) -> None:
    read["elsewhere"] = Elsewhere(unread=(Unread(8453, "NODE_UNAVAILABLE", "its node is silent"),))
    with pytest.raises(ChainNotCounted, match="NODE_UNAVAILABLE"):
        measure_portfolio(plain_call(plan(), chain=ANY), plan(), ANY, ACCOUNT)
