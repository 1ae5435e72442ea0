"""Compound V3 on the local chain: our own contracts in its place, a market of USDC over WETH and DAI, a guest on each
side.

No real bytecode is used: no registry carries any. WBTC is paid where COMP would be, because no COMP with a price is
here.
"""

from __future__ import annotations

from typing import Final

from golem_project.embedded.world.protocol_deployer import Site
from golem_project.embedded.world.protocols import ProtocolWorld
from golem_project.embedded.world.seed_data import worth

BASE: Final = "USDC"
LENT_USD: Final = 2_000_000
BORROWED_USD: Final = 1_400_000
COVERS: Final = (("WETH", 825, 895, 20_000), ("DAI", 800, 850, 5_000_000))
"""Symbol, thousandths that may be borrowed and that count before liquidation, cap in whole tokens."""
LEAST_DEBT_USD: Final = 100
# A market counts rewards in 1e15 a second; a millionth of what it counts is a base unit of the reward.
SUPPLY_SPEED: Final = 3_000_000_000
BORROW_SPEED: Final = 1_000_000_000
REWARD: Final = "WBTC"
REWARD_STOCK_USD: Final = 600_000
FACTOR: Final = 10**15
INFO: Final = "(uint8,address,address,uint64,uint64,uint64,uint64,uint128)"


def deploy(site: Site) -> dict[str, str]:
    """Deploy a market with a lender, a borrower and a payer of rewards."""
    assets = [
        (
            number,
            site.tokens[symbol],
            site.feeds[symbol],
            10 ** site.decimals[symbol],
            borrow * FACTOR,
            liquidate * FACTOR,
            950 * FACTOR,
            cap * 10 ** site.decimals[symbol],
        )
        for number, (symbol, borrow, liquidate, cap) in enumerate(COVERS)
    ]
    comet = site.create_ours(
        "SimulatedComet",
        f"(address,address,uint256,uint256,uint256,uint256,{INFO}[])",
        site.tokens[BASE],
        site.feeds[BASE],
        10 ** site.decimals[BASE],
        worth(BASE, LEAST_DEBT_USD),
        SUPPLY_SPEED,
        BORROW_SPEED,
        assets,
    )
    terms = (comet, site.tokens[REWARD], 1)
    rewards = site.create_ours("SimulatedCometRewards", "(address,address,uint256)", *terms)
    site.give(REWARD, worth(REWARD, REWARD_STOCK_USD), rewards)
    lender, borrower = site.account("lender"), site.account("borrower")
    site.give(BASE, worth(BASE, LENT_USD), lender.address)
    site.transact(site.tokens[BASE], "approve(address,uint256)", comet, 2**255, sender=lender)
    site.transact(comet, "supply(address,uint256)", site.tokens[BASE], worth(BASE, LENT_USD), sender=lender)
    cover = worth("WETH", 3 * BORROWED_USD)
    site.give("WETH", cover, borrower.address)
    site.transact(site.tokens["WETH"], "approve(address,uint256)", comet, 2**255, sender=borrower)
    site.transact(comet, "supply(address,uint256)", site.tokens["WETH"], cover, sender=borrower)
    site.transact(comet, "withdraw(address,uint256)", site.tokens[BASE], worth(BASE, BORROWED_USD), sender=borrower)
    return {"comet_usdc": comet, "rewards": rewards}


WORLD = ProtocolWorld("compound_v3", deploy)
