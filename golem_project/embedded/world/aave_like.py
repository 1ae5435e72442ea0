"""Builds a lending market of Aave V3's code on a site: the pool and its parts, reserves, and people who use it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from golem_project.embedded.world.protocol_deployer import Site
from golem_project.embedded.world.rpc import checksum

PACKAGE = "aave_v3"
FILES = "artifacts/contracts/protocol"
ZERO = "0x" + "00" * 20
RAY = 10**27
VARIABLE = 2
INIT_RESERVE = (
    "initReserves((address,address,address,uint8,address,address,address,address,string,string,string,string,string,"
    "string,bytes)[])"
)
FLASH_PREMIUM_BPS = 5
RESERVE_GAS = 6_000_000


@dataclass(frozen=True)
class Reserve:
    """One reserve. Fractions in basis points, caps and amounts in whole tokens; a `debt_ceiling` (whole dollars) makes
    its collateral isolated.
    """

    symbol: str
    ltv: int
    threshold: int
    bonus: int
    supplied: int
    is_borrowable: bool = True
    has_stable_rate: bool = False
    supply_cap: int = 0
    borrow_cap: int = 0
    debt_ceiling: int = 0
    is_borrowable_in_isolation: bool = False
    kink: int = 9_000
    rate_at_kink: int = 400


@dataclass(frozen=True)
class Loan:
    """Somebody's position in the market: puts in one token, takes out others; whole tokens."""

    role: str
    collateral: str
    supplied: int
    borrowed: Mapping[str, int]


def build_market(site: Site, reserves: tuple[Reserve, ...], loans: tuple[Loan, ...], *, name: str) -> dict[str, str]:
    """Returns `pool`, `addresses_provider`, `oracle`, `data_provider`, `pool_configurator`, `acl_manager`.

    The site's deployer administers it and is the treasury. The feeds are the world's.
    """
    me = site.deployer.address
    provider = _create(site, "configuration/PoolAddressesProvider", "(string,address)", name, me)
    site.transact(provider, "setACLAdmin(address)", me)
    rights = _create(site, "configuration/ACLManager", "(address)", provider)
    site.transact(provider, "setACLManager(address)", rights)
    site.transact(rights, "addPoolAdmin(address)", me)
    site.transact(provider, "setPoolImpl(address)", _create(site, "pool/Pool", "(address)", provider), gas=3_000_000)
    configurator_code = _create(site, "pool/PoolConfigurator")
    site.transact(provider, "setPoolConfiguratorImpl(address)", configurator_code, gas=3_000_000)
    oracle = site.create_from(
        PACKAGE,
        "artifacts/contracts/misc/AaveOracle.sol/AaveOracle.json",
        "(address,address[],address[],address,address,uint256)",
        provider,
        [site.tokens[one.symbol] for one in reserves],
        [site.feeds[one.symbol] for one in reserves],
        ZERO,
        ZERO,
        10**8,
    )
    site.transact(provider, "setPriceOracle(address)", oracle)
    data = site.create_from(
        PACKAGE,
        "artifacts/contracts/misc/AaveProtocolDataProvider.sol/AaveProtocolDataProvider.json",
        "(address)",
        provider,
    )
    site.transact(provider, "setPoolDataProvider(address)", data)
    pool = str(site.read(provider, "getPool()", returns="(address)")[0])
    configurator = str(site.read(provider, "getPoolConfigurator()", returns="(address)")[0])
    contracts = {
        "pool": pool,
        "addresses_provider": provider,
        "oracle": oracle,
        "data_provider": data,
        "pool_configurator": configurator,
        "acl_manager": rights,
    }
    contracts = {key: checksum(address) for key, address in contracts.items()}
    parts = [
        _create(site, f"tokenization/{part}", "(address)", contracts["pool"])
        for part in ("AToken", "StableDebtToken", "VariableDebtToken")
    ]
    site.transact(contracts["pool_configurator"], "updateFlashloanPremiumTotal(uint128)", FLASH_PREMIUM_BPS)
    for reserve in reserves:
        _open_reserve(site, contracts, reserve, parts, name)
    _fill(site, contracts["pool"], reserves, loans)
    return contracts


def _create(site: Site, part: str, types: str = "()", *arguments: object) -> str:
    contract = part.rpartition("/")[2]
    return site.create_from(PACKAGE, f"{FILES}/{part}.sol/{contract}.json", types, *arguments)


def _open_reserve(site: Site, contracts: Mapping[str, str], reserve: Reserve, parts: list[str], name: str) -> None:
    token, configurator = site.tokens[reserve.symbol], contracts["pool_configurator"]
    rates = _create(
        site,
        "pool/DefaultReserveInterestRateStrategy",
        "(address,uint256,uint256,uint256,uint256,uint256,uint256,uint256,uint256,uint256)",
        contracts["addresses_provider"],
        reserve.kink * RAY // 10_000,
        0,
        reserve.rate_at_kink * RAY // 10_000,
        60 * RAY // 100,
        5 * RAY // 1_000,
        75 * RAY // 100,
        RAY // 100,
        8 * RAY // 100,
        20 * RAY // 100,
    )
    symbol = reserve.symbol
    row = (
        *parts,
        site.decimals[symbol],
        rates,
        token,
        site.deployer.address,
        ZERO,
        f"{name} {symbol}",
        f"a{symbol}",
        f"{name} variable debt {symbol}",
        f"variableDebt{symbol}",
        f"{name} stable debt {symbol}",
        f"stableDebt{symbol}",
        b"",
    )
    site.transact(configurator, INIT_RESERVE, [row], gas=RESERVE_GAS)
    risk = (reserve.ltv, reserve.threshold, reserve.bonus)
    site.transact(configurator, "configureReserveAsCollateral(address,uint256,uint256,uint256)", token, *risk)
    if reserve.is_borrowable:
        site.transact(configurator, "setReserveBorrowing(address,bool)", token, True)
    if reserve.has_stable_rate:
        site.transact(configurator, "setReserveStableRateBorrowing(address,bool)", token, True)
    site.transact(configurator, "setReserveFactor(address,uint256)", token, 1_000)
    site.transact(configurator, "setReserveFlashLoaning(address,bool)", token, True)
    for signature, value in (
        ("setSupplyCap(address,uint256)", reserve.supply_cap),
        ("setBorrowCap(address,uint256)", reserve.borrow_cap),
        ("setDebtCeiling(address,uint256)", 100 * reserve.debt_ceiling),
        ("setBorrowableInIsolation(address,bool)", reserve.is_borrowable_in_isolation),
    ):
        if value:
            site.transact(configurator, signature, token, value)


def add_e_mode(site: Site, contracts: Mapping[str, str], number: int, risk: tuple[int, int, int], label: str) -> None:
    """A category of assets that follow each other, with its loan to value, threshold and bonus in basis points."""
    signature = "setEModeCategory(uint8,uint16,uint16,uint16,address,string)"
    site.transact(contracts["pool_configurator"], signature, number, *risk, ZERO, label)


def join_e_mode(site: Site, contracts: Mapping[str, str], symbol: str, number: int) -> None:
    """Put a reserve into a category."""
    token = site.tokens[symbol]
    site.transact(contracts["pool_configurator"], "setAssetEModeCategory(address,uint8)", token, number)


def _fill(site: Site, pool: str, reserves: tuple[Reserve, ...], loans: tuple[Loan, ...]) -> None:
    for reserve in reserves:
        _supply(site, pool, "supplier", reserve.symbol, reserve.supplied)
    for loan in loans:
        _supply(site, pool, loan.role, loan.collateral, loan.supplied)
        for symbol, whole in loan.borrowed.items():
            account, amount = site.account(loan.role), whole * 10 ** site.decimals[symbol]
            signature = "borrow(address,uint256,uint256,uint16,address)"
            arguments = (site.tokens[symbol], amount, VARIABLE, 0, account.address)
            site.transact(pool, signature, *arguments, sender=account)


def _supply(site: Site, pool: str, role: str, symbol: str, whole: int) -> None:
    account, token = site.account(role), site.tokens[symbol]
    amount = whole * 10 ** site.decimals[symbol]
    site.give(symbol, amount, account.address)
    site.transact(token, "approve(address,uint256)", pool, amount, sender=account)
    site.transact(pool, "supply(address,uint256,address,uint16)", token, amount, account.address, 0, sender=account)
