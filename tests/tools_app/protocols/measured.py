"""Plans of a protocol's tools held against what they really do: simulated as hook 5 measures them, read back from
their bytes, and mined.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from eth_account.signers.local import LocalAccount

from permits_app.safety.position_rules import judge_changes, judge_gauges
from tests.evm.world import World
from tests.tools_app.factories import call_tool, make_context, run_plan
from tools_app.chain.abi import decode_input
from tools_app.core.clock import Deadline
from tools_app.portfolio.read_all_positions import HeldAt, read_positions
from tools_app.simulation.engine import SimulationRequest, SimulationResult
from tools_app.simulation.select import select_engine
from tools_app.toolkit.effects import Effects
from tools_app.toolkit.plan import PlanOutcome, TxPlan
from tools_app.toolkit.positions import Act, Position, PositionRef
from tools_app.toolkit.protocol import ProtocolDef

APPROVE = "function approve(address spender, uint256 amount)"


class Golem:
    """An account on the local chain that acts through one protocol's tools."""

    def __init__(self, chain: World, protocol: ProtocolDef, account: LocalAccount) -> None:
        self.chain, self.protocol, self.account = chain, protocol, account

    @property
    def address(self) -> str:
        return self.account.address

    def plan(self, tool: str, **params: Any) -> TxPlan:
        """A tool's plan at the newest block."""
        plan: TxPlan = call_tool(make_context(self.chain, address=self.address), tool, **params)
        return plan

    def act(self, tool: str, **params: Any) -> PlanOutcome:
        """Plan, measure, read back, mine; nothing may be other than the plan says."""
        plan = self.plan(tool, **params)
        self.check_measured(plan)
        check_effects(self.read_effects(plan), plan)
        outcome = run_plan(self.chain, self.account, plan)
        self.check_flows(outcome)
        return outcome

    def simulate(self, plan: TxPlan, *, engine: str = "pyevm") -> SimulationResult:
        """The plan as hook 5 has it simulated: positions before and after."""
        reader = make_context(self.chain, address=self.address).chain()
        refs = [change.ref for change in plan.changes if change.ref is not None]
        request = SimulationRequest(
            chain_id=31337,
            sender=self.address,
            calls=plan.calls,
            block=reader.block,
            timestamp=reader.block.timestamp + 1,
            positions=HeldAt(31337, self.address, (self.protocol,), tuple(refs)),
            gauges=tuple(promise.gauge for promise in plan.gauges),
        )
        return select_engine(31337, engine).run(request, deadline=Deadline.after_ms(20_000))

    def check_measured(self, plan: TxPlan) -> None:
        """Every change is announced, every bound kept, and what is expected is what happens, but for a second's
        interest.
        """
        result = self.simulate(plan)
        assert result.succeeded, result.failure
        reader = make_context(self.chain, address=self.address).chain()
        assert judge_changes(plan=plan, simulation=result, chain=reader) is None
        assert judge_gauges(plan=plan, simulation=result) is None
        for change in plan.changes:
            assert change.bound <= change.expected
        for health in (each.health_bps for each in result.positions_after or ()):
            least = [change.least_health_bps for change in plan.changes if change.least_health_bps]
            assert not least or health is None or health >= max(least)

    def read_effects(self, plan: TxPlan) -> Effects:
        """What the protocol's reader makes of the plan's bytes; approvals are read here, as for every token."""
        reader, effects = make_context(self.chain, address=self.address).chain(), Effects()
        assert self.protocol.effects is not None
        for index, call in enumerate(plan.calls):
            if self.protocol.owns(31337, call.to):
                self.protocol.effects.read(
                    call, earlier=plan.calls[:index], account=self.address, chain=reader, into=effects
                )
            else:
                spender, amount = decode_input(APPROVE, call.data)
                effects.approvals.append((call.to, spender, amount))
        return effects

    def check_flows(self, outcome: PlanOutcome) -> None:
        """Spends and receipts within their bounds, and no allowance left."""
        for flow in outcome.plan.spends:
            spent = -outcome.deltas[flow.token.address]
            assert flow.expected <= spent <= flow.bound
        for flow in outcome.plan.receives:
            assert outcome.deltas[flow.token.address] >= flow.bound
        for left in outcome.plan.allowances:
            if left.token.is_native:
                continue
            reads = "allowance(address,address)"
            found = self.chain.rpc.read(left.token.address, reads, self.address, left.spender, returns="(uint256)")
            assert found == (left.left,)

    def positions(self, hints: Sequence[PositionRef] = ()) -> tuple[Position, ...]:
        """What the account has at the newest block, at the one protocol."""
        reader = make_context(self.chain, address=self.address).chain()
        return tuple(
            each
            for each in read_positions(chain=reader, account=self.address, hints=hints)
            if each.ref.protocol == self.protocol.name
        )

    def leave(self, tokens: Sequence[str], *, most: int = 12) -> list[str]:
        """Follow the protocol's exits until nothing is left; the tools that were used."""
        used: list[str] = []
        assert self.protocol.exits is not None
        while positions := self.positions():
            held = {token: self.chain.rpc.balance_of(token, self.address) for token in tokens}
            steps = [self.protocol.exits.next_step(each, held, self.chain.timestamp()) for each in positions]
            step = next((each for each in steps if each is not None), None)
            if step is None:
                break
            assert isinstance(step, Act), step
            self.act(step.tool, **step.params)
            used.append(step.tool)
            assert len(used) <= most
        return used


def check_effects(effects: Effects, plan: TxPlan) -> None:
    """The bytes say what the plan says: at most what leaves, at least what arrives, each change, to whom."""
    assert dict(effects.spends) == {flow.token.address: flow.bound for flow in plan.spends}
    received = {flow.token.address: flow.bound for flow in plan.receives}
    assert effects.receives.keys() == received.keys()
    for token, least in effects.receives.items():
        assert least <= received[token] if token in effects.open_minimums else least == received[token]
    promised: dict[tuple[PositionRef | None, str], int] = {}
    for change in plan.changes:
        key = (change.ref, change.token)
        promised[key] = promised.get(key, 0) + change.expected
    read: dict[tuple[PositionRef | None, str], int] = {}
    for seen in effects.changes:
        assert seen.protocol and seen.kind
        read[seen.ref, seen.token] = read.get((seen.ref, seen.token), 0) + seen.raw
    assert read.keys() == promised.keys()
    for key, raw in read.items():
        is_exact = all(seen.is_exact for seen in effects.changes if (seen.ref, seen.token) == key)
        assert abs(raw - promised[key]) <= (2 if is_exact else max(2, abs(promised[key]) // 1_000))
    assert set(effects.recipients) <= set(plan.recipients)
    approved = {(left.token.address, left.spender) for left in plan.allowances}
    assert {(token, spender) for token, spender, _ in effects.approvals} <= approved
