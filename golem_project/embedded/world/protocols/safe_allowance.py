"""Safe's allowance module on the local chain: a contract of ours with its ABI, where its makers' own lies elsewhere.

No real bytecode is used: no package holds it.
"""

from __future__ import annotations

from typing import Final

from golem_project.embedded.world.protocol_deployer import Site
from golem_project.embedded.world.protocols import ProtocolWorld
from golem_project.embedded.world.solidity import load_contract

CONTRACT: Final = "SimulatedAllowanceModule"
ADDRESS: Final = "0xAA46724893dedD72658219405185Fb0Fc91e091C"
"""On every public chain that has version 0.1.1."""


def deploy(site: Site) -> dict[str, str]:
    """At the address that owners' wallets and scripts know."""
    site.rpc.call("anvil_setCode", ADDRESS, load_contract(CONTRACT).deployed_bytecode)
    return {"module": ADDRESS}


WORLD = ProtocolWorld("safe_allowance", deploy)
