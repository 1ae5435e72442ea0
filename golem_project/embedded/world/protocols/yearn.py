"""Yearn V3 on the local chain: our own contract in its place, over USDC, a guest inside, half of it lent out.

No real bytecode is used. Profit comes, and losses, when its admin reports some (`process_report`).
"""

from __future__ import annotations

from typing import Final

from golem_project.embedded.world.protocol_deployer import Site
from golem_project.embedded.world.protocols import ProtocolWorld
from golem_project.embedded.world.seed_data import worth

ASSET: Final = "USDC"
DEPOSITED_USD: Final = 1_000_000
# So that a share is worth more than one, as after some time.
EARNED_USD: Final = 20_000


def deploy(site: Site) -> dict[str, str]:
    """A vault, somebody inside, and a profit that has unlocked."""
    token, all_in = site.tokens[ASSET], worth(ASSET, DEPOSITED_USD)
    vault = site.create_ours("SimulatedYearnVault", "(address,string,string)", token, "USDC-1 yVault", "yvUSDC-1")
    guest = site.account("guest")
    site.give(ASSET, all_in, guest.address)
    site.transact(token, "approve(address,uint256)", vault, all_in, sender=guest)
    site.transact(vault, "deposit(uint256,address)", all_in, guest.address, sender=guest)
    site.give(ASSET, worth(ASSET, EARNED_USD))
    site.transact(token, "approve(address,uint256)", vault, worth(ASSET, EARNED_USD))
    # Without a time to unlock in it counts at once.
    site.transact(vault, "process_report(uint256,uint256,uint256)", worth(ASSET, EARNED_USD), 0, 0)
    site.transact(vault, "update_debt(uint256)", all_in // 2)
    return {"yv_usdc": vault}


WORLD = ProtocolWorld("yearn", deploy)
