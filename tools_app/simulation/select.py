"""Chooses the engines for a plan, by what is at stake and by the owner's setting.

Up to STANDARD one engine runs; from ELEVATED on two must agree. A node without `eth_simulateV1` is replaced by the
engine in process where one engine is enough and it knows the chain's rules; where two are asked for, one is not, and
the call is refused. On a chain with newer rules the engine in process is only ever the second.
Nothing less exact ever stands in silently: the result's label says what ran.
"""

from __future__ import annotations

from datetime import datetime
from functools import partial
from importlib import import_module
from typing import Final

from tools_app.chain.blocks import parse_block
from tools_app.chain.chains import get_pool
from tools_app.chain.networks import get_network
from tools_app.chain.node_errors import RpcLagging
from tools_app.chain.rpc_pool import RpcPool
from tools_app.core import trace_spans
from tools_app.core.clock import Deadline
from tools_app.simulation.differential import run_both
from tools_app.simulation.engine import SimulationEngine, SimulationRequest, SimulationResult, SimulationUnavailable
from tools_app.simulation.measured_changes import READ_FROM
from tools_app.simulation.pyevm.rules import is_enough_alone
from tools_app.simulation.rpc import RpcSimulationEngine
from tools_app.toolkit.enums import EngineSetting, RiskTier
from tools_app.toolkit.positions import Gauge
from tools_app.toolkit.views import BlockRef

ENGINE_NAMES: Final = ("rpc", "pyevm")
_NEEDS_TWO: Final = frozenset({RiskTier.ELEVATED, RiskTier.HIGH, RiskTier.CRITICAL})
MOST_BEHIND_SECONDS: Final = 60
"""How much older than what another node has a block may be that two engines run on."""
# A method the node lacks now it lacks in a second too; anything else may pass by itself and is not papered over.
_NODE_LACKS: Final = "RPC_METHOD_MISSING"


def choose_engines(
    *,
    risk_tier: RiskTier | None = None,
    setting: EngineSetting = EngineSetting.AUTO,
    is_pyevm_enough: bool = True,
) -> tuple[str, ...]:
    """Names of the engines that must run, the one whose result counts first. Pure.

    `is_pyevm_enough` is whether pyevm knows the chain's rules: where it does not, it neither leads nor runs alone.
    """
    wants_pyevm = setting is EngineSetting.PYEVM
    order = ("pyevm", "rpc") if wants_pyevm and is_pyevm_enough else ("rpc", "pyevm")
    needs_two = risk_tier in _NEEDS_TWO or setting is EngineSetting.BOTH or (wants_pyevm and not is_pyevm_enough)
    return order if needs_two else order[:1]


def select_engine(chain_id: int, name: str = "rpc", *, is_paired: bool = False) -> SimulationEngine:
    """One engine of `chain_id` by name. Raises ChainNotSupported.

    Paired with the node's engine, the one in process learns the state from another node, where the chain has one: two
    that agree are then two nodes as well.
    """
    network, pool = get_network(chain_id), get_pool(chain_id)
    if name == "rpc":
        return RpcSimulationEngine(network=network, pool=pool)
    if name != "pyevm":
        raise ValueError(f"no engine is called {name!r}; there are {', '.join(ENGINE_NAMES)}")
    # py-evm takes most of a second to import; a process pays for it when it first needs it, or in `warm_up`.
    from tools_app.simulation.pyevm.engine import PyEvmSimulationEngine

    return PyEvmSimulationEngine(network=network, pool=pool.second_opinion() if is_paired else pool)


def warm_up() -> None:
    """Import the engine in process now, so that no call that needs it waits for it."""
    import_module("tools_app.simulation.pyevm.engine")


def run_simulation(
    request: SimulationRequest,
    *,
    deadline: Deadline,
    risk_tier: RiskTier | None = None,
    setting: EngineSetting = EngineSetting.AUTO,
) -> SimulationResult:
    """Run `request` on the engines its tier asks for.

    Raises ChainNotSupported, SimulationUnavailable, SimulationTimeout, SimulationDisagrees, and of two engines
    RpcLagging where another node has seen much more than the block they ran on.
    """
    with trace_spans.step("simulation", chain_id=request.chain_id, calls=len(request.calls)):
        return _run_chosen(request, deadline=deadline, risk_tier=risk_tier, setting=setting)


def _run_chosen(
    request: SimulationRequest, *, deadline: Deadline, risk_tier: RiskTier | None, setting: EngineSetting
) -> SimulationResult:
    is_pyevm_enough = is_enough_alone(request.chain_id)
    names = choose_engines(risk_tier=risk_tier, setting=setting, is_pyevm_enough=is_pyevm_enough)
    trace_spans.note(engines=",".join(names))
    engines = [select_engine(request.chain_id, name, is_paired=len(names) == 2) for name in names]
    if len(engines) == 2:
        forget = partial(_forget_state, request.chain_id)
        result = run_both(request, first=engines[0], second=engines[1], deadline=deadline, forget=forget)
        check_head(get_pool(request.chain_id), result.block, deadline)
        return result
    try:
        return engines[0].run(request, deadline=deadline)
    except SimulationUnavailable as error:
        may_replace = names == ("rpc",) and setting is EngineSetting.AUTO and is_pyevm_enough
        if not may_replace or error.data.get("cause") != _NODE_LACKS:
            raise
        return select_engine(request.chain_id, "pyevm").run(request, deadline=deadline)


def _forget_state(chain_id: int, block: BlockRef) -> None:
    from tools_app.simulation.pyevm.base import BASES

    BASES.forget(chain_id, block.hash)


def read_apart(chain_id: int, gauges: tuple[Gauge, ...], *, block: BlockRef, deadline: Deadline) -> tuple[int, ...]:
    """Figures of a block as contracts answer them in this process, on another node's state where the chain has several.

    Raises ChainNotSupported, SimulationUnavailable, SimulationTimeout, ContractOutputUnexpected.
    """
    request = SimulationRequest(chain_id=chain_id, sender=READ_FROM, calls=(), gauges=gauges, block=block)
    engine = select_engine(chain_id, "pyevm", is_paired=True)
    return engine.run(request, deadline=deadline).gauges_before


def check_head(pool: RpcPool, block: BlockRef, deadline: Deadline) -> None:
    """What two nodes say of an old block agrees: that it is old, the second one tells. Of one node alone nothing.

    Raises RpcLagging, and the node's errors.
    """
    other = pool.second_opinion()
    if other is pool:
        return
    newest = parse_block(other.latest_block(deadline=deadline))
    behind = newest.timestamp - block.timestamp
    if newest.number > block.number and behind > MOST_BEHIND_SECONDS:
        raise RpcLagging(
            f"Block {block.number} of chain {pool.chain_id} is {behind} s older than block {newest.number},"
            " which another node has",
            chain_id=pool.chain_id,
            seen_block=newest.number,
            node_block=block.number,
        )


def describe_fidelity(fidelity: str, block: BlockRef, *, at: datetime) -> str:
    """The label of a result with its block's age at `at` (the permit's making): engine, block, age, rules."""
    age = max(0, int(at.timestamp()) - block.timestamp)
    return f"{fidelity}; the block was {age} s old"
