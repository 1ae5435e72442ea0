"""Where Uniswap V2 and V3 are deployed, chain by chain, as data.

The public chains are the facts of the npm packages `@uniswap/sdk-core` 7.19.4 and, for QuoterV2 on the chains
where that package names the older quoter, `@uniswap/smart-order-router` 4.31.10; Permit2 is one address
everywhere. The local chain's addresses come from the deployment file that the local world writes.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

from tools_app.protocols.uniswap.errors import NotDeployedHere

LOCAL_CHAIN_ID = 31_337
PERMIT2 = "0x000000000022D473030F116dDEE9F6B43aC78BA3"
_LOCAL_FILE = Path(__file__).parents[2] / "chain" / "deployments" / f"{LOCAL_CHAIN_ID}.json"


@dataclass(frozen=True, slots=True)
class Deployment:
    """The contracts of one chain; every address is checksummed. `v3_router` is SwapRouter02, `v2_router` Router02."""

    chain_id: int
    wrapped_native: str
    v2_factory: str
    v2_router: str
    v3_factory: str
    v3_router: str
    v3_position_manager: str
    v3_quoter: str


_PUBLIC = {

}

CHAINS = frozenset({*_PUBLIC, LOCAL_CHAIN_ID})
"""Every chain the `uniswap_*` tools serve."""


def deployment_on(chain_id: int) -> Deployment:
    """Uniswap's contracts on a chain. Raises NotDeployedHere."""
    found = _PUBLIC.get(chain_id)
    if found is not None:
        return found
    if chain_id == LOCAL_CHAIN_ID and _LOCAL_FILE.exists():
        return _local_deployment(_LOCAL_FILE.stat().st_mtime_ns)
    raise NotDeployedHere(f"Uniswap is not served on chain {chain_id}", chain_id=chain_id, chains=sorted(CHAINS))


@lru_cache(maxsize=2)
def _local_deployment(written_at_ns: int) -> Deployment:
    contracts = json.loads(_LOCAL_FILE.read_text())["contracts"]
    return Deployment(
        chain_id=LOCAL_CHAIN_ID,
        wrapped_native=contracts["weth9"],
        v2_factory=contracts["uniswap_v2_factory"],
        v2_router=contracts["uniswap_v2_router"],
        v3_factory=contracts["uniswap_v3_factory"],
        v3_router=contracts["uniswap_v3_swap_router_02"],
        v3_position_manager=contracts["uniswap_v3_position_manager"],
        v3_quoter=contracts["uniswap_v3_quoter_v2"],
    )
