"""Curve on the local chain: our own pool, LP token, gauge and minter in its place, with three guests inside.

No real bytecode is used: no registry carries any. The pool has the three dollars of the world, four fifths of what the
guest holds is staked, and WBTC is paid where CRV would be, because no CRV with a price is here. Convex stands over the
gauge, with WETH where CVX would be.
"""

from __future__ import annotations

from typing import Final

from golem_project.embedded.world.protocol_deployer import Site
from golem_project.embedded.world.protocols import ProtocolWorld
from golem_project.embedded.world.seed_data import worth

COINS: Final = ("DAI", "USDC", "USDT")
EACH_USD: Final = 2_000_000
TRADED_USD: Final = 100_000
AMPLIFICATION: Final = 2_000
FEE: Final = 1_000_000
ADMIN_FEE: Final = 5_000_000_000
REWARD: Final = "WBTC"
REWARD_A_SECOND: Final = 10
STOCK_USD: Final = 60_000_000
OWN: Final = "WETH"
OWN_STOCK_USD: Final = 300_000
WEEKLY_USD: Final = 6_000
LP: Final = 10**18


def deploy(site: Site) -> dict[str, str]:
    """A pool with a year of fees, a gauge, and a guest in both."""
    coins = [site.tokens[symbol] for symbol in COINS]
    lp = site.create_ours("SimulatedCurveToken", "(string,string)", "Curve.fi DAI/USDC/USDT", "3Crv")
    pool = site.create_ours(
        "SimulatedCurvePool",
        "(address[3],uint256[3],address,uint256,uint256,uint256)",
        coins,
        [site.decimals[symbol] for symbol in COINS],
        lp,
        AMPLIFICATION,
        FEE,
        ADMIN_FEE,
    )
    gauge = site.create_ours("SimulatedCurveGauge", "(address,uint256)", lp, REWARD_A_SECOND)
    minter = site.create_ours("SimulatedCurveMinter", "(address,address)", site.tokens[REWARD], gauge)
    site.transact(lp, "set_minter(address)", pool)
    site.transact(gauge, "set_minter(address)", minter)
    site.give(REWARD, worth(REWARD, STOCK_USD), minter)
    guest = site.account("guest")
    amounts = [worth(symbol, EACH_USD) for symbol in COINS]
    for symbol, token, amount in zip(COINS, coins, amounts, strict=True):
        site.give(symbol, amount + worth(symbol, TRADED_USD), guest.address)
        site.transact(token, "approve(address,uint256)", pool, 2**255, sender=guest)
    site.transact(pool, "add_liquidity(uint256[3],uint256)", amounts, 0, sender=guest)
    for sold, bought in ((0, 1), (1, 2), (2, 0)):
        size = worth(COINS[sold], TRADED_USD)
        site.transact(pool, "exchange(int128,int128,uint256,uint256)", sold, bought, size, 0, sender=guest)
    site.transact(lp, "approve(address,uint256)", gauge, 2**255, sender=guest)
    site.transact(gauge, "deposit(uint256)", 4_800_000 * LP, sender=guest)
    booster = site.create_ours("SimulatedConvexBooster", "(address,address)", minter, site.tokens[OWN])
    rewards = site.create_ours("SimulatedConvexRewards", "(uint256,address,address)", 0, booster, site.tokens[REWARD])
    site.transact(booster, "addPool(address,address,address)", lp, gauge, rewards)
    site.give(OWN, worth(OWN, OWN_STOCK_USD), booster)
    site.transact(lp, "approve(address,uint256)", booster, 2**255, sender=guest)
    site.transact(booster, "deposit(uint256,uint256,bool)", 0, 900_000 * LP, True, sender=guest)
    site.give(REWARD, worth(REWARD, WEEKLY_USD))
    site.transact(site.tokens[REWARD], "approve(address,uint256)", booster, worth(REWARD, WEEKLY_USD))
    site.transact(booster, "addRewards(uint256,uint256)", 0, worth(REWARD, WEEKLY_USD))
    return {
        "lp_3pool": lp,
        "pool_3pool": pool,
        "gauge_3pool": gauge,
        "minter": minter,
        "convex_booster": booster,
        "convex_rewards_3pool": rewards,
    }


WORLD = ProtocolWorld("curve", deploy)
