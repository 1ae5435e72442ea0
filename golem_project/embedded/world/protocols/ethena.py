"""Ethena on the local chain: our own contract in its place, over DAI, a guest inside, a month of rewards.

No real bytecode is used. Rewards come when its admin sends some (`transferInRewards`).
"""

from __future__ import annotations

from typing import Final

from golem_project.embedded.world.protocol_deployer import Site
from golem_project.embedded.world.protocols import ProtocolWorld
from golem_project.embedded.world.seed_data import worth

ASSET: Final = "DAI"
STAKED_USD: Final = 1_000_000
# So that a share is worth more than one, as after some time.
EARNED_USD: Final = 40_000
REWARD_USD: Final = 100
WEEK_SECONDS: Final = 7 * 86_400


def deploy(site: Site) -> dict[str, str]:
    """sUSDe with a cooldown of seven days, somebody inside, something earned, and rewards that drip in."""
    token = site.tokens[ASSET]
    susde = site.create_ours("SimulatedStakedUsde", "(address)", token)
    guest = site.account("guest")
    site.give(ASSET, worth(ASSET, STAKED_USD + EARNED_USD), guest.address)
    site.transact(token, "approve(address,uint256)", susde, worth(ASSET, STAKED_USD), sender=guest)
    site.transact(susde, "deposit(uint256,address)", worth(ASSET, STAKED_USD), guest.address, sender=guest)
    site.transact(token, "transfer(address,uint256)", susde, worth(ASSET, EARNED_USD), sender=guest)
    site.transact(susde, "setCooldownDuration(uint24)", WEEK_SECONDS)
    return {"susde": susde}


WORLD = ProtocolWorld("ethena", deploy)
