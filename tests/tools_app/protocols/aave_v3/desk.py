"""A golem's account at the local Aave, and the few steps that the tests of it share."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from tests.evm.world import World
from tests.tools_app.factories import answer_of, call_tool, make_context, report_of, run_plan
from tools_app.protocols.aave_v3 import tools
from tools_app.protocols.aave_v3.protocol import PROTOCOL
from tools_app.toolkit.context import ReadOutcome
from tools_app.toolkit.effects import Effects
from tools_app.toolkit.plan import PlanOutcome, TxPlan
from tools_app.toolkit.positions import CallMany, Position, drive

ETH, USD, DAI = 10**18, 10**6, 10**18
assert tools.AAVE.name == PROTOCOL.name


@dataclass
class Desk:
    """One account; `batches` counts what its positions were asked."""

    chain: World
    account: Any
    batches: int = 0

    @property
    def address(self) -> str:
        return str(self.account.address)

    def token(self, symbol: str) -> str:
        return self.chain.tokens[symbol].address

    def plan(self, tool: str, **params: Any) -> TxPlan:
        plan: TxPlan = call_tool(make_context(self.chain, address=self.address), tool, **params)
        return plan

    def do(self, tool: str, **params: Any) -> PlanOutcome:
        """Plan it, hold the second reader against the plan, carry it out, hold flows and changes against the chain."""
        plan = self.plan(tool, **params)
        self.check_read_alike(plan)
        before = self.position()
        outcome = run_plan(self.chain, self.account, plan)
        for flow in plan.spends:
            assert flow.expected <= -outcome.deltas[flow.token.address] <= flow.bound
        for flow in plan.receives:
            assert outcome.deltas[flow.token.address] >= flow.bound
        after = self.position()
        for change in plan.changes:
            moved = _raw(after, change.token) - _raw(before, change.token)
            # Seconds pass while a test mines; interest on the rest is all there may be besides.
            assert moved >= change.bound - abs(_raw(before, change.token)) // 10**7, (tool, moved, change)
            assert abs(moved - change.expected) <= 10 + abs(_raw(before, change.token)) // 10**5
        for allowance in plan.allowances:
            assert self.allowance(allowance.token.address) == 0
        return outcome

    def report(self, tool: str, **params: Any) -> Any:
        return report_of(tool, self.do(tool, **params))

    def ask(self, tool: str, **params: Any) -> Any:
        return answer_of(make_context(self.chain, address=self.address), tool, **params)

    def position(self) -> Position | None:
        reader = make_context(self.chain).chain()

        def call_many(calls: Any) -> list[ReadOutcome]:
            self.batches += 1
            return reader.call_many(calls)

        asked: CallMany = call_many
        self.batches = 0
        positions = PROTOCOL.positions
        assert positions is not None
        found = drive(positions.list(31337, self.address, ()), asked)
        return found[0] if found else None

    def allowance(self, token: str) -> int:
        pool = self.chain.protocols["aave_v3"]["pool"]
        [found] = self.chain.rpc.read(token, "allowance(address,address)", self.address, pool, returns="(uint256)")
        return int(found)

    def read(self, plan: TxPlan) -> Effects:
        """What the second reader makes of the calls to the pool."""
        reader, into = make_context(self.chain).chain(), Effects()
        assert PROTOCOL.effects is not None
        for number, call in enumerate(plan.calls):
            if PROTOCOL.owns(31337, call.to):
                PROTOCOL.effects.read(call, earlier=plan.calls[:number], account=self.address, chain=reader, into=into)
        return into

    def check_read_alike(self, plan: TxPlan) -> None:
        """The bytes say what the plan says."""
        read = self.read(plan)
        assert read.spends == {flow.token.address: flow.bound for flow in plan.spends}
        assert {token for token, raw in read.receives.items() if raw} == {f.token.address for f in plan.receives}
        for flow in plan.receives:
            assert read.receives[flow.token.address] >= flow.bound
        assert set(read.recipients) <= set(plan.recipients)
        declared = {(c.ref, c.token): c.expected for c in plan.changes if c.expected}
        for change in read.changes:
            wanted = declared.pop((change.ref, change.token), 0)
            assert change.raw == wanted if change.is_exact else change.raw >= wanted > 0 or change.raw <= wanted < 0
        assert not declared


def _raw(position: Position | None, token: str) -> int:
    return position.raw_of(token) if position is not None else 0


def open_desk(chain: World, **tokens: int) -> Desk:
    """An account with coins and these tokens; without any, what most tests need."""
    held = tokens or {"WETH": 10 * ETH, "USDC": 20_000 * USD, "DAI": 5_000 * DAI}
    return Desk(chain, chain.new_account(ETH, held))
