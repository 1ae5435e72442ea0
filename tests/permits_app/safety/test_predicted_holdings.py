"""What is held after a plan that says what it changes: deposits and loans make no value, limits add up."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import pytest

from permits_app.permits.plan_store import encode_bounds
from permits_app.safety.assets import Portfolio, read_portfolio
from permits_app.safety.call_records import UnderWay
from permits_app.safety.holding_rules import judge_collateral, judge_concentration, judge_share
from permits_app.safety.hook_inputs_json import decode_facts, encode_facts
from permits_app.safety.hooks.policy_cage import CageReads, CageRows, judge_holdings
from tests.permits_app.safety.calls import NOW, plain_call
from tests.tools_app.portfolio.paper_bank import CASH, CHAIN_ID, LOAN, ME, NAME, Paper, on_the_shelf, read_paper
from tools_app.portfolio.holdings import measure_holdings
from tools_app.toolkit.plan import TokenFlow, TxPlan
from tools_app.toolkit.positions import ACCOUNT, Exposure, Position, PositionChange, PositionRef

USD = 1_000_000
ACCOUNT_REF = PositionRef(NAME, ACCOUNT, CHAIN_ID, ME)
E18 = 10**18


@pytest.fixture(autouse=True)
def bank_on_the_shelf() -> Iterator[None]:
    with on_the_shelf():
        yield


def change(token: str, raw: int, *, kind: str = ACCOUNT, ref: PositionRef | None = ACCOUNT_REF) -> PositionChange:
    return PositionChange(NAME, kind, token, raw, raw, ref=ref)


def supply(raw: int) -> TxPlan:
    return TxPlan(CHAIN_ID, (), spends=(TokenFlow(CASH, raw, raw),), changes=(change(CASH.address, raw),))


def borrow(raw: int) -> TxPlan:
    return TxPlan(CHAIN_ID, (), receives=(TokenFlow(LOAN, raw, raw),), changes=(change(LOAN.address, -raw),))


def foresee(paper: Paper, plan: TxPlan, **changes: Any) -> Portfolio:
    return read_portfolio(
        chain=read_paper(paper),
        account=ME,
        base_asset="CASH",
        plan=plan,
        enters_position=True,
        position_id="",
        **changes,
    )


def test_a_deposit_and_a_loan_keep_the_net_asset_value_and_a_repayment_too() -> None:
    supplied = foresee(Paper(), supply(10**21))
    assert supplied.total_after == supplied.total_before
    paper = Paper(deposited=10**21)
    borrowed = foresee(paper, borrow(10**8))
    assert borrowed.total_after == borrowed.total_before
    # The loan is in the wallet, and owed.
    assert borrowed.after[LOAN.address] == borrowed.before[LOAN.address]
    paper.owed = 10**8
    back = TxPlan(CHAIN_ID, (), spends=(TokenFlow(LOAN, 10**8, 10**8),), changes=(change(LOAN.address, 10**8),))
    repaid = foresee(paper, back)
    assert (repaid.total_after, repaid.collateral_bps) == (repaid.total_before, None)


def test_a_loan_under_way_counts_with_its_debt() -> None:
    plan = borrow(10**9)
    under_way = UnderWay((), plan.receives, permit_id="p", changes=plan.changes)
    alone, both = (foresee(Paper(deposited=10**21), supply(E18), under_way=each) for each in ((), [under_way]))
    assert both.total_before == alone.total_before


def test_a_second_loan_is_judged_with_the_first_under_way() -> None:
    paper, plan = Paper(deposited=10**21), borrow(4 * 10**8)
    alone = foresee(paper, plan)
    # A thousand dollars behind six hundred, then behind twelve hundred.
    assert alone.collateral_bps == 16_666
    twice = foresee(paper, plan, under_way=[UnderWay((), plan.receives, permit_id="p", changes=plan.changes)])
    assert twice.collateral_bps == 8_333
    refusal = judge_collateral(ratio_bps=twice.collateral_bps, least_bps=12_500, borrows=False)
    assert refusal is not None and refusal.rule == "policy_cage.collateral_ratio"


def test_what_a_plan_leaves_behind_its_debt_is_worked_out_whatever_ratio_it_states() -> None:
    call = plain_call(replace(borrow(4 * 10**8), collateral_ratio_bps=90_000))
    call.limits.allowlist_mode = "OFF"
    call.cage.max_concentration_bps = call.cage.max_position_bps = 10_000
    assert call.plan is not None
    fine = foresee(Paper(deposited=10**21), call.plan)
    assert judge_holdings(call, CageRows(), CageReads(is_known=True, portfolio=fine)) is None
    thin = foresee(Paper(deposited=7 * 10**20), call.plan)
    refusal = judge_holdings(call, CageRows(), CageReads(is_known=True, portfolio=thin))
    assert refusal is not None and refusal.rule == "policy_cage.collateral_ratio"


def test_the_share_at_one_protocol_is_the_sum_of_all_that_lies_there() -> None:
    # 1,500 dollars in the account, 1,000 in the vault, 500 in the queue: what comes on top is judged with them.
    paper = Paper(deposited=15 * 10**20, shares=10**21, queue=[5 * 10**20])
    [share] = foresee(paper, supply(10**21)).shares
    assert (share.protocol, share.asset) == (NAME, CASH.address)
    assert (share.before, share.after) == (3_000 * USD, 4_000 * USD)
    total = foresee(paper, supply(10**21)).total_before
    refusal = judge_share(share=share, symbol="CASH", total_micro_usd=total, most_bps=1_500)
    assert refusal is not None and refusal.rule == "policy_cage.max_position"
    assert (refusal.data["protocol"], refusal.data["asset"]) == (NAME, CASH.address)
    at_the_edge = replace(share, after=total * 1_500 // 10_000)
    assert judge_share(share=at_the_edge, symbol="CASH", total_micro_usd=total, most_bps=1_500) is None
    above = replace(share, after=at_the_edge.after + 1)
    assert judge_share(share=above, symbol="CASH", total_micro_usd=total, most_bps=1_500) is not None


def test_two_positions_at_one_venue_are_judged_together_though_their_plans_say_nothing() -> None:
    """Each alone is half of what may lie at one protocol; the second does not pass for the first."""
    silent = replace(supply(10**21), changes=())
    protocol = NAME
    first = UnderWay(silent.spends, (), enters=True, permit_id="p", protocol=protocol)
    paper = Paper()
    assert foresee(paper, silent).position_after == 1_000 * USD
    second = foresee(paper, supply(10**21), under_way=[first])
    [share] = second.shares
    assert share.after == 2_000 * USD and second.positions == 1


def test_a_share_that_does_not_grow_is_no_reason_to_refuse() -> None:
    paper = Paper(deposited=5 * 10**21)
    swap = TxPlan(CHAIN_ID, (), spends=(TokenFlow(CASH, E18, E18),), receives=(TokenFlow(LOAN, 666_666, 666_666),))
    assert (
        read_portfolio(
            chain=read_paper(paper), account=ME, base_asset="CASH", plan=swap, enters_position=False, position_id=""
        ).shares
        == ()
    )


def test_tokens_that_stand_or_fall_together_count_whole_for_each() -> None:
    paper = Paper()
    pair = TxPlan(
        CHAIN_ID,
        (),
        spends=(TokenFlow(CASH, 10**20, 10**20), TokenFlow(LOAN, 10**8, 10**8)),
        changes=(change(CASH.address, 10**20, kind="nft", ref=None), change(LOAN.address, 10**8, kind="nft", ref=None)),
    )
    seen = foresee(paper, pair)
    assert {share.asset: share.after for share in seen.shares} == {CASH.address: 250 * USD, LOAN.address: 250 * USD}
    assert seen.position_after == 250 * USD


def test_a_debt_and_what_is_merely_followed_count_in_concentration() -> None:
    paper = Paper(deposited=10**22)
    paper.wallet[LOAN.address] = 0
    # Owing eight thousand dollars of an asset one does not hold is a share of it; the loan itself was spent.
    paper.owed = 5 * 10**9
    seen = foresee(paper, supply(E18))
    assert seen.weigh(seen.after, LOAN.address) == 7_500 * USD
    grown = replace(seen, before={**seen.before, LOAN.address: 0})
    refusal = judge_concentration(portfolio=grown, most_bps=3_000)
    assert refusal is not None and refusal.data["asset"] == LOAN.address
    short = replace(seen, after={CASH.address: 10_000 * USD}, before={CASH.address: 10_000 * USD})
    followed = replace(short, exposure={LOAN.address: -9_000 * USD}, names={LOAN.address: "LOAN"})
    assert followed.weigh(followed.after, LOAN.address) == 9_000 * USD


def test_exposure_is_read_from_the_position(monkeypatch: pytest.MonkeyPatch) -> None:
    def tell(self: Any, chain_id: int, account: str, hints: Any) -> Any:
        yield []
        ref = PositionRef(NAME, "future", CHAIN_ID, "1")
        return (Position(ref, "Short", (), exposure=(Exposure(LOAN.address, -(10**9)),)),)

    from tests.tools_app.portfolio.paper_bank import PaperPositions

    monkeypatch.setattr(PaperPositions, "list", tell)
    seen = foresee(Paper(), supply(E18))
    assert seen.exposure == {LOAN.address: -1_500 * USD}
    # Held and shorted in the same amount: nothing of it moves the portfolio.
    assert seen.weigh(seen.after, LOAN.address) == 0
    assert seen.total_before == measure_holdings(chain=read_paper(Paper()), account=ME).nav_micro_usd


def test_what_was_judged_is_kept_with_its_shares_and_debts_and_read_back() -> None:
    class Kept:
        known = None
        trade = None

        def __init__(self, portfolio: Portfolio) -> None:
            self.portfolio: Portfolio | None = portfolio

        def read(self) -> Any:
            raise AssertionError

    paper = Paper(deposited=10**21, shares=10**21)
    seen = foresee(paper, borrow(10**8))
    call = plain_call(borrow(10**8), records=Kept(seen))
    told = decode_facts(encode_facts(call), at=NOW)
    assert told is not None and told.portfolio is not None
    assert told.portfolio.collateral_bps == seen.collateral_bps == 66_666
    assert told.portfolio.shares == seen.shares
    assert told.portfolio.total_before == seen.total_before


def test_changes_are_stored_with_the_promises_that_under_way_is_read_from() -> None:
    stored = encode_bounds(borrow(5))["changes"]
    assert [(each["ref"], each["expected"]) for each in stored] == [(str(ACCOUNT_REF), "-5")]
