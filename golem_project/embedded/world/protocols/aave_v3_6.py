"""Aave V3.6 on the local chain, beside 3.0: its authors' sources, compiled on this machine, for tests of what differs.

Rates stand in one contract for all reserves, nothing has a stable rate, a category of assets is a bitmap, and balances
of the pool are counted. The sources are fetched for this and never handed on: their licence allows no more.
"""

from __future__ import annotations

from collections.abc import Mapping

from golem_project.embedded.npm import Say, say_to_stderr
from golem_project.embedded.world.aave_like import FLASH_PREMIUM_BPS, VARIABLE, ZERO, Loan, Reserve
from golem_project.embedded.world.artifact import Artifact
from golem_project.embedded.world.compiled import compile_sources
from golem_project.embedded.world.fetched_packages import Fetched
from golem_project.embedded.world.protocol_deployer import Site
from golem_project.embedded.world.protocols import ProtocolWorld
from golem_project.embedded.world.rpc import checksum, encode_arguments

SETTINGS: dict[str, object] = {"optimizer": {"enabled": True, "runs": 200}, "evmVersion": "cancun"}
PACKAGE = "aave_v3_6"
STABLECOINS = 1
RESERVES = (
    Reserve("WETH", 8_000, 8_250, 10_500, 4_000, supply_cap=20_000, borrow_cap=10_000, kink=8_000, rate_at_kink=380),
    Reserve("USDC", 7_700, 8_000, 10_450, 20_000_000, supply_cap=60_000_000, borrow_cap=40_000_000),
    Reserve("DAI", 7_500, 8_000, 10_500, 10_000_000, supply_cap=30_000_000, borrow_cap=15_000_000),
)
LOANS = (Loan("borrower of dollars", "WETH", 3_000, {"USDC": 3_000_000, "DAI": 1_500_000}),)
INIT_RESERVES = "initReserves((address,address,address,string,string,string,string,bytes,bytes)[])"


def compile_contracts(fetched: Fetched, *, say: Say = say_to_stderr) -> dict[str, Artifact]:
    """Contract name -> artefact."""
    sources = {
        name.removeprefix("src/"): fetched.text(PACKAGE, name) for name in fetched.packages[PACKAGE].keep
    } | fetched.sources("openzeppelin", under="openzeppelin-contracts/contracts/")
    return compile_sources(fetched.packages["solc"], sources, SETTINGS, say=say)


class MarketInTheMaking:
    """A market of this version in the making."""

    def __init__(self, site: Site) -> None:
        self.site = site
        self.compiled = compile_contracts(site.fetched, say=site.say)
        self.libraries: dict[str, str] = {}

    def create(self, name: str, types: str = "()", *arguments: object) -> str:
        """Create a contract; the libraries it calls come first, each once."""
        text = self.compiled[name].link(self._create_library)
        return self.site.create(text, types, *arguments, what=name)

    def _create_library(self, library: str) -> str:
        if library not in self.libraries:
            self.libraries[library] = self.create(library)
        return self.libraries[library]

    def build(self) -> dict[str, str]:
        """The pool and its parts, with the same account as administrator and treasury."""
        site, me = self.site, self.site.deployer.address
        provider = self.create("PoolAddressesProvider", "(string,address)", "Aave 3.6", me)
        site.transact(provider, "setACLAdmin(address)", me)
        rights = self.create("ACLManager", "(address)", provider)
        site.transact(provider, "setACLManager(address)", rights)
        site.transact(rights, "addPoolAdmin(address)", me)
        rates = self.create("DefaultReserveInterestRateStrategyV2", "(address)", provider)
        pool_code = self.create("PoolInstance", "(address,address)", provider, rates)
        site.transact(provider, "setPoolImpl(address)", pool_code, gas=3_000_000)
        configurator_code = self.create("PoolConfiguratorInstance")
        site.transact(provider, "setPoolConfiguratorImpl(address)", configurator_code, gas=3_000_000)
        oracle = self.create(
            "AaveOracle",
            "(address,address[],address[],address,address,uint256)",
            provider,
            [site.tokens[one.symbol] for one in RESERVES],
            [site.feeds[one.symbol] for one in RESERVES],
            ZERO,
            ZERO,
            10**8,
        )
        site.transact(provider, "setPriceOracle(address)", oracle)
        data = self.create("AaveProtocolDataProvider", "(address)", provider)
        site.transact(provider, "setPoolDataProvider(address)", data)
        contracts = {
            "pool": str(site.read(provider, "getPool()", returns="(address)")[0]),
            "addresses_provider": provider,
            "oracle": oracle,
            "data_provider": data,
            "pool_configurator": str(site.read(provider, "getPoolConfigurator()", returns="(address)")[0]),
            "acl_manager": rights,
        }
        return {key: checksum(address) for key, address in contracts.items()}

    def open_reserves(self, contracts: Mapping[str, str]) -> None:
        """All reserves, and a category of stablecoins."""
        site, configurator = self.site, contracts["pool_configurator"]
        me = site.deployer.address
        receipts = self.create("ATokenInstance", "(address,address,address)", contracts["pool"], ZERO, me)
        debts = self.create("VariableDebtTokenInstance", "(address,address)", contracts["pool"], ZERO)
        site.transact(configurator, "updateFlashloanPremium(uint128)", FLASH_PREMIUM_BPS)
        for one in RESERVES:
            rates = encode_arguments("(uint16,uint32,uint32,uint32)", one.kink, 0, one.rate_at_kink, 6_000)
            names = (f"Aave {one.symbol}", f"a{one.symbol}", f"Aave debt {one.symbol}", f"debt{one.symbol}")
            row = (receipts, debts, site.tokens[one.symbol], *names, b"", rates)
            site.transact(configurator, INIT_RESERVES, [row], gas=6_000_000)
            self._configure(configurator, one)
        category = "setEModeCategory(uint8,uint16,uint16,uint16,string)"
        site.transact(configurator, category, STABLECOINS, 9_000, 9_300, 10_200, "Stablecoins")
        for symbol in ("USDC", "DAI"):
            for verb in ("setAssetCollateralInEMode", "setAssetBorrowableInEMode"):
                site.transact(configurator, f"{verb}(address,uint8,bool)", site.tokens[symbol], STABLECOINS, True)

    def _configure(self, configurator: str, one: Reserve) -> None:
        site, token = self.site, self.site.tokens[one.symbol]
        risk = (one.ltv, one.threshold, one.bonus)
        site.transact(configurator, "configureReserveAsCollateral(address,uint256,uint256,uint256)", token, *risk)
        site.transact(configurator, "setReserveBorrowing(address,bool)", token, True)
        site.transact(configurator, "setReserveFactor(address,uint256)", token, 1_000)
        site.transact(configurator, "setReserveFlashLoaning(address,bool)", token, True)
        site.transact(configurator, "setSupplyCap(address,uint256)", token, one.supply_cap)
        site.transact(configurator, "setBorrowCap(address,uint256)", token, one.borrow_cap)

    def fill(self, pool: str) -> None:
        """Liquidity, and somebody who borrowed some of it."""
        for one in RESERVES:
            self._supply(pool, "supplier", one.symbol, one.supplied)
        for loan in LOANS:
            self._supply(pool, loan.role, loan.collateral, loan.supplied)
            account = self.site.account(loan.role)
            for symbol, whole in loan.borrowed.items():
                amount = whole * 10 ** self.site.decimals[symbol]
                borrow = "borrow(address,uint256,uint256,uint16,address)"
                asked = (self.site.tokens[symbol], amount, VARIABLE, 0, account.address)
                self.site.transact(pool, borrow, *asked, sender=account)

    def _supply(self, pool: str, role: str, symbol: str, whole: int) -> None:
        site, account = self.site, self.site.account(role)
        token, amount = site.tokens[symbol], whole * 10 ** site.decimals[symbol]
        site.give(symbol, amount, account.address)
        site.transact(token, "approve(address,uint256)", pool, amount, sender=account)
        supply = "supply(address,uint256,address,uint16)"
        site.transact(pool, supply, token, amount, account.address, 0, sender=account)


def deploy(site: Site) -> dict[str, str]:
    """The market, with reserves and liquidity."""
    market = MarketInTheMaking(site)
    contracts = market.build()
    market.open_reserves(contracts)
    market.fill(contracts["pool"])
    return contracts


WORLD = ProtocolWorld("aave_v3_6", deploy, version_of="aave_v3", compiles=compile_contracts)
