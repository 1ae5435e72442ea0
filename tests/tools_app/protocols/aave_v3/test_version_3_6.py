"""The same readers and plans on Aave V3.6, compiled from its sources: no stable rate, categories as bitmaps."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import pytest

from tests.evm.world import World
from tests.tools_app.factories import make_context, run_plan
from tools_app.standards.aave_like import signatures
from tools_app.standards.aave_like.lending import PoolLending
from tools_app.standards.aave_like.plans import Lender
from tools_app.standards.aave_like.positions import AccountPositions
from tools_app.standards.aave_like.protocol import describe_lender
from tools_app.toolkit.effects import Effects
from tools_app.toolkit.plan import PlanOutcome, TxPlan
from tools_app.toolkit.positions import Position, drive

pytestmark = pytest.mark.protocols("aave_v3_6")
ETH, USD = 10**18, 10**6


@dataclass
class Desk:
    """An account at the market of this version."""

    chain: World
    account: Any

    def deployments(self, chain_id: int) -> dict[str, str] | None:
        return self.chain.protocols["aave_v3_6"] if chain_id == 31337 else None

    @property
    def lender(self) -> Lender:
        return Lender("aave_v3", "Aave V3", self.deployments)

    def context(self) -> Any:
        return make_context(self.chain, address=self.account.address)

    def token(self, symbol: str) -> str:
        return self.chain.tokens[symbol].address

    def do(self, plan: TxPlan) -> PlanOutcome:
        """Hold the second reader against the plan, carry it out, and the changes against the chain."""
        whole = describe_lender(name="aave_v3", label="Aave V3", prefix="aave", deployments=self.deployments)
        assert whole.effects is not None
        reader, into = self.context().chain(), Effects()
        for number, call in enumerate(plan.calls):
            if whole.owns(31337, call.to):
                whole.effects.read(
                    call, earlier=plan.calls[:number], account=self.account.address, chain=reader, into=into
                )
        assert {(each.ref, each.token) for each in into.changes} == {(each.ref, each.token) for each in plan.changes}
        before = self.position()
        outcome = run_plan(self.chain, self.account, plan)
        after = self.position()
        for change in plan.changes:
            moved = sum(sign * each.raw_of(change.token) for sign, each in ((1, after), (-1, before)) if each)
            assert moved >= change.bound, (change, moved)
        return outcome

    def position(self) -> Position | None:
        positions = AccountPositions("aave_v3", "Aave V3", self.deployments)
        found = drive(positions.list(31337, self.account.address, ()), self.context().chain().call_many)
        return found[0] if found else None


@pytest.fixture
def desk(chain: World) -> Desk:
    return Desk(chain, chain.new_account(ETH, {"WETH": 4 * ETH, "USDC": 1_000 * USD}))


def test_a_loan_goes_in_and_out_and_is_measured_as_the_pool_measures_it(desk: Desk) -> None:
    desk.do(desk.lender.supply(desk.context(), "WETH", 2 * ETH))
    desk.do(desk.lender.borrow(desk.context(), "USDC", 2_000 * USD, "variable"))
    position = desk.position()
    assert position is not None and position.health_bps is not None
    told = desk.chain.rpc.read(
        desk.chain.protocols["aave_v3_6"]["pool"],
        "getUserAccountData(address)",
        desk.account.address,
        returns="(uint256,uint256,uint256,uint256,uint256,uint256)",
    )
    assert abs(position.health_bps - told[5] * 10_000 // 10**18) <= 1
    assert position.raw_of(desk.token("WETH")) >= 2 * ETH - 2
    desk.do(desk.lender.repay(desk.context(), "USDC", signatures.EVERYTHING, "variable"))
    desk.do(desk.lender.withdraw(desk.context(), "WETH", signatures.EVERYTHING))
    assert desk.position() is None


def test_a_category_as_a_bitmap_is_read_and_flash_loans_cost_their_fee(desk: Desk) -> None:
    desk.do(desk.lender.supply(desk.context(), "USDC", 1_000 * USD))
    desk.chain.transact(
        desk.account, desk.chain.protocols["aave_v3_6"]["pool"], "setUserEMode(uint8)", 1, gas=1_000_000
    )
    lending = PoolLending("aave_v3", "Aave V3", desk.deployments)
    call_many = desk.context().chain().call_many
    pair = drive(lending.pair(31337, desk.account.address, desk.token("USDC"), desk.token("DAI")), call_many)
    assert (pair.ltv_bps, pair.threshold_bps) == (9_000, 9_300)
    terms = drive(lending.flash_terms(31337, desk.token("USDC")), call_many)
    assert terms is not None and terms.fee_ppm == 500
    markets = drive(lending.markets(31337, desk.token("USDC")), call_many)
    assert markets and markets[0].borrow_ppm is not None and markets[0].supplied > 20_000_000 * USD
