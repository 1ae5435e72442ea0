"""Morpho Blue on the local chain: the real contract, two markets against WETH, money lent in them and some borrowed."""

from __future__ import annotations

from golem_project.embedded.npm import Say, say_to_stderr
from golem_project.embedded.world.artifact import Artifact
from golem_project.embedded.world.compiled import compile_sources
from golem_project.embedded.world.fetched_packages import Fetched
from golem_project.embedded.world.protocol_deployer import Site
from golem_project.embedded.world.protocols import ProtocolWorld
from golem_project.embedded.world.seed_data import TOKENS_BY_SYMBOL, worth

# As its authors compile it.
SETTINGS: dict[str, object] = {
    "optimizer": {"enabled": True, "runs": 999_999},
    "viaIR": True,
    "evmVersion": "paris",
}
PARAMS = "(address,address,address,address,uint256)"
SUPPLY = f"supply({PARAMS},uint256,uint256,address,bytes)"
PLEDGE = f"supplyCollateral({PARAMS},uint256,address,bytes)"
BORROW = f"borrow({PARAMS},uint256,uint256,address,address)"
ORACLE_DECIMALS = 36
LLTV = 86 * 10**16
COLLATERAL = "WETH"
LENT_USD = {"USDC": 5_000_000, "DAI": 3_000_000}
BORROWED_PERCENT = 60
# Of what the collateral is worth.
PLEDGED_PERCENT = 200


def compile_contracts(fetched: Fetched, *, say: Say = say_to_stderr) -> dict[str, Artifact]:
    """Contract name -> artefact: the market contract, its authors' mocks of an oracle and of a rate."""
    return compile_sources(fetched.packages["solc"], fetched.sources("morpho_blue"), SETTINGS, say=say)


def deploy(site: Site) -> dict[str, str]:
    """The contract, a rate that follows use, and for each market an oracle at the price of the world's feeds."""
    compiled = compile_contracts(site.fetched, say=site.say)
    me = site.deployer.address
    morpho = site.create(compiled["Morpho"].code, "(address)", me, what="Morpho")
    irm = site.create(compiled["IrmMock"].code, what="the rate")
    contracts = {"morpho": morpho, "irm": irm}
    site.transact(morpho, "enableIrm(address)", irm)
    site.transact(morpho, "enableLltv(uint256)", LLTV)
    oracles = {loan: site.create(compiled["OracleMock"].code, what=f"the oracle of {loan}") for loan in LENT_USD}
    for loan, oracle in oracles.items():
        site.transact(oracle, "setPrice(uint256)", price_of(loan))
        contracts[f"oracle_weth_{loan.lower()}"] = oracle
        open_market(site, morpho, (site.tokens[loan], site.tokens[COLLATERAL], oracle, irm, LLTV), loan)
    return contracts


def price_of(loan: str) -> int:
    """What one base unit of collateral is worth in base units of the loan token, with 36 decimals more."""
    collateral, lent = TOKENS_BY_SYMBOL[COLLATERAL], TOKENS_BY_SYMBOL[loan]
    scaled: int = collateral.price * 10 ** (ORACLE_DECIMALS + lent.decimals - collateral.decimals)
    return scaled // lent.price


def open_market(site: Site, morpho: str, market: tuple[str, str, str, str, int], loan: str) -> None:
    """Create it, lend in it as one account, borrow as another."""
    lender, borrower = site.account("lender"), site.account("borrower")
    lent = worth(loan, LENT_USD[loan])
    borrowed = lent * BORROWED_PERCENT // 100
    pledged = worth(COLLATERAL, LENT_USD[loan] * BORROWED_PERCENT // 100 * PLEDGED_PERCENT // 100)
    site.transact(morpho, f"createMarket({PARAMS})", market)
    site.give(loan, lent, lender.address)
    site.give(COLLATERAL, pledged, borrower.address)
    site.transact(site.tokens[loan], "approve(address,uint256)", morpho, lent, sender=lender)
    site.transact(morpho, SUPPLY, market, lent, 0, lender.address, b"", sender=lender)
    site.transact(site.tokens[COLLATERAL], "approve(address,uint256)", morpho, pledged, sender=borrower)
    site.transact(morpho, PLEDGE, market, pledged, borrower.address, b"", sender=borrower)
    site.transact(morpho, BORROW, market, borrowed, 0, borrower.address, borrower.address, sender=borrower)


WORLD = ProtocolWorld("morpho", deploy, compiles=compile_contracts)
