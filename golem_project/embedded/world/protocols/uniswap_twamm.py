"""Orders over time on the local chain: a contract of ours in the place of a hook. No real bytecode is used."""

from __future__ import annotations

from golem_project.embedded.world.protocol_deployer import Site
from golem_project.embedded.world.protocols import ProtocolWorld


def deploy(site: Site) -> dict[str, str]:
    """The contract, which takes every token."""
    return {"orders": site.create_ours("SimulatedTwamm")}


WORLD = ProtocolWorld("uniswap_twamm", deploy)
