"""What an owner's withdrawal is on chain: one transfer, measured in simulation to do that and nothing else."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

from permits_app.custody.signing_route import SigningRoute
from permits_app.errors import SimulationFailed
from permits_app.safety.final_simulation import Rehearsed, rehearse
from permits_app.safety.gas_budget import GasBudget
from permits_app.safety.hooks.simulator import build_request
from permits_app.safety.positions_to_simulate import run_asking
from tools_app.core.clock import Deadline
from tools_app.simulation.engine import SimulationResult
from tools_app.simulation.select import run_simulation
from tools_app.standards.erc20 import transfer
from tools_app.toolkit.context import ChainReader
from tools_app.toolkit.enums import ActionClass
from tools_app.toolkit.plan import Call, TokenFlow, TxPlan
from tools_app.toolkit.views import NATIVE, TokenMeta


def plan_withdrawal(*, chain_id: int, token: TokenMeta, amount: int, to: str) -> TxPlan:
    """Send `amount` base units of `token` to `to`."""
    return TxPlan(
        chain_id=chain_id,
        calls=(transfer(token=token, recipient=to, amount=amount),),
        spends=(TokenFlow(token, amount, amount),),
        recipients=(to,),
        action_class=ActionClass.CLOSE_POSITION,
    )


def rehearse_withdrawal(plan: TxPlan, *, route: SigningRoute, chain: ChainReader, budget_ms: int) -> Rehearsed[None]:
    """Run it with the gas and fees it would be signed with. Raises SimulationFailed, and the node's errors."""
    run = partial(run_simulation, deadline=Deadline.after_ms(budget_ms))

    def judge(simulation: SimulationResult, _gas: GasBudget) -> None:
        check_withdrawal(simulation, plan=plan)

    return rehearse(
        build_request(plan=plan, route=route, chain=chain),
        route=route,
        chain=chain,
        calls=route.carry(plan.calls),
        run=run_asking(run, chain=chain, account=route.account),
        judge=judge,
    )


def check_withdrawal(simulation: SimulationResult, *, plan: TxPlan) -> None:
    """The account loses exactly the amount, its receiver gets all of it, and nothing else moves.

    Raises SimulationFailed.
    """
    if not simulation.succeeded:
        raise SimulationFailed(f"the transfer would revert: {simulation.failure}; nothing was sent")
    [flow], [to] = plan.spends, plan.recipients
    token = flow.token.address
    moved = {each: raw for each, raw in simulation.deltas.items() if raw}
    if moved != {token: -flow.bound}:
        raise SimulationFailed(
            "the transfer would change the account by something else than the amount; nothing was sent",
            deltas={each: str(raw) for each, raw in moved.items()},
        )
    if token != NATIVE and simulation.delta_of(to, token) != flow.bound:
        raise SimulationFailed("the receiver would get another amount than leaves; nothing was sent", token=token)
    if simulation.unexpected_approvals or any(each.token != token for each in simulation.unexpected_transfers):
        raise SimulationFailed("the transfer would move other tokens or give rights away; nothing was sent")


def pays_exactly(calls: Sequence[Call], *, token: str, amount: int, to: str) -> bool:
    """Whether `calls` are that one transfer, byte for byte."""
    meta = TokenMeta(chain_id=0, address=token, symbol="", decimals=0, name="", is_registered=False)
    wanted = transfer(token=meta, recipient=to, amount=amount)
    return [(each.to, each.value, each.data) for each in calls] == [(wanted.to, wanted.value, wanted.data)]
