"""SparkLend on the local chain: it runs on Aave V3's contracts, with reserves of its own."""

from __future__ import annotations

from golem_project.embedded.world.aave_like import Loan, Reserve, build_market
from golem_project.embedded.world.protocol_deployer import Site
from golem_project.embedded.world.protocols import ProtocolWorld

RESERVES = (
    Reserve("WETH", 8_200, 8_300, 10_500, 2_000, supply_cap=10_000, borrow_cap=5_000, kink=8_000, rate_at_kink=300),
    Reserve("DAI", 7_500, 8_000, 10_500, 15_000_000, borrow_cap=20_000_000, rate_at_kink=550),
    Reserve("USDC", 7_500, 8_000, 10_450, 5_000_000, supply_cap=60_000_000, borrow_cap=5_000_000, rate_at_kink=600),
)
LOANS = (Loan("borrower of dollars", "WETH", 2_000, {"DAI": 3_000_000}),)


def deploy(site: Site) -> dict[str, str]:
    """The market."""
    return build_market(site, RESERVES, LOANS, name="Spark")


WORLD = ProtocolWorld("spark", deploy)
