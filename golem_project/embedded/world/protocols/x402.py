"""The two proxies that settle x402 payments on the local chain: contracts of ours, where the makers' own lie.

No real bytecode is used: no package holds it. Permit2, which they ask, is there already.
"""

from __future__ import annotations

from typing import Final

from golem_project.embedded.world.protocol_deployer import Site
from golem_project.embedded.world.protocols import ProtocolWorld
from golem_project.embedded.world.solidity import load_contract

PLACES: Final = {
    "exact": ("SimulatedX402ExactProxy", "0x402085c248EeA27D92E8b30b2C58ed07f9E20001"),
    "upto": ("SimulatedX402UptoProxy", "0x4020A4f3b7b90ccA423B9fabCc0CE57C6C240002"),
}


def deploy(site: Site) -> dict[str, str]:
    """Both at the addresses that they have on every public chain, because clients and servers know no others."""
    for contract, address in PLACES.values():
        site.rpc.call("anvil_setCode", address, load_contract(contract).deployed_bytecode)
    return {key: address for key, (_, address) in PLACES.items()}


WORLD = ProtocolWorld("x402", deploy)
