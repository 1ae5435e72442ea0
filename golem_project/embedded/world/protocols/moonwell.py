"""Moonwell on the local chain: our own contracts in its place, three markets, somebody who lends and somebody who owes.

No real bytecode is used: no registry carries any. WBTC is paid where WELL would be, because no WELL with a price is
here.
"""

from __future__ import annotations

from typing import Final

from golem_project.embedded.world.protocol_deployer import Site
from golem_project.embedded.world.protocols import ProtocolWorld
from golem_project.embedded.world.seed_data import worth

LENT_USD: Final = 2_000_000
BORROWED_USD: Final = 1_200_000
MARKETS: Final = (("USDC", 83), ("WETH", 81), ("DAI", 80))
"""Symbol, and hundredths of a supply that cover debts."""
CAP_USD: Final = 20_000_000
REWARD: Final = "WBTC"
REWARD_STOCK_USD: Final = 600_000
# Base units of WBTC a second for 1e18 receipts; a receipt has eight decimals and begins at a fiftieth.
SPEED: Final = 20_000
PERCENT: Final = 10**16


def deploy(site: Site) -> dict[str, str]:
    """Markets with money in them, a debt of USDC over WETH, and who pays rewards."""
    oracle = site.create_ours("SimulatedMoonwellOracle")
    comptroller = site.create_ours("SimulatedMoonwellComptroller", "(address)", oracle)
    rewards = site.create_ours("SimulatedMoonwellRewards", "(address,address)", comptroller, site.tokens[REWARD])
    markets = {
        symbol: site.create_ours(
            "SimulatedMoonwellMarket", "(address,bool,address)", site.tokens[symbol], symbol == "WETH", comptroller
        )
        for symbol, _ in MARKETS
    }
    site.transact(comptroller, "setRewards(address)", rewards)
    site.give(REWARD, worth(REWARD, REWARD_STOCK_USD), rewards)
    lender, borrower = site.account("lender"), site.account("borrower")
    for symbol, factor in MARKETS:
        market, token = markets[symbol], site.tokens[symbol]
        site.transact(oracle, "setFeed(address,address)", market, site.feeds[symbol])
        cap = worth(symbol, CAP_USD)
        site.transact(comptroller, "supportMarket(address,uint256,uint256,uint256)", market, factor * PERCENT, cap, cap)
        amount = worth(symbol, LENT_USD)
        site.give(symbol, amount, lender.address)
        site.transact(token, "approve(address,uint256)", market, 2**255, sender=lender)
        site.transact(market, "mint(uint256)", amount, sender=lender)
    site.transact(rewards, "setSpeed(address,uint256)", markets["USDC"], SPEED)
    cover = worth("WETH", 2 * BORROWED_USD)
    site.give("WETH", cover, borrower.address)
    site.transact(site.tokens["WETH"], "approve(address,uint256)", markets["WETH"], 2**255, sender=borrower)
    site.transact(markets["WETH"], "mint(uint256)", cover, sender=borrower)
    site.transact(comptroller, "enterMarkets(address[])", [markets["WETH"]], sender=borrower)
    site.transact(markets["USDC"], "borrow(uint256)", worth("USDC", BORROWED_USD), sender=borrower)
    return {
        "comptroller": comptroller,
        "oracle": oracle,
        "rewards": rewards,
        **{f"market_{symbol.lower()}": address for symbol, address in markets.items()},
    }


WORLD = ProtocolWorld("moonwell", deploy)
