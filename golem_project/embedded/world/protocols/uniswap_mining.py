"""Rewards for V3 positions on the local chain: the canonical staker and a list of claims, out of Uniswap's packages.

`make run` builds them; tests do where they name them. Who pays for liquidity is somebody's own matter: no
incentive is opened here, and nobody stands on the list.
"""

from __future__ import annotations

from typing import Final

from golem_project.embedded.world.protocol_deployer import Site
from golem_project.embedded.world.protocols import ProtocolWorld

STAKER_FILE: Final = "artifacts/contracts/UniswapV3Staker.sol/UniswapV3Staker.json"
LIST_FILE: Final = "build/MerkleDistributor.json"
DAYS: Final = 86_400
START_LEAD: Final = 30 * DAYS
LONGEST: Final = 2 * 365 * DAYS
NOBODY: Final = bytes(32)


def deploy(site: Site) -> dict[str, str]:
    """The staker over the real factory and manager, and a list over DAI."""
    known = site.contracts
    staker = site.create_from(
        "v3_staker",
        STAKER_FILE,
        "(address,address,uint256,uint256)",
        *(known.uniswap_v3_factory, known.uniswap_v3_position_manager, START_LEAD, LONGEST),
    )
    listed = site.create_from("merkle_distributor", LIST_FILE, "(address,bytes32)", site.tokens["DAI"], NOBODY)
    return {"staker": staker, "claim_list": listed}


WORLD = ProtocolWorld("uniswap_mining", deploy, version_of="uniswap", in_run=True)
