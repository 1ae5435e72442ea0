"""Across on a local chain: its real spoke pool behind its proxy. Each local chain has one, at the same address.

The hub on Ethereum, which repays relayers and depositors, is not here: whoever pays out locally is not repaid.
"""

from __future__ import annotations

from typing import Final

from golem_project.embedded.world.protocol_deployer import Site
from golem_project.embedded.world.protocols import ProtocolWorld
from golem_project.embedded.world.rpc import call_data

POOL_FILE: Final = "dist/evm/artifacts/Ethereum_SpokePool.sol/Ethereum_SpokePool.json"
PROXY_FILE: Final = "dist/evm/artifacts/ERC1967Proxy.sol/ERC1967Proxy.json"
OLDEST_QUOTE_SECONDS: Final = 3_600
LONGEST_SECONDS: Final = 21_600
NOBODY: Final = "0x" + "00" * 20


def deploy(site: Site) -> dict[str, str]:
    """The pool's code, and the proxy that is the pool."""
    code = site.create_from(
        "across",
        POOL_FILE,
        "(address,uint32,uint32,address)",
        *(site.tokens["WETH"], OLDEST_QUOTE_SECONDS, LONGEST_SECONDS, NOBODY),
    )
    begin = bytes.fromhex(call_data("initialize(uint32,address)", 0, site.deployer.address).removeprefix("0x"))
    return {"spoke_pool": site.create_from("across", PROXY_FILE, "(address,bytes)", code, begin)}


WORLD = ProtocolWorld("across", deploy)
