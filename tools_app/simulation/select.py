"""Which engine runs a chain's plans, and the label its results carry.

One engine today: the node that will carry the transaction. A chain whose node lacks `eth_simulateV1` has none, and
what would need it is refused; nothing less exact stands in silently.
"""

from __future__ import annotations

from tools_app.chain.chains import get_pool
from tools_app.chain.networks import get_network
from tools_app.core.clock import Deadline
from tools_app.simulation.engine import SimulationEngine, SimulationRequest, SimulationResult
from tools_app.simulation.rpc import RpcSimulationEngine


def select_engine(chain_id: int) -> SimulationEngine:
    """The engine for `chain_id`. Raises ChainNotSupported."""
    return RpcSimulationEngine(network=get_network(chain_id), pool=get_pool(chain_id))


def run_simulation(request: SimulationRequest, *, deadline: Deadline) -> SimulationResult:
    """Run `request` on its chain's engine. Raises ChainNotSupported, SimulationUnavailable, SimulationTimeout."""
    return select_engine(request.chain_id).run(request, deadline=deadline)
