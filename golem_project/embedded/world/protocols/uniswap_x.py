"""UniswapX on the local chain: the real reactors, out of their makers' package."""

from __future__ import annotations

import re
from typing import Final

from golem_project.embedded.errors import EmbeddedError
from golem_project.embedded.world.fetched_packages import Fetched
from golem_project.embedded.world.protocol_deployer import Site
from golem_project.embedded.world.protocols import ProtocolWorld

FACTORIES: Final = "dist/cjs/src/contracts/factories/"
REACTORS: Final = {
    "limit": "ExclusiveDutchOrderReactor",
    "dutch_v2": "V2DutchOrderReactor",
    "dutch_v3": "V3DutchOrderReactor",
    "priority": "PriorityOrderReactor",
}
_CODE: Final = re.compile(r'_bytecode = "(0x[0-9a-f]+)"')


def read_code(fetched: Fetched, contract: str) -> str:
    """The creation code that the package's factory of a contract holds."""
    found = _CODE.search(fetched.text("uniswapx", f"{FACTORIES}{contract}__factory.js"))
    if found is None:
        raise EmbeddedError(f"The factory of {contract} holds no code. Fix: pin the version that does.")
    return found[1]


def deploy(site: Site) -> dict[str, str]:
    """One reactor for each kind of order; what they take tokens by is there already."""
    permit2, owner = site.contracts.permit2, site.deployer.address
    reactors = {
        key: site.create(read_code(site.fetched, contract), "(address,address)", permit2, owner, what=contract)
        for key, contract in REACTORS.items()
    }
    return {"permit2": permit2, **reactors}


WORLD = ProtocolWorld("uniswap_x", deploy)
