"""Aave V3.0 on the local chain: the real contracts, reserves like those of mainnet, and liquidity to borrow."""

from __future__ import annotations

from golem_project.embedded.world.aave_like import Loan, Reserve, add_e_mode, build_market, join_e_mode
from golem_project.embedded.world.protocol_deployer import Site
from golem_project.embedded.world.protocols import ProtocolWorld

STABLECOINS = 1
RESERVES = (
    Reserve("WETH", 8_000, 8_250, 10_500, 4_000, supply_cap=20_000, borrow_cap=10_000, kink=8_000, rate_at_kink=380),
    Reserve(
        "USDC",
        ltv=7_700,
        threshold=8_000,
        bonus=10_450,
        supplied=20_000_000,
        supply_cap=60_000_000,
        borrow_cap=40_000_000,
        is_borrowable_in_isolation=True,
    ),
    Reserve(
        "DAI",
        ltv=7_500,
        threshold=8_000,
        bonus=10_500,
        supplied=10_000_000,
        supply_cap=30_000_000,
        borrow_cap=15_000_000,
        has_stable_rate=True,
        is_borrowable_in_isolation=True,
    ),
    # Collateral only, as on many markets.
    Reserve("WBTC", 7_000, 7_500, 10_650, 100, is_borrowable=False, supply_cap=400),
    # Isolated: what is borrowed against it is capped, and only in coins that follow the dollar.
    Reserve(
        "USDT",
        ltv=7_500,
        threshold=8_000,
        bonus=10_450,
        supplied=2_000_000,
        supply_cap=10_000_000,
        borrow_cap=5_000_000,
        debt_ceiling=1_000_000,
    ),
)
LOANS = (
    Loan("borrower of dollars", "WETH", 3_000, {"USDC": 3_000_000, "DAI": 1_500_000}),
    Loan("borrower of ether", "USDC", 5_000_000, {"WETH": 1_000}),
)


def deploy(site: Site) -> dict[str, str]:
    """The market, with a category of stablecoins that an account may choose."""
    contracts = build_market(site, RESERVES, LOANS, name="Aave")
    add_e_mode(site, contracts, STABLECOINS, (9_000, 9_300, 10_200), "Stablecoins")
    for symbol in ("USDC", "DAI"):
        join_e_mode(site, contracts, symbol, STABLECOINS)
    return contracts


WORLD = ProtocolWorld("aave_v3", deploy)
