"""EigenLayer on the local chain: our own contracts in its place, two strategies, two operators and a service.

No real bytecode is used: the slashing release is in no package. What waits is free after few blocks, since a chain that
a test moves would have to make each of a hundred thousand.
"""

from __future__ import annotations

from typing import Final

from golem_project.embedded.world.protocol_deployer import Site
from golem_project.embedded.world.protocols import ProtocolWorld
from golem_project.embedded.world.seed_data import worth

DELAY_BLOCKS: Final = 50
ASSETS: Final = ("WETH", "DAI")
GUEST_USD: Final = 100_000
NOBODY: Final = "0x0000000000000000000000000000000000000000"
_ANY: Final = b"\x00" * 32


def deploy(site: Site) -> dict[str, str]:
    """Managers, strategies, a guest who is delegated, an open operator, one that picks its stakers, a service."""
    deposits = site.create_ours("SimulatedStrategyManager")
    magnitudes = site.create_ours("SimulatedAllocationManager")
    delegation = site.create_ours(
        "SimulatedDelegationManager", "(address,address,uint32)", deposits, magnitudes, DELAY_BLOCKS
    )
    strategies = {
        asset: site.create_ours("SimulatedStrategy", "(address,address)", site.tokens[asset], deposits)
        for asset in ASSETS
    }
    site.transact(deposits, "setDelegation(address)", delegation)
    site.transact(magnitudes, "setDelegation(address)", delegation)
    for strategy in strategies.values():
        site.transact(deposits, "setWhitelisted(address,bool)", strategy, True)
    operator, picky = site.account("operator"), site.account("picky operator")
    register = "registerAsOperator(address,uint32,string)"
    site.transact(delegation, register, NOBODY, 0, "https://operator.invalid/open.json", sender=operator)
    site.transact(delegation, register, picky.address, 0, "https://operator.invalid/picky.json", sender=picky)
    service = site.account("service")
    site.transact(
        magnitudes,
        "updateAVSMetadataURI(address,string)",
        service.address,
        "https://service.invalid/a.json",
        sender=service,
    )
    site.transact(magnitudes, "createOperatorSet()", sender=service)
    site.transact(magnitudes, "registerForOperatorSet(address,uint32)", service.address, 0, sender=operator)
    guest = site.account("guest")
    for asset, strategy in strategies.items():
        amount = worth(asset, GUEST_USD)
        site.give(asset, amount, guest.address)
        site.transact(site.tokens[asset], "approve(address,uint256)", deposits, amount, sender=guest)
        into = "depositIntoStrategy(address,address,uint256)"
        site.transact(deposits, into, strategy, site.tokens[asset], amount, sender=guest)
    site.transact(
        delegation, "delegateTo(address,(bytes,uint256),bytes32)", operator.address, (b"", 0), _ANY, sender=guest
    )
    return {
        "deposits": deposits,
        "magnitudes": magnitudes,
        "delegation": delegation,
        **{f"strategy_{asset.lower()}": address for asset, address in strategies.items()},
    }


WORLD = ProtocolWorld("eigenlayer", deploy)
