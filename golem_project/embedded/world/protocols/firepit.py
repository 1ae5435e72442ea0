"""The jar of fees on the local chain: contracts of ours in its place, over DAI, with some fees in it.

No real bytecode is used.
"""

from __future__ import annotations

from typing import Final

from golem_project.embedded.world.protocol_deployer import Site
from golem_project.embedded.world.protocols import ProtocolWorld
from golem_project.embedded.world.seed_data import worth

RESOURCE: Final = "DAI"
THRESHOLD_USD: Final = 4_000
FEES_USD: Final = {"USDC": 1_500, "WBTC": 3_000}
WEI: Final = 10**18 // 2


def deploy(site: Site) -> dict[str, str]:
    """The jar, its releaser, and fees of three kinds."""
    jar = site.create_ours("SimulatedTokenJar")
    terms = (site.tokens[RESOURCE], worth(RESOURCE, THRESHOLD_USD), jar)
    releaser = site.create_ours("SimulatedFirepit", "(address,uint256,address)", *terms)
    site.transact(jar, "setReleaser(address)", releaser)
    for symbol, usd in FEES_USD.items():
        site.give(symbol, worth(symbol, usd), jar)
    site.flush()
    site.rpc.call("anvil_setBalance", jar, hex(WEI))
    return {"jar": jar, "releaser": releaser}


WORLD = ProtocolWorld("firepit", deploy)
