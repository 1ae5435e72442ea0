"""Sets standing token approvals to zero under a halt.

The plan is the runtime's own: approvals of zero, nothing else; it is simulated, gets a permit bound to the halt's
epoch, and storing its bytes checks both.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

from archetypes_app.models import Golem
from permits_app.errors import SimulationFailed
from permits_app.execution.halt_permits import HaltPlan, execute_halt_plan
from tools_app import runner
from tools_app.core.clock import Deadline
from tools_app.simulation.engine import SimulationResult
from tools_app.standards import erc20
from tools_app.toolkit.context import ChainReader
from tools_app.toolkit.enums import ActionClass
from tools_app.toolkit.plan import AllowanceLeft, Call, TxPlan
from tools_app.toolkit.views import TokenMeta

_BUDGET_MS = 10_000


def find_standing(
    *, chain: ChainReader, account: str, pairs: Sequence[tuple[str, str]]
) -> list[tuple[TokenMeta, str, int]]:
    """Of (token address, spender) pairs, those the chain still lets take something: token, spender, base units."""
    found = []
    for address, spender in pairs:
        token = chain.token(address)
        left = erc20.allowance(chain, token, account, spender)
        if left:
            found.append((token, spender, left))
    return found


def revoke_standing(
    *, golem: Golem, epoch: int, chain_id: int, pairs: Sequence[tuple[str, str]], actor: str, now: datetime
) -> list[dict[str, object]]:
    """Set every allowance of `pairs` that still stands to zero; says for each what came of it.

    Raises the node's errors, SameActionPending while another worker does it, SimulationFailed, SignerUnavailable,
    GolemHalted when another halt came meanwhile.
    """
    chain = runner.open_reader(chain_id, now=now, deadline=Deadline.after_ms(_BUDGET_MS))
    standing = find_standing(chain=chain, account=golem.address, pairs=pairs)
    if not standing:
        return []
    wanted = HaltPlan(
        plan=TxPlan(
            chain_id=chain.chain_id,
            calls=tuple(erc20.revoke(token=token, spender=spender) for token, spender, _ in standing),
            allowances=tuple(AllowanceLeft(token=t, spender=s, granted=0, left=0) for t, s, _ in standing),
            action_class=ActionClass.CLOSE_POSITION,
        ),
        action_type="revoke_allowances",
        params={},
        event="HaltRevocationStarted",
        facts={"revoked": [{"token": t.address, "spender": s, "was": str(left)} for t, s, left in standing]},
        check=_check,
    )
    permit = execute_halt_plan(golem=golem, epoch=epoch, chain=chain, wanted=wanted, actor=actor, now=now)
    hashes = list(permit.transactions.order_by("call_index").values_list("tx_hash", flat=True))
    return [
        {
            "token": token.symbol,
            "token_address": token.address,
            "spender": spender,
            "was": str(left),
            "permit_id": str(permit.pk),
            "tx_hash": tx_hash,
            "outcome": permit.status,
        }
        for (token, spender, left), tx_hash in zip(standing, hashes, strict=False)
    ]


def _check(simulation: SimulationResult, calls: Sequence[Call]) -> None:
    if not simulation.succeeded:
        raise SimulationFailed("setting the standing allowances to zero reverts in simulation")
