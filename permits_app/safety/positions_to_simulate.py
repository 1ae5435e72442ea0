"""Which positions a simulation is asked for: those at every protocol that a plan touches.

A protocol is touched when the plan calls one of its contracts, promises a change there, or when one of its contracts
says something while the calls run: then the calls are run once more with that protocol asked too.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import replace

from tools_app.portfolio.read_all_positions import HeldAt, list_deployed
from tools_app.simulation.engine import SimulationRequest, SimulationResult
from tools_app.standards.loan_callback import list_contracts
from tools_app.toolkit.context import ChainReader
from tools_app.toolkit.plan import TxPlan
from tools_app.toolkit.positions import PositionRef
from tools_app.toolkit.protocol import SHELF, ProtocolDef, Trait

Run = Callable[[SimulationRequest], SimulationResult]


def ask_for_positions(
    *, plan: TxPlan, chain: ChainReader, account: str, hints: Iterable[PositionRef] = ()
) -> HeldAt | None:
    """What to ask before and after the plan's calls; None where they touch no protocol that keeps positions.

    A call at a protocol that knows no debt, where the account has nothing and the plan promises nothing, can leave a
    gift there at most: tokens that arrive are seen as they are, and nothing more is asked.
    """
    refs = dict.fromkeys([*hints, *(change.ref for change in plan.changes if change.ref is not None)])
    named = {change.protocol for change in plan.changes}
    concerned = named | {ref.protocol for ref in refs}
    called = list_contracts(plan)
    touched = [
        protocol
        for protocol in SHELF.on(chain.chain_id)
        if protocol.positions is not None
        and (protocol.name in named or _is_met(protocol, chain.chain_id, called, concerned))
    ]
    if not touched:
        return None
    return HeldAt(chain.chain_id, account, tuple(touched), tuple(refs))


def run_asking(run: Run, *, chain: ChainReader, account: str, hints: Iterable[PositionRef] = ()) -> Run:
    """`run`, and once more where a protocol spoke up that was not asked."""

    def run_whole(request: SimulationRequest) -> SimulationResult:
        result = run(request)
        asked = request.positions.protocols if isinstance(request.positions, HeldAt) else ()
        missed = _list_missed(result, asked, chain, {ref.protocol for ref in hints})
        if not missed:
            return result
        known = request.positions.hints if isinstance(request.positions, HeldAt) else tuple(hints)
        question = HeldAt(request.chain_id, account, (*asked, *missed), known)
        return run(replace(request, positions=question))

    return run_whole


def _list_missed(
    result: SimulationResult, asked: tuple[ProtocolDef, ...], chain: ChainReader, concerned: set[str]
) -> tuple[ProtocolDef, ...]:
    if not result.succeeded:
        return ()
    names = {protocol.name for protocol in asked}
    speakers = {log.address for call in result.calls for log in call.logs}
    spoke = {
        protocol.name
        for protocol in SHELF.on(chain.chain_id)
        if protocol.name not in names and _is_met(protocol, chain.chain_id, speakers, concerned)
    }
    if not spoke:
        return ()
    return tuple(protocol for protocol in list_deployed(chain) if protocol.name in spoke)


def _is_met(protocol: ProtocolDef, chain_id: int, addresses: Iterable[str], concerned: set[str]) -> bool:
    """Whether one of `addresses` is its contract, and what is done there may change what the account has or owes."""
    may_change = protocol.name in concerned or Trait.LEVERAGE in protocol.traits
    return may_change and any(protocol.owns(chain_id, address) for address in addresses)
